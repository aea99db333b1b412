"""Tell that what the record of a patient or of a court names is nobody's.

- Eponyms: diseases, signs, scales and devices have people's names: `enfermedad de Crohn`,
  `Babinski negativo`, `Glasgow 15`.
- Doses, values of the laboratory and vital signs: `20 mg`, `Hb 12,9 g/dl`, `TA 165/95 mmHg`. What
  a person weighs or measures is not among them, nor how long something lasts.
- Departments, headings and the labels of forms: `Servicio de Cardiología`, `Fecha de Ingreso:`.
- In the record of a patient, words of medicine: illnesses, examinations, drugs.
- Statutes and their articles: `article L. 1142-1 du code`, `Ley 35/2015`, `§ 91a ZPO`.
- Titles (`Mme`, `Dr.`), and findings that hold nothing but articles and prepositions.

Only this is taken out of a finding; what else it holds stays one. A part that is found elsewhere
in the text is sensitive here, too: a patient named Wilson makes `Wilson` hidden everywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence

from perturb.release import Span
from perturb.selective.clinical.eponyms import EPONYMS, read_eponym
from perturb.selective.clinical.medicine import is_medicine
from perturb.selective.clinical.phrases import (
    ACTING,
    ANALYTE,
    COURT,
    DEPARTMENT,
    DOSING,
    LABEL,
    LEADING,
    MEASURE,
    MISTER,
    OF_COURT,
    PERCENT,
    STATUTE,
    STATUTE_CLUE,
)
from perturb.selective.clinical.words import (
    ADDRESS_ALONE,
    ADDRESSES_BORNE,
    COMMON_SURNAMES,
    COUNTED,
    EDGES,
    ENGLISH_EDGES,
    FIELDS_OF_WORK,
    GRAMMAR_WORDS,
    HEADINGS,
    HEADINGS_BORNE,
    LEAST_SURE,
    NAME_EDGES,
    NAMED,
    OF_MEDICINE,
    PARTIES,
    POSTS,
    SIDES,
    SMALL_WORDS,
    SURE_PARTIES,
    SURNAMES_TOO,
    TYPES,
    WORD,
)
from perturb.selective.patterns.everyday import EVERYDAY, GRAMMAR, LANGUAGES, is_everyday
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.persons import WRITTEN_TITLE
from perturb.text.fold import fold_name
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = ["drop_impersonal", "is_of_patient"]

# A record of a patient has four of these at least.
_PATIENT = tuple(
    re.compile(source, re.IGNORECASE)
    for source in (
        r"\d ?(?:mg|mcg|[µμ]g|ml|UI|IU)\b",
        r"\b(?:mg|g|ng|U|UI|mmol|mEq|[µμ]mol)/(?:d?l|ml|mol|24 ?h)\b|\bmmHg\b|\b(?:lpm|bpm)\b"
        r"|/mm3",
        r"\b(?:antecedentes|anamnesis|exploraci[óo]n|diagn[óo]stico|tratamiento"
        r"|juicio cl[íi]nico|enfermedad actual)\b",
        r"\b(?:ant[ée]c[ée]dents|examen clinique|compte[- ]rendu|traitement|ordonnance"
        r"|certificat médical|hospitalis\w{1,6})\b",
        r"\b(?:anamnese|befund|diagnosen?|therapie|entlassung\w{0,8}|op-bericht|station[äa]re\w?"
        r"|attest)\b",
        r"\b(?:anamnesi|referto|ricover\w{1,4}|dimission\w|esame|terapia|prognosi|diagnosi)\b",
        r"\b(?:internamento|alta|exame|queixa|hda|prontu[áa]rio|utente|doente|paciente)\b",
        r"\b(?:chief complaint|history of present illness|hpi|discharge|preoperative|impression"
        r"|diagnos[ie]s|medications?"
        r"|specimen|biopsy|admitted)\b",
        r"\b(?:paciente|paziente|patient(?:e|in|en)?|pt\.?|pat\.|paz\.)(?!\w)",
        r"\b(?:rx|tac|tc|rm|rmn|ecg|ekg|eco|irm|mrt|ct|ecograf[íi]a|biopsia|radiograf[íi]a"
        r"|hemograma|anal[íi]tica|scanner)\b",
        r"\b(?:apgar|glasgow|gcs|barthel|karnofsky|ecog|asa|nyha|babinski|romberg|murphy|tnm"
        r"|pT\d)\b",
        r"\b(?:servicio|service|klinik|reparto|servi[çc]o|department|unit[àé]?|unidad) (?:de|di"
        r"|für|of|d['’]|operativa)",
        r"\b(?:m[ée]dico|m[ée]dica|m[ée]decin|arzt|[äa]rztin|dr|dra|infermier\w|enfermer\w)\b",
        r"\b(?:échelle|score|indice|escala|índice|scala|skala|échographie|ecograf[íi]a|\w{3,12}"
        r"(?:ologue|ólog[oa]))\b",
        r"\b(?:dosis|comprimidos?|gouttes|gotas|cp|i\.?v\.?|v\.?o\.?|sc|im|cada \d{1,2} ?h)\b",
    )
)
_ENOUGH = 4


def is_of_patient(text: str) -> bool:
    """Tell if a text is the record of a patient, by its headings, units and words.

    >>> is_of_patient("Paciente con dolor. TA 120/80 mmHg. Exploración: normal. Omeprazol 20 mg.")
    True
    >>> is_of_patient("Call the patient at ten.")
    False
    """
    return sum(clue.search(text) is not None for clue in _PATIENT) >= _ENOUGH


def drop_impersonal(
    text: str, findings: Iterable[Span], own: Collection[str] = ()
) -> tuple[Span, ...]:
    """Return the findings without what names nobody (see the module), in the order given.

    >>> drop_impersonal("signo de Babinski", [Span(9, 17, "PERSON")])
    ()
    >>> drop_impersonal("Sr. Babinski", [Span(4, 12, "PERSON")])
    (Span(start=4, end=12, type='PERSON'),)

    Args:
        own: types that the operator named, of which every finding counts.
    """
    findings = tuple(findings)
    types = TYPES.difference(own)
    if not any(span.type in types for span in findings):
        return findings
    patient = is_of_patient(text)
    places = sorted(_find_phrases(text, patient))
    ends = _reach(places)
    return tuple(
        left
        for span in findings
        for left in (_leave(text, span, places, ends, patient) if span.type in types else (span,))
    )


def _find_phrases(text: str, patient: bool) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Yield the places of phrases that name nobody, with the types that may be found there."""
    for match in EPONYMS.finditer(text):
        if place := read_eponym(text, match, patient=patient):
            yield *place, TYPES
    counted = COUNTED | NAMED - {"PERSON", "NAME"} | {"DEMOGRAPHIC"}
    measures = (MEASURE, ANALYTE, DOSING, PERCENT) if patient else ()
    phrases = (*((DEPARTMENT,) if patient else ()), LABEL, COURT, ACTING)
    for patterns, types in ((measures, counted), (phrases, TYPES)):
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield *match.span(), types
    court = OF_COURT.search(text) is not None
    for match in LEADING.finditer(text) if patient or court else ():
        yield *match.span(), NAMED
    for match in MISTER.finditer(text) if court or (patient and "Mme" in text) else ():
        yield *match.span(), NAMED
    if STATUTE_CLUE.search(text):
        for match in STATUTE.finditer(text):
            yield *match.span(), TYPES - {"NAME", "PERSON"}


