"""The verification: a proxy in gateway mode leaks nothing, a pass-through everything."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from benchmarks.pages.verify_page import INTRO
from perturb.selective.patterns import shape_types
from perturb.selective.policies import PatternPolicy
from proxy.cli.main import main
from proxy.errors import ConfigError
from proxy.local import find_free_port
from proxy.verify.places import PLACES
from proxy.verify.probe import Cell, Findings, probe
from proxy.verify.report import format_report, is_proved
from proxy.verify.run import _serve, verify
from proxy.verify.upstream import Upstream
from proxy.verify.values import TYPES, Values
from proxy.verify.ways_back import WAYS
from tests.servers import FakeServer, fake_server, forward

ROOT = Path(__file__).parents[3]
SOME = ("NAME", "EMAIL_ADDRESS", "CREDIT_CARD")


def between(upstream: Upstream) -> AbstractAsyncContextManager[FakeServer]:
    """A server that checks the form of what it passes on."""
    return fake_server(behaviour=forward(upstream.base_url.removesuffix("/v1")))


async def test_a_gateway_leaks_nothing_and_restores_everything() -> None:
    upstream = Upstream()
    await upstream.start()
    done: list[tuple[int, int]] = []
    try:
        async with between(upstream) as remote, _serve(None, remote.base_url, "m") as url:
            findings = await probe(
                url,
                upstream,
                model="m",
                api_key="k",
                types=SOME,
                advance=lambda *counts: done.append(counts),
            )
    finally:
        await upstream.stop()
    assert remote.bodies
    assert remote.find_faults() == []
    verdicts = {cell.verdict for cells in findings.cells.values() for cell in cells}
    assert verdicts == {"clean", "-"}
    assert {cell.verdict for cell in findings.back} == {"restored"}
    assert is_proved(findings)
    assert done == [(i + 1, len(done)) for i in range(len(done))]


async def test_a_gateway_before_the_messages_api_leaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    remote = "remote: {api: messages, base_url: 'http://127.0.0.1:9/v1', api_key: k}\n"
    path.write_text(remote + "privacy: {mechanism: selective}\n")
    upstream = Upstream()
    await upstream.start()
    try:
        async with between(upstream) as remote, _serve(str(path), remote.base_url, "m") as url:
            findings = await probe(url, upstream, model="m", api_key="k", types=SOME[:1])
    finally:
        await upstream.stop()
    assert remote.bodies
    assert remote.find_faults() == []
    verdicts = {end: {cell.verdict for cell in cells} for end, cells in findings.cells.items()}
    assert verdicts["completions"] == {"refused"}  # which that API does not have
    for endpoint in ("chat/completions", "messages", "responses"):
        assert "clean" in verdicts[endpoint] <= {"clean", "-"}
    assert {cell.verdict for cell in findings.back} == {"restored"}
    assert "/v1/messages" in upstream.texts
    assert "/v1/chat/completions" not in upstream.texts


@pytest.mark.hostile
async def test_a_pass_through_leaks_every_value(capsys: pytest.CaptureFixture[str]) -> None:
    """The negative control, by the command: status 1, and LEAK wherever a value fits."""
    port = find_free_port()
    async with fake_server(behaviour=forward(f"http://127.0.0.1:{port}")) as gateway:
        arguments = ["verify", "--base-url", gateway.base_url, "--upstream-port", str(port)]
        status = await asyncio.to_thread(main, arguments)
    shown = capsys.readouterr().out
    assert status == 1
    assert "clean" not in shown.replace("0 clean", "")
    places = sum(place.plant(Values().make(t), "m") is not None for place in PLACES for t in TYPES)
    assert f"{places} LEAK, 0 error" in shown
    assert f"{len(WAYS) * len(TYPES)} of {len(WAYS) * len(TYPES)} restored" in shown


async def test_a_gateway_that_calls_something_else_proves_nothing() -> None:
    async with fake_server() as elsewhere:
        findings = await verify(base_url=elsewhere.base_url)
    assert not is_proved(findings)
    assert "Nothing reached" in format_report(findings)


async def test_a_configuration_that_cannot_serve_alone_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("privacy: {mechanism: rantext_ldp}")
    with pytest.raises(ConfigError, match=r"local\.mode none"):
        await verify(config=str(path))


def test_the_values_are_of_their_types() -> None:
    """The shipped patterns find each value, if not always as its own type."""
    policy, values = PatternPolicy.shipped(), Values(2)
    for type_ in TYPES:
        for value in (values.make(type_) for _ in range(50)):
            found = {span.type for span in policy.find(f"Please keep {value.text} in mind.")}
            assert type_ in found or type_ not in shape_types()
            assert found


def test_a_value_is_recognised_in_other_spellings() -> None:
    values = Values()
    name, card = values.make("NAME"), values.make("CREDIT_CARD")
    assert name.is_in(json.dumps({"x": name.text.upper()}))
    assert card.is_in(str(card.number))
    assert card.is_in(card.text.replace("-", " "))
    assert not card.is_in(values.make("CREDIT_CARD").text)
    assert name.name == name.text.replace(" ", "_")
    assert values.make("EMAIL_ADDRESS").name is None


def test_each_position_of_an_endpoint_has_a_name_of_its_own() -> None:
    names = [(place.endpoint, place.name) for place in PLACES]
    assert len(names) == len(set(names))


def test_every_place_holds_the_value_and_nothing_else_changes() -> None:
    value = Values().make("CREDIT_CARD")
    plain = {place.endpoint: place.plant(Values(9).make("US_SSN"), "m") for place in PLACES}
    for place in PLACES:
        body = place.plant(value, "m")
        assert value.is_in(json.dumps(body)), place.name
        assert not value.is_in(json.dumps(plain[place.endpoint]))


def test_leaks_and_errors_are_not_proved() -> None:
    def findings(*verdicts: str) -> Findings:
        cells = tuple(Cell("p", str(i), verdict) for i, verdict in enumerate(verdicts))
        return Findings({"chat/completions": cells}, (), arrived=True)

    assert is_proved(findings("clean", "refused", "-"))
    assert not is_proved(findings("clean", "LEAK"))
    assert not is_proved(findings("clean", "error"))
    assert "| p | clean | LEAK |" in format_report(findings("clean", "LEAK"), markdown=True)


def test_the_page_is_of_these_places_and_types() -> None:
    """`python -m benchmarks.pages.verify_page --out docs/verify.md`"""
    page = (ROOT / "docs" / "verify.md").read_text("utf-8")
    assert page.startswith(INTRO)
    tables = page.removeprefix(INTRO)
    rows = [line.split(" | ")[0] for line in tables.splitlines() if line.startswith("| ")]
    places = [row.removeprefix("| ") for row in rows if row not in ("| position", "| ---")]
    assert places == [*(place.name for place in PLACES), *(way.name for way in WAYS)]
    assert tables.count(f"| position | {' | '.join(TYPES)} |") == 5
    assert "| LEAK" not in tables
    assert " 0 LEAK, 0 error." in tables
