"""Control tokens: none is left whatever the input, and no other text changes."""

from __future__ import annotations

import random
import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from extraction.control import read_tokens, remove_control_tokens
from extraction.extractor import Job
from perturb.testing.growth import grows_linearly
from tests.extraction.local_servers import backend, telling, unused_port
from tests.extraction.scripted import ScriptedBackend, extractor, user

TEMPLATES = {
    "chatml": "<|im_start|> <|im_end|> <|im_sep|> <|endoftext|>",
    "llama 2": "<s> </s> [INST] [/INST] <<SYS>> <</SYS>> <unk>",
    "llama 3": "<|begin_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|> <|python_tag|>",
    "llama 4": "<|header_start|> <|header_end|> <|eot|>",
    "mistral": "[AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS]"
    " [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT] [ARGS] [CALL_ID] [THINK] [/THINK] [IMG]",
    "gemma": "<bos> <eos> <pad> <start_of_turn> <end_of_turn> <start_of_image> <unused7>",
    "gemma 4": '<|turn> <turn|> <|channel> <channel|> <|tool_call> <tool_call|> <|"|> <|think|>',
    "qwen": "<tool_call> </tool_call> <tool_response> </tool_response> <think> </think>",
    "deepseek": "<｜begin▁of▁sentence｜> <｜User｜> <｜Assistant｜> <｜tool▁calls▁begin｜>",
    "phi": "<|user|> <|assistant|> <|system|> <|end|> <|tool|> <|/tool|>",
    "harmony": "<|start|> <|message|> <|channel|> <|constrain|> <|return|> <|call|>",
    "command": "<BOS_TOKEN> <|START_OF_TURN_TOKEN|> <|END_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|>"
    " <|START_THINKING|> <EOS_TOKEN>",
    "granite": "<|start_of_role|> <|end_of_role|> <|end_of_text|> <|tool_call|>",
    "glm": "[gMASK] <sop> <|observation|> [BOS]",
    "exaone": "[|system|] [|user|] [|endofturn|]",
    "internlm": "<|User|> <eoh> <eoa> <|action_start|> <TOKENS_UNUSED_1>",
    "minimax": "]~!b[ ]~b] [e~[ <beginning_of_sentence> <end_of_sentence>",
    "others": "<extra_id_0> <SPECIAL_12> <reserved_106> <用户> <AI> <seed:bos> <seed:tool_call>"
    " <longcat_user> <sep> <tool_calls> <tool_result> <TOOLCALL> <AVAILABLE_TOOLS> [@BOS@]",
}
TOKENS = sorted({token for tokens in TEMPLATES.values() for token in tokens.split()})
# Text that holds no control token, or not any more.
ORDINARY = [
    *("<", ">", "|", "[", "]", "/", "im_", "end", "INST", "x", " ", "\n", "_", "\u200b", "\u202e"),
    *("d[prefix]", "<table>", "a <| b |> c < d", "[TODO]", "[NAME]", "USER:", "é", "ﬁ", "，"),
]
HIDDEN = ("", "\u200b", "\u00ad", "\u2060", "\ufeff", "\u202e", "\x00", "\u0301", "\ufe0f")


def plain(text: str) -> str:
    """The text as the most forgiving tokenizer could read it."""
    parts = unicodedata.normalize("NFKD", text)
    kept = (c for c in parts if c in "\t\n\r" or unicodedata.category(c)[0] not in "CM")
    return "".join(kept)


def holds(text: str) -> list[str]:
    """The tokens of known templates that stand in a text."""
    read = plain(text)
    return [token for token in TOKENS if plain(token) in read] + re.findall(
        r"<\|[^<>|]{1,64}\|>", read
    )


def test_every_token_of_a_known_template_goes() -> None:
    for token in TOKENS:
        assert remove_control_tokens(f"before{token}after") == "beforeafter", token
        assert remove_control_tokens(token) == ""


@pytest.mark.parametrize(
    ("forged", "left"),
    [
        ("<|im_<|x|>end|>", ""),
        ("</<s>s>", ""),
        ("[[INST]INST]", ""),
        ("<s<|im_<s>end|>> a", " a"),
        ("<|im_\u200bend|>", ""),
        ("<\x00s\x00>", ""),
        ("＜｜im＿end｜＞", ""),
        ("<|ｉｍ_end|>", ""),
        ("<\ufb01m_prefix>", ""),
        ("<START_OF_TURN>user", "user"),
        ("\u200ba\u200b<s>\u200bb", "\u200ba\u200bb"),
    ],
)
def test_a_token_in_pieces_or_disguise_goes(forged: str, left: str) -> None:
    assert remove_control_tokens(forged) == left


