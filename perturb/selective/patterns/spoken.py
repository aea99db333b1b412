"""Find secrets as people tell them: passwords, keys of networks and codes of doors in a sentence,
and those that stand beside the word for them in a file without being the value of a key."""

from __future__ import annotations

import re

from perturb.selective.patterns.clues import all_clues, any_clue, any_string, least_digits
from perturb.selective.patterns.settings import is_placeholder
from perturb.selective.patterns.shape import any_of, shape, words_of

__all__ = ["SPOKEN"]

_NOUNS = any_of(
    """
    password passwort kennwort passphrase passcode contraseña contrasena clave mot_de_passe mdp
    senha palavra-passe parola wachtwoord lösenord lösenordet lösen adgangskode passord hasło heslo
    jelszó jelszavam jelszava salasana şifre şifrem şifresi пароль пароля паролем κωδικός סיסמה
    הסיסמה סיסמא mật_khẩu kata_sandi पासवर्ड كلمة_المرور كلمة_السر pw pwd
    """
)
_CLUE = any_string(
    *("pass", "pw", "kennwort", "contrase", "clave", "mdp", "senha", "parola", "wachtwoord"),
    *("lösen", "adgangskode", "hasło", "heslo", "jelsz", "salasana", "şifre", "парол"),
    *("κωδικ", "סיסמ", "mật khẩu", "kata sandi", "पासवर्ड", "كلمة"),
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
    r"|va|ve|but|aber|है|ו\w+|و\w+|και)\s|\s[\u2013\u2014-]|\s*(?:\n|\Z))"
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


def _locate_next(match: re.Match[str]) -> tuple[int, int] | None:
    return (
        None
        if _ABOUT.search(match[0][: match.start("part") - match.start()])
        else (match.span("part"))
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

SPOKEN = (
    shape(  # the last password she used was Kestrel!88; пароль от вайфая: kestrel88
        "PASSWORD",
        rf"(?<![^\W_]){_NOUNS}(?![^\W\d_])"
        r"(?P<gap>(?:[ ,][^\s.:;!?=\"'()|<>{}\[\]]{1,20}){0,6}?)"
        rf"(?:\s{_IS}(?:\s(?:now|still|just|übrigens|jetzt|immer noch|toujours|ahora))?\s"
        rf"|\s?[:：]\s?){_QUOTE}{_VALUE}",
        _is_drawn,
        case=False,
        clue=_CLUE,
        locate=_locate_told,
        reach=(24, 260),
    ),
    shape(  # Username mira, password Kestrel*88.
        "PASSWORD",
        r"(?:(?:\A|[\n,;:.(\u2013\u2014-])\s{0,2}|(?<!\w)(?:and|und|et|y|e|og|och|with|mit|avec|con"
        r"|com|my|mi|mein|mon|min|ma|a|temp|temporary|new|old|admin|root|guest|le|la|das|the|и)\s)"
        rf"{_NOUNS}(?:\s(?:for|of|to|от|для|für|zu[mr]?|del?|do|du)\s\w{{1,20}})?\s"
        rf"{_QUOTE}{_VALUE}{_ENDS}",
        lambda value: _is_drawn(value) and sum(map(str.isalpha, value)) > 3,
        case=False,
        clue=_CLUE,
        reach=(30, 130),
    ),
    shape(  # ..., and for the barn it's kestrel24
        "PASSWORD",
        rf"(?<![^\W_])(?:{_NOUNS}|(?:wi-?fi|wlan)\s(?:key|code)) [^\n?]{{8,120}}?"
        r"(?<!\w)(?:and|und|et|y|e|и)\s(?:for|the|für|das|pour|celui|para|la|a)\s"
        rf"[^\n.,;?]{{1,40}}?(?:it['\u2019]s|\s{_IS})\s{_QUOTE}{_VALUE}{_ENDS}",
        lambda value: _is_drawn(value) and any(map(str.isdigit, value)),
        case=False,
        clue=any_clue(_CLUE, any_string("wifi", "wi-fi", "wlan")),
        locate=_locate_next,
        reach=(24, 300),
    ),
    shape(  # use Kestrel#4421 as temp password
        "PASSWORD",
        r"(?<!\w)(?:use|using|take|try|nimm|nehmt|utilise[rz]?|usa)\s"
        rf"{_VALUE}\s(?:as|als|comme|como|come)\s[^\n.,;]{{0,24}}?(?<![^\W_]){_NOUNS}(?![^\W\d_])",
        _is_drawn,
        case=False,
        clue=_CLUE,
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
    shape(  # ["--admin-password", "kestrel9"]
        "PASSWORD",
        r"[\"']--?[\w-]{0,30}(?:password|passwd|pass|pwd|secret|token|psk)[\"']\s?,\s?"
        r"[\"'](?P<part>[^\"'\n]{3,100})[\"']",
        lambda value: not is_placeholder(value) and not value.startswith(("-", "$")),
        case=False,
        clue=any_string("pass", "pwd", "secret", "token", "psk"),
        reach=(40, 130),
    ),
    shape(  # variable "db_password" { default = "kestrel" }
        "PASSWORD",
        r"(?<!\w)variable\s+\"[\w-]{0,40}(?:password|secret|token|passwd|api_key|private_key)[\w-]{0,20}\""
        r"\s*\{[^{}]{0,300}?\bdefault\s*=\s*\"(?P<part>[^\"\n]{3,200})\"",
        lambda value: not is_placeholder(value) and not value.startswith("$"),
        case=False,
        clue=all_clues(any_string("variable"), any_string("default")),
        reach=(4, 720),
    ),
    shape(
        "PRIVATE_KEY",
        r"(?<![\w-])client-key-data:\s{0,4}(?P<part>[A-Za-z0-9+/]{16,8000}={0,2})",
        clue=any_string("client-key-data"),
        reach=(2, 60),
    ),
    shape(  # <input type="password" name="x" value="kestrel">
        "PASSWORD",
        r"<input\b(?=[^<>]{0,300}?\btype=[\"']?password\b)[^<>]{0,300}?\bvalue=[\"'](?P<part>[^\"'<>\n]{3,100})",
        lambda value: not is_placeholder(value),
        case=False,
        clue=any_string("<input"),
        reach=(2, 420),
    ),
    shape(
        "API_KEY",
        r"(?<![A-Z0-9])A[KS]IA[A-Z0-9]{16}\s?[/:,|]\s?(?P<part>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])",
        clue=any_string("akia", "asia"),
        reach=(2, 70),
    ),
    shape(
        "PASSWORD",
        r"(?<![\w-])htpasswd\s+-\w{0,4}b\w{0,4}\s+\S{1,100}\s+\S{1,64}\s+(?P<part>[^\s\"'|;&]{3,100})",
        lambda value: not is_placeholder(value),
        clue=any_string("htpasswd"),
        reach=(2, 290),
    ),
)
