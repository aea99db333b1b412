"""Write texts as they stand in files and tool results, with made-up private values in them.

In a template, `<<TYPE>>` stands for a new value, and `<<TYPE 1>>` for the same one wherever it
stands.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from proxy.verify.values import Value, Values

__all__ = ["DOCUMENTS", "Document", "write_document"]

_SLOT = re.compile(r"<<([A-Z_]+)(?: (\d))?>>")


@dataclass(frozen=True)
class Document:
    """Hold a text of a kind, and the private values in it."""

    kind: str
    text: str
    values: tuple[Value, ...]


def write_document(kind: str, values: Values, types: Collection[str]) -> Document:
    """Write a text of a kind; only its values of some types count as private."""
    made: dict[str, Value] = {}

    def fill(slot: re.Match[str]) -> str:
        type_, number = slot.groups()
        key = slot[0] if number else f"{type_} {len(made)}"
        if key not in made:
            made[key] = values.make(type_)
        return made[key].text

    text = _SLOT.sub(fill, DOCUMENTS[kind])
    return Document(kind, text, tuple(value for value in made.values() if value.type in types))


_ENV = """\
# Settings of the staging server. Copy to .env and fill in.
APP_ENV=staging
PORT=8080
export LOG_LEVEL="debug"
DB_HOST=127.0.0.1
DB_PASSWORD=<<PASSWORD>>
SMTP_FROM='<<EMAIL_ADDRESS>>'
OPENAI_API_KEY="<<API_KEY>>"
DATABASE_URL=postgres://app:<<PASSWORD>>@localhost:5432/app
ADMIN_NAME="<<NAME>>"
RETRIES=3 # of a request

"""
_YAML = """\
# Who is on call this week.
version: "3.8"
services:
  web:
    image: nginx:1.25
    ports: ["80:80", '443:443']
    environment:
      - API_TOKEN=<<API_KEY>>
contacts:
  - name: <<NAME 1>>
    email: "<<EMAIL_ADDRESS>>"
    phone: '<<PHONE_NUMBER>>'
    notes: |
      Ask <<NAME 1>> before a restart.
      Nobody else has the keys.
  - {name: "<<NAME>>", phone: "<<PHONE_NUMBER>>", admin: false}
