"""Find codes that people tell: PINs, one-time codes, and the codes of doors, safes and alarms, in
figures, in letters, and in words of many languages ("four eight one nine", 七三零八)."""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_ordinary_word
from perturb.selective.patterns.shape import (
    all_clues,
    any_clue,
    any_listed,
    any_match,
    any_of,
    any_string,
    least_digits,
    shape,
    words_of,
)

__all__ = ["CODES"]

IS = (
    r"(?:is|was|will be|ist|lautet|war|wird|est|était|sera|es|era|será|é|è|sarà|to|jest|er|är|var"
    r"|on|oli|je|bude|este|είναι|היא|הוא|là|adalah|हैं?|था|थी|это|був|была?|هي|هو|הייתה|היה"
    r"|c['\u2019]est)"
)
_STILL = (
    r"(?:still|now|currently|changed to|changes to|noch|immer noch|jetzt|neu|toujours|encore"
    r"|maintenant|ahora|sigue siendo|todavía|ancora|adesso|ainda|agora|nog|nog steeds|nu"
    r"|fortfarande"
    r"|wciąż|nadal|teraz|pořád|stále|teď|hâlâ|şimdi|теперь|сейчас|тепер|зараз|new)"
)

# -- in figures -----------------------------------------------------------------------------------
_CODE_WORDS = (
    r"(?:(?:pin|puk|otp|tan|cvv2?|cvc2?|passcode|digicode|geheimzahl)(?:[ -](?:code|nummer))?"
    r"|(?:door|access|security|sign-?in|log-?in|verification|entry|gate|alarm|safe|unlock"
    r"|confirmation|zugangs|tür|sicherheits|bestätigungs)[ -]?code"
    r"|code (?:für|for|to|of) (?:die|the|your|our) (?:tür|door|gate|safe|alarm)"
    r"|código de (?:acceso|verificación|seguridad)|code (?:d['’]accès|de vérification|secret))"
)
_DOORS = (
    r"(?:door|front|back|side|gate|garage|padlock|lock(?:er|box)?|key ?(?:safe|box|pad)|safe|alarm"
    r"|entry|entrance|building|lobby|intercom|buzzer|bike|bin store|gym|pool|shed|barn|stable"
    r"|cabinet"
    r"|cupboard|club(?:house|room)|hall|office|flat|lift|elevator|car ?park|barrier|tor|tür|haus"
    r"|garagen|schlüsselsafe|schlüsseltresor|schlüsselkasten|tresor|schließfach|spind)"
)
_CODES = (
    rf"(?:{_DOORS}[ -]?(?:code|combo|combination|pin)"
    rf"|(?:code|combo|combination|pin) (?:to|for|of|on) (?:the|my|our|your) (?:\w+ )?{_DOORS}"
    r"|code (?:de la porte|du portail|de l['\u2019]immeuble|du coffre|de l['\u2019]alarme)"
    r"|(?:nouveau |ancien )?digicode"
    r"|código (?:del portal|de la puerta|de la alarma|do portão|da porta|do alarme)"
    r"|codice (?:del cancello|della porta|del portone|dell['\u2019]allarme)"
    r"|port-?kod(?:en)?|dørkode(?:n)?|pin[ -]?code|pinkod(?:en)?|pinkode(?:n)?|pin-?kód|pin-?koodi"
    r"|larmkod(?:en)?|alarmkode(?:n)?|poortcode|deurcode|alarmcode|kluiscode|ovikoodi|ajtókód|kapukód"
    r"|kod (?:do|od) (?:bramy|drzwi|klatki|domofonu|furtki|alarmu)|kod (?:domofonu|alarmu)"
    r"|kód (?:od|k|do|na) (?:dveří|vchodu|brány|branky|alarmu|sejfu)|kapı (?:şifresi|kodu)"
    r"|код (?:(?:от|к|для|від|до) )?(?:домофон[ау]?|двер[иіь]|под[ъь]езд[ау]|під[\u2019']їзду"
    r"|сейфа?"
    r"|ворот|калитки|сигнализации|сигналізації)|пин-?код(?: \w{1,12})?|pin|ओटीपी"
    r"|пін(?:-?код)?|取款密码|门禁密码|开门密码|पिन|رمز (?:الباب|الدخول))"
)
# What stands beside a number only where it is a code.
_LOCKS = (
    r"(?:key ?(?:safe|box)|lock ?box|padlock|szyfr|schlüsseltresor|schlüsselsafe|zahlenschloss"
    r"|entry ?(?:phone|buzzer|code)|buzzer|alarm|alarmanlage|boîte à clé|candado|lucchetto|hänglås"
    r"|kłódka|visací zámek)"
)
_LETTERED = r"(?-i:[A-ZА-Я]\d{3,6}[A-ZА-Я]?|\d{2,6}[A-ZА-Я]\d{0,5})"
_FIGURES = rf"(?:[*#]?\d(?:[ -]?\d){{2,7}}[#*]?|{_LETTERED}|\d{{1,2}}(?:[ -]\d{{1,2}}){{2,3}})"
_ENDED = r"(?![\w%\u20ac$£°]|[.:,/-]\d| ?(?:%|°|€|\$|£|dB|Hz|kHz|kW|mm|cm|km|m\b|V\b|W\b|x\b|×))"
_TURN_LIST = (
    "left right clockwise anticlockwise links rechts gauche droite izquierda derecha vänster höger"
)
_TURNS = any_of(_TURN_LIST)
_SIGN_LIST = "star hash pound stern raute étoile dièse asterisco"
_SIGNED = (  # 4-7-1-8; left 12, right 40, left 7; star 6262; 0907#
    rf"(?:\d(?:[-\u2013]\d){{2,7}}|{_TURNS} (?:to )?\d{{1,2}}(?:,? (?:then )?{_TURNS} "
    rf"(?:to )?\d{{1,2}}){{1,4}}"
    r"|(?:star|hash|pound|stern|raute|étoile|dièse|asterisco)[ ,-]{1,2}\d{3,8}|[*#]\d{3,8}[*#]?"
    r"|\d{3,8}(?:[#*]| (?:hash|star|pound|stern|raute|étoile|dièse)(?!\w)))"
)

