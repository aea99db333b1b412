"""The Kubernetes manifests: their schemas, their privileges, and who reaches what."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.config.settings import load_config

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))
OBJECTS: list[dict[str, Any]] = [
    each
    for name in KUSTOMIZATION["resources"]
    for each in yaml.safe_load_all((FOLDER / name).read_text("utf-8"))
]
VERSIONS = ("1.29", "1.37")
APP = "app.kubernetes.io/name"
PROXY, DATABASE, MODEL = ({APP: name} for name in ("inferdpt", "postgres", "local-model"))
OTHER = {APP: "something-else"}
REMOTE, PRIVATE, OWN = "203.0.113.7", "10.0.0.5", "169.254.169.254"


def find(kind: str) -> dict[str, Any]:
    (found,) = [each for each in OBJECTS if each["kind"] == kind]
    return found


POD: dict[str, Any] = find("Deployment")["spec"]["template"]["spec"]
CONTAINER: dict[str, Any] = POD["containers"][0]


@pytest.mark.parametrize("version", VERSIONS)
def test_they_follow_the_schemas(version: str) -> None:
    import kubernetes_validate  # takes a second

    for each in OBJECTS:
        kubernetes_validate.validate(each, version, strict=True)
    broken = {**find("Service"), "spce": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, version, strict=True)


def test_every_manifest_is_listed() -> None:
    listed = {*KUSTOMIZATION["resources"], *KUSTOMIZATION["configMapGenerator"][0]["files"]}
    assert listed | {"kustomization.yaml"} == {path.name for path in FOLDER.iterdir()}


def test_the_proxy_has_no_privileges() -> None:
    pod, container = POD["securityContext"], CONTAINER["securityContext"]
    assert (pod["runAsNonRoot"], pod["seccompProfile"]) == (True, {"type": "RuntimeDefault"})
    assert container["allowPrivilegeEscalation"] is False
    assert container["readOnlyRootFilesystem"] is True
    assert container["capabilities"] == {"drop": ["ALL"]}
    assert POD["automountServiceAccountToken"] is False


def test_secrets_are_referred_to() -> None:
    assert not any(each["kind"] == "Secret" for each in OBJECTS)
    assert {one["name"] for one in CONTAINER["env"]} == {
        "INFERDPT_SECRET",
        "OPENAI_API_KEY",
        "PGPASSWORD",
    }
    assert all(set(one["valueFrom"]) == {"secretKeyRef"} for one in CONTAINER["env"])


def test_probes_ask_for_paths_of_the_proxy() -> None:
    paths = {
        name: CONTAINER[name]["httpGet"]["path"] for name in CONTAINER if name.endswith("Probe")
    }
    assert paths == {
        "startupProbe": "/health",
        "livenessProbe": "/health",
        "readinessProbe": "/ready",
    }


def test_the_settings_are_valid_and_fit() -> None:
    config = load_config(FOLDER / "config.yaml", {}, {"PGPASSWORD": "x"})
    assert config.server.port == CONTAINER["ports"][0]["containerPort"]
    assert config.server.drain_seconds < POD["terminationGracePeriodSeconds"]
    (generated,) = KUSTOMIZATION["configMapGenerator"]
    assert [v["configMap"]["name"] for v in POD["volumes"] if "configMap" in v] == [
        generated["name"]
    ]


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Tell whether a selector chooses an object with these labels."""
    if not selector.get("matchLabels", {}).items() <= labels.items():
        return False
    expressions = selector.get("matchExpressions", ())
    assert all(one["operator"] == "In" for one in expressions)
    return all(labels.get(one["key"]) in one["values"] for one in expressions)


def admits(peer: dict[str, Any], other: dict[str, str] | str) -> bool:
    """Tell whether a peer of a rule is a pod of this namespace, or an address."""
    if isinstance(other, str):
        address, block = ipaddress.ip_address(other), peer.get("ipBlock")
        if block is None or address not in ipaddress.ip_network(block["cidr"]):
            return False
        return not any(address in ipaddress.ip_network(one) for one in block.get("except", ()))
    if "ipBlock" in peer or "namespaceSelector" in peer:
        return False
    return selects(peer["podSelector"], other)


def allows(side: str, labels: dict[str, str], other: dict[str, str] | str, port: int) -> bool:
    """Tell whether the policies let a pod reach (`egress`) or be reached (`ingress`)."""
    policies = [
        each["spec"]
        for each in OBJECTS
        if each["kind"] == "NetworkPolicy"
        and side.capitalize() in each["spec"]["policyTypes"]
        and selects(each["spec"]["podSelector"], labels)
    ]
    assert policies, "a pod that no policy selects may reach everything"
    way = "to" if side == "egress" else "from"
    return any(
        any(admits(peer, other) for peer in rule[way])
        and port in [one["port"] for one in rule["ports"]]
        for policy in policies
        for rule in policy.get(side, ())
    )


def test_only_the_proxy_reaches_the_remote() -> None:
    assert allows("egress", PROXY, REMOTE, 443)
    for labels in (DATABASE, MODEL, OTHER, {}):
        assert not allows("egress", labels, REMOTE, 443), labels


def test_the_proxy_reaches_nothing_else_outside() -> None:
    assert not allows("egress", PROXY, REMOTE, 80)
    assert not allows("egress", PROXY, PRIVATE, 443)
    assert not allows("egress", PROXY, OWN, 443)
    assert not allows("egress", PROXY, "fd00::1", 443)


def test_only_the_proxy_reaches_the_database_and_the_local_model() -> None:
    for labels, port in ((DATABASE, 5432), (MODEL, 8000)):
        assert allows("egress", PROXY, labels, port)
        assert allows("ingress", labels, PROXY, port)
        assert not allows("ingress", labels, OTHER, port)
        assert not allows("egress", OTHER, labels, port)
