"""Write labelled sentences from the templates of the project's own, in four languages.

A template file has lists, `[name] one|two|three`, and the sections `[templates]` and `[plain]`,
a sentence a line. `{name}` stands for an entry of a list or one of the parts made here; `{Name}`
and `{NAME}` stand for the same in capitals, `{name_low}` in small letters.

`en.txt` and its like are formal texts, `chat-en.txt` what people ask a chat model about people
they know, `ordinary-en.txt` texts of which nothing is private. Code is in `detector.code`.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from detector.corpora import Example

__all__ = [
    "ARTICLE",
    "FOLDER",
    "LABELS",
    "LANGUAGES",
    "LENGTHS",
    "Writer",
    "join",
    "make_writers",
    "read_templates",
    "write_sentences",
]

FOLDER = Path(__file__).parent / "templates"
LANGUAGES = ("en", "de", "fr", "es")
PLAIN = 0.2  # of all sentences
LENGTHS = (1, 1, 1, 2, 3)  # sentences of a text
LABELS = {
    **dict.fromkeys(("person", "titled", "first", "last"), "PERSON"),
    **dict.fromkeys(("city", "region", "country", "street", "address"), "LOCATION"),
    **dict.fromkeys(("org",), "ORGANIZATION"),
    **dict.fromkeys(("date", "duration", "weekday"), "DATE_TIME"),
    **dict.fromkeys(("age", "profession", "nationality", "illness"), "DEMOGRAPHIC"),
    **dict.fromkeys(("amount", "quantity"), "QUANTITY"),
    **dict.fromkeys(("id", "case", "iban", "phone", "email"), "ID"),
    "work": "OTHER_NAME",
    **dict.fromkeys(("cjk", "cyr", "arab", "heb"), "PERSON"),
    "birth": "DATE_TIME",
}
# In ordinary texts a date is not private, and a record may have it marked nevertheless.
ORDINARY: dict[str, tuple[str, ...]] = dict.fromkeys(("weekday", "month"), ("O", "DATE_TIME"))
# An article before a name is not a part of it.
ARTICLE = re.compile(r"(?:the|die|das|der|dem|la|le|les|el|los|las) |l'|§ ", re.IGNORECASE)
_SLOT = re.compile(r"\{(\w+)\}")
MADE = (
    *("person", "titled", "org", "address", "phone", "email", "iban", "id", "case"),
    *("d", "m", "y", "h", "mi", "a", "n", "op", "birth"),
)


def read_templates(name: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the lists and the sections of a file of templates."""
    lists: dict[str, list[str]] = {}
    sections: dict[str, list[str]] = {}
    section = ""
    for line in (FOLDER / f"{name}.txt").read_text("utf-8").splitlines():
        head, _, rest = line.partition("] ")
        if line.endswith("]") and line.startswith("["):
            section = line[1:-1]
            sections[section] = []
        elif not section and line.startswith("[") and rest:
            lists[head[1:]] = rest.split("|")
        elif line:
            sections[section].append(line)
    return lists, sections


class Writer:
    """Write sentences of one language.

    Args:
        rng: decides everything.
        foreign: another language's writer, whose people and places appear, too.
    """

    def __init__(
        self,
        language: str,
        rng: random.Random,
        foreign: Callable[[], Writer] | None = None,
        kind: str = "",
    ) -> None:
        self._rng, self._foreign = rng, foreign
        lists, self._sections = read_templates(language)
        self._lists = read_templates("surnames")[0] | lists
        self._labels: dict[str, tuple[str, ...]] = {s: (label,) for s, label in LABELS.items()}
        if kind:
            lists, self._sections = read_templates(f"{kind}-{language}")
            self._lists |= lists
        if kind == "ordinary":
            self._labels = ORDINARY
        names = (*self._lists, *MADE)
        self._folded = {name.casefold(): name for name in names}

    def write(self) -> Example:
        """Return a sentence with its labelled parts."""
        if "plain" in self._sections and self._rng.random() < PLAIN:
            return Example(self._rng.choice(self._sections["plain"]), ())
        template = self._rng.choice(self._sections["templates"])
        pieces: list[str] = []
        parts: list[tuple[int, int, tuple[str, ...]]] = []
        length = end = 0
        for slot in _SLOT.finditer(template):
            before, value = template[end : slot.start()], self.fill(slot[1])
            pieces += before, value
            length += len(before)
            name = slot[1].removesuffix("_low").casefold()
            if labels := self._labels.get(name):
                article = ARTICLE.match(value)
                start = length + (article.end() if article and labels != ("PERSON",) else 0)
                parts.append((start, length + len(value), labels))
            length += len(value)
            end = slot.end()
        return Example("".join([*pieces, template[end:]]), tuple(parts))

    def fill(self, slot: str) -> str:
        """Return what stands for a slot."""
        rng = self._rng
        if self._foreign and slot in ("first", "last", "city") and rng.random() < 0.25:
            return self._foreign().fill(slot)
        # Surnames are also put together, so that no list of them can be learnt by heart.
        if slot == "last" and rng.random() < 0.25:
            return rng.choice(self._lists["stem"]) + rng.choice(self._lists["ending"])
        if slot in self._lists:
            return self._expand(rng.choice(self._lists[slot]))
        if slot not in MADE:
            return self._fill_in_form(slot)
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
            "op": lambda: rng.choice("+-*/×÷^%"),
            "birth": self._birth,
        }
        return make[slot]()

    def _fill_in_form(self, slot: str) -> str:
        """Return what stands for a slot whose name says the form, such as `Noun` or `noun_low`."""
        low = slot.endswith("_low")
        name = slot.removesuffix("_low").rstrip("2")
        value = self.fill(self._folded[name.casefold()])
        if low or name.islower():
            return value.lower()
        return value.upper() if name.isupper() else value[:1].upper() + value[1:]

    def _birth(self) -> str:
        d, m, y = self._rng.randint(1, 28), self._rng.randint(1, 12), self._rng.randint(1930, 2018)
        month = self._rng.choice(self._lists.get("month", ["May"]))
        forms = (f"{d:02}.{m:02}.{y}", f"{m}/{d}/{y}", f"{y}-{m:02}-{d:02}", f"{d} {month} {y}")
        return self._rng.choice(forms)

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


def write_sentences(count: int, seed: int, kind: str = "") -> Iterator[Example]:
    """Yield labelled sentences, the languages in turn; some are texts of several sentences.

    Args:
        kind: "" for formal texts, "chat" or "ordinary".
    """
    rng = random.Random(f"{kind}{seed}" if kind else seed)
    writers = make_writers(rng, kind)
    # Chats are in English more often.
    order = (0, 1, 0, 2, 0, 3) if kind else range(len(LANGUAGES))
    for i in range(count):
        writer = writers[order[i % len(order)]]
        yield join([writer.write() for _ in range(rng.choice(LENGTHS))], rng)


def make_writers(rng: random.Random, kind: str = "") -> list[Writer]:
    """Return a writer for each language; people and places of the others appear, too."""
    native = [Writer(language, rng) for language in LANGUAGES]
    return [Writer(language, rng, lambda: rng.choice(native), kind) for language in LANGUAGES]


def join(pieces: Sequence[Example], rng: random.Random) -> Example:
    """Return one text of several."""
    text = ""
    parts: list[tuple[int, int, tuple[str, ...]]] = []
    for piece in pieces:
        text += rng.choice((" ", " ", "\n")) if text else ""
        parts += [(len(text) + s, len(text) + e, labels) for s, e, labels in piece.parts]
        text += piece.text
    return Example(text, tuple(parts))
