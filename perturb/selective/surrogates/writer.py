"""Write the surrogates of one text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import prod

from perturb.release import Known, Link, Taken
from perturb.rng import draw_below
from perturb.selective.surrogates.addresses import DOMAIN, read_address
from perturb.selective.surrogates.forms import Form, read_form
from perturb.selective.surrogates.names import fold_name, load_names, read_script
from perturb.selective.surrogates.permute import permute
from perturb.selective.surrogates.persons import Word, build_cast, read_person, read_words
from perturb.text.case import match_case

__all__ = ["ADDRESSES", "PERSONS", "SurrogateWriter"]

PERSONS = frozenset(("NAME", "PERSON"))
ADDRESSES = frozenset(("EMAIL_ADDRESS",))
TRIES = 50  # draws of a name that is free; then two names are joined
ROOM = 10_000  # strings of a form from which a surrogate may avoid the raw values of the text
_ORDINARY = "latin"  # the script of domains


class SurrogateWriter:
    """Write surrogates. Equal parts get one surrogate, under one link in all texts, and different
    parts of one request get different ones while there are free ones. None is another raw name of
    the text.

    Args:
        link: the noise of a part by its text.
        parts: the type and the text of each part that gets one.
        known: the parts of other texts that are sensitive in this one.
        taken: the replacements of the request.
    """

    def __init__(
        self,
        link: Link,
        parts: Iterable[tuple[str, str]],
        known: Known,
        taken: Taken | None = None,
    ) -> None:
        self._link = link
        self._taken = Taken() if taken is None else taken
        parts = list(parts)
        named = [raw for type_, raw in parts if type_ in PERSONS]
        named += [raw for raw, type_ in known.items() if type_ in PERSONS]
        self._cast = build_cast(named)
        self._raw = {fold_name(word) for name in named for word in read_words(name)[0]}
        self._raw.update(raw for _, raw in parts)
        self._names: dict[tuple[str, str, str], str] = {}
        self._written: dict[tuple[str, str], str] = {}
        self._turns: dict[str, int] = {}  # the turn of each address
        self._orders: dict[str, list[int]] = {}

    def write_person(self, words: Sequence[str], between: Sequence[str]) -> list[str] | None:
        """Return the surrogate of each word of a name; None for a script without names."""
        read = read_person(words, between)
        if read is None:
            return None
        made: list[str] = []
        for turn in range(TRIES):
            before = made
            made = [self._spell(word, raw, turn) for word, raw in zip(read, words, strict=True)]
            if made == before or self._taken.take("".join(made), "".join(words)):
                break
        return made

    def write_address(self, raw: str) -> str | None:
        """Return the surrogate of an address; None for one that cannot be read."""
        address = read_address(raw)
        if address is None:
            return None
        names = address.read_names(self._cast)
        key = raw.lower()
        turns = range(TRIES) if key not in self._turns else [self._turns[key]]
        domain = self._find("domain", address.domain, _ORDINARY).lower()
        made = ""
        for turn in turns:
            before, out = made, []
            self._turns[key] = turn
            for i, token in enumerate(address.tokens):
                if i in names:
                    words = (self._spell(word, "a" * len(word.key), turn) for word in names[i])
                    out.append(match_case("".join(words), token))
                elif token.isdigit() and (form := read_form("EMAIL", token)):
                    out.append(self._draw_digits(form, address.key, turn))
                else:
                    out.append(token)
            made = f"{''.join(out)}@{domain}{DOMAIN}"
            if made == before or self._taken.take(made, raw):
                break
        return made

    def write_form(self, type_: str, raw: str) -> str | None:
        """Return the surrogate of a number or a key; None where there is nothing to draw."""
        form = read_form(type_, raw)
        if form is None:
            return None
        # Equal in every grouping, and in the whole text, even when `take` has given up.
        key = (form.name, "".join(raw[i] for i in form.free))
        if key not in self._written:
            # In a small form, avoiding raw values would take what others need.
            roomy = prod(map(len, filter(None, form.alphabets))) >= ROOM
            free = (
                drawn
                for some in ([self._raw, ()] if roomy else [()])
                for drawn in islice(self._permute(form, ""), TRIES if roomy else ROOM)
                if (out := form.fill(drawn)) not in some and self._taken.take(out, raw)
            )
            # Where all are taken, it collides, and is not restored.
            self._written[key] = next(free, None) or next(self._permute(form, ""))
        return form.fill(self._written[key])

    def _permute(self, form: Form, name: str) -> Iterator[str]:
        """Yield what may stand at the free places of a form; the first is a permutation."""
        return permute(
            "".join(form.raw[i] for i in form.free),
            [form.alphabets[i] for i in form.free],
            self._link,
            form.name + name,
            lambda drawn: form.passes(form.fill(drawn)),
        )

    def _draw_digits(self, form: Form, name: str, turn: int) -> str:
        """Return digits of an address; another turn gives others, as far as there are any."""
        made = list(islice(self._permute(form, name), turn + 1))
        return form.fill(made[-1])

    def _spell(self, word: Word, raw: str, turn: int) -> str:
        """Return the surrogate of a word of a name, in the capitals of `raw`; another turn gives
        another initial, if no name tells it."""
        script = read_script(word.key)
        if word.role != "initial":
            return match_case(self._find(self._cast.role_of(word), word.key, script), raw)
        given = self._cast.find_given(word)
        if given:
            letter = self._find("given", given, script)[0]
        else:
            letters = "".join(dict.fromkeys(name[0] for name in load_names()[script].given))
            noise = self._link(f"surrogate initial {word.key} {word.surname}")
            letter = letters[(draw_below(len(letters), noise) + turn) % len(letters)]
        return letter.upper() if raw.isupper() else letter.lower()

    def _find(self, role: str, key: str, script: str) -> str:
        """Return the public name that stands for a word, or for a domain."""
        place = (role, key, script)
        if place not in self._names:
            self._names[place] = self._choose(role, key, script)
        return self._names[place]

    def _choose(self, role: str, key: str, script: str) -> str:
        names = load_names()[script]
        listed = names.given if role == "given" else names.surnames
        noise = self._link(f"surrogate {role} {script} {key}")
        if role == "given" and key in names.given_keys:  # so that common names never collide
            own = listed[self._order(script)[names.given_keys[key]]]
            if self._take(own, (role, key, script)):
                return own
        for joined in (False, True):
            for _ in range(TRIES):
                own = listed[draw_below(len(listed), noise)]
                if joined:
                    own += listed[draw_below(len(listed), noise)].lower()
                if self._take(own, (role, key, script)):
                    return own
        return own

    def _order(self, script: str) -> list[int]:
        if script not in self._orders:
            size = len(load_names()[script].given)
            order = self._link(f"surrogate order {script}").permutation(size).tolist()
            # The next name in a random order: a permutation in which none stays.
            following = dict(zip(order, [*order[1:], order[0]], strict=True))
            self._orders[script] = [following[place] for place in range(size)]
        return self._orders[script]

    def _take(self, name: str, owner: tuple[str, str, str]) -> bool:
        """Take a name for a word, if it is free and no raw word."""
        plain = fold_name(name)
        if plain in self._raw or plain == owner[1].partition(".")[0]:
            return False
        return self._taken.take(name, owner[1])