def _reach(places: Sequence[tuple[int, int, frozenset[str]]]) -> int:
    """Return the length of the longest phrase."""
    return max((end - start for start, end, _ in places), default=0)


def _leave(
    text: str,
    span: Span,
    places: Sequence[tuple[int, int, frozenset[str]]],
    longest: int,
    patient: bool,
) -> Iterator[Span]:
    """Yield what is left of a finding; each line counts by itself."""
    if span.type == "TITLE":
        titled = _TITLE.match(text, span.start) is not None
        if not titled or not (patient or OF_COURT.search(text)):
            yield span
        return
    if span.type == "STREET_ADDRESS" and _DOCTOR.search(text, span.start, span.end):
        return
    first = bisect_left(places, span.start - longest, key=lambda place: place[0])
    start, pieces = span.start, []
    for low, high, types in places[first:]:
        if low >= span.end:
            break
        if high <= start or span.type not in types:
            continue
        if low > start:
            pieces.append((start, low))
        start = max(start, high)
    if start < span.end:
        pieces.append((start, span.end))
    lines = [line for piece in pieces for line in _cut_lines(text, *piece)]
    if span.type in OF_MEDICINE:
        lines = [_trim(text, *line, span.type) for line in lines]
    kept = [line for line in lines if _may_be_somebodys(text, *line, span.type, patient)]
    if len(kept) == len(lines) and pieces == [(span.start, span.end)]:
        if len(lines) == 1:
            yield Span(*lines[0], span.type)
        else:
            yield span
        return
    for start, end in kept:
        words = [*WORD.finditer(text, start, end)]
        little = _list_little(text, words, [fold_name(word[0]) for word in words], span.type)
        told = [word for word, is_little in zip(words, little, strict=True) if not is_little]
        if told and not all(len(word[0]) == 1 and not word[0].isupper() for word in words):
            yield Span(told[0].start(), told[-1].end(), span.type)


