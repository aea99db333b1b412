"""Certificates: the proof against a slow exact one, and every kind of damage refused."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, Mechanism, TableError, get_mechanism, load_table
from perturb.audit.certificate import (
    Certificate,
    certify,
    check_certificate,
    load_certificate,
    save_certificate,
)
from perturb.errors import CertificateError
from perturb.mechanisms.exponential import Exponential
from perturb.mechanisms.rantext_ldp import RanTextLDP
from perturb.vocabulary.embeddings import save_table, table_digest

CASES = [
    ("rantext_ldp", {"shape": "power"}),
    ("rantext_ldp", {"shape": "random_k"}),
    ("rantext_ldp", {"shape": "knn"}),
    ("exponential", {}),
]


@pytest.fixture(scope="module")
def stem(toy: EmbeddingTable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "toy"
    save_table(toy, path)
    return path


@pytest.fixture(scope="module")
def table(stem: Path) -> EmbeddingTable:
    return load_table(stem)


@pytest.fixture(scope="module")
def mechanism(table: EmbeddingTable) -> Mechanism:
    return get_mechanism("rantext_ldp", table, epsilon=6.0)


@pytest.fixture(scope="module")
def certificate(mechanism: Mechanism) -> Certificate:
    return certify(mechanism)


def redigested(certificate: Certificate, **changes: Any) -> Certificate:
    changed = dataclasses.replace(certificate, **changes)
    return dataclasses.replace(changed, digest=changed.expected_digest())


def with_lists(
    table: EmbeddingTable, change: Callable[[NDArray[np.uint16]], None]
) -> EmbeddingTable:
    """The table with one change to its lists, its digest left as it is."""
    lists = table.neighbours.copy()
    change(lists)
    return dataclasses.replace(table, neighbours=lists)


def largest_ratio(mechanism: RanTextLDP | Exponential) -> Fraction:
    """The largest P(y|x)/P(y|x') in fractions, word by word."""
    weights = mechanism.integer_weights(np.arange(len(mechanism.table)))
    sums = [int(total) for total in weights.sum(axis=1)]
    best = Fraction(0)
    for column in weights.T.tolist():
        shares = set(zip(column, sums, strict=True))
        best = max(best, Fraction(*reduce(larger, shares)) / Fraction(*reduce(smaller, shares)))
    return best


def larger(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The larger of two fractions, each a numerator and a denominator > 0."""
    return one if one[0] * other[1] >= other[0] * one[1] else other


def smaller(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return other if larger(one, other) is one else one


@pytest.mark.parametrize("epsilon", [0.5, 6.0, 10.0])
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_certificate_proves_the_slow_exact_figure(
    name: str, parameters: dict[str, str], epsilon: float, table: EmbeddingTable
) -> None:
    mechanism: Any = get_mechanism(name, table, epsilon=epsilon, **parameters)
    proof = certify(mechanism)
    truth = largest_ratio(mechanism)
    assert Fraction(proof.worst_pair["ratio"]) <= truth
    proved = Fraction(proof.epsilon_proved)
    assert float(proved) >= math.log(truth) - 1e-14
    assert float(proved) - math.log(truth) < 1e-11
    assert proved <= Fraction(epsilon)
    if name == "rantext_ldp":
        assert Fraction(proof.worst_pair["ratio"]) == truth
        assert abs(float(proved) - epsilon) < 1e-8
    check_certificate(proof, mechanism)


@pytest.mark.parametrize(
    "epsilon",
    [6.0, pytest.param(10.0, marks=pytest.mark.statistical)],
)
def test_bundled_table_is_certified(epsilon: float, bundled: EmbeddingTable) -> None:
    mechanism = get_mechanism("rantext_ldp", bundled, epsilon=epsilon)
    proof = certify(mechanism)
    assert proof.table == bundled.sha256
    assert proof.words == 11_000
    assert abs(float(proof.epsilon_proved) - epsilon) < 1e-9
    assert Fraction(proof.epsilon_proved) <= Fraction(epsilon)


def test_worst_pair_has_the_ratio_it_names(
    certificate: Certificate, mechanism: Mechanism, table: EmbeddingTable
) -> None:
    words = table.vocabulary.words
    x, other, y = (words.index(certificate.worst_pair[key]) for key in ("x", "x'", "y"))
    rows, _ = mechanism.channel(np.array([x, other]))
    ratio = float(Fraction(certificate.worst_pair["ratio"]))
    assert rows[0, y] / rows[1, y] == pytest.approx(ratio)


@pytest.mark.parametrize("epsilon", [1e-60, 1e-9])
def test_tiniest_epsilon_of_rantext_ldp_is_certified(
    epsilon: float, table: EmbeddingTable
) -> None:
    proof = certify(get_mechanism("rantext_ldp", table, epsilon=epsilon))
    assert Fraction(proof.epsilon_proved) <= Fraction(epsilon)


def test_exponential_below_the_rounding_is_not_certified(table: EmbeddingTable) -> None:
    with pytest.raises(CertificateError, match="is not proved"):
        certify(get_mechanism("exponential", table, epsilon=1e-20))


@pytest.mark.parametrize("name", ["rantext", "santext", "custext", "madlib"])
def test_mechanism_without_a_proof_is_refused(name: str, table: EmbeddingTable) -> None:
    with pytest.raises(CertificateError, match=f"{name} has no proof to certify"):
        certify(get_mechanism(name, table, epsilon=1.0))


def test_table_without_a_name_is_refused(toy: EmbeddingTable) -> None:
    with pytest.raises(CertificateError, match="never saved"):
        certify(get_mechanism("rantext_ldp", toy, epsilon=1.0))


# Mechanisms that do not keep their word


def test_one_part_in_four_billion_too_much_is_seen(table: EmbeddingTable) -> None:
    mechanism: Any = get_mechanism("rantext_ldp", table, epsilon=6.0)
    mechanism._weights = mechanism._weights.copy()
    mechanism._weights[0] += 1
    with pytest.raises(CertificateError, match=r"6-LDP is not proved: P\('A' \| 'A'\) is 403\.4"):
        certify(mechanism)


def test_word_that_is_favoured_from_one_token_is_seen(table: EmbeddingTable) -> None:
    class Favours(Exponential):
        def integer_weights(self, words: Any) -> NDArray[np.uint64]:
            weights = super().integer_weights(words)
            weights[np.asarray(words) == 123, 77] *= np.uint64(200)
            return weights

    words = table.vocabulary.words
    with pytest.raises(CertificateError, match=r"3-LDP is not proved") as caught:
        certify(Favours(table, Exponential.parameter_type(epsilon=3.0)))
    assert f"P({words[77]!r} | {words[123]!r})" in str(caught.value)


def test_rows_of_different_sums_are_no_rantext_ldp(table: EmbeddingTable) -> None:
    class OneRowMore(RanTextLDP):
        def integer_weights(self, words: Any) -> NDArray[np.uint64]:
            weights = super().integer_weights(words)
            weights[np.asarray(words) == 5, 9] += np.uint64(1)
            return weights

    with pytest.raises(CertificateError, match="are not one law"):
        certify(OneRowMore(table, RanTextLDP.parameter_type(epsilon=3.0)))


# Broken tables


def swap(lists: NDArray[np.uint16]) -> None:
    lists[7, [20, 21]] = lists[7, [21, 20]]


def twice(lists: NDArray[np.uint16]) -> None:
    lists[7, 21] = lists[7, 20]


@pytest.mark.parametrize("change", [swap, twice])
def test_broken_list_is_named(
    change: Callable[[NDArray[np.uint16]], None], table: EmbeddingTable
) -> None:
    words, list_7 = table.vocabulary.words, table.neighbours[7]
    broken = with_lists(table, change)
    with pytest.raises(CertificateError) as caught:
        certify(get_mechanism("rantext_ldp", broken, epsilon=6.0))
    said = str(caught.value)
    assert said.startswith(f"the list of {words[7]!r} ")
    if change is swap:
        one, two = words[list_7[21]], words[list_7[20]]
        assert said.endswith(f"names {one!r} before {two!r}, which is nearer")
    else:
        assert said.endswith(f"names {words[list_7[20]]!r} twice")


def test_word_left_out_of_a_list_is_named(table: EmbeddingTable) -> None:
    words, list_7 = table.vocabulary.words, table.neighbours[7]
    order = np.argsort(table.distances(7), kind="stable")

    def leave_out(lists: NDArray[np.uint16]) -> None:
        lists[7] = np.append(np.delete(lists[7], 100), order[512])

    with pytest.raises(CertificateError) as caught:
        certify(get_mechanism("rantext_ldp", with_lists(table, leave_out), epsilon=6.0))
    assert str(caught.value) == (
        f"the list of {words[7]!r} leaves out {words[list_7[100]]!r} and names "
        f"{words[order[512]]!r}, which is farther"
    )


def test_ties_out_of_rank_order_are_seen(lattice: EmbeddingTable, tmp_path: Path) -> None:
    save_table(lattice, tmp_path / "lattice")
    table = load_table(tmp_path / "lattice")
    assert certify(get_mechanism("rantext_ldp", table, epsilon=2.0)).epsilon_proved.startswith(
        "1.9"
    )
    row = table.neighbours[3].astype(int)
    d = table.distances(3)[row]
    k = next(i for i in range(1, 500) if d[i] == d[i + 1])

    def change(lists: NDArray[np.uint16]) -> None:
        lists[3, [k, k + 1]] = lists[3, [k + 1, k]]

    with pytest.raises(CertificateError, match="which is nearer"):
        certify(get_mechanism("rantext_ldp", with_lists(table, change), epsilon=2.0))


def rehash(stem: Path, change: Callable[[NDArray[np.uint16]], None]) -> None:
    """Change the lists in the files and make the digest right again."""
    npz, note = stem.with_name(stem.name + ".npz"), stem.with_name(stem.name + ".json")
    with np.load(npz) as file:
        arrays = dict(file)
    change(arrays["neighbours"])
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    npz.write_bytes(buffer.getvalue())
    side = json.loads(note.read_text())
    side["sha256"] = table_digest(buffer.getvalue(), side)
    note.write_text(json.dumps(side))


def test_damaged_files_are_refused_before_any_proof(toy: EmbeddingTable, tmp_path: Path) -> None:
    words = toy.vocabulary.words
    for name in ("toy.npz", "toy.json"):
        save_table(toy, tmp_path / "toy")
        data = bytearray((tmp_path / name).read_bytes())
        place = data.index(b"sha256") + 12 if name.endswith("json") else len(data) // 3
        data[place] ^= 1
        (tmp_path / name).write_bytes(data)
        with pytest.raises(TableError):
            load_table(tmp_path / "toy")
    save_table(toy, tmp_path / "toy")
    rehash(tmp_path / "toy", twice)
    with pytest.raises(TableError) as caught:
        load_table(tmp_path / "toy")
    assert f"the list of {words[7]!r} names {words[toy.neighbours[7, 20]]!r} twice" in str(
        caught.value
    )


def test_rehashed_list_out_of_order_loads_and_is_not_certified(
    toy: EmbeddingTable, tmp_path: Path, certificate: Certificate
) -> None:
    save_table(toy, tmp_path / "toy")
    rehash(tmp_path / "toy", swap)
    mechanism = get_mechanism("rantext_ldp", load_table(tmp_path / "toy"), epsilon=6.0)
    with pytest.raises(CertificateError, match="which is nearer"):
        certify(mechanism)
    with pytest.raises(CertificateError, match="the certificate is for table"):
        check_certificate(certificate, mechanism)


# Certificates on disk


def test_round_trip(certificate: Certificate, mechanism: Mechanism, tmp_path: Path) -> None:
    save_certificate(certificate, tmp_path / "c.json")
    read = load_certificate(tmp_path / "c.json")
    assert read == certificate
    check_certificate(read, mechanism)


@pytest.mark.parametrize("key", [f.name for f in dataclasses.fields(Certificate)])
def test_any_changed_field_is_refused(key: str, certificate: Certificate, tmp_path: Path) -> None:
    save_certificate(certificate, tmp_path / "c.json")
    data = json.loads((tmp_path / "c.json").read_text())
    data[key] = {"x": "A"} if isinstance(data[key], dict) else "7"
    (tmp_path / "c.json").write_text(json.dumps(data))
    with pytest.raises(CertificateError, match=r"c\.json is (damaged|not a certificate)"):
        load_certificate(tmp_path / "c.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"format": "x"}'])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(CertificateError, match=r"c\.json is not"):
        load_certificate(tmp_path / "c.json")


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match="no certificate can be read"):
        load_certificate(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mechanism": "exponential"}, "for mechanism exponential, not rantext_ldp"),
        ({"parameters": {"epsilon": 5.0, "shape": "power"}}, "the certificate is for parameters"),
        ({"parameters": {"epsilon": 6.0, "shape": "knn"}}, "the certificate is for parameters"),
        ({"table": "0" * 64}, "the certificate is for table"),
        ({"epsilon_proved": "6.1"}, "proves less than the mechanism states"),
        (
            {"worst_pair": {"x": "A", "x'": "B", "y": "C", "ratio": "3/2"}},
            "worst ratio of the code differs",
        ),
    ],
    ids=lambda value: "",
)
def test_certificate_of_something_else_is_refused(
    changes: dict[str, Any], said: str, certificate: Certificate, mechanism: Mechanism
) -> None:
    with pytest.raises(CertificateError, match=said):
        check_certificate(redigested(certificate, **changes), mechanism)
    with pytest.raises(CertificateError, match="digest differs"):
        check_certificate(dataclasses.replace(certificate, **changes), mechanism)


def test_code_that_draws_otherwise_is_refused(
    certificate: Certificate, table: EmbeddingTable
) -> None:
    mechanism: Any = get_mechanism("rantext_ldp", table, epsilon=6.0)
    check_certificate(certificate, mechanism)
    mechanism._weights = mechanism._weights.copy()
    mechanism._weights[0] += 1
    with pytest.raises(CertificateError, match="worst ratio of the code differs"):
        check_certificate(certificate, mechanism)
