"""Verifies a corpus: its files, its boxes, and that its truth is what the PDFs show.

The figures do not trust the generator: they are measured on the published PDFs, by their text layer and
their painted objects, and on TeX's own grid of the stored LaTeX.
"""

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parsemark.corpora.base import Corpus
from parsemark.corpora.check_page import PageFigures, check_page
from parsemark.corpora.files import hash_of_files, read_manifest
from parsemark.corpora.making import Progress, silent
from parsemark.errors import CorpusError
from parsemark.model import Element
from parsemark.system import file_sha256

NORMALISED = "grid: normalised columns"


@dataclass
class CheckReport(PageFigures):
    """What was found in all pages, and in their tables as TeX sets them."""

    pages: int = 0
    grids: int = 0  # tables whose LaTeX was compiled for comparison
    grids_equal: int = 0
    grids_normalised: int = 0
    """Tables whose reading leaves out columns or rows that no reader sees; each cell lies in TeX's slots."""
    grids_skipped: int = 0  # tables without LaTeX, or whose LaTeX does not compile by itself
    grid_note: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the corpus is whole and consistent."""
        return not self.problems

    @property
    def is_faithful(self) -> bool:
        """Whether nothing was found at all: columns that no reader sees are no fault."""
        return self.ok and not +(self.causes - Counter({NORMALISED: self.causes[NORMALISED]}))

    def summary(self) -> list[str]:
        """The figures, one line each, with their denominators; nothing of what the corpus does not have."""
        pictures = f", {self.image_only} of them pictures" if self.image_only else ""
        pictures += f", {self.unseen} of them with neither PDF nor picture" if self.unseen else ""
        said = f"problems: {len(self.problems)}; disagreements: {len(self.disagreements)}"
        lines = [f"pages: {self.pages}{pictures}; {said}"]
        normalised = f"; {self.grids_normalised} more but for normalised columns"
        more = normalised if self.grids_normalised else ""
        more += f"; {self.grids_skipped} not compared" if self.grids_skipped else ""
        worst = f"; worst {self.worst_ink_distance:.3f} pt"
        for label, part, whole, rest in (
            ("grids equal to TeX's own", self.grids_equal, self.grids, more),
            ("table boxes within 0.5 pt of the ink", self.tables_at_ink, self.tables, worst),
            ("glyphs inside the box of their cell", self.glyphs_inside, self.glyphs, ""),
            ("cells whose text equals their glyphs", self.cells_equal, self.cells, ""),
            ("other elements whose text is in the text layer", self.elements_found, self.elements, ""),
        ):
            if whole:
                lines.append(f"{label}: {part} of {whole} ({100 * part / whole:.3f} %){rest}")
        if self.without_box:
            nothing = "" if self.elements or self.tables else ": nothing was measured"
            lines.append(f"elements without a box, not compared with their page: {self.without_box}{nothing}")
        return [*lines, self.grid_note] if self.grid_note else lines


def check_corpus(corpus: Corpus, progress: Progress = silent) -> CheckReport:
    """Check all files and pages of a corpus."""
    report = CheckReport()
    if (corpus.root / "corpus.json").is_file():
        report.problems += _check_files(corpus.root)
    tables: dict[tuple[str, str], list[Element]] = defaultdict(list)
    for key in corpus.keys:
        try:
            sample = corpus.read(key)
            figures = check_page(sample)
        except CorpusError as error:
            report.problems.append(str(error))
            progress(1)
            continue
        report.pages += 1
        report.add(figures)
        for element in sample.truth.tables if sample.truth is not None else ():
            if element.table is not None:
                own = "" if element.attributes.get("long") else f"{sample.id} {element.id}"
                tables[f"{sample.document} {own}", element.latex or ""].append(element)
        progress(1)
    _compare_grids(report, tables)
    return report


def _check_files(root: Path) -> list[str]:
    manifest = read_manifest(root)
    problems = []
    for name, digest in manifest.files.items():
        path = root / name
        if not path.is_file():
            problems.append(f"{name} is missing.")
        elif file_sha256(path) != digest:
            problems.append(f"{name} is not the file that corpus.json describes.")
    for folder in ("truth", "pdfs"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.relative_to(root).as_posix() not in manifest.files:
                problems.append(f"{path.relative_to(root)} is not listed in corpus.json.")
    if hash_of_files(manifest.files) != manifest.hash:
        problems.append("The hash in corpus.json is not that of its files.")
    return problems


def _compare_grids(report: CheckReport, tables: dict[tuple[str, str], list[Element]]) -> None:
    with_source = [(where, source, parts) for (where, source), parts in tables.items() if source]
    report.grids_skipped = len(tables) - len(with_source)
    if shutil.which("pdflatex") is None:
        report.grid_note = "pdflatex is not installed, so grids were not compared with TeX's."
        report.grids_skipped = len(tables)
        return
    from parsemark.corpora.latex.tex_grids import is_normalised, tex_grids

    grids = tex_grids([source for _, source, _ in with_source])
    for (where, source, parts), marked in zip(with_source, grids, strict=True):
        if marked is None:
            report.grids_skipped += 1
            continue
        report.grids += 1
        spans = set(_spans(parts))
        if spans == marked.slots:
            report.grids_equal += 1
        elif is_normalised(source, spans, marked):
            report.grids_normalised += 1
            report.causes[NORMALISED] += 1
            report.disagreements.append(f"{where.strip()}: columns or rows that no reader sees are left out.")
        else:
            report.problems.append(f"{where.strip()}: the grid differs from TeX's own.")


def _spans(parts: list[Element]) -> Iterator[tuple[int, int, int, int]]:
    """The cells of a table; the parts of a long one are joined below their common header."""
    offset = 0
    for index, part in enumerate(parts):
        table, stated = part.table, part.attributes.get("header_rows")
        assert table is not None
        head = stated if isinstance(stated, int) else min(1, table.n_rows)
        head = head if index else 0
        for cell in table.cells:
            if cell.row >= head:
                yield (cell.row - head + offset, cell.col, cell.rowspan, cell.colspan)
        offset += table.n_rows - head
