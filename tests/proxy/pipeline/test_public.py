"""Public text: spans, the instruction, public system turns; sensitive parts in them."""

from __future__ import annotations

import json
import threading
from typing import Any

import openai
import pytest

from perturb import EmbeddingTable, get_mechanism
from perturb.selective.sanitizer import Selective
from proxy.config.settings import Privacy
from proxy.errors import ApiError
from proxy.pipeline.public import PublicText
from tests.absence import find_leaks
from tests.perturb.marking import WORDS
from tests.proxy.chats import TEXT, user
from tests.proxy.conftest import MODEL, Proxy, running_proxy

ORDINARY = """\
Summarise this:
Summarize the following text in three sentences.
Translate this into French.
Translate the text below from German to English.
Translate into Brazilian Portuguese, please.
Use British English spelling.
Answer in Simplified Chinese.
Answer as a JSON object with keys name and date.
Return valid JSON only. Do not add any Markdown.
Return a CSV table with the columns Name, Date and Amount.
Write a Python function that sorts a list.
Explain this SQL query step by step.
List the three main points in English.
List all people, places and organisations.
List the names.
Write a summary of at most 200 words.
Write between 150 and 200 words, in 3 paragraphs.
Write 700-1000 words, or 1000 - 1500 if it has to be.
Write a 500-word essay in the style of an academic paper.
Rewrite this email so that it sounds friendly.
Fix grammar and spelling. Keep the tone.
What is the main argument of the author?
Who is affected, and when does it take effect?
Is the contract valid in the European Union? Answer yes or no.
Extract every date in the format YYYY-MM-DD (ISO 8601).
Convert all amounts to US Dollars.
Keep it under 280 characters, for Twitter.
Write a LinkedIn post about this.
Give it a title, then the sections Introduction, Methods, Results and Discussion.
Use the headings Key Findings, Next Steps and Open Questions.
Executive Summary, Action Items and Risks: one paragraph each.
You are a helpful assistant.
You are a Senior Software Engineer. Review this code.
Act as a lawyer. Point out the risks in this agreement.
Explain it like I'm 5.
Explain it to a 10 year old.
Classify the sentiment: positive, negative or neutral.
Classify as Spam or Not Spam.
Output format: {"label": "...", "score": 0.95}
Continue the story.
Draft a reply by Monday, in a formal tone.
Compare the sales of 2022 and 2023.
Reply within the budget of $500.
Use APA style for the references.
Only use information from the text. If you do not know, say "I don't know".
Make a table with two columns.
Answer in one line:
Think step by step, then give the Final Answer.
Proofread. Reply with the corrected text only.
Write unit tests for GPT-4, Claude 3 and HTML5 output in UTF-8.
Write the minutes of this meeting as bullet points.
Suggest five titles in Title Case.
TL;DR in 2 lines
DO NOT REPEAT THE QUESTION. ANSWER BRIEFLY.
# Instructions
Follow the Terms of Service. Refuse what is illegal.
Which Microsoft Excel formula adds these numbers?
Describe the REST API as OpenAPI YAML.
Answer like a pirate.
Schreibe eine kurze Zusammenfassung.
用中文总结。
Résume ce texte en trois phrases.
""".splitlines()

SENSITIVE = {
    "Write to John Smith that we agree.": "NAME",
    "John Smith is the patient.": "NAME",
    "Answer Mrs. Anna Kowalska-Nowak kindly.": "NAME",
    "Compare with J. Bartholomew's report.": "NAME",
    "The customer is José García Márquez.": "NAME",
    "The customer is MARY BAKER.": "NAME",
    "Her number is 078-05-1120.": "US_SSN",
    "Mail the result to mira.kern@example.org.": "EMAIL_ADDRESS",
    "Fetch https://example.org/?to=mira.kern@example.org": "EMAIL_ADDRESS",
    "Call +1 (555) 013-2479 first.": "PHONE_NUMBER",
    "Call 030 1234567 first.": "PHONE_NUMBER",
    "Call 555-0134 first.": "PHONE_NUMBER",
    "Pay to DE89 3704 0044 0532 0130 00.": "IBAN_CODE",
    "Use the card 4095-2609-9393-4932.": "CREDIT_CARD",
    "My key is sk-proj-a8Kd93hfLq02mZpQx7Vb.": "API_KEY",
    "Log in with AKIAIOSFODNN7EXAMPLE.": "API_KEY",
    "Open https://api.example.com/v1?key=Zx81kQ0pLw7Rt5Ny2Bd4.": "API_KEY",
    "Passport C01X00T478, please.": "NATIONAL_ID",
    "The case is AB-48213377.": "ID",
    "Connect to 192.168.17.4.": "INTERNAL_HOST",
    "He lives at 12 Elm Street, Apt 4.": "STREET_ADDRESS",
}


