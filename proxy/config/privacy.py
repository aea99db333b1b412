"""Define the settings for sanitizing documents."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal

from pydantic import Field, model_validator

from perturb import ParameterError, Parameters, PluginError, Sanitizer
from perturb.sanitizer import DocumentOptions
from perturb.text.suggest import did_you_mean
from perturb.vocabulary.vocabulary import Variant
from proxy.config.fields import Section
from proxy.sanitizers import sanitizer_class

__all__ = ["Privacy", "find_sanitizer"]


def find_sanitizer(name: str) -> type[Sanitizer]:
    """Return the sanitizer with a name.

    Raises:
        ValueError: there is none, or its plug-in cannot be used.
    """
    try:
        return sanitizer_class(name)
    except (ParameterError, PluginError) as exc:
        raise ValueError(str(exc)) from None


class Privacy(Section):
    """Hold the settings for sanitizing documents."""

    mechanism: str = Field(
        "rantext",
        description="The mechanism for requests that name none: rantext (as published, without a "
        "proved bound), rantext_ldp (proved), selective, dp_prompt and others. See "
        "docs/mechanisms.md.",
    )
    epsilon: float = Field(
        6.0,
        description="Nominal ε of one unit of the mechanism: a token, a generated token with "
        "dp_prompt, a sentence with deep_candidate, the whole text with surrogate. The range "
        "depends on the mechanism.",
    )
    parameters: dict[str, Any] = Field(
        {},
        description="The mechanism's own parameters, such as {profile: business} for selective or "
        "{clip: [-9.5, 9.5]} for dp_prompt (`inferdpt privacy clip-bounds` measures them). "
        "`inferdpt privacy perturb --help` and docs/mechanisms.md list them with their defaults.",
    )
    table: str | None = Field(
        None,
        description="Embedding table made by `inferdpt table build`. null is the bundled MiniLM "
        "table.",
    )
    vocabulary: Variant = Field(
        "clean",
        description="The words that replacements are drawn from: the paper's 11,000 words, "
        "`clean`, which leaves out the obscenities and slurs of a public list, or `words`: 11,000 "
        "whole words, one drawn for each word of the text instead of each token.",
    )
    require_certificate: bool = Field(
        False, description="Serve only mechanisms that one of `certificates` proves."
    )
    certificates: tuple[str, ...] = Field(
        (), description="Files made by `inferdpt privacy certify --out FILE`."
    )
    oov: Literal["map", "drop"] = Field(
        "map",
        description="Words outside the vocabulary: map each to the nearest word and perturb "
        "that, or drop them.",
    )
    number: Literal["random", "drop"] = Field(
        "random", description="Numbers: random digits of the same count, or drop them."
    )
    layout: Literal["keep", "drop"] = Field(
        "keep",
        description="Punctuation and blanks: keep them, which reveals the skeleton of the text, "
        "or drop them.",
    )
    system: Literal["local", "public", "perturb"] = Field(
        "local",
        description="System messages: keep them on this machine (local), send them verbatim "
        "(public), or perturb them. With local.mode none, local perturbs them, too.",
    )
    public_tags: bool = Field(
        True,
        description="Send <public>…</public> in a user's text, and inferdpt.instruction, "
        "verbatim. With false the tags are text, and an instruction is refused.",
    )
    public_findings: Literal["refuse", "warn", "allow"] = Field(
        "refuse",
        description="Names, card numbers, telephone numbers and the like found in public text: "
        "refuse with 400, warn in receipt and log, or allow, which skips the search.",
    )

    demonstrations: str | None = Field(
        None,
        description='File of public examples, one in each line as {"text": …, "label": …}, that '
        "are sent in front of every sanitized request, whatever the mechanism. It is read at "
        "start and sent verbatim, so it must hold nothing private. Needs a local model.",
    )

    @model_validator(mode="after")
    def _check_mechanism(self) -> Privacy:
        if "seed" in self.parameters:
            raise ValueError("parameters: a seed is refused, seeded noise protects nothing")
        sanitizer = find_sanitizer(self.mechanism)
        kind = sanitizer.parameter_type
        known = [field.name for field in fields(kind) if field.name != "epsilon"]
        for name in self.parameters:
            if name not in known:
                has = f"it has {', '.join(known) or 'none'}{did_you_mean(name, known)}"
                raise ValueError(f"parameters: {self.mechanism} does not have {name!r}; {has}")
        try:
            kind(epsilon=self.epsilon, **self.parameters)
        except (ParameterError, PluginError) as exc:
            raise ValueError(str(exc)) from None
        if self.require_certificate and not self.certificates:
            raise ValueError(
                "require_certificate needs certificates, which `inferdpt privacy certify` makes"
            )
        if self.require_certificate and sanitizer.needs_model:
            raise ValueError(f"require_certificate: there is no certificate for {self.mechanism}")
        return self

    @property
    def checked_parameters(self) -> Parameters:
        """Return the parameters in the mechanism's own type."""
        kind = sanitizer_class(self.mechanism)
        return kind.check_parameters(epsilon=self.epsilon, **self.parameters)

    @property
    def document_options(self) -> DocumentOptions:
        """Return the treatment of tokens outside the vocabulary."""
        return DocumentOptions(oov=self.oov, number=self.number, layout=self.layout)
