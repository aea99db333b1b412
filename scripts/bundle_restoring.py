"""Copy what restores answers into the files of `integrations/` that stand alone.

    python scripts/bundle_restoring.py

Open WebUI and LiteLLM load one file each, beside which the proxy's packages are not installed.
"""

from __future__ import annotations

import ast
from pathlib import Path

__all__ = ["BEGIN", "END", "TARGETS", "bundle", "main", "place"]

ROOT = Path(__file__).parents[1]
RESTORING = ROOT / "proxy" / "restoring"
SOURCES = (  # each needs those before it
    ROOT / "perturb" / "text" / "prefixes.py",
    ROOT / "extraction" / "addresses.py",
    RESTORING / "forms.py",
    RESTORING / "text.py",
    RESTORING / "json_text.py",
    ROOT / "integrations" / "way_back.py",
)
TARGETS = tuple(
    ROOT / "integrations" / name
    for name in ("open-webui/inferdpt_filter.py", "litellm/inferdpt_guardrail.py")
)
BEGIN = "# Copied by scripts/bundle_restoring.py; change the originals.\n"
END = "# End of the copy.\n"


def bundle() -> str:
    """Return the bodies of the modules, without their imports."""
    parts = []
    for path in SOURCES:
        source = path.read_text("utf-8")
        lines = source.splitlines(keepends=True)
        first = next(node for node in ast.parse(source).body if _stays(node))
        start = first.lineno
        while lines[start - 2].startswith("#"):
            start -= 1
        parts.append("".join(lines[start - 1 :]))
    return "\n\n".join(parts)


def place(text: str) -> str:
    """Return a file's text with the modules between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{bundle()}\n\n{END}{after}"


def _stays(node: ast.stmt) -> bool:
    """Tell if a statement is none of those at the head of a module."""
    named = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    return not named and not isinstance(node, ast.Expr | ast.Import | ast.ImportFrom)


def main() -> None:
    """Write the modules into every file."""
    for path in TARGETS:
        path.write_text(place(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
