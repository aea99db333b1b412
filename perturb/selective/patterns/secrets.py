"""Find secrets: keys and tokens in the forms that their issuers document, private keys, hashes of
passwords, and passwords by the names of their keys, in commands, in files and in connection
strings. What people tell in a sentence is `told`'s."""

from __future__ import annotations

import base64
import binascii
import re

from perturb.selective.patterns.given import is_ordinary_word
from perturb.selective.patterns.settings import (
    PROGRAMS,
    KeyValue,
    assigned,
    is_placeholder,
    is_reference,
    looks_random,
    read_setting,
)
from perturb.selective.patterns.shape import (
    all_clues,
    any_clue,
    any_match,
    any_of,
    any_string,
    shape,
    words_of,
)

__all__ = ["NOUN", "NOUN_CLUE", "SECRETS", "is_sentence", "is_worded"]

_TOKENS = "|".join(
    (
        # OpenAI, Anthropic, OpenRouter; sk-toggle__label-arrow is a class of a page
        r"sk-(?=[A-Za-z_-]{0,80}\d)(?:[A-Za-z]{1,12}\d{0,3}-){0,3}[A-Za-z0-9_-]{20,}+",
        r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA)[A-Z0-9]{16}",  # AWS
        r"AIza[\w-]{35}|ya29\.[\w-]{20,}+|GOCSPX-[\w-]{20,}+",  # Google
        r"gh[pousr]_[A-Za-z0-9]{36,}+|github_pat_\w{22,}+",  # GitHub
        r"gl(?:pat|ptt|rt|dt|cbt|soat|oas)-[\w.-]{20,}+",  # GitLab
        r"xox[abeoprs]-[\w-]{10,}+|xapp-\d-[\w-]{10,}+",  # Slack
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{20,}+",  # Stripe
        r"hf_[A-Za-z0-9]{30,}+|r8_[A-Za-z0-9]{30,}+|gsk_[A-Za-z0-9]{40,}+|xai-[A-Za-z0-9]{40,}+",
        r"SG\.[\w-]{16,32}\.[\w-]{16,64}|key-[0-9a-f]{32}",  # SendGrid, Mailgun
        r"(?:AC|SK)[0-9a-f]{32}",  # Twilio
        r"npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,}+|dckr_pat_[\w-]{20,}+|rubygems_[0-9a-f]{48}",
        r"dop_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
        r"sq0(?:atp|csp|idp)-[\w-]{20,}+|EAAA[\w-]{60}",  # Square
        r"\d{8,10}:AA[\w-]{33}",  # Telegram
        r"lin_api_[A-Za-z0-9]{32,}+|ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43}"
        r"|PMAK-[0-9a-f-]{40,}+",
        r"hv[sb]\.[\w-]{24,}+|dp\.pt\.[A-Za-z0-9]{40,}+|tskey-[a-z]{3,12}-[\w-]{10,}+",
        r"NRAK-[A-Z0-9]{27}|glsa_\w{32,}+|sntrys_[\w=+/-]{40,}+|pscale_\w{2,8}_[\w.-]{32,}+",
        r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}+|AGE-SECRET-KEY-1[0-9A-Z]{58}",
        # JWT; its first part holds no second beginning, where the search would go on anyway. The
        # last part is a signature, where there is one.
        r"ey[JK](?=[A-Za-z0-9_-]{10})[A-Za-z0-9]*+(?>(?:[_-](?!ey[JK])[A-Za-z0-9]*+)*)"
        r"\.ey[JK][A-Za-z0-9_-]{8,}+(?>(?:\.[A-Za-z0-9_-]*+)?)",
    )
)
_TOKEN_CLUE = any_clue(
    any_string(
        *("sk-", "akia", "asia", "abia", "acca", "agpa", "aida", "aipa", "anpa", "anva", "aroa"),
        *("aiza", "ya29.", "gocspx-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        *("glpat-", "glptt-", "glrt-", "gldt-", "glcbt-", "glsoat-", "gloas-", "xox", "xapp-"),
        *("k_live_", "k_test_", "whsec_", "hf_", "r8_", "gsk_", "xai-", "sg.", "key-", "npm_"),
        *("pypi-", "dckr_pat_", "rubygems_", "dop_v1_", "dapi", "shpat_", "shpca_", "shppa_"),
        *("shpss_", "sq0", "eaaa", ":aa", "lin_api_", "ntn_", "secret_", "pmak-", "hvs.", "hvb."),
        *("dp.pt.", "tskey-", "nrak-", "glsa_", "sntrys_", "pscale_", "sbp_", "age-secret-key-"),
        *("eyj", "eyk"),
    ),
    any_match("[AS](?:C|K)[0-9a-f]{32}"),
)
_SIGNATURES = (
    r"(?:X-Amz-Signature|sig|AccountKey|SharedAccessKey)=(?P<part>[A-Za-z0-9+/%=_-]{16,}+)"
)
_BLOCK = (  # until its end; without one, until the lines of the key end
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?>(?:[^-]|-(?!----)){0,8000})(?:-----END [A-Z0-9 ]{1,60}-----)?"
)