def _cut_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while (cut := text.find("\n", start, end)) >= 0:
        if start < cut:
            yield start, cut
        start = cut + 1
    if start < end:
        yield start, end


# Directly before what somebody is called.
_TITLE_BEFORE = re.compile(
    rf"(?<!\w)(?i:{WRITTEN_TITLE}|rev|reverend|hon|dra|col|gen|maj|cpl|pvt|insp|sir|lady|lord|dame"
    r"|don|doña|dona|meester|docteur|doctora?|doutora?|doktor|dottore|dottoressa|professeur"
    r"|professore|professora?|mme?s|mmes|messrs|mesdames|messieurs|herren|familie|vs|v|st|me|pr"
    r"|madam|ma['’]am|profesora?|maestr[oa]|patiente?|paciente|paziente)"
    r"\.?(?:ª|ssa|ra)?[ \xa0\t]{1,3}\Z"
)
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,30})\.?[ \xa0\t-]{1,3}\Z")
_CALLED_REACH = 36
_ARTICLE_BEFORE = re.compile(
    r"(?<!\w)(?:a|o|as|os|um|uma|la|las|los|les|une?|una|uno|il|gli|l['’]|het|een|da|do|na|no|della"
    r"|del|alla|nella|das|eine?)(?:[ \xa0]|(?<=['’]))\Z"
)
_IN_BEFORE = re.compile(r"(?<!\w)(?:in|im|en|em|dans|nel|de|di)[ \xa0]\Z")
_JUDGED_BEFORE = re.compile(r"(?<!\w)(?i:de[rmns]|die|das|vom|zum|zur|im)[ \xa0]\Z")
_AROUND = 120  # characters, in which a text shows its language


def _is_called_by(text: str, start: int) -> bool:
    """Tell if what begins at a place stands directly behind a title or a given name."""
    before = text[max(0, start - _CALLED_REACH) : start]
    if _TITLE_BEFORE.search(before):
        return True
    word = _WORD_BEFORE.search(before)
    if word is None:
        return False
    small = word[1].lower()
    return is_given(small) and small not in GRAMMAR_WORDS and small not in FUNCTION_WORDS


def _is_spoken(text: str, word: re.Match[str], *, person: bool = False) -> bool:
    """Tell if an everyday word is one of the language of the words around it: in English,
    `Camino` is somebody."""
    small = word[0].lower()
    before = text[max(0, word.start() - _AROUND) : word.start()]
    around = {
        other
        for other in WORD.findall(before + " " + text[word.end() : word.end() + _AROUND])
        if other.islower() and other != small
    }
    english, around = around & FUNCTION_WORDS, around - FUNCTION_WORDS
    counts = {language: len(around & words) for language, words in LANGUAGES.items()}
    return any(
        small in LANGUAGES[language]
        and count == max(counts.values())
        and count > len(english - LANGUAGES[language])
        and (not person or not GRAMMAR[language].isdisjoint(around))
        for language, count in counts.items()
    )


def _is_little(text: str, word: re.Match[str], type_: str) -> bool:
    """Tell if an everyday word in small letters tells nothing of somebody. A person may be
    written so, too: `mein nachbar stark`."""
    small = word[0]
    if small not in EVERYDAY or small in SURNAMES_TOO or _is_called_by(text, word.start()):
        return False
    person = type_ in ("NAME", "PERSON")
    if type_ in NAMED and small not in GRAMMAR_WORDS:
        before = text[max(0, word.start() - 8) : word.start()]
        if not (_ARTICLE_BEFORE.search(before) or (not person and _IN_BEFORE.search(before))):
            return False
    return _is_spoken(text, word, person=person)


