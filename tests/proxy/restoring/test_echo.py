"""A released text of any syntax that is sent back is the raw text, byte for byte, at every cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from string import Formatter

import pytest

from perturb import EmbeddingTable, Perturbation, Perturber, get_mechanism
from perturb.release import Replacement
from proxy.release import Release
from proxy.restoring.way_back import WayBack, build_way_back, find_lost

VALUES = {
    "name": ("Jürg O'Arc", "Edvar Tarnley", "PERSON_417"),
    "last": ("O'Arc", "Tarnley", "PERSON_418"),
    "user": ("jarc", "etarnley", "USERNAME_77"),
    "mail": ("j.arc@firm.de", "e.tarnley@lowby.example", "EMAIL_ADDRESS_5"),
    "phone": ("+49 30 7654321", "+49 30 1234567", "PHONE_NUMBER_3120"),
    "card": ("4095-2609-9393-9032", "4035-1282-7522-4421", "CREDIT_CARD_9"),
    "born": ("1987-05-12", "1985-06-03", "DATE_OF_BIRTH_640"),
    "key": ("sk-live-8a7B6c5D", "sk-live-1x2Y3z4W", "API_KEY_12"),
    "url": ("https://firm.de/a?b=c", "https://lowby.example/d?e=f", "URL_305"),
    "list": ("Jürg O'Arc\n  Ada Weiß ", "Edvar Tarnley\n  Brannoc Holm ", "PERSON_419"),
}
SYNTAXES = {
    "prose": "Dear {name}, {last}'s card {card} ({born}) is here. Yours, {last}",
    "JSON": '{{"to": "{name}", "mail": ["{mail}", "{phone}"], "n": 1, "key": "{key}"}}',
    "JSON in JSON": '{{"body": "{{\\"to\\": \\"{name}\\", \\"key\\": \\"{key}\\"}}\\n{born}"}}',
    "YAML": "owner:\n  name: {name}\n  mail: {mail}\n  born: {born}\nretries: 3\n",
    "INI": "[mail]\nowner = {mail}\nKEY={key}\nuser={user}\n",
    "CSV": "name,mail,card\n{name},{mail},{card}\n{last};{phone};{born}\n",
    "table": "| {name} | {mail} |\n|---|---|\n| **{last}** | `{key}` |\n",
    "Markdown": "# {name}\n- *{last}* \\_{user}\\_ <{mail}>\n> {phone}\n\n    {key}\n",
    "HTML": "<p class=a>{name}</p>\n<td>{mail}</td><b>{last}</b> &amp; <i>{card}</i>",
    "XML": '<?xml version="1.0"?>\n<owner><name>{name}</name><born>{born}</born></owner>',
    "Python": 'def get_{user}(x: int) -> str:\n    return f"{name}" + "{key}"  # {last}, {mail}\n',
    "shell": "export KEY={key}; curl -u {user}:{key} -d 'to={mail}' x && ls /home/{user}/a.txt\n",
    "SQL": "UPDATE t SET n = 5, who = '{last}' WHERE mail = '{mail}' AND born = '{born}';",
    "diff": '--- a/o.py\n+++ b/{user}.py\n@@ -1 +1 @@\n-who = "{name}"\n+who = "{last}"\n',
    "LaTeX": "\\author{{{name}}} \\href{{mailto:{mail}}}{{{mail}}} \\textbf{{{last}}}\n",
    "regular expression": "^{last}\\s+\\d+$|{user}(?=x)",
    "address": "see {url}, {url}x/{user} or <{url}> at ssh://{user}@h.example:22/{key}.",
    "log": "\x1b[31m2026-01-02T03:04:05Z\x1b[0m user={user} ip=10.0.0.1 msg='{mail} failed'\n",
    "vCard": "BEGIN:VCARD\r\nFN:{name}\r\nTEL;TYPE=home:{phone}\r\nEMAIL:{mail}\r\nEND:VCARD\r\n",
    "Chinese": "请联系{last}先生，{mail}。王{user}王",
    "lines": "{list}\n{name}\n\n{list}",
    "identifiers": "{user}_file.txt get_{user} {user}-{born}.csv",
}


@pytest.fixture(scope="module")
def made(table: EmbeddingTable) -> Perturbation:
    return Perturber(get_mechanism("selective", table, epsilon=6)).perturb("x")


def release(made: Perturbation, template: str, kind: int) -> Release:
    """Release a text with surrogates (1) or tags (2) for the values in it."""
    raw, text, replaced = "", "", []
    for literal, name in _parse(template):
        raw, text = raw + literal, text + literal
        if name:
            value, new = VALUES[name][0], VALUES[name][kind]
            replaced.append(Replacement(len(raw), len(raw) + len(value), "NAME", new))
            raw, text = raw + value, text + new
    done = Perturbation(text, (), made.receipt, tuple(replaced))
    return Release(raw, done, None, b"")  # type: ignore[arg-type]


def _parse(template: str) -> Sequence[tuple[str, str | None]]:
    return [(literal, name) for literal, name, _, _ in Formatter().parse(template)]


def echo(back: WayBack, chunks: Sequence[str], *, json_text: bool = False) -> str:
    reader = back.read_json() if json_text else back.read_content()
    return "".join([*map(reader.feed, chunks), reader.finish()])


@pytest.mark.parametrize("kind", [1, 2], ids=["surrogate", "tag"])
@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_text_comes_back_at_every_cut(made: Perturbation, syntax: str, kind: int) -> None:
    releases = [release(made, template, kind) for template in SYNTAXES.values()]
    back = build_way_back(releases, (), ())
    one = releases[list(SYNTAXES).index(syntax)]
    text = one.sanitized.text
    assert echo(back, [text]) == one.raw
    assert echo(back, text) == one.raw
    for place in range(1, len(text)):
        assert echo(back, [text[:place], text[place:]]) == one.raw, place


@pytest.mark.parametrize("kind", [1, 2], ids=["surrogate", "tag"])
def test_nothing_of_a_request_is_lost(made: Perturbation, kind: int) -> None:
    releases = [release(made, template, kind) for template in SYNTAXES.values()]
    assert find_lost(build_way_back(releases, (), ()), releases) == []


@pytest.mark.parametrize("kind", [1, 2], ids=["surrogate", "tag"])
@pytest.mark.parametrize("syntax", [s for s in SYNTAXES if s != "lines"])
def test_a_text_comes_back_as_an_argument_of_a_call(
    made: Perturbation, syntax: str, kind: int
) -> None:
    one = release(made, SYNTAXES[syntax], kind)
    back = build_way_back([one], (), ())
    text = json.dumps({"path": "a.txt", "content": one.sanitized.text})
    for size in (1, 2, 5, len(text)):
        chunks = [text[i : i + size] for i in range(0, len(text), size)]
        shown = echo(back, chunks, json_text=True)
        assert json.loads(shown) == {"path": "a.txt", "content": one.raw}


PARTS = {
    "PERSON": [
        ("Anna Okonkwo-Reyes", "Irma Rutcote-Hartbury"),
        ("Siobhan O'Dowd", "Nadine O'Tarnley"),
        ("Jean-Christophe Dupré", "Karl-Detlef Wexmore"),
        ("Małgorzata van der Wouden", "Elvira van der Kenby"),
        ("Schmidt, Tom", "Aldbrook, Edwin"),
    ],
    "STREET_ADDRESS": [
        ("31B Corve Street", "77R Lerksund Street"),
        ("Rosenweg 12, 20095 Hamburg", "Zirnweg 16, 81676 Vintloch"),
        ("Calle Mayor 7, 2º A\n28013 Madrid", "Calle Yarmond 4, 6º B\n39024 Jarnville"),
    ],
}
SPELLED = [
    ("PERSON", "Dear Ms Rutcote-Hartbury, thanks.", "Dear Ms Okonkwo-Reyes, thanks."),
    ("PERSON", "Rutcote-Hartbury's file", "Okonkwo-Reyes's file"),
    ("PERSON", "RUTCOTE-HARTBURY, Irma", "OKONKWO-REYES, Anna"),
    ("PERSON", "**Irma** **Rutcote-Hartbury**", "**Anna** **Okonkwo-Reyes**"),
    ("PERSON", "Mrs O'Tarnley", "Mrs O'Dowd"),
    ("PERSON", "Dear Karl-Detlef,", "Dear Jean-Christophe,"),
    ("PERSON", "E. Kenby", "M. Wouden"),
    ("PERSON", "Edwin and Ms Aldbrook", "Tom and Ms Schmidt"),
    ("STREET_ADDRESS", "He lives in Lerksund Street.", "He lives in Corve Street."),
    ("STREET_ADDRESS", "der Zirnweg in Vintloch", "der Rosenweg in Hamburg"),
    ("STREET_ADDRESS", "de Jarnville, en la Calle Yarmond", "de Madrid, en la Calle Mayor"),
]


@pytest.mark.parametrize(("type_", "written", "raw"), SPELLED)
def test_a_part_of_a_name_or_an_address_comes_back(
    made: Perturbation, type_: str, written: str, raw: str
) -> None:
    releases = []
    for value, new in PARTS[type_]:
        done = Perturbation(new, (), made.receipt, (Replacement(0, len(value), type_, new),))
        releases.append(Release(value, done, None, b""))  # type: ignore[arg-type]
    back = build_way_back(releases, (), ())
    assert echo(back, [written]) == raw
    assert echo(back, written) == raw
    assert find_lost(back, releases) == []
