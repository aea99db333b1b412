"""Write the bill of materials of the image's Python packages, in CycloneDX's format.

    python -m scripts.release.sbom           # into build/sbom/

The extras of deploy/Containerfile are installed into an environment of its own, from the files
whose hashes are in deploy/requirements.txt, and cyclonedx-py lists it. A package that is
needed and not listed at its pinned version is an error.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["describe", "find_faults", "list_needed", "main", "read_extras", "read_pins"]

ROOT = Path(__file__).parents[2]
FILES = ROOT / "deploy" / "requirements.txt"  # with hashes, see scripts/release/hashes.py
OUT = ROOT / "build" / "sbom" / "inferdpt.cdx.json"
NAME = "inferdpt"


def read_extras(text: str) -> list[str]:
    """Return the extras that the image installs by default, from the text of its file."""
    found = re.search(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)
    if found is None:
        raise ValueError("deploy/Containerfile: there is no line ARG EXTRAS=…")
    return found[1].split(",")


def read_pins(text: str) -> dict[str, str]:
    """Return the pinned versions by canonical name, from the text of constraints.txt."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    pairs = (line.split("==") for line in lines if "==" in line)
    return {canonicalize_name(name): version for name, version in pairs}


def list_needed(
    requires: Mapping[str, Sequence[str]], name: str, extras: Iterable[str]
) -> set[str]:
    """Return the canonical names of a package and of everything that it needs here.

    Args:
        requires: the requirements of each installed package, by canonical name.
        name: of the package.
        extras: of its extras.
    """
    needed: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [(canonicalize_name(name), extra) for extra in ("", *extras)]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        package, extra = each
        needed.add(package)
        for line in requires.get(package, ()):
            found = Requirement(line)
            if found.marker is None or found.marker.evaluate({"extra": extra}):
                other = canonicalize_name(found.name)
                waiting += [(other, one) for one in ("", *found.extras)]
    return needed


def describe(python: Path, out: Path) -> dict[str, Any]:
    """Write the bill of the environment of an interpreter, and return it.

    The tool checks it against CycloneDX's schema. Times and random names are left out.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
    options = ["--pyproject", str(ROOT / "pyproject.toml"), "--output-file", str(out)]
    subprocess.run([*command, *options, str(python)], check=True, capture_output=True)
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return found


def find_faults(
    bill: Mapping[str, Any], needed: Iterable[str], pins: Mapping[str, str]
) -> list[str]:
    """Return a line for each package that is needed and missing, or not at its pinned version."""
    listed: dict[str, str] = {
        canonicalize_name(each["name"]): each["version"] for each in bill["components"]
    }
    faults = []
    for name in sorted(set(needed) - {NAME}):
        if name not in listed:
            faults.append(f"{name} is missing")
        elif name not in pins:
            faults.append(f"{name} has no pinned version in constraints.txt")
        elif listed[name] != pins[name]:
            faults.append(f"{name} is {listed[name]}, constraints.txt has {pins[name]}")
    return faults


def main(argv: Sequence[str] | None = None) -> int:
    """Write the bill; return 1 if a package is missing in it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(argv)
    extras = read_extras((ROOT / "deploy" / "Containerfile").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        wanted = f"{ROOT}[{','.join(extras)}]"
        files = str(Path(folder, "files"))
        fetch = ["download", "--require-hashes", "--dest", files, "-r", str(FILES)]
        subprocess.run([*pip, *fetch], check=True)
        subprocess.run([*pip, "install", "--no-index", "--find-links", files, wanted], check=True)
        (site,) = Path(folder).glob("lib/*/site-packages")
        needed = list_needed(_read_requirements([str(site)]), NAME, extras)
        subprocess.run([*pip, "uninstall", "--yes", "setuptools", "pip"], check=True)
        bill = describe(python, args.out)
    faults = find_faults(bill, needed, read_pins((ROOT / "constraints.txt").read_text("utf-8")))
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(bill['components'])} packages in {args.out}")
    return 1 if faults else 0


def _read_requirements(path: list[str]) -> dict[str, list[str]]:
    """Return the requirements of the packages in the folders of a path, by canonical name."""
    return {
        canonicalize_name(each.metadata["Name"]): each.requires or []
        for each in importlib.metadata.distributions(path=path)
    }


if __name__ == "__main__":
    sys.exit(main())
