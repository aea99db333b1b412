"""Write code, configuration and logs from templates of the project's own.

`templates/code.txt` has blocks between lines `%%`; `«name»` stands for an identifier or a word.
Nothing in a block is private, but after the line `%% positive` names stand in strings, comments
and values, and are labelled. The project's own files are read, too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from detector.corpora import LABELS, Example
from detector.sentences import ARTICLE, FOLDER, LENGTHS, join, make_writers, read_templates
from detector.sentences import LABELS as SLOTS

__all__ = ["CodeWriter", "read_own_files", "write_code", "write_mixed"]

ROOT = Path(__file__).resolve().parents[2]
OWN = ("perturb", "proxy", "extraction", "scripts", "deploy", "examples")
PIECE = 1200  # characters of an own file that are read at once
POSITIVE = 0.35  # of all blocks
# Words in the names of classes, which the lists of words do not have.
ROLES = (
    *("Service", "Controller", "Factory", "Repository", "Manager", "Handler", "Client", "Error"),
    *("Exception", "Builder", "Config", "Request", "Response", "View", "Model", "Parser", "Store"),
    *("Provider", "Adapter", "Listener", "Queue", "Worker", "Entity", "Dto", "Impl", "Test", ""),
)
SHORT = (
    *("src", "util", "core", "api", "auth", "db", "io", "net", "ui", "cli", "log", "tmp", "idx"),
    *(
        "ctx",
        "cfg",
        "req",
        "res",
        "buf",
        "len",
        "ptr",
        "val",
        "key",
        "obj",
        "args",
        "opts",
        "data",
    ),
)
_SLOT = re.compile(r"«(\w+)»")


class CodeWriter:
    """Write blocks of code.

    Args:
        rng: decides everything.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._people = make_writers(rng)
        lists, _ = read_templates("ordinary-en")
        self._nouns, self._verbs = lists["noun"], [verb.lower() for verb in lists["verb"]]
        self._adjectives = lists["adj"]
        text = (FOLDER / "code.txt").read_text("utf-8")
        plain, _, positive = text.partition("%% positive\n")
        self._plain = [block.strip("\n") for block in plain.split("%%\n") if block.strip()]
        self._positive = [block.strip("\n") for block in positive.split("%%\n") if block.strip()]

    def write(self) -> Example:
        """Return a block with its labelled parts."""
        rng = self._rng
        blocks = self._positive if rng.random() < POSITIVE else self._plain
        template = rng.choice(blocks)
        people = rng.choice(self._people)
        pools: dict[str, list[str]] = {}  # code uses few identifiers, each several times
        pieces: list[str] = []
        parts: list[tuple[int, int, tuple[str, ...]]] = []
        length = end = 0
        for slot in _SLOT.finditer(template):
            before, name = template[end : slot.start()], slot[1]
            if label := SLOTS.get(name):
                value = people.fill(name)
                start = length + len(before)
                article = ARTICLE.match(value) if label != "PERSON" else None
                begin = start + (article.end() if article else 0)
                parts.append((begin, start + len(value), (label,)))
            else:
                pool = pools.setdefault(name, [])
                if len(pool) < 3 or rng.random() < 0.1:
                    pool.append(self._fill(name))
                value = rng.choice(pool)
            pieces += before, value
            length += len(before) + len(value)
            end = slot.end()
        return Example("".join([*pieces, template[end:]]), tuple(parts))

    def _fill(self, name: str) -> str:
        rng = self._rng
        words = [
            rng.choice(rng.choice((self._nouns, self._nouns, self._adjectives, SHORT)))
            for _ in range(rng.choice((1, 1, 2)))
        ]
        words = [word.replace("-", "") for word in words]
        verb = rng.choice(self._verbs)
        make: dict[str, Callable[[], str]] = {
            "Class": lambda: "".join(map(str.capitalize, words)) + rng.choice(ROLES),
            "camel": lambda: words[0] + "".join(map(str.capitalize, words[1:])),
            "var": lambda: "_".join(words),
            "func": lambda: "_".join((verb, *words)),
            "func2": lambda: "-".join(words),
            "mod": lambda: words[0],
            "CONST": lambda: "_".join(words).upper(),
            "noun": lambda: rng.choice(self._nouns),
            "Noun": lambda: rng.choice(self._nouns).capitalize(),
            "adj": lambda: rng.choice(self._adjectives),
            "Adj": lambda: rng.choice(self._adjectives).capitalize(),
            "verb": lambda: verb,
            "Verb": verb.capitalize,
            "verb3": lambda: f"{verb}s",
            "a1": lambda: rng.choice("abcdeptux"),
            "a2": lambda: rng.choice("abcdeptux") + rng.choice("12"),
            "n": lambda: str(rng.choice((0, 1, 5, 10, 80, 404, 8080, rng.randint(2, 9999)))),
            "d": lambda: str(rng.randint(1, 9)),
            "hex": lambda: f"{rng.getrandbits(28):07x}",
        }
        return make[name]()


def write_code(count: int, seed: int) -> Iterator[Example]:
    """Yield blocks of code and the like with their labelled parts."""
    writer = CodeWriter(random.Random(f"code{seed}"))
    for _ in range(count):
        yield writer.write()


def write_mixed(count: int, seed: int) -> Iterator[Example]:
    """Yield texts of sentences of all kinds and a block of code."""
    rng = random.Random(f"mixed{seed}")
    writers = [make_writers(rng, kind) for kind in ("", "chat", "ordinary")]
    code = CodeWriter(rng)
    for _ in range(count):
        language = rng.choice((0, 0, 0, 1, 2, 3))
        pieces = [rng.choice(writers)[language].write() for _ in range(rng.choice(LENGTHS))]
        pieces.insert(rng.randint(0, len(pieces)), code.write())
        yield join(pieces, rng)


def read_own_files(count: int, seed: int) -> Iterator[Example]:
    """Yield pieces of the project's own files, in which nobody is named.

    A word of the lists of names may have any label: examples name people.
    """
    rng = random.Random(f"own{seed}")
    texts, names = _list_own_files(), _list_names()
    for _ in range(count):
        text = rng.choice(texts)
        start = rng.randrange(max(len(text) - PIECE, 1))
        start = text.rfind("\n", 0, start) + 1
        piece = text[start : start + PIECE]
        words = (m for m in re.finditer(r"[^\W\d_]+", piece) if m[0] in names)
        yield Example(piece, tuple((*m.span(), LABELS) for m in words))


@cache
def _list_names() -> frozenset[str]:
    lists = [read_templates(language)[0] for language in ("en", "de", "fr", "es")]
    kinds = ("first", "last", "city", "country", "region", "orgname")
    return frozenset(
        word
        for each in lists
        for kind in kinds
        for name in each[kind]
        for word in name.split()
        if word[0].isupper()
    )


@cache
def _list_own_files() -> tuple[str, ...]:
    files = (
        path
        for folder in OWN
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".yaml", ".yml", ".sh", ".toml", ".js", ".ts")
        and not {"patterns", "templates", "everyday", "data"}.intersection(path.parts)
    )
    return tuple(path.read_text("utf-8") for path in files)
