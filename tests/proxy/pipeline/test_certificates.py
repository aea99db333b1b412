"""`require_certificate`: only what a certificate proves is served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from perturb import EmbeddingTable, PerturbError, get_mechanism
from perturb.audit.certificate import certify, save_certificate
from proxy.app import build_app
from proxy.config.settings import load_config
from proxy.errors import ConfigError
from tests.proxy.conftest import MODEL, running_proxy

ASK: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "On Monday."}]}


@pytest.fixture(scope="module")
def certificate(table: EmbeddingTable, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("certificates") / "eight.json"
    save_certificate(certify(get_mechanism("rantext_ldp", table, epsilon=8)), path)
    return str(path)


def settings(certificate: str, **privacy: Any) -> dict[str, Any]:
    return {
        "privacy": {
            "mechanism": "rantext_ldp",
            "epsilon": 8,
            "require_certificate": True,
            "certificates": [certificate],
            **privacy,
        }
    }


async def test_what_is_proved_is_served(table: EmbeddingTable, certificate: str) -> None:
    async with running_proxy(table, settings(certificate)) as proxy:
        done = await proxy.client().chat.completions.create(**ASK)
        assert done.choices
        assert len(proxy.remote.received) == 1


@pytest.mark.parametrize("wish", [{"epsilon": 7}, {"mechanism": "rantext"}])
async def test_what_is_not_proved_is_refused(
    wish: dict[str, Any], table: EmbeddingTable, certificate: str
) -> None:
    async with running_proxy(table, settings(certificate)) as proxy:
        with pytest.raises(openai.PermissionDeniedError) as info:
            await proxy.client().chat.completions.create(**ASK, extra_body={"inferdpt": wish})
        assert "certificate" in info.value.message
        assert proxy.remote.received == []


@pytest.mark.parametrize(
    ("privacy", "said"),
    [
        ({"epsilon": 6}, "the certificate is for parameters"),
        ({"mechanism": "rantext"}, "the certificate is for mechanism"),
        ({"parameters": {"shape": "knn"}}, "the certificate is for parameters"),
    ],
)
def test_a_start_without_proof_is_refused(
    privacy: dict[str, Any], said: str, table: EmbeddingTable, certificate: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        build_app(load_config(None, settings(certificate, **privacy)), table=table)


def test_a_damaged_certificate_is_refused(
    table: EmbeddingTable, certificate: str, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.json"
    text = Path(certificate).read_text("utf-8")
    path.write_text(text.replace("11000", "11001"), "utf-8")
    with pytest.raises(PerturbError, match="damaged"):
        build_app(load_config(None, settings(str(path))), table=table)


def test_requiring_without_certificates_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="inferdpt privacy certify"):
        load_config(None, {"privacy": {"require_certificate": True}})


def test_dp_prompt_has_no_certificate(certificate: str) -> None:
    parameters = {"clip": [0, 1], "engine": "transformers", "model": "m"}
    privacy = {"mechanism": "dp_prompt", "parameters": parameters}
    with pytest.raises(ConfigError, match="there is no certificate for dp_prompt"):
        load_config(None, settings(certificate, **privacy))
