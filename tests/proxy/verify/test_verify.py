"""The verification: a proxy in gateway mode leaks nothing, a pass-through everything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from benchmarks.pages.verify_page import INTRO
from perturb.selective.patterns import shape_types
from perturb.selective.policies import PatternPolicy
from proxy.cli.main import main
from proxy.config.privacy import Privacy
from proxy.errors import ConfigError
from proxy.local import find_free_port
from proxy.verify.documents import DOCUMENTS, write_document
from proxy.verify.places import PLACES, Place
from proxy.verify.probe import Cell, ProbeResult, Verdict, probe
from proxy.verify.run import _list_hidden, _serve, format_report, verify
from proxy.verify.trials import ALL_TYPES, DOCUMENTS_EACH, VALUES_EACH, plan_trials
from proxy.verify.upstream import Upstream, find_echo
from proxy.verify.values import IN_CONTEXT, TYPES, Values, find_values
from proxy.verify.ways_back import WAYS
from tests.servers import FakeServer, completion, fake_server, forward

ROOT = Path(__file__).parents[3]
SOME = ("NAME", "EMAIL_ADDRESS", "CREDIT_CARD")
PATTERNS = "privacy: {mechanism: selective, parameters: {policy: regex}}\n"  # all that they find


def between(upstream: Upstream) -> AbstractAsyncContextManager[FakeServer]:
    """A server that checks the form of what it passes on."""
    return fake_server(behaviour=forward(upstream.base_url.removesuffix("/v1")))


@asynccontextmanager
async def throwaway() -> AsyncIterator[Upstream]:
    upstream = Upstream()
    await upstream.start()
    try:
        yield upstream
    finally:
        await upstream.stop()


@pytest.fixture
def patterns(tmp_path: Path) -> str:
    path = tmp_path / "config.yaml"
    path.write_text("remote: {base_url: 'http://127.0.0.1:9/v1', api_key: k}\n" + PATTERNS)
    return str(path)


def show(cells: Sequence[Cell]) -> list[str]:
    return [f"{cell.verdict} {cell.endpoint} {cell.place} {cell.kind}" for cell in cells]


async def test_a_gateway_leaks_nothing_and_restores_everything(patterns: str) -> None:
    done: list[tuple[int, int]] = []
    trials = plan_trials("m", types=SOME, kinds=(), full=True)
    async with (
        throwaway() as upstream,
        between(upstream) as remote,
        _serve(patterns, remote.base_url, "m") as url,
    ):
        findings = await probe(
            url, upstream, trials, api_key="k", advance=lambda *counts: done.append(counts)
        )
    assert remote.bodies
    assert remote.find_faults() == []
    assert show(findings.failures) == []
    assert {cell.verdict for cell in findings.cells} == {"clean", "restored"}
    assert findings.proved
    assert done == [(i, len(trials)) for i in range(len(trials) + 1)]


async def probe_documents(config: str | None, kind: str, places: Sequence[Place]) -> ProbeResult:
    planned = plan_trials("m", kinds=[kind], places=places)
    trials = [trial for trial in planned if trial.kind == kind]
    async with throwaway() as upstream, _serve(config, upstream.base_url, "m") as url:
        return await probe(url, upstream, trials, api_key="k")


@pytest.mark.parametrize("kind", DOCUMENTS)
async def test_a_document_leaks_nothing_by_default(kind: str) -> None:
    """In a tool's result in JSON, and at some other positions."""
    pytest.importorskip("onnxruntime")
    chosen = [place for place in PLACES if "JSON" in place.name] + list(PLACES[::15])
    findings = await probe_documents(None, kind, chosen)
    assert show(findings.failures) == []
    assert findings.proved


@pytest.mark.parametrize("kind", DOCUMENTS)
async def test_a_document_leaks_nothing_and_comes_back_as_it_was(kind: str, patterns: str) -> None:
    findings = await probe_documents(patterns, kind, PLACES)
    assert show(findings.failures) == []
    assert findings.count("restored") == len(findings.cells)
    assert findings.proved


async def test_a_gateway_before_the_messages_api_leaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    settings = "remote: {api: messages, base_url: 'http://127.0.0.1:9/v1', api_key: k}\n"
    path.write_text(settings + PATTERNS)
    trials = plan_trials("m", types=SOME[:1], kinds=("CSV",), full=True)
    async with (
        throwaway() as upstream,
        between(upstream) as remote,
        _serve(str(path), remote.base_url, "m") as url,
    ):
        findings = await probe(url, upstream, trials, api_key="k")
    assert remote.bodies
    assert remote.find_faults() == []
    assert findings.proved, show(findings.failures)
    # That API has no completions.
    refused = {cell.endpoint for cell in findings.cells if cell.verdict == "refused"}
    assert refused == {"completions"}
    assert "/v1/messages" in upstream.texts
    assert "/v1/chat/completions" not in upstream.texts


