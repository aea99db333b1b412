"""Tell what is publicly known, and keep it: well-known people, places, firms, works and terms.

`data/public.txt` lists names by their keys (`read_key`) in sections, and `data/public.json`
describes it; `scripts/list_public.py` makes both. `data/given_names.txt` lists given names.

A finding is public if the list holds all of it, or if it is a person in a passage on history,
science or literature; and if nothing ties it to somebody's private life:

- A person is private in a greeting, in a signature, as somebody's relation ("my neighbour …"), as
  a customer or a patient, and beside an address, a number or another contact.
- A place, a firm or a work is private in a sentence with a private person, in a form or an address
  with one, and where people tell where they live, work or learn ("I work at …").
- A term of programming has no private life.

Beside a private person, names are private that would not be found otherwise (`find_companions`).
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

from perturb.errors import VocabularyError
from perturb.release import Span
from perturb.selective.nobody import (
    asks_for_amount,
    find_compared,
    find_lists,
    find_tales,
    find_title_cells,
    find_titles,
    find_varieties,
    is_about_surnames,
    is_created,
    is_eponym,
    is_exercise,
    is_invented,
    is_of_fable,
    is_played,
    is_told,
    is_told_to,
    tells_tale,
)
from perturb.selective.parts import Cover
from perturb.selective.patterns.everyday import is_everyday
from perturb.selective.patterns.forms import is_in_list
from perturb.selective.patterns.given import list_given, names_beside, names_thing
from perturb.selective.patterns.letters import is_addressed
from perturb.selective.patterns.persons import (
    ALONE,
    ALSO_WORDS,
    CAPITALS,
    NO_NAMES,
    OWN_KIN,
    is_strange,
    locate_alone,
)
from perturb.selective.patterns.settings import is_ordinary_word
from perturb.selective.patterns.shape import any_of
from perturb.selective.surrogates.names import load_names
from perturb.text.fold import fold, fold_name, read
from perturb.vocabulary.word_list import dictionary_words

__all__ = [
    "BUNDLED_PUBLIC",
    "LONGEST",
    "PUBLIC_VERSION",
    "PublicNames",
    "drop_public",
    "find_companions",
    "given_names",
    "load_public",
    "read_key",
]

BUNDLED_PUBLIC = Path(__file__).parents[1] / "data" / "public"
PUBLIC_VERSION = 2  # of the list and of the keys
LONGEST = 8  # words of a name

PERSONS = frozenset(("PERSON", "NAME"))
THINGS = frozenset(("LOCATION", "ORGANIZATION", "OTHER_NAME"))
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
_BIRTHS = frozenset(("BIRTHPLACE", "DATE_OF_BIRTH"))
_BORN = re.compile(
    r"(?<!\w)(?:born|née?|nacid[oa]|nació|geboren|nat[oa]|nascid[oa]|nasceu)\b[^:\n]{0,28}\Z",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_]+[+#]*+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=[0-9])")
_NUMBER = re.compile(r"\d{1,4}(?:[.,]\d{1,12}){0,2}|[a-zà-ÿ]")
_LETTER = re.compile(r"[^\W\d_]")
_JOINED = re.compile(r"[.@%_-]")  # beside a letter or a number: a part of a longer name
_SIGN = r"[.:;(){}<>=_`/\[\]]"  # beside an identifier
_CODE_BEFORE = re.compile(
    rf"(?:{_SIGN}|\b(?:class|const|enum|extends|fn|func|function|implements|import|interface|new|"
    r"public|static|struct|type|var)\s)\Z"
)
_CODE_AFTER = re.compile(_SIGN)
_SECTION = re.compile(r"\[([a-z]+)\]")
_GAP = 3  # characters between two words of a name
# Words that may stand beside a public name in a finding.
_BESIDE = """
    a an and at by for from in of on or the to versus via vs with der die das den dem des und von
    vom im le la les l de du d des et y e el los il lo gli di del della och i w z
    s pope president king queen prince princess emperor empress saint sankt st
    sir lord lady pharaoh
    sultan tsar czar kaiser chancellor senator general admiral captain
