"""Supervise worker processes that serve one address: `inferdpt serve --workers N`.

The supervisor opens the address, builds the application and forks the workers, so that they share
the memory of its tables. It has no threads and serves nothing itself. A local server is started
once, by a child of its own. A child that ends is started again; one that cannot be started ends
the whole. At a SIGHUP it reads the configuration again, and passes it on to all.

Each worker has a socket of its own, all on one port; the kernel spreads connections over them
(SO_REUSEPORT). The supervisor keeps them open, so that connections wait while a worker is started
again. The limits of one process are divided among the workers.

Metrics are counted together, in files of one folder. Prometheus's client does this in a mode that
it chooses when it is imported, from the environment. Here the supervisor chooses it before it
builds any metric. Each process writes files of its own, named after its place and not its number:
a worker that takes the place of another goes on with its counters, so none ever falls.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiohttp import web
from prometheus_client import values
from prometheus_client.multiprocess import mark_process_dead

from perturb import EmbeddingTable
from proxy.access.auth import Keyring
from proxy.api.app_keys import BACKGROUND, TABLE
from proxy.api.middleware import Runner
from proxy.app import build_app
from proxy.config.fields import Section
from proxy.config.settings import DIVIDED, Config, Server
from proxy.errors import ConfigError
from proxy.local import describe_running, find_free_port, local_server
from proxy.logs import configure_logging, set_level
from proxy.metrics import Metrics
from proxy.metrics_export import exporting, open_export
from proxy.reload import Origin, Terminal, note, put_in_force, read_again, refusing
from proxy.running import registered
from proxy.serve import (
    explain_refusal,
    prepare_threads,
    ready_line,
    warned,
    while_running,
    write_host,
)
from proxy.storage.opening import find_folder, open_store
from proxy.workers.child import Child, Told, Work

__all__ = ["Listeners", "SharedCounts", "StoreFile", "Supervisor", "divide", "supervise"]

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


class SharedCounts:
    """Hold the metrics of a supervisor and of the processes that it forks.

    Args:
        folder: an empty one, for the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place = "supervisor"
        os.environ[VARIABLE] = str(folder)
        values.ValueClass = values.MultiProcessValue(lambda: self._place)  # type: ignore[no-untyped-call]
        self.metrics = Metrics(folder)

    def enter(self, place: str) -> None:
        """Count in this process, which was just forked, for a place (without underscores)."""
        self._place = place

    def leave(self, place: str) -> None:
        """Forget what a process that has ended was doing; what it counted stays."""
        mark_process_dead(place, str(self._folder))  # type: ignore[no-untyped-call]

    @staticmethod
    def hide() -> None:
        """Leave the folder out of the environment of this process's children: vLLM would count
        in it, too."""
        os.environ.pop(VARIABLE, None)


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


logger = logging.getLogger("inferdpt.workers")
CLEANUP_SECONDS = 15.0  # for a worker after it has drained
ENGINE_SECONDS = 30.0  # for a local server to stop
STARTED_HERE = ("embedded", "vllm")


def supervise(config: Config, origin: Origin | None = None) -> None:
    """Serve with workers until SIGINT or SIGTERM, then drain them. Print one line once all of
    them accept requests.

    Args:
        origin: of the configuration, which is read again at a SIGHUP; None if there is no file.

    Raises:
        ConfigError: a process cannot be started, at first or again and again.
    """
    configure_logging()
    set_level(config.telemetry.log_level)
    prepare_threads()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it can be obeyed
    # Once, and before anything is started: the process must have no threads when it forks.
    store = StoreFile(asyncio.run(_prepare_store(config)))
    with ExitStack() as stack:
        listeners = Listeners(config.server)
        stack.callback(listeners.close)
        stack.enter_context(
            registered(find_folder(config.store), None if origin is None else origin.path)
        )
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="inferdpt-")))
        counts = SharedCounts(folder)
        engine, port = None, None
        if config.local.mode in STARTED_HERE:
            port = config.local.vllm.port if config.local.mode == "vllm" else 0
            port = port or find_free_port()
            work = _make_engine(config, port)
            engine = Child("local-server", work, folder=folder, obeys=False)
        plan = _Plan(config, counts, port)
        workers = [
            Child(
                _name(number),
                _make_worker(number, plan, listeners, counts),
                folder=folder,
                obeys=True,
            )
            for number in range(config.server.workers)
        ]
        gc.freeze()  # collections in a worker leave the shared pages alone
        gc.enable()
        drain = config.server.drain_seconds + CLEANUP_SECONDS
        Supervisor(
            workers,
            engine,
            listeners,
            counts,
            store,
            drain_seconds=drain,
            reload=lambda: _reload(plan, origin, workers),
        ).run()
        if config.telemetry.metrics is not None:  # what the last worker counted
            open_export(config.telemetry.metrics, counts.metrics).close()


