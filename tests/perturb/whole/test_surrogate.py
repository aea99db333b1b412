"""surrogate: what leaves is a public passage, drawn by the law, whatever the text."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from perturb import DocumentTooLong, ParameterError, ReleaseError, seeded_generator
from perturb.audit.certificate import (
    certify,
    check_certificate,
    load_certificate,
    save_certificate,
)
from perturb.audit.refute import refute
from perturb.errors import CertificateError, CodebookError
from perturb.testing.statistics import ALPHA, p_value
from perturb.whole.choice import ChoiceProof, find_nearest
from perturb.whole.codebook import load_codebook
from perturb.whole.surrogate import Surrogate, SurrogateParameters
from tests.perturb.whole.conftest import PASSAGES
from tests.tables import bundled_table

TEXT = "Anna Kowalska took the boat down the river on 3 May."
ODD = ["", " \n", "\ud800", "a" * 5000, "李" * 300, "\u202e abc", "0" * 4000, "judge " * 3000]


@pytest.fixture(scope="module")
def vocabulary():
    return bundled_table().vocabulary


@pytest.fixture
def make(codebook, encoder, vocabulary):
    def made(**parameters) -> Surrogate:
        return Surrogate(codebook, encoder, SurrogateParameters(**parameters), vocabulary)

    return made


def test_a_passage_on_the_subject_leaves(make) -> None:
    surrogate = make(epsilon=12)
    rng = seeded_generator(1)
    texts = [surrogate.perturb(TEXT, rng).text for _ in range(50)]
    assert set(texts) <= set(PASSAGES)
    assert sum("river" in text for text in texts) > 40
    assert not any("Anna" in text or "May" in text for text in texts)


def test_no_honest_release_is_refused(make, codebook) -> None:
    """Every passage that may be drawn passes the check: it states no probability of refusal."""
    surrogate = make(epsilon=12)
    assert surrogate.false_alarm == 0
    made = surrogate.perturb(TEXT, seeded_generator(1))
    for passage in map(codebook.passage, range(len(codebook))):
        for raw in (TEXT, passage):
            surrogate.verify(raw, dataclasses.replace(made, text=passage, words=(passage,)))


def test_each_passage_of_the_bundled_codebook_is_found_in_its_own_place() -> None:
    """Two equal passages in different parts would have an honest release refused."""
    book = load_codebook()
    assert [book.find(book.passage(i)) for i in range(len(book))] == list(range(len(book)))


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [
        (TEXT, 0.5),
        (TEXT, 8.0),
        ("", 3.0),
        ("the judge and the law", 3.0),
        ("nothing known at all", 8.0),
    ],
)
def test_release_follows_the_law(text, epsilon, make, codebook, encoder) -> None:
    surrogate = make(epsilon=epsilon)
    (law,) = surrogate.laws
    (vector,) = encoder([text])
    favoured = find_nearest(codebook.similarities(vector), law.near)
    expected = np.full(len(codebook), law.law[-1])
    expected[favoured] = law.law[0]
    rng = seeded_generator(7)
    draws = 2500
    found = [codebook.find(surrogate.perturb(text, rng).text) for _ in range(draws)]
    counts = np.bincount(found, minlength=len(codebook))
    order = np.argsort(-expected)
    assert p_value(counts[order], expected[order] * draws) > ALPHA


@pytest.mark.parametrize("parameters", [{}, {"passages": 4}])
def test_at_epsilon_zero_every_passage_is_as_likely(parameters, make, codebook) -> None:
    """The law is exactly uniform, and so are the draws, at a false alarm of ALPHA = 1e-6 each. At
    ε = 8 the draws for the same text are not (negative control)."""
    zero = make(epsilon=0, **parameters)
    assert {law.weights[0] - law.weights[1] for law in zero.laws} == {0}
    assert zero.proof().ratio_of({}) == 1
    draws = 2400

    def count(surrogate: Surrogate) -> np.ndarray:
        rng = seeded_generator(11)
        words = [w for _ in range(draws) for w in surrogate.perturb(TEXT, rng).words]
        # Passages on the text's subject first, so that none is pooled with another subject's.
        counts = np.bincount([codebook.find(word) for word in words], minlength=len(codebook))
        return counts[np.argsort(["river" not in p for p in PASSAGES], kind="stable")]

    expected = np.full(len(codebook), draws * len(zero.laws) / len(codebook))
    assert p_value(count(zero), expected) > ALPHA
    assert p_value(count(make(epsilon=8, **parameters)), expected) < ALPHA


def test_epsilon_zero_says_that_nothing_left(make, tmp_path) -> None:
    surrogate = make(epsilon=0)
    receipt = surrogate.perturb(TEXT).receipt
    assert receipt.epsilon_per_document == 0
    assert receipt.guarantee == "ldp"
    assert "nothing of the document left" in receipt.statement
    assert float(certify(surrogate).epsilon_proved) == 0
    figures = surrogate.figures()
    assert figures["bits_of_a_choice"] == pytest.approx(0, abs=1e-9)
    assert figures["two_documents_told_apart"] == 0.5


def test_the_release_of_two_texts_is_within_the_epsilon(make, codebook, encoder) -> None:
    """The exact ratio over the whole codebook, for texts that share nothing."""
    surrogate = make(epsilon=5)
    (law,) = surrogate.laws
    high, low = law.weights
    rows = []
    for text in (TEXT, "bread and flour", "", "the law"):
        (vector,) = encoder([text])
        weights = [low] * len(codebook)
        for i in find_nearest(codebook.similarities(vector), law.near).tolist():
            weights[i] = high
        assert sum(weights) == law.total
        rows.append(weights)
    worst = max(Fraction(a, b) for x in rows for y in rows for a, b in zip(x, y, strict=True))
    assert 1 < worst == law.ratio
    assert float(worst) <= math.exp(5)


@pytest.mark.parametrize("text", ODD)
def test_any_string_gets_a_release_that_passes_its_check(text, make) -> None:
    for parameters in ({}, {"passages": 3}, {"sections": 4}, {"passages": 2, "sections": 2}):
        surrogate = make(epsilon=6, **parameters)
        released = surrogate.perturb(text)
        surrogate.verify(text, released)
        assert len(released.words) == surrogate.parameters.choices
        assert released.receipt.epsilon_per_document == 6


def test_passages_come_from_their_own_parts(make, codebook) -> None:
    surrogate = make(epsilon=6, passages=4)
    for seed in range(20):
        released = surrogate.perturb(TEXT, seeded_generator(seed))
        assert [codebook.find(p) % 4 for p in released.words] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + " ",
        lambda text: text.replace("river", "River"),
        lambda text: text + "\n\n" + PASSAGES[0],
        lambda text: "Anna Kowalska took the boat.",
        lambda text: "",
    ],
)
def test_what_is_no_passage_is_refused(change, make) -> None:
    surrogate = make(epsilon=20)
    released = surrogate.perturb(TEXT)
    text = change(released.text)
    for words in ((text,), released.words, tuple(text.split("\n\n"))):
        broken = dataclasses.replace(released, text=text, words=words)
        with pytest.raises(ReleaseError):
            surrogate.verify(TEXT, broken)


def test_a_passage_of_another_part_is_refused(make) -> None:
    surrogate = make(epsilon=6, passages=2)
    released = surrogate.perturb(TEXT)
    words = released.words[::-1]
    broken = dataclasses.replace(released, text="\n\n".join(words), words=words)
    with pytest.raises(ReleaseError, match="of its part"):
        surrogate.verify(TEXT, broken)


def test_receipt_says_that_epsilon_is_of_the_whole(make) -> None:
    surrogate = make(epsilon=10)
    receipt = surrogate.perturb(TEXT * 50).receipt
    assert receipt.statement.startswith("this text as a whole: ε = 10, whatever its length")
    assert receipt.unit == surrogate.guarantee.unit == "document"
    assert (receipt.released, receipt.epsilon_per_document, receipt.unbounded) == (1, 10.0, 0)
    assert "that a text was sent" in receipt.reveals[0]


def test_identity_tells_parameters_and_codebooks_apart(make) -> None:
    names = [{}, {"epsilon": 3}, {"passages": 2}, {"sections": 2}]
    identities = [str(make(**p).identity()) for p in names]
    assert len(set(identities)) == len(names)
    assert make(epsilon=3).identity() == make(epsilon=3).identity()


def test_a_text_is_one_unit_and_one_choice(make) -> None:
    text = "First paragraph.\n\nSecond paragraph.\n\nThird."
    assert [unit.text for unit in make().units(text, 1)] == [text]


def test_a_codebook_of_another_encoder_is_refused(codebook, encoder, vocabulary) -> None:
    other = dataclasses.replace(encoder, identity={"encoder": "other"})
    with pytest.raises(CodebookError, match="was made with the encoder"):
        Surrogate(codebook, other, SurrogateParameters(), vocabulary)


def test_a_text_too_long_is_refused(codebook, encoder, vocabulary) -> None:
    surrogate = Surrogate(codebook, encoder, SurrogateParameters(), vocabulary, max_tokens=10)
    with pytest.raises(DocumentTooLong):
        surrogate.units("word " * 20)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"epsilon": 25}, "epsilon must be <= 24 for each of 1 choices, got 25"),
        ({"epsilon": -1}, "epsilon must be >= 0 and finite, got -1"),
        ({"passages": 0}, "passages must be >= 1, got 0"),
        ({"passages": True}, "passages must be a whole number, got bool"),
        ({"sections": 1.5}, "sections must be a whole number, got float"),
        ({"passages": 9, "sections": 9}, "passages times sections must be <= 64, got 81"),
        ({"codebook": 3}, "codebook must be the path of a file, got int"),
        ({"noise": 1}, "surrogate has no parameter 'noise'"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, said) -> None:
    with pytest.raises(ParameterError, match=said):
        Surrogate.check_parameters(**parameters)


def test_more_passages_than_the_codebook_holds_are_refused(encoder, vocabulary, tmp_path) -> None:
    from perturb.whole.build import build_codebook
    from perturb.whole.codebook import load_codebook

    out = tmp_path / "tiny.codebook"
    build_codebook(PASSAGES[:6], out, encoder, licence="CC0", source="tests")
    with pytest.raises(ParameterError, match="passages must be <= 3"):
        Surrogate(load_codebook(out), encoder, SurrogateParameters(passages=4), vocabulary)


@pytest.mark.parametrize("parameters", [{}, {"passages": 3}, {"sections": 2, "passages": 2}])
@pytest.mark.parametrize("epsilon", [2.0, 6.0, 11.3, 20.0])
def test_epsilon_is_certified_for_the_document(parameters, epsilon, make, tmp_path) -> None:
    surrogate = make(epsilon=epsilon, **parameters)
    certificate = certify(surrogate)
    assert certificate.unit == "document"
    assert epsilon - 0.01 < float(certificate.epsilon_proved) <= epsilon
    save_certificate(certificate, tmp_path / "proof.json")
    check_certificate(load_certificate(tmp_path / "proof.json"), surrogate)
    with pytest.raises(CertificateError, match="is for parameters"):
        check_certificate(certificate, make(epsilon=epsilon / 2, **parameters))


def test_a_law_with_too_large_a_weight_is_not_certified(make) -> None:
    class Careless(Surrogate):
        def proof(self):
            worst = dataclasses.replace(self.laws[0], epsilon=Fraction(self.laws[0].epsilon) + 1)
            return ChoiceProof((worst,), "passages")

    surrogate = make(epsilon=6.0)
    surrogate.__class__ = Careless
    with pytest.raises(CertificateError, match="6-LDP is not proved"):
        certify(surrogate)


# -- audits -------------------------------------------------------------------------------------


def test_figures_by_hand(make, codebook) -> None:
    figures = make(epsilon=4, passages=2).figures()
    ratio = float(make(epsilon=4, passages=2).laws[0].ratio) ** 2
    assert figures["passages"] == len(codebook)
    assert (figures["choices"], figures["epsilon_of_a_choice"]) == (2, 2)
    assert figures["epsilon_proved"] == pytest.approx(math.log(ratio))
    assert 3.99 < figures["epsilon_proved"] <= 4
    assert figures["two_documents_told_apart"] == pytest.approx(ratio / (1 + ratio))
    assert figures["one_of_1000_documents_named"] == pytest.approx(ratio / (ratio + 999))
    assert 0 < figures["bits_of_a_choice"] < math.log2(len(codebook))


class Leaking(Surrogate):
    """Chooses the nearest passage in half of the cases."""

    def _choose(self, vector, part, law, rng) -> int:
        if rng.random() < 0.5:
            return int(np.argmax(self.codebook.similarities(vector, part)))
        return super()._choose(vector, part, law, rng)


@pytest.mark.parametrize(("kind", "refuted"), [(Surrogate, False), (Leaking, True)])
def test_samples_refute_a_choice_that_leaks_and_no_other(
    kind, refuted, codebook, encoder, vocabulary
) -> None:
    """At 99.9 % confidence, three runs raise a false alarm with probability 0.3 % at most; the
    seeds are fixed."""
    parameters = SurrogateParameters(epsilon=1)
    surrogate = kind(codebook, encoder, parameters, vocabulary)
    texts = [TEXT, "bread and flour", "the judge and the law"]
    for seed in range(3):
        rng = seeded_generator(seed)
        found = refute(
            lambda lines, rng=rng: [surrogate.perturb(line, rng).text for line in lines],
            texts,
            samples=2000,
        )
        assert (found.epsilon_lower > 1) is refuted


class Served:
    """A server's model, with vectors of the toy encoder."""

    def __init__(self, encoder) -> None:
        self.identity = encoder.identity
        self.asked: list[tuple[list[str], int | None]] = []
        self._encoder = encoder

    async def encode(self, texts, dimension=None):
        self.asked.append((list(texts), dimension))
        return self._encoder(texts)


