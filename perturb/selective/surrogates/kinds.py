"""Sort the types of parts by the kind of surrogate that they have."""

from __future__ import annotations

__all__ = [
    "ADDRESSES",
    "DATES",
    "HANDLES",
    "ORGANIZATIONS",
    "PERSONS",
    "PLACES",
    "URLS",
    "WITHOUT",
    "is_phrase",
]

PERSONS = frozenset(("NAME", "PERSON"))
ADDRESSES = frozenset(("EMAIL_ADDRESS",))
HANDLES = frozenset(("USERNAME",))
URLS = frozenset(("PUBLIC_URL", "URL"))
PLACES = frozenset(("BIRTHPLACE", "LOCATION", "RESIDENCE", "STREET_ADDRESS"))
ORGANIZATIONS = frozenset(("CUSTOM", "ORGANIZATION", "OTHER_NAME"))
DATES = frozenset(("DATE_OF_BIRTH", "DATE_TIME"))
# No stand-in serves: another secret would be tried, another illness believed, money sent to
# another wallet; amounts and ages may have a value near their own.
WITHOUT = frozenset(
    (
        *("AGE", "API_KEY", "CRYPTO", "DEMOGRAPHIC", "DIAGNOSIS_CODE", "DURATION", "MONEY", "NRP"),
        *(
            "PASSWORD",
            "PERCENTAGE",
            "PRIVATE_KEY",
            "PROFESSION",
            "PUBLIC_KEY",
            "QUANTITY",
            "TITLE",
        ),
    )
)


def is_phrase(type_: str, raw: str) -> bool:
    """Tell if a part is drawn word by word: a place or a firm. A term of the operator's with
    digits is drawn character by character."""
    return type_ in PLACES or (
        type_ in ORGANIZATIONS and not (type_ == "CUSTOM" and any(map(str.isdigit, raw)))
    )
