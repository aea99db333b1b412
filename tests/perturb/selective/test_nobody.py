"""What is nobody's in ordinary texts stays: exercises, lists of things, firms' numbers, verbs that
are names; beside each, the private text that is nearest to it is hidden."""

from __future__ import annotations

import pytest

from perturb import get_mechanism
from perturb.selective.public import read_key
from perturb.selective.public.invented import TALES, find_tales
from perturb.selective.public.lists import (
    find_compared,
    find_lists,
    find_title_cells,
    find_titles,
    find_varieties,
)
from perturb.testing.growth import grows_linearly
from tests.tables import bundled_table

TABLE = bundled_table()

# By kind: a text that leaves as it is, a text like it and what is hidden in that.
KINDS = {
    "a quantity": (
        "A poem on spring, max 40 lines, please.",
        "Yesterday max told Siobhan the news.",
        ["max"],
    ),
    "an animal in a poem": (
        "A limerick about a grumpy cat named Mr. Whiskers, or a tale about a fox called Tom?",
        "Write a poem about my neighbour with a cat, Mr. Farquhar, and a man named Tom Quennell.",
        ["Farquhar", "Tom Quennell"],
    ),
    "a comparison": (
        "Compare Smith, Ricardo and Malthus. How do Marx's and Weber's views on religion differ?",
        "Compare Smith's and Ricardo's bids with that of Ricardo Quennell.",
        ["Ricardo Quennell"],
    ),
    "named after people": (
        "Difference between a Granny Smith and a Victoria plum? How do I make Fettuccine Alfredo?",
        "Granny Quennell-Smith met Victoria Pollard-Plumb and Alfredo Bianchi-Conte.",
        ["Quennell-Smith", "Victoria Pollard-Plumb", "Alfredo Bianchi-Conte"],
    ),
    "a work": (
        "Nenne fünf Bücher von Hermann Hesse. Welche Romane von Thomas Mann sind verfilmt?",
        "Die Bücher von Hermann Hesselbach hat Petra von Thomas Mannheim.",
        ["Hermann Hesselbach", "Petra"],
    ),
    "a being": (
        "There is a pirate called Captain Holloway in it, and a dragon named Siobhan.",
        "My boss is a pirate called Captain Holloway, and hers was a sly witch named Siobhan.",
        ["Holloway", "Siobhan"],
    ),
    "a verb": (
        "Mark all rows in red. Grant the editors access. Will this take long?",
        "We pay the rent on Friday.\n\nMark",
        ["Mark"],
    ),
    "one word": (
        'Is "Will Will will Will a cake?" a sentence?',
        "Will Penrose will come.",
        ["Will Penrose"],
    ),
    "what somebody has": (
        "Two bags of Uncle Ben's rice are enough.",
        "Her tutor is Condoleezza Rice-Hallam.",
        ["Condoleezza Rice-Hallam"],
    ),
    "what animals are called": (
        "Which animals are called jenny, tom or billy?",
        "Which day did jenny come?",
        ["jenny"],
    ),
    "a German compound": (
        "Wie entferne ich Kalkablagerungen an der Armatur?",
        "Gestern war Anneliese Hinterbergen da.",
        ["Anneliese Hinterbergen"],
    ),
    "a question": (
        'What does "Kdy jindy než teď" mean?',
        "Kdy přijede Jana Dvořáčková?",
        ["Jana Dvořáčková"],
    ),
    "a car": (
        "Is a Mazda Xedos, a Skoda Yeti or a Mercedes C-Class cheaper to insure?",
        "Mercedes Aguilar-Pons drives too fast.",
        ["Mercedes Aguilar-Pons"],
    ),
    "a department": (
        "Distinti saluti,\nIl Servizio Clienti",
        "Distinti saluti,\nOrnella Scognamiglio",
        ["Ornella Scognamiglio"],
    ),
    "several who are greeted": (
        "Szanowni Państwo,\n\nproszę o ofertę.",
        "Szanowni Państwo Nowakowie,\n\nproszę o ofertę.",
        ["Nowakowie"],
    ),
    "a number that is free": (
        "Is 1-877-555-0142 free? And 0800 7700 142?",
        "Is 1-212-555-0142 yours?",
        ["1-212-555-0142"],
    ),
    "a stand-in": (
        "The form sent name=Test&email=user%40example.org to the server.",
        "The form sent name=Test&email=ines.tramontin%40lindenhof.example to it.",
        ["ines.tramontin%40lindenhof.example"],
    ),
    "the key of a cache": (
        "Cache restored from key: pnpm-Linux-7c1d9e5a3f0b4c2e9d550a1b2c3d4e5f",
        "Here is the key: 7c1d9e5a3f0b4c2e9d550a1b2c3d4e5f",
        ["7c1d9e5a3f0b4c2e9d550a1b2c3d4e5f"],
    ),
    "years": (
        "Who won the league in 1987/88 and 2003/04?",
        "Tell Ines Tramontin about the file 18403/91.",
        ["Ines Tramontin", "18403/91"],
    ),
    "a printed number": (
        "What is 123-45-6789 in the fixture?",
        "Her social security number: 078-05-1120",
        ["078-05-1120"],
    ),
    "a list of places": (
        "Is Petra, Aqaba or Amman the warmest in March?",
        "Is Petra Vollmering, Aqaba or Amman better?",
        ["Petra Vollmering"],
    ),
    "a list of well-known persons": (
        "Compare the films of Ingmar Bergman, Federico Fellini and Bo Widerberg: what is common?",
        "Compare the offers of Ingo Bergmann-Thal, Fedra Felline and Bo Widerbek: what is common?",
        ["Ingo Bergmann-Thal", "Fedra Felline", "Bo Widerbek"],
    ),
    "surnames": (
        "The most frequent surnames: Müller, Schmidt, Schneider, Fischer. What do they mean?",
        "Our tenants: Müller, Schmidt, Schneider, Fischer.",
        ["Müller", "Schmidt", "Schneider"],
    ),
    "winners": (
        "Winners of the Tour: Wiggins, Froome, Nibali, Thomas, Vingegaard. How many times each?",
        "My tenants: Wiggins, Froome, Nibali, Thomas, Vingegaard.",
        ["Wiggins", "Froome", "Nibali", "Thomas"],
    ),
    "an exercise of arithmetic": (
        "Sara has 12 pens and gives 5 to Paul. How many pens are left?",
        "My sister Sara took 12 pills and 5 beers. How many are too many?",
        ["Sara"],
    ),
    "an exercise with a full name": (
        "Mrs Baker's class has 28 pupils, 7 of them ill. How many are there?",
        "Sara Vollmering has 12 pens and gives 5 to Paul. How many pens are left?",
        ["Sara Vollmering", "Paul"],
    ),
    "an amount that worries": (
        "A worksheet: Sara drinks 3 glasses of milk a day. How many is that a week?",
        "Sara drinks 3 bottles of wine a day, since 2 years. How many are too many? "
        "I fear for her.",
        ["Sara"],
    ),
    "an exercise of grammar": (
        'Put into reported speech: Sara said, "I like the new house."',
        'Correct my grammar: "Sara said that she has leave her husband."',
        ["Sara"],
    ),
    "a value": (
        'The playlist: "Sweet Caroline", "Maggie May".',
        'INFO film 2 unreadable, holder="Caroline Holzapfel"',
        ["Caroline Holzapfel"],
    ),
    "a breed or a drink": (
        "Is a Jack Russell a good dog for a flat? What's in a Tom Collins?",
        "A Jack Russell called about the dog. I met a Jack Russell.",
        ["Jack Russell"],
    ),
    "a saying": (
        "What does 'robbing Peter to pay Paul' mean? And a Debbie Downer, or Bad Luck Brian?",
        "Peter is robbing Paul Hartwig, and Debbie Downing had bad luck with Brian.",
        ["Peter", "Paul Hartwig", "Debbie Downing", "Brian"],
    ),
    "a meme": (
        "what does karen mean as slang, and who is chad and why is he a meme?",
        "what did karen mean when she emailed me, and why is chad texting my wife?",
        ["karen", "chad"],
    ),
    "a couple of a series": (
        "Why did Ross and Rachel break up? Were Ross and Rachel on a break?",
        "When do Ross and Rachel arrive? Should I tell my boss that Ross and Rachel break up?",
        ["Ross", "Rachel"],
    ),
    "words of a saying": (
        "Give me five idioms with 'will', 'mark' and 'grant'.",
        "Thank Mark in an email with the idiom 'will do'.",
        ["Mark"],
    ),
    "a greeting": (
        "Dobrý den, jak se vaří svíčková?",
        "Dobrý den, paní Nováková. Zítra přijede Jan Dobrý.",
        ["Nováková", "Jan Dobrý"],
    ),
    "the beginning of a greeting": (
        "Buon giorno, quanto fa 12 per 12?",
        "Jó reggelt Zsófia! Buon giorno Beatrice,",
        ["Zsófia"],
    ),
    "a word for a number": (
        "TC kimlik no nedir? Wat is een BSN?",
        "mijn BSN is 123456782 en mijn vrouw heet Anneke",
        ["123456782", "Anneke"],
    ),
    "a pronoun": (
        "was soll ich ihm schreiben?",
        "soll ich sascha oder ihm schreiben?",
        ["sascha"],
    ),
    "a font": (
        "https://fonts.googleapis.com/css2?family=Roboto+Slab&family=Josefin+Sans",
        "Josefin hat mich gestern angerufen.",
        ["Josefin"],
    ),
    "a tag of a field": (
        'Password string `json:"password,omitempty" yaml:"password"`',
        'the password for `db` is: "kestrel-44b"',
        ["kestrel-44b"],
    ),
    "a title": (
        'Who sang "Roxanne" and "Sweet Caroline"?',
        "Who told Roxanne Vollmering that Caroline sings?",
        ["Roxanne Vollmering", "Caroline"],
    ),
}


