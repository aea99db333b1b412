"""What looks private in code, configuration and logs, and is a part of the program, stays; beside
each, the private text that is nearest to it is hidden."""

from __future__ import annotations

import json

import pytest

from tests.perturb.selective.test_nobody import find

# By kind: a text that leaves as it is, a text like it and what is hidden in that.
KINDS = {
    "a path in a string": (
        r'suffix = "\\Lindenhof\\Tools\\bin\\tool.exe"; up = "..\\..\\impl\\parts"',
        r'"Copied to \\\\lindenhof-nas\\scans." and \\build-07\drop',
        ["lindenhof-nas", "build-07"],
    ),
    "a tag in a string": (
        r'assert body == "{\"html\":\"\\u003cb\\u003e\",\"tag\":\"\\u003cbr\\u003e\"}"',
        r"log in at \\u3-files\home",
        ["u3-files"],
    ),
    "the address that a scanner asks": (
        "ffuf -w words.txt:FUZZ -u http://SERVER_IP:PORT/FUZZ\nscan.py -u 'https://shop.test/p?id=5'\n"
        "Invoke-WebRequest http://files.test -UserAgent [Browser]",
        "curl -u wolthard:hunter2pass http://files.test",
        ["wolthard", "hunter2pass"],
    ),
    "a step in an index": (
        'x[:, 1::2] = 0\nnames = rows[::2]\nrest[1::2] = ""',
        "ssh deploy@fd00::12 and host=fd12:3456::7",
        ["fd00::12", "fd12:3456::7"],
    ),
    "a module": (
        'node.domain = "com.lindensoft"\nfrom linden.protobuf.internal import builder\n'
        "host = linden.sdk.resources:_HostDetector",
        'server = "files.lindenhof-praxis.de"\ncurl db-2.lindenhof.internal',
        ["files.lindenhof-praxis.de", "db-2.lindenhof.internal"],
    ),
    "an attribute": (
        "fetch(endpoint=context.endpoint, user=options.user)\nreq.user = find(req.user)\n"
        "Username: cfg.dbUsername,\nuser: req.user",
        "user: mira.holz\nUsername: mira.holz",
        ["mira.holz"],
    ),
    "a release": (
        "cd toolkit-1.5.0.0\nFixes since 1.5.4.7",
        "Logged in since then: 185.23.44.9",
        ["185.23.44.9"],
    ),
    "an example's number": (
        '# "5.0.1.1" --> "5.0.101"\ntitle=SHA-256::#{sha}',
        "her address is 84.9.1.7",
        ["84.9.1.7"],
    ),
    "a color": (
        "$gray-500: #A9A9A8; color: #E5E5E5;",
        "He lives in K1A 0B1.",
        ["K1A 0B1"],
    ),
    "a value to be bound": (
        'q = "INSERT INTO orders (id, shipping_address) VALUES (:id, :shipping_address)"',
        "INSERT INTO orders (id, shipping_address) VALUES (1, 'Mataderos 2312')",
        ["Mataderos 2312"],
    ),
    "what a user's name begins": (
        'vault token-create -name="<username>-token" and <username>-policy.hcl',
        "<username>mholz-7</username>",
        ["mholz-7"],
    ),
    "a list of files": (
        "drwxr-xr-x  8 root     root      4096 May 20  2026 X11",
        "Jagerij 20  9999 AA Utrecht",
        ["Jagerij 20"],
    ),
    "the account of the program itself": (
        "url: postgresql+asyncpg://shopd@postgres/shopd\nimage: lindenhof/shopd:2\nSHOPD_MODE=x",
        "url: postgresql+asyncpg://mholz@postgres/shopd\nimage: lindenhof/shopd:2",
        ["mholz"],
    ),
    "an option in a manual": (
        'A shell started with the --login option. With these, `--user` says "for me alone".',
        "mysql --user mholz; dbtool --login nlindner",
        ["mholz", "nlindner"],
    ),
    "a package": (
        '"dependencies": {"pbkdf2-password": "1.2.1", "password-hash": "^2.0.0"}',
        '"pbkdf2-password": "1.2.1-kestrel!"',
        ["1.2.1-kestrel!"],
    ),
    "an issue": (
        "fix: status code of redirects (#4893), Transfer-Encoding (#7366), exit code in #912",
        "The gate code is #4893; my pin: #7366; code *4471",
        ["#4893", "#7366", "*4471"],
    ),
    "a folder of a forge": (
        "--- a/.github/main.yml\n+++ b/.github/CONTRIBUTING.md\n .github/dependabot.yml",
        "gh: mira-codes",
        ["mira-codes"],
    ),
    "what is identified": (
        'Rows are identified by "uuid". Pass --with-docs to "configure" it.',
        "CREATE USER mholz IDENTIFIED BY 'kestrel9';",
        ["mholz", "kestrel9"],
    ),
    "a release and its date": (
        "version 1.26 - 2011-03-12",
        "Ana Vollmering, 1981-03-12",
        ["Ana Vollmering", "1981-03-12"],
    ),
    "a database of an account": (
        "MYSQL_USER=petclinic\nMYSQL_DATABASE=petclinic",
        "MYSQL_USER=mholz\nMYSQL_PASSWORD=kestrel\nMYSQL_DATABASE=kestrel",
        ["mholz", "kestrel"],
    ),
    "a proposal": ("As P0482R6 says.", "He lives in D04 X4C7.", ["D04 X4C7"]),
    "where a secret is kept": (
        "clientSecret: secret://cdn.clientSecret\npassword: vault:secret/data/db#password\n"
        "token = op://team/item/field",
        "clientSecret: kestrel-cdn-77!Secret",
        ["kestrel-cdn-77!Secret"],
    ),
    "the key of an assembly": (
        '<add assembly="Linden.Data, Version=6.0.0.0, PublicKeyToken=adb9793829ddae60">',
        "GET /list?token=adb9793829ddae60f1",
        ["adb9793829ddae60f1"],
    ),
    "a public resolver": (
        "dns: 2606:4700:4700::1111, 2001:4860:4860::8888",
        "she connects from 2a02:8109:9a40:1234::77",
        ["2a02:8109:9a40:1234::77"],
    ),
    "a drawing": (
        '<path d="M5-.065 10.59.633 1.7-.013.028.339.801.394 1.019"/>',
        "call 0171 2345678",
        ["0171 2345678"],
    ),
    "a class of a page": (
        ".sk-panel input.sk-toggle__control:checked~label.sk-toggle__label-arrow:before {}",
        "key sk-proj-abcDEF1234567890abcdefgh",
        ["sk-proj-abcDEF1234567890abcdefgh"],
    ),
    "a port": (
        "kpasswd\t464/tcp\nkpasswd\t464/udp",
        "password 464xyz!Q",
        ["464xyz!Q"],
    ),
    "a request about passwords": (
        "Description=Dispatch Password Requests to Console",
        "Hasło to kestrel",
        ["kestrel"],
    ),
    "a call": (
        "conn, err = p.ul.Accept()\ndefer p.ul.Close()",
        "ul. Kwiatowa 12, 00-123 Warszawa",
        ["ul. Kwiatowa 12"],
    ),
    "a file of a container": (
        "volumes:\n  - ./nginx.log:/home/nginx.log\n  - ./index.html:/home/index.html",
        "volumes:\n  - /home/nlindner/nginx.log:/logs/nginx.log",
        ["nlindner"],
    ),
    "a service of the user": (
        "systemctl --user mask --now timer.socket\npip install --user requests",
        "mysql --user mholz",
        ["mholz"],
    ),
    "base64": (
        "hjt+XE7VC+/C/4BLEN0OvNjYfi+2giwVOBAThlAtaryz010g2Nb/zSdjQQCEndQs",
        "我的QQ号mira_0415",
        ["mira_0415"],
    ),
    "a project": (
        "https://github.com/tinyjs/tiny and https://github.com/tinyjs",
        "https://github.com/mholzapfel/dotfiles and https://github.com/mholzapfel",
        ["mholzapfel"],
    ),
    "an account of a program": (
        "JBOSS_USER=jboss\nJBOSS_HOME=/opt/jboss\nKESTREL_USER=kestrel\nimage: wordpress:6\n"
        "MYSQL_USER=wordpress\nMYSQL_PASSWORD=wordpress",
        "JBOSS_USER=mholz\nMYSQL_PASSWORD=kestrel",
        ["mholz", "kestrel"],
    ),
    "a variable of an object": (
        "setup do\n  @conn = Pool.lease\n  @conn.execute(1)\nend",
        "thanks to @wiebke",
        ["wiebke"],
    ),
    "a column": (
        "CREATE TABLE readers (nick TEXT);\nINSERT INTO readers(nick) VALUES (1);\n"
        "UPDATE readers SET nick = 2 WHERE nick = 1;\nselect * from readers where nick = 1",
        "the little ones: a poem by theo, wren, kofi and elsie",
        ["theo", "kofi", "elsie"],
    ),
    "a standard": (
        "Requests declare one (RFC 10008), as RFC 9110 says.",
        "RFC: GODE561231GR8",
        ["GODE561231GR8"],
    ),
    "an alias": (
        "Terraform Enterprise (formerly known as PTFE) has it.",
        "Ms Castle, formerly known as Ortrud Vollmering, has it.",
        ["Ortrud Vollmering"],
    ),
    "a template": (
        "shell: echo my password is {{my_password2}}\n"
        '"Missing credential: record_encryption.#{key}"',
        "shell: echo my password is kestrel_2",
        ["kestrel_2"],
    ),
    "a place of a secret": (
        r'Change the redis_pwd key under the path "secret/<user>/cats-and-dogs" first.',
        'The password is "cats and kestrels".',
        ["cats and kestrels"],
    ),
    "a file that is spoken to": (
        "response.type('file@test.json')",
        "write to file@lindenhof.net",
        ["file@lindenhof.net"],
    ),
    "years": (
        "Copyright 1998, 1999 The Authors",
        "Jagerij 64, 9999 AA Utrecht",
        ["Jagerij 64"],
    ),
    "a theme": (
        '{"displayName": "Light Plus", "name": "light-plus", "colors": {}}',
        '{"displayName": "Ortrud Vollmering", "name": "ovoll"}',
        ["Ortrud Vollmering"],
    ),
    "a key of the next line": (
        "Author: Ortrud Vollmering\nAuthor-email: ortrud@lindenhof.net",
        "The meeting that we planned for Tuesday is led by Ortrud\nVollmering, who is new.",
        ["Ortrud\nVollmering"],
    ),
}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "a key of the next line"])
def test_what_a_program_needs_stays_as_it_is(kind: str) -> None:
    assert find(KINDS[kind][0]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_private_beside_it_is_hidden(kind: str) -> None:
    _, text, hidden = KINDS[kind]
    found = find(text)
    assert all(any(part in span for span in found) for part in hidden), found


def test_a_name_ends_before_the_key_of_the_next_line() -> None:
    found = find(KINDS["a key of the next line"][0])
    assert found == ["Ortrud Vollmering", "ortrud@lindenhof.net"]


@pytest.mark.parametrize(
    "line",
    [
        "password: jRPlC1_Am8a-5x",
        "MYSQL_PASSWORD=kestrel9",
        "DB_PASSWORD=tr0mbone!Quilt",
        "the password is kestrel_2",
        "creds: mirko_t / Tamburica9",
        "enable password Swit4Ch3r",
        "keytool -storepass krokus11 -keypass krokus12",
        "ldapsearch -x -D cn=admin -w Winter2023",
        "rabbitmqctl add_user lager Kanin-Chen4",
        "smbclient //srv/hr -U rkessler%Sommer19",
        "xfreerdp /u:nwolff /p:Murmel77",
        "user: mira.holz",
        "API_TOKEN=q8Zr2Lx9Vb4N",
        "it is led by Ortrud",
    ],
)
def test_no_part_goes_over_the_written_end_of_a_line(line: str) -> None:
    """As in the result of a tool: JSON in a string."""
    text = json.dumps({"output": f"{line}\nreviewers:\n  - 1\n"})
    found = find(text)
    assert found
    assert not any("\\n" in part or "reviewers" in part for part in found)
