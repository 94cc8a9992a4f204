"""Finds parsers by name: built in, from other packages, or a worker script of the user's own."""

import re
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from parsemark.errors import ParsemarkError, ParserError, UsageError, require_known
from parsemark.parsers.declaration import read_declaration
from parsemark.parsers.environment import read_lock
from parsemark.parsers.npm import read_npm_packages
from parsemark.parsers.parser import WORKERS, Parser
from parsemark.parsers.weights import read_pins
from parsemark.specs import Spec, is_derived, packages_that_bring, parse_spec, tool_of

GROUP = "parsemark.parsers"

DEFAULT_PARSERS = (
    *("pdfplumber", "camelot", "camelot(flavor=stream)", "img2table", "liteparse"),
    *("pdf-inspector", "pymupdf4llm", "rapid"),
)
"""What `parsemark bench` runs when no parser is named: fast to install, fast to run, different in kind."""

_SOURCE = re.compile(r"\bparser=(.+)\)", re.DOTALL)
_SCRIPT_SPEC = re.compile(r"\s*(?P<path>[^()]*\.py)\s*(?P<options>\(.*\))?\s*", re.DOTALL)
_VERSIONED = re.compile(
    r"(?P<head>[^()@]+|[^()]+\.py)@(?P<version>git:[^()]*|[^()/]*)(?P<options>\(.*\))?\s*", re.DOTALL
)


def parser_names() -> list[str]:
    """Return the names of all built-in and plugged-in parsers, sorted."""
    return sorted({*builtin_scripts(), *_plugins()})


def get_parser(spec: str) -> Parser:
    """Return the parser that a spec names: `camelot(flavor=stream)`, or `path/to/worker.py(option=value)`.

    A version comes after the name: `camelot@1.0.9(flavor=stream)`, `path/to/worker.py@git:REF`.

    Raises:
        UsageError: If the name or an option is not known.
        ParserError: If the script cannot be read, or there is no such version.
    """
    if versioned := _VERSIONED.fullmatch(spec):
        from parsemark.parsers.releases import at_version

        parser = get_parser(versioned["head"] + (versioned["options"] or ""))
        return at_version(parser, versioned["version"].strip())
    if match := _SCRIPT_SPEC.fullmatch(spec):
        return _from_script(Path(match["path"].strip()), parse_spec(f"x{match['options'] or ''}"))
    if Path(spec).suffix and Path(spec).is_file():
        raise UsageError(
            f"{spec} is not a Python script. A parser of your own is a short Python script that calls your "
            "program (guide: docs/how-to/parsers.md). To score outputs that you already have: parsemark "
            "score OUTPUTS CORPUS"
        )
    parsed = parse_spec(spec)
    return _make(parsed, parsed.name, find_script(parsed.name))


def with_version(spec: str, version: str) -> str:
    """Return a spec with another version of its parser.

    >>> with_version("camelot(flavor=stream)", "1.0.9"), with_version("a/b.py@1", "git:HEAD")
    ('camelot@1.0.9(flavor=stream)', 'a/b.py@git:HEAD')
    """
    if versioned := _VERSIONED.fullmatch(spec):
        spec = versioned["head"] + (versioned["options"] or "")
    head, bracket, options = spec.strip().partition("(")
    return f"{head.strip()}@{version}{bracket}{options}"


def find_script(name: str) -> Path:
    """Return the worker script of a parser, by name or by its own path; raise UsageError if there is none."""
    if name.endswith(".py"):
        return Path(name).expanduser().resolve()
    scripts = builtin_scripts()
    if name in scripts:
        return scripts[name]
    plugins = _plugins()
    require_known("parser", name, plugins.keys() | scripts.keys())
    return _plugin_script(plugins[name])


@cache
def engine_of(parser: str) -> str:
    """Return the engine of a parser from the header of its worker; by default its tool's own name.

    Settings, versions and what is derived of one parser share its engine. A parser that is not known here (a
    script of the user's own, outputs that were imported) stands on itself.
    """
    if is_derived(parser) and (source := _SOURCE.search(parser)):
        return engine_of(source[1])
    tool = tool_of(parser)
    try:
        script = builtin_scripts().get(tool) or _plugin_script(_plugins()[tool])
        return read_declaration(script).info.engine or tool
    except (KeyError, ParsemarkError):
        return tool


def _from_script(script: Path, spec: Spec) -> Parser:
    script = script.expanduser().resolve()
    if script.stem in parser_names() or is_derived(script.stem):
        raise UsageError(f"{script.name} would have the name of a known parser; rename the file.")
    if re.fullmatch(r"[A-Za-z_][\w.\-]*", script.stem) is None:
        raise UsageError(f"{script.name} cannot name a parser: use letters, digits, '_', '-' and '.'.")
    return _make(spec, script.stem, script, builtin=False)


def _make(spec: Spec, name: str, script: Path, *, builtin: bool = True) -> Parser:
    declaration = read_declaration(script)
    options = declaration.complete_options(name, spec.as_dict())
    pins, npm = read_pins(script, declaration), read_npm_packages(script, declaration)
    lock = read_lock(script, declaration)
    return Parser(name, script, declaration, options, builtin, lock, pins=pins, npm=npm)


def builtin_scripts() -> dict[str, Path]:
    """Return the worker scripts of the built-in parsers, by name."""
    return {path.stem: path for path in sorted(WORKERS.glob("*.py"))}


def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _plugin_script(point: EntryPoint) -> Path:
    """Return an entry point names the path of a worker script, or a function that returns it."""
    if len(packages := packages_that_bring(GROUP, point.name)) > 1:
        named = " and ".join(packages)
        raise ParserError(f"The parser {point.name!r} is registered by {named}. Uninstall all but one.")
    try:
        target = point.load()
        path = Path(target() if callable(target) else target)
    except (
        Exception,
        SystemExit,
    ) as error:  # another package's code: its failure is named and costs this parser alone
        raise ParserError(f"The parser {point.name!r} ({point.value}) cannot be loaded: {error}") from error
    return path.resolve()
