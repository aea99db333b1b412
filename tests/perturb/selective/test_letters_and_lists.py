"""Names in greetings and closings, exported chats, lists of persons, and in other scripts."""

from __future__ import annotations

import pytest

from benchmarks.finding import _build
from perturb.selective.parts import Inflections, list_handles
from perturb.selective.policies import PatternPolicy
from perturb.selective.sanitizer import Selective
from tests.perturb.selective.test_secrets import read_marked

POLICY = PatternPolicy.shipped(["PERSON"])

# The part between the marks ⟦ and ⟧; ⏎ is the end of a line
FOUND = r"""
Das Paket ist da. Gruß ⟦Jelto⟧
Das Paket ist da.⏎Viele liebe Grüße ⟦Jelto⟧
Bis dann! LG ⟦Jelto⟧⏎
Bis dann! Herzliche Grüße, ⟦Jelto Frerichs⟧
Bis dann!⏎Mit besten Grüßen⏎⏎⟦Jelto Frerichs⟧⏎Tel. folgt
C'est fait. Bises, ⟦Solveig⟧
C'est fait. Confraternellement, Dr ⟦Kerouédan⟧
Hecho. Un abrazo, ⟦Izaskun⟧
Fatto. Cordiali saluti ⟦Ermenegildo Brusaferro⟧
Feito. Abraço, ⟦Jandira⟧
Klaar. Groetjes ⟦Wiebrigje⟧
Gotowe. Pozdrawiam, ⟦Zdzisława⟧
Hotovo. S pozdravem ⟦Bohdana Krejčová⟧
Klart. Hälsningar ⟦Ingegerd⟧
Ferdig. Hilsen ⟦Torbjørg⟧
Valmis. Terveisin ⟦Aliisa Koskenkorva⟧
Kész. Üdvözlettel, ⟦Bodnár Piroska⟧
Tamam. Saygılarımla, ⟦Gülfidan⟧
Gata. Cu stimă, ⟦Smărăndița⟧
Έτοιμο. Με εκτίμηση, ⟦Πηνελόπη⟧
Готово. С уважением, ⟦Велимир⟧
Готово. З повагою, ⟦Любомира⟧
Xong. Thân mến, ⟦Thùy Dương⟧
انتهى. مع تحياتي، ⟦ميسون⟧
שלחתי. בברכה, ⟦נעמה⟧
تمام شد. با احترام، ⟦نسترن کیانی⟧
हो गया। सादर, ⟦यशोधरा⟧
হয়েছে। শুভেচ্ছা, ⟦তিলোত্তমা⟧
მზადაა. პატივისცემით, ⟦ნათელა⟧
done. ok lg ⟦hanna⟧
Thanks for all. Cheers, ⟦Bronwen⟧
Hej ⟦Ingegerd⟧! Hur mår du?
Cześć ⟦Zdzisława⟧, co nowego?
Kedves ⟦Piroska⟧, köszönöm.
Sayın ⟦Gülfidan⟧, merhaba.
Vážená paní ⟦Krejčová-Malá⟧, děkuji
Szanowna Pani ⟦Grzęda⟧, proszę
Chào chị ⟦Thùy Dương⟧, em gửi
Αγαπητή ⟦Πηνελόπη⟧, ευχαριστώ
Шановна пані ⟦Любомиро⟧, дякую
שלום ⟦נעמה⟧, תודה
عزيزتي ⟦ميسون⟧، شكرا لك
প্রিয় ⟦তিলোত্তমা⟧, কেমন
ძვირფასო ⟦ნათელა⟧, როგორ
[12/03/2025, 18:44:02] ⟦Zsuzska⟧ 🌻: ok⏎[12/03/2025, 18:44:12] ⟦Xabat⟧: yes
12.03.25, 18:44 - ⟦Jelto⟧: ja⏎12.03.25, 18:45 - Mama: gut
3/4/25, 6:44 PM - ⟦Ravi Kulkarni⟧: ok⏎3/4/25, 6:45 PM - ⟦Bea⟧: yes
[14/02/25, 9:05 pm] ⟦रुक्मिणी⟧: हाँ⏎[14/02/25, 9:06 pm] ⟦पूजा नायर⟧: ठीक
⟦Велимир⟧, [12.05.2025 14:33]⏎Привет⏎⟦Рогнеда Сомова⟧, [12.05.2025 14:34]⏎да
[10:01] ⟦Zsuzska⟧: ok⏎[10:02] ⟦Xabat⟧: yes
[⟦민수⟧] [오후 6:44] 안녕⏎[⟦지영⟧] [오후 6:45] 응
18:44 <⟦mirka⟧> hallo⏎18:45 <⟦anna⟧> ja
⟦Mira Holm⟧  10:22 AM⏎hey⏎⟦Jelto⟧  10:23 AM⏎yo
{"family":"⟦Oyelowo⟧","given":["⟦Mira⟧","⟦Temperance⟧"]}
{"kids": ["⟦Ione⟧", "⟦Thessaly⟧"]}
"hijos":["⟦Unai⟧","⟦Haizea⟧"]
kinder: [⟦Ansgar⟧, ⟦Rikarda⟧]
kinder:⏎  - ⟦Ansgar⟧⏎  - ⟦Rikarda⟧⏎stadt: Ulm
{"members": ["⟦Li Na⟧", "⟦Ahmed⟧", "⟦Fitzgerald⟧"]}
{"reporter": "⟦Ngaire⟧"}
<input name="fname" value="⟦Thandeka⟧"><input name="lname" value="⟦Dlomo⟧"></form>
{"lname":"⟦Dlomo⟧"}
My kids are ⟦June⟧, ⟦August⟧ and ⟦Summer⟧.
two children (⟦Adaeze⟧, ⟦Tobe⟧)
The children ⟦Zaire⟧ (9) and ⟦Imani⟧ (6) live here
Unsere Kinder ⟦Finn-Ole⟧ und ⟦Aylin⟧ gehen
亲爱的⟦慕容⟧阿姨：你好
我丈夫⟦宇文浩然⟧昨天来了
尊敬的⟦澹台⟧经理：您好
本人⟦尉迟敏⟧，申请休假
夫の⟦権藤 勝利⟧が来ました
長谷川 美咲（⟦はせがわ みさき⟧）
⟦佐々木⟧さん、お願いします
제 남편 ⟦독고진수⟧가 왔어요
⟦선우⟧ 선생님께 드립니다
감사합니다. ⟦탁은혜⟧ 드림
اتصلي بزوجي ⟦فيصل بن ناصر القحطاني⟧ غدا
پسرم ⟦سیاوش⟧ مریض است
با آقای ⟦بهرامی⟧ صحبت کرد
আমার স্বামী ⟦অনিরুদ্ধ ভট্টাচার্য⟧ কাল আসবেন।
ჩემი ქმარი ⟦გიორგი ქავთარაძე⟧ მოვა
สามีของฉัน ⟦ธนากร วงศ์สวัสดิ์⟧ จะโทร
gặp bác sĩ ⟦Quách Thị Hạnh⟧ hôm nay
Jeg hedder ⟦Gudrun⟧, hej
Nimeni on ⟦Sulevi⟧, hei
oğlum ⟦Alpaslan⟧ hasta
Ring ⟦Thandeka⟧ at +254 722 555 012 now
Bei Fragen ⟦Ortrud⟧ (04321 555 99) anrufen
tel. +39 340 555 0123. ⟦Ildebranda Scognamiglio⟧
HP 0812-5550-1234, ⟦Wulandari Kusumaningrum⟧, Jakarta
the executor ⟦Alphonse⟧ failed
Enkel ⟦Malte⟧ war da
our neighbours are the ⟦Mulvaneys⟧.
Hi, ⟦Trev⟧ here. Call me
kannst du ⟦svenja⟧ fragen, ob
\\signature{⟦Eleftheria Stamatopoulou⟧}
⟦ROSWITHA MLINARIĆ⟧⏎48 Quayside Court⏎r@mail.example
met Mrs. ⟦Okonjo-Brandt⟧'s lawyer
met Mr. ⟦O'Dowd⟧'s wife
"""
PLAIN = """
Mit freundlichen Grüßen Redaktion
Mit freundlichen Grüßen
Best Buy
Which is better, Sony or LG Electronics?
Merci Beaucoup!
Danke Schön
Z poważaniem, Mieszkańcy
Dear Customer, your order
Kære Kunde, tak
שלום לכולם, מה נשמע
بالتوفيق. مع تحياتي، فريق الدعم
عزيزي العميل، شكرا
प्रिय ग्राहक, धन्यवाद
প্রিয় গ্রাহক, ধন্যবাদ
[10:01:22] INFO: started⏎[10:01:23] WARN: slow
[10:01:22] Gradle: build⏎[10:01:23] Gradle: done
[10:01] Agent: hello⏎[10:02] Customer: hi
[12/03/2025, 18:44:02] Gudrun is one line
2025-03-12 18:44:02 ERROR: no⏎2025-03-12 18:44:03 ERROR: no
09:00 Standup: daily⏎10:00 Review: design
Kickoff (10:00)⏎Breakfast (11:00)
{"children": ["Header", "Footer", "Grid"]}
{"members": ["admin", "read", "Write"]}
members: [Engineering, Sales]
{"people": ["Vaswani", "Shazeer", "Parmar"]}
{"reporter": "System", "assignee": "Unassigned"}
def f(fname, lname): return fname + lname
fname="Annual"; lname="Summary"
We teach the children Monday and Friday
a study on children (Piaget, Vygotsky)
Call Support at +49 69 555 0123
Ring Lufthansa at +49 69 555 0123
built in 1923. Casa Bonita
the plaintiff Company
our friends love the Lakers-Celtics game
Two friends saw the Kids
Hi, Welcome here
kannst du das fragen
\\author{Your Name}
TENANCY AGREEMENT⏎call +49 69 555 0123
Kedves Vásárlónk, köszönjük
10:30 Austin: departs⏎11:30 Madison: departs
شكرا جزيلا على المساعدة
धन्यवाद आपकी मदद के लिए
سلام وقت بخیر، خوبید
مرحبا كيف حالك، أنا بخير
ở bên anh Hà Nội đẹp
우리 선생님이 말했다. 감사 드림
제 남편 생일이 내일이다
妻の誕生日を祝う
以前より
آقای رئیس جمهور گفت
আমার ছেলে খুব অসুস্থ
สามีของฉัน ไปทำงาน ทุกวัน
"""


