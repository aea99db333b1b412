"""The command's own processes compute on one thread for each request, unless the user says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

RUN = """
import sys
from contextlib import suppress
from proxy.cli.main import main
assert "numpy" not in sys.modules
sys.argv = ["inferdpt", "--version"]
with suppress(SystemExit):
    main()
import numpy
from threadpoolctl import threadpool_info
print(*(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"))
"""


@pytest.mark.parametrize("chosen", [None, "2"])
def test_linear_algebra_has_one_thread_or_as_many_as_the_user_chose(chosen: str | None) -> None:
    variables = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    if chosen is not None:
        if (os.cpu_count() or 1) < 2:
            pytest.skip("a machine with one core has one thread anyway")
        variables["OPENBLAS_NUM_THREADS"] = chosen
    run = subprocess.run(
        [sys.executable, "-c", RUN], env=variables, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1].split() == [chosen or "1"]
