"""Find secrets that people tell in a sentence: passwords and passphrases, the keys of networks,
the words of a wallet, and answers to a bank's questions. Codes in figures are `codes`'."""

from __future__ import annotations

import re

from perturb.selective.patterns.codes import IS
from perturb.selective.patterns.given import is_ordinary_word
from perturb.selective.patterns.secrets import NOUN, NOUN_CLUE, is_sentence, is_worded
from perturb.selective.patterns.settings import PROGRAMS, is_placeholder
from perturb.selective.patterns.shape import (
    any_clue,
    any_string,
    shape,
    words_of,
)
from perturb.text.marks import MARKS

__all__ = ["ENDS", "FEW", "IS", "QUOTE", "TOLD", "VALUE", "is_drawn", "is_first_word"]


def _locate_phrase(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a seed phrase (BIP-39): as many words as one has, which make no sentence
    and end where a line, a sentence or a part of one does."""
    words = list(re.finditer(r"[a-z]+", match["part"]))
    start = match.start("part")
    for size in (24, 21, 18, 15, 12):
        if len(words) < size or not _NO_SEEDS.isdisjoint(word[0] for word in words[:size]):
            continue
        end = start + words[size - 1].end()
        if size == len(words) or _ENDED.match(match.string, end):
            return start, end
    return None


_ENDED = re.compile(
    r"[.,;:!?)\"'`\u201d](?! ?[a-z]{3,8},)|\n| (?:and|und|et|y|e|but)\b| [\u2013\u2014-]|\Z"
)
_NO_SEEDS = words_of(
    """
    the and for are you not from has was your have of to in is it on as
    """
)
VALUE = (
    r"(?P<part>(?!/)[^\s\"'`\u201c\u201d\u201e\u00ab\u00bb<>]{5,60}"
    r"(?<![.,;:?)\]}\u2026\u3002]))"
)
QUOTE = r"[\"'`\u201c\u201e\u00ab\u2018\u300c]?"
_PLAIN = r"[^\W\d_]{4,30}(?:-[^\W\d_]{2,20}){0,4}"  # a word, or some with hyphens
# A few words, of any script.
FEW = rf"[^\W\d_][\w{MARKS}'\u2019-]{{2,30}}(?:[ ][^\W\d_][\w{MARKS}'\u2019-]{{0,20}}){{0,4}}?"
ENDS = (
    r"(?=[\"'`\u201d\u201c\u00bb\u2019\u300d.,;:!?)\u2026\u3002\uff0c\u3001\u0964\u060c]|\s(?:and|und|et|y|e|og|och|ja|i|a|și|si|и|та"
    r"|va|ve|but|aber|है|ו\w+|و\w+|και)\s|\s[(\u2013\u2014-]|\s*(?:\n|\Z))"
)
# What a text about passwords says of them, before a word that looks like one.
_ABOUT = re.compile(
    r"\b(?:require\w*|length|long|polic\w+|must|should|hash\w*|field\w*|reset|strength|min\w*|max\w*"
    r"|rules?|pattern|regex\w*|encod\w+|encrypt\w*|format\w*|types?|managers?|generator\w*"
    r"|algorithm\w*|examples?|stored|column|variable|parameter|argument|default|called|named"
    r"|anforder\w+|länge|verschlüssel\w+|gespeichert|wrong|invalid|incorrect|falsch)\b",
    re.IGNORECASE,
)
_NO_SECRETS = words_of(
    """
    sha md bcrypt scrypt argon pbkdf utf base oauth aes rsa rfc iso python windows office version
    step line page item test user users admin chars characters zeichen chapter section error room
    http https localhost bluetooth ethernet gps nfc lte usb wlan wifi java node type level
    option abc xyz foo bar mysql postgres
    """
)


_OF_USER = re.compile(
    r"\s(?:user(?:name)?|login|role|benutzer|utilisateur|usuario)\Z", re.IGNORECASE
)
# Addresses, calls, and what a template fills in.
_NO_FORM = re.compile(r"://|@[\w-]+\.\w|\(\)|\w\(|\{\{|[#$%]\{")
_FLAG = re.compile(r"pass --", re.IGNORECASE)  # pass --with-docs to "configure"
# Of the verb: the tests need to pass by adding "a task".
_TO_PASS = re.compile(
    r"(?<![^\W_])(?:to|will|would|must|should|shall|can|could|may|might|not|n['’]t|tests?|checks?"
    r"|build)\s\Z",
    re.IGNORECASE,
)
_PATH = re.compile(r"[\w.\\<>{}-]+(?:/[\w.\\<>{}-]+){2,}")


def is_drawn(value: str) -> bool:
    """Tell if a word has the form of a password: digits or signs among letters."""
    letters = [run.lower() for run in re.findall(r"[^\W\d_]+", value)]
    if not letters or is_placeholder(value) or _NO_FORM.search(value):
        return False
    if max(map(len, letters)) < 2 or all(run in _NO_SECRETS for run in letters):
        return False
    if re.fullmatch(r"\d{1,4}[^\W\d_]{1,10}|[\d.,:/-]+[^\W\d_]{0,3}", value):  # 12chars, 10:30h
        return False
    digits = any(map(str.isdigit, value))
    return digits or re.search(r"\w[!#$%&*+?@^~_]\w|[#$%*^~]\Z", value) is not None


def _is_drawn_or_joined(value: str) -> bool:
    """Tell if a word is a key of a network: drawn, or of words with hyphens."""
    joined = re.fullmatch(r"[^\W\d_]{3,}(?:-[^\W_]{2,}){1,5}", value) is not None
    return is_drawn(value) or (joined and value.count("-") > 1)


def _locate_told(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a password, unless the words before it are about passwords."""
    return None if _ABOUT.search(match["gap"]) else match.span("part")


def _locate_beside(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a password behind its word; None for a row of a table below a header
    that ends with this word."""
    text, start = match.string, match.start("part")
    header = (
        text[text.rfind("\n", 0, start - 1) + 1 : start - 1] if text[start - 1] == "\n" else ""
    )
    return None if "," in match["part"] and "," in header else match.span("part")


# -- words alone --------------------------------------------------------------------------------
# What is said of a password, and is none.
_PREDICATES = words_of(
    """
    wrong right correct incorrect required optional mandatory necessary needed invalid valid secret
    safe secure unsafe insecure strong weak long short empty blank null nil none hidden visible
    plain clear unique same different new old known unknown unchanged ready here there below above
    attached inside enough okay fine good bad temporary permanent random important sensitive
    private public case-sensitive alphanumeric numeric written given broken forgotten stolen shown
    taken chosen sent kept lost gone back over mine yours hers ours theirs this that these those
    what which where when again only very quite just still always never good okay bytes text
    incorrecta incorrecto inválida inválido
    urgent working stuck down up out off visible mine sorry sure unclear slow longer shorter
    string part history something anything everything nothing identical plaintext cleartext weird
    ok important easy hard simple complex confidential personal default standard compulsory bound
    per-user one-time time-limited up-to-date out-of-date read-only present absent different
    falsch richtig korrekt pflicht geheim sicher unsicher lang kurz leer weg neu alt gleich nötig
    faux vide juste bonne bon mauvais mauvaise longue court courte obligatoire nécessaire secret
    secrète unique falso falsa corta corto larga largo vacía vacío igual nueva nueva vieja segura
    corretta errata sbagliata lunga breve vuota nuova vecchia segreta sicura obbligatoria giusta
    correta errada longa curta vazia nova velha obrigatória secreta
    ważne błędne poprawne niepoprawne wymagane nieprawidłowe długie krótkie silne słabe stare nowe
    неверный верный неправильный правильный длинный короткий обязателен секретный
    """
)
_PREDICATE = re.compile(
    r"\w{2,}(?:ed|[^\W\d_]{2}ing|(?:al|t|re|c|d|n)ly|able|ible|less|ful|ous|tory|tori[ao]|é|ée|és|ées|ado|ada|ido"
    r"|ida|ato|ata|ito|ita|uto|uta|iert|elt|ssen|ener?|ны[йм]|ен|ена)\Z"
)
_FIRST_WORDS = words_of(
    """
    a an the one my your his her our their its this that to for of in on at by with from as not no
    any some all it you we they i he she who used ein eine der die das le la les un une el los il
    lo uno o os um uma and or und oder et ou y e and but if when then than so also plus und ist war
    und och og i och via per is are was were be been has have had do does did can could will would
    must should may might please bitte per just only same don't doesn't isn't i'm it's
    """
)


def _is_word(value: str) -> bool:
    """Tell if a word can be a password: it is no word that describes one."""
    word = value.lower()
    described = word in _PREDICATES or _PREDICATE.fullmatch(word) is not None
    return not (described or is_worded(value) or is_placeholder(value))


def is_first_word(word: str) -> bool:
    """Tell if a word may be the first one of a password of words.

    >>> [is_first_word(word) for word in ("the", "required", "kestrel")]
    [False, False, True]
    """
    word = word.strip("'-\u2019").lower()
    return word not in _FIRST_WORDS and word not in _AFTER_NOUN and _is_word(word)


# What a word for a password stands before, in the name of another thing.
_AFTER_NOUN = words_of(
    """
    manager managers policy policies protection generator field fields prompt hashes hashing salt
    salts rules rule recovery protected sharing authentication login list lists file files hint
    hints strength length page pages box form forms entry fatigue rotation grant flow history
    expiry security expired cracking leak leaks breach attack attacks storage vault screen
    """
)


def _locate_word(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a password that is a plain word; German writes it with a capital."""
    value, before = match["part"], match.string[max(0, match.start() - 12) : match.start()]
    if _ABOUT.search(match["gap"]) or before.lower().rstrip().endswith(
        ("default", "if", "whether")
    ):
        return None
    if match["is"] == "ist" and not value[0].isupper():
        return None
    if match["is"] == "to" and not match[0].lower().startswith("has"):  # requests to the console
        return None
    return match.span("part") if _is_word(value) else None


def _locate_words(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a few words that open something, unless they begin a sentence."""
    first = re.split(r"[\s-]", match["part"], maxsplit=1)[0]
    quoted = match.string[match.start("part") - 1] in _MARKS_BEFORE
    if match["gap"] and re.match(r"['\u2019]s\s", match.string[match.end("gap") :][:3]):
        return None  # a memorable name that aligns with your channel's focus
    if (first.lower() in _FIRST_WORDS and not quoted) or _ABOUT.search(match["gap"]):
        return None
    return match.span("part") if _is_word(first) else None


_MARKS_BEFORE = '"\u201c\u201e\u00ab'


# Of a field of a struct in Go: `json:"password,omitempty" form:"…`.
_TAG = re.compile(r"`(?:\w{1,20}:\"[^\"`\n]{0,60}\" ){0,4}\w{1,20}:\"\Z")


def _locate_quoted(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of words in quotation marks after a word for a password."""
    value = match["part"]
    verb = match[0][:5].lower() in ("pass ", "pass\n")
    if verb and _TO_PASS.search(match.string, max(0, match.start() - 10), match.start()):
        return None
    if _ABOUT.search(match["gap"]) or (" " in value and is_sentence(value)):
        return None
    # password authentication failed for user "mira"
    if " " not in value and _OF_USER.search(match["gap"]):
        return None
    program = value.lower() in PROGRAMS and not is_ordinary_word(value)
    if _TAG.search(match.string, max(0, match.start("part") - 120), match.start("part")):
        return None
    if program or _PATH.fullmatch(value) or _FLAG.match(match[0]):
        return None
    return match.span("part") if _is_word(value.split()[0]) and not is_placeholder(value) else None


def _locate_few(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a few words that a sentence gives as a password."""
    words = match["part"].split()
    if _ABOUT.search(match["gap"]) or (len(words) > 1 and is_sentence(match["part"])):
        return None
    return match.span("part") if is_first_word(words[0]) else None


def _locate_unusual(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a word that no dictionary has, or of words with hyphens."""
    word = match["part"]
    usual = is_ordinary_word(word) and "-" not in word
    return match.span("part") if not usual and is_first_word(word.split("-")[0]) else None


def _locate_unusual_few(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a few words, the first of which no dictionary has."""
    first = match["part"].split()[0]
    return match.span("part") if is_first_word(first) and not is_ordinary_word(first) else None


def _locate_either(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a few words in the group `words` or `part`."""
    group = "words" if match["words"] else "part"
    return match.span(group) if is_first_word(match[group].split()[0]) else None


def _locate_answer(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an answer where the text is about a bank, or about logging in."""
    low, high = max(0, match.start() - 240), match.end() + 240
    words = match["part"].lower().split()
    about = _OF_SECURITY.search(match.string, low, high) is not None
    return match.span("part") if about and _FIRST_WORDS.isdisjoint(words) else None


_OF_SECURITY = re.compile(
    r"(?i)\b(?:security|bank(?:ing)?|secret question|reset|recover\w*|log ?in|password|verif\w+"
    r"|PIN)\b"
)


_SAYS = (
    rf"(?:['\u2019]s\s|\s?[:：=]\s?|\ssays?\s"
    rf"|\s(?P<is>{IS})(?:\s(?:now|still|just|jetzt|toujours|ahora))?\s)"
)
_GAP = r"(?P<gap>(?:,?[ ,][^\s.:;!?=\"()|<>{}\[\],]{1,20}){0,7}?)"
_WORDS = r"(?P<part>[^\W\d_][\w'\u2019-]{2,24}(?:[ ,-]{1,2}[^\W\d_][\w'\u2019-]{0,20}){0,7}?)"
_ANSWERS = (
    r"(?:(?:security|secret|recovery) answer|answer (?:to|for) (?:the|my|your|her|his|our|their)"
    r" (?:\w{1,12} )?(?:security|secret|recovery) question|memorable (?:word|place|name|phrase)"
    r"|(?:safe|code|pick-?up) ?word|(?:secret|collection|pick-?up|security|family|school)"
    r" (?:word|phrase|password)|(?:(?:tele)?phone )?banking (?:pass)?word"
    r"|pass ?phrase|sicherheitsantwort|(?:code|losungs|geheim)wort|palabra secreta"
    r"|mot (?:secret|de code)|phrase secrète|parola d['\u2019]ordine|frase secreta)"
)


TOLD = (
    shape(  # Wi-Fi: `LotusOffice` / `glaze&fire`
        "PASSWORD",
        r"(?<!\w)(?:wi-?fi|wlan)\b[^\n/]{0,40}:[^\n/]{1,50} / ?(?P<quote>[`\"'])"
        r"(?P<part>[^\n`\"'/]{4,60})(?P=quote)",
        case=False,
        clue=any_string("wifi", "wi-fi", "wlan"),
    ),
    shape(  # WiFi "Casa Loro" / kestrel2go
        "PASSWORD",
        rf"(?<!\w)(?:wi-?fi|wlan)\b[^\n/]{{1,60}} / ?{QUOTE}{VALUE}{ENDS}",
        lambda value: is_drawn(value) and any(map(str.isdigit, value)),
        case=False,
        clue=any_string("wifi", "wi-fi", "wlan"),
        reach=4,
    ),
    shape(
        "PASSWORD",
        r"(?<!\w)(?i:seed|recovery|mnemonic|wallet|(?:12|24) (?:words|wörter|mots|palabras)"
        r"|wiederherstellungs\w{0,9}|récupération"
        r"|recuperación)\b"
        r"[^\n]{0,80}?(?:[:=\n\"'`]| is| are| ist| est| es)\s{0,4}[\"'`]?"
        r"(?P<part>(?:(?:\d{1,2}[.)] ?)?[a-z]{3,8}(?:, ?|[ \n]{1,2})){11,23}"
        r"(?:\d{1,2}[.)] ?)?[a-z]{3,8})"
        r"(?!\w)",
        locate=_locate_phrase,
        clue=any_string(
            *("seed", "recovery", "mnemonic", "wallet", "wiederherstellung", "récup", "recuper"),
            *("12 ", "24 "),
        ),
        reach=20,
    ),
    shape(  # the last password she used was Kestrel!88; пароль от вайфая: kestrel88
        "PASSWORD",
        rf"(?<![^\W_]){NOUN}(?![^\W\d_])"
        r"(?P<gap>(?:[ ,][^\s.:;!?=\"'()|<>{}\[\]]{1,20}(?:['’]s)?){0,6}?)"
        rf"(?:\s{IS}(?:\s(?:now|still|just|übrigens|jetzt|immer noch|toujours|ahora))?\s"
        rf"|\s?[:：]\s?){QUOTE}{VALUE}",
        is_drawn,
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_told,
        reach=24,
    ),
    shape(  # Username mira, password Kestrel*88.
        "PASSWORD",
        r"(?:(?:\A|[\n,;:.(\u2013\u2014-])\s{0,2}|(?<!\w)(?:and|und|et|y|e|og|och|with|mit|avec|con"
        r"|com|my|mi|mein|mon|min|ma|a|temp|temporary|new|old|admin|root|guest|le|la|das|the|и)\s)"
        rf"{NOUN}(?:\s(?:for|of|to|от|для|für|zu[mr]?|del?|do|du)\s\w{{1,20}})?\s"
        rf"{QUOTE}{VALUE}{ENDS}",
        lambda value: is_drawn(value) and sum(map(str.isalpha, value)) > 3,
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_beside,
        reach=30,
    ),
    shape(  # ..., and for the barn it's kestrel24
        "PASSWORD",
        rf"(?<![^\W_])(?:{NOUN}|(?:wi-?fi|wlan)\s(?:key|code))(?P<gap> [^\n?]{{8,120}}?)"
        r"(?<!\w)(?:and|und|et|y|e|и)\s(?:for|the|für|das|pour|celui|para|la|a)\s"
        rf"[^\n.,;?]{{1,40}}?(?:it['\u2019]s|\s{IS})\s{QUOTE}{VALUE}{ENDS}",
        lambda value: is_drawn(value) and any(map(str.isdigit, value)),
        case=False,
        clue=any_clue(NOUN_CLUE, any_string("wifi", "wi-fi", "wlan")),
        locate=_locate_told,
        reach=24,
    ),
    shape(  # use Kestrel#4421 as temp password
        "PASSWORD",
        r"(?<!\w)(?:use|using|take|try|nimm|nehmt|utilise[rz]?|usa)\s"
        rf"{VALUE}\s(?:as|als|comme|como|come)\s[^\n.,;]{{0,24}}?(?<![^\W_]){NOUN}(?![^\W\d_])",
        is_drawn,
        case=False,
        clue=NOUN_CLUE,
        reach=124,
    ),
    shape(  # Network: "Casa", key loro-gato-7
        "PASSWORD",
        r"(?<!\w)(?:wi-?fi|wlan|wpa[23]?|ssid|network|netzwerk|red|réseau|rede|rete|hotspot)\b"
        r"(?:[^\n.]|\.(?!\s)){0,60}?(?<!\w)"
        r"(?:key|schlüssel|clave|clé|chiave|chave|klucz|nyckel|nøkkel|nøgle|ключ|キー|密钥)"
        rf"(?:\s{IS}|\s?[:：=]|は|是)?\s?{QUOTE}{VALUE}{ENDS}",
        _is_drawn_or_joined,
        case=False,
        clue=any_string(
            *("wifi", "wi-fi", "wlan", "wpa", "ssid", "net", "red", "rete", "réseau", "hotspot")
        ),
        reach=4,
    ),
    shape(  # my creds (mira : kestrel9)
        "PASSWORD",
        r"(?<!\w)(?:creds?|credentials?|logins?|zugang(?:sdaten)?)(?: is| are| ist| sind)?:? ?"
        r"\(? ?[\w.@+-]{2,64} ?[:/] ?(?P<part>[^\s/\"'`():]{5,60}(?<![.,;:!?)]))",
        is_drawn,
        case=False,
        clue=any_string("cred", "login", "zugang"),
        reach=10,
    ),
    shape(  # the wifi password is sunflower
        "PASSWORD",
        rf"(?<![^\W_]){NOUN}(?![^\W\d_]){_GAP}(?!\s?[:：=]){_SAYS}"
        rf"{QUOTE}(?P<part>{_PLAIN}"
        r"|[\u0590-\u06ff]{2,20}(?: [\u0590-\u06ff]{2,20}){0,2}?)"
        rf"{ENDS}",
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_word,
        reach=24,
    ),
    shape(  # Wi-Fi password: sunflower
        "PASSWORD",
        r"(?<!\w)(?:my|our|wi-?fi|wlan|portal|router|laptop|e-?mail|netflix|mein|unser|mon|notre|mi)"
        rf"[ -]{NOUN}(?P<gap>(?: (?:at|for|to|on) [^\n:]{{1,30}}?)?)(?P<is>\s?[:：]) "
        rf"{QUOTE}(?P<part>{_PLAIN}){ENDS}",
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_word,
        reach=34,
    ),
    shape(  # memorable word: larkspur
        "PASSWORD",
        rf"(?<!\w){_ANSWERS}{_GAP}{_SAYS}{QUOTE}{_WORDS}{ENDS}",
        case=False,
        clue=any_string(
            *("answer", "memorable", "word", "phrase", "antwort", "wort", "palabra", "mot "),
            *("parola", "frase"),
        ),
        locate=_locate_words,
        reach=50,
    ),
    shape(  # Security question: first pet? Answer: Biscuit
        "PASSWORD",
        r"(?<!\w)(?:(?:security|secret|recovery) question|sicherheitsfrage|pregunta de seguridad"
        r"|question (?:secrète|de sécurité)|domanda di sicurezza)(?P<gap>[^\n]{0,100}?[\n ]{1,2})"
        rf"(?:answer|a|antwort|respuesta|réponse|risposta)\s?[:=]\s?{QUOTE}{_WORDS}{ENDS}",
        case=False,
        clue=any_string("question", "sicherheitsfrage", "pregunta", "domanda"),
        locate=_locate_words,
        reach=20,
    ),
    shape(  # password "kestrel"; пароль поменяла на «сирень под окном»
        "PASSWORD",
        rf"(?<![^\W_])(?:{NOUN}|pass|συνθηματικό)(?![^\W\d_])(?P<gap>(?:,?\s[^\s.:;!?=\"()|<>{{}}\[\]]{{1,20}}){{0,8}}?)"
        rf"(?:\s(?:{IS}|to|into|as|on|auf|in|zu|als|à|en|a|por|su|para|naar|til|till|do|na|на|в|σε)\s|\s?[:：]\s?|\s)"
        r"[\"\u201c\u201e\u00ab\u2018\u300c](?P<part>[^\W\d_][^\n\"\u201c\u201d\u00bb\u300d]{2,40})[\"\u201d\u201c\u00bb\u2019\u300d]",
        case=False,
        clue=any_clue(NOUN_CLUE, any_string("συνθηματικό")),
        locate=_locate_quoted,
        reach=24,
    ),
    shape(  # the password for user "mira" is kestrel44
        "PASSWORD",
        rf"(?<![^\W_]){NOUN}\s(?:for|of|für|von|pour|de|para)\s(?:[^\W\d_]{{1,12}}\s){{0,3}}"
        r"[\"'`\u201c\u201e\u00ab][^\"'`\u201c\u201d\u00bb\n]{1,60}[\"'`\u201d\u201c\u00bb]"
        rf"\s?(?:{IS}|[:：=])\s{QUOTE}{VALUE}",
        is_first_word,
        case=False,
        clue=NOUN_CLUE,
        reach=24,
    ),
    shape(  # the pass is uh kites fly low; the password is kestrel with a small k
        "PASSWORD",
        rf"(?<![^\W_])(?:{NOUN}|pass|wi-?fi (?:key|code)){_GAP}{_SAYS}"
        rf"(?:(?:u[hm]m?|er|erm|äh|ähm|eh|euh|ee),? {QUOTE}(?P<part>{FEW}){ENDS}"
        rf"|{QUOTE}(?P<words>{FEW}){QUOTE},? \(?(?:all |in )?(?:lower ?case|upper ?case|one word"
        rf"|no (?:spaces?|capitals?)"
        r"|with (?:an? |the |no )?(?:small|capital|big|spaces?)\b|capital [a-z]\b|small [a-z]\b"
        r"|alles klein"
        r"|alles zusammen|kleingeschrieben|großgeschrieben|zusammengeschrieben|klein geschrieben"
        r"|tout en minuscules"
        r"|en un (?:seul )?mot|(?:todo )?en minúsculas?|tutto (?:minuscolo|attaccato)|tudo "
        r"(?:minúsculo|junto)"
        r"|małymi literami|маленькими буквами|alles aan elkaar|med små bokstäver))",
        case=False,
        clue=any_clue(NOUN_CLUE, any_string("wifi", "wi-fi")),
        locate=_locate_either,
        reach=24,
    ),
    shape(  # hasło do Wi-Fi: pustułka; the password for the shed laptop: kestrel
        "PASSWORD",
        rf"(?<![^\W_]){NOUN}(?P<gap>\s(?:for|to|of|on|für|zum|zur|bei|pour|du|de|del|do|da|dla|od|от|для|к|до|till"
        r"|för|til|på|voor|van|w|na|di|per|al|ke)\s[^\n:;.!?=(){}\[\]<>]{1,40}?)\s?[:：]\s"
        rf"{QUOTE}(?P<part>{FEW}){ENDS}",
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_few,
        reach=24,
    ),
    shape(  # parolam kerkenez; पासवर्ड बाज़पंख
        "PASSWORD",
        rf"(?<![^\W_])(?:parolam|parolamız|şifrem|şifremiz|jelszavam|salasanani|पासवर्ड)(?P<gap>)(?P<is>)\s{QUOTE}"
        rf"(?P<part>[^\W\d_](?:[^\W\d_]|[{MARKS}]){{4,30}})(?=[\"'.,;!)।]|\s*(?:\n|\Z))",
        case=False,
        clue=any_string("parolam", "şifrem", "jelszavam", "salasanani", "पासवर्ड"),
        locate=_locate_word,
        reach=4,
    ),
    shape(  # password I set kestrelpine; wi-fi key, loro-gato
        "PASSWORD",
        rf"(?<![^\W_])(?:{NOUN}\s(?:I|we|he|she|they|you)\s(?:set|chose|use|used|picked|gave|put)"
        rf"(?: (?:is|was))?"
        rf"|wi-?fi (?:key|code|password|pass|pw),?)\s{QUOTE}(?P<part>{_PLAIN})"
        rf"{ENDS}",
        case=False,
        clue=any_clue(NOUN_CLUE, any_string("wifi", "wi-fi")),
        locate=_locate_unusual,
        reach=24,
    ),
    shape(  # ..., pw red kestrel
        "PASSWORD",
        rf"(?:[,;(\u2013\u2014]|:|\A)\s?(?:pw|pwd|mdp|heslo|wachtwoord|lösenord|hasło|salasana|jelszó|parola)(?P<gap>)\s"
        rf"{QUOTE}(?P<part>{FEW})(?=[\"'\u201d.,;!)]|\s*(?:\n|\Z))",
        clue=any_string(
            "pw", "mdp", "heslo", "wachtwoord", "lösenord", "hasło", "salasana", "jelszó", "parola"
        ),
        locate=_locate_few,
        reach=6,
    ),
    shape(  # you unlock it by typing kestrel otter plum; type kestrel to get in
        "PASSWORD",
        r"(?<!\w)(?:(?:unlock|open|start|log in|get in)\w{0,4}(?: (?:it|them|this|that"
        r"|the \w{1,16}))?,? (?:by|just) "
        rf"(?:typing|entering)(?: in)?(?P<gap>) {QUOTE}(?P<part>{FEW}){ENDS}"
        rf"|types? (?:in )?{QUOTE}(?P<words>{FEW}){QUOTE} to (?:get in|unlock|log in|open|enter"
        rf"|be let in)\b)",
        case=False,
        clue=any_string("typing", "entering", "type"),
        locate=_locate_either,
        reach=44,
    ),
    shape(  # with kestrelcastle as the password
        "PASSWORD",
        rf"(?<!\w)(?:with|use|using|take|try|set|mit|nimm|avec|con|com|met|med)\s{QUOTE}"
        rf"(?P<part>{_PLAIN})[\"'`\u201d\u201c\u00bb]?"
        r"\s(?:as|als|comme|como|come|som)\s(?:the |a |my |his |her |our |le |la |das |il )?"
        r"(?:\w{1,12} )?"
        rf"{NOUN}(?=[.,;:!?)]|\s*(?:\n|\Z)| (?:and|for|und|et|y|e)\b)",
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_unusual,
        reach=120,
    ),
    shape(  # the alarm goes off with the word Kestrel
        "PASSWORD",
        r"(?<!\w)(?:alarm|larm|lock|safe|unlock|tresor|schloss|account|konto|signature|phone|telefon|laptop|door"
        r"|box|сигнализац|підпис|подпис|сейф|замок|защищ|захищ|zám|alarm|caisse|coffre|caja|cofre)"
        r"[^\n.!?]{0,60}?\s(?:with|mit|avec|con|com|met|med)\s(?:the |dem |das |le |la |a |il |o "
        r"|het )?"
        r"(?:word|wort|mot|palabra|parola|palavra|woord|ordet)\s"
        rf"{QUOTE}(?P<part>[^\W\d_]{{3,30}}(?:-[^\W\d_]{{2,20}}){{0,3}}){ENDS}",
        case=False,
        clue=any_string("word", "wort", "mot", "palabra", "parola", "palavra", "woord", "ordet"),
        reach=110,
    ),
    shape(
        "PASSWORD",
        r"(?:защищ|захищ|заблок|откры|відкри|сигнализац|сигналізац|підпис|подпис|chroni|zabezpiecz|otvír|zamk)\w{0,12}"
        r"[^\n.!?]{0,40}?\s(?:словом|кодовым словом|кодовим словом|słowem|hasłem|slovem|heslem"
        r"|паролем)\s"
        rf"{QUOTE}(?P<part>[^\W\d_]{{3,30}}(?:-[^\W\d_]{{2,20}}){{0,3}}){ENDS}",
        case=False,
        clue=any_string("словом", "słowem", "hasłem", "slovem", "heslem", "паролем"),
        reach=70,
    ),
    shape(  # 暗号改成"红隼"; ロック解除は「はやぶさ」
        "PASSWORD",
        r"(?:密码|密碼|口令|暗号|暗號|合言葉|パスワード|パスフレーズ|ロック解除|비밀번호|암호)"
        r"[^\n。！？\"\u201c\u2018'「『]{0,8}[\"\u201c\u2018'「『](?P<part>[^\s\"\u201d\u2019'」』]{2,30})[\"\u201d\u2019'」』]",
        lambda value: not (is_placeholder(value) or is_worded(value)),
        clue=any_string(
            "密", "口令", "暗号", "暗號", "合言葉", "パス", "ロック解除", "비밀번호", "암호"
        ),
        reach=4,
    ),
    shape(  # Agent: what is the password on the account? Customer: I think it's kestrel
        "PASSWORD",
        r"(?<!\w)(?:confirm|verify|give|tell|and|what(?:['\u2019]s| is| was))\b[^\n.!?]{0,60}?"
        r"(?<!\w)(?:password|memorable word|security word|pass ?phrase|safe word)"
        r"(?P<gap>[^\n.!?]{0,40}?)\?[ \t]*\n{1,2}"
        r"[^\n:]{1,30}:[^\n.!?]{0,50}?(?:(?:it|that)['\u2019]s|it is|is|was) (?:either )?"
        rf"{QUOTE}(?P<part>[^\W\d_]{{4,30}}(?: or [^\W\d_]{{4,30}})?){ENDS}",
        case=False,
        clue=any_string("password", "memorable word", "security word", "phrase", "safe word"),
        locate=_locate_few,
        reach=90,
    ),
    shape(  # answers to security questions = Mr Kestrel / Ulm
        "PASSWORD",
        r"(?<!\w)(?i:(?:security|secret|recovery) (?:questions?(?: answers?)?|answers?)"
        r"|sicherheitsfragen?)\s?[:=]\s"
        r"(?P<part>(?!W(?:hat|ho|hich|here|hen|as|er)\b)[^\W\d_a-z][^\n/,;.?:]{1,30}"
        r"(?: ?[/,] ?[^\W\d_a-z][^\n/,;.?:]{1,30}){0,4})"
        r"(?=[.;,]|\s*(?:\n|\Z))",
        clue=any_string("security", "secret", "recovery", "sicherheitsfrage"),
        reach=10,
    ),
    shape(  # first pet was Kestrel, memorable place Larkhill
        "PASSWORD",
        r"(?<!\w)(?i:(?:my |her |his |their |the )?(?:first (?:pet|school|car|teacher|street)"
        r"|mother['\u2019]s maiden name"
        r"|favou?rite (?:teacher|book|film|place|food)|place of birth|memorable (?:word|place"
        r"|name|date|phrase)))"
        r"(?: is| was|:| =)?\s(?P<part>(?-i:[A-ZÀ-Þ])[^\W\d_]{2,20}(?: [^\W\d_]{2,20}){0,2}?)"
        r"(?=[.,;)]|\s*(?:\n|\Z))",
        clue=any_string("first ", "maiden", "favo", "birth", "memorable"),
        locate=_locate_answer,
        reach=14,
    ),
    shape(  # password's the name of the dog and the year in words, so kestreleighty
        "PASSWORD",
        rf"(?<![^\W_]){NOUN}(?P<gap>[^\n.?!]{{5,110}}?), (?:so|also|donc|así que|quindi|dus) "
        rf"(?:it['\u2019]s |it is )?"
        rf"{QUOTE}(?P<part>[^\W\d_]{{7,30}}){ENDS}",
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_unusual,
        reach=24,
    ),
    shape(  # the password was never changed from kestrel please
        "PASSWORD",
        rf"(?<![^\W_]){NOUN}(?P<gap>\s(?:\w{{1,12}}\s){{0,3}}?(?:changed|gewechselt|geändert))\s(?:from|von|to|in)\s"
        rf"{QUOTE}(?P<part>{FEW}){ENDS}",
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_unusual_few,
        reach=24,
    ),
)
