"""Find names of persons by what stands around them: titles, relations, roles, introductions, the
names of keys, e-mail addresses and telephone numbers. A capital alone is no evidence."""

from __future__ import annotations

import re

from perturb.selective.patterns.given import (
    is_given,
    is_word_elsewhere,
    may_be_given,
    names_thing,
    stands_alone,
)
from perturb.selective.patterns.labels import is_label_alone
from perturb.selective.patterns.settings import (
    PROGRAMS,
    KeyValue,
    assigned,
    is_ordinary_word,
    is_placeholder,
    read_setting,
)
from perturb.selective.patterns.shape import (
    all_clues,
    any_figure,
    any_listed,
    any_match,
    any_of,
    any_string,
    any_word,
    least_digits,
    read_around,
    shape,
    words_of,
)
from perturb.selective.patterns.words import CHATTED, DOINGS, GERMAN_NOUNS, OPENERS, PARTICLES
from perturb.text.fold import fold_name
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = [
    "ALONE",
    "ALSO_WORDS",
    "CAPITALS",
    "DEPARTMENTS",
    "NO_NAMES",
    "OWN_KIN",
    "PERSONS",
    "RELATIONS",
    "WRITTEN_FULL",
    "WRITTEN_LOWER",
    "WRITTEN_NAME",
    "WRITTEN_TITLE",
    "is_full_name",
    "is_given_name",
    "is_lower_name",
    "is_misspelt",
    "is_strange",
    "locate_alone",
]

CAPITALS = "A-ZÀ-ÖØ-Þ" + "".join(
    c for c in map(chr, (*range(0x100, 0x250), *range(0x370, 0x530))) if c.isupper()
)
_LETTER = r"[^\W\d_]"
# Without a genitive's s.
_WORD = rf"[{CAPITALS}]{_LETTER}{{1,30}}(?:(?:-|['’](?![sS](?!\w))){_LETTER}{{1,30}}){{0,3}}"
_INITIAL = rf"[{CAPITALS}]\.(?:-[{CAPITALS}]\.)?"
_LINK = r"(?:van der|van den|von der|von|van|de la|de los|de|del|della|der|den|di|da|dos|du|al|el"
_LINK += r"|bin|ibn|ben|ter|ten|zu|y|ap|af|av|[dD]['’]|O['’]|[Mm]c|Mac|St\.)"
_PART = rf"(?:(?:{_LINK} ?)?{_WORD}|{_INITIAL})"
# One to five parts; the first is a word, an initial or a particle.
WRITTEN_NAME = rf"(?:{_PART}(?:[ ]{{1,2}}{_PART}){{0,4}})"
WRITTEN_FULL = rf"(?:{_PART}(?:[ ]{{1,2}}{_PART}){{1,4}})"
WRITTEN_LOWER = rf"{_LETTER}{{2,20}}(?:-{_LETTER}{{2,20}})?"

_TITLE_LIST = """
    mr mrs ms miss mx dr prof professor herr herrn frau fräulein hr fr mme mlle m monsieur madame
    dott.ssa prof.ssa sig.ra sig.na dr.ssa
    mademoiselle maître sr sra srta señor señora señorita dña doña signor signora signorina sig
    dott senhor senhora avv ing
    dipl-ing pan pani pán paní meneer mevrouw dhr mevr fru rabbi pastor pfarrer père sœur officer
    sergeant sgt lt capt detective nurse judge justice coach uncle aunt auntie tante onkel opa oma
    cllr revd familie famille família familia famiglia fam
    grandma grandpa granny tía tío tata
"""
WRITTEN_TITLE = any_of(_TITLE_LIST)
_TITLE_WORDS = words_of("mr mrs ms dr prof mme mlle hr sr sra")
# Words of which one is enough: `Il Servizio Clienti`, `Dział Obsługi Klienta`.
DEPARTMENTS = words_of(
    """
    servizio assistenza segreteria amministrazione ufficio redazione service équipe secrétariat
    servicio atención secretaría redacción atendimento secretaria kundenservice kundendienst
    kundenbetreuung sekretariat verwaltung geschäftsstelle redaktion klantenservice
    klantendienst redactie obsługa obsługi dział biuro zespół redakcja podpora oddělení redakce
    kundtjänst kundeservice redaktionen asiakaspalvelu toimitus ügyfélszolgálat szerkesztőség
    department support helpdesk служба отдел поддержка поддержки редакция
    """
)
NO_NAMES = DEPARTMENTS | words_of(
    """
    all team everyone everybody there world folks friends friend sir madam sirs customer customers
    user users reader readers colleague colleagues hiring manager recruiter committee board editor
    editors support service department office guys people valued client clients member members
    students student parents neighbours neighbors community welt leute zusammen kollegen kollegin
    kolleginnen kollege damen herren kunde kundin kunden team alle kitty moon dolly siri alexa
    claude chatgpt gpt bot assistant gemini copilot google diary santa lord god mom mum dad mama
    papa mother father brother sister boss doctor professor teacher monde tous tout todos mundo
    equipo señores señor señora señoras clientes amigo amigos john doe jane foo bar recipient name
    firstname lastname first last surname username nachname vorname customer github gitlab docker
    kubernetes python java javascript linux windows hr it human resources sales marketing security
    compliance legal engineering product press media admissions i we you he she it they the a an
    this that what who ok alerts notifications ihre unsere meine deine eure votre notre vuestra
    nuestra
    """
)
_RELATIVES = """
    husband wife spouse partner boyfriend girlfriend fiancé fiancée fiance fiancee ex ex-husband
    ex-wife mother father mom mum dad mama papa brother sister sibling son daughter child kid baby
    grandson granddaughter grandmother grandfather grandma grandpa uncle aunt auntie cousin nephew
    niece stepfather stepmother stepson stepdaughter mother-in-law father-in-law brother-in-law
    sister-in-law mother_in_law father_in_law brother_in_law sister_in_law twin roommate flatmate
    housemate neighbour neighbor landlord landlady nanny babysitter carer grandad granddad granny
    gran nan stepmum stepdad childminder bf gf hubby wifey bff bro sis roomie nana step_dad
    step_mom step_mum step_brother step_sister half_brother half_sister mother_in_law
    father_in_law brother_in_law sister_in_law mum_in_law mom_in_law
"""
_ACQUAINTED = """
    boss manager supervisor colleague coworker co-worker teammate friend mate buddy bestie tenant
    client customer patient doctor dentist therapist psychiatrist counsellor counselor lawyer
    solicitor attorney accountant teacher tutor professor coach nurse student intern assistant
    secretary ceo cto cfo cat_sitter dog_sitter pet_sitter house_sitter baby_sitter dog_walker
    hairdresser barber cleaner vet gp midwife physio trainer crush classmate plumber mechanic
    electrician
"""
_RELATED_FARTHER = """
    marito moglie fidanzato fidanzata figlio figlia fratello sorella mamma papà nonno nonna collega
    vicino vicina man vrouw vriend vriendin broer broertje zus zusje zoon dochter buurman buurvrouw
    moeder vader baas mąż męża mężem żona żonę żony brat brata siostra siostrę syn syna córka córkę
    mama tata kolega koleżanka sąsiad szef fru make hustru bror syster son dotter granne chef pappa
    nuera yerno mand kone søster søn datter nabo kæreste kjæreste sambo
    ragazzo ragazza capo nipote cugino cugina zio zia suocera suocero padre madre amico amica
    huisbaas collega oma opa tante oom neef nicht juf meester huisgenoot schoonmoeder kleinzoon
    maz zona corka siostra sasiad sasiadka szefa szefowa babcia babci dziadek ciocia wujek
    chłopak dziewczyna przyjaciel przyjaciółka kolezanka
    marido esposa mulher namorado namorada filho filha irmão irmã irmao irma pai mãe mae avó avô
    vovó vovô tio tia primo prima sobrinho sobrinha chefe vizinho vizinha amigo amiga colega patrão
    patroa sogro sogra cunhado cunhada genro nora neto neta
"""
_OWN_FARTHER = """
    mio mia mijn m'n mn mój moja mojego mojej mojemu moj moje min mitt meu minha
"""
_OWN_KIN_LIST = """
    kocam eşim karım oğlum kızım annem babam abim ablam kardeşim patronum komşum arkadaşım
    kayınvalidem kayınpederim teyzem halam amcam dayım dedem anneannem babaannem kuzenim yeğenim
    nişanlım müdürüm öğretmenim
    férjem feleségem fiam lányom főnököm szomszédom barátom barátnőm anyám apám bátyám nővérem
    öcsém húgom
    mieheni vaimoni äitini isäni veljeni siskoni ystäväni pomoni naapurini poikani tyttäreni
"""
_OWN_KIN = any_of(_OWN_KIN_LIST)
OWN_KIN = words_of(_OWN_KIN_LIST)  # my husband, in one word
_RELATED_ELSEWHERE = """
    mann ehemann frau ehefrau freund freundin partner partnerin verlobter verlobte mutter vater
    mama papa bruder schwester sohn tochter kind enkel enkelin oma opa onkel tante cousin
    cousine neffe
    nichte schwager schwägerin schwiegermutter schwiegervater chef chefin kollege kollegin kollegen
    nachbar nachbarin vermieter vermieterin mitbewohner mitbewohnerin arzt ärztin hausarzt lehrer
    lehrerin kunde kundin anwalt anwältin mari femme époux épouse compagnon compagne copain copine
    fiancé mère père frère sœur soeur fils fille enfant oncle neveu nièce patron patronne collègue
    ami amie voisin voisine propriétaire médecin avocat avocate marido esposo esposa mujer novio
    novia pareja madre padre mamá papá hermano hermana hijo hija abuelo abuela tío tía primo prima
    schüler schülerin patenkind
    sobrino sobrina jefe jefa compañero compañera colega amigo amiga vecino vecina casero casera
    médico médica abogado abogada moglie marito fratello sorella figlio figlia amico amica mąż żona
    brat siostra syn córka kumpel kumpels pote compa prof profe
"""
_KIN = any_of(_RELATIVES, _ACQUAINTED)
_KIN_FARTHER, _KIN_ELSEWHERE = any_of(_RELATED_FARTHER), any_of(_RELATED_ELSEWHERE)
# What people are to each other, in small letters.
RELATIONS = words_of(_RELATIVES, _ACQUAINTED, _RELATED_FARTHER, _RELATED_ELSEWHERE)
# The daughter of a third person may be known to everybody.
_OWNED = (
    r"(?:my|our|your|mein(?:e[nmrs]?)?|unser(?:e[nmrs]?)?|dein(?:e[nmrs]?)?|mon|ma|mes|notre|nos"
    r"|mi|mis|nuestr[oa]|mio|mia|mój|moja)"
)
_KIND_OF = (
    r"(?:late|ex|old|older|elder|eldest|younger|youngest|little|big|best|dear|good|close|new"
    r"|former|current|then|lieb(?:e[rn]?)|ältere[rn]?|jüngere[rn]?|kleine[rn]?|große[rn]?"
    r"|beste[rn]?"
    r"|alte[rn]?|ehemalige[rn]?|petite?|grande?|meilleure?|mejor|pequeñ[oa]|querid[oa])"
)


