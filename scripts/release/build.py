"""Build the wheel and the source distribution, byte for byte the same from the same files.

    python -m scripts.release.build           # into dist/
    python -m scripts.release.build --out FOLDER

Times are those of $SOURCE_DATE_EPOCH, else of the last commit. The wheel is built from the source
distribution. The tools are those of this environment: scripts/release/requirements.txt pins them,
with their hashes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

__all__ = ["build", "main", "normalize"]

ROOT = Path(__file__).parents[2]
VARIABLE = "SOURCE_DATE_EPOCH"
ZIP_BEGINS = 315_532_800  # 1980-01-01: a wheel cannot hold an earlier time


def build(tree: Path, out: Path, epoch: int) -> list[Path]:
    """Build a tree of files into a folder; return the source distribution and the wheel.

    Args:
        epoch: the time of every file, in seconds since 1970.
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made, unpacked = Path(folder, "made"), Path(folder, "unpacked")
        _run("--sdist", tree, made, epoch)
        (raw,) = made.iterdir()
        archive = out / raw.name
        archive.write_bytes(normalize(raw.read_bytes(), epoch))
        with tarfile.open(archive) as tar:
            # Python before 3.11.4 has no filters.
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            tar.extractall(unpacked)
        (source,) = unpacked.iterdir()
        _run("--wheel", source, out, epoch)
    (wheel,) = out.glob(f"{archive.name.removesuffix('.tar.gz')}-*.whl")
    return [archive, wheel]


def normalize(data: bytes, epoch: int) -> bytes:
    """Return a `.tar.gz` with its files in order, all of one time, of nobody, with plain modes."""
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as old,
        gzip.GzipFile("", "wb", fileobj=out, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            runs = member.isdir() or bool(member.mode & 0o100)
            member.mode = 0o755 if runs else 0o644
            member.mtime, member.uid, member.gid = epoch, 0, 0
            member.uname = member.gname = ""
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return out.getvalue()


def _run(kind: str, tree: Path, out: Path, epoch: int) -> None:
    """Run `python -m build`, with the modes of files that it makes fixed."""
    command = [sys.executable, "-m", "build", kind, "--no-isolation", "--outdir", str(out)]
    subprocess.run(
        [*command, str(tree)],
        check=True,
        env={**os.environ, VARIABLE: str(epoch), "PYTHONHASHSEED": "0"},
        stdout=subprocess.DEVNULL,
        umask=0o022,
    )


def _read_epoch() -> int:
    given = os.environ.get(VARIABLE)
    if given is None:
        command = ["git", "log", "-1", "--format=%ct"]
        given = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return max(int(given), ZIP_BEGINS)


def main() -> None:
    """Build this checkout."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    for path in build(ROOT, parser.parse_args().out, _read_epoch()):
        print(path)


if __name__ == "__main__":
    main()
