"""The policy keeps the contract."""

from inferdpt_example.policy import OrderNumbers

from perturb.testing import PolicyContract


class TestOrderNumbers(PolicyContract):
    marks = (
        ("Where is AC-204817?", (("AC-204817", "ORDER_NUMBER"),)),
        ("ac-204817, AC-999999", (("ac-204817", "ORDER_NUMBER"), ("AC-999999", "ORDER_NUMBER"))),
    )
    leaves = ("The AC-130 and MAC-204817 are none, nor is AC-2048170.",)

    def build(self) -> OrderNumbers:
        return OrderNumbers()