@pytest.fixture(scope="module")
def shipped(table: EmbeddingTable) -> PublicText:
    return PublicText(Privacy(), None, table.vocabulary)


class TestFindings:
    def test_ordinary_instructions_raise_no_alarm(self, shipped: PublicText) -> None:
        alarms = {text: dict(found) for text in ORDINARY if (found := shipped.find(text))}
        assert len(ORDINARY) == 62
        assert alarms == {}

    @pytest.mark.parametrize("text", SENSITIVE)
    def test_what_is_sensitive_is_found(self, shipped: PublicText, text: str) -> None:
        assert shipped.find(text)[SENSITIVE[text]] == 1

    def test_most_names_of_two_words_are_found(self, shipped: PublicText) -> None:
        """Also those made of words that mean something; not one both of whose words do."""
        first = "James Mary Wei Mohammed Fatima Priya Yuki Anna Łukasz Olga José Grace Mark Bill"
        last = "Smith Brown King Young Chen White Hill Cook Stone Kowalski Müller Nguyen Khan"
        names = [f"{one} {two}" for one in first.split() for two in last.split()]
        missed = [name for name in names if not shipped.find(f"Write a letter to {name}.")]
        assert missed == []

    def test_an_operators_own_policy_counts(self, table: EmbeddingTable) -> None:
        own = {"patterns": {"PROJECT": "Zanzibar", "NUMBER": r"\d{4}"}}
        for policy in ("regex", "digits"):
            selective = get_mechanism(
                "selective", table, policy=policy, **own, actions={"*": "replace"}
            )
            assert isinstance(selective, Selective)
            public = PublicText(Privacy(), selective.marking, table.vocabulary)
            assert public.find("Write of Zanzibar in 2031.") == {"PROJECT": 1, "NUMBER": 1}
            assert public.find("Write to John Smith.") == {"NAME": 1}
        only = get_mechanism("selective", table, entities=("EMAIL_ADDRESS",), **WORDS)
        assert isinstance(only, Selective)
        public = PublicText(Privacy(), only.marking, table.vocabulary)
        assert public.find("Write to John Smith, mira@lindenhof.example.") == {"EMAIL_ADDRESS": 1}

    async def test_each_text_is_read_once_and_off_the_loop(self, table: EmbeddingTable) -> None:
        seen: list[str] = []

        class Watched(PublicText):
            def find(self, text: str) -> Any:
                assert threading.current_thread() is not threading.main_thread()
                seen.append(text)
                return super().find(text)

        public = Watched(Privacy(public_findings="warn"), None, table.vocabulary)
        named = "Call Anna Schmidt."
        found = await public.inspect([("a", "short"), ("b", named), ("c", named), ("d", "short")])
        assert sorted(seen) == [named, "short"]
        assert found == {"NAME": 2}
        refusing = PublicText(Privacy(), None, table.vocabulary)
        with pytest.raises(ApiError) as info:
            await refusing.inspect([("a", "short"), ("b", named), ("c", named)])
        assert (info.value.status, info.value.param) == (400, "b")
        off = PublicText(Privacy(public_findings="allow"), None, table.vocabulary)
        assert await off.inspect([("a", named)]) == {}


NAMED = "Answer Anna Kowalska, 078-05-1120, kindly"


def options(**inferdpt: Any) -> dict[str, Any]:
    return {"extra_body": {"inferdpt": inferdpt}}


