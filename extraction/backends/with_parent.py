"""Run a command that ends when the process that started it does.

    python extraction/backends/with_parent.py PARENT COMMAND [ARGUMENT …]

A separate program that needs only the standard library: code that runs between fork and exec can
wait forever for a lock that one of the parent's threads held.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

__all__ = ["command_with_parent", "main"]

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
CANNOT_RUN = 127  # the status that shells use


def command_with_parent(command: tuple[str, ...]) -> list[str]:
    """Return a command that runs `command` and ends it together with this process."""
    # Isolated and without site packages, it starts fast in any environment.
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def main(arguments: list[str]) -> int:
    """Replace this process with the command. Return a status if the parent is gone or the
    command cannot be run."""
    parent, *command = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):  # the parent ended before prctl was called
        return 0
    try:
        os.execvp(command[0], command)  # noqa: S606  (no shell is wanted)
    except OSError as exc:
        print(f"cannot run `{command[0]}` ({exc.strerror})", file=sys.stderr)
        return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
