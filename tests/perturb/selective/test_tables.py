"""The header of a table is evidence for its cells; code, prose and tables of things are none."""

from __future__ import annotations

import pytest

from perturb import get_mechanism
from perturb.selective.patterns import shape_types
from perturb.selective.patterns.labels import LABELS
from perturb.selective.patterns.tables import CELL_TYPES, find_cells, is_header
from perturb.testing.growth import grows_linearly
from tests.tables import bundled_table

TABLE = bundled_table()


def cells(text: str) -> list[tuple[str, str]]:
    return [(text[start:end], type_) for start, end, type_ in find_cells(text)]


ADA = ("Ada Winter", "PERSON")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("name,age,city\nAda Winter,52,Ulm\n", [ADA, ("Ulm", "RESIDENCE")]),
        ("name;age;city\r\nAda Winter;52;Ulm\r\n", [ADA, ("Ulm", "RESIDENCE")]),
        ("name\tage\nAda Winter\t52", [ADA]),
        ('"full name","dob"\n"Ada Winter","1984-03-02"', [ADA, ("1984-03-02", "DATE_OF_BIRTH")]),
        ("| Name | E-Mail |\n|------|:-----:|\n| Ada Winter | a@b.example |", [ADA]),
        ("Name | Phone\n--- | ---\nAda Winter | 0176 123", [ADA, ("0176 123", "PHONE_NUMBER")]),
        ("Nachname,Vorname,Ort\nWinter,Ada,Ulm", None),
        ("id,name,note\n3,Ada Winter,\n4,chair,", [ADA]),  # what looks like a person's name
        ("id,customer,total\n3,ada,12.50\n4,,3", [("ada", "PERSON")]),
        ("  1\tname,age,city\n  2\tAda Winter,52,Ulm\n", [ADA, ("Ulm", "RESIDENCE")]),
        ("1→name,age\n2→Ada Winter,52", [ADA]),
        (r'{"output": "name,age\nAda Winter,52\n"}', [ADA]),
        (
            "| Who | Phone |\n|---|---|\n| Ada Winter | 0176 123 |",
            [ADA, ("0176 123", "PHONE_NUMBER")],
        ),
        ("id,name,dob,place_of_birth\n1,Ada Winter,1984-03-02,Ulm", None),
        ("a note\n\nname,email\nAda Winter,a@b.example\n\nthe end", [ADA]),
        ("email,password\na@b.example,sesame", [("sesame", "PASSWORD")]),
        ("user_name,role,score\nawinter,admin,3", [("awinter", "USERNAME")]),
        (  # in JSON
            r'{"text": "name,note,phone\r\nAda Winter,\"paid, in part\",0176 123\r\n"}',
            [ADA, ("0176 123", "PHONE_NUMBER")],
        ),
        (
            "BEGIN;\\nINSERT INTO a (id, name, email)\\nVALUES\\n  (1, 'Ada Winter', NULL);\\n",
            [ADA],
        ),
        ("id,mail,initial_password\n1,a@b.example,sesame", [("sesame", "PASSWORD")]),
        (
            "id,home_phone,billing_address\n1,0176 123,Sund 4",
            [("0176 123", "PHONE_NUMBER"), ("Sund 4", "STREET_ADDRESS")],
        ),
        (
            "insert into `staff` (id, name, born, city) values (1, 'Ada Winter', "
            "to_date('1984-03-02'), 'Ulm'),\n (2, NULL, '1984-03-03', '');",
            [
                ADA,
                ("1984-03-02", "DATE_OF_BIRTH"),
                ("Ulm", "RESIDENCE"),
                ("1984-03-03", "DATE_OF_BIRTH"),
            ],
        ),
        (
            '<table><tr><th>#</th><th class="x">Name</th><th>Phone</th></tr>\n'
            "<tr><td>1</td><td><b>Ada Winter</b></td><td>0176 123</td></tr></table>",
            [ADA, ("0176 123", "PHONE_NUMBER")],
        ),
    ],
)
def test_cells_have_the_type_of_their_header(
    text: str, found: list[tuple[str, str]] | None
) -> None:
    if found is None:
        assert len(cells(text)) == 3
    else:
        assert cells(text) == found


