"""The paraphraser of this process, without its model; tests/vllm has the model itself."""

from __future__ import annotations

import asyncio
import threading
import time
from types import SimpleNamespace
from typing import Any

from extraction.dp_prompt.clip import Decoding
from extraction.dp_prompt.paraphrase import Paraphrase
from extraction.dp_prompt.paraphrase_transformers import TransformersParaphraser


class Slow(TransformersParaphraser):
    """Counts how many generations run at once."""

    def __init__(self) -> None:
        config = SimpleNamespace(vocab_size=10)
        config.get_text_config = lambda: config
        model = SimpleNamespace(config=config, generation_config=SimpleNamespace(eos_token_id=1))
        super().__init__("slow", model, SimpleNamespace(model_max_length=10))
        self.running = self.most = 0
        self._lock = threading.Lock()

    def _generate(self, *arguments: Any) -> Paraphrase:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(0.02)
        with self._lock:
            self.running -= 1
        return Paraphrase("text", 1)


async def test_one_document_at_a_time() -> None:
    paraphraser = Slow()
    made = await asyncio.gather(*(paraphraser.generate("x", Decoding(), 5) for _ in range(8)))
    assert len(made) == 8
    assert paraphraser.most == 1
