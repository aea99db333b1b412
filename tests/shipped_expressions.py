"""Every regular expression of the product, and texts that are hostile to one, made from itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Iterator
from functools import cache, partial
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import regex

import extraction
import perturb
import proxy
from perturb.selective.patterns.shape import AllClues, AnyClue, Lazy, Match, Shape
from perturb.text.search import Expression

PATTERNS = (re.Pattern, type(regex.compile("")))
PACKAGES = (perturb, extraction, proxy)
# Characters of which a class is sampled, the first that fits: letters last, so that a run of them
# also meets look-behinds for words.
PROBES = " -._/@:,'\"=+&<\\(\n10aAzZäЖ李\u00ad\u0301"
MOST_SEQUENCES = 100  # of one expression
LONG = 20  # repetitions from which a run may be as long as a text
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


@cache
def find_modules() -> tuple[types.ModuleType, ...]:
    """Return the modules of the product that can be imported here; extras may be missing."""
    found = []
    for package in PACKAGES:
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not info.name.endswith(".__main__") and ".migrations." not in info.name:
                try:
                    found.append(importlib.import_module(info.name))
                except ImportError:
                    continue
    return tuple(found)


@cache
def find_expressions() -> dict[str, Any]:
    """Return the expressions by name: of modules, classes, containers, closures and shapes, and
    those that a call such as `re.sub` spells where it is made."""
    found: dict[tuple[Any, int], tuple[str, Any]] = {}
    for module in find_modules():
        for name, value in list(vars(module).items()):
            own = getattr(value, "__module__", module.__name__) == module.__name__
            if own or not isinstance(value, (type, types.FunctionType)):
                for pattern in _walk(value, set()):
                    place = f"{module.__name__}.{name}"
                    found.setdefault((pattern.pattern, pattern.flags), (place, pattern))
        for place, pattern in _find_spelled(module):
            found.setdefault((pattern.pattern, pattern.flags), (place, pattern))
    named: dict[str, Any] = {}
    for place, pattern in found.values():
        again = sum(name.partition("[")[0] == place for name in named)
        named[f"{place}[{again}]" if again else place] = pattern
    return named


def _walk(value: Any, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    inner: list[Any] = []
    if isinstance(value, PATTERNS):
        yield value
    elif isinstance(value, Lazy):
        yield value.compiled
    elif isinstance(value, Expression):
        yield regex.compile(value.pattern)
    elif isinstance(value, Shape):
        inner = [value.pattern, value.clue, value.passes]
    elif isinstance(value, (AllClues, AnyClue, Match)):
        inner = list(vars(value).values())
    elif isinstance(value, (tuple, list, set, frozenset)) and len(value) < 1000:
        inner = list(value)
    elif isinstance(value, dict) and len(value) < 1000:
        inner = list(value.values())
    elif isinstance(value, types.FunctionType):
        inner = [cell.cell_contents for cell in value.__closure__ or ()]
    elif isinstance(value, types.BuiltinFunctionType):  # the bound method of an expression
        inner = [value.__self__] if isinstance(value.__self__, PATTERNS) else []
    elif isinstance(value, partial):
        inner = [value.func, *value.args, *value.keywords.values()]
    elif isinstance(value, type):
        inner = list(vars(value).values())
    for each in inner:
        yield from _walk(each, seen)


def _find_spelled(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    for node in ast.walk(_read_source(module)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in ("re", "regex")
            and node.func.attr in ("sub", "split", "search", "findall", "finditer")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield f"{module.__name__}:{node.func.attr}", re.compile(node.args[0].value)


@cache
def _read_source(module: types.ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


@cache
def _find_calls() -> dict[str, set[tuple[str, str, int]]]:
    """Return, by the name before the dot, the modules, methods and numbers of arguments of all
    calls of methods in the product."""
    calls: dict[str, set[tuple[str, str, int]]] = {}
    for module in find_modules():
        for node in ast.walk(_read_source(module)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
            ):
                call = module.__name__, node.func.attr, len(node.args)
                calls.setdefault(node.func.value.id, set()).add(call)
    return calls


def is_anchored(name: str) -> bool:
    """Tell if the product only matches an expression with a text from its beginning."""
    home, _, own = name.partition("[")[0].rpartition(".")
    used = {
        (method, arguments)
        for module, method, arguments in _find_calls().get(own, ())
        if module == home or not own.startswith("_")
    }
    return bool(used) and used <= {("fullmatch", 1), ("match", 1)}


def make_units(pattern: Any) -> dict[str, str]:
    """Return units of hostile texts for an expression: each is the beginning of a match, to be
    repeated, with what may be repeated after it."""
    flags = pattern.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE)
    source = pattern.pattern
    if isinstance(source, bytes):
        source = source.decode("latin-1")
    try:
        tree = _parser.parse(source, flags)
    except re.error:  # the syntax of `regex`
        return {}
    units: dict[str, str] = {}
    for items in _read_sequences(list(tree)):
        beginning = ""
        for item in items:
            if run := _sample_run(item):
                units[beginning + run] = units[beginning] = run
            beginning += _sample([item])
            units.setdefault(beginning, "")
    units.pop("", None)
    return units


def _read_sequences(items: list[Any]) -> list[list[Any]]:
    """Return the sequences in which an expression can match: one for each alternative that holds
    a long repetition, and for the first of the others."""
    made: list[list[Any]] = [[]]
    for kind, value in items:
        if kind is op.BRANCH:
            chosen = [list(each) for each in value[1]]
            long = [each for each in chosen if _is_long(each)]
            parts = [each for inner in (long or chosen[:1]) for each in _read_sequences(inner)]
        elif kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
            parts = _read_sequences(list(value[-1] if kind is op.SUBPATTERN else value))
        else:
            parts = [[(kind, value)]]
        made = [[*begun, *part] for begun in made for part in parts][:MOST_SEQUENCES]
    return made


def _is_long(items: list[Any]) -> bool:
    """Tell if an expression holds a repetition of `LONG` times or more."""
    for kind, value in items:
        inner: list[list[Any]] = []
        if kind in REPEATS:
            if value[1] >= LONG:
                return True
            inner = [list(value[2])]
        elif kind is op.BRANCH:
            inner = [list(each) for each in value[1]]
        elif kind is op.SUBPATTERN:
            inner = [list(value[-1])]
        elif kind is op.ATOMIC_GROUP:
            inner = [list(value)]
        if any(map(_is_long, inner)):
            return True
    return False


def _sample_run(item: Any) -> str:
    """Return what a quantifier repeats."""
    kind, value = item
    return _sample(list(value[2])) if kind in REPEATS and value[1] >= LONG else ""


def _sample(items: list[Any]) -> str:
    made = ""
    for kind, value in items:
        if kind is op.LITERAL:
            made += chr(value)
        elif kind in (op.IN, op.ANY, op.NOT_LITERAL, op.CATEGORY):
            made += _sample_class(kind, value)
        elif kind in REPEATS:
            made += _sample(list(value[2])) * max(1, min(value[0], 64))
        elif kind is op.BRANCH:
            made += _sample(list(value[1][0]))
        elif kind is op.SUBPATTERN:
            made += _sample(list(value[-1]))
        elif kind is op.ATOMIC_GROUP:
            made += _sample(list(value))
    return made


def _sample_class(kind: Any, value: Any) -> str:
    if kind is op.ANY:
        return "-"
    inside = value if kind is op.IN else [(kind, value)]
    fitting = [c for c in PROBES if _fits(inside, c)]
    for part, of in inside:  # a class of characters that no probe has
        if not fitting and part in (op.LITERAL, op.RANGE):
            return chr(of if part is op.LITERAL else of[0])
    return fitting[0] if fitting else "a"


def _fits(inside: Any, char: str) -> bool:
    negated, met = False, False
    for kind, value in inside:
        if kind is op.NEGATE:
            negated = True
        elif kind is op.NOT_LITERAL:
            met = met or ord(char) != value
        elif kind is op.LITERAL:
            met = met or ord(char) == value
        elif kind is op.RANGE:
            met = met or value[0] <= ord(char) <= value[1]
        elif kind is op.CATEGORY:
            met = met or _CATEGORIES[value](char)
    return met is not negated


_CATEGORIES = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    op.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    op.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}
