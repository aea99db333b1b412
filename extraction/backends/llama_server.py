"""A llama.cpp server over one GGUF file, as a child process: the `embedded` local engine.

    python -m extraction.backends.llama_server --model extraction/bundled/model.gguf --port 8101

It speaks OpenAI's HTTP API on loopback, logs nothing about requests, and ends with its parent,
so that a killed proxy leaves no model behind.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from extraction.errors import ModelFileError

__all__ = ["main", "server_parameters"]

PARENT_POLL_SECONDS = 1.0

# llama.cpp's verbosity 3 logs timings of every request, 4 and above tasks and prompts.
ERRORS_ONLY = 1

# The bundled model repeats itself. The penalty makes a word used lately less likely; DRY makes it
# unlikely that a sequence of `dry_allowed_length` tokens or more is continued as before. Models
# that can answer are harmed: a name or a number of the prompt comes back as another one.
PENALTY_REPEAT = 1.15
PENALTY_WINDOW = 128
DRY_MULTIPLIER = 0.8
DRY_ALLOWED_LENGTH = 4


def server_parameters(
    model: Path,
    *,
    host: str,
    port: int,
    context: int,
    parallel: int,
    threads: int,
    alias: str,
    penalize_repetition: bool = False,
    chat_template: Path | None = None,
) -> Any:
    """Return llama.cpp's parameters. The client sets the sampling; these are its defaults.

    Raises:
        SystemExit: xllamacpp is not installed, or the model file is not there.
    """
    try:
        import xllamacpp
    except ImportError:
        from perturb.install import install_command  # only needed for this message

        sys.exit(f"the embedded engine needs xllamacpp: {install_command('embedded')}")
    if not model.is_file():
        sys.exit(f"no model file at {model}")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {alias}
    parameters.hostnames = [host]
    parameters.port = port
    # Slots divide the context evenly; multiplying gives each slot all of it.
    parameters.n_ctx = context * parallel
    parameters.n_parallel = parallel
    parameters.kv_unified = False
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = ERRORS_ONLY
    # Endpoints that show the state of other requests, or serve pages, must not front raw text.
    parameters.endpoint_slots = False
    parameters.endpoint_props = False
    parameters.ui = False
    parameters.cache_ram_mib = 0
    if chat_template is not None:
        parameters.chat_template = chat_template.read_text("utf-8")
    if penalize_repetition:
        parameters.sampling.penalty_repeat = PENALTY_REPEAT
        parameters.sampling.penalty_last_n = PENALTY_WINDOW
        parameters.sampling.dry_multiplier = DRY_MULTIPLIER
        parameters.sampling.dry_allowed_length = DRY_ALLOWED_LENGTH
        parameters.sampling.dry_penalty_last_n = PENALTY_WINDOW
    return parameters


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM, SIGINT, or the end of the parent process."""
    parser = argparse.ArgumentParser(prog="extraction.backends.llama_server", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--context", type=int, default=1024, help="tokens each slot holds")
    parser.add_argument("--parallel", type=int, default=2, help="requests answered at once")
    parser.add_argument("--threads", type=int, default=1, help="threads that compute")
    parser.add_argument("--alias", default="inferdpt-bundled", help="the model's name")
    parser.add_argument("--penalize-repetition", action="store_true", help="for tiny models")
    parser.add_argument("--chat-template", type=Path, help="a file, instead of the model's own")
    parser.add_argument("--sha256", help="what the model file must have, or nothing starts")
    parser.add_argument("--parent", type=int, help="the process to end with (who started this)")
    options = vars(parser.parse_args(arguments))

    # If the parent dies before this line, its death goes unnoticed; a caller can pass its own id.
    parent = options.pop("parent") or os.getppid()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if (sha256 := options.pop("sha256")) is not None:
        _check(options["model"], sha256, options["alias"])
    parameters = server_parameters(**options)

    import xllamacpp

    server = xllamacpp.Server(parameters)
    print(f"listening on {server.listening_address}", flush=True)
    _silence_output()
    while not stop.wait(PARENT_POLL_SECONDS) and os.getppid() == parent:
        pass
    # The server's threads may be in the middle of an answer. Nothing is left to save, so the
    # process exits without waiting for them.
    os._exit(0)


def _check(model: Path, sha256: str, name: str) -> None:
    """Leave if the file is another one. At every start, so a restart is covered, too."""
    from extraction.models import check_file  # only for models that were pulled

    try:
        check_file(model, sha256, name)
    except ModelFileError as exc:
        sys.exit(f"{exc}; `inferdpt models pull {name}` fetches it again")


def _silence_output() -> None:
    """Send standard output and error to the null device. llama.cpp may quote parts of a request
    that it cannot read; errors that stop a start have been printed by now."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)


if __name__ == "__main__":
    main()