@pytest.fixture(scope="module")
def people() -> Selective:
    built = _build("people", {})
    assert isinstance(built, Selective)
    return built


@pytest.mark.parametrize("line", FOUND.strip("\n").splitlines())
def test_a_name_with_evidence_is_found(line: str) -> None:
    text, parts = read_marked(line)
    found = {text[span.start : span.end] for span in POLICY.find(text)}
    assert found == set(parts)


@pytest.mark.parametrize("line", PLAIN.strip("\n").splitlines())
def test_what_has_the_form_alone_is_left(line: str) -> None:
    text, _ = read_marked(line)
    assert [text[span.start : span.end] for span in POLICY.find(text)] == []


# Titles, relations and greetings stay, and so do the words of other languages that are no names.
WHOLE = """
Hej ⟦Torbjørg⟧! Kan du ringe?
Szia ⟦Zsuzska⟧! Hogy vagy?
Nurse ⟦Adaeze⟧ gave Mr ⟦Llewelyn⟧ the dose.
Officer ⟦Nwachukwu⟧ called Sister ⟦Perpetua⟧ and Uncle ⟦Bogdan⟧.
Ich fahre mit Bruder ⟦Finn-Ole⟧ und Opa ⟦Heinrich⟧. Oma ⟦Traudl⟧ kommt.
Mr. ⟦Okonjo-Brandt⟧'s account was closed at ⟦Ngaire⟧'s request.
nome;indirizzo;adres⏎⟦Brusaferro⟧;⟦Via Roma 2⟧;x
PMH: HTN. Lives alone.
Ms. ⟦Szczepańska⟧ booked as ⟦Szczepanska⟧, twice.
"""


