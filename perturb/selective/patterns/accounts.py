"""Find the names of people's accounts: home directories, logins by the names of their keys,
options of commands, handles and profiles. What every machine has, such as `root`, is none."""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.settings import (
    PROGRAMS,
    KeyValue,
    assigned,
    is_placeholder,
    is_reference,
    names_program,
    read_setting,
)
from perturb.selective.patterns.shape import (
    all_clues,
    any_clue,
    any_listed,
    any_match,
    any_of,
    any_string,
    read_around,
    shape,
    words_of,
)

__all__ = ["ACCOUNTS", "is_personal_account"]

# Accounts of programs and roles, and what stands for a name.
_GENERIC = PROGRAMS | words_of(
    """
    admin administrator root user users username user1 user2 userid login guest test tester
    testuser test_user testing demo example sample default public shared common all everyone nobody
    none null undefined anonymous anon me you self owner author person name your your_name yourname
    your-username youruser your-user myuser my_user someuser some_user someone somebody foo bar baz
    foobar ubuntu debian centos fedora alpine arch kube pi osboxes kali ec2-user ec2_user azureuser
    cloud-user core opc git hg svn runner runneradmin actions ci ci-bot cibot bot dependabot
    renovate circleci buildkite builder build deploy deployer deployment release www www-data
    www_data http app apps appuser app_user application api web webapp server service services svc
    worker backend frontend client system systemd daemon bin sys sync games man mail news uucp
    proxy backup list nfsnobody sa sysdba db dbuser db_user dba database readonly read_only
    readwrite reader writer replication replicator operator ops devops dev develop developer
    devuser staging stage prod production sandbox local localhost home host colab conda python java
    flask wp coder vscode codespace gitpod workspace project projects src data work tmp temp
    linuxbrew homebrew steam lost+found support info contact sales marketing team office hello
    noreply no-reply webmaster postmaster hostmaster abuse security billing customer member
    moderator editor viewer manager student teacher employee superuser super su supervisor sysadmin
    monitor monitoring munin nobody4 staff alice bob carol dave eve mallory john jane johndoe
    janedoe john.doe jane.doe john_doe jane_doe jdoe jsmith maxmustermann max.mustermann mustermann
    codeowners maintainers memcached rtkit avahi messagebus polkitd colord chrony uuidd kernoops
    opensearch nonroot pgadmin healthcheck dbus postfix dovecot haproxy named sshd lightdm pulse
    saned whoopsie tcpdump landscape usbmux geoclue hplip dnsmasq kibana logstash zookeeper tomcat
    gitlab-runner sonarqube telegraf zabbix nagios icinga clamav amavis spamd vmail squid mongod
    airflow jupyter systemd-network systemd-resolve systemd-timesync
    newuser new_user newstarter olduser currentuser current_user uid gid id email mailbox true
    false yes no on off string str int text varchar number integer boolean object any required
    optional missing unknown invalid empty azure-user
    """
)


# In letters beyond Latin, a word alone is rather a label: `"login": "Войти"`.
_FORM = re.compile(r"[A-Za-z0-9_À-ž.@+'-]{2,64}|(?=[^\W_]{0,40}[\d_.-])[\w.@+'-]{2,64}")


def is_personal_account(name: str) -> bool:
    """Tell if the name of an account may be a person's.

    >>> [is_personal_account(name) for name in ("nlindner", "www-data", "${USER}")]
    [True, False, False]
    """
    plain = name.lower().strip("@._-")
    return (
        len(plain) >= 2
        and not plain.isdigit()
        and plain not in _GENERIC
        and plain.rstrip("0123456789_-") not in _GENERIC
        and not is_placeholder(name)
        and _ATTRIBUTE.fullmatch(plain) is None
        and _FORM.fullmatch(name) is not None
    )


# req.user, cfg.influxUsername: where a program keeps the name of an account.
_ATTRIBUTE = re.compile(
    r"[a-z_][\w.]*\.(?:\w*(?:user|user_?name|login|account|user_?id|owner)|name|id|e?mail)"
)
# Who has, did or checks something: owner = "torvald.ostrander", assignee: t.ostrander
_OWNERS = (
    "owner owners assignee assigned_to assigned reporter reported_by author created_by updated_by"
    " modified_by approved_by approver reviewer reviewed_by requested_by requester lead"
    " contact on_call oncall maintainer submitter uploaded_by changed_by"
)
_DOTTED = r"[^\W\d_A-Z]{1,20}(?:[._-][^\W\d_A-Z]{2,20}){1,2}\d{0,3}"


# Of these, a single word is a person's, too: `reporter: gprosser`.
_REPORTERS = "assignee reporter reviewer approver requester requested_by reported_by assigned_to"


def _is_single_name(name: str) -> bool:
    return is_personal_account(name) and len(name) > 4 and not is_ordinary_word(name)


def _is_dotted_name(name: str) -> bool:
    """Tell if no part of an account is an ordinary word: `config.user` is code."""
    words = [word for word in re.split(r"[._-]", name.rstrip("0123456789")) if len(word) > 1]
    if "-" in name and not any(map(is_given, words)):  # wasm-bindgen
        return False
    return is_personal_account(name) and not any(
        word in _GENERIC or (is_ordinary_word(word) and not is_given(word)) for word in words
    )


