"""A document in, its perturbed form and a receipt out.

Where a mechanism marks sensitive parts, only those change (perturb.replace). Else every token
is treated by its public class: words go through the mechanism, other strings of letters are
mapped to V first (or dropped), numbers are redrawn, layout is kept or dropped as configured,
everything else is dropped.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perturb.errors import DocumentTooLong, ParameterError
from perturb.frequencies import common_words
from perturb.mechanism import EMPTY, Guarantee, Known, Mechanism
from perturb.policies import standing_in, telling
from perturb.replace import replace, text_link
from perturb.rng import secure_generator
from perturb.sanitizer import Link, Perturbation, Receipt, Sanitizer
from perturb.verify import check_letters, check_words
from perturb.verify_parts import check_replaced, secrets
from perturb.vocabulary import TokenClass

__all__ = ["DocumentOptions", "Perturber"]


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """What happens to the tokens that are not in V.

    Attributes:
        oov: `map` a string of letters to its nearest word of V by a fixed public table and
            perturb that, or `drop` it (the paper).
        number: `random` draws every digit afresh, keeping how many there are; `drop`.
        layout: `keep` punctuation, blanks and newlines (readable, and reveals the skeleton of
            the text), or `drop` them (the paper).
    """

    oov: Literal["map", "drop"] = "map"
    number: Literal["random", "drop"] = "random"
    layout: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        rules = {"oov": ("map", "drop"), "number": ("random", "drop"), "layout": ("keep", "drop")}
        for field in fields(self):
            if getattr(self, field.name) not in rules[field.name]:
                raise ParameterError(f"{field.name} must be one of {', '.join(rules[field.name])}")


class Perturber(Sanitizer):
    """Perturbs documents word by word with one mechanism and one set of options."""

    def __init__(
        self,
        mechanism: Mechanism,
        options: DocumentOptions | None = None,
        *,
        max_tokens: int | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.options = options or DocumentOptions()
        self.max_tokens = max_tokens
        self.vocabulary = mechanism.table.vocabulary

    @property
    def name(self) -> str:
        return self.mechanism.name

    @property
    def guarantee(self) -> Guarantee:
        return self.mechanism.guarantee

    def identity(self) -> dict[str, Any]:
        return {**self.mechanism.identity(), **asdict(self.options)}

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        rng = rng or secure_generator()
        tokens = self.vocabulary.encode(text)
        if self.max_tokens is not None and len(tokens) > self.max_tokens:
            raise DocumentTooLong(
                f"a text must have <= {self.max_tokens} tokens, got {len(tokens)}"
            )
        spans = self.mechanism.spans(text, known)
        if spans is not None:
            noise = (link or text_link(rng)) if self.mechanism.consistent else None
            return replace(text, spans, self.mechanism, self.options, rng, noise)
        classes = self.vocabulary.classes[tokens]
        is_word, places = self.places(tokens)
        draw = self.mechanism.draw(places, rng)
        words = tuple(self.vocabulary.words[i] for i in draw.words)
        return Perturbation(
            text=self._assemble(tokens, classes, is_word, words, rng),
            words=words,
            receipt=self._receipt(classes, len(words), dict(draw.statistics)),
        )

    def verify(self, raw: str, released: Perturbation) -> None:
        spans = self.mechanism.spans(raw)
        if spans is not None:
            check_replaced(self.mechanism, self.options, raw, spans, released)
            return
        check_letters(released.text, released.words)
        _, places = self.places(self.vocabulary.encode(raw))
        check_words(self.mechanism, places, released.words)

    def findings(self, text: str) -> Known:
        return telling(text, self.mechanism.spans(text) or ())

    def known_in(self, text: str, known: Known) -> Known:
        return standing_in(text, known, common_words(self.vocabulary))

    def secrets(
        self, raw: str, released: Perturbation, *, unrepeatable: bool = False
    ) -> tuple[str, ...]:
        return secrets(self.mechanism.table, raw, released, unrepeatable=unrepeatable)

    def places(self, tokens: NDArray[np.uint32]) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Which tokens go through the mechanism, and as which word of V: words as themselves,
        mapped strings as their nearest word."""
        classes = self.vocabulary.classes[tokens]
        index = self.vocabulary.index[tokens].copy()
        is_word = classes == TokenClass.WORD
        if self.options.oov == "map":
            outside = classes == TokenClass.OOV
            index[outside] = self.mechanism.table.nearest[index[outside]]
            is_word |= outside
        return is_word, index[is_word]

    def _assemble(
        self,
        tokens: NDArray[np.uint32],
        classes: NDArray[np.uint8],
        is_word: NDArray[np.bool_],
        words: tuple[str, ...],
        rng: np.random.Generator,
    ) -> str:
        """Put the released pieces together.

        Two words always stand apart, also where the raw text split one word into two tokens;
        after layout a word stands apart where its token did.
        """
        encoding, spaced = self.vocabulary.encoding, self.vocabulary.spaced[tokens]
        released = iter(words)
        numbers = self._numbers(tokens, classes, rng)
        out: list[str] = []
        last: TokenClass | None = None
        previous: int | None = None  # the class of the raw token before this one
        for i, kind in enumerate(classes.tolist()):
            if is_word[i]:
                apart = spaced[i] if last is TokenClass.LAYOUT else last is not None
                out.append(" " + next(released) if apart else next(released))
                last = TokenClass.WORD
            elif kind == TokenClass.NUMBER and self.options.number == "random":
                joins = last is TokenClass.NUMBER and previous == TokenClass.NUMBER
                apart = last is not None and last is not TokenClass.LAYOUT and not joins
                out.append(" " + next(numbers) if apart else next(numbers))
                last = TokenClass.NUMBER
            elif kind == TokenClass.LAYOUT and self.options.layout == "keep":
                out.append(encoding.decode_single_token_bytes(int(tokens[i])).decode())
                last = TokenClass.LAYOUT
            previous = kind
        return "".join(out)

    def _numbers(
        self, tokens: NDArray[np.uint32], classes: NDArray[np.uint8], rng: np.random.Generator
    ) -> Any:
        """Yield a string of fresh digits for each number token.

        Every digit is uniform, but the first of a run of several digits is never 0: the draw
        depends on the digit count alone.
        """
        numbers = classes == TokenClass.NUMBER
        continues = np.append(False, numbers[:-1])[numbers]
        follows = np.append(numbers[1:], False)[numbers]
        for digits, joined, more in zip(
            self.vocabulary.index[tokens[numbers]], continues, follows, strict=True
        ):
            drawn = rng.integers(0, 10, size=int(digits))
            if not joined and (digits > 1 or more):
                drawn[0] = rng.integers(1, 10)
            yield "".join(map(str, drawn))

    def _receipt(
        self, classes: NDArray[np.uint8], released: int, statistics: dict[str, float]
    ) -> Receipt:
        counts = np.bincount(classes, minlength=len(TokenClass))
        guarantee, options = self.mechanism.guarantee, self.options
        identity = self.mechanism.identity()
        reveals = ["how many tokens the text has"]
        if options.layout == "keep":
            reveals.append("punctuation, blanks and line breaks, verbatim and in place")
        if options.number == "random":
            reveals.append("where numbers stand and how many digits they have")
        return Receipt(
            mechanism=identity.pop("mechanism"),
            table=identity.pop("table"),
            parameters=identity,
            tokens={kind.name.lower(): int(counts[kind]) for kind in TokenClass},
            treatment={
                "word": "perturbed",
                "oov": "mapped to V and perturbed" if options.oov == "map" else "dropped",
                "number": "redrawn" if options.number == "random" else "dropped",
                "layout": "kept" if options.layout == "keep" else "dropped",
                "other": "dropped",
            },
            released=released,
            statistics=statistics,
            guarantee=guarantee.kind,
            statement=guarantee.statement,
            epsilon_nominal=guarantee.nominal,
            epsilon_per_token=guarantee.epsilon,
            epsilon_per_document=guarantee.epsilon * released if released else 0.0,
            reveals=tuple(reveals),
        )
