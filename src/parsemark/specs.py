"""Names that stand for things: looked up lazily, open to other packages, helpful when misspelt.

A *spec* is a name with options, written as `teds(structure_only=true)` or `camelot(flavor=stream)`.
Specs are identities: `str(parse_spec(text))` parses back to an equal spec.
"""

import dataclasses
import importlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from parsemark.errors import MissingPluginError, ParsemarkError, PluginError, UnknownNameError, UsageError

OptionValue = bool | int | float | str

_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_SPEC = re.compile(rf"\s*({_NAME.pattern})\s*(?:\((.*)\))?\s*", re.DOTALL)
_OPTION = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Spec:
    """A name with options."""

    name: str
    options: tuple[tuple[str, OptionValue], ...] = ()

    def __str__(self) -> str:
        if not self.options:
            return self.name
        inner = ",".join(f"{key}={format_option(value)}" for key, value in self.options)
        return f"{self.name}({inner})"

    def as_dict(self) -> dict[str, OptionValue]:
        """Return the options as a new dictionary."""
        return dict(self.options)


DERIVED = ("calibrated", "ensemble", "estimated", "routed")  # made of other parsers' outputs


@dataclass(frozen=True)
class Available:
    """One name, what it stands for, and what else is known of it."""

    name: str
    summary: str  # one line
    distribution: str  # brings the name: `parsemark`, or a package beside it
    details: tuple[tuple[str, str], ...] = ()  # label and text


def is_derived(parser: str) -> bool:
    """Return whether a parser's name is that of one made of others: head-room, not a tool that one could
    choose.
    """
    return tool_of(parser) in DERIVED


def tool_of(parser: str) -> str:
    """Return the tool that a parser's name begins with: without its settings and its version.

    >>> tool_of("camelot@1.0.9(flavor=stream)")
    'camelot'
    """
    return re.split(r"[(@]", parser, maxsplit=1)[0].strip()


def packages_that_bring(group: str, name: str) -> list[str]:
    """Return the distributions that register a name, sorted: which of several is meant, nobody can say."""
    found = entry_points(group=group, name=name)
    return sorted({point.dist.name for point in found if point.dist is not None})


def parse_spec(text: str) -> Spec:
    """Read `name` or `name(key=value,…)`.

    >>> str(parse_spec("teds( structure_only = true )"))
    'teds(structure_only=true)'
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise UsageError(f"Cannot read {text!r}: write name or name(key=value).")
    name, inside = match.group(1), match.group(2)
    options: dict[str, OptionValue] = {}
    for part in _split_options(inside or ""):
        if not part.strip():
            continue
        option = _OPTION.fullmatch(part)
        if option is None:
            raise UsageError(f"Cannot read option {part.strip()!r} of {name!r}: write key=value.")
        if option.group(1) in options:
            raise UsageError(f"Option {option.group(1)!r} of {name!r} is given twice.")
        options[option.group(1)] = parse_option(option.group(2))
    return Spec(name, tuple(sorted(options.items())))


def _split_options(text: str) -> list[str]:
    """Return the parts between commas; commas inside brackets belong to a spec that is the value of an
    option.

    >>> _split_options("metrics=teds(structure_only=true,normalize=none)+reader,match=bbox")
    ['metrics=teds(structure_only=true,normalize=none)+reader', 'match=bbox']
    """
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def parse_option(text: str) -> OptionValue:
    """Read one option value: true/false, a number, or a string."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def format_option(value: OptionValue) -> str:
    """Write one option value so that `parse_option` gives it back."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_options(cls: type[Any], kind: str, name: str, options: Mapping[str, OptionValue]) -> dict[str, Any]:
    """Return the options of a spec as the fields of a dataclass take them; raise UsageError if there is no
    such option or value.

    A field that is a tuple of texts takes several values joined by `+`. Kind (in words) and name are for
    messages.
    """
    known = [f.name for f in dataclasses.fields(cls)]
    hints = get_type_hints(cls)
    checked: dict[str, Any] = {}
    for key, value in options.items():
        if key not in known:
            raise UsageError(
                f"{kind} {name!r} has no option {key!r}; it has: {', '.join(sorted(known)) or 'none'}."
            )
        checked[key] = _checked_value(hints[key], key, name, value)
    return checked


def _checked_value(hint: Any, key: str, name: str, value: Any) -> Any:
    if get_origin(hint) is tuple:
        parts = value if isinstance(value, tuple) else tuple(p for p in str(value).split("+") if p)
        if not parts:
            raise UsageError(f"Option {key!r} of {name!r} needs at least one value, joined by +.")
        return parts
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            listed = ", ".join(str(a) for a in get_args(hint))
            raise UsageError(f"Option {key!r} of {name!r} cannot be {value!r}; choose one of: {listed}.")
        return value
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    if isinstance(value, bool):
        if bool in kinds:
            return value
    elif str in kinds:
        return format_option(value)  # a text that looks like a number was read as one
    elif float in kinds and isinstance(value, int | float):
        return float(value)
    elif int in kinds and isinstance(value, int):
        return value
    names = " or ".join(kind.__name__ for kind in kinds)
    raise UsageError(f"Option {key!r} of {name!r} must be {names}, not {value!r}.")


def changed_options(thing: Any, name: str) -> str:
    """Return the spec of a dataclass: its name with the fields that differ from their defaults."""
    changed = [
        (f.name, "+".join(value) if isinstance(value, tuple) else value)
        for f in dataclasses.fields(thing)
        if (value := getattr(thing, f.name)) != f.default
    ]
    return str(Spec(name, tuple(sorted(changed))))


@cache
def own_plugins() -> dict[str, dict[str, list[str]]]:
    """Return the names that parsemark's plug-in distributions register, by distribution and group."""
    return tomllib.loads(Path(__file__).with_name("plugins.toml").read_text("utf-8"))


