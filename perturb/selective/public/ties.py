"""Tell what ties a name to somebody's private life: who speaks of whom as their own, greets them,
or stands beside an address; and whether a text is about the writer's own people.

Whether a name is well known is not asked here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from perturb.selective.patterns.forms import is_in_list
from perturb.selective.patterns.letters import is_addressed
from perturb.selective.patterns.persons import OWN_KIN
from perturb.selective.patterns.shape import any_of
from perturb.selective.public.reading import Name, TextWords, holds
from perturb.text.fold import fold_name

__all__ = [
    "CONTACTS",
    "DOES",
    "RELATED",
    "RULERS",
    "TOWARDS",
    "WORK",
    "Ties",
]

# Beside one of these, a name is somebody's.
CONTACTS = frozenset(
    (
        "ACCOUNT_NUMBER",
        "CREDIT_CARD",
        "DATE_OF_BIRTH",
        "EMAIL_ADDRESS",
        "IBAN_CODE",
        "NATIONAL_ID",
        "PHONE_NUMBER",
        "STREET_ADDRESS",
        "USERNAME",
        "US_SSN",
    )
)
_LABELS = 24  # characters before a part that its label is in
_AROUND = 80  # characters around a person that may tie them
_CLOSING = re.compile(
    r"\W{0,5}(?:(?:best|kind|warm|many|with)\s){0,2}(?:regards|wishes|sincerely|faithfully|best|cheers|"
    r"thanks|thank you|love|yours|grüße|grüßen|gruß|cordialement|amicalement|saludos|atentamente|"
    r"cordiali saluti|saluti|abraços|pozdrawiam)\b",
    re.IGNORECASE,
)
_OWN = (
    r"(?:my|our|meine?[mnrs]?|unsere?[mnrs]?|mon|ma|mes|notre|nos|mis?|nuestr[oa]s?|mio|mia|nostr[oa]|"
    r"meu|minha|mój|moja|mojego)"
)
_RELATION = (
    r"(?:neighbou?r|friend|boss|colleague|co-?worker|husband|wife|spouse|fianc[ée]e?|partner|son|"
    r"daughter|child|kid|brother|sister|mother|mum|mom|father|dad|uncle|aunt|cousin|nephew|niece|"
    r"grand(?:ma|pa|mother|father|son|daughter)|doctor|dentist|therapist|lawyer|landlord|landlady|"
    r"tenant|client|customer|patient|teacher|tutor|professor|supervisor|student|pupil|manager|"
    r"employee|assistant|intern|roommate|flatmate|housemate|boyfriend|girlfriend|ex|classmate|"
    r"[bg]f|bff|bestie|bro|sis|crush|hubby|wifey|babysitter|nanny|gran(?:ny|dad)?|nan|nana|vet|"
    r"nachbar(?:in|n)?|freund(?:in)?|chef(?:in)?|kolleg(?:e|en|in)|mann|frau|sohn|tochter|bruder|"
    r"schwester|mutter|vater|onkel|tante|arzt|ärztin|vermieter(?:in)?|lehrer(?:in)?|"
    r"voisine?|amie?|patronne?|collègue|mari|femme|fils|fille|frère|sœur|mère|père|oncle|cousine?|"
    r"vecin[oa]|amig[oa]|jefe|jefa|espos[oa]|marido|hij[oa]|herman[oa]|madre|padre|tí[oa]|prim[oa]|"
    r"vicin[oa]|amic[oa]|capo|marito|moglie|figli[oa]|fratello|sorella|zi[oa])"
)
_ROLE = (
    r"(?:customer|client|patient|tenant|applicant|candidate|employee|guest|passenger|recipient|"
    r"(?:policy|account|card) ?holder|insured|claimant|contact|attendee|caller|kunden?|"
    r"kundin|patientin|mieter(?:in)?|bewerber(?:in)?|mitarbeiter(?:in)?|empfänger(?:in)?|cliente?|"
    r"paciente|paziente|locataire|destinataire|employé|empleado|klient|pacjent)(?:[ _-]?name)?"
)
RELATED = re.compile(rf"\b{_OWN}\s(?:\w+\s)?{_RELATION}\b", re.IGNORECASE)
_TITLES = (
    r"\b(?:mr|mrs|ms|miss|mx|herrn?|frau|monsieur|madame|mme|mlle|señora?|senhora?|sra?|signora?|meneer|mevrouw|fru|pán|paní|pani?)"
    r"\.?\s"
)
_GREETED = (
    r"\b(?:dear|hi|hello|hey|attn|liebe[rs]?|hallo|geehrte[rns]?|ch[eè]re?|bonjour|salut|"
    r"querid[oa]|estimad[oa]|hola|car[oa]|gentile|ciao|drog[ia]|szanown[ya]|witaj)\W{1,3}|"
)
_INTRODUCED = (
    r"\b(?:my name is|my name's|i am|i['’]?m|ich hei(?:ß|ss)e|ich bin|je m['’]appelle|je suis|"
    r"me llamo|mi nombre es|mi chiamo|nazywam się)\s|"
    rf"\b{_OWN}\s(?:\w{{1,20}}\s){{0,2}}{_RELATION}\W{{1,3}}|"
    rf"\b{_ROLE}\W{{1,5}}"
)
_BEFORE = re.compile(rf"(?:{_GREETED}{_TITLES}|{_INTRODUCED})\Z", re.IGNORECASE)
_BEFORE_UNTITLED = re.compile(rf"(?:{_GREETED}{_INTRODUCED})\Z", re.IGNORECASE)
_RELATION_BEFORE = re.compile(
    rf"(?:\b{_OWN}\s(?:\w{{1,20}}\s){{0,2}}{_RELATION}\W{{1,3}}|\b{_ROLE}\W{{1,5}})\Z",
    re.IGNORECASE,
)
# Of a person alone: `our client kafka` is a program.
_BORNE = re.compile(
    r"\b(?:(?:mr|mrs|ms|miss|dr|herrn?|frau|mme|sra?|dhr|mevr|aunt(?:ie|y)?|uncle|coach|nana|oma|opa|tante|onkel)"
    rf"\.?\s|{_OWN}\s(?:\w{{1,20}}\s){{0,2}}"
    r"(?!(?:client|customer|manager|assistant|employee|partner|child|kid|intern)\b)"
    rf"{_RELATION}\W{{1,3}})\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"\W{{0,3}}(?:(?:is|was|ist|war|est|es|è)\s)?{_OWN}\s(?:\w{{1,20}}\s){{0,2}}{_RELATION}\b",
    re.IGNORECASE,
)
# A speaker of a chat, between the time and the message.
_SPOKEN = re.compile(
    r"\d[:.]\d\d(?:[:.]\d\d)?(?:\s?[ap]\.?m\.?)?[\])]?(?:\s[-–])?\s<?\Z", re.IGNORECASE
)
_SPEAKS = re.compile(r"[^\w\n:>]{0,8}[:>]\s")
# English's I in small letters is a word of other languages, too.
_SELF = re.compile(
    r"\bI\b|\bi(?=['’]\w|\s(?:am|was|have|had|met|asked|told|saw|work|live|study|grew|moved|stay|"
    r"need|want|got|get|think|thought|know|owe|just|dont|didnt|cant|wont|love|hate|like|liked|can|"
    r"should|will|would|could|do|did|go|went|said|feel|keep|only|really|never|always|miss|forgot|lost|left|"
    r"made|bought|found|broke|came|gave|took|wrote|lent|sent|[a-z]{2,12}ed)\b)|"
    r"\bim(?= (?:an?|the|so|not|at|from|done|sick|[a-z]{2,12}ing)\b)|"
    r"\b(?:can|should|could|would|do|did|how do|must|may|if|when|where"
    r"|why) i\b(?!\s?[=<>+\]);:,.])|"
    # No state, union, weekday or initial: ME, EU, Mon 9:00, J. Robert Oppenheimer
    r"\b(?!(?:US|EU|IO|MA|MI)\b|Mon(?:[:.,–-]| \d| to\b))"
    r"(?i:me|my|mine|we|us|our|ours|ich|mir|mich|wir|uns|(?<!\bbare )meine?[mnrs]?|"
    r"unsere?[mnrs]?|je|"
    r"j(?=['’](?!accuse)|\s(?:ai|aime|habite|suis|étais|avais)\b)|moi|mon|"
    r"ma|mes|nous|notre|nos|yo|mis?|nosotros|nuestr[oa]s?|io|mio|mia|noi|nostr[oa]|eu|meu|minha|nós|"
    r"mój|moja|moje|jestem|мой|моя|моего|моей|мне|меня|мы|наш\w{0,3}|мій|моєї|мого|мені|мене|"
    r"ik|mijn|mij|wij|onze|jag|vår[at]?|jeg|minua|minun|minulle|benim|bana|bizim|saya|aku|"
    r"kami|kita|mera|mere(?= (?:dost|bhai|papa|pita|dada|boss|ghar|naam|padosi)\b)|meri|mujhe|"
    r"hamar[aei]|"
    rf"tôi|{any_of(' '.join(OWN_KIN))})\b|我|私|僕|أنا"
)
_LIFE = re.compile(
    r"\b(?:(?:live|lives|lived|living|reside[sd]?|residing|stay(?:s|ed|ing)?|based|located)\s"
    r"(?:in|at|near|on)|(?:work|works|worked|working|job|intern(?:ed|ing|ship)?|employed|hired|"
    r"fired|contract(?:ed|ing)?|position|role)\s(?:\w{1,20}\s){0,3}(?:at|for|with|by|in)|born in|"
    r"(?:boss|chef(?:in)?|manager|shift|job|apprentice|azubi|ausbildung) (?:at|bei|chez)|im at|"
    r"grew up|moved (?:to|from|back)|moving to|(?:study|studied|studying|studies|enrolled|"
    r"graduated?|degree|student|phd|thesis)\s(?:\w{1,20}\s){0,3}(?:at|from|in)|"
    r"(?:my|our)\s(?:\w{1,20}\s)?(?:employer|company|firm|boss|office|school|university|college|"
    r"hospital|doctor|clinic|bank|landlord|home|house|flat|apartment|address|hometown|home ?town|"
    r"team|client|clients|customer|customers|supplier|offer)|"
    r"wohne[nt]?|lebe[nt]?|arbeite[nt]?|geboren|aufgewachsen|umgezogen|studiere[nt]?|angestellt|"
    r"arbeitgeber|habite|habitons|vis|travaille|travaillons|né|née|étudie|employeur)\b",
    re.IGNORECASE,
)
# A key or a label before a part of somebody's record.
_LABEL = re.compile(
    r"(?:city|town|place|location|country|employer|company|school|ort|stadt|wohnort|land|firma|"
    r"arbeitgeber|ville|pays|employeur|ciudad|empresa|città|azienda|miasto)\W{1,5}\Z",
    re.IGNORECASE,
)
# Verbs whose form alone tells who speaks.
_OWN_LIFE = re.compile(
    r"\b(?:arbeite|wohne|vivo|vivimos|trabajo|trabajamos|nací|estudio|abito|abitiamo|lavoro|lavoriamo|"
    r"sono nat[oa]|moro|moramos|trabalho|trabalhamos|mieszkam|mieszkamy|pracuję|pracujemy|"
    r"urodził[ea]m)\b",
    re.IGNORECASE,
)
# Before the number I: things, and rulers.
_NUMBERED = (
    "(?:World )?War|Act|Appendix|Article|Book|Category|Chapter|Class|Grade|Level|Part|Phase|Scene|"
    "Section|Stage|Tier|Title|Type|type|Volume"
)
RULERS = (
    "Alexander|Baldwin|Carlos|Charles|Constantine|Cyrus|Darius|Edward|Elizabeth|Felipe|Ferdinand|"
    "Franz|Francis|François|Frederick|Friedrich|George|Gregory|Haile|Henry|James|Juan|Justinian|"
    "Karl|Khosrow|Leo|Leopold|Louis|Mary|Maximilian|Mehmed|Murad|Napoleon|Napoléon|Nicholas|Osman|"
    "Otto|Pedro|Peter|Philip|Pius|Ptolemy|Ramesses|Richard|Selim|Seti|Theodosius|Tutankhamun|"
    "Umberto|Urban|Wilhelm|William|Xerxes"
)
# What the writer does: Sorry Charles I was late.
DOES = (
    "am|was|have|had|need|want|think|thought|will|would|can|could|can['’]t|do|did|know|knew|hope|"
    "feel|felt|love|like|really|just|also|still|never|always|wrote|met|saw|told|asked|said|got|"
    "went|came|wanted|needed|worked|work|live|lived|should|must|may|might|wish|believe|guess|owe"
)
# What the writer says of nobody: give me, I know that, I have read.
_WRITER = re.compile(
    r"\b(?i:give|tell|show|recommend|explain to|teach|help|remind|write|make|find|quiz|let)\s"
    r"(?:me|us)\b|"
    r"\bI(?:['’]m|\sam)?\s(?:(?:just|only|also|always|really|still)\s)?(?:know|think|thought|read|reading|"
    r"need|want|wonder|wondering|heard|remember|learn|learned|learnt|believe|studying|visiting|"
    r"understand|do(?:n['’]t| not) (?:get|understand|know))\b|"
    r"\bI(?:['’]d|\swould)\slike\b|"
    r"\bI(?:['’]ve|\shave)\s(?:(?:only|just|also)\s)?(?:read|heard|seen|watched)\b|"
    # the first of a name and of things that are numbered: Charles I, World War I
    rf"\b(?:{_NUMBERED}|{RULERS}) I(?!['’/]\w|\s(?:{DOES})\b)(?!\w)|\bI/O\b|"
    rf"(?P<own>{_SELF.pattern})"
)
TOWARDS = re.compile(
    r"\b(?:for|to|from|with|für|an|mit|von|pour|avec|para|con|per|dla|для)\s\Z", re.IGNORECASE
)  # somebody whom the answer goes to, or who says it
_PUPIL_BEFORE = re.compile(
    r"\b(?:essay|talk|presentation|thesis|homework|report|referat|aufsatz|rédaction)"
    r" (?:by|of|from|von|de) \Z",
    re.IGNORECASE,
)
_PUPIL_AFTER = re.compile(
    r" ?\((?:class|grade|year|form|klasse) ?\d"
    r"| (?:held|gave) (?:a|the|her|his) (?:talk|presentation|speech)"
    r"|['’]s (?:essay|homework|thesis|presentation|talk|report)\b",
    re.IGNORECASE,
)
_NOBLE = re.compile(r"(?P<given>[^\W\d_]{2,20}) von \Z")
# Of texts that are somebody's own: letters, and what is spoken of at work.
_WORK_WORDS = (
    r"draft(?:ing)?|reply|respond|proofread|e-?mails?|letters?|messages?|invitations?|resume|cv|"
    r"meetings?|clients?|patients?|colleagues?|formulier\w*|fasse|protokoll\w*|besprechung\w*|"
    r"kunden?|kolleg\w*|rédig\w*|réunion|compte[- ]rendu|redacta\w*|reunión|riunione|verbale|"
    r"zebrani\w+|письм\w+|протокол\w*"
)
_WORK_SIGNS = "会议|邮件|会議|メール"
WORK = re.compile(rf"\b(?:{_WORK_WORDS})\b|{_WORK_SIGNS}", re.IGNORECASE)
_TASK = re.compile(
    rf"\b(?:{_WORK_WORDS}|rewrite|reword|"
    r"(?-i:polish|Polish(?= (?:this|the|my|our|up|it|these|your)\b))|"
    # not how long something takes
    r"paraphrase|rephrase|shorten|condense|(?<![\d-] )(?<!\d-)(?<!few )(?<!ten )(?<!five )(?<!in )"
    r"(?<!fifteen )(?<!twenty )(?<!thirty )(?<!several )(?<!couple )minutes|my|our|"
    # not `ke bare mein`, Hindi's about
    r"(?<!\bbare )meine?[mnrs]?|unsere?[mnrs]?|notre|nuestr\w+|nostr\w+|meu|minha|mój|moja|мой|"
    r"моя|мо[её]|моего|моей|мою|мій|мого|моєї|наш\w{0,3}|mijn|onze|vår[at]?|saya|kami|tôi|benim|bizim|"
    rf"mera|meri|hamar[aei]|{any_of(' '.join(OWN_KIN))})\b|{_WORK_SIGNS}",
    re.IGNORECASE,
)
# Before the value of a key, or of an element of XML.
_KEYED = re.compile(
    r"(?:[\w\"'`][\"'`]?[ \t]?[:=][ \t]?[\"'`]?|(?<=[\w\"'])>"
    r"|(?i:\bi?like '%?|\bin ?\('))\Z"
)
# The key of a surname, up to one of the values behind it: `"lastName": ["Achterberg", "`.
_SURNAME_KEY = re.compile(
    r"(?<![^\W_])(?:last|family|sur|nach|familien|sobre|achter|efter|etter)_?(?:name|nom|naam|namn|navn)?"
    r"[\"'`]?\s?(?:[:=>]|=>)\s{0,4}(?:c?[\[(]\s{0,4}(?:[\"'][^\"'\n]{1,40}[\"'],\s{0,4}){0,20})?[\"'`]?\Z",
    re.IGNORECASE,
)
_BESIDE_FIELD = 80  # characters between the fields of one name
_SPEAKS_BEFORE = re.compile(
    r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}[:.]\d\d(?:[:.]\d\d)?"
    r"(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?(?:\]| ?[-–]) ~?\Z"
)
_SPEAKS_AFTER = re.compile(r"[ \u2600-\u27bf\ufe0f\u200d\U0001f1e6-\U0001faff]{0,7}:\s")


class Ties:
    """What ties the findings of a text to somebody's private life.

    Attributes:
        contacts: the places of contact data, in order.
        persons: the findings of persons, in order.
        private_words: the words of the full names of private persons.
    """

    def __init__(self, words: TextWords, persons: Sequence[Name], contacts: Sequence[int]) -> None:
        self._words, self._text, self._public = words, words.text, words.public
        self._given = words.given
        self.persons, self.contacts = persons, contacts
        self.private_words = set[str]()
        self._private: list[int] = []
        self._spoken: dict[re.Pattern[str], bool] = {}

    def add_private(self, persons: Sequence[Name]) -> None:
        """Take these persons for private: what stands beside them is somebody's."""
        self._private = sorted(person.start for person in persons)
        self.private_words = {
            key for person in persons if len(person.keys) > 1 for key in person.keys
        }

    @cached_property
    def selves(self) -> list[int]:
        """Return the places where the writer speaks of themselves."""
        return [found.start() for found in _WRITER.finditer(self._text) if found["own"]]

    def is_own(self, name: Name) -> bool:
        """Tell if a person is spoken of as somebody's own, or has a title where the writer speaks
        of themselves: `can i sue dr hargreaves`."""
        if self.is_borne(name) and holds(self.selves, name.low, name.high):
            return True
        return self.is_tied(name.start, name.end)

    def is_borne(self, name: Name) -> bool:
        """Tell if a person has a title or is a relation, so that no term is meant: `ms. lark`."""
        before = max(0, name.start - _AROUND)
        return name.type == "PERSON" and bool(_BORNE.search(self._text, before, name.start))

    def speaks(self, name: Name) -> bool:
        """Tell if a person speaks in an exported chat: `[12/03/2024, 18:05:40] Dev: yeah`."""
        before, text = max(0, name.start - 40), self._text
        return (
            name.type == "PERSON"
            and _SPEAKS_AFTER.match(text, name.end) is not None
            and _SPEAKS_BEFORE.search(text, before, name.start) is not None
        )

    def follows_relation(self, name: Name) -> bool:
        """Tell if what somebody is to the writer, or as a customer, is said before a finding."""
        before = max(0, name.start - _AROUND)
        return _RELATION_BEFORE.search(self._text, before, name.start) is not None

    def is_namesake(self, name: Name) -> bool:
        """Tell if a finding is a word of a private person's name in the text."""
        return name.word in self.private_words

    def is_field(self, name: Name) -> bool:
        """Tell if a finding is the surname in a record, and another field beside it makes it that
        of somebody who is not on the list: `"first": "Oskar", "last": "Thackeray"`."""
        if not _SURNAME_KEY.search(self._text, max(0, name.start - 400), name.start):
            return False
        place = bisect_left(self.persons, name.start, key=lambda person: person.start)
        beside = [
            *(p for p in self.persons[max(0, place - 1) : place] if p.end <= name.start),
            *(p for p in self.persons[place : place + 2] if p.start >= name.end),
        ]
        near = [p for p in beside if max(p.start - name.end, name.start - p.end) < _BESIDE_FIELD]
        return bool(near) and not any(
            " ".join(key) in self._public.persons
            for other in near
            for key in ((*other.keys, *name.keys), (*name.keys, *other.keys))
        )

    def is_tied(self, start: int, end: int, *, titled: bool = True) -> bool:
        """Tell if a person is spoken of as somebody's own, or beside a contact; or has a title,
        where one counts."""
        text, low = self._text, max(0, start - _AROUND)
        if (_BEFORE if titled else _BEFORE_UNTITLED).search(text, low, start):
            return True
        if _AFTER.match(text, end, end + _AROUND):
            return True
        if is_addressed(text, low, start) or is_in_list(text, low, start):
            return True
        if _SPOKEN.search(text, low, start) and _SPEAKS.match(text, end, end + _AROUND):
            return True
        first, last = self._words.line(start), self._words.line(max(start, end - 1))
        line = self._words.line_start(first), self._words.line_start(last + 1)
        if holds(self.contacts, *line) or holds(self.contacts, *self._words.form(start, end)):
            return True
        if self._words.meeting(*line) != self._words.meeting(start, end):
            return False
        above = first - 2 if self._words.blank[max(0, first - 1)] else first - 1
        return above >= 0 and bool(_CLOSING.match(text, self._words.line_start(above)))

    def is_close(self, person: Name) -> bool:
        """Tell if a person is tied to somebody, is whom the answer is for, is the value of a key,
        or is in a sentence about the writer."""
        text, start, end = self._text, person.start, person.end
        if self._words.is_covered(person, self._public.persons) and not self.is_tied(start, end):
            return False
        return bool(
            self.is_tied(start, end)
            or _KEYED.search(text, max(0, start - 8), start) is not None
            or (TOWARDS.search(text, max(0, start - 8), start) and not self._is_noble(start))
            or holds(self.selves, person.low, person.high)
        )

    def _is_noble(self, start: int) -> bool:
        """Tell if a given name and `von` are before a place."""
        found = _NOBLE.search(self._text, max(0, start - 28), start)
        return found is not None and fold_name(found["given"]) in self._given

    def is_pupil(self, name: Name) -> bool:
        """Tell if somebody has written or told what is about history: `this essay by …`."""
        low = max(0, name.start - 30)
        before = _PUPIL_BEFORE.search(self._text, low, name.start)
        return bool(before or _PUPIL_AFTER.match(self._text, name.end))

    @cached_property
    def is_impersonal(self) -> bool:
        """Tell if a text has no contact data, and no person who is tied to somebody, whom the
        answer is for, who is the value of a key, or in a sentence about the writer."""
        return (
            not self.contacts
            and not self._speaks_of(_TASK)
            and not any(map(self.is_close, self.persons))
        )

    @cached_property
    def sets_task(self) -> bool:
        """Tell if a text has a word of what is somebody's own, whoever's work it is."""
        return _TASK.search(self._text) is not None

    @cached_property
    def speaks_of_work(self) -> bool:
        """Tell if a text speaks of letters, meetings or clients."""
        return self._speaks_of(WORK)

    @cached_property
    def speaks_of_nobody(self) -> bool:
        """Tell if a text has no contact data, no word about the writer, and nobody's own work."""
        return not self.contacts and not self.selves and not self._speaks_of(_TASK)

    def _speaks_of(self, work: re.Pattern[str]) -> bool:
        """Tell if a text speaks of somebody's work; to sum up a poet's is none: `Fasse Goethes
        Faust zusammen.`"""
        if work not in self._spoken:
            ends = ((found[0].lower(), found.end()) for found in work.finditer(self._text))
            places = ((word, bisect_left(self._words.starts, end)) for word, end in ends)
            self._spoken[work] = any(
                word != "fasse" or not self._words.begins_author(place) for word, place in places
            )
        return self._spoken[work]

    def is_tied_thing(self, name: Name) -> bool:
        """Tell if a place or a firm is a part of somebody's life."""
        start, end = name.start, name.end
        if holds(self._private, *name.sentence) or holds(self.contacts, *name.sentence):
            return True
        form = self._words.form(start, end)
        if holds(self._private, *form) or holds(self.contacts, *form):
            return True
        private = holds(self._private, *self._words.around(start, end))
        if private and _LABEL.search(self._text, max(0, start - _LABELS), start):
            return True
        return self._is_lived(name, private=private)

    def is_somebodys(self, name: Name) -> bool:
        """Tell if a place or a firm is in a sentence or a form with a private person; or if it is
        a firm beside a contact in a text with such a person, or where the writer works."""
        form = self._words.form(name.start, name.end)
        if holds(self._private, *name.sentence) or holds(self._private, *form):
            return True
        if name.type != "ORGANIZATION":
            return False
        if self._private and holds(self.contacts, *name.sentence):
            return True
        return self._is_lived(name)

    def _is_lived(self, name: Name, *, private: bool = False) -> bool:
        """Tell if somebody tells, beside a place or a firm, where they live or work: the writer,
        or also another one if a `private` person is near."""
        around = self._text, name.low, name.high
        if _OWN_LIFE.search(*around):
            return True
        return bool(_LIFE.search(*around)) and (private or bool(_SELF.search(*around)))
