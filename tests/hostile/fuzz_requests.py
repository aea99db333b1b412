"""Generated requests over every endpoint: valid, boundary and wrong values of every field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from perturb.selective.patterns import shape_types
from proxy.api.embeddings import EmbeddingsRequest
from proxy.requests.anthropic import Conversation, MessagesRequest
from proxy.requests.protocol import ChatRequest, CompletionRequest, PerturbRequest
from proxy.requests.responses import ResponsesRequest
from tests.hostile.canary_words import HostileCanaries, MarkedCanaries
from tests.proxy.api.test_messages_canaries import MESSAGES
from tests.proxy.api.test_responses_canaries import EMBEDDINGS, RESPONSES
from tests.proxy.canaries import options
from tests.proxy.conftest import MODEL
from tests.proxy.pipeline.test_canaries import FIELDS

__all__ = ["Request", "everywhere", "odd_fields", "random_requests", "wishes"]

Make = Callable[[Any], Any]
ACTIONS = ("replace", "surrogate", "refuse")  # none is weaker than the operator's
PERTURB: dict[str, Make] = {
    "text": lambda c: c.text(),
    "mechanism": lambda c: "rantext",
    "epsilon": lambda c: 6,
    "actions": lambda c: actions(c),
    "deny": lambda c: [c.word()] if isinstance(c, MarkedCanaries) else None,
    "thresholds": lambda c: None,
}
PATHS: dict[str, tuple[type[Any], dict[str, Make]]] = {
    "chat/completions": (ChatRequest, FIELDS),
    "completions": (CompletionRequest, FIELDS),
    "responses": (ResponsesRequest, RESPONSES),
    "messages": (MessagesRequest, MESSAGES),
    "messages/count_tokens": (Conversation, MESSAGES),
    "embeddings": (EmbeddingsRequest, {**EMBEDDINGS, "model": lambda c: "fake-embeddings"}),
    "privacy/perturb": (PerturbRequest, PERTURB),
}
REQUIRED = ("model", "messages", "max_tokens", "prompt", "input", "text")
# In place of any value: of every JSON type, at and beyond every border, with canaries inside.
ODD: tuple[Make, ...] = (
    *(
        lambda _, value=value: value
        for value in (
            *(None, True, 0, -1, 2**31, 2**63, 10**400, 2.0000001, 1e308),
            *("", "0", "\ud800", "\x00\x1b", [], [1.5], {}),
        )
    ),
    lambda c: c.word(),
    lambda c: c.text(),
    lambda c: "x" * 5000 + " " + c.text(),
    lambda c: [c.text(), c.word()],
    lambda c: {c.key(): c.text(), "type": c.word()},
    lambda c: [{"type": "text", "text": c.text()}],
    lambda c: [{"type": c.word(), c.key(): [c.text()]}],
    lambda c: _nested(c.text(), 60),
    lambda c: _nested(c.text(), 90),
)


@dataclass(frozen=True)
class Request:
    """One request; `body` is JSON."""

    path: str
    body: bytes | None = None
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)


def odd_fields(c: HostileCanaries) -> Iterator[Request]:
    """Generate every declared field of every body with odd values, the rest valid: with all of
    them in a chat, and elsewhere with a third of them, another third for the next field."""
    for path, (kind, fields) in PATHS.items():
        for number, name in enumerate(kind.model_fields):
            for odd in ODD if path == "chat/completions" else ODD[number % 3 :: 3]:
                body = {key: fields[key](c) for key in kind.model_fields if key in REQUIRED}
                yield _request(path, {**body, name: odd(c)})


def random_requests(c: HostileCanaries, count: int) -> Iterator[Request]:
    """Generate bodies of many fields, with something odd in their depths or left as they are."""
    names = list(PATHS)
    for _ in range(count):
        path = c.random.choice(names)
        kind, fields = PATHS[path]
        body = {
            name: fields[name](c)
            for name in kind.model_fields
            if name in REQUIRED or c.random.random() < 0.4
        }
        if "inferdpt" in kind.model_fields:
            body["inferdpt"] = wishes(c)
        if isinstance(c, MarkedCanaries) and path == "privacy/perturb":
            body["mechanism"] = "selective"
        if c.random.random() < 0.4:
            _spoil(c, body)
        yield _request(path, body)


def everywhere(c: HostileCanaries, count: int) -> Iterator[Request]:
    """Generate other paths and methods, with canaries in the path, and requests that only read."""
    reading = (
        "models",
        f"models/{MODEL}",
        "privacy/ledger",
        "../health",
        "../ready",
        "../metrics",
    )
    for _ in range(count):
        odd = (c.word(), f"models/{c.word()}", f"chat/{c.word()}", f"../{c.word()}/{c.number()}")
        path = c.random.choice((*reading, *odd, *PATHS))
        method = c.random.choice(("GET", "GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"))
        headers = c.random.choice(({}, {"Origin": f"https://{c.word()}.com"}, {"Host": c.word()}))
        body = None if method == "GET" else json.dumps({c.key(): c.text()}).encode()
        yield Request(path, body, method, headers)


def wishes(c: HostileCanaries) -> dict[str, Any]:
    """Return the `inferdpt` object. Public parts of it hold no canary."""
    out = {**options(c), "local_only": c.random.random() < 0.1}
    if isinstance(c, MarkedCanaries):
        out["mechanism"] = "selective"
        out["actions"] = actions(c)
        out["deny"] = [c.word(), "notice"]
    if c.random.random() < 0.2:
        out["instruction"] = "Answer in one short sentence."
    return out


def actions(c: HostileCanaries) -> dict[str, str] | None:
    """Return an action for some types, where the mechanism knows any."""
    if not isinstance(c, MarkedCanaries):
        return None
    types = c.random.sample(("*", *shape_types()), 3)
    return {type_: c.random.choices(ACTIONS, (5, 5, 1))[0] for type_ in types}


def _request(path: str, body: Any) -> Request:
    return Request(path, json.dumps(body).encode())


def _nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def _spoil(c: HostileCanaries, body: dict[str, Any]) -> None:
    """Replace, add or take away something at a random place."""
    inner: Any = body
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = c.random.choice([k for k in keys if k not in ("instruction", "mechanism")] or [None])
        below = inner[key] if key is not None else None
        if isinstance(below, dict | list) and below and c.random.random() < 0.7:
            inner = below
            continue
        break
    way = c.random.random()
    if key is None or (way < 0.2 and isinstance(inner, dict)):
        if isinstance(inner, dict):
            inner[c.key()] = c.text()
        else:
            inner.append(c.random.choice(ODD)(c))
    elif way < 0.3:
        del inner[key]
    else:
        inner[key] = c.random.choice(ODD)(c)
