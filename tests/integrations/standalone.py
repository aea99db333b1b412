"""Load the files that users install, as programs do that lack this project."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from scripts.release.integrations import INTEGRATIONS, PACKAGES, bundle

__all__ = ["load", "read"]


@cache
def read(name: str) -> str:
    """Return the text of an integration's file."""
    (path,) = (path for path in INTEGRATIONS if path.stem == name)
    return bundle(path)


@contextmanager
def load(name: str, others: dict[str, ModuleType] | None = None) -> Iterator[ModuleType]:
    """Import an integration's file while this project cannot be imported.

    Args:
        others: modules of the program that loads it, by their names.
    """
    hidden = [each for each in sys.modules if each.partition(".")[0] in PACKAGES]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.py")
        path.write_text(read(name), "utf-8")
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        # `None` in `sys.modules` makes an import fail.
        absent = dict.fromkeys([*hidden, *PACKAGES])
        with patch.dict(sys.modules, {**absent, **(others or {}), name: module}):  # type: ignore[dict-item]
            spec.loader.exec_module(module)
            yield module