"""
_NEUTRAL = frozenset(_BESIDE.split())
# Words that the name of a character may begin with.
_BEFORE_CHARACTER = frozenset(
    (
        *("captain", "commander", "dr", "house", "inspector", "lieutenant", "madame", "master"),
        *("miss", "mr", "mrs", "professor", "sir"),
    )
)
_TITLED = 12  # characters of a title before a name
_TITLE_BEFORE = re.compile(r"\b[A-Z][a-z]{1,9}\.? \Z")
_SENTENCE = re.compile(
    r"(?<=\w\w\w)(?<!\bMrs)(?<!\bMme)(?<!\bSra)(?<!\bProf)[.!?][\"'”’)]{0,2}\s|\n"
)
_NEAR = 4  # lines of a form on either side
_LONG = 40  # characters that no word of a name has
_DIGITS = 4  # of a number that is no name
_REACH = 300  # characters of a sentence on either side of a place that may tie it
_FEW = 3  # words that a line of a form has besides a name
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
_RELATED = re.compile(rf"\b{_OWN}\s(?:\w+\s)?{_RELATION}\b", re.IGNORECASE)
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
_RULERS = (
    "Alexander|Baldwin|Carlos|Charles|Constantine|Cyrus|Darius|Edward|Elizabeth|Felipe|Ferdinand|"
    "Franz|Francis|François|Frederick|Friedrich|George|Gregory|Haile|Henry|James|Juan|Justinian|"
    "Karl|Khosrow|Leo|Leopold|Louis|Mary|Maximilian|Mehmed|Murad|Napoleon|Napoléon|Nicholas|Osman|"
    "Otto|Pedro|Peter|Philip|Pius|Ptolemy|Ramesses|Richard|Selim|Seti|Theodosius|Tutankhamun|"
    "Umberto|Urban|Wilhelm|William|Xerxes"
)
# What the writer does: Sorry Charles I was late.
_DOES = (
    "am|was|have|had|need|want|think|thought|will|would|can|could|can['’]t|do|did|know|knew|hope|"
    "feel|felt|love|like|really|just|also|still|never|always|wrote|met|saw|told|asked|said|got|"
    "went|came|wanted|needed|worked|work|live|lived|should|must|may|might|wish|believe|guess|owe"
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
    rf"(?-i:\b(?:{_RULERS}) (?:(?:I|V|X)(?!['’]|\.? [A-Z]|\s(?:{_DOES})\b)|I[IVX]I?|VI{{1,3}}|"
    r"X[IVX]{1,4})\b)",
    re.IGNORECASE,
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
    rf"\b(?:{_NUMBERED}|{_RULERS}) I(?!['’/]\w|\s(?:{_DOES})\b)(?!\w)|\bI/O\b|"
    rf"(?P<own>{_SELF.pattern})"
)
_TOWARDS = re.compile(
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
# What characters do among themselves.
_WITHIN = re.compile(
    r"\b(?:say|says|said|speaks?|spoke|sings?|sang|happen(?:s|ed)?|related|relation(?:ship)?|married|"
    r"compared|similar|contrast|different|love|affair|fights?|fought|up|"
    r"scenes?|dialogues?|parod(?:y|ies)|crossovers?|episodes?|sketch(?:es)?)\s(?:to|with|from)\s\Z"
)
_BEGIN = re.compile(r"(?:\A|[.!?:;\n\"“„(¿¡-])\s{0,8}\Z")  # of a sentence
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
_TITLE_OPENERS = frozenset(("dear", "hello", "hey", "hi", "my", "our"))
_NAME_WORDS = 5  # that the longest names have; a longer finding holds other words
_LEAST_NAME = 2  # words of a full name
_MADE_BY = frozenset(("von", "van", "of", "by", "af", "av"))
_WORKS = frozenset(("romane",))  # also a given name
_LEAST = 4  # letters of a word of a name that stands for all of it
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
_VERSUS = re.compile(r" (?:vs\.?|versus) [^.?!\n]{1,40} (?:vs\.?|versus) ")
_COMPARED = re.compile(
    r"\b(?:compar(?:e|es|ing|ison)|contrast|differ(?:s|ences?)?|similarit(?:y|ies)|vergleich\w*|"
    r"unterschiede?|comparez|différences?|compara\w*|diferencias?|confronta|differenze|porównaj)\b",
    re.IGNORECASE,
)
# What colleagues and craftsmen have, and no philosopher.
_OFFERED = re.compile(
    r"\b(?:offers?|quotes?|bids?|prices?|invoices?|estimates?|salar(?:y|ies)|scores?|results?|cvs?|"
    r"resumes?|applications?|performance|candidates?|reports?|grades?|rates?|hours|shifts?|sales|"
    r"angebote?|rechnung(?:en)?|noten|bewerbung(?:en)?|devis|factures?|ofertas?|offerte|oferty)\b",
    re.IGNORECASE,
)
# Of texts that are somebody's own: letters, and what is spoken of at work.
_WORK_WORDS = (
    r"draft(?:ing)?|reply|respond|proofread|e-?mails?|letters?|messages?|invitations?|resume|cv|"
    r"meetings?|clients?|patients?|colleagues?|formulier\w*|fasse|protokoll\w*|besprechung\w*|"
    r"kunden?|kolleg\w*|rédig\w*|réunion|compte[- ]rendu|redacta\w*|reunión|riunione|verbale|"
    r"zebrani\w+|письм\w+|протокол\w*"
)
_WORK_SIGNS = "会议|邮件|会議|メール"
_WORK = re.compile(rf"\b(?:{_WORK_WORDS})\b|{_WORK_SIGNS}", re.IGNORECASE)
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
_ENTRY = re.compile(
    r"@(?:article|book|booklet|inbook|incollection|inproceedings|conference|manual|mastersthesis|misc"
    r"|phdthesis|proceedings|techreport|unpublished|online|thesis)\s{0,3}\{",
    re.IGNORECASE,
)
_CITED = re.compile(
    r"(?<!\w)(?:author|editor|translator|publisher)\s{0,20}=\s{0,20}"
    r"(?P<names>\{(?>[^{}]|\{[^{}]{0,80}\}){1,4000}\}|\"[^\"\n]{1,1000}\")",
    re.IGNORECASE,
)
# What is said or written in a text, or is a numbered sentence of it.
_QUOTED = re.compile(
    r"[\"“„«][^\"”“»\n]{1,400}[\"”“»]|「[^」\n]{1,200}」|"
    r"(?:(?m:^)|(?<=[.:!?] ))[ \t]{0,4}\d{1,2}[.)] [^\n]{1,400}"
)
_LISTED = 3  # items of a list, at least
_STORIED = 300  # characters around a person that such a word is in
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


class _Marked(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def type(self) -> str: ...


_Finding = TypeVar("_Finding", bound=_Marked)


@dataclass(frozen=True, eq=False)
class PublicNames:
    """The keys of the list.

    Attributes:
        persons: full names, and surnames that mean one person.
        names: places, firms, works and other things, none of which is a person's name.
        terms: of programming, and abbreviations.
        shared: single names of places and things that may be people's names as well.
        surnames: common surnames: private where they stand alone.
        sha256: of the file.
    """

    persons: frozenset[str]
    names: frozenset[str]
    terms: frozenset[str]
    shared: frozenset[str]
    surnames: frozenset[str]
    sha256: str

    @cached_property
    def lengths(self) -> dict[str, int]:
        """Return the words of the longest name that begins with a word, by the word."""
        longest: dict[str, int] = {}
        for key in chain(self.persons, self.names, self.terms):
            first, blank, _ = key.partition(" ")
            if blank:
                longest[first] = max(longest.get(first, 0), key.count(" ") + 1)
        return longest

    @cached_property
    def families(self) -> frozenset[str]:
        """Return the surnames of the persons that are neither common nor words."""
        return self.last_names - self.surnames - given_names() - dictionary_words()

    @cached_property
    def last_names(self) -> frozenset[str]:
        """Return the last words of the persons' names."""
        return frozenset(key.rpartition(" ")[2] for key in self.persons)


@lru_cache(maxsize=1)
def load_public(path: Path = BUNDLED_PUBLIC) -> PublicNames:
    """Read and verify the list.

    >>> public = load_public()
    >>> "albert einstein" in public.persons, "new zealand" in public.names, "anna" in public.names
    (True, True, False)

    Args:
        path: of both files, without suffix.

    Raises:
        VocabularyError: a file is missing or damaged, or is another version.
    """
    sections: dict[str, list[str]] = {}
    try:
        data = path.with_suffix(".txt").read_bytes()
        side: dict[str, Any] = json.loads(path.with_suffix(".json").read_text("utf-8"))
        digest = hashlib.sha256(data).hexdigest()
        if side["sha256"] != digest:
            raise VocabularyError(f"{path.name}.txt is damaged: its SHA-256 differs")
        if side["version"] != PUBLIC_VERSION:
            raise VocabularyError(f"{path.name}.txt is not version {PUBLIC_VERSION}")
        for line in data.decode().splitlines():
            if found := _SECTION.fullmatch(line):
                keys = sections.setdefault(found[1], [])
            else:
                keys.append(line)
        return PublicNames(
            **{name: frozenset(keys) for name, keys in sections.items()}, sha256=digest
        )
    except (OSError, ValueError, KeyError, TypeError, UnboundLocalError) as exc:
        raise VocabularyError(
            f"cannot read the public names {path.name}.txt and {path.name}.json"
        ) from exc


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Return given names of many languages, each by its key. Some are ordinary words, too.

    >>> {"anna", "jürgen", "mehmet", "xiaoming"} - given_names()
    {'jürgen'}
    >>> "jurgen" in given_names()
    True
    """
    drawn = (name for names in load_names().values() for name in names.given)
    return frozenset(map(read_key, (*list_given(), *drawn)))


def read_key(text: str) -> str:
    """Return the form of a name that its spellings share: its words in small letters, without
    accents and signs.

    >>> read_key("J.R.R. Tolkien"), read_key("Côte d’Ivoire"), read_key("C++")
    ('j r r tolkien', 'cote d ivoire', 'c++')
    """
    return " ".join(fold_name(word) for word in _TOKEN.findall(fold(text)))


def drop_public(
    text: str, findings: Iterable[_Finding], tied: Collection[str] = ()
) -> tuple[tuple[_Finding, ...], tuple[_Finding, ...]]:
    """Return the findings of a text that are not publicly known, and those that are.

    Args:
        tied: types of things that count as publicly known, too, unless they are a private person's
            place or firm.

    Only persons, places, organizations and other names may be public. Takes time linear in the
    text and the findings.

    >>> from perturb import Span
    >>> text = "Was Isaac Newton ever in France?"
    >>> drop_public(text, [Span(4, 16, "PERSON"), Span(25, 31, "LOCATION")])[0]
    ()
    >>> text = "Our neighbour Isaac Newton works in France."
    >>> [span.type for span in drop_public(text, [Span(14, 26, "PERSON")])[0]]
    ['PERSON']
    """
    given = tuple(findings)
    if not any(finding.type in PERSONS or finding.type in THINGS for finding in given):
        return given, ()
    found = _Knowledge(text, given, frozenset(tied))
    decided = [(finding, found.is_public(finding)) for finding in given]
    left = tuple(finding for finding, public in decided if not public)
    return left, tuple(finding for finding, public in decided if public)


class _Words:
    """The words of a text: their places and their keys."""

    def __init__(self, text: str) -> None:
        plain, self._lengths = fold(text), load_public().lengths
        places = [match.span() for match in _TOKEN.finditer(plain)]
        self.starts = [start for start, _ in places]
        self.ends = [end for _, end in places]
        self.written = [plain[start:end] for start, end in places]
        self.keys = [fold_name(word) if len(word) <= _LONG else "" for word in self.written]

    def meeting(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last word (exclusive) that meet a part of the text."""
        return bisect_right(self.ends, start), bisect_left(self.starts, end)

    def longest(self, first: int, least: int, known: Sequence[frozenset[str]]) -> int:
        """Return the end of the longest name that begins with a word and goes on to `least` at
        least; 0 if there is none."""
        end, most = first + 1, first + self._lengths.get(self.keys[first], 1)
        if most < least:
            return 0
        while end < min(len(self.keys), most) and self._near(end):
            end += 1
        for stop in range(end, max(first, least - 1), -1):
            key = " ".join(self.keys[first:stop])
            if any(key in names for names in known) or self._has_initials(first, stop, known):
                return stop
        return 0

    def _has_initials(self, first: int, stop: int, known: Sequence[frozenset[str]]) -> bool:
        """Tell if a name of the list has initials between its words here: Donald J. Trump."""
        keys = self.keys[first:stop]
        short = [key for key in keys[1:-1] if len(key) > 1]
        if len(short) == len(keys) - 2 or len(keys) < 3:
            return False
        key = " ".join([keys[0], *short, keys[-1]])
        return any(key in names for names in known)

    def _near(self, place: int) -> bool:
        return self.starts[place] - self.ends[place - 1] <= _GAP


