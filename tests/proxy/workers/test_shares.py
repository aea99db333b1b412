"""The limits of one process, divided among workers."""

from __future__ import annotations

import sys

import pytest

from proxy.config.settings import DIVIDED, Config, load_config
from proxy.errors import ConfigError
from proxy.workers.supervisor import divide

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="several workers need Linux")


def load(**over: object) -> Config:
    return load_config(None, over, {})


@LINUX
@pytest.mark.parametrize("workers", [2, 3, 5])
def test_the_parts_add_up_to_the_limit_at_most(workers: int) -> None:
    whole = load(server={"workers": workers}, limits={"queue_requests": 7})
    part = divide(whole)
    for section, names in DIVIDED.items():
        for name in names:
            limit, own = (getattr(getattr(c, section), name) for c in (whole, part))
            assert 0 < own * workers <= limit * (1 + 1e-9)
            assert own * workers > limit - workers  # and not much less


@LINUX
def test_nothing_else_changes() -> None:
    whole = load(server={"workers": 2})
    part = divide(whole).model_dump()
    for section, names in DIVIDED.items():
        for name in names:
            part[section][name] = getattr(getattr(whole, section), name)
    assert part == whole.model_dump()


@LINUX
def test_a_limit_below_the_number_of_workers_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"server.workers must be <= remote.concurrency.*3 > 2"):
        load(server={"workers": 3}, remote={"concurrency": 2})
    load(server={"workers": 3}, limits={"queue_requests": 0})  # no worker has a queue
