"""What can be named in a command: metrics, protocols, corpora, parsers, makers, judges and schemas."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

from parsemark.errors import ParsemarkError, require_known
from parsemark.plain_words import counted
from parsemark.specs import Available, Registry, distribution_of, own_plugins


def available(kind: str) -> list[Available]:
    """Return what there is of a kind, sorted by name, also of parsemark's plug-ins that are not installed.

    Args:
        kind: metrics, protocols, corpora, parsers, makers, judges or schemas.
    """
    require_known("kind", kind, KINDS)
    return list(KINDS[kind]())


def kinds() -> list[Available]:
    """Return the kinds of names, each with how many there are."""
    return [Available(kind, counted(len(available(kind)), "name"), "parsemark") for kind in KINDS]


def _metrics() -> Iterator[Available]:
    from parsemark.metrics import METRICS, get_metric

    def describe(name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        metric = get_metric(name)
        metadata = metric.metadata
        low, high = metadata.range
        better = "higher" if metadata.higher_is_better else "lower"
        details = (
            ("scores", f"{metadata.kind}s, {low:g} to {high:g}, {better} is better"),
            *_options(type(metric)),
            ("citation", metadata.citation),
            ("checked against", metadata.reference),
        )
        return metadata.title, details

    return _entries(METRICS, describe)


def _protocols() -> Iterator[Available]:
    from parsemark.protocols import PROTOCOLS, get_protocol

    def describe(name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        protocol = get_protocol(name)
        number = ("comparability", str(protocol.comparability))
        return _first_line(type(protocol)), (number, *_options(type(protocol)))

    return _entries(PROTOCOLS, describe)


def _corpora() -> Iterator[Available]:
    from parsemark.corpora.base import CORPORA, WITHOUT_PATH

    def describe(name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        spec = name if name in WITHOUT_PATH else f"{name}:PATH"
        return _first_line(CORPORA.load(name)), (("written", spec),)

    return _entries(CORPORA, describe)


def _parsers() -> Iterator[Available]:
    from parsemark.parsers import get_parser, parser_names

    for name in parser_names():
        try:
            parser = get_parser(name)
        except ParsemarkError as error:
            yield Available(name, f"broken: {error}", "?")
            continue
        info, state = parser.info, str(parser.state())
        details = (
            ("licence", info.licence),
            ("returns", ", ".join(info.gives)),
            ("needs", ", ".join([*info.needs, *_needs_of_choices(parser), *_machines(parser)]) or "–"),
            ("weights", ", ".join(_weights(parser)) or "–"),
            ("options", _choices(parser) or "–"),
            ("state", state),
        )
        yield Available(name, f"{state}; {info.licence}", "parsemark" if parser.builtin else "?", details)


def _makers() -> Iterator[Available]:
    from parsemark.corpora.making import list_makers

    for maker in list_makers():
        details = tuple((f"option {name}", text) for name, text in maker.options)
        yield Available(maker.name, maker.summary, maker.distribution, details)


def _judges() -> Iterator[Available]:
    from parsemark.judges.base import JUDGES

    return _entries(JUDGES, lambda name: (_first_line(JUDGES.load(name)), ()))


def _schemas() -> Iterator[Available]:
    from parsemark.schemas import json_schemas

    for file, schema in json_schemas().items():
        yield Available(file, str(schema.get("description", "")).partition("\n")[0], "parsemark")


KINDS: dict[str, Callable[[], Iterator[Available]]] = {
    "metrics": _metrics,
    "protocols": _protocols,
    "corpora": _corpora,
    "parsers": _parsers,
    "makers": _makers,
    "judges": _judges,
    "schemas": _schemas,
}


def _entries(
    registry: Registry, describe: Callable[[str], tuple[str, tuple[tuple[str, str], ...]]]
) -> Iterator[Available]:
    """Yield the names of a registry; one that cannot be loaded says why in its own line."""
    missing = {name for groups in own_plugins().values() for name in groups.get(registry.group, ())}
    for name in sorted({*registry, *missing}):
        if name not in registry:
            distribution = str(distribution_of(registry.group, name))
            yield Available(name, f"not installed: pip install {distribution}", distribution)
            continue
        try:
            summary, details = describe(name)
        except ParsemarkError as error:
            summary, details = f"broken: {error}", ()
        yield Available(name, summary, registry.distribution(name), details)


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]


def _options(cls: type[Any]) -> Iterator[tuple[str, str]]:
    hints = get_type_hints(cls)
    for option in dataclasses.fields(cls):
        hint = hints[option.name]
        values = [True, False] if hint is bool else list(get_args(hint)) or [option.default]
        choices = [value for value in values if not isinstance(value, type)] or [option.default]
        choices.sort(key=lambda value: value != option.default)
        names = [str(value).lower() if isinstance(value, bool) else str(value) for value in choices]
        yield f"option {option.name}", " | ".join([f"{names[0]} (default)", *names[1:]])


def _needs_of_choices(parser: Any) -> list[str]:
    return [
        f"{need} ({key}={choice})"
        for key, option in parser.info.options.items()
        for choice in option.choices
        for need in option.needs_of(choice)
    ]


def _machines(parser: Any) -> Iterator[str]:
    """Yield, for each kind of machine on which packages lack wheels, its name and the packages."""
    for machine, packages in parser.without_wheels.items():
        yield f"no wheels for {machine} ({', '.join(packages)})"


def _weights(parser: Any) -> Iterator[str]:
    """Yield the weights of the parser, or those that single choices of its options need."""
    from parsemark.parsers import get_parser
    from parsemark.specs import Spec

    if parser.weights:
        yield str(parser.weights)
        return
    for key, option in parser.info.options.items():
        for choice in option.choices if parser.info.weights else ():
            if any(need.startswith("folder:") for need in option.needs_of(choice)):
                chosen = get_parser(str(Spec(parser.name, ((key, choice),))))
                yield f"{chosen.weights} ({key}={choice})" if chosen.weights else f"set ({key}={choice})"


def _choices(parser: Any) -> str:
    from parsemark.specs import format_option

    shown = []
    for key, option in parser.info.options.items():
        others = [choice for choice in option.choices if choice != option.default]
        shown.append(f"{key}={'|'.join(format_option(value) for value in (option.default, *others))}")
    return " ".join(shown)