_NOTES = "|".join(map("".join, (("TO", "DO"), ("FIX", "ME"), ("X", "XX"), ("HA", "CK"))))


def _is_drawn_account(name: str) -> bool:
    """Tell if a name of an account has a digit or a sign in it: no word of a sentence has."""
    return is_personal_account(name) and re.search(r"[\d_]|\w[.-]\w", name) is not None


def _holds_name(name: str) -> bool:
    """Tell if the name of an account is a gamer's with a number, or holds a given name."""
    words = [word for word in _APART.split(name) if len(word) > 3]
    return "#" in name or (len(words) < len(name) and any(map(_is_rare_given, words)))


def _is_rare_given(word: str) -> bool:
    return is_given(word) and not is_ordinary_word(word)


_APART = re.compile(r"[\W\d_]+")


def _is_unusual_account(name: str) -> bool:
    known = is_ordinary_word(name) or name.lower() in _PATHS
    return is_personal_account(name) and not known


# What a note in code is about, or when it is due, in place of who is to see to it.
_TOPIC = re.compile(
    r"v?\d[\w.]*|i18n|l10n|a11y|k8s|e2e|p[0-4]|q[1-4]"
    r"|(?:rc|gh|pr|issue|bug|phase|stage|step|sprint|milestone|part|wave|tier|level|prio|rev"
    r"|es|ie|py|python|php|node|rust|java|jdk|go|cpp|cxx|net|react|vue|angular|django|rails"
    r"|ios|android|win)[-_]?\d[\d.x]{0,6}"
    r"|perf|refactor(?:ing)?|mvp|wip|qa|ux|dx|ui|deps|docs|infra|auth|async|config|flaky|nits?"
    r"|typing|types|lint",
    re.IGNORECASE,
)
_TICKET = re.compile(r"(?P<key>[A-Z][A-Z\d]{2,9})-(?!(?:19|20)\d\d\Z)\d{1,6}")


def _sees_to_note(name: str) -> bool:
    """Tell if the word in a note of code names somebody: no topic, release or ticket.

    >>> [_sees_to_note(word) for word in ("mkowalski", "klaus88", "v2.0", "i18n", "ABC-12")]
    [True, True, False, False, False]
    """
    ticket = _TICKET.fullmatch(name)
    topic = _TOPIC.fullmatch(name) or (ticket and not is_given(ticket["key"]))
    return not topic and _is_unusual_account(name)


def _is_home(name: str) -> bool:
    return (
        is_personal_account(name)
        and name.lower() not in _ROUTES
        and _FILE_NAME.fullmatch(name) is None
    )


_FILE_NAME = re.compile(  # in /home of a container
    r"[\w.-]+\.(?:log|txt|html?|css|jsx?|tsx?|json|ya?ml|toml|xml|ini|conf|cfg|env|sh|py|rb|php|sql|md"
    r"|csv|tar|gz|zip|jar|war|db|sock|pid|png|jpg|svg)",
    re.IGNORECASE,
)


def _has_login(name: str) -> bool:
    """Tell if a name before a password, in an address, tells something: the one of a service may
    be a customer's."""
    return name.lower() not in _EVERYWHERE and not is_placeholder(name)


_EVERYWHERE = words_of(
    """
    root user username admin administrator guest test default postgres postgresql mysql mariadb sa
    mongo mongodb redis rabbitmq app api db dbuser db_user git x-access-token oauth2 token me you
    """
)
_ROUTES = words_of(
    """
    about account blog cart checkout components contact dashboard docs explore feed help home
    index index.html items layout links main menu news orders page pages posts products profile
    search settings shop stats store tab tabs welcome library documents downloads desktop
    """
)
_NAME = r"[A-Za-z_À-ž][\w.-]{1,31}"


