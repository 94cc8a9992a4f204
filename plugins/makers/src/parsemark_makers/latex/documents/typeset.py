"""Typesets a document twice: clean, to publish, and marked, to read where everything is.

It is built as its authors do: pass after pass until its references stand, with its bibliography, index,
glossaries and EPS figures. Errors are passed over, as most authors pass over them: what counts is that there
is a PDF, which is what a reader sees. The report names them.
"""

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from parsemark.errors import LatexError
from parsemark.pdf import Glyph, count_pages, document_glyphs
from parsemark.plain_words import counted
from parsemark.system import pdflatex
from parsemark.system.pdflatex import first_error
from parsemark_makers.latex import marks
from parsemark_makers.latex.documents.build import LAUNCHER, Build, missing_file, package_of, repair
from parsemark_makers.latex.documents.source_tables import Candidates, read_candidates
from parsemark_makers.latex.marks import MarkedPage
from parsemark_makers.latex.sources import SourceDocument

MAX_PASSES = 4
"""Runs after the first: references, tables of contents and the widths of long tables need that many."""
MAX_REPAIRS = 12  # missing or broken files that something is put in the place of
MAX_FIGURES = 500  # EPS figures that are converted for one document
STAND_IN_MAIN = "parsemark-main"

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.+][A-Za-z0-9_.+ ,@=-]*")
_OTHER_ENGINE = re.compile(
    r"XeTeX or LuaTeX|requires? (?:either )?(?:XeTeX|LuaTeX|xelatex|lualatex)|fontspec|XeLaTeX|LuaLaTeX"
    r"|XeTeX engine|LuaTeX engine|\\directlua|\\XeTeX|\\setmainfont|\\setCJK",
)
_MAGIC = re.compile(r"^%\s*!\s*TEX\s+(?:TS-)?program\s*=\s*(\w+)", re.IGNORECASE | re.MULTILINE)
_LATEXMK_MODES = {"4": "lualatex", "5": "xelatex"}
_ERROR = re.compile(r"^! ?.*(?:\n.*){0,4}", re.MULTILINE)  # an error, with the lines that say more of it
_SHELL_ESCAPE = re.compile(r"shell.?escape|write18", re.IGNORECASE)
_WANTS_EPS = re.compile(r"File `([^'\n]{1,300})-eps-converted-to\.pdf' not found")
_LIMIT = re.compile(r"used more than|took longer than|wrote |embedded |\w+ ended by signal")
"""A reason that is not TeX's own."""
_GLOSSARY = re.compile(r"\\@newglossary\{\w+\}\{(\w+)\}\{(\w+)\}\{(\w+)\}")
MAX_MOVED = 0.5  # points by which the marks may move a glyph: as far as boxes may be from the ink
MIN_KEPT = 0.5  # the share of its pages that a document must keep


@dataclass
class LatexDocument:
    """A document as TeX set it, on its way to the corpus."""

    source: SourceDocument
    main: str  # the file that was compiled
    build: Build  # without marks
    pdf: Path  # to publish
    pages: list[MarkedPage]
    in_columns: frozenset[int]  # pages in two columns
    left_out: dict[int, str]  # pages that cannot be used, each with the reason

    @property
    def name(self) -> str:
        """Return the name of the document in the corpus."""
        return self.source.name

    @cached_property
    def candidates(self) -> Candidates:
        """Return the tables of the source."""
        return read_candidates(self.source, self.main)


