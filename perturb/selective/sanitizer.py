"""selective: replace only the parts that a policy marks as sensitive (SMDP, Maratkhan 2023).

The rest of a text is released unchanged and stays readable. `perturb.selective.policies` marks
the parts, `perturb.selective.replace` replaces them.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.mechanisms.base import Draw, Mechanism, Words, get_mechanism
from perturb.registry import register
from perturb.release import EMPTY, Guarantee, Known, Link, Perturbation, Span, Unit
from perturb.rng import secure_generator
from perturb.sanitizer import Demands, DocumentOptions, Marking, Sanitizer
from perturb.selective.clinical import drop_impersonal
from perturb.selective.detector import DETECTED, NAMES, DetectorPolicy
from perturb.selective.listings import drop_translated, find_in_listing
from perturb.selective.marked import MarkingMechanism
from perturb.selective.parameters import SelectiveParameters, check_thresholds
from perturb.selective.parts import (
    CUSTOM,
    Cover,
    ExceptTerms,
    KnownParts,
    Terms,
    check_terms,
    find_known,
    hash_terms,
)
from perturb.selective.patterns import NAME, RULES, shape_types
from perturb.selective.plugged import BUILT_IN, PluggedPolicy
from perturb.selective.policies import (
    PatternPolicy,
    Policy,
    collect_parts,
    compile_patterns,
    drop_numbered,
    merge,
    settle,
    widen,
)
from perturb.selective.profiles import (
    PROFILES,
    SECRET_TYPES,
    Actions,
    Profile,
    check_actions,
    drop_claimed,
)
from perturb.selective.public import (
    PUBLIC_VERSION,
    drop_public,
    find_beside,
    find_companions,
    load_public,
)
from perturb.selective.replace import make_text_link, refuse_parts, replace_parts
from perturb.selective.surrogates.dates import SHIFTS, shift_date
from perturb.selective.surrogates.kinds import DATES, PERSONS
from perturb.selective.surrogates.names import name_words, names_digest
from perturb.selective.values import read_value
from perturb.selective.verify import check_replaced, find_secrets
from perturb.units import build_skeleton, split_units
from perturb.vocabulary.frequencies import common_words, proper_words
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.vocabulary.word_list import dictionary_words
from perturb.work import compute_once, keep_result

__all__ = ["PartByPart", "Selective", "SelectiveParameters"]


DRAWS = 12  # increment whenever a surrogate or a value is drawn, or written, in another way
_FIND_NAMES = frozenset(("regex", "detector"))


@register
class Selective(MarkingMechanism):
    """Replace the parts that a policy marks, over one table.

    Args:
        policy: marks the sensitive parts in place of the policy that the parameters name: any
            object with `find(text) -> spans` (`perturb.selective.policies.Policy`). `patterns`
            and `entities` do not apply to it.

    >>> from perturb import get_mechanism
    >>> text = "Write to anna@example.org by Monday."
    >>> mechanism = get_mechanism("selective", entities=("EMAIL_ADDRESS",))
    >>> [text[span.start : span.end] for span in mechanism.spans(text)]
    ['anna@example.org']
    """

    name = "selective"
    summary = "replaces only what is sensitive and keeps the rest"
    about = (
        "What is sensitive, by a profile from keys alone to every word, is replaced by a stand-in "
        "of the same form or by a tag; the rest is released unchanged. Each type of parts may "
        "have an action of its own (`actions`): `keep`, `value` (a number near it: metric "
        "privacy), `replace` (every word goes through an inner mechanism and has its guarantee, "
        "with the figures above: SMDP, Maratkhan 2023), `surrogate`, `tag` or `refuse`. Nothing "
        "is guaranteed for the rest, nor for parts that are not found, and the release shows "
        "which parts were replaced. Pick it where most of the text is not sensitive and has to "
        "stay readable."
    )
    parameter_type = SelectiveParameters
    parameters: SelectiveParameters
    audit_notes = ("the figures are of a word that is drawn anew; the rest is sent",)

    def __init__(
        self,
        table: EmbeddingTable,
        parameters: SelectiveParameters,
        policy: Policy | None = None,
    ) -> None:
        super().__init__(table, parameters)
        self.inner = get_mechanism(parameters.inner, table, epsilon=parameters.epsilon)
        self.exact = self.inner.exact
        self.consistent = parameters.consistent
        self._own = policy
        self._set_policies([policy] if policy else _build_policies(parameters, table.vocabulary))
        self._actions = Actions(check_actions(parameters.actions))
        self._own_types = frozenset(dict(parameters.patterns))
        self._widened = frozenset(dict(parameters.thresholds))  # marked wherever they stand
        self.marks = bool(self._policies)
        self._common = common_words(table.vocabulary)

    def _set_policies(self, finders: Sequence[Policy]) -> None:
        """Set the policies: these, except in allowed terms, and the denied terms."""
        allow, deny = self.parameters.allow, self.parameters.deny
        self.finders = tuple(finders)
        self._allowed, self._denied = Terms(allow), Terms(deny)
        found = [ExceptTerms(each, self._allowed) for each in finders] if allow else finders
        self._policies = [*found, self._denied] if deny else list(found)

    @property
    def drawn_by(self) -> Mechanism:
        return self.inner

    @property
    def guarantee(self) -> Guarantee:
        """Return the guarantee of the whole text: none.

        Unmarked text is released unchanged, and the release shows which parts are marked. The
        statement gives the guarantee for the words of marked parts.
        """
        if not self._policies:
            return self.inner.guarantee
        told = [
            "parts with a surrogate or a tag have no guarantee and no ε: it is drawn under the "
            "tenant's key and shows which of them are equal"
        ]
        if self._actions.uses("replace"):
            inner = self.inner.guarantee.statement.replace("each released token", "each of these")
            told.insert(0, f"for the words of parts that are replaced word by word alone: {inner}")
        if self._actions.uses("value"):
            each = self.parameters.value_epsilon
            told.append(
                f"the place s of a value on its public grid is drawn with P(s | x) ∝ "
                f"e^(−{each:g}·|x − s|/2), which is {each:g}·|x − x'|-private between any two "
                "places x and x' (metric privacy), given what is kept: the sign, the unit, the "
                "number of decimals, the form of a date and its order of day and month, and the "
                "words around it"
            )
        return Guarantee(
            kind="none",
            nominal=self.epsilon,
            epsilon=float("inf"),
            statement=(
                "the nominal ε is not an LDP bound of the text: unmarked text is released "
                f"unchanged, and the marks are visible; {'; '.join(told)}"
            ),
            unit="marked part",
        )

    @property
    def part_guarantee(self) -> Guarantee:
        return self.inner.guarantee

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Return the policies that mark; none where the whole text is perturbed."""
        return tuple(self._policies)

    @property
    def marking(self) -> Marking | None:
        if not self._policies:
            return None
        own = self._own_types | ({CUSTOM} if self.parameters.deny else frozenset())
        names = bool(_FIND_NAMES & set(self.parameters.policy_names))
        policies = self.policies
        if self.parameters.profile:  # its finders would find in an instruction what it may name
            names, own_finders = False, self.finders[-1:] if self._own_types else ()
            policies = (*own_finders, self._denied) if self.parameters.deny else own_finders
        return Marking(policies, own, names, self.parameters.allow)

    def documents(self, options: DocumentOptions, max_tokens: int | None = None) -> Sanitizer:
        if not self._policies:
            return super().documents(options, max_tokens)
        return PartByPart(self, options, max_tokens)

    def spans(self, text: str, known: Known = EMPTY) -> tuple[Span, ...] | None:
        if not self._policies:
            return None
        if known:
            return self._mark(text, known)
        return compute_once(self._mark, text, self.finder and f"mark {self.finder}")

    def _mark(self, text: str, known: Known = EMPTY) -> tuple[Span, ...]:
        """Return the parts of a text to replace, in order and disjoint."""
        found, kept = self._sort(text)
        rank = self._actions.rank
        spans = settle(text, found, known, self._common, rank)
        if kept and spans:
            treated = Cover(spans)
            overlapping = [span for span in kept if treated.meets(span.start, span.end)]
            spans = merge([*spans, *overlapping], rank)
        if not self.parameters.allow:
            return spans
        allowed, denied = Cover(self._allowed.find(text)), Cover(self._denied.find(text))
        return tuple(
            span
            for span in spans
            if denied.meets(span.start, span.end) or not allowed.holds(span.start, span.end)
        )

    @property
    def value_epsilon(self) -> float:
        return self.parameters.value_epsilon

    @property
    def draws_names(self) -> bool:
        return self._actions.uses("surrogate")

    def action(self, type_: str) -> str:
        return self._actions.of(type_)

    def redraws(self, type_: str, text: str) -> bool:
        number = type_ not in SECRET_TYPES and text.isascii() and text.isdigit()
        return number and self._actions.is_left_to_tags(type_)

    def count_kept(self, text: str, spans: Sequence[Span]) -> Mapping[str, int]:
        left = list(self._sort(text)[1])
        if self._profile:
            sensitive = {*compute_once(self._find_sensitive, text)}
            left += (s for s in compute_once(self._find_any, text) if s not in sensitive)
        treated = Cover(spans)
        own = (span.type for span in left if not treated.meets(span.start, span.end))
        return dict(sorted(Counter(own).items()))

    def _sort(self, text: str) -> tuple[Sequence[Span], Sequence[Span]]:
        """Return the findings in a text that are not kept, and the kept ones as whole words."""
        find = self._find_sensitive if self._profile else self._find_any
        found = compute_once(find, text, self.finder and f"find {self.finder}")
        if not self._sorts:
            return found, ()
        found = tuple(drop_claimed(found, self._own_types))
        kept = [span for span in found if self.action(span.type) == "keep"]
        return [s for s in found if self.action(s.type) != "keep"], widen(text, kept)

    @property
    def _sorts(self) -> bool:
        """Tell if some types are not simply replaced, so that findings are sorted by type."""
        return self._actions.uses("keep") or self._actions.uses("refuse")

    @cached_property
    def finder(self) -> str:
        if self._own is not None:
            return ""
        return sha256(json.dumps(self.identity(), default=str).encode()).hexdigest()

    @cached_property
    def _profile(self) -> Profile | None:
        """Return the profile, if it leaves some of what is found."""
        profile = PROFILES.get(self.parameters.profile)
        return profile if profile and (profile.keeps_public or profile.beside) else None

    def _find_sensitive(self, text: str) -> tuple[Span, ...]:
        return find_in_listing(self._apply_profile, text)

    def _find_any(self, text: str) -> tuple[Span, ...]:
        if not self.parameters.profile:
            return self._find(text)
        return find_in_listing(partial(compute_once, self._find), text)  # `_apply_profile` does

    def _apply_profile(self, text: str) -> tuple[Span, ...]:
        """Return the findings that are sensitive by the profile."""
        assert self._profile is not None
        found = compute_once(self._find, text)
        profile, kept = self._profile, found
        if profile.keeps_public:
            kept = drop_public(text, found, profile.tied - self._widened)[0]
        alone = (
            span.type not in self._widened
            and profile.needs_others(span.type, text[span.start : span.end])
            for span in kept
        )
        if all(alone):
            return ()
        if not profile.keeps_public:
            return kept
        companions = find_companions(text, found, kept)
        return (*kept, *companions, *find_beside(text, found, (*kept, *companions)))

    def _find(self, text: str) -> tuple[Span, ...]:
        found = tuple(span for policy in self._policies for span in policy.find(text))
        if not self.parameters.profile:
            return found
        found = drop_numbered(text, found, self._own_types)
        found = drop_translated(text, found, self._own_types)
        return drop_impersonal(text, found, self._own_types)

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return self.inner.draw(words, rng)

    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        return self.inner.channel(words)

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return self.inner.keep_rate(words)

    def strengthen(self, demands: Demands, *, pass_weaker: bool = False) -> Sanitizer:
        if not self._policies:
            return super().strengthen(demands, pass_weaker=pass_weaker)
        parameters, known = self.parameters, self.parameters.types
        lowered = dict(check_thresholds(demands.thresholds, parameters.policy_names))
        if lowered and not any(isinstance(each, DetectorPolicy) for each in self.finders):
            raise ParameterError("thresholds must be left out where the detector marks nothing")
        pairs = check_actions(demands.actions, known and known.union(lowered))
        deny = check_terms("deny", (*parameters.deny, *check_terms("deny", demands.deny)))
        if not pass_weaker:
            self._actions.check_weaker(pairs, known or ())
        made = copy.copy(self)
        made.__dict__.pop("finder", None)
        made._widened = self._widened.union(lowered)
        made._actions = self._actions.strengthen(pairs)
        more = {type_: p for type_, p in lowered.items() if known and type_ not in known}
        made.parameters = replace(
            parameters,
            actions=made._actions.pairs,
            deny=deny,
            thresholds={**dict(parameters.thresholds), **more},
        )
        if lowered or deny != parameters.deny:
            made._set_policies(
                [p.lower(lowered) if isinstance(p, DetectorPolicy) else p for p in self.finders]
            )
        return made

    def identity(self) -> dict[str, Any]:
        found = {**super().identity(), "inner": self.inner.identity()}
        for name in ("allow", "deny"):
            found[name] = hash_terms(found[name])
        if self._own is not None:
            found["policy"] = f"own: {type(self._own).__qualname__}"
        if self.draws_names:
            found["names"] = names_digest()
        if self.draws_names or self._actions.uses("value"):
            found["draws"] = DRAWS
        if self._profile and self._profile.keeps_public:
            found["public"] = [PUBLIC_VERSION, load_public().sha256]
        # A draw made under rules that mark less must not be released under rules that mark more.
        found["marks"] = [RULES, *(getattr(policy, "version", "") for policy in self._policies)]
        return found


