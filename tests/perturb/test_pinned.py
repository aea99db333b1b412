"""Under a key, a text gets the release that earlier versions gave it, wherever integers draw."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from perturb import get_mechanism, keyed_generator
from tests.perturb.marking import WORDS

TEXT = (
    "Anna Smith (anna@example.org, +49 30 1234567) met Mr. Dehner in Paris on 3 May 2021, paid "
    "250 euros to DE89 3704 0044 0532 0130 00 and wrote: J&oslash;rgen is a nurse, 43 years old."
)
SELECTIVE = (
    "Training Icking (role@symfony.committee, +10 66 6274606) met Similar. Per in Udget on 4 "
    "Growth 6466, paid 200 dispatch to ZP02 4003 5518 3803 8775 20 and wrote: They is a medical, "
    "30 years old."
)
RANTEXT_LDP = (
    "erc cour (Release, +44 73 5259964) specify Sil. SA feel il functionality low Trump 7 Pressed "
    "3087, ervation 390 pic Chrome tradition 74 1702 2836 9739 8627 28 ponsive isk: Lo&Muslim "
    "rise;Compat District zum quee rial, 69 Server XT."
)


def noise(entity: str) -> np.random.Generator:
    return keyed_generator(sha256(entity.encode()).digest())


def test_marked_parts_keep_their_replacements() -> None:
    mechanism = get_mechanism("selective", epsilon=4.0, **WORDS)
    made = mechanism.perturb(TEXT, keyed_generator(bytes(16)), link=noise)
    mechanism.verify(TEXT, made)
    assert made.text == SELECTIVE


def test_words_keep_their_replacements() -> None:
    mechanism = get_mechanism("rantext_ldp", epsilon=4.0)
    made = mechanism.perturb(TEXT, keyed_generator(bytes(16)))
    mechanism.verify(TEXT, made)
    assert made.text == RANTEXT_LDP
