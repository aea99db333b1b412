"""What a client may ask for, decided once: the remote model's name and the sanitizer."""

from __future__ import annotations

from collections import OrderedDict

from extraction.dp_prompt import NAME as DP_PROMPT
from extraction.dp_prompt import DPPrompt, PromptParameters
from extraction.paraphrase import Paraphraser
from perturb import (
    EmbeddingTable,
    Mechanism,
    ParameterError,
    Perturber,
    Sanitizer,
    get_mechanism,
    mechanism_class,
)
from perturb.certificate import check_certificate, load_certificate
from perturb.errors import CertificateError
from proxy.config import Config
from proxy.errors import (
    ApiError,
    ConfigError,
    bad_request,
    local_unavailable,
    model_not_found,
    not_permitted,
)
from proxy.protocol import Options

__all__ = ["Policy"]

SANITIZERS = 64  # prepared mechanisms kept: clients may name any ε within the limits


class Policy:
    """The operator's configuration applied to one client's wishes."""

    def __init__(self, config: Config, table: EmbeddingTable) -> None:
        self._config = config
        self._table = table
        self._sanitizers: OrderedDict[tuple[str, float], Sanitizer] = OrderedDict()
        self._paraphraser: Paraphraser | None = None
        self._certificates = [load_certificate(path) for path in config.privacy.certificates]
        if config.privacy.mechanism != DP_PROMPT:
            try:
                self.sanitizer(Options())  # a wrong table or parameter shows at start
            except ApiError as exc:
                raise ConfigError(f"privacy: {exc}") from None

    def attach(self, paraphraser: Paraphraser | None) -> None:
        """Give it the model that paraphrases, where the mechanism is DP-Prompt: the table is
        there from the start, the local model only once it is up."""
        self._paraphraser = paraphraser

    @property
    def models(self) -> tuple[str, ...]:
        """The names clients may use."""
        return tuple(self._config.remote.models)

    def remote_model(self, alias: str) -> str:
        """The remote's name for a model. Raises 404 for a name that is not on the list."""
        try:
            return self._config.remote.models[alias]
        except KeyError:
            raise model_not_found() from None

    def sanitizer(self, options: Options) -> Sanitizer:
        """The sanitizer a client asked for, or the operator's.

        Raises:
            ApiError: 400 for an unknown mechanism or a bad ε, 403 for one beyond the limits.
        """
        privacy, limits = self._config.privacy, self._config.limits
        name = options.mechanism or privacy.mechanism
        epsilon = options.epsilon if options.epsilon is not None else privacy.epsilon
        if options.mechanism and not self._allowed(name):
            raise not_permitted(
                "The operator does not allow this mechanism.", param="inferdpt.mechanism"
            )
        if limits.epsilon_max is not None and epsilon > limits.epsilon_max:
            raise not_permitted(
                f"epsilon must be <= {limits.epsilon_max:g}, got {epsilon:g}.",
                param="inferdpt.epsilon",
            )
        key = (name, float(epsilon))
        found = self._sanitizers.pop(key, None)
        if found is None:
            try:
                found = self._make(name, epsilon)
            except ParameterError as exc:
                raise bad_request(str(exc), param="inferdpt", code="invalid_value") from None
            except CertificateError as exc:
                raise not_permitted(
                    f"A certificate is required: {exc}.", param="inferdpt"
                ) from None
        self._sanitizers[key] = found
        if len(self._sanitizers) > SANITIZERS:
            self._sanitizers.popitem(last=False)
        return found

    def _make(self, name: str, epsilon: float) -> Sanitizer:
        privacy, limit = self._config.privacy, self._config.limits.document_tokens
        parameters = privacy.parameters if name == privacy.mechanism else {}
        if name == DP_PROMPT == privacy.mechanism:
            if self._paraphraser is None:
                raise local_unavailable()
            return DPPrompt(
                self._paraphraser,
                PromptParameters(epsilon=epsilon, **parameters),
                self._table.vocabulary,
                document_tokens=limit,
            )
        mechanism = get_mechanism(name, self._table, epsilon=epsilon, **parameters)
        if privacy.require_certificate:
            self._prove(mechanism)
        return Perturber(mechanism, privacy.document_options, max_tokens=limit)

    def _prove(self, mechanism: Mechanism) -> None:
        """Find the certificate of a mechanism.

        Raises:
            CertificateError: none of the operator's is about it.
        """
        wrong = CertificateError("privacy.certificates is empty")
        for certificate in self._certificates:
            try:
                return check_certificate(certificate, mechanism)
            except CertificateError as exc:
                wrong = exc
        raise wrong

    def _allowed(self, name: str) -> bool:
        """Whether clients may ask for a mechanism: the operator's own, those listed, or without
        a list those that leave no raw word unchanged by design."""
        if name == self._config.privacy.mechanism:
            return True
        listed = self._config.limits.mechanisms
        if listed is not None:
            return name in listed
        try:
            return not mechanism_class(name).verbatim
        except ParameterError:
            return True  # said to be unknown, with the known ones, where it is built