CREATED = """\
CREATE TABLE IF NOT EXISTS `shop`.`people` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `first_name` varchar(64) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT '',
  `credit` decimal(10,2) DEFAULT '0.00',
  `state` enum('open','shut') DEFAULT 'open',
  PRIMARY KEY (`id`),
  KEY `ix_name` (`first_name`)
);
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            CREATED + "INSERT INTO `people` VALUES (1,'Ada',1.5,'open'),(2,'Ben',2,'shut');",
            "Ada Ben",
        ),
        (CREATED + "INSERT INTO people (state, first_name) VALUES ('open','Ada');", "Ada"),
        (CREATED + "INSERT INTO chairs VALUES (1,'Blue',1.5,'open');", ""),
        ("create table parts (id int, name text);\ninsert into parts values (1,'Bolt');", ""),
        ("create table a (x " + "'" * 99 + ";\ninsert into a values (1, 'Ada')", ""),
    ],
)
def test_a_dump_names_its_columns_where_the_table_is_created(text: str, found: str) -> None:
    assert [cell for cell, type_ in cells(text) if type_ == "PERSON"] == found.split()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,Ada,Winter,ada@x.example\n2,Ben,Lomak,bl@x.example", "Ada Ben Winter Lomak"),
        ("INSERT INTO a VALUES (1, 'Sini', 'Mehtola', 'sini.mehtola@x.example')", "Sini Mehtola"),
        (
            "[['Mehtola', 'Ada', 'a@x.example'],\n ['Lomak', 'Ben', 'b@x.example']]",
            "Mehtola Lomak Ada Ben",
        ),
        ("Ada Winter;Ulm;a@x.example\nBen Lomak;Oulu;b@x.example", "Ada Winter Ben Lomak"),
        ("Sini\tMehtola\tsini_mehtola@x.example", "Sini Mehtola"),
        # Of towns, firms and programs that have an address of their own.
        ("Oslo,Office,oslo@x.example\nUlm,Office,ulm@x.example", ""),
        ("Bosch | Ulm | bosch@x.example\nAral | Ulm | aral@x.example", ""),
        ("Nagios,Monitoring,nagios@x.example\nGrafana,Charts,grafana@x.example", ""),
        ("Virginia,Richmond,office.va@x.example\nGeorgia,Atlanta,office.ga@x.example", ""),
        # Of one address, of words, of one row alone, of other numbers of cells, without addresses.
        ("Austin,Texas,clerk@a.example\nMadison,Ohio,clerk@m.example", ""),
        ("Support,Open,support@x.example\nSales,Shut,sales@x.example", ""),
        ("Ada,Winter,info@x.example", ""),
        ("Ada,Winter,a@x.example\nBen,Lomak,x,b@x.example", ""),
        ("Ada,Winter,3\nBen,Lomak,4", ""),
        ("Red,Large,a@x.example\nBlue,Small,b@x.example", ""),
    ],
)
def test_rows_without_a_header_are_read_by_their_addresses(text: str, found: str) -> None:
    assert " ".join(cell for cell, _ in cells(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "product,name,price\n1,Blue Chair,3",
        "name;version;license\nLeft Pad;1.3.0;MIT",
        "INSERT INTO products (name, price) VALUES ('Left Pad', 3)",
        "INSERT INTO staff (name, email) SELECT name, email FROM people",
        "id,ip_address,page_token,start_address\n1,10.0.0.1,abcdef,0x4000",
        "<table><tr><th>Name<th>Age</tr></table><table><tr></tr><tr><td>Blue<td>3</tr></table>",
        "<table><tr><th>Product<th>Price</tr><tr><td>Blue Chair<td>3</tr></table>",
        "first_name, last_name = row\nprint(first_name, last_name)",
        "def f(name, email):\n    return g(name, email)",
        "SELECT name, email, phone FROM users\nWHERE id = 3, 4, 5",
        "City, country\nWe went there, and came back",
        "name,email,phone\n\nDear reader, thank you",
        "x = [name, age]\ny = [1, 2]",
        "a | b | c\n1 | 2 | 3",
        "name,age,city",
        "phone | storage\niPhone 15 | 128",
        "",
        "\n,\n",
        "name,age\n-,52\nn/a,3\n,4",
    ],
)
def test_anything_else_has_no_cells(text: str) -> None:
    assert cells(text) == []


def test_every_header_gives_its_type() -> None:
    headers = {header: type_ for header, type_ in LABELS.items() if type_}
    found = {header: cells(f"no;{header};note\n1;Ada 1984-03-02;x\n") for header in headers}
    assert found == {header: [("Ada 1984-03-02", type_)] for header, type_ in headers.items()}


def test_its_types_are_types_of_the_shipped_set() -> None:
    assert {*CELL_TYPES} <= {*shape_types()}


ROWS = "INSERT INTO staff VALUES (0,'Ada O\\'Holt',1.50,'C:\\'),(1,'Ben Winter',2.00,'');"


@pytest.mark.parametrize(
    "columns",
    [
        "id INT, full_name TEXT, level INT, note TEXT",
        "id INT, -- number, not (null\n full_name TEXT, -- surname, given\n level INT, note TEXT",
        "`id` int(9) NOT NULL /* key, auto; x */, `full_name` text COMMENT 'first, last (b)',"
        " `level` decimal(9,2) CHECK (level > (0)), note text DEFAULT ';', PRIMARY KEY (`id`)",
        "id int, full_name text, level numeric(9,2) DEFAULT round((1 + 2), (0)), note text,"
        " CONSTRAINT c CHECK ((level > 1) AND ((id) < 9))",
    ],
)
@pytest.mark.parametrize("before", ["", "CREATE TABLE log (id int, note text);\n"])
@pytest.mark.parametrize("unclosed", ["", "CREATE TABLE a (x int,\n"])
def test_the_definition_of_a_table_may_hold_anything(
    columns: str, before: str, unclosed: str
) -> None:
    text = f"{unclosed}{before}CREATE TABLE staff ({columns});\n{before}{ROWS}"
    assert [cell for cell, _ in cells(text)] == ["Ada O\\'Holt", "Ben Winter"]


HOLDERS = (
    *("Ada Winter", "Winterberg", "O'Quarrie", "A. Thrupp", "Thrupp, Ada", "Łucja Żak"),
    *("Jean-Luc Thrupp", "Ada van der Quarrie", "MacThrupp", "Ada", "Quarrie-Thrupp"),
)
TEAMS = (
    *("warehouse", "Platform", "Platform Team", "unassigned", "sales-eu", "Finance"),
    *("team-payments", "Data & Analytics", "3rd floor", "Customer Support", "n/a"),
)


@pytest.mark.parametrize("header", ["product;price;owner", "version;status;manager"])
def test_who_has_a_thing_is_a_person_or_a_team(header: str) -> None:
    for holder in HOLDERS:
        assert cells(f"{header}\nlamp;3;{holder}\n") == [(holder, "PERSON")]
    for team in TEAMS:
        assert cells(f"{header}\nlamp;3;{team}\n") == []
    assert cells("sku;name;owner\n1;Oak Desk;Platform\n") == []
    assert cells("item;owner;phone\nkey;platform;+44 20 7946 0999\n")[0] == ("platform", "PERSON")


@pytest.mark.parametrize(
    "piece",
    [
        "name,age\n",
        "a,",
        '",',
        "|",
        "|-",
        "name,age\nA,1\n",
        '"',
        "name;",
        "\t",
        "Ada ",
        "insert into a (name, age) values ",
        "create table a (x int, ",
        "create table a (",
        "create table '",
        "create table a (/* ",
        "create table a (-- ",
        "insert into a (name, age) values ('\\",
        "Ada,Winter,a@b.example\n",
        "a,@",
        "(1,'a'),",
        "(",
        "'",
        "<tr><td>a",
        "<tr",
        "Name, x\n",
        "Name\nAda\n",
        "Name: Ada\nPhone: 1\n",
        "<b>Name</b><td>Ada</td>",
        "<b>Name</b>",
        "<td>",
        "a in ('",
        "a like 'x'",
        "select a in ('x', ",
        'a = ["x", ',
        "name('a', 'b', ",
        "name  age\n",
        "customer  age\n",
        "customer  age\nxy        z\n",
        "phone  name\nx      y\n",
        "a  b",
        "a   \n",
        " ",
        " a",
    ],
)
def test_any_text_is_read_in_linear_time(piece: str) -> None:
    def work(length: int) -> None:
        for _ in find_cells(piece * (length // len(piece))):
            pass

    assert grows_linearly(work, 400_000, seconds=1.0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (  # as pandas prints: cells end below the header, and a row begins with its number
            """
   customer_id        name  total      city
