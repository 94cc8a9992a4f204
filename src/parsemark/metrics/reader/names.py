"""Credits for the names of rows: their label cells, and the section heading above them."""

from __future__ import annotations

from parsemark.metrics.reader.facts import Known, Side
from parsemark.metrics.reader.likeness import likeness
from parsemark.metrics.reader.parameters import Parameters
from parsemark.metrics.reader.sheet import Sheet

Labels = dict[tuple[int, tuple[int, ...]], Known]


def credit_labels(side: Side, parameters: Parameters) -> Labels:
    """The credit of each row of data under each set of label columns."""
    stubs = set(side.structure.labels)
    columns = {s for stub in stubs for s in stub}
    partners = {side.alignment.columns[s] for s in columns if s in side.alignment.columns}
    reader = _NameReader(
        side,
        parameters,
        _filled_down(side.truth, columns, side.structure.n_header),
        _filled_down(side.pred, partners, side.pred_header),
    )
    found: Labels = {}
    section: int | None = None
    for row in range(side.structure.n_header, side.truth.n_rows):
        if row in side.structure.sections:
            section = row
        for stub in stubs:
            found[row, stub] = reader.name(row, stub, None if section == row else section)
    return found


class _NameReader:
    def __init__(
        self, side: Side, parameters: Parameters, truth: dict[int, list[str]], pred: dict[int, list[str]]
    ) -> None:
        self.side, self.parameters = side, parameters
        self.truth, self.pred = truth, pred

    def name(self, row: int, stub: tuple[int, ...], section: int | None) -> Known:
        """The credit of the name of one row."""
        partner = self.side.alignment.rows.get(row)
        if partner is None:
            return Known(0.0)
        credit, padded = 1.0, False
        for col in stub:
            if not self.truth[col][row]:
                continue
            other = self.side.alignment.columns.get(col)
            if other is None:
                return Known(0.0)
            credit *= likeness(self.truth[col][row], self.pred[other][partner], self.parameters)
            padded |= self.side.truth.present[row][col] and not self.side.pred.present[partner][other]
        if section is not None:
            share = self.parameters.group / (1 + self.parameters.group)
            credit *= 1 - share * (1 - self.section(section, partner))
        return Known(credit, padded)

    def section(self, section: int, partner: int) -> float:
        """How well the section heading of a row is known: from a row above, or from a cell beside it."""
        name = self.side.truth.texts[section][0]
        at = self.side.alignment.rows.get(section)
        pred = self.side.pred
        if at is not None and at <= partner:
            candidates = pred.texts[at]
        else:
            above = next((pred.texts[r][0] for r in range(partner, -1, -1) if pred.texts[r][0]), "")
            candidates = [*pred.texts[partner], above]
        return max((likeness(name, text, self.parameters) for text in candidates), default=0.0)


def _filled_down(sheet: Sheet, columns: set[int], first: int) -> dict[int, list[str]]:
    """The texts of columns, an empty cell repeating the one above."""
    filled: dict[int, list[str]] = {}
    for col in columns:
        texts = [row[col] for row in sheet.texts]
        for row in range(first + 1, sheet.n_rows):
            if not sheet.present[row][col]:
                texts[row] = texts[row - 1]
        filled[col] = texts
    return filled
