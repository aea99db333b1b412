"""A client of the pages on which a local server reports its model's control tokens."""

from __future__ import annotations

from extraction.control import read_tokens
from extraction.http.client import SMALL, Blocked, CutShort, HttpClient, HttpError, Unreachable

__all__ = ["fetch_tokens"]

PAGES = ("/tokenizer_info", "/props")  # vLLM's, where it is enabled; llama.cpp's
SECONDS = 5.0  # for each page


async def fetch_tokens(http: HttpClient) -> tuple[str, ...] | None:
    """Fetch the control tokens of a server's own model.

    Args:
        http: a client for the server's root, the address without `/v1`.

    Returns:
        None if nothing answers there; no tokens if the server does not report them.
    """
    for page in PAGES:
        try:
            async with http.open(page, seconds=SECONDS) as reply:
                if reply.status == 200 and (told := read_tokens(await reply.json(SMALL))):
                    return told
        except (Unreachable, Blocked, CutShort):
            return None
        except (HttpError, ValueError, RecursionError):
            pass
    return ()
