"""Ordinary questions leave as they are: on characters, history, works, brands, varieties, laws and
code; beside each, the private text that is nearest to it is hidden."""

from __future__ import annotations

import pytest

from perturb import get_mechanism
from tests.tables import bundled_table

TABLE = bundled_table()

# By kind: texts that leave as they are, and texts like them with what is hidden in each.
KINDS: dict[str, tuple[list[str], dict[str, list[str]]]] = {
    "a character with a title": (
        [
            "What does Mr. Darcy say to Mrs. Bennet in Pride and Prejudice?",
            "Does Professor Snape love Lily in Harry Potter?",
            "What is Mr. Rochester's secret in Jane Eyre?",
        ],
        {
            "Did Mrs Bennet from accounting return my Pride and Prejudice?": ["Bennet"],
            "When will Mr. Darcy call back?": ["Darcy"],
            "What does Mrs Danvers in HR want?": ["Danvers"],
            "How old is Miss Havisham, the tenant in flat 3?": ["Havisham"],
        },
    ),
    "a character of the sentence before": (
        [
            "What is the story of David and Goliath? And of Ruth and Naomi?",
            "Resuma Dom Casmurro. Capitu traiu Bentinho?",
        ],
        {
            "Who will drive Ruth and Naomi to the airport?": ["Ruth", "Naomi"],
            "How far is David's flat from Nazareth?": ["David"],
            "What did Esther and Daniel decide about the flat?": ["Esther", "Daniel"],
        },
    ),
    "a character in a piece that is asked for": (
        [
            "Write a Sherlock Holmes pastiche: Holmes and Watson look for a teapot.",
            "Write a poem in which Legolas sings to Gimli.",
            "What is Geralt of Rivia's relation with Yennefer and Triss?",
        ],
        {
            "Write a poem for Ginny about Hogwarts.": ["Ginny"],
            "Write a scene for Hermione's birthday at the Harry Potter studio.": ["Hermione"],
            "What should I say to Luke about the Star Wars tickets?": ["Luke"],
        },
    ),
    "a part that is played": (
        [
            "You are Gandalf. I am Frodo, and the Ring is too heavy. Answer in character.",
            "Let's play: you're Hannibal Lecter and I'm Clarice Starling.",
            "Pretend you're Yoda and I'm Luke on Dagobah.",
        ],
        {
            "You are a doctor and I'm Luke Brandauer, 34.": ["Luke Brandauer"],
            "You are Dumbledore. I am Neville, a nurse from Leeds.": ["Neville"],
            "I'm Tobias Hartwig and you are my assistant.": ["Tobias Hartwig"],
        },
    ),
    "history": (
        [
            "Who was Charles II and why did John Pym oppose Charles I?",
            "Which Polish kings followed Jan Kazimierz Waza in the 17th century?",
            "Explain in ten minutes what Zhang Heng invented in the Han dynasty.",
        ],
        {
            "Polish this: Dorota Zielonka led the revolution.": ["Dorota Zielonka"],
            "The minutes of Dorota Zielonka: why was the revolution delayed?": ["Dorota Zielonka"],
            "Hi Charles I need the number of Tobias Hartwig.": ["Charles", "Tobias Hartwig"],
            "J'habite avec Étienne Vasseur depuis la guerre de 1944, pourquoi ?": [
                "Étienne Vasseur"
            ],
        },
    ),
    "a passage on history": (
        [],
        {
            "Dorota Zielonka was born in 1938 and lived through the war. Her son Ansgar Vollmer "
            "kept her letters.\n\nWhat should the chapter be called?": [
                "Dorota Zielonka",
                "Ansgar Vollmer",
            ],
            "Wiebke Hartwig sued the poet. Who were Churchill and Franklin Roosevelt?": [
                "Wiebke Hartwig"
            ],
        },
    ),
    "what a review found": (
        [],
        {
            "Nieves está embarazada.": ["Nieves"],
            "Bence beteg, kórházban van.": ["Bence"],
            "Kian sakit": ["Kian"],
            "Apple varieties ordered: Desta Kvamme, Wiebke Hartwig": ["Desta Kvamme", "Wiebke"],
            "Rose varieties, gardeners on duty: Maria Kvamme, Joseph Holt": ["Maria Kvamme"],
            "You're my doctor and I'm Charlotte Brontë": ["Charlotte Brontë"],
            "Desta Kvamme's deer ran away. Why?": ["Desta Kvamme"],
            "Kvamme's sparrow escaped. Who pays?": ["Kvamme"],
            "# TODO(KLAUS-88): x": ["KLAUS-88"],
            "# TODO(JM-1984): y": ["JM-1984"],
            "# TODO(m23): z": ["m23"],
            "Mercedes Vito has breast cancer.": ["Mercedes Vito"],
            "After the trial BMW Petersen left.": ["Petersen"],
            "Kim był u lekarza, ma raka?": ["Kim"],
            "Frau Händler sagt, der Haendler zahlt.": ["Händler", "Haendler"],
            "1,+420 601 234 567,22\n2,+420 602 234 568,33": ["+420 601 234 567"],
            "Tel: +41 123 456 789,90": ["+41 123 456 789"],
        },
    ),
    "a German genitive": (
        [
            "Fasse Goethes Faust in zehn Sätzen zusammen. Welche Rolle spielt Gretchen?",
            "Interpretiere Kafkas Verwandlung.",
        ],
        {
            "Wann kommt Schneiders Anna?": ["Anna"],
            "Wo wohnt Kafkas Jens?": ["Jens"],
            "Wer ist Brechts neuer Mieter, Tobias Hartwig?": ["Tobias Hartwig"],
        },
    ),
    "a variety": (
        [
            "Welche Kartoffelsorte nimmt man für Salat: Linda, Annabelle oder Sieglinde?",
            "Apple varieties: Pink Lady, Elstar, Jonathan",
        ],
        {
            "Welche Kartoffelsorte mögen Linda und Annabelle?": ["Linda", "Annabelle"],
            "Wer hat die Kartoffelsorten bestellt: Linda oder Sieglinde?": ["Linda", "Sieglinde"],
            "Apple varieties for my daughters: Charlotte and Elvira": ["Charlotte", "Elvira"],
        },
    ),
    "a law or an animal": (
        ["Graham's law: pros and cons", "Franklin's gull and Père David's deer for kids"],
        {
            "Graham's law firm sent the invoice. Is it due?": ["Graham"],
            "What does Swainson's deer stand cost? He is our neighbour.": ["Swainson"],
        },
    ),
    "a car": (
        ["My Seat Leon won't start. Is a Renault Zoe or a Skoda Kamiq better?"],
        {
            "We called Renault Zoe Hartmann answered.": ["Zoe Hartmann"],
            "Mercedes Vito-Lang is my tenant.": ["Mercedes Vito-Lang"],
            "The Toyota Adam bought broke down; ask our garage.": ["Adam"],
        },
    ),
    "a brand": (
        ["I buy at Albert Heijn. Which Jim Beam is dry?"],
        {"Albert Heijnen and Jim Beamish signed my lease.": ["Albert Heijnen", "Jim Beamish"]},
    ),
    "a firm of people": (
        ["Explain Dobbs v. Jackson Women's Health Organization."],
        {"Jackson Hartwig Women's shelter": ["Jackson Hartwig"]},
    ),
    "the first word of a language": (
        [
            "Vysvětli rozdíl mezi i/y po obojetných souhláskách.",
            "Mikä on Kalevala?",
        ],
        {
            "Kim był u mnie z Anną Kowalską.": ["Kim", "Anną Kowalską"],
            "Mika on mun veli, mikä on hänen numero?": ["Mika"],
            "Vysvětli to paní Janě Dvořákové.": ["Janě Dvořákové"],
        },
    ),
    "a name that is a word of another language": (
        [
            "saya punya satu kucing",
            "evde pizza nasıl yapılır",
            "Mihin voin matkustaa?",
            "majd holnap",
            "Kada je utakmica?",
            "que miran los gatos",
        ],
        {
            "Ask Putri to call, the keys are with Satu.": ["Putri", "Satu"],
            "Nieves: hola\nMarta: ok": ["Nieves"],
            "mikko tulee huomenna, poproś wojtek o klucz": ["mikko", "wojtek"],
            "Hyvää päivää Toivo Virtanen,": ["Toivo Virtanen"],
        },
    ),
    "a note in code": (
        [f"// {'TO' + 'DO'}({about}): drop it" for about in ("v2.0", "i18n", "perf", "ABC-12")],
        {
            f"// {'TO' + 'DO'}({name}): drop it": [name]
            for name in ("hannes", "mkowalski", "klaus88", "r.vance", "ah1987")
        },
    ),
    "a language that the classifier has not learnt": (
        [
            "resep rendang padang yang empuk, pakai daging sengkel",
            "tolong buatkan caption instagram untuk kopi susu gula aren, yang lucu",
            "viết cho tôi một đoạn văn ngắn về mùa thu",
            "Siapa Pangeran Diponegoro dan mengapa ia berperang melawan Belanda?",
            "Kalinga yuddh ke bare mein batao, kab hua tha",
            "Розкажи про гетьмана Івана Мазепу і битву під Полтавою",
        ],
        {
            "tolong tanya siti kapan dia datang ke rumah saya": ["siti"],
            "Pak Tarjo minta laporan besok, buatkan email untuk dia": ["Tarjo"],
            "Tolong buatkan surat untuk Bapak Suryo Wicaksono tentang cuti.": ["Suryo Wicaksono"],
            "Siapa yang tahu nomor telepon Suryo Wicaksono? Dia tetangga saya.": [
                "Suryo Wicaksono"
            ],
            "Minta Bu Ratna Kusumawardani menjelaskan perang itu kepada saya": [
                "Ratna Kusumawardani"
            ],
            "mera dost Harshvardhan Chaturvedi mujhe paise nahi deta": ["Harshvardhan Chaturvedi"],
            "Wiebke Kvamme ke bare mein email likho, woh meri boss hai": ["Wiebke Kvamme"],
            "Tại sao Nguyễn Thị Bích Ngọc không trả tiền nhà cho tôi?": ["Nguyễn Thị Bích Ngọc"],
            "Komşum Nurgül Karadayı ile savaş mı edeceğim?": ["Nurgül Karadayı"],
            "Чому Остап Гнатюк не на війні? Він мій колега.": ["Остап Гнатюк"],
            "Моя подруга Соломія Кравчук їде у відпустку.": ["Соломія Кравчук"],
            "Подарок для моей подруги Фёклы Барсуковой": ["Фёклы Барсуковой"],
            "Minha avó Conceição Figueiredo nasceu em 1931.": ["Conceição Figueiredo"],
            "隣の小笠原美智子さんに送るお礼状を書いてください。": ["小笠原美智子"],
        },
    ),
    "a sentence in capitals": (
        [
            "MY CAR MAKES A NOISE WHEN I BRAKE WHAT COULD IT BE IN OHIO",
            "MY NEIGHBOR WILL NOT STOP MOWING AT 6 AM",
            "MY DOCTOR SAID NO SALT WHAT CAN I EAT",
        ],
        {
            "MY LANDLORD GREGORY STANWICK WILL NOT PAY": ["GREGORY STANWICK"],
            "MY BOSS WIEBKE HARTWIG DOES NOT PAY": ["WIEBKE HARTWIG"],
            "OUR TENANT DESTA KVAMME IS LATE WITH THE RENT": ["DESTA KVAMME"],
            "MEINE NACHBARIN BRIGITTE OSTERTAG HAT MICH BELEIDIGT": ["BRIGITTE OSTERTAG"],
            "MY COUSIN MAY LIN WILL NOT COME": ["MAY LIN"],
            "MY TEACHER PERPETUA OYELARAN GIVES TOO MUCH HOMEWORK": ["PERPETUA OYELARAN"],
            "MY NEIGHBOR GRACE WATERS KEEPS BEES IS THAT LEGAL": ["GRACE WATERS"],
        },
    ),
    "who is invented": (
        [
            "You are Vexara Thornwhisper, an elven necromancer of Oldmarrow. Speak first.",
            "NPC list: Brakka (orc barbarian), Ilvane (wood elf ranger). Give each a secret.",
            "Write about a half-orc blacksmith called Grukk.",
        ],
        {
            "Players: Tobias (orc barbarian), Wiebke (elf), Jens Hartwig (halfling bard)": [
                "Tobias",
                "Wiebke",
                "Jens Hartwig",
            ],
            "My colleague Imogen Thackeray, a paladin of data protection, has left.": [
                "Imogen Thackeray"
            ],
            "Sabine Kroll, an elf in our Christmas play, is ill.": ["Sabine Kroll"],
            "Tobias Hartwig, a vampire of a boss, fired me.": ["Tobias Hartwig"],
            "Kvamme, an android developer, left. Lomak, a cyborg artist.": [
                "Kvamme",
                "Lomak",
            ],
            "Lomak, the golem of the sales team": ["Lomak"],
            "My uncle is an orc warrior called Kvamme in our larp": ["Kvamme"],
            "Kvamme, a vampire nurse, was fired": ["Kvamme"],
            "Lomak (lich), my flatmate, owes me money": ["Lomak"],
            "A goblin neighbour called Desta hit me": ["Desta"],
            "an elven teacher called Tobias Hartwig runs my game night": ["Tobias Hartwig"],
            "Grukk (half-orc) is played by Ansel Whitcombe from my office.": ["Ansel Whitcombe"],
        },
    ),
    "a table of works": (
        [
            "rank;title;artist\n1;Layla;Derek and the Dominos\n2;Roxanne;The Police",
            "| Film | Regie |\n|---|---|\n| Amélie | Jean-Pierre Jeunet |\n| Victoria | x |",
        ],
        {
            "name,title,department\nWiebke Kvamme,Engineer,IT": ["Wiebke Kvamme"],
            "title,artist\nJolene,Dolly\nDoes Wiebke like it, or not?": ["Wiebke"],
            "title,artist\nJolene,Dolly\nGive Wiebke Kvamme, please, the record": [
                "Wiebke Kvamme"
            ],
            "title,name,phone\nDr,Wiebke Kvamme,01632 960 144": ["Wiebke Kvamme"],
            "title;owner;rating\nMy Garden;Wiebke Kvamme;4": ["Wiebke Kvamme"],
            "Book,Borrowed by\nDracula,Wiebke Kvamme\nEmma,Desta Holmqvist": [
                "Wiebke Kvamme",
                "Desta Holmqvist",
            ],
            "SKU,Name,Buyer\nA-1,Teapot,Quirin Haslinger": ["Quirin Haslinger"],
            "Title;Author\nKündigung Anna Weber;Lukas Stein": ["Anna Weber", "Lukas Stein"],
            "title,author,date\nComplaint about Rose Bakewell,Tom Kvamme,2024-01-02": [
                "Rose Bakewell",
                "Tom Kvamme",
            ],
            "work,director\nFlat of Anna Weber,Tom Kvamme": ["Anna Weber", "Tom Kvamme"],
            "song;interpret\nBrandt;Weber": ["Brandt"],
            "title,artist\nPortrait of Wiebke Kvamme,x": ["Wiebke Kvamme"],
            "item,sku\nWedding ring for Anna Weber,12": ["Anna Weber"],
            "Name;Artikelnr\nAnna Weber;12\nTom Lomak;13": ["Anna Weber", "Tom Lomak"],
            "badge,name,company\n771,Quirin Haslinger,Acme": ["Quirin Haslinger"],
            "artist,title,email\nTove Ekelund,Curator,tove@ekelund.se": ["Tove Ekelund"],
        },
    ),
    "what code is full of": (
        [
            "Run it with @btime and @inbounds, please.",
            "STRIPE_SECRET=sk_test_xxx",
            "=ERROR REPORT==== 12-Mar-2024::10:14:22.104 ===",
            "my .htpasswd is empty",
            '[package]\nname = "orrery"\nversion = "0.1.0"',
            ">>> greet(\"Alice\")\n'Hello, Alice!'",
            'assert greet("Bob") == "Hi Bob"',
            "monads are burritos, they say. what is a monad really",
        ],
        {
            "ping @wiebke and @dhruva.n with @property": ["wiebke", "dhruva.n"],
            "my twitter is @moss_and_marrow": ["moss_and_marrow"],
            "my steam is @grumblebark_99": ["grumblebark_99"],
            "@hedvig.strand asked how to tune a guitar": ["hedvig.strand"],
            "API_TOKEN=mx_live_9xxQk27LmP0xxx41b": ["mx_live_9xxQk27LmP0xxx41b"],
            "ssh to 2a02:8109:9f40:1c20::17 works": ["2a02:8109:9f40:1c20::17"],
            ".wiebke is my handle on mastodon": ["wiebke"],
            'def test_bill():\n    bill("Alice"); bill("Wiebke")': ["Wiebke"],
            "Please assert your rights, Eve. Dave and Carol have been harassing Eve.": [
                "Eve",
                "Dave",
                "Carol",
            ],
            "Peggy hit Trent. The witnesses assert this.": ["Peggy", "Trent"],
            ">>> Peggy has cancer and Trent knows": ["Peggy", "Trent"],
            '# Alice from accounts called, her salary is 45000\nassert pay("Alice")': ["Alice"],
            'it("pays") is what Dave said of Carol': ["Dave", "Carol"],
            "my colleague Alice asks why `assert x == 1` fails": ["Alice"],
            "# maintainer: Ulrikke Mo\nFROM scratch": ["Ulrikke Mo"],
            "# author: Torvald Fields\ndef f(): pass": ["Torvald Fields"],
            "password for the wifi at my mom's is Fuchs-19!x": ["Fuchs-19!x"],
        },
    ),
    "an exercise, a name or a comparison that is asked for": (
        [
            "Maria has 12 apples and gives Tom a third of them. How many does each have?",
            "Is Karen a common name in Denmark?",
            "Pavlov vs Skinner vs Bandura, one sentence each",
            "Quel rôle a joué Napoléon Bonaparte ?",
            'Chi ha scritto "I Malavoglia" e cos\'è il verismo?',
            "best cameras: Fujifilm, Leica and Zenza Bronica",
            "In Middlemarch, why does Dorothea marry Casaubon?",
        ],
        {
            "My daughter Leokadia has two cats. How many vaccinations in four years?": [
                "Leokadia"
            ],
            "Putri owes me five hundred and pays two a week. How many weeks?": ["Putri"],
            "Is Wiebke Kvamme a common visitor of the clinic?": ["Wiebke Kvamme"],
            "Tobias Kroll vs Hartwig: who gave us the best quote?": ["Tobias Kroll"],
            "Quel rôle a joué Maëlys Kerbrat, ma cheffe ?": ["Maëlys Kerbrat"],
            'Who wrote "Wiebke was here" on the wall?': ["Wiebke"],
            "best phones for Charlotte and Elvira?": ["Charlotte", "Elvira"],
            "best cars: Anna or Tom": ["Anna", "Tom"],
            "The best machines: Kvamme and Brandt": ["Kvamme", "Brandt"],
            "Anna ate three oranges and ten cookies. How many calories did she have?": ["Anna"],
            "Wiebke hat fünf Äpfel gestohlen, zwei Birnen. Wie viele Tagessätze?": ["Wiebke"],
            "best cars: Wiebke, Kvamme and Lomak": ["Wiebke", "Kvamme"],
            "best machines in the team: Brandt or Weber": ["Weber"],
            "Anna has cancer in stage three, two children. How many pills does she need?": [
                "Anna"
            ],
            "Rosa tiene tres hijos y dos deudas. ¿Cuánto debe Rosa a Pedro?": ["Rosa", "Pedro"],
            "Anna hat drei Kinder und zwei Schulden. Wie viele Tabletten braucht Anna?": ["Anna"],
            "Anna ate twelve apples and three pills. How many doses?": ["Anna"],
            "Tom lost two teeth after three beers. How many stitches does Tom need?": ["Tom"],
            'Who wrote "Anna Weber is a liar", and when?': ["Anna Weber"],
            'Who wrote "Wiebke Kvamme", and what did "Anna Weber" say?': [
                "Wiebke Kvamme",
                "Anna Weber",
            ],
            "best bikes in our club: Wiebke Kvamme, Desta Holmqvist": [
                "Wiebke Kvamme",
                "Desta Holmqvist",
            ],
            "My neighbours Walter and Dorothea read Middlemarch. Gift ideas?": [
                "Walter",
                "Dorothea",
            ],
            "Explique a mi jefa Isaura Cienfuegos el tratado de Versalles": ["Isaura Cienfuegos"],
        },
    ),
    "who is billed": (
        [
            "Which stocks were sold to Goldman Sachs? Payable to Barclays Bank is fine.",
            "Ship to Store is free, Deliver to Door costs 4 euros.",
        ],
        {
            "Bill to Ignatius Pembroke, 27 Larkhill Close, Taunton TA1 4PQ.": [
                "Ignatius Pembroke",
                "27 Larkhill Close",
            ],
            "Ship to: Ngozi Adeyemi-Clarke, by Monday.": ["Ngozi Adeyemi-Clarke"],
            "Rechnung an Friedhelm Ostertag, 300 Euro.": ["Friedhelm Ostertag"],
        },
    ),
}


def find(text: str) -> list[str]:
    mechanism = get_mechanism("selective", TABLE, profile="people")
    return [text[span.start : span.end] for span in mechanism.spans(text) or ()]


@pytest.mark.parametrize("text", [text for plain, _ in KINDS.values() for text in plain])
def test_it_stays(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    ("text", "names"), [each for _, private in KINDS.values() for each in private.items()]
)
def test_what_is_like_it_and_somebodys_does_not(text: str, names: list[str]) -> None:
    found = " | ".join(find(text))
    assert [name for name in names if name not in found] == []
