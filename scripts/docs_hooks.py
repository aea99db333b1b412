"""MkDocs hooks that turn the repository's own Markdown files into pages of the site.

Links are written so that they work in the repository (`docs/ledger.md` in README.md,
`../THREAT_MODEL.md` in docs/ledger.md) and rewritten here for the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

__all__ = ["PAGES", "on_files", "on_page_markdown", "rewrite"]

ROOT = Path(__file__).parents[1]
FOLDER = "docs"
PAGES = {
    "README.md": "index.md",
    "THREAT_MODEL.md": "threat-model.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
_SOURCES = {page: source for source, page in PAGES.items()}
_LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:|#|/)([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the repository's own files to those of docs/."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point a page's links at the site's pages."""
    return rewrite(markdown, page.file.src_uri)


def rewrite(markdown: str, page: str) -> str:
    """Return a page's Markdown with its links rewritten for the site.

    A link to a file of the repository that is not a page is replaced with its text. A broken link
    is left unchanged and fails the strict build.

    Args:
        page: the page's path in the site, such as `reference/perturb.md`.
    """
    source = _SOURCES.get(page, posixpath.join(FOLDER, page))

    def link(match: re.Match[str]) -> str:
        text, target, fragment = match.groups(default="")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        there = PAGES.get(path) or path.removeprefix(f"{FOLDER}/")
        if there != path:
            there = posixpath.relpath(there, posixpath.dirname(page) or ".")
            return f"[{text}]({there}{fragment})"
        return text if (ROOT / path).exists() else match[0]

    return _LINK.sub(link, markdown)
