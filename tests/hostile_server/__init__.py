"""A server in a process of its own that speaks HTTP as wrongly as it is told.

`python -m tests.hostile_server` prints its port. `GET /mode/NAME` chooses what every POST ends in
from then on; `GET …/models` is always answered well. Every text it sends holds `CANARY`.
"""

from __future__ import annotations

from tests.hostile_server.bodies import BODIES, READ, STATUSES
from tests.hostile_server.connections import CONNECTIONS
from tests.hostile_server.framing import FRAMING
from tests.hostile_server.peer import ANSWER, CANARY
from tests.hostile_server.streams import READ_STREAMS, STREAM

__all__ = ["ANSWER", "CANARY", "READ", "READ_STREAMS", "STREAM", "WHOLE"]

# For any answer; `STREAM` is for a stream of the local server.
WHOLE = {**CONNECTIONS, **FRAMING, **STATUSES, **BODIES, **READ}
