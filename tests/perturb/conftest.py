"""Tables shared by the tests of the perturbation layer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tiktoken

from perturb import EmbeddingTable, Vocabulary
from perturb.testing.tables import load_test_table
from perturb.vocabulary.vocabulary import load_encoding

# Tests of the kit that have a tier of their own, and the arguments for which they do.
LONG_TEXT = "test_hostile_texts_cost_what_their_length_says"
OVER_BUNDLED = {
    "test_keep_rate_is_close_on_bundled_table",
    "test_sampler_matches_channel_on_bundled_table",
}
OVER_WORDS = OVER_BUNDLED | {"test_a_released_text_passes_its_own_check"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue
        given = item.callspec.params
        if item.originalname == LONG_TEXT and given["length"] == 100_000:
            item.add_marker(pytest.mark.hostile)
        # a row of a channel that has to be sampled takes a second there
        if item.originalname in OVER_BUNDLED and given["case"].limit is None:
            item.add_marker(pytest.mark.statistical)
        # one table for every mechanism is enough in every change
        if item.originalname in OVER_WORDS and given["name"] == "words":
            item.add_marker(pytest.mark.statistical)


@pytest.fixture(scope="session")
def encoding() -> tiktoken.Encoding:
    return load_encoding()


@pytest.fixture(scope="session")
def vocabulary(bundled: EmbeddingTable) -> Vocabulary:
    """V at its default size."""
    return bundled.vocabulary


@pytest.fixture(scope="session")
def bundled() -> EmbeddingTable:
    return load_test_table("bundled")


@pytest.fixture(scope="session")
def toy() -> EmbeddingTable:
    return load_test_table("toy")


@pytest.fixture(scope="session")
def small() -> EmbeddingTable:
    return load_test_table("small")


@pytest.fixture(scope="session")
def lattice() -> EmbeddingTable:
    return load_test_table("lattice")


@pytest.fixture(scope="session")
def skewed() -> EmbeddingTable:
    return load_test_table("skewed")


@pytest.fixture(scope="session")
def pair() -> EmbeddingTable:
    return load_test_table("pair")


@pytest.fixture(scope="session")
def tables() -> Callable[[str], EmbeddingTable]:
    """Return a table by its name, for parametrised tests."""
    return load_test_table
