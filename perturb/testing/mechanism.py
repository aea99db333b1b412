"""The contract of a mechanism, as a pytest class to inherit."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, fields
from typing import Any, ClassVar, Literal, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.mechanisms.base import Mechanism, Perturber
from perturb.release import format_upper
from perturb.rng import secure_generator, seeded_generator
from perturb.testing.cases import (
    Case,
    choose_free_word,
    choose_words,
    compute_rows,
    draw_samples,
    expected_distinct,
    fit_p_value,
    sample_few_words,
)
from perturb.testing.statistics import ALPHA, p_value
from perturb.testing.tables import load_test_table

__all__ = ["SMALL_DRAWS", "MechanismContract"]

SMALL_DRAWS = 1500  # of every word over a small table
ROUNDING = 1 + 1e-9
TEXT = "Dear Anna, the board of Acme met on Monday; 12 people came.\n\nThey left early. Xyzzyqua!"

on_small_tables = pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
on_bundled_tables = pytest.mark.parametrize("name", ["bundled", "words"])
on_all_tables = pytest.mark.parametrize("name", ["bundled", "toy", "lattice", "pair"])


class MechanismContract:
    """Check the rules that every mechanism must keep. Inherit the class and set `cases`.

    A test with the argument `case` runs for each case, one with `case` and `epsilon` for each ε
    of each case, one with `limited` for each case with a limit, one with `kind` for each class.
    """

    cases: ClassVar[Sequence[Case]] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run the tests for the cases."""
        names = metafunc.fixturenames
        if "epsilon" in names:
            levels = [(case, epsilon) for case in self.cases for epsilon in case.epsilons]
            ids = [f"{case}-{epsilon:g}" for case, epsilon in levels]
            metafunc.parametrize(("case", "epsilon"), levels, ids=ids)
        elif "case" in names:
            metafunc.parametrize("case", self.cases, ids=map(str, self.cases))
        elif "limited" in names:
            cases = [case for case in self.cases if case.limit is not None]
            metafunc.parametrize("limited", cases, ids=map(str, cases))
        elif "kind" in names:
            kinds = list(dict.fromkeys(case.mechanism for case in self.cases))
            metafunc.parametrize("kind", kinds, ids=[kind.name for kind in kinds])

    # -- the class and its parameters

    def test_class_says_what_it_is(self, kind: type[Mechanism]) -> None:
        """Check that the class has a name, and a summary without brackets for help texts."""
        assert issubclass(kind, Mechanism)
        assert kind.name == kind.name.strip()
        assert kind.name
        assert kind.summary
        assert "(" not in kind.summary

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (0, "epsilon must be > 0 and finite, got 0"),
            (-1.5, "epsilon must be > 0 and finite, got -1.5"),
            (math.nan, "epsilon must be > 0 and finite, got nan"),
            (math.inf, "epsilon must be > 0 and finite, got inf"),
            ("6", "epsilon must be a number, got str"),
            (None, "epsilon must be a number, got NoneType"),
            (True, "epsilon must be a number, got bool"),
            ([6.0], "epsilon must be a number, got list"),
        ],
    )
    def test_bad_epsilon_is_refused(self, kind: type[Mechanism], value: Any, message: str) -> None:
        """Check that the error names the parameter, the rule and the value."""
        with pytest.raises(ParameterError) as caught:
            kind.parameter_type(epsilon=value)
        assert str(caught.value) == message

    @pytest.mark.parametrize("value", [10**400, -(10**400)])
    def test_integer_beyond_any_float_is_refused(self, kind: type[Mechanism], value: int) -> None:
        """Check that a huge integer is refused and raises no OverflowError."""
        with pytest.raises(ParameterError, match=r"^epsilon must be"):
            kind.parameter_type(epsilon=value)

    def test_choices_refuse_other_values_by_name(self, kind: type[Mechanism]) -> None:
        """Check that a parameter of type `Literal` takes only its own values."""
        for choice, type_ in get_type_hints(kind.parameter_type).items():
            if get_origin(type_) is not Literal:
                continue
            others: list[Any] = ["", "Power", 3, None, ["knn"]]
            for value in others:
                with pytest.raises(ParameterError, match=f"^{choice} must be '"):
                    kind.parameter_type(**{choice: value})

    def test_numbers_refuse_what_is_no_number_by_name(self, kind: type[Mechanism]) -> None:
        """Check that a numeric parameter refuses strings, booleans and infinities by its name."""
        for number, type_ in get_type_hints(kind.parameter_type).items():
            if type_ not in (int, float, float | None):
                continue
            others: list[Any] = ["1", True, [1], math.nan, math.inf, -1, -math.inf]
            for value in others:
                with pytest.raises(ParameterError, match=f"^{number} must be "):
                    kind.parameter_type(**{number: value})

    @pytest.mark.parametrize("key", ["epsilon", "noise", "radius"])
    def test_parameters_are_frozen(self, case: Case, key: str) -> None:
        """Check that parameters cannot be changed once they are made."""
        parameters = case.build(load_test_table("toy"), 3.0).parameters
        with pytest.raises(FrozenInstanceError):
            setattr(parameters, key, 1.0)
        assert parameters.epsilon == 3.0

    def test_identity_is_json_and_tells_parameters_apart(self, case: Case) -> None:
        """Check that the identity names everything that the channel depends on, because releases
        are stored under it."""
        bundled = load_test_table("bundled")
        one, other = case.build(bundled, 3.0).identity(), case.build(bundled, 4.0).identity()
        assert one == {
            "mechanism": case.mechanism.name,
            "table": bundled.sha256,
            "epsilon": 3.0,
            **{f.name: one[f.name] for f in fields(case.mechanism.parameter_type)},
            **{key: one[key] for key in case.more},
        }
        assert None not in one.values()
        assert json.dumps(one) != json.dumps(other)
        assert case.build(bundled, 3).identity() == one

    # -- the guarantee

    def test_guarantee_names_what_is_proved(self, case: Case) -> None:
        """Check that the kind, the ε and the statement of the guarantee agree."""
        guarantee = case.build(load_test_table("bundled"), 3.0).guarantee
        assert guarantee.nominal == 3.0
        if guarantee.kind == "ldp":
            assert guarantee.epsilon == 3.0
            assert "with respect to replacing that token" in guarantee.statement
        elif guarantee.kind == "metric":
            assert 0 < guarantee.epsilon < math.inf
            assert "metric private with respect to replacing that token" in guarantee.statement
            assert (
                f"at most {format_upper(guarantee.epsilon, 4)} over this table"
                in guarantee.statement
            )
        else:
            assert math.isinf(guarantee.epsilon)
            assert "not an LDP bound" in guarantee.statement

    @on_small_tables
    def test_channel_keeps_the_guarantee(self, case: Case, epsilon: float, name: str) -> None:
        """Check that no two rows differ by more than e^ε, for the ε that the guarantee states."""
        mechanism = case.build(load_test_table(name), epsilon)
        bound = mechanism.guarantee.epsilon
        if math.isinf(bound) or not mechanism.exact:
            return
        rows, error = compute_rows(mechanism, np.arange(len(mechanism.table)))
        high, low = rows.max(axis=0) - error, rows.min(axis=0) + error
        assert (high <= low * math.exp(bound) * ROUNDING).all()

    def test_bounded_range_holds(self, case: Case, epsilon: float) -> None:
        """Check that the log ratio of two rows stays in an interval of length ε, if the class
        states it."""
        mechanism = case.build(load_test_table("toy"), epsilon)
        if not mechanism.bounded_range:
            return
        rows, _ = compute_rows(mechanism, sample_few_words(mechanism.table))
        logs = np.log(rows)
        for row in logs:
            ratio = logs - row
            spread = ratio.max(axis=1) - ratio.min(axis=1)
            assert (spread <= epsilon * ROUNDING).all()

    @on_small_tables
    def test_dominating_pair_dominates(self, case: Case, epsilon: float, name: str) -> None:
        """Check that no two rows have a larger hockey-stick divergence than the pair, at any γ."""
        mechanism = case.build(load_test_table(name), epsilon)
        pair = mechanism.dominating_pair()
        if pair is None:
            return
        first, second = pair
        assert first.sum() == pytest.approx(1.0)
        assert second.sum() == pytest.approx(1.0)
        rows, error = compute_rows(mechanism, sample_few_words(mechanism.table))
        for gamma in (0.0, 0.5, 1.0, 2.0, math.exp(epsilon / 2), 0.99 * math.exp(epsilon)):
            bound = np.maximum(0, first - gamma * second).sum()
            for row in rows:
                found = np.maximum(0, row - gamma * rows).sum(axis=1)
                assert (found <= bound * ROUNDING + 1e-12 + error * (1 + gamma)).all()

    # -- the channel

    @on_small_tables
    def test_rows_are_distributions(self, case: Case, epsilon: float, name: str) -> None:
        """Check that rows are laws over V with a small stated error."""
        table = load_test_table(name)
        words = sample_few_words(table)
        rows, error = compute_rows(case.build(table, epsilon), words)
        assert rows.shape == (len(words), len(table))
        assert rows.dtype == np.float64
        assert (rows >= 0).all()
        assert rows.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
        assert 0 <= error < case.row_error
        if case.peaked:
            assert rows[np.arange(len(words)), words] == pytest.approx(rows.max(axis=1))

    @on_small_tables
    def test_keep_rate_bounds_the_diagonal(self, case: Case, epsilon: float, name: str) -> None:
        """Check that `keep_rate` is never below P(x | x)."""
        table = load_test_table(name)
        mechanism = case.build(table, epsilon)
        words = sample_few_words(table)
        kept = mechanism.keep_rate(words)
        assert kept.shape == words.shape
        assert kept.dtype == np.float64
        assert (kept <= 1 + 1e-12).all()
        rows, error = compute_rows(mechanism, words)
        assert (rows[np.arange(len(words)), words] <= kept + error).all()

    @on_bundled_tables
    def test_keep_rate_is_close_on_bundled_table(
        self, case: Case, epsilon: float, name: str
    ) -> None:
        """Check that `keep_rate` is not far above P(x | x), so that it guards something."""
        mechanism = case.build(load_test_table(name), epsilon)
        words = choose_words(mechanism)
        diagonal = compute_rows(mechanism, words)[0][np.arange(len(words)), words]
        kept = mechanism.keep_rate(words)
        assert (diagonal <= kept * (1 + 1e-3)).all()
        assert (kept <= 3 * diagonal + 0.01).all(), "a bound this loose guards nothing"

    # -- the draw

    @on_bundled_tables
    def test_sampler_matches_channel_on_bundled_table(
        self, case: Case, epsilon: float, name: str
    ) -> None:
        """Check that draws follow the channel: a chi-square at level 1e-6."""
        mechanism = case.build(load_test_table(name), epsilon)
        words = choose_words(mechanism)
        assert (
            fit_p_value(mechanism, words, draw_samples(mechanism, words, case.draws, 11)) > ALPHA
        )

    @pytest.mark.parametrize("name", ["toy", "lattice"])
    def test_sampler_matches_channel_on_small_table(
        self, case: Case, epsilon: float, name: str
    ) -> None:
        """Check that draws follow the channel over few words, also if words share vectors."""
        mechanism = case.build(load_test_table(name), epsilon)
        words = choose_words(mechanism)
        assert (
            fit_p_value(mechanism, words, draw_samples(mechanism, words, SMALL_DRAWS, 12)) > ALPHA
        )

    def test_sampler_matches_channel_on_two_words(self, case: Case) -> None:
        """Check that draws follow the channel over the smallest V."""
        mechanism = case.build(load_test_table("pair"), 1.0)
        words = np.array([0, 1])
        assert fit_p_value(mechanism, words, draw_samples(mechanism, words, 20_000, 13)) > ALPHA

    def test_draw_repeats_under_a_seed_and_only_then(self, case: Case) -> None:
        """Check that all randomness comes from the generator that is passed."""
        mechanism = case.build(load_test_table("toy"), 3.0)
        words = np.arange(200)
        first = mechanism.draw(words, seeded_generator(5))
        again = mechanism.draw(words, seeded_generator(5))
        assert (first.words == again.words).all()
        assert first.statistics == again.statistics
        others = [
            mechanism.draw(words, rng).words
            for rng in (seeded_generator(6), secure_generator(), secure_generator())
        ]
        others.append(first.words)
        assert len({tuple(drawn.tolist()) for drawn in others}) == 4

    def test_equal_words_of_one_draw_get_fresh_noise(self, case: Case) -> None:
        """Check that every token is drawn by itself."""
        toy = load_test_table("toy")
        word = choose_free_word(case, toy)
        drawn = case.build(toy, 1.0).draw(np.full(300, word), seeded_generator(1)).words
        usual = expected_distinct(case.limit(toy, word), 300) if case.limit else 300.0
        assert len(set(drawn.tolist())) > min(50.0, usual / 2)

    @pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
    def test_draw_keeps_the_shape(self, case: Case, dtype: type) -> None:
        """Check that a draw is an int32 word of V for each word, and does not change its
        argument."""
        toy = load_test_table("toy")
        for n in (0, 1, 2, 65, 600, 5000):
            words: NDArray[Any] = (np.arange(n) % len(toy)).astype(dtype)
            before = words.copy()
            draw = case.build(toy, 3.0).draw(words, seeded_generator(1))
            assert draw.words.shape == (n,)
            assert draw.words.dtype == np.int32
            assert ((draw.words >= 0) & (draw.words < len(toy))).all()
            assert (words == before).all()
            assert all(math.isfinite(value) for value in draw.statistics.values())

    @on_all_tables
    def test_small_epsilon_is_near_its_limit(self, limited: Case, name: str) -> None:
        """Check that the channel and the draws approach the stated limit as ε → 0."""
        assert limited.limit is not None
        table = load_test_table(name)
        mechanism = limited.build(table, 1e-6)
        word = choose_free_word(limited, table)
        limit = limited.limit(table, word)
        (row,), _ = mechanism.channel(np.array([word]))
        assert np.allclose(row * len(table), limit * len(table), atol=1e-5)
        draws = mechanism.draw(np.full(2000, word), seeded_generator(1)).words
        counts = np.bincount(draws, minlength=len(table))
        assert not counts[limit == 0].any()
        assert p_value(counts, limit * 2000, smallest=100) > ALPHA

    @on_all_tables
    def test_large_epsilon_keeps_near_words(self, case: Case, name: str) -> None:
        """Check that a released word is near the private one at the largest ε."""
        table = load_test_table(name)
        mechanism = case.build(table, case.largest_epsilon)
        words = np.arange(len(table))[:500]
        draws = mechanism.draw(words, seeded_generator(1)).words
        wide = table.vectors.astype(np.float64)
        kept = np.linalg.norm(wide[words] - wide[draws], axis=1).mean()
        usual = np.linalg.norm(wide[words] - wide[words[::-1]], axis=1).mean()
        assert kept < usual * 0.9

    @pytest.mark.parametrize("tiny", [5e-324, 1e-20, 1e-9])
    def test_tiniest_epsilon_is_refused_or_near_its_limit(self, case: Case, tiny: float) -> None:
        """Check that a tiny ε is refused, unless the draws still follow the limit."""
        bundled = load_test_table("bundled")
        try:
            mechanism = case.build(bundled, tiny)
        except ParameterError:
            return
        word = choose_free_word(case, bundled)
        drawn = mechanism.draw(np.full(300, word), seeded_generator(1)).words
        usual = expected_distinct(case.limit(bundled, word), 300) if case.limit else 150.0
        assert len(set(drawn.tolist())) > 0.84 * usual

    @pytest.mark.parametrize("huge", [1e6, 1e39, 1.7e308])
    def test_largest_epsilon_is_refused_or_keeps_the_word(self, case: Case, huge: float) -> None:
        """Check that a huge ε is refused, unless the draws still keep the word."""
        bundled = load_test_table("bundled")
        try:
            mechanism = case.build(bundled, huge)
        except ParameterError:
            return
        word = choose_free_word(case, bundled)
        drawn = mechanism.draw(np.full(300, word), seeded_generator(1)).words
        # tem releases one word in 1000 beyond γ
        assert (bundled.distances(word)[drawn] < 0.01).mean() > 0.98

    # -- a whole text

    @on_bundled_tables
    def test_a_released_text_passes_its_own_check(
        self, case: Case, epsilon: float, name: str
    ) -> None:
        """Check that a text can be perturbed, passes its own check and has a receipt."""
        perturber = Perturber(case.build(load_test_table(name), epsilon))
        for text in ("", TEXT, 20 * TEXT):
            done = perturber.perturb(text)
            perturber.verify(text, done)
            assert json.dumps(done.receipt.to_dict())