_NAME_AROUND = 40  # characters around a word of a name with the surname first
_CREDITED = re.compile(
    r"(?:(?<!\w)(?i:authors?|editors?|autor(?:in)?|auteur|composer|director)[\"']?\s?[:=]\s?[\"'{]?"
    r"|(?m:^)(?:AU|A1|ED) {2}- |(?m:^)\[(?:White|Black) \")\Z"
)
_TURNED = re.compile(
    r"(?<![\w-])(?P<family>[^\W\d_]{2,20}(?:[ -][^\W\d_]{2,20})?), "
    r"(?P<given>[^\W\d_]{2,20}(?:[ -][^\W\d_]{2,20})?(?: [^\W\d_]\.?){0,3})(?![\w-])"
)


_SPEAKS_BEFORE = re.compile(
    r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}[:.]\d\d(?:[:.]\d\d)?"
    r"(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?(?:\]| ?[-–]) ~?\Z"
)
_SPEAKS_AFTER = re.compile(r"[ \u2600-\u27bf\ufe0f\u200d\U0001f1e6-\U0001faff]{0,7}:\s")


class _Knowledge:
    """Decide which findings of one text are public."""

    def __init__(
        self, text: str, findings: Sequence[_Marked], tied: frozenset[str] = frozenset()
    ) -> None:
        self._tied = tied
        self._text, self._public, self._words = text, load_public(), _Words(text)
        self._given, self._common = given_names(), dictionary_words()
        self._breaks = [match.end() for match in _SENTENCE.finditer(text)]
        self._lines = [match.end() for match in re.finditer("\n", text)]
        self._blank = [not line.strip() for line in text.split("\n")]
        self._contacts = sorted(f.start for f in findings if f.type in CONTACTS)
        self._private_words = set[str]()
        self._covered: dict[tuple[object, ...], bool] = {}
        self._evoked: dict[str, bool] = {}
        self._spoken: dict[re.Pattern[str], bool] = {}
        self._persons = sorted(
            (f for f in findings if f.type in PERSONS), key=lambda finding: finding.start
        )
        self._tells_births = self._are_public([f for f in findings if f.type in _BIRTHS])
        if self._tells_births:
            self._contacts = []
        private = [f for f in findings if f.type == "PERSON" and not self._is_known_person(f)]
        self._private = sorted(f.start for f in private)
        self._private_words = {
            key
            for first, last in (self._words.meeting(f.start, f.end) for f in private)
            if last - first > 1
            for key in self._words.keys[first:last]
        }

    def is_public(self, finding: _Marked) -> bool:
        """Tell if a finding is publicly known, and nothing ties it to a private life."""
        if finding.type in _BIRTHS:
            return self._tells_births
        if finding.type not in PERSONS and finding.type not in THINGS:
            return False
        public, start, end = self._public, finding.start, finding.end
        if self._speaks(finding) and not self._is_assistant(finding):
            return False
        if self._is_covered(finding, public.terms):
            return not self._is_borne(finding)
        if self._is_number(finding):
            return True
        if self._is_example(finding) or self._is_cited(finding) or self._is_assistant(finding):
            return True
        if self._ends_title(finding):
            return True
        if self._is_covered(finding, public.persons):
            own = self._is_own_person(finding) or self._is_namesake(finding)
            own = own or self._is_field(finding)
            return not own or self._is_character(finding)
        if finding.type in THINGS and self._is_in_title_cell(finding):
            return True
        things = [public.persons, public.names, public.terms]
        if finding.type in THINGS:
            things.append(public.shared)
        if self._is_covered(finding, *things) or self._is_ordinary(finding):
            if finding.type in PERSONS:
                return not self._is_own_person(finding) or self._is_character(finding)
            return finding.type in self._tied or not self._is_tied_thing(start, end)
        if finding.type in self._tied:
            return not self._is_somebodys(finding)
        return finding.type in PERSONS and self._is_nobody(finding)

    def _ends_title(self, finding: _Marked) -> bool:
        """Tell if a finding ends the well-known title of a work that begins as a letter or a
        relation does: `Hey Jude`, `My Neighbor Totoro`. A line that begins with `Hey Jude,` greets
        somebody."""
        words, text = self._words, self._text
        first, last = words.meeting(finding.start, finding.end)
        greets = text[finding.end : finding.end + 1] in (",", "!", ":")
        return not self._contacts and any(
            words.keys[place] in _TITLE_OPENERS
            and words.longest(place, last, [self._public.names]) >= last
            and not (greets and not text[: words.starts[place]].rpartition("\n")[2].strip(" >\t"))
            for place in range(max(0, first - 2), first)
        )

    def _is_own_person(self, finding: _Marked) -> bool:
        """Tell if a person is spoken of as somebody's own, or has a title where the writer speaks
        of themselves: `can i sue dr hargreaves`."""
        if self._is_borne(finding) and _holds(self._selves, *self._near_by(finding)):
            return True
        return self._is_tied_person(finding.start, finding.end)

    def _is_borne(self, finding: _Marked) -> bool:
        """Tell if a person has a title or is a relation, so that no term is meant: `ms. lark`."""
        before = max(0, finding.start - _AROUND)
        return finding.type == "PERSON" and bool(_BORNE.search(self._text, before, finding.start))

    def _speaks(self, finding: _Marked) -> bool:
        """Tell if a person speaks in an exported chat: `[12/03/2024, 18:05:40] Dev: yeah`."""
        before, text = max(0, finding.start - 40), self._text
        return (
            finding.type == "PERSON"
            and _SPEAKS_AFTER.match(text, finding.end) is not None
            and _SPEAKS_BEFORE.search(text, before, finding.start) is not None
        )

    def _are_public(self, births: Sequence[_Marked]) -> bool:
        """Tell if a text says just when, and where, persons were born who are publicly known, each
        in a sentence of their own: `Barack Obama was born in 1961`. No label says so, as in the
        record of a patient, and nobody is spoken of as somebody's own."""
        if not births or len(self._contacts) > sum(f.type in CONTACTS for f in births):
            return False
        if self._selves or _RELATED.search(self._text):
            return False
        persons = [f for f in self._persons if f.type == "PERSON"]
        known = [f for f in persons if self._is_covered(f, self._public.persons)]
        whole = [f.start for f in known if " " in self._text[f.start : f.end]]
        return len(known) == len(persons) and all(
            _BORN.search(self._text, max(0, f.start - 30), f.start) is not None
            and _holds(whole, *self._near_by(f))
            for f in births
        )

    def _is_known_person(self, finding: _Marked) -> bool:
        public = self._public
        if self._is_covered(finding, public.terms, public.names):
            return not self._is_borne(finding)
        if self._is_number(finding) or self._is_example(finding) or self._is_cited(finding):
            return True
        if self._is_assistant(finding):
            return True
        if self._is_covered(finding, public.persons):
            tied = self._is_tied_person(finding.start, finding.end) or self._is_field(finding)
            return not tied or self._is_character(finding)
        return self._is_ordinary(finding) or self._is_nobody(finding)

    def _is_nobody(self, finding: _Marked) -> bool:
        """Tell if a person who is not on the list is none whom somebody knows."""
        return (
            self._is_short_name(finding)
            or self._is_storied(finding)
            or self._is_exercised(finding)
            or self._is_listed(finding)
            or self._is_title(finding)
            or self._is_in_title_cell(finding)
            or self._is_variety(finding)
            or self._is_eponym(finding)
            or self._is_told(finding)
            or self._is_character(finding)
            or self._is_work(finding)
            or self._is_owned_by_public(finding)
        )

    def _is_eponym(self, finding: _Marked) -> bool:
        """Tell if a law or an animal is called by a finding: a name of one word."""
        first, last = self._words.meeting(finding.start, finding.end)
        return last - first == 1 and is_eponym(self._text, finding.end) and self._is_impersonal

    def _is_variety(self, finding: _Marked) -> bool:
        """Tell if a finding is an item of a list of varieties of plants or of goods, and
        nobody's."""
        return self._is_grown(finding) or self._is_compared(finding)

    def _is_grown(self, finding: _Marked) -> bool:
        place = bisect_right(self._varieties, finding.start, key=lambda span: span[0]) - 1
        if place < 0 or finding.end > self._varieties[place][1]:
            return False
        first, last = self._words.meeting(finding.start, finding.end)
        if last - first > 1 and self._words.keys[first] in self._given:
            return False
        return not self._contacts and not self._selves and not self._speaks_of(_TASK)

    def _is_compared(self, finding: _Marked) -> bool:
        place = bisect_right(self._compared, finding.start, key=lambda span: span[0]) - 1
        if place < 0 or finding.end > self._compared[place][1]:
            return False
        keys = self._words.keys[slice(*self._words.meeting(finding.start, finding.end))]
        if not self._public.surnames.isdisjoint(keys):
            return False
        return not self._contacts and not self._selves and not self._speaks_of(_TASK)

    @cached_property
    def _compared(self) -> list[tuple[int, int]]:
        """The places of lists of goods of which one is well known, and nobody's surname."""
        public = self._public
        known = (public.terms | public.names) - public.surnames - public.families - _NEUTRAL
        return [
            place
            for place in find_compared(self._text)
            if not known.isdisjoint(self._words.keys[slice(*self._words.meeting(*place))])
        ]

    @cached_property
    def _varieties(self) -> list[tuple[int, int]]:
        return list(find_varieties(self._text))

    def _is_work(self, finding: _Marked) -> bool:
        """Tell if a finding is what a public person has made: `Romane von Thomas Mann`."""
        first, last = self._words.meeting(finding.start, finding.end)
        return last - first == 1 and self._is_made(first)

    def _is_owned_by_public(self, finding: _Marked) -> bool:
        """Tell if a finding begins with the genitive of a public person's surname that means
        nobody else, in German, where somebody asks for knowledge: `Kafkas Verwandlung`."""
        first, last = self._words.meeting(finding.start, finding.end)
        keys = self._words.keys[first:last]
        if len(keys) > 1 and self._opens(first, first, last) and keys[0] not in self._given:
            keys = keys[1:]
        _, *others = keys or [""]
        if not self._begins_author(last - len(keys)):
            return False
        written, (low, high) = self._words.written[last - len(keys)], self._near_by(finding)
        asked = _holds(self._asked, low, high) or _STUDIED.search(self._text, low, high)
        names = self._given, self._public.surnames
        borne = any(key in known for key in others for known in names)
        if borne and len(others) > 1:
            title = self._words.longest(last - len(others), last, [self._public.names])
            borne = title < last
        return bool(written[0].isupper() and asked and not borne and self._is_impersonal)

    def _is_surname_of_one(self, key: str) -> bool:
        public = self._public
        borne = key in self._given or key in public.surnames
        return key in public.families or (key in public.persons and not borne)

    def _is_character(self, finding: _Marked) -> bool:
        """Tell if a finding is who is called so in a well-known tale that its sentence or the one
        before evokes, or any in a text about tales; and nobody's, in a text that speaks of no
        life. A name that hardly anybody bears counts where the writer plays a part, too: `You are
        Gandalf. I am Frodo.`"""
        told, text, start = self._tells_tale, self._text, finding.start
        first, last = self._words.meeting(start, finding.end)
        while first < last - 1 and self._words.keys[first] in _BEFORE_CHARACTER:
            first += 1
        keys = [key for key in self._words.keys[first:last] if key not in _NEUTRAL]
        if told is False or self._contacts or self._private_words.intersection(keys):
            return False
        if not keys or not (tales := find_tales(keys)):
            return False
        low, high = self._near_by(finding)
        low = max(self._sentence_before(low), start - _REACH)
        if not (told or _holds(self._asked, low, high) or is_created(text, low, high)):
            return False
        title = _TITLE_BEFORE.search(text, max(low, start - _TITLED), start)
        begin = title.start() if title else start
        around = self._spell(low, begin) + self._spell(finding.end, high)
        if not any(map(self._evokes if told else self._spell(low, high).__contains__, tales)):
            return False
        evoked, strange = any(map(around.__contains__, tales)), self._is_strange(keys)
        within = (evoked or strange) and _WITHIN.search(text, max(0, start - 24), start)
        if evoked and is_played(text, start, finding.end):
            return True
        towards = is_told_to(text, start) or _TOWARDS.search(text, max(0, start - 8), start)
        if towards and not within:
            return False
        if evoked and strange:
            return True
        tied = self._is_tied_person(start, finding.end, titled=not evoked)
        return not tied and not _holds(self._selves, low, high)

    def _is_strange(self, keys: Sequence[str]) -> bool:
        """Tell if none of some words is a given name, a common surname, or a word."""
        borne = self._given, self._public.surnames, self._common
        return not any(key in names for key in keys for names in borne)

    @cached_property
    def _tells_tale(self) -> bool | None:
        """Tell if a text is about tales; None if a sentence of it may be about one."""
        found = tells_tale(self._text)
        return False if found is None and self._speaks_of(_WORK) else found

    @cached_property
    def _sets_task(self) -> bool:
        return _TASK.search(self._text) is not None

    def _speaks_of(self, work: re.Pattern[str]) -> bool:
        """Tell if a text speaks of somebody's work; to sum up a poet's is none: `Fasse Goethes
        Faust zusammen.`"""
        if work not in self._spoken:
            ends = ((found[0].lower(), found.end()) for found in work.finditer(self._text))
            places = ((word, bisect_left(self._words.starts, end)) for word, end in ends)
            self._spoken[work] = any(
                word != "fasse" or not self._begins_author(place) for word, place in places
            )
        return self._spoken[work]

    def _begins_author(self, place: int) -> bool:
        key = self._words.keys[place] if place < len(self._words.keys) else ""
        return key.endswith("s") and self._is_surname_of_one(key[:-1])

    def _evokes(self, phrase: str) -> bool:
        if phrase not in self._evoked:
            self._evoked[phrase] = phrase in self._whole
        return self._evoked[phrase]

    @cached_property
    def _whole(self) -> str:
        return self._spell(0, len(self._text))

    def _spell(self, low: int, high: int) -> str:
        """Return the keys of the words in a range, each between blanks."""
        first, last = self._words.meeting(low, high)
        return f" {' '.join(self._words.keys[first:last])} "

    def _is_told(self, finding: _Marked) -> bool:
        """Tell if a finding is of a tale or a saying, and nobody's: a witch with a surname in a
        sentence of the writer's own is somebody."""
        start, end = finding.start, finding.end
        close = _holds(self._selves, *self._near_by(finding))
        own = close and (" " in self._text[start:end] or self._is_borne(finding))
        if not own and is_of_fable(self._text, start):
            return True
        if not close and is_invented(self._text, start, end):
            first, last = self._words.meeting(start, end)
            keys = [key for key in self._words.keys[first:last] if key not in _BEFORE_CHARACTER]
            return self._is_strange(keys) and not self._is_own_person(finding)
        told = is_told(self._text, start, end, invented=not own, elfin=not close)
        return told and not self._is_own_person(finding)

    def _is_example(self, finding: _Marked) -> bool:
        """Tell if a finding is Alice, Bob or their like, in a text with both or in a test in code,
        and nobody's."""
        if self._read_word(finding) not in _EXAMPLES or self._contacts:
            return False
        if _holds(self._selves, *self._near_by(finding)):
            return False
        tied = self._is_tied_person(finding.start, finding.end)
        return (not tied and {"alice", "bob"} <= {*self._words.keys}) or self._tests_examples

    @cached_property
    def _tests_examples(self) -> bool:
        """Tell if the text is a test in code, or an example that is run, and names nobody but in
        its strings."""
        return _TESTING.search(self._text) is not None and all(
            self._read_word(person) in _EXAMPLES and self._is_in_string(person)
            for person in self._persons
        )

    def _is_in_string(self, finding: _Marked) -> bool:
        start, text = finding.start, self._text
        line = self._line_start(self._line(start))
        low = max(line, start - _STRING)
        if _COMMENT.search(text, low, start) or not _STRING_AFTER.match(text, finding.end):
            return False
        string = _STRING_BEFORE.search(text, low, start)
        if string is None or (
            string["printed"] is not None and not _RUN.search(text, max(0, line - _STRING), line)
        ):
            return False
        greeted = string["greeting"] is not None  # by the string, and not by the writer
        return greeted or not self._is_tied_person(start, finding.end)

    def _is_assistant(self, finding: _Marked) -> bool:
        """Tell if a finding is the name that the text gives to the model, or a well-known
        assistant's, and nobody's; or a product of that name: `Claude Code`, `claude-api`."""
        first, last = self._words.meeting(finding.start, finding.end)
        key, *others = self._words.keys[first:last] or [""]
        if not key or key in self._private_words:
            return False
        machine = self._personas.get(key)
        named = machine or (machine is not None and not self._contacts)
        if not others and (named or _MACHINE_AFTER.match(self._text, finding.end)):
            return True
        of_product = all(map(self._is_of_product, others))
        if not of_product or not (machine or key in _ASSISTANTS):
            return False
        if machine or finding.type not in PERSONS:
            return True
        if not others and last < len(self._words.keys) and self._joins_product(last):
            return True
        if self._contacts:
            close = _holds(self._selves, *self._near_by(finding))
            return not close and not self._is_tied_person(finding.start, finding.end)
        low = max(0, finding.start - _AROUND)
        return _RELATION_BEFORE.search(self._text, low, finding.start) is None

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

    def _is_cited(self, finding: _Marked) -> bool:
        """Tell if a finding is in a field for the names of an entry of BibTeX: of what is
        published."""
        place = bisect_right(self._cited, finding.start, key=lambda span: span[0]) - 1
        return place >= 0 and finding.end <= self._cited[place][1]

    @cached_property
    def _cited(self) -> list[tuple[int, int]]:
        if not _ENTRY.search(self._text):
            return []
        return [match.span("names") for match in _CITED.finditer(self._text)]

    def _is_covered(self, finding: _Marked, *known: frozenset[str]) -> bool:
        """Tell if names of the list hold every word of a finding, up to words like "the"."""
        key = (finding.start, finding.end, finding.type, *map(id, known))
        if key not in self._covered:
            self._covered[key] = self._cover(finding, known)
        return self._covered[key]

    def _cover(self, finding: _Marked, known: tuple[frozenset[str], ...]) -> bool:
        words = self._words
        if finding.type in PERSONS and self._is_turned(finding, known):
            return True
        first, last = words.meeting(finding.start, finding.end)
        place, names = max(0, first - LONGEST + 1), 0
        while place < last:
            if end := words.longest(place, first + 1, known):
                joined = names and words.ends[place - 1] >= finding.start
                if joined and finding.type in PERSONS and self._is_blank(place):
                    return False  # two names in a row may be a third person's
                names, place = names + 1, end
                continue
            if place >= first:
                number = words.keys[place].isdigit() and len(words.keys[place]) <= _DIGITS
                free = number and (names or known == (self._public.terms,))
                opens = finding.type in PERSONS and self._opens(place, first, last)
                if words.keys[place] not in _NEUTRAL and not free and not opens:
                    return False
            place += 1
        return names > 0

    def _is_turned(self, finding: _Marked, known: tuple[frozenset[str], ...]) -> bool:
        """Tell if a finding is, or is a part of, a name of the list with the surname first, as the
        author of a work or a player of chess: `[White "Kasparov, Garry"]`. In a register, somebody
        else bears the name."""
        low, high = max(0, finding.start - _NAME_AROUND), finding.end + _NAME_AROUND
        around = _TURNED.finditer(self._text, low, high)
        return any(
            turned.start() <= finding.start
            and finding.end <= turned.end()
            and _CREDITED.search(self._text, max(0, turned.start() - 30), turned.start())
            and any(read_key(f"{turned['given']} {turned['family']}") in names for names in known)
            for turned in around
        )

    def _opens(self, place: int, first: int, last: int) -> bool:
        """Tell if a word is no part of the name that a finding takes it for: the ordinary word
        before a name, as in `Mention Speke`, the first word of a sentence, or what a person has
        made, as in `Bücher von Hermann Hesse`."""
        key = self._words.keys[place]
        if place + 1 < last and self._is_made(place):
            return True
        if place + 1 >= last or key in self._given or key in self._public.surnames:
            return False
        start, small = self._words.starts[place], self._words.written[place].islower()
        if small and place == first and last - first > _LEAST_NAME:  # quel rôle a joué Jean Moulin
            return self._words.longest(place + 1, last, [self._public.persons]) == last
        begins = place == first and bool(_BEGIN.search(self._text, max(0, start - 4), start))
        return begins or (key in self._common and (place == first or last - first > _NAME_WORDS))

    def _is_made(self, place: int) -> bool:
        """Tell if a word is a noun before `von` or its like and a public person's full name, or
        stands in small letters before such a noun."""
        keys = self._words.keys
        place += self._words.written[place].islower()
        end = place + 2 + _LEAST_NAME
        if end > len(keys) or keys[place + 1] not in _MADE_BY:
            return False
        if keys[place] in self._given and keys[place] not in _WORKS:
            return False
        return self._words.longest(place + 2, end, [self._public.persons]) >= end

    def _is_blank(self, place: int) -> bool:
        """Tell if nothing but white space is before a word."""
        return self._text[self._words.ends[place - 1] : self._words.starts[place]].isspace()

    def _is_number(self, finding: _Marked) -> bool:
        """Tell if a finding is a small number or a letter, and no part of an address or a name."""
        text, start, end = self._text, finding.start, finding.end
        if not _NUMBER.fullmatch(text, start, end):
            return False
        if _JOINED.search(text, max(0, start - 1), start) or _JOINED.match(text, end, end + 1):
            return text[start:end].isdigit() and not _LETTER.search(text, start - 2, end + 2)
        first, _ = self._words.meeting(start, end)
        before = self._words.written[first - 1] if first else ""  # a street, if it has a capital
        street = before[:1].isupper() and self._words.ends[first - 1] == start - 1
        return not (street and finding.type == "LOCATION")

    def _is_ordinary(self, finding: _Marked) -> bool:
        """Tell if a finding is an ordinary word in small letters, or an identifier made of such
        words, of which none is a person's name."""
        first, last = self._words.meeting(finding.start, finding.end)
        if last - first != 1 or not self._words.keys[first]:
            return False
        start, end = self._words.starts[first], self._words.ends[first]
        word = self._words.written[first]
        parts = [part.lower() for part in _HUMP.split(word)]
        if len(parts) > 1:
            code = _CODE_BEFORE.search(self._text, max(0, start - 12), start)
            code = code or _CODE_AFTER.match(self._text, end, end + 1)
            if word[0].isupper() and not code:  # may be a firm's name
                return False
        elif not word.islower():
            return False
        return all(
            (part in self._common or part in self._public.terms)
            and part not in self._given
            and part not in self._public.surnames
            for part in parts
        )

    def _is_short_name(self, finding: _Marked) -> bool:
        """Tell if a finding is a word of a public person's name that the text has before."""
        key = self._read_word(finding)
        named = self._named.get(key, finding.start) < finding.start
        if (
            not named
            or key in self._private_words
            or self._is_tied_person(finding.start, finding.end)
        ):
            return False
        return key not in self._given or not self._is_close(finding)

    def _is_namesake(self, finding: _Marked) -> bool:
        """Tell if a finding is a word of a private person's name in the text."""
        return self._read_word(finding) in self._private_words

    def _is_field(self, finding: _Marked) -> bool:
        """Tell if a finding is the surname in a record, and another field beside it makes it that
        of somebody who is not on the list: `"first": "Oskar", "last": "Thackeray"`."""
        text, words = self._text, self._words
        if not _SURNAME_KEY.search(text, max(0, finding.start - 400), finding.start):
            return False
        place = bisect_left(self._persons, finding.start, key=lambda person: person.start)
        beside = [
            *(p for p in self._persons[max(0, place - 1) : place] if p.end <= finding.start),
            *(p for p in self._persons[place : place + 2] if p.start >= finding.end),
        ]
        near = [
            p for p in beside if max(p.start - finding.end, finding.start - p.end) < _BESIDE_FIELD
        ]
        own = words.keys[slice(*words.meeting(finding.start, finding.end))]
        return bool(near) and not any(
            " ".join(key) in self._public.persons
            for other in near
            for others in [words.keys[slice(*words.meeting(other.start, other.end))]]
            for key in ((*others, *own), (*own, *others))
        )

    def _is_storied(self, finding: _Marked) -> bool:
        """Tell if somebody asks for a person of whom the remote knows, or else could say nothing:
        beside words of history, science or literature, or by a surname alone; in a text that
        speaks of nobody as somebody's own. The surname of a public person needs no question."""
        if not self._is_impersonal:
            return False
        low, high = max(0, finding.start - _STORIED), finding.end + _STORIED
        lone = self._names_no_other and self._is_lone(finding)
        if lone and self._public.families.issuperset(self._read_surnames(finding)):
            return True
        asked = _holds(self._asked, *self._near_by(finding))
        storied = _holds(self._stories, low, high) and not self._is_pupil(finding)
        return asked and (lone or storied)

    def _is_pupil(self, finding: _Marked) -> bool:
        """Tell if somebody has written or told what is about history: `this essay by …`."""
        low = max(0, finding.start - 30)
        before = _PUPIL_BEFORE.search(self._text, low, finding.start)
        return bool(before or _PUPIL_AFTER.match(self._text, finding.end))

    def _is_exercised(self, finding: _Marked) -> bool:
        """Tell if a finding is somebody in an exercise that names nobody but by a given name, or
        by a title and a common surname: `Tom`, `Mr Baker`."""
        return self._is_bare(finding) and self._is_exercise

    @cached_property
    def _is_exercise(self) -> bool:
        """Tell if the text is an exercise, or asks for an amount and speaks of no writer; and if
        no person in it has a full name or is in a sentence about the writer."""
        if self._contacts or any(
            not self._is_quoted(found.start()) for found in _WORK.finditer(self._text)
        ):
            return False
        selves = [place for place in self._selves if not self._is_quoted(place)]
        for person in self._persons:
            known = self._is_covered(person, self._public.persons)
            own = _holds(selves, *self._near_by(person))
            if not known and (own or not self._is_bare(person)):
                return False
        return is_exercise(self._text) or (not selves and asks_for_amount(self._text))

    def _is_quoted(self, place: int) -> bool:
        at = bisect_right(self._quoted, place, key=lambda span: span[0]) - 1
        return at >= 0 and place < self._quoted[at][1]

    @cached_property
    def _quoted(self) -> list[tuple[int, int]]:
        return [found.span() for found in _QUOTED.finditer(self._text)]

    def _is_bare(self, finding: _Marked) -> bool:
        """Tell if a finding is a given name or a common surname alone, and not somebody's."""
        first, last = self._words.meeting(finding.start, finding.end)
        keys = [key for key in self._words.keys[first:last] if key not in _NEUTRAL]
        low = max(0, finding.start - _AROUND)
        tied = _RELATION_BEFORE.search(self._text, low, finding.start)
        borne = len(keys) == 1 and (keys[0] in self._given or keys[0] in self._public.surnames)
        return borne and tied is None

    def _is_listed(self, finding: _Marked) -> bool:
        """Tell if a finding is an item of a list of things, of surnames or of public persons, in a
        text that speaks of nobody as somebody's own."""
        items = self._listed.get(finding.start, [])
        if not items or self._contacts or self._is_tied_person(finding.start, finding.end):
            return False
        if self._is_impersonal and (
            self._lists_persons(finding, items) or self._compares_persons(finding, items)
        ):
            return True
        if self._selves or self._sets_task:
            return False
        return self._lists_things(finding, items) or self._lists_surnames(items)

    def _lists_persons(self, finding: _Marked, items: Sequence[tuple[int, int]]) -> bool:
        """Tell if a question lists persons, of whom half or more of the others are public."""
        if not _holds(self._asked, *self._near_by(finding)):
            return False
        others = [self._words.meeting(*item) for item in items if item[0] != finding.start]
        persons = [self._public.persons]
        known = sum(
            last - first > 1 and self._words.longest(first, last, persons) == last
            for first, last in others
        )
        return 2 * known >= len(others) > 0

    def _compares_persons(self, finding: _Marked, items: Sequence[tuple[int, int]]) -> bool:
        """Tell if somebody asks to compare persons by surnames that are all public persons', one
        of them nobody else's: `Compare Smith, Ricardo and Malthus`."""
        low, high = self._near_by(finding)
        compared = _COMPARED.search(self._text, low, high) or _VERSUS.search(self._text, low, high)
        if not compared or _OFFERED.search(self._text):
            return False
        places = [self._words.meeting(*item) for item in items]
        keys = [[k for k in self._words.keys[first:last] if k != "s"] for first, last in places]
        surnames = [key[0] for key in keys if len(key) == 1 and key[0] in self._public.last_names]
        public = self._public.families, self._public.persons
        sure = any(key in names for key in surnames for names in public if key not in self._given)
        return len(surnames) == len(items) and sure

    def _is_title(self, finding: _Marked) -> bool:
        """Tell if a finding is in the title of a song, a film or a book, and no sentence of the
        writer's."""
        at = bisect_right(self._titles, finding.start, key=lambda span: span[0]) - 1
        if at < 0 or finding.end > self._titles[at][1] or self._contacts:
            return False
        (low, high), (start, end) = self._near_by(finding), self._titles[at]
        # Of the title itself: "My Man Godfrey".
        return not (_holds(self._selves, low, start) or _holds(self._selves, end, high))

    def _is_in_title_cell(self, finding: _Marked) -> bool:
        """Tell if a finding is the title in a table of works, and no surname."""
        at = bisect_right(self._title_cells, finding.start, key=lambda span: span[0]) - 1
        if at < 0 or finding.end > self._title_cells[at][1] or self._contacts:
            return False
        keys = self._words.keys[slice(*self._words.meeting(finding.start, finding.end))]
        own = _holds(self._selves, *self._near_by(finding))
        return not own and self._public.surnames.isdisjoint(keys)

    @cached_property
    def _title_cells(self) -> list[tuple[int, int]]:
        return list(find_title_cells(self._text))

    @cached_property
    def _titles(self) -> list[tuple[int, int]]:
        return list(find_titles(self._text))

    def _lists_things(self, finding: _Marked, items: Sequence[tuple[int, int]]) -> bool:
        """Tell if one of three things or more in a list is well known, and the finding has not the
        form of a person's name."""
        first, last = self._words.meeting(finding.start, finding.end)
        keys, public = self._words.keys[first:last], self._public
        borne = keys[0] in self._given or any(key in public.surnames for key in keys)
        if len(items) < _LISTED or (borne and not (len(keys) == 1 and keys[0] in public.shared)):
            return False
        return any(self._is_thing(*item) for item in items if item[0] != finding.start)

    def _is_thing(self, start: int, end: int) -> bool:
        first, last = self._words.meeting(start, end)
        return last > first and self._words.longest(first, last, [self._public.names]) == last

    def _lists_surnames(self, items: Sequence[tuple[int, int]]) -> bool:
        """Tell if a list has surnames alone, most of which are public persons', or of which the
        text speaks."""
        words = [self._words.meeting(*item) for item in items]
        keys = [self._words.keys[first] for first, last in words if last - first == 1]
        known = [key in self._public.families or key in self._public.persons for key in keys]
        borne = [key in self._public.surnames for key in keys]
        if len(keys) < len(items) or not self._names_surnames:
            return False
        if self._is_about_surnames:
            return sum(known) + sum(borne) >= _LISTED
        return len(items) > _LISTED and 2 * sum(known) > len(items)

    @cached_property
    def _is_about_surnames(self) -> bool:
        return is_about_surnames(self._text)

    @cached_property
    def _names_surnames(self) -> bool:
        """Tell if every person in the text is public, or surnames alone."""
        return all(map(self._is_surname, self._persons))

    def _is_surname(self, person: _Marked) -> bool:
        """Tell if a person is public, or surnames alone."""
        public = self._is_covered(person, self._public.persons)
        return public or bool(self._read_surnames(person))

    @cached_property
    def _listed(self) -> dict[int, list[tuple[int, int]]]:
        """Return the items of the list in which an item begins, by its place. The verb of a
        sentence is none of the first: `Compare Smith and Ricardo`."""
        found = {}
        for items in find_lists(self._text):
            (start, end), *others = items
            if verb := _COMPARED.match(self._text, start, end):
                items = [(min(verb.end() + 1, end), end), *others]
            found.update({place: items for place, _ in items})
        return found

    @cached_property
    def _names_no_other(self) -> bool:
        """Tell if every person in the text is on the list or a surname alone."""
        return all(
            self._is_covered(person, self._public.persons) or self._is_lone(person)
            for person in self._persons
        )

    def _is_lone(self, finding: _Marked) -> bool:
        """Tell if a finding is one word, and neither a given name nor a common surname; or several
        such words that are no name together: `Luria–Delbrück`."""
        keys = self._read_surnames(finding)
        borne = self._given, self._public.surnames, self._private_words
        return bool(keys) and not any(key in names for key in keys for names in borne)

    def _read_surnames(self, finding: _Marked) -> list[str]:
        """Return the keys of a finding's words, of which none has but a blank before the next."""
        first, last = self._words.meeting(finding.start, finding.end)
        places = [at for at in range(first, last) if self._words.keys[at] not in _NEUTRAL]
        if any(b == a + 1 and self._is_blank(b) for a, b in pairwise(places)):
            return []
        return [self._words.keys[at] for at in places]

    def _read_word(self, finding: _Marked) -> str:
        """Return the key of the only word of a finding; "" where it has none or several."""
        first, last = self._words.meeting(finding.start, finding.end)
        return self._words.keys[first] if last - first == 1 else ""

    @cached_property
    def _asked(self) -> list[int]:
        return [found.start() for found in _ASKING.finditer(self._text)]

    @cached_property
    def _stories(self) -> list[int]:
        return [found.start() for found in _STORY.finditer(self._text)]

    @cached_property
    def _selves(self) -> list[int]:
        """Return the places where the writer speaks of themselves."""
        return [found.start() for found in _WRITER.finditer(self._text) if found["own"]]

    @cached_property
    def _is_impersonal(self) -> bool:
        """Tell if a text has no contact data, and no person who is tied to somebody, whom the
        answer is for, who is the value of a key, or in a sentence about the writer."""
        return (
            not self._contacts
            and not self._speaks_of(_TASK)
            and not any(map(self._is_close, self._persons))
        )

    def _is_close(self, person: _Marked) -> bool:
        text, start, end = self._text, person.start, person.end
        if self._is_covered(person, self._public.persons) and not self._is_tied_person(start, end):
            return False
        return bool(
            self._is_tied_person(start, end)
            or _KEYED.search(text, max(0, start - 8), start) is not None
            or (_TOWARDS.search(text, max(0, start - 8), start) and not self._is_noble(start))
            or _holds(self._selves, *self._near_by(person))
        )

    def _is_noble(self, start: int) -> bool:
        """Tell if a given name and `von` are before a place."""
        found = _NOBLE.search(self._text, max(0, start - 28), start)
        return found is not None and fold_name(found["given"]) in self._given

    @cached_property
    def _named(self) -> dict[str, int]:
        """Return the words of the public persons' names in the text, each with its first place."""
        words, found, place = self._words, dict[str, int](), 0
        while place < len(words.keys):
            end = words.longest(place, place + 2, [self._public.persons])
            if end and not self._is_tied_person(words.starts[place], words.ends[end - 1]):
                for key in words.keys[place:end]:
                    if len(key) >= _LEAST:
                        found.setdefault(key, words.starts[place])
            place = end or place + 1
        return found

    def _is_tied_person(self, start: int, end: int, *, titled: bool = True) -> bool:
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
        first, last = self._line(start), self._line(max(start, end - 1))
        line = self._line_start(first), self._line_start(last + 1)
        if _holds(self._contacts, *line) or _holds(self._contacts, *self._form(start, end)):
            return True
        if self._words.meeting(*line) != self._words.meeting(start, end):
            return False
        above = first - 2 if self._blank[max(0, first - 1)] else first - 1
        return above >= 0 and bool(_CLOSING.match(text, self._line_start(above)))

    def _is_tied_thing(self, start: int, end: int) -> bool:
        """Tell if a place or a firm is a part of somebody's life."""
        low, high = self._sentence(start, end)
        if _holds(self._private, low, high) or _holds(self._contacts, low, high):
            return True
        form = self._form(start, end)
        if _holds(self._private, *form) or _holds(self._contacts, *form):
            return True
        private = _holds(self._private, *self._around(start, end))
        if private and _LABEL.search(self._text, max(0, start - _LABELS), start):
            return True
        low, high = max(low, start - _REACH), min(high, end + _REACH)
        if _OWN_LIFE.search(self._text, low, high):
            return True
        return bool(_LIFE.search(self._text, low, high)) and (
            private or bool(_SELF.search(self._text, low, high))
        )

    def _is_somebodys(self, finding: _Marked) -> bool:
        """Tell if a place or a firm is in a sentence or a form with a private person; or if it is
        a firm beside a contact in a text with such a person, or where the writer works."""
        start, end = finding.start, finding.end
        low, high = self._sentence(start, end)
        if _holds(self._private, low, high) or _holds(self._private, *self._form(start, end)):
            return True
        if finding.type != "ORGANIZATION":
            return False
        if self._private and _holds(self._contacts, low, high):
            return True
        low, high = self._near_by(finding)
        own = _LIFE.search(self._text, low, high) and _SELF.search(self._text, low, high)
        return bool(own or _OWN_LIFE.search(self._text, low, high))

    def _near_by(self, finding: _Marked) -> tuple[int, int]:
        """Return the sentence of a finding, or the middle of a long one."""
        low, high = self._sentence(finding.start, finding.end)
        return max(low, finding.start - _REACH), min(high, finding.end + _REACH)

    def _sentence(self, start: int, end: int) -> tuple[int, int]:
        first, last = bisect_right(self._breaks, start), bisect_right(self._breaks, end - 1)
        low = self._breaks[first - 1] if first else 0
        return low, self._breaks[last] if last < len(self._breaks) else len(self._text)

    def _sentence_before(self, place: int) -> int:
        """Return the beginning of the sentence before a place in its line."""
        if self._text[place - 1 : place] == "\n":
            return place
        at = bisect_left(self._breaks, place)
        return self._breaks[at - 1] if at else 0

    def _line(self, place: int) -> int:
        return bisect_right(self._lines, place)

    def _line_start(self, line: int) -> int:
        if line > len(self._lines):
            return len(self._text)
        return self._lines[line - 1] if line else 0

    def _form(self, start: int, end: int) -> tuple[int, int]:
        """Return the lines around a part if its own has few other words, as in an address, a form
        or a record; else nothing."""
        first, last = self._line(start), self._line(max(start, end - 1))
        low, high = self._line_start(first), self._line_start(last + 1)
        inside, whole = (self._words.meeting(*place) for place in ((start, end), (low, high)))
        if (whole[1] - whole[0]) - (inside[1] - inside[0]) > _FEW:
            return start, start
        return self._around(start, end)

    def _around(self, start: int, end: int) -> tuple[int, int]:
        """Return the lines around a part, up to a blank one."""
        first, last = self._line(start), self._line(max(start, end - 1)) + 1
        low, high = self._line_start(first), self._line_start(last)
        for line in range(first - 1, max(-1, first - 1 - _NEAR), -1):
            if self._blank[line]:
                break
            low = self._line_start(line)
        for line in range(last, min(len(self._blank), last + _NEAR)):
            if self._blank[line]:
                break
            high = self._line_start(line + 1)
        return low, high


