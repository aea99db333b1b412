"""What stands in files whose lines have a form of their own. Beside each text that leaves as it is
stands the private text that is nearest to it, with what is hidden in it; the rest of the line is
left as it is, so that the file can still be read as one of its kind."""

from __future__ import annotations

import pytest

from tests.perturb.selective.test_nobody import find

# By kind: a text that leaves as it is, a text like it and what is hidden in that.
KINDS = {
    "a listing of files": (
        "-rw-r--r-- 1 root root 220 Jan  1 2024 .bashrc\n"
        "drwxr-xr-x 2 www-data www-data 4096 Nov  3 09:14 html\n",
        "-rw-------  1 tostrander tostrander 1843 Nov  2 18:40 notes.md\n"
        "drwxr-xr-x  5 tostrander staff  160 Nov  3 09:14 src\n",
        ["tostrander", "tostrander", "tostrander"],
    ),
    "processes": (
        "root         1  0.0  0.1 167744 11584 ?  Ss  Nov20  0:09 /sbin/init\n"
        "postgres  2310  0.0  0.8 214512 20144 ?  Ss  09:13  0:00 postgres: writer\n",
        "tostran+  2231  1.2  3.4 912344 84212 ?  Sl  09:12  4:01 python3 serve.py\n"
        "tostrander  2231  2210  0 09:12 pts/0  00:00:01 vim\n",
        ["tostran+", "tostrander"],
    ),
    "who is logged in": (
        "reboot   system boot  6.1.0-18-amd64  Mon Nov  3 09:12\n",
        "tostrander  pts/0   2025-11-03 09:12 (10.4.2.31)\n",
        ["tostrander", "10.4.2.31"],
    ),
    "the log of a web server": (
        '127.0.0.1 - - [03/Nov/2025:09:14:22 +0100] "GET /orders HTTP/1.1" 200 5123\n',
        '127.0.0.1 - tostrander [03/Nov/2025:09:14:22 +0100] "GET / HTTP/1.1" 200 51\n',
        ["tostrander"],
    ),
    "the directory in a log": (
        "PWD=/usr/src/app\nOLDPWD=/srv/app/data\npwd: /var/lib/app",
        "sudo:  tostrander : TTY=pts/0 ; PWD=/home/tostrander ; USER=root",
        ["tostrander", "tostrander"],
    ),
    "a list of names": (
        'Skills: Numpy, Ruby\n- Tulip, Rose\n- Aster, Iris\n"Paris, Milan"\n',
        "An: Ostrander, Jana\nCc: Lindner-Quill, Mirko\n- Ravensquill, Jana: 12 points\n"
        "- Ostrander, Mirko: 9 points\n",
        ["Ostrander, Jana", "Lindner-Quill, Mirko", "Ravensquill, Jana", "Ostrander, Mirko"],
    ),
    "a notice of a death": (
        "WARNING, Jordan. NASA, Apollo. Total.",
        "THISTLEWICK, Wiebke. Peacefully at home on 2 November, aged 84.",
        ["THISTLEWICK, Wiebke"],
    ),
    "a number behind a name": (
        "Florence: 2024-11-03, Austin: 961 855, Total: 12 345 678",
        "Tomás: 912 555 019",
        ["Tomás", "912 555 019"],
    ),
    "who is known, with the surname first": (
        "Author: Shakespeare, William\nauthor: Tolkien, J. R. R.\n",
        "Author: Ostrander, William\n",
        ["Ostrander, William"],
    ),
    "a transcript": (
        "WEBVTT\n\n<v-btn>Save</v-btn> Hot Chocolate\n2 minutes 10 seconds\nServe it.\n",
        "<v.loud Torvald Ostrander>Morning.\n\nBettany Quillfeather\n0 minutes 9 seconds\nHi.\n",
        ["Torvald Ostrander", "Bettany Quillfeather"],
    ),
    "a chat without its times": (
        "docker: pull image\nnginx: started well\ndocker: stop it all\n"
        "user: what is two?\nassistant: it is two\nuser: thanks a lot\n",
        "torvald: @wilmarine can you look?\nwilmarine: on it\ntorvald: many thanks\n",
        ["torvald", "wilmarine", "wilmarine", "torvald"],
    ),
    "Discord": (
        "README.md — Today at 6:43 PM\nStatus — Yesterday at 6:43 PM\n",
        "torvald_o — Today at 6:42 PM\nhi\nBettany Q. — Yesterday at 6:43 PM\n",
        ["torvald_o", "Bettany Q."],
    ),
    "the authors of a repository": (
        "  214  Blue Widgets\n  198  Red Widgets\n12  Monte Carlo\n14  Kruskal Wallis\n",
        "  214\tAnselm Vierthaler\n  198\tWiebke Quillfeather\n   12\tdependabot[bot]\n",
        ["Anselm Vierthaler", "Wiebke Quillfeather"],
    ),
    "who wrote a line": (
        "00000000 (Not Committed Yet 2025-11-02 10:14:33 +0100  1) x\n"
        "3f1c2a9b (dependabot[bot]   2025-11-02 10:14:33 +0100  2) y\n"
        "3f1c2a9b (GitHub Actions    2025-11-02 10:14:33 +0100  3) y\n"
        "deadbeef (see notes, 2025-11-02) and (Release 2025-11-02 10:00:00)\n",
        "3f1c2a9b (Bettany Quillfeather 2025-11-02 10:14:33 +0100  1) x\n"
        "^8d7e6f5 src/a.py (tostrander   2025-11-02 10:14:33 +0100 12) y\n",
        ["Bettany Quillfeather", "tostrander"],
    ),
    "a family tree": (
        "0 HEAD\n1 SOUR PAF\n2 NAME Personal Ancestral File\n1 CHAR UTF-8\n"
        "1 BIRT\n2 DATE 2 MAR 1784\n",
        "0 @I1@ INDI\n1 NAME Jana /Ostrander/\n2 SURN Ostrander\n1 SEX F\n"
        "1 BIRT\n2 DATE 14 MAR 1984\n",
        ["Jana", "Ostrander", "Ostrander", "14 MAR 1984"],
    ),
    "chess": (
        '[Event "Open"]\n[White "Kasparov, Garry"]\n[Black "Stockfish 16"]\n[Result "1-0"]\n',
        '[White "Ostrander, Jana"]\n[Black "Quillfeather"]\n[Result "1-0"]\n',
        ["Ostrander, Jana", "Quillfeather"],
    ),
    "a passenger": (
        "INPUT/OUTPUT DR; READ/WRITE MS; Passenger: Phusion",
        "Passenger: QUILLFEATHER/BETTANY\n1. OSTRANDER/TORVALD MR\n",
        ["QUILLFEATHER/BETTANY", "OSTRANDER/TORVALD"],
    ),
    "a statement of a bank": (
        "SELECT ?32 FROM t WHERE x = ?33; https://example.org/?31=1; :59: zero; :50:00 left\n",
        ":86:166?00SEPA?20Rechnung 4711?31DE89370400440532013000?32Mira Holzapfel\n"
        ":59:/DE89370400440532013000\nMIRA HOLZAPFEL\n",
        # A word and the number of its field are one word.
        [
            "31DE89370400440532013000",
            "32Mira Holzapfel",
            "DE89370400440532013000",
            "MIRA HOLZAPFEL",
        ],
    ),
    "a card": (
        "N: number of items\nTEL;TYPE=work:\nTITLE:Untitled\n",
        "BEGIN:VCARD\nN:Ostrander;Torvald;;Ing.;\nFN:Ing. Torvald Ostrander\n"
        "TEL;TYPE=cell:+420 731 552 908\n",
        ["Ostrander", "Torvald", "Torvald Ostrander", "+420 731 552 908"],
    ),
    "LaTeX": (
        r"\textbf{Maxwell}: \nabla \times E, \theta \to 0, \tan x, \newline \title{Physics}",
        r"\author{Mira Holzapfel\thanks{Supported by a grant.}}",
        ["Mira Holzapfel"],
    ),
    "who owns a thing": (
        "owner = self.user\nauthor: first.last\nmanager: task.manager\nlead: tech.lead\n"
        "reporter: jenkins\nassignee: unassigned\nreviewer: codeowners\n",
        'Owner = "torvald.ostrander"\nassignee: t.ostrander, createdBy: "b.quillfeather"\n'
        "Reporter: tostrander\n",
        ["torvald.ostrander", "t.ostrander", "b.quillfeather", "tostrander"],
    ),
    "a header that is set": (
        "proxy_set_header X-Real-IP $remote_addr;\nadd_header X-Frame-Options SAMEORIGIN;\n"
        'proxy_set_header X-Auth-Token $token;\nproxy_set_header Authorization "";\n',
        'proxy_set_header X-Api-Key "k_live_8Jd72hQpZx91";\n'
        "http-request set-header X-Api-Key k_live_7Kd72hQpZx92\n"
        'header_up X-Auth-Token "k_live_6Ld72hQpZx93"\n',
        ["k_live_8Jd72hQpZx91", "k_live_7Kd72hQpZx92", "k_live_6Ld72hQpZx93"],
    ),
    "the key of tokens": (
        '"Jwt": {"Key": "<your-key-goes-here>"}\njwt: key: process.env.JWT_SECRET\n',
        '"Jwt": {"Key": "worded-but-long-enough", "Issuer": "orders"}\n',
        ["worded-but-long-enough"],
    ),
    "to whose attention": (
        "attn: the build is broken. Attention: Wet Floor. ATTN: All Staff",
        "Kestrel Optics, attn. Torvald Ostrander, or z. Hd. Frau Bettany Quillfeather",
        ["Torvald Ostrander", "Bettany Quillfeather"],
    ),
    "an officer by number": (
        "PC 3000 Series, DC 12 Volt, PS 5 Pro, PC 1 Router, Officer 1 Sergeant",
        "PC 4471 Dunmoore attended with Sgt 12 Ravensquill.",
        ["Dunmoore", "Ravensquill"],
    ),
    "who is ill": (
        "Python is out. Did Rust call the destructor? Java is late again.",
        "Imre is ill today. Did Imre send the numbers?",
        ["Imre", "Imre"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_its_kind_hides_what_is_private_alone(kind: str) -> None:
    plain, private, hidden = KINDS[kind]
    assert find(plain) == []
    assert find(private) == hidden


BESIDE = {
    "a given name that a well-known one has": (
        "Is Julia faster than R?",
        "Wiebke and I need your help: Rocco wants the files, and so does Szymon.",
        ["Wiebke", "Rocco", "Szymon"],
    ),
    "the third of a list": (
        "We use Docker Compose, Kafka Streams, Hinnerk Possehl.",
        "Anwesend: Walburga Nittenwilm, Wiebke Sonnenlied, Hinnerk Possehl. Es fehlt Geld.",
        ["Walburga Nittenwilm", "Wiebke Sonnenlied", "Hinnerk Possehl"],
    ),
}


@pytest.mark.parametrize("kind", BESIDE)
def test_names_beside_private_persons_are_hidden(kind: str) -> None:
    plain, private, hidden = BESIDE[kind]
    assert find(plain) == []
    assert find(private) == hidden
