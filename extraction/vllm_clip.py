"""A logits processor for vLLM that draws DP-Prompt's tokens itself.

    VLLM_USE_V2_MODEL_RUNNER=0 vllm serve MODEL \\
        --logits-processors extraction.vllm_clip:ClipLogits --logprobs-mode processed_logprobs

A request asks for it with `"vllm_xargs": {"inferdpt_clip": [b1, b2, T, p]}` and temperature 0.
vLLM's own generator is seeded with 0 at every start, and its sampling options would act on
clipped logits, so the token is drawn here, with operating-system randomness. Its logit becomes 0,
that of one other token ln((1 − p)/p), all others −∞: vLLM picks the token that was drawn and says
that its log probability is ln p. The client chooses p > 1/2 afresh for each request; finding it in
every token of the answer proves that the processor was at work on each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from extraction.clip import Decoding
from perturb import secure_generator

__all__ = ["ARGUMENT", "Wish", "follow", "logits_processor_class"]

ARGUMENT = "inferdpt_clip"


@dataclass(frozen=True)
class Wish:
    """What a request asks for: how its tokens are drawn, and the probability p in (1/2, 1) that
    is written down as theirs."""

    decoding: Decoding
    mark: float

    def argument(self) -> dict[str, list[float]]:
        """As `vllm_xargs` carries it."""
        assert self.decoding.bounds is not None
        return {ARGUMENT: [*self.decoding.bounds, self.decoding.temperature, self.mark]}

    @classmethod
    def of(cls, arguments: dict[str, Any] | None) -> Wish | None:
        """What a request's extra arguments ask for; None where they ask for nothing.

        Raises:
            ValueError: the argument is not four numbers that make sense.
        """
        found = (arguments or {}).get(ARGUMENT)
        if found is None:
            return None
        numbers = found if isinstance(found, list) else []
        good = [x for x in numbers if isinstance(x, (int, float)) and not isinstance(x, bool)]
        if len(numbers) != 4 or len(good) != 4 or not 0.5 < good[3] < 1:
            raise ValueError(f"{ARGUMENT} must be four numbers: b1, b2, T, p in (1/2, 1)")
        low, high, temperature, mark = map(float, good)
        return cls(Decoding(temperature=temperature, bounds=(low, high)), mark)


def follow(rows: dict[int, Wish], update: Any) -> None:
    """Bring `rows` (place in the batch → what it asks for) up to date with vLLM's `BatchUpdate`:
    requests removed, added and moved, in this order."""
    for place in update.removed:
        rows.pop(place, None)
    for place, parameters, _, _ in update.added:
        rows.pop(place, None)  # a new request may take another one's place
        wish = Wish.of(parameters.extra_args)
        if wish is not None:
            rows[place] = wish
    for source, target, direction in update.moved:
        moved, other = rows.pop(source, None), rows.pop(target, None)
        if moved is not None:
            rows[target] = moved
        if other is not None and direction.name == "SWAP":
            rows[source] = other


def logits_processor_class() -> type:
    """The class vLLM loads as `extraction.vllm_clip:ClipLogits`."""
    from vllm.v1.sample.logits_processor import LogitsProcessor

    class ClipLogits(LogitsProcessor):  # type: ignore[misc]
        """Draws the tokens of requests that ask for it; leaves all others alone."""

        def __init__(self, config: Any, device: Any, pinned: bool) -> None:
            del config, device, pinned
            self._rows: dict[int, Wish] = {}
            self._rng = secure_generator()

        @classmethod
        def validate_params(cls, sampling_params: Any) -> None:
            """Refuse a request whose argument makes no sense."""
            Wish.of(sampling_params.extra_args)

        def is_argmax_invariant(self) -> bool:
            return False  # greedy requests are drawn here, too

        def update_state(self, batch_update: Any) -> None:
            if batch_update is not None:
                follow(self._rows, batch_update)

        def apply(self, logits: Any) -> Any:
            """(requests, m) logits; rows drawn here have two finite ones."""
            for place, wish in self._rows.items():
                row = logits[place].float().cpu().numpy()
                try:
                    token = wish.decoding.draw(row, self._rng)
                except ValueError:  # an answer without its proof, rather than a dead engine
                    logits[place] = 0.0
                    continue
                logits[place] = float("-inf")
                logits[place, (token + 1) % len(row)] = math.log((1 - wish.mark) / wish.mark)
                logits[place, token] = 0.0
            return logits

    return ClipLogits


def __getattr__(name: str) -> Any:
    """Make the class when vLLM asks for it: without vLLM this module can still be imported."""
    if name != "ClipLogits":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = logits_processor_class()
    return made
