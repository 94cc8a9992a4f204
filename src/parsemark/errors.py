"""Every failure that parsemark names.

    ParsemarkError
    ├── UsageError            the caller asked for something that cannot be (unknown name, bad option)
    │   └── UnknownNameError  a name that no registry knows; carries the nearest ones
    │       └── MissingPluginError  a name from a distribution that is not installed
    ├── FormatError           text or bytes that cannot be read; carries the position
    ├── CorpusError           a corpus that is incomplete or contradicts itself
    │   └── PdfError          a PDF or a picture of a page that cannot be opened
    ├── MakingError           a page that cannot be made as drawn, or a program for making pages is missing
    ├── LatexError            a LaTeX source that does not compile within its limits
    ├── ParserError           a parser that could not be installed or started
    ├── PluginError           a metric, corpus, protocol or judge of another package that does not work
    ├── StoreError            a run directory that cannot be read or written
    ├── WriteError            a file that cannot be written: no space, no right, a link in its place
    ├── StudyError            a ratings file that cannot be read
    ├── JudgeError            answers of judges that cannot be kept or read
    └── MissingDependencyError  an optional library or program; the message says how to install it

A message says what is wrong, where, and what to do about it.
"""

import difflib
import errno
from collections.abc import Collection, Iterable
from pathlib import Path

_FEW_NAMES = 12
"""So many names are all said."""


class ParsemarkError(Exception):
    """Base of all errors that are shown to users without a traceback."""


class UsageError(ParsemarkError):
    """The caller asked for something that cannot be."""


_MEANT = {
    ("parser", "openai"): "vlm(model=NAME,base_url=URL)",
    ("parser", "llm"): "vlm(model=NAME,base_url=URL)",
    ("protocol", "omnidocbench"): "document(profile=v1.6)",
    ("protocol", "teds"): "tables(metrics=teds)",
    ("protocol", "grits"): "tables(metrics=grits_top+grits_con)",
    ("protocol", "reader"): "tables(metrics=reader)",
}
"""What people mean who write the name of a metric, a benchmark or an endpoint for a name of ours."""


class UnknownNameError(UsageError):
    """An unknown name; the message lists the nearest names, or all if there are few."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        same = [known for known in names if known.lower() == name.lower()]
        self.nearest = tuple(same or difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5))
        hint = f" Did you mean {' or '.join(map(repr, self.nearest))}?"
        if not self.nearest:
            is_few = 0 < len(names) <= _FEW_NAMES
            hint = (
                f" {'Choose one of' if len(names) > 1 else 'There is only'}: {', '.join(names)}."
                if is_few
                else ""
            )
            if kind in ("metric", "corpus", "protocol", "judge"):
                hint = " If another package provides it, install that package."
        if kind == "judge" and not self.nearest:
            hint = f" For a model behind an API: openai(model={name})."
        if (meant := _MEANT.get((kind, name.lower()))) is not None:
            hint = f" Write {meant}."
        super().__init__(f"Unknown {kind} {name!r}.{hint}")
        self.kind = kind
        self.name = name
        self._told = self.nearest or tuple(names[: _FEW_NAMES + 1])

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.name, self._told)


class MissingPluginError(UnknownNameError):
    """A name from one of parsemark's own plug-in distributions, which is not installed."""

    def __init__(self, kind: str, name: str, distribution: str) -> None:
        super().__init__(kind, name, ())
        self.args = (f"`{name}` is part of {distribution}: pip install {distribution}",)
        self.distribution = distribution

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.name, self.distribution)


def require_known(kind: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is not among those known."""
    if name not in known:
        raise UnknownNameError(kind, name, known)


class PluginError(ParsemarkError):
    """A thing that another package has registered and that cannot be used; says what its code raised."""

    def __init__(self, kind: str, name: str, target: str, why: str) -> None:
        super().__init__(
            f"The {kind} {name!r} ({target}) of another package does not work: {why}. Fix or uninstall "
            "that package; other packages are not affected."
        )
        self._arguments = kind, name, target, why

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._arguments


class FormatError(ParsemarkError):
    """Text or bytes that cannot be read.

    Args:
        message: What is wrong and what to do.
        position: Offset in the text at which it is wrong, where known.
        where: The file, page or table, where known.
    """

    def __init__(self, message: str, *, position: int | None = None, where: str | None = None) -> None:
        offset = "" if position is None else f" at offset {position}"
        place = (f" in {where}" if where else "") + offset
        super().__init__(f"{message}{f' ({place.strip()})' if place else ''}")
        self.message = message
        self.position = position
        self.where = where

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_format_error, (self.message, self.position, self.where)


def _rebuild_format_error(message: str, position: int | None, where: str | None) -> FormatError:
    return FormatError(message, position=position, where=where)


class CorpusError(ParsemarkError):
    """A corpus that is incomplete or contradicts itself."""


class PdfError(CorpusError):
    """A PDF or a picture of a page that cannot be opened."""


class MakingError(ParsemarkError):
    """A page that cannot be made as it was drawn, or a program for making pages that is missing."""


class LatexError(ParsemarkError):
    """A LaTeX source that does not compile within its limits."""


class ParserError(ParsemarkError):
    """A parser that could not be installed or started."""


class StoreError(ParsemarkError):
    """A run directory that cannot be read or written."""


class WriteError(ParsemarkError):
    """A file that cannot be written.

    Args:
        path: The file.
        why: The system's error, or the reason in words.
    """

    def __init__(self, path: Path, why: OSError | str) -> None:
        reason = _reason(path, why) if isinstance(why, OSError) else why
        super().__init__(f"Cannot write {path}: {reason[:1].lower()}{reason[1:]}. {_remedy(why)}")
        self.path = path
        self.reason = reason
        self.errno = why.errno if isinstance(why, OSError) else None

    def __reduce__(self) -> tuple[object, ...]:
        why = self.reason if self.errno is None else OSError(self.errno, self.reason)
        return type(self), (self.path, why)


def _reason(path: Path, error: OSError) -> str:
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        for parent in reversed(path.parents):
            if (parent.is_symlink() or parent.exists()) and not parent.is_dir():
                return f"{parent} is a file, or a link to nothing, and no folder"
    return error.strerror or str(error)


def _remedy(why: OSError | str) -> str:
    if isinstance(why, OSError) and why.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "Free some space and run the same command again; finished work is kept."
    return "Choose another place, or fix this one and run the same command again."


class StudyError(ParsemarkError):
    """A ratings file that cannot be read."""


class JudgeError(ParsemarkError):
    """Answers of judges that cannot be kept or read."""


class MissingDependencyError(ParsemarkError):
    """An optional library or program that is not installed."""

    def __init__(self, what: str, needed_for: str, install: str) -> None:
        super().__init__(f"{needed_for} needs {what}. Install it with: {install}")
        self.what = what
        self.needed_for = needed_for
        self.install = install

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.what, self.needed_for, self.install)