_SIGNED_CLUE = any_clue(
    any_match(r"[\d#*](?:(?<=\d)(?:[-\u2013]\d[-\u2013]\d| ?[#*])|(?<=[#*])\d)"),
    any_listed(_TURN_LIST, _SIGN_LIST),
)

# -- in words -------------------------------------------------------------------------------------
_DIGITS = (
    "zero oh nought one two three four five six seven eight nine",
    "null eins zwo zwei drei vier fünf sechs sieben acht neun",
    "zéro un deux trois quatre cinq sept huit neuf",
    "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "due tre quattro cinque sei sette otto nove",
    "nul een twee drie vijf zes zeven negen um dois três quatro sete oito",
    "noll ett två tre fyra fem sex sju åtta nio en fire seks syv sju åtte otte ni",
    "jeden dwa trzy cztery pięć sześć siedem osiem dziewięć",
    "nula jedna dva tři čtyři pět šest sedm osm devět dve štyri päť šesť sedem osem deväť",
    "sıfır bir iki üç dört beş altı yedi sekiz dokuz",
    "nulla egy kettő három négy öt hat hét nyolc kilenc",
    "nolla yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän",
    "unu doi trei patru cinci șase șapte opt nouă nol satu dua tiga empat lima enam tujuh delapan",
    "sembilan không một hai ba bốn năm sáu bảy tám chín",
    "ноль нуль один два три четыре пять шесть семь восемь девять",
    "чотири п'ять п\u2019ять шість сім вісім дев'ять дев\u2019ять",
    "μηδέν ένα δύο τρία τέσσερα πέντε έξι επτά εφτά οκτώ οχτώ εννέα εννιά",
    "אפס אחת אחד שתיים שתים שניים שלוש שלושה ארבע ארבעה חמש חמישה שש שישה שבע שבעה שמונה תשע תשעה",
    "صفر واحد اثنان اثنين ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة یک دو سه چهار پنج شش هفت هشت نه",
    "शून्य एक दो तीन चार पाँच पांच छह छः सात आठ नौ",
)
_DIGIT = any_of(*_DIGITS)
_TENS = words_of(
    """
    ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty
    forty fifty sixty seventy eighty ninety
    """
)
_NUMBER = rf"(?:{_DIGIT}|{any_of(' '.join(_TENS))}|double|triple|treble|doppel|zweimal)(?!\w)"
_SIGN = r"(?:hash|star|pound|stern|raute|(?-i:[A-Z])(?!\w))"
_SPOKEN = (
    rf"(?:{_SIGN}[ ,-]{{1,2}})?{_NUMBER}(?:[ ,-]{{1,2}}{_NUMBER}){{1,9}}(?:[ ,-]{{1,2}}{_SIGN})?"
)
# What may be told in words: near these a row of numbers is a code.
_OPENED = (
    r"(?:(?<![^\W_])(?:pins?|puk|codes?|combination|combo|lock|safe|vault|gate|door|clave|senha|slot"
    r"|lås\w{0,3}|zám\w{1,4}|mã|قفل|पिन|कोड)|(?:pass ?code|padlock|lock ?box|key ?(?:box|safe"
    r"|pad)|alarm"
    r"|password|geheimzahl|tresor|safe|schloss|(?<!en)(?<!de)(?<!uni)(?<!byte)(?<!post)code|código|codice|kluis\w{0,4}|nyckelskåp\w{0,3}"
    r"|kod\w{0,4}|larm\w{0,3}|kode\w{0,3}|szyfr\w{0,3}|kłódk\w{0,2}|kód\w{0,3}|koodi\w{0,3}|cifru\w{0,3}"
    r"|şifre\w{0,5}|kilit\w{0,4}|код\w{0,3}|пин\w{0,3}|пін\w{0,3}|замо?к\w{0,3}|κωδικ\w{1,3}"
    r"|κλειδαριά\w?|קוד|קודן|כספת|رمز|الرقم السري|رقم سري))"
)
_OPENED_CLUE = any_string(
    *("pin", "puk", "code", "combi", "combo", "lock", "key", "safe", "vault", "alarm", "gate"),
    *("door", "password", "geheimzahl", "tresor", "schloss", "código", "codice", "clave", "senha"),
    *("kluis", "slot", "skåp", "kod", "larm", "kode", "lås", "szyfr", "kłódk", "kód", "zám"),
    *("koodi", "cifru", "şifre", "kilit", "код", "пин", "пін", "зам", "κωδικ", "κλειδ"),
    *("קוד", "כספת", "رمز", "سري", "पिन", "कोड", "mã", "sandi"),
)
_ANSWERED = r"(?:\?[ \t]*\n{1,2}[^\n:]{1,30}:)"