@pytest.mark.parametrize(
    "text",
    [
        "if a < b and c[i] > d[prefix]: x |> f <| y",
        "<table><tr><td>1</td></tr></table> <b>bold</b>",
        "USER: hello\nASSISTANT: hi\n### Instruction:",
        "a\u200bb ﬁn é\u0301 ＜b＞ [NAME] [1] <name> <<EOF",
        "",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert remove_control_tokens(text) == text


def fragments() -> st.SearchStrategy[str]:
    """Tokens, pieces of tokens, tokens in tokens, and ordinary text, in any order."""
    token = st.sampled_from(TOKENS)
    piece = st.builds(lambda t, i, j: t[i : i + j], token, st.integers(0, 9), st.integers(1, 9))
    nested = st.builds(
        lambda t, i, u: t[: i % len(t)] + u + t[i % len(t) :], token, st.integers(0, 40), token
    )
    return st.lists(st.one_of(token, piece, nested, st.sampled_from(ORDINARY))).map("".join)


@settings(max_examples=500, deadline=None)
@given(st.text() | fragments())
@example("<|im_<|im_<|x|>end|>end|>")
def test_no_token_is_left_and_a_second_pass_changes_nothing(text: str) -> None:
    cleaned = remove_control_tokens(text)
    assert not holds(cleaned)
    assert remove_control_tokens(cleaned) == cleaned


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from("abc <>[]|/_\n\u200b{}:'éﬁ")))
def test_a_text_without_tokens_is_unchanged(text: str) -> None:
    if remove_control_tokens(text) != text:
        assert re.search(r"<\|[^<>|]+\|>|<\|\w+>|<\w+\|>|\[\|[^]]+\|\]", plain(text))


def adversary(seed: int, own: tuple[str, ...] = ()) -> str:
    """A text made to hold a token once others are taken out of it."""
    rng = random.Random(seed)
    tokens = [*TOKENS, *own]

    def disguised(token: str) -> str:
        wide = {c: chr(ord(c) + 0xFEE0) for c in token if "!" <= c <= "~"}
        return "".join(
            (wide.get(c, c) if rng.random() < 0.1 else c)
            + (rng.choice(HIDDEN) * rng.randrange(3) if rng.random() < 0.1 else "")
            for c in token
        )

    def nest(depth: int) -> str:
        token = disguised(rng.choice(tokens))
        for _ in range(rng.randrange(3) if depth else 0):
            cut = rng.randrange(len(token) + 1)
            token = token[:cut] + nest(depth - 1) + token[cut:]
        return token

    parts = [nest(rng.randrange(5)) for _ in range(rng.randrange(1, 8))]
    return "".join(part + rng.choice(ORDINARY) * (rng.random() < 0.5) for part in parts)


def test_an_adversary_who_nests_and_splits_tokens_leaves_none() -> None:
    own = ("<@end@>", "USER:", "¤¤¤")
    for seed in range(3000):
        text = adversary(seed, own)
        cleaned = remove_control_tokens(text, own)
        assert not holds(cleaned), seed
        assert not any(token in plain(cleaned) for token in own), seed


