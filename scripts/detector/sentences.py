"""Write labelled sentences from the templates of the project's own, in four languages.

A template file has lists, `[name] one|two|three`, and the sections `[templates]` and `[plain]`,
a sentence a line. `{name}` stands for an entry of a list or one of the parts made here.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path

from detector.corpora import Example

__all__ = ["Writer", "write_sentences"]

FOLDER = Path(__file__).parent / "templates"
LANGUAGES = ("en", "de", "fr", "es")
PLAIN = 0.2  # of all sentences
LABELS = {
    **dict.fromkeys(("person", "titled", "first", "last"), "PERSON"),
    **dict.fromkeys(("city", "region", "country", "street", "address"), "LOCATION"),
    **dict.fromkeys(("org",), "ORGANIZATION"),
    **dict.fromkeys(("date", "duration", "weekday"), "DATE_TIME"),
    **dict.fromkeys(("age", "profession", "nationality", "illness"), "DEMOGRAPHIC"),
    **dict.fromkeys(("amount", "quantity"), "QUANTITY"),
    **dict.fromkeys(("id", "case", "iban", "phone", "email"), "ID"),
    "work": "OTHER_NAME",
}
# An article before a name is not a part of it.
_ARTICLE = re.compile(r"(?:the|die|das|der|dem|la|le|les|el|los|las) |l'|§ ", re.IGNORECASE)
_SLOT = re.compile(r"\{(\w+)\}")


class Writer:
    """Write sentences of one language.

    Args:
        rng: decides everything.
        foreign: another language's writer, whose people and places appear, too.
    """

    def __init__(
        self, language: str, rng: random.Random, foreign: Callable[[], Writer] | None = None
    ) -> None:
        self._rng, self._foreign = rng, foreign
        self._lists: dict[str, list[str]] = {}
        self._sections: dict[str, list[str]] = {}
        section = ""
        for line in (FOLDER / f"{language}.txt").read_text("utf-8").splitlines():
            head, _, rest = line.partition("] ")
            if line.endswith("]") and line.startswith("["):
                section = line[1:-1]
                self._sections[section] = []
            elif line.startswith("[") and rest:
                self._lists[head[1:]] = rest.split("|")
            elif line:
                self._sections[section].append(line)

    def write(self) -> Example:
        """Return a sentence with its labelled parts."""
        if self._rng.random() < PLAIN:
            return Example(self._rng.choice(self._sections["plain"]), ())
        template = self._rng.choice(self._sections["templates"])
        pieces: list[str] = []
        parts: list[tuple[int, int, tuple[str, ...]]] = []
        length = end = 0
        for slot in _SLOT.finditer(template):
            before, value = template[end : slot.start()], self.fill(slot[1])
            pieces += before, value
            length += len(before)
            if label := LABELS.get(slot[1]):
                article = _ARTICLE.match(value)
                start = length + (article.end() if article and label != "PERSON" else 0)
                parts.append((start, length + len(value), (label,)))
            length += len(value)
            end = slot.end()
        return Example("".join([*pieces, template[end:]]), tuple(parts))

    def fill(self, slot: str) -> str:
        """Return what stands for a slot."""
        rng = self._rng
        if self._foreign and slot in ("first", "last", "city") and rng.random() < 0.25:
            return self._foreign().fill(slot)
        if slot in self._lists:
            return self._expand(rng.choice(self._lists[slot]))
        make: dict[str, Callable[[], str]] = {
            "person": self._person,
            "titled": lambda: f"{self.fill('title')} {self._surname()}",
            "org": self._organisation,
            "address": self._address,
            "phone": self._phone,
            "email": self._email,
            "iban": lambda: (
                f"{self._letters(2)}{self._digits(2)} {self._digits(4)} "
                f"{self._digits(4)} {self._digits(4)} {self._digits(2)}"
            ),
            "id": self._id,
            "case": self._case,
            "d": lambda: str(rng.randint(1, 30)),
            "m": lambda: f"{rng.randint(1, 12):02}",
            "y": lambda: str(rng.randint(1925, 2026)),
            "h": lambda: str(rng.randint(0, 23)),
            "mi": lambda: f"{rng.randint(0, 59):02}",
            "a": lambda: str(rng.randint(3, 99)),
            "n": lambda: str(rng.randint(1, 999)),
        }
        return make[slot]()

    def _expand(self, text: str) -> str:
        return _SLOT.sub(lambda slot: self.fill(slot[1]), text)

    def _surname(self) -> str:
        last = self.fill("last")
        style = self._rng.random()
        if style < 0.15:
            return f"{self._letters(1)}. {last}"
        return f"{self.fill('first')} {last}" if style < 0.5 else last

    def _person(self) -> str:
        style, first, last = self._rng.random(), self.fill("first"), self.fill("last")
        if style < 0.08:
            return f"{last}, {first}"
        if style < 0.2:
            return f"{first} {self._letters(1)}. {last}"
        if style < 0.28:
            return f"{self._letters(1)}. {last}"
        return f"{first} {last}" if style < 0.92 else f"{first} {last}-{self.fill('last')}"

    def _organisation(self) -> str:
        style = self._rng.random()
        if style < 0.4:
            return self.fill("orgfull")
        name = self.fill("orgname" if style < 0.8 else "last")
        return name if style > 0.95 else f"{name} {self.fill('orgkind')}"

    def _address(self) -> str:
        number, street, city = self._rng.randint(1, 999), self.fill("street"), self.fill("city")
        code = self._digits(5)
        return self._rng.choice(
            (
                f"{number} {street}, {city}",
                f"{street} {number}, {code} {city}",
                f"{street} {number}, {city}",
                f"{number}, {street}, {code} {city}",
                f"{number} {street}, {city} {code}",
                f"{street}, {number}, {code} {city}",
            )
        )

    def _phone(self) -> str:
        d = self._digits
        return self._rng.choice(
            (
                f"+{d(2)} {d(3)} {d(7)}",
                f"0{d(3)} {d(6)}",
                f"({d(3)}) {d(3)}-{d(4)}",
                f"0{d(1)} {d(2)} {d(2)} {d(2)} {d(2)}",
                f"{d(3)} {d(3)} {d(3)}",
                f"0{d(3)}/{d(6)}",
            )
        )

    def _id(self) -> str:
        letters, digits = self._letters, self._digits
        return self._rng.choice(
            (f"{letters(2)}-{digits(6)}", digits(8), f"{letters(1)}{digits(5)}{letters(1)}")
        )

    def _case(self) -> str:
        letters, d = self._letters, self._digits
        return self._rng.choice(
            (f"{d(5)}/{d(2)}", f"{d(4)}/{d(2)}", f"{d(2)} {letters(1)} {d(3)}/{d(2)}")
        )

    def _email(self) -> str:
        names = (self.fill("first"), self.fill("last"))
        ascii_names = (re.sub(r"[^a-z]", "", name.lower()) or "info" for name in names)
        return ".".join(ascii_names) + "@example." + self._rng.choice(("com", "org", "net"))

    def _digits(self, count: int) -> str:
        return "".join(self._rng.choices(string.digits, k=count))

    def _letters(self, count: int) -> str:
        return "".join(self._rng.choices(string.ascii_uppercase, k=count))


def write_sentences(count: int, seed: int) -> Iterator[Example]:
    """Yield labelled sentences, the languages in turn; some are texts of several sentences."""
    rng = random.Random(seed)
    native = [Writer(language, rng) for language in LANGUAGES]
    writers = [Writer(language, rng, lambda: rng.choice(native)) for language in LANGUAGES]
    for i in range(count):
        writer = writers[i % len(writers)]
        sentences = [writer.write() for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        text, parts = "", []
        for sentence in sentences:
            text += rng.choice((" ", " ", "\n")) if text else ""
            parts += [(len(text) + s, len(text) + e, labels) for s, e, labels in sentence.parts]
            text += sentence.text
        yield Example(text, tuple(parts))
