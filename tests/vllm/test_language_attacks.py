"""Attackers with neural language models, against enumeration with the same tiny models."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from benchmarks.attacks.in_context.beam import CausalModel, Lattice, decode
from benchmarks.attacks.in_context.masked import InputInference, MaskedModel
from benchmarks.attacks.in_context.skeleton import Gap, fill_gaps
from perturb import seeded_generator
from tests.benchmarks.attacks.small import small_context
from tests.vllm.tiny_model import SENTENCES, save_tiny_model

pytestmark = pytest.mark.vllm
# One token, several, and some that begin alike.
WORDS = ("the", "town", "river", "committee", "comb", "xylophone", "Th", "report")
GAPS = [Gap("", False), Gap("", True), Gap(", (", False), Gap("", True), Gap('."\n', True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def model(folder: Path) -> CausalModel:
    return CausalModel(str(folder))


@pytest.fixture(scope="module")
def plain(folder: Path):
    """ln p of token ids after <s>, one text at a time and without a cache."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    network = AutoModelForCausalLM.from_pretrained(folder).eval()
    first = AutoTokenizer.from_pretrained(folder).bos_token_id

    def score(ids: list[int]) -> float:
        whole = torch.tensor([[first, *ids]])
        with torch.inference_mode():
            logs = network(whole).logits[0, :-1].double().log_softmax(-1)
        return float(logs.gather(1, whole[0, 1:, None]).sum())

    return score


def test_rows_that_read_pieces_of_different_lengths_score_as_whole_texts(model, plain):
    """Shorter pieces leave holes in the cache, which must not count."""
    rng = seeded_generator(1)
    openings = [rng.integers(2, 500, size=n).tolist() for n in (0, 5, 2)]
    state = model.start(openings)
    texts, scores = openings, np.array([plain(ids) for ids in openings])
    for rows in ([2, 0, 1, 0], [1, 3, 3], [2, 0, 1, 1, 0]):
        pieces = [rng.integers(2, 500, size=rng.integers(1, 6)).tolist() for _ in rows]
        state, gained = model.extend(state, rows, pieces)
        texts = [texts[row] + piece for row, piece in zip(rows, pieces, strict=True)]
        scores = scores[rows] + gained
        assert scores == pytest.approx([plain(ids) for ids in texts], abs=1e-3)


def spellings(lattice: Lattice, i: int) -> list[str]:
    gap = lattice.gaps[i]
    return [" ", ""] if gap.apart and not gap.layout else [" " * gap.apart]


def reference(model: CausalModel, plain, lattice: Lattice, width: int) -> list[int]:
    """The beam with every text scored whole."""
    beam = [([], model.encode(lattice.gaps[0].layout), 0.0)]
    for i in range(len(lattice.gaps)):
        after = lattice.gaps[i + 1].layout if i + 1 < len(lattice.gaps) else ""
        options = []
        for words, ids, evidence in beam:
            for blank, (word, score) in itertools.product(
                spellings(lattice, i), zip(lattice.words[i], lattice.scores[i], strict=True)
            ):
                piece = model.encode(blank + lattice.spelling[word])
                if np.isfinite(score):
                    options.append(([*words, int(word)], ids + piece, evidence + score))
        options.sort(key=lambda option: -plain(option[1]) - option[2])
        beam = [(w, ids + model.encode(after), e) for w, ids, e in options[:width]]
    return max(beam, key=lambda option: plain(option[1]) + option[2])[0]


def lattices(model: CausalModel, seed: int, spread: float) -> list[Lattice]:
    """The channel favours words of many tokens by about what a random model takes for each."""
    tokens = np.array([len(model.encode(f" {word}")) for word in WORDS])
    rng = seeded_generator(seed)
    found = []
    for n in (5, 1, 3):
        words = np.array([rng.permutation(len(WORDS))[:5] for _ in range(n)])
        scores = rng.normal(0, spread, size=words.shape) + 6 * tokens[words]
        scores[rng.random(words.shape) < 0.2] = -np.inf
        scores[:, 0] = 6 * tokens[words[:, 0]]  # one is always possible
        found.append(Lattice(GAPS[:n], words, scores, WORDS))
    return found


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_the_beam_is_the_one_that_scores_every_word_to_its_end(model, plain, width, spread):
    for seed in (1, 2):
        texts = lattices(model, seed, spread)
        found = decode(model, texts, width)
        for lattice, words in zip(texts, found, strict=True):
            assert words.tolist() == reference(model, plain, lattice, width)