@pytest.mark.hostile
async def test_a_pass_through_leaks_every_value(capsys: pytest.CaptureFixture[str]) -> None:
    """The negative control, by the command: status 1, and LEAK wherever a value fits."""
    port = find_free_port()
    async with fake_server(behaviour=forward(f"http://127.0.0.1:{port}")) as gateway:
        arguments = ["verify", "--base-url", gateway.base_url, "--upstream-port", str(port)]
        status = await asyncio.to_thread(main, [*arguments, "--full"])
    shown = capsys.readouterr().out
    assert status == 1
    count = len(plan_trials("m", full=True))
    assert f"{count} requests: 0 clean, 0 restored, 0 refused, {count} LEAK" in shown


async def test_a_pass_through_leaks_every_sampled_value() -> None:
    trials = plan_trials("m", seed=3)
    async with throwaway() as upstream, between(upstream) as gateway:
        findings = await probe(gateway.base_url, upstream, trials, api_key="k")
    assert findings.count("LEAK") == len(trials)
    assert findings.faults == ()
    for cell in findings.cells:
        assert cell.kind in DOCUMENTS or cell.leaked == (cell.kind,)


async def test_a_gateway_that_spoils_a_text_changes_it() -> None:
    """A document without values to leak: only what comes back is judged."""

    async def spoil(
        server: FakeServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        return web.json_response(completion(find_echo(body).replace("COMMIT;", "commit;")))

    planned = plan_trials("m", types=(), kinds=("SQL",), full=True)
    trials = [trial for trial in planned if trial.endpoint == "chat/completions"]
    trials = [trial for trial in trials if "tool call" not in trial.place]
    async with throwaway() as upstream:
        async with between(upstream) as gateway:
            kept = await probe(gateway.base_url, upstream, trials, api_key="k")
        async with fake_server(behaviour=spoil) as gateway:
            spoiled = await probe(gateway.base_url, upstream, trials, api_key="k")
    assert {cell.verdict for cell in kept.cells} == {"restored"}
    assert {cell.verdict for cell in spoiled.cells} == {"CHANGED"}
    assert not spoiled.proved


async def test_a_body_without_the_form_of_its_endpoint_is_a_fault() -> None:
    trials = plan_trials("m", types=(), kinds=("SQL",), full=True)[:40]
    for trial in trials:
        trial.body["messages"] = [{"role": "tool", "content": find_echo(trial.body)}]
    async with throwaway() as upstream, between(upstream) as gateway:
        findings = await probe(gateway.base_url, upstream, trials, api_key="k")
    assert any("tool_call_id" in fault for fault in findings.faults)
    assert any("/v1/messages: messages.0.role" in fault for fault in findings.faults)
    assert not findings.proved
    assert "not in the form of its endpoint" in format_report(findings)


async def test_a_gateway_that_calls_something_else_proves_nothing() -> None:
    async with fake_server() as elsewhere:
        findings = await verify(base_url=elsewhere.base_url)
    assert not findings.proved
    assert "Nothing reached" in format_report(findings)


async def test_a_configuration_that_cannot_serve_alone_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("privacy: {mechanism: rantext_ldp}")
    with pytest.raises(ConfigError, match=r"local\.mode none"):
        await verify(config=str(path))


def test_a_value_is_at_its_position_and_nowhere_else() -> None:
    value = Values(1).make("CREDIT_CARD")
    spelled = {"name": value.name, "number": str(value.number)}
    for place in PLACES:
        body = json.dumps(place.plant(value, "m"))
        assert body.count(spelled.get(place.kind, value.text)) == 1, place


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
    name, card, other = (values.make(type_) for type_ in ("NAME", "CREDIT_CARD", "CREDIT_CARD"))
    both = (name, card, other)
    assert find_values(both, [json.dumps({"x": name.text.upper()})]) == {name}
    assert find_values(both, [str(card.number)]) == {card}
    assert find_values(both, [card.text.replace("-", " "), name.text]) == {card, name}
    assert find_values(both, ["nothing"]) == find_values((), [card.text]) == set()
    assert name.name == name.text.replace(" ", "_")
    assert values.make("EMAIL_ADDRESS").name is None


def test_a_private_key_is_recognised_by_any_of_its_lines() -> None:
    key = Values().make("PRIVATE_KEY")
    for line in key.text.splitlines()[1:-1]:
        assert find_values([key], [f"x{line}y"]) == {key}


def test_each_position_of_an_endpoint_has_a_name_of_its_own() -> None:
    names = [(place.endpoint, place.name) for place in PLACES]
    assert len(names) == len(set(names))


def test_every_place_holds_the_value_and_nothing_else_changes() -> None:
    value = Values().make("CREDIT_CARD")
    plain = {place.endpoint: place.plant(Values(9).make("US_SSN"), "m") for place in PLACES}
    for place in PLACES:
        body = place.plant(value, "m")
        assert find_values([value], [json.dumps(body)]), place.name
        assert not find_values([value], [json.dumps(plain[place.endpoint])])


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_document_holds_its_values_and_no_slot(kind: str) -> None:
    document = write_document(kind, Values(4), ALL_TYPES)
    assert "<<" not in document.text.replace("<<=", "").replace("1 << 4", "")
    assert len(document.values) >= 2
    assert find_values(document.values, [document.text]) == set(document.values)
    assert write_document(kind, Values(4), ["NAME"]).text == document.text
    names = write_document(kind, Values(4), ["NAME"]).values
    assert {value.type for value in names} <= {"NAME"}


def test_a_document_stands_at_the_position_that_is_echoed() -> None:
    """The longest text of a request is the document, or the JSON around it."""
    for trial in plan_trials("m", full=True):
        opened = trial.kind == "JSON" and "arguments" in trial.place
        if trial.kind in DOCUMENTS and not opened:
            assert trial.answer is not None
            assert find_values(trial.values, [trial.answer]) == set(trial.values)


def test_a_sample_holds_every_position_type_and_kind() -> None:
    everything, sample = plan_trials("m", full=True), plan_trials("m")
    assert len(sample) < len(everything) / 4
    for trials in (everything, sample):
        places = {(trial.endpoint, trial.place) for trial in trials}
        assert len(places) == len(PLACES) + len(WAYS)
        assert {trial.kind for trial in trials} == {*TYPES, *DOCUMENTS}
    counts: dict[tuple[str, str, bool], int] = {}
    kinds: dict[str, int] = {}
    for trial in sample:
        row = (trial.endpoint, trial.place, trial.kind in DOCUMENTS)
        counts[row] = counts.get(row, 0) + 1
        kinds[trial.kind] = kinds.get(trial.kind, 0) + 1
    for (_, place, document), count in counts.items():
        if "number" not in place:
            assert count == (DOCUMENTS_EACH if document else VALUES_EACH), place
    for names in (TYPES, DOCUMENTS):
        frequencies = [kinds[name] for name in names]
        assert max(frequencies) <= 2 * min(frequencies)


def test_a_sample_is_chosen_by_its_seed() -> None:
    def bodies(seed: int) -> list[str]:
        return [json.dumps(trial.body) for trial in plan_trials("m", seed=seed)]

    assert bodies(1) == bodies(1)
    assert bodies(1) != bodies(2)


@pytest.mark.parametrize(
    ("parameters", "hidden"),
    [
        ({"policy": "regex"}, set(ALL_TYPES)),
        ({"profile": "record"}, set(ALL_TYPES)),
        ({"profile": "secrets"}, {"API_KEY", *IN_CONTEXT}),
        ({"policy": "regex", "entities": ("NAME", "URL")}, {"NAME", "URL"}),
        ({"policy": "regex", "actions": {"URL": "keep"}}, set(ALL_TYPES) - {"URL"}),
        ({"policy": "all"}, set(ALL_TYPES)),
    ],
)
def test_only_what_a_configuration_hides_must_not_arrive(
    parameters: dict[str, object], hidden: set[str]
) -> None:
    privacy = Privacy(mechanism="selective", parameters=parameters)
    assert set(_list_hidden(privacy)) == hidden


def test_a_bare_number_is_planted_where_numbers_are_hidden() -> None:
    def kinds(*types: str) -> set[str]:
        trials = plan_trials("m", types=types, kinds=(), full=True)
        return {trial.kind for trial in trials if trial.place == "tool call: number"}

    assert kinds("CREDIT_CARD", "PHONE_NUMBER") == {"CREDIT_CARD"}
    assert kinds("CREDIT_CARD", "PHONE_NUMBER", "NUMBER") == {"CREDIT_CARD", "PHONE_NUMBER"}


def make_findings(*verdicts: Verdict, faults: tuple[str, ...] = ()) -> ProbeResult:
    kinds = list(TYPES)
    cells = [Cell("messages", f"p{i}", kinds[i], each) for i, each in enumerate(verdicts)]
    return ProbeResult(tuple(cells), faults, arrived=True)


def test_failures_are_not_proved() -> None:
    assert make_findings("clean", "restored", "refused").proved
    for failure in ("LEAK", "CHANGED", "ERROR"):
        assert not make_findings("clean", failure).proved
    assert not make_findings("clean", faults=("x",)).proved


def test_a_report_lists_only_failures() -> None:
    report = format_report(make_findings("clean", "LEAK", "refused"), markdown=True)
    kinds = list(TYPES)
    assert f"| {kinds[0]} | 1 |" in report
    assert f"| {kinds[1]} | 1 (1 LEAK) |" in report
    assert f"| {kinds[2]} | 1 (1 refused) |" in report
    assert f"| LEAK | /v1/messages | p1 | {kinds[1]} |" in report
    assert "p0" not in report
    assert "3 requests: 1 clean, 0 restored, 1 refused, 1 LEAK, 0 CHANGED, 0 ERROR" in report
    assert "failure" not in format_report(make_findings("clean"))


def test_the_page_is_of_these_types_and_kinds() -> None:
    """`python -m benchmarks.pages.verify_page --out docs/verify.md`"""
    page = (ROOT / "docs" / "verify.md").read_text("utf-8")
    assert page.startswith(INTRO)
    table = page.removeprefix(INTRO)
    for kind in DOCUMENTS:
        assert f"| {kind} | " in table
    assert len(page.splitlines()) < 300