# Before a name, in the languages in which it is no part of the identity that is drawn.
_ADDRESS = re.compile(
    r"(?:ª\s+)?(?:(?:la|el|le|il|de|den|der|die|dem)\s)?"
    r"(?i:herrn?|heer|mevrouw|meneer|monsieur|madame|mesdames|messieurs|mademoiselle|maître|signora?"
    r"|signorina|sig(?:\.ra)?|senhora?|señora?|sra?|dott(?:\.ssa)?|collega|confrère|spett\.le|attn)"
    r"\.?\s+(?:D\.\s+)?(?=[^\W\d_a-zß-ÿ])"
)
_ADDRESSED = re.compile(r"!|[ \xa0][^\W\d_a-zß-ÿ]")
# What follows a name, of a degree or a membership: Imogen Tarrant RVN.
_AFTER_NAME = re.compile(
    r",? (?:\((?:Mrs|Mr|Ms|Miss|Dr)\)?|(?:BSc|MSc|MBA|PhD|DPhil|LLB|LLM|DDS|RVN|RGN|CPA|CFA|ACCA"
    r"|FCA|MRICS|FRICS|MRCVS|MRCP|FRCP|FRCS|MRCGP|OBE|MBE|CBE|Esq))\Z"
)


def _trim(text: str, start: int, end: int, type_: str) -> tuple[int, int]:
    """Return the place of a piece without what stands at its ends and tells nothing of somebody:
    everyday words, titles, parties of a trial: `somme de 700 euros`, `signora Iolanda`."""
    person = type_ in ("NAME", "PERSON")
    if person or type_ == "ORGANIZATION":
        if address := _ADDRESS.match(text, start, end):
            start = address.end()
        if after := _AFTER_NAME.search(text, max(start + 1, end - 12), end):
            end = after.start()
    words = [*WORD.finditer(text, start, end)]
    cased = not all(word[0].islower() for word in words)
    first, last = 0, len(words)
    while first < last and _tells_nothing(text, words[first], type_, cased):
        if not text[words[first].end() : words[first].end() + 1].isspace():  # ora.ai
            break
        if person and (first + 1 == last or words[first + 1][0].islower()):  # or cohen
            break
        first += 1
    while first < last and _tells_nothing(text, words[last - 1], type_, cased):
        if not text[words[last - 1].start() - 1].isspace():
            break
        if person and (first + 1 == last or words[last - 2][0].islower()):
            break
        last -= 1
    if first == last or (first == 0 and last == len(words)):
        return start, end
    return (
        words[first].start() if first else start,
        words[last - 1].end() if last < len(words) else end,
    )


def _tells_nothing(text: str, word: re.Match[str], type_: str, cased: bool) -> bool:
    """Tell if a word at the end of a finding is an everyday one, or says who somebody is in a
    trial, and nobody is called by it: `cased` if names have capitals in the finding."""
    small = word[0]
    side = fold_name(small) in SIDES and small.lower() not in ("klager", "klagers")
    if type_ in ("NAME", "PERSON"):
        known = side or small in NAME_EDGES
        return known and not _is_called_by(text, word.start())
    if type_ not in NAMED:
        return side or (small in EDGES and not _is_called_by(text, word.start()))
    if small in ENGLISH_EDGES:
        return True
    if side:
        return not _is_called_by(text, word.start())
    if small not in EDGES or _is_called_by(text, word.start()):
        return False
    return cased or (len(small) > 3 and small in GRAMMAR_WORDS and _is_little(text, word, type_))


def _may_be_somebodys(text: str, start: int, end: int, type_: str, patient: bool) -> bool:
    """Tell if the words of a piece of a finding may be somebody's."""
    words = [*WORD.finditer(text, start, end)]
    if not words:
        return True
    if _is_called_by(text, start) and not any(map(str.isdigit, text[start:end])):
        return True
    if type_ == "PERSON" and len(words) == 1 and words[0][0].lower() in ADDRESS_ALONE:
        return words[0][0].lower() in ADDRESSES_BORNE and not _ADDRESSED.match(text, end)
    if len(words) == 1 and type_ in NAMED and _opens_sentence(text, words[0], type_):
        return False
    if _HOST.fullmatch(text, start, end):  # ora.ai
        return True
    if type_ == "ORGANIZATION" and _is_post(words):
        return False
    plain = [fold_name(word[0]) for word in words]
    little = _list_little(text, words, plain, type_)
    if all(little):
        return False
    if type_ in OF_MEDICINE and all(
        is_little or _is_party(text, word, small, type_, any(little))
        for word, small, is_little in zip(words, plain, little, strict=True)
    ):
        return False
    told = patient and type_ in OF_MEDICINE
    return not (told and is_medicine(text, words, plain, little, type_))


def _list_little(
    text: str, words: Sequence[re.Match[str]], plain: Sequence[str], type_: str
) -> list[bool]:
    """Tell of each word if it is an article, a preposition or the like: in small letters, or in a
    heading, which is in capitals."""
    heading = len(words) > 2 and text[words[0].start() : words[-1].end()].isupper()
    named = type_ in NAMED
    return [
        (small in SMALL_WORDS and (heading or word[0].islower()))
        or _is_little(text, word, type_)
        or (not named and len(small) >= LEAST_SURE and _is_spoken(text, word, person=True))
        or (word[0].isupper() and small in HEADINGS and (not named or _is_heading(text, word)))
        for word, small in zip(words, plain, strict=True)
    ]


