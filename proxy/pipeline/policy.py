"""Decide which sanitizer clients may request."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from cachetools import LRUCache

from extraction.backends.base import Backend
from extraction.backends.openai_server import OpenAIServer
from extraction.errors import LocalModelUnavailable
from extraction.server_encoder import ServerEncoder
from perturb import (
    EmbeddingTable,
    ParameterError,
    PluginError,
    Resources,
    Sanitizer,
    mechanism_names,
)
from perturb.audit.certificate import check_certificate, load_certificate
from perturb.errors import CertificateError, CodebookError, TableError
from perturb.sanitizer import Demands, Marking
from proxy.access.auth import Grant
from proxy.config.settings import Config
from proxy.errors import (
    ApiError,
    ConfigError,
    bad_request,
    local_unavailable,
    not_permitted,
)
from proxy.requests.protocol import Options
from proxy.sanitizers import sanitizer_class, sanitizer_names

__all__ = ["RequestPolicy"]

logger = logging.getLogger("inferdpt.policy")
SANITIZERS = 64  # prepared mechanisms to keep: clients may name any ε within the limits
UNLIMITED = Grant()


class RequestPolicy:
    """Apply the operator's configuration to the options of clients.

    Args:
        config: of the operator.
        table: for mechanisms over words.
        find_server: returns the local server, once it is there.

    Attributes:
        model: the result of `Sanitizer.prepare`, once it is attached.
    """

    def __init__(
        self,
        config: Config,
        table: EmbeddingTable,
        find_server: Callable[[], Backend | None] = lambda: None,
    ) -> None:
        self._config = config
        self._table = table
        self._encoder = _build_encoder(config.local.embeddings_model, find_server)
        self._sanitizers: LRUCache[tuple[Any, ...], Sanitizer] = LRUCache(SANITIZERS)
        self.model: Any = None
        self._certificates = [load_certificate(path) for path in config.privacy.certificates]
        if (
            config.local.mode == "none"
            or not sanitizer_class(config.privacy.mechanism).needs_model
        ):
            try:
                self.sanitizer(Options())  # so that a wrong table or parameter fails at start
            except ApiError as exc:
                raise ConfigError(f"privacy: {exc.__cause__ or exc}") from None

    def attach(self, model: Any) -> None:
        """Attach the result of `Sanitizer.prepare`: the local model starts after the policy is
        built."""
        self.model = model

    def sanitizer(self, options: Options, grant: Grant = UNLIMITED) -> Sanitizer:
        """Return the sanitizer that a client requested, or the operator's.

        Args:
            grant: of the client's key: its demands hold, too.

        Raises:
            ApiError: 400 for an unknown mechanism, a bad ε, or a demand that is unknown or weaker
                than what is in force; 403 for what is beyond the limits.
        """
        privacy, limits = self._config.privacy, self._config.limits
        name = options.mechanism or privacy.mechanism
        epsilon = options.epsilon if options.epsilon is not None else privacy.epsilon
        if options.mechanism and not self._is_allowed(name):
            raise not_permitted(
                "The operator does not allow this mechanism.", param="inferdpt.mechanism"
            )
        if limits.epsilon_max is not None and epsilon > limits.epsilon_max:
            raise not_permitted(
                f"epsilon must be <= {limits.epsilon_max:g}, got {epsilon:g}.",
                param="inferdpt.epsilon",
            )
        found = self._find(name, float(epsilon), grant.demands)
        demands = options.demands  # may hold text of the request: nothing of it is kept
        for asked in demands.names:
            try:
                found = found.strengthen(demands.only(asked))
            except ParameterError as exc:
                raise bad_request(
                    f"{exc}.", param=f"inferdpt.{asked}", code="invalid_value"
                ) from None
        return found

    def _find(self, name: str, epsilon: float, demands: Demands) -> Sanitizer:
        """Return a sanitizer that meets the demands of a key; raise `ApiError`."""
        key = (name, epsilon, demands)
        found = self._sanitizers.get(key)
        if found is not None:
            return found
        if not demands.names:
            found = self._build(name, epsilon)
        else:
            plain = self._find(name, epsilon, Demands())
            try:
                found = plain.strengthen(demands, pass_weaker=True)
            except ParameterError as exc:
                raise not_permitted(
                    f"This key's demands cannot be met: {exc}.", param="inferdpt.mechanism"
                ) from None
        self._sanitizers[key] = found
        return found

    def _build(self, name: str, epsilon: float) -> Sanitizer:
        """Build a sanitizer of the configuration; raise `ApiError`."""
        try:
            return self._make(name, epsilon)
        except ParameterError as exc:
            raise bad_request(str(exc), param="inferdpt", code="invalid_value") from None
        except (CodebookError, PluginError, TableError) as exc:
            logger.error("%s", exc)
            raise not_permitted(
                "The operator does not allow this mechanism.", param="inferdpt.mechanism"
            ) from exc
        except CertificateError as exc:
            raise not_permitted(f"A certificate is required: {exc}.", param="inferdpt") from None

    def list_offered(self, grant: Grant = UNLIMITED) -> list[str]:
        """Return the mechanisms that a client may request, the operator's first."""
        own, known = self._config.privacy.mechanism, grant.mechanisms
        others = [name for name in sanitizer_names() if name != own]
        if self._config.local.mode == "none":  # few can serve there; the operator lists them
            others = list(self._config.limits.mechanisms or ())
        offered = [own, *(name for name in others if self._is_offered(name))]
        return [name for name in offered if known is None or name in known]

    @property
    def marking(self) -> Marking | None:
        """Return the marking of the operator's mechanism, if it replaces marked parts."""
        if sanitizer_class(self._config.privacy.mechanism).needs_model:
            return None
        return self.sanitizer(Options()).marking

    def _make(self, name: str, epsilon: float) -> Sanitizer:
        privacy, kind = self._config.privacy, sanitizer_class(name)
        own = name == privacy.mechanism
        if kind.needs_model and not own:  # there are no parameters for it here
            raise ParameterError(f"mechanism must be one of {', '.join(mechanism_names())}")
        self._check_restorable(kind.needs_model, name)
        if kind.needs_model and self.model is None:
            raise local_unavailable()
        parameters = kind.check_parameters(epsilon=epsilon, **(privacy.parameters if own else {}))
        made = kind.build(
            parameters,
            Resources(
                table=self._table,
                options=privacy.document_options,
                max_tokens=self._config.limits.document_tokens,
                model=self.model,
                encoder=self._encoder,
            ),
        )
        self._check_restorable(not made.restorable, name)
        if privacy.require_certificate:
            self._prove(made.mechanism)
        return made

    def _check_restorable(self, wrong: bool, name: str) -> None:
        """Refuse a sanitizer that cannot serve without a local model; raise `ParameterError`."""
        if wrong and self._config.local.mode == "none":
            raise ParameterError(
                "local.mode none needs a mechanism whose releases can be read, and restored in "
                f"the remote's answer; those of {name} cannot. Set privacy.mechanism to "
                "selective, or name a local model in local.mode"
            )

    def _prove(self, mechanism: Sanitizer) -> None:
        """Find the certificate of a mechanism.

        Raises:
            CertificateError: none of the operator's certificates proves it.
        """
        wrong = CertificateError("privacy.certificates is empty")
        for certificate in self._certificates:
            try:
                return check_certificate(certificate, mechanism)
            except CertificateError as exc:
                wrong = exc
        raise wrong

    def _is_offered(self, name: str) -> bool:
        """Tell if clients may request a mechanism other than the operator's."""
        try:
            return not sanitizer_class(name).needs_model and self._is_allowed(name)
        except (ParameterError, PluginError):
            return False

    def _is_allowed(self, name: str) -> bool:
        """Tell if clients may request a mechanism: the operator's own, a listed one, or without a
        list one that keeps no raw word unchanged by design."""
        if name == self._config.privacy.mechanism:
            return True
        listed = self._config.limits.mechanisms
        if listed is not None:
            return name in listed
        try:
            return not sanitizer_class(name).verbatim
        except (ParameterError, PluginError):
            return True  # refused where it is built


def _build_encoder(
    model: str | None, find_server: Callable[[], Backend | None]
) -> ServerEncoder | None:
    """Return the encoder by the local server's embedding model; None if none is configured."""

    def find() -> OpenAIServer:
        server = find_server()
        if not isinstance(server, OpenAIServer):
            raise LocalModelUnavailable("the local server is not there yet")
        return server

    return ServerEncoder(model, find) if model else None
