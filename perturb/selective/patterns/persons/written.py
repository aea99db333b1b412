"""How a person's name is written, and which words are none.

No shape is here: the modules beside it say what stands around a name.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.settings import PROGRAMS, is_placeholder
from perturb.selective.patterns.shape import any_of, words_of
from perturb.selective.patterns.words import (
    CHATTED,
    GERMAN_NOUNS,
    OPENERS,
)

__all__ = [
    "ALSO_WORDS",
    "CAPITALS",
    "DEPARTMENTS",
    "LABEL_WORDS",
    "LETTER",
    "LINK",
    "NO_NAMES",
    "OF_PLACES",
    "OF_THINGS",
    "PHRASE_WORDS",
    "RATHER_WORDS",
    "TITLE_LIST",
    "TITLE_WORDS",
    "WRITTEN_FULL",
    "WRITTEN_LOWER",
    "WRITTEN_NAME",
    "WRITTEN_PART",
    "WRITTEN_STRANGE",
    "WRITTEN_TITLE",
    "WRITTEN_WORD",
    "is_dealt_with",
    "is_full_name",
    "is_given_name",
    "is_lower_name",
    "is_misspelt",
    "is_name",
    "is_of_life",
    "is_strange",
]

CAPITALS = "A-ZÀ-ÖØ-Þ" + "".join(
    c for c in map(chr, (*range(0x100, 0x250), *range(0x370, 0x530))) if c.isupper()
)
LETTER = r"[^\W\d_]"
# Without a genitive's s.
WRITTEN_WORD = rf"[{CAPITALS}]{LETTER}{{1,30}}(?:(?:-|['’](?![sS](?!\w))){LETTER}{{1,30}}){{0,3}}"
_INITIAL = rf"[{CAPITALS}]\.(?:-[{CAPITALS}]\.)?"
LINK = r"(?:van der|van den|von der|von|van|de la|de los|de|del|della|der|den|di|da|dos|du|al|el"
LINK += r"|bin|ibn|ben|ter|ten|zu|y|ap|af|av|[dD]['’]|O['’]|[Mm]c|Mac|St\.)"
WRITTEN_PART = rf"(?:(?:{LINK} ?)?{WRITTEN_WORD}|{_INITIAL})"
# One to five parts; the first is a word, an initial or a particle.
WRITTEN_NAME = rf"(?:{WRITTEN_PART}(?:[ ]{{1,2}}{WRITTEN_PART}){{0,4}})"
WRITTEN_FULL = rf"(?:{WRITTEN_PART}(?:[ ]{{1,2}}{WRITTEN_PART}){{1,4}})"
WRITTEN_LOWER = rf"{LETTER}{{2,20}}(?:-{LETTER}{{2,20}})?"
WRITTEN_STRANGE = rf"[{CAPITALS}][^\W\d_{CAPITALS}]{{3,14}}"
TITLE_LIST = """
    mr mrs ms miss mx dr prof professor herr herrn frau fräulein hr fr mme mlle m monsieur madame
    dott.ssa prof.ssa sig.ra sig.na dr.ssa
    mademoiselle maître sr sra srta señor señora señorita dña doña signor signora signorina sig
    dott senhor senhora avv ing
    dipl-ing pan pani pán paní meneer mevrouw dhr mevr fru rabbi pastor pfarrer père sœur officer
    sergeant sgt lt capt detective nurse judge justice coach uncle aunt auntie tante onkel opa oma
    cllr revd familie famille família familia famiglia fam
    grandma grandpa granny tía tío tata
