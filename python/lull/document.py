# SPDX-License-Identifier: BSD-3-Clause
"""Documents: typed plain data that comes from JSON and goes to JSON.

A subclass lists its members as a dataclass does. Each value is checked against its annotation,
whether it comes from JSON or from the program itself; what does not fit is a DocumentError that
names the member. Documents do not change: `model_copy()` makes another.
"""

import dataclasses
import json
import re
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    Self,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

Convert = Callable[[Any], Any]
# In the metadata of a field: it does not go to JSON.
_HIDDEN = "hidden"


class DocumentError(ValueError):
    """What is wrong, and with which member: names and indices from the outside in."""

    def __init__(self, what: str, *where: str | int) -> None:
        super().__init__(what, where)
        self.what = what
        self.where = where

    def __str__(self) -> str:
        return f"{self.place()}: {self.what}" if self.where else self.what

    def place(self) -> str:
        """The member, as `loops.0.name`."""
        return ".".join(map(str, self.where))

    def inside(self, where: str | int) -> "DocumentError":
        """The same error, seen from one level further out."""
        return DocumentError(self.what, where, *self.where)


@dataclasses.dataclass(frozen=True)
class Pattern:
    """Which texts a member takes: `Annotated[str, Pattern("[a-z]+")]`."""

    text: str


def item(*, default: Any = MISSING,  # noqa: ANN401 - a member of any type
         default_factory: Any = MISSING, hidden: bool = False) -> Any:  # noqa: ANN401
    """A member with a default that is made anew each time, or one that JSON does not show."""
    return dataclasses.field(default=default, default_factory=default_factory,
                             metadata={_HIDDEN: hidden})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(item,))
