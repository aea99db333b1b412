"""Find secrets: keys and tokens in the forms that their issuers document, private keys, passwords
in connection strings and in settings."""

from __future__ import annotations

import re

from perturb.selective.patterns.clues import all_clues, any_string
from perturb.selective.patterns.shape import shape

__all__ = ["SECRETS"]

_TOKENS = "|".join(
    (
        r"sk-(?:[A-Za-z]{1,12}\d{0,3}-){0,3}[A-Za-z0-9_-]{20,}+",  # OpenAI, Anthropic, OpenRouter
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
        r"lin_api_[A-Za-z0-9]{32,}+|ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43}|PMAK-[0-9a-f-]{40,}+",
        r"hv[sb]\.[\w-]{24,}+|dp\.pt\.[A-Za-z0-9]{40,}+|tskey-[a-z]{3,12}-[\w-]{10,}+",
        r"NRAK-[A-Z0-9]{27}|glsa_\w{32,}+|sntrys_[\w=+/-]{40,}+|pscale_\w{2,8}_[\w.-]{32,}+",
        r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}+|AGE-SECRET-KEY-1[0-9A-Z]{58}",
        # JWT; its first part holds no second beginning, where the search would go on anyway. The
        # last part is a signature, where there is one.
        r"ey[JK](?=[A-Za-z0-9_-]{10})[A-Za-z0-9]*+(?>(?:[_-](?!ey[JK])[A-Za-z0-9]*+)*)"
        r"\.ey[JK][A-Za-z0-9_-]{8,}+(?>(?:\.[A-Za-z0-9_-]*+)?)",
    )
)
_SIGNATURES = (
    r"(?:X-Amz-Signature|sig|AccountKey|SharedAccessKey)=(?P<part>[A-Za-z0-9+/%=_-]{16,}+)"
)
# A name that says what the value is. Quotes, brackets and blanks end a value.
_NAMES = (
    r"(?:api[_ -]?key|apikey|secret(?:[_ -]?(?:access[_ -]?)?key)?|client[_-]?secret"
    r"|auth[_-]?token|access[_ -]?token|refresh[_-]?token|private[_-]?key|token"
    r"|passwor[dt]|passwd|passphrase|pwd"
    r"|kennwort|mot de passe|contraseña|bearer)"
)
_BLOCK = (  # until its end; without one, until the lines of the key end
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?>(?:[^-]|-(?!----)){0,8000})(?:-----END [A-Z0-9 ]{1,60}-----)?"
)


# What stands for a secret: ${DB_PASSWORD}, {password}, <your-token>, %s, YOUR_API_KEY, changeme.
_PLACEHOLDER = re.compile(
    r"\$\{.*|\$\(.*|\$[A-Z][A-Z0-9_]*|\{\{?\w*\}?\}|%s|%\(\w+\)s|\*+|\.{3,}"
    r"|(?i:x{3,}|(?:your|insert|put|enter)[_ -].*|.*[_-]here|change[_-]?(?:me|this|it)"
    r"|example|placeholder|dummy|todo|redacted)",
    re.DOTALL,
)


def _is_secret(credentials: str) -> bool:
    """Check that the password of `user:password` is one."""
    return not _PLACEHOLDER.fullmatch(credentials.partition(":")[2])


def _is_value(value: str) -> bool:
    """Check that the value of a setting is no placeholder and no word: it has a digit, or capitals
    after a small letter."""
    if _PLACEHOLDER.fullmatch(re.split(r"\\[nrt]", value)[0]):
        return False
    return any(c.isdigit() for c in value) or re.search("[a-z][A-Z]", value) is not None


_NAME_CLUE = any_string(
    *("key", "secret", "token", "passwor", "passwd", "passphrase", "pwd", "kennwort"),
    *("mot de passe", "contraseña", "bearer"),
)

SECRETS = (
    shape("PRIVATE_KEY", _BLOCK),
    shape("API_KEY", rf"(?<![A-Za-z0-9])(?=[\dA-Zadeghklnprstwxy])(?:{_TOKENS})"),
    shape("API_KEY", rf"(?<![A-Za-z0-9]){_SIGNATURES}", clue=any_string("=")),
    shape(
        "PASSWORD",
        rf"(?<![A-Za-z]){_NAMES}[\"'`]?(?: ?(?:=>|:=|[:=])| is) ?(?:bearer )?[\"'`]?"
        r"(?P<part>[^\s\"'`,;<>(){}\[\]$]{6,200})",
        _is_value,
        case=False,
        clue=all_clues(_NAME_CLUE, any_string("=", ":", " is")),
    ),
    shape(  # scheme://user:password@host
        "PASSWORD",
        r"(?<![\w+.-])[a-z][a-z0-9+.-]{1,20}+://"
        r"(?P<part>[^\s:@/\"'`<>]{0,100}:[^\s@/\"'`<>]{1,200})@",
        _is_secret,
        clue=any_string("://"),
    ),
    shape(
        "API_KEY",
        r"(?<!\w)[Bb]earer (?P<part>[A-Za-z0-9._~+/=-]{16,}+)",
        clue=any_string("bearer "),
    ),
)
