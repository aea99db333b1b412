"""A profile's summary counts what py-spy has sampled."""

from __future__ import annotations

from benchmarks.load.profile import summarize

LOOP = "main (proxy/cli/main.py);BaseEventLoop._run_once (asyncio/base_events.py);"
SAMPLES = (
    f"{LOOP}Handle._run (asyncio/events.py);handle (proxy/api/handlers.py);"
    "execute (sqlalchemy/engine/base.py) 6\n"
    f"{LOOP}Handle._run (asyncio/events.py);handle (proxy/api/handlers.py) 3\n"
    f"{LOOP.rstrip(';')} 1\n"
)


def _section(text: str, title: str) -> list[str]:
    lines = text.splitlines()
    begin = lines.index(title) + 1
    end = next((i for i in range(begin, len(lines)) if not lines[i]), len(lines))
    return [" ".join(line.split()) for line in lines[begin:end]]


def test_shares_of_packages_and_functions() -> None:
    text = summarize(SAMPLES)
    assert text.startswith("10 samples")
    assert _section(text, "packages, own time") == [
        "60.0% sqlalchemy",
        "30.0% proxy.api",
        "10.0% asyncio",
    ]
    assert _section(text, "packages, with what they call") == [
        "90.0% proxy.api",
        "60.0% sqlalchemy",
        "10.0% asyncio",
    ]
    assert _section(text, "functions, own time")[0] == "60.0% execute (sqlalchemy/engine/base.py)"
    assert _section(text, "functions, with what they call")[0] == (
        "90.0% handle (proxy/api/handlers.py)"
    )


def test_a_recursive_function_counts_once_a_sample() -> None:
    text = summarize("f (a.py);f (a.py);f (a.py) 4\n")
    assert _section(text, "functions, with what they call") == ["100.0% f (a.py)"]


def test_an_idle_process_has_no_profile() -> None:
    assert "no samples" in summarize("")
