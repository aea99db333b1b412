"""The exclusion list: what it holds, and that no mechanism releases a string of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiktoken

from perturb import (
    CertificateError,
    EmbeddingTable,
    Perturber,
    Vocabulary,
    VocabularyError,
    get_mechanism,
    load_table,
    mechanism_names,
    seeded_generator,
)
from perturb.audit.certificate import certify, check_certificate
from perturb.audit.refute import candidate_words, refute
from perturb.audit.report import audit
from perturb.testing.tables import PROVENANCE, random_rows
from perturb.vocabulary import exclusions
from perturb.vocabulary.embeddings import save_table
from perturb.vocabulary.exclusions import EXCLUSIONS, EXCLUSIONS_VERSION, excluded_strings
from perturb.vocabulary.table_build import build_table
from perturb.vocabulary.vocabulary import ALL_VARIANTS, TokenClass, Variant
from perturb.vocabulary.words import load_vocabulary
from tests.perturb.marking import WORDS
from tests.tables import bundled_table

# A change of the list is a new version, with a table of its own.
PINNED_LIST = (1, "6ddb3e5d10d67283d9c42ca0949de8ccacc156f755d59e864ce2a4744ad954ec")
PINNED_WORDS = {
    "clean": "19f7fe1be58294a233fd5adfdb87aaeba290c402f9a9e26656abc0f2e03cde1b",
    "paper": "4c3364621902dae198d798adb70c58b4f6d7534b2c1d2d5bf146abc4395e42a1",
    "words": "9d9876c74e749b99b8bea852ccb3a73ff7b91b45692b06a7c23ca9969c83a91e",
}
PINNED_TABLES = {
    "clean": "620ef5fb60629a9397f1e676df7ef2547fe26747e013063d2fe1c7d539661167",
    "paper": "66fcab1163be546f83b9c049343d7db65dd8fb1e5332a4f25aba39fe69a386f6",
    "words": "dcd5ee9239e02d9b9bb7517182250abb54fa1149b382de64ddcfe6b7e7dd9750",
}
ORDINARY = "class assess Essex kill Dickens circumstance Jew gay hello analysis title Scunthorpe"


@pytest.fixture(scope="module")
def paper() -> EmbeddingTable:
    return bundled_table("paper")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> dict[Variant, EmbeddingTable]:
    """Tables of somebody's own embeddings, 600 words, built, written and read."""
    found = {}
    for variant in ALL_VARIANTS:
        vocabulary = load_vocabulary(variant, 600)
        table = build_table(vocabulary, random_rows(vocabulary, 6, 5), provenance=PROVENANCE)
        path = tmp_path_factory.mktemp("own") / variant
        save_table(table, path)
        found[variant] = load_table(path, variant)
    return found


def test_list_is_the_published_version() -> None:
    digest = hashlib.sha256(EXCLUSIONS.read_bytes()).hexdigest()
    assert (EXCLUSIONS_VERSION, digest) == PINNED_LIST


def test_list_is_sorted_and_in_small_letters(encoding: tiktoken.Encoding) -> None:
    lines = [x for x in EXCLUSIONS.read_text("ascii").splitlines() if not x.startswith("#")]
    assert lines == sorted(set(lines))
    assert all(line.isalpha() and line == line.lower() for line in lines)
    assert set(lines) == excluded_strings()
    strings = {word.lower() for word in Vocabulary(encoding, 2).ascii_words}
    assert set(lines) <= strings, "what is no string of cl100k_base cannot be released"


def test_ordinary_words_are_not_on_the_list() -> None:
    assert not {word.lower() for word in ORDINARY.split()} & excluded_strings()


