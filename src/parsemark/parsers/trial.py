"""One parser on one page, as a user tries it."""

import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

from parsemark.errors import ParserError, PdfError, UsageError
from parsemark.model import Prediction
from parsemark.parsers.environment import Progress
from parsemark.parsers.messages import WHOLE_DOCUMENT, Answer, Hello, ProtocolError, pages_in
from parsemark.parsers.parser import Parser
from parsemark.parsers.raw import read_raw
from parsemark.parsers.session import WorkerFailure
from parsemark.parsers.worker_limits import DISK_MB, MEMORY_MB, limited_session
from parsemark.system import BROKEN_ARCHIVE

_BOM = b"\xef\xbb\xbf \t\r\n"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a parser made of a page, and what that took."""

    hello: Hello
    answer: Answer
    prediction: Prediction
    printed: str  # the end of what the worker wrote to standard error, and printed


def require_usable(parser: Parser) -> None:
    """Raise a ParserError that says what to do if the parser misses something that we cannot install."""
    state = parser.state()
    if state.missing:
        raise ParserError(f"{parser.name} cannot run here. Missing: {'; '.join(state.missing)}.")


def try_parser(
    parser: Parser,
    pdf: Path,
    page: int = 1,
    *,
    timeout_s: float = 300,
    memory_mb: int = MEMORY_MB,
    disk_mb: int = DISK_MB,
    progress: Progress | None = None,
) -> Trial:
    """Install the parser if needed and run it on one page (from 1); one of whole documents on all, and show
    that page.

    A DOCX or HTML file has one page. UsageError if there is no such file or page, or the parser does not read
    such files; ParserError if the parser cannot run, or fails on this page.
    """
    kind = _check_file(parser, pdf)
    _check_page(pdf, page, kind)
    require_usable(parser)
    parser.install(progress)
    tell = progress or (lambda _: None)
    whole = parser.info.scope == "document"
    where = pdf.name if whole or kind != "pdf" else f"page {page} of {pdf.name}"
    try:
        tell("starting its worker")
        command = parser.command()
        python, *flags, _, script = command.argv
        telling = replace(command, argv=(python, *flags, "-c", _TELLING, script))
        with limited_session(telling, memory_mb=memory_mb, disk_mb=disk_mb) as session:
            tell(f"reading {where}")
            asked = WHOLE_DOCUMENT if whole else page
            answer = session.ask(str(pdf.resolve()), asked, parser.options, timeout_s=timeout_s)
    except WorkerFailure as failure:
        raise ParserError(f"{parser.name}: {failure}{_quoted(failure.stderr_tail)}") from failure
    if answer.output is None:
        what = f"{parser.name} failed on {where}: {answer.error}"
        raise ParserError(f"{what}{_quoted(session.printed())}")
    output = _page_of(answer.output, page, parser.name) if whole else answer.output
    prediction = read_raw(output, f"{pdf.stem}-p{page}", parser.name)
    return Trial(session.hello, answer, prediction, session.printed())


def _page_of(document: bytes, page: int, parser: str) -> bytes:
    try:
        pages = pages_in(document)
    except ProtocolError as error:
        raise ParserError(f"{parser}: the worker's answer for the document is not valid: {error}.") from error
    if page not in pages:
        listed = ", ".join(str(number) for number in sorted(pages)[:20]) or "none"
        raise ParserError(f"{parser}: its document has no page {page}, only: {listed}.")
    return pages[page]


_TELLING = """
import sys, traceback, parsemark_worker as kit
plain = kit._describe
def describe(problem):
    traceback.print_exception(problem)
    return plain(problem)
kit._describe = describe
kit.run_script(sys.argv[1])
"""
"""Prints also the traceback of a page that fails. No feature of the kit, by which cached parses are known."""


def _quoted(printed: str) -> str:
    return f"\nThe worker printed:\n{printed.rstrip()}" if printed.strip() else ""


def _check_file(parser: Parser, file: Path) -> str:
    """Return the kind of a file, one that the parser reads."""
    if not file.is_file():
        raise UsageError(f"{file} does not exist.")
    kind = file_kind(file)
    reads = parser.info.reads
    if kind not in reads and not (kind is None and "pdf" in reads):  # a damaged PDF says so itself
        takes = " and ".join(known.upper() for known in reads)
        is_what = "another kind of file" if kind is None else f"a file of kind {kind.upper()}"
        raise UsageError(f"{parser.name} reads {takes}; {file.name} is {is_what}.")
    return kind or "pdf"


def file_kind(file: Path) -> str | None:
    """Return `pdf`, `docx` or `html` by what is in a file (for HTML also by its name); None for something
    else.
    """
    with file.open("rb") as stream:
        head = stream.read(1024)
    if b"%PDF-" in head:
        return "pdf"
    if head.startswith(b"PK"):
        try:
            with zipfile.ZipFile(file) as archive:
                return "docx" if "word/document.xml" in archive.namelist() else None
        except BROKEN_ARCHIVE:
            return None
    is_html = file.suffix.lower() in (".html", ".htm", ".xhtml") or head.lstrip(_BOM).startswith(b"<")
    return "html" if is_html else None


def _check_page(file: Path, page: int, kind: str) -> None:
    from parsemark.pdf import count_pages

    try:
        n_pages = count_pages(file) if kind == "pdf" else 1
    except PdfError as error:
        raise UsageError(str(error)) from error
    if not 1 <= page <= n_pages:
        has = "one page" if n_pages == 1 else f"the pages 1 to {n_pages}"
        raise UsageError(f"{file.name} has {has}, not {page}.")