def find(text: str) -> list[str]:
    mechanism = get_mechanism("selective", TABLE, profile="people")
    return [text[span.start : span.end] for span in mechanism.spans(text) or ()]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_nobodys_stays_as_it_is(kind: str) -> None:
    assert find(KINDS[kind][0]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_somebodys_is_hidden(kind: str) -> None:
    _, text, hidden = KINDS[kind]
    found = find(text)
    assert all(any(part in span for span in found) for part in hidden), found


@pytest.mark.parametrize(
    "piece",
    [
        *("Anna, ", "Anna and ", 'song "A b" ', "Aa ", "A.", '"', "A and, "),
        *("best running shoes: A ", "apple variety: Elstar ", "title,artist\n"),
    ],
)
def test_lists_and_titles_take_time_linear_in_the_text(piece: str) -> None:
    def work(length: int) -> object:
        text = f"song {piece * length}"[:length]
        listed = *find_varieties(text), *find_compared(text), *find_title_cells(text)
        return [*find_lists(text), *find_titles(text), *listed]

    assert grows_linearly(work, 20_000, seconds=0.02)


# Of well-known tales: a question about them, and what is nearest to it about somebody's life.
CHARACTERS = (
    "Did Hermione marry Ron in Harry Potter?",
    "Write fan fiction about Draco and Hermione at Hogwarts.",
    "Summarize the chapter in which Frodo and Sam meet Gollum.",
    "How does Jo reject Laurie in Little Women?",
    "In Friends episode 5, why is Ross jealous of Joey?",
    "Explain why Michael kills Fredo in the Godfather movie.",
    "Write a scene where Michael and Dwight prank Jim at Dunder Mifflin.",
    "Warum streiten Ron und Hermine im dritten Kapitel mit Draco Malfoy?",
    "Is Yennefer older than Geralt?",
)
SOMEBODY = (
    ("My daughter Hermione starts school and loves Harry Potter.", "Hermione"),
    ("Ron from work gave me Harry Potter; thank him for me.", "Ron"),
    ("E-mail Luna about the Harry Potter tickets.", "Luna"),
    ("Did Hermione Blake marry Ron in Harry Potter?", "Hermione Blake"),
    ("What should I get Ginny for her birthday? She loves Harry Potter.", "Ginny"),
    ("Tell Percy that the Percy Jackson book is here.", "Percy"),
    ("The Star Wars movie night: Luke said he was fired and Leia cried. What now?", "Luke"),
    ("Call Luke about the Star Wars figures.", "Luke"),
    ("Sam is in rehab. Should he read Lord of the Rings?", "Sam"),
    ("Which Hobbit is Sam? He is in my team.", "Sam"),
    ("Can Rosie borrow the Lord of the Rings book?", "Rosie"),
    ("What did Jim write on the Dunder Mifflin mug that he got from HR?", "Jim"),
    ("Write a note for Luna: the Harry Potter film starts at 8.", "Luna"),
    ("Elizabeth has depression. Is Pride and Prejudice a good book for her?", "Elizabeth"),
    ("Did Ross, ross.geller@kestrel.example, cancel in Friends episode 5?", "Ross"),
    ("When is Anna due? Katniss and Peeta marry in the last chapter.", "Anna"),
)


@pytest.mark.parametrize("text", CHARACTERS)
def test_characters_of_well_known_tales_are_nobody(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(("text", "name"), SOMEBODY)
def test_who_is_called_as_a_character_is_somebody(text: str, name: str) -> None:
    found = find(text)
    assert any(name in part for part in found), found


# Exercises, and parts that the remote is to play.
INVENTED = """
Paul a trois fois plus de billes que Marie. Ensemble ils en ont 48. Combien en a Marie ?
João tem o dobro da idade de Maria. Juntos têm 36 anos. Quantos anos tem Maria?
You are Captain Blackwood, a gruff pirate. Greet a new sailor on board.
Summarise Romeo and Juliet, with the fight of Tybalt.
"""
OWN = """
⟦Paul⟧ a perdu un tiers de son salaire de 2400 euros. Combien lui reste-t-il ? C'est mon frère.
Mein Bruder ⟦Torben⟧ zahlt dreimal so viel Miete wie ich, 900 Euro. Wie viel spart er?
Meine Kollegin ⟦Wiebke⟧ verdient ein Viertel mehr als 3000 Euro. Wie viel ist das?
Minha irmã ⟦Beatriz⟧ deve o dobro de mim, 3200 reais. Quanto ela paga de imposto?
Meu vizinho ⟦Joaquim⟧ deve um terço de 1200 euros. Quanto falta?
Mia sorella ⟦Giulia⟧ deve il doppio, 600 euro. Quanto deve pagare?
Il mio vicino ⟦Ludovico⟧ ha pagato un terzo di 900 euro. Quanto manca?
Mi hermana ⟦Leticia⟧ debe el triple, 900 euros. ¿Cuánto tiene que pagar?
Mijn zus ⟦Femke⟧ betaalt twee keer zoveel huur, 900 euro. Hoeveel is dat?
Moja siostra ⟦Zofia⟧ zarabia dwa razy więcej, 6000 zł. Ile płaci podatku?
You are ⟦Tamsin Achterberg⟧, a nurse at the clinic.
You are ⟦Oskar Thackeray⟧, the owner of this account.
You are Captain ⟦Anna Kowalczyk⟧, a pilot of the airline.
You are ⟦Tamsin Achterberg⟧, a ghost writer.
My boss ⟦Torben⟧ is a pirate.
Summarise the report of ⟦Mercutio Delgado⟧ on the leak.
Summarise what ⟦Juliet Thackeray⟧ told me yesterday.
Summarise the complaint of ⟦Rick Lindqvist⟧ and ⟦Ilsa Kvamme⟧.
Riassumi la lettera di mia zia ⟦Lucia Haddadian⟧.
character sheet for ⟦Tamsin Achterberg⟧, a dwarf of a woman from HR
"""


@pytest.mark.parametrize("text", INVENTED.strip().splitlines())
def test_who_is_invented_for_an_exercise_or_a_part_is_nobody(text: str) -> None:
    invented = ("Paul", "Marie", "Marco", "Giulia", "João", "Maria", "Ali", "Ayşe", "Blackwood")
    assert not {*invented, "Tybalt"}.intersection(find(text))


@pytest.mark.parametrize("line", OWN.strip().splitlines())
def test_who_is_somebodys_own_is_hidden_beside_numbers_and_beings(line: str) -> None:
    pieces = line.replace("⟧", "⟦").split("⟦")
    found = find("".join(pieces))
    assert all(any(name in part for part in found) for name in pieces[1::2]), found


def test_the_tales_are_spelled_as_names_are_read() -> None:
    for line in TALES.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            phrases, _, names = line.partition(": ")
            for key in (*phrases.split(", "), *names.split()):
                assert key == read_key(key), key
    assert " hogwarts " in find_tales(["ron"]) & find_tales(["hermione"])
