"""The conformance kit: the contracts of mechanisms and policies, as pytest classes to inherit.

    from perturb.testing import Case, MechanismContract

    class TestMine(MechanismContract):
        cases = (Case(MyMechanism, epsilons=(2.0, 8.0)),)

Nothing else imports this package, because it needs pytest and SciPy (extra `testing`).
"""

from __future__ import annotations

from perturb.errors import MissingPackage
from perturb.install import install_command

try:
    import pytest
    import scipy  # noqa: F401
except ImportError as exc:
    raise MissingPackage(
        f"the conformance kit needs pytest and SciPy: {install_command('testing')}"
    ) from exc

# Registered before the import, so that a failed assertion shows the values it compared.
pytest.register_assert_rewrite("perturb.testing.mechanism", "perturb.testing.policy")

from perturb.testing.cases import Case, uniform  # noqa: E402
from perturb.testing.mechanism import MechanismContract  # noqa: E402
from perturb.testing.policy import PolicyContract  # noqa: E402
from perturb.testing.tables import load_test_table  # noqa: E402

__all__ = ["Case", "MechanismContract", "PolicyContract", "load_test_table", "uniform"]