def _holds(places: Sequence[int], low: int, high: int) -> bool:
    """Tell if one of some ordered places is in a range."""
    return bisect_left(places, low) < bisect_left(places, high)


@lru_cache(maxsize=1)
def _names_inside() -> frozenset[str]:
    """Return the given names, in small letters, that are a word of another language than the ones
    in which they are borne, but not well known: with a capital inside a sentence, each names a
    person beside a private one, except in German, in which nouns have one: `Toen ik Lotte vroeg`.
    """
    public = load_public()
    known = public.persons | public.names | public.terms | public.shared
    return frozenset(
        name.lower()
        for name in list_given()
        if len(name) > _SHORT_NAME
        and read_key(name) not in known
        and not is_ordinary_word(name)
        and not is_everyday(name)
        and not names_thing(name)
        and name.lower() not in NO_NAMES | ALSO_WORDS
    )


_SHORT_NAME = 3  # letters, which are words of other languages, too
_GERMAN_WORD = re.compile(
    r"(?<!\w)(?:und|der|die|das|ist|nicht|ein|eine|mit|ich|sie|wir|für)(?!\w)"
)
_GERMAN_LEAST = 4


def _is_german(text: str) -> bool:
    """Tell if a text may be in German, in which every noun has a capital.

    >>> _is_german("Der Hund und die Katze sind nicht mit mir.")
    True
    >>> _is_german("Die Hard and die die")
    False
    """
    words = {found[0] for found in islice(_GERMAN_WORD.finditer(text), 200)}
    return len(words) >= _GERMAN_LEAST


