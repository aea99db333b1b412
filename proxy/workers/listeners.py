"""Open the sockets that workers listen on: for each worker its own, all on one port.

The kernel spreads connections over them (SO_REUSEPORT). The supervisor keeps them open, so that
connections wait while a worker is started again.
"""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Any

from proxy.config.settings import Server
from proxy.serve import explain_refusal, write_host

__all__ = ["Listeners"]


class Listeners:
    """Hold the sockets of every worker, bound to the configured address.

    Attributes:
        of_workers: the sockets of each worker, one for each address of the host.
        url: the base_url that clients use.

    Raises:
        ConfigError: the proxy cannot listen on the address.
    """

    def __init__(self, server: Server) -> None:
        self._open = ExitStack()
        try:
            port = self._probe(server)
            self.of_workers = [self._bind_all(server, port) for _ in range(server.workers)]
        except OSError as exc:
            self.close()
            raise explain_refusal(server, exc) from None
        except BaseException:
            self.close()
            raise
        self.url = f"http://{write_host(server)}:{port}/v1"

    def close(self) -> None:
        """Close this process's copies of the sockets."""
        self._open.close()

    def of_others(self, number: int | None) -> list[socket.socket]:
        """Return the sockets of all workers but one."""
        every = enumerate(self.of_workers)
        return [one for other, sockets in every if other != number for one in sockets]

    def _probe(self, server: Server) -> int:
        """Return the port to use, after checking that no other program listens there.

        Without this check another proxy of the same user could listen there, too, and both would
        get a part of the requests.
        """
        found = _find_addresses(server.host, server.port)
        port = server.port
        for family, address in found:
            with _make_socket(family) as probe:
                probe.bind((address[0], port, *address[2:]))
                port = port or probe.getsockname()[1]
        return port

    def _bind_all(self, server: Server, port: int) -> list[socket.socket]:
        bound = []
        for family, address in _find_addresses(server.host, port):
            one = self._open.enter_context(_make_socket(family))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            one.bind(address)
            bound.append(one)
        return bound


def _find_addresses(host: str, port: int) -> list[tuple[int, Any]]:
    flags = socket.AI_PASSIVE
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=flags)
    return list(dict.fromkeys((entry[0], entry[4]) for entry in found))


def _make_socket(family: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return made
