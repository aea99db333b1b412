"""The bundled token classifier: what it finds, where, and when it refuses to be built."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perturb import ParameterError, Perturber, Span, get_mechanism, seeded_generator
from perturb.errors import DetectorError
from perturb.selective.detector import DETECTED, DetectorPolicy
from perturb.selective.policies import PatternPolicy, settle
from perturb.selective.sanitizer import SelectiveParameters
from perturb.selective.token_model import (
    BUNDLED_FILE,
    MARGIN,
    OUTSIDE,
    WINDOW,
    TokenModel,
    TokenWord,
    load_token_model,
)
from perturb.testing import PolicyContract
from perturb.testing.growth import grows_linearly
from tests.perturb.marking import TABLE, WORDS

SENTENCES = [  # (text, the parts that are marked, with their types)
    (
        "My name is Oliver Thwaite and I was born in Norwich on 4 March 1971.",
        {("Oliver Thwaite", "PERSON"), ("Norwich", "LOCATION"), ("4 March 1971", "DATE_TIME")},
    ),
    (
        "please ask rebecca thornton whether she still works for Kestrel Insurance Ltd.",
        {("rebecca thornton", "PERSON"), ("Kestrel Insurance Ltd", "ORGANIZATION")},
    ),
    (
        "Die Klägerin, Frau Annegret Vollmer, wohnt seit drei Jahren in Wuppertal.",
        {("Annegret Vollmer", "PERSON"), ("Wuppertal", "LOCATION")},
    ),
    (
        "Monsieur Thibault Garrel est né le 12 juillet 1958 à Besançon.",
        {("Thibault Garrel", "PERSON"), ("12 juillet 1958", "DATE_TIME")},
    ),
    (
        "El demandante, don Gonzalo Villalobos, nació en Salamanca en mayo de 1949.",
        {("don Gonzalo Villalobos", "PERSON"), ("Salamanca", "LOCATION")},
    ),
]
FILLER = "the river was very cold and we could not see the bottom of it"


def marks(text: str) -> set[tuple[str, str]]:
    found = DetectorPolicy().find(text)
    return {(text[span.start : span.end], span.type) for span in found}


@pytest.mark.parametrize(("text", "parts"), SENTENCES)
def test_parts_are_found_in_four_languages(text: str, parts: set[tuple[str, str]]) -> None:
    assert parts <= marks(text)


class TestContract(PolicyContract):
    """The rules that every policy must keep. Hostile texts are below: the model is slow."""

    marks = ((SENTENCES[0][0], (("Oliver Thwaite", "PERSON"),)),)
    leaves = (
        "Boil the potatoes, drain them and mash them with butter.",
        "Die Suppe braucht Geduld und frisches Gemüse.",
        "the function returns a list of all keys",
    )
    # test_the_work_is_linear_in_the_text counts the model's runs instead.
    test_hostile_texts_cost_what_their_length_says = None

    def build(self) -> DetectorPolicy:
        return DetectorPolicy()


@pytest.mark.parametrize(
    "before",
    [
        "Ça va, Übergrößen: ",
        "日本語 李 👩‍👩‍👧 ",
        "e\u0301\u0301 \u200b\u202e ",
        "&uuml;&#65; ",
        "İstanbul ﬁ ½ ",
        "\x00\x7f\t ",
        "\\u0041\\n ",
    ],
)
def test_places_are_exact_in_any_text(before: str) -> None:
    text = f"{before} My name is Oliver Thwaite. "
    assert ("Oliver Thwaite", "PERSON") in marks(text)


def test_a_name_across_the_border_of_a_window_is_found() -> None:
    model = load_token_model()
    filler = f"{FILLER} . " * 40
    words = list(model.classify(filler))
    for last in range(WINDOW - 2 * MARGIN - 2, WINDOW + 2, 8):
        begin = filler[: words[last][1]].rstrip()
        text = f"{begin} Mr Oliver Thwaite {filler}"
        found = {text[s.start : s.end] for s in DetectorPolicy().find(text)}
        assert any("Oliver Thwaite" in part for part in found), last


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_the_cells_of_a_row_are_read_apart(sign: str) -> None:
    """No number is part of a place, and no name runs into an address."""
    given = ["Gera", "Nayil", "Hamima", "Rafeek", "Katy", "Birsen", "Tahan", "Janik"]
    last = ["Misir", "Lomak"]
    names = [
        f"{first}{sign}{a}{b.lower()}" for first in given for a in last for b in (*last, *given)
    ]
    rows = [
        f"{i}{sign}{name}{sign}{name.replace(sign, '.').lower()}@mail{i % 9}.com{sign}Springfield"
        f"{sign}{i * 7919 % 9000 + 500}.{i % 90 + 10}"
        for i, name in enumerate(names, 400)
    ]
    for text, type_ in marks("\n".join(rows)):
        *_, end = text.rpartition(sign)
        assert not (end.isdecimal() and type_ == "LOCATION"), text
        assert sign not in text or "@" not in text, text


class Counted:
    """Count the windows that a session reads."""

    def __init__(self, session: Any) -> None:
        self._session, self.lengths = session, list[int]()

    def run(self, outputs: None, given: dict[str, Any]) -> Any:
        self.lengths.append(len(given["ids"]))
        return self._session.run(outputs, given)


@pytest.mark.parametrize("unit", ["a ", "李", ".", "Aa", "A1-"])
def test_the_work_is_linear_in_the_text(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_token_model()
    counted = Counted(model._session)
    monkeypatch.setattr(model, "_session", counted)
    words = list(model.classify(unit * 1500))
    assert max(counted.lengths) <= WINDOW + 2
    assert sum(counted.lengths) <= 2 * max(len(words), 1500 * len(unit)) + WINDOW
    assert [word.start for word in words] == sorted(word.start for word in words)


def test_a_window_does_not_depend_on_the_rest_of_the_text() -> None:
    model = load_token_model()
    filler = f"{FILLER} . " * 40
    long = [word[:3] for word in model.classify(filler)]
    cut = long[WINDOW - 2 * MARGIN][1]
    assert [word[:3] for word in model.classify(filler[:cut])] == long[: WINDOW - 2 * MARGIN + 1]


def test_a_text_of_no_words_has_no_parts() -> None:
    model = load_token_model()
    assert list(model.classify("")) == list(model.classify(" \n\t")) == []
    assert model.labels[OUTSIDE] == "O"
    assert set(model.labels[1:]) == set(DETECTED)


def copy_model(folder: Path) -> Path:
    shutil.copy(BUNDLED_FILE, folder)
    shutil.copy(BUNDLED_FILE.with_suffix(".json"), folder)
    return folder / BUNDLED_FILE.name


def test_a_damaged_or_missing_model_is_refused(tmp_path: Path) -> None:
    path = copy_model(tmp_path)
    assert TokenModel(path).sha256 == load_token_model().sha256
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DetectorError, match="is damaged"):
        TokenModel(path)
    path.with_suffix(".json").write_text(json.dumps({"format": 1}), "utf-8")
    with pytest.raises(DetectorError, match="cannot be read"):
        TokenModel(path)
    path.unlink()
    with pytest.raises(DetectorError, match="cannot be read"):
        TokenModel(path)


class Capitals:
    """Names by their capitals."""

    def find(self, text: str) -> list[Span]:
        return [Span(*m.span(), "NAME") for m in re.finditer(r"[A-Z]\w+(?: de [A-Z]\w+)*", text)]


def test_a_name_by_its_capitals_is_marked_whole_where_a_word_of_it_is_found() -> None:
    text = "Oliver Thwaite de Quux met The Moon Garden Norwich."
    alone, whole = DetectorPolicy(), DetectorPolicy(names=Capitals())
    found = set(alone.find(text))
    assert found <= set(whole.find(text))
    added = [text[s.start : s.end] for s in set(whole.find(text)) - found]
    assert all(any(a.start < s.end and s.start < a.end for a in found) for s in whole.find(text))
    assert "Thwaite de Quux" in added
    assert alone.version != DetectorPolicy(names=PatternPolicy.shipped(["NAME"])).version


@pytest.mark.parametrize(
    "text",
    [
        "A portrait of {} hangs here. Portrait of {}",
        "Order of {}, Letter from {}",
        '{"alt": "Photo of {}", "title": "Invoice for {}"}',
        "<title>Profile of {}</title>",
        "{} Performance Review",
        "Meeting With {} About Budget",
        "Invoice {}",
        "Rechnung {}",
        "Tell {} that I called. Ask {} to come.",
        "Sehr geehrte Frau {}, und Frau {}",
    ],
)
@pytest.mark.parametrize("name", ["Anna Holzapfel", "Claire Dumoulin", "Mary Windham"])
def test_the_words_around_a_name_are_no_part_of_it(text: str, name: str) -> None:
    policy = get_mechanism("selective", TABLE)
    written = text.replace("{}", name)
    left = written
    for span in reversed(policy.spans(written) or ()):
        left = left[: span.start] + "{}" + left[span.end :]
    assert left == text


@pytest.mark.parametrize(
    "name",
    [
        "Anna Baker",
        "John May Field",
        "Carla de la Fuente",
        "Vincent van den Bosch",
        "Ana de los Ríos",
    ],
)
def test_a_name_is_marked_whole(name: str) -> None:
    text = f"I met {name} yesterday."
    (span,) = get_mechanism("selective", TABLE).spans(text) or ()
    assert text[span.start : span.end] == name


@pytest.mark.parametrize(
    "text",
    [
        '    "billing": "{}",',
        "**Present:** Milena Fazuseri, *{}* and the office",
        "\x1b[33;1mWARN\x1b[0m [mail-2] could not reach \x1b[36m{}\x1b[39m, retry 1/3",
        r'{"line": "\u001b[31mERROR\u001b[0m of \u001b[36m{}\u001b[0m"}',
        "    friendlyName: {}",
        "{}",
    ],
)
@pytest.mark.parametrize("name", ["Ruprecht Vopafila", "Bartosz Dinomimu", "Tunde Ogunbanjo"])
def test_a_given_name_and_a_word_of_no_dictionary_are_a_person(text: str, name: str) -> None:
    for spelled in (name, name.replace(" ", "_")):  # also as the name of a function
        written = text.replace("{}", spelled)
        found = get_mechanism("selective", TABLE).spans(written) or ()
        place = written.index(spelled)
        assert any(span.start == place and span.end == place + len(name) for span in found)


def test_places_are_no_person_for_their_given_name() -> None:
    text = "We met on Charlotte Street near Virginia Beach, then in Victoria Falls."
    assert get_mechanism("selective", TABLE).spans(text) == ()


def test_capitals_alone_are_no_names_beside_the_detector() -> None:
    text = "THE FACTS\n\nThe Convention and the Rules of Court apply."
    both = get_mechanism(
        "selective", TABLE, policy=["regex", "detector"], actions={"*": "replace"}
    )
    assert both.spans(text) == ()
    assert get_mechanism("selective", TABLE, **WORDS).spans(text)


def test_entities_choose_among_the_types_of_both_policies() -> None:
    text = "Oliver Thwaite of Norwich wrote to o.t@example.org on 4 March 1971."

    def types(*entities: str, policy: Any = ("regex", "detector")) -> set[str]:
        found = get_mechanism(
            "selective", TABLE, policy=policy, entities=entities, actions={"*": "replace"}
        )
        return {span.type for span in found.spans(text) or ()}

    assert types("EMAIL_ADDRESS") == {"EMAIL_ADDRESS"}
    assert types("PERSON") == {"PERSON"}
    assert types("PERSON", "EMAIL_ADDRESS") == {"PERSON", "EMAIL_ADDRESS"}
    assert {"PERSON", "LOCATION"} & types("NAME", policy="detector")
    with pytest.raises(ParameterError, match="^entities must be among "):
        types("PERSONS")
    with pytest.raises(ParameterError, match="^entities must be among "):
        types("EMAIL_ADDRESS", policy="detector")


def test_the_detector_is_one_of_the_policies_of_selective() -> None:
    parameters = SelectiveParameters(policy=["regex", "detector"])
    assert parameters.policy_names == ("regex", "detector")
    mechanism = get_mechanism(
        "selective", TABLE, policy=["regex", "detector"], actions={"*": "replace"}
    )
    text = "please ask rebecca thornton, rebecca will know"
    spans = mechanism.spans(text)
    assert [text[s.start : s.end] for s in spans] == ["rebecca thornton", "rebecca"]
    assert any(load_token_model().sha256 in each for each in mechanism.identity()["marks"][1:])
    made = Perturber(mechanism).perturb(text, seeded_generator(3))
    Perturber(mechanism).verify(text, made)
    assert "thornton" not in made.text
    assert settle(text, DetectorPolicy().find(text))


ORDINARY = [
    "class UserService extends BaseService { private final OrderRepository orders; }",
    "What is 1234 * 5678?",
    "Explain Bayes' theorem to a beginner.",
    "SELECT status, COUNT(*) FROM orders GROUP BY status HAVING COUNT(*) > 5;",
    "Click Settings, then Advanced Options, and confirm with Save.",
    "How do I deploy Django on Kubernetes with PostgreSQL and Redis?",
    "MONTHLY SALES REPORT FOR THE BOARD",
    "Erkläre den Unterschied zwischen einer Rechnung und einer Mahnung.",
    "Traduis en anglais : la maison rouge est à côté du jardin.",
    "Escribe una función en Python que ordene una lista.",
    "can you please mark it as done",
    "Please mark the answer in bold; def mark(x): return x.mark",
    "we should chase them and bill the rest",
]
NAMED = [
    ("my husband tom won't talk to me since the wedding", "tom"),
    ("hi, this is mira holzapfel and i need help with my lease", "mira holzapfel"),
    ("# Ask Fiona before you change this.\ndef load(path):\n    return path", "Fiona"),
    ('owner = "Greta Lindqvist"\nretries = 3\n', "Greta Lindqvist"),
    ("Hello Иван Петров, is the report ready?", "Иван Петров"),
]


@pytest.mark.parametrize("text", ORDINARY)
def test_nobody_is_found_in_ordinary_texts(text: str) -> None:
    policy = DetectorPolicy(["PERSON", "ORGANIZATION"], thresholds={"PERSON": 0.7})
    assert list(policy.find(text)) == []


@pytest.mark.parametrize(("text", "name"), NAMED)
def test_people_are_found_in_chats_and_in_code(text: str, name: str) -> None:
    spans = DetectorPolicy(["PERSON"], thresholds={"PERSON": 0.7}).find(text)
    assert name in {text[span.start : span.end] for span in spans}


def test_a_variable_of_one_letter_and_its_attributes_are_no_names() -> None:
    class Marks:
        labels, sha256 = ("O", "PERSON"), ""

        def classify(self, text: str, *_: Any) -> list[TokenWord]:
            words = re.finditer(r"m\b(?:\.balance)?|mount|\w+|[^\w\s]", text)
            return [
                TokenWord(*word.span(), int(word[0].startswith("m")), np.zeros(2, np.float32))
                for word in words
            ]

    policy = DetectorPolicy(model=Marks())  # type: ignore[arg-type]
    assert [*policy.find("list.find((m) => m.name + m.balance)")] == []
    assert [*policy.find("x.find + x.mount")] == []
    assert [*policy.find("m.balance wrote")] == [Span(0, 9, "PERSON")]  # somebody's handle


def test_two_numbers_are_two_parts() -> None:
    text = "See https://www.firm.de/list?id=4711 and docs.firm.de/3, or RE-2231-B und RE-2232-C."
    found = [text[s.start : s.end] for s in DetectorPolicy(["ID"]).find(text)]
    assert len(found) >= 2
    assert not any(" " in part for part in found)


@pytest.mark.parametrize("name", ["Hotel Alvorada ", "Court of Appeal of Alvorada "])
def test_a_run_of_names_takes_time_linear_in_it(name: str) -> None:
    find = get_mechanism("selective", TABLE, profile="people").spans
    assert grows_linearly(lambda n: find(name * (n // len(name))), 32_000, seconds=0.5)
