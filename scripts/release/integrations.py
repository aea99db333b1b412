"""Write each integration that another program loads as one file that stands alone.

    python -m scripts.release.integrations           # into build/integrations/
    python -m scripts.release.integrations --out FOLDER

Open WebUI and LiteLLM load one file each, and this project is not installed beside it. The file
holds a module of `integrations/` and every definition of this project that the module uses.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

__all__ = ["INTEGRATIONS", "bundle", "main", "write_integration"]

ROOT = Path(__file__).parents[2]
INTEGRATIONS = tuple(
    ROOT / "integrations" / name
    for name in ("open-webui/inferdpt_filter.py", "litellm/inferdpt_guardrail.py")
)
PACKAGES = frozenset(("extraction", "integrations", "perturb", "proxy"))
SAYS = "# A copy that stands alone, made of the modules named below. Change those."


class Import(NamedTuple):
    """An imported name, or a module where `name` is empty."""

    module: str
    name: str

    @property
    def package(self) -> str:
        """Return the package at the top."""
        return self.module.partition(".")[0]


@dataclass(frozen=True)
class Definition:
    """A statement at the top of a module.

    Attributes:
        line: its last one.
        source: with the comments above it.
        names: that it binds.
        used: names that it reads, local ones too.
        imported: modules from which it imports when it runs.
    """

    line: int
    source: str
    names: tuple[str, ...]
    used: frozenset[str]
    imported: frozenset[str | None]


class Module:
    """A module's imports and definitions, by name.

    Raises:
        ValueError: the module cannot be copied.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.imports: dict[str, Import] = {}
        self.renamed: set[str] = set()  # what is imported by another name
        self.definitions: dict[str, Definition] = {}
        text = path.read_text("utf-8")
        lines, tree = text.splitlines(keepends=True), ast.parse(text)
        self.docstring = ast.get_docstring(tree, clean=False)
        end = 0
        for statement in tree.body:
            start, end = end, statement.end_lineno or statement.lineno
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self.imports |= self._read_import(statement)
            elif names := _list_bound(statement):
                nodes = list(ast.walk(statement))
                definition = Definition(
                    line=end,
                    source="".join(lines[start:end]),
                    names=names,
                    used=frozenset(n.id for n in nodes if isinstance(n, ast.Name)),
                    imported=frozenset(n.module for n in nodes if isinstance(n, ast.ImportFrom)),
                )
                self.definitions |= dict.fromkeys(names, definition)
            elif not isinstance(statement, ast.Expr):
                raise ValueError(f"{path}:{end}: only imports and definitions can be copied")
        self.definitions.pop("__all__", None)

    def _read_import(self, statement: ast.Import | ast.ImportFrom) -> dict[str, Import]:
        self.renamed |= {alias.asname for alias in statement.names if alias.asname}
        names = [alias.name for alias in statement.names if not alias.asname]
        if isinstance(statement, ast.Import):
            return {name: Import(name, "") for name in names}
        return {name: Import(statement.module or "", name) for name in names}


class Bundle:
    """The definitions that a module uses, of every module, and its imports of other packages."""

    def __init__(self, path: Path) -> None:
        self._modules: dict[Path, Module] = {}
        self._origins: dict[str, Path | Import] = {}
        self._imported: dict[Path, list[Path]] = {}
        self.main = self._open(path)
        for name in self.main.definitions:
            self._add(self.main, name)

    def list_imports(self) -> list[Import]:
        """Return the imports of other packages."""
        return sorted(origin for origin in self._origins.values() if isinstance(origin, Import))

    def list_sources(self) -> Iterator[str]:
        """Yield each module's part; it follows those of the modules that it imports."""
        for path in TopologicalSorter(self._imported).static_order():
            definitions = self._modules[path].definitions
            taken = {d for name, d in definitions.items() if self._origins.get(name) == path}
            sources = "".join(d.source for d in sorted(taken, key=lambda d: d.line))
            yield f"\n# {path.relative_to(ROOT).as_posix()}\n\n{sources.lstrip()}"

    def _open(self, path: Path) -> Module:
        if path not in self._modules:
            self._modules[path] = Module(path)
            self._imported[path] = []
        return self._modules[path]

    def _add(self, module: Module, name: str) -> None:
        """Add what a name stands for in a module; nothing if it is a local or built-in one."""
        if name in module.renamed:
            raise ValueError(f"{module.path}: {name}: names must be imported as they are")
        if name in module.definitions:
            definition = module.definitions[name]
            if any((each or "").partition(".")[0] in PACKAGES for each in definition.imported):
                raise ValueError(f"{module.path}: {name} must import at the top of its module")
            new = [self._claim(bound, module.path) for bound in definition.names]
            for used in sorted(definition.used) if all(new) else ():
                self._add(module, used)
        elif name in module.imports:
            imported = module.imports[name]
            if imported.package not in PACKAGES:
                self._claim(name, imported)
                return
            other = self._open(_locate(imported.module))
            if name not in other.definitions and name not in other.imports:
                raise ValueError(f"{module.path}: {name} must be imported from its module")
            self._imported[module.path].append(other.path)
            self._add(other, name)

    def _claim(self, name: str, origin: Path | Import) -> bool:
        """Tell if a name is new.

        Raises:
            ValueError: it stands for something else already.
        """
        if name not in self._origins:
            self._origins[name] = origin
            return True
        if self._origins[name] != origin:
            raise ValueError(f"{name} stands for two things: {self._origins[name]}, {origin}")
        return False


def _list_bound(statement: ast.stmt) -> tuple[str, ...]:
    """Return the names that a definition binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (statement.name,)
    if isinstance(statement, ast.AnnAssign):
        return tuple(n.id for n in ast.walk(statement.target) if isinstance(n, ast.Name))
    if isinstance(statement, ast.Assign):
        targets = (node for target in statement.targets for node in ast.walk(target))
        return tuple(node.id for node in targets if isinstance(node, ast.Name))
    return ()


def _locate(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    file = path.with_suffix(".py")
    return file if file.is_file() else path / "__init__.py"


def _spell_imports(imports: Iterable[Import]) -> str:
    """Write imports, each module once."""
    lines = []
    for module, named in groupby(imports, key=lambda each: each.module):
        names = [each.name for each in named]
        lines += [f"import {module}"] if "" in names else []
        lines += [f"from {module} import {', '.join(filter(None, names))}"] if any(names) else []
    return "\n".join(lines)


def bundle(path: Path) -> str:
    """Return the text of an integration that stands alone.

    Raises:
        ValueError: a definition cannot be copied.
    """
    made = Bundle(path)
    imports = [each for each in made.list_imports() if each.module != "__future__"]
    standard = [each for each in imports if each.package in sys.stdlib_module_names]
    others = [each for each in imports if each.package not in sys.stdlib_module_names]
    parts = [f'"""{made.main.docstring}"""', SAYS, "from __future__ import annotations"]
    parts += [_spell_imports(standard), _spell_imports(others), *made.list_sources()]
    return "\n\n".join(filter(None, parts))


def write_integration(path: Path, folder: Path) -> Path:
    """Write an integration into a folder and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / path.name
    file.write_text(bundle(path), "utf-8")
    return file


def main() -> None:
    """Write every integration."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "integrations")
    folder = parser.parse_args().out
    for path in INTEGRATIONS:
        print(write_integration(path, folder))


if __name__ == "__main__":
    main()
