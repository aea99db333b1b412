"""Find addresses on networks and telephone numbers.

The address of a page is a `URL` where it is of an internal host or of a person's folder; any other
is a `PUBLIC_URL`: what is private in its query is found by itself. An address of a private network
is an `INTERNAL_HOST` where words say that it is one machine's, else a `PRIVATE_ADDRESS`.
"""

from __future__ import annotations

import ipaddress
import re

from perturb.selective.patterns.accounts import is_personal_account
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.labels import spell_key
from perturb.selective.patterns.settings import assigned, looks_random, read_setting
from perturb.selective.patterns.shape import (
    all_clues,
    any_figure,
    any_listed,
    any_match,
    any_of,
    any_string,
    digits,
    least_digits,
    shape,
    words_of,
)

__all__ = ["CONTACT", "INTERNAL", "is_ip_address"]

_DOMAINS = ("com", "org", "net", "edu", "gov", "info", "io", "dev", "app", "ai", "eu")
INTERNAL = ("internal", "intranet", "intern", "corp", "local", "lan", "home", "localdomain")

_MONTH, _DAY = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
_DATE = re.compile(  # in figures, also with the hour that follows
    rf"(?:(?:1[5-9]|20)\d\d(?P<a>[-/.]){_MONTH}(?P=a){_DAY}"
    rf"|(?:{_MONTH}(?P<b>[-/.]){_DAY}|{_DAY}(?P<c>[-/.]){_MONTH})"
    r"(?:(?P=b)|(?P=c))(?:(?:1[5-9]|20)\d\d|\d\d))(?: \d{1,2})?"
)


def is_ip_address(text: str) -> bool:
    """Check an address of IPv4 or IPv6."""
    try:
        return int(ipaddress.ip_address(text)) > 0
    except ValueError:
        return False


def _is_public_address(text: str) -> bool:
    """Check an address of one machine on the internet: no private network, no documentation, no
    version (121.0.0.0), and none that everybody knows."""
    if not is_ip_address(text) or text in _KNOWN or text.endswith(".0.0.0"):
        return False
    address = ipaddress.ip_address(text)
    if address.version == 6 and not re.match("[23][0-9a-fA-F]{3}:", text):
        return False
    if address.version == 4 and max(map(int, text.split("."))) < 10:  # a version: 5.0.1.1
        return False
    return address.is_global and not address.is_multicast


def _is_machine(text: str) -> bool:
    """Check an address of one machine, private ones included; not of the machine itself."""
    if not is_ip_address(text) or text in _KNOWN or text.endswith((".0.0.0", ".0.0", "::")):
        return False
    address = ipaddress.ip_address(text)
    return not (address.is_loopback or address.is_multicast or text.startswith("255."))


def _is_own_address(text: str) -> bool:
    """Check an address of one machine in a private network, but a router's: 192.168.1.1."""
    return (
        _is_machine(text)
        and ipaddress.ip_address(text).is_private
        and not text.endswith((".0", ".1", ".255"))
    )


def _is_ipv6_machine(text: str) -> bool:
    """Check an address of one machine that is no step in an index: `rows[1::2]`."""
    lettered = any(c.isalpha() for c in text) and any(len(part) > 2 for part in text.split(":"))
    return _is_machine(text) and (lettered or len(text.replace("::", ":").split(":")) > 3)


def _is_documented(text: str) -> bool:
    """Check an address of the ranges for documentation, which stand for public ones."""
    return text.startswith(("192.0.2.", "198.51.100.", "203.0.113.", "2001:db8:"))


_KNOWN = words_of(
    "8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 1.2.3.4 208.67.222.222 169.254.169.254",
    "2001:4860:4860::8888 2001:4860:4860::8844 2606:4700:4700::1111 2606:4700:4700::1001",
    "2620:fe::fe 2620:fe::9",
)
# Before an address of a private network, these say that it is one machine's.
_HOSTED = (
    r"(?:(?<![A-Za-z0-9.])(?:connect(?:ed|s|ing)? to|ip|ipv4|ipv6|ips|ip[ _-]?addr(?:ess)?"
    r"|addr|host|hostname|client"
    r"|peer|remote|rhost|from|server|src|dst|source|destination|login|forwarded[- ]for|real-ip"
    r"|gateway|nameserver|bind)(?:[\"'`]? ?[:=] ?| is | )[\"'`\[(]{0,2}"
    r"|@|(?<=[a-z])\[|:// ?|(?:ssh|ping|scp|telnet|psql -h|mysql -h|nmap|curl|-h) )"
)


