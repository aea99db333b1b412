"""Secrets and names as people, commands and programs tell them, and ordinary text like them."""

from __future__ import annotations

import re

import pytest

from perturb import load_table
from perturb.selective.sanitizer import Selective, SelectiveParameters

# What is between the marks « and » is private.
TOLD = (
    "the pw is «tamburica7»",
    "pw: «xK9mQ2vL7p»",
    "PW: «Sommer2024!»",
    "password «Sommer2024»",
    "The password for the laptop is «hansi1944».",
    "Das Passwort für den Laptop ist «hansi1944».",
    "user mirko_t, pass «tamburica9»",
    "creds: mirko_t / «Tamburica9»",
    "login j.kowalczyk@onet.pl pass «Zubr0wka77»",
    "Password for dilara: «Kirsche-Rot7»",
    (
        "my seed phrase is «orbit lunar maple tragic velvet oyster humble ginger wink salon f"
        "rost dune»"
    ),
    (
        "Here are my 12 words: «orbit lunar maple tragic velvet oyster humble ginger wink sal"
        "on frost dune»"
    ),
    (
        "my recovery phrase is «abandon ability able about above absent absorb abstract absur"
        "d abuse access accident»"
    ),
    "redis-cli -a «fuchsBau88x» ping",
    "sqlcmd -S h -U sa -P «Qu1ckSand»",
    "mosquitto_pub -u ha -P «licht-an-22» -t x",
    'ldapsearch -x -D "cn=admin,dc=corp,dc=lan" -w «Winter2023»',
    "7z a -p«Sternschnuppe3» x.7z y",
    "zip -P «pap3rPlane» out.zip x",
    "openssl enc -aes-256-cbc -k «Zubr0wka1» -in x",
    "keytool -storepass «krokus11» -keypass «krokus12»",
    "http -a nwolff:«murmel77» GET x",
    "lftp -u web291,«Mz8vTq2x» sftp://h",
    "smbclient //srv/hr -U rkessler%«Sommer19»",
    "sqlplus hr/«tigerlily9»@ORCL",
    "net use Z: \\\\srv\\x /user:FIRMA\\h.lindner «ApfelKuchen1»",
    "xfreerdp /u:nwolff /p:«Murmel77»",
    "rabbitmqctl add_user lager «Kanin-Chen4»",
    'echo "«pass4sudo77»" | sudo -S ls',
    "kubectl create secret generic x --from-literal=password=«Kakadu-Vier»",
    "helm install x ./c --set db.password=«Kakadu-Vier»",
    "vault kv put secret/mail user=pmoreau pass=«carambole»",
    "aws configure set aws_secret_access_key «466e1AoePdcOpo1bj2/PHm9A799MLGGjIL4g7Me3»",
    "0 3 * * * /usr/bin/mysqldump -uhgruber -p'«N8chtwache»' shop | gzip > x.gz",
    '{"key":"password","value":"«Tamb9urica!»"}',
    '{"name":"DB_PASSWORD","value":"«xK9mQ2vL7p»"}',
    "kind: Secret\ndata:\n  password: «R2FucytFbnRlMjAyMw==»",
    '<Pass encoding="base64">«YWd1YWNhdGU3»</Pass>',
    'mysqli_connect("localhost", "pilar_web", "«limonero»", "tienda");',
    "new PDO($dsn, 'pilar_web', '«limonero»');",
    'DBI->connect("DBI:mysql:crm", "goranp", "«paprikas»");',
    'new NetworkCredential("pquintana", "«clavelito»");',
    "signInWithEmailAndPassword('petko@gmail.com', '«kajmak12»');",
    "signInWithEmailAndPassword(auth, 'petko@gmail.com', '«kajmak12»');",
    'ConvertTo-SecureString "«Paprika2»" -AsPlainText -Force',
    "await page.fill('#password', '«kajmak12»');",
    "page.getByLabel('Password').fill('«kajmak12»')",
    'find_element(By.ID, "password").send_keys("«kajmak12»")',
    "define( 'DB_PASSWORD', '«Linse4Suppe»' );",
    'dsn := "goran:«sljivovica»@tcp(10.4.4.4:3306)/app"',
    'const API_TOKEN: &str = "«WxySfe9BDPFOWrctaFkII5D5YJZmTYxryyEDKaNA»";',
    'var pw = "«xK9mQ2vL7p»";',
    "https://hooks.slack.com/services/TWWAN0OE3/BGR0NAVPO/«EYO5TlThxpQCkJ9e2ZaFvAS4»",
    (
        "https://discord.com/api/webhooks/1098765432109876543/«WxySfe9BDPFOWrctaFkII5D5YJZmTY"
        "xryyEDKaNA»"
    ),
    "https://api.telegram.org/bot6932930784:«AAebqiYTnx1HYieFvpO4FxBPpr9UjU6Qkal»/sendMessage",
    "GET /weather?lat=48.2&appid=«174784d23070bcdb34ec7d59b6a15dc3»",
    '"GET /reset-password/«430c260b684c271ad6835c47241d62b7f5ebf752» HTTP/1.1" 302',
    "username=mtadic&password=«tamburica»",
    "host smtp.strato.de\nuser ruth@achternbusch.net\npassword «zaunlatte77»",
    "enable password «Swit4Ch3r»",
    "snmp-server community «gartenzaun» RO",
    "crypto isakmp key «vpnGart3n» address 85.214.99.12",
    "//nas.lan/foto /mnt/foto cifs username=rachtern,password=«zaunkoenig» 0 0",
    "hasło to «kotek2009»",
    "lösenordet är «kanelbulle5»",
    "şifrem «karpuz1905»",
    "şifre: «karpuz1905»",
    "мой пароль «vishnya87»",
    "密码是«xiaomao520»",
    "パスワードは«sakura0714»です",
    "비밀번호는 «minsu0917» 입니다",
    "पासवर्ड: «mango@2012»",
    "كلمة السر: «nakhla77»",
    "la contraseña del wifi es «perrito88»",
    "le mot de passe du wifi c'est «lapinbleu33»",
    "WLAN Passwort: «48201937465928374651»",
    "die PIN von ihrer Karte ist «2290»",
    "sort code «20-45-77» account «43817720»",
    "Sort code: «20-45-77»\nAccount number: 43817720",
    "routing «021000089» acct «0048812937»",
    "TC no «32370520710»",
    "身份证«110105198607142312»",
    "주민번호 «850312-2448209»",
    "nif: «220918732»",
    "my username: «mirko_t»",
    "my roblox username is «fluffyaxolotl2014»",
    "id\tvorname\tnachname\n1\t«Mirjam»\t«Brunnhuber»\n2\t«Jörn»\t«Tiedemann»",
    (
        " id |   name          |  phone\n----+-----------------+------------\n  1 | «Xaver Über"
        "reiter» | 0316 440221\n  2 | «Notburga»        | 0316 440222"
    ),
    "Vriendelijke groet,\n«Jitske Hoekstra»",
    "mój mąż «zbyszek» jest chory",
    "mijn buurman «wim» is ziek",
    "min man «Torbjörn» är sjuk",
    "kocam «hüseyin» hasta",
    "// TODO(«knowotny»): refactor",
    "git@github.com:«hkessler88»/dotfiles.git",
    'user = "CORP\\«gpetkovic»"',
    "root@«10.2.3.4»",
    "mail «j.doe@163.com»",
    "first,last,phone\n«May»,«Rivers»,07700900112\nWill,«Young»,07700900113",
    "name,age,city\n«Ada Winter»,52,Ulm",
    "name,city\n«Mira Holzapfel»,Ulm\n«Jonas Brandstetter»,Köln\n",
    "«Neuer Weg 3», 50667 Köln",
    "«Karl Johans gate 5», Oslo",
    "«Mira Holzapfel» was born «August 4, 1961» in Honolulu.",
    "Patient: Michael Jordan\nDOB: «12 May 1980»",
    "«K1A 0B6» Ottawa",
    "«12 Main St». Springfield",
    "my neighbour «Taylor Swift», born «December 13, 1989»",
    "Passport no. «C4KLM7T09», driving licence no. «MORGA753116SM9IJ»",
    "codice fiscale: «RSSMRA85T10A562S»",
    "CF «VRDLCU91B54H501Q»",
    "Her licence plate is «M-AB 1234».",
    "Das Auto mit dem Kennzeichen «HH-XY 907» steht im Weg.",
    "matrícula «4821 BCD», targa «GH 582 KL»",
    "konto «1503.22.12345»",
    "هاتفي «0551234567»",
    "رقم هاتفه هو «01012345678»",
    "我住在北京市朝阳区«建国路88号»院",
    "台北市大安區«忠孝東路四段216巷»",
    "東京都港区«六本木6-10-1»です",
    "부산광역시 해운대구 «해운대로 452»",
    "मेरा नाम «सुनीता देवी शर्मा» है",
    "Send it to «Flat 3b, 17 Rosendale Mews».",
    "«2217 Harkness Ave Apt 5C», Bakersfield, CA «93304»",
    "| Name | Room |\n|---|---|\n| «Lindqvist, Maja» | 12 |\n| «Okonkwo, Chidi» | 14 |",
    "Name,Score\n«Oluwaseun Adeyemi»,17\n«Siobhán Ní Bhriain»,9",
    "Discord: «night_owl_tereza#4471», Steam «tereza_nov», Instagram @«tereza.novotna.art»",
    "Ask «Wiebke» for the key.",
    "cc «Wiebke»",
    "Ask «Wiebke». The key is hers.",
    "- «Wiebke»: bring the cake\n- «Anouk»: bring drinks",
    "@«wiebke» please review",
    "<name><given>«Tjorven»</given><family>«Halbritter»</family></name>",
    '<name use="official"><family value="«Halbritter»"/><given value="«Mira»"/></name>',
    '{"first": "«Mira»", "last": "«Holzapfel»"}',
    "SELECT first, last FROM t WHERE first = '«Mira»' AND last = '«Halbritter»'",
    "vivo in «via Garibaldi 7» a Torino",
    "We live at «17, The Larches», Guildford.",
    "The plumber came to «17, The Larches», Guildford «GU2 7XH»",
)
PLAIN = (
    "Use Julia and Pascal for the numerics, and Jenkins to build.",
    "npm install @angular/core @babel/cli",
    '{"first": "Albania", "last": "Zimbabwe"}',
    "first: Monday, last: Friday",
    "Given the family name, the first and the last name are required.",
    "font-family: Arial; family: Roboto; given: Inter",
    "In 2012, The Avengers, the film, came out.",
    "At 17, The Beatles",
    "Connect in via SSH 2 to the host.",
    "we changed trains in via Roma",
    "react@18.2.0",
    "npm install typescript@5.3.3 --save-dev",
    "uses: actions/checkout@v4.1.1",
    "peer react from @material-ui/core@4.12.4",
    "go install golang.org/x/tools/gopls@v0.15.1",
    "python@3.12.2 is already installed",
    "next@15.0.0-rc.1",
    "vue@3.0.0-alpha",
    "foo@1.0.0-beta.2+build.5",
    "postgresql@16.1_1 is installed",
    "name,city\nLouvre,Paris\n",
    "| Name | City |\n|---|---|\n| Louvre | Paris |\n",
    "name,city\nStarbucks,Seattle\nBoeing,Chicago\n",
    "id,name,city,lat,lon\n1,Heathrow,London,51.47,-0.45\n",
    "name,symbol\nLitecoin,LTC\nCardano,ADA\nSolana,SOL\n",
    "Baldur's Gate 3 tips",
    "Flight LH 400, Gate 14",
    "NAND Gate 2",
    "Hadamard Gate 1 on qubit 0",
    "Auf Platz 3 landete der HSV.",
    "Der Weg 2 ist kürzer",
    "Was regelt § 26 BDSG?",
    "§ 28 BDSG",
    "1:1, FC St. Gallen gegen Basel",
    "2:0, FC St. Pauli",
    "PCIe 4.0 x16 lane 3",
    "10 Gbit Lane x4",
    "Straße 3D-Druck",
    "Barack Obama was born August 4, 1961 in Honolulu.",
    "Taylor Swift (born December 13, 1989) is an American singer-songwriter.",
    "Zinédine Zidane est né le 23 juin 1972 à Marseille.",
    "- name: Albert Einstein\n  born: 1879-03-14\n  field: physics\n",
    (
        "| Scientist | Born | Discovery |\n|---|---|---|\n| Charles Darwin | 12 February 1809 |"
        " Evolution |\n"
    ),
    '{"name":"Ada Lovelace","birth_date":"1815-12-10","occupation":"mathematician"}',
    "What's the molar mass of C9H8O4?",
    "C3H8O3",
    "C6H5N1",
    "H2O2, C2H6O2, C3H8O3",
    "Free Software Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA",
    "59 Temple Place, Suite 330, Boston, MA  02111-1307  USA",
    "10 Downing Street",
    "221B Baker Street",
    "Name: TBD\nContact: TBD",
    "Address: TBD.",
    "http://host.docker.internal:11434",
    "host.docker.internal",
    "my-svc.default.svc.cluster.local",
    "pass python3 to it",
    "password reset2 flow",
    "passwords must have 8 characters",
    "password sha256 hash",
    "password OAuth2",
    "The password for the database is required.",
    "password: String",
    "the password field is 12 characters long",
    "pass arg1 to the function",
    "pw = askUser()",
    "secret santa 2024",
    "I forgot my password again",
    "Enter password for the admin user:",
    "Password for user postgres:",
    "zip -r out.zip dir",
    "7z a archive.7z folder",
    "openssl enc -d -aes-256-cbc -in x",
    "redis-cli -h localhost ping",
    (
        "The seed phrase is 12 or 24 words long and must be kept offline by the owner of the "
        "wallet at all times."
    ),
    "The key is value",
    '{"key":"theme","value":"dark"}',
    '{"name":"token_limit","value":"4096"}',
    'password="$PASSWORD" node app.js',
    "mysqli_connect($host, $user, $pass, $db);",
    "new PDO($dsn, $user, $pass);",
    "page.fill('#username', 'value')",
    'const TOKEN: &str = "token";',
    "token 12 of 100",
    "username is required",
    "my username: is it taken?",
    "how do I change my username on reddit?",
    "username: string",
    "TODO(2024): refactor",
    "SELECT * FROM users WHERE name LIKE 'A%';",
    "UPDATE t SET name = 'x' WHERE id = 1",
    "WHERE last_name LIKE '%son'",
    "sort code by name",
    "routing table 10",
    "hasło to jest ważne",
    "The password is incorrect.",
    "secret is safe",
    "the pw is wrong",
    "git@github.com:torvalds/linux.git",
    "clone https://github.com/psf/requests",
    "TODO(someone): fix",
    "mio marito lavora",
    "min man är sjuk",
    "mijn buurman heeft een hond",
    "мой муж работает",
    "kocam hasta",
    "mój mąż jest chory",
    "TODO(team): x",
    "Thanks,\nHope this helps",
    "export PATH=/usr/bin",
    "ldapsearch -x -b dc=example,dc=com",
    "-w 3 retries",
    "docker run -p 8080:80 nginx",
    "-P 5432",
    "psql -U postgres -h localhost",
    "enable password encryption",
    "snmp-server community public RO",
    "Explain Obergefell v. Hodges and Roe v. Wade.",
    "Who made Ben & Jerry's, and what does Charles Schwab do?",
    "@book{knuth1997art, author = {Knuth, Donald E.}, publisher = {Addison-Wesley}}",
    "@article{v2017,\n  author = {Vaswani, Ashish and Shazeer, Noam and Gomez, Aidan N.},\n}",
    "ssh pi@raspberrypi.local",
    "Write a Luhn check in Go.",
    "The passport number format of Germany has 9 characters.",
    "Number plate history since 1903",
    "discord client_id; telegram chat_id; steam input_device",
    "Name,Version\nReact Native,0.72\nVue Router,4.2",
    "Name,Capital\nFrance,Paris\nNew Zealand,Wellington",
    "| Name | Type | Description |\n|---|---|---|\n| User, Admin | string | the role |",
    "Main Features\nVersion 2\nReleased 2024",
    "Windows Server\nRelease 2\nBuild 20348",
    "Golden Gate\nPier 39\nSan Francisco, CA 94133",
    "第3章第1节讲了什么?世界大战1号作品是什么?",
    "東京スカイツリーの高さは634メートルです。第1-2章を要約して。",
    "삼성전자 주가는 152 달러로 올랐다. 길 3 번째 문제",
    "मेरा नाम क्या है? मेरी दोस्त बहुत अच्छी है",
    "رقم 0123456789 في الاختبار",
)