@pytest.mark.parametrize("content", [None, b"", b"ass\n", b"# Exclusion list, version 0\nass\n"])
def test_other_list_is_refused(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "exclusions.txt"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(exclusions, "EXCLUSIONS", path)
    with pytest.raises(VocabularyError, match=r"exclusions\.txt"):
        excluded_strings.__wrapped__()


@pytest.mark.parametrize("variant", ALL_VARIANTS)
def test_bundled_tables_are_the_pinned_ones(variant: Variant) -> None:
    table = load_table(vocabulary=variant)
    assert len(table) == 11_000
    assert table.vocabulary.variant == variant
    assert table.vocabulary.sha256 == PINNED_WORDS[variant]
    assert table.sha256 == PINNED_TABLES[variant]


def test_clean_vocabulary_holds_no_string_of_the_list(
    bundled: EmbeddingTable, paper: EmbeddingTable
) -> None:
    assert not {word.lower() for word in bundled.vocabulary.words} & excluded_strings()
    left_out = set(paper.vocabulary.words) - set(bundled.vocabulary.words)
    assert {word.lower() for word in left_out} <= excluded_strings()
    assert len(left_out) == bundled.vocabulary.excluded == 27
    assert left_out <= set(bundled.vocabulary.others)
    assert paper.vocabulary.excluded == 0


def test_words_of_both_vocabularies_keep_their_vectors(
    bundled: EmbeddingTable, paper: EmbeddingTable
) -> None:
    place = {word: i for i, word in enumerate(paper.vocabulary.words)}
    both = [(i, place[w]) for i, w in enumerate(bundled.vocabulary.words) if w in place]
    assert len(both) == 11_000 - 27
    own, other = np.array(both).T
    assert bundled.vectors[own].tobytes() == paper.vectors[other].tobytes()


def test_calibration_is_of_its_own_vocabulary(
    bundled: EmbeddingTable, paper: EmbeddingTable
) -> None:
    """The curves are not the same, and the words left out hardly move them."""
    for key, z in paper.calibration.items():
        assert 0 < abs(bundled.calibration[key] - z) < 0.001


@pytest.mark.parametrize("name", mechanism_names())
def test_listed_words_of_a_document_leave_as_other_words(
    name: str, bundled: EmbeddingTable
) -> None:
    """The columns of the channel do not exist: whatever is drawn, nothing on the list leaves."""
    parameters = {"policy": "all"} if name == "selective" else {}
    mechanism = get_mechanism(name, bundled, epsilon=14.0, **parameters)
    listed = sorted(excluded_strings())
    text = " ".join([*listed, *(word.title() for word in listed), *(w.upper() for w in listed)])
    kinds = bundled.vocabulary.classes[bundled.vocabulary.encode(text)]
    assert (kinds == TokenClass.OOV).sum() > len(listed) / 2
    done = Perturber(mechanism).perturb(text, seeded_generator(4))
    assert len(done.words) == done.receipt.released >= 3 * len(listed)
    assert not {word.lower() for word in done.words} & excluded_strings()
    assert not set(done.text.lower().split()) & excluded_strings()


def test_paper_vocabulary_can_release_them(paper: EmbeddingTable) -> None:
    """The check above can fail: a mechanism that keeps words keeps these, too."""
    mechanism = get_mechanism("rantext_ldp", paper, epsilon=14.0)
    place = paper.vocabulary.words.index("shit")
    drawn = mechanism.draw(np.full(200, place), seeded_generator(1)).words
    assert place in drawn


@pytest.mark.parametrize("name", ["rantext_ldp", "exponential"])
@pytest.mark.parametrize("variant", ALL_VARIANTS)
def test_every_variant_is_certified_by_name(
    name: str, variant: Variant, own: dict[Variant, EmbeddingTable]
) -> None:
    mechanism = get_mechanism(name, own[variant], epsilon=4.0)
    proof = certify(mechanism)
    check_certificate(proof, mechanism)
    assert proof.table == own[variant].sha256
    assert proof.vocabulary == own[variant].vocabulary.description
    assert ("exclusion list version 1" in proof.vocabulary) == (variant != "paper")


def test_certificate_of_one_variant_is_refused_for_the_other(
    own: dict[Variant, EmbeddingTable],
) -> None:
    clean, paper = (get_mechanism("rantext_ldp", own[v], epsilon=6.0) for v in ("clean", "paper"))
    proof = certify(clean)
    with pytest.raises(CertificateError, match="the certificate is for table"):
        check_certificate(proof, paper)
    blank = replace(proof, vocabulary=own["paper"].vocabulary.description, digest="")
    with pytest.raises(CertificateError, match="the certificate is for vocabulary"):
        check_certificate(replace(blank, digest=blank.expected_digest()), clean)


@pytest.mark.parametrize("variant", ALL_VARIANTS)
def test_every_variant_is_audited_and_not_refuted(
    variant: Variant, own: dict[Variant, EmbeddingTable]
) -> None:
    mechanism = get_mechanism("rantext_ldp", own[variant], epsilon=3.0)
    found = audit(mechanism)
    assert found.words == 600
    assert found.vocabulary == own[variant].vocabulary.description
    assert found.epsilon.value == pytest.approx(3.0, abs=1e-6)
    rng = seeded_generator(2)
    perturber = Perturber(mechanism)
    bound = refute(
        lambda lines: perturber.perturb("\n".join(lines), rng).text.split("\n"),
        candidate_words(own[variant].vocabulary, rng),
        samples=20_000,
        confidence=1 - 1e-6,
    )
    assert bound.epsilon_lower <= 3.0


def test_receipt_says_which_words_there_are(
    bundled: EmbeddingTable, paper: EmbeddingTable
) -> None:
    one, other = (
        Perturber(get_mechanism("rantext", table)).perturb("A letter.").receipt
        for table in (bundled, paper)
    )
    assert one.vocabulary == (
        "V: the first 11,000 words of cl100k_base without the 27 words of exclusion list version "
        "1 (deviation from the paper; `vocabulary: paper` restores it)"
    )
    assert other.vocabulary == "V: the first 11,000 words of cl100k_base"
    assert one.table != other.table
    marked = Perturber(get_mechanism("selective", bundled, **WORDS)).perturb("On 12 May.").receipt
    assert marked.vocabulary == one.vocabulary


def test_identity_changes_with_the_vocabulary(
    bundled: EmbeddingTable, paper: EmbeddingTable
) -> None:
    for name in mechanism_names():
        one, other = (get_mechanism(name, table).identity() for table in (bundled, paper))
        assert one["table"] != other["table"]
