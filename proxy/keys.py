"""Where the application keeps its objects: typed keys, filled by `proxy.app`."""

from __future__ import annotations

from aiohttp import web

from extraction.extractor import Extractor
from extraction.openai_server import OpenAIServer
from perturb import EmbeddingTable
from proxy.config import Config
from proxy.housekeeping import Housekeeping
from proxy.metrics import Metrics
from proxy.pipeline import Pipeline
from proxy.plan import Plan
from proxy.policy import Policy

__all__ = [
    "CONFIG",
    "ERROR",
    "EXTRACTOR",
    "HOUSEKEEPING",
    "LOCAL",
    "METRICS",
    "PIPELINE",
    "PLAN",
    "POLICY",
    "REQUEST_ID",
    "STARTED",
    "TABLE",
    "TENANT",
]

CONFIG = web.AppKey("config", Config)
EXTRACTOR = web.AppKey("extractor", Extractor)
HOUSEKEEPING = web.AppKey("housekeeping", Housekeeping)
LOCAL = web.AppKey("local", OpenAIServer)
METRICS = web.AppKey("metrics", Metrics)
PIPELINE = web.AppKey("pipeline", Pipeline)
POLICY = web.AppKey("policy", Policy)
STARTED = web.AppKey("started", float)
TABLE = web.AppKey("table", EmbeddingTable)
TENANT = web.RequestKey("tenant", str)
REQUEST_ID = web.RequestKey("request_id", str)
PLAN = web.RequestKey("plan", Plan)
ERROR = web.RequestKey("error", str)
