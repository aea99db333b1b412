"""Tell that a name is one of nobody who lives: of an example in code, of the model itself, or of a
being of tales.

- Alice and Bob, where a text has both, or in the strings of a test.
- The name that the text gives to the model, well-known assistants, and their products.
- Who is in a well-known tale, in a sentence that evokes it: `Does Hermione marry Ron in Harry
  Potter?`; animals and monsters that are asked for; and the people of sayings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path

from perturb.selective.public.questions import Questions
from perturb.selective.public.reading import NEUTRAL, PERSONS, REACH, Name, TextWords, holds
from perturb.selective.public.ties import TOWARDS, Ties
from perturb.text.fold import fold_name

__all__ = [
    "TALES",
    "Invented",
    "find_tales",
]

# Whose messages cryptographers send. John Doe is hidden: who tries the gateway writes this name.
_EXAMPLES = frozenset(
    ("alice", "bob", "carol", "charlie", "dave", "eve", "mallory", "trent", "peggy")
)
_TESTING = re.compile(
    r"^[ \t]{0,12}(?:>>> [A-Za-z_][\w.]{0,40}(?:\(| ?= ?[\w\"'\[({])|"
    r"assert(?:_\w{1,12}!?|Equals?|That)?(?:\(| \(?[\w.]{1,60}\(| [^\n]{1,80}==)|"
    r"@Test\b|def test_\w{0,60}\(|#\[test\]|func Test[A-Z]|(?:describe|it|test|expect)\([\"'`])",
    re.MULTILINE,
)
# A string with a name alone, or after one word: an argument, `greet("Alice")`, what something is
# equal to, or a line that an example prints, `'Hello, Alice!'`.
_STRING_BEFORE = re.compile(
    r"(?:\w!?\((?:(?:[\"'`][^\"'`\n]{0,40}[\"'`]|[\w.]{1,30}(?:\([^()\n]{0,60}\))?), ?){0,4}|"
    r"[\w)\]] ?[!=]==? ?|(?P<printed>^[ \t]{0,12}))[\"'`]"
    r"(?P<greeting>(?:Hello|Hi|Hey|Welcome|Bye|Goodbye|Hallo|Hola|Bonjour|Ciao),? )?\Z",
    re.MULTILINE,
)
_STRING_AFTER = re.compile(r"[!.]?[\"'`](?=[),;\]]|[ \t]{0,4}(?:$|[!=]=))", re.MULTILINE)
_RUN = re.compile(r"^[ \t]{0,12}>>> [^\n]{1,120}\n\Z", re.MULTILINE)  # in the line above
_COMMENT = re.compile(r"#|//|--|/\*|^[ \t]{0,12}\*")
_STRING = 160  # characters of a line before a name in a string
# Assistants that have a person's name or look like one.
_ASSISTANTS = frozenset(
    (
        *("aider", "alexa", "bixby", "claude", "cline", "codex", "copilot", "cortana", "cursor"),
        *("deepseek", "devin", "gemini", "grok", "haiku", "jarvis", "llama", "mistral", "opus"),
        *("qwen", "roo", "siri", "sonnet"),
    )
)
# The name that a model is given: `You are Max, a friendly tutor`.
_PERSONA = re.compile(
    r"(?<!\w)(?i:(?P<self>i am|i['\u2019]m|ich bin|je suis|soy|sono)|you are|you['\u2019]re"
    r"|your name is|du bist|dein name ist|sie sind|tu es"
    r"|vous êtes|ton nom est|votre nom est|eres|tu nombre es|usted es|sei|ti chiami"
    r"|il tuo nome è|você é"
    r"|seu nome é|je bent|jij bent|jouw naam is|jesteś|nazywasz się|sen)[ ](?:now )?"
    r"[*_\"\u201c]{0,3}(?P<name>[^\W\d_a-z][^\W\d_]{1,20})[*_\"\u201d]{0,3}"
    r"(?:,?[ ](?i:an?|the|our|ein|eine|der|die|das|une?|le|la|una|el|il|lo|um|uma|o|een|de|het|bir"
    r"|asystent\w*)[ ]\w|\.\s{1,8}(?i:you|du|sie|tu|vous|usted|você|je|jij)\b)"
)
# What such a name is then said to be, where no person can be meant: assistants, agents and tutors
# are people, too, and engineers work on AI.
_HELPER = r"(?:assistants?|agents?|assistent\w{0,2}|asystent\w{0,2}|asistente|assistente)"
_MACHINE = re.compile(
    r"[*_\"\u201d]{0,3}(?:\.\s{1,8}[\w'\u2019]{2,8})?,?"
    r"(?: (?!(?:who|that|at|with|for|on|of|in|and|using|from|by)\b)[\w'\u2019-]{1,20}){0,4}? "
    rf"(?:(?:AI|KI|IA)[ -](?:powered )?(?:[a-z]{{1,12}} )?(?i:{_HELPER}|models?|chat ?bots?|IDE)"
    rf"|(?i:{_HELPER}) (?:de |di )?(?:AI|IA)|(?i:chat ?bot|(?:large )?language model|LLM)"
    rf"|(?i:helpful|coding) {_HELPER})\b"
    r"(?! (?:engineer|develop|research|scien|lead|manag|consult|expert|prof|train|design|special)"
    r"\w*)"
)
_MACHINE_AFTER = re.compile(
    r" (?:AI|GPT)\b(?: (?:Assistant|Agent|Chat)| (?:is|helps|can|answers)\b)"
)
# Words beside an assistant's name.
_PRODUCT = """
    agent agents app artifacts assistant chat cli code desktop enterprise flash free haiku instant
    max mini mobile mode model models nano opus plus plugin plugins pro server session sessions
    skill skills sonnet team tool tools turbo ultra web