def test_a_beam_as_wide_as_all_texts_finds_the_best_of_all(model, plain):
    lattice = lattices(model, 3, 3.0)[2]
    best, most = None, -np.inf
    places = range(3)
    for choice in itertools.product(*(range(5) for _ in places)):
        evidence = sum(lattice.scores[i, c] for i, c in enumerate(choice))
        if not np.isfinite(evidence):
            continue
        for blanks in itertools.product(*(spellings(lattice, i) for i in places)):
            ids = [
                token
                for i, (c, blank) in enumerate(zip(choice, blanks, strict=True))
                for token in model.encode(lattice.gaps[i].layout)
                + model.encode(blank + WORDS[lattice.words[i, c]])
            ]
            if plain(ids) + evidence > most:
                best, most = choice, plain(ids) + evidence
    [found] = decode(model, [lattice], 1000)
    assert found.tolist() == [int(lattice.words[i, c]) for i, c in enumerate(best)]


def test_identity_leaves_no_doubt_and_silence_leaves_the_models_own_text(model):
    raw = np.array([3, 0, 5, 1, 2])
    uniform = np.full((5, len(WORDS)), 1 / len(WORDS))
    clear = Lattice.from_best(GAPS, uniform, np.eye(len(WORDS))[raw], WORDS, 4)
    assert decode(model, [clear])[0].tolist() == raw.tolist()
    silent = Lattice.from_best(GAPS, uniform, uniform, WORDS, len(WORDS))
    alone = Lattice.from_best(GAPS, uniform, np.ones_like(uniform), WORDS, len(WORDS))
    assert decode(model, [silent])[0].tolist() == decode(model, [alone])[0].tolist()


def test_candidates_are_the_likeliest_with_the_channels_score():
    others, likelihoods = np.array([[0.5, 0.3, 0.1, 0.1]]), np.array([[0.1, 0.4, 0.9, 0.0]])
    found = Lattice.from_best(GAPS[:1], others, likelihoods, WORDS[:4], 2)
    assert sorted(found.words[0].tolist()) == [1, 2]
    assert found.scores[0] == pytest.approx(np.log(likelihoods[0, found.words[0]]))


def test_the_bundled_model_prefers_english():
    words = np.array([[0, 5], [1, 5], [5, 2]])
    scores = np.zeros(words.shape)
    gaps = [Gap("", False), Gap("", True), Gap(", ", True)]
    [found] = decode(CausalModel("bundled"), [Lattice(gaps, words, scores, WORDS)])
    assert found.tolist() == [0, 1, 2]


# -- masked ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    """A BERT of random weights that likes [UNK] best of all."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "bert"
    folder.mkdir()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({w for s in SENTENCES for w in s.lower().replace(".", " ").split()})
    (folder / "vocab.txt").write_text("\n".join([*special, *words, "##s", "##ing"]) + "\n")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    network = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            initializer_range=1.0,  # so that context decides
        )
    )
    with torch.no_grad():
        network.cls.predictions.bias[tokenizer.unk_token_id] = 1e4
    network.save_pretrained(folder)
    return folder


def test_each_place_is_filled_from_the_others_and_never_with_unk(bert):
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    network = AutoModelForMaskedLM.from_pretrained(bert).eval()
    tokenizer = AutoTokenizer.from_pretrained(bert)
    words = ["the", "river", "wrote", "xylophone", "letter"]
    expected = []
    for i in range(len(words)):
        text = fill_gaps(GAPS, [*words[:i], "[MASK]", *words[i + 1 :]])
        ids = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            logits = network(**ids).logits[0]
        place = ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        best = next(
            token
            for token in logits[place].argsort(descending=True).tolist()
            if token not in tokenizer.all_special_ids
        )
        expected.append(tokenizer.decode([best]))
    found = MaskedModel(str(bert)).guess_each(GAPS, words)
    assert found == expected
    assert "[UNK]" not in found
    assert len(MaskedModel(str(bert)).guess_all(GAPS)) == len(GAPS)


def test_the_guess_does_not_depend_on_the_places_own_release(bert):
    model = MaskedModel(str(bert))
    one = model.guess_each(GAPS, ["the", "river", "wrote", "a", "letter"])
    other = model.guess_each(GAPS, ["the", "river", "town", "a", "letter"])
    assert one[2] == other[2]
    assert one != other


def test_input_inference_reports_success_beside_the_prior(bert, tmp_path):
    context = small_context(tmp_path, texts=3, masked=(str(bert),))
    experiment = InputInference()
    [case] = experiment.cases(context)
    values = experiment.measure(case, context).values
    count = sum(len(r.raw) for r in context.releases("rantext_ldp", 6.0, "demo"))
    assert values["success"].n == values["prior"].n == count
    assert list(experiment.cases(small_context(tmp_path))) == []
