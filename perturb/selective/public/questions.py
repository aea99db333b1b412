"""Tell that a text asks for somebody of whom the remote knows, or sets an exercise: nobody's
neighbour is meant there.

- An exercise of arithmetic asks for an amount, and one of grammar names what is practised: `Tom
  has 5 apples … How many …?`, `Put into passive voice: Peter paints the fence.`
- Beside words of history, science or literature, or by a surname alone, a person is asked for as
  in an encyclopedia.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from perturb.selective.public.reading import NEUTRAL, Name, TextWords, holds
from perturb.selective.public.ties import DOES, RULERS, WORK, Ties

__all__ = ["Questions"]

# What an exercise of arithmetic asks for.
_AMOUNT = re.compile(
    r"\b(?:how (?:many|much|old|far|fast|heavy|tall)|"
    r"what (?:fraction|percentage|is the (?:average|total|sum|difference|ratio|probability))|"
    r"wie ?viele?|wie alt|wie schnell|wie weit|combien|quel âge|cu[áa]nt[oa]s?|"
    r"quant(?:[oiae]|[oa]s)|"
    r"hoeveel|ile|kolik|сколько|hur många|hvor mange|kaç)\b|"
    r"何[枚個本人円]|いくつ|いくら|多少|几个|몇",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.,/-])\d{1,6}(?:[.,]\d{1,3})?(?![\w/-])|[1-9]/\d{1,2}|"
    r"\b(?:twice|thrice|double|half|(?:three|four|five|ten) times|"
    r"doppelt|halb|(?:drei|vier|fünf)mal|"
    r"(?:deux|trois|quatre|cinq|dix) fois|le (?:double|triple)|"
    r"doble|triple|(?:tres|cuatro|cinco) veces|"
    r"il (?:doppio|triplo)|(?:tre|quattro|cinque) volte|"
    r"o (?:dobro|triplo)|(?:três|quatro|cinco) vezes|"
    r"(?:twee|drie|vier|vijf) keer|(?:dwa|trzy|cztery|pięć) razy|"
    r"(?:iki|üç|dört|beş) (?:katı|kat))\b",
    re.IGNORECASE,
)
# In words they also stand in what somebody tells of their life, so they count only beside things
# that hardly anything but an exercise counts.
_IN_WORDS = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|hundred|"
    r"zwei|drei|vier|fünf|sechs|zehn|deux|trois|quatre|cinq|dix|"
    r"dos|tres|cuatro|cinco|diez|due|tre|quattro|cinque|dieci)"
)
_NUMBER_IN_WORDS = re.compile(
    rf"\b(?:{_IN_WORDS}|a (?:third|quarter|fifth|dozen)|ein (?:drittel|viertel)|un tiers|"
    r"un tercio|un terzo)\b",
    re.IGNORECASE,
)
_THINGS = (
    r"(?:apples|oranges|pears|bananas|peaches|"
    r"cookies|cand(?:y|ies)|marbles|pencils|crayons|stickers|balloons|muffins|cupcakes|"
    r"äpfel|birnen|orangen|murmeln|bonbons|buntstifte|kekse|luftballons|"
    r"pommes|poires|billes|manzanas|peras|naranjas|caramelos|canicas|lápices|galletas|"
    r"mele|pere|arance|caramelle|biglie|matite)\b"
)
_COUNTED = re.compile(
    rf"\b(?:\d{{1,4}}|{_IN_WORDS}) (?:[a-zäöü]{{2,10}} )?{_THINGS}", re.IGNORECASE
)
# How many apples, how many does each have, how many are left: no doses, and no calories.
_ASKED_FOR = re.compile(
    rf"\b(?:how many|wie ?viele|combien|cu[áa]nt[oa]s|quant[ie]) (?:d['’]|de )?(?:{_THINGS}|"
    r"(?:do(?:es)?|are|remain|has|have|bleiben|hat|haben|en|le|te|tiene|quedan|ha|ne|gli)\b)",
    re.IGNORECASE,
)
_NOT_COUNTED = re.compile(
    r"\b(?:child(?:ren)?|kids?|cancer|tumou?rs?|stage|debts?|ow(?:es?|ed|ing)|pills?|tablets?|doses?|"
    r"drugs?|insulin|diabet\w{1,4}|pregnan\w{1,3}|allerg\w{1,4}|sick|ill|doctors?|hospital|surgery|"
    r"stitches|st(?:eal|ole|olen)|salary|rent|loans?|fired|arrested|prison|jail|custody|divorce\w?|died|dead|"
    r"gestohlen|volée?s?|robad[oa]s?|kind(?:er|ern)?|krebs|stadium|schuld(?:en|et)?|tabletten|pillen|schwanger|krank|"
    r"enfants?|dettes?|doit|comprimés|malade|enceinte|hij[oa]s?|deudas?|debe|pastillas|enferm[oa]|"
    r"embarazada|figl[ioae]|debiti?|deve|pillole|malat[oa]|incinta)\b",
    re.IGNORECASE,
)
_LEAST_NUMBERS = 2  # numbers of an exercise
_TOLD = re.compile(  # as a task, by somebody who sets it
    r"\b(?:word problems?|math(?:s|ematics)? (?:problems?|worksheets?|exercises?)|worksheets?|"
    r"textaufgaben?|sachaufgaben?|arbeitsblatt|problèmes? de maths?|problemas? de matemáticas)\b",
    re.IGNORECASE,
)
# What is practised. Of `grammar` alone people speak when a letter is to be corrected.
_PRACTISED = re.compile(
    r"\b(?:(?:passive|active) (?:voice|sentences?)|(?:reported|indirect|direct) speech|"
    r"subjunctive|(?:present|past|future) (?:simple|perfect|continuous|progressive)|simple past|"
    r"gap(?:ped)? (?:text|fill)|cloze (?:text|test)|relative clauses?|conditional (?:sentences?|"
    r"clauses?)|question tags?|tongue[- ]twisters?|grammar (?:exercises?|drills?|worksheets?)|"
    r"konjunktiv|passivsatz|(?:in|ins|das|im) passiv|indirekten? rede|lückentext|subjonctif|"
    r"voix passive|discours indirect|texte à trous|subjuntivo|voz pasiva|estilo indirecto|"
    r"example sentences|beispielsätze|phrases d['’]exemple|frases de ejemplo|frasi d['’]esempio|"
    r"congiuntivo|forma passiva|discorso indiretto|voz passiva|discurso indireto|strona bierna|"
    r"mowa zależna)\b|"
    r"\bpronounce\b|"
    # names as words: what does the name Emma mean?
    r"\bis \w{2,20} an? (?:\w+ )?(?:common|popular|rare|typical|old-fashioned|unusual|unisex|real|"
    r"outdated|modern|biblical|male|female) (?:\w+ )?name\b|"
    r"\bname \w{2,20} (?:mean|come from|originat)|\b(?:meaning|origin"
    r"|popular) (?:\w+ ){0,3}name\b|"
    r"\bdoes \w{2,20} mean in (?:irish|gaelic|welsh|hebrew|arabic|greek|latin|german|french"
    r"|spanish|italian|"
    r"japanese|chinese|korean|hindi|sanskrit|persian|turkish|polish|russian|swahili|yoruba)\b|"
    # what does karen mean as slang, who is chad and why is he a meme
    r"\bmean (?:as|in) (?:internet )?(?:slang|memes?)\b|"
    r"\bwho is \w{2,20} and why is \w{2,4} a meme\b|"
    r"\b(?:idioms?|proverbs?|homonyms?|phrasal verbs?) (?:with|using|containing) [\"“„'‘\w]|"
    r"\b(?:an?|good|cute|nice|popular|rare|unisex) (?:(?:boy|girl)'?s?|unisex)"
    r"(?: or (?:a )?(?:girl|boy)'?s?)? names?\b|\b(?:baby|boys?|girls?) names\b|"
    r"\b(?:nick|middle )names? (?:for|with|like|that|of)\b|\bhow (?:do|would|should"
    r"|to)(?: (?:you|u|i|we|one))? spell\b|"
    r"\bbedeutung (?:de[sr]|vom) (?:vor)?namens?\b|\bbedeutet der (?:vor)?name\b|"
    r"\bsignifica(?:do)? (?:d?el|o|do) nom(?:br)?e\b|\bsignifica(?:to)? (?:de)?l nome\b"
    r"|\bsignifica il nome\b|"
    r"\b(?:signification|origine) du (?:pré)?nom\b|\bveut dire le (?:pré)?nom\b"
    r"|\bbetekenis van de naam\b|"
    r"\bznaczenie imienia\b|\bco (?:oznacza|znaczy) imię\b|"
    # Is it "Mark and I" or "Mark and me"?
    r"\b(?:is it|correct|between|zwischen|entre|tra|tussen|heißt es) [\"“„'‘][^\"”“\n]{1,60}"
    r"[\"”“'’] (?:or|and|und|oder|et|ou|y|o|e|en|of) [\"“„'‘]",
    re.IGNORECASE,
)
# What is named after who found it: laws, and animals that are nobody's pets.
_EPONYM = re.compile(
    r"(?:['’]s|(?<=s)['’]) (?:"
    r"law(?! (?:firm|school|degree|practice|office|student|exam|suit|books?)\b)|theorem|lemma|"
    r"conjecture|paradox|inequality|hypothesis|hierarchy of|taxonomy|razor|typology|maxims|"
    r"(?:growth|change|process) model|"
    r"theory of [a-z]{3,14}(?:ion|ism|ity|ment|ance|ence|ics|logy|ing)|"
    r"(?:equity|expectancy|attachment|learning|field|systems|game|number|graph) theory|"
    r"zebra|gulls?|whales?|gazelles?|sparrows?|warblers?|hummingbirds?|vultures?|petrels?|terns?|"
    r"tapirs?|sea lions?|plovers?|sandpipers?|woodpeckers?|lemurs?)\b"
    r"(?! (?:has|have|had|ran|runs?|escaped|died|bit|is ill|was|were|got|needs?|will)\b)"
)
# Words of history, of science and of literature: who is named beside them is hardly anybody's
# neighbour. Words that also stand in letters and reports, such as `film`, are not among them.
_STORY = re.compile(
    r"\b(?:centur(?:y|ies)|dynast(?:y|ies|ic)|empires?|emperors?|empress|tsars?|czars?|pharaohs?|"
    r"sultans?|caliphs?|kingdoms?|monarch(?:s|y)?|reign(?:ed|s)?|treaty of|wars? of|world war|"
    r"civil war|(?:battle|siege|congress|edict|fall|conquest|partition) of|rebellion|uprising|"
    r"crusades?|renaissance|medieval|middle ages|antiquity|ancient|colonial|conquistadors?|"
    r"revolution(?:ary)?|reformation|enlightenment|bolsheviks?|confederate|abolitionists?|"
    r"prime minister of|president of the|nobel prizes?|theorem|congruence|conjecture|lemma|"
    r"plate tectonics|natural selection|relativity|quantum|philosophers?|philosophy|"
    r"mytholog(?:y|ical)|myths?|goddess|deity|iliad|odyssey|mahabharata|ramayana|bible|biblical|"
    r"quran|koran|torah|gospels?|old testament|new testament|novelists?|poets?|playwrights?|"
    r"operas?|composers?|concertos?|ballets?|painters?|sculptors?|impressionis(?:m|ts?)|cubism|"
    r"baroque|historians?|historical|"
    r"jahrhunderts?|krieg(?:e|es|s)?|kaisers?|dichters?|schriftsteller(?:in|s)?|"
    r"siècles?|guerres?|empereurs?|révolution|poètes?|philosophes?|"
    r"siglos?|guerras?|imperios?|reyes|reinas?|revolución|república|batalla de|bataille de|"
    r"battaglia di|schlacht (?:bei|von)|"
    # not of somebody with somebody
    r"(?:tratado de|traité de|trattato di|vertrag von) (?:pa[zx]|paix|pace|versail?les|"
    r"tordesillas|utrecht|verd[uú]n|lisbo(?:a|na|nne)|lissabon|rom[ea]?|maastricht|par[ií]s|parigi|westfalia)|"
    r"slaget vid|slag bij|asal[- ]usul|legenda|dongeng|"
    r"secol[oi]|guerr[ae]|regno|risorgimento|unità d['’]italia|"
    r"séculos?|revolução|eeuw|oorlog(?:en)?|"
    r"wiek(?:u|i)|wojn[ay]|król(?:a|em)?|rozbior(?:y|ów)|powstani[ea]|nagrod[aęy] nobla|"
    r"век[аеу]?|войн[аеуы]|цар[ьяюе]|император\w{0,3}|реформ[аеуы]|поэт\w{0,3}|"
    r"чим (?:відом|знаменит)\w{1,4}|чем (?:известен|известна|знаменит\w?)|wodurch wurde|"
    r"(?:brumaire|thermidor)|столітт[яі]|війн[аиуі]|гетьман\w{0,3}|повстанн[яі]|козак\w{0,3}|"
    r"eeuwse?|koning(?:in|en)?|opstand|århundradet|krig(?:et|en)?|drottning|konung|"
    r"savaş[ıi]?|padişah[ıi]?|yüzyıl\w{0,4}|osmanlı|cumhuriyet\w{0,4}|devrim\w{0,6}|"
    r"perang|berperang|penjajah\w{0,3}|proklamasi|kerajaan|pahlawan|abad|belanda|"
    r"yuddh|samrat|samrajya|itihas|angrez\w{0,2}|azadi|"
    r"quân|triều đại|nhà (?:Trần|Lý|Lê|Nguyễn|Minh|Thanh)|kháng chiến|khởi nghĩa|thế kỷ)\b|"
    r"(?:\b(?:in|from|to|until|since|by|of|around|between|and|im|jahr|en|dal|nel|w|roku|latach|в|em|van"
    r"|în|anul|tahun|năm|år|vuonna|roce|року)"
    r"|[-–,(]) ?(?:1[0-8]\d\d|19[0-4]\d)\b|世纪|朝|世紀|王朝|"
    # Charles II
    rf"(?-i:\b(?:{RULERS}) (?:(?:I|V|X)(?!['’]|\.? [A-Z]|\s(?:{DOES})\b)|I[IVX]I?|VI{{1,3}}|"
    r"X[IVX]{1,4})\b)",
    re.IGNORECASE,
)
# What asks for knowledge, in a sentence.
_ASKING = re.compile(
    r"\b(?:who|what|when|where|why|which|how|explain|compare|discuss|evaluate|describe|analy[sz]e|"
    r"derive|prove|list|name|mention|include|refer|timeline|history|biograph\w+|role|summari[sz]e|"
    r"outline|tell|give|essay|recommend|retell|style of|"
    r"wer|wann|warum|wie|welche[rsnm]?|erkläre?|nenne|rolle|"
    r"qui|quand|pourquoi|comment|quels?|quelles?|explique[rz]?|rôle|parle[rz]?|"
    r"quién|qué|cuándo|por qué|cómo|explica|menciona|"
    r"chi|che cosa|quando|perché|spiega(?:mi)?|parla|"
    r"quem|como|kto|kiedy|dlaczego|jak(?:ie)?|opisz|wymień|кто|что|когда|почему|как|расскажи\w*|"
    r"назови\w*|хто|що|коли|чому|чим|розкажи\w*|поясни\w*|"
    r"wat|wanneer|waarom|hoe|vertel|beschrijf|vad|vem|när|varför|hur|berätta|beskriv|hvem|hvad|"
    r"hvornår|hvorfor|hvordan|kim(?:dir)?|neden|nasıl|anlat|açıkla|siapa|apa|kapan|mengapa|kenapa|"
    r"bagaimana|jelaskan|sebutkan|ceritakan|kaun|kab|kyun?|kyon|kaise|batao|bataiye|samjhao|"
    r"tại sao|như thế nào|khi nào|hãy|kể)\b|[?？؟]",
    re.IGNORECASE,
)
_STUDIED = re.compile(
    r"\b(?:fasse|interpretiere?|vergleiche?|analysiere?|beschreibe?|charakterisiere?)\b",
    re.IGNORECASE,
)
# What is said or written in a text, or is a numbered sentence of it.
_QUOTED = re.compile(
    r"[\"“„«][^\"”“»\n]{1,400}[\"”“»]|「[^」\n]{1,200}」|"
    r"(?:(?m:^)|(?<=[.:!?] ))[ \t]{0,4}\d{1,2}[.)] [^\n]{1,400}"
)
_STORIED = 300  # characters around a person that such a word is in
_LEAST_LETTERS = 4  # letters of a word of a name that stands for all of it


def _names_exercise(text: str) -> bool:
    """Tell if a text says that it is an exercise of arithmetic or of grammar.

    >>> [_names_exercise(text) for text in ("Put into passive voice: Tom eats.", "Tom left me.")]
    [True, False]
    """
    return _TOLD.search(text) is not None or _PRACTISED.search(text) is not None


def _asks_for_amount(text: str) -> bool:
    """Tell if a text gives numbers and asks for one.

    >>> _asks_for_amount("Tom has 5 apples and buys 7 more. How many apples does he have?")
    True
    """
    if not _AMOUNT.search(text):
        return False
    numbers = sum(1 for _ in _NUMBER.finditer(text))
    counted = _COUNTED.search(text) and _ASKED_FOR.search(text)
    if numbers < _LEAST_NUMBERS and counted and not _NOT_COUNTED.search(text):
        numbers += sum(1 for _ in _NUMBER_IN_WORDS.finditer(text))
    return numbers >= _LEAST_NUMBERS


class Questions:
    """What a text asks for, and of whom."""

    def __init__(self, words: TextWords, ties: Ties) -> None:
        self._words, self._text, self._public = words, words.text, words.public
        self._given = words.given
        self._ties = ties

    def ask_for(self, name: Name) -> bool:
        """Tell if a person who is not on the list is asked for as one who is, or by an exercise,
        or if a work or a law is called by the finding."""
        return (
            self._is_short_name(name)
            or self._is_storied(name)
            or self._is_exercised(name)
            or self._is_eponym(name)
            or self._is_work(name)
            or self._is_owned_by_public(name)
        )

    @cached_property
    def asked(self) -> list[int]:
        """Return the places of words that ask for knowledge."""
        return [found.start() for found in _ASKING.finditer(self._text)]

    @cached_property
    def _stories(self) -> list[int]:
        return [found.start() for found in _STORY.finditer(self._text)]

    def _is_short_name(self, name: Name) -> bool:
        """Tell if a finding is a word of a public person's name that the text has before."""
        key, ties = name.word, self._ties
        named = self._named.get(key, name.start) < name.start
        if not named or key in ties.private_words or ties.is_tied(name.start, name.end):
            return False
        return key not in self._given or not self._ties.is_close(name)

    @cached_property
    def _named(self) -> dict[str, int]:
        """Return the words of the public persons' names in the text, each with its first place."""
        words, found, place = self._words, dict[str, int](), 0
        while place < len(words.keys):
            end = words.longest(place, place + 2, [self._public.persons])
            if end and not self._ties.is_tied(words.starts[place], words.ends[end - 1]):
                for key in words.keys[place:end]:
                    if len(key) >= _LEAST_LETTERS:
                        found.setdefault(key, words.starts[place])
            place = end or place + 1
        return found

    def _is_storied(self, name: Name) -> bool:
        """Tell if somebody asks for a person of whom the remote knows, or else could say nothing:
        beside words of history, science or literature, or by a surname alone; in a text that
        speaks of nobody as somebody's own. The surname of a public person needs no question."""
        if not self._ties.is_impersonal:
            return False
        low, high = max(0, name.start - _STORIED), name.end + _STORIED
        lone = self._names_no_other and self._is_lone(name)
        if lone and self._public.families.issuperset(self._words.read_surnames(name)):
            return True
        asked = holds(self.asked, name.low, name.high)
        storied = holds(self._stories, low, high) and not self._ties.is_pupil(name)
        return asked and (lone or storied)

    def _is_lone(self, name: Name) -> bool:
        """Tell if a finding is one word, and neither a given name nor a common surname; or several
        such words that are no name together: `Luria–Delbrück`."""
        keys = self._words.read_surnames(name)
        borne = self._given, self._public.surnames, self._ties.private_words
        return bool(keys) and not any(key in names for key in keys for names in borne)

    @cached_property
    def _names_no_other(self) -> bool:
        """Tell if every person in the text is on the list or a surname alone."""
        return all(
            self._words.is_covered(person, self._public.persons) or self._is_lone(person)
            for person in self._ties.persons
        )

    def _is_exercised(self, name: Name) -> bool:
        """Tell if a finding is somebody in an exercise that names nobody but by a given name, or
        by a title and a common surname: `Tom`, `Mr Baker`."""
        return self._is_bare(name) and self._sets_exercise

    @cached_property
    def _sets_exercise(self) -> bool:
        """Tell if the text is an exercise, or asks for an amount and speaks of no writer; and if
        no person in it has a full name or is in a sentence about the writer."""
        if self._ties.contacts or any(
            not self._is_quoted(found.start()) for found in WORK.finditer(self._text)
        ):
            return False
        selves = [place for place in self._ties.selves if not self._is_quoted(place)]
        for person in self._ties.persons:
            known = self._words.is_covered(person, self._public.persons)
            own = holds(selves, person.low, person.high)
            if not known and (own or not self._is_bare(person)):
                return False
        return _names_exercise(self._text) or (not selves and _asks_for_amount(self._text))

    def _is_bare(self, name: Name) -> bool:
        """Tell if a finding is a given name or a common surname alone, and not somebody's."""
        keys = [key for key in name.keys if key not in NEUTRAL]
        borne = len(keys) == 1 and (keys[0] in self._given or keys[0] in self._public.surnames)
        return borne and not self._ties.follows_relation(name)

    def _is_quoted(self, place: int) -> bool:
        at = bisect_right(self._quoted, place, key=lambda span: span[0]) - 1
        return at >= 0 and place < self._quoted[at][1]

    @cached_property
    def _quoted(self) -> list[tuple[int, int]]:
        return [found.span() for found in _QUOTED.finditer(self._text)]

    def _is_eponym(self, name: Name) -> bool:
        """Tell if a law or an animal is called by a finding, a name of one word: `Graham's law of
        effusion`, and not `Graham's law firm`."""
        one = len(name.keys) == 1
        called = _EPONYM.match(self._text, name.end) is not None
        return one and called and self._ties.is_impersonal

    def _is_work(self, name: Name) -> bool:
        """Tell if a finding is what a public person has made: `Romane von Thomas Mann`."""
        return len(name.keys) == 1 and self._words.is_made(name.first)

    def _is_owned_by_public(self, name: Name) -> bool:
        """Tell if a finding begins with the genitive of a public person's surname that means
        nobody else, in German, where somebody asks for knowledge: `Kafkas Verwandlung`."""
        (first, last), keys = (name.first, name.last), name.keys
        if len(keys) > 1 and self._words.opens(first, first, last) and keys[0] not in self._given:
            keys = keys[1:]
        _, *others = keys or [""]
        if not self._words.begins_author(last - len(keys)):
            return False
        written, around = self._words.written[last - len(keys)], (name.low, name.high)
        asked = holds(self.asked, *around) or _STUDIED.search(self._text, *around)
        names = self._given, self._public.surnames
        borne = any(key in known for key in others for known in names)
        if borne and len(others) > 1:
            title = self._words.longest(last - len(others), last, [self._public.names])
            borne = title < last
        return bool(written[0].isupper() and asked and not borne and self._ties.is_impersonal)
