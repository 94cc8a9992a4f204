"""The figures of the strict profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsemark.protocols.aggregate import mean_sums
from parsemark.protocols.document.figures import DocumentFigures, mean_of_parts, page_measures, page_rows
from parsemark.protocols.figures import FigureInfo, FigureSums
from parsemark.protocols.run_tables import RunTables

_FAILED = "Pages on which the parser failed have everything missed."
_INFOS = (
    ("text_edit", "Text edit", "Edits over the longer side of all matches of text on a page; missed and "
     f"extra text counts in full. {_FAILED}", "pages with text on either side", True, True),
    ("formula_f1", "Formulas", "Twice the similarity of matched display formulas over the number of true and "
     f"predicted ones: missed and invented formulas count. {_FAILED}",
     "pages with a display formula on either side", False, True),
    ("cdm_f1", "Formulas (CDM)", "As Formulas, with formulas compared as they look.",
     "pages with a display formula on either side", False, True),
    ("teds_f1", "Tables", "Twice the TEDS of matched tables over the number of true and predicted ones: "
     f"missed and invented tables count. {_FAILED}", "pages with a table on either side", False, True),
    ("teds_structure_f1", "Tables (structure)", "As Tables, without the cells' content.",
     "pages with a table on either side", False, False),
    ("order_edit", "Order edit", "Edits that turn the order in which true elements were found into the true "
     f"order, over the longer list; what was missed counts. {_FAILED}", "pages with a reading order", True,
     True),
    ("heading_tree", "Heading tree", "Tree similarity of the headings; levels count only against each other.",
     "pages with a true heading", False, False),
    ("heading_parents", "Heading parents", "Share of the true headings that were found below the right one.",
     "pages with a true heading", False, False),
    ("lost_text", "Lost text", "Share of the true characters of texts and cells without any five in a row "
     "around them that the output has too.", "pages with text", True, False),
    ("invented_text", "Invented text", "Share of the output's characters without any five in a row around "
     "them that the truth has too.", "pages with output", True, False),
    ("duplicated_text", "Duplicated text", "Share of the output's characters given more often than the truth "
     "has them.", "pages with output", True, False),
)  # fmt: skip


@dataclass(frozen=True)
class StrictFigures(DocumentFigures):
    """Means over pages, with nothing left out."""

    @classmethod
    def of(cls, *, cdm: bool) -> StrictFigures:
        """The figures."""
        return cls(
            "strict",
            cdm,
            tuple(
                FigureInfo(
                    name=name,
                    label=label,
                    definition=f"{definition} Mean over pages.",
                    denominator=denominator,
                    higher_is_better=not lower,
                    main=main,
                )
                for name, label, definition, denominator, lower, main in _INFOS
            ),
        )

    def sums(self, tables: RunTables) -> list[FigureSums]:
        """Overall first, or what takes its place where parts are missing."""
        present = page_measures(tables)
        pages = {
            info.name: mean_sums(info, page_rows(tables, info.name), "value", tables)
            for info in self.infos
            if info.name in present
        }
        return [*self._overall(pages), *pages.values()]

    def _overall(self, pages: dict[str, FigureSums]) -> list[FigureSums]:
        formulas = "cdm_f1" if "cdm_f1" in pages else "formula_f1"
        parts = [name for name in ("text_edit", formulas, "teds_f1", "order_edit") if name in pages]
        if len(parts) < 2:
            return []
        is_whole = len(parts) == 4
        named = ", ".join(pages[name].info.label for name in parts)
        info = FigureInfo(
            name="overall" if is_whole else "mean_of_parts",
            label="Overall" if is_whole else f"Mean of {named}",
            definition=f"Mean of {named}, each a mean over pages; edits count as one minus themselves.",
            denominator="the figures named, each over its own pages",
            main=True,
        )
        return [mean_of_parts(info, [(pages[name], not pages[name].info.higher_is_better) for name in parts])]

    def primary(self, sums: Sequence[FigureSums]) -> str:
        """Overall; of a truth without formulas, say, what is left of it, which bears no such name."""
        names = [s.info.name for s in sums]
        parts = ("overall", "mean_of_parts", "text_edit", "teds_f1", "formula_f1", "order_edit")
        return next((n for n in parts if n in names), "overall")
