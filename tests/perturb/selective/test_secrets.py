"""Secrets by the names of their keys, in every syntax, and what only looks like one."""

from __future__ import annotations

import pytest

from perturb.selective.policies import PatternPolicy

POLICY = PatternPolicy.shipped(["API_KEY", "PASSWORD", "PRIVATE_KEY"])

# The secret stands between the marks ⟦ and ⟧; a line may hold several.
SECRETS = r"""
<login><password>⟦kestrelmoon⟧</password></login>
x='<password>⟦kestrelmoon⟧</password>'
cfg: <password>⟦kestrel9moon⟧⏎
CREATE USER app WITH PASSWORD '⟦kestrelmoon⟧';
CREATE ROLE app LOGIN PASSWORD '⟦kestrelmoon⟧';
ALTER ROLE app WITH ENCRYPTED PASSWORD '⟦heron_lake_4⟧';
CREATE LOGIN app WITH PASSWORD = '⟦kestrelmoon⟧';
CREATE USER "app" PASSWORD '⟦kestrelmoon⟧';
echo 'app:⟦kestrelmoon⟧' | chpasswd
echo "root:⟦kestrelmoon⟧" | sudo chpasswd
echo ⟦kestrelmoon⟧ | docker login -u app --password-stdin
echo "⟦kestrelmoon⟧" | podman login --password-stdin registry.example
printf '⟦kestrelmoon⟧' | gpg --batch --passphrase-fd 0 -d a.gpg
redis-server --requirepass ⟦kestrelmoon⟧ --appendonly yes
masterauth ⟦kestrelmoon⟧
WIFI:T:WPA;S:attic;P:⟦kestrelmoon⟧;;
WIFI:S:attic;T:WPA;P:⟦kestrelmoon⟧;H:true;;
storePassword '⟦kestrelmoon⟧'
set password for 'app'@'localhost' = '⟦kestrelmoon⟧';
SET PASSWORD = PASSWORD('⟦kestrelmoon⟧');
<entry key="db.password">⟦kestrel9moon⟧</entry>
<string name="api_secret">⟦kestrel_moon9⟧</string>
net use Z: \\nas\share ⟦kestrelmoon⟧ /user:app
keyPassword("⟦kestrelmoon⟧")
{"name": "Authorization", "value": "Basic ⟦YXBwOmtlc3RyZWw=⟧"}
{\"name\": \"Authorization\", \"value\": \"Basic ⟦YXBwOmtlc3RyZWw=⟧\"}
admin:⟦Wintergarten77⟧
svc_report:⟦tRub4dor-xk⟧⏎backup:⟦9fQ2zLm7Vb⟧
root:⟦Zx81#kelp⟧
TF_VAR_db_password=⟦kestrelmoon⟧ terraform apply
Environment=DB_PASSWORD=⟦kestrelmoon⟧
Environment="PGPASSWORD=⟦kestrelmoon⟧" "PGUSER=app"
- name: DB_PASSWORD⏎  value: ⟦kestrelmoon⟧
Server=a;User ID=sa;Password=⟦kestrelmoon⟧;Encrypt=True
4. Wi-Fi: `LotusOffice` / `⟦glaze&fire⟧`
WLAN bei ihm: "FritzBox" / "⟦Apfelstrudel mit Zimt⟧"
DB_PASS=⟦c1arinet!Shawl⟧
SMTP_PASSWORD='⟦plumwindowsaddle⟧'
JWT_SECRET="⟦only-letters-in-this-one⟧"
export PGPASSWORD=⟦twiga⟧; psql -h db
MYSQL_ROOT_PASSWORD=⟦krasotiri⟧
      - MYSQL_PASSWORD=⟦krasotiri⟧
docker run -e POSTGRES_PASSWORD=⟦zimtstern⟧ postgres:16
ENV ADMIN_PASSWORD=⟦zimtstern⟧
+DB_PASSWORD=⟦zimtstern⟧
REDIS_PASSWORD=⟦a$b{c}d!⟧
APP_SECRET="⟦p&ss w{o}rd$⟧"
SECRET_KEY_BASE=⟦9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d⟧
NOR_APP_SECRET_LIVE=⟦qW+eR/tYuIoPaSdFgHjKlZxCvBnM7418529630==⟧
NOR_APP_KEY_LIVE=⟦ZtHnKwQrBvXsMdJpLgFcYuTaReWoNiSkVh⟧
AZURE_OPENAI_KEY: ⟦4be07d91c3a85f26e0d7b94a18c6f352⟧
X-Auth-Key: ⟦271610a72c84f1862068766d1ea18ae8⟧
"X-Auth-Key": "⟦271610a72c84f1862068766d1ea18ae8⟧"
curl -H "X-Api-Key: ⟦c5b8efe756d97cace845c9bebb83ae0c⟧" https://x.example
weather_key = "⟦FdXt9Hbp6BPkaOBxra34edB723qfvZRD⟧"
PresharedKey = ⟦d9Hs2KxPq7Lw0ZbVn4Ty8Rc1Mg6Ju3Fe5AoIiUtQzE0=⟧
{"password": "⟦hunter2⟧"}
{"password": "⟦mango lassi without sugar⟧"}
{\"password\": \"⟦kirschkuchen⟧\", \"id\": 4}
"{\"db\": {\"password\": \"⟦s3cr3t!x⟧\"}}"
"{\\\"password\\\": \\\"⟦kirsch-kuchen⟧\\\"}"
{'secret': '⟦eleven kilns burning⟧'}
  SMTP_PASSWORD: '⟦mango lassi without sugar⟧'
ansible_become_password: "⟦Moritz!und!Max⟧"
    password: ⟦kirschkuchen⟧
password: ⟦stroopwafel-op-zondag⟧
password: |⏎  ⟦kirschkuchen⟧
SIGNING_KEY: "⟦b40ec87a9c6f259e56c4ccac442514815d489c80a05b94cc319b8fee94801822⟧"
spring.datasource.password=⟦kirschkuchen7⟧
spring.datasource.password = ⟦pepernoot⟧
[client]⏎password = "⟦pepernoot⟧"
clave = ⟦PatxaranConHielo3⟧
Kennwort: ⟦Turmfalke77⟧
<password>⟦Turmfalke⟧</password>
<db:password>⟦Turm&falke⟧</db:password>
<property name="password" value="⟦Turmfalke⟧"/>
<add key="SmtpPassword" value="⟦Turmfalke7⟧" />
<input type="hidden" name="_csrf" value="⟦0J0RKiWL7u4PCdxXjLk4AT2E3UsU536G⟧">
- name: DB_PASSWORD⏎  value: ⟦zimtstern9⟧
{"name": "DB_PASSWORD", "value": "⟦zimtstern9⟧"}
password = "⟦hunter2⟧"
String dbPassword = "⟦Gummist1efel!rot⟧";
const apiSecret = '⟦korvapuusti-9⟧';
password: str = "⟦hunter2⟧"
val password: String = "⟦kaffekask⟧"
password := "⟦hunter2⟧"
#define WIFI_PASSWORD "⟦kaffekask⟧"
define('DB_PASSWORD', '⟦kaffe7kask⟧');
props.setProperty("db.password", "⟦kaffe7kask⟧");
ds.setPassword("⟦kaffe7kask⟧");
AUTH = ("g.haverkamp", "⟦Treckerfahrer⟧")
    s.login("noor.haddadin", "⟦DoReMi-fasola⟧")
requests.get(u, auth=("mira", "⟦hunter2pass⟧"))
requests.get(u, auth=HTTPBasicAuth('mira', '⟦hunter2pass⟧'))
Authorization: 'Basic ' + btoa('xmoosbrugger:⟦Bergkäse & Radi⟧')
CREATE USER 'u.petersohn'@'%' IDENTIFIED BY '⟦seifenblase⟧';
ALTER USER backup IDENTIFIED WITH mysql_native_password BY '⟦Gummist1efel!rot⟧';
CREATE ROLE mira LOGIN PASSWORD '⟦Gummist1efel⟧';
mysql -u root -p⟦Plum0rchard7⟧ shop
mysql -h 10.60.1.5 -u permits -p'⟦ugali na sukuma⟧' permits_db
mysqldump -upermits -p⟦Chapati99⟧ permits_db
sshpass -p ⟦simba_mwekundu⟧ ssh deploy@host
docker login -u mira -p ⟦Chapati99⟧ registry
curl -u mira:⟦hunter2pass⟧ https://x.example
curl -s --user 'lwambui:⟦Nyama Choma⟧' https://x.example
createdb --password ⟦kirschkuchen⟧
tool --password=⟦kirsch7⟧ --verbose
cli --token ⟦a1B2c3D4e5F6g7H8⟧ push
machine ftp.bakkerij.example⏎  login webmaster⏎  password ⟦stroopwafel-op-zondag⟧
machine git.x.example login fnoordzij password ⟦Vla4Vlinders⟧
db.kestrel.example:5432:prod:ledger:⟦kirsch⟧
*:*:*:postgres:⟦kirschkuchen⟧
mira:⟦$apr1$q9hJ2s7k$Zx8cV1bN4mL0pQ3rT6uY5.⟧
mira:⟦$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC⟧
mira:⟦{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=⟧
root:⟦$6$rounds=5000$saltsalt$kX9vQ2wE4rT6yU8iO0pA1sD3fG5hJ7kL9zX⟧:19000:0
postgres://ledger:⟦plover61⟧@db.lindenhof.internal:5432/prod
redis://:⟦kirsch4Pw⟧@cache.internal:6379/0
amqp://mira:⟦kirschkuchen⟧@mq:5672
mongodb+srv://app:⟦p@ssw0rd⟧@cluster0.x.example/db
jdbc:oracle:thin:nora/⟦Otter58y⟧@//orcl.lindenhof.local:1521/pdb1
Authorization: Basic ⟦bm9vcjpLaXJzY2h3YXNzZXI0Nw==⟧
curl -H 'Authorization: Basic ⟦bm9vcjpLaXJzY2h3YXNzZXI0Nw==⟧' x
"Authorization": "Bearer ⟦abcdef0123456789abcdef⟧"
Authorization: Token ⟦9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b⟧
Cookie: sessionid=⟦38afes7a8b9c0d1e2f⟧; theme=dark
Set-Cookie: PHPSESSID=⟦298zf09hf012fh2q7x⟧; path=/; HttpOnly
Set-Cookie: connect.sid=⟦s%3A9kLmNoPqR7sTuVwX2yZ⟧; Path=/; Max-Age=3600
The cookie is uid=⟦bm9vci5saW5kbmVyQGxpbmRlbnBvc3Qub3Jn⟧ here
seed: ⟦zebra orchard violin harvest copper meadow lantern bishop ticket salmon winter galaxy⟧
recovery phrase: ⟦velvet orbit candle maple fiscal tunnel harbor pencil swarm gentle anchor lemon⟧
mnemonic = "⟦abandon ability able about above absent absorb abstract absurd abuse access accident⟧"
my password is ⟦kirschkuchen⟧.
My password is ⟦hunter2⟧
The password is "⟦kirschkuchen⟧".
the wifi password is: ⟦Zimt-Stern-9⟧
Das Passwort lautet ⟦Turmfalke77⟧.
mein Passwort ist ⟦zimtsterne⟧.
Das Kennwort ist „x“? Kennwort: ⟦Zimt!Stern⟧
mon mot de passe est ⟦Pistache7⟧
mot de passe : ⟦Pistache7⟧
mi contraseña es ⟦tortuga8⟧
contraseña: ⟦tortuga8⟧
la clave es ⟦tortuga8⟧
пароль: ⟦Berezka77⟧
密码：⟦Wx7kk2pp⟧
パスワード: ⟦Sakura99⟧
비밀번호: ⟦Haneul77⟧
user `newstarter`, password `⟦Tea-Before-8⟧`
group `staff`, shared secret `⟦eleven kilns burning⟧`
**Password:** ⟦Tea-Before-8⟧
| password | ⟦Tea-Before-8⟧ |
Bank card PIN ⟦8306⟧, keep it
Your sign-in code: ⟦5926⟧. PIN is ⟦0385⟧.
Door code at Shuinan Road 66: `⟦4471#⟧`
otp=⟦604417⟧ accepted
pan=x cvv=⟦4417⟧ holder
E-mail: t.dlamini@karoopost.example / ⟦WindpompOpDieVlakte⟧
noor@lindenpost.org:⟦hunter2x⟧
secret=<<⟦OUR_Kenn7wort_4y⟧>> end
session: "⟦49abd21c-4dd8-47fb-8387-768753b1c8f9⟧"
password=⟦hunter2x⟧ accepted
?user=mira&password=⟦hunter2x⟧&next=1
Password=⟦Turm7falke⟧;Server=db;Database=x
"""

