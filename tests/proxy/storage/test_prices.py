"""Prices: what a release costs, by what is proved about it."""

from __future__ import annotations

from typing import Any

import pytest

from extraction.dp_prompt.sanitizer import DPPrompt, PromptParameters
from perturb import EmbeddingTable, Perturber, get_mechanism
from proxy.storage.ledger import Channel, Price, price
from tests.perturb.marking import WORDS
from tests.proxy.storage.reports import report


class TestPrices:
    def cost(self, table: EmbeddingTable, name: str, text: str = report(1)) -> Price:
        words = WORDS if name == "selective" else {}
        sanitizer = Perturber(get_mechanism(name, table, epsilon=6, **words))
        return price(sanitizer, sanitizer.perturb(text))

    def test_a_proved_bound_is_charged_as_such(self, table: EmbeddingTable) -> None:
        found = self.cost(table, "rantext_ldp")
        assert found == Price(8, 48.0, 0.0, Channel("rantext_ldp", 6.0, False), 8)
        assert self.cost(table, "exponential").channel == Channel("exponential", 6.0, True)

    def test_what_is_no_bound_is_nominal(self, table: EmbeddingTable) -> None:
        assert self.cost(table, "rantext") == Price(8, 0.0, 48.0, unbounded=8)
        assert self.cost(table, "selective", "Bartholomew met me.").nominal == 6.0

    def test_tokens_without_a_bound_are_counted(self, table: EmbeddingTable) -> None:
        plain = "the nurse who was on call that night wrote the wrong dose on the chart and nobody"
        text = f"{plain} saw it until the morning"
        assert len(text.split()) == 22
        found = self.cost(table, "selective", text)
        assert found == Price(0, unbounded=22)
        part = self.cost(table, "selective", f"{text}, said Kowalewski: \u2026 \n!")
        assert (part.tokens, part.unbounded) == (1, 23)
        assert self.cost(table, "selective", "这个病人昨天死了😀").unbounded >= 6
        for name in ("santext_plus", "custext", "custext_plus"):
            assert self.cost(table, name).unbounded == 8
        for name in ("rantext_ldp", "exponential", "santext", "tem", "madlib", "mahalanobis"):
            assert self.cost(table, name).unbounded == 0

    def test_replaced_words_have_the_bound_of_the_inner_mechanism(
        self, table: EmbeddingTable
    ) -> None:
        text = "Bartholomew Kowalewski met me."
        for inner, more in (("rantext_ldp", 0), ("rantext", 2)):
            mechanism = get_mechanism("selective", table, epsilon=6, inner=inner, **WORDS)
            sanitizer = Perturber(mechanism)
            found = price(sanitizer, sanitizer.perturb(text))
            assert (found.tokens, found.unbounded) == (2, 2 + more)

    def test_a_metric_bound_is_that_of_the_farthest_words(self, table: EmbeddingTable) -> None:
        found = self.cost(table, "santext")
        assert found.channel is not None
        assert found.proved == pytest.approx(8 * found.channel[1])
        assert found.proved > 48
        assert found.count == 8

    def test_a_text_without_words_costs_nothing(self, table: EmbeddingTable) -> None:
        for name in ("rantext", "rantext_ldp", "selective"):
            assert self.cost(table, name, "2031 ...").epsilon == 0

    def test_a_paraphrase_costs_its_cap(self, table: EmbeddingTable) -> None:
        class Made:
            async def generate(self, *_: Any) -> Any:
                from extraction.dp_prompt.paraphrase import Paraphrase

                return Paraphrase(text="two words", tokens=3)

            def identity(self) -> dict[str, Any]:
                return {}

        def cost(**more: Any) -> Price:
            parameters = PromptParameters(epsilon=2.0, max_tokens=20, **more)
            sanitizer = DPPrompt(Made(), parameters, table.vocabulary)  # type: ignore[arg-type]
            return price(sanitizer, sanitizer.perturb("a text"))

        found = cost(clip=(-1.0, 1.0))
        assert (found.tokens, found.proved, found.count, found.unbounded) == (3, 40.0, 20, 0)
        for nominal in (cost(mode="quasi", clip=(-1.0, 1.0)), cost(mode="topk", top_k=5)):
            assert nominal == Price(3, nominal=6.0, unbounded=3)
