"""Find the values of settings by the names of their keys, in any syntax: `DB_PASS=x`, JSON (also
inside strings), YAML, INI, XML, attributes, options of commands, calls, and prose.

A value may be named (`password = get_password()`), described (`password: str`), or left open
(`YOUR_API_KEY`); then it is none.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.shape import any_of, read_around, words_of

__all__ = [
    "PROGRAMS",
    "VALUE",
    "KeyValue",
    "assigned",
    "is_placeholder",
    "is_reference",
    "looks_random",
    "names_program",
    "read_setting",
]

# What runs as an account of its own name, or comes with it as the password of its examples.
PROGRAMS = words_of(
    """
    airflow ansible apache artifactory bitnami caddy cassandra chef clickhouse consul couchbase
    couchdb discourse django docker drupal elastic elasticsearch envoy etcd fluentd ghost gitea
    github gitlab gitlab-runner glassfish grafana graylog hadoop haproxy harbor hive httpd
    influx influxdb istio jaeger jboss jenkins jetty joomla jovyan jupyter kafka keycloak kibana
    kubernetes laravel logstash loki magento mariadb mattermost mediawiki metabase minio
    minioadmin mongo mongodb moodle mysql nagios nagiosadmin neo4j nextcloud nexus nginx node
    nodejs nomad npm odoo oracle podman postgres postgresql prometheus pulsar puppet rabbitmq
    rails rancher redash redis redpanda rocketchat salt solr sonar sonarqube spark splunk
    superset symfony telegraf tempo terraform tomcat traefik travis vagrant vault weblogic
    websphere wildfly wordpress zabbix zipkin zookeeper
    """
)
_IS = any_of("is was are ist war lautet lautete heißt est était c'est es era son è é är це это")
_NOW = any_of("now still currently just set_to set_as jetzt nun aktuell ahora maintenant")
_ANNOTATION = r"(?:&(?:'static )?)?[A-Za-z][\w.\[\]|<>?]{0,40}"
# What stands between the key and its value. The order matters: the first that fits counts.
_BETWEEN = "|".join(
    (
        rf"[ \t]?[?!]?: ?(?:{_ANNOTATION}) ?=(?!=) ?",  # password: str = "x"
        r"[ \t]?: ?[|>][-+]?\n[ \t]{1,20}",  # a block of YAML
        r"[ \t]{0,4}\{ ?get;[^{}\n]{0,30}\} ?= ?",  # Password { get; set; } = "x"
        r"[ \t]{0,8}(?:=>|:=|={1,3}|[:：])(?:\*\*|__)?[ \t]{0,4}",
        rf" {_IS}(?: {_NOW})?:? ",
        r"(?<=hasło) to ",
        r" ?(?:是|为|為|は|는|은) ?",
        r"\.(?:fill|type|sendKeys|send_keys|setValue|press_sequentially)\( ?",  # of a form
        r"[ \t]?\([ ]?",  # a call
        r"(?:,\s{0,30}|\s{1,30})[\"']?value[\"']?: ?",  # a list of names and values
        r",[ ]?(?=\\{0,7}[\"'`])",  # two arguments
        r"(?:\s[\w-]{1,20}=[\"'][^\"'<>\n]{0,40}[\"']){0,3}\s{1,4}value=",  # two attributes
        r"(?:\s[\w-]{1,20}=[\"'][^\"'<>\n]{0,40}[\"']){0,2}>",  # an element of XML
        r"[ \t]?\|[ \t]?",  # cells of a table
        r"[ \t]{1,8}",
    )
)
# To its quote; or to the end of the word. `locate` may take less.
VALUE = (
    r"(?:[bru](?=[\"']))?(?P<quote>\\{0,7}[\"'`])?"
    r"(?P<part>(?(quote)(?:(?!(?P=quote))(?:\\[^\n]|[^\\\n])){1,200}(?=(?P=quote)|\n|\Z)"
    r"|[^\s\"'`]{1,200}))"
)


def assigned(keys: str) -> str:
    """Return the expression of a key and its value, which a match looks ahead at.

    >>> bool(re.search(assigned("color"), "'color': 'red'"))
    True
    """
    return (
        rf"(?P<key>{keys})(?P<close>(?:\[\w{{0,9}}\]|\\{{0,7}}[\"'`])?[\])]?(?:\*\*|__)?)"
        rf"(?P<between>{_BETWEEN})(?={VALUE})"
    )


_IDENTIFIER = re.compile(r"(?<![\w.\-])[\w.\-]*\Z")
_LINE = re.compile(r"[ \t]*+(?:[-+*>#;/$%|]{1,3}[ \t]*+)?[\"'`]?")
_SHELL = re.compile(
    r"(?:^|[\s;&|\"'(+-])(?:export |set |env |arg |-e ?|--env[ =]|environment=[\"']?)?\Z",
    re.IGNORECASE,
)
_REST = re.compile(r"[ \t]*(?:[#;].*|//.*|--.*|\\)?(?:\n|\Z)")


class KeyValue:
    """A key and its value as they stand in a text.

    Attributes:
        name: the whole name of the key: `SMTP_PASSWORD` where the expression matched `PASSWORD`.
        before: the characters before the name, at most 60.
        key: the part of the name that the expression matched.
        between: the sign or the word between, in small letters, without blanks around.
        quote: the quotation mark before the value, if there is one.
        value: the value; without a mark, to the end of the word.
        start: the place of the value.
        after: what follows the value (and its mark), at most 40 characters.
    """

    __slots__ = (
        "after",
        "before",
        "between",
        "closed",
        "key",
        "match",
        "name",
        "quote",
        "start",
        "value",
    )

    def __init__(self, match: re.Match[str]) -> None:
        text, start = match.string, match.start("key")
        ahead = text[max(0, start - 60) : start]
        found = _IDENTIFIER.search(ahead)
        prefix = found[0] if found else ""
        self.match = match
        self.name = prefix + match["key"]
        self.before = ahead[: len(ahead) - len(prefix)]
        self.key = match["key"]
        self.closed = match["close"]
        self.between = match["between"].strip(" \t").lower()
        self.quote = match["quote"] or ""
        self.value = match["part"]
        self.start = match.start("part")
        end = match.end("part") + len(self.quote)
        self.after = text[end : end + 40]

    @property
    def is_joined(self) -> bool:
        """Tell if nothing but the sign stands between the key and the value: `user=mira`."""
        return self.match["between"] == "="

    @property
    def is_shell(self) -> bool:
        """Tell if the setting is one of an environment: `DB_PASS=x`, in capitals, or a variable
        of Terraform."""
        upper = self.name.upper() == self.name or self.name.startswith("TF_VAR_")
        return upper and self.is_joined and bool(_SHELL.search(self.before or "\n"))

    @property
    def is_option(self) -> bool:
        """Tell if the key is an option of a command: `--password x`."""
        return self.name.startswith("--") and self.between in ("", "=")

    @property
    def is_line(self) -> bool:
        """Tell if the setting is a line of its own: the key is its first word, and the value its
        last."""
        line = self.before.rpartition("\n")[2]
        begins = "\n" in self.before or len(self.before) + len(self.name) < 60
        return begins and bool(_LINE.fullmatch(line)) and bool(_REST.match(self.after))

    @property
    def is_constant(self) -> bool:
        """Tell if the setting is a constant of PHP: `define('DB_USER', 'x')`."""
        return bool(self.quote) and _DEFINES.search(self.before) is not None

    @property
    def is_listed(self) -> bool:
        """Tell if the value stands in a list of names and values of an environment: `- name:
        DB_PASS`, and below it `value: x`."""
        return self.name.upper() == self.name and self.between.strip("\"', :\n\r").endswith(
            "value"
        )

    @property
    def is_element(self) -> bool:
        """Tell if the key is the tag of an element: `<password>x</password>`."""
        return (
            self.between.endswith(">")
            and self.between != "=>"
            and _TAG.search(self.before) is not None
        )


_DEFINES = re.compile(r"(?<!\w)define\(\s?[\"']\Z", re.IGNORECASE)
_OTHER_SCRIPT = re.compile(r"(?<=[!-~])(?=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])")
_TAG = re.compile(r"<(?:[\w-]{1,30}:)?\Z")
_SIGNS_AFTER = ",;:.!?…"
_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}


def read_setting(match: re.Match[str]) -> KeyValue | None:
    """Read a match of `assigned`; None where there is no value in the given syntax."""
    setting = KeyValue(match)
    value = setting.value
    if setting.between.endswith(">") and setting.between != "=>":
        if not setting.is_element or _stands_for_value(setting):
            return None
        value = value.partition("<")[0]
        if value.startswith(("-", ".", "/")):  # <user>-token, ~<user>/.config
            return None
    elif value.startswith("<<") and not setting.quote:
        setting.start += 2
        value = value[2:].partition(">>")[0]
    elif setting.is_shell and not setting.quote:
        value = value.rstrip(";")
    elif not setting.quote:
        # A sign behind the value belongs to the sentence or to the code.
        value = re.split(r"[,;<|]|\\(?=[\"'nrt]|\Z)|&(?=\w{1,20}=)|\)(?=[.;,)])", value)[0]
        value = _OTHER_SCRIPT.split(value)[0]  # パスワードはx7です
        while value and (value[-1] in _SIGNS_AFTER or _closes(value)):
            value = value[:-1]
    if not value:
        return None
    if len(value) != len(setting.value):
        end = setting.start + len(value)
        setting.after = match.string[end : end + 40]
        setting.value = value
    return setting


def _stands_for_value(setting: KeyValue) -> bool:
    """Tell if what seems to be a tag stands for a value: `db:<password>@host`. No tag closes it,
    and it has a sign before and behind it."""
    closed = setting.value[0].isalnum() or "</" in setting.value + setting.after
    return not closed and _SIGN_BEFORE.search(setting.before) is not None


_SIGN_BEFORE = re.compile(r"[:=/\"'`@({-][ \t]?<\Z")


def _closes(value: str) -> bool:
    """Tell if a value ends with a bracket that it does not open."""
    opening = _PAIRS.get(value[-1])
    return opening is not None and value.count(opening) < value.count(value[-1])


# What stands for a value: ${DB_PASSWORD}, {password}, <your-token>, %s, YOUR_API_KEY, changeme.
_PLACEHOLDER = re.compile(
    r"\$\{.*|\$\(.*|\$\w+|\$\{\{.*|#\{.*|\{\{|\{\{?[\w .:|\"'-]*\}?\}|%[sdv]"
    r"|%\(?\w+\)?[s%]|%\w+%"
    # A reference to where a secret is kept.
    r"|(?:secrets?|op|vault|ssm|sops|kms|keyvault|awssm|gcpsm|env|file)://\S+"
    r"|(?:vault|env|file|ssm):[A-Za-z/][\w/.#-]+|arn:aws:\S+"
    r"|<[^<>]*>|\[[^\[\]]*\]|@\w+@|:\w+|\?+|[*•●·x_.X-]+|…|!\w+|&\w+|\*\w+|(?:\\[nrt])+"
    r"|(?i:[x*•.…]{3,}\w{0,6}|(?:[a-z]{2,8}[_-]){1,3}x{3,}|\w{0,6}[x*•…]{4,}|\w{0,6}\.{3,}"
    r"|(?:your|insert|put|enter|replace|fill|paste|dein|ihr|votre|tu|su)[_ -].*"
    r"|your\w+|.*[_-](?:here|placeholder|goes[_-]here)|replaceme\w*"
    r"|(?:please[_-]?)?change[_ -]?(?:me|this|it)\W*\w*|.*(?:change|replace)[_-]?me.*"
    r"|example\W*|placeholder|dummy\w*|fake\w*|sample\w*|foo|bar|baz|foobar|todo|tbd|fixme"
    r"|redacted"
    r"|removed|masked|hidden|censored|omitted|filtered|none|null|nil|undefined|true|false|yes"
    r"|no|on"
    r"|off|nan|empty|void|default|auto|unset|n/?a|test|testing|tester|sekret|geheim|0+|1+|0x0+)",
    re.DOTALL,
)
_CALL = re.compile(r"[A-Za-z_$][\w.$:>?-]{0,80}[(\[]|(?:new|await|yield) ")
# `config.password`, `process.env.X`, `self->key`, `Foo::BAR`
_MEMBER = re.compile(r"[A-Za-z_$][A-Za-z_$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+")


def is_placeholder(value: str) -> bool:
    """Tell if a value stands for another one, or for none.

    >>> [is_placeholder(value) for value in ("${DB_PASSWORD}", "changeme", "hunter2")]
    [True, True, False]
    """
    return _PLACEHOLDER.fullmatch(re.split(r"\\[nrt]", value)[0].strip()) is not None


def is_reference(value: str, after: str) -> bool:
    """Tell if a value without quotation marks is code: a call, an index, or a member."""
    opened = re.match(r"[(\[]|\.[A-Za-z_]", after) is not None
    return bool(_CALL.match(value)) or bool(_MEMBER.fullmatch(value)) or opened


def names_program(match: re.Match[str], name: str) -> bool:
    """Tell if the account of a match is the name of the program whose settings are
    nearby: `SHOPD_PORT`, `image: acme/shopd`, `#include <shopd/…>`, or of a database of its own,
    `DB_NAME=shopd`. It is published with it."""
    around = read_around(match)
    upper = re.sub(r"[-.]", "_", name).upper()
    lower = around.lower()
    if lower.count(name.lower()) + lower.count(f"{upper}_".lower()) < 2:  # its own place alone
        return False
    plain, upper = re.escape(name), re.escape(upper)
    return re.search(_PROGRAM.format(plain=plain, upper=upper), around) is not None


_PROGRAM = (
    r"(?<![A-Za-z0-9_$]){upper}_[A-Z]{{2}}"
    r"|image: [\"']?(?:[\w.-]{{1,60}}/){{0,3}}{plain}(?![\w-])"
    r"|(?<!\w)(?:include|src|lib|pkg|packages)/{plain}/"
    r"|(?i:database|(?<![a-z])db|dbname|db_name)[\"']?[ \t]?[=:][ \t]?[\"']?{plain}(?![\w.-])"
)
_SEGMENT = re.compile(r"[_\-./:+=~]")
_TURN = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])|[a-z](?=[A-Z])")


def looks_random(value: str, least: int = 16) -> bool:
    """Tell if a value was drawn rather than worded: a long run of letters and digits mixed.

    >>> [looks_random(value) for value in ("9f86d081884c7d65", "order-item-2024-01")]
    [True, False]
    """
    if len(value) < least or not re.fullmatch(r"[A-Za-z0-9+/=_.~:-]+", value):
        return False
    longest = max(_SEGMENT.split(value.rstrip("=")), key=len)
    if len(longest) < 8:
        return False
    turns = len(_TURN.findall(longest))
    if any(c.isdigit() for c in longest):
        return turns >= max(3, len(longest) // 10)
    return len(longest) >= 20 and turns >= len(longest) // 4