async def refused(proxy: Proxy, request: Any, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as info:
        await request
    assert (info.value.code, info.value.param) == ("sensitive_public_text", param)
    answer = info.value.response.text
    assert "NAME (line 1), US_SSN (line 1)" in answer
    assert not [word for word in ("Anna", "Kowalska", "1120") if word in answer]
    assert not [line for line in proxy.log if "Kowalska" in line or "1120" in line]
    assert proxy.remote.received == proxy.local.bodies == []


class TestRefusal:
    async def test_wherever_public_text_stands(self, proxy: Proxy) -> None:
        client = proxy.client()
        chat, complete = client.chat.completions.create, client.completions.create
        respond: Any = client.responses.create
        instructed = options(instruction=NAMED)
        where = "inferdpt.instruction"
        await refused(proxy, chat(model=MODEL, messages=user(), **instructed), where)
        await refused(proxy, complete(model=MODEL, prompt=TEXT, **instructed), where)
        await refused(proxy, respond(model=MODEL, input=TEXT, **instructed), where)
        span = f"<public>{NAMED}</public> {TEXT}"
        turns: Any = [*user("Hello"), {"role": "assistant", "content": "Yes?"}, *user(span)]
        await refused(proxy, chat(model=MODEL, messages=turns), "messages[2].content")
        await refused(proxy, respond(model=MODEL, input=span), "input")

    async def test_public_system_turns(self, table: EmbeddingTable) -> None:
        system: Any = [{"role": "system", "content": NAMED}, *user()]
        async with running_proxy(table, {"privacy": {"system": "public"}}) as proxy:
            client = proxy.client()
            chat: Any = client.chat.completions.create(model=MODEL, messages=system)
            await refused(proxy, chat, "messages[0].content")
            respond: Any = client.responses.create(model=MODEL, input=TEXT, instructions=NAMED)
            await refused(proxy, respond, "instructions")
        async with running_proxy(table, {}) as proxy:
            await proxy.client().chat.completions.create(model=MODEL, messages=system)
            assert find_leaks(["Kowalska"], json.dumps(proxy.remote.bodies)) == []

    async def test_what_stays_here_is_not_looked_at(self, proxy: Proxy) -> None:
        done: Any = await proxy.client().chat.completions.create(
            model=MODEL, messages=user(), **options(instruction=NAMED, local_only=True)
        )
        assert done.inferdpt["public_findings"] == {}
        assert proxy.remote.received == []


class TestOtherSettings:
    async def test_the_operators_own_terms_hold(self, table: EmbeddingTable) -> None:
        own = {
            "allow": ["Anna Kowalska"],
            "deny": ["Zwickbird"],
            "patterns": {"LOT": r"lot-\d{4}"},
        }
        over = {"privacy": {"mechanism": "selective", "parameters": {"profile": "people", **own}}}
        async with running_proxy(table, over) as proxy:
            chat: Any = proxy.client().chat.completions.create
            await chat(model=MODEL, messages=user(), **options(instruction="Answer Anna Kowalska"))
            for term, type_ in (("Zwickbird", "CUSTOM"), ("lot-2071", "LOT")):
                with pytest.raises(openai.BadRequestError, match=type_):
                    await chat(model=MODEL, messages=user(), **options(instruction=f"Say {term}"))
            assert find_leaks(["Zwickbird"], json.dumps(proxy.remote.bodies)) == []

    @pytest.mark.parametrize("setting", ["warn", "allow"])
    async def test_it_leaves_and_is_told(self, table: EmbeddingTable, setting: str) -> None:
        over = {
            "privacy": {"public_findings": setting, "mechanism": "selective", "parameters": WORDS}
        }
        told = {"NAME": 1, "US_SSN": 1} if setting == "warn" else {}
        async with running_proxy(table, over) as proxy:
            done: Any = await proxy.client().chat.completions.create(
                model=MODEL, messages=user(), **options(instruction=NAMED)
            )
            assert proxy.sent()[0]["content"].startswith(NAMED)
            (line,) = [json.loads(line) for line in proxy.log if '"message":"request"' in line]
        assert done.inferdpt["public_findings"] == told
        assert line.get("public_findings", {}) == told

    async def test_without_public_text_an_instruction_is_refused(
        self, table: EmbeddingTable
    ) -> None:
        async with running_proxy(table, {"privacy": {"public_tags": False}}) as proxy:
            client = proxy.client()
            for request in (
                client.chat.completions.create(
                    model=MODEL, messages=user(), **options(instruction="Be brief.")
                ),
                client.completions.create(
                    model=MODEL, prompt=TEXT, **options(instruction="Be brief.")
                ),
            ):
                with pytest.raises(openai.PermissionDeniedError) as info:
                    await request
                assert (info.value.code, info.value.param) == (
                    "not_permitted",
                    "inferdpt.instruction",
                )
                assert "privacy.public_tags" in info.value.response.text
            assert proxy.remote.received == []
            text = "<public>Write to Zanzibar</public> " + TEXT
            await client.chat.completions.create(model=MODEL, messages=user(text))
            assert find_leaks(["Zanzibar"], proxy.sent()[0]["content"]) == []

    async def test_a_marked_part_may_stand_in_the_instruction_as_in_a_span(
        self, table: EmbeddingTable
    ) -> None:
        """A text is public, whichever way that was said."""
        async with running_proxy(
            table, {"privacy": {"mechanism": "selective", "parameters": WORDS}}
        ) as proxy:
            text = "Mr. Kowalewski is ill."
            await proxy.client().chat.completions.create(
                model=MODEL, messages=user(text), **options(instruction="Answer Kowalewski.")
            )
            sent = proxy.sent()[0]["content"]
        assert sent.startswith("Answer Kowalewski.\n\n")
        assert sent.count("Kowalewski") == 1
