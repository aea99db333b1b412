"""Experiments run whole attacks and pipelines: their tests are in the tier that computes."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXPERIMENTS = {"attacks", "utility", "whole"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE) and EXPERIMENTS & set(item.path.relative_to(HERE).parts):
            item.add_marker(pytest.mark.statistical)
