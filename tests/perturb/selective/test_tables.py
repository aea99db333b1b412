"""The header of a table is evidence for its cells; code, prose and tables of things are none."""

from __future__ import annotations

import pytest

from perturb.selective.patterns import shape_types
from perturb.selective.patterns.labels import LABELS
from perturb.selective.patterns.tables import CELL_TYPES, find_cells
from perturb.testing.growth import grows_linearly


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