"""
WRITTEN_TITLE = any_of(TITLE_LIST)
TITLE_WORDS = words_of("mr mrs ms dr prof mme mlle hr sr sra")
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
PHRASE_WORDS = CHATTED | words_of(
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
# Given names that are more often verbs or adverbs, or say what somebody is.
RATHER_WORDS = words_of(
    """
    can may will long art per said star rich van gene chance tone ion harm ram kit mine drew sky
    till guy storm harsh duke mira gosta linda bella
    """
)
# Words of some language, too.
ALSO_WORDS = RATHER_WORDS | words_of(
    """
    ans concha curro fleur greet kader nel odd pau puri resi riet roos sem sole tere titi
    april asia august basil bob elke ernst frank jack jordans josh kria levis mari mark nelson
    nick pat roger tao bianca blanche chiara clara claire conn consuelo constance dios dolores
    domingo don ella esperanza gloria jan jesus june luz maja milan nada pilar roman romain rosa
    salvador serena siri tono uma victoria violeta
    """
)
LABEL_WORDS = words_of(
    """
    first last full name family given given surname middle nick display user string text str your
    enter required optional unknown none null anonymous test example sample default vorname
    nachname
    prénom nombre apellido title label
    """
)
OF_PLACES = words_of(
    """
    san santa saint st los las el la new north south east west hong kong buenos aires rio costa sri
    puerto sao são united great republic island islands lake mount mt city county inc ltd gmbh ag
    llc corp co university college school hospital bank hotel church street road café
    """
)
# What follows the name of a firm, a program or a place: Zapier Inbox, Figma Community.
OF_THINGS = words_of(
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
_LINE = 200  # characters on either side in which a line is read


def is_name(name: str) -> bool:
    """Check that words with capitals name a person, and no group, thing or stand-in."""
    words = [word.strip(".'’").lower() for word in re.split(r"[ -]+", name)]
    if any(word in NO_NAMES for word in words) or is_placeholder(name):
        return False
    ordinary = [word in OPENERS or is_ordinary_word(word) for word in words]
    return not all(ordinary) or (len(words) == 1 and name.istitle() and is_given(words[0]))


def is_given_name(name: str) -> bool:
    """Check one name or several, each with a capital, that follow a relation or a greeting."""
    return is_name(name) and not (" " not in name and name.lower() in GERMAN_NOUNS)


def is_lower_name(name: str) -> bool:
    """Check a name in small letters: it is no ordinary word of the languages that are read."""
    return (
        name.islower()
        and not is_ordinary_word(name)
        and name not in NO_NAMES
        and name not in OPENERS
        and not name.endswith(("ing", "ed", "ly", "n't", "tion", "ment"))
        and name not in PHRASE_WORDS
        and name not in TITLE_WORDS
    )


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
    return is_name(name) and len(known) < max(1, len(words) - 1) + is_given(words[0])


def is_strange(name: str) -> bool:
    """Tell if no word of a name is in the dictionary or a given name, which other shapes find:
    `Torvald Ostrander`."""
    return not any(
        is_ordinary_word(word)
        or is_given(word)
        or word.lower() in NO_NAMES
        or word.lower() in OF_PLACES
        for word in name.split()
    )


def is_dealt_with(name: str) -> bool:
    """Tell if a name is of no dictionary, or a surname that is a word of one follows a given name
    or such a word: `Caspian Vale`, `Autumn Fields`."""
    given, _, family = name.rpartition(" ")
    word = family.lower()
    worded = is_ordinary_word(word) and word not in OF_THINGS | NO_NAMES
    if given.lower() in PROGRAMS:
        return False
    return (worded and is_given(given)) or (is_strange(given) and (worded or is_strange(family)))


def is_of_life(text: str, start: int, end: int) -> bool:
    """Tell if somebody speaks of themselves, or writes to somebody, in the line around a part, and
    not of a work."""
    low = max(text.rfind("\n", 0, start) + 1, start - _LINE)
    line = text[low : end + _LINE]
    if (stop := line.find("\n", end - low)) >= 0:
        line = line[:stop]
    inside = range(start - low, end - low)
    told = any(found.start() not in inside for found in _OF_LIFE.finditer(line))
    return told and not _OF_WORKS.search(line)
