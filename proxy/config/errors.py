"""Explain the errors of a configuration: file, line, key, and the likely intended key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from perturb.text.suggest import closest
from proxy.config.fields import Place, entry_of, find_section, setting_place
from proxy.config.sources import Source

__all__ = ["explain", "explain_key"]

# In YAML's terms, not Python's.
KINDS = {
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list, such as [a, b]",
}


def explain(exc: ValidationError, root: type[BaseModel], sources: Sequence[Source]) -> str:
    """Return a line for each error of a validation.

    Args:
        exc: the validation's error.
        root: the model that was validated.
        sources: the sources of the settings; a later one overrides an earlier one.
    """
    out = []
    for error in exc.errors(include_url=False, include_input=False):
        place = error["loc"]
        origins = " and ".join(_origins(root, sources, place))
        key = ".".join(map(str, place)) or "configuration"
        out.append(f"{origins}: {key}: {explain_key(dict(error), root)}")
    return "\n".join(out)


def explain_key(error: Mapping[str, Any], root: type[BaseModel]) -> str:
    """Return the error of one key, without its place."""
    if error["type"] in KINDS:
        return f"Input should be {KINDS[error['type']]}"
    if error["type"] != "extra_forbidden":
        return str(error["msg"]).removeprefix("Value error, ")
    *section, name = error["loc"]
    model = _model_at(root, section)
    known = list(model.model_fields) if model else []
    meant = closest(str(name), known)
    if meant is not None:
        return f"unknown key; did you mean {'.'.join([*map(str, section), meant])}?"
    elsewhere = [path for path in _paths(root) if path.rpartition(".")[2] == name]
    if elsewhere:
        return f"unknown key here; did you mean {' or '.join(elsewhere)}?"
    return f"unknown key; there are {', '.join(known)}"


def _origins(root: type[BaseModel], sources: Sequence[Source], place: Place) -> Iterator[str]:
    """Yield the origins of the value at a place.

    A setting has one source: the last. A section has every source that sets something in it.
    """
    within = setting_place(root, place)
    setting = [source for source in sources if source.data and source.sets(within)]
    if place and find_section(root, within) is None:
        setting = setting[-1:]
    setting = setting or list(sources[:1])
    yield from dict.fromkeys(source.origin(place) for source in setting)


def _model_at(root: type[BaseModel], place: Sequence[Any]) -> type[BaseModel] | None:
    """Return the model of a section; an index leads to the items of a list, and a key to the
    entries of a mapping."""
    model: type[BaseModel] | None = root
    entry: type[BaseModel] | None = None
    for part in place:
        if entry is not None:
            model, entry = entry, None
        elif isinstance(part, str) and model is not None:
            field = model.model_fields.get(part)
            entry = entry_of(field) if field else None
            model = _model_of(field.annotation) if field else None
    return model


def _model_of(annotation: Any) -> type[BaseModel] | None:
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def _paths(root: type[BaseModel], before: str = "") -> Iterator[str]:
    """Yield every key with its sections."""
    for name, field in root.model_fields.items():
        yield before + name
        if entry_of(field) is None and (model := _model_of(field.annotation)) is not None:
            yield from _paths(model, f"{before}{name}.")
