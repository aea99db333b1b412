"""Find secrets that people tell in a sentence: passwords and passphrases, PINs, the keys of
networks, the codes of doors, the words of a wallet, and answers to a bank's questions."""

from __future__ import annotations

import re

from perturb.selective.patterns.clues import (
    all_clues,
    any_clue,
    any_string,
    least_digits,
)
from perturb.selective.patterns.secrets import NOUN, NOUN_CLUE, is_worded
from perturb.selective.patterns.settings import is_placeholder
from perturb.selective.patterns.shape import any_of, shape, words_of

__all__ = ["TOLD"]


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
_CODE_WORDS = (
    r"(?:(?:pin|puk|otp|tan|cvv2?|cvc2?|passcode|digicode|geheimzahl)(?:[ -](?:code|nummer))?"
    r"|(?:door|access|security|sign-?in|log-?in|verification|entry|gate|alarm|safe|unlock"
    r"|confirmation|zugangs|tür|sicherheits|bestätigungs)[ -]?code"
    r"|code (?:für|for|to|of) (?:die|the|your|our) (?:tür|door|gate|safe|alarm)"
    r"|código de (?:acceso|verificación|seguridad)|code (?:d['’]accès|de vérification|secret))"
)

_IS = (
    r"(?:is|was|will be|ist|lautet|war|wird|est|était|sera|es|era|será|é|è|sarà|to|jest|er|är|var"
    r"|on|oli|je|bude|este|είναι|היא|הוא|là|adalah|है|это|c['\u2019]est)"
)
_VALUE = (
    r"(?P<part>(?!/)[^\s\"'`\u201c\u201d\u201e\u00ab\u00bb<>]{5,60}"
    r"(?<![.,;:?)\]}\u2026\u3002]))"
)
_QUOTE = r"[\"'`\u201c\u201e\u00ab]?"
_ENDS = (
    r"(?=[\"'`\u201d\u201c\u00bb.,;:!?)\u2026\u3002]|\s(?:and|und|et|y|e|og|och|ja|i|a|și|si|и|та"
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
    http https localhost java node type level option abc xyz foo bar mysql postgres
    """
)


def _is_drawn(value: str) -> bool:
    """Tell if a word has the form of a password: digits or signs among letters."""
    letters = [run.lower() for run in re.findall(r"[^\W\d_]+", value)]
    if not letters or is_placeholder(value) or re.search(r"://|@[\w-]+\.\w|\(\)|\w\(", value):
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
    return _is_drawn(value) or (joined and value.count("-") > 1)


def _locate_told(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a password, unless the words before it are about passwords."""
    return None if _ABOUT.search(match["gap"]) else match.span("part")


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
    string part history something anything everything nothing identical plaintext cleartext weird
    ok important easy hard simple complex confidential personal default standard compulsory bound
    per-user one-time time-limited up-to-date out-of-date read-only present absent different
    falsch richtig korrekt pflicht geheim sicher unsicher lang kurz leer weg neu alt gleich nötig
    faux vide juste bonne bon mauvais mauvaise longue court courte obligatoire nécessaire secret
    secrète unique falso falsa corta corto larga largo vacía vacío igual nueva nueva vieja segura
    corretta errata sbagliata lunga breve vuota nuova vecchia segreta sicura obbligatoria giusta
    correta errada longa curta vazia nova velha obrigatória secreta
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
    lo uno o os um uma
    """
)


def _is_word(value: str) -> bool:
    """Tell if a word can be a password: it is no word that describes one."""
    word = value.lower()
    described = word in _PREDICATES or _PREDICATE.fullmatch(word) is not None
    return not (described or is_worded(value) or is_placeholder(value))


def _locate_word(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a password that is a plain word; German writes it with a capital."""
    value, before = match["part"], match.string[max(0, match.start() - 12) : match.start()]
    if _ABOUT.search(match["gap"]) or before.lower().rstrip().endswith(
        ("default", "if", "whether")
    ):
        return None
    if match["is"] == "ist" and not value[0].isupper():
        return None
    return match.span("part") if _is_word(value) else None


def _locate_words(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a few words that open something, unless they begin a sentence."""
    first = re.split(r"[\s-]", match["part"], maxsplit=1)[0]
    if first.lower() in _FIRST_WORDS or _ABOUT.search(match["gap"]):
        return None
    return match.span("part") if _is_word(first) else None


_DIGIT = any_of(
    "zero oh nought one two three four five six seven eight nine",
    "null eins zwo zwei drei vier fünf sechs sieben acht neun",
    "zéro un deux trois quatre cinq sept huit neuf",
    "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "due tre quattro cinque sei sette otto nove",
    "nul een twee drie vijf zes zeven negen um dois três quatro sete oito",
)
_SAYS = (
    rf"(?:['\u2019]s\s|\s?[:：=]\s?"
    rf"|\s(?P<is>{_IS})(?:\s(?:now|still|just|jetzt|toujours|ahora))?\s)"
)
_GAP = r"(?P<gap>(?:[ ,][^\s.:;!?=\"'()|<>{}\[\]]{1,20}){0,6}?)"
_WORDS = r"(?P<part>[^\W\d_][\w'\u2019-]{2,24}(?:[ ,-]{1,2}[^\W\d_][\w'\u2019-]{0,20}){0,7}?)"
_ANSWERS = (
    r"(?:(?:security|secret|recovery) answer|answer (?:to|for) (?:the|my|your|her|his|our|their)"
    r" (?:\w{1,12} )?(?:security|secret|recovery) question|memorable (?:word|place|name|phrase)"
    r"|(?:safe|code|pick-?up) ?word|(?:secret|collection|pick-?up) (?:word|phrase|password)"
    r"|pass ?phrase|sicherheitsantwort|(?:code|losungs|geheim)wort|palabra (?:clave|secreta)"
    r"|mot (?:secret|de code)|phrase secrète|parola d['\u2019]ordine|frase secreta)"
)

_DOORS = (
    r"(?:door|front|back|gate|garage|padlock|lock(?:er|box)?|key ?safe|safe|alarm|entry|building"
    r"|bike|bin store|gym|tor|tür|haus|garagen|schlüsselsafe|schlüsseltresor|tresor|schließfach)"
)
_CODES = (
    rf"(?:{_DOORS}[ -]?(?:code|combo|combination|pin)"
    rf"|(?:code|combo|combination|pin) (?:to|for|of) (?:the|my|our) (?:\w+ )?{_DOORS}"
    r"|code (?:de la porte|du portail|de l['\u2019]immeuble|du coffre|de l['\u2019]alarme)"
    r"|código (?:del portal|de la puerta|de la alarma|do portão|da porta|do alarme)"
    r"|codice (?:del cancello|della porta|del portone|dell['\u2019]allarme)"
    r"|port-?kod(?:en)?|dørkode(?:n)?|pin[ -]?code|pinkod(?:en)?|pinkode(?:n)?|pin-?kód|pin-?koodi"
    r"|ovikoodi"
    r"|kod do (?:bramy|drzwi|klatki|domofonu|furtki)|kapı (?:şifresi|kodu)"
    r"|код (?:от|к|для) (?:домофона|двери|подъезда|сейфа|ворот|домофону)|пин-?код(?: \w{1,12})?"
    r"|пін(?:-?код)?|取款密码|门禁密码|开门密码|पिन|رمز (?:الباب|الدخول))"
)


TOLD = (
    shape(
        "PASSWORD",
        rf"(?<!\w){_CODE_WORDS}(?!\w)[\"'`*]{{0,3}}"
        r"(?: (?:at|for|to|of|für|von|vom|der|zu|de|del|du)\b[^\n:`]{1,40}?)?"
        r"(?::? ?| ?[:=-]{1,2} ?| (?:is|ist|lautet|est|es) )"
        r"[\"'`]?(?P<part>\d(?:[ -]?\d){2,7}[#*]?)(?![\w.]\d|\w)",
        case=False,
        clue=all_clues(
            least_digits(3),
            any_string(
                *("pin", "puk", "otp", "tan", "cvv", "cvc", "passcode", "digicode", "geheimzahl"),
                *("code", "código"),
            ),
        ),
        reach=(20, 130),
    ),
    shape(  # Wi-Fi: `LotusOffice` / `glaze&fire`
        "PASSWORD",
        r"(?<!\w)(?:wi-?fi|wlan)\b[^\n/]{0,40}:[^\n/]{1,50} / ?(?P<quote>[`\"'])"
        r"(?P<part>[^\n`\"'/]{4,60})(?P=quote)",
        case=False,
        clue=any_string("wifi", "wi-fi", "wlan"),
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
        reach=(20, 500),
    ),
    shape(  # the last password she used was Kestrel!88; пароль от вайфая: kestrel88
        "PASSWORD",
        rf"(?<![^\W_]){NOUN}(?![^\W\d_])"
        r"(?P<gap>(?:[ ,][^\s.:;!?=\"'()|<>{}\[\]]{1,20}){0,6}?)"
        rf"(?:\s{_IS}(?:\s(?:now|still|just|übrigens|jetzt|immer noch|toujours|ahora))?\s"
        rf"|\s?[:：]\s?){_QUOTE}{_VALUE}",
        _is_drawn,
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_told,
        reach=(24, 260),
    ),
    shape(  # Username mira, password Kestrel*88.
        "PASSWORD",
        r"(?:(?:\A|[\n,;:.(\u2013\u2014-])\s{0,2}|(?<!\w)(?:and|und|et|y|e|og|och|with|mit|avec|con"
        r"|com|my|mi|mein|mon|min|ma|a|temp|temporary|new|old|admin|root|guest|le|la|das|the|и)\s)"
        rf"{NOUN}(?:\s(?:for|of|to|от|для|für|zu[mr]?|del?|do|du)\s\w{{1,20}})?\s"
        rf"{_QUOTE}{_VALUE}{_ENDS}",
        lambda value: _is_drawn(value) and sum(map(str.isalpha, value)) > 3,
        case=False,
        clue=NOUN_CLUE,
        reach=(30, 130),
    ),
    shape(  # ..., and for the barn it's kestrel24
        "PASSWORD",
        rf"(?<![^\W_])(?:{NOUN}|(?:wi-?fi|wlan)\s(?:key|code))(?P<gap> [^\n?]{{8,120}}?)"
        r"(?<!\w)(?:and|und|et|y|e|и)\s(?:for|the|für|das|pour|celui|para|la|a)\s"
        rf"[^\n.,;?]{{1,40}}?(?:it['\u2019]s|\s{_IS})\s{_QUOTE}{_VALUE}{_ENDS}",
        lambda value: _is_drawn(value) and any(map(str.isdigit, value)),
        case=False,
        clue=any_clue(NOUN_CLUE, any_string("wifi", "wi-fi", "wlan")),
        locate=_locate_told,
        reach=(24, 300),
    ),
    shape(  # use Kestrel#4421 as temp password
        "PASSWORD",
        r"(?<!\w)(?:use|using|take|try|nimm|nehmt|utilise[rz]?|usa)\s"
        rf"{_VALUE}\s(?:as|als|comme|como|come)\s[^\n.,;]{{0,24}}?(?<![^\W_]){NOUN}(?![^\W\d_])",
        _is_drawn,
        case=False,
        clue=NOUN_CLUE,
        reach=(124, 24),
    ),
    shape(  # Network: "Casa", key loro-gato-7
        "PASSWORD",
        r"(?<!\w)(?:wi-?fi|wlan|wpa[23]?|ssid|network|netzwerk|red|réseau|rede|rete|hotspot)\b"
        r"(?:[^\n.]|\.(?!\s)){0,60}?(?<!\w)"
        r"(?:key|schlüssel|clave|clé|chiave|chave|klucz|nyckel|nøkkel|nøgle|ключ|キー|密钥)"
        rf"(?:\s{_IS}|\s?[:：=]|は|是)?\s?{_QUOTE}{_VALUE}{_ENDS}",
        _is_drawn_or_joined,
        case=False,
        clue=any_string(
            *("wifi", "wi-fi", "wlan", "wpa", "ssid", "net", "red", "rete", "réseau", "hotspot")
        ),
        reach=(4, 160),
    ),
    shape(  # the padlock code changes to 7319; combination to the safe is 24-7-36
        "PASSWORD",
        rf"(?<!\w){_CODES}(?![^\W\d_])(?: (?:at|of|for|der|du|de|am|im) [^\n:.,;]{{1,24}}?)?"
        r"(?:\s?[:=>\uff1a]\s?|\s(?:changes to|changed to|neu|new|now|jetzt|ahora"
        rf"|{_IS})\s|,? c['\u2019]est |\s?){_QUOTE}"
        r"(?P<part>[*#]?(?:\d(?:[ -]?\d){2,7}|[A-ZА-Я]?\d{1,4}[A-ZА-Я]\d{1,5}|[A-Z]\d{3,6})[*#]?)"
        r"(?![\w.]\d|\w)",
        case=False,
        clue=all_clues(
            least_digits(3),
            any_string(
                *("code", "combo", "combination", "pin", "kod", "код", "пін", "пин", "密码"),
                *("código", "codice", "kode", "kód", "koodi", "şifresi", "पिन", "رمز"),
            ),
        ),
        reach=(44, 130),
    ),
    shape(  # my creds (mira : kestrel9)
        "PASSWORD",
        r"(?<!\w)(?:creds?|credentials?|logins?|zugang(?:sdaten)?)(?: is| are| ist| sind)?:? ?"
        r"\(? ?[\w.@+-]{2,64} ?[:/] ?(?P<part>[^\s/\"'`():]{5,60}(?<![.,;:!?)]))",
        _is_drawn,
        case=False,
        clue=any_string("cred", "login", "zugang"),
        reach=(10, 180),
    ),
    shape(  # the wifi password is sunflower
        "PASSWORD",
        rf"(?<![^\W_]){NOUN}(?![^\W\d_]){_GAP}(?!\s?[:：=]){_SAYS}"
        rf"{_QUOTE}(?P<part>[^\W\d_]{{4,30}}(?:-[^\W\d_]{{2,20}}){{0,4}}){_ENDS}",
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_word,
        reach=(24, 260),
    ),
    shape(  # Wi-Fi password: sunflower
        "PASSWORD",
        r"(?<!\w)(?:my|our|wi-?fi|wlan|portal|router|laptop|e-?mail|netflix|mein|unser|mon|notre|mi)"
        rf"[ -]{NOUN}(?P<gap>(?: (?:at|for|to|on) [^\n:]{{1,30}}?)?)(?P<is>\s?[:：]) "
        rf"{_QUOTE}(?P<part>[^\W\d_]{{4,30}}(?:-[^\W\d_]{{2,20}}){{0,4}}){_ENDS}",
        case=False,
        clue=NOUN_CLUE,
        locate=_locate_word,
        reach=(34, 130),
    ),
    shape(  # my PIN is four eight one nine
        "PASSWORD",
        rf"(?<!\w)(?:pin|passcode|code|combination|combo|geheimzahl|código|codice){_GAP}{_SAYS}"
        rf"(?P<part>{_DIGIT}(?:[ ,-]{{1,2}}{_DIGIT}){{2,7}})(?!\w)",
        case=False,
        clue=any_string("pin", "code", "comb", "geheimzahl", "código", "codice"),
        reach=(16, 240),
    ),
    shape(  # memorable word: larkspur
        "PASSWORD",
        rf"(?<!\w){_ANSWERS}{_GAP}{_SAYS}{_QUOTE}{_WORDS}{_ENDS}",
        case=False,
        clue=any_string(
            *(
                "answer",
                "memorable",
                "word",
                "phrase",
                "antwort",
                "wort",
                "palabra",
                "mot ",
                "parola",
            ),
            *("frase", "password"),
        ),
        locate=_locate_words,
        reach=(50, 330),
    ),
    shape(  # Security question: first pet? Answer: Biscuit
        "PASSWORD",
        r"(?<!\w)(?:(?:security|secret|recovery) question|sicherheitsfrage|pregunta de seguridad"
        r"|question (?:secrète|de sécurité)|domanda di sicurezza)(?P<gap>[^\n]{0,100}?[\n ]{1,2})"
        rf"(?:answer|a|antwort|respuesta|réponse|risposta)\s?[:=]\s?{_QUOTE}{_WORDS}{_ENDS}",
        case=False,
        clue=any_string("question", "sicherheitsfrage", "pregunta", "domanda"),
        locate=_locate_words,
        reach=(20, 320),
    ),
)
