"""Load policies of other distributions: entry points in the group `inferdpt.policies`.

An entry point names a class, or a function, that returns a policy when it is called without
arguments: anything with `find(text) -> spans` (`perturb.selective.policies.Policy`).
"""

from __future__ import annotations

from collections.abc import Iterable

from perturb.errors import ParameterError
from perturb.plugins import find_plugin, plugin_names
from perturb.release import Span

__all__ = ["BUILT_IN", "GROUP", "PluggedPolicy", "policy_names"]

GROUP = "inferdpt.policies"
BUILT_IN = ("regex", "digits", "detector", "all")


def policy_names() -> tuple[str, ...]:
    """Return the names of all policies: the built-in ones, then those of plug-ins."""
    return (*BUILT_IN, *plugin_names(GROUP, dict.fromkeys(BUILT_IN)))


class PluggedPolicy:
    """Mark with a policy of another distribution.

    Attributes:
        version: of the distribution, and of the policy where it states one.
    """

    def __init__(self, name: str) -> None:
        plugin = find_plugin(GROUP, name)
        if plugin is None:
            raise ParameterError(f"policy must be one of {', '.join(policy_names())}")
        make = plugin.load()
        try:
            policy = make()
        except Exception as exc:  # a foreign constructor may raise anything
            raise plugin.error(f"cannot be built: {type(exc).__name__}: {exc}") from exc
        if not callable(getattr(policy, "find", None)):
            raise plugin.error("must make a policy: an object with find(text) -> spans")
        self._plugin, self._policy = plugin, policy
        self.version = f"{plugin.version} {getattr(policy, 'version', '')}".rstrip()

    def find(self, text: str) -> Iterable[Span]:
        """Return the sensitive parts.

        Raises:
            PluginError: the policy failed, or marked something other than parts of the text. The
                message quotes neither the policy's error nor the text.
        """
        try:
            found = list(self._policy.find(text))
        except Exception as exc:  # its message may quote the text
            raise self._plugin.error(f"failed with {type(exc).__name__}") from None
        for span in found:
            if not (isinstance(span, Span) and 0 <= span.start <= span.end <= len(text)):
                raise self._plugin.error("must mark parts of the text, as perturb.Span")
        return found
