"""The dashboard and the alerts: against the proxy's own metrics, promtool, a real Prometheus and a
real Alertmanager.

Grafana itself is not run here; its dashboard's queries are.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from aiohttp import web

from benchmarks.load.processes import start_child
from perturb import EmbeddingTable
from proxy.access.auth import Grant
from proxy.api.app_keys import KEYRING
from proxy.local import find_free_port
from tests.deploy.test_operating import find_blocks
from tests.limits import LIMIT
from tests.proxy.api.test_metrics import be_busy, made, metrics
from tests.proxy.conftest import MODEL, Proxy, running_proxy, table

__all__ = ["table"]

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yml"
SCRAPING = DEPLOY / "prometheus" / "prometheus.yml"
RECEIVERS = DEPLOY / "alertmanager" / "alertmanager.yml"
DASHBOARD: dict[str, Any] = json.loads(
    (DEPLOY / "grafana" / "dashboards" / "inferdpt.json").read_text("utf-8")
)
ALERTS = [
    rule for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"] for rule in group["rules"]
]
VARIABLES: list[dict[str, Any]] = DASHBOARD["templating"]["list"]
WRITTEN = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
SHOWN = [re.sub(r"\$(?!__)\w+", ".*", query) for query in WRITTEN]  # as Grafana asks for all
QUERIES = [*SHOWN, *(rule["expr"] for rule in ALERTS)]
METRIC = re.compile(r"(inferdpt_\w+)(?:\{([^}]*)\})?")
SETTINGS = {
    "server": {"operators": ["ops"]},
    "privacy": {"mechanism": "rantext_ldp"},
    "telemetry": {"prices": {MODEL: {"prompt": 2.5, "completion": 10}}},
}


def need(program: str, package: str = "prometheus") -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed (Debian: apt-get install {package})")
    return found


def change(file: Path, *changes: tuple[str, str]) -> str:
    """Return the text of a file with changes, each of something that is in it."""
    text = file.read_text("utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture
async def busy(table: EmbeddingTable) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy that has counted everything, and an operator's key."""
    async with running_proxy(table, SETTINGS) as proxy:
        _, ops = await proxy.app[KEYRING].create("ops", Grant())
        await be_busy(proxy, await made(proxy, "bob", budget_tokens={"request": 99}))
        yield proxy, ops


@asynccontextmanager
async def serving(route: web.RouteDef, place: socket.socket) -> AsyncIterator[None]:
    """Serve a route where a socket is bound."""
    app = web.Application()
    app.add_routes([route])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.SockSite(runner, place).start()
        yield
    finally:
        await runner.cleanup()


def bind() -> tuple[socket.socket, str]:
    """Bind a socket, which refuses connections until it listens; return it with its address."""
    place = socket.socket()
    place.bind(("127.0.0.1", 0))
    return place, f"127.0.0.1:{place.getsockname()[1]}"


def read_labels(page: str) -> dict[str, set[str]]:
    """Return the labels of each metric on a page."""
    out: dict[str, set[str]] = {}
    for line in page.splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition("{")
            found = re.findall(r'(\w+)="', rest) if rest else []
            out.setdefault(name.split()[0], set()).update(found)
    return out


async def test_every_metric_and_label_that_is_used_is_on_the_page(
    busy: tuple[Proxy, str],
) -> None:
    labels = read_labels(await metrics(*busy))
    used = set()
    for query in QUERIES:
        for name, matchers in METRIC.findall(query):
            assert name in labels, name
            used.add(name)
            asked = set(re.findall(r'(\w+)=~?"', matchers))
            for group in re.findall(r"by \(([^)]*)\)", query):
                asked |= {word.strip() for word in group.split(",")}
            assert asked <= labels[name], (name, asked - labels[name])
    assert len(used) >= 15


def test_labels_of_legends_are_kept_by_their_queries() -> None:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            kept = {
                word.strip()
                for group in re.findall(r"by \(([^)]*)\)", target["expr"])
                for word in group.split(",")
            }
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert shown <= kept | {"tenant"}, panel["title"]


