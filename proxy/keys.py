"""Where the application keeps its objects: typed keys, filled by `proxy.app`."""

from __future__ import annotations

from aiohttp import web

from extraction.extractor import Extractor
from extraction.openai_server import OpenAIServer
from perturb import EmbeddingTable
from proxy.auth import Keyring
from proxy.config import Config
from proxy.grants import Client
from proxy.housekeeping import Housekeeping
from proxy.ledger import Ledger
from proxy.metrics import Metrics
from proxy.pipeline import Pipeline
from proxy.plan import Plan
from proxy.policy import Policy
from proxy.rates import Rates
from proxy.store import Store

__all__ = [
    "CONFIG",
    "ERROR",
    "EXTRACTOR",
    "HOUSEKEEPING",
    "KEYRING",
    "LEDGER",
    "LOCAL",
    "METRICS",
    "PIPELINE",
    "PLAN",
    "POLICY",
    "RATE",
    "RATES",
    "REQUEST_ID",
    "STARTED",
    "STORE",
    "TABLE",
    "TENANT",
]

CONFIG = web.AppKey("config", Config)
EXTRACTOR = web.AppKey("extractor", Extractor)
HOUSEKEEPING = web.AppKey("housekeeping", Housekeeping)
LOCAL = web.AppKey("local", OpenAIServer)
KEYRING = web.AppKey("keyring", Keyring)
LEDGER = web.AppKey("ledger", Ledger)
METRICS = web.AppKey("metrics", Metrics)
PIPELINE = web.AppKey("pipeline", Pipeline)
POLICY = web.AppKey("policy", Policy)
STARTED = web.AppKey("started", float)
STORE = web.AppKey("store", Store)
TABLE = web.AppKey("table", EmbeddingTable)
RATES = web.AppKey("rates", Rates)
TENANT = web.RequestKey("tenant", Client)  # whose request it is, and what its key allows
RATE = web.RequestKey[dict[str, str]]("rate", dict)  # headers that tell of the rate limit
REQUEST_ID = web.RequestKey("request_id", str)
PLAN = web.RequestKey("plan", Plan)
ERROR = web.RequestKey("error", str)
