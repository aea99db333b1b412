"""One port for all workers, and for nobody else."""

from __future__ import annotations

import socket
import sys

import pytest

from proxy.config.settings import Server
from proxy.errors import ConfigError
from proxy.workers.supervisor import Listeners

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="several workers need Linux")


def port_of(listeners: Listeners) -> int:
    return int(listeners.url.removesuffix("/v1").rpartition(":")[2])


def test_every_worker_has_a_socket_on_one_free_port() -> None:
    listeners = Listeners(Server(port=0, workers=3))
    ports = {one.getsockname()[1] for sockets in listeners.of_workers for one in sockets}
    assert ports == {port_of(listeners)}
    assert len(listeners.of_workers) == 3
    assert len(listeners.of_others(1)) == 2
    assert len(listeners.of_others(None)) == 3
    listeners.close()


def test_another_proxy_on_the_port_is_noticed() -> None:
    """Its sockets would let more of one user join, and each would get a part of the requests."""
    first = Listeners(Server(port=0, workers=2))
    for sockets in first.of_workers:
        sockets[0].listen()
    with pytest.raises(ConfigError, match="another program listens there"):
        Listeners(Server(port=port_of(first), workers=2))
    first.close()
    Listeners(Server(port=port_of(first), workers=2)).close()


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"):
            Listeners(Server(port=port, workers=2))
