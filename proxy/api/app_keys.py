"""Define the typed keys of the application's objects, which `proxy.app` fills."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

from aiohttp import web

from extraction.backends.base import Backend
from extraction.extractor import Extractor
from perturb import EmbeddingTable
from perturb.work import Findings
from proxy.access.admission import Admission, Rates
from proxy.access.auth import Client, Keyring
from proxy.background import Background
from proxy.config.settings import Config
from proxy.demonstrations import Demonstrations
from proxy.metrics import Metrics
from proxy.pipeline.memory import Memory
from proxy.pipeline.pipeline import Pipeline
from proxy.pipeline.plan import Plan
from proxy.pipeline.policy import RequestPolicy
from proxy.records.chain import Recorder
from proxy.remote.remotes import Remotes
from proxy.requests.messages import Housekeeping
from proxy.storage.ledger import Ledger
from proxy.storage.store import Store

__all__ = [
    "ADMISSION",
    "BACKGROUND",
    "BODY",
    "CONFIG",
    "CURRENT",
    "DEMONSTRATIONS",
    "ERROR",
    "EXTRACTOR",
    "FINDINGS",
    "FINISHED",
    "HOUSEKEEPING",
    "KEYRING",
    "LARGE_WORK",
    "LEDGER",
    "LOCAL",
    "MEMORY",
    "METRICS",
    "PARAM",
    "PIPELINE",
    "PLAN",
    "POLICY",
    "RATE",
    "RATES",
    "RECORDER",
    "REMOTES",
    "REQUEST_ID",
    "STARTED",
    "STORE",
    "TABLE",
    "TENANT",
    "Current",
]


@dataclass
class Current:
    """Hold the application of the configuration in force: what begins now belongs to it."""

    app: web.Application


BACKGROUND = web.AppKey("background", Background)
ADMISSION = web.AppKey("admission", Admission)
CONFIG = web.AppKey("config", Config)
CURRENT = web.AppKey("current", Current)
DEMONSTRATIONS = web.AppKey("demonstrations", Demonstrations)
EXTRACTOR = web.AppKey("extractor", Extractor)
FINDINGS = web.AppKey("findings", Findings)
HOUSEKEEPING = web.AppKey("housekeeping", Housekeeping)
LOCAL = web.AppKey[Backend]("local")
KEYRING = web.AppKey("keyring", Keyring)
LARGE_WORK = web.AppKey[Executor]("large_work")  # the threads of large requests and of batches
LEDGER = web.AppKey("ledger", Ledger)
MEMORY = web.AppKey("memory", Memory)
METRICS = web.AppKey("metrics", Metrics)
PIPELINE = web.AppKey("pipeline", Pipeline)
REMOTES = web.AppKey("remotes", Remotes)
POLICY = web.AppKey("policy", RequestPolicy)
STARTED = web.AppKey("started", float)
STORE = web.AppKey("store", Store)
TABLE = web.AppKey("table", EmbeddingTable)
RATES = web.AppKey("rates", Rates)
RECORDER = web.AppKey("recorder", Recorder)
TENANT = web.RequestKey("tenant", Client)  # the owner of the request, and the grant of its key
RATE = web.RequestKey[dict[str, str]]("rate", dict)  # the rate limit headers
BODY = web.RequestKey("body", bytes)
REQUEST_ID = web.RequestKey("request_id", str)
PLAN = web.RequestKey("plan", Plan)
ERROR = web.RequestKey("error", str)
FINISHED = web.RequestKey("finished", bool)  # the answer was written, or its client is gone
PARAM = web.RequestKey("param", str)  # the field of an error