class StoreFile:
    """Remember which file the store is.

    The workers notice if it is deleted or replaced, and refuse requests. One that is started
    again would know nothing of the file before and make a new one, in which all budgets start
    anew.

    Args:
        path: of a SQLite file; None for a server, which has none.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._identity = self._find_identity()

    def check(self) -> None:
        """Raise `ConfigError` if it is no longer that file."""
        if self._find_identity() != self._identity:
            raise ConfigError(
                f"the database {self._path} was deleted or replaced while the proxy was running: "
                "put it back with the -wal file beside it, and start the proxy again"
            )

    def _find_identity(self) -> tuple[int, int] | None:
        try:
            found = None if self._path is None else self._path.stat()
        except OSError:
            return None
        return found and (found.st_dev, found.st_ino)


class Supervisor:
    """Run children until a signal.

    Args:
        workers: those that serve.
        engine: the local server's, which starts before the workers and stops after them.
        listeners: closed at once when all is to stop.
        counts: of all processes.
        store: what has to be the same before a worker is started again.
        drain_seconds: how long a worker may take to stop.
        reload: runs at a SIGHUP.
    """

    def __init__(
        self,
        workers: Sequence[Child],
        engine: Child | None,
        listeners: Listeners,
        counts: SharedCounts,
        store: StoreFile,
        *,
        drain_seconds: float,
        reload: Callable[[], None] = lambda: None,
    ) -> None:
        self._workers = workers
        self._engine = engine
        self._listeners = listeners
        self._counts = counts
        self._store = store
        self._drain_seconds = drain_seconds
        self._running: list[Child] = []
        self._stopped = False
        self._reload = reload
        self._asked = False  # to reload
        self._signals, self._wake = socket.socketpair()

    def run(self) -> None:
        """Start everything, keep it running, and stop it in order."""
        with self._catch_signals():
            try:
                if self._engine is not None:
                    self._running = [self._engine]
                    self._watch(lambda: self._running[0].ready)
                self._running += self._workers
                self._watch(lambda: all(worker.ready for worker in self._workers))
                if not self._stopped:
                    print(self._workers[0].text, flush=True)
                self._watch(lambda: False)
            finally:
                self._stop()

    def _watch(self, until: Callable[[], bool]) -> None:
        """Start what is to be started and listen to the children, until a condition holds or all
        is to stop."""
        while not self._stopped and not until():
            if self._asked:
                self._asked = False
                self._reload()
            now = time.monotonic()
            for child in self._running:
                if child.channel is None and child.due <= now:
                    self._start(child)
            waits = [child.due - now for child in self._running if child.channel is None]
            sources: dict[Any, Child | None] = {self._signals: None}
            sources.update((child.channel, child) for child in self._running if child.channel)
            for source in wait(list(sources), min(waits, default=None)):
                told = sources[source]
                if told is None:
                    self._signals.recv(64)
                elif not told.hear():
                    self._bury(told)

    def _start(self, child: Child) -> None:
        number = self._workers.index(child) if child in self._workers else None
        channels = [other.channel for other in self._running if other.channel]
        child.start([*channels, *self._listeners.of_others(number), self._signals])

    def _bury(self, child: Child) -> None:
        how = child.bury()
        self._counts.leave(child.name)
        if child in self._workers:
            self._store.check()
            self._counts.metrics.restarts.inc()
        logger.warning("%s ended with %s and is started again", child.name, how)

    def _stop(self) -> None:
        self._listeners.close()  # new connections are refused from now on
        for worker in self._workers:
            worker.tell_to_stop()
        limit = time.monotonic() + self._drain_seconds
        for worker in self._workers:
            worker.stop(max(limit - time.monotonic(), 0.0))
        if self._engine is not None:
            self._engine.stop(ENGINE_SECONDS)

    @contextmanager
    def _catch_signals(self) -> Iterator[None]:
        """Note SIGINT, SIGTERM and SIGHUP, and wake `_watch` up."""
        terminal = Terminal()

        def note(number: int, _: object) -> None:
            if number == signal.SIGHUP and not terminal.is_closed:
                self._asked = True
            else:
                self._stopped = True

        with self._signals, self._wake:
            self._wake.setblocking(False)
            caught = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            before = {n: signal.signal(n, note) for n in caught}
            wakes = signal.set_wakeup_fd(self._wake.fileno())
            try:
                yield
            finally:
                signal.set_wakeup_fd(wakes)
                for number, handler in before.items():
                    signal.signal(number, handler)


def _name(number: int) -> str:
    return f"worker-{number}"


class _Plan:
    """Hold what workers are forked from: the configuration in force and its application.

    Args:
        config: that of the whole.
        port: of the local server that runs here; None if none does.

    Attributes:
        app: for a worker that starts now.
        own: the configuration of one worker.
    """

    def __init__(self, config: Config, counts: SharedCounts, port: int | None) -> None:
        self._counts = counts
        self._port = port
        self.config = config
        self.own, self.app = self._build(config, None)

    def change(self, config: Config) -> None:
        """Fork workers for another configuration from now on.

        Raises:
            PerturbError: a file that it names cannot be loaded; nothing has changed.
            ConfigError: it cannot be built; nothing has changed.
        """
        self.own, self.app = self._build(config, self.app[TABLE])
        self.config = config

    def _build(
        self, config: Config, table: EmbeddingTable | None
    ) -> tuple[Config, web.Application]:
        own = divide(config)
        if self._port is not None:
            local = describe_running(own.local, self._port)
            own = own.model_copy(update={"local": local})
        return own, build_app(own, table=table, metrics=self._counts.metrics)


def _reload(plan: _Plan, origin: Origin | None, workers: Sequence[Child]) -> None:
    """Read the configuration again, and pass it on to all workers or refuse it for all."""
    with refusing():
        config, changed = read_again(origin, plan.config)
        plan.change(config)
        set_level(config.telemetry.log_level)
        for worker in workers:
            worker.tell(plan.own)
        note(changed)


async def _obey(told: Told, runner: Runner) -> None:
    """Put in force what the supervisor passes on.

    Raises:
        PerturbError: a file that it names has gone since the supervisor read it.
        ConfigError: it cannot be built. The worker ends, and is started again with it.
    """
    while True:
        config = await told.get()
        try:
            await put_in_force(config, runner)
        except Exception as exc:
            logger.error("a worker cannot reload (%s) and ends", type(exc).__name__)
            raise


def _make_worker(number: int, plan: _Plan, listeners: Listeners, counts: SharedCounts) -> Work:
    """Return the work of a worker."""

    async def listen(runner: web.AppRunner) -> str:
        await runner.setup()
        for one in listeners.of_workers[number]:
            await web.SockSite(runner, one).start()
        return listeners.url

    async def work(ready: Callable[[str], None], told: Told) -> None:
        counts.enter(_name(number))
        app, config = plan.app, plan.config
        address = None if number else config.telemetry.metrics  # one reads what all count
        async with (
            exporting(address, app[BACKGROUND]),
            while_running(app, listen) as (url, runner),
        ):
            ready(await ready_line(config, app, url))
            if number:
                await _obey(told, runner)
            async with warned(config, app):  # one is enough
                await _obey(told, runner)

    return work


def _make_engine(config: Config, port: int) -> Work:
    """Return the work of the process that runs the local server."""

    async def work(ready: Callable[[str], None], _: Told) -> None:
        SharedCounts.hide()
        async with local_server(config.local, clips=config.server_clips, port=port):
            ready("")
            await asyncio.Event().wait()

    return work


async def _prepare_store(config: Config) -> Path | None:
    """Migrate the store, check that there are keys where they are needed, and return its file."""
    async with open_store(config.store) as store:
        await Keyring(store, config.server).check()
        return store.file
