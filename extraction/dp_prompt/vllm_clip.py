"""A logits processor for vLLM that draws DP-Prompt's tokens itself.

    VLLM_USE_V2_MODEL_RUNNER=0 vllm serve MODEL \\
        --logits-processors extraction.dp_prompt.vllm_clip:ClipLogits \\
        --logprobs-mode processed_logprobs

A request selects it with `"vllm_xargs": {"inferdpt_clip": [b1, b2, T, p]}` and temperature 0.
vLLM's own generator is seeded with 0 at every start, and its sampling options would act on
clipped logits. So the processor draws the token itself, with operating-system randomness. It sets
the token's logit to 0, that of one other token to ln((1 − p)/p), and all others to −∞. vLLM picks
the drawn token and reports ln p as its log probability. The client chooses a fresh p > 1/2 for
each request. Finding it in every token of the answer proves that the processor drew each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from extraction.dp_prompt.clip import Decoding
from perturb import secure_generator

__all__ = ["ARGUMENT", "ClipRequest", "make_processor_class", "update_rows"]

ARGUMENT = "inferdpt_clip"


@dataclass(frozen=True)
class ClipRequest:
    """A request's decoding, and the probability p in (1/2, 1) to report for its tokens."""

    decoding: Decoding
    mark: float

    def to_arguments(self) -> dict[str, list[float]]:
        """Return the value of `vllm_xargs`."""
        assert self.decoding.bounds is not None
        return {ARGUMENT: [*self.decoding.bounds, self.decoding.temperature, self.mark]}

    @classmethod
    def parse(cls, arguments: dict[str, Any] | None) -> ClipRequest | None:
        """Parse vLLM's extra arguments; return None if they do not request clipping.

        Raises:
            ValueError: the argument is not four valid numbers.
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


def update_rows(rows: dict[int, ClipRequest], update: Any) -> None:
    """Update `rows` (place in the batch → request) with vLLM's `BatchUpdate`: requests removed,
    added and moved, in this order."""
    for place in update.removed:
        rows.pop(place, None)
    for place, parameters, _, _ in update.added:
        rows.pop(place, None)  # a new request may take another one's place
        request = ClipRequest.parse(parameters.extra_args)
        if request is not None:
            rows[place] = request
    for source, target, direction in update.moved:
        moved, other = rows.pop(source, None), rows.pop(target, None)
        if moved is not None:
            rows[target] = moved
        if other is not None and direction.name == "SWAP":
            rows[source] = other


def make_processor_class() -> type:
    """Return the class that vLLM loads as `extraction.dp_prompt.vllm_clip:ClipLogits`."""
    from vllm.v1.sample.logits_processor import LogitsProcessor

    class ClipLogits(LogitsProcessor):  # type: ignore[misc]
        """Draw the tokens of requests for clipping, and leave all others alone."""

        def __init__(self, config: Any, device: Any, pinned: bool) -> None:
            del config, device, pinned
            self._rows: dict[int, ClipRequest] = {}
            self._rng = secure_generator()

        @classmethod
        def validate_params(cls, sampling_params: Any) -> None:
            """Refuse a request with an invalid argument."""
            ClipRequest.parse(sampling_params.extra_args)

        def is_argmax_invariant(self) -> bool:
            return False  # greedy requests are drawn here too

        def update_state(self, batch_update: Any) -> None:
            if batch_update is not None:
                update_rows(self._rows, batch_update)

        def apply(self, logits: Any) -> Any:
            """Return the logits, (requests, m); each row drawn here has only two finite ones."""
            for place, request in self._rows.items():
                row = logits[place].float().cpu().numpy()
                try:
                    token = request.decoding.draw(row, self._rng)
                except ValueError:  # an answer without its proof is better than a dead engine
                    logits[place] = 0.0
                    continue
                logits[place] = float("-inf")
                logits[place, (token + 1) % len(row)] = math.log((1 - request.mark) / request.mark)
                logits[place, token] = 0.0
            return logits

    return ClipLogits


def __getattr__(name: str) -> Any:
    """Make the class when vLLM asks for it, so that this module can be imported without vLLM."""
    if name != "ClipLogits":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = make_processor_class()
    return made