def test_codes_that_alerts_name_are_codes_of_the_proxy() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "proxy").rglob("*.py"))
    codes = [
        code
        for rule in ALERTS
        for found in re.findall(r'code=~?"([^"]+)"', rule["expr"])
        for code in found.split("|")
    ]
    assert len(codes) >= 4
    for code in codes:
        assert f'"{code}"' in sources, code


def test_amtool_accepts_the_receivers_and_their_routes(tmp_path: Path) -> None:
    program = need("amtool", "prometheus-alertmanager")

    def check(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True)

    need("promtool")
    (block,) = find_blocks("Alerts", postgres=False)
    checked = subprocess.run(["bash", "-euc", block], cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.split()[-1] == "pages"
    broken = tmp_path / "broken.yml"
    broken.write_text(change(RECEIVERS, ("- name: pages", "- name: nobody")))
    assert check("check-config", str(broken)).returncode == 1
    severities = {rule["labels"]["severity"] for rule in ALERTS}
    assert severities == {"page", "ticket"}
    for severity in severities:
        routes = ("config", "routes", "test", f"--config.file={RECEIVERS}")
        found = check(*routes, f"severity={severity}")
        assert found.stdout.split() == [f"{severity}s"], found.stderr


async def test_an_alert_reaches_the_webhook_and_is_withdrawn(tmp_path: Path) -> None:
    prometheus = need("prometheus")
    alertmanager = need("prometheus-alertmanager", "prometheus-alertmanager")
    watching, sending = find_free_port(), find_free_port()
    (pager, pager_at), (proxy, proxy_at) = bind(), bind()
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def hear(request: web.Request) -> web.Response:
        told.put_nowait(await request.json())
        return web.Response()

    async def count(request: web.Request) -> web.Response:
        return web.Response(text="")

    def write(name: str, file: Path, *changes: tuple[str, str]) -> Path:
        (tmp_path / name).write_text(change(file, *changes))
        return tmp_path / name

    async with AsyncExitStack() as stack:
        stack.callback(proxy.close)
        await stack.enter_async_context(serving(web.post("/alerts", hear), pager))
        receivers = write(
            "alertmanager.yml",
            RECEIVERS,
            ("https://pager.example.org/inferdpt", f"http://{pager_at}/alerts"),
            ("group_wait: 30s", "group_wait: 0s"),
            ("group_interval: 5m", "group_interval: 1s"),
        )
        rules = write("alerts.yml", RULES, ("for: 2m", "for: 0s"))
        (tmp_path / "key").write_text("a key")
        scraping = write(
            "prometheus.yml",
            SCRAPING,
            ("/run/secrets/metrics-key", str(tmp_path / "key")),
            ("proxy:8100", proxy_at),
            ("15s", "1s"),
            ("alerts.yml", str(rules)),
            ("alertmanager:9093", f"127.0.0.1:{sending}"),
        )
        sender = stack.enter_context(
            start_child(
                [
                    *(alertmanager, f"--config.file={receivers}", "--cluster.listen-address="),
                    f"--web.listen-address=127.0.0.1:{sending}",
                    f"--storage.path={tmp_path}/sent",
                ],
                tmp_path / "alertmanager",
            )
        )
        watcher = stack.enter_context(
            start_child(
                [
                    *(prometheus, f"--config.file={scraping}"),
                    f"--web.listen-address=127.0.0.1:{watching}",
                    f"--storage.tsdb.path={tmp_path}/series",
                    "--rules.alert.resend-delay=1s",  # Alertmanager may not listen yet
                ],
                tmp_path / "prometheus",
            )
        )

        async def wait_for(status: str) -> None:
            """Wait for a message of this status; it is about the one alert there is."""
            while True:
                try:
                    message = await asyncio.wait_for(told.get(), 1)
                except TimeoutError:
                    for child in (sender, watcher):
                        assert child.process.poll() is None, child.tail()
                    continue
                (alert,) = message["alerts"]
                assert alert["labels"]["alertname"] == "ProxyDown"
                assert message["receiver"] == "pages"
                if message["status"] == status:
                    return

        async with asyncio.timeout(LIMIT):
            await wait_for("firing")  # nothing listens there
            await stack.enter_async_context(serving(web.get("/metrics", count), proxy))
            await wait_for("resolved")


def test_the_dashboard_is_of_one_piece() -> None:
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids) == len(set(places))
    path = DEPLOY / "grafana" / "provisioning" / "datasources" / "prometheus.yaml"
    (source,) = yaml.safe_load(path.read_text("utf-8"))["datasources"]
    assert {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]} == {source["uid"]}


