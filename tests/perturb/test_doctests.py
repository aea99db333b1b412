"""The examples in the docstrings of perturb run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import perturb

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(perturb.__path__, prefix="perturb.")
)
FLAGS = doctest.ELLIPSIS


@pytest.mark.parametrize("name", ["perturb", *MODULES])
def test_examples_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert found.failed == 0, f"{found.failed} of {found.attempted} examples of {name} fail"


def test_there_are_examples_to_run() -> None:
    finder = doctest.DocTestFinder()
    tests = [
        test
        for name in MODULES
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(tests) >= 30