# -- beside private persons ----------------------------------------------------------------------
_COMPANION = re.compile(ALONE)
_USED = re.compile(r"(?<!\w)(?i:read|watch|deploy|install|using|use|class|import) \Z")
_MONTHS = frozenset(("april", "june", "avril", "august", "julio"))  # that are given names
_DAY_BEFORE = re.compile(r"(?<!\d)\d{1,2}(?:\.|st|nd|rd|th)?(?: of| de)? \Z")
_UNKNOWN = rf"[{CAPITALS}][^\W\d_{CAPITALS}]{{2,14}}"
_NEXT = re.compile(
    rf"[,;] (?P<part>{_UNKNOWN} (?:{_UNKNOWN}-)?{_UNKNOWN})"
    r"(?=[,.;:)\n]|\Z| (?:and|und|et|y|e|i|en) )"
)


def find_companions(text: str, found: Sequence[Span], private: Sequence[Span]) -> list[Span]:
    """Return the given names of a text that stand alone where a person of it is private, and the
    next names of a list that begins with two such persons. None is a finding already.

    Args:
        found: what was found in the text, also what is publicly known.
        private: the findings that are not.
    """
    persons = sorted(span for span in private if span.type == "PERSON")
    if not persons:
        return []
    made = [*_find_next(text, persons)]
    shown, names = read(text), names_beside()
    if not _is_german(shown.text):
        names = names | _names_inside()
    for match in _COMPANION.finditer(shown.text):
        low, name = max(0, match.start() - 12), match["part"].lower()
        used = _USED.search(shown.text, low, match.start()) or (
            name in _MONTHS and _DAY_BEFORE.search(shown.text, low, match.start())
        )
        if name in names and not used and (place := locate_alone(match)):
            made.append(Span(*shown.span(*place), "PERSON"))
    known = Cover(found) if made else None
    return [span for span in made if known and not known.meets(span.start, span.end)]


def _find_next(text: str, persons: Sequence[Span]) -> Iterator[Span]:
    for (_, end, _), last in pairwise(persons):
        if text[end : last.start] not in (", ", "; "):
            continue
        while match := _NEXT.match(text, last.end):
            last = Span(*match.span("part"), "PERSON")
            if not is_strange(match["part"].replace("-", " ")):
                break
            yield last