def test_promtool_accepts_the_rules(tmp_path: Path) -> None:
    program = need("promtool")
    checked = subprocess.run([program, "check", "rules", str(RULES)], capture_output=True)
    assert checked.returncode == 0, checked.stderr
    tests = Path(__file__).with_name("alerts_test.yml").read_text("utf-8")
    assert {rule["alert"] for rule in ALERTS} == set(re.findall(r"alertname: (\w+)", tests))
    path = tmp_path / "tests.yml"
    for rules, status in ((RULES, 0), (tmp_path / "changed.yml", 1)):
        if status:  # alerts that come at once
            rules.write_text(re.sub(r"for: \d+m", "for: 0m", RULES.read_text("utf-8")))
        path.write_text(tests.replace("RULES", str(rules)))
        done = subprocess.run(
            [program, "test", "rules", str(path)], capture_output=True, text=True
        )
        assert done.returncode == status, done.stdout + done.stderr


def test_variables_are_labels_of_the_proxy_and_choose_something() -> None:
    """Only labels from sets that operators choose: tenants, models and mechanisms."""
    names = [variable["name"] for variable in VARIABLES]
    assert names == ["tenant", "model", "mechanism"]
    chosen = {
        (name, label, variable)
        for query in WRITTEN
        for name, label, variable in re.findall(r'(inferdpt_\w+)\{(\w+)=~"\$(\w+)"\}', query)
    }
    assert {variable for _, _, variable in chosen} == {*names}
    assert all(label == variable for _, label, variable in chosen)
    assert len(chosen) == sum(query.count(f"${name}") for query in WRITTEN for name in names)
    for variable in VARIABLES:
        name = variable["name"]
        asked = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"])
        assert asked is not None
        assert asked[2] == name
        assert (asked[1], name, name) in chosen
        assert (variable["multi"], variable["includeAll"], variable["allValue"]) == (
            *(True, True),
            ".*",
        )


async def test_prometheus_scrapes_the_proxy_and_answers_every_query(
    busy: tuple[Proxy, str], tmp_path: Path
) -> None:
    program = need("prometheus")
    proxy, key = busy
    port, secret = find_free_port(), tmp_path / "key"
    secret.write_text(key)
    text = change(
        SCRAPING,
        ("/run/secrets/metrics-key", str(secret)),
        ("proxy:8100", proxy.root.removeprefix("http://")),
        ("15s", "1s"),
        ("alerts.yml", str(RULES)),
        ("alertmanager:9093", f"127.0.0.1:{find_free_port()}"),
    )
    (tmp_path / "prometheus.yml").write_text(text)
    command = [program, f"--config.file={tmp_path}/prometheus.yml"]
    command += [f"--storage.tsdb.path={tmp_path}/series", f"--web.listen-address=127.0.0.1:{port}"]
    url = f"http://127.0.0.1:{port}/api/v1"
    with start_child(command, tmp_path) as child:
        async with aiohttp.ClientSession() as session:

            async def get(path: str, **parameters: str) -> Any:
                async with session.get(f"{url}/{path}", params=parameters) as answer:
                    return await answer.json()

            async def is_scraped() -> bool:
                try:
                    found = await get("query", query='up{job="inferdpt"}')
                except aiohttp.ClientError:
                    return False
                results = found.get("data", {}).get("result", [])
                return [one["value"][1] for one in results] == ["1"]

            async with asyncio.timeout(LIMIT):
                while not await is_scraped():
                    assert child.process.poll() is None, child.tail()
                    await asyncio.sleep(0.2)
            rules = await get("rules")
            empty = []
            for query in QUERIES:
                asked = query.replace("$__rate_interval", "1m")
                found = await get("query", query=asked)
                assert found["status"] == "success", (query, found)
                name = METRIC.search(query)
                if name and not (await get("query", query=name[1]))["data"]["result"]:
                    empty.append(name[1])
    loaded = [rule["name"] for group in rules["data"]["groups"] for rule in group["rules"]]
    assert loaded == [rule["alert"] for rule in ALERTS]
    assert empty == []