0     88213456  ada winter  17.20       Ulm
1     88213457     bo lind   3.10  Zielonka
""",
            [
                ("88213456", "ACCOUNT_NUMBER"),
                ("ada winter", "PERSON"),
                ("Ulm", "RESIDENCE"),
                ("88213457", "ACCOUNT_NUMBER"),
                ("bo lind", "PERSON"),
                ("Zielonka", "RESIDENCE"),
            ],
        ),
        (
            """
  first_name last_name          email
0        ada    winter  ada@b.example
1         bo      lind   bo@b.example
""",
            [(word, "PERSON") for word in ("ada", "winter", "bo", "lind")],
        ),
        (  # as databases print: cells begin below it
            """
NAME         DOB         CITY
----         ---         ----
WINTER, ADA  1984-03-02  ULM
LIND, BO                 GRAZ

NAME  is a column.
""",
            [
                ("WINTER, ADA", "PERSON"),
                ("1984-03-02", "DATE_OF_BIRTH"),
                ("ULM", "RESIDENCE"),
                ("LIND, BO", "PERSON"),
                ("GRAZ", "RESIDENCE"),
            ],
        ),
        (
            "Full name    Date of birth\r\nada winter   1984-03-02\r\n",
            [("ada winter", "PERSON"), ("1984-03-02", "DATE_OF_BIRTH")],
        ),
        ("customer_id  total\n88213456     17.20", [("88213456", "ACCOUNT_NUMBER")]),
        (
            "customer_id,total\n88213456,17.20\nK-8821,3",
            [("88213456", "ACCOUNT_NUMBER"), ("K-8821", "ACCOUNT_NUMBER")],
        ),
        (
            "PatientID,LastName\nP00012,winter",
            [("P00012", "ACCOUNT_NUMBER"), ("winter", "PERSON")],
        ),
    ],
)
def test_columns_may_be_apart_by_blanks(text: str, found: list[tuple[str, str]]) -> None:
    assert cells(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "NAME      READY   STATUS    AGE\nredis     1/1     Running   5d\n",
        "NAMESPACE  NAME   TYPE       AGE\ndefault    redis  ClusterIP  5d\n",
        "USER       PID  COMMAND\nmira      4211  python\n",
        "name       The name of the user\nemail      Where to write\nphone      Of the office\n",
        "user      string  required\npassword  string  required\nhost      string  optional\n",
        "user   email   phone\nname   where   number\n",
        "City   Country   Population\nUlm    Germany   126000\n",
        "  name  age\n0   ada   33\n",  # a toy's
        "Author       Title  Year\nJane Austen  Emma   1815\n",
        "customer_id  order_id  total\n1            7         17.20\n",
        "customer_id,order_id,total\n1,7,17.20\n23,8,3.10\n",
        "customer_id,total\nsee the notes,17.20\n",
        "Phone  Name\nwe call, and then  they come\n",  # not below each other
        "Call the customer.  His phone\nis off.    We wait, and he\n",
    ],
)
def test_columns_of_programs_and_things_have_no_cells(text: str) -> None:
    assert cells(text) == []


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("name,email,hours\n", "{},,{}\n"),
        ("Name;Stunden\n", "{};{}\n"),
        ("| Name | Hours |\n|---|---|\n", "| {} | {} |\n"),
        ("employee\thours\tphone\n", "{}\t{}\t\n"),
    ],
)
def test_a_row_that_sums_up_names_nobody(head: str, row: str) -> None:
    """Neither does one in which nobody is entered; a surname that is also such a word does."""
    mechanism = get_mechanism("selective", TABLE, profile="people")
    persons = ["Callum Rosendahl", "Ingrid Achterberg"]
    absent = "Total|Grand Total|**Total**|Summe|Gesamt (h)|Moyenne|Totale|合計|TBD|unassigned|N/A"
    for other in [*absent.split("|"), "Total Rosendahl", "Max Achterberg"]:
        rows = [*persons, other]
        text = head + "".join(row.format(name, 7) for name in rows)
        hidden = [text[span.start : span.end] for span in mechanism.spans(text)]
        assert hidden == (persons if other in absent.split("|") else rows), other


FORM = {
    "Nachname": "Kvamme",
    "Vorname": "Ingrid",
    "Abteilung": "Einkauf",
    "Geburtsdatum": "14.03.1984",
    "Ort": "Ulm",
    "Telefon": "0176 5550123",
    "Passwort": "sesam",
}
LAYOUTS = {
    "semicolons": "{};{}\n",
    "commas": "{},{}\n",
    "quotes": '"{}","{}"\n',
    "tabs": "{}\t{}\n",
    "numbered lines": "     1\t{};{}\n",
    "Markdown": "| {} | {} |\n",
    "bold": "| **{}** | {} |\n",
    "a third column": "| {} | {} | ja |\n",
    "dashes": "- {} – {}\n",
    "arrows": "{} → {}\n",
    "blanks": "{:<24}{}\n",
    "colons": "{}: {}\n",
    "below": "{}\n{}\n",
    "JSON": "{}\\n{}\\n",
    "rows of HTML": "<tr><th>{}</th><td>{}</td></tr>\n",
    "cells of HTML": "<tr><td><b>{}</b></td>\n  <td>{}</td></tr>\n",
    "a list of HTML": "<dt>{}:</dt><dd>{}</dd>\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_form_has_its_labels_beside_or_above_its_values(layout: str) -> None:
    text = "".join(LAYOUTS[layout].format(*pair) for pair in FORM.items())
    found = cells(f"Bitte prüfen:\n\n{text}\nDanke!")
    assert sorted({value for value, _ in found}) == sorted(
        value for label, value in FORM.items() if label != "Abteilung"
    )
    assert dict(found)["Kvamme"] == "PERSON"
    assert dict(found)["14.03.1984"] == "DATE_OF_BIRTH"


def test_a_form_may_have_two_columns_of_values_or_of_labels() -> None:
    two = "| Name | Ingrid Kvamme | Oskar Berg |\n|---|---|---|\n| Phone | 555-0123 | 555-0188 |\n"
    assert {value for value, _ in cells(two)} == {
        *("Ingrid Kvamme", "Oskar Berg"),
        *("555-0123", "555-0188"),
    }
    beside = "Vorname;Ingrid;Nachname;Kvamme\nTelefon;0176 5550123;Alter;41\n"
    assert [value for value, _ in cells(beside)] == ["Ingrid", "Kvamme", "0176 5550123"]
    after = "First name\tIngrid\nPhone\t555-0123\nFirst name\tOskar\nPhone\t555-0188\n"
    assert [value for value, type_ in cells(after) if type_ == "PERSON"] == ["Ingrid", "Oskar"]


@pytest.mark.parametrize(
    "text",
    [
        # What a column, a field or a parameter is for.
        "| Column | Type |\n|---|---|\n| first_name | varchar(50) |\n| phone | varchar(2000) |",
        "| Name | The user's full name |\n| Phone | E.164, at most 15 digits |\n",
        "first_name - string\nphone - string\npassword - string, hashed\n",
        "<tr><th>Name</th><td>Text</td></tr><tr><th>Password</th><td>12 characters</td></tr>",
        "Phone number\nThe number that we call\nAddress\nWhere we send it\n",
        "customer,order\nfirst_name,character varying\nphone,character varying(20)\n",
        # Translations, things, menus and talk.
        "name\tName\nfirst_name\tVorname\nphone\tTelefon\npassword\tPasswort\n",
        "| Name | Ruby |\n|---|---|\n| Version | 3.3 |\n| Author | the community |\n",
        "Customer;Order Management System\nOwner;Platform Team\nPhone;n/a\n",
        "Name\nEmail\nPhone\nAddress\nMessage\nSubmit\n",
        "username    www-data\npassword    required\nphone       optional\n",
        "Student: Why is the sky blue?\nTeacher: Because of scattering.",
        "patient -> heals\nguest -> sleeps\nteacher -> explains\n",
        "Mother,Father,Child\nAA,Aa,AA\nAa,aa,Aa\n",
        "First Name\nEnter your first name\nLast Name\nEnter Your Last Name\nEmail\na@b.example\n",
        "<tr><td>Name</td><td>Battery Pack</td></tr><tr><td>Owner</td><td>Data Team</td></tr>",
        "Name | Contoso Portal\nEmail | info@contoso.example\n",
        "Name\nPikachu\nType\nElectric\nHeight\n0.4 m\nWeight\n6 kg\n",
        "Employee\t25\nManager\t3\nGuest\t1200\nCustomer\t45000\n",
    ],
)
def test_a_description_is_no_form(text: str) -> None:
    assert cells(text) == []


@pytest.mark.parametrize(
    "header",
    ["Name;Stunden", "Name,Kalorien,Datum", "Nom\tMatière", "Nombre,Edad,Id", "1→Name;Klasse"],
)
def test_the_other_words_of_a_header_are_nobodys(header: str) -> None:
    mechanism = get_mechanism("selective", TABLE, profile="people")
    numbered = header[:2] == "1→"
    sign = next(sign for sign in ";\t," if sign in header)
    row = sign.join(["Callum Rosendahl", *["7"] * header.count(sign)])
    text = f"{header}\n{'2→' * numbered}{row}\n"
    assert [text[span.start : span.end] for span in mechanism.spans(text)] == ["Callum Rosendahl"]


def test_a_given_name_above_a_column_is_somebodys() -> None:
    mechanism = get_mechanism("selective", TABLE, profile="people")
    text = "Name;Montag;Tamsin\nCallum Rosendahl;3;4\n"
    hidden = [text[span.start : span.end] for span in mechanism.spans(text)]
    assert hidden == ["Tamsin", "Callum Rosendahl"]


@pytest.mark.parametrize("address", ["0x00401000", "10.1.2.3/24", "fe80::1", "00:1a:2b:3c:4d:5e"])
def test_an_address_of_a_machine_is_no_street(address: str) -> None:
    found = cells(f"owner;email;address\nAda Winter;a@b.example;{address}\n")
    assert found == [ADA]


@pytest.mark.parametrize(
    "role",
    [
        *("Assigned to", "Driver", "Witness", "Zuständig", "Hausarzt", "Geprüft von", "Locataire"),
        *("Élève", "Encargada", "Inquilino", "Responsabile", "Huurder", "Uczeń", "ответственный"),
    ],
)
def test_a_column_by_a_role_holds_persons_where_they_look_like_it(role: str) -> None:
    text = (
        f"id;{role};Datum\n1;Ombrunia Kvask;12.3.\n2;Abteilung Nord;7.4.\n3;Data Team;\n4;offen;\n"
    )
    assert cells(text) == [("Ombrunia Kvask", "PERSON")]
    assert cells(f"| {role} | Price |\n|---|---|\n| Ombrunia Kvask | 3 |\n") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("| Name | Points |\n|---|---|\n| Tamsin | 4 |\n| Oskar | 5 |", "Tamsin Oskar"),
        ("name,score\nPriya,12\nOlga,9\nKvask,3\n", "Priya Olga Kvask"),  # most of them
        ("Name;Stunden\nTamsin;3\nOskar;4\nTotal;7\n", "Tamsin Oskar"),
        ("Driver;Round\nTamsin;3\nOskar;4\n", "Tamsin Oskar"),
        ("name,score\nPriya,12\n", ""),  # one alone
        ("name,score\nNorthern,12\nOlga,9\nEastern,3\n", ""),
        ("name,price\nOlga,12\nPriya,9\n", ""),
        ("Name,Meaning\nEmma,universal\nLiam,protector\n", ""),
        ("| Name | Year |\n|---|---|\n| Ruby | 1995 |\n| Julia | 2012 |\n| Ada | 1980 |", ""),
        ("name,legs\nspider,8\noctopus,8\n", ""),
        ("name,score\nGWEN LOMAK,4\nOAK TABLE,3\n", "GWEN_LOMAK"),
        ("name,a,b\nGwenllian ap Rhydderch,4,\nOak Table,3,\n", "Gwenllian_ap_Rhydderch"),
    ],
)
def test_a_column_of_given_names_is_one_of_persons(text: str, found: str) -> None:
    assert [cell.replace(" ", "_") for cell, _ in cells(text)] == found.split()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT * FROM a WHERE last_name LIKE '%winter%'", "winter"),
        ("delete from a where lower(surname) NOT IN ('winter', 'Lomak')", "winter Lomak"),
        ("SELECT 1 FROM a WHERE \"firstName\" ilike 'lom%'", "lom"),
        ("SELECT * FROM a WHERE status IN ('open', 'shut') AND title LIKE 'Winter%'", ""),
        ("if node.fullname in ('builtins.True', 'builtins.False'):", ""),
        (
            '{"first_name": ["Ada", "Ben"], "n": [1, 2], "last_name": ["Winter", "Lomak"]}',
            "Ada Ben Winter Lomak",
        ),
        ('data.frame(name=c("Ada", "Ben"), surname=c("Winter", "Lomak"))', "Winter Lomak"),
        ('name: ["April", "May", "June"]', ""),
        ("SELECT 1 FROM a WHERE username IN ('root') OR last_name LIKE 'S%'", ""),
        ('name: ["Ada", "Lovelace", "Analytical"]', ""),
        ('username, password = prefix.split(":", 1)', ""),
        ('token = told.get("id_token"); user = {"device_id": 3}', ""),
        ('surname = f("Winter")', ""),
        (
            "[Person('Ada', 'Mehtola', 41), new EmployeeRecord('Ben', 'Lomak')]",
            "Ada Mehtola Ben Lomak",
        ),
        ('Person("North", "Winter"); connect("Ada", "Lomak"); User("Ada", "admin")', ""),
    ],
)
def test_code_and_queries_name_their_columns(text: str, found: str) -> None:
    assert sorted(cell for cell, _ in cells(text)) == sorted(found.split())


@pytest.mark.parametrize(
    "layout", ["{};{}\n", "{}\t{}\n", "| {} | {} |\n", "{}\n{}\n", "{:<20}{}\n"]
)
@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("API secret", "zK3mN8pQ2rT5vX7y"),
        ("Password", "hunter2pass"),
        ("WLAN-Schlüssel", "4711081512345678"),
        ("PUK", "12345678"),
    ],
)
def test_a_secret_beside_its_label_needs_no_company(layout: str, label: str, value: str) -> None:
    assert cells(layout.format("Client ID", "my-app") + layout.format(label, value)) == [
        (value, "PASSWORD")
    ]
    for other in ("required", "varchar(255)", "sha256", "${SECRET_1}", "at least 12 characters"):
        text = layout.format("Client ID", "my-app") + layout.format(label, other)
        assert (other, "PASSWORD") not in cells(text)


def test_a_surname_may_be_a_word_that_stands_for_nobody() -> None:
    """Where a given name stands beside it; and one may head a column."""
    text = "| Nachname | Vorname |\n|---|---|\n| Offen | Tim |\n| Total | |\n"
    assert cells(text) == [("Offen", "PERSON"), ("Tim", "PERSON")]
    text = "Teilnehmer;Kvamme;Stunden\nAnna Berg;3;4\n"
    assert not is_header(text, 11, 17)
    assert is_header(text, 18, 25)


def test_where_a_public_person_lived_is_no_address() -> None:
    text = "Full name: Albert Einstein\nAddress: Princeton, New Jersey\n"
    assert cells(text) == [("Albert Einstein", "PERSON")]
    assert ("Princeton, New Jersey", "STREET_ADDRESS") in cells(f"{text}Phone: 555-0123\n")


def test_a_number_heads_no_column_but_a_year_may() -> None:
    assert cells("PIN;44710\nAbteilung;Einkauf\n") == []
    assert cells("Name,2023,2024\nAda Winter,3,4\n") == [ADA]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Surname,Points\nHaddadian,12\nKvamme,9\n", ["Haddadian", "Kvamme"]),
        ("Nachname,Punkte\nHaddadian,12\n", ["Haddadian"]),
        ("cognome,punti\nBrandstetter,4\n", ["Brandstetter"]),
        ("surname,frequency\nSmith,2376206\nJones,1385264\n", []),
        ("Nachname,Bedeutung\nSchmidt,Handwerker\n", []),
        ("Surname, grade\nplease, both\n", []),
    ],
)
def test_a_column_of_surnames_needs_no_other(text: str, names: list[str]) -> None:
    assert [text[a:b] for a, b, type_ in find_cells(text) if type_ == "PERSON"] == names
