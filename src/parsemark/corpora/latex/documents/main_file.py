r"""Which file of a document is its main one, and all of it as one text."""

import re
from pathlib import PurePosixPath

from parsemark.corpora.latex.sources import SourceDocument
from parsemark.errors import LatexError

MAX_INPUTS = 500  # files that one document may read, counted with repetition

_CLASS = re.compile(r"\\document(?:class|style)\s*(?:\[(?P<options>[^\]]*)\])?\s*\{(?P<name>[^}]*)\}")
_BEGIN = "\\begin{document}"
_INPUT = re.compile(
    r"\\(?:input|include|subfile|includestandalone)\s*(?:\[[^\]]{0,200}\])?\s*\{(?P<file>[^{}]{1,200})\}"
    r"|\\input\s+(?P<bare>[^\s{}\\]{1,200})"
    r"|\\(?:sub)?(?:import|inputfrom|includefrom)\*?\s*\{(?P<folder>[^{}]{0,200})\}\s*\{(?P<part>[^{}]{1,200})\}"
)
"""A command that reads a file; `import` has its folder apart."""
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_BESIDES = re.compile("cover|letter|response|reply|rebuttal|review|revision|diff|poster|slides")
"""Parts of the names of files that go with a paper."""
_USUAL_NAMES = ("main", "ms", "paper", "article", "manuscript")


def main_files(document: SourceDocument) -> list[str]:
    r"""The files with `\documentclass` and the document's beginning, the most likely main one first.

    Raises:
        LatexError: There is none.
    """
    texts = {name: without_comments(text) for name, text in document.tex_files().items()}
    classes = {name: document_class(text)[0] for name, text in texts.items()}
    candidates = [name for name, own in classes.items() if own not in ("", "standalone", "subfiles")]
    candidates = candidates or [name for name, own in classes.items() if own == "standalone"]
    if not candidates:
        raise LatexError("no file has a \\documentclass")
    whole = [name for name in candidates if _BEGIN in texts[name]] or candidates
    read = {_stem(_file_of(match)) for t in texts.values() for match in _INPUT.finditer(t)}

    def rank(name: str) -> tuple[bool, bool, int, bool, int]:
        stem = PurePosixPath(name).stem.lower()
        place = _USUAL_NAMES.index(stem) if stem in _USUAL_NAMES else len(_USUAL_NAMES)
        is_besides = _BESIDES.search(stem) is not None
        size = len(flattened(document, name)) if name.count("/") == 0 else len(texts[name])
        return "/" in name, is_besides, place, _stem(name) in read, -size

    return sorted(whole, key=rank)


def _file_of(match: re.Match[str]) -> str:
    """The file that a command reads."""
    name = match["file"] or match["bare"]
    name = name or (PurePosixPath(match["folder"].strip()) / match["part"]).as_posix()
    return name.strip().strip('"')


def _stem(name: str) -> str:
    return PurePosixPath(name.strip().strip('"')).name.removesuffix(".tex")


def document_class(text: str) -> tuple[str, tuple[str, ...]]:
    """Name and options of the class."""
    match = _CLASS.search(without_comments(text))
    if match is None:
        return "", ()
    options = (part.strip() for part in (match["options"] or "").split(","))
    return match["name"].strip(), tuple(option for option in options if option)


def class_of_log(log: str) -> str | None:
    """The class that TeX says it used; one that the others are built on comes later."""
    match = re.search(r"^Document Class: (\S+)", log, re.MULTILINE)
    return match[1] if match else None


def without_comments(text: str) -> str:
    """The source without its comments; line ends stay."""
    return _COMMENT.sub(r"\1", text)


def flattened(document: SourceDocument, main: str) -> str:
    r"""The text of the document with each `\input` replaced by the file, as far as it is one of the
    document's.
    """
    files = {name: without_comments(text) for name, text in document.tex_files().items()}
    left = MAX_INPUTS

    def whole(name: str, above: frozenset[str]) -> str:
        inner = above | {name}

        def replaced(match: re.Match[str]) -> str:
            nonlocal left
            left -= 1
            folders = (PurePosixPath(main).parent, PurePosixPath(), PurePosixPath(name).parent)
            paths = (folder / f"{_file_of(match)}{end}" for folder in folders for end in ("", ".tex"))
            wanted = next((path.as_posix() for path in paths if path.as_posix() in files), None)
            if wanted is None or wanted in inner or left < 0:
                return match[0]
            return whole(wanted, inner)

        return _INPUT.sub(replaced, files[name].partition("\\end{document}")[0])

    return whole(main, frozenset())
