"""Codes of doors and PINs, and logins beside their passwords, are found; others are left."""

from __future__ import annotations

import pytest

from perturb.selective.policies import PatternPolicy

POLICY = PatternPolicy.shipped(("PASSWORD", "API_KEY", "PRIVATE_KEY", "USERNAME"))

# The part stands between ⟦ and ⟧; ⏎ is the end of a line.
TOLD = """
192.0.2.7:5432:stock:⟦gardener⟧:⟦rhubarb⟧⏎localhost:*:*:⟦mirko⟧:⟦teasel⟧
gw1 ansible_host=192.0.2.9 ansible_user=⟦orchid⟧ ansible_become_pass=⟦teasel⟧⏎
conninfo=host=db1 port=5432 password=⟦teasel⟧
user: {username: ⟦mtrein⟧, password: ⟦seven wet herons⟧}
  password: ⟦seven wet herons⟧⏎
define( 'SMTP_PASS', '⟦teasel⟧' ); define('DB_USER', '⟦mirko_t⟧');
define('LOGGED_IN_SALT', '⟦q}1Pw#9r~Lp|C4mR!k2^tXa)8Zb⟧');
"Jwt": {"Issuer": "x", "Key": "⟦q7ZtPq81vLm20XcRw55BnKd93JfHs6Ty⟧"}
BCrypt::Password.create("⟦teasel-Over-4⟧")
generate_password_hash('⟦teasel4⟧')
Host depot⏎    HostName 192.0.2.4⏎    User ⟦mirkot⟧⏎
mount -o username=⟦mirko.trein⟧,password=⟦Teasel4x⟧
net use Z: /user:FIRM\\⟦mtrein⟧ ⟦Teasel&4x⟧
Database=stock;User ID=⟦stock_app⟧;Password=⟦Teasel-1984⟧;
| Login | `⟦mtrein⟧` / `⟦teasel⟧` |
* Logins⏎- Photo shop :: ⟦mtrein⟧ / ⟦teaselgarden⟧
Authorization: ["Basic ⟦bXRyZWluOlRlYXNlbDQ=⟧"]
Log in with user ⟦trein.parent⟧ and password ⟦blue-kettle-lamp⟧.
He logs in to the laptop as ⟦maths12⟧, password ⟦teasel⟧.
identifiant ⟦mtrein⟧, mot de passe ⟦groseille⟧, merci
login ⟦mtrein⟧ i hasło „⟦Żurawie wracają⟧”
the service account is ⟦svc_stock⟧ with ⟦t9!Kettle_x⟧.
its login is club@club.example with ⟦larkcastle⟧ as the password, thanks
钉钉账号⟦mirko02⟧，密码⟦好好学习呀⟧。
parent portal: login ⟦mt44718⟧, password ⟦sorbet⟧⏎
the pass is uh ⟦Fridays bore me⟧, capital F
the password is ⟦foxglove⟧ with a small f
collected by grandad, password "⟦pancake⟧"; thanks
пароль я поменяла на «⟦липа у крыльца⟧», но
a senha do sistema novo: ⟦goiaba verde⟧.
hasło do Wi-Fi: ⟦kopytka⟧.
internet parolam ⟦üzümlükek⟧.
पासवर्ड ⟦यमुनामैया⟧, पर
пароль раніше був ⟦волошка⟧, а тепер
كلمة المرور هي ⟦ورد الدار⟧ والرقم السري
..., pw ⟦welsh cakes⟧"
password I set ⟦rainindelhi⟧⏎
WiFi "Casa Loro" / ⟦tonic2go⟧.
visitors type ⟦dahlias⟧ to get in
larmet stängs av med ordet ⟦Blåbär⟧.
підпис захищений словом ⟦волошка⟧.
接孩子的暗号改成"⟦麦芽糖⟧"，
ロック解除は「⟦わらびもち⟧」、
answers to security questions = ⟦Mr Socks / Malaga⟧. Bye
for the bank: memorable place ⟦Robin Hood bay⟧.
The key safe opens with ⟦two eight zero five⟧.
startup PIN: ⟦double four one two double nine⟧
the gate keypad changed, it's now ⟦K thirty-four ninety X⟧, ok
The lift needs a code, ⟦hash two two five⟧.
Der Schlüsseltresor geht mit ⟦fünf null acht zwei⟧ auf
nyckelskåpet öppnas med ⟦fyra sju nio ett⟧ och
szyfr to ⟦cztery pięć sześć osiem⟧.
kód je ⟦dva pět osm šest⟧.
Kart şifremi (⟦üç yedi iki altı⟧) isteyen
код ⟦семь ноль два пять⟧.
κουτί με κωδικό ⟦έξι δύο δύο ένα⟧.
קוד הכניסה לבניין ⟦שש אפס שתיים תשע⟧,
الرقم السري للبطاقة ⟦سبعة صفر ثلاثة واحد⟧.
एटीएम का पिन ⟦चार शून्य तीन आठ⟧ था
小区门禁密码⟦六三零九⟧，取件码⟦550821⟧，
暗証番号は⟦四七九一⟧です
비밀번호는 ⟦별 이오육구⟧이고
Verify the PIN for me?⏎CUST: ⟦eight-eight-two-one-three-six⟧⏎
And your PIN?⏎Caller: ⟦4471⟧⏎
Is the code for the side gate still ⟦6631⟧?
entry buzzer ⟦0816#⟧.
combination ⟦4-7-2-9⟧. Bye
alarm ⟦2-8-3-6⟧⏎
Alarm ⟦1946⟧; stopcock under the sink
The safe opens with ⟦left 14, right 31, left 9⟧.
Pool gate: ⟦star 7373⟧⏎
keysafe: ⟦C2047Y⟧⏎
Le nouveau digicode est ⟦B5806⟧ à partir de lundi.
Код домофона ⟦81К5520⟧.
szyfr ⟦4-1-9⟧.
E-file PIN was ⟦61903⟧.
he had me read out the code ⟦529 014⟧ from the text message
backup codes ⟦7d9f-3c5a-8e6b, 81f6-955b-f835⟧ still active
the app password ⟦kzqw tqxd mfox rbyu⟧ and mine
share code ⟦W8K 3PX 7RT⟧.
the seed begins "⟦zebra kite mule⟧".
if ($_POST['pin'] !== '⟦0926⟧')
the user is ⟦night-trein⟧⏎
user ⟦mooncake.t⟧ says it broke
微信号⟦mirko_0926⟧。
The hosting panel login is ⟦T2295513⟧ if that matters
"""
PLAIN = """
(user, password) = credentials.partition(":")
username, have_password, password = userinfo.partition(":")
{ username: string, password: string }
  password: your new password here
password: must be eight letters
User stories and user research
use email as the password reset channel
log in with Google or as root
the account is closed and the password was changed from the console
Sign in with OAuth2 and password grants.
a user is authenticated with a token
Twitter user says it is down
connect with like-minded people
count to ten: one two three four five
the code is in chapters one, two and three
the smoke alarm beeps
the alarm is at 6 and the gate 12 closes
error code 4471 in the message
The key is A4, and the tempo 120.
the score was 4-3-2 at the gate
the zip code 90210 from the letter
backup codes are shown once
share code with your team
Login / Register
| Color | red / green |
std :: vector / list
type help to see more
the safe word list is long
My first pet was a dog.
with music as the theme
密码至少八位，包含字母。
비밀번호는 8자리입니다
a hash of two or three words
if pin == pinned:
"""


def _lines(block: str) -> list[str]:
    return [line.replace("⏎", "\n") for line in block.strip("\n").splitlines()]


@pytest.mark.parametrize("line", _lines(TOLD))
def test_a_code_or_a_login_is_found(line: str) -> None:
    text = line.replace("⟦", "").replace("⟧", "")
    wanted = [piece.partition("⟧")[0] for piece in line.split("⟦")[1:]]
    found = {text[s.start : s.end] for s in POLICY.find(text)}
    assert set(wanted) <= found


@pytest.mark.parametrize("line", _lines(PLAIN))
def test_what_looks_like_one_is_left(line: str) -> None:
    assert [line[s.start : s.end] for s in POLICY.find(line)] == []
