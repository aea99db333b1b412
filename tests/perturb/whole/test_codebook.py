"""Codebooks: what is written is read, what is damaged is refused, and passages are found."""

from __future__ import annotations

import json

import numpy as np
import pytest

from perturb.errors import CodebookError, TableError
from perturb.whole.build import build_codebook, measure_profile, quantize
from perturb.whole.codebook import MAGIC, load_codebook
from perturb.whole.passages import split_passages
from tests.perturb.whole.conftest import PASSAGES


def test_what_is_written_is_read(codebook, encoder) -> None:
    assert len(codebook) == len(PASSAGES)
    assert {codebook.passage(i) for i in range(len(codebook))} == set(PASSAGES)
    assert codebook.facts["licence"] == "CC0"
    assert codebook.facts["encoder"] == encoder.identity
    vectors = codebook.vectors * codebook.scales[:, None]
    texts = [codebook.passage(i) for i in range(len(codebook))]
    assert (np.einsum("ij,ij->i", vectors, encoder(texts)) > 0.999).all()


def test_every_passage_is_found_and_nothing_else(codebook) -> None:
    for i in range(len(codebook)):
        passage = codebook.passage(i)
        assert codebook.find(passage) == i
        for other in (passage + " ", passage[:-1], passage.upper(), "", "\ud800"):
            assert codebook.find(other) is None


def test_similarities_are_cosines(codebook, encoder) -> None:
    (vector,) = encoder(["the judge and the law"])
    texts = [codebook.passage(i) for i in range(len(codebook))]
    assert codebook.similarities(vector) == pytest.approx(encoder(texts) @ vector, abs=0.02)
    part = slice(1, None, 3)
    assert (codebook.similarities(vector, part) == codebook.similarities(vector)[part]).all()


def test_order_and_hash_depend_on_the_passages_alone(codebook, encoder, tmp_path) -> None:
    out = tmp_path / "again.codebook"
    shuffled = [*reversed(PASSAGES), *PASSAGES[:5], "  " + PASSAGES[0].replace(" ", "\n ")]
    build_codebook(shuffled, out, encoder, licence="CC0", source="made for the tests")
    again = load_codebook(out)
    assert (again.digests == codebook.digests).all()
    assert (again.vectors == codebook.vectors).all()


@pytest.mark.parametrize("place", [0.0, 0.02, 0.3, 0.6, 0.9, 0.9999])
def test_any_changed_byte_is_refused(place, codebook, encoder, tmp_path) -> None:
    out = tmp_path / "damaged.codebook"
    build_codebook(PASSAGES, out, encoder, licence="CC0", source="made for the tests")
    data = bytearray(out.read_bytes())
    at = int(place * len(data))
    while data[at : at + 1] == b" ":  # a blank of the padding says nothing
        at += 1
    data[at] ^= 1
    out.write_bytes(data)
    with pytest.raises(CodebookError):
        load_codebook(out)


@pytest.mark.parametrize("cut", [0, 5, len(MAGIC), 100, -1])
def test_a_cut_file_is_refused(cut, encoder, tmp_path) -> None:
    out = tmp_path / "cut.codebook"
    build_codebook(PASSAGES, out, encoder, licence="CC0", source="made for the tests")
    out.write_bytes(out.read_bytes()[:cut])
    with pytest.raises(CodebookError, match=r"cut\.codebook"):
        load_codebook(out)


@pytest.mark.parametrize("header", [b"[]", b"3", b"null", b'{"sections": 1}', b"{}", b"\xff"])
def test_a_foreign_header_is_refused(header, tmp_path) -> None:
    out = tmp_path / "foreign.codebook"
    out.write_bytes(MAGIC + header + b"\n")
    with pytest.raises(CodebookError, match=r"foreign\.codebook is not a codebook"):
        load_codebook(out)


def test_none_at_the_path_is_said(tmp_path) -> None:
    with pytest.raises(CodebookError, match="no codebook can be read"):
        load_codebook(tmp_path / "none")


@pytest.mark.parametrize(
    ("passages", "said"),
    [
        ([], "2 passages or more, got 0"),
        (["one", " one "], "2 passages or more, got 1"),
        (["one", "a" * 2001], "<= 2000 characters, the longest has 2001"),
    ],
)
def test_passages_that_make_no_codebook_are_refused(passages, said, encoder, tmp_path) -> None:
    with pytest.raises(CodebookError, match=said):
        build_codebook(passages, tmp_path / "x", encoder, licence="CC0", source="tests")


def test_a_run_that_failed_resumes(encoder, tmp_path) -> None:
    out = tmp_path / "resumed.codebook"
    many = [f"{passage} {i}" for i in range(8) for passage in PASSAGES]
    calls = []

    class Failing:
        identity = encoder.identity

        def __call__(self, texts):
            calls.append(len(texts))
            if len(calls) == 2:
                raise TableError("gone")
            return encoder(texts)

    with pytest.raises(TableError, match="gone"):
        build_codebook(many, out, Failing(), licence="CC0", source="tests")
    assert not out.exists()
    done = len(calls)
    build_codebook(many, out, Failing(), licence="CC0", source="tests")
    assert sum(calls[done:]) == len(many) - calls[0]
    assert len(load_codebook(out)) == len(many)
    assert not out.with_name("resumed.codebook.partial").exists()


def test_profile_is_the_mean_of_sorted_cosines() -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(60, 5))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    profile = measure_profile(rows, lambda *args: None)
    cosines = rows @ rows.T
    expected = np.mean([np.sort(np.delete(c, i))[::-1] for i, c in enumerate(cosines)], axis=0)
    assert profile[:-1] == pytest.approx(expected[:-1], abs=1e-5)
    assert profile.sum() == pytest.approx(expected.sum(), abs=1e-4)


def test_quantized_rows_have_length_one() -> None:
    rows = np.random.default_rng(2).normal(size=(50, 16)).astype(np.float32)
    packed, scales = quantize(np.vstack([rows, np.zeros((1, 16), np.float32)]))
    lengths = np.linalg.norm(packed * scales[:, None], axis=1)
    assert lengths[:-1] == pytest.approx(1.0, abs=1e-6)
    assert lengths[-1] == 0


def test_passages_are_whole_sentences_of_about_a_length() -> None:
    text = " ".join(f"This is sentence number {i} of the text." for i in range(100))
    passages = list(split_passages(text, words=30))
    assert " ".join(passages) == text
    assert all(30 <= len(p.split()) < 40 and p.endswith(".") for p in passages[:-1])
    lengths = [len(p.split()) for p in split_passages("word " * 200, words=50)]
    assert lengths == [50, 50, 100]
    assert list(split_passages("")) == []


def test_header_says_what_the_book_is(codebook) -> None:
    assert json.dumps(codebook.facts)
    assert set(codebook.facts) >= {"passages", "dimension", "encoder", "profile", "provenance"}
