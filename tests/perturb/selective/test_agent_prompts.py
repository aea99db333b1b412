"""What coding agents tell a model about themselves stays, beside a user who is hidden: the names
of assistants and their products, limits and levels called max."""

from __future__ import annotations

import pytest

from perturb import get_mechanism
from perturb.release import Span
from perturb.selective.policies import settle
from tests.tables import bundled_table

TABLE = bundled_table()
USER = "\n\nGit user: Mira Holzapfel <mira@holzapfel.example>\nFolder: /home/mholzapfel/shop\n"
STAYS = {
    "an agent": "You are a Claude agent. It is built with the Claude Agent SDK.",
    "a product": "Change how Claude Code asks for permission, or read about the Claude API.",
    "a folder": "Settings are in ~/.claude/settings.json, CLAUDE.md and .claude/worktrees.",
    "a list": "- claude: does all else\n- codex: writes patches\n- claude-api: models",
    "a model": "You run on the model claude-x. Opus and Sonnet are models of Claude, too.",
    "a name given to it": "# Identity\nYou are Kirvo, an AI assistant. Rules are in .kirvo/rules.",
    "a name it says": "I am Vantus, an AI agent. You are Vantus.\nYou code. Vantus Plus helps.",
    "a name in two lines": "  Your name is Junis.\n  You are a helpful assistant that edits code.",
    "a name before AI": "# Vantus AI helps with drafts",
    "a part of an app": "An app with a Frontend in React, FastAPI backend. Frontend calls: below",
    "what repairs it": "A bug that has already been fixed by frontend or backend work.",
    "an exclamation": "THANK YOU BROOOOO for your work.",
    "initials": "It speaks as Donald J. Trump would.",
    "a command": "- ps: Show processes\n- pwd: Print working directory\n- uptime: Show the time",
    "an adverb": "The user is curently inside this file.",
    "a link": "Share it: https://pinterest.com/pin/create/button/",
    "a verb": 'All tests need to pass by adding "Run tests and build" as the last step.',
    "a limit": "Max wait time in ms\n\nMax results: 20. Max depth of the tree.",
}


def find(text: str) -> list[str]:
    mechanism = get_mechanism("selective", TABLE, profile="people")
    return [text[span.start : span.end] for span in mechanism.spans(text) or ()]


@pytest.mark.parametrize("kind", STAYS)
def test_an_agents_own_words_stay_beside_its_user(kind: str) -> None:
    found = find(STAYS[kind] + USER)
    assert found == ["Mira Holzapfel", "mira@holzapfel.example", "mholzapfel"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Dear Claude,\n\nthank you for the plums. Call 0171 5550199.", "Claude"),
        ("Our neighbour Claude waters the plants. Call 0171 5550199.", "Claude"),
        ("Claude Baumgärtel pays the rent, claude.baumgaertel@lindenhof.example.", "Claude"),
        ("I met Claude at the station on Friday; my number is 0171 5550199.", "Claude"),
        ("I am Ortrud, a teacher at a school. Call 0171 5550199.", "Ortrud"),
        ("You are Ortrud, my aunt. Call 0171 5550199.", "Ortrud"),
        ("- host: kestrel\n- pwd: seven green lanterns", "seven green lanterns"),
        ("{user: mira, pwd: show seven green lanterns}", "show seven green lanterns"),
        ("The user is wolterly9 since May.", "wolterly9"),
        ("https://pinterest.com/mira_holz", "mira_holz"),
        ("A bug that has already been fixed by wolfhard or me.", "wolfhard"),
        ("It speaks as Donald J. Vollmering would.", "Donald J. Vollmering"),
        ("I am Ortrud, an AI engineer at a bank. Call 0171 5550199.", "Ortrud"),
        ("I'm Ortrud, an assistant professor. Call 0171 5550199.", "Ortrud"),
        ("I am Ortrud, a lawyer who uses AI tools. Call 0171 5550199.", "Ortrud"),
        ("You are Wiebke, a sales agent; sign as wiebke@lindenhof.example.", "Wiebke"),
        ("I am Wiebke, a virtual assistant from Ulm. Call 0171 5550199.", "Wiebke"),
        ("I gave Wiebke AI homework. Call 0171 5550199.", "Wiebke"),
        ("Claude Rains-Holm waits. Call 0171 5550199.", "Claude Rains-Holm"),
        ("Claude Whistler owes us 900 EUR. Call 0171 5550199.", "Claude Whistler"),
        ("Yesterday Max spent time with Siobhan Kearney.", "Max"),
        ("Then Max values honesty, as Siobhan knows.", "Max"),
        ("Max has no time on Friday, ask Siobhan.", "Max"),
        ('Log in as mira and pass "kestrel tide" there.', "kestrel tide"),
        ('Tell them the pass changed to "sirens over oslo".', "sirens over oslo"),
        ("Max Vollmering waits for a reply.", "Max Vollmering"),
        ("Yesterday Max told Siobhan the news.", "Max"),
    ],
)
def test_a_person_of_such_a_name_is_hidden(text: str, name: str) -> None:
    assert any(name in part for part in find(text))


@pytest.mark.parametrize("text", ["max", "at most (max 600000)", 'one of "low" and "max"'])
def test_a_known_name_is_no_setting(text: str) -> None:
    assert settle(text, [], {"Max": "PERSON", "Max Vollmering": "PERSON"}) == ()


@pytest.mark.parametrize("text", ["ask max", "max has 2 cats", "Max"])
def test_a_known_name_is_found_in_small_letters(text: str) -> None:
    place = text.lower().index("max")
    assert settle(text, [], {"Max": "PERSON"}) == (Span(place, place + 3, "PERSON"),)
