"""The base of every part of the configuration, and a walk over its settings: their names,
environment variables, values and rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

__all__ = [
    "PREFIX",
    "Place",
    "Section",
    "Setting",
    "entry_of",
    "find_section",
    "iterate_settings",
    "merge",
    "plain",
    "section_of",
    "setting_place",
]


class Section(BaseModel):
    """Hold settings: frozen, with unknown keys refused.

    Every field of a section carries a description: `config init`, the JSON Schema and the
    table of settings in the documentation are made from them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


Place = tuple[int | str, ...]
PREFIX = "INFERDPT_"


@dataclass(frozen=True)
class Setting:
    """Describe a setting: a field of the root model or of one of its sections.

    Attributes:
        place: the names of its sections and its own name.
        field: its definition.
    """

    place: tuple[str, ...]
    field: FieldInfo

    @property
    def name(self) -> str:
        """Return its dotted name, such as `server.port`."""
        return ".".join(self.place)

    @property
    def variable(self) -> str:
        """Return the environment variable that sets it, such as `INFERDPT_SERVER__PORT`."""
        return PREFIX + "__".join(self.place).upper()

    @property
    def description(self) -> str:
        """Return its description.

        Raises:
            TypeError: it has none.
        """
        if not self.field.description:
            raise TypeError(f"{self.name} has no description")
        return self.field.description

    @property
    def default(self) -> Any:
        """Return its default in JSON's types; secrets have none."""
        return plain(self.field.get_default(call_default_factory=True))

    @property
    def rule(self) -> str:
        """Return its permitted values: a range, a choice or a kind; empty if any value is."""
        annotation = _without_none(self.field.annotation)
        if get_origin(annotation) is Literal:
            *first, last = get_args(annotation)
            return f"{', '.join(first)} or {last}"
        if annotation is bool:
            return "true or false"
        return _range(self.field.metadata)


def iterate_settings(root: type[BaseModel], place: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Yield every setting of a model and of its sections, in their order."""
    for name, field in root.model_fields.items():
        inner = (*place, name)
        if (section := section_of(field)) is None:
            yield Setting(inner, field)
        else:
            yield from iterate_settings(section, inner)


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a section."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def entry_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of the values of a field that is a mapping of sections."""
    if get_origin(field.annotation) is not dict:
        return None
    kind = get_args(field.annotation)[1]
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def find_section(root: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """Return the section at a place, if there is one."""
    model: type[BaseModel] | None = root
    for part in place:
        field = model.model_fields.get(str(part)) if model else None
        model = section_of(field) if field else None
    return model


def setting_place(root: type[BaseModel], place: Place) -> Place:
    """Return the place of the setting or section that holds a place, or is it."""
    for end in range(len(place)):
        if find_section(root, place[:end]) is None:
            return place[:end]
    return place


def merge(
    root: type[BaseModel] | None, base: Mapping[Any, Any], over: Mapping[Any, Any]
) -> dict[Any, Any]:
    """Return `base` with `over` laid over it: sections are merged, a setting is replaced whole."""
    out = dict(base)
    for key, value in over.items():
        field = root.model_fields.get(key) if root is not None else None
        section = section_of(field) if field else None
        both = isinstance(value, Mapping) and isinstance(out.get(key), Mapping)
        out[key] = merge(section, out[key], value) if section and both else value
    return out


def plain(value: Any) -> Any:
    """Return a setting's value in the types of JSON and YAML; a secret is masked."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _range(metadata: Iterable[Any]) -> str:
    """Return the range that a field's bounds allow; empty where there are none."""
    ge, gt, le, lt = (
        next((bound for m in metadata if (bound := getattr(m, name, None)) is not None), None)
        for name in ("ge", "gt", "le", "lt")
    )
    if ge is not None:
        return f"{ge} or more" if le is None else f"{ge} to {le}"
    if gt is not None:
        return f"above {gt}" if lt is None else f"above {gt} and below {lt}"
    return ""


def _without_none(annotation: Any) -> Any:
    """Return X of `X | None`."""
    if get_origin(annotation) is not UnionType:
        return annotation
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else annotation