def _is_heading(text: str, word: re.Match[str]) -> bool:
    """Tell if all words of the line of a word are of headings, and one of them is nobody's
    surname."""
    start = text.rfind("\n", max(0, word.start() - 60), word.start()) + 1
    end = text.find("\n", word.end(), word.end() + 60)
    if (start == 0 and word.start() > 60) or (end < 0 and len(text) - word.end() > 60):
        return False
    line = [fold_name(other) for other in WORD.findall(text[start : end if end >= 0 else None])]
    return all(other in HEADINGS or other in SMALL_WORDS for other in line) and not all(
        other in HEADINGS_BORNE or other in SMALL_WORDS for other in line
    )


def _is_post(words: Sequence[re.Match[str]]) -> bool:
    """Tell if words that are found as a firm say what somebody is in one: a post and ordinary
    words."""
    small = [word[0].lower() for word in words]
    return (
        1 < len(small) < 5
        and not POSTS.isdisjoint(small)
        and all(
            word in POSTS
            or word in FIELDS_OF_WORK
            or (
                (is_everyday(word) or (is_ordinary_word(word) and not is_given(word)))
                and word not in SURNAMES_TOO
                and word not in COMMON_SURNAMES
            )
            for word in small
        )
    )


_HOST = re.compile(r"[a-z\d-]{2,60}(?:\.[a-z\d-]{2,60}){1,4}")


def _opens_sentence(text: str, word: re.Match[str], type_: str) -> bool:
    """Tell if a word of grammar has its capital from the sentence or the line that it opens:
    `Domani sono a Torino`. An everyday noun may be somebody's name there, and in a text of another
    language any word. A comma or a colon may follow who is called."""
    small = word[0].lower()
    if small not in GRAMMAR_WORDS or len(small) < 4 or is_given(small) or small in SURNAMES_TOO:
        return False
    if type_ == "ORGANIZATION" and _NAMED_AFTER.match(text, word.end()):
        return False
    if _GOES_ON.match(text, word.end()) is None:
        return False
    before = text[max(0, word.start() - _CALLED_REACH) : word.start()]
    opening = _OPENS.search(before)
    if opening is None or _ABBREVIATED.search(before):
        return False
    return _is_spoken(text, word, person=True)


_OPENS = re.compile(r"(?:\A|[.!?] ?|\n)\Z")
# A dot that ends no sentence: a title, an initial, a short word with a capital, no vowel.
_ABBREVIATED = re.compile(
    rf"(?<!\w)(?:(?i:{WRITTEN_TITLE})|[^\W\d_a-zß-ÿ][^\W\d_]{{0,4}}|(?i:[b-df-hj-np-tv-z]{{1,5}}))"
    r"\. ?\Z"
)
_GOES_ON = re.compile(r" [a-zß-ÿ0-9]")
_NAMED_AFTER = re.compile(r" (?:de|du|des|di|del|della|do|da|van|der|für) ")  # Clinique du Parc


def _is_party(text: str, word: re.Match[str], small: str, type_: str, phrase: bool) -> bool:
    """Tell if a word says who somebody is in a trial, or is of its headings: in those, which are
    phrases in capitals, also one that somebody may be called."""
    if small not in PARTIES:
        return False
    if type_ not in NAMED or word[0].islower() or (phrase and word[0].isupper()):
        return True
    if _is_called_by(text, word.start()):
        return False
    if word[0].lower() in SURE_PARTIES:  # behind an article only
        before = text[max(0, word.start() - 8) : word.start()]
        return _JUDGED_BEFORE.search(before) is not None
    return len(small) >= LEAST_SURE


_TITLE = re.compile(
    r"(?i:mr|mrs|ms|miss|mx|dra?|prof|herr|frau|monsieur|madame|mmes?|mlles?|sra?|srta|señor(?:a"
    r"|ita)?"
    r"|don|doña|signora?|dott)(?!\w)\.? {1,2}[^\W\d_a-zß-ÿ]"
)
# No drive: `1 mois. Copie au Dr Puyol`.
_DOCTOR = re.compile(
    r" (?:au|du|le|par|com o|ao|con el|con la|al|del|el|do|da|o|beim|vom|dem|der|Hausarzt|il"
    r"|dal) Dra?\.?\Z"
)