def typeset(source: SourceDocument, main: str, folder: Path) -> LatexDocument:
    """Compile a document in a folder of its own.

    LatexError if it does not, if it cannot be marked, or if the marks change more than half of its pages.
    """
    root, marked_root = (folder / "clean").resolve(), (folder / "marked").resolve()
    below = source.write_to(root)
    text = source.tex_files()[main]
    compiled = plain_main(root, f"{below}/{main}" if below else main)
    build, pdf = build_clean(root, compiled, text)
    shutil.copytree(root, marked_root, ignore=shutil.ignore_patterns("*.log", pdf.name))
    shutil.copy(marks.MARKS_FILE, (marked_root / compiled).parent)
    noted = ((b"\\halign", marks.NOTE_HALIGN), (b"\\Block", marks.NOTE_BLOCKS))
    begin = "".join(note for command, note in noted if any(command in d for d in source.files.values()))
    marked_build, marked_pdf = _build_marked(build, marked_root, begin)
    if count_pages(pdf) != count_pages(marked_pdf):  # a reference may have changed: once more
        marked_build, marked_pdf = _build_marked(build, marked_root, begin)
    pages = marks.read_marks(marked_pdf)
    changed = _changed(pdf, marked_pdf, len(pages))
    if changed:  # references that never stand: the marked document is one pass ahead
        build.run(begin)
        assert build.pdf is not None
        pdf = build.pdf
        changed = _changed(pdf, marked_pdf, len(pages))
    build.cpu_s += marked_build.cpu_s
    left_out = {**changed, **_unmarked(pages)}
    if len(left_out) > (1 - MIN_KEPT) * len(pages):
        reason, count = Counter(left_out.values()).most_common(1)[0]
        raise LatexError(f"{len(left_out)} of its {len(pages)} pages cannot be used; on {count} {reason}")
    return LatexDocument(source, main, build, pdf, pages, marked_build.in_columns, left_out)


def _changed(pdf: Path, marked_pdf: Path, n_pages: int) -> dict[int, str]:
    """Return the pages on which the marks are worth nothing, since the two PDFs do not show the same."""
    one, other = document_glyphs(pdf), document_glyphs(marked_pdf)
    if not len(one) == len(other) == n_pages:
        raise LatexError("the marks change the number of its pages")
    shown = zip(map(_visible_glyphs, one), map(_visible_glyphs, other), strict=True)
    reasons = enumerate((_difference(*pair) for pair in shown), start=1)
    return {number: reason for number, reason in reasons if reason is not None}


def _difference(one: Sequence[Glyph], other: Sequence[Glyph]) -> str | None:
    if Counter(g.text for g in one) != Counter(g.text for g in other):
        return "the marks change what it shows"
    moved = _farthest(one, other)
    return f"the marks move what it shows by {moved:.1f} pt" if moved > MAX_MOVED else None


def _farthest(one: Sequence[Glyph], other: Sequence[Glyph]) -> float:
    """Return how far apart the same glyphs stand at most, each with the nearest one left."""
    places: dict[tuple[str, int, int], list[Glyph]] = defaultdict(list)
    for glyph in other:
        places[glyph.text, round(glyph.box.x0), round(glyph.box.y0)].append(glyph)
    farthest = 0.0
    for glyph in one:
        x, y = round(glyph.box.x0), round(glyph.box.y0)
        around = ((glyph.text, x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1))
        near = [(_distance(glyph, found), key, found) for key in around for found in places.get(key, ())]
        if not near:
            return min(_distance(glyph, found) for found in other if found.text == glyph.text)
        distance, key, found = min(near, key=lambda candidate: candidate[0])
        places[key].remove(found)
        farthest = max(farthest, distance)
    return farthest


def _visible_glyphs(page: Sequence[Glyph]) -> list[Glyph]:
    return [glyph for glyph in page if glyph.text.strip() and not glyph.generated]


def _distance(one: Glyph, other: Glyph) -> float:
    return max(abs(one.box.x0 - other.box.x0), abs(one.box.y0 - other.box.y0))


def _unmarked(pages: Sequence[MarkedPage]) -> dict[int, str]:
    """Return pages with a table that the marks do not see, from its beginning to its end."""
    found: dict[int, str] = {}
    is_open, name = False, ""
    for page in pages:
        if page.unmarked:
            name = page.unmarked[-1]
        if page.unmarked or is_open:
            found[page.number] = f"there is a table of {name}, whose cells cannot be marked"
        is_open ^= len(page.unmarked) % 2 == 1
    return found


