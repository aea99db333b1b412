"""What people paste into a chat: minutes, lists of names, logs, mails and settings. Beside each
text that leaves as it is stands the private text that is nearest to it, and is hidden."""

from __future__ import annotations

import pytest

from perturb import get_mechanism
from tests.perturb.marking import TABLE
from tests.perturb.selective.test_nobody import find

# By kind: a text that leaves as it is, a text like it and what is hidden in that.
KINDS = {
    "a surname in capitals": (
        "We use Django REST and Ruby JSON. Le Conseil EST ouvert. LINDEN Rest is a shelf.",
        "Excusés : Stéphane URVAUD, AIT AZZOUR Faïz et LAVANDIER Gwendoline, Mme LE PROVOST.",
        ["Stéphane URVAUD", "AIT AZZOUR Faïz", "LAVANDIER Gwendoline", "LE PROVOST"],
    ),
    "several persons with one title": (
        "Mesdames, Messieurs, chers collègues. The lens has 50 MM. Optics are good.",
        "Présents : Mmes Géroux, Goulard, BOLÉNOR et Perrin; MM. Cavagnol, Vignier (11).",
        ["Géroux", "Goulard", "BOLÉNOR", "Perrin", "Cavagnol", "Vignier"],
    ),
    "the title of a councillor": (
        "Every Cllr may speak. Cllrs are elected in May.",
        "Cllrs Glyn Charlwood and PB spoke. Cllr P Battey spoke. Every Cllr may speak.",
        ["Glyn Charlwood", "P Battey"],
    ),
    "who has an office": (
        "In attendance: Desk Lamp (Clerk). Standing Orders (Minutes)",
        "In attendance: Desiree Home (Clerk)",
        ["Desiree Home"],
    ),
    "lines that end alike": (
        "Monday – Chicken Curry\nTuesday – Rice Pudding\nWednesday – Apple Crumble\n",
        "Year 3 Long Jump – Seb Wadeley\nYear 4 Long Jump – Zubin Basher\n"
        "Year 6 High Jump – Oliver Adamsen\nYear 5 Shot – Kanishq Hariman\n"
        "Year 5 70m – Tim Hobley\n",
        ["Seb Wadeley", "Zubin Basher", "Oliver Adamsen", "Kanishq Hariman", "Tim Hobley"],
    ),
    "the head of a CV": (
        "Improve this:\n\nQUARTERLY SALES SUMMARY\nquestions to the office, 0113 496",
        "Improve this:\n\nOLUWASANMI ADEBAYO-KERR\nmanager, sanmi@lindenhof.example",
        ["OLUWASANMI ADEBAYO-KERR", "sanmi@lindenhof.example"],
    ),
    "the author of a page": (
        "---\nauthor: mark-down\n---\nauthor: docs-team\n",
        "---\nauthor: luis-fernando-holzapfel\n---\n",
        ["luis-fernando-holzapfel"],
    ),
    "a time before a sender": (
        "It closes at 10:00 AM, and at 3:30 PM on Sundays.",
        "On Dec 14, at 10:00 AM, Wiebke Holzapfel <w.holzapfel@lindenhof.example> wrote:",
        ["Wiebke Holzapfel", "w.holzapfel@lindenhof.example"],
    ),
    "a day before a date": (
        "Date: Fri, 21 Nov 1997 09:55:06 -0600\nSubject: Saying Hello",
        "From: Fritz Holzapfel\nDate: Fri, 21 Nov 1997 09:55:06 -0600",
        ["Fritz Holzapfel"],
    ),
    "who signs and who asks": (
        "Sehr geehrter Fragesteller,\n\ndanke.\n\nMit freundlichen Grüßen,\nUnterschrift (Blatt)",
        "Sehr geehrter Herr Holzapfel,\n\ndanke.\n\nMit freundlichen Grüßen,\nWiebke (Blatt)",
        ["Holzapfel", "Wiebke"],
    ),
    "the subject of a letter": (
        "Betreff: Ihre Anfrage\nBetreff: Unsere Anfrage",
        "Betreff: Wiebke Holzapfel",
        ["Wiebke Holzapfel"],
    ),
    "cities in a row": (
        "Chicago San Francisco Lisbon London Madrid San Juan Seoul Singapore",
        "Ask Francisco Holzapfel in London.",
        ["Francisco Holzapfel"],
    ),
    "the title of a film": (
        'Best films:\n1. "Mr. Smith Goes to Washington" (1939)\n2. "My Man Godfrey" (1936)',
        'Patient "Wiebke Holzapfel" (1984), Patient "Dr. Anna Lindener" (1990)',
        ["Wiebke Holzapfel", "Anna Lindener"],
    ),
    "the time of a line in a log": (
        "081109 203615 148 INFO dfs.DataNode: done\n[24:0701/114930:WARNING:dns.cc] slow",
        "0511 203615\nCall 0511 203615 now",
        ["0511 203615", "0511 203615"],
    ),
    "the number of a product": (
        "Product ID: 00330-80000-00000-AA512",
        "Call 00330-80000-00000 now.",
        ["00330-80000-00000"],
    ),
    "a telephone number like a postcode": (
        "It is in Springfield, 05337-7187.",
        "Kassenwart, Tel: 05337-7187",
        ["05337-7187"],
    ),
    "a module of a server": (
        "[error] mod_jk child workerEnv in error state 6",
        "[error] user anna_holzapfel@lindenhof.example in error state 6",
        ["anna_holzapfel@lindenhof.example"],
    ),
    "a row of figures": (
        "Fan speeds ( 3552 3534 3375 **** 3515 3479 )",
        "My card is **** **** **** 3515.",
        ["3515"],
    ),
    "an object of Java": (
        "Bad token: android.os.BinderProxy@2bd79ce\nListening on Server$Selector@0.0.0.0:62267",
        "token: com.Linden9@2bd79cefa11",
        ["com.Linden9@2bd79cefa11"],
    ),
    "an address to fill in": (
        'From = "your_gmail_address@gmail.com"; user = "your-email@gmail.com"',
        'From = "yourij.holz@gmail.com"; user = "your.anna@gmail.com"',
        ["yourij.holz@gmail.com", "your.anna@gmail.com"],
    ),
    "a prompt": (
        'read -p "Password: " PNWPASS',
        '{"password": " hunter2x"} Password: "hunter3x"',
        [" hunter2x", "hunter3x"],
    ),
    "a property": (
        'public string Name { get; set; } = "Lindenhof";\npublic string Password { get; set; }',
        'public string Password { get; private set; } = "Gr33nHeron";',
        ["Gr33nHeron"],
    ),
    "whose password it is": (
        'FATAL: password authentication failed for user "postgres"',
        'The password for user "postgres" is "kestrel44". The password for "app" is kestrelpine.',
        ["kestrel44", "kestrelpine"],
    ),
    "a name that is to be remembered": (
        "Choose a memorable name that aligns with your channel's focus and audience.",
        "My memorable word's larkspur.",
        ["larkspur"],
    ),
    "hours and a street": (
        "Cook for 3 hours. Half way through, stir. Decided on October 24, 2018 City Court.",
        "She lives at 44 Heol y Parc, and he at 12 Half Moon Way.",
        ["44 Heol y Parc", "12 Half Moon Way."],
    ),
    "a number in brackets": (
        "Chapter (number 533817204) of the passport rules",
        "My passport (number 533817204), conf. code QX7T2M",
        ["533817204", "QX7T2M"],
    ),
    "a duty": (
        "Use Python to update the file. Click Save to send it.",
        "The key was rotated at 14:20, Marta to check the logs",
        ["Marta"],
    ),
    "whom to call": (
        "Ring Lufthansa at 0800 123 4567. Pregunta por Teléfono. Chapter One ........ 12",
        "call Wiebke 01970 555 014; pregunta por Nerea\nFatma (oppas) ...... 06 55 50 13 44",
        ["Wiebke", "01970 555 014", "Nerea", "Fatma", "06 55 50 13 44"],
    ),
    "a household": (
        "the Animals (Cat, Dog), the Options (Save, Open)",
        "and the Vollmerings (Nikhil, Asha) sit by the door",
        ["Vollmerings", "Nikhil", "Asha"],
    ),
    "what is answered": (
        "AGENT: and is the password field required?\nCALLER: yes, it is required",
        "AGENT: and the password on the account?\nCALLER: it's marmalade",
        ["marmalade"],
    ),
    "the town of an address": (
        "The walk is 40 miles long. Leeds is a city, Kettering a town, Version 12 is new.",
        "14 Cullingworth Avenue, Leeds LS8 3QT\n2207 Maple Hollow Dr, Asheville, NC 28801",
        ["14 Cullingworth Avenue", "Leeds LS8 3QT", "2207 Maple Hollow Dr", "Asheville, NC 28801"],
    ),
    "a word that speaks in a chat": (
        "[12/03/2024, 10:00] Meeting: start\n[12/03/2024, 11:00] Meeting: end",
        "[12/03/2024, 18:05] Dev: yes\n[12/03/2024, 18:06] Jess: why\n[12/03/2024, 18:07] Dev: ok",
        ["Dev", "Jess", "Dev"],
    ),
    "an account that speaks": (
        "step_1: unpack\nstep_2: build\nyou: run step_1\nstep_1: done",
        "Ralle_77: ist die Lampe noch da?\nIch: ja\nRalle_77: ok, komme um zwei",
        ["Ralle_77", "Ralle_77"],
    ),
    "whom an address is of": (
        "Red Heron is a film, and red.heron a file. The Help Desk has help.desk as its address.",
        "Thistle Heronby\nprogrammes for gardens\nthistle.heronby@lindenhof.example",
        ["Thistle Heronby", "thistle.heronby@lindenhof.example"],
    ),
    "a name behind another noun": (
        "Der Sachverständige Bericht Nummer Eins liegt vor. Die Ehefrau Heimat ist weit.",
        "vertreten durch den Geschäftsführer Norbert Brinkhagen. Die Ehefrau Hannelore kam mit.",
        ["Norbert Brinkhagen", "Hannelore"],
    ),
    "a particle between two names": (
        "Costa de Sol and Rio de Janeiro are far away.",
        "Wiebke van der Lindenhagen en Jan de Vriesema",
        ["Wiebke van der Lindenhagen", "Jan de Vriesema"],
    ),
    "a number by its label": (
        "O NIF tem nove dígitos. FIN is the end. Ligar o forno a 180. Polisvoorwaarden 2024.",
        "o NIF para o recibo é 245678910; podem ligar para o 912 555 083; polisnr. 80441297; "
        "une Clio immatriculée FG-417-KD",
        ["245678910", "912 555 083", "80441297", "FG-417-KD"],
    ),
    "what stands before and after a name": (
        "Signora! Maître! Herrn und Damen. An MSc or a PhD takes years.",
        "Wiebke Heronby RVN, signora Iolanda Terzoni, Herrn Petzoldt, Monsieur Khaderi",
        ["Wiebke Heronby", "Iolanda Terzoni", "Petzoldt", "Khaderi"],
    ),
    "a tag after a time": (
        "15:05<br><b>Hello</b>",
        "15:05 <badger7> hello",
        ["badger7"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_only_looks_private_stays_as_it_is(kind: str) -> None:
    assert find(KINDS[kind][0]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_private_is_hidden(kind: str) -> None:
    _, text, hidden = KINDS[kind]
    assert find(text) == hidden


# Lines of one form, with a number before or behind what they are about.
ROWS = (
    "{n:>6}  {x}", "{n}\t{x}", "{n:>7} {x}", "{n} {x}", "{x}  {n}", "{x} ({n})", "{x} ..... {n}",
    "{n}. {x}", "{n}) {x}", "#{n} {x}", "[{n}] {x}", "{n}x {x}", "{n},00 €  {x}", "{x} - {n} pts",
    "{n}:00  {x}", "{n} | {x}", "- {x}", "* {x}: {n} %",
)  # fmt: skip
PEOPLE = (
    "Anselm Vierthaler, Grace Njuguna, Tamsin Achterberg, Piotr Zielonka, Rose Baker",
    "Heike Wollny, Jörg Bastmann, Ute Krings, Malte Oberhuber, Sabine Zepf, Rolf Stern",
    "Elif Karaca, Mert Yavuz, Zeynep Ulusoy, Kaan Demirel, Deniz Çınar, Cem Aslan",
    "Nguyen Thi Lan, Tran Van Hai, Le Minh Chau, Pham Quoc Bao, Hoang Thu Ha, Vu Duc Anh",
    "Zhang Xiaoming, Liu Jianguo, Wang Wenjing, Chen Haoran, Huang Meiling, Zhou Zihan",
    "Tessa van Dijk, Owen Pettigrew, Hazel Marlowe, Gideon de Vries, Callum Reade",
    "Nuria Cebrián, Teo Barrientos, Marisol Peña, Raúl Montes, Blanca Flores, Luz Ferrer",
)
THINGS = (
    "Jane Eyre, Anna Karenina, Oliver Twist, David Copperfield, Daniel Deronda, Barnaby Rudge",
    "Getting Started, Quick Start, Max Size, Free Trial, Best Practice, Long Story",
    "Marie Curie, Albert Einstein, Niels Bohr, Lise Meitner, Emmy Noether, Paul Dirac",
    "Earl Grey, Lady Grey, Green Mint, Ginger Lemon, Black Currant, Peach Melba",
    "Sun Feb, Sun Mar, Sun Apr, Sun May, Sun Jun, Sun Jul",
    "Le Monde, Le Soir, Le Chat, Le Pain",
    "Aston Martin, Alfa Romeo, Mercedes Benz, Ralph Lauren, Calvin Klein, Hugo Boss",
    "Harry Potter, Hermione Granger, Ron Weasley, Draco Malfoy, Luna Lovegood, Cho Chang",
)


def _lay(row: str, items: str) -> str:
    lines = [
        row.format(n=n, x=x)
        for n, x in zip((214, 198, 77, 45, 12, 9), items.split(", "), strict=False)
    ]
    return "The list:\n\n" + "\n".join(lines) + "\n\nPlease sort it."


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("row", ROWS)
def test_a_name_beside_a_number_is_hidden_without_it(row: str, people: str) -> None:
    assert find(_lay(row, people)) == people.split(", ")


@pytest.mark.parametrize("things", THINGS)
@pytest.mark.parametrize("row", ROWS)
def test_a_list_of_what_is_no_private_person_stays(row: str, things: str) -> None:
    assert find(_lay(row, things)) == []


def test_public_persons_in_a_list_stay_public_beside_one_who_is_not() -> None:
    public = "Erling Haaland, Alexander Isak, Mohamed Salah, Marie Curie, Paul Dirac"
    listed = find(_lay("- {x}", f"{public}, Tamsin Achterberg"))
    assert listed == ["Tamsin Achterberg"]


@pytest.mark.parametrize("row", ["{x}  {n}", "{n} {x}", "{x} {n}", "{n}. {x}", "{x}, {n}"])
def test_a_number_beside_a_name_that_is_no_count_stays_hidden(row: str) -> None:
    """What was hidden with the name as a place, such as a postcode or a PIN, is so alone."""
    text = f"Ich wohne in 28202 Charlotte Amalie. {_lay(row, PEOPLE[0])}"
    assert "28202" in "".join(find(text))


def test_a_pattern_of_the_operator_keeps_its_numbers() -> None:
    mechanism = get_mechanism(
        "selective", TABLE, profile="people", patterns={"PERSON": r"Grace Njuguna \d{4}"}
    )
    text = "Please ask Grace Njuguna 4711 and Grace Njuguna."
    assert "Grace Njuguna 4711" in [text[s.start : s.end] for s in mechanism.spans(text) or ()]


def test_a_house_number_in_a_column_stays_hidden() -> None:
    assert "214" in find("Name;Straße;Nr\nAda Winter;Mill Road;214\nBen Stone;Mill Road;7\n")


def test_all_names_of_a_long_run_are_hidden() -> None:
    names = (
        "Wollny Bastmann Krings Oberhuber Zepf Drewes Lohse Quirke Marlowe Stroud Lister Reade "
        "Thornbury Sewell Brannigan Pettigrew Vierthaler Njuguna Achterberg Zielonka Thackeray "
        "Hofstetter Okonkwo Adeyemi Lindqvist Nakamura Haddadian Kulkarni Deshpande Iyengar"
    )
    text = f"Anselm {names} Alvorada GmbH"
    hidden = " ".join(find(text))
    base = get_mechanism("selective", TABLE, profile="people").finders[1].find(text)
    longest = max((span.end - span.start for span in base), default=0)
    assert longest > 200 or all(name in hidden for name in names.split())


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("Here is my password\nKx92,lmQzz", "Kx92,lmQzz"),
        ("password: {{hunter2", "hunter2"),
        ("DB_PASSWORD={{kestrel9x", "kestrel9x"),
        ("user;password\nmira;%kestrel%\nana;env:kestrel\nbo;changeme\n", "kestrel"),
        ("My landlord Lieut. Stone wrote to me.", "Stone"),
        ("Oskar gave Tamsin a third of his 12 pills. How many pills did Tamsin take?", "Tamsin"),
    ],
)
def test_what_only_looks_like_a_placeholder_or_an_exercise_is_hidden(
    text: str, private: str
) -> None:
    assert private in " ".join(find(text))


ADDRESSES = (
    "12 Rose Lane\nSpringfield", "Rosenweg 12\n99423 Weimar", "4, rue des Lilas\n75011 Paris",
    "Calle Mayor 4\n28013 Madrid", "1200 Elm Street\nAustin, TX 78701", "PO Box 12\nNairobi",
    "Flat 3\n9 Mill Road\nCambridge CB1 2AB", "ul. Polna 5\n00-001 Warszawa",
)  # fmt: skip
SENDERS = (
    "Ada Winter",
    "Tran Van Hai",
    "Vu Duc Anh",
    "K. Oduya",
    "Rose Achterberg",
)
PREMISES = (
    "Opening Hours",
    "Town Hall",
    "Grace Church",
    "Head Office",
    "The Red Lion",
    "Do Not Bend",
)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("sender", SENDERS)
def test_the_name_above_an_address_is_hidden(sender: str, address: str) -> None:
    assert sender in find(f"{sender}\n{address}\n\nHello,\nI want to cancel my contract.")


@pytest.mark.parametrize("address", ADDRESSES[2:6])
@pytest.mark.parametrize("premises", PREMISES)
def test_the_name_of_premises_above_an_address_stays(premises: str, address: str) -> None:
    text = f"Which bus goes there?\n\n{premises}\n{address}\n\nOpen from Monday to Friday."
    assert not any(premises in part for part in find(text))


@pytest.mark.parametrize("surname", ["Chambers", "Kitchen", "Grill", "Cottage", "Plaza", "Hall"])
def test_somebody_called_like_premises_is_hidden(surname: str) -> None:
    for address in ADDRESSES[:5]:
        text = f"Ada {surname}\n{address}\n\nHello,\nI want to cancel my contract."
        assert any(f"Ada {surname}" in part for part in find(text))


def test_a_name_ends_with_its_line_where_the_next_word_had_room() -> None:
    text = (
        "The winner of the tennis tournament of the 6th form:  Lola Famosa\n"
        "Deborah Aderet ran 100 m in 12.8 seconds, beating the record that has stood since 2004."
    )
    assert find(text) == ["Lola Famosa", "Deborah Aderet"]
    wrapped = (
        "We spent the whole of the last weekend in the old house by the lake, with Deborah\n"
        "Aderet and her two brothers, who came all the way from Leeds to see my old grandmother."
    )
    assert find(wrapped) == ["Deborah\nAderet"]
