"""Write the surrogates of one text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from math import prod

from perturb.release import Known, Link, RequestLink, Taken
from perturb.rng import draw_below
from perturb.selective.surrogates.addresses import (
    DOMAIN,
    Address,
    UrlPiece,
    read_address,
    read_handle,
    read_humps,
    read_url,
)
from perturb.selective.surrogates.dates import SHIFTS, shift_date
from perturb.selective.surrogates.forms import SurrogateForm, read_form
from perturb.selective.surrogates.kinds import (
    ADDRESSES,
    DATES,
    HANDLES,
    ORGANIZATIONS,
    PERSONS,
    PLACES,
    URLS,
    WITHOUT,
    is_phrase,
)
from perturb.selective.surrogates.names import (
    NameWord,
    build_cast,
    load_names,
    read_person,
    read_script,
    read_words,
)
from perturb.selective.surrogates.permute import permute
from perturb.selective.surrogates.phrases import PATH_WORDS, SCRIPT, PhrasePiece, read_phrase
from perturb.text.fold import fold_name, match_case

__all__ = ["ADDRESSES", "PERSONS", "SurrogateWriter"]

TRIES = 50  # draws of a name that is free; then two names are joined
_SHOWN = 4  # letters of a raw word that may be seen in a name
ROOM = 10_000  # strings of a form from which a surrogate may avoid the raw values of the text
_SPELLED = "\0"  # between the key of a word and the spelling that has a surrogate of its own
_NAMED = PERSONS | PLACES | ORGANIZATIONS


class SurrogateWriter:
    """Write surrogates. Equal parts get one surrogate, under one link in all texts, and different
    parts of one request get different ones while there are free ones. None is another raw name of
    the text, or a word that stays in it.

    Args:
        link: the noise of a part by its text.
        parts: the type and the text of each part that gets one.
        known: the parts of other texts that are sensitive in this one.
        taken: the replacements of the request, and its texts: no surrogate is a word of one.
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
        self._respelled = link.respelled if isinstance(link, RequestLink) else frozenset()
        parts = list(parts)
        named = [(raw, type_) for type_, raw in parts] + list(known.items())
        self._cast = build_cast(raw for raw, type_ in named if type_ in PERSONS)
        words = {word for raw, type_ in named if type_ in _NAMED for word in read_words(raw)[0]}
        self._raw = set(map(fold_name, words))
        self._raw.update(raw for _, raw in parts)
        self._names: dict[tuple[str, str, str], str] = {}
        self._written: dict[tuple[str, str], str] = {}
        self._turns: dict[str, int] = {}  # the turn of each address
        self._orders: dict[str, list[int]] = {}
        self._used_up: set[str] = set()  # lists, by their first name
        self._days = 0

    def write(self, type_: str, raw: str) -> str | None:
        """Return the surrogate of a part of any type but a person's name, which is written word by
        word; None where the type or the part has none."""
        if type_ in WITHOUT:
            return None
        if type_ in ADDRESSES:
            return self.write_address(raw)
        if type_ in HANDLES:
            return self.write_handle(raw)
        if type_ in URLS:
            return self.write_url(raw)
        if type_ in DATES:
            return self.write_date(raw)
        if is_phrase(type_, raw):
            return self.write_phrase(type_, raw)
        return self.write_form(type_, raw)

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
        domain = self._find("domain", address.domain, SCRIPT).lower() + DOMAIN
        return self._take_turns(address, raw, f"@{domain}")

    def write_handle(self, raw: str) -> str | None:
        """Return the surrogate of the name of a user; None for one that cannot be read."""
        handle = read_handle(raw)
        return self._take_turns(handle, raw, "") if handle else None

    def write_url(self, raw: str) -> str | None:
        """Return the surrogate of an address of the web; None for one that cannot be read."""
        pieces = read_url(raw)
        if pieces is None:
            return None
        made = "".join(map(self._write_url_piece, pieces))
        self._taken.take(made, raw)
        return made

    def write_date(self, raw: str) -> str | None:
        """Return a date, moved by the days of the link; None for what is no whole date."""
        if not self._days:
            self._days = SHIFTS[draw_below(len(SHIFTS), self._link("surrogate dates"))]
        order = self._link.day_first if isinstance(self._link, RequestLink) else None
        made = shift_date(raw, self._days, order)
        if made:
            self._taken.take(made, raw)
        return made

    def write_phrase(self, type_: str, raw: str) -> str | None:
        """Return the surrogate of a place, a firm or an address of a street; None where nothing in
        it can be drawn."""
        pieces = read_phrase(type_, raw)
        if pieces is None:
            return None
        made = "".join(map(self._write_phrase_piece, pieces))
        self._taken.take(made, raw)
        return made

    def write_form(self, type_: str, raw: str) -> str | None:
        """Return the surrogate of a number or a key; None where there is nothing to draw."""
        form = read_form(type_, raw)
        if form is None:
            return None
        # Equal in every grouping, and in the whole text, even when `take` has given up.
        key = (form.name, form.join(raw))
        if key not in self._written:
            # In a small form, avoiding raw values would take what others need.
            roomy = prod(map(len, filter(None, form.alphabets))) >= ROOM
            # Many numbers become one of the reserved ones: each has an order of its own, or
            # those of one area would look for free ones at the same places.
            order = form.join(raw) if form.reserved else ""
            free = (
                drawn
                for avoid in ((True, False) if roomy else (False,))
                for drawn in islice(self._permute(form, order), TRIES if roomy else ROOM)
                if not (avoid and self._is_raw(form.fill(drawn)))
                and self._taken.take(form.fill(drawn), raw)
            )
            # Where all are taken, it collides, and is not restored.
            self._written[key] = next(free, None) or next(self._permute(form, order))
        return form.fill(self._written[key])

    def _take_turns(self, address: Address, raw: str, end: str) -> str:
        """Write a local part, in another turn if its surrogate stands for another one."""
        key = raw.lower()
        turns = range(TRIES) if key not in self._turns else [self._turns[key]]
        made = ""
        for turn in turns:
            before = made
            self._turns[key] = turn
            made = self._write_local(address, turn) + end
            if made == before or self._taken.take(made, raw):
                break
        return made

    def _write_local(self, address: Address, turn: int, kept: Collection[str] = ()) -> str:
        """Write the names and numbers of a local part; words of `kept` stay."""
        names, out = address.read_names(self._cast), []
        for i, token in enumerate(address.tokens):
            if token.lower() in kept:
                out.append(token)
            elif humps := self._write_humps(token, turn):
                out.append(humps)
            elif i in names:
                words = (self._spell(word, "a" * len(word.key), turn) for word in names[i])
                out.append(match_case("".join(words), token))
            elif token.isdigit() and (form := read_form("EMAIL", token)):
                out.append(self._draw_digits(form, address.key, turn))
            else:
                out.append(token)
        return "".join(out)

    def _write_humps(self, token: str, turn: int) -> str:
        """Write the full names in a run of letters in camel case; "" where there is none."""
        words = read_humps(token, self._cast)
        return "".join(
            self._spell(word, hump, turn) if word else hump for hump, word in words or ()
        )

    def _write_url_piece(self, piece: UrlPiece) -> str:
        if piece.kind == "host":
            return self._find("domain", piece.text.lower(), SCRIPT).lower() + DOMAIN
        if piece.kind == "address":
            return self.write_form("IP_ADDRESS", piece.text) or piece.text
        return self._write_local(piece.handle, 0, PATH_WORDS) if piece.handle else piece.text

    def _write_phrase_piece(self, piece: PhrasePiece) -> str:
        if piece.kind == "word":
            own = self._find(piece.role, piece.key, SCRIPT)
            return (match_case(own, piece.text) if piece.text.isalpha() else own) + piece.end
        if piece.kind == "code":
            return self.write_form("ZIP_CODE", piece.text) or piece.text
        form = piece.form
        return self._draw_digits(form, piece.key, 0) if form else piece.text

    def _permute(self, form: SurrogateForm, name: str) -> Iterator[str]:
        """Yield what may stand at the free places of a form; the first is a permutation."""
        return permute(
            "".join(form.raw[i] for i in form.free),
            [form.alphabets[i] for i in form.free],
            self._link,
            form.name + name,
            lambda drawn: form.passes(form.fill(drawn)),
        )

    def _draw_digits(self, form: SurrogateForm, name: str, turn: int) -> str:
        """Return digits of an address; another turn gives others, as far as there are any."""
        made = list(islice(self._permute(form, name), turn + 1))
        return form.fill(made[-1])

    def _spell(self, word: NameWord, raw: str, turn: int) -> str:
        """Return the surrogate of a word of a name, in the capitals of `raw`; another turn gives
        another initial, if no name tells it."""
        if word.role == "particle":
            return raw
        script = read_script(word.key)
        if word.role != "initial":
            own = raw.lower()
            key = f"{word.key}{_SPELLED}{own}" if own in self._respelled else word.key
            return match_case(self._find(self._cast.role_of(word), key, script), raw)
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
            # The words of this request may rule out a name that an earlier turn drew.
            is_domain = role == "domain"
            earlier = self._taken.find_domain(key) if is_domain else self._taken.find_word(key)
            earlier = earlier and earlier.removesuffix(DOMAIN)
            listed = "surname" if is_domain else role
            if earlier and load_names()[script].role_of(earlier.lower()) == listed:
                self._names[place] = earlier.capitalize()
            else:
                self._names[place] = self._choose(role, key, script)
        return self._names[place]

    def _choose(self, role: str, key: str, script: str) -> str:
        names = load_names()[script]
        # Domains are made of surnames. Who is "she" beside the name is so beside its surrogate.
        given = role == "given"
        listed = (
            names.list_like(key.partition(_SPELLED)[0])
            if given
            else names.by_role.get(role, names.surnames)
        )
        noise = self._link(f"surrogate {role} {script} {key}")
        if given and key in names.given_keys:  # so that common names never collide
            own = listed[self._order(script, listed)[names.given_keys[key]]]
            if self._take(own, (role, key, script)):
                return own
        # Where a name was found in no draw of many, few are free: others are made of two at once.
        for joined in (True,) if listed[0] in self._used_up else (False, True):
            for _ in range(TRIES):
                own = listed[draw_below(len(listed), noise)]
                if joined:
                    own += listed[draw_below(len(listed), noise)].lower()
                if self._take(own, (role, key, script), joined=joined):
                    return own
            self._used_up.add(listed[0])
        return own

    def _order(self, script: str, listed: Sequence[str]) -> list[int]:
        """Return the place of the surrogate of each name of a list: the next one in a random
        order, a permutation in which none stays."""
        name = f"{script} {listed[0]}"
        if name not in self._orders:
            order = self._link(f"surrogate order {name}").permutation(len(listed)).tolist()
            following = dict(zip(order, [*order[1:], order[0]], strict=True))
            self._orders[name] = [following[place] for place in range(len(listed))]
        return self._orders[name]

    def _take(self, name: str, owner: tuple[str, str, str], *, joined: bool = False) -> bool:
        """Take a name for a word, if it is free and no raw word, and shows none. One that is
        joined may: then the names have run out."""
        plain, key = fold_name(name), owner[1].partition(_SPELLED)[0]
        if self._is_raw(plain) or plain == key.partition(".")[0]:
            return False
        if not joined and self._shows(plain):
            return False
        return self._taken.take(name, key)

    def _shows(self, plain: str) -> bool:
        """Tell if a name has a raw word in it: `Roberta` shows `Robert`."""
        return any(
            plain[start:end] in self._raw
            for start in range(len(plain) - _SHOWN + 1)
            for end in range(start + _SHOWN, len(plain) + 1)
        )

    def _is_raw(self, text: str) -> bool:
        """Tell if a part, a word of a name or a word of a text is this one."""
        return text in self._raw or text in self._taken.words
