"""Run a stage on Ray Data: on this machine, or on a cluster."""

from __future__ import annotations

import dataclasses
import logging
import os
import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from perturb.errors import MissingPackage
from perturb.install import install_command
from proxy.corpus.engines import Engine, Worker, WorkerSpec
from proxy.corpus.inputs.records import Block
from proxy.errors import ConfigError

__all__ = ["on_ray"]

STORE_BYTES = 512 << 20  # of Ray's object store on this machine: results wait there


def on_ray(workers: int, address: str | None = None) -> Engine:
    """Return the engine that runs blocks in so many actors of Ray.

    Args:
        workers: the number of actors, with one CPU each.
        address: of a cluster; None starts Ray on this machine for the time of the run. A cluster
            sees raw texts and the key of all draws, so it must be trusted as this machine is.
    """

    def run(job: WorkerSpec, blocks: Iterable[Block]) -> Iterator[tuple[Block, pa.Table]]:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is reported to anyone
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        logging.getLogger("ray").setLevel(logging.ERROR)
        try:
            import ray
            import ray.data
        except ImportError:
            raise MissingPackage(f"--engine ray needs Ray: {install_command('ray')}") from None
        own: dict[str, Any] = {
            "num_cpus": workers,
            "include_dashboard": False,
            "object_store_memory": STORE_BYTES,
        }
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level="ERROR",
            **({} if address else own),
        )
        try:
            yield from _stream(ray, job, blocks, workers)
        except ray.exceptions.RayError as exc:
            raise ConfigError(f"Ray failed: {type(exc).__name__}") from exc
        finally:
            ray.shutdown()

    return run


class _Actor:
    """Run blocks in an actor: one row in, one row out."""

    def __init__(self, job: bytes) -> None:
        self._worker = Worker(pickle.loads(job))  # noqa: S301  (the driver's own bytes)

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows = batch.to_pylist()
        blocks = [Block(**{**row, "paths": tuple(row["paths"])}) for row in rows]
        results = [_pack(self._worker(block)) for block in blocks]
        return batch.append_column("result", pa.array(results, pa.large_binary()))


def _stream(
    ray: Any, job: WorkerSpec, blocks: Iterable[Block], workers: int
) -> Iterator[tuple[Block, pa.Table]]:
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    rows = [dataclasses.asdict(block) for block in blocks]
    if not rows:
        return
    found = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
        _Actor,
        fn_constructor_args=(pickle.dumps(job),),
        batch_size=1,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=1,
    )
    for batch in found.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
        for row in batch.to_pylist():
            result = row.pop("result")
            yield Block(**{**row, "paths": tuple(row["paths"])}), _unpack(result)


def _pack(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _unpack(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()