def _locate_spoken(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a row of numbers of three digits or more."""
    words = [word.lower() for word in re.split(r"[ ,-]+", match["part"])]
    digits = sum(1 + (word in _TENS) for word in words if len(word) > 1)
    commas = match["part"].count(", ")
    return match.span("part") if digits > 2 + (commas > 1) else None


def _locate_signed(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a code with signs; None for the number of an issue: `(#4893)`."""
    start, end = match.span("part")
    numbered = match["part"].startswith("#") and not match["part"].endswith("#")
    before = match.string[max(0, start - 24) : start]
    return None if numbered and _ISSUE.search(before) else (start, end)


_ISSUE = re.compile(
    r"(?:[(\[]|(?<![^\W_])(?:issues?|prs?|pull(?: requests?)?|merge(?: requests?)?|fix(?:e[sd])?"
    r"|clos(?:e[sd]?|ing)|resolve[sd]?|ref(?:s|erences)?|see|in|and|or|by|since|from|ticket|bug|gh)"
    r"[ :]{0,2}|, ?)\Z",
    re.IGNORECASE,
)


def _locate_groups(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a password of four groups of letters, unless they are words."""
    words = sum(map(is_ordinary_word, match["part"].split()))
    return match.span("part") if words < 3 else None


_NO_CODE = re.compile(
    r"(?:error|status|exit|response|zip|postal|post|country|area|product|source|http|reason|return"
    r"|dress|bar|tax|sort|promo|discount|morse|building|penal|civil|item|model|fehler"
    r"|erreur)[ -]?\Z",
    re.IGNORECASE,
)


def _locate_read_out(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a code that a message brought, unless it is of an error or a place."""
    before = match.string[max(0, match.start() - 12) : match.start()]
    return None if _NO_CODE.search(before) else match.span("part")


# Whose code it is, and what the message that brings one says of it.
_YOURS = (
    r"(?:your|my|the|dein|ihr|tu|su|votre|ton|il tuo|seu|o seu|je|jouw|uw|twój|din)"
    r"(?: [^\W\d_][\w'’.&-]{0,19}){0,3}?[ -](?:passcode|code|código|codigo|codice|kod|otp|tan)"
)
_KEPT = re.compile(
    r"\b(?:shar(?:e|ing)|forward|disclose|tell anyone|give (?:it|this) to|weitergeben|teilen"
    r"|verrat\w*|expires?"
    r"|valid for|gültig|caduca|expire|scade|valable|valido|válido|verloopt|geldig|ważny"
    r"|log(?:ging)? in|sign(?:ing)? in"
    r"|verif\w+|compart\w+|partag\w+|condivid\w+|deel|udostępnia\w+|one[- ]time|never ask)\b",
    re.IGNORECASE,
)
_KEPT_NEAR = 90  # characters after a code
_OTHER_CODE = re.compile(
    r"\b(?:error|status|exit|return|response|country|area|dialling|zip|post(?:al)?|promo\w*|discount|coupon|voucher|product"
    r"|source|product|colou?r|hs|sort|class|room|course|unicode|http|fehler|bar|qr|tax|sic"
    r"|naics|icd|event|referral)[ -]?(?:code|code is)?\b",
    re.IGNORECASE,
)


def _locate_sent(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a code that a message brings and says to keep, or that it is short
    lived; None for an error's or a country's."""
    if _OTHER_CODE.search(match[0]):
        return None
    start, end = match.span("part")
    return (start, end) if _KEPT.search(match.string, end, end + _KEPT_NEAR) else None


def _locate_received(match: re.Match[str]) -> tuple[int, int] | None:
    return None if _OTHER_CODE.search(match[0]) else match.span("part")


CODES = (
    shape(  # your code is 482913. don't share it
        "PASSWORD",
        rf"(?<!\w){_YOURS}(?: {IS})?:? (?P<part>\d{{3}}[ -]?\d{{3}}|\d{{4,8}})(?![\w-]|[.,]\d)",
        case=False,
        clue=all_clues(
            least_digits(4), any_string("code", "código", "codigo", "codice", "kod", "otp", "tan")
        ),
        locate=_locate_sent,
        reach=90,
    ),
    shape(  # 482913 is your WhatsApp code; use 7731 as your one-time code
        "PASSWORD",
        r"(?<![\w.,-])(?:[A-Z]-)?(?P<part>\d{3}[ -]?\d{3}|\d{4,8}) (?:is|as|ist|est|es|è|é"
        r"|to be) (?:your|my|dein|ihr|votre|tu|su|il tuo|seu)"
        r"(?: [^\W\d_][\w'’.&-]{0,19}){0,3}?[ -]?(?:pass)?(?:code|código|codice|otp|pin)(?!\w)",
        case=False,
        clue=all_clues(least_digits(4), any_string("code", "código", "codice", "otp", "pin")),
        locate=_locate_received,
        reach=100,
    ),
    shape(
        "PASSWORD",
        rf"(?<!\w){_CODE_WORDS}(?!\w)[\"'`*]{{0,3}}"
        r"(?: (?:at|for|to|of|für|von|vom|der|zu|de|del|du)\b[^\n:`]{1,40}?)?"
        r"(?::? ?| ?[:=-]{1,2} ?| (?:is|was|ist|war|lautet|est|es) )"
        r"[\"'`]?(?P<part>\d(?:[ -]?\d){2,7}[#*]?)(?![\w.]\d|\w)",
        case=False,
        clue=all_clues(
            least_digits(3),
            any_string(
                *("pin", "puk", "otp", "tan", "cvv", "cvc", "passcode", "digicode", "geheimzahl"),
                *("code", "código"),
            ),
        ),
        reach=20,
    ),
    shape(  # the padlock code changes to 7319; combination to the safe is 24-7-36
        "PASSWORD",
        rf"(?<!\w){_CODES}(?![^\W\d_])(?: (?:at|of|for|der|du|de|am|im) [^\n:.,;]{{1,24}}?)?"
        rf"(?:\s?[:=>\uff1a]\s?|\s(?:{IS}(?: {_STILL})?|{_STILL})\s|,? c['\u2019]est "
        rf"|\s?)[\"'`\u201c\u201e\u00ab]?"
        rf"(?P<part>{_FIGURES}){_ENDED}",
        case=False,
        clue=all_clues(
            least_digits(2),
            any_string(
                *("code", "combo", "combination", "pin", "kod", "код", "пін", "пин", "密码"),
                *("código", "codice", "kode", "kód", "koodi", "şifresi", "पिन", "رمز", "ओटीपी"),
            ),
        ),
        reach=44,
    ),
    shape(  # keysafe 2580, alarm 1945;
        "PASSWORD",
        rf"(?<![\w-]){_LOCKS}(?: (?:code|no|number|nr))?"
        rf"(?:\s?[:=]\s?|,\s|\s(?:{IS}\s)?|=){{1,2}}[\"'`]?(?P<part>[*#]?\d{{4,8}}[*#]?|{_LETTERED})"
        rf"{_ENDED}(?=[\"'`)\]]?(?:[.,;:!?)'\"]|\s*\n|\Z| (?:and|as|und|et|y|e|i|if|when|to)\b"
        rf"| [(\u2013-]))",
        case=False,
        clue=all_clues(
            least_digits(2),
            any_string(
                *("key", "lock", "szyfr", "schlüssel", "schloss", "entry", "buzzer", "alarm"),
                *("boîte", "candado", "lucchetto", "hänglås", "kłódka", "visací"),
            ),
        ),
        reach=30,
    ),
    shape(  # the safe opens with left 12, right 40; combination 4-7-1-8
        "PASSWORD",
        rf"{_OPENED}(?![^\W\d_])[^\n.!?]{{0,50}}?(?<![\w.,:/*#-])(?P<part>{_SIGNED})"
        r"(?![\w/*-]|[.,:]\d)",
        case=False,
        clue=all_clues(least_digits(2), _SIGNED_CLUE, _OPENED_CLUE),
        locate=_locate_signed,
        reach=100,
    ),
    shape(  # my PIN is four eight one nine
        "PASSWORD",
        rf"{_OPENED}(?![^\W\d_])(?:[^\n.!?]{{0,60}}?{_ANSWERED})?[^\n.!?]{{0,60}}?"
        rf"(?<![\w-])(?P<part>{_SPOKEN})",
        case=False,
        clue=all_clues(_OPENED_CLUE, any_listed(*_DIGITS)),
        locate=_locate_spoken,
        reach=24,
    ),
    shape(  # Rep: And your PIN? Customer: 4471
        "PASSWORD",
        r"(?<!\w)(?:pin|passcode|security code|one-time code|verification code|access code)\b"
        rf"[^\n.!?]{{0,60}}?{_ANSWERED}[^\n.!?\d]{{0,30}}?(?P<part>\d(?:[ -]?\d){{3,7}})"
        rf"(?![\w.,/-]\d|\w)",
        case=False,
        clue=all_clues(least_digits(4), any_string("pin", "code")),
        reach=20,
    ),
    shape(  # he had me read out the code 418 903 from the text message
        "PASSWORD",
        r"(?<!\w)(?:code|otp|tan)(?: (?:is|was))? (?P<part>\d{3}[ -]?\d{3}|\d{4,8})"
        r"(?=[^\w.,:-][^\n.!?]{0,40}?"
        r"(?<!\w)(?:texts?|texted|sms|whatsapp|phone|authenticator|e-?mail(?:ed)?|message)(?!\w))",
        case=False,
        clue=all_clues(least_digits(4), any_string("code", "otp", "tan")),
        locate=_locate_read_out,
        reach=4,
    ),
    shape(  # share code W7K 4PX 9RT
        "PASSWORD",
        r"(?<!\w)(?i:share|repayment|activation|collection|pick-?up|unlock|log-?in|access|guest|entry"
        r"|invitation|invite|recovery|registration|enrolment|enrollment) (?i:code)(?: is"
        r"|:)? [\"'`]?"
        r"(?P<part>(?=[A-Z -]{0,8}\d)(?=[\d -]{0,8}[A-Z])"
        r"(?:[A-Z0-9]{2,5}(?:[ -][A-Z0-9]{2,5}){1,4}|[A-Z0-9]{5,12}))(?!\w)",
        clue=all_clues(least_digits(1), any_string(" code")),
        reach=24,
    ),
    shape(  # backup codes 6c8e-2b4c-6f5c, 79e7-844e-e724
        "PASSWORD",
        r"(?<!\w)(?:backup|back-up|recovery|emergency|scratch|rescue|2fa|wiederherstellungs|notfall|reserve"
        r"|secours)[ -]?(?:codes?|keys?|schlüssel)\b[^\n]{0,40}?\s\s{0,3}(?:[-*\u2022] ?)?"
        r"(?P<part>[\"'`]?(?=[a-z-]{0,12}\d)[0-9a-z]{3,8}(?:[ -][0-9a-z]{3,8}){0,5}"
        r"(?:(?:[\"'`]?,?\s{1,3}(?:(?:and|und|et|y) |[-*\u2022] ?|\d{1,2}[.)] ?)?[\"'`]?)"
        r"(?=[a-z-]{0,12}\d)[0-9a-z]{3,8}(?:-[0-9a-z]{3,8}){0,5}){0,15})(?![\w-])",
        lambda value: sum(map(str.isdigit, value)) > 3,
        case=False,
        clue=all_clues(
            least_digits(4),
            any_string(
                *("backup", "back-up", "recovery", "emergency", "scratch", "rescue", "2fa"),
                *("wiederherstellungs", "notfall", "reserve", "secours"),
            ),
        ),
        reach=4,
    ),
    shape(  # app password kzpw tqhd mmox rbya
        "PASSWORD",
        r"(?<!\w)(?:pass(?:word|code)|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord)"
        r"\b[^\n.!?]{0,40}?(?<!\w)(?P<part>[a-z]{4}(?: [a-z]{4}){3})(?![\w-]| [a-z]{4}\b)",
        clue=any_string("pass", "kennwort", "contraseña", "senha", "wachtwoord"),
        locate=_locate_groups,
        reach=12,
    ),
    shape(  # the seed begins "ladder motor canvas"
        "PASSWORD",
        r"(?<!\w)(?:seed|recovery) ?(?:phrase|words)? (?:begins|starts|ends)(?: with)? "
        r"[\"'\u201c\u201e\u00ab](?P<part>[a-z]{3,8}"
        r"(?:,? [a-z]{3,8}){1,23})[\"'\u201d\u201c\u00bb]",
        clue=any_string("seed", "recovery"),
        reach=4,
    ),
    shape(  # if ($_POST['pin'] !== '0815')
        "PASSWORD",
        r"(?<![^\W_])(?:pin|passcode|otp|puk|pincode)[\"']?[\])]{0,2}\s?(?:[!=]==?|\.equals\()\s?"
        r"[\"']?(?P<part>\d{4,8})(?![\w.])",
        case=False,
        clue=all_clues(least_digits(4), any_string("pin", "passcode", "otp", "puk")),
        reach=4,
    ),
    shape(  # 门禁密码七三零八, 取件码660214, 暗証番号は二五八三
        "PASSWORD",
        r"(?:密码|密碼|口令|验证码|驗證碼|取件码|取件碼|提货码|动态码|校验码|暗証番号|認証コード"
        r"|確認コード|パスコード|パスワード|暗証|オートロック|(?:金庫|ロッカー)の?番号|인증번호|비밀번호|암호|핀번호)"
        r"[^\n。，、,\d]{0,8}?"
        r"(?P<part>(?:[종별샵#*] ?)?(?:\d{4,8}(?![\d年月日년월일])|[〇零一二三四五六七八九幺]{4,8}"
        r"|[공영일이삼사오육칠팔구]{4,8}?(?=이고|이며|입니다|이에요|예요|이야|이었|였|[\s.,#*]|\Z))[#*]?)",
        clue=any_string(
            *(
                "密码",
                "密碼",
                "口令",
                "验证码",
                "校验码",
                "驗證碼",
                "件码",
                "件碼",
                "货码",
                "态码",
                "暗証",
            ),
            *("コード", "パスワード", "オートロック", "番号", "번호", "암호"),
        ),
        reach=8,
    ),
)
