"""The example plug-in for Presidio: its own tests, and its policy by name.

It runs in the vLLM tier's environment: spaCy and its kin are too large for the everyday one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perturb import Perturber, get_mechanism, seeded_generator
from tests.tables import bundled_table

pytestmark = pytest.mark.vllm
EXAMPLE = Path(__file__).parents[2] / "examples" / "presidio"
TEXT = "Mail anna.b@example.com, card 4095 2609 9393 4932, case AB-12"


def test_its_own_tests_pass() -> None:
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests"],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def test_the_mechanism_takes_the_policy_by_name() -> None:
    perturber = Perturber(
        get_mechanism(
            "selective",
            bundled_table(),
            policy="presidio",
            patterns={"CASE": r"AB-\d+"},
            actions={"*": "replace"},
        )
    )
    done = perturber.perturb(TEXT, seeded_generator(1))
    perturber.verify(TEXT, done)
    assert done.receipt.entities["CASE"] == 1
    assert done.receipt.entities["CREDIT_CARD"] == 1
    assert "4095" not in done.text
