"""Divide the limits of one process among workers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from proxy.config.section import Section
from proxy.config.settings import Config
from proxy.config.workers import DIVIDED

__all__ = ["divide"]


def divide(config: Config) -> Config:
    """Return the configuration of one worker: its equal part of every divided limit.

    The parts add up to the limit at most.
    """
    sections: dict[str, Any] = {}
    for section, names in DIVIDED.items():
        sections[section] = _divide(getattr(config, section), names, config.server.workers)
    sections["remotes"] = {
        alias: _divide(remote, DIVIDED["remote"], config.server.workers)
        for alias, remote in config.remotes.items()
    }
    return config.model_copy(update=sections)


def _divide(section: Section, names: Iterable[str], workers: int) -> Section:
    return section.model_copy(update={n: _cut(getattr(section, n), workers) for n in names})


def _cut(limit: float, workers: int) -> float:
    return limit // workers if isinstance(limit, int) else limit / workers
