"""The prompts of the pipeline, in the project's own words, and the rules for replacing them.

`continuation` has the labelled blocks of InferDPT's Appendix A, with the perturbed generation
before the raw prefix: the text to continue comes last, where a small model finds it.
`DOCUMENT_FIRST` has them in the paper's own order, for other models: what stands before the
generation can be read while the remote is still writing. `chat` and `instruct` are this
project's. `{document}`, `{generation}`, `{instruction}` and `{demonstrations}` are the only
placeholders.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from extraction.errors import TemplateError

__all__ = ["DOCUMENT_FIRST", "Prompts", "fill", "find_opening"]

PLACEHOLDER = re.compile(r"\{(\w+)\}")
DOCUMENT_FIRST = (
    "Write the continuation of the Prefix Text. The Perturbed Generation after it was written for "
    "a scrambled copy of the prefix and is your main writing material: take from it what is "
    "coherent and consistent with the prefix, weave it in, drop the rest, and stay aligned with "
    "the prefix. Output only the continuation, without repeating the prefix.\n\n"
    "Prefix Text:\n{document}\n\n"
    "Perturbed Generation:\n{generation}\n\n"
    "Continuation of the Prefix Text:"
)


@dataclass(frozen=True)
class Prompts:
    """Every template; each field's default is the shipped text.

    The `remote_*` templates are public: filled with perturbed text, they go to the remote. The
    `local_*` templates are filled with raw text and go only to the local model. `remote_words` and
    `remote_passages` are the system message that tells the remote of a chat what it reads; an
    empty one is not sent. `remote_demonstrations` holds the operator's public examples.
    """

    remote_continuation: str = (
        "Extend the given prefix text. Output only the continuation, without repeating the "
        "prefix.\n\nPrefix Text:\n{document}"
    )
    remote_instruct: str = "{instruction}\n\n{document}"
    remote_words: str = (
        "The words of the texts that follow were replaced at random, one by one, so that only "
        "their likely subject shows. Do not remark on it and do not ask for the original. Write "
        "general material that would help to answer a text on that subject: facts, terms, "
        "typical points and their order."
    )
    remote_passages: str = (
        "In place of private texts, public passages on a related subject follow. Do not remark on "
        "it and do not ask for the original. If there is a question beside them, answer it as "
        "far as it concerns such a subject. Otherwise write general material on the subject: "
        "facts, terms, typical points and their order."
    )
    remote_demonstrations: str = (
        "Examples of texts of this kind follow. They are public and were made up. Use them to see "
        "the kind of text and, where they have labels, the labels in use. Do not mention them."
        "\n\n{demonstrations}"
    )
    local_continuation: str = (
        "Write the continuation of the Prefix Text. The Perturbed Generation was written for a "
        "scrambled copy of the prefix and is your main writing material: take from it what is "
        "coherent and consistent with the prefix, weave it in, drop the rest, and stay aligned "
        "with the prefix. Output only the continuation, without repeating the prefix.\n\n"
        "Perturbed Generation:\n{generation}\n\n"
        "Prefix Text:\n{document}"
    )
    local_answer: str = (
        "{document}\n\n"
        "---\n"
        "Another model has answered a scrambled version of this conversation, in which words "
        "were replaced at random. Its answer stands between the lines below. Use what fits the "
        "real conversation, correct or drop what does not, and write the final answer to the "
        "message above. Do not mention the scrambled version.\n"
        "<<<\n{generation}\n>>>"
    )

    def __post_init__(self) -> None:
        for field in fields(self):
            template = getattr(self, field.name)
            needed = set(PLACEHOLDER.findall(field.default))  # type: ignore[arg-type]
            if not isinstance(template, str):
                raise TemplateError(f"template {field.name} must be a string")
            found = set(PLACEHOLDER.findall(template))
            for name in sorted(needed - found):
                raise TemplateError(f"template {field.name} must hold the placeholder {{{name}}}")
            for name in sorted(found - needed):
                raise TemplateError(f"template {field.name} has an unknown placeholder {{{name}}}")


def fill(template: str, **values: str) -> str:
    """Put values into a template in one pass: braces inside a value are plain text."""
    return PLACEHOLDER.sub(lambda match: values[match.group(1)], template)


def find_opening(template: str) -> str | None:
    """Return the part of a template before the generation; None if the document is not in it."""
    opening, found, _ = template.partition("{generation}")
    return opening if found and "{document}" in opening else None