@pytest.fixture(scope="module")
def selective() -> Selective:
    return Selective(load_table(), SelectiveParameters(profile="people"))


@pytest.mark.parametrize("marked", TOLD)
def test_what_is_told_is_hidden(selective: Selective, marked: str) -> None:
    text = re.sub("[«»]", "", marked)
    hidden = {i for span in selective.spans(text) or () for i in range(span.start, span.end)}
    left = []
    for number, part in enumerate(re.finditer("«([^«»]*)»", marked)):
        start = part.start() - 2 * number
        places = range(start, start + len(part[1]))
        left += [text[i] for i in places if text[i].isalnum() and i not in hidden]
    assert left == []


@pytest.mark.parametrize(
    ("name", "below"),
    [
        ("Mira Holzapfel", "Lindenallee 14\n10115 Berlin"),
        ("Ottokar Wiesinger", "Neue Gasse 3\n1010 Wien"),
        ("Sjoerd van der Zwaag", "Keizersgracht 123\n1015 CJ Amsterdam"),
    ],
)
def test_a_name_above_an_address_is_a_part_of_its_own(
    selective: Selective, name: str, below: str
) -> None:
    text = f"Von:\n{name}\n{below}"
    found = [text[span.start : span.end] for span in selective.spans(text) or ()]
    assert name in found
    assert all("\n" not in part or part in below for part in found)


@pytest.mark.parametrize("greeting", ["Hallo", "Hello", "Bonjour", "Hola", "Guten Tag", "Servus"])
def test_a_greeting_below_an_address_stays(selective: Selective, greeting: str) -> None:
    text = f"Mira Holzapfel\nLindenallee 14\n10115 Berlin\n\n{greeting}, hier ist Mira Holzapfel."
    found = [text[span.start : span.end] for span in selective.spans(text) or ()]
    assert "Mira Holzapfel" in found
    assert not any(greeting in part for part in found)


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_that_looks_alike_stays(selective: Selective, text: str) -> None:
    assert [(text[s.start : s.end], s.type) for s in selective.spans(text) or ()] == []