"""
_JSON = """\
{
  "status": "ok",
  "count": 2,
  "items": [
    {"id": 1, "name": "<<NAME 1>>", "email": "<<EMAIL_ADDRESS>>", "score": 0.75, "tags": []},
    {"id": 2, "name": "<<NAME>>", "address": "<<STREET_ADDRESS>>\\nthird floor", "active": true}
  ],
  "note": "asked \\"<<NAME 1>>\\" twice \\u2013 no answer yet\\t(see C:\\\\logs)",
  "next": null
}"""
_CSV = (
    "id,name,email,phone,amount,comment\r\n"
    '1,<<NAME>>,<<EMAIL_ADDRESS>>,<<PHONE_NUMBER>>,12.50,"paid, in part"\r\n'
    '2,"<<NAME>>",<<EMAIL_ADDRESS>>,,7.00,"said ""tomorrow"""\r\n'
    "3,<<NAME>>,,<<PHONE_NUMBER>>,0.00,\r\n"
)
_SQL = """\
-- Customers of the north, for the audit.
BEGIN;
INSERT INTO customers (id, name, email, iban) VALUES
  (17, '<<NAME 1>>', '<<EMAIL_ADDRESS>>', '<<IBAN_CODE>>'),
  (18, '<<NAME>>', NULL, '<<IBAN_CODE>>');
UPDATE customers SET phone = '<<PHONE_NUMBER>>' WHERE name = '<<NAME 1>>' AND id >= 17;
SELECT count(*) FROM customers WHERE email LIKE '%@example.com' /* none */;
COMMIT;
"""
_DIFF = """\
diff --git a/config/owners.py b/config/owners.py
index 83db48f..bf2a9c1 100644
--- a/config/owners.py
+++ b/config/owners.py
@@ -1,6 +1,7 @@
 OWNERS = {
-    "billing": "<<NAME 1>>",
+    "billing": "<<NAME>>",
+    "billing_mail": "<<EMAIL_ADDRESS>>",
     "search": None,
 }
-TOKEN = "<<API_KEY>>"  # of <<NAME 1>>
+TOKEN = os.environ["TOKEN"]
\\ No newline at end of file"""
_LOG = (
    "\x1b[32mINFO\x1b[0m  [web-1] GET /health 200 3ms\n"
    "\x1b[32mINFO\x1b[0m  [web-1] login of \x1b[1m<<EMAIL_ADDRESS 1>>\x1b[0m succeeded\n"
    "\x1b[33;1mWARN\x1b[0m  [mail-2] could not reach \x1b[36m<<NAME>>\x1b[39m at "
    "<<PHONE_NUMBER>>, retry 1/3\n"
    "\x1b[31mERROR\x1b[0m [pay-1] card \x1b[4m<<CREDIT_CARD>>\x1b[24m of <<EMAIL_ADDRESS 1>> was "
    "declined\n"
    "\tat charge (/srv/app/pay.js:41:7)\n\x1b[2K\r"
)
_PYTHON = '''\
"""Send the reports. Written by <<NAME 1>>."""

import os

OWNER = "<<NAME 1>>"  # <<NAME 1>> answers questions: <<EMAIL_ADDRESS>>
KEY = os.environ.get("REPORT_KEY", "<<API_KEY>>")


class UserService(BaseService):
    def find_user(self, name: str = '<<NAME>>') -> dict[str, int] | None:
        # Call <<PHONE_NUMBER>> if this fails
        if name == OWNER and len(name) > 3:
            return {"id": 42, "pages": 1 << 4}
        return None
'''
_JAVASCRIPT = """\
// Contact: <<NAME 1>> <<<EMAIL_ADDRESS>>>
import { send } from './mail.js';

const config = { token: '<<API_KEY>>', retries: 3, url: `http://localhost:${port}/api` };

/* <<NAME 1>> wants a copy of every message. */
export async function notify(user = "<<NAME>>") {
  const pattern = /^\\d{3,4}$/;
  await send({ to: "<<EMAIL_ADDRESS>>", text: `Hello ${user},\\nyour code is ready.` });
  return user?.length ?? 0; // call <<PHONE_NUMBER>>
}
"""
_MARKDOWN = """\
# Minutes of the meeting

**Present:** <<NAME 1>>, *<<NAME>>* and [the office](mailto:<<EMAIL_ADDRESS>>)

| Who | Phone | Task |
|:----|------:|------|
| <<NAME 1>> | <<PHONE_NUMBER>> | write the `README.md` |

1. <<NAME 1>> lives at <<STREET_ADDRESS>> now.
2. Run `make test` first:

   ```sh
   curl -H "Authorization: Bearer <<API_KEY>>" http://localhost:8080/v1/models
   ```

> Nothing else was decided.
"""
_HTML = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Order of <<NAME 1>></title></head>
<body class="page" data-owner="<<NAME 1>>">
  <p>Dear <b><<NAME 1>></b>,<br>your order&nbsp;&mdash; 3 &times; tea &amp; milk &mdash; goes to
  <<STREET_ADDRESS>>.</p>
  <a href="mailto:<<EMAIL_ADDRESS>>?subject=Order">Write to us</a>
  <a href="tel:<<PHONE_NUMBER>>">call</a>
  <script>var user = {"name": "<<NAME>>", "total": 12.5};</script>
</body>
</html>
"""
_MAIL = (
    "From: <<NAME 1>> <<<EMAIL_ADDRESS 1>>>\r\n"
    "To: <<EMAIL_ADDRESS>>\r\n"
    "Subject: My new number\r\n"
    "Content-Type: multipart/mixed; boundary=part\r\n"
    "\r\n"
    "--part\r\n"
    "\r\n"
    "Hello,\r\n\r\nplease call me at <<PHONE_NUMBER 1>> from now on.\r\n\r\n"
    "Best regards,\r\n<<NAME 1>>\r\n\r\n"
    "--part\r\n"
    "Content-Type: text/vcard\r\n"
    "\r\n"
    "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:<<NAME 1>>\r\n"
    "EMAIL;TYPE=home:<<EMAIL_ADDRESS 1>>\r\nTEL;TYPE=cell:<<PHONE_NUMBER 1>>\r\n"
    "ADR:;;<<STREET_ADDRESS>>;;;;\r\nEND:VCARD\r\n"
    "--part--\r\n"
)
_INI = """\
; Settings of the mail relay
[relay]
host = localhost
port = 2525
user = relay
password = <<PASSWORD>>
postmaster = <<NAME>> <<<EMAIL_ADDRESS>>>

[limits]
size_mb = 25
retry = yes

[api]
token: <<API_KEY>>
"""
_PEM = """\
Bag Attributes
    friendlyName: <<NAME>>
    localKeyID: 01 00 00 00
Key Attributes: <No Attributes>
<<PRIVATE_KEY>>
Write to <<EMAIL_ADDRESS>> before the key is replaced.
"""
DOCUMENTS = {
    ".env": _ENV,
    "YAML": _YAML,
    "JSON": _JSON,
    "CSV": _CSV,
    "SQL": _SQL,
    "diff": _DIFF,
    "log": _LOG,
    "Python": _PYTHON,
    "JavaScript": _JAVASCRIPT,
    "Markdown": _MARKDOWN,
    "HTML": _HTML,
    "mail": _MAIL,
    "INI": _INI,
    "PEM": _PEM,
}
