"""The benchmarks' encoder with its real weights; here because this environment has torch."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.metrics.utility import cosines, load_minilm
from tests.tables import bundled_table

pytestmark = pytest.mark.vllm


def test_it_is_the_model_of_the_bundled_table_and_knows_what_texts_are_about() -> None:
    encode = load_minilm()
    table = bundled_table()
    words = table.vocabulary.words[:300]
    rows = encode(words)
    assert rows.dtype == np.float32
    assert rows.shape == (300, 384)
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6
    assert cosines(rows, table.vectors[:300]).min() > 0.9999  # the table is stored in 16 bits
    texts = ["A man eats a meal.", "Somebody is having food.", "The stock market fell sharply."]
    meal, food, market = encode(texts)
    assert meal @ food > 0.5 > 0.3 > meal @ market