def distribution_of(group: str, name: str) -> str | None:
    """Return which of parsemark's plug-in distributions registers a name; None if none does."""
    return next((d for d, groups in own_plugins().items() if name in groups.get(group, ())), None)


plugins_loaded: set[str] = set()
"""What other packages have registered and was imported in this process, as `module:attribute`."""


@dataclass(slots=True)
class Registry:
    """Maps names to lazily imported objects (`builtin`: name to `module:attribute`), and to those that other
    packages register in the entry-point group. `kind` says in messages what they are.
    """

    kind: str
    group: str
    builtin: Mapping[str, str]
    _plugins: dict[str, EntryPoint] | None = field(default=None, repr=False)

    def _points(self) -> dict[str, EntryPoint]:
        if self._plugins is None:
            self._plugins = {point.name: point for point in entry_points(group=self.group)}
        return self._plugins

    def _targets(self) -> dict[str, str]:
        return {**{name: point.value for name, point in self._points().items()}, **self.builtin}

    def names(self) -> list[str]:
        """Return all known names, sorted."""
        return sorted(self._targets())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self._targets()

    def load(self, name: str) -> Any:
        """Import what `name` stands for; PluginError if code of another package cannot be imported."""
        targets = self._targets()
        if name not in targets:
            if (distribution := distribution_of(self.group, name)) is not None:
                raise MissingPluginError(self.kind, name, distribution)
            raise UnknownNameError(self.kind, name, targets)
        module, _, attribute = targets[name].partition(":")
        if name in self.builtin:
            return getattr(importlib.import_module(module), attribute)
        if len(packages := packages_that_bring(self.group, name)) > 1:
            raise self.broken(name, ValueError(f"it is registered by {' and '.join(packages)}"))
        plugins_loaded.add(targets[name])
        try:
            return getattr(importlib.import_module(module), attribute)
        except ParsemarkError:  # says itself what is missing
            raise
        except (Exception, SystemExit) as error:  # another package's code: named, and costs this name alone
            raise self.broken(name, error) from error

    def spec(self, text: str) -> Spec:
        """Read a spec; a name that cannot stand in one is the fault of the package that registered it."""
        if self.is_plugin(text) and _NAME.fullmatch(text) is None:
            raise self.broken(text, ValueError("a name is of letters, digits, `_`, `-` and `.`"))
        return parse_spec(text)

    def broken(self, name: str, error: BaseException) -> PluginError:
        """Return the error that says that what another package registered as `name` does not work, and
        why.
        """
        why = f"{type(error).__name__}: {error}"
        return PluginError(self.kind, name, self._targets().get(name, "?"), why[:500])

    def distribution(self, name: str) -> str:
        """Return the distribution that brings a name: `parsemark`, or the package that registers it."""
        point = None if name in self.builtin else self._points().get(name)
        return "parsemark" if point is None or point.dist is None else point.dist.name

    def is_plugin(self, name: str) -> bool:
        """Return whether another package brings it."""
        return name not in self.builtin and name in self._targets()