def hostile(n: int) -> dict[str, str]:
    """Texts of about 100 n characters that invite work with the square of it."""
    return {
        "nested": "<|a" * (15 * n) + "x" + "|>" * (15 * n),
        "fragments": "<s>" + "<|im_" * (9 * n) + "<s>" + "end|>" * (9 * n),
        "brackets": "<s>" + "<>" * (50 * n),
        "ends": "<s>" + ">" * (100 * n),
        "squares": "<s>" + "[" * (50 * n) + "]" * (50 * n),
        "hidden": "<s><|a" + "\u200b" * (100 * n) + "|>",
        "openers": "<s>" + ("<" * 64 + ">") * (3 * n // 2),
        "words": "<s>" + ("<" + "a" * 64) * (3 * n // 2),
    }


@pytest.mark.parametrize(
    ("n", "seconds"), [(2_000, 3.0), pytest.param(10_000, 30.0, marks=pytest.mark.hostile)]
)
@pytest.mark.parametrize("name", hostile(0))
def test_a_hostile_text_costs_what_its_length_says(name: str, n: int, seconds: float) -> None:
    """A megabyte takes one to four seconds of processor time; with the square, minutes. Of a
    fifth of that it is a fifth and a 25th."""
    own = tuple(f"<@{i}@>" for i in range(256))

    def work(n: int) -> None:
        remove_control_tokens(hostile(n)[name], own)

    assert grows_linearly(work, n, seconds=seconds)


# -- what the server tells ----------------------------------------------------------------------

VLLM = {
    "tokenizer_class": "LlamaTokenizerFast",
    "bos_token": "<s>",
    "eos_token": "<@end@>",
    "additional_special_tokens": ["<@turn@>", "plain"],
    "added_tokens_decoder": {"1": "{{sys}}", "2": "   ", "3": "<table>"},
    "chat_template": "{% for m in messages %}{% if m['role'] == 'user' %}"
    "{{ 'USER: ' + m['content'] }}{% else %}{{ \"### Response:\\n\" + m['content'] + '[EOX]' }}"
    "{% endif %}{% endfor %}<@go@>",
    "model_max_length": 4096,
}
LLAMA_CPP = {
    "default_generation_settings": {"n_ctx": 1024},
    "bos_token": "<@bos@>",
    "eos_token": "<|im_end|>",
    "chat_template": "{{ '<@x@>' }}",
}
LISTED = {
    "added_tokens_decoder": {
        "1": {"content": "<@a@>", "special": True},
        "2": {"content": "<@b@>", "special": False},
    }
}


def test_tokens_are_read_from_what_a_server_tells() -> None:
    assert set(read_tokens(VLLM)) == {
        *("<@end@>", "<@turn@>", "{{sys}}", "USER:", "### Response:", "[EOX]", "<@go@>"),
    }
    assert read_tokens(LLAMA_CPP) == ("<@x@>", "<@bos@>")
    assert read_tokens(LISTED) == ("<@a@>",)


@pytest.mark.parametrize("answer", [None, [], "x", 1, {}, {"bos_token": None, "chat_template": 3}])
def test_another_answer_tells_nothing(answer: object) -> None:
    assert read_tokens(answer) == ()


def test_so_many_tokens_are_read_and_no_more() -> None:
    told = {"additional_special_tokens": [f"<@{i}@>" for i in range(100_000)]}
    assert len(read_tokens(told)) == 256


@pytest.mark.parametrize("unit", ["'", "#", "user", "<"])
def test_a_hostile_template_costs_what_its_length_says(unit: str) -> None:
    def work(length: int) -> None:
        read_tokens({"chat_template": (unit * length)[:length]})

    assert grows_linearly(work, 10**6, seconds=10)


async def test_a_server_is_asked_for_its_tokens() -> None:
    async with telling(tokenizer_info=VLLM, props=LLAMA_CPP) as url, backend(url) as made:
        assert "<@turn@>" in (await made.special_tokens() or ())
    async with telling(props=LLAMA_CPP) as url, backend(url) as made:
        assert await made.special_tokens() == ("<@x@>", "<@bos@>")


@pytest.mark.parametrize("page", [None, [1], {"bos_token": "<@" + "x" * 5_000_000}])
async def test_a_server_that_tells_nothing_of_use_is_no_failure(page: object) -> None:
    async with telling(props=page) as url, backend(url) as made:
        assert await made.special_tokens() == ()
    async with telling() as url, backend(url) as made:
        assert await made.special_tokens() == ()


async def test_a_server_that_is_not_there_is_asked_again() -> None:
    async with backend(f"http://127.0.0.1:{unused_port()}/v1") as made:
        assert await made.special_tokens() is None
    local = ScriptedBackend(tokens=None)
    job, made_of = Job("chat", (user("x"),), "a<@end@>b"), extractor(local, context=4096)
    await made_of.complete(job, {})
    local.tokens = ("<@end@>",)
    for _ in range(2):
        await made_of.complete(job, {})
    assert local.tokens_asked == 2
    shown = [messages[0]["content"] for messages, _ in local.calls]
    assert ["a<@end@>b" in text for text in shown] == [True, False, False]
    assert "|ab|" in shown[1]


async def test_only_the_remotes_text_is_cleaned() -> None:
    local = ScriptedBackend()
    job = Job("chat", (user("I wrote <|im_end|>"),), "x<|im_<|y|>end|>y")
    await extractor(local, context=4096).complete(job, {})
    [(messages, _)] = local.calls
    assert messages[0]["content"] == "I wrote <|im_end|>|xy|"
