"""The language of the code base: a docstring begins with a verb in the imperative.

A docstring of a test, a module or a private name may be a noun phrase or a sentence that states a
property. None has a clause with *what*, *whose* or *whether* as its subject.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("perturb", "extraction", "proxy", "benchmarks")
BESIDE = ("examples", "scripts", "tests")

_VERBS = """
    accept account accumulate add admit adopt align allow analyse answer append apply
    approximate ask assemble assert assign attach attack audit authenticate authorise bill bind
    block bound bring build calculate calibrate call cancel carry change charge check choose
    claim classify clean clear clip close collect combine commit compare compile complete
    compose compute configure connect consume continue convert copy correct count create cut deal
    decide decode decrypt define delete deliver derive describe detect discard disclose display
    divide draft draw drop dump embed encode encrypt end enforce enter erase escape estimate
    evaluate exchange exclude execute expand explain expose extend extract fetch fill filter
    find finish fit flag flush fold follow forget format generate get give grant group guard
    guess handle hash hide hold identify ignore implement import include increment infer
    inspect install interpolate invert issue iterate join judge keep know label leave let lift
    limit link list listen load lock log look lower make map mark match measure merge migrate
    mix move name normalise normalize note number observe obtain offer open optimize order pack
    pair paraphrase parse partition pass perturb pick place plan plant play point pool predict
    prefer prepare print process prove provide publish purge put raise rank read receive
    recognise recognize record redact redraw reduce refuse refute register reject relate relay
    release reload remember remove rename render repeat replace replay report represent request
    require reserve reset resolve respond restart restore restrict resume retry return reveal
    revoke rewrite roll rotate round route run sample sanitise sanitize save say scale scan
    schedule score search see seed select send separate serialise serialize serve set settle
    shorten show shuffle shut sign signal sleep solve sort spell spend split start state stop
    store stream strip subtract suggest sum supervise supply support sweep switch take talk
    tell test tie time tokenize total trace track train translate treat trim truncate try turn
    unpack update upgrade use validate verify wait walk warn watch weigh widen wrap write yield
"""
VERBS = frozenset(_VERBS.split())
CLAUSES = frozenset(
    ["What", "Whose", "Whether", "How", "Which", "Where", "When", "Who", "It", "Those"]
)


def names(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def public(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Names and docstrings of the public definitions in a module or a class."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.If, ast.Try, ast.With)):
            yield from public(child)
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if child.name.startswith(("_", "test_")):  # a test states a property
            continue
        if text := ast.get_docstring(child):
            yield child.name, text
        if isinstance(child, ast.ClassDef):
            yield from ((f"{child.name}.{name}", text) for name, text in public(child))


def begins_with_verb(docstring: str) -> bool:
    found = re.match(r"[A-Z][a-z-]+(?=[\s,:.])", docstring)
    return found is not None and found[0].lower() in VERBS


def offenders(source: str) -> list[str]:
    found = [
        (name, text) for name, text in public(ast.parse(source)) if not begins_with_verb(text)
    ]
    return [f"{name}: {text.splitlines()[0]}" for name, text in found]


def every(source: str) -> Iterator[str]:
    """Every docstring of a module: its own, and those of tests and private names too."""
    kinds = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield text


def clauses(source: str) -> list[str]:
    """The first lines of docstrings that begin with a clause or with a pronoun."""
    return [text.splitlines()[0] for text in every(source) if text.split()[0] in CLAUSES]


MODULES = {
    names(path, ROOT): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_begin_with_a_verb(name):
    assert offenders(MODULES[name].read_text("utf-8")) == []


@pytest.mark.parametrize(
    "opener",
    [
        "What leaves.",
        "Whose it is.",
        "Whether it is.",
        "How many there are.",
        "The table.",
        "A table.",
        "Returns the table.",
        "Perturbs a text.",
        "JSON-ready.",
        "`x` and y.",
        "ε of one token.",
        "Every experiment.",
    ],
)
def test_a_planted_opener_is_caught(opener):
    assert offenders(f'def planted():\n    """{opener}"""')
    assert offenders(f'class Planted:\n    """{opener}"""')
    assert offenders(f'class A:\n    def planted(self):\n        """{opener}"""')
    assert not offenders(f'def _private():\n    """{opener}"""')


def test_no_docstring_begins_with_a_clause_or_a_pronoun():
    found = {
        str(path.relative_to(ROOT)): lines
        for folder in (*PACKAGES, *BESIDE)
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (lines := clauses(path.read_text("utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize("opener", sorted(CLAUSES))
def test_a_planted_clause_is_caught_anywhere(opener):
    text = f'"""{opener} is here."""'
    for planted in (
        text,
        f"def test_x():\n    {text}",
        f"async def _x():\n    {text}",
        f"class TestX:\n    {text}",
        f"class TestX:\n    def test_x(self):\n        {text}",
        f"def x():\n    def y():\n        {text}",
    ):
        assert clauses(planted) == [f"{opener} is here."]
    assert clauses('"""Whatever is here."""') == []