_MARKUP = r"(?:\*{1,2}|_{1,2}|\\text(?:bf|it|sc)\{|\\emph\{|<(?:b|i|em|strong)>)?"


def _is_name(name: str) -> bool:
    """Check that words with capitals name a person, and no group, thing or stand-in."""
    words = [word.strip(".'’").lower() for word in re.split(r"[ -]+", name)]
    if any(word in NO_NAMES for word in words) or is_placeholder(name):
        return False
    ordinary = [word in OPENERS or is_ordinary_word(word) for word in words]
    return not all(ordinary) or (len(words) == 1 and name.istitle() and is_given(words[0]))


def is_given_name(name: str) -> bool:
    """Check one name or several, each with a capital, that follow a relation or a greeting."""
    return _is_name(name) and not (" " not in name and name.lower() in GERMAN_NOUNS)


def is_lower_name(name: str) -> bool:
    """Check a name in small letters: it is no ordinary word of the languages that are read."""
    return (
        name.islower()
        and not is_ordinary_word(name)
        and name not in NO_NAMES
        and name not in OPENERS
        and not name.endswith(("ing", "ed", "ly", "n't", "tion", "ment"))
        and name not in _MORE_WORDS
        and name not in _TITLE_WORDS
    )


_MORE_WORDS = CHATTED | words_of(
    """
    ist war hat und oder aber nicht will kann muss soll sagt sagte meint ging kam wurde wird haben
    sind heißt wohnt lebt arbeitet möchte braucht immer noch schon auch gerade mit von bei nach
    est a était veut peut dit vit travaille habite qui que dans avec pour et mais ne me te se es
    era tiene quiere dice vive trabaja y con para que no está fue ha son del los las gonna wanna
    dont doesnt didnt isnt wasnt cant wont hasnt im ive hes shes thats lol btw tbh idk whatsapped
    texted emailed facetimed
    aus vor über unter neben hinter zwischen gegen ohne seit bis durch im am vom zum zur beim
    nie nicht gestern heute morgen jetzt sich mich mir dich dir uns euch ihm ihn wieder ständig
    dauernd leider schon sagte ging gab ließ fing rief sah wollte konnte zu so sehr viel nur doch
    mal ja nein total voll echt fand hielt
    toujours jamais souvent encore parfois hier aujourd demain trop très vraiment déjà aussi rien
    va vas ont font sont avait avoir être fait faire peux m'a plus moins bien mal
    siempre nunca ya ayer hoy mañana también muy mucho poco más menos bien mal tan casi aún todavía
    quiso hizo dijo fue
    """
)


def _is_related(name: str) -> bool:
    """Check a word after a relation in a language whose nouns have no capital."""
    if name.istitle() and not is_ordinary_word(name):
        return name.lower() not in NO_NAMES
    return is_given(name) and not (name.islower() and name in _RATHER_WORDS)


# Given names that are more often verbs or adverbs, or say what somebody is.
_RATHER_WORDS = words_of(
    """
    can may will long art per said star rich van gene chance tone ion harm ram kit mine drew sky
    till guy storm harsh duke mira gosta linda bella
    """
)
_SUBJECT_ENDS = re.compile(  # my son kit is ill, my uncle art's car
    r"['’]s\b| (?:is|isn['’]?t|was|wasn['’]?t|has|hasn['’]?t|had|hadn['’]?t)(?!\w)"
)
# How verbs end whose subject is the relation before them, by whose it is: `mein mann kommt`.
_GERMAN_VERB, _FRENCH_VERB = r"\w{1,30}(?:[^\Wd]t|te|en)", r"\w{1,30}(?:[eé]|[dt]|ent)"
_VERBS = {
    **dict.fromkeys(("mein", "meine", "meinen", "meinem", "meiner"), re.compile(_GERMAN_VERB)),
    **dict.fromkeys(("mon", "ma"), re.compile(_FRENCH_VERB)),
    "mi": re.compile(r"\w{1,30}(?:[aeóí]|ía)"),
}
# vapes, gaslights; thnks, loooves
_ENGLISH_VERB = re.compile(
    r"\w{1,30}(?:[bdfgklmnprtvw]|[^\W\d_]e)s|[^aeiouyà-ÿ]{1,30}|\w{0,30}(\w)\1{2}\w{0,30}"
)


def _locate_relative(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name in small letters after a relation. A word that is not known as a
    given name may be a verb or an adverb there, unless it is said to be a name."""
    name, owner = match["part"], match["owner"]
    if name.islower() and is_given(name):
        ends = _SUBJECT_ENDS.match(match.string, match.end("part"))
        return match.span("part") if ends or name not in _RATHER_WORDS else None
    if not is_lower_name(name):
        return None
    named = bool(match["called"]) or (name.endswith("s") and is_given(name[:-1]))  # toms car
    if owner in _VERBS and name not in DOINGS:
        before_verb = _BEFORE_VERB.match(match.string, match.end("part"))
        named = named or match["kin"] in _CALLED_BY_SURNAME or before_verb is not None
    return match.span("part") if named or not _is_predicate(name, owner) else None


# Who is called by a surname: no list has all of them, so that what they do is listed.
_CALLED_BY_SURNAME = words_of(
    """
    chef chefin kollege kollegin kollegen nachbar nachbarin vermieter vermieterin mitbewohner
    mitbewohnerin arzt ärztin hausarzt lehrer lehrerin kunde kundin anwalt anwältin patron patronne
    collègue voisin voisine propriétaire médecin avocat avocate prof jefe jefa compañero compañera
    colega vecino vecina casero casera médico médica abogado abogada profe
    """
)
# After a name in German, French and Spanish, and hardly after a verb.
_BEFORE_VERB = re.compile(
    r" (?:ist|war|hat|hatte|will|kann|muss|soll|wird|sagt|meint|ne|n['’]|me|m['’]|se|s['’]|est"
    r"|a|veut|va"
    r"|dit|no|te|le|es|está|ha|va|quiere|dice)(?!\w)"
)


def _is_predicate(word: str, owner: str) -> bool:
    """Tell if a word after somebody's relation says something of them: it has the ending of a verb
    in the owner's language, or is an English word with swapped letters: `alwyas`."""
    ending = _VERBS.get(owner, _ENGLISH_VERB)
    return ending.fullmatch(word) is not None or (owner not in _VERBS and is_misspelt(word))


def is_misspelt(word: str) -> bool:
    """Tell if a word is an ordinary one, but for two letters that changed places.

    >>> [is_misspelt(word) for word in ("alwyas", "wiebke", "always")]
    [True, False, False]
    """
    if len(word) < 5 or is_ordinary_word(word):
        return False
    swapped = (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, len(word) - 1))
    return any(map(is_ordinary_word, swapped))


def is_full_name(name: str) -> bool:
    """Check several words with capitals of which the dictionary has at most one."""
    words = [word.strip(".'’").lower() for word in re.split(r"[ -]+", name)]
    known = [word for word in words if len(word) > 1 and is_ordinary_word(word)]
    return _is_name(name) and len(known) < max(1, len(words) - 1) + is_given(words[0])


def _is_small_name(name: str) -> bool:
    """Check words in small letters before an address of mail: `sales team` is nobody."""
    return not any(
        is_ordinary_word(word) and not is_given(word) for word in re.split("[ -]", name)
    )


# -- keys -----------------------------------------------------------------------------------------
_PERSON_KEYS = """
    first_name firstname given_name givenname forename middle_name middlename last_name lastname
    surname family_name familyname full_name fullname real_name realname display_name displayname
    legal_name maiden_name nickname vorname nachname familienname zuname prénom prenom
    nom_de_famille nombre_completo apellido apellidos nome cognome sobrenome imię imie nazwisko
    lname
    jméno příjmení voornaam achternaam förnamn efternamn patient patient_name customer_name
    client_name contact_name contact_person employee employee_name manager_name holder cardholder
    card_holder cardholder_name account_holder account_name_holder kontoinhaber kontoinhaberin
    ansprechpartner ansprechpartnerin sachbearbeiter mitarbeiter geschäftsführer inhaber recipient
    recipient_name beneficiary payee payer passenger guest_name tenant_name landlord skipper
    applicant guardian next_of_kin emergency_contact spouse buyer_name seller_name shipping_name
    billing_name signed_by written_by prepared_by approved_by solicitante interesado titular
    автор
"""
_ANY_KEYS = """
    name names nom nombre naam namn jmeno customer client kunde kundin cliente author authors autor
    autorin auteur owner maintainer maintainers assignee assigned_to reporter reviewer created_by
    updated_by requested_by contact user sender from to cc attn re betreff mandant mandantin
    primary
    backup oncall on_call leader lead teacher doctor host member artist_name real family given
    latin name_latin namelatin name_native gecos anwesend entschuldigt attendees participants
    representative referee contestant player driver fahrer buyer seller signer witness
"""
# Of these, what people alone are called in programs: a given name is enough.
_ROLE_KEYS = """
    customer client kunde kundin assignee assigned_to reporter reviewer created_by updated_by
    requested_by oncall on_call teacher doctor fahrer buyer seller witness
"""
_MADE_BY_KEYS = words_of("author maintainer reviewer reporter assignee autor auteur")
_PAIR = 2  # words
_LABELS = words_of(
    """
    first last full name family given given surname middle nick display user string text str your
    enter required optional unknown none null anonymous test example sample default vorname
    nachname
    prénom nombre apellido title label
    """
)