# -- by the name of the key -----------------------------------------------------------------------
# Words for a password, wherever they stand in the name of a key, or in a sentence.
_NOUNS = """
    password passwort kennwort passphrase passcode contraseña contrasena mot_de_passe
    palavra-passe wachtwoord lösenord lösenordet adgangskode passord hasło heslo
    jelszó jelszavam jelszava salasana şifre şifrem şifresi пароль пароля паролем κωδικός סיסמה
    הסיסמה סיסמא mật_khẩu kata_sandi पासवर्ड كلمة_المرور كلمة_السر
"""
_PASSWORDS = f"""{_NOUNS}
    passwords passwd motdepasse mot_passe 密码 密碼 口令 パスワード 비밀번호 암호 secret geheimnis
"""
# These only as a word of their own: `DB_PASS`, `dbPass`; not `bypass`.
_SHORT_NOUNS = "pwd pw clave mdp senha parola "
_SHORT_PASSWORDS = _SHORT_NOUNS + "pass psk password_hash"
NOUN = any_of(_NOUNS, _SHORT_NOUNS)
# What these name is often no secret: its form must say so.
_TOKENS_BY_NAME = "token key apikey auth credential credentials cookie session sessionid sid csrf"
_KEYS = (
    rf"(?:{any_of(_PASSWORDS, _SHORT_PASSWORDS, _TOKENS_BY_NAME).replace(' ', '[ _-]')}"
    r"(?:[_ -]?(?:access[_ -]?)?key(?:[_ -]?base)?)?"
    r"(?:[_-](?:base|live|prod|production|staging|stage|test|dev|old|new|value|plain|id|\d{1,2})"
    r"){0,2}\d?)"
)
_STRONG = words_of(_PASSWORDS)
_OWN_WORD = words_of(_SHORT_PASSWORDS, _TOKENS_BY_NAME)
_SECRET_KEYS = words_of(
    """
    api app access secret private priv auth encryption encrypt enc signing sign master account
    service client shared preshared license licence subscription webhook consumer admin deploy
    jwt hmac aes rest storage live prod test dev openai anthropic azure aws google stripe
    mistral groq bot
    """
)
_NO_SECRET_KEYS = words_of(
    """
    primary foreign cache sort partition public pub row idempotency object group unique index
    range hash dict map translation routing composite message redis lock event item list state
    host file path s3 bucket query order search filter column field form node tree sub super
    hot arrow shift enter short natural surrogate candidate registry i18n locale label react
    next prev page continuation cursor sync pad eos bos unk mask sep cls
    """
)
# Words of which a value that is no secret is made: names, types and hints.
_HINTS = words_of(
    """
    password passwort passwords passwd pass pwd passphrase passcode kennwort contraseña
    contrasena clave secret secrets token tokens key keys apikey api auth bearer basic digest
    authorization access refresh client user users username login signin name admin id my your
    the our a an i in is of to for or and not new old current confirm confirmation repeat
    verify validate reset forgot forgotten change changed update set get hash hashed salt
    salted encrypted plain text input field form value values type string str bytes number int
    integer bool boolean char varchar object any optional required hidden masked label
    placeholder example sample test tests testing dummy default error errors invalid missing
    wrong incorrect min max length size expires expiry ttl jwt json http https x url uri path
    file header headers cookie cookies session db database data server app application service
    config env var vars settings provider generator manager store vault ref reference param
    params arg args kwargs req request res response body query self this state props prop el
    item obj cred creds credential credentials grant flow scope code pin otp csrf xsrf rsa dsa
    ec aes hmac sha md bcrypt scrypt argon base ascii utf hex super mysecret mypassword mytoken
    secretkey supersecret topsecret some none null true false undefined postgres root mysql
    mariadb mongo redis rabbitmq minio minioadmin guest demo foo bar baz abc foobar qwerty
    public private primary foreign cache sort local remote prod production dev stage staging
    live
    """
)
# A value of several words is a sentence, not a passphrase, if it holds one of these.
_SENTENCE = re.compile(
    r"(?<!\w)(?:is|are|be|been|was|must|should|shall|can|cannot|will|may|your|you|this|that|these"
    r"|which|field|required|optional|enter|please|invalid|wrong|incorrect|least|characters?|reset"
    r"|forgot|forgotten|change|changed|confirm|repeat|the|a|an|for|to|of|used|not|does|match|too"
    r"|passwords?|passwort|kennwort|contraseña|passe|secret|tokens?|keys?|ist|wird|muss|darf|bitte"
    r"|ihr|dein|eingeben|falsch|ungültig|vergessen|mindestens|zeichen|est|doit|votre|saisir|oublié"
    r"|incorrecte?|debe|su|olvidada?|olvidaste|introduzca|requerida?|obligatori[ao])(?!\w)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|[^\W\d_]+")
_FALSE_BEFORE = (
    "no",
    "has",
    "is",
    "use",
    "show",
    "hide",
    "require",
    "requires",
    "allow",
    "forgot",
)
_COUNTED = ("max", "min", "num", "total", "count", "len", "next", "page", "prompt", "completion")
_ADJECTIVES = words_of(
    """
    falsch richtig korrekt ungültig abgelaufen erforderlich geändert gesetzt gespeichert sicher
    unsicher lang kurz leer vergessen bekannt nötig notwendig pflicht verschlüsselt incorrect
    incorrecte invalide requis requise obligatoire oublié expiré faux correct correcte sécurisé
    incorrecta incorrecto inválida obligatoria obligatorio requerida requerido necesaria
    correcta segura válida débil bcrypted salted hashed base64 sha256 md5 plaintext utf8 sha512
    """
)


def is_worded(value: str) -> bool:
    """Tell if a value is made of words that name or describe secrets.

    >>> [is_worded(value) for value in ("my-secret-key-1", "sunflower")]
    [True, False]
    """
    words = [word.lower() for word in _CAMEL.findall(value)]
    return bool(words) and all(word in _HINTS for word in words)


def _is_marked(value: str) -> bool:
    """Tell if a value has the form of a password: a digit among letters, or a sign inside."""
    letters = any(c.isalpha() for c in value)
    if letters and any(c.isdigit() for c in value):
        return True
    return letters and re.search(r"\w[!#$%&*+?@^~]\w|[!#$%&*?@^~]\Z", value) is not None


def _read_name(name: str) -> list[str]:
    return [word.lower() for word in _CAMEL.findall(name)]


