"""Secrets that people tell in a sentence are found; sentences about passwords are left."""

from __future__ import annotations

import pytest

from perturb.selective.policies import PatternPolicy

POLICY = PatternPolicy.shipped(("PASSWORD", "API_KEY", "PRIVATE_KEY"))

# The part stands between ⟦ and ⟧; ⏎ is the end of a line.
TOLD = """
the wifi at work is "Fern", password ⟦welcome2fern⟧. Neighbours
Hi Yolanda, password ⟦Tinsel*88⟧, thanks
the password ⟦tinsel88x⟧ and nothing else
the last password she used was ⟦Sundial!88⟧. She called
Passwort bei ihm ist übrigens ⟦Pflaumenmus2019!⟧
das Kennwort lautet jetzt ⟦Leuchte_5⟧, danke
la clave del wifi es ⟦mazorca2020⟧ y ya
a senha do wifi é ⟦mandioca2020⟧ e pronto
le mot de passe du coffre est ⟦Prune#12⟧.
mdp ⟦Prune!12⟧, merci
пароль от вайфая: ⟦sosna77⟧
пароль от почты ⟦Sosna!5⟧, спасибо
ο κωδικός μου είναι ⟦Elato!2022⟧ και φεύγω
הסיסמה היא ⟦Oren!48⟧ תודה
heslo je ⟦Bramborak.66⟧, díky
a jelszavam ⟦Langos_99⟧, köszi
salasana on ⟦Puolukka#1⟧, kiitos
min adgangskode er ⟦Tyttebaer77⟧ og tak
parola este ⟦Mamaliga&1⟧, mulțumesc
mật khẩu là ⟦BanhMi#24⟧, cảm ơn
kata sandi ⟦Sambal!8x⟧, terima kasih
mitt lösenord är ⟦Hjortron#7⟧, tack
use ⟦Tinsel#4421⟧ as temp password
my creds (mira : ⟦tinsel9x⟧) work
The wifi key is ⟦BlueTinsel42⟧ and more
the password is ⟦Blue7Tinsel⟧ and for the barn it's ⟦redtinsel24⟧.
Network: "Casa", key ⟦gallo-gato-loro⟧.
WLAN „Nest“, der Schlüssel lautet ⟦3Raben+1Fuchs⟧.
SSID Barn / WPA2 key ⟦tinselgum3000⟧.
the padlock code changes to ⟦7319⟧ on Sunday
Gate code ⟦*4471#⟧.
the combination to the safe is ⟦24-7-36⟧, and
Locker combo ⟦12-30-6⟧.
Schlüsselsafe-Code neu ⟦0815⟧.
a kod do bramy ⟦3312⟧.
код от домофона ⟦47В1892⟧.
portkoden ⟦1947⟧. Hej
Le code de la porte, c'est ⟦B4471⟧.
El código del portal es ⟦4471⟧.
<PinCode>⟦4471⟧</PinCode>
取款密码⟦447188⟧，
command: ["--admin-password", "⟦tinsel⟧", "--x"]
variable "db_password" {⏎  default = "⟦tinsel-garden⟧"⏎}
    client-key-data: ⟦UQP6gbB5lG2n8XLcmvysCeYOa+XiPpQ8W⟧
<input type="password" name="pwd" value="⟦Tinsel#94⟧"><input name="a" value="x">
<input name="pwd" value="⟦Tinsel#94⟧" type="password">
htpasswd -bc .htpasswd mira ⟦tinsel99⟧
AKIA7OSUQV6XUOBCBPB3 / ⟦3f8nUVRBoMFTXptvp7/WhPvFMKFl8zE8Ajlb0cdk⟧,
  mot_de_passe: ⟦Prune2024⟧
κωδικός: ⟦Elato2022⟧
my recovery phrase is ⟦ladder motor canvas orbit silent grape echo ranch hobby anchor tin oak⟧, ok
my seed: ⟦ladder motor canvas orbit silent grape puzzle echo ranch hobby anchor velvet⟧ and keep it
the password is ⟦marigold⟧
My wifi password is ⟦marigold⟧, in case you need it
btw the password's ⟦marigold⟧
Password for the old laptop is still ⟦teapot⟧.
WiFi password: ⟦teapot⟧
the password is "⟦teapot⟧"
Das Passwort ist ⟦Kirschkern⟧.
le mot de passe est ⟦pamplemousse⟧.
la contraseña es ⟦berenjena⟧, ¿vale?
la password è ⟦melanzana⟧ e basta
my PIN's ⟦seven two two nine⟧.
the alarm code is ⟦nine-four-one-one⟧
die Geheimzahl ist ⟦sieben zwo zwo neun⟧
safe word: ⟦rhubarb⟧
The code word is "⟦rhubarb crumble⟧".
her security answer is ⟦Nibbles⟧ (the hamster)
Memorable word: ⟦Foxglove⟧
Security question: What was your first pet? Answer: ⟦Nibbles⟧
passphrase: ⟦green kettles whistle early⟧
"""
PLAIN = """
a password must have 8 characters, 1 digit and 1 sign
The password is case-sensitive and at least 12chars long.
the password policy is ISO27001
passwords are hashed with SHA-256, the password hash is bcrypt2
what does the password field in form2 do
password hashing with argon2id and pbkdf2_sha256
The password length is 8x2.
my password manager is KeePass2 and it works
reset the password at https://kestrel.example/reset1
Das Passwort muss mindestens 12Zeichen haben.
the password is required. The default value is utf8mb4.
The network key exchange is RSA2048 or IKEv2.
the wifi key management of WPA2
use React18 as base
use HTML5 as the language of the form
error code 4471, zip code 90210, country code 49
the gate code is shown on page 12
the status code is 404 and the exit code 137
the door of code block 1234
Bitte Kapitel 2 lesen und lösen Aufgabe3, danke
Tag name to pass to force_list parameter, and xml_force_list_help = 1
pass the url8x to it
<input type="text" name="city" value="Kestrel1">
variable "region" { default = "eu-west-1" }
the recovery plan is to stop all work today and then call every person who was there that morning
The password is wrong, and the username is right.
the password is required
If the password is invalid, say so.
is the password correct?
the password is kept in a safe
The password is leaked.
the wifi password is on the fridge
the default password is raspberry
whether the password is strong
Das Passwort ist falsch.
le mot de passe est oublié.
la contraseña es obligatoria.
password: string
The code word is used in chapter two.
the pin is in the drawer, the code is one of two
a security question such as the name of a pet
passphrase: the one that you chose
The memorable word is a kind of password.
"""


def _lines(block: str) -> list[str]:
    return [line.replace("⏎", "\n") for line in block.strip("\n").splitlines()]


@pytest.mark.parametrize("line", _lines(TOLD))
def test_a_secret_is_found_where_it_is_told(line: str) -> None:
    text = line.replace("⟦", "").replace("⟧", "")
    wanted = [piece.partition("⟧")[0] for piece in line.split("⟦")[1:]]
    found = {text[s.start : s.end] for s in POLICY.find(text)}
    assert set(wanted) <= found


@pytest.mark.parametrize("line", _lines(PLAIN))
def test_a_sentence_about_passwords_is_left(line: str) -> None:
    assert [line[s.start : s.end] for s in POLICY.find(line)] == []