def plain_main(root: Path, main: str) -> str:
    r"""Return the main file under a name that TeX can be given: itself, or a copy.

    `\input` cannot read a name with `%`, `"` or `\` in it, and programs take one that begins with `-` for an
    option. What belongs to the file by its name, such as a bibliography, is copied with it.
    """
    path = root / main
    if _PLAIN_NAME.fullmatch(path.name) and path.stem != LAUNCHER:
        return main
    for beside in sorted(path.parent.iterdir()):
        if beside.is_file() and beside.stem == path.stem:
            shutil.copy(beside, beside.with_name(f"{STAND_IN_MAIN}{beside.suffix}"))
    return path.with_name(f"{STAND_IN_MAIN}{path.suffix}").relative_to(root).as_posix()


def build_clean(root: Path, main: str, text: str) -> tuple[Build, Path]:
    """Return the document as it is to be published; LatexError says why there is no PDF."""
    engines = _engines(text, (root / main).parent)
    for engine in engines:
        build = Build(root, main, engine)
        build.run(draft=True)
        for _ in range(MAX_REPAIRS):
            if not repair(build, fatal=build.is_fatal):
                break
            build.run(draft=True)
        is_last = engine == engines[-1]
        if is_last or not _wants_other_engine(build):
            try:
                return build, _finish(build)
            except LatexError:
                if is_last or not _lacks_a_font(build):
                    raise
        for suffix in (".aux", ".out", ".toc"):  # what one engine wrote would confuse the next
            (build.folder / f"{build.job}{suffix}").unlink(missing_ok=True)
    raise LatexError("does not compile")  # pragma: no cover - the last engine returns or raises


def _build_marked(build: Build, root: Path, begin: str) -> tuple[Build, Path]:
    """Build the same with marks, in a copy of the folder: one pass, since all references are there."""
    marked_build = Build(root, build.main, build.engine)
    marked_build.run(begin + marks.LOAD_MARKS)
    if marked_build.pdf is None:
        raise LatexError(f"cannot be marked: {_why(marked_build.log)}")
    return marked_build, marked_build.pdf


def _finish(build: Build) -> Path:
    if build.is_fatal:
        raise LatexError(f"does not compile: {_why(build.log, build.reason)}")
    _convert_figures(build)
    _run_tools(build)
    before = build.state()
    repairs = MAX_REPAIRS
    for _ in range(MAX_PASSES):
        build.run()
        while build.pdf is None and repairs and repair(build, fatal=True):
            repairs -= 1
            build.run()
        if build.pdf is None:
            raise LatexError(f"does not compile: {_why(build.log, build.reason)}")
        after = build.state()
        if after == before:
            break
        before = after
    build.notes += _problems(build.log)
    assert build.pdf is not None
    return build.pdf


def _engines(text: str, folder: Path) -> list[str]:
    """Return the programs to try, in order: what the author names, else pdfLaTeX, and those for Unicode
    fonts.
    """
    others = ["lualatex", "xelatex"] if "\\directlua" in text else ["xelatex", "lualatex"]
    magic = _MAGIC.search(text[:2000])
    named = magic[1].lower() if magic else _engine_of_latexmk(folder)
    known = sorted(["pdflatex", *others], key=lambda engine: engine != named)
    return [engine for engine in known if engine == "pdflatex" or shutil.which(engine)]


def _engine_of_latexmk(folder: Path) -> str | None:
    """Return the program that the settings of latexmk name; they are read, never run."""
    for name in ("latexmkrc", ".latexmkrc"):
        path = folder / name
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")[:20_000]
            mode = re.search(r"^\s*\$pdf_mode\s*=\s*['\"]?([1-5])", text, re.MULTILINE)
            if mode and mode[1] in _LATEXMK_MODES:
                return _LATEXMK_MODES[mode[1]]
            program = re.search(r"^\s*\$pdflatex\s*=\s*['\"]?\s*(xelatex|lualatex)", text, re.MULTILINE)
            if program:
                return program[1]
    return None


