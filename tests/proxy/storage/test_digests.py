"""The names of channels."""

from __future__ import annotations

import gc
import weakref

from perturb.sanitizer import Demands
from proxy.storage.digests import find_channel
from tests.perturb.marking import selective


def test_a_sanitizer_of_one_request_is_not_kept() -> None:
    """Its terms are the client's own."""
    usual = selective()
    own = usual.strengthen(Demands(deny=("bluebird",)))
    assert find_channel(own) == find_channel(own) != find_channel(usual)
    kept = weakref.ref(own)
    del own
    gc.collect()
    assert kept() is None
