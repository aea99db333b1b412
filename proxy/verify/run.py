"""Run a verification: of a proxy of its own in gateway mode, or of any gateway by its address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from perturb.selective.actions import Actions
from perturb.selective.parameters import SelectiveParameters
from perturb.selective.profiles import PROFILES
from proxy.config.privacy import Privacy
from proxy.config.settings import load_config
from proxy.loopback import run_proxy
from proxy.verify.probe import Advance, ProbeResult, probe
from proxy.verify.trials import ALL_TYPES, plan_trials
from proxy.verify.upstream import Upstream

__all__ = ["verify"]

MODEL = "verify"


async def verify(
    *,
    config: str | None = None,
    base_url: str | None = None,
    port: int = 0,
    model: str = MODEL,
    api_key: str = "none",
    seed: int = 1,
    full: bool = False,
    announce: Callable[[str], None] = lambda _: None,
    advance: Advance = lambda done, total: None,
) -> ProbeResult:
    """Plant values at every position and look for them in what the upstream receives.

    Args:
        config: a file whose section `privacy` and setting `remote.api` the proxy under test uses;
            None for the defaults of the mechanism selective and OpenAI's API. Nothing is kept, and
            nothing leaves this machine.
        base_url: the address of a gateway that is running already, in place of a proxy.
        port: the port of the throwaway upstream; 0 picks a free one.
        model, api_key: in the requests to the gateway.
        seed: chooses the sample of positions and types, and the values.
        full: send every type, and every kind of document, at every position.
        announce: called with the address of the upstream.
        advance: called with the number of requests that are done, and of all.

    Raises:
        ConfigError: the file is invalid, or its mechanism cannot serve without a local model.
        OSError: the port is taken.
    """
    upstream = Upstream()
    privacy = Privacy(mechanism="selective") if config is None else load_config(config).privacy
    types = ALL_TYPES if base_url is not None else _list_hidden(privacy)
    trials = plan_trials(model, types=types, seed=seed, full=full)
    test = partial(probe, upstream=upstream, trials=trials, api_key=api_key, advance=advance)
    try:
        await upstream.start(port)
        announce(upstream.base_url)
        if base_url is not None:
            url = base_url.rstrip("/")
            return await test(url)
        async with _serve(config, upstream.base_url, model) as url:
            return await test(url)
    finally:
        await upstream.stop()


def _list_hidden(privacy: Privacy) -> tuple[str, ...]:
    """Return the types of values that a configuration hides: those of its profile, or of its
    entities, whose action is not `keep`."""
    parameters = privacy.checked_parameters
    if not isinstance(parameters, SelectiveParameters):
        return ALL_TYPES
    actions = Actions(tuple(dict(parameters.actions).items()))
    profile = PROFILES.get(parameters.profile)
    wanted = profile.types if profile else frozenset(parameters.entities) or None
    names = {"NAME": ("NAME", "PERSON")}  # the patterns' type and the detector's
    return tuple(
        type_
        for type_ in ALL_TYPES
        if any(wanted is None or spelled in wanted for spelled in names.get(type_, (type_,)))
        and actions.of(type_) != "keep"
    )


@asynccontextmanager
async def _serve(path: str | None, upstream: str, model: str) -> AsyncIterator[str]:
    """Serve a proxy in gateway mode with a store of its own."""
    privacy: dict[str, Any] = {"mechanism": "selective"}
    remote: dict[str, Any] = {"base_url": upstream, "models": {model: model}, "retries": 0}
    if path is not None:
        given = load_config(path)
        privacy = given.privacy.model_dump()
        remote |= {"api": given.remote.api, "api_key": "none"}
    settings = {"privacy": privacy, "local": {"mode": "none"}, "remote": remote}
    async with run_proxy(None, settings, environment={}) as url:
        yield url
