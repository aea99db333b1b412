"""Make docs/verify.md: what `inferdpt verify` prints for the proxy, and how to read it.

python -m benchmarks.pages.verify_page --out docs/verify.md
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from proxy.verify.report import format_report
from proxy.verify.run import verify

__all__ = ["INTRO", "main"]

INTRO = """\
# Verify a gateway

```sh
inferdpt verify
```

The command starts a throwaway upstream and a proxy in [gateway mode](gateway.md), both on
loopback. It sends one request for each position and type, each with a made-up value of its own,
and looks for the value in every byte that the upstream receives: in any capitals, with any
separators, and in JSON inside strings. It then has the upstream repeat values, in texts and in
tool calls, whole and streamed in pieces of three characters, and looks if they come back.
Nothing leaves the machine. The exit status is 1 if a value leaked, or if a request failed.

| Verdict | Meaning |
|---|---|
| clean | the request was answered, and the upstream did not see the value |
| refused | the gateway refused the request (4xx), and the upstream did not see the value |
| LEAK | the upstream saw the value |
| error | the gateway failed (5xx, or no answer), so nothing is known |
| - | the position cannot hold the type: a function's name has no `@`, a number no letters |
| restored, replaced | the answer held the value again, or did not |
| broken | the answer was not valid |

`--config FILE` verifies the section `privacy` of your own configuration, before a remote of its
`remote.api`. The values are of forms that the shipped patterns know, so the tables say where
values are hidden. They do not say how many of the world's names a policy finds;
`python -m benchmarks.finding` measures that.

## Other gateways

Configure any OpenAI-compatible gateway to call the throwaway upstream, and name its address:

```sh
inferdpt verify --base-url http://127.0.0.1:4000/v1 --upstream-port 9999 --model gpt-4o
```

The upstream then listens on `http://127.0.0.1:9999/v1`. A plain pass-through shows every value as
LEAK; a test holds the tool to that.

"""
OUTRO = """

This page is made by `python -m benchmarks.pages.verify_page --out docs/verify.md`.
"""


def main() -> None:
    """Run the verification and write the page."""
    parser = argparse.ArgumentParser(description="Write the page about the verification.")
    parser.add_argument("--out", required=True, type=Path)
    out = parser.parse_args().out
    report = format_report(asyncio.run(verify()), markdown=True)
    out.write_text(INTRO + report + OUTRO, "utf-8")


if __name__ == "__main__":
    main()