def _locate_secret(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the secret in a setting; None where the setting holds none."""
    found = read_setting(match)
    if found is None or not _may_be_secret(found):
        return None
    return found.start, found.start + len(found.value)


_DIRECTORY = re.compile(  # PWD=/home/mira/src
    r"(?:~|/(?:home|Users|root|var|opt|usr|srv|mnt|tmp|app|workspaces?|data|etc|private|builds?))"
    r"(?:/[\w.-]+)*/?"
)

# How frameworks say what a field must hold: `required|min:8|confirmed`.
_RULES = re.compile(r"[a-z_]+(?::[\w,.-]+)?(?:\|[a-z_]+(?::[\w,.-]+)?)+")


_PORT = re.compile(r"\d{1,5}/(?:tcp|udp|sctp)")  # of a service: kpasswd 464/udp


def _may_be_secret(found: KeyValue) -> bool:
    value, words = found.value, _read_name(found.name)
    if found.before.endswith(("${", "$", "%(")) and found.between != "=" and not found.is_joined:
        return False
    if value.startswith("<") and ">" in found.after.partition("\n")[0]:  # <paste it here>
        return False
    if is_placeholder(value) or (not found.quote and is_reference(value, found.after)):
        return False
    if is_worded(value) or len(value) < 3 or _RULES.fullmatch(value) or _PORT.fullmatch(value):
        return False
    if found.name in ("PWD", "OLDPWD") and _DIRECTORY.fullmatch(value):
        return False
    if value.lower() in PROGRAMS and not is_ordinary_word(value):  # of its examples
        return False
    if _OBJECT.fullmatch(value) or _is_prompt(found):
        return False
    key = found.key.lower()
    first = _read_name(found.key)[0] if _read_name(found.key) else key
    if first in _OWN_WORD and not _begins_word(found):
        return False
    if any(word in _COUNTED or word in _FALSE_BEFORE for word in words[:-1]):
        return False
    if not _is_written(found):
        return False
    if _names_password(key):
        return _is_password(found)
    return _is_token(found, words)


# As Java prints one without a text of its own: android.os.BinderProxy@2bd79ce
_OBJECT = re.compile(r"(?:[a-z]\w{0,30}\.){1,8}[A-Z][\w$]{0,60}@[0-9a-f]{5,8}")


def _is_prompt(found: KeyValue) -> bool:
    """Tell if the key is a prompt in quotation marks, which close before the value:
    `read -p "Password: " PASS`."""
    opened = found.before.endswith(found.quote) if found.quote else False
    return opened and not found.closed


def _names_password(key: str) -> bool:
    plain = re.sub("[_-]", " ", key)
    words = (*_STRONG, "mot ", "pass", "pwd", "psk")
    return any(key.startswith(word) or plain.startswith(word) for word in words) or (
        key.rstrip("0123456789_-") in ("clave", "mdp", "senha", "parola", "pw")
    )


def _begins_word(found: KeyValue) -> bool:
    """Tell if the key begins a word of the name: `DB_PASS`, `dbPass`, `pass`; not `bypass`."""
    prefix = found.name[: len(found.name) - len(found.key)]
    if not prefix or not prefix[-1].isalpha():
        return True
    return (prefix[-1].islower() and found.key[0].isupper()) or prefix.lower().endswith(
        ("auth", "access", "bot", "api", "pg", "secret", "refresh", "preshared", "session", "csrf")
    )


def _is_written(found: KeyValue) -> bool:
    """Tell if the sign between key and value says that the value belongs to the key."""
    between, value = found.between, found.value
    if between in ("(", ","):
        if found.is_constant:
            return True
        calls = between == "(" or re.search(r"\( ?[\"'`]?[#.]?\Z", found.before) is not None
        return bool(found.quote) and calls and _is_marked(value) and " " not in value
    if between == "|":
        return _is_marked(value) and " " not in value and len(value) >= 6
    if between == "":
        if found.is_option:
            return not value.startswith("-")
        if found.before.endswith("#define ") or _HEADER_SET.search(found.before):
            return True
        if found.quote:  # password `Tea-Before-8`, PASSWORD 'x'
            marked = _is_marked(value) or " " in value
            named = not found.closed and found.key.lower() not in _OWN_WORD
            return named and marked and not _SENTENCE.search(value)
        return _is_told(found)
    return True


# What sets a header in the configuration of nginx, HAProxy, Apache and Caddy.
_HEADER_SET = re.compile(
    r"(?<![\w-])(?:(?:proxy_|fastcgi_|grpc_|more_)?(?:set|add)[-_]headers?|header_(?:up|down)"
    r"|(?:Request|Response)?Header (?:always )?(?:set|add|append|setifempty))[ \t]{1,8}[\"']?\Z",
    re.IGNORECASE,
)


def _is_told(found: KeyValue) -> bool:
    """Tell if a value that follows its key without a sign is a secret: `password Sommer2024`,
    `aws configure set aws_secret_access_key …`, a line of a configuration."""
    value, key = found.value, found.key.lower()
    if looks_random(value, 20):
        return True
    if not _names_password(key) or key.startswith(("secret", "pw")) or found.closed:
        return False
    if key == "pass":
        return _LOGIN_BEFORE.search(found.before) is not None and _is_marked(value)
    letters = value.rstrip("0123456789!?.$#*").lower()
    if len(letters) < 4 or letters in _HINTS or letters in _VERSIONED:
        return False
    drawn = re.fullmatch(r"[^\W\d_]{4,}\d{2,}[!?.$#*]?", value) or looks_random(value, 8)
    return bool(drawn) or (found.is_line and _is_marked(value) and any(map(str.isdigit, value)))


_LOGIN_BEFORE = re.compile(r"(?i)(?:user(?:name)?|login|e-?mail|account|creds?)\b[^\n]{1,60}\Z")
# Names of products and standards that a number follows.
_VERSIONED = words_of(
    """
    office windows oauth python argon bcrypt keepass version chapter section error rfc pbkdf level
    type windows java node option step line page item test room reset
    """
)


# Of releases, of a package such as `pbkdf2-password`.
_RANGE = re.compile(r"[~^<>=v ]{0,3}\d{1,4}(?:\.(?:\d{1,5}|x)){1,3}(?:[-+][\w.]{1,20})?")


def _is_password(found: KeyValue) -> bool:
    """Tell if what a key such as `password` has is a password, and no word about one."""
    value = found.value
    if (" " in value and _SENTENCE.search(value)) or _RANGE.fullmatch(value):
        return False
    word = value.strip(".!?").lower()
    prose = found.match["between"].strip(" :").isalpha()
    if found.is_listed and value.islower() and not is_ordinary_word(word):
        return True
    if found.quote:
        if value.startswith(("/", "./", "http://", "https://")) or re.fullmatch(r"\W+", value):
            return False
        return not (prose and (is_ordinary_word(word) or word in _ADJECTIVES))
    if found.is_shell or found.is_element or found.is_option or _is_argument(found):
        return True
    if _is_marked(value):
        return word not in _ADJECTIVES and not value.startswith(("/", "./", "http"))
    if value.isdigit():
        told = found.is_line or prose or (found.between in (":", "：") and len(value) >= 8)
        return len(value) >= 4 and told
    if is_ordinary_word(word) or word in _ADJECTIVES or len(value) < 5:
        return False
    if any(hint in _HINTS for hint in _read_name(value)) or value[0] in "{[(<&*|>":
        return False
    if prose:
        return bool(re.match(r"[ .,;!]*(?:\n|\Z|[.,;!])", found.after)) and _is_owned(found)
    # `password: kirschkuchen` in YAML; `password: String` is a type, and `pwd = askUser` is code.
    named = value.islower() or "-" in value or not value.isidentifier()
    return found.is_line and named and "_" not in value


def _is_argument(found: KeyValue) -> bool:
    """Tell if a setting is an argument of a command, or stands beside a user's name or after
    another setting: `--set db.password=x`, `user=mira,password=x`, `host=a password=x`."""
    if not found.is_joined:
        return False
    before = found.before + found.name[: len(found.name) - len(found.key)]
    ends = re.match(r"\s|\Z", found.after) is not None
    return _ARGUMENT.search(before) is not None or (
        ends and _SETTING_BEFORE.search(found.before) is not None
    )


# `host=db1 ` before the key, as in an inventory of Ansible and in a data source of libpq
_SETTING_BEFORE = re.compile(r"(?:\A|\s)[\w.-]{0,40}=[^\s=(){},;\"'`]{1,60}[ \t]{1,4}\Z")


_ARGUMENT = re.compile(
    r"(?:--(?:from-literal|set|set-string|build-arg|var|env|data|parameters?)[ =][\"']?"
    r"[\w.-]{0,40}"
    r"|(?:kv put|config:set|secrets? (?:set|create))\b[^\n]{0,50}\s"
    r"|(?:user(?:name| ?id)?|login|uid)=[^\s,;&=]{1,40}[,;&\s])\Z",
    re.IGNORECASE,
)


def _is_owned(found: KeyValue) -> bool:
    """Tell if the sentence before the key says whose it is: `my password is …`."""
    return (
        re.search(
            r"(?<!\w)(?:my|our|his|her|their|your|the|das|mein|unser|sein|dein|ihr|mon|ma|notre|le"
            r"|mi|nuestra|la|su|wi-?fi|wlan|temporary|new|admin|root)[ -]\Z",
            found.before.lower() + found.name[: len(found.name) - len(found.key)].lower(),
        )
        is not None
    )


def _is_token(found: KeyValue, words: list[str]) -> bool:
    """Tell if what a key such as `token` or `api_key` has is drawn by chance."""
    value, before = found.value, words[-2] if len(words) > 1 else ""
    if " " in value or re.search(r"[{}()<>$\\]", value):
        return False
    if any(word in _NO_SECRET_KEYS for word in words[:-1]):
        return False
    key = found.key.lower()
    if key.startswith("key") and _CACHED.search(found.before):
        return False
    if key.startswith("key") and not before:
        if found.before.endswith(("?", "&")):
            return looks_random(value)
        return looks_random(value, 24) and not found.closed
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    plain = re.fullmatch(r"[\w+/=.~:!@#%^*-]+", value) is not None
    if key.startswith("key") and before not in _SECRET_KEYS:
        return looks_random(value, 16)
    if found.match["between"].strip(" :").isalpha() and not key.startswith(
        ("token", "key", "api")
    ):
        return False
    if key.startswith(("session", "sid", "cookie", "csrf", "auth", "cred")):
        return looks_random(value, 10)
    if looks_random(value, 12):
        return True
    longest = max(re.split(r"[-_.:/]", value), key=len)
    worded = is_ordinary_word(longest.rstrip("0123456789"))
    return mixed and plain and len(value) >= 6 and not worded


_CACHED = re.compile(r"\b(?:cached?|caches)\b[^\n]*\Z", re.IGNORECASE)  # Cache saved with key:

_NOUN_STRINGS = (
    *("pass", "pw", "kennwort", "contrase", "clave", "mdp", "senha", "parola", "wachtwoord"),
    *("lösenord", "adgangskode", "hasło", "heslo", "jelsz", "salasana", "şifre", "парол"),
    *("κωδικ", "סיסמ", "mật", "kata", "पासवर्ड", "كلمة"),
)
NOUN_CLUE = any_string(*_NOUN_STRINGS)
_KEY_CLUE = any_string(
    *_NOUN_STRINGS,
    *("key", "secret", "token", "psk", "geheimnis", "auth", "credential", "cookie", "session"),
    *("sid", "csrf", "密", "口令", "パスワード", "비밀번호", "암호", "mot_", "mot-"),
)

# -- in commands, files and headers -------------------------------------------------------------
_WORD_OF_SHELL = (
    r"(?:(?P<mark>[\"'])(?P<part>(?:(?!(?P=mark))[^\n]){1,100})(?P=mark)"
    r"|(?P<bare>[^\s\"'`]{1,100}))"
)


def _locate_word(match: re.Match[str]) -> tuple[int, int] | None:
    group = "part" if match["part"] else "bare"
    value = match[group]
    worded = is_worded(value) and group == "bare" and not _is_marked(value)
    return None if is_placeholder(value) or worded or value.startswith("$") else match.span(group)


def _is_credential(value: str) -> bool:
    return not is_placeholder(value) and not is_worded(value) and not value.startswith("$")


def _locate_password(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the password of `user:password`; None for a user and a group."""
    return None if match["user"] == match["part"] else match.span("part")


def is_sentence(value: str) -> bool:
    """Tell if a value of several words is about passwords.

    >>> [is_sentence(value) for value in ("must be longer", "three red kites")]
    [True, False]
    """
    return _SENTENCE.search(value) is not None


def _is_phrase(value: str) -> bool:
    """Tell if the words after a key are a passphrase, and no sentence about one."""
    first, plain = value.split()[0].lower(), value.lower()
    # In files of translations, the texts beside such a key speak of passwords.
    about = value.endswith(("?", "!", "…")) or any(stem in plain for stem in _ABOUT_PASSWORDS)
    about = about or "working directory" in plain  # what the command pwd prints
    return not (about or _SENTENCE.search(value) or first in _HINTS or first in _TO_DO)


_ABOUT_PASSWORDS = (*_NOUN_STRINGS, "hasł", "hesl", "wachtw", "lösen", "adgang")
_TO_DO = words_of("ask call contact see same leave use choose create set type write add get none")


def _is_basic(value: str) -> bool:
    """Check that a value is `user:password` in base64."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _is_marked_secret(value: str) -> bool:
    """Check that a value beside an address is drawn or has capitals inside."""
    inside = re.search(r"[a-z][A-Z]", value) is not None
    letters = any(c.isalpha() for c in value)
    return letters and (inside or any(c.isdigit() for c in value)) and _is_credential(value)


def _is_drawn_word(value: str) -> bool:
    """Check that a value beside an account is no release, word or path: it has digits, and
    letters that are in no dictionary or have capitals inside."""
    words = re.findall(r"[^\W\d_]+", value)
    worded = all(is_ordinary_word(word) or len(word) < 3 for word in words)
    inside = re.search(r"[a-z][A-Z]|\w[!#$%&*?@^~]", value) is not None
    digits = any(map(str.isdigit, value)) and not re.match(r"v?\d+(?:\.\d+)+|\d+\Z", value)
    named = re.match(r"(?:[ug]id|role|group|rootfs|user|id)\d", value, re.IGNORECASE)
    return digits and not named and (inside or not worded) and _is_credential(value)


_ADDRESS_BEFORE = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@[\w.-]{1,80}\Z")


def _locate_after_address(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a password that follows an e-mail address."""
    end = match.start("part")
    before = match.string[max(0, match.start() - 150) : end].rstrip(" /:;|")
    return match.span("part") if _ADDRESS_BEFORE.search(before) else None


_COMMUNITIES = words_of("public private encryption authentication string ro rw level encrypted")
_HEADER = r"(?<!\w)authorization[\"'`]?(?: ?[:=,] ?|\]? ?= ?)\[?[\"'`]?"

SECRETS = (
    shape("PRIVATE_KEY", _BLOCK, clue=any_string("private key"), reach=90),
    shape(
        "API_KEY",
        rf"(?<![A-Za-z0-9])(?=[\dA-Zadeghklnprstwxy])(?:{_TOKENS})",
        clue=_TOKEN_CLUE,
        reach=12,
    ),
    shape("API_KEY", rf"(?<![A-Za-z0-9]){_SIGNATURES}", clue=any_string("="), reach=30),
    shape(
        "PASSWORD",
        assigned(_KEYS),
        case=False,
        clue=_KEY_CLUE,
        locate=_locate_secret,
        reach=24,
    ),
    shape(  # scheme://user:password@host
        "PASSWORD",
        r"(?<![\w+.-])[a-z][a-z0-9+.-]{1,20}+://[^\s:@/\"'`<>]{0,100}:"
        r"(?P<part>[^\s/\"'`<>]{1,200})@(?=[\w\[$%{.-])",
        _is_credential,
        clue=any_string("://"),
        reach=24,
    ),
    shape(  # jdbc:oracle:thin:scott/tiger@//host
        "PASSWORD",
        r"(?<!\w)jdbc:oracle:\w{2,5}:[\w$#]{1,60}/(?P<part>[^\s@/\"']{1,100})@",
        _is_credential,
        clue=any_string("jdbc:oracle"),
        reach=8,
    ),
    shape(
        "PASSWORD",  # -u mira:hunter2, btoa('mira:hunter2')
        r"(?:(?<![\w-])(?:-u|--user|--proxy-user|-U|--login)[ =]?|btoa\()(?P<mark>[\"'`])?"
        r"(?!(?:https?|ftp|wss?)://)"  # of a scanner: -u http://kestrel.net
        r"(?P<user>[\w.@+-]{1,64}):"
        r"(?P<part>(?(mark)(?:(?!(?P=mark))[^\n]){3,100}(?=(?P=mark))|(?<!\d:)[^\s\"'`]{3,100}))",
        _is_credential,
        clue=any_string("-u", "--user", "--proxy-user", "btoa(", "--login"),
        locate=_locate_password,
        reach=8,
    ),
    shape(
        "PASSWORD",
        r"(?<![\w-])(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mycli)"
        rf"\b(?!\.)[^\n|;&]{{0,200}}?[ \t]-p{_WORD_OF_SHELL}",
        case=True,
        clue=any_string("-p"),
        locate=_locate_word,
        reach=260,
    ),
    shape(
        "PASSWORD",
        r"(?<![\w/-])(?:sshpass|(?:docker|podman|oc|az|helm registry) login|mongo(?:sh|dump)?"
        rf"|htpasswd|smbclient|unzip)\b[^\n|;&]{{0,200}}?[ \t](?:-p|-P) ?{_WORD_OF_SHELL}",
        clue=any_string("-p"),
        locate=_locate_word,
        reach=260,
    ),
    shape(  # netrc
        "PASSWORD",
        r"(?<!\w)login[ \t\n]{1,8}\S{1,100}[ \t\n]{1,8}password[ \t]{1,8}(?P<part>\S{1,200})",
        _is_credential,
        clue=all_clues(any_string("login"), any_string("password")),
        reach=8,
    ),
    shape(  # .pgpass
        "PASSWORD",
        r"(?m:^)[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:"
        r"(?P<part>(?:[^\s:\\]|\\[:\\]){3,100})(?m:$)",
        _is_credential,
        clue=any_match(r":(?:\d{2,5}|\*):"),
        reach=110,
    ),
    shape(  # mira@example.org:hunter2, as in lists of accounts
        "PASSWORD",
        r"(?<=[\w-]\.)[A-Za-z]{2,16}(?: / |[:;|] ?)"
        r"(?P<part>[^\s\"'`,;|/:()<>]{6,64})(?=[\s\"'`,;|]|\Z)",
        _is_marked_secret,
        clue=any_string("@"),
        locate=_locate_after_address,
    ),
    shape(  # a hash, as in /etc/shadow and .htpasswd
        "PASSWORD",
        r"(?<![\w$])(?:\$(?:apr1|2[abxy]?|[156y]|argon2(?:id|i|d)?)\$[\w./,=+$-]{16,200}"
        r"|\{(?:SSHA|SHA|CRYPT)\d{0,3}\}[\w+/=.$-]{16,128})",
        clue=any_string(
            "$2", "$1$", "$5$", "$6$", "$y$", "$apr1$", "$argon2", "{ssha", "{sha", "{crypt"
        ),
        reach=4,
    ),
    shape(
        "PASSWORD",
        r"(?<!\w)(?<!problem )(?<!issue )(?<!bug )(?<!was )(?<!were )(?<!is )(?<!are )(?<!been )"
        r"identified (?:with \w{1,40} )?by (?:password )?"
        r"[\"'](?P<part>[^\"'\n]{1,100})[\"']",
        _is_credential,
        case=False,
        clue=any_string("identified "),
        reach=4,
    ),
    shape(  # CREATE ROLE mira LOGIN PASSWORD 'kestrel'
        "PASSWORD",
        r"(?<!\w)(?:create|alter) (?:user|role|login)\b[^;\n'\"]{1,80}?"
        r"(?:[\"'][^;\n'\"]{1,60}[\"'][^;\n'\"]{1,80}?)?"
        r"\bpassword ?=? ?[\"'](?P<part>[^\"'\n]{3,100})[\"']",
        _is_credential,
        case=False,
        clue=all_clues(any_string("create ", "alter "), any_string("password")),
        reach=4,
    ),
    shape(  # SET PASSWORD FOR 'mira'@'localhost' = 'kestrel'
        "PASSWORD",
        r"(?<!\w)set password (?:for [^=;\n]{1,80}?)?(?:=|to) ?(?:password\()?"
        r"[\"'](?P<part>[^\"'\n]{3,100})[\"']",
        _is_credential,
        case=False,
        clue=any_string("set password"),
        reach=2,
    ),
    shape(  # <entry key="db.password">kestrel9</entry>; in translations there are labels
        "PASSWORD",
        r"<(?:entry|property|setting|param|string)\b[^<>]{0,80}?\b(?:key|name)="
        r"[\"'][\w.-]{0,40}(?:password|passwd|secret)[\"'][^<>]{0,40}>"
        r"(?P<part>[!-;=?-~]{3,100})</",
        lambda value: _is_marked(value.rstrip("!?.*:")) and _is_credential(value),
        case=False,
        clue=all_clues(any_string("key=", "name="), any_string("passw", "secret")),
    ),
    shape(  # echo 'mira:kestrel' | chpasswd
        "PASSWORD",
        r"(?<!\w)(?:echo|printf) (?:-\w )?(?P<mark>[\"'])?[\w.@-]{1,40}:"
        r"(?P<part>[^\s\"'|:\\]{3,80})(?:\\n)?(?(mark)(?P=mark))"
        r" ?\| ?(?:sudo )?(?:/usr/sbin/)?chpasswd",
        _is_credential,
        clue=any_string("chpasswd"),
        reach=160,
    ),
    shape(  # echo kestrel | docker login --password-stdin
        "PASSWORD",
        r"(?<!\w)(?:echo|printf) (?:-\w )?(?P<mark>[\"'])?"
        r"(?P<part>[^\s\"'|]{3,200})(?(mark)(?P=mark))"
        r" ?\| ?[^\n|;&]{1,120}?--(?:password|passphrase|token|with-token)-(?:stdin|fd 0)",
        _is_credential,
        clue=any_string("-stdin", "-fd 0"),
        reach=340,
    ),
    shape(  # redis-server --requirepass kestrel; requirepass kestrel
        "PASSWORD",
        r"(?<![\w-])(?:--)?(?:requirepass|masterauth) (?P<mark>[\"'])?(?P<part>[^\s\"']{3,100})",
        lambda value: (
            _is_credential(value) and not is_ordinary_word(value) and value != "foobared"
        ),
        clue=any_string("requirepass", "masterauth"),
        reach=4,
    ),
    shape(  # what a code of a network says: WIFI:T:WPA;S:attic;P:kestrel;;
        "PASSWORD",
        r"(?<!\w)WIFI:(?:[A-OQ-Z]:(?:[^;\\\n]|\\.){0,64};){0,4}P:(?P<part>(?:[^;\\\n]|\\.){3,64});",
        _is_credential,
        clue=any_string("wifi:"),
        reach=2,
    ),
    shape(  # {"name": "Authorization", "value": "Basic …"}
        "PASSWORD",
        r"authorization\\{0,3}[\"']\s?,\s{0,30}\\{0,3}[\"']value\\{0,3}[\"']"
        r"\s?:\s?\\{0,3}[\"']basic "
        r"(?P<part>[A-Za-z0-9+/]{6,200}={0,2})",
        _is_basic,
        case=False,
        clue=all_clues(any_string("authorization"), any_string("basic ")),
        reach=2,
    ),
    shape(  # storePassword 'kestrel', of a build
        "PASSWORD",
        r"(?<!\w)(?:store|key)Password[ (]{1,2}[\"'](?P<part>[^\"'\n]{3,100})[\"']",
        _is_credential,
        clue=any_string("epassword", "ypassword"),
        reach=8,
    ),
    shape(  # admin:Wintergarten77, a line of its own
        "PASSWORD",
        r"(?m:^)[ \t]{0,8}(?:[-*\u2022] )?(?:admin|administrator|root|sa|deploy|backup|guest"
        r"|superuser|sysadmin|svc[_-]?\w{0,30}|sysdba|test_?user)"
        r":(?P<part>[^\s:\"'`,;/()\[\]{}<>|]{7,64})[ \t]*(?m:$)",
        _is_drawn_word,
        clue=any_match(r"[a-z]:[^\s:/]{7}"),
        reach=46,
    ),
    shape(  # login("mira", "x"), auth=("mira", "x")
        "PASSWORD",
        r"(?:login|auth|credentials?|authenticate|signin|sign_in|WithEmailAndPassword"
        r"|UsernamePassword\w{0,20}|PasswordAuthentication)(?: ?[=:] ?)?\( ?(?:\w{1,20}, ?)?"
        r"[\"'](?P<user>[^\"'\n]{1,80})[\"'], ?"
        r"[\"'](?P<part>[^\"'\n]{3,100})[\"']",
        _is_credential,
        case=False,
        clue=any_string("login", "auth", "credential", "sign", "password"),
        reach=24,
    ),
    shape(
        "PASSWORD",
        _HEADER + r"basic (?P<part>[A-Za-z0-9+/]{6,200}={0,2})",
        _is_basic,
        case=False,
        clue=any_string("basic "),
        reach=40,
    ),
    shape(
        "API_KEY",
        rf"{_HEADER}(?:token|apikey|api-key|key|digest|negotiate|bearer) "
        r"(?P<part>[A-Za-z0-9._~+/=-]{8,2000})",
        lambda value: not is_placeholder(value) and any(c.isdigit() for c in value),
        case=False,
        clue=any_string("authorization"),
        reach=4,
    ),
    shape(
        "API_KEY",
        r"(?<!\w)[Bb]earer (?P<part>[A-Za-z0-9._~+/=-]{16,}+)",
        clue=any_string("bearer "),
        reach=4,
    ),
    shape(  # a header of cookies: all their values of some length
        "API_KEY",
        r"(?:sess\w{0,12}|sid|(?<!publickey)token|auth|jwt|(?<![A-Za-z])uid|remember[\w-]{0,12}"
        r"|aspnetcore\.[\w.]{3,40})"
        r"=(?P<part>(?:s%3A)?[A-Za-z0-9+/=_.%~-]{10,2000})",
        lambda value: looks_random(value.replace("%", "").rstrip("="), 10),
        case=False,
        clue=any_string(
            "sess", "sid=", "token=", "auth=", "jwt=", "uid=", "remember", "aspnetcore"
        ),
        reach=8,
    ),
    shape(  # options of commands, each with its own
        "PASSWORD",
        r"(?<![\w-])(?:redis-cli\b[^\n|;&]{0,120}? -a"
        r"|(?:sqlcmd|bcp|isql|tsql|mosquitto_(?:pub|sub)|ipmitool|zip)\b[^\n|;&]{0,120}? -P"
        r"|ldap(?:search|add|modify|passwd|whoami|delete)\b[^\n|;&]{0,160}? -w"
        r"|7z\w?\b[^\n|;&]{0,80}? -p(?=\S)"
        r"|openssl enc\b[^\n|;&]{0,120}? -k"
        rf"|[^\n|;&]{{0,4}}-(?:store|key|srcstore|deststore)pass(?:word)?) ?{_WORD_OF_SHELL}",
        clue=any_string(
            *("redis-cli", "sqlcmd", "bcp", "isql", "tsql", "mosquitto_", "ipmitool", "zip"),
            *("ldap", "7z", "openssl enc", "storepass", "keypass"),
        ),
        locate=_locate_word,
        reach=20,
    ),
    shape(  # http -a mira:x, lftp -u mira,x, smbclient -U mira%x, sqlplus mira/x@db
        "PASSWORD",
        r"(?<![\w/-])(?:https? (?:-\S{1,40} ){0,3}(?:-a|--auth) ?[\w.@+-]{1,64}:"
        r"|lftp\b[^\n|;&]{0,60}? -u [\w.@+-]{1,64},"
        r"|(?:smbclient|rpcclient|net)(?= )[^\n|;&]{0,120}? -U ?[\w.\\@+-]{1,64}%"
        r"|(?:sqlplus|exp|imp|sqlldr)\s(?:-\S{1,20} )?[\w$#]{1,60}/)(?P<part>[^\s\"'@/]{3,100})",
        _is_credential,
        clue=any_string(
            "http ", "https ", "lftp", "client", "sqlplus", "net ", "exp", "imp", "sqlldr"
        ),
        reach=10,
    ),
    shape(  # net use /user:FIRM\mira x; rabbitmqctl add_user mira x; xfreerdp /p:x
        "PASSWORD",
        r"(?:(?<!\w)net use\b[^\n|&]{0,100}? /user:\S{1,64} "
        r"|(?<!\w)net use (?:[A-Za-z*]:? )?\\\\\S{3,80} (?=[^\s/]{3,100} /user:)"
        r"|(?<!\w)rabbitmqctl (?:add_user"
        r"|change_password) \S{1,64} |(?<!\w)(?:xfreerdp|wfreerdp|mstsc)\b[^\n|&]{0,160}? /p:)"
        r"(?P<part>[^\s\"'/][^\s\"']{2,100})",
        _is_credential,
        clue=any_string("net use", "rabbitmqctl", "freerdp", "mstsc"),
        reach=10,
    ),
    shape(  # echo "x" | sudo -S
        "PASSWORD",
        r"(?<!\w)echo (?:-n )?(?P<mark>[\"'])?(?P<part>[^\s\"'|]{3,80})(?(mark)(?P=mark))"
        r" ?\| ?sudo -S",
        _is_credential,
        clue=any_string("sudo -s"),
        reach=110,
    ),
    shape(  # the arguments of what opens a connection: a place, a user, a password
        "PASSWORD",
        r"(?:mysqli?_connect|new mysqli|new PDO|DBI->connect|DriverManager\.getConnection)\( ?"
        r"[^,()\n]{1,120}, ?[\"'][^\"'\n]{0,64}[\"'], ?[\"'](?P<part>[^\"'\n]{3,64})[\"']",
        _is_credential,
        case=False,
        clue=any_string("connect", "mysqli", "pdo"),
        reach=20,
    ),
    shape(
        "PASSWORD",
        r"ConvertTo-SecureString (?:-String )?[\"'](?P<part>[^\"'\n]{3,100})[\"']",
        _is_credential,
        case=False,
        clue=any_string("convertto-securestring"),
        reach=4,
    ),
    shape(  # a data source of Go: mira:x@tcp(host)
        "PASSWORD",
        r"(?<=[\"'`])[\w.-]{1,64}:(?P<part>[^\s\"'@:/]{3,64})@(?:tcp|unix)\(",
        _is_credential,
        clue=any_string("@tcp(", "@unix("),
        reach=140,
    ),
    shape(  # the part of an address of a page that opens it
        "API_KEY",
        r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/"
        r"|api\.telegram\.org/bot|webhook\.office\.com/webhookb2/"
        r"|/(?:reset|verify|confirm|invite|magic|activate|unsubscribe)[\w-]{0,24}/"
        r"|[?&]app_?id=)(?P<part>[\w/:@.-]{20,200}(?<=\w))",
        lambda value: any(looks_random(part, 16) for part in re.split("[/:]", value)),
        case=False,
        clue=any_string(
            *("hooks.slack", "webhook", "telegram.org", "/reset", "/verify", "/confirm"),
            *("/invite", "/magic", "/activate", "/unsubscribe", "appid=", "app_id="),
        ),
        reach=40,
    ),
    shape(  # of a router
        "PASSWORD",
        r"(?:enable (?:password|secret)|snmp-server community|isakmp key|key-string"
        r"|privilege \d{1,2} (?:password|secret)) (?:[057] )?(?P<part>[^\s\"']{3,80})",
        lambda value: _is_credential(value) and value.lower() not in _COMMUNITIES,
        clue=any_string("enable ", "community", "isakmp", "key-string", "privilege"),
        reach=24,
    ),
    shape(  # ["--admin-password", "kestrel9"]
        "PASSWORD",
        r"[\"']--?[\w-]{0,30}(?:password|passwd|pass|pwd|secret|token|psk)[\"']\s?,\s?"
        r"[\"'](?P<part>[^\"'\n]{3,100})[\"']",
        lambda value: not is_placeholder(value) and not value.startswith(("-", "$")),
        case=False,
        clue=any_string("pass", "pwd", "secret", "token", "psk"),
        reach=40,
    ),
    shape(  # variable "db_password" { default = "kestrel" }
        "PASSWORD",
        r"(?<!\w)variable\s+\"[\w-]{0,40}(?:password|secret|token|passwd|api_key|private_key)[\w-]{0,20}\""
        r"\s*\{[^{}]{0,300}?\bdefault\s*=\s*\"(?P<part>[^\"\n]{3,200})\"",
        lambda value: not is_placeholder(value) and not value.startswith("$"),
        case=False,
        clue=all_clues(any_string("variable"), any_string("default")),
        reach=4,
    ),
    shape(
        "PRIVATE_KEY",
        r"(?<![\w-])client-key-data:\s{0,4}(?P<part>[A-Za-z0-9+/]{16,8000}={0,2})",
        clue=any_string("client-key-data"),
        reach=2,
    ),
    shape(  # <input type="password" name="x" value="kestrel">
        "PASSWORD",
        r"<input\b(?=[^<>]{0,300}?\btype=[\"']?password\b)[^<>]{0,300}?\bvalue=[\"'](?P<part>[^\"'<>\n]{3,100})",
        lambda value: not is_placeholder(value),
        case=False,
        clue=any_string("<input"),
        reach=2,
    ),
    shape(
        "API_KEY",
        r"(?<![A-Z0-9])A[KS]IA[A-Z0-9]{16}\s?[/:,|]\s?(?P<part>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])",
        clue=any_string("akia", "asia"),
        reach=2,
    ),
    shape(
        "PASSWORD",
        r"(?<![\w-])htpasswd\s+-\w{0,4}b\w{0,4}\s+\S{1,100}\s+\S{1,64}\s+(?P<part>[^\s\"'|;&]{3,100})",
        lambda value: not is_placeholder(value),
        clue=any_string("htpasswd"),
        reach=2,
    ),
    shape(  # AUTH_KEY, LOGGED_IN_SALT: signs of any kind
        "API_KEY",
        r"(?<![A-Z])(?:SECURE_AUTH|AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)[\"']?\s?(?:,|=>|=|:)\s{0,4}"
        r"[\"'](?P<part>[^\"'\n]{16,100})[\"']",
        lambda value: not is_placeholder(value),
        clue=any_string("_key", "_salt"),
        reach=24,
    ),
    shape(  # "Jwt": {"Key": "…"}, where the key of all of them says which key it is
        "API_KEY",
        r"(?<![A-Za-z])(?:jwt\w{0,20}|\w{0,12}tokens?|signing|encryption|crypto\w{0,6}|hmac|secrets?"
        r"|security|auth\w{0,12})[\"']?\s{0,2}:\s{0,8}\{?[^{}]{0,200}?(?<![\w-])[\"']?"
        r"(?:key|salt|iv|signature)[\"']?\s{0,2}:\s{0,2}[\"']?(?P<part>[\w+/=.~-]{16,200})",
        lambda value: looks_random(value, 16) and not is_placeholder(value),
        case=False,
        clue=all_clues(
            any_string("jwt", "token", "signing", "encryption", "crypto", "hmac", "sec", "auth"),
            any_match(r"[yYtTvVeE](?<=(?i:key|alt|.iv|ure))[\"']?\s{0,2}:"),
        ),
    ),
    shape(  # "Jwt": {"Key": "worded-but-long-enough"}, the first of its settings
        "API_KEY",
        r"(?<![A-Za-z])jwt\w{0,20}[\"']?\s{0,2}:\s{0,8}\{?\s{0,8}[\"']?"
        r"(?:signing)?(?:key|secret|salt)[\"']?\s{0,2}:\s{0,2}[\"']?(?P<part>[\w+/=.~!-]{16,200})",
        lambda value: _is_credential(value) and not is_reference(value, ""),
        case=False,
        clue=any_string("jwt"),
        reach=2,
    ),
    shape(  # {username: mira, password: three plain words}: these name no variable
        "PASSWORD",
        r"(?:(?m:^)[ \t]{0,40}(?:- )?|[{,][ ]?)(?:\w{1,20}[_-])?"
        r"(?:password|passwd|passphrase|pass|pwd|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD):[ ]"
        r"(?P<part>[^\W\d_][^\s\"'`{}\[\]<>|,:;()=#$]{0,30}"
        r"(?:[ ][^\s\"'`{}\[\]<>|,:;()=#$]{1,30}){1,6})(?=[ ]?[,}]|[ ]?(?:\n|\Z))",
        _is_phrase,
        clue=any_string("pass: ", "password: ", "passwd: ", "passphrase: ", "pwd: "),
        reach=84,
    ),
    shape(  # what a hash is made of: BCrypt::Password.create("kestrel")
        "PASSWORD",
        r"(?:bcrypt(?:::password)?(?:\.(?:hash(?:sync|pw)?|create)|\.generate_?from_?password)?"
        r"|(?:generate_password_hash|make_password|password_hash|hash_?password|hashpw|set_password"
        r"|hash::make|argon2(?:\.hash|id)?|encode_password|htpasswd|setpassword"
        r"|(?:password|passwd)_?encoder\(?\)?\.encode))\(\s?(?:\[\]byte\()?b?"
        r"[\"'](?P<part>[^\"'\n]{4,100})[\"']",
        _is_credential,
        case=False,
        clue=any_string("bcrypt", "passw", "hashpw", "hash::make", "argon2"),
        reach=24,
    ),
    shape(  # <input type="hidden" name="csrf_token" value="ba45-2e10-…">
        "API_KEY",
        r"<(?:input|meta)\b[^<>]{0,200}?\bname=[\"']?[\w.-]{0,30}(?:token|csrf|nonce)[\w.-]{0,12}[\"']?"
        r"\s(?:[^<>]{0,100}?\s)?(?:value|content)=[\"'](?P<part>[\w+/=.-]{12,300})[\"']",
        lambda value: sum(map(str.isdigit, value)) > 3 and not is_placeholder(value),
        case=False,
        clue=all_clues(any_string("<input", "<meta"), any_string("token", "csrf", "nonce")),
    ),
)