def _build_policies(parameters: SelectiveParameters, vocabulary: Vocabulary) -> list[Policy]:
    """Build the policies that the parameters name; none for `all`."""
    if parameters.policy == "all":
        return []
    own, wanted = compile_patterns(dict(parameters.patterns)), parameters.entities
    thresholds = dict(parameters.thresholds)
    if wanted:
        own = tuple(shape for shape in own if shape.type in wanted)
        wanted = tuple(type_ for type_ in wanted if type_ not in {shape.type for shape in own})
    if profile := PROFILES.get(parameters.profile):
        types = _choose_types(parameters.policy_names, profile, thresholds)
        thresholds = profile.thresholds | thresholds
    elif parameters.entities and not wanted:  # the operator's own expressions find them all
        types = dict.fromkeys(parameters.policy_names)
    else:
        types = _split_types(parameters.policy_names, wanted)
    proper, common = proper_words(vocabulary), common_words(vocabulary)
    policies: list[Policy] = []
    for name, chosen in types.items():
        if name not in BUILT_IN:
            policies.append(PluggedPolicy(name))
        elif chosen is None:
            continue  # others find all requested types
        elif name == "detector":
            names = PatternPolicy.shipped([NAME], proper, common, dictionary_words())
            named = profile.named if profile else None
            policies.append(DetectorPolicy(chosen, names, thresholds=thresholds, named=named))
        elif name == "digits":
            policies.append(PatternPolicy.digits(chosen))
        else:
            policies.append(PatternPolicy.shipped(chosen, proper, common, dictionary_words()))
    return [*policies, PatternPolicy(own)] if own else policies


