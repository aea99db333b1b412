"""Measure what leaves the gateway that should not, and what is spoilt that need not be.

The texts beside this module are written for it: `questions.jsonl`, `code.jsonl` and `files.jsonl`
hold nothing private, `private.jsonl` names what must not leave and what must stay. Coding agents
(`agents`) repair made-up folders (`folders`) with a remote that edits what it sees (`coder`).
"""