@pytest.mark.parametrize("line", WHOLE.strip("\n").splitlines())
def test_the_words_around_a_name_are_left(line: str, people: Selective) -> None:
    text, parts = read_marked(line)
    assert [text[span.start : span.end] for span in people.spans(text)] == parts


@pytest.mark.parametrize(
    "line",
    [
        "Cześć ⟦Wacław⟧, co słychać?",
        'json: {"name": "Mira Holm", "kids": ["⟦Ione⟧", "⟦Caspian⟧"]}',
        "kinder: [⟦Anselm⟧, ⟦Rikarda⟧]",
        "[10:01] ⟦Leonardo⟧: ok⏎[10:02] ⟦Xabat⟧: yes",
    ],
)
def test_a_well_known_name_is_somebodys_where_it_is_addressed(
    line: str, people: Selective
) -> None:
    text, parts = read_marked(line)
    assert set(parts) <= {text[span.start : span.end] for span in people.spans(text)}


@pytest.mark.parametrize(
    ("name", "word", "same"),
    [
        ("szczepańska", "Szczepanska", True),
        ("szczepanska", "Szczepańska", True),
        ("müller", "Mueller", True),
        ("jürgens", "JUERGENS", True),
        ("ødegård", "Odegard", True),
        ("wójcik", "Wojcik", True),
        ("kovačević", "Kovacevic", True),
        ("müller", "Miller", False),
        ("pärt", "Part", False),
    ],
)
def test_a_name_without_its_accents_is_the_same(name: str, word: str, same: bool) -> None:
    assert Inflections([name]).find([word]) == ({word: name} if same else {})


def test_several_initials_make_an_account() -> None:
    assert "jcdupre" in list_handles(["Jean", "-", "Claude", " ", "Dupré"])
    assert "jdupre" in list_handles(["Jean", "-", "Claude", " ", "Dupré"])
    assert "jcli" not in list_handles(["Jean", "-", "Claude", " ", "Li"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Protokoll: anwesend Kvamme, Lomak, Brandl. TOP 1", ["Kvamme", "Lomak", "Brandl"]),
        ("Present: Kvamme, Lomak and Sethi.", ["Kvamme", "Lomak", "Sethi"]),
        ("Apologies from Brandl and Mehtola were noted.", ["Brandl", "Mehtola"]),
        ("Aanwezig: Hoogland, Kvamme", ["Hoogland", "Kvamme"]),
        ("Present were Germany, France and Italy.", []),
        ("Present were Churchill, Roosevelt and Stalin. Who was absent at Yalta?", []),
        ("The present Simple, Perfect and Continuous are tenses.", []),
        ("absent Python, Ruby and Perl", []),
    ],
)
def test_who_was_there_is_hidden(text: str, found: list[str]) -> None:
    mechanism = _build("people", {})
    assert [text[span.start : span.end] for span in mechanism.spans(text)] == found
