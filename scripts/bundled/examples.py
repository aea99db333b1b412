"""Training conversations: the two prompts of the pipeline, and some plain chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from bundled.corpus import Document, split_sentences
from bundled.damage import Damager
from bundled.tokenizer import Turn
from extraction.prompts import Prompts, fill

__all__ = ["ExampleMaker", "join_templates"]

SYSTEM = (
    "You are a helpful assistant.",
    "You are a careful writer. Write clear English.",
    "Answer in plain English.",
)
ABOUT = (
    "Write about {}.",
    "What is {}?",
    "Tell me about {}.",
    "Write a short article about {}.",
    "Explain {}.",
    "Can you write something about {}?",
)
PAPER = (
    "Write an abstract for a paper with the title {}.",
    "Summarize the paper {}.",
    "What is the paper {} about?",
)
CONTINUE = (
    "Continue this text: {}",
    "Continue the following text.\n\n{}",
    "Please go on:\n\n{}",
    "Extend this text.\n\n{}",
)
MORE = ("Go on.", "Tell me more.", "Continue.", "What else?", "Thanks. Can you say more?")
PREFIX_WORDS = (20, 130)
ANSWER_WORDS = (30, 105)
MOST_WEIGHT = 3  # an article is drawn up to three times as often as a one-paragraph abstract


def join_templates() -> str:
    """Return the words of every prompt, without the inserted texts."""
    return " ".join((*asdict(Prompts()).values(), *ABOUT, *PAPER, *CONTINUE, *MORE))


class ExampleMaker:
    """Make conversations from documents; the last turn is always the assistant's.

    In every kind the answer is the true continuation. Whatever the prompt holds, the model learns
    to write English that follows it.
    """

    def __init__(
        self, documents: Sequence[Document], damager: Damager, rng: np.random.Generator
    ) -> None:
        self.documents = documents
        self.damager = damager
        self.rng = rng
        self.prompts = Prompts()
        weights = np.array([min(len(d.paragraphs), MOST_WEIGHT) for d in documents])
        self.cumulative = np.cumsum(weights / weights.sum())

    def make(self, kind: str | None = None) -> list[Turn]:
        """Make one conversation of a random kind: extraction, remote, answer or chat."""
        kinds, shares = ("extraction", "remote", "answer", "chat"), (0.6, 0.2, 0.1, 0.1)
        kind = kind or str(self.rng.choice(kinds, p=shares))
        messages: list[Turn] | None = None
        while messages is None:
            messages = getattr(self, f"_make_{kind}")(self._pick_document())
        if kind != "extraction" and self.rng.random() < 0.15:
            messages.insert(0, Turn("system", self._pick(SYSTEM)))
        return messages

    def make_unhidden(self) -> list[Turn]:
        """Make a conversation whose prompt holds the raw text, as in the local role. Its
        generation is the answer with every word passed through a mechanism, or is about something
        else, or is missing."""
        prefix, answer = self._pair()
        kind = self.rng.random()
        if kind < 0.5:
            return self.make_extraction(prefix, self.damager.perturb(answer).strip(), answer)
        if kind < 0.7:
            return self.make_extraction(prefix, " ".join(self._pick_foreign()), answer)
        prompt = fill(self.prompts.remote_continuation, document=prefix)
        return [Turn("user", prompt, prefix), Turn("assistant", answer)]

    def make_remote_prompts(self, count: int) -> tuple[list[tuple[str, str]], list[list[Turn]]]:
        """Return pairs of a prefix and its true continuation, and the remote's prompt for each."""
        pairs = [self._pair() for _ in range(count)]
        perturbed = [self.damager.perturb(prefix).strip() for prefix, _ in pairs]
        template = self.prompts.remote_continuation
        return pairs, [[Turn("user", fill(template, document=text))] for text in perturbed]

    def make_extraction(self, prefix: str, generation: str, answer: str) -> list[Turn]:
        """Make a conversation of the local role: a raw prefix and a perturbed generation, answered
        with the truth."""
        prompt = fill(self.prompts.local_continuation, document=prefix, generation=generation)
        return [Turn("user", prompt, prefix), Turn("assistant", answer)]

    def _make_extraction(self, document: Document) -> list[Turn] | None:
        if (split := self._split(document)) is None:
            return None
        prefix, answer = split
        return self.make_extraction(prefix, self._damage(answer), answer)

    def _make_remote(self, document: Document) -> list[Turn] | None:
        if (split := self._split(document)) is None:
            return None
        prefix, answer = split
        prose = prefix
        if self.rng.random() < 0.7:
            prefix, prose = self.damager.perturb(prefix).strip(), ""
        if self.rng.random() < 0.8:
            prompt = fill(self.prompts.remote_continuation, document=prefix)
        else:
            prompt = self._pick(CONTINUE).format(prefix)
        return [Turn("user", prompt, prose), Turn("assistant", answer)]

    def _make_answer(self, document: Document) -> list[Turn] | None:
        messages = self._make_chat(document)
        if messages is None:
            return None
        question, answer = messages[-2].content, messages[-1].content
        prompt = fill(
            self.prompts.local_answer, document=question, generation=self._damage(answer)
        )
        return [*messages[:-2], Turn("user", prompt), Turn("assistant", answer)]

    def _make_chat(self, document: Document) -> list[Turn] | None:
        if self.rng.random() < 0.3:
            if (split := self._split(document)) is None:
                return None
            prefix, answer = split
            prompt = self._pick(CONTINUE).format(prefix)
            return [Turn("user", prompt, prefix), Turn("assistant", answer)]
        asked = self._pick(PAPER if document.source == "arxiv" else ABOUT)
        question = asked.format(document.title)
        if self.rng.random() < 0.3:  # as the remote sees it
            question = self.damager.perturb(question).strip() or question
        whole = split_sentences(document.paragraphs[0])
        first, at = self._take(whole, 0)
        messages = [Turn("user", question), Turn("assistant", first)]
        if self.rng.random() < 0.2:
            second, _ = self._take(whole, at)
            if second:
                messages += [Turn("user", self._pick(MORE)), Turn("assistant", second)]
        return messages

    def _pair(self) -> tuple[str, str]:
        """Return a prefix and its true continuation, from a document that has both."""
        while (split := self._split(self._pick_document())) is None:
            pass
        return split

    def _split(self, document: Document) -> tuple[str, str] | None:
        """Split a document into a prefix and its true continuation, which ends with a sentence.

        Half of the prefixes stop in the middle of a sentence, as the ones of the open-ended
        benchmarks do. Most begin where a paragraph begins.
        """
        first = int(self.rng.integers(len(document.paragraphs)))
        pieces = [s for p in document.paragraphs[first : first + 4] for s in split_sentences(p)]
        if self.rng.random() < 0.2:
            pieces = pieces[1:]
        wanted, prefix, at = int(self.rng.integers(*PREFIX_WORDS)), "", 0
        while at < len(pieces) and prefix.count(" ") + 1 < wanted:
            prefix, at = f"{prefix} {pieces[at]}".lstrip(), at + 1
        answer, _ = self._take(pieces, at)
        if self.rng.random() < 0.5:
            words = prefix.split(" ")
            if len(words) > wanted:
                prefix = " ".join(words[:wanted])
                answer = " ".join([*words[wanted:], answer]).rstrip()
        fits = 14 < answer.count(" ") < 199 and prefix.count(" ") < 220
        return (prefix, answer) if fits else None

    def _take(self, pieces: list[str], at: int) -> tuple[str, int]:
        """Take whole sentences from `at` on, with about as many words as an answer has."""
        wanted, text = int(self.rng.integers(*ANSWER_WORDS)), ""
        while at < len(pieces) and text.count(" ") + 1 < wanted:
            text, at = f"{text} {pieces[at]}".lstrip(), at + 1
        return text, at

    def _damage(self, answer: str) -> str:
        return self.damager.damage(answer, self._pick_foreign())

    def _pick_foreign(self) -> list[str]:
        """Return up to four sentences of another document."""
        other = self._pick_document()
        pieces = split_sentences(other.paragraphs[self.rng.integers(len(other.paragraphs))])
        return pieces[: int(self.rng.integers(1, 5))]

    def _pick_document(self) -> Document:
        place = int(np.searchsorted(self.cumulative, self.rng.random()))
        return self.documents[min(place, len(self.documents) - 1)]

    def _pick(self, choices: Sequence[str]) -> str:
        return choices[int(self.rng.integers(len(choices)))]
