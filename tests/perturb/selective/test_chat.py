"""What people type into a chat on their phones: names in small letters, without punctuation, in
several languages. Beside each text that leaves as it is stands the private text that is nearest to
it, and is hidden."""

from __future__ import annotations

import pytest

from perturb import get_mechanism
from tests.perturb.selective.test_nobody import TABLE, find

# By kind: texts that leave as they are, texts like them and what is hidden in each.
KINDS: dict[str, tuple[list[str], list[tuple[str, list[str]]]]] = {
    "a verb after a relation": (
        [
            "mein mann kommt nie pünktlich was tun",
            "meine frau schnarcht",
            "mein chef gibt mir kein zeugnis",
            "mon mari rentre tard tous les soirs",
            "ma fille pleure tout le temps",
            "mi novio llega tarde siempre",
            "mi hija llora mucho",
            "mio figlio piange sempre",
            "mijn zoon huilt veel",
            "min fru snarkar",
            "my dad snores like a train",
            "my boss gaslights me daily",
            "my son loooves dinosaurs",
            "my friend prolly forgot",
            "my boss will not pay overtime",
            "my mum marks my homework",
            "my brother alwyas forgets",
        ],
        [
            ("my uncle art has a lease", ["art"]),
            ("my son kit is ill", ["kit"]),
            ("my brother toms car was stolen", ["toms"]),
            ("yesterday nora bianchi called about the rent", ["nora bianchi"]),
            ("mein kollege harnisch will nicht", ["harnisch"]),
            ("mein chef kowalke schreit rum", ["kowalke"]),
            ("meine kollegin wiebke nervt", ["wiebke"]),
            ("mon mari gaëtan rentre tard", ["gaëtan"]),
            ("mi jefe barrientos grita", ["barrientos"]),
            ("mijn buurman joost rookt", ["joost"]),
            ("m'n dochter marloes slaapt slecht", ["marloes"]),
            ("meu filho jurandir tem 3 anos", ["jurandir"]),
            ("my boss vandermeer needs to chill", ["vandermeer"]),
            ("my boyfriends mum sheila keeps coming in", ["sheila"]),
            ("my brother in law colin owes the irs", ["colin"]),
            ("my son, jaxxon, loves dinosaurs", ["jaxxon"]),
        ],
    ),
    "what a boss or a neighbour does": (
        [
            "mein nachbar bohrt sonntags",
            "mein chef erhöht den druck",
            "mon voisin fume sur le balcon",
            "mi casero cobra demasiado",
            "mon chef surveille tout",
        ],
        [
            ("mein nachbar vogt bohrt sonntags", ["vogt"]),
            ("mein kollege schulte nervt", ["schulte"]),
            ("mein lehrer petersen ist streng", ["petersen"]),
            ("mon voisin lacombe fume", ["lacombe"]),
            ("mi casero ledesma no me devuelve la fianza", ["ledesma"]),
            ("mi jefa barreda me explota", ["barreda"]),
        ],
    ),
    "a misspelt word": (
        [
            "my mom alwyas yells at me",
            "my husband beleives in ghosts",
            "my boss srsly needs to chill",
            "my sister rlly hates me",
            "my ex wouldnt stop texting",
        ],
        [
            ("my mom cheryl yells at me", ["cheryl"]),
            ("my ex wouldnt stop texting, tell wiebke im busy", ["wiebke"]),
        ],
    ),
    "a title in small letters": (
        [
            "oma isst nichts mehr",
            "die frau sagt nichts",
            "is mr robot on tv",
            "i have a dr appointment",
            "ms office or ms word",
            "is mr beast rich",
            "mr and mrs gift ideas",
            "is mr muscle safe on marble",
            "miss you so much",
            "Bring all ms. Which settings do I need?",
        ],
        [
            ("ms. lark, my sons teacher, wants a meeting", ["lark"]),
            ("can i sue dr hargreaves for my nose job", ["hargreaves"]),
            ("text auntie bev sorry i missed the bbq", ["bev"]),
            ("mijn huisbaas dhr. van der velde komt zonder te bellen", ["van der velde"]),
            ("il vicino sig. esposito ha il cane", ["esposito"]),
            ("die frau bergmann aus der 4b hat angerufen", ["bergmann"]),
            ("my vet dr. oyelowo quoted 3k", ["oyelowo"]),
        ],
    ),
    "a title and a word": (
        ["Pani w sklepie jest miła. The mw. unit is small."],
        [
            ("pani Lis z księgowości ma fakturę", ["Lis"]),
            ("Cliënt mw. De Wit krijgt een rollator", ["De Wit"]),
        ],
    ),
    "a given name in small letters": (
        [
            "can i frank an envelope myself",
            "explain like i'm 5 how a jack works",
            "theres a bug in my code",
        ],
        [
            ("i owe kim 80, i get paid on friday", ["kim"]),
            ("its gemma's last day, card message from the team", ["gemma"]),
            ("kayleighs baby shower is sat, what can we play", ["kayleighs"]),
            ("schreib ne entschuldigung für finn, klasse 4b", ["finn"]),
            ("schrijf een appje naar sjoerd", ["sjoerd"]),
            ("wtf did siobhan mean by that", ["siobhan"]),
        ],
    ),
    "a name as a word": (
        [
            "what does the name amelia mean",
            "is charlie a boys or girls name",
            "how popular is the name emma",
            "nicknames for alexander",
            "middle names that go with olivia",
            "how do you spell catherine or kathryn",
            "bedeutung des namens finn",
            "que significa el nombre mateo",
            "signification du prénom manon",
        ],
        [
            ("the girls name is sandra and she works with tim", ["sandra", "tim"]),
            ("what does amelia mean by saying she needs space, i love her", ["amelia"]),
            ("put my name on it, and tell emma", ["emma"]),
        ],
    ),
    "a being of tales": (
        [
            "write a story about a dragon named fizzwick",
            "make a dnd character, an elf ranger named thalindra",
            "write a story about a pirate named captain goldtooth",
        ],
        [
            ("the old witch named Mirela Oduya sues me", ["Mirela Oduya"]),
            ("write a story about a dragon named finn for my son finn", ["finn", "finn"]),
            ("write a story about a plumber named fizzwick", ["fizzwick"]),
        ],
    ),
    "a title that begins as a letter does": (
        [
            "lyrics meaning of hey jude",
            "what happens at the end of my neighbor totoro",
            "dear evan hansen plot summary",
            "best quote from my cousin vinny",
        ],
        [
            ("Hey Jude, can you call me about the lease?", ["Jude"]),
            ("Dear Evan Hansen, your claim is rejected.", ["Evan Hansen"]),
            ("hey jude, call me at 0171 5550199", ["jude", "0171 5550199"]),
            ("my neighbor tomoko is nice", ["tomoko"]),
            ("my cousin darnell owes me", ["darnell"]),
        ],
    ),
    "a saying": (
        ["for pete's sake who invented dst", "what is a peeping tom", "tom dick and harry origin"],
        [
            ("for pete's mum i need a card", ["pete"]),
            ("my uncle sam is coming over", ["sam"]),
            ("dear john, i will be late on monday", ["john"]),
        ],
    ),
    "a term after a relation": (
        ["our client kafka consumer fails", "my assistant python script fails"],
        [("my roommate kaz vapes inside", ["kaz"])],
    ),
    "a couple": (
        ["Python and Ruby Central is a conference."],
        [
            ("Mieter sind Deniz und Melek Aydoğan, Bonn.", ["Deniz", "Melek Aydoğan"]),
        ],
    ),
    "a name with an initial": (
        ["Take vitamin B, not vitamin C. Hepatitis B, Plan A, Class C."],
        [("17:30 Kacper W. – his dad drives; then Ngozi B", ["Kacper W", "Ngozi B"])],
    ),
    "a date beside a relation": (
        ["my invoice (12/3/2024) is late", "the release (3 march 1994) was their first"],
        [
            (
                "compat of me (3 march 1994) and my crush devon (11/08/1992)",
                ["3 march 1994", "devon", "11/08/1992"],
            )
        ],
    ),
    "a home in small letters": (
        [
            "we moved to 10 new servers this way",
            "moved to 3 px per square",
            "come to 3 meetings in a row",
            "we live at 3 different places in a row",
            "vive en 3 calles distintas",
        ],
        [
            ("i live at 14 thornbury close and park there", ["14 thornbury close"]),
            ("deliver it to 77 maple grove pls", ["77 maple grove"]),
            ("vivo en calle olmo 23 2ºB", ["calle olmo 23 2ºB"]),
            ("abito in via dei tigli 9", ["via dei tigli 9"]),
            ("j'habite au 12 rue des glycines", ["12 rue des glycines"]),
            ("mieszkam na ul. polnej 3", ["ul. polnej 3"]),
            ("moro na rua das acácias 45", ["rua das acácias 45"]),
        ],
    ),
    "an address without a number": (
        ["The Great Mill, a long story", "12 November 1998 Court"],
        [
            ("The contractor is at Unit 4, Wharf Road", ["Unit 4, Wharf Road"]),
            ("Send it to The Old Rectory, Mill Lane", ["The Old Rectory, Mill Lane"]),
            ("dispatched to 1930 Juniper Ct for a noise complaint", ["1930 Juniper Ct"]),
        ],
    ),
    "a number of somebody": (
        [
            "call function foo 100-2000 times",
            "phone models sold: 1200 300",
            "mobile users in total: 1 200 300",
            "text width 120-8000",
        ],
        [
            ("lost cat, call jen 555-0187", ["jen", "555-0187"]),
            ("mi cel es 55 1234 9876", ["55 1234 9876"]),
            ("meu pix é 11 98765-4321", ["11 98765-4321"]),
            ("Tel. do kuriera: 601 555 019", ["601 555 019"]),
            ("acc no 31926819", ["31926819"]),
        ],
    ),
    "a code of a message": (
        [
            "Error code is 482913. Do not share logs",
            "your exit code is 1370, valid for all jobs",
            "4290 is your error code",
            "the promo code is 20245 and expires soon",
            "your code is 120 lines, share it",
        ],
        [
            ("your code is 482913. don't share it", ["482913"]),
            ("G-482913 is your Google verification code", ["482913"]),
            ("Dein Code lautet 482 913. Nicht weitergeben!", ["482 913"]),
            ("use 7731 as your one-time code", ["7731"]),
        ],
    ),
    "where somebody works": (
        [
            "i work at a car garage and hate it",
            "i work at a busy dental clinic",
            "is Google LLC the same as Alphabet Inc.",
            "Copyright (c) 2021 Acme Widgets Ltd",
            "she got her degree in law",
            "arbeite bei der bäckerei im ort",
            "how do i quit working at starbucks",
            "What is a Ltd? The Client Ltd. is none.",
        ],
        [
            ("i work at little acorns nursery", ["little acorns nursery"]),
            ("my husband tom works at joes garage", ["tom", "joes garage"]),
            ("wiebke fired me at kowalke plumbing", ["wiebke", "kowalke plumbing"]),
            ("trabajo en panadería mirtha", ["panadería mirtha"]),
            ("mein chef bei tischlerei hagedorn zahlt nicht", ["tischlerei hagedorn"]),
            (
                "Ein Rohrbruch. Larkspur Sanitär GmbH kam zu Wiebke.",
                ["Larkspur Sanitär GmbH", "Wiebke"],
            ),
            ("Wiebke signed for Larkspur Digital Ltd", ["Wiebke", "Larkspur Digital Ltd"]),
        ],
    ),
    "a day or a law": (
        ["Notes with the team, Wed\nOn Fri, all left. § 433 BGB", "was ist Morbus Bechterew"],
        [("Notes with Wiebke, Wed", ["Wiebke"])],
    ),
}


@pytest.mark.parametrize(
    "text", [text for texts, _ in KINDS.values() for text in texts], ids=lambda text: text[:40]
)
def test_what_only_looks_private_stays_as_it_is(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    ("text", "hidden"), [case for _, cases in KINDS.values() for case in cases]
)
def test_what_is_private_is_hidden(text: str, hidden: list[str]) -> None:
    assert find(text) == hidden


def test_a_legal_form_has_a_name_before_it() -> None:
    mechanism = get_mechanism("selective", TABLE, profile="business")
    for text, found in (
        ("SELECT CASE WHEN x THEN 'LATE' ELSE 'OK' END AS state FROM Orders AS o", []),
        ("CREATE TABLE Totals AS\nSELECT 1", []),
        ("We signed with Kestrel Havn AS, and it is late.", ["Kestrel Havn"]),
    ):
        assert [text[s.start : s.end] for s in mechanism.spans(text) or ()] == found