def _choose_types(
    names: tuple[str, ...], profile: Profile, more: Mapping[str, float]
) -> dict[str, tuple[str, ...] | None]:
    """Return the types of a profile that each policy looks for; none of them for all, None where
    a policy has nothing to look for."""
    chosen: dict[str, tuple[str, ...] | None] = dict.fromkeys(names, ())
    known = frozenset(shape_types())
    if "regex" in names and profile.types is not None:
        chosen["regex"] = tuple(sorted(known & profile.types))
    elif "regex" in names and "detector" in names:
        chosen["regex"] = tuple(sorted(known - {NAME}))
    if "detector" in names and profile.detected is not None:
        chosen["detector"] = tuple({**dict(profile.detected), **more}) or None
    return chosen


def _split_types(
    names: tuple[str, ...], wanted: tuple[str, ...]
) -> dict[str, tuple[str, ...] | None]:
    """Return the requested types that each policy looks for; none of them for all, None where a
    policy knows none of them.

    Next to the detector, which reads the sentence, `regex` does not take capitals for names.
    """
    split: dict[str, tuple[str, ...] | None] = dict.fromkeys(names, wanted)
    if "detector" not in split:
        return split
    patterns = frozenset(shape_types()) - {NAME} if "regex" in split else frozenset()
    known = patterns | {NAME, *DETECTED}
    if not known.issuperset(wanted):
        raise ParameterError(f"entities must be among {', '.join(sorted(known))}")
    if patterns:
        split["regex"] = tuple(sorted(patterns.intersection(wanted) if wanted else patterns))
    named = {*wanted, *NAMES} if NAME in wanted else wanted
    split["detector"] = tuple(type_ for type_ in DETECTED if type_ in named)
    return {name: types or (None if wanted else ()) for name, types in split.items()}