def _wants_other_engine(build: Build) -> bool:
    """Return whether the errors say that another program is needed, or a font is missing that others do
    without.
    """
    wants = _OTHER_ENGINE.search("\n".join(_ERROR.findall(build.log))) is not None
    return wants or _lacks_a_font(build) if build.is_fatal else wants and build.engine == "pdflatex"


def _lacks_a_font(build: Build) -> bool:
    """Return whether pdfTeX has not found a font; the programs for Unicode fonts take others."""
    missing = missing_file(build.log)
    return build.engine == "pdflatex" and missing is not None and "." not in missing


def _why(log: str, reason: str | None = None) -> str:
    """Return why there is no PDF, and which package would help."""
    if reason is not None and _LIMIT.match(reason):
        return reason
    file = missing_file(log)
    if file is not None:
        return f"{file} is missing ({_where(file) or 'no Debian package of TeX has it'})"
    fatal = re.search(r"^! ?((?:TeX capacity exceeded|pdfTeX error).*)", log, re.MULTILINE)
    why = (fatal[1] if fatal else first_error(log)) or reason or "it makes no page"
    if _SHELL_ESCAPE.search(why):
        why += "; programs are not run for a document"
    return why


def _problems(log: str) -> Iterator[str]:
    """Yield warnings about a document that has a PDF."""
    errors = re.findall(r"^! ?(.*)", log, re.MULTILINE)
    if errors:
        yield f"compiles with {counted(len(errors), 'error')}; the first: {first_error(log)}"
        escape = next((error for error in errors if _SHELL_ESCAPE.search(error)), None)
        if escape is not None:
            yield f"wants to run programs, which is not done: {escape}"
    missing = missing_file(log)
    if missing is not None:
        where = _where(missing)
        yield f"{missing} is missing" + (f" ({where})" if where else "")


def _where(file: str) -> str:
    """Return the Debian package that has a file, and the command that installs it."""
    package = package_of(file)
    how = f": {pdflatex.FONTS_EXTRA}" if package == "texlive-fonts-extra" else ""
    return f"Debian's {package} has it{how}" if package else ""


def _convert_figures(build: Build) -> None:
    """EPS figures to PDF, which pdfLaTeX would ask a shell for."""
    wanted = list(dict.fromkeys(_WANTS_EPS.findall(build.log)))[:MAX_FIGURES]
    for stem in wanted:
        if ".." in PurePosixPath(stem).parts or stem.startswith(("/", "-")):
            continue
        output = f"{stem}-eps-converted-to.pdf"
        device = ("-sDEVICE=pdfwrite", f"-sOutputFile={output}", f"{stem}.eps")
        if not build.tool("gs", "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dEPSCrop", *device):
            build.notes.append(f"the figure {stem}.eps cannot be converted")


def _run_tools(build: Build) -> None:
    """Bibliographies, indexes and glossaries that the document wants and does not bring."""
    folder, job = build.folder, build.job
    bbl = folder / f"{job}.bbl"
    if (folder / f"{job}.bcf").is_file():
        if not bbl.is_file() or "wrong format version" in build.log:
            build.tool("biber", "--quiet", job)
    else:
        for aux in sorted(folder.glob("*.aux")):
            if "\\bibdata{" in aux.read_text(errors="replace") and not aux.with_suffix(".bbl").is_file():
                build.tool("bibtex", "-terse", aux.stem)
    for index in sorted(folder.glob("*.idx")):
        if not index.with_suffix(".ind").is_file():
            build.tool("makeindex", "-q", index.name)
    if (folder / f"{job}.nlo").is_file() and not (folder / f"{job}.nls").is_file():
        build.tool("makeindex", "-q", "-s", "nomencl.ist", "-o", f"{job}.nls", f"{job}.nlo")
    style, aux = folder / f"{job}.ist", folder / f"{job}.aux"
    if style.is_file() and aux.is_file():
        for log, out, entries in _GLOSSARY.findall(aux.read_text(errors="replace")):
            if (folder / f"{job}.{entries}").is_file():
                names = ("-t", f"{job}.{log}", "-o", f"{job}.{out}", f"{job}.{entries}")
                build.tool("makeindex", "-q", "-s", style.name, *names)
