"""English function words: the closed classes of the language, listed by class.

`custext_plus` keeps them. Only the lower-case and the capitalised form count: "us" and "Us" are
function words, "US" is not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perturb.vocabulary.vocabulary import Vocabulary

__all__ = ["FUNCTION_WORDS", "stop_words"]

_CLASSES = {
    "articles, demonstratives, quantifiers": """
        a an the this that these those all any both each either every few less many more most
        much neither no none other others same several some such
    """,
    "personal, possessive, reflexive, indefinite, interrogative and relative pronouns": """
        i me my mine myself you your yours yourself yourselves he him his himself she her hers
        herself it its itself we us our ours ourselves they them their theirs themselves anyone
        anything everyone everything nobody nothing someone something who whom whose which what
        whoever whatever whichever
    """,
    "prepositions": """
        about above across after against along among around as at before behind below beneath
        beside besides between beyond by despite down during except for from in inside into like
        near of off on onto out outside over past per since than through throughout till to
        toward towards under until up upon via with within without
    """,
    "conjunctions": """
        and but or nor so yet because although though if unless whether while whereas when where
        why how once
    """,
    "auxiliary and modal verbs": """
        am is are was were be been being have has had having do does did doing done can could
        may might must shall should will would ought
    """,
    "adverbs of degree, time, place, negation and connection": """
        not never always also too very just only even still again already then there here now
        ever rather quite almost however therefore thus hence else
    """,
}
FUNCTION_WORDS = frozenset(word for words in _CLASSES.values() for word in words.split())


def stop_words(vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Return which words of V are function words, bool (m,).

    >>> from perturb.vocabulary.vocabulary import load_encoding
    >>> vocabulary = Vocabulary(load_encoding())
    >>> kept = stop_words(vocabulary)
    >>> [bool(kept[vocabulary.words.index(word)]) for word in ("the", "The", "us", "US", "river")]
    [True, True, True, False, False]
    """
    return np.array(
        [
            word.lower() in FUNCTION_WORDS and word in (word.lower(), word.capitalize())
            for word in vocabulary.words
        ]
    )