def _locate_by_key(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the name of an account in a setting; None where there is none."""
    found = read_setting(match)
    if found is None or found.between in ("(", "|") or found.between.isalpha():
        return None
    if found.between == "," and not found.is_constant:
        return None
    prefix = found.name[: len(found.name) - len(found.key)].lower()
    if found.value.lower() in re.split(r"[._-]", prefix):  # JBOSS_USER=jboss
        return None
    if prefix.endswith(_NO_USERS) or found.before.endswith(("${", "$", "{", "%(", "@")):
        return None
    if found.is_option and _FOR_OWN_USER.search(found.before):
        return None
    value, start = found.value, found.start
    _, sign, own = value.rpartition("\\")  # DOMAIN\mira
    if sign:
        value, start = own, found.start + len(found.value) - len(own)
    if value.startswith("@"):
        value, start = value[1:], start + 1
    if "@" in value or not is_personal_account(value) or names_program(match, value):
        return None
    if not found.quote:
        if found.between == "":
            if not found.is_option or found.closed or is_ordinary_word(value):
                return None
        elif not _is_bare_name(found, value):
            return None
    elif found.between == "" or (is_ordinary_word(value) and not found.is_shell):
        return None
    return start, start + len(value)


# With these, `--user` says "for me alone", and another word follows.
_FOR_OWN_USER = re.compile(
    r"(?<![\w-])(?:systemctl|journalctl|loginctl|systemd-run|systemd-analyze|busctl|flatpak|pip3?|pipx"
    r"|easy_install|gem|setup\.py|guix|podman|git config|timedatectl)(?![\w-])[^\n;|&]{0,50}\Z"
)
_NO_USERS = ("no_", "is_", "has_", "type_", "per_", "by_", "multi_", "file", "domain", "class")


def _is_bare_name(setting: KeyValue, value: str) -> bool:
    """Tell if a value without quotation marks is a name, and no variable or type."""
    after = setting.after
    logged = setting.is_joined and re.match(r"(?:[ \t]|, ?)\w+=", after) is not None
    # SMTP_USER=mira.holz, where `USER=config.user` is none
    named = setting.is_shell and any(map(_is_rare_given, re.split(r"[._-]", value)))
    if (is_reference(value, after) and not (logged or named)) or value[0].isdigit():
        return False
    if setting.name.lower().startswith("ansible_"):
        return True
    if is_ordinary_word(value):
        return False
    if setting.is_shell or setting.is_option or setting.is_element:
        return True
    if any(word in _GENERIC for word in re.split(r"[._-]", value.lower())):
        return False
    if setting.is_line:
        code = after.startswith((";", ",", ")", "}")) or not value[0].islower()
        return not code and re.search(r"[a-z][A-Z]", value) is None
    # user=mira in a log: white space on both sides, and no call around it
    line = setting.before.rpartition("\n")[2]
    calls = line.count("(") > line.count(")")
    return (
        setting.is_joined
        and not calls
        and re.match(r"[\s&;\"'\]|]|,\s?\w+=|\Z", after) is not None
    )


# What keys and sentences call the name of an account.
_LOGINS = """
    username user_name user_id login login_name benutzer benutzername nutzername utente nome_utente
    utilisateur nom_d'utilisateur identifiant usuario nombre_de_usuario usuário utilizador
    nome_de_usuário användarnamn brugernavn brukernavn käyttäjätunnus uživatel uživatelské_jméno
    felhasználónév utilizator nume_de_utilizator nazwa_użytkownika użytkownik gebruikersnaam
    kullanıcı_adı nama_pengguna tài_khoản логин логін όνομα_χρήστη שם_המשתמש
"""
_KEYS = any_of(
    _LOGINS,
    "user gebruiker usr uname handle nick nickname screen_name twitter instagram mastodon tiktok",
    "github_user telegram slack_id logname kullanıcı пользователь 用户名 ユーザー名 사용자",
).replace(" ", "[ _-]?")
_VERSIONS = re.compile(r"\d\.\d|\A(?:v|version|python|java|oauth|sso|ldap|http|type|step)\d")


def _locate_login(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an account in a sentence: a word with digits or signs, or, after a verb
    or a colon, one of no dictionary."""
    name = match["part"].lower()
    words = [word for word in re.split(r"[\d._-]+", name) if len(word) > 2]
    if all(map(is_ordinary_word, words)) and (words or sum(map(str.isdigit, name)) < 4):
        return None
    told = bool(match["says"].strip()) and match["part"].islower()
    drawn = _is_drawn_account(name) and not _VERSIONS.search(name)
    return match.span("part") if told or drawn else None


_WORD_OF_CODE = re.compile(r"\w*(?:ed|ing|able|ible)\Z|.*\.(?:py|js|ts|go|rs|md|json|ya?ml)\Z")


def _is_no_word(name: str) -> bool:
    """Tell if the name of an account is no word of a sentence or of code."""
    words = [word for word in re.split(r"[\d._-]+", name) if word]
    plain = all(map(is_ordinary_word, words)) and "." not in name
    adverb = name.isalpha() and name.endswith("ly") and len(name) > 6 and not is_given(name)
    return not plain and not adverb and _WORD_OF_CODE.match(name) is None


def _locate_in_domain(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an account of a domain of Windows; None after the end of a line that is
    written `\\n`, whose word before is no domain: `led by Ortrud\\nreviewers`."""
    start = match.start("part")
    worded = _WORDED.search(match.string, max(0, start - 3), start)
    return None if worded and match["part"][0] in "nrt" else match.span("part")


_WORDED = re.compile(r"[a-z]{2}\\\Z")


def _locate_grantee(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an account in a statement of SQL; of an ordinary word, only in quotation
    marks: `create user story` and `grant access to the schema` are English."""
    name = match["part"]
    if not match["quote"] and is_ordinary_word(name.rstrip(".")):
        return None
    return match.span("part")


_SITES = "|".join(
    (
        r"(?:github|gitlab|bitbucket|codeberg)\.(?:com|org)/(?P<forge>[\w.-]{2,39})(?![\w./-])",
        r"(?:linkedin\.com/in|xing\.com/profile|bsky\.app/profile|keybase\.io|reddit\.com/u"
        r"(?:ser)?"
        r"|stackoverflow\.com/users/\d+|kaggle\.com|dev\.to|linktr\.ee|about\.me|t\.me"
        r"|(?:twitter|x|instagram|facebook|threads|pinterest|twitch|soundcloud|behance|dribbble"
        r"|snapchat|flickr|vimeo|strava|vk|ok)\.(?:com|net|tv|ru))/@?(?P<site>[\w.%-]{2,60})",
        r"(?:[\w-]{1,30}\.){1,3}[a-z]{2,14}/@(?P<fediverse>[\w.]{2,40})(?![\w/@-])",
    )
)
_SITE_ENDS = ("com", "org", "net", "me", "to", "ee", "app", "io", "ru", "tv")
_PATHS = words_of(
    """
    org my-org your-org
    about features pricing login signup join explore topics trending marketplace settings search
    pin share intent home watch reel reels p groups pages events company jobs help privacy terms
    policy security contact sponsors orgs notifications issues pulls new apps blog docs api status
    hashtag
    i tos legal download media site customer-stories enterprise readme features collections
    sharer sharer.php dialog plugins tr stories tv accounts developer developers business ads
    datasets competitions code models learn c r tags questions users joinchat addstickers s
    microsoft google apple facebook meta openai anthropics anthropic torvalds python rust-lang
    golang nodejs kubernetes docker apache mozilla github gitlab vercel huggingface pytorch
    tensorflow numpy pandas-dev django rails spring-projects hashicorp elastic redis postgres
    """
)


def _locate_profile(match: re.Match[str]) -> tuple[int, int] | None:
    group = match.lastgroup or "site"
    name = match[group].lower()
    if name in _PATHS or not is_personal_account(name):
        return None
    project = group == "forge" and (_is_project(match, name) or names_program(match, name))
    return None if project else match.span(group)


def _locate_of_service(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the account in an address, unless it is a program's."""
    return None if names_program(match, match["part"]) else match.span("part")


def _is_project(match: re.Match[str], owner: str) -> bool:
    """Tell if the owner of a repository that is named nearby is its project: `tinyjs/tiny`."""
    around = read_around(match).lower()
    for found in re.finditer(
        rf"(?:\.(?:com|org)|[\s(\"'`])[/:]?{re.escape(owner)}/([\w.-]{{3,60}})", around
    ):
        project = found[1].removesuffix(".git")
        if owner.startswith(project) or project.startswith(owner):
            return True
    return False


# Around a handle, these say that it is somebody's and no decorator.
_SOCIAL = any_of(
    """
    twitter x instagram insta ig mastodon tiktok telegram tg slack discord github gitlab threads
    steam twitch psn xbox reddit tinder strava
    bluesky snapchat snap signal handle account username ping cc follow following followed thanks
    thank thx by dm hi hey hello hallo hola or from ask asked with reach contact folgt folge via
    and und to tag tagged mention mentioned message credit credits kudos author reviewer assignee
    assigned met saw tell told says said
    """
)
# Macros of Julia, decorators, attributes and annotations, which people name in sentences.
_MACROS = words_of(
    """
    btime benchmark inbounds simd inline noinline testset assert macroexpand printf sprintf
    dataclass property classmethod staticmethod abstractmethod overload lru_cache contextmanager
    override deprecated autowired nullable nonnull transactional requestmapping restcontroller
    getmapping postmapping pathvariable requestbody springbootapplication componentscan beforeeach
    aftereach parameterizedtest entity onetomany manytoone manytomany joincolumn mainactor objc
    escaping autoclosure viewbuilder published stateobject observedobject environmentobject binding
    appstorage observable ngmodule injectable keyframes fontface tailwind layer supports
    typescript param returns throws typedef jsdoc deprecated nestjs jitclass njit vectorize
    """
)
_AT = re.compile(r"[=;{}()<>\[\]#$|*]|//")


def _locate_handle(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a handle in a sentence; None in a line of code."""
    text, (start, end) = match.string, match.span("part")
    begin = max(text.rfind("\n", max(0, start - 120), start) + 1, start - 120)
    after = text[end : end + 1]
    code = _AT.search(text[begin : match.start()]) or after in ("(", "/", "[", "=", "{", "@", ":")
    name = match["part"].rstrip(".")
    plain = is_personal_account(name) and not is_ordinary_word(name) and "__" not in name
    plain = plain and name.lower() not in _MACROS
    return (start, start + len(name)) if plain and not code else None


_LOGS = "|".join(
    (
        r"(?:Accepted|Failed|Postponed) \w{3,20}(?:/\w{2,10})? for (?:invalid user )?",
        r"(?:Invalid|invalid|illegal) user ",
        r"session (?:opened|closed) for user ",
        r"(?:password|shell|account) (?:changed|expired|locked|unlocked) for ",
        r"authentication failure for ",
        r"\(uid=\d{1,10}\) by |new user: name=|delete user '|sudo: {1,12}(?!pam_)",
    )
)


def _locate_option(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the user that an option names; None for one that upgrades."""
    text, start = match.string, match.start()
    line = text[max(text.rfind("\n", max(0, start - 200), start) + 1, start - 200) : start]
    return (
        match.span("part")
        if _COMMANDS.search(line)
        or match["part"] + ":" in text[match.start("part") : match.end("part") + 1]
        else None
    )


_COMMANDS = re.compile(
    r"(?<![\w-])(?:curl|wget|psql|pg_dump|pg_restore|createdb|mysql|mysqldump|mysqladmin"
    r"|mariadb|mongo"
    r"|mongosh|mongodump|sudo|su|docker login|podman login|smbclient|redis-cli|sqlplus|ldapsearch"
    r"|http|https|xh|crontab|ps|pkill|pgrep|cypher-shell|clickhouse-client|influx)(?![\w-])"
)


ACCOUNTS = (
    shape(
        "USERNAME",
        rf"(?<![A-Za-z]){any_of(_OWNERS).replace(' ', '[ _-]?')}[\"']?"
        r"[ \t]{0,8}(?:[:=]|=>)[ \t]{0,8}(?P<quote>[\"'])?"
        rf"(?P<part>(?-i:{_DOTTED}))(?(quote)(?P=quote)|(?=[ \t,;|)\]]|\r?\n|\Z))",
        _is_dotted_name,
        case=False,
        clue=any_string(
            *("owner", "assign", "report", "author", "by", "review", "request", "lead"),
            *("contact", "call", "maintainer", "submitter", "approver"),
        ),
        reach=10,
    ),
    shape(
        "USERNAME",
        rf"(?<![A-Za-z]){any_of(_REPORTERS).replace(' ', '[ _-]?')}[\"']?"
        r"[ \t]{0,8}[:=][ \t]{0,8}(?P<quote>[\"'])?(?P<part>(?-i:[a-z]{5,20}\d{0,3}))"
        r"(?(quote)(?P=quote)|(?=[ \t]{0,4}(?:[,;|)\]]|\r?\n|\Z)))",
        _is_single_name,
        case=False,
        clue=any_string("assign", "report", "review", "approver", "request"),
        reach=2,
    ),
    shape(
        "USERNAME",
        rf"(?<![\w.-])(?:/export|/mnt|/var|/data|/Volumes/\w{{1,30}})?/(?:home|Users)/"
        rf"(?P<part>{_NAME})",
        _is_home,
        clue=any_string("/home/", "/homes/", "/users/"),
        reach=60,
    ),
    shape(
        "USERNAME",
        r"(?<![A-Za-z])(?:[A-Za-z]:|/mnt/[a-z]|/[a-z])[\\/]{1,4}(?:Users|Documents and Settings"
        rf"|Benutzer|Utilisateurs|Usuarios)[\\/]{{1,4}}(?P<part>{_NAME})",
        _is_home,
        clue=any_string("users", "settings", "benutzer", "utilisateurs", "usuarios"),
        reach=30,
    ),
    shape(
        "USERNAME",
        rf"(?<![a-z])[er]?[ug]id=\d{{1,10}}\((?P<part>{_NAME})\)",
        is_personal_account,
        clue=any_string("id="),
        reach=8,
    ),
    shape(
        "USERNAME",
        r"(?<![\w/.-])(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id|sshfs)\b[^\n|;&]{0,120}?[ \t]"
        rf"(?P<part>{_NAME})@(?=[\w\[])",
        is_personal_account,
        clue=all_clues(any_string("@"), any_string("s")),
        reach=180,
    ),
    shape(  # the prompt of a shell, and the note of a public key
        "USERNAME",
        rf"(?m:^|[\[(])\[?(?P<part>{_NAME})@[\w.-]{{1,60}}[: ][~/][^\n$#]{{0,120}}[$#] ",
        is_personal_account,
        clue=any_string("@"),
        reach=40,
    ),
    shape(  # it is the same wherever its owner logs in
        "PUBLIC_KEY",
        r"(?<!\w)(?:(?:sk-)?ssh-(?:rsa|ed25519|dss)(?:@openssh\.com)?|ecdsa-sha2-\w{8,10}) "
        r"(?P<part>AAAA[A-Za-z0-9+/]{40,1500}={0,3})(?![\w+/])",
        clue=any_string(" aaaa"),
        reach=40,
    ),
    shape(
        "USERNAME",
        r"(?<!\w)(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w{8,10}) AAAA[A-Za-z0-9+/=]{20,}+ "
        r"(?P<part>[\w.-]{1,40}(?:@[\w.-]{1,60})?)",
        lambda note: is_personal_account(note.partition("@")[0]),
        clue=any_string(" aaaa"),
        reach=40,
    ),
    shape(
        "USERNAME",
        rf"(?<![^\W_]){assigned(_KEYS)}",
        case=False,
        clue=any_string(
            *("user", "login", "usu", "benutzer", "utili", "identifiant", "nutzername", "utente"),
            *("användarnamn", "brugernavn", "brukernavn", "käyttäjätunnus", "uživatel", "usr"),
            *(
                "felhasználónév",
                "użytkownik",
                "gebruiker",
                "kullanıcı",
                "pengguna",
                "tài",
                "uname",
            ),
            *(
                "логин",
                "логін",
                "пользователь",
                "χρήστη",
                "המשתמש",
                "用户名",
                "ユーザー名",
                "사용자",
            ),
            *(
                "handle",
                "nick",
                "screen",
                "twitter",
                "instagram",
                "mastodon",
                "tiktok",
                "telegram",
            ),
            *("slack", "logname"),
        ),
        locate=_locate_by_key,
        reach=24,
    ),
    shape(  # dbUser, spring.datasource.username
        "USERNAME",
        rf"(?-i:(?<=[a-z])(?=[UL])){assigned('(?:user(?:name)?|login)')}",
        case=False,
        clue=any_match("[UL](?<=[a-z].)(?i:ser|ogin)"),
        locate=_locate_by_key,
        reach=4,
    ),
    shape(
        "USERNAME",
        r"(?<![\w-])(?:-u|--user|--proxy-user|-U(?!serAgent|se[A-Z]|ri\b)|--login)[ =]?[\"']?"
        rf"(?!(?:https?|ftp|wss?)://)(?P<part>{_NAME})(?=:[^\s:]|[\s\"']|\Z)",
        is_personal_account,
        clue=any_string("-u", "--login", "--proxy-user"),
        locate=_locate_option,
        reach=12,
    ),
    shape(
        "USERNAME",
        rf"(?:btoa\(|login\(|auth ?= ?\(|BasicAuth\(|create_user\(|authenticate\() ?[\"'`]"
        rf"(?P<part>{_NAME})"
        r"(?=:[^\s\"']|[\"'`],)",
        is_personal_account,
        case=False,
        clue=any_string("btoa(", "login(", "auth", "user("),
        reach=16,
    ),
    shape(
        "USERNAME",
        rf"(?<!\w)login[ \t\n]{{1,8}}(?P<part>{_NAME})[ \t\n]{{1,8}}password[ \t]",
        is_personal_account,
        clue=all_clues(any_string("login"), any_string("password")),
        reach=4,
    ),
    shape(
        "USERNAME",
        rf"(?<!\w)(?:(?:create|alter|drop) (?:user|role)(?: if (?:not )?exists)? |(?:grant|revoke)"
        rf" [^;\n]{{1,200}} (?:to|from) )(?P<quote>[\"'`])?(?P<part>{_NAME})(?(quote)(?P=quote))",
        is_personal_account,
        locate=_locate_grantee,
        case=False,
        clue=any_listed("user role grant revoke"),
        reach=10,
    ),
    shape(  # my username is nlind; login nlind_82, see
        "USERNAME",
        rf"(?<![\w.]){any_of(_LOGINS)}(?!\w)(?P<says>(?: (?:is|was|ist|lautet|es|est|è|é|er|är"
        r"|je|este|là|jest|είναι|הוא)|\s?[:：])?)\s?[\"'`]?@?"
        rf"(?P<part>{_NAME}(?<!\.))(?=[\s\"'`.,;:!?)]|\Z)",
        is_personal_account,
        case=False,
        clue=any_listed(_LOGINS),
        locate=_locate_login,
        reach=24,
    ),
    shape(  # scheme://user:password@host
        "USERNAME",
        rf"(?<![\w+.-])[a-z][a-z0-9+.-]{{1,20}}+://(?P<part>{_NAME})@(?=[\w\[])",
        is_personal_account,
        clue=any_string("://"),
        locate=_locate_of_service,
        reach=24,
    ),
    shape(
        "USERNAME",
        rf"(?<![\w+.-])[a-z][a-z0-9+.-]{{1,20}}+://(?P<part>{_NAME})"
        r":[^\s/\"'`<>]{1,200}@(?=[\w\[])",
        _has_login,
        clue=any_string("://"),
        locate=_locate_of_service,
        reach=24,
    ),
    shape(
        "USERNAME",
        rf"(?:{_LOGS})(?P<part>{_NAME})",
        is_personal_account,
        clue=any_string(" for ", "user", "sudo:", " by "),
        reach=40,
    ),
    shape(  # [20:14:40] <badger> in a chat
        "USERNAME",
        rf"\d:\d\d\]?(?:\x1b\[[\d;]{{0,12}}m|\s){{0,4}}"
        # <br> after a time is a tag of HTML.
        rf"<(?!(?:br|hr|td|tr|th|li|ul|ol|em|div|span|strong|pre|code|h\d)>)"
        rf"[@+%]?(?P<part>{_NAME})>",
        is_personal_account,
        clue=any_match(r"<[@+%]?[A-Za-z_À-ž][\w.-]{1,31}>"),
        reach=80,
    ),
    shape(  # my username is mira_t
        "USERNAME",
        r"(?<!\w)(?:my|his|her|their|mein|meine|mon|mi|il mio|el|le)(?: [\w.]{2,14})?"
        r" (?:user ?name|user ?id|login|gamertag|handle|nick(?:name)?|benutzername|usuario"
        r"|pseudo|identifiant)(?: (?:on|for|in|auf|bei|sur|en) [\w.]{2,14})?"
        r"(?: is| ist| est| es|:)+ ?[\"'`@]{0,2}"
        rf"(?P<part>{_NAME}(?<![.-]))",
        _is_drawn_account,
        case=False,
        clue=any_string(
            *("user name", "username", "user id", "userid", "login", "gamertag", "handle", "nick"),
            *("benutzername", "usuario", "pseudo", "identifiant"),
        ),
        reach=40,
    ),
    shape(  # a note in code, and who is to see to it
        "USERNAME",
        rf"(?:{_NOTES})\(@?(?P<part>{_NAME})\)",
        _sees_to_note,
        clue=any_string("todo(", "fixme(", "xxx(", "hack(", "note("),
        reach=8,
    ),
    shape(  # git@github.com:mira/dotfiles.git
        "USERNAME",
        r"(?<![\w.])git@(?:github|gitlab|bitbucket|codeberg)\.(?:com|org):"
        rf"(?P<part>{_NAME})(?=/)",
        _is_unusual_account,
        clue=any_string("git@"),
        reach=4,
    ),
    shape(  # a handle alone in a cell
        "USERNAME",
        r"(?:>|\|)[ ]?@(?P<part>[A-Za-z_][\w.]{2,30})(?=[ ]?(?:</|\|))",
        is_personal_account,
        clue=any_match("[>|] ?@"),
        reach=4,
    ),
    shape(
        "USERNAME",
        rf"(?<![\w.-])(?:www\.|m\.|mobile\.)?(?:{_SITES})",
        clue=any_string("/@", *(f".{end}/" for end in _SITE_ENDS)),
        locate=_locate_profile,
        reach=110,
    ),
    shape(
        "USERNAME",
        rf"(?<!\w){_SOCIAL}[\"'`*]?(?: (?:is|ist|est|es|è|é))?[:,]?[ \t][\"'`(*]?@"
        r"(?P<part>[A-Za-z_][\w.]{2,30})",
        case=False,
        clue=any_match(r"[ \t\"'`(*]@(?i:[a-z_])"),
        locate=_locate_handle,
        reach=40,
    ),
    shape(  # @mira_h asked on Slack, @mira.h hat geschrieben
        "USERNAME",
        r"(?<![\w.@/])@(?P<part>[A-Za-z_][\w.]{2,30}) (?:asked|wrote|said|says|told|replied|posted"
        r"|tweeted|suggested|wants|hat (?:geschrieben|gefragt|gesagt)|a (?:écrit|demandé|dit)"
        r"|escribió|preguntó|dijo|ha scritto)(?!\w)",
        clue=any_match(r"@[A-Za-z_][\w.]{2,30} [a-zé]"),
        locate=_locate_handle,
        reach=4,
    ),
    shape(  # @mira_h on Slack
        "USERNAME",
        r"(?<![\w.@/])@(?P<part>[A-Za-z_][\w.]{2,30})(?= on (?:the |twitter|x\b|slack|github"
        r"|discord|telegram|instagram|insta|mastodon|tiktok|signal|threads|bluesky)"
        r"|,? everywhere\b)",
        case=False,
        clue=any_match(r"(?i:@[a-z_][\w.]{2,30},? (?:on|every))"),
        locate=_locate_handle,
        reach=4,
    ),
    shape(  # Discord: night_owl#4471, Steam tereza_nov
        "USERNAME",
        r"(?<!\w)(?:discord|instagram|insta|telegram|snapchat|steam|skype|twitch|tiktok|psn|xbox"
        r"|wechat|kik|venmo|cash ?app|soundcloud|strava|onlyfans|facebook|linkedin|reddit|github)"
        r"(?: (?:id|handle|user|username|name|tag))?[ :=]{1,3}@?"
        r"(?P<part>[A-Za-z][\w.-]{2,30}+(?:#\d{4})?)(?![\w@/(\[{=])",
        _holds_name,
        case=False,
        clue=any_listed(
            "discord instagram insta telegram snapchat steam skype twitch tiktok psn xbox wechat",
            "kik venmo cashapp cash soundcloud strava onlyfans facebook linkedin reddit github",
        ),
        reach=4,
    ),
    shape(  # user noor-lindner, chat `haoran.zh`
        "USERNAME",
        r"(?<!\w)(?:username|user(?: name)?|login|handle|chat|nick(?:name)?|account"
        rf"|benutzer(?:name)?):? [`\"'](?P<part>{_NAME})[`\"']",
        lambda name: is_personal_account(name) and not is_ordinary_word(name),
        case=False,
        clue=any_clue(
            any_listed("user username login handle chat nick nickname account"),
            any_string("benutzer"),
        ),
        reach=8,
    ),
    shape(
        "USERNAME",
        r"(?<!\w)(?:github|gitlab|twitter|slack|discord|telegram|instagram|reddit|steam|skype|irc"
        r"|npm|docker ?hub|linkedin|mastodon) "
        r"(?:user(?:name)?|handle|account|login|nick|id)(?: is|:)? "
        r"[`\"'@]?(?P<part>[A-Za-z_][\w.-]{2,38})",
        lambda name: is_personal_account(name.rstrip(".")) and not is_ordinary_word(name),
        case=False,
        clue=any_listed(
            "github gitlab twitter slack discord telegram instagram reddit steam skype irc npm",
            "docker dockerhub linkedin mastodon",
        ),
        reach=4,
    ),
    shape(  # .pgpass
        "USERNAME",
        rf"(?m:^)[\w.*-]{{1,100}}:(?:\d{{2,5}}|\*):[\w.*-]{{1,64}}:(?P<part>{_NAME}):\S{{3,100}}(?m:$)",
        _has_login,
        clue=any_match(r":(?:\d{2,5}|\*):"),
        reach=110,
    ),
    shape(  # the configuration of ssh
        "USERNAME",
        r"(?m:^)[ \t]*Host(?:Name)?[ \t=]{1,4}[^\n]{1,80}\n(?:[ \t]{1,8}[A-Z][^\n]{1,120}\n){0,8}?"
        rf"[ \t]{{0,8}}User[ \t=]{{1,4}}(?P<part>{_NAME})[ \t]*(?m:$)",
        is_personal_account,
        clue=all_clues(any_match(r"User[ \t=]"), any_string("host")),
        reach=1300,
    ),
    shape(  # /user:FIRM\\mira, as FIRM\\mira
        "USERNAME",
        r"(?:(?<![\w/])/u(?:ser)?:(?:[\w.-]{1,40}\\{1,2})?|(?<!\w)(?:as|user|login|account|by|owner"
        r"|runas|username)[ :=]{1,3}[\"'`]?[A-Z][\w.-]{1,30}\\{1,2})"
        rf"(?P<part>{_NAME})(?![\w\\])",
        is_personal_account,
        clue=any_string("/u", "\\"),
        locate=_locate_in_domain,
        reach=50,
    ),
    shape(  # User ID=shop_app;Password=…
        "USERNAME",
        rf"(?<!\w)(?:user ?id|uid|user(?:name)?|login) ?= ?(?P<part>{_NAME});\s?(?:password"
        rf"|pwd) ?=",
        _has_login,
        case=False,
        clue=all_clues(any_string("user", "uid", "login"), any_string("password", "pwd")),
    ),
    shape(  # he logs in to the laptop as exam17
        "USERNAME",
        r"(?<!\w)(?:log(?:s|ged|ging)?[ -]?(?:in|on)|sign(?:s|ed|ing)? (?:in|on)"
        r"|anmeld\w{0,4}|eingeloggt|einlogg\w{0,4}|meld\w{0,2} (?:mich|sich)|connecte\w{0,2}"
        r"|identifi\w{1,4}"
        r"|inici[oa] sesión|entr[oa]|acced\w{1,3}|inlogg\w{0,4}|log(?:t|de)? \w{2,3} in"
        r"|logg\w{0,2} \w{3} (?:in|på)"
        r"|loguj\w{1,3}|hlásím|přihlašuj\w{1,3}|вхожу|захожу|захожу|заходжу|входит)"
        r"(?:\s[^\s.!?,;:]{1,24}){0,6}?\s(?:(?:as|als|en tant que|comme|como|come|jako|som|как|як)"
        r"(?: (?:the )?(?:user|account|username|login|benutzer))?"
        # With Google or GitHub people sign in, too.
        r"|(?:met|mit|with|avec|con|com|med|z|с|з) (?:the )?(?:user|account|username|login"
        r"|benutzer|gebruiker|identifiant|usuario|utente|loginem))"
        rf"\s[\"'`]?(?P<part>{_NAME}(?<![.-]))(?=[\"'`]?(?:[\s,;:!?)]|\.(?:\s|\Z)|\Z))",
        lambda name: (
            any(map(str.isdigit, name))
            and _is_drawn_account(name)
            and not _VERSIONS.search(name.lower())
        ),
        case=False,
        clue=any_string(
            *(
                "log",
                "sign",
                "meld",
                "identif",
                "connecte",
                "sesión",
                "entr",
                "acced",
                "hlás",
                "hlaš",
            ),
            *("вхо", "захо"),
        ),
        reach=14,
    ),
    shape(  # the runner user is night-lorimer; user mira.h says
        "USERNAME",
        r"(?<!\w)(?:user|account|userid)(?: (?P<says>is|was)| ?:|(?=\s\S{3,40} (?:says?|said"
        r"|reports?|reported"
        r"|wrote|complain\w{1,3}|gets?|got|sees|cannot|can['\u2019]t|could)\b)) [\"'`]?"
        r"(?P<part>[a-z][\w.-]{2,31}(?<![.-]))"
        r"(?=[\"'`]?(?:[\s,;!?)]|\.(?:\s|\Z)|\Z))",
        lambda name: is_personal_account(name) and _is_no_word(name),
        clue=any_listed("user account userid"),
        reach=4,
    ),
    shape(  # 微信号mira_0415
        "USERNAME",
        r"(?:微信号?|(?<![A-Za-z0-9+/_-])QQ号?|账号|帐号|帳號|用户名|アカウント名?|ユーザー名"
        r"|(?<![A-Za-z0-9+/_-])LINE ?ID|아이디|계정)(?:是|为|：|:|は|은|는)?\s?"
        rf"(?P<part>{_NAME})",
        lambda name: is_personal_account(name) and not is_ordinary_word(name),
        clue=any_string(
            *(
                "微信",
                "qq",
                "账号",
                "帐号",
                "帳號",
                "用户名",
                "アカウント",
                "ユーザー名",
                "line",
                "아이디",
                "계정",
            )
        ),
        reach=4,
    ),
    shape(  # gh: mira-codes |
        "USERNAME",
        rf"(?<![\w./-])(?:gh|ig|tg|github|gitlab|insta|telegram)(?:: ?|/)(?P<part>{_NAME})(?=\s*"
        rf"(?:\n|\Z|[|,;\u00b7]))",
        lambda name: (
            _FILE_NAME.fullmatch(name) is None
            and (_is_drawn_account(name) or (is_personal_account(name) and "-" in name))
        ),
        case=False,
        clue=any_string("gh", "ig", "tg", "github", "gitlab", "insta", "telegram"),
        reach=4,
    ),
)
