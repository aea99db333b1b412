"""Measure what leaves the gateway that should not, and what is spoilt that need not be.

The texts beside this module are written for it: `questions.jsonl`, `code.jsonl` and `files.jsonl`
hold nothing private, nor does `asked.jsonl`, whose prompts are full of well-known names.
`private.jsonl` names what must not leave and what must stay, `named.jsonl` the private persons in
prompts that often speak of history and public figures, too. Coding agents
(`agents`) repair made-up folders (`folders`) with a remote that edits what it sees (`coder`).
"""