def _locate_version(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an address; None for a version or a network: 10.0.0.0/8."""
    before = match.string[max(0, match.start() - 24) : match.start()].lower()
    after = match.string[match.end() : match.end() + 3]
    if _VERSION.search(before) or (after[:1] == "/" and after[1:2].isdigit()):
        return None
    low = all(int(number) < _LOW for number in match[0].split("."))
    return None if low and _RELEASED.search(before) else match.span()


def _locate_hosted(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an address after a word for one; None for `upgraded from 2.7.2.2`: no
    address of a private network, which a machine may be moved from."""
    start, end = match.span("part")
    before = match.string[max(0, start - 24) : start].lower()
    moved = _UPGRADED.search(before) and not ipaddress.ip_address(match["part"]).is_private
    return None if moved else (start, end)


_UPGRADED = re.compile(r"(?:(?:up|down)grad|updat)\w{1,4} (?:from|to) \Z")
# Escapes of bytes, and what stands for a host: `\\x1f\\x8b`, `\\server\share`.
_ESCAPED = re.compile(
    r"x[0-9a-f]{2}|u[0-9a-f]{4}|(?:file)?server|host(?:name)?|computer|machine", re.IGNORECASE
)
_SHOWN = words_of("aa:bb:cc:dd:ee:ff 00:11:22:33:44:55 01:23:45:67:89:ab 12:34:56:78:9a:bc")


def _is_machines(address: str) -> bool:
    """Tell if an address of a network card is a machine's, and none that documentation shows, or
    is reserved for it (RFC 7042)."""
    plain = address.lower().replace("-", ":")
    return len(set(plain)) > 2 and plain not in _SHOWN and not plain.startswith("00:00:5e:00:53")


_LOW = 40
_RELEASED = re.compile(  # tool-1.5.0.0
    r"[a-z]{3}[-_]\Z|(?:since|from|in|fixes|until|before|after) \Z"
)
_VERSION = re.compile(
    r"(?:version|release|assembly|build|upgrade|update|ver|v|to|firmware|sections?|chapters?|clause"
    r"|§|abschnitt|kapitel|(?:(?:up|down)grad|updat)\w{1,4} from|==|[<>~^]=?)"
    r"[\W_]{0,3}\Z"
)


# -- pages ---------------------------------------------------------------------------------------
# The part of a profile's address that is the user's name is a USERNAME; the address may be public.
_PERSONAL = re.compile(
    rf"(?://|\A)(?:[^/?#\s@]{{0,80}}@)?[\w.-]{{1,200}}\.(?:{'|'.join(INTERNAL)})(?:[:/?#]"
    rf"|\Z)|/~\w",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:https?://|ftp://)?(?:[\w-]+\.)*(?:example\.(?:com|org|net)|localhost|127\.0\.0\.1"
    r"|0\.0\.0\.0|docker\.internal|cluster\.local"
    r"|\[::1?\]|[\w-]+\.(?:test|invalid))(?:[:/?#]|\Z)",
    re.IGNORECASE,
)


def _is_personal_page(url: str) -> bool:
    """Tell if an address of a page says something about somebody."""
    return _PERSONAL.search(url) is not None and not _EXAMPLE.match(url)


def _is_public_page(url: str) -> bool:
    return not _is_personal_page(url)


def _is_phone(text: str) -> bool:
    """Check the number of digits: E.164 has at most 15, and an extension adds a few. A date is no
    telephone number."""
    return _is_called(text) and not _ZIP_PLUS.fullmatch(text)


def _is_called(text: str) -> bool:
    """Check a number after a word for a telephone, where it is no postcode: `Tel: 05337-7187`."""
    least = 9 if text.startswith("0") else 6
    plain = _DATE.fullmatch(text) or _TIMES.fullmatch(text)
    return least <= len(digits(text)) <= 20 and not plain and not _is_toll_free(text)


_PHONE_KEYS = words_of(
    "phone telephone tel mobile cell cellphone fax msisdn telefon handy whatsapp"
)
_KEY_ENDS = words_of("no nr num nbr number nummer")


def _locate_keyed(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a telephone number by its key: `homePhone`, `phone_no`, `mobile2`."""
    words = spell_key(match["key"]).rstrip("_123").split("_")
    while words and words[-1] in _KEY_ENDS:
        words.pop()
    last = words[-1] if words else ""
    called = last in _PHONE_KEYS or (last == "contact" and match["key"].lower() != "contact")
    return match.span("part") if called and _is_called(match["part"]) else None


def _is_toll_free(text: str) -> bool:
    """Tell if a number is free for the caller, or costs them extra: firms alone have such.

    >>> [_is_toll_free(text) for text in ("1-800-555-0199", "0800 1110111", "0171 2345678")]
    [True, True, False]
    """
    return _TOLL_FREE.fullmatch(re.sub(r"[^+\d]", "", text)) is not None or (
        _FREEPHONE.match(text) is not None
    )


_TOLL_FREE = re.compile(
    r"(?:\+?1)?(?:800|833|844|855|866|877|888|900)\d{7}"  # North America
    r"|0?0800\d{5,9}|0900\d{5,8}|\+(?:3[1-49]|353|4[1348]|49|7)0?800\d{5,8}"
)
_FREEPHONE = re.compile(r"0808[ -]|08(?: \d\d){4}\Z")  # Britain, France


def _locate_phone(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a number, unless it is a part of a longer row of digits or bytes."""
    before = match.string[max(0, match.start() - 12) : match.start()]
    if _STAMP.match(match[0]) and _LEVEL.match(match.string, match.end()):
        return None
    if match[0][0] != "+" and _PRODUCT.match(match.string, match.end()):
        return None
    amount = _AMOUNT.fullmatch(match[0]) and _CENTS.match(match.string, match.end())
    if amount and len(digits(match[0])) < _INTERNATIONAL:
        return None
    return None if _ROW.search(before) and match[0][0] != "+" else match.span()


_ROW = re.compile(r"(?:(?<![+\d])\d{5} |(?:(?<!\w)[0-9a-f]{2} ){3})\Z", re.IGNORECASE)
# The day and the time at the beginning of a line of a log: 081109 203615 148 INFO, 0701/114930
_STAMP = re.compile(
    r"(?:\d\d)?(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[ /](?:[01]\d|2[0-3])[0-5]\d[0-5]\d(?!\d)"
)
_LEVEL = re.compile(r"[ :]{1,2}(?:INFO|WARN|ERROR|DEBUG|TRACE|FATAL|NOTICE|VERBOSE|SEVERE)")
_AMOUNT = re.compile(r"\+\d{1,9}|[+(]{0,2}\d{1,3}\)?(?: \d{3})+")  # +12 345 678,90
_INTERNATIONAL = 10  # digits that a number with the code of its country has, at least
_CENTS = re.compile(r",\d\d?(?!\d)")
_PRODUCT = re.compile(r"-[A-Z]{2}")  # the rest of the number of a product: 00330-80000-00000-AA512
_TIMES = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d(?: (?:[01]\d|2[0-3])[0-5]\d){2,}")
_ZIP_PLUS = re.compile(r"\d{5}-\d{4}")  # of the United States


# Accounts of programs, and stand-ins that documentation uses.
_PROGRAMS = words_of("git hg svn noreply no-reply donotreply")
_STAND_INS = words_of(
    """
    user users username user1 user2 you your yourname your.name name email mail me someone somebody
    test tester testing foo bar baz example sample demo a b c x y abc xyz alice bob admin
    info support contact hello root
    postmaster webmaster team dev ops security sales office your-email youremail first.last
    firstname.lastname
    """
)
# What somebody is to fill in.
_YOURS = re.compile(
    r"(?:your[._-]?|(?:deine?|ihre?|votre|tu)[._-])(?:(?:own|gmail|work|personal|real|google|smtp)[._-]?)?"
    r"(?:e-?mail|mail|address|adresse|user(?:name)?|account|name|login|id|correo)"
    r"(?:[._-]?(?:address|adresse|here|id))?"
)
_NOWHERE = re.compile(
    r"(?:[\w-]+\.)*(?:example\.(?:com|org|net|test)|test|invalid|(?:your)?domain\.(?:com|tld)"
    r"|yourcompany\.com|localhost|acme\.(?:com|test)|foo\.com|bar\.com)",
    re.IGNORECASE,
)

_OF_FILE = re.compile(r"\.(?:js|jsx|ts|tsx|json|ya?ml|txt|html|css|xml|csv|log|java|cpp)\Z")
# Of everybody's own network.
_OWN_NET = re.compile(
    r"(?:127|10)(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}"
    r"|[\w-]+\.local"
)


_CREDENTIALS = re.compile(r"://[^\s:@/\"'`<>]{0,100}:[^\s@/\"'`<>]{0,100}\Z")  # before a host


_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
# Beside which a sentence goes on without a blank.
_BEFORE_ADDRESS = re.compile(rf".*[{_IDEOGRAPHS}](?=[!-~]+@)")


def _locate_address(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an e-mail address; None for `git@github.com` and `user@example.com`, and
    for a password before its host."""
    start, end = match.span()
    if before := _BEFORE_ADDRESS.match(match[0]):
        start += before.end()
    if _CREDENTIALS.search(match.string, max(0, match.start() - 120), match.start()):
        return None
    local, _, domain = match.string[start:end].lower().rpartition("@")
    if _is_release(domain) or _OF_FILE.search(domain):  # react@18.2.0, file@main.json
        return None
    if local in _PROGRAMS or (local in _STAND_INS and _NOWHERE.fullmatch(domain)):
        return None
    # Server@0.0.0.0, your_address@gmail.com
    if not domain.strip("0.") or _YOURS.fullmatch(local):
        return None
    if _OWN_NET.fullmatch(domain) and not is_personal_account(local):  # pi@192.168.1.10
        return None
    return start, end


def _locate_encoded(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an e-mail address whose sign is percent-encoded; None for a stand-in."""
    local, _, domain = match[0].lower().rpartition("%40")
    return None if local in _STAND_INS and _NOWHERE.fullmatch(domain) else match.span()


_HOST_NAME = re.compile(
    r"(?=[^.]{0,63}[a-z])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,6}", re.IGNORECASE
)
# Of services and documentation that everybody knows, and words of code with a dot.
_PUBLIC_HOST = re.compile(
    r"(?:com|org|net|edu|gov|io)\..*"  # the names of packages: com.acme.shop
    r"|(?:.*\.)?(?:(?:github|gitlab|bitbucket|google|googleapis|gmail|amazonaws|azure|windows"
    r"|microsoft|office365|outlook|openai|anthropic|docker|cloudflare|heroku|stripe|slack|mailgun"
    r"|sendgrid|twilio|facebook|apple|mozilla|npmjs|pypi|python|debian|ubuntu|kernel|postgresql"
    r"|mysql|mongodb|redis|elastic|apache|nginx|kubernetes|k8s|cncf|ntp|pool|letsencrypt"
    r"|huggingface|digitalocean|linode|sentry|datadoghq|grafana|vercel|netlify|firebase)"
    r"(?:\.\w{2,10}){1,2}"
    r"|example\.(?:com|org|net)|hf\.co|sr\.ht|supabase\.com?|neon\.tech|upstash\.io|nats\.io"
    r"|rebex\.net|cockroachlabs\.cloud|render\.com|railway\.app|fly\.(?:io|dev)|codeberg\.org"
    r"|gitea\.com|sourceforge\.net|gnu\.org|freedesktop\.org|atlassian\.(?:com|net)"
    r"|snowflakecomputing\.com"
    r"|py|js|ts|java|go|rs|json|yaml|yml|conf|cfg|txt|log|html|md|sh|svc|cluster|env|name|com|org"
    r"|port|url|host|hostname|endpoint|domain|server|netloc|addr|address|get|value|config|settings"
    r"|test|invalid)",
    re.IGNORECASE,
)


def _is_own_host(name: str) -> bool:
    """Check the name of a host that only a firm's own people use."""
    plain = _PUBLIC_HOST.fullmatch(name) or _IPV4_FORM.fullmatch(name)
    return not plain and _HOST_NAME.fullmatch(name) is not None


def _locate_host(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the name of a host in a setting; None for a public one."""
    found = read_setting(match)
    if found is None or found.between not in ("", "=", ":", "(", "=>", ":="):
        return None
    if not found.quote and not (found.is_line or found.is_joined or found.between == ""):
        return None
    if found.between == "" and not (found.closed == "" and found.key.lower() in ("machine", "-h")):
        return None
    name = re.split(r"[:/]", found.value.removeprefix("https://").removeprefix("http://"))[0]
    if found.value.startswith("http") or not _HOST_NAME.fullmatch(name):
        return None
    # The domain of translated messages, and an entry point: host = acme.sdk:Detector
    entry = re.match(r":[a-z_]", found.value[len(name) :], re.IGNORECASE)
    if entry or found.name.lower().endswith(("i18n_domain", "textdomain", "text_domain")):
        return None
    if not name.islower() or _PUBLIC_HOST.fullmatch(name) or _IPV4_FORM.fullmatch(name):
        return None
    return found.start, found.start + len(name)


_IPV4_FORM = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


def _is_release(domain: str) -> bool:
    """Tell if what follows an `@` is the release of a package, and no host."""
    first, second, *_ = domain.split(".")
    numbers = first.removeprefix("v").isdigit() and any(map(str.isdigit, second))
    return numbers and not _IPV4_FORM.fullmatch(domain)


def _is_internal(host: str) -> bool:
    """Tell if a name under an internal ending is a host's: not `self.local`, `threading.local`."""
    if host.endswith((".docker.internal", ".cluster.local")) or host == "metadata.google.internal":
        return False  # the same everywhere
    return host.islower() and ("-" in host or host.count(".") > 1 or any(map(str.isdigit, host)))


def _locate_internal(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a host under an internal ending; None for a module that is imported:
    `from acme.protobuf.internal import builder`."""
    before = match.string[max(0, match.start() - 12) : match.start()]
    return None if _IMPORTS.search(before) else match.span()


_IMPORTS = re.compile(r"(?<![\w-])(?:from|import|package|using|namespace|use|require|static) \Z")
# They stand beside numbers without a blank.

# A number alone is no evidence: a telephone number has the form of one, or words before it.
_PHONES = "|".join(
    (
        r"\+\(?\d{1,3}\)?(?:[ ()./-]{0,3}\d){6,14}",  # +49 30 1234567, +41 (0)85 806 98 67
        r"00[1-9]\d{0,2}(?:[ ()/-]{0,3}\d){7,12}",
        r"(?:0{0,2}1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}",  # North America
        r"(?:\d{1,2} ?)?\(\d{2,5}\) ?\d{2,5}(?:[ -]\d{2,5}){1,3}",  # (020) 7946 0958
        r"0[1-9]\d{0,4}(?: ?[/.-] ?| )\d{2,8}(?:[ ./-]\d{2,6}){0,4}",  # 0171 / 234 56 78
        r"0[1-9]\d{9}|0[67]\d{8}",
        r"[6-9]\d\d(?: \d\d){3}|[6-9]\d{4} \d{5}",  # Spain, India
        r"1[38]00 \d{3} \d{3}",  # Australia
        r"(?<=[\u3400-\u9fff\uff1a])1[3-9]\d{9}|1[3-9]\d[ -]\d{4}[ -]\d{4}",  # China
    )
)
_EXTENSION = r"(?: ?(?:x|ext\.?) ?\d{1,6})?"
_PHONE_WORDS = """
    phone phones telephone tel mobile cell cel cellular pix zap fax telefax desk call calls
    ring dial whatsapp kontakt zadzwonić zadzwoń volejte
    sms msisdn messages bizum answering telefon telefonnummer handy handynummer durchwahl rufnummer
    téléphone portable appelle appeler teléfono móvil celular llame llamó llamar llámame telefono
    llamad ligue ligou chiama chiamare chiami volejte zavolejte zadzwoń
    cellulare тел телефон вн هاتف هاتفي هاتفه هاتفها الهاتف جوال جوالي الجوال موبايل تلفون واتساب
    טלפון הטלפון נייד שלי تلفن موبایل फोन फ़ोन मोबाइल नंबर
"""


_REST = r"(?:[^\s<>\"“”`\\]|\\/)*(?<![.,;:!?)\]'’])"  # an escape of JSON ends an address
_PAGE = rf"(?<!\w)(?:https?://|ftp://|www\.){_REST}"
_SITE = (
    r"(?<![\w.@-])[\w-]++(?:\.[\w-]++)+(?:"
    + "|".join(rf"(?<=\.{end})" for end in _DOMAINS)
    + rf")(?:/{_REST})?"
)
_SITE_CLUE = any_string(*(f".{end}" for end in _DOMAINS))
_IPV4 = r"(?<![\w.])(?<!\w/)(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)"  # Chrome/121.0.6167.85 is none
_IPV4_CLUE = all_clues(least_digits(4), any_match(r"\.\d{1,3}\.\d"))
_IPV6 = (
    # Not 12-Mar-2024::10:14:22, of Erlang's logs.
    r"(?<![\w:.])(?<![A-Za-z]-)[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?::\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])"
)

_IPV6_CLUE = any_match(":[0-9A-Fa-f]{0,4}:")
_HOST_IPV4 = rf"{_HOSTED}(?P<part>(?:\d{{1,3}}\.){{3}}\d{{1,3}})(?![\w.]?\d|/\d)"
_HOST_IPV6 = rf"{_HOSTED}(?P<part>[0-9A-Fa-f]{{0,4}}(?::[0-9A-Fa-f]{{0,4}}){{2,7}})(?![\w:]|/\d)"


def _locate_somebodys(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a number of seven digits after somebody's name."""
    return match.span("part") if any(map(is_given, match["who"].split())) else None


# In a field or a line of notes whose label says whose it is.
_PHONE_LABELS = """
    phone telephone tel mobile mob cell telefon telefono teléfono téléphone telefone móvil handy
    gsm komórka
"""
_CALLING = "call ring text phone msg dm whatsapp reach contact"

CONTACT = (
    shape(  # Tel. do pani Bożeny: 601 555 019
        "PHONE_NUMBER",
        rf"(?<!\w){any_of(_PHONE_LABELS)}\.? (?:\(?[^\W\d_]{{1,20}}[).]?[ ]){{0,3}}"
        r"\(?[^\W\d_]{1,20}[).]?: ?"
        r"(?P<part>[+(0][\d ()./-]{6,22}(?<=\d)|\d{3}[ .-]\d{3}[ .-]\d{3,4})(?!\w|[.,]\d)",
        _is_called,
        case=False,
        clue=all_clues(least_digits(6), any_listed(_PHONE_LABELS)),
        reach=12,
    ),
    shape(  # call jen 555-0187
        "PHONE_NUMBER",
        rf"(?<!\w){any_of(_CALLING)} (?P<who>(?:[^\W\d_]{{2,20}} ){{1,4}})(?:at |on )?"
        r"(?P<part>\d{3}[-. ]\d{4})(?![\w-]|[.,]\d)",
        case=False,
        locate=_locate_somebodys,
        clue=all_clues(least_digits(7), any_listed(_CALLING)),
        reach=12,
    ),
    shape(
        "EMAIL_ADDRESS",
        # logo@2x.png is the name of a picture.
        rf"(?:(?<![\w.+%-])|(?<=[!-~])(?=[{_IDEOGRAPHS}]))(?!')[\w.+%'-]++@(?!\d{{1,2}}x\.\w)"
        rf"(?:[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)+(?![^\W{_IDEOGRAPHS}])|[\w-]++(?:\.[\w-]++)+)",
        clue=any_string("@"),
        locate=_locate_address,
    ),
    shape(
        "EMAIL_ADDRESS",
        r"(?<![\w.+%-])[\w.+-]{1,64}%40[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}",
        clue=any_string("%40"),
        locate=_locate_encoded,
        reach=70,
    ),
    shape(  # mira [at] lindenhof [dot] example
        "EMAIL_ADDRESS",
        r"(?<![\w.+-])[\w.+-]{1,64} ?[\[({<] ?(?:at|ät|@|arroba|chez) ?[\])}>] ?[\w-]{1,63}"
        r"(?: ?(?:\.|[\[({<] ?(?:dot|punkt|point|punto|\.) ?[\])}>]) ?[\w-]{2,63}){1,4}",
        case=False,
        clue=any_match(r"(?i:[\[({<] ?(?:at|ät|@|arroba|chez) ?[\])}>])"),
        reach=70,
    ),
    shape(  # mira at lindenhof dot example
        "EMAIL_ADDRESS",
        r"(?<![\w.+-])[\w.+-]{1,64} (?:at|ät|arroba) [\w-]{1,63}"
        r"(?: (?:dot|punkt|punto) [\w-]{2,24}){1,3}",
        case=False,
        clue=any_listed("dot punkt punto"),
        reach=200,
    ),
    shape("URL", _PAGE, _is_personal_page, case=False, clue=any_string("://", "www."), reach=8),
    shape(
        "PUBLIC_URL",
        _PAGE,
        _is_public_page,
        case=False,
        clue=any_string("://", "www."),
        reach=8,
    ),
    shape("URL", _SITE, _is_personal_page, case=False, clue=_SITE_CLUE),
    shape("PUBLIC_URL", _SITE, _is_public_page, case=False, clue=_SITE_CLUE),
    shape(
        "INTERNAL_HOST",
        rf"(?<![\w.@-])(?>(?:[A-Za-z0-9-]{{1,63}}\.){{1,6}})(?:{'|'.join(INTERNAL)})"
        r"(?![\w(=-]|\.\w)",
        _is_internal,
        clue=any_string(*(f".{end}" for end in INTERNAL)),
        locate=_locate_internal,
        reach=460,
    ),
    shape(
        "INTERNAL_HOST",
        # \\nas\files, in a string \\\\nas\\files; C:\\tools\\bin and "\\tools\\bin" are paths
        r"(?<![\w\\:.)}\]])\\\\(?P<twice>\\\\)?(?P<part>[A-Za-z][\w-]{1,62})"
        r"\\(?(twice)\\)\w",
        lambda host: not _ESCAPED.fullmatch(host),
        clue=any_string("\\\\"),
        reach=6,
    ),
    shape(
        "IP_ADDRESS",
        _IPV4,
        _is_public_address,
        clue=_IPV4_CLUE,
        locate=_locate_version,
        reach=50,
    ),
    shape("IP_ADDRESS", _HOST_IPV4, _is_documented, case=False, clue=_IPV4_CLUE, reach=50),
    shape(
        "INTERNAL_HOST",
        _HOST_IPV4,
        _is_machine,
        case=False,
        clue=_IPV4_CLUE,
        locate=_locate_hosted,
        reach=50,
    ),
    shape(
        "PRIVATE_ADDRESS",
        _IPV4,
        _is_own_address,
        clue=_IPV4_CLUE,
        locate=_locate_version,
        reach=50,
    ),
    shape(  # a line of /etc/hosts
        "INTERNAL_HOST",
        r"(?m:^)[+-]?(?P<part>(?:\d{1,3}\.){3}\d{1,3})[ \t]{1,16}(?=[a-z][a-z0-9.-]{1,60}[a-z])",
        _is_machine,
        clue=_IPV4_CLUE,
        reach=20,
    ),
    shape(  # the names in it
        "INTERNAL_HOST",
        r"(?m:^)[+-]?(?:10|172\.(?:1[6-9]|2\d|3[01])|192\.168)(?:\.\d{1,3}){2,3}[ \t]{1,16}"
        r"(?P<part>[a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60}){1,4})(?=[ \t\r\n]|\Z)",
        _is_own_host,
        clue=_IPV4_CLUE,
        reach=20,
    ),
    shape(  # postgresql://app:secret@db.firm.example/main, git@git.firm.example:
        "INTERNAL_HOST",
        r"(?:(?:://[^\s/@\"'<>]{1,120}|(?<![\w.+-])git)@|(?:ssh|sftp|ldaps?|smb|nfs|rsync)://)"
        r"(?P<part>[a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60}){1,4})(?![\w@.-])",
        _is_own_host,
        clue=any_match(r"://|git@"),
        reach=6,
    ),
    shape("IP_ADDRESS", _IPV6, _is_public_address, clue=_IPV6_CLUE, reach=90),
    shape("IP_ADDRESS", _HOST_IPV6, _is_documented, case=False, clue=_IPV6_CLUE, reach=90),
    shape(
        "INTERNAL_HOST",
        _HOST_IPV6,
        _is_ipv6_machine,
        case=False,
        clue=_IPV6_CLUE,
        reach=90,
    ),
    shape(
        "INTERNAL_HOST",
        assigned(
            r"(?:host|hostname|server|endpoint|domain|domains|machine|fqdn|smtp_ssl|imap4_ssl"
            r"|-h|ssh)"
        ),
        case=False,
        clue=any_string("host", "server", "endpoint", "domain", "machine", "fqdn", "_ssl", "-h"),
        locate=_locate_host,
        reach=24,
    ),
    shape(  # what an address of a page carries
        "API_KEY",
        r"[?&;](?:\w{0,20}_)?(?:token|sig|signature|code|t|h|hash|invite|ticket|nonce|state)="
        r"(?P<part>[A-Za-z0-9+/=_.~%-]{12,2000})",
        lambda value: looks_random(value.replace("%", "")),
        clue=any_string("="),
        reach=40,
    ),
    shape(
        "MAC_ADDRESS",
        r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])",
        _is_machines,
        clue=any_match("[:-][0-9A-Fa-f]{2}[:-]"),
        reach=24,
    ),
    shape(
        "PHONE_NUMBER",
        # .065 is a fraction in a drawing's path. Where a number has a plus sign or brackets, the
        # comma behind it is not a decimal one: it is followed by the next cell of a row.
        rf"(?<![^\W{_IDEOGRAPHS}]|\+)(?:(?=(?P<sure>\+|\(\d))|(?<!\d[.,:/-])(?<![-\s,]\.))"
        rf"(?:{_PHONES}){_EXTENSION}(?![^\W{_IDEOGRAPHS}]|\.\d|,\d(?(sure)(?!)))",
        _is_phone,
        locate=_locate_phone,
        clue=all_clues(least_digits(7), any_figure(r"\d(?:[ ()./-]{0,3}\d){5}")),
        reach=12,
    ),
    shape(
        "PHONE_NUMBER",
        r"(?<=[=:])%2B\d{1,3}(?:(?:%20|[-+])?\d){6,13}(?!\w)",
        clue=any_string("%2b"),
        reach=4,
    ),
    shape(  # <phoneNumber>, \phone{…}, "contact_no":
        "PHONE_NUMBER",
        r"(?<!\w)(?P<key>[A-Za-z]\w{1,30})(?:\\{0,3}[\"'])?(?:[ \t]{0,8}[:=][ \t]{0,8}|>|\{)"
        r"(?:\\{0,3}[\"'])?"
        rf"(?P<part>\(?\+?\d[\d ()./-]{{4,22}}(?<=\d){_EXTENSION})(?!\w|[.,-]\d)",
        clue=all_clues(
            least_digits(6),
            any_string(
                "phone", "tel", "mobile", "cell", "fax", "msisdn", "handy", "whatsapp", "contact"
            ),
        ),
        locate=_locate_keyed,
        reach=56,
    ),
    shape(  # Tomás: 912 555 019
        "PHONE_NUMBER",
        r"(?<!\w)(?P<name>[^\W\d_a-z][^\W\d_A-Z]{2,20}): {1,2}"
        r"(?P<part>(?!(?:19|20)\d\d[-./])\+?\d(?:[ ./-]?\d){6,13})(?!\w|[.,:]\d)",
        clue=all_clues(least_digits(7), any_figure(r": {1,2}\+?\d")),
        locate=lambda match: match.span("part") if is_given(match["name"]) else None,
        reach=24,
    ),
    shape(
        "PHONE_NUMBER",
        rf"(?<!\w){any_of(_PHONE_WORDS)}\.?[\"')]?(?: ?(?:no|nr|number|nummer)\.?)?"
        r"[:=#\s\"'>]{1,4}(?:(?:me|him|her|us|them) )?(?:(?:at|on|to|under|unter|is|es|é|è|est"
        r"|ist|jest|al|au|هو|है) )?"
        rf"(?P<part>\(?\+?\d[\d ()./-]{{4,22}}(?<=\d){_EXTENSION})(?!\w|[.,]\d)",
        _is_called,
        case=False,
        clue=all_clues(least_digits(6), any_listed(_PHONE_WORDS)),
        reach=24,
    ),
)
