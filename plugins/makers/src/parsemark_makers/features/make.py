"""Reads the files of features, makes each pair of pages in every maker that can, and writes the corpus."""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from parsemark.corpora.making import (
    MadeCorpus,
    Maker,
    MakingJob,
    option,
    write_manifest,
    write_page,
)
from parsemark.errors import CorpusError, MakingError, UsageError
from parsemark.model import Fact, Page, Sample
from parsemark.pdf import page_shapes
from parsemark.plain_words import counted, first_problem
from parsemark.system import ScratchFolder, make_folder, write_bytes, write_text
from parsemark.system.pdflatex import compile_latex, require_pdflatex
from parsemark_makers.features.protocol import RULES, check_spelling
from parsemark_makers.synthetic.renderers.docx import convert
from parsemark_makers.synthetic.renderers.fonts import OWN, SYMBOLS, font_files
from parsemark_makers.synthetic.renderers.html import print_pages
from parsemark_makers.synthetic.renderers.typst import set_sources

FEATURES = Path(__file__).with_name("pages")  # the features that parsemark comes with
MAX_BYTES = 200_000  # of the file of a feature
MakerName = Literal["docx", "html", "latex", "typst"]
MAKERS: tuple[MakerName, ...] = ("docx", "html", "latex", "typst")
_PAIR = re.compile("⟦([^⟦⟧‖]*)‖([^⟦⟧‖]*)⟧")
_RUN = re.compile(r"\{([^|{}]+)\|([^{}]*)\}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class _Strict(BaseModel):
    """No unknown keys, so that a misspelt one is found."""

    model_config = ConfigDict(extra="forbid")


class MakerSource(_Strict):
    """A page in the language of one maker; `⟦a‖b⟧` is `a` with the feature and `b` without it."""

    body: str
    head: str = ""  # styles, or a preamble
    framed: bool = True  # whether a heading and a paragraph come before it, and a paragraph after it
    passes: int = Field(default=1, ge=1, le=3)  # how often LaTeX must run

    @model_validator(mode="after")
    def _is_pair(self) -> MakerSource:
        if self.half(0) == self.half(1):
            raise ValueError("has no ⟦with‖without⟧, so that both pages are the same")
        return self

    def half(self, which: int) -> tuple[str, str]:
        """Return head and body of the page with the feature (0), or without it (1)."""
        head, body = (_PAIR.sub(lambda m: m[which + 1], text) for text in (self.head, self.body))
        return head, body


class FeatureFile(_Strict):
    """What a feature is: how it is made, and how its meaning can be written."""

    title: str = Field(min_length=1, max_length=40)
    means: str = Field(min_length=1)  # what the page says by it, as a sentence
    is_mark: bool = True
    """Whether an output of the page without it must not be spelled so; False where the words are the same."""
    kept: list[str | list[str]] = Field(min_length=1)
    """Spellings that keep the meaning (`protocols.features.ReadOutput.says`); one of them is enough."""
    changed: list[str | list[str]] = Field(default_factory=list)  # spellings that say something else
    unsupported: tuple[Literal["text", "tables"], ...] = ("tables",)
    """Formats that cannot say it: plain `text`, or nothing but `tables`."""
    makers: dict[MakerName, MakerSource] = Field(min_length=1)
    cannot: dict[MakerName, str] = Field(default_factory=dict)  # why other makers have no such page

    @model_validator(mode="after")
    def _is_whole(self) -> FeatureFile:
        for spelling in (*self.kept, *self.changed):
            check_spelling(spelling)
        if silent_on := sorted(set(MAKERS) - set(self.makers) - set(self.cannot)):
            raise ValueError(f"has neither a page nor a reason under `cannot` for {', '.join(silent_on)}")
        return self

    def facts(self, name: str, *, control: bool) -> tuple[Fact, ...]:
        """Return the fact of one of both pages."""
        asked = {"is_mark"} if control else {"means", "changed", "unsupported"}
        said = {key: getattr(self, key) for key in ("title", "kept", *sorted(asked))}
        return (Fact(name, "control" if control else "feature", RULES, said, 1, "generated", name),)


def read_features(folder: Path = FEATURES) -> dict[str, FeatureFile]:
    """Return the features of a folder by name, in order; CorpusError names the file that is none."""
    found = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            if path.stat().st_size > MAX_BYTES:
                raise CorpusError("it exceeds the size limit of a feature file")
            if _NAME.fullmatch(path.stem) is None:
                raise CorpusError("a feature's name may contain only lower-case letters, digits and hyphens")
            found[path.stem] = FeatureFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except ValidationError as error:
            raise CorpusError(f"{path}: {first_problem(error)}.") from error
        except (CorpusError, OSError, ValueError) as error:
            raise CorpusError(f"{path}: {str(error).rstrip('.')}.") from error
    if not found:
        raise UsageError(f"{folder} has no feature file (NAME.toml).")
    return found


@dataclass(frozen=True, kw_only=True)
class Features(Maker):
    """Pairs of pages, one with a feature and one without: strikethrough, footnotes, columns and more."""

    generator: ClassVar[str] = "parsemark features 1"
    sources_help: ClassVar[str] = "A folder of feature files (NAME.toml) in place of the built-in ones."

    makers: tuple[str, ...] = option("Programs that set the pages.", MAKERS)
    only: tuple[str, ...] = option("Names of features (default: all).", ())

    def __post_init__(self) -> None:
        _require_known("maker", self.makers, MAKERS)

    def _features(self, job: MakingJob) -> dict[str, FeatureFile]:
        """Return the chosen features."""
        if len(job.sources) > 1:
            raise UsageError("Give one folder of feature files.")
        features = read_features(*job.sources)
        _require_known("feature", self.only, tuple(features))
        return {name: feature for name, feature in features.items() if not self.only or name in self.only}

    def n_steps(self, job: MakingJob) -> int:
        """Return the number of documents."""
        return 2 * sum(maker in self.makers for f in self._features(job).values() for maker in f.makers)

    def make(self, job: MakingJob) -> MadeCorpus:
        """Set each pair of pages with every program that can."""
        features = self._features(job)
        for folder in ("pdfs", "truth"):
            make_folder(job.out / folder)
        frames = tomllib.loads(Path(__file__).with_name("makers.toml").read_text(encoding="utf-8"))
        with ScratchFolder("parsemark-") as work:
            for maker in (maker for maker in MAKERS if maker in self.makers):
                sources = {name: f.makers[maker] for name, f in features.items() if maker in f.makers}
                written = {
                    f"{name}-{maker}-{half}": (_filled(frames[maker], source, which), source)
                    for name, source in sources.items()
                    for which, half in enumerate(("with", "without"))
                }
                if written:
                    _SETTERS[maker](written, work.resolve())
                for document in written:
                    name, half = document.split(f"-{maker}-")
                    write_bytes(job.out / f"pdfs/{document}.pdf", (work / f"{document}.pdf").read_bytes())
                    _write(job.out, document, features[name], name, maker, half)
                    job.progress(1)
        manifest = write_manifest(
            job.out,
            name="features",
            licence="CC0-1.0",
            description="Minimal pairs: a page with a feature, and the same page without it.",
            generator=self.generator,
            settings={"makers": list(self.makers), "features": list(features)},
        )
        return MadeCorpus(manifest, (counted(len(features), "feature"),))


def _require_known(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"Unknown {what} {unknown[0]!r}; choose among {', '.join(known)}.")


def _filled(frame: Mapping[str, str], source: MakerSource, which: int) -> str:
    head, body = source.half(which)
    body = f"{frame['before']}\n\n{body.strip()}\n\n{frame['after']}" if source.framed else body.strip()
    return frame["page"].replace("@HEAD@", head).replace("@BODY@", body)


def _write(out: Path, document: str, feature: FeatureFile, name: str, maker: str, half: str) -> None:
    pdf = out / f"pdfs/{document}.pdf"
    attributes = {"feature": feature.title, "maker": maker, "page": half}
    for number, shape in enumerate(page_shapes(pdf), start=1):
        key = document if number == 1 else f"{document}-p{number}"
        facts = feature.facts(name, control=half == "without") if number == 1 else ()
        truth = Page(key, shape.width, shape.height, attributes=attributes, facts=facts, only_facts=True)
        write_page(out, Sample(key, document, number, truth, pdf), f"pdfs/{document}.pdf")


# --- the makers ---------------------------------------------------------------------------------------------

Written = Mapping[str, tuple[str, MakerSource]]  # document to its source


def _html(written: Written, folder: Path) -> None:
    pairs = ((text, str(folder / f"{name}.pdf")) for name, (text, _) in written.items())
    print_pages([{"html": text, "pdf": pdf} for text, pdf in pairs], folder)


def _typst(written: Written, folder: Path) -> None:
    wanted = ["Noto Serif", *SYMBOLS, *(family for own in OWN.values() for family in own)]
    fonts = sorted({str(path.parent) for path in font_files(wanted)})
    jobs = []
    for name, (text, _) in written.items():
        source = folder / f"{name}.typ"
        write_text(source, f"{text}\n#metadata(())<places>\n")
        jobs.append([name, str(source), fonts])
    set_sources(jobs, folder)


def _latex(written: Written, folder: Path) -> None:
    require_pdflatex("Making pages")
    for name, (text, source) in written.items():
        done = compile_latex(text, folder, name=name, passes=source.passes)
        if not done.ok:
            raise MakingError(f"{name}: LaTeX failed: {done.reason}")


def _docx(written: Written, folder: Path) -> None:
    for name, (text, _) in written.items():
        write_bytes(folder / f"{name}.docx", docx_of(text))
    with ScratchFolder("parsemark-") as profile:
        convert(folder, list(written), profile)


_SETTERS = {"html": _html, "typst": _typst, "latex": _latex, "docx": _docx}


def docx_of(text: str) -> bytes:
    """Return a Word document: blocks with empty lines between them.

    A block that begins with `<` is WordprocessingML, one with `|` a table, any other a paragraph, with its
    style in front (`[Heading1] Results`). `{strike|old}` and `{u=single|x}` are runs with such properties,
    `{link=https://…|x}` is a link. In a table `2>x` spans two columns, `v>x` goes on in the row below at `^`.
    """
    import docx
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    document = docx.Document()
    body = document.element.body
    for block in re.split(r"\n\s*\n", text.strip()):
        kind = block.lstrip()[:1]
        xml = block if kind == "<" else _table_xml(block) if kind == "|" else _paragraph_xml(block)
        for child in list(parse_xml(f"<root {nsdecls('w', 'r', 'wp', 'a')}>{xml}</root>")):
            if child.tag.endswith("}sectPr"):
                body.remove(body.sectPr)
                body.append(child)
            else:
                body.sectPr.addprevious(child)
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def _table_xml(block: str) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
    columns = '<w:gridCol w:w="1700"/>' * max(map(len, rows))
    style = '<w:tblPr><w:tblStyle w:val="TableGrid"/></w:tblPr>'
    cells = "".join(f"<w:tr>{''.join(map(_cell_xml, row))}</w:tr>" for row in rows)
    return f"<w:tbl>{style}<w:tblGrid>{columns}</w:tblGrid>{cells}</w:tbl>"


def _cell_xml(cell: str) -> str:
    mark, _, text = cell.rpartition(">")
    merged = '<w:vMerge w:val="restart"/>' if mark == "v" else "<w:vMerge/>" if cell == "^" else ""
    span = f'<w:gridSpan w:val="{mark}"/>' if mark.isdigit() else ""
    return f"<w:tc><w:tcPr>{span}{merged}</w:tcPr>{_paragraph_xml('' if cell == '^' else text)}</w:tc>"


def _paragraph_xml(block: str) -> str:
    style, text = (m[1], m[2]) if (m := re.match(r"\[(\w+)\] (.*)", block, re.DOTALL)) else ("", block)
    runs = "".join(_runs_xml(" ".join(text.split(" ")).replace("\n", " ")))
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{runs}</w:p>' if style else f"<w:p>{runs}</w:p>"


def _runs_xml(text: str) -> Iterator[str]:
    parts = _RUN.split(text)  # plain text, and in turn the properties and the text of a run
    for plain, properties, run in zip_longest(parts[::3], parts[1::3], parts[2::3], fillvalue=""):
        yield _run_xml("", plain)
        if properties.startswith("link="):
            field = escape(f'HYPERLINK "{properties.removeprefix("link=")}"')
            yield f'<w:fldSimple w:instr="{field}">{_run_xml("", run)}</w:fldSimple>'
        else:
            yield _run_xml(properties, run)


def _run_xml(properties: str, text: str) -> str:
    if not text:
        return ""
    inner = ""
    for key, equals, value in (one.partition("=") for one in properties.split()):
        inner += f'<w:{key} w:val="{value}"/>' if equals else f"<w:{key}/>"
    return f'<w:r><w:rPr>{inner}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'
