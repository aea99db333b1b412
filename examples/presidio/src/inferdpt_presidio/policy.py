"""A policy that marks what Microsoft Presidio's recognizers find."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import NoOpNlpEngine, SpacyNlpEngine
from presidio_analyzer.pattern_recognizer import REGEX_TIMEOUT_SECONDS
from presidio_analyzer.predefined_recognizers import EmailRecognizer, IbanRecognizer
from spacy.util import is_package
from tldextract import TLDExtract

from perturb import ParameterError, Span
from perturb.text.fold import Reading, fold, read, spell_entities

MODEL = "PRESIDIO_SPACY_MODEL"


class OfflineEmailRecognizer(EmailRecognizer):
    """Check domains against the list that `tldextract` ships; it would download another one."""

    def __init__(self) -> None:
        super().__init__()
        self._extract = TLDExtract(cache_dir=None, suffix_list_urls=())

    def validate_result(self, pattern_text: str) -> bool:
        return self._extract(pattern_text).fqdn != ""


class SilentIbanRecognizer(IbanRecognizer):
    """Check account numbers without a line in the log, which would quote them."""

    def validate_result(self, pattern_text: str) -> bool | None:
        if not pattern_text.isascii():
            return False
        valid: bool | None = super().validate_result(pattern_text)
        return valid


class PresidioPolicy:
    """Mark what Presidio finds in English text: by patterns and, with a model, as named entities.

    Args:
        model: an installed model of spaCy, or its folder; by default `$PRESIDIO_SPACY_MODEL`.
            Without one, no people or places are found.

    Attributes:
        version: of Presidio and of the model.

    Raises:
        ParameterError: the model is not installed.
    """

    def __init__(self, model: str | None = None) -> None:
        model = os.environ.get(MODEL, "") if model is None else model
        if model and not is_package(model) and not Path(model).is_dir():
            raise ParameterError(f"{MODEL} must be an installed spaCy model, or the folder of one")
        spec = [{"lang_code": "en", "model_name": model}]
        engine: Any = SpacyNlpEngine(models=spec) if model else NoOpNlpEngine(models=spec)
        engine.load()
        registry = RecognizerRegistry(supported_languages=["en"])
        registry.load_predefined_recognizers(languages=["en"], nlp_engine=engine)
        for recognizer in (OfflineEmailRecognizer(), SilentIbanRecognizer()):
            registry.remove_recognizer(type(recognizer).__bases__[0].__name__)
            registry.add_recognizer(recognizer)
        self._analyzer = AnalyzerEngine(
            registry=registry, nlp_engine=engine, supported_languages=["en"]
        )
        found = engine.nlp["en"].meta if model else {}
        self.version = " ".join(
            (version("presidio-analyzer"), found.get("name", ""), found.get("version", ""))
        )

    def find(self, text: str) -> Iterator[Span]:
        """Yield the parts that Presidio finds in a text, read as it is displayed.

        Raises:
            TimeoutError: Presidio may have left out an expression that took too long.
        """
        places, spelled = (range(len(text)), range(1, len(text) + 1)), spell_entities(text)
        readings = [Reading(fold(spelled), *places), read(text)]
        for reading in {reading.text: reading for reading in readings}.values():
            began = time.process_time()  # the clock of Presidio's time-outs
            found = self._analyzer.analyze(reading.text, language="en")
            if time.process_time() - began >= REGEX_TIMEOUT_SECONDS:
                raise TimeoutError("Presidio took too long")
            for part in found:
                yield Span(*reading.span(part.start, part.end), part.entity_type)
