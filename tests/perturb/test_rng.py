from __future__ import annotations

import secrets

import numpy as np
import pytest
from randomgen import AESCounter

from perturb import secure_generator, seeded_generator
from perturb.rng import renew_key
from perturb.testing.statistics import ALPHA, p_value


def test_generators_run_aes_in_counter_mode() -> None:
    for rng in (secure_generator(), seeded_generator(1)):
        assert isinstance(rng, np.random.Generator)
        assert isinstance(rng.bit_generator, AESCounter)


def test_secure_generators_never_repeat() -> None:
    streams = [tuple(secure_generator().integers(0, 1 << 63, size=4)) for _ in range(200)]
    assert len({number for stream in streams for number in stream}) == 800


def test_a_renewed_generator_is_as_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it kept the half of a number."""
    rng = secure_generator()
    for number in range(50):
        key = secrets.randbits(128)
        rng.integers(0, 10, size=number, dtype=np.uint8)
        rng.integers(0, 10, size=number, dtype=np.uint32)
        with monkeypatch.context() as patch:
            patch.setattr("secrets.randbits", lambda bits, key=key: key)
            renew_key(rng)
            new = secure_generator()
        for dtype in (np.uint32, np.uint8, np.uint64):
            drawn = [each.integers(0, 200, size=9, dtype=dtype).tolist() for each in (rng, new)]
            assert drawn[0] == drawn[1]


def test_renewed_generators_never_repeat() -> None:
    rng = secure_generator()
    streams = []
    for _ in range(200):
        renew_key(rng)
        streams.append(rng.integers(0, 1 << 63, size=4).tolist())
    assert len({number for stream in streams for number in stream}) == 800


def test_seeded_generator_depends_on_the_seed_alone() -> None:
    one, again, other = (seeded_generator(seed).random(50) for seed in (3, 3, 4))
    assert (one == again).all()
    assert (one != other).all()


def test_global_seed_does_not_reach_the_secure_generator() -> None:
    drawn = []
    for _ in range(2):
        np.random.seed(0)
        drawn.append(secure_generator().integers(0, 1 << 62))
    assert drawn[0] != drawn[1]


def test_bounded_integers_are_uniform() -> None:
    # A bound that does not divide 2^64: the highest residue classes would show a modulo bias.
    bound = 3 << 61
    drawn = secure_generator().integers(0, bound, size=60_000, dtype=np.uint64)
    counts = np.bincount((drawn // np.uint64(bound // 12)).astype(int), minlength=12)
    assert p_value(counts, np.full(12, 5000.0)) > ALPHA
