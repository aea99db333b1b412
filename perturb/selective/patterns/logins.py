"""Find the names of accounts and the passwords beside them: `| Login | mira / kestrel |` in tables
and lists, and "log in with user mira7 and password kestrel" in sentences."""

from __future__ import annotations

import re

from perturb.selective.patterns.accounts import is_personal_account
from perturb.selective.patterns.given import is_ordinary_word
from perturb.selective.patterns.secrets import NOUN, NOUN_CLUE, is_worded
from perturb.selective.patterns.settings import is_placeholder
from perturb.selective.patterns.shape import any_clue, any_string, shape
from perturb.selective.patterns.told import ENDS, FEW, IS, QUOTE, VALUE, is_drawn, is_first_word

__all__ = ["LOGINS"]

# -- in tables and lists --------------------------------------------------------------------------
_PAIR = (
    r"(?m:^)[^\n]{0,60}?[\w)\"'`*.][ \t]?(?:::?|\||=|->|[ ][\u2013\u2014-])[ \t]{1,4}"
    r"[\"'`]?(?P<user>[\w.@+-]{3,64})[\"'`]? / [\"'`]?(?P<password>[^\s\"'`|/:,;()<>]{4,60})"
    r"(?=[\"'`]?[ \t]?(?:\||\n|\Z))"
)
_PAIR_CLUE = any_string(" / ")
_OF_LOGINS = re.compile(
    r"(?<![^\W_])(?:log-?ins?|passwords?|credentials|creds|accounts?|username|user|zugang(?:sdaten)?"
    r"|zugänge|passwörter|kennwörter|identifiants|accès|contraseñas|accesos|credenziali|senhas)"
    r"(?![^\W_])",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\W{0,6}[\w /]{3,36}\W{0,4}")


def _is_pair(match: re.Match[str]) -> bool:
    """Tell if `user / password` is a login: a label before it says so, or a heading above."""
    user, password = match["user"], match["password"]
    if is_worded(user) or user.isdigit() or is_worded(password):
        return False
    above = match.string[max(0, match.start() - 240) : match.start()].split("\n")
    return _OF_LOGINS.search(match.string, match.start(), match.start("user")) is not None or any(
        _OF_LOGINS.search(line) for line in above if _HEADING.fullmatch(line)
    )


def _locate_password(match: re.Match[str]) -> tuple[int, int] | None:
    open_ = is_placeholder(match["password"])
    return match.span("password") if not open_ and _is_pair(match) else None


def _locate_user(match: re.Match[str]) -> tuple[int, int] | None:
    return match.span("user") if _is_pair(match) and is_personal_account(match["user"]) else None


# -- in sentences ---------------------------------------------------------------------------------
_LOGIN = (
    r"(?:user(?:name)?|log-?in|account|benutzer(?:name)?|nutzer|identifiant|usuari[oa]|usuário|utente"
    r"|utilisateur|gebruiker(?:snaam)?|användare?n?(?:amn)?|bruker(?:navn)?|bruger(?:navn)?|uživatel"
    r"|użytkownik|kullanıcı(?: adı)?|логин|логін|пользователь|користувач|χρήστης"
    r"|שם משתמש|账号|帐号|帳號"
    r"|用户名|アカウント|아이디|계정)"
)
_PASSWORD = rf"(?:{NOUN}|pass|συνθηματικό|密码|密碼|パスワード|비밀번호|암호)(?![a-z])"
_AND = (
    r"(?:[,，、;]|\s?/|\s(?:and|und|et|y|e|en|i|a|og|och|ja|и|та|і|και|ve|with|mit)(?!\w))\s?"
    r"(?:(?:the|his|her|my|le|la|das|il|el|o|a)\s)?(?:[\w-]{1,14}\s)?"
)
_SAYS = rf"(?:['\u2019]s|\s{IS})?\s?[:：=]?\s?(?:u[hm]m?,? )?"
_NAME = r"[A-Za-z][\w.+-]{1,40}(?:@[\w.-]{3,60})?(?<!\.)"
_DRAWN = (
    r"(?:[A-Za-z][\w.+-]{1,40}@[\w.-]{3,60}\w|(?=[a-z._-]{1,30}[\d_.])[a-z][\w.-]{3,30}(?<!\.))"
)
_NAMED = (  # user mira and password kestrel
    rf"(?<![^\W_]){_LOGIN}(?:\s?[:：=]|\s{IS})?\s?{QUOTE}(?P<user>{_NAME}){QUOTE}{_AND}{_PASSWORD}"
    rf"{_SAYS}{QUOTE}(?P<words>{FEW}){ENDS}"
)
_BESIDE = (  # he logs in as exam17, password kestrel
    rf"(?<![A-Za-z0-9_.@/-])(?P<user>{_DRAWN})[\"'`]?{_AND}{_PASSWORD}{_SAYS}{QUOTE}(?P<words>{FEW}){ENDS}"
)
_LOGIN_CLUE = any_clue(
    NOUN_CLUE, any_string("συνθηματικό", "密码", "密碼", "パスワード", "비밀번호", "암호")
)
_LISTED = re.compile(
    r"(?i:oauth|sha|md|utf|python|bcrypt|argon|http|ipv|pbkdf|base|rsa|aes|scrypt)-?\d\w*"
    r"|[a-z]{1,4}\d{1,2}|\w{0,12}\.\d|.*\.(?:py|js|ts|go|rs|md|txt|json|ya?ml|html?|php)"
)


def _is_told(match: re.Match[str]) -> bool:
    """Tell if a sentence names an account and then its password."""
    user, words = match["user"], match["words"].split()
    if re.match(r"\.\w|[(\[=]", match.string[match.end() : match.end() + 2]):  # code
        return False
    if "@" not in user and (not is_personal_account(user) or _LISTED.fullmatch(user)):
        return False
    drawn = re.search(r"[\d_@.]", user) is not None
    named = drawn or not (is_ordinary_word(user) or is_worded(user))
    return named and is_first_word(words[0])


def _locate_told(match: re.Match[str]) -> tuple[int, int] | None:
    return match.span("words") if _is_told(match) else None


def _locate_teller(match: re.Match[str]) -> tuple[int, int] | None:
    address = "@" in match["user"]
    return match.span("user") if not address and _is_told(match) else None


_WITH = (  # the account is svc_sync with q8!lamp; local user is mira, it logs in with kestrel
    rf"(?<![^\W_]){_LOGIN}(?:\s{IS}|:)?\s{QUOTE}(?P<user>{_NAME}){QUOTE}(?:"
    rf",? (?:(?:it|he|she|which|who|and) )?(?:logs?|signs?) in with {QUOTE}(?P<words>{FEW}){ENDS}"
    rf"|(?:,| and)? with {QUOTE}{VALUE}{ENDS})"
)
_WITH_CLUE = any_string(" with ")


def _is_with(match: re.Match[str]) -> bool:
    named = is_personal_account(match["user"]) or "@" in match["user"]
    if match["words"]:
        return named and is_first_word(match["words"].split()[0])
    return named and is_drawn(match["part"]) and not re.fullmatch(r"[A-Za-z]+\d", match["part"])


LOGINS = (
    shape("PASSWORD", _PAIR, clue=_PAIR_CLUE, locate=_locate_password, reach=130),
    shape("USERNAME", _PAIR, clue=_PAIR_CLUE, locate=_locate_user, reach=130),
    *(
        shape(type_, pattern, case=False, clue=_LOGIN_CLUE, locate=locate, reach=130)
        for pattern in (_NAMED, _BESIDE)
        for type_, locate in (("PASSWORD", _locate_told), ("USERNAME", _locate_teller))
    ),
    shape(
        "PASSWORD",
        _WITH,
        case=False,
        clue=_WITH_CLUE,
        locate=lambda match: (
            match.span("words" if match["words"] else "part") if _is_with(match) else None
        ),
        reach=90,
    ),
    shape(
        "USERNAME",
        _WITH,
        case=False,
        clue=_WITH_CLUE,
        locate=lambda match: (
            match.span("user") if _is_with(match) and "@" not in match["user"] else None
        ),
        reach=90,
    ),
)
