"""Find sensitive parts by their form, with the expressions and lists that ship with `selective`.

Types are named as Presidio names them where it has the type.
"""

from __future__ import annotations

from perturb.selective.patterns.accounts import ACCOUNTS
from perturb.selective.patterns.amounts import AMOUNTS
from perturb.selective.patterns.births import BIRTHS
from perturb.selective.patterns.chats import CHATS
from perturb.selective.patterns.codes import CODES
from perturb.selective.patterns.composed import COMPOSED
from perturb.selective.patterns.contact import CONTACT
from perturb.selective.patterns.dates import DATES
from perturb.selective.patterns.firms import FIRMS
from perturb.selective.patterns.formats import FORMATS
from perturb.selective.patterns.identifiers import IDENTIFIERS, OTHERS
from perturb.selective.patterns.labelled import LABELLED
from perturb.selective.patterns.letters import LETTERS
from perturb.selective.patterns.logins import LOGINS
from perturb.selective.patterns.names import NAME, find_distinctive_words, find_names
from perturb.selective.patterns.people import PEOPLE
from perturb.selective.patterns.persons import PERSONS
from perturb.selective.patterns.places import PLACES
from perturb.selective.patterns.records import RECORDS
from perturb.selective.patterns.scripts import SCRIPTS
from perturb.selective.patterns.secrets import SECRETS
from perturb.selective.patterns.shape import Shape
from perturb.selective.patterns.tables import CELL_TYPES
from perturb.selective.patterns.told import TOLD

__all__ = [
    "NAME",
    "RULES",
    "SHIPPED",
    "Shape",
    "find_distinctive_words",
    "find_names",
    "shape_types",
]

RULES = 20  # increment whenever the code here, beside the expressions, marks other parts
# Of overlapping matches, the first of the longest gives the type.
SHIPPED: tuple[Shape, ...] = (
    *SECRETS,
    *TOLD,
    *LOGINS,
    *CODES,
    *BIRTHS,
    *ACCOUNTS,
    *AMOUNTS,
    *DATES,
    *IDENTIFIERS,
    *FORMATS,
    *LABELLED,
    *RECORDS,
    *CONTACT,
    *PLACES,
    *PERSONS,
    *COMPOSED,
    *FIRMS,
    *LETTERS,
    *CHATS,
    *SCRIPTS,
    *PEOPLE,
    *OTHERS,
)


def shape_types() -> tuple[str, ...]:
    """Return every type that the shipped set finds, sorted.

    >>> "EMAIL_ADDRESS" in shape_types()
    True
    """
    return tuple(sorted({NAME, *CELL_TYPES, *(shape.type for shape in SHIPPED)}))