def _locate_named(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a person's name in a setting by the name of its key."""
    found = read_setting(match)
    if found is None or found.between in ("(", ",", "|", "value"):
        return None
    if found.between == "" or found.between.isalpha():
        return None
    key = _join(found.key)
    sure = key in _SURE_KEYS
    if found.name != found.key and not sure and not _is_prefixed(found):
        return None
    start, value = found.start, _read_value(found)
    stripped = value.strip()
    start += len(value) - len(value.lstrip())
    value = stripped
    if not 2 <= len(value) <= 60 or is_placeholder(value) or not _NAMED.fullmatch(value):
        return None
    words = [word.strip(".,'’").lower() for word in re.split(r"[ ,-]+", value)]
    if any(word in _LABELS or word in NO_NAMES or is_label_alone(word) for word in words):
        return None
    if sure:
        named = _is_sure_name(value, words, found) and not _is_titled_thing(found, words)
        return (start, start + len(value)) if named else None
    many = len(words) > 1 and all(word[0].isupper() for word in re.split(r"[ ,]+", value) if word)
    unknown = not any(len(word) > 1 and is_ordinary_word(word) for word in words)
    if not value.isascii() and not many and not found.quote:
        return None
    if many and not unknown and len(words) == _PAIR and key in _MADE_BY_KEYS:
        unknown = _is_dealt_with(value)  # author: Torvald Fields
    good = many and unknown and not _PLACES.intersection(words)
    return (start, start + len(value)) if good else None


def _is_titled_thing(found: KeyValue, words: list[str]) -> bool:
    """Tell if what is displayed belongs to a package, a theme or a grammar, whose identifier is
    the same words beside it: `"displayName": "Light Plus", "name": "light-plus"`."""
    if _join(found.key) not in ("display_name", "displayname"):
        return False
    text, start = found.match.string, found.match.start("key")
    end = found.start + len(found.value)
    slug = "[-_. ]?".join(map(re.escape, words))
    one = rf"[\"'](?:name|id|slug|key)[\"'] ?: ?[\"']{slug}[\"']"
    before, after = text[max(0, start - 120) : start], text[end : end + 120]
    return (
        re.search(rf"{one}|[\"']{slug}[\"'] ?: ?\{{\s*[\"']?\Z", before + after, re.IGNORECASE)
        is not None
    )


def _is_sure_name(value: str, words: list[str], found: KeyValue) -> bool:
    """Tell if what a key such as `last_name` has is a name, and no variable, type or label."""
    if all(map(is_ordinary_word, words)):
        named = len(words) > 1 or is_given(value)
        if not (named and value[0].isupper()):
            return False
    parts = re.split(r"[ ,-]+", value)
    if value[0].isupper() and any(w[:1].islower() and w not in PARTICLES for w in parts):
        return False  # a phrase
    if found.quote or _is_sent(found):
        return True
    small = value[0].islower() and (value.isascii() or not any(map(is_given, parts)))
    if found.after[:1] in (";", "(", ".", "[") or small:
        return False
    sure = found.is_line or found.is_element or "=" in found.between
    return " " in value or not value.isascii() or sure


def _is_sent(found: KeyValue) -> bool:
    """Tell if a key and its value are a field of a form that is sent: in the query of an address,
    or a string by themselves."""
    end = found.start + len(_read_value(found))
    before, after = found.before[-1:], found.match.string[end : end + 1]
    return before in ("?", "&") or after == "&" or (before in ("'", '"') and before == after)


def _is_prefixed(found: KeyValue) -> bool:
    prefix = found.name[: len(found.name) - len(found.key)].lower().strip("_-.")
    return prefix in _PREFIXES


_PREFIXES = words_of(
    """
    customer client contact patient employee person owner author user buyer seller guest member
    smtp_from from sender recipient artist student teacher doctor manager holder card billing
    shipping data applicant tutor parent guardian admin administrator maintainer approver reviewer
    """
)
_PLACES = words_of(
    """
    san santa saint st los las el la new north south east west hong kong buenos aires rio costa sri
    puerto sao são united great republic island islands lake mount mt city county inc ltd gmbh ag
    llc corp co university college school hospital bank hotel church street road café
    """
)
_NAMED = re.compile(
    rf"(?:{_LETTER}|[\u0300-\u036f]){{1,30}}\.?"
    rf"(?:(?:, ?|[ '’\u00b7.-]){{1,2}}(?:{_LETTER}|[\u0300-\u036f]){{1,30}}\.?){{0,5}}"
)


def _join(key: str) -> str:
    return re.sub(r"[ _-]", "", key.lower())


_SURE_KEYS = frozenset(map(_join, words_of(_PERSON_KEYS)))


def _read_value(found: KeyValue) -> str:
    """Return the value of a setting; without quotation marks, to the end of the line or field."""
    if found.quote or found.between == ">":
        return found.value
    text = found.match.string
    rest = re.match(r"[^\n,;|<>(){}\[\]\"#]{0,60}", text[found.start : found.start + 60])
    value = rest[0] if rest else ""
    if found.before[-1:] in ("?", "&", "'", '"') or "&" in value:  # of a form that is sent
        value = re.split("[&'\"]", value)[0]
    return re.split(r" {2,}|\t| - | – |<", value)[0].rstrip(" .")


def _locate_role(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a given name in quotation marks: `"reporter": "Ngaire"`."""
    found = read_setting(match)
    if found is None or found.between not in (":", "=", "=>") or found.name != found.key:
        return None
    named = found.quote and found.value.istitle() and is_given(found.value)
    if not named or is_ordinary_word(found.value):
        return None
    return found.start, found.start + len(found.value)


_SURE = any_of(_PERSON_KEYS).replace(" ", "[ _-]?")
_UNSURE = any_of(_ANY_KEYS).replace(" ", "[ _-]?")
_ROLE_STEMS = sorted({max(key.split("_"), key=len) for key in _ROLE_KEYS.split()})
_ROLE = any_of(_ROLE_KEYS).replace(" ", "[ _-]?")
# The longest word of each sure key, apart from `name`, of which code is full.
_STEMS = {
    max((word for word in key.split("_") if word != "name"), key=len)
    for key in _PERSON_KEYS.split()
}
# Keys that are a name's beside each other: <given>Mira</given><family>Holzapfel</family>
_PAIRED = r"(?<![^\W_])(?P<key>{})[\"'`]?\W{{1,4}}(?:value=)?[\"'`]?(?P<value>[^\W\d_]{{2,30}})"
_FIRST = re.compile(_PAIRED.format("given|first|fname"), re.IGNORECASE)
_LAST = re.compile(_PAIRED.format("family|last|lname"), re.IGNORECASE)
_BESIDE = 80  # characters between two keys of one name


def _locate_paired(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the first or the last part of a name in a setting beside that of the
    other part; `first` and `last` alone are of a person where a given name is the first."""
    found = read_setting(match)
    if found is None or found.between not in (":", "=", "=>", ">", "value="):
        return None
    value = _read_value(found)
    if not _NAMED.fullmatch(value) or not value[0].isupper() or is_placeholder(value):
        return None
    near = match.string[max(0, match.start() - _BESIDE) : found.start + len(value) + _BESIDE]
    firsts, lasts = ([*part.finditer(near)] for part in (_FIRST, _LAST))
    if not any(value.startswith(part["value"]) for part in (*firsts, *lasts)) or not lasts:
        return None
    sure = any(
        is_given(part["value"])
        or (part["key"].lower() in ("given", "fname") and not is_ordinary_word(part["value"]))
        for part in firsts
    )
    if not sure or {value.lower()} & (_LABELS | NO_NAMES):
        return None
    return found.start, found.start + len(value)


# AM and PM end a time: `at 10:00 AM, Bob Smith <…>`.
_ADDRESSED = rf"(?!(?:AM|PM)\b)(?P<part>{_PART}(?:[ ,]{{1,2}}{_PART}){{0,4}})"
_MAILBOX = re.compile(
    r"(?:no-?reply|support|info|team|hello|contact|security|bot|admin|sales|help|notifications?"
    r"|service|newsletter|office|mail|list|dev|users|announce|git|build|ci)(?:[+-].*)?",
    re.IGNORECASE,
)


def _locate_mention(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a handle; None for a variable of an object, in Ruby: `@conn.execute`."""
    around = read_around(match)
    used = re.search(rf"@{match['part']}(?:\.\w|\[| ?(?:\|\|)?=(?!=))", around)
    return None if used else match.span("part")


def _locate_introduced(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name after its introduction; None for `also known as NHCB`."""
    alias = match["part"].isupper() and "known as" in match[0].lower()
    return None if alias else match.span("part")


def _locate_shouted(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name after a relation, in capitals without the rest of the sentence:
    `MY BOSS ANNA WEBER WILL NOT PAY`."""
    start, end = match.span("part")
    words = match["part"].split(" ") if match["part"].isupper() else []
    small = [place for place, word in enumerate(words) if _is_of_sentence(word)]
    if small[:2] == [0, 1]:  # MY BOSS WILL NOT PAY
        return None
    ordinary = (
        place
        for place, word in enumerate(words)
        if place > 1 and is_ordinary_word(word.lower()) and not is_given(word.lower())
    )
    cut = min([*filter(None, small), *ordinary], default=len(words))
    return start, start + len(" ".join(words[:cut])) if words else end


def _is_of_sentence(word: str) -> bool:
    plain = word.lower()
    return plain not in PARTICLES and (plain in FUNCTION_WORDS or plain in _MORE_WORDS)


def _locate_display(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the name before an e-mail address; None for an office's."""
    if _MAILBOX.fullmatch(match["local"]) and not is_full_name(match["part"]):
        return None
    return match.span("part") if _is_name(match["part"]) else None


_INTRODUCTIONS = any_of(
    """
    my_name_is my_name's my_full_name_is his_name_is her_name_is whose_name_is name_is
    their_name_is mein_name_ist ich_heiße ich_heisse er_heißt sie_heißt namens je_m'appelle
    je_m’appelle il_s'appelle elle_s'appelle mon_nom_est me_llamo se_llama mi_nombre_es un_tal
    una_tal llamado llamada mi_chiamo si_chiama meu_nome_é nazywam_się mám_jméno jmenuji_se
    mijn_naam_is ik_heet jag_heter меня_зовут его_зовут её_зовут ask_for speak_to speak_with
    a_man_named a_man_called a_woman_named a_woman_called a_guy_named a_guy_called a_lady_named
    a_lady_called a_girl_named a_girl_called a_boy_named a_boy_called someone_named someone_called
    known_as signed_by written_by prepared_by reported_by fixed_by on_behalf_of in_the_name_of
    a_nombre_de im_namen_von au_nom_de care_of c/o rückfragen_an inh. inhaber inhaberin
    kontoinhaber kontoinhaberin
    first_name's first_name_is surname_is last_name_is
    jeg_hedder jeg_heter mit_navn_er mitt_namn_är nimeni_on a_nevem adım benim_adım ismim
    mă_numesc numele_meu_este jina_langu_ni nama_saya με_λένε ονομάζομαι
    """
)


def _locate_lower(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the names that small letters begin with: `siobhan` of `siobhan said`."""
    end = start = match.start("part")
    for word in match["part"].split(" "):
        if not is_lower_name(word):
            break
        end = start + len(word)
        start = end + 1
    return (match.start("part"), end) if end > match.start("part") else None


# What follows these titles, and names nobody or somebody everybody knows: Miss World, Dr Pepper.
_NOBODY_TITLED = words_of(
    """
    world universe america piggy marple president speaker chairman chair chairwoman bean who pepper
    strange evil doubtfire word excel office windows teams access project publisher outlook paint
    visual store edge saigon manners right wonderful big perfect clean potato incredible fox hyde
    scarlet scarlett white green black pink blonde orange plum mustard peacock robot minister
    ambassador mayor justice secretary teen earth sunshine
    """
)


def _is_word_titled(word: str) -> bool:
    """Tell if an ordinary word with a capital may be somebody's surname: `Mrs Castle`."""
    return word.lower() not in NO_NAMES and word.lower() not in _NOBODY_TITLED


# In small letters. After the first stands a name, whatever word it is, and after the next ones if
# they have a dot; after the others one that no dictionary has, or a given name.
_SURELY_TITLED = words_of("mr mrs dhr mw mevr mme mlle sig")
_SURE_WITH_DOT = words_of("ms fr hr")
_TITLED_WELL = words_of("ms dr prof herr herrn frau señor señora sr sra dott dra doc maître")
_POLISH_SURNAME = re.compile(
    r"\w{2,15}(?:[sc]k(?:i|a|iej|iego|iemu|im|ą)|wicz(?:a|owi|em)?|czyk(?:a|owi|iem)?)"
)
_TITLED_KIN = words_of(
    "uncle aunt auntie aunty nana granny grandma grandpa coach sensei professor"
)
_LOWER_TITLES = """
    mr mrs dhr mw mevr mme mlle sig ms dr prof herr herrn frau fr hr señor señora sr sra dott dra
    doc maître fru miss mister coach sensei uncle aunt auntie aunty nana granny grandma grandpa nan
    oma opa onkel tante zio zia nonna nonno tío tía tio tia tonton tata mamie papy babcia ciocia
    wujek pan pani pana panu panem don doña dona seu juf meester maestra maestro profe meneer
    mevrouw signora signor monsieur madame sister father pastor reverend rev officer judge
    principal nurse professor
"""


_OF_WOMAN = re.compile(r"(?<!\w)(?:die|der|\w{0,4}(?:ne|ner|re|rer)) frau\Z")


def _locate_lower_titled(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name in small letters after a title."""
    name, dotted = match["part"].rpartition(" ")[2], bool(match["dot"])
    plain = name in OPENERS or name in NO_NAMES or name in _MORE_WORDS or name in _TITLE_WORDS
    if not name.islower() or plain or name in _NOBODY_TITLED or name in PARTICLES:
        return None
    if is_given(name) and name not in _RATHER_WORDS:
        return match.span("part")
    wife = _OF_WOMAN.search(match.string, max(0, match.start() - 8), match.end("title"))
    if wife and (name in DOINGS or _VERBS["meine"].fullmatch(name)):  # die frau sagt
        return None
    own = not is_ordinary_word(name) or _is_of_life(match.string, *match.span("part"))
    titled = own and _is_titled_name(match["title"], name, dotted=dotted)
    return match.span("part") if titled else None


def _is_titled_name(title: str, name: str, *, dotted: bool) -> bool:
    """Tell if a word in small letters that is no given name is one after a title."""
    if title in _SURELY_TITLED or (title in _SURE_WITH_DOT and dotted):
        return name not in FUNCTION_WORDS
    if title.startswith("pan") and _POLISH_SURNAME.fullmatch(name):
        return True
    if title in _TITLED_KIN:
        return is_lower_name(name) and not _is_predicate(name, "my")
    return is_lower_name(name) and (title in _TITLED_WELL or dotted)


def _locate_titled(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the name after a title; None where a street ends: `12 Elm Dr Leeds`."""
    before = match.string[max(0, match.start() - 30) : match.start()]
    title = match[0][: match.start("part") - match.start()].strip(" .")
    if title[:1].islower() and title not in _SMALL_TITLES:
        return None
    if title in ("Senhor", "Senhora"):  # Nossa Senhora de Fátima, Senhor dos Anéis
        return None
    if title == "M" and match["part"][1:2] == ".":  # M. R. James
        return None
    if title in (
        "M",
        "Fr",
        "Hr",
        "Pan",
        "Judge",
        "Justice",
        "Officer",
        "Nurse",
        "Coach",
        "Lt",
        "Sig",
        "Ing",
    ):
        dotted = match[0][len(title) : len(title) + 1] == "."
        if not dotted and title in ("M", "Fr", "Hr", "Pan", "Sig", "Ing", "Lt"):
            return None
    if re.search(r"\d{1,5} (?:\w+ ){1,3}\Z", before):
        return None
    start, end = match.span("part")
    return (start, start + len(_cut_nouns(match["part"]))) if title in _GERMAN else (start, end)


# What somebody is, before a title in Hungarian and Turkish: `Elnök úr`, `Doktor Bey`.
_ROLES_TITLED = words_of(
    """
    elnök tanár tanárnő miniszter igazgató főnök doktor doktornő professzor polgármester képviselő
    ügyvéd bíró tisztelt kedves házvezető uram müdür başkan hâkim hakim savcı vali kaymakam memur
    komiser amir avukat öğretmen hoca profesör sayın küçük büyük
    """
)
_GERMAN = words_of("Herr Herrn Frau Fräulein")
# Which stand in small letters before a surname inside a sentence.
_SMALL_TITLES = words_of(
    """
    dr mr mrs ms prof señor señora doña monsieur madame mademoiselle signor signora signorina
    senhor senhora meneer mevrouw fru pan pani pán paní tante onkel oma opa
    """
)


def _cut_nouns(name: str) -> str:
    """Leave the nouns after a name, which have capitals in German: `Holzapfels Akte`."""
    words = name.split(" ")
    for place, word in enumerate(words):
        if word.endswith("s") and not is_given(word):  # a genitive
            words = words[: place + 1]
            break
    while len(words) > 1 and (words[-1].lower() in GERMAN_NOUNS or is_ordinary_word(words[-1])):
        words.pop()
    return " ".join(words)


def _locate_card(match: re.Match[str]) -> tuple[int, int] | None:
    text = match.string
    near = text[max(0, match.start() - 400) : match.start()].lower()
    return match.span("part") if "vcard" in near or "version:" in near else None


_OPENER = re.compile(r"(?:\A|[.!?:;\n\"“„«(•|>*#-])[ \t]{0,8}([^\W\d_]{1,15}),? \Z")
_CAPITAL_BEFORE = re.compile(rf"(?<![\w-])[{CAPITALS}][\w'’.-]{{0,30}},? \Z")
_CAPITAL_AFTER = re.compile(rf" [{CAPITALS}]")


_ASKING_ELSEWHERE = frozenset(("Kada", "Mihin"))  # when, in Croatian; where to, in Finnish


def locate_alone(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a given name without other words with a capital beside it, which may be
    the rest of a well-known name. A word that begins the sentence is none: `Ask Wiebke`."""
    start, end = match.span("part")
    before = match.string[max(0, start - 40) : start]
    if _CAPITAL_AFTER.match(match.string, end) or before.endswith("family="):  # of fonts
        return None
    if match["part"] in _ASKING_ELSEWHERE:
        return None
    if _CAPITAL_BEFORE.search(before):
        opener, related = _OPENER.search(before), before.rstrip().rpartition(" ")[2].lower()
        known = related in RELATIONS or related in _RELATED_NOUNS
        if not known and (opener is None or not is_ordinary_word(opener[1])):
            return None
    return start, end


# German ones, which have capitals: Die Ehefrau Hannelore berichtete.
_RELATED_NOUNS = words_of(
    """
    ehefrau ehemann gattin gatte lebensgefährte lebensgefährtin lebenspartner lebenspartnerin
    mutter vater tochter sohn schwester bruder enkel enkelin cousin cousine neffe nichte schwager
    schwägerin schwiegermutter schwiegervater freundin freund nachbar nachbarin kollege kollegin
    mitbewohner mitbewohnerin hausmeister trainer trainerin betreuer betreuerin pflegerin pfleger
    mandant mandantin zeuge zeugin klient klientin azubi praktikant praktikantin chef chefin
    """
)


# Words of some language, too.
ALSO_WORDS = _RATHER_WORDS | words_of(
    """
    ans concha curro fleur greet kader nel odd pau puri resi riet roos sem sole tere titi
    april asia august basil bob elke ernst frank jack jordans josh kria levis mari mark nelson
    nick pat roger tao bianca blanche chiara clara claire conn consuelo constance dios dolores
    domingo don ella esperanza gloria jan jesus june luz maja milan nada pilar roman romain rosa
    salvador serena siri tono uma victoria violeta
    """
)
# Who writes to somebody, or speaks of themselves, in a line that is no code.
_OF_LIFE = re.compile(
    r"(?<![\w.'’])(?:i|im|i'm|ive|me|my|we|our|us|u|ich|mir|mich|mein\w{0,2}|wir|uns|je|j'\w+|jsuis|moi|mon|ma|mes|nous|notre"
    r"|yo|mi|mis|io|mio|mia|sono|eu|meu|minha|ik|mijn|m'n|ja|mój|moja|moj|texte?|txt|msg|messag\w+|e-?mail|sms\w*|card|karte"
    r"|kärtchen|letter|brief|note|poem|gedicht|poème|toast|speech|rede|gift|bday|birthday|geschenk|geburtstag|nachricht"
    r"|entschuldigung|mot|cadeau|mensaje|carta|regalo|messaggio|biglietto|mensagem|recado|presente|appje|berichtje"
    r"|kaart|kaartje|wiersz|życzenia|zyczenia|napisz|schreib\w*|schrijf|écris|escribe|escreve"
    r"|scrivi|baby shower|kollege"
    r"|chef\w{0,2}|lehrerin|maestra|maîtresse|maitresse|juf|profe)(?![\w'’])"
)
# Persons of works are no acquaintances.
_OF_WORKS = re.compile(
    r"\b(?:video ?games?|gameplay|movies?|films?|tv shows?|series|serie|episodes?|anime|manga"
    r"|characters?|quests?|dlc"
    r"|netflix|hbo|marvel|disney|pixar|pokemon|pokémon|sims|lore|fanfic\w*|novels?|lyrics|albums?|actors?"
    r"|actress\w*|singers?|sitcom|romance|staffel|folge|épisode|temporada|capítulo|stagione|puntata)\b"
)
_INTRODUCED = re.compile(rf"(?<!\w){_INTRODUCTIONS} \Z", re.IGNORECASE)
_LINE = 200  # characters on either side in which a line is read


def _is_of_life(text: str, start: int, end: int) -> bool:
    """Tell if somebody speaks of themselves, or writes to somebody, in the line around a part, and
    not of a work."""
    low = max(text.rfind("\n", 0, start) + 1, start - _LINE)
    line = text[low : end + _LINE]
    if (stop := line.find("\n", end - low)) >= 0:
        line = line[:stop]
    inside = range(start - low, end - low)
    told = any(found.start() not in inside for found in _OF_LIFE.finditer(line))
    return told and not _OF_WORKS.search(line)


def _locate_lower_given(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a given name in small letters: of one that is no word of a language, or
    in a line in which somebody speaks of themselves, or writes to somebody."""
    name, text = match["part"], match.string
    start, end = match.span("part")
    if not is_given(name):  # kayleighs baby shower
        name = name.removesuffix("s") if len(name) > 5 and not is_ordinary_word(name) else ""
    if not is_given(name) or fold_name(name) in ALSO_WORDS or is_word_elsewhere(name):
        return None
    if _INTRODUCED.search(text, max(0, start - 24), start):  # found with its surname
        return None
    if len(name) > 3 and stands_alone(name):
        return start, end
    if is_ordinary_word(name):
        return None
    return (start, end) if _is_of_life(text, start, end) else None


# What introductions hold; a blank is written `_`.
_INTRODUCTION_STEMS = words_of(
    """
    name_is name's name_ist name_é nom_est nombre_es nome_é heiß heiss appelle llam chiam namens
    named naam_is called ask_for speak known_as _by behalf heet heter c/o inh зовут un_tal una_tal
    hedder navn_er namn_är nimeni nevem adım adim ismim numesc numele_meu jina_langu nama_saya λένε
    ονομάζομαι nazywam jmenuji jméno im_namen a_nombre in_the_name au_nom care_of rückfragen
    """
)

# -- beside a telephone number or a role, and at the head and the foot of documents ---------------
_NUMBER = r"(?:\+|00|\(?0)\d?[\d ()/.-]{6,20}\d"
_ROLES = """
    executor executrix petitioner respondent plaintiff defendant babysitter bride groom widow
    widower stepson stepdaughter grandson granddaughter godson goddaughter guardian caregiver
    tochter sohn enkel enkelin bruder schwester schwager schwägerin neffe nichte patenkind
    babysitterin nuera yerno nieto nieta sobrino sobrina nachbar nachbarin kollege kollegin
    freundin schwiegermutter schwiegervater
    cousine vetter mitbewohner mitbewohnerin vecino vecina voisin
    voisine vicino vicina vizinho vizinha buurman buurvrouw sąsiad sąsiadka
"""
_NEIGHBOURS = """
    neighbours neighbors tenants landlords friends in-laws owners cousins guests family doors
"""
_ASKED = "fragen anrufen sagen schreiben erreichen bitten treffen einladen abholen gefragt gesehen"


_NOBODY_RELATED = words_of(
    """
    earth nature time christmas teresa superior mary abraham god jesus cain abel sun moon may june
    april bear sam tom
    """
)
# Nobody is known to the public by these.
_OFFICES = """
    clerk notary passenger driver carer technician cox receptionist warden porter caretaker
    complainant claimant witness interpreter bookkeeper cleaner childminder midwife guarantor
    applicant appellant note_taker social_worker support_worker care_worker health_visitor
    case_worker caseworker key_worker line_manager headteacher head_teacher form_tutor
    reporting_to mentoring treasurer co-signer cosigner godmother godfather pallbearer
"""


def _locate_before_number(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name before a telephone number: several words from a given name on,
    or a given name after a relation or an office."""
    words = match["part"].split(" ")
    end = match.end("part")
    start = match.start("part")
    for place, word in enumerate(words):
        several = place + 1 < len(words) and not is_ordinary_word(words[-1])
        if is_given(word.partition("-")[0]) and (several or stands_alone(word)):
            return start, end
        start += len(word) + 1
    before = match.string[max(0, match.start("part") - 24) : match.start("part")].rstrip("* ")
    known = before.rpartition(" ")[2].lower()
    if len(words) == 1 and is_given(words[0]) and known in _KNOWN_AS:
        return match.span("part")
    return None


_KNOWN_AS = words_of(_RELATIVES, _OFFICES, _ROLES)


def _is_unusual(name: str) -> bool:
    """Tell if words name a person of whom not all words are ordinary, and are no acronym."""
    words = re.split(r"[ -]+", name)
    return is_given_name(name) and not name.isupper() and not is_ordinary_word(words[0])


def _locate_called(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name before a telephone number, from its given name on."""
    start, end = match.span("part")
    for word in match["part"].split(" "):
        if is_given(word.partition("-")[0]) and not is_ordinary_word(word):
            return start, end
        start += len(word) + 1
    return None


def _is_household(name: str) -> bool:
    return not is_ordinary_word(name) and not is_ordinary_word(name[:-1])


def _is_head(name: str) -> bool:
    """Tell if words in capitals are a name: a given name is among them, or no ordinary word."""
    words = re.split("[ -]", name)
    ordinary = [is_ordinary_word(word) or word.lower() in _PLACES for word in words]
    return not any(ordinary) or (any(map(is_given, words)) and not all(ordinary))


def _is_bare(name: str) -> bool:
    """Tell if several words are a name: the first is a given name, or none is ordinary."""
    words = re.split(r"[ -]+", name)
    return is_full_name(name) and (is_given(words[0]) or not any(map(is_ordinary_word, words)))


# What minutes leave to somebody.
_DUTIES = """
    check send email e-mail call ring talk speak draft review follow chase ask book order update
    prepare write share confirm organise organize arrange look fix find bring take contact finish
    create add schedule investigate circulate
"""
# Of a club, a council or a firm, in brackets after who has it.
_CHAIRS = """
    Clerk Chair Chairman Chairwoman Chairperson Vice-Chair Secretary Treasurer Trustee Warden
    Apologies Minutes Note_taker Observer Guest Vorsitz Vorsitzender Vorsitzende Kassenwart
    Schriftführer Schriftführerin Protokoll Gast secrétaire trésorier trésorière présidente
"""
_IN_CAPITALS = rf"[{CAPITALS}]{{2,20}}"


def _is_family(name: str) -> bool:
    """Tell if words in capitals may be a surname: none is a word of a dictionary or a label."""
    words = [word for word in re.split("[ -]", name) if word.lower() not in _CAPITAL_PARTICLES]
    return bool(words) and not any(
        is_ordinary_word(word) or word.lower() in _LABELS or word.lower() in NO_NAMES
        for word in words
    )


_CAPITAL_PARTICLES = words_of("le la les de du des da di del van von der den ben el al y e")


def _has_family_last(name: str) -> bool:
    """Tell if a given name stands before a surname in capitals."""
    given, _, family = name.partition(" ")
    first = given.partition("-")[0]
    return is_given(first) and not is_ordinary_word(first) and _is_family(family)


def _has_family_first(name: str) -> bool:
    """Tell if a given name stands after a surname in capitals."""
    family, _, given = name.rpartition(" ")
    first = given.partition("-")[0]
    return is_given(first) and not is_ordinary_word(first) and _is_family(family)


_IN_LIST = re.compile(
    rf"(?<![\w'’-])(?:[{CAPITALS}]{{3,20}} [{CAPITALS}]{_LETTER}{{2,15}}"
    rf"|[{CAPITALS}]{_LETTER}{{2,15}} [{CAPITALS}]{{4,20}})(?![\w'’-])"
)


def _locate_in_list(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name that begins with the surname in capitals, beside another one or
    after a title: `IKEA Billy` is nobody."""
    start, end = match.span("part")
    text = match.string
    if _AFTER_TITLE.search(text, max(0, start - 12), start):
        return start, end
    around = (
        *_IN_LIST.finditer(text, max(0, start - _LISTED_NEAR), start),
        *_IN_LIST.finditer(text, end, end + _LISTED_NEAR),
    )
    named = (_has_family_first(found[0]) or _has_family_last(found[0]) for found in around)
    return (start, end) if any(named) else None


_LISTED_NEAR = 200  # characters between two names of a list
_AFTER_TITLE = re.compile(r"(?<!\w)(?:M|Mr|Mme|Mlle|Mrs|Ms|Dr|Monsieur|Madame|Herr|Frau)\.? \Z")
# What one does with a person, whatever the name: send it to, a contract with, a poem for.
_DEALT = (
    r"(?:(?:send|give|hand|forward|return|deliver|show|lend|sell|assign|award)(?:s|ing)?"
    r" (?:(?:it|them|this|that|these|those|one|some|(?:the|a|an|this|my|our) [a-z]{2,15}) )?to"
    r"|(?:sent|gave|handed|forwarded|returned|showed|lent|sold|assigned|owe[sd]?|pa(?:y|id))"
    r"(?: (?:it|them|this|that|(?:the|a|an|my|our) [a-z]{2,15}) to)?"
    r"|(?:write|wrote|reply|replied|respond(?:ed)?|talk(?:ed)?|talking|spoke|speak|speaking"
    r"|apologi[sz]ed?) (?:to|with)"
    r"|(?:contract|lease|agreement|dispute|appointment|meeting|interview|call|lunch|dinner|date)"
    r" with"
    r"|(?:poem|card|toast|speech|gift|present|eulogy|letter|email|e-mail|message|note|invoice"
    r"|reference|contract|invitation|recommendation) (?:for|to|from)"
    r"|(?:ask|tell|remind|thank|invite|phone|congratulate|notify|inform|hire|fire|promote|marry)"
    r"|(?:asked|told|reminded|thanked|invited|phoned|notified|informed|hired|fired|promoted)"
    r"|married|met|whether|signed by|according to|on behalf of)"
)
_DEALT_WORDS = """
    send sends sending give gives giving hand forward return deliver show lend sell assign award
    sent gave handed forwarded returned showed lent sold assigned owe owes owed pay paid write
    wrote reply replied respond responded talk talked talking spoke speak speaking apologize
    apologise apologized apologised contract lease agreement dispute appointment meeting interview
    call lunch dinner date poem card toast speech gift present eulogy letter email mail message
    note invoice reference invitation recommendation ask tell remind thank invite phone
    congratulate notify inform hire fire promote marry asked told reminded thanked invited phoned
    notified informed hired fired promoted married met whether signed according behalf
"""
# What somebody has done, right after the name. Firms, too, have said something.
_DID = (
    r" (?:was late|is late|has(?:n['’]t| not)? (?:paid|called|replied|signed|left|resigned)|called"
    r"|wrote|asked|phoned|texted|emailed|resigned|retired|died|married|got (?:married|fired|hired)"
    r"|is (?:on (?:sick |parental )?leave|ill|sick|pregnant|my|our)|and I)(?!\w)"
)
_DID_WORDS = """
    late paid called replied signed left resigned wrote asked phoned texted emailed retired died
    married got leave ill sick pregnant my our i
"""
_STRANGE = rf"[{CAPITALS}][^\W\d_{CAPITALS}]{{3,14}}"
# A word with a capital that is no part of a longer name, an address or code.
ALONE = rf"(?<![\w'’.@/#&-])(?P<part>{_STRANGE})(?![\w@(/=-]|\.\w|['’](?!s\b))"


def _is_told(name: str) -> bool:
    """Tell if a given name is nothing else."""
    return is_given(name) and not names_thing(name) and name.lower() not in NO_NAMES


def is_strange(name: str) -> bool:
    """Tell if no word of a name is in the dictionary or a given name, which other shapes find:
    `Torvald Ostrander`."""
    return not any(
        is_ordinary_word(word)
        or is_given(word)
        or word.lower() in NO_NAMES
        or word.lower() in _PLACES
        for word in name.split()
    )


# What follows the name of a firm, a program or a place: Zapier Inbox, Figma Community.
_OF_THINGS = words_of(
    """
    authors contributors maintainers
    academy account agency airport api app archive avenue bank bar beach board books bot bucket
    builder business cafe calendar care center centre channel city clinic cloud club code college
    committee community company connect console contacts council county court customer customers
    dashboard data database day days deal dealer desk dev developer developers dock docs document
    drive east engine engineer exchange express family farm feed files finance form forms forum
    foundation garden gardens gateway group hall health help home hospital hotel house hub inbox
    inn institute island journal kitchen lab labs lake legal level library list magazine mail
    manager map market media mode model month museum music network news north notes office online
    page park partners pay period phone pipeline plan platform player plus police port post power
    premium press prime printer pro project queue radio reader records repository resort
    restaurant river road rules sales school sell server service services shop site south space
    sport staff stage station storage store stream streams street studio studios suite support
    system systems table team teams tech times tower town trust union university user users valley
    village week west wiki workspace zone
    """
)


def _is_dealt_with(name: str) -> bool:
    """Tell if a name is of no dictionary, or a surname that is a word of one follows a given name
    or such a word: `Caspian Vale`, `Autumn Fields`."""
    given, _, family = name.rpartition(" ")
    word = family.lower()
    worded = is_ordinary_word(word) and word not in _OF_THINGS | NO_NAMES
    if given.lower() in PROGRAMS:
        return False
    return (worded and is_given(given)) or (is_strange(given) and (worded or is_strange(family)))


# What follows `Bapak` and `Ibu`, and is nobody's name.
_NOBODY_IN_MALAY = words_of(
    """
    choi choy kota negara negeri bangsa pertiwi presiden guru dokter polisi hakim rumah hamil dosen
    kepala direktur menteri gubernur walikota bupati camat lurah ketua manajer manager rektor jaksa
    proklamator pendeta ustad ustadz haji kos mertua tiri angkat kandung saya kami anda dan yang
    """
)


def _is_titled_in_malay(name: str) -> bool:
    return name.split(" ")[0].lower() not in _NOBODY_IN_MALAY and not is_ordinary_word(name)


def _is_payer(name: str) -> bool:
    """Tell if a bill goes to a person: a given name is first, or no word is in a dictionary, and
    the last is of no firm."""
    words = name.split(" ")
    firm = words[-1].lower() in _OF_THINGS | _FIRMS | NO_NAMES
    return is_full_name(name) and not firm and (is_given(words[0]) or is_strange(name))


_FIRMS = words_of("gmbh ag kg ltd inc llc corp bv sa srl spa plc co ab oy as aps ohg mbh")

# What somebody is told, after their name: thanks, that I am late, to bring it.
_TOLD_THEN = (
    r" (?:that|the|to|about|thanks|thank|sorry|hi|hello|happy|good|congrats|congratulations|if"
    r"|whether|why|how|when|where|what|who|not|i|i['’]m|i['’]ll|we|we['’]re|he|she|his|her|my|our|they|it['’]s"
    r"|for|again|please|tonight|tomorrow|today)(?![\w-])"
)

_OF_CARD = r"(?:;[\w=;-]{1,60})?"  # the parameters of a property of vCard
_TELEPHONE_CLUE = all_clues(least_digits(7), any_figure(r"[+0](?<=[ (].)\d"))

# A value of a query of the web: `?name=Ostrander, Torvald`, `&q="Torvald Ostrander"`.
_QUERIED = words_of("name full_name fullname display_name q query search s term keyword who")
_QUERY_OWNERS = words_of(
    "customer client patient contact employee member student guest owner user author recipient"
)


def _locate_queried(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name in a query: one word of it is a given name, or its key says whose
    it is and no word of it is an ordinary one."""
    key = match["key"].lower().replace("-", " ").replace("_", " ")
    words = re.findall(_WORD, match["part"])
    owner = not _QUERY_OWNERS.isdisjoint(key.split())
    if not owner and key not in _QUERIED:
        return None
    if any(map(is_ordinary_word, words)):  # `?q=Rose Garden`
        return match.span("part") if owner and any(map(is_given, words)) else None
    return match.span("part") if owner or any(map(is_given, words)) else None


def _locate_invited(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the name of a guest of an event: no room, and no group."""
    words = re.findall(_WORD, match["part"])
    strange = len(words) > 1 and not any(map(is_ordinary_word, words))
    return match.span("part") if strange or any(map(is_given, words)) else None


PERSONS = (
    shape(  # of iCalendar: ATTENDEE;CN="Torvald Ostrander":mailto:…
        "PERSON",
        r"(?m:^)(?:ATTENDEE|ORGANIZER)(?:;(?!CN=)[^\n;:]{1,60}){0,6};CN=\"?"
        rf"(?P<part>{WRITTEN_NAME})(?=[\";:\r\n])",
        clue=any_string(";cn="),
        locate=_locate_invited,
        reach=400,
    ),
    shape(
        "PERSON",
        r"(?:[?&]|(?<![^\s\"'(])(?=[A-Za-z_-]{1,30}=[^&]{1,200}&[A-Za-z_-]{1,30}=))"
        r"(?P<key>[A-Za-z_-]{1,30})=[\"'+]?"
        rf"(?P<part>{_PART}(?:(?:,[ +]?|[ +]){_PART}){{1,3}})"
        r"(?=[\"'&\s<>)]|\Z)",
        clue=any_match(r"[?&][A-Za-z_-]{1,30}="),
        locate=_locate_queried,
        reach=240,
    ),
    shape(  # Please send it to Torvald Ostrander.
        "PERSON",
        rf"(?<![\w-])(?i:{_DEALT}) (?P<part>{_STRANGE} {_STRANGE})"
        rf"(?![\w@(/=-]|\.\w| [{CAPITALS}])",
        _is_dealt_with,
        clue=any_listed(_DEALT_WORDS),
        reach=30,
    ),
    shape(  # tell Chase thanks, she covers for June
        "PERSON",
        rf"(?<!\w)(?:(?i:tell|ask|remind|thank|invite|text|told|asked|reminded|thanked|invited|texted)"
        rf" (?P<told>)|(?:to|will|would|can|could|i|I|she|he|we|they|you|[Pp]lease)"
        rf" (?:cover|stand in|fill in|babysit|vouch) for )"
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,14}})(?(told)(?i:{_TOLD_THEN})"
        r"|(?=[.,;!?)]|\Z| (?:while|when|on|at|today|tonight|tomorrow|this|next|until|if|because"
        r"|since|in|as)(?!\w)))",
        _is_told,
        clue=any_listed(
            "tell ask remind thank invite text told asked reminded thanked invited texted",
            "cover stand fill babysit vouch",
        ),
        reach=12,
    ),
    shape(  # June has resigned
        "PERSON",
        rf"(?<![\w'’.@/#&-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,14}})"
        r" (?:(?:has|had) (?:resigned|quit|retired|called|phoned|texted|emailed|replied"
        r"|apologi[sz]ed|given notice|moved out)|(?:phoned|texted|emailed|resigned|apologi[sz]ed)"
        r"|(?:is|was) (?:on (?:sick |parental |maternity )?leave|pregnant|off sick))(?!\w)",
        _is_told,
        clue=any_listed(
            "resigned quit retired called phoned texted emailed replied apologized apologised",
            "notice moved leave pregnant sick",
        ),
        reach=40,
    ),
    shape(  # attn. Torvald Ostrander, z. Hd. Frau Ostrander
        "PERSON",
        rf"(?<![^\W_])(?i:attn\.?:?|attention:|fao:?|f\.a\.o\.|z\. ?hd\.|zu händen(?: von)?"
        r"|à l['’]attention de|a la atención de|all['’]attenzione di|t\.a\.v\.|k rukám|do rąk)"
        rf" (?:(?i:{WRITTEN_TITLE})\.? ){{0,2}}(?P<part>{WRITTEN_FULL})"
        r"(?! (?:GmbH|AG|KG|Ltd|Inc|LLC|S))",
        is_full_name,
        clue=any_string(
            "att", "fao", "f.a.o.", "hd.", "händen", "atención", "t.a.v.", "rukám", "rąk"
        ),
        reach=16,
    ),
    shape(  # PC 4471 Dunmore, Sgt 12 Ravensworth
        "PERSON",
        r"(?<!\w)(?:WPC|PC(?= \d{3})|PCSO|Sgt|Const(?:able)?|Officer|Deputy) "
        r"(?:No\.? ?)?[A-Z]{0,2}\d{1,6} "
        rf"(?P<part>{_WORD})(?![\w-])",
        lambda name: not is_ordinary_word(name),
        clue=any_string("pc ", "pcso ", "sgt ", "const", "officer ", "deputy "),
        reach=2,
    ),
    shape(  # Torvald Ostrander was late again.
        "PERSON",
        rf"(?<![\w'’.@/#&-])(?<![Tt]he )(?P<part>{_STRANGE} {_STRANGE}){_DID}",
        is_strange,
        clue=any_listed(_DID_WORDS),
        reach=80,
    ),
    shape(  # did Imre send it?
        "PERSON",
        rf"(?<![\w-])[Dd]id (?P<part>{_STRANGE})"
        r" (?:send|call|reply|answer|sign|pay|text|phone|ring|mention|tell|e-?mail)(?!\w)",
        lambda name: _is_told(name) and not is_ordinary_word(name),
        clue=any_listed("did"),
        reach=2,
    ),
    shape(  # Imre is ill today
        "PERSON",
        rf"(?<![\w'’.@/#&-])(?P<part>{_STRANGE}) (?:is|was) (?:still )?(?:ill|sick|late)"
        r"(?: (?:today|again|tomorrow|this week|until)(?!\w)|(?=[.,!?;]|\Z))",
        lambda name: _is_told(name) and not is_ordinary_word(name),
        clue=any_listed("ill sick late"),
        reach=40,
    ),
    shape(  # Ask Wiebke for the key.
        "PERSON",
        ALONE,
        stands_alone,
        locate=locate_alone,
    ),
    shape(  # can u tell wiebke im late, a card for gemma's last day
        "PERSON",
        r"(?<![\w'’.@/#&$-])(?P<part>[^\W\d_]{3,15})(?![\w@(/=:$-]|\.\w|['’](?!s\b)|\[)",
        lambda name: name.islower() and name not in CHATTED,
        clue=any_word(may_be_given),
        locate=_locate_lower_given,
        reach=2,
    ),
    shape(  # @wiebke
        "USERNAME",
        r"(?<![\w.@/])@(?P<part>[a-z]{4,15})(?![\w/-]|\.\w)",
        stands_alone,
        clue=any_string("@"),
        locate=_locate_mention,
        reach=4,
    ),
    shape(
        "PERSON",
        rf"(?<![\w.-])(?:(?i:{WRITTEN_TITLE})\b\.?(?:<br ?/?>| |\xa0){{1,2}}){{1,4}}"
        rf"(?P<part>{WRITTEN_NAME})",
        is_given_name,
        clue=any_listed(_TITLE_LIST),
        reach=70,
        locate=_locate_titled,
    ),
    shape(  # Mrs Castle
        "PERSON",
        rf"(?<![\w.-])(?:(?:Mrs|Mr|Ms|Miss|Mx|Cllr|Rev|Revd|[Pp]ani|[Mm]evrouw|[Mm]eneer)\.?"
        rf"|(?:[Mm]w|[Dd]hr|[Mm]evr|[Ff]am)\.) "
        rf"(?P<part>(?:[Dd]e |[Vv]an (?:de |den |der )?|D[aeo]s? )?"
        rf"[{CAPITALS}][^\W\d_{CAPITALS}]{{2,20}})(?!\w|['’-]\w\w| [{CAPITALS}]\w| (?:von|van"
        rf"|de) )",
        _is_word_titled,
        clue=any_listed("mr mrs ms miss mx cllr rev revd pani mevrouw meneer mw dhr mevr fam"),
        reach=8,
    ),
    shape(  # Bapak Suryo Wicaksono
        "PERSON",
        r"(?<![\w-])(?:Bapak|Bpk\.?|Pak|Ibu|Bu|Mbak|Sdri?\.?) (?:(?:Dr|Ir|H|Hj)\.? )?"
        rf"(?P<part>{_WORD}(?: {_WORD}){{0,3}})(?![\w'’-])",
        _is_titled_in_malay,
        clue=any_listed("bapak bpk pak ibu bu mbak sdr sdri"),
        reach=4,
    ),
    shape(  # Bill to: Torvald Ostrander, 12 Elm Road
        "PERSON",
        r"(?<![\w-])(?i:(?:bill(?:ed)?|ship(?:ped)?|sold|deliver(?:ed)?|invoiced?|payable) to"
        r"|rechnung an|liefern an|facturer à|facturar a|fatturare a):? "
        rf"(?:(?i:{WRITTEN_TITLE})\.? )?(?P<part>{WRITTEN_FULL})"
        rf"(?=[.,;\n]|\Z)(?! ?[.,]? (?:GmbH|AG|KG|Ltd|Inc|LLC|S\.))",
        _is_payer,
        clue=any_listed(
            "bill billed ship shipped sold deliver delivered invoice invoiced payable rechnung",
            "liefern facturer facturar fatturare",
        ),
        reach=4,
    ),
    shape(  # Kovács úr, Karadağ Hanım
        "PERSON",
        rf"(?<![\w-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,20}}) "
        r"(?:úr|asszony|[Bb]ey|[Hh]anım)(?![\w'’-])",
        lambda name: name.lower() not in _ROLES_TITLED and not is_ordinary_word(name),
        clue=any_listed("úr asszony bey hanım"),
        reach=24,
    ),
    shape(  # dear mr featherstonehaugh, ms. lark, fr. özdemir, don eusebio
        "PERSON",
        r"(?<![\w.@/-])"
        rf"(?P<title>{any_of(_LOWER_TITLES)})(?P<dot>\.?) "
        rf"(?P<part>(?:(?:van der|van den|van de|van|von|de la|de los|de|del|di|el|al) )?"
        rf"{WRITTEN_LOWER})(?![\w-]|['’](?!s\b)|\.\w)",
        clue=any_listed(_LOWER_TITLES),
        locate=_locate_lower_titled,
        reach=12,
    ),
    shape(
        "PERSON",
        rf"(?<!\w)(?i:{_OWNED}) (?:(?i:{_KIND_OF}),? ){{0,2}}(?i:{_KIN}|{_KIN_ELSEWHERE})"
        rf"(?:['’]s name is|,? (?i:called|named|namens|is called|is named|heißt|genannt))?,?"
        rf"[ (:]{{1,2}}{_MARKUP}(?P<part>{WRITTEN_NAME})",
        is_given_name,
        locate=_locate_shouted,
        clue=any_listed(
            "my our your mein meine meinen meinem meiner meines unser unsere unseren unserem",
            "unserer unseres dein deine deinen deinem deiner deines mon ma mes notre nos mi mis",
            "nuestro nuestra mio mia mój moja",
        ),
        reach=4,
    ),
    shape(  # my husband tom, my sons teacher jean
        "PERSON",
        rf"(?<!\w)(?P<owner>my|me|our|your|ur|his|her|their|mein|meine|meinen|meinem|meiner|mon|ma"
        rf"|mi) (?:{_KIND_OF} )?(?:[a-z]{{2,12}}['’]?s )?(?P<kin>{_KIN}|{_KIN_ELSEWHERE}"
        rf"|little one)"
        rf"(?P<called>,|['’]s name is| is called| called| named)?"
        rf"[ (]{{1,2}}(?P<part>{WRITTEN_LOWER})(?![\w-]|['’](?!s\b))",
        clue=any_listed(
            "my me our your ur his her their mein meine meinen meinem meiner mon ma mi"
        ),
        locate=_locate_relative,
        reach=4,
    ),
    shape(  # mijn buurman wim, min fru Gunilla, kocam Hüseyin
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_OWN_FARTHER)} {_KIN_FARTHER}"
        rf"|{_OWN_KIN}),? (?P<part>[^\W\d_]{{2,20}}(?: (?:{_LINK} ?)?{_WORD}){{0,3}})(?![\w'’-])",
        lambda name: _is_related(name.partition(" ")[0]),
        clue=any_listed(_OWN_FARTHER, _OWN_KIN_LIST),
        reach=24,
    ),
    shape(
        "PERSON",
        rf"(?<!\w)(?i:{_INTRODUCTIONS}) (?:(?i:{WRITTEN_TITLE})\b\.? ?){{0,3}}[\"“„'*_]{{0,2}}"
        rf"(?P<part>{WRITTEN_NAME})",
        is_given_name,
        clue=any_string(*sorted(_INTRODUCTION_STEMS)),
        locate=_locate_introduced,
        reach=40,
    ),
    shape(
        "PERSON",
        rf"(?<!\w)(?i:{_INTRODUCTIONS}|hi,? i['’]?m) (?:(?:mr|mrs|ms|dr|prof)\.? )?"
        rf"(?P<part>{WRITTEN_LOWER}(?: {WRITTEN_LOWER})?)(?![\w'’-])",
        locate=_locate_lower,
        clue=any_string(*sorted(_INTRODUCTION_STEMS), "i'm", "i’m", "im "),
        reach=40,
    ),
    shape(
        "PERSON",
        rf"(?<!\w)(?:I am|I['’]m|This is|this is|it['’]s|It['’]s|Ich bin|ich bin|[Jj]e suis|[Ss]oy"
        rf"|[Ss]ono) (?P<part>{WRITTEN_FULL})(?![\w-])",
        is_full_name,
        clue=any_string(
            "i am", "i'm", "i’m", "is is", "it's", "it’s", "ich bin", "je suis", "soy", "sono"
        ),
        reach=12,
    ),
    shape(
        "PERSON",
        rf"(?<![^\W_]){assigned(_SURE)}",
        case=False,
        clue=any_string(*sorted(_STEMS)),
        locate=_locate_named,
        reach=30,
    ),
    shape(
        "PERSON",
        rf"(?<![^\W_]){assigned(_UNSURE)}",
        case=False,
        # Two words, each with a capital; or letters of other scripts in quotation marks.
        clue=any_match(
            rf"[{CAPITALS}][^\W\d_]{{0,30}}[.'’-]?(?:, ?|[ .'’\u00b7-]){{1,2}}"
            rf"(?:{_LINK} ?)?[{CAPITALS}]"
        ),
        locate=_locate_named,
        reach=340,
    ),
    shape(
        "PERSON",
        rf"(?<![^\W_]){assigned(_ROLE)}",
        case=False,
        clue=any_string(*_ROLE_STEMS),
        locate=_locate_role,
        reach=30,
    ),
    shape(
        "PERSON",
        rf"(?<![^\W_]){assigned(r'(?:given|family|first|last|fname|lname)')}",
        case=False,
        # The first tells the places: a match begins at either, and both are there.
        clue=all_clues(
            any_listed("family last lname given first fname"),
            any_listed("family last lname"),
            any_listed("given first fname"),
        ),
        locate=_locate_paired,
        reach=100,
    ),
    shape(
        "PERSON",
        rf"(?<![\w'’-]){_ADDRESSED}\"?(?: \([^()\n]{{1,40}}\))? (?:<|&lt;)(?:mailto:)?"
        r"(?P<local>[\w.+-]{1,64})(?:@|%40| at | \[at\] )[\w-]",
        clue=all_clues(any_string("<", "&lt;"), any_string("@", "%40", " at ", "[at]")),
        locate=_locate_display,
        reach=200,
    ),
    shape(  # To: mira holzapfel <mira@…>
        "PERSON",
        r"(?m:^)[ >]{0,3}(?:From|To|Cc|Bcc|Reply-To|Sender|Von|An|De): {1,4}[\"']?"
        r"(?P<part>[a-z]{2,20}(?:[ -][a-z'’]{1,20}){1,3})[\"']? {0,2}(?:<|&lt;)[\w.+-]{1,64}@",
        _is_small_name,
        clue=all_clues(any_string("<", "&lt;"), any_string("@")),
        reach=120,
    ),
    shape(
        "PERSON",
        rf"(?m:^)[ +>-]{{0,3}}(?:Signed-off|Co-authored|Reviewed|Acked|Tested|Reported"
        rf"|Suggested|Helped"
        rf"|Co-developed|Approved|Mentored|Requested|Debugged)-[Bb]y: {_ADDRESSED}"
        rf"(?=[ \t]{{0,2}}(?:<|\n|\Z))",
        _is_name,
        clue=any_string("-by: "),
        reach=20,
    ),
    shape(
        "PERSON",
        rf"(?m:^)[ +>-]{{0,3}}(?:Author|Committer|From|To|Cc|Commit"
        rf"|AuthorName): {{1,4}}\"?{_ADDRESSED}"
        r"\"?(?=[ \t]{0,2}(?:<|\[|\n|\Z))",
        is_full_name,
        clue=any_string("author", "committer", "from:", "to:", "cc:", "commit:"),
        reach=14,
    ),
    shape(  # 919-256-2873 (JESSICA)
        "PERSON",
        rf"(?<=\d) ?\((?P<part>[{CAPITALS}]{_LETTER}{{2,16}}"
        rf"(?: [{CAPITALS}]{_LETTER}{{1,20}})?)\)",
        lambda name: is_given(name.split()[0]),
        clue=any_figure(rf"\d ?\([{CAPITALS}]"),
        reach=4,
    ),
    shape(  # between pictures
        "PERSON",
        rf"(?<=[\U0001f300-\U0001faff])\ufe0f?[ \t]?(?P<part>{WRITTEN_FULL})"
        r"(?=[ \t]?(?:[\U0001f300-\U0001faff\u2600-\u27bf]|\n|\Z))",
        is_full_name,
        clue=any_match("[\U0001f300-\U0001faff]"),
        reach=4,
    ),
    shape(  # above a street and a postcode
        "PERSON",
        rf"(?m:^)[ \t>*]{{0,8}}(?:(?i:{WRITTEN_TITLE})\b\.? ){{0,2}}(?P<part>{WRITTEN_FULL})"
        rf"[ \t]{{0,2}}\r?\n"
        rf"(?=[ \t>*]{{0,8}}(?:\d{{1,5}}[a-z]?,? [{CAPITALS}][\w.'’ -]{{2,40}}"
        rf"|[{CAPITALS}][\w.'’ -]{{2,40}} \d{{1,4}}[a-zA-Z]?),?[ \t]{{0,2}}\r?\n"
        r"[ \t>*]{0,8}[^\n]{0,40}(?<!\d)(?:\d{4,5}(?!\d)|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b))",
        is_full_name,
        clue=all_clues(least_digits(2), any_string("\n")),
    ),
    *(
        shape(  # vCard: FN:Mira Holzapfel, N:Holzapfel;Mira
            "PERSON",
            rf"(?m:^)[ +-]?{key}(?P<part>{_LETTER}[^\n:;]{{0,60}}[^\W\d_])",
            case=False,
            clue=any_match(r"(?im:^[ +-]?(?:FN|N|NICKNAME)[:;])"),
            locate=_locate_card,
            reach=10,
        )
        for key in (
            rf"(?:FN|N|NICKNAME){_OF_CARD}:(?:{WRITTEN_TITLE}\.? ){{0,2}}",
            rf"N{_OF_CARD}:[^\n:;]{{1,60}};",
        )
    ),
    shape(  # Ring Amina at +254 722 555 012; Ortrud (04321 555 99)
        "PERSON",
        rf"(?<![\w'’-])(?P<part>{WRITTEN_NAME}) ?"
        r"(?:at |on |under |unter |au |al |em |op |på |pod |\()"
        rf"(?={_NUMBER})",
        clue=_TELEPHONE_CLUE,
        locate=_locate_called,
        reach=204,
    ),
    shape(  # tel. +39 340 555 0123. Ildebranda Scognamiglio
        "PERSON",
        rf"(?<![\w.])\+?\d[\d ()/-]{{6,24}}\d[.,;] (?P<part>{WRITTEN_FULL})(?=[.,]?\s*\Z|\n|, )",
        _is_bare,
        clue=all_clues(least_digits(8), any_figure(rf"\d[.,;] [{CAPITALS}]")),
        reach=30,
    ),
    shape(  # executor Alphonse, Enkel Malte
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_ROLES)}) (?P<part>{WRITTEN_NAME})",
        lambda name: is_given(name.split(" ")[0]) and _is_unusual(name),
        clue=any_listed(_ROLES),
        reach=20,
    ),
    shape(  # collected by grandad Enoch, proxy to son Ari
        "PERSON",
        rf"(?<!\w)(?<!(?:his|the) )(?<!her )(?<!their )(?:{any_of(_RELATIVES)}) {_MARKUP}"
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{1,15}})(?!\w|['’-]\w\w| [{CAPITALS}])",
        lambda name: is_given(name) and name.lower() not in _NOBODY_RELATED,
        clue=any_listed(_RELATIVES),
        reach=24,
    ),
    shape(  # Readers: Ngozi, Tim B
        "PERSON",
        rf"(?<![\w.'’-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{1,15}} [{CAPITALS}])"
        rf"(?=\.?(?:[,;:)\n]| [–—-] |\.?\s*\Z))",
        lambda name: is_given(name[:-2]) and not is_ordinary_word(name[:-2]),
    ),
    shape(  # clerk Rowan Tree
        "PERSON",
        rf"(?<!\w)(?:(?i:{any_of(_OFFICES)}):? |(?<=\w)\()(?P<part>{WRITTEN_FULL})(?![\w-])",
        lambda name: is_given(re.split("[ -]", name)[0]) and not name.isupper(),
        clue=any_listed(_OFFICES),
        reach=24,
    ),
    shape(  # Otis's mum
        "PERSON",
        rf"(?<![\w-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{1,15}})['’]s? "
        r"(?:mum|mummy|mom|mommy|dad|daddy|nan|gran|granny|grandad|stepmum|stepdad)(?!\w)",
        is_given,
        clue=any_listed("mum mummy mom mommy dad daddy nan gran granny grandad stepmum stepdad"),
        reach=24,
    ),
    shape(  # Host (me, Perpetua): …
        "PERSON",
        rf"(?m:^)[^\W\d_a-z][\w -]{{1,24}} \((?:me,? )?(?P<part>{WRITTEN_NAME})\):",
        lambda name: is_given(re.split("[ -]", name)[0]),
        clue=any_string("):"),
        reach=60,
    ),
    shape(  # carer Comfort Adeyemi, 07700 900 129
        "PERSON",
        rf"(?<![\w'’-])(?P<part>{WRITTEN_NAME})(?:\*\*)?(?: \([^()\n]{{1,20}}\))?,? (?={_NUMBER})"
        r"(?!\d{3}-\d\d-\d{4}(?!\d))",
        clue=_TELEPHONE_CLUE,
        locate=_locate_before_number,
        reach=226,
    ),
    shape(  # Hiya, it's Grace from next door
        "PERSON",
        rf"(?<!\w)(?i:hi|hiya|hey|hello),? (?i:it['’]s|this is) "
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{1,15}})(?![\w'’-])",
        is_given,
        clue=any_listed("hi hiya hey hello"),
        reach=4,
    ),
    shape(  # \name{Bartholomew}{Holzapfel}
        "PERSON",
        rf"\\name\{{(?P<part>{WRITTEN_NAME})\}}(?=\{{)",
        clue=any_string("\\name{"),
        reach=8,
    ),
    shape(
        "PERSON",
        rf"\\name\{{{WRITTEN_NAME}\}}\{{(?P<part>{WRITTEN_NAME})\}}",
        clue=any_string("\\name{"),
        reach=8,
    ),
    shape(  # our neighbours are the Mulvaneys
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_NEIGHBOURS)})(?!\w)[^.!?\n]{{0,30}}? the "
        rf"(?P<part>[{CAPITALS}][^\W\d_]{{3,20}}s)"
        r"(?![\w'’-])",
        _is_household,
        clue=any_listed(_NEIGHBOURS),
        reach=12,
    ),
    shape(  # Hi, Trev here
        "PERSON",
        rf"(?m:^|(?<=[.!?] ))(?i:hi|hey|hello|hallo|moin),? (?P<part>{WRITTEN_NAME}) "
        r"(?:here|hier|speaking)(?!\w)",
        is_given_name,
        clue=any_listed("here hier speaking"),
        reach=120,
    ),
    shape(  # kannst du svenja fragen
        "PERSON",
        rf"(?<!\w)(?:du|ich|ihr|mal|bitte) (?P<part>{WRITTEN_LOWER}) (?:mal |bitte )?"
        rf"{any_of(_ASKED)}(?!\w)",
        lambda name: is_given(name) and is_lower_name(name),
        clue=any_listed(_ASKED),
        reach=60,
    ),
    shape(  # of letters and papers in LaTeX
        "PERSON",
        rf"\\(?:signature|author|name|fromname|begin\{{letter\}})\{{(?P<part>{WRITTEN_FULL})"
        r"(?=\}| \\\\|,)",
        is_full_name,
        clue=any_string("signature{", "author{", "name{", "letter}{"),
        reach=18,
    ),
    shape(  # above a CV
        "PERSON",
        rf"(?:\A|\n[ \t]{{0,4}}\r?\n)[ \t]{{0,4}}"
        rf"(?P<part>[{CAPITALS}'’-]{{3,20}}(?: [{CAPITALS}'’-]{{2,20}}){{1,3}})"
        r"[ \t]{0,3}\r?\n"
        r"(?=[^@]{0,300}?(?:@|(?<!\w)\+?\d[\d ()-]{7,20}\d))",
        _is_head,
        clue=any_match(
            rf"(?:\A|\n[ \t]{{0,4}}\r?\n)[ \t]{{0,4}}[{CAPITALS}'’-]{{3,20}} [{CAPITALS}'’-]{{2}}"
        ),
    ),
    shape(  # author: luis-fernando-holzapfel
        "PERSON",
        rf"(?m:^)[ \t]{{0,4}}(?:author|autor|autora|auteur|maintainer|contributor): {{1,4}}[\"']?"
        rf"(?P<part>{_LETTER}{{2,20}}(?:-{_LETTER}{{2,20}}){{1,4}})[\"']?[ \t]{{0,4}}(?=\r?\n|\Z)",
        lambda name: is_given(name.split("-")[0]) and not is_ordinary_word(name.split("-")[-1]),
        clue=any_string("author", "autor", "auteur", "maintainer", "contributor"),
        reach=8,
    ),
    shape(  # Marta to check the logs
        "PERSON",
        rf"(?:\A|[\n.,;:•*–-])[ \t]{{0,4}}(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,15}}) to "
        rf"(?:{any_of(_DUTIES)})(?!\w)",
        lambda name: is_given(name) and not is_ordinary_word(name),
        clue=any_listed(_DUTIES),
        reach=30,
    ),
    shape(  # pregunta por Gorka
        "PERSON",
        r"(?<!\w)(?i:pregunt[ae]r? por|demande[rz]? (?:à|après)|fragen? (?:sie )?nach"
        r"|chied[ai] di) "
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,15}})(?![\w'’-])",
        lambda name: is_given(name) and not is_ordinary_word(name),
        clue=any_listed("por à après nach di"),
        reach=24,
    ),
    shape(  # ring Wiebke 01970 555 014
        "PERSON",
        rf"(?<!\w)(?i:call|ring|phone|text|contact|whatsapp|ruf|appelle|llama) "
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,15}}"
        rf"(?: [{CAPITALS}][^\W\d_{CAPITALS}]{{2,15}})?)"
        rf"(?: at| on| unter| au| al|,)? (?={_NUMBER})",
        lambda name: is_given(name.split()[0]) and not is_ordinary_word(name.split()[0]),
        clue=all_clues(
            least_digits(7), any_listed("call ring phone text contact whatsapp ruf appelle llama")
        ),
        reach=10,
    ),
    shape(  # Fatma (oppas) ...... 06 55 50 13 44
        "PERSON",
        rf"(?m:^)[ \t]{{0,4}}(?P<part>{WRITTEN_NAME})(?: \([^()\n]{{1,20}}\))? ?\.{{3,60}} ?"
        rf"(?={_NUMBER})",
        is_given_name,
        clue=all_clues(least_digits(7), any_string("...")),
        reach=230,
    ),
    shape(  # Stéphane URVOY, beside words in small letters
        "PERSON",
        rf"(?<![\w'’-])(?P<part>[{CAPITALS}]{_LETTER}{{1,15}}(?:-[{CAPITALS}]{_LETTER}{{1,15}})?"
        rf"(?<![{CAPITALS}]) (?:{_IN_CAPITALS}[ -]){{0,2}}[{CAPITALS}]{{4,20}})(?![\w'’/-]|\.\w)",
        _has_family_last,
        clue=any_match(rf"{_LETTER}(?<![{CAPITALS}]) [{CAPITALS}]{{2}}"),
        reach=34,
    ),
    shape(  # LE RESTE-TILLEROT Mathis
        "PERSON",
        rf"(?<![\w'’/-])(?P<part>(?:{_IN_CAPITALS}[ -]){{0,2}}[{CAPITALS}]{{4,20}}"
        rf" [{CAPITALS}]{_LETTER}{{1,15}}(?:-[{CAPITALS}]{_LETTER}{{1,15}})?)"
        rf"(?![\w'’-]| [{CAPITALS}])",
        _has_family_first,
        locate=_locate_in_list,
        clue=any_match(rf"[{CAPITALS}]{{4}} [{CAPITALS}]{_LETTER}(?<![{CAPITALS}])"),
        reach=60,
    ),
    shape(  # Mme LE PROVOST
        "PERSON",
        rf"(?<![\w.-])(?:M|Mr|Mme|Mlle|Mrs|Ms|Dr)\.? "
        rf"(?P<part>(?:LE|LA|DE|DU|DES|DA|DI|VAN|VON|DEL|DE LA|VAN DER)[ ][{CAPITALS}]{{3,20}}"
        rf"(?:-[{CAPITALS}]{{2,20}})?)(?![\w-])",
        clue=any_listed("m mr mme mlle mrs ms dr"),
        reach=8,
    ),
    shape(  # In attendance: Desiree Home (Clerk)
        "PERSON",
        rf"(?<![\w'’-])(?P<part>{WRITTEN_FULL})(?= \((?:{any_of(_CHAIRS)})\))",
        lambda name: is_given(re.split("[ -]", name)[0]) and not name.isupper(),
        case=True,
        clue=any_string(*(f"({word.lower().split('_')[0]}" for word in _CHAIRS.split())),
        reach=204,
    ),
)