class PartByPart(Sanitizer):
    """Replace the parts of documents that a mechanism marks.

    It is not divisible: the sensitive parts of one text depend on the other texts.
    """

    def __init__(
        self,
        mechanism: MarkingMechanism,
        options: DocumentOptions,
        max_tokens: int | None = None,
    ) -> None:
        self.name = mechanism.name
        self.options = options
        self.max_tokens = max_tokens
        self.vocabulary = mechanism.table.vocabulary
        self._marking = mechanism

    @property
    def guarantee(self) -> Guarantee:
        return self._marking.guarantee

    @property
    def marking(self) -> Marking | None:
        return self._marking.marking

    @property
    def restorable(self) -> bool:
        return True

    def identity(self) -> dict[str, Any]:
        return {**self._marking.identity(), **asdict(self.options)}

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        rng = rng or secure_generator()
        self._check_length(text)
        spans = self._marking.spans(text, known) or ()
        refuse_parts(self._marking, text, spans)
        noise = (link or make_text_link(rng)) if self._marking.consistent else None
        return replace_parts(text, spans, self._marking, self.options, rng, noise, known)

    def _check_length(self, text: str) -> None:
        if not self.vocabulary.fits(text, self.max_tokens):
            self.vocabulary.encode_once(text, at_most=self.max_tokens)

    def verify(self, raw: str, released: Perturbation) -> None:
        if not self._finder:
            self._verify(raw, released)
            return
        texts = raw, released.text, repr((released.words, released.replaced))
        keep_result(partial(self._verify, raw, released), f"verify {self._finder}", *texts)

    def _verify(self, raw: str, released: Perturbation) -> tuple[()]:
        spans = self._marking.spans(raw) or ()
        check_replaced(self._marking, self.options, raw, spans, released)
        return ()

    @cached_property
    def _finder(self) -> str:
        """Return the name of the marks and options; "" if the marks have none."""
        return self._marking.finder and f"{self._marking.finder} {self.options}"

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        self._check_length(text)
        if least is None or text.count("\n") < 2:
            if text.strip() == text != "":
                return [Unit(text)]
            least = None
        return split_units(text, build_skeleton(text), least)

    def findings(self, text: str) -> Known:
        return collect_parts(text, self._marking.spans(text) or ())

    def index_known(self, known: Known) -> Known:
        return KnownParts(known, common_words(self.vocabulary))

    def known_in(self, text: str, known: Known) -> Known:
        if not isinstance(known, KnownParts):
            return find_known(text, known, common_words(self.vocabulary))
        if not self._finder:
            return self._find_known(text, known)

        def find_ranks() -> tuple[int, ...]:
            return known.rank(self._find_known(text, known))

        ranks = keep_result(find_ranks, f"known {self._finder}", text, known.digest)
        return known.choose(ranks)

    def _find_known(self, text: str, known: KnownParts) -> Known:
        found = known.find(text)
        if not self._marking.draws_names:
            return found
        named = [part for part, type_ in found.items() if type_ in PERSONS]
        return {**known.find_full_names(named), **found}

    def secrets(
        self, raw: str, released: Perturbation, *, unrepeatable: bool = False
    ) -> tuple[str, ...]:
        names = name_words() if self._marking.draws_names else frozenset[str]()
        entities = ((part.type, raw[part.start : part.end]) for part in released.replaced or ())
        values = frozenset(entity for type_, entity in entities if self._is_moved(type_, entity))
        return find_secrets(
            self._marking.table,
            raw,
            released,
            unrepeatable=unrepeatable,
            names=names,
            values=values,
        )

    def _is_moved(self, type_: str, entity: str) -> bool:
        """Tell if a part is released as a value or a date of its kind, which may be another's."""
        action = self._marking.action(type_)
        if action == "surrogate":
            return type_ in DATES and shift_date(entity, SHIFTS[0]) is not None
        return action == "value" and read_value(type_, entity) is not None