async def test_a_servers_model_is_asked_once_for_the_parts_of_a_text(
    codebook, encoder, vocabulary
) -> None:
    served = Served(encoder)
    parameters = SurrogateParameters(epsilon=20, sections=2)
    surrogate = Surrogate(codebook, served, parameters, vocabulary)
    made = await surrogate.release("the river and the boat the court and the judge")
    assert served.asked == [(["the river and the boat", "the court and the judge"], 8)]
    assert ["river" in made.words[0], "court" in made.words[1]] == [True, True]
    surrogate.verify("", made)
    with pytest.raises(ParameterError, match="through the proxy"):
        surrogate.perturb(TEXT)
    short = Surrogate(codebook, served, parameters, vocabulary, max_tokens=3)
    with pytest.raises(DocumentTooLong):
        await short.release(TEXT)
    assert len(served.asked) == 1  # a text that is too long is not sent to it


@pytest.mark.parametrize("blank", [" ", "\n", "\t \n\n", "\u00a0"])
def test_a_blank_text_gets_a_passage_like_any_other(make, blank):
    """So neither what is sent nor how many passages there are shows which texts are blank."""
    surrogate = make()
    [unit] = surrogate.units(blank)
    assert (unit.text, unit.after) == (blank, "")
    made = surrogate.perturb(unit.text, seeded_generator(1))
    surrogate.verify(unit.text, made)
    assert len(made.words) == len(surrogate.perturb("A text.", seeded_generator(1)).words)
    assert "other that is not empty" in surrogate.guarantee.statement
