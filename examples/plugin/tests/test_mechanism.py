"""The mechanism keeps the contract, and its proof can be certified."""

from inferdpt_example.mechanism import RandomizedResponse

from perturb.testing import Case, MechanismContract


class TestRandomizedResponse(MechanismContract):
    cases = (Case(RandomizedResponse, epsilons=(3.0, 8.0), largest_epsilon=18.0),)
