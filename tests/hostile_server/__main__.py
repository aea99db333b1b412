"""The server: prints its port and answers as the chosen mode says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys

from tests.hostile_server import STREAM, WHOLE
from tests.hostile_server.peer import Peer

MODES = {**WHOLE, **STREAM}


class Server:
    """Answers one request on each connection, as the chosen mode says."""

    def __init__(self) -> None:
        self.mode = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            sent = head.split("content-length: ")[1].split("\r")[0] if "content-l" in head else "0"
            body = await reader.readexactly(int(sent))
            await self.answer(head.split()[1], Peer(writer, b'"stream":true' in body))
        with contextlib.suppress(ConnectionError):
            writer.close()

    async def answer(self, path: str, peer: Peer) -> None:
        if path.startswith("/mode/"):
            self.mode = path.removeprefix("/mode/")
        if path.startswith("/mode/") or path.endswith("/models"):
            peer.streamed = False
            await peer.whole(json.dumps({"data": [{"id": "m", "max_model_len": 4096}]}))
        else:
            await MODES[self.mode](peer)


async def main() -> None:
    server = await asyncio.start_server(Server().handle, "127.0.0.1", 0, limit=2**26)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