PLAIN = r"""
postgres://app:<password>@db/orders
https://x.example/?user=app&password=<password>&ssl=true
{ user: 'app', password: '<password>', port: 5432 }
sqlplus app/<password>@//db:1521/ORCL
dsn := "app:<password>@tcp(db:3306)/orders"
curl -d '{"password":"<password>"}' x.example
CREATE USER app WITH PASSWORD '$1';
CREATE USER app WITH PASSWORD 'your_password';
ALTER USER app WITH PASSWORD %s;
echo "$USER:$PASS" | chpasswd
echo 'app:changeme' | chpasswd
echo $TOKEN | docker login --password-stdin
echo "${{ secrets.PW }}" | docker login -u app --password-stdin
cat pw.txt | docker login --password-stdin
redis-server --requirepass "$REDIS_PASS"
The masterauth option must match requirepass on the primary.
# requirepass foobared
WIFI:T:nopass;S:cafe;;
storePassword System.getenv("PW")
storePassword keystoreProperties['storePassword']
set password to 'required' in the form
<entry key="password.label">Kennwort</entry>
<entry key="db.password">${DB_PASSWORD}</entry>
<string name="password">Password</string>
<string name="forgot_password">Vergessen?</string>
<entry key="forgot.password">oublié</entry>
net use Z: \\nas\share * /user:app
net use Z: \\nas\share /user:app
admin:dashboard
admin:x:1000
root:root
admin:panel-v2
admin:users2list
backup:2024-03-01
backup:daily-03
deploy:v1.2.3
deploy:staging-eu-west-1
svc_api:1.25-alpine
TF_VAR_db_password=${DB_PASSWORD}
Environment=DB_PASSWORD=%i
- name: DB_PASSWORD⏎  value: changeme
- name: PASSWORD_POLICY⏎  value: strict
machine a⏎login b⏎password {{ vault_pw }}
mysql -u app -p{{ vault_pw }} orders
host,user,password⏎db01,app,changeme
host,user,password⏎db01,app,your-password
| user | password |⏎|---|---|⏎| app | changeme |
API_KEY=YOUR_API_KEY
api_key: "your-api-key-here"
password=changeme
PASSWORD=${VAR}
DB_PASSWORD=${DB_PASSWORD:-}
password: "${DB_PASSWORD}"
DB_PASSWORD=$DB_PASSWORD
password: {{ vault_password }}
token: <token>
TOKEN=<your token>
PASSWORD=$(cat /run/secrets/db)
password = os.environ["DB_PASSWORD"]
password = os.getenv("DB_PASSWORD")
token = process.env.TOKEN
const token = process.env.API_TOKEN;
api_key = getenv("X")
apiKey: process.env.OPENAI_API_KEY,
password = None
"password": null
password: true
token = get_token()
password = get_password(user)
password: str
password: str | None = None
password: Optional[str] = None
password: string;
token?: string
token: string
def login(user: str, password: str) -> bool:
connect(user=user, password=password)
connect(user=db_user, password=db_password)
self.password = password
this.token = token;
password = self.password
password = config.password
password := cfg.Password
Password string `json:"password"`
token: a string that identifies the session
the password is wrong
The password is required.
Your password is too short
The password is incorrect, please try again
password is stored hashed with bcrypt
Passwort ist falsch
Das Passwort ist erforderlich.
Le mot de passe est incorrect
La contraseña es incorrecta
{"password": "This field is required."}
{"password": "Password"}
"password": "Enter your password"
"label.password": "Passwort vergessen?"
"type": "password"
<input type="password" name="password" id="password">
<label for="password">Password</label>
<password></password>
PASSWORD_MIN_LENGTH=8
TOKEN_TTL=3600
max_tokens=2048
"max_tokens": 1024
prompt_tokens: 512
tokens = tokenizer.encode(text)
token = tokens[0]
for token in tokens:
key = lambda x: x[1]
sorted(items, key=str.lower)
primary_key = "user_id"
cache_key = f"user:{user_id}"
cache_key = "user-profile-2024-01-15"
foreign_key: orders.customer_id
sort_key="date#2024-01-02"
public_key = "ssh-keys/id_rsa.pub"
idempotency_key: "8e03978e-40d5-43e8-bc93-6894a57f9324"
{"key": "value"}
{"key": "user-42"}
key: ctrl+shift+p
"name": "secret", "type": "string"
secretKeyRef: {name: db-credentials, key: password}
secretName: tls-cert
SECRET = "secret"
PASSWORD = "password"
secret: my-secret
password: "secret"
POSTGRES_PASSWORD=postgres
MYSQL_ROOT_PASSWORD=example
jwt_secret = "my-secret-key"
token = "token123"
API_TOKEN=xxxxxxxxxxxx
token: ****
password: ********
Password: [REDACTED]
passwd -l mira
sudo passwd root
ssh -p 2222 host
mkdir -p build
docker run -p 8080:80 nginx
mysql -u root -p
mysql -u root -p shop_db
docker run -u 1000:1000 img
docker run --user node:node img
curl -u $USER:$PASS https://x
curl -u "$USER:$PASS" https://x
postgresql://user:password@localhost:5432/db
postgres://postgres:postgres@localhost/db
postgresql://app:${DB_PASSWORD}@db:5432/x
postgresql://{user}:{password}@{host}
https://example.org:8080/a@b
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
"Authorization": f"Bearer {token}"
Authorization: Basic auth is used
we use Basic authentication
Cookie: theme=dark; lang=en
Set-Cookie: theme=dark; Path=/; Max-Age=31536000; SameSite=Lax
session = Session()
session = requests.Session()
session: AsyncSession = Depends(get_session)
csrf_token = generate_csrf()
credentials = service_account.Credentials.from_file(path)
auth: AuthService
import secrets; secrets.token_hex(16)
compass: north
bypass=true
hash_password(plain)
if not check_password(raw): raise
reset_password = "/reset"
forgot_password: "/forgot-password"
GPIO pin 13
pin = 13
led_pin: 4
pin: 12
error code: 5926x
exit code 1
code 404 is returned
HTTP status code: 500
the secret of good bread is time
the key is to listen
the key is important
my key takeaway is this
What is the password policy?
password: must be at least 8 characters
"secret": {"type": "string", "description": "The secret"}
- password (string): the new password
@param password the password to hash
:param token: the token
| password | string | The password |
| token | yes | Token of the user |
Schlüssel: Wert
clave: valor
palabra clave: montaña
mot-clé : jardin
seed = 42
random seed: 1234
np.random.seed(0)
seed: the plants grow well in the spring and the rain is good for them all year
git commit -m "Update password form"
git push -u origin main
pip install -U pip
tar -xzf a.tgz
ls -l --color
passed=10 failed=2
passing: 4
pass: 12, fail: 0
pass = True
password_hash = models.CharField(max_length=128)
PASSWORD_HASHERS = [
"passwords do not match"
raise ValueError("password too short")
token_type: bearer
grant_type=password
access_token_url = "https://auth.example.com/token"
pad_token = "<pad>"
eos_token="</s>"
next_page_token: ""
keyboard: qwerty
monkey=banana
turkey: roast
e = mc2; key=lambda
SELECT token FROM sessions WHERE token = $1
WHERE password = ?
UPDATE users SET password = :password
api_key = settings.api_key
api_key=args.api_key,
token=request.headers.get("X-Token"),
secret: Secret
export let secret;
password: SecretStr
private readonly token: CancellationToken
props.token
"""


def read_marked(line: str) -> tuple[str, list[str]]:
    """Return the text of a line, and its parts between the marks."""
    pieces = line.replace("⏎", "\n").replace("⟧", "⟦").split("⟦")
    return "".join(pieces), pieces[1::2]


def find(text: str) -> list[str]:
    """Return the longest parts that are found."""
    spans = sorted({(span.start, -span.end) for span in POLICY.find(text)})
    found: list[str] = []
    last = 0
    for start, end in spans:
        if -end > last:
            found.append(text[start:-end])
            last = -end
    return found


@pytest.mark.parametrize("line", SECRETS.strip().splitlines())
def test_a_secret_is_found_by_the_name_of_its_key(line: str) -> None:
    text, parts = read_marked(line)
    assert find(text) == parts


@pytest.mark.parametrize("text", PLAIN.strip().splitlines())
def test_what_names_or_describes_a_secret_is_none(text: str) -> None:
    assert find(text.replace("⏎", "\n")) == []