class Document:
    """Base of all documents; with `keep_unknown=True` what it does not list is kept too."""

    _keep_unknown = False

    def __init_subclass__(cls, keep_unknown: bool | None = None) -> None:
        super().__init_subclass__()
        if keep_unknown is not None:
            cls._keep_unknown = keep_unknown
        for name, value in list(vars(cls).items()):
            if name in cls.__annotations__ and isinstance(value, list | dict | set):
                setattr(cls, name, dataclasses.field(default_factory=value.copy))
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for name, convert in _converters(type(self)).items():
            object.__setattr__(self, name, _member(convert, getattr(self, name), name))
        self._checked()

    def _checked(self) -> None:
        try:
            self.check()
        except DocumentError:
            raise
        except ValueError as error:
            raise DocumentError(str(error)) from None

    def check(self) -> None:
        """For subclasses: raise ValueError where members contradict each other."""

    @property
    def model_extra(self) -> dict[str, Any]:
        """Members that were given and are not listed; empty unless they are kept."""
        listed = type(self).model_names()
        return {name: value for name, value in vars(self).items() if name not in listed}

    @classmethod
    def model_names(cls) -> tuple[str, ...]:
        """Names of the listed members, in their order."""
        return tuple(_converters(cls))

    @classmethod
    def model_validate(cls, value: object) -> Self:
        """From what JSON holds; raises DocumentError."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise DocumentError(f"an object is needed, not {_kind(value)}")
        listed = {one.name: one for one in dataclasses.fields(cast("Any", cls))}
        for name, one in listed.items():
            if name not in value and one.default is MISSING and one.default_factory is MISSING:
                raise DocumentError("is missing", name)
        made = cls(**{name: value[name] for name in listed if name in value})
        if cls._keep_unknown:
            for name, more in value.items():
                if name not in listed:
                    object.__setattr__(made, str(name), more)
            made._checked()
        return made

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """From JSON; raises DocumentError."""
        try:
            return cls.model_validate(json.loads(text))
        except DocumentError:
            raise
        except ValueError as error:
            raise DocumentError(f"not JSON: {error}") from None

    def model_dump(self, exclude: frozenset[str] | set[str] = frozenset()) -> dict[str, Any]:
        """Plain data, as JSON holds it: unknown members too, hidden ones not."""
        hidden = {one.name for one in dataclasses.fields(cast("Any", self))
                  if one.metadata.get(_HIDDEN)}
        return {name: _plain(value) for name, value in vars(self).items()
                if name not in exclude and name not in hidden}

    def model_dump_json(self, indent: int | None = None) -> str:
        """JSON."""
        return json.dumps(self.model_dump(), indent=indent, ensure_ascii=False)

    def model_copy(self, update: Mapping[str, Any] | None = None) -> Self:
        """A copy in which some members differ."""
        listed = type(self).model_names()
        changes = dict(update or {})
        made = dataclasses.replace(
            cast("Any", self), **{name: changes.pop(name) for name in listed if name in changes})
        for name, value in {**self.model_extra, **changes}.items():
            object.__setattr__(made, name, value)
        return cast("Self", made)


# Of the kinds that were met so far: reading annotations takes longer than checking values.
_known: dict[type[Document], dict[str, Convert]] = {}


def _converters(kind: type[Document]) -> dict[str, Convert]:
    if kind not in _known:
        hints = get_type_hints(kind, include_extras=True)
        _known[kind] = {one.name: _converter(hints[one.name])
                        for one in dataclasses.fields(cast("Any", kind))}
    return _known[kind]


def _member(convert: Convert, value: object, where: str | int) -> Any:  # noqa: ANN401
    try:
        return convert(value)
    except DocumentError as error:
        raise error.inside(where) from None


def _plain(value: object) -> Any:  # noqa: ANN401
    if isinstance(value, Document):
        return value.model_dump()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value


def _converter(hint: Any) -> Convert:  # noqa: ANN401 - one line for each kind
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _matching(inner)
    if origin in (Union, types.UnionType):
        return _any_of([_converter(one) for one in inner])
    if origin is Literal:
        return _one_of(inner)
    if origin in (list, set, frozenset) or (origin is tuple and inner[1:] == (...,)):
        return _series(origin, _converter(inner[0]))
    if origin is tuple:
        return _fixed([_converter(one) for one in inner])
    if origin in (dict, Mapping):
        return _mapping(_converter(inner[0]), inner[0] is int, _converter(inner[1]))
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if isinstance(hint, type) and issubclass(hint, Document):
        return hint.model_validate
    if isinstance(hint, type) and hint is not Any:
        return _instance(hint)
    return lambda value: value


def _matching(parts: tuple[Any, ...]) -> Convert:
    convert = _converter(parts[0])
    patterns = [re.compile(one.text) for one in parts[1:] if isinstance(one, Pattern)]

    def checked(value: object) -> Any:  # noqa: ANN401
        found = convert(value)
        for pattern in patterns:
            if not pattern.search(found):
                raise DocumentError(f"'{found}' does not match {pattern.pattern}")
        return found
    return checked


def _any_of(ways: list[Convert]) -> Convert:
    def first(value: object) -> Any:  # noqa: ANN401
        wrong = DocumentError("has no type")
        for way in ways:
            try:
                return way(value)
            except DocumentError as error:
                # What a value may also be: nothing. The other way says more.
                wrong = wrong if way is _nothing else error
        raise wrong
    return first


def _one_of(choices: tuple[Any, ...]) -> Convert:
    def chosen(value: object) -> object:
        if value not in choices:
            raise DocumentError(f"{value!r} is none of {', '.join(map(repr, choices))}")
        return value
    return chosen


def _each(value: object, what: str) -> Iterator[Any]:
    if not isinstance(value, list | tuple | set | frozenset):
        raise DocumentError(f"a {what} is needed, not {_kind(value)}")
    return iter(value)


def _series(kind: Callable[[list[Any]], Any], convert: Convert) -> Convert:
    return lambda value: kind([
        _member(convert, one, index) for index, one in enumerate(_each(value, "list"))])


def _fixed(ways: list[Convert]) -> Convert:
    def parts(value: object) -> tuple[Any, ...]:
        found = list(_each(value, "list"))
        if len(found) != len(ways):
            raise DocumentError(f"{len(ways)} values are needed, not {len(found)}")
        return tuple(_member(way, one, index)
                     for index, (way, one) in enumerate(zip(ways, found, strict=True)))
    return parts


def _mapping(name: Convert, numbered: bool, convert: Convert) -> Convert:
    def pairs(value: object) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise DocumentError(f"an object is needed, not {_kind(value)}")
        # JSON has no numbers as names.
        return {name(int(key) if numbered and str(key).lstrip("-").isdecimal() else key):
                _member(convert, one, str(key)) for key, one in value.items()}
    return pairs


def _instance(kind: type) -> Convert:
    def same(value: object) -> object:
        if not isinstance(value, kind):
            raise DocumentError(f"{kind.__name__} is needed, not {_kind(value)}")
        return value
    return same


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false",
             type(None): "null", int: "a number", float: "a number"}
    return names.get(type(value), type(value).__name__)


def _integer(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise DocumentError(f"a whole number is needed, not {_said(value)}")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DocumentError(f"a number is needed, not {_said(value)}")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise DocumentError(f"a text is needed, not {_kind(value)}")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise DocumentError(f"true or false is needed, not {_said(value)}")
    return value


def _nothing(value: object) -> None:
    if value is not None:
        raise DocumentError(f"null is needed, not {_kind(value)}")


def _path(value: object) -> Path:
    if not isinstance(value, str | Path):
        raise DocumentError(f"a path is needed, not {_kind(value)}")
    return Path(value)


def _said(value: object) -> str:
    return str(value) if isinstance(value, int | float) else _kind(value)


_SIMPLE: dict[Any, Convert] = {
    int: _integer, float: _number, str: _text, bool: _truth, type(None): _nothing, Path: _path,
}