"""
_PRODUCT_WORDS = frozenset(_PRODUCT.split())
# Words that the name of a character may begin with.
_BEFORE_CHARACTER = frozenset(
    (
        *("captain", "commander", "dr", "house", "inspector", "lieutenant", "madame", "master"),
        *("miss", "mr", "mrs", "professor", "sir"),
    )
)
_TITLED = 12  # characters of a title before a name
_TITLE_BEFORE = re.compile(r"\b[A-Z][a-z]{1,9}\.? \Z")
# What characters do among themselves.
_WITHIN = re.compile(
    r"\b(?:say|says|said|speaks?|spoke|sings?|sang|happen(?:s|ed)?|related|relation(?:ship)?|married|"
    r"compared|similar|contrast|different|love|affair|fights?|fought|up|"
    r"scenes?|dialogues?|parod(?:y|ies)|crossovers?|episodes?|sketch(?:es)?)\s(?:to|with|from)\s\Z"
)
_PART = r"(?:you(?: are|['’]re)|du bist|tu es|eres|sei)"
_OWN_PART = r"(?:I am|I['’]m|ich bin|je suis|yo soy|io sono)"
_PLAYED_BEFORE = re.compile(
    rf"\b{_PART} [^.!?\n]{{2,40}}?(?:,| and|, and| und| et| y| e) {_OWN_PART} \Z", re.IGNORECASE
)
_PLAYED_AFTER = re.compile(rf"(?:,| and|, and| und| et| y| e) {_PART} (?-i:[A-Z])", re.IGNORECASE)
_OWN_PART_BEFORE = re.compile(rf"\b{_OWN_PART} \Z", re.IGNORECASE)
_BEINGS = (
    r"(?:aliens?|androids?|bards?|centaurs?|clerics?|cyborgs?|dinosaurs?|dragons?|dwar(?:f|ves)|el(?:f|ves)|"
    r"fair(?:y|ies)|ghosts?|giants?|goblins?|gnomes?|knights?|mermaids?|monsters?|necromancers?|ninjas?|npcs?|"
    r"ogres?|orcs?|paladins?|pirates?|rangers?|robots?|samurais?|sorcerer(?:s|ess)?|superhero(?:es)?|trolls?|"
    r"unicorns?|vampires?|vikings?|villains?|warlocks?|werewol(?:f|ves)|witch(?:es)?|wizards?|zombies?|"
    r"protagonist|main character|drache|pirat(?:a|e)?|ritter|zauberer|hexe|roboter|dragón"
    r"|dragon|mago|brujo|bruja|"
    r"chevalier|sorcier|sorcière|fée|drago|strega)"
)
_ANIMALS = (
    r"(?:bears?|bees?|birds?|bunn(?:y|ies)|camels?|cats?|chickens?|cows?|crabs?|crows?|dogs?|"
    r"dolphins?|donkeys?|ducks?|elephants?|fox(?:es)?|frogs?|giraffes?|goats?|hamsters?|hedgehogs?|"
    r"horses?|kittens?|lions?|mice|monkeys?|mouse|octopus|owls?|parrots?|penguins?|pigs?|ponies|"
    r"pony|pupp(?:y|ies)|rabbits?|rats?|sharks?|sheep|sloths?|snails?|snakes?|spiders?|squirrels?|"
    r"tigers?|turtles?|whales?|wol(?:f|ves))"
)
_CALLED = (
    r" (?:who(?:['’]s| is) )?(?:named|called|by the name of|namens|llamad[oa]|nommée?|appelée?|"
    r"chiamat[oa]) "
)
# What follows the name of who is invented, in a cast of figures or a part that the remote plays:
# `NPC list: Brakka (orc barbarian)`, `You are Vexara, an elven necromancer`. One word alone is
# also said of people, and so is what has a noun behind it: a golem of a boss, a vampire nurse.
_FOLK = (
    r"(?:(?:high |wood |dark )?(?:half-?)?(?:el(?:f|ven)|orc(?:ish)?)|drow|dwar(?:f|ven)|"
    r"halfling|tiefling|dragonborn|gnom(?:e|ish)|goblin|kobold)"
)
_CALLINGS = (
    r"(?:archmage|assassin|barbarian|bard|blacksmith|cleric|druid|fighter|knight|mage|monk|"
    r"necromancer|paladin|priest(?:ess)?|ranger|rogue|shaman|smith|sorcer(?:er|ess)|thief|warlock|"
    r"warrior|witch|wizard)"
)
_INVENTED_AFTER = re.compile(
    rf"(?:,? (?:an?|the) |, | ?\()(?:[a-z]{{2,15}} )?{_FOLK} {_CALLINGS}"
    r"(?=[),.;:!?\n]|\Z| of (?:[A-Z]|level\b))"
)
_RANK = r"(?:(?:captain|sir|lady|lord|king|queen|princess?|master|kapitän|capitaine|capitán) )?"
_CAST_BEFORE = re.compile(
    r"\b(?:NPCs?\b[^.!?\n]{0,100}|(?i:you(?: are|['’]re)|du bist|tu es|eres"
    rf"|character(?: sheet)? (?:for|of|named|called)) (?i:{_RANK}))\Z"
)
# Who the remote is to be: `You are Captain Blackwood, a gruff pirate.`
_PART_BEFORE = re.compile(
    rf"(?:\A|[.!?\n] ?)(?:you(?: are|['’]re)|du bist|tu es|eres|act as|play) {_RANK}\Z",
    re.IGNORECASE,
)
_BEING_AFTER = re.compile(
    r",? (?:an?|the|eine?|une?|una?) (?:[^\W\d_]{2,15} ){0,2}"
    r"(?:pirate|wizard|witch|vampire|werewolf|dragon|knight|elf|dwarf|orc|goblin|robot|android"
    r"|cyborg|ghost|necromancer|sorcerer|sorceress|warlock|paladin|viking|samurai|ninja|mermaid"
    r"|unicorn|superhero|supervillain|pirat|zauberer|hexe|vampir|drache|ritter|sorcier|sorcière"
    r"|chevalier|mago|bruja|dragón|caballero)"
    r"(?=[.,;:!?\n]|\Z| (?:who|from|of|on|in|der|die|qui|que))",
    re.IGNORECASE,
)
# A being that somebody is said to be is none: my boss is a pirate called Holloway.
_INVENTED = re.compile(
    r"(?P<said>(?<!here )\b(?:is|was|are|ist|est|es|è) (?:an?|the|eine?|une?|una?|un|il|el) "
    rf"(?:[a-z]{{2,15}} )?)?\b{_BEINGS}{_CALLED}"
    r"(?:(?:captain|capt|sir|lady|lord|king|queen|princess|prince|dr|kapitän|capitán|capitaine) )?"
    r"\Z",
    re.IGNORECASE,
)
_SAID_TO_BE = r"\b(?:is|was|are|ist|est|es|è) (?:an?|the|eine?|une?|una?|un|il|el) "
_ELFIN = re.compile(rf"(?P<said>{_SAID_TO_BE})?\b{_FOLK} {_CALLINGS}{_CALLED}\Z", re.IGNORECASE)
_FABLE = re.compile(
    r"\b(?:limericks?|poems?|stor(?:y|ies)|tales?|fables?|songs?|rhymes?|jokes?|haikus?) about "
    rf"(?:an?|two|three) (?:[a-z-]{{2,15}} ){{0,3}}{_ANIMALS}{_CALLED}"
    r"(?:(?:mr|mrs|ms|miss|dr|sir|lady|captain)\.? )?\Z",
    re.IGNORECASE,
)
_IDIOM = re.compile(
    r"\b(?:for pete['’]?s sake|peeping tom|doubting thomas|(?:every )?tom,? dick,? (?:and|or|&"
    r"|n) harry|plain jane"
    r"|average joe|smart alec|bob['’]?s your uncle|dear john letter|jack of all trades|uncle sam"
    r"|joe (?:public|bloggs|sixpack)"
    r"|the real mccoy|aunt sally|nosy parker|happy larry|jolly roger|lazy susan|(?:mary"
    r"|gary) (?:sue|stu)"
    r"|jack(?: frost| the lad|-in-the-box)|johnny[- ]come[- ]lately|keeping up with the joneses"
    r"|jan met de pet"
    r"|hinz und kunz|mein name ist hase|hans im glück|otto normalverbraucher|lieschen müller"
    r"|hans[- ]?wurst"
    r"|fulano|mengano|zutano|john hancock|rob(?:bing|bed|s)? peter to pay paul|debbie downer"
    r"|negative nancy|nervous nell(?:y|ie)|chatty cathy|even steven|simon says|life of riley"
    r"|for the love of mike|gordon bennett|moaning minnie|joe (?:blow|average|schmo)"
    r"|john q\.? public|johnny on the spot|bad luck brian|scumbag (?:steve|stacy)|good guy greg"
    r")\b",
    re.IGNORECASE,
)
# Breeds and drinks with a person's full name, after an article and not as who does something.
_KIND = re.compile(
    r"(?<!\b(?:by|to|as) )(?<!\bmet )(?<!\bthere['’]s )(?<!\bwith )"
    r"(?<!(?<!\bdiffer )(?<!\bdifferent )\bfrom )"
    r"\ban? (?:jack russells?|(?:tom|john) collins|rob roy|arnold palmer|shirley temple)\b"
    r"(?! (?:called|phoned|rang|texted|e?mailed|wrote|writes|signed|said|says|asked|asks|came|left"
    r"|works|worked|lives|lived|who|from|at|in|on|has|had|paid|owes|booked|ordered|born|aged)\b)",
    re.IGNORECASE,
)
_IDIOM_NEAR = 40
TALES = Path(__file__).parents[2] / "data" / "tales.txt"
# What is told of characters. `Story` alone also stands in reports.
_FICTION = re.compile(
    r"\b(?:fan ?fic(?:tion|s)?|fics?|twists?|characters?|protagonists?|villains?|plot|"
    r"summari[sz]e|retell|riassumi|résume|resume|podsumuj|özetle|chapters?|episodes?|seasons?|sequels?|prequels?|spoilers?|movies?|films?|novels?|sitcoms?|trilogy|saga|anime|"
    r"manga|figuren?|romanfigur(?:en)?|kapitel|staffel|folge|personnages?|chapitre|personajes?|"
    r"capítulo|personaggi(?:o)?|capitolo|personagens?|postac(?:i|ie|iach)|rozdział)\b",
    re.IGNORECASE,
)
# Children are named after characters and have parties, and colleagues borrow books.
_LIFE = re.compile(
    r"\b(?:birthdays?|part(?:y|ies)|presents?|gifts?|costumes?|cosplay|invit(?:e|es|ed|ing)|"
    r"invitations?|tickets?|trips?|lov(?:es|ed)|lik(?:es|ed)|fans? of|favou?rite|obsessed|"
    r"turn(?:s|ed|ing) \w{1,8}|years? old|aged?|born|kids?|child(?:ren)?|daughters?|sons?|nieces?|"
    r"nephews?|teachers?|class(?:es|mates?)?|school|works?|worked|working|lives?|lived|moved|phone|"
    r"address|(?:movie|film|book|game|quiz|trivia) (?:night|evening|club)|boss|managers?|"
    r"colleagues?|coworkers?|office|hr|accounting|fired|hired|borrow\w{0,3}|lend|lent|"
    r"return(?:s|ed)|library|buy|bought|shops?|stores?|orders?|ordered|invoices?|pay(?:s|ments?)?|"
    r"paid|owes?|arriv(?:es|ed)|deliver(?:y|ed)|neighbou?rs?|landlord|hospital|clinic|lawyer|"
    r"divorce|today|tonight|tomorrow|yesterday|last night|next week|"
    r"teach(?:es|ing)?|taught|funeral|groups?|clubs?|watch(?:es|ing)?|binge\w{0,6}|reads|reading|"
    r"heute|morgen|gestern|aujourd['’]hui|demain|hier|hoy|mañana|ayer|oggi|domani|ieri|"
    r"geburtstag|geschenk|schenken|einlad\w*|anniversaire|cadeau|cumpleaños|regalo|compleanno|"
    r"aniversário|presente|urodziny|prezent)\b",
    re.IGNORECASE,
)
_TOLD_TO = re.compile(
    r"\b(?:tell|ask|remind|give|send|show|call|text|thank|pay|help|invite|meet|with|frag|sag)\s\Z",
    re.IGNORECASE,
)
# What is to be written, or who is to be played.
_CREATED = re.compile(
    r"\b(?:write|compose|imagine|invent|continue|create)\b[^.!?\n]{0,60}\b(?:scenes?|poems?|stor(?:y|ies)|"
    r"dialogues?|monologues?|ballads?|songs?|limericks?|haikus?|sonnets?|rap battles?|scripts?|"
    r"sketch(?:es)?|parod(?:y|ies)|pastiches?|crossovers?)\b|"
    r"\b(?:parod(?:y|ies)|pastiches?|crossovers?|role-?play)\b|\b(?:you are|you['’]re) (?=[A-Z])",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _load_tales() -> Mapping[str, frozenset[str]]:
    """Return by a name the phrases that evoke a tale in which somebody is called so."""
    found: dict[str, set[str]] = {}
    for line in TALES.read_text("utf-8").splitlines():
        phrases, _, names = line.partition(": ")
        tale = phrases.split(", ") if names else []
        for name in (*names.split(), *(phrase for phrase in tale if " " not in phrase)):
            found.setdefault(name, set()).update(f" {phrase} " for phrase in tale)
    return {name: frozenset(phrases) for name, phrases in found.items()}


def find_tales(names: Iterable[str]) -> frozenset[str]:
    """Return the phrases, between blanks, each of which evokes a tale in which somebody is called
    by all of some names, each a key (`perturb.selective.public.names.read_key`).

    >>> " hogwarts " in find_tales(["hermione"]), find_tales(["hermione", "blake"])
    (True, frozenset())
    """
    tales = _load_tales()
    found = [tales.get(name, frozenset()) for name in names]
    return frozenset.intersection(*found) if found else frozenset()


def _speaks_of_tales(text: str) -> bool | None:
    """Tell if a text speaks of characters, by words for tales and of no life; None if it has
    neither.

    >>> list(map(_speaks_of_tales, ("A scene of chapter 3", "Ron's birthday", "Ron?")))
    [True, False, None]
    """
    if _LIFE.search(text):
        return False
    return True if _FICTION.search(text) else None


def _asks_to_create(text: str, low: int, high: int) -> bool:
    """Tell if the text between two places asks for a scene, a poem or the like, or for a part to
    be played.

    >>> _asks_to_create("Write a scene in which Gimli sings", 0, 34)
    True
    >>> _asks_to_create("Write to Gimli", 0, 14)
    False
    """
    return _CREATED.search(text, low, high) is not None


def _is_told_to(text: str, start: int) -> bool:
    """Tell if somebody is to be told or given something: `Tell Percy that`."""
    return _TOLD_TO.search(text, max(0, start - 10), start) is not None


def _is_played(text: str, start: int, end: int) -> bool:
    """Tell if a name is the part of the writer, who gives the other one a part in the same breath.

    >>> _is_played("You are Yoda and I'm Luke.", 21, 25)
    True
    >>> _is_played("You are kind. I'm Luke.", 18, 22)
    False
    """
    if _PLAYED_BEFORE.search(text, max(0, start - 60), start):
        return True
    own = _OWN_PART_BEFORE.search(text, max(0, start - 12), start)
    return own is not None and _PLAYED_AFTER.match(text, end) is not None


def _is_cast(text: str, start: int, end: int) -> bool:
    """Tell if what stands around a name says that its bearer is a being of tales.

    >>> _is_cast("NPC: Brakka (orc barbarian)", 5, 11), _is_cast("Brakka (orc)", 0, 6)
    (True, False)
    """
    if _BEING_AFTER.match(text, end, end + 80):
        return _PART_BEFORE.search(text, max(0, start - 40), start) is not None
    if not _INVENTED_AFTER.match(text, end, end + 60):
        return False
    return _CAST_BEFORE.search(text, max(0, start - 120), start) is not None


def _is_of_fable(text: str, start: int) -> bool:
    """Tell if the name at a place is an animal's in a tale or a poem that is asked for.

    >>> _is_of_fable("A poem on a man; a poem about a shy cat called Tom", 47)
    True
    >>> _is_of_fable("My cat called Tom", 14)
    False
    """
    return _FABLE.search(text, max(0, start - 120), start) is not None


def _is_told(
    text: str, start: int, end: int, *, invented: bool = True, elfin: bool = True
) -> bool:
    """Tell if a name is one of a saying, or of a being of tales where it may be `invented`, or an
    elf with a calling where it may be `elfin`: `for Pete's sake`, `a dragon named Fizz`.

    >>> _is_told("a dragon named Fizz", 15, 19), _is_told("a man named Fizz", 12, 16)
    (True, False)
    """
    low = max(0, start - 60)
    being = _INVENTED.search(text, low, start)
    if invented and being and not being["said"]:
        return True
    elf = _ELFIN.search(text, low, start) if elfin else None
    if elf and not elf["said"]:
        return True
    near = max(0, start - _IDIOM_NEAR), end + _IDIOM_NEAR
    found = chain(_IDIOM.finditer(text, *near), _KIND.finditer(text, *near))
    return any(idiom.start() <= start and end <= idiom.end() for idiom in found)


class Invented:
    """Who in a text does not exist, or is a machine."""

    def __init__(self, words: TextWords, ties: Ties, questions: Questions) -> None:
        self._words, self._text, self._public = words, words.text, words.public
        self._ties, self._questions = ties, questions
        self._evoked: dict[str, bool] = {}

    def hold(self, name: Name) -> bool:
        """Tell if a person who is not on the list is of a tale or a saying."""
        return self._is_of_tale(name) or self.is_character(name)

    def is_example(self, name: Name) -> bool:
        """Tell if a finding is Alice, Bob or their like, in a text with both or in a test in code,
        and nobody's."""
        if name.word not in _EXAMPLES or self._ties.contacts:
            return False
        if holds(self._ties.selves, name.low, name.high):
            return False
        tied = self._ties.is_tied(name.start, name.end)
        return (not tied and {"alice", "bob"} <= {*self._words.keys}) or self._tests_examples

    @cached_property
    def _tests_examples(self) -> bool:
        """Tell if the text is a test in code, or an example that is run, and names nobody but in
        its strings."""
        return _TESTING.search(self._text) is not None and all(
            person.word in _EXAMPLES and self._is_in_string(person)
            for person in self._ties.persons
        )

    def _is_in_string(self, name: Name) -> bool:
        start, text = name.start, self._text
        line = self._words.line_start(self._words.line(start))
        low = max(line, start - _STRING)
        if _COMMENT.search(text, low, start) or not _STRING_AFTER.match(text, name.end):
            return False
        string = _STRING_BEFORE.search(text, low, start)
        if string is None or (
            string["printed"] is not None and not _RUN.search(text, max(0, line - _STRING), line)
        ):
            return False
        greeted = string["greeting"] is not None  # by the string, and not by the writer
        return greeted or not self._ties.is_tied(start, name.end)

    def is_assistant(self, name: Name) -> bool:
        """Tell if a finding is the name that the text gives to the model, or a well-known
        assistant's, and nobody's; or a product of that name: `Claude Code`, `claude-api`."""
        last, (key, *others) = name.last, name.keys or [""]
        if not key or key in self._ties.private_words:
            return False
        machine = self._personas.get(key)
        named = machine or (machine is not None and not self._ties.contacts)
        if not others and (named or _MACHINE_AFTER.match(self._text, name.end)):
            return True
        of_product = all(map(self._is_of_product, others))
        if not of_product or not (machine or key in _ASSISTANTS):
            return False
        if machine or name.type not in PERSONS:
            return True
        if not others and last < len(self._words.keys) and self._joins_product(last):
            return True
        if self._ties.contacts:
            close = holds(self._ties.selves, name.low, name.high)
            return not close and not self._ties.is_tied(name.start, name.end)
        return not self._ties.follows_relation(name)

    def _joins_product(self, place: int) -> bool:
        """Tell if a word goes on with the name of a product: `claude-api`, `Claude Code`."""
        gap = self._text[self._words.ends[place - 1] : self._words.starts[place]]
        joined = gap in ("-", "_", "/", ".") or (
            gap == " " and self._words.written[place].istitle()
        )
        return joined and self._is_of_product(self._words.keys[place])

    def _is_of_product(self, key: str) -> bool:
        """Tell if a word beside an assistant's name is one of a product."""
        known = key in _PRODUCT_WORDS or key in self._public.terms
        return known or len(key) == 1 or key.isdigit()

    @cached_property
    def _personas(self) -> dict[str, bool]:
        """Return the names that the text gives to the model, and whether it says that each is a
        machine."""
        names: dict[str, bool] = {}
        for found in _PERSONA.finditer(self._text):
            machine = _MACHINE.match(self._text, found.end("name")) is not None
            if machine or not found["self"]:
                key = fold_name(found["name"])
                names[key] = machine or names.get(key, False)
        return names

    def is_character(self, name: Name) -> bool:
        """Tell if a finding is who is called so in a well-known tale that its sentence or the one
        before evokes, or any in a text about tales; and nobody's, in a text that speaks of no
        life. A name that hardly anybody bears counts where the writer plays a part, too: `You are
        Gandalf. I am Frodo.`"""
        told, text, start, keys = self._tells_tale, self._text, name.start, name.keys
        while len(keys) > 1 and keys[0] in _BEFORE_CHARACTER:
            keys = keys[1:]
        keys = [key for key in keys if key not in NEUTRAL]
        if told is False or self._ties.contacts or self._ties.private_words.intersection(keys):
            return False
        if not keys or not (tales := find_tales(keys)):
            return False
        low, high = name.low, name.high
        low = max(self._words.sentence_before(low), start - REACH)
        if not (
            told or holds(self._questions.asked, low, high) or _asks_to_create(text, low, high)
        ):
            return False
        title = _TITLE_BEFORE.search(text, max(low, start - _TITLED), start)
        begin = title.start() if title else start
        around = self._words.spell(low, begin) + self._words.spell(name.end, high)
        if not any(
            map(self._evokes if told else self._words.spell(low, high).__contains__, tales)
        ):
            return False
        evoked, strange = any(map(around.__contains__, tales)), self._words.is_strange(keys)
        within = (evoked or strange) and _WITHIN.search(text, max(0, start - 24), start)
        if evoked and _is_played(text, start, name.end):
            return True
        towards = _is_told_to(text, start) or TOWARDS.search(text, max(0, start - 8), start)
        if towards and not within:
            return False
        if evoked and strange:
            return True
        tied = self._ties.is_tied(start, name.end, titled=not evoked)
        return not tied and not holds(self._ties.selves, low, high)

    @cached_property
    def _tells_tale(self) -> bool | None:
        """Tell if a text is about tales; None if a sentence of it may be about one."""
        found = _speaks_of_tales(self._text)
        return False if found is None and self._ties.speaks_of_work else found

    def _evokes(self, phrase: str) -> bool:
        if phrase not in self._evoked:
            self._evoked[phrase] = phrase in self._whole
        return self._evoked[phrase]

    @cached_property
    def _whole(self) -> str:
        return self._words.spell(0, len(self._text))

    def _is_of_tale(self, name: Name) -> bool:
        """Tell if a finding is of a tale or a saying, and nobody's: a witch with a surname in a
        sentence of the writer's own is somebody."""
        start, end = name.start, name.end
        close = holds(self._ties.selves, name.low, name.high)
        own = close and (" " in self._text[start:end] or self._ties.is_borne(name))
        if not own and _is_of_fable(self._text, start):
            return True
        if not close and _is_cast(self._text, start, end):
            keys = [key for key in name.keys if key not in _BEFORE_CHARACTER]
            return self._words.is_strange(keys) and not self._ties.is_own(name)
        told = _is_told(self._text, start, end, invented=not own, elfin=not close)
        return told and not self._ties.is_own(name)
