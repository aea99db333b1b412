"""Make docs/verify.md: what `inferdpt verify` prints for the proxy, and how to read it.

python -m benchmarks.pages.verify_page --out docs/verify.md
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from proxy.verify.run import format_report, verify

__all__ = ["INTRO", "main"]

INTRO = """\
# Verify a gateway

```sh
inferdpt verify
```

The command starts a throwaway upstream and a proxy in [gateway mode](gateway.md), both on
loopback. Nothing leaves the machine. It sends two kinds of requests:

- **Values.** A made-up name, card number, key or other value at one position of a request. No
  byte that the upstream receives may show it: in any capitals, with any separators, and in JSON
  inside strings.
- **Documents.** A settings file, a table, a diff, a log or another text as agents and tools send
  it, with several made-up values, at one position. No value may arrive. The upstream answers with
  the text that it got, and the client must get its own text back, byte for byte. Values and
  documents also come back in calls of tools, whole and streamed in pieces of three characters.

The upstream checks that every body has the form that OpenAI's or Anthropic's API requires.

A run sends a sample and takes less than a minute: at each position three types of values and two
kinds of documents, chosen by `--seed`. `--full` sends everything at every position.

The exit status is 1 if a request failed in one of these ways:

| Failure | Meaning |
|---|---|
| LEAK | the upstream saw a value |
| CHANGED | another text came back than was sent |
| ERROR | the gateway failed (5xx, no answer, or an answer that is not valid) |
| form | the upstream got a body that the API would refuse |

A request that the gateway refuses (4xx) is counted, and is no failure: nothing arrived.

`--config FILE` verifies the section `privacy` of your own configuration, before a remote of its
`remote.api`. Only types that its profile hides are sent as values, and must not arrive. The
values are of forms that the shipped finders know, so the report says at which positions values are
hidden. It does not say how many of the world's names a policy finds;
`python -m benchmarks.finding` measures that.

## Other gateways

Configure any OpenAI-compatible gateway to call the throwaway upstream, and name its address:

```sh
inferdpt verify --base-url http://127.0.0.1:4000/v1 --upstream-port 9999 --model gpt-4o
```

The upstream then listens on `http://127.0.0.1:9999/v1`. A plain pass-through shows every value as
LEAK; a test holds the tool to that.

## Results

`inferdpt verify --full`: the number of requests, and the failures, if there are any.

"""
OUTRO = """

This page is made by `python -m benchmarks.pages.verify_page --out docs/verify.md`.
"""


def main() -> None:
    """Run the verification and write the page."""
    parser = argparse.ArgumentParser(description="Write the page about the verification.")
    parser.add_argument("--out", required=True, type=Path)
    out = parser.parse_args().out
    report = format_report(asyncio.run(verify(full=True)), markdown=True)
    out.write_text(INTRO + report + OUTRO, "utf-8")


if __name__ == "__main__":
    main()
