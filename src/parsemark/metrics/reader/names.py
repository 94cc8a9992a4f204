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
        _filled_down(side.pred, partners, side.pred_header, hanging=True),
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
            if not self.truth[col][row] or self._goes_on(row, col):
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

    def _goes_on(self, row: int, col: int) -> bool:
        """Whether a label cell is the right part of one that spans several label columns."""
        truth = self.side.truth
        same = col > 0 and truth.texts[row][col] == truth.texts[row][col - 1]
        return same and not truth.starts[row][col]

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


def _filled_down(
    sheet: Sheet, columns: set[int], n_header: int, *, hanging: bool = False
) -> dict[int, list[str]]:
    """The texts of columns, an empty cell repeating the one above; a header that comes again is passed over.

    Args:
        sheet: The table.
        columns: The label columns.
        n_header: How many leading rows are headers.
        hanging: Whether a name beside the header reaches down into the first rows of data. The truth's spans
            say that themselves.
    """
    heads = {tuple(sheet.texts[r]) for r in range(n_header)}
    rows = [r for r in range(n_header, sheet.n_rows) if tuple(sheet.texts[r]) not in heads]
    filled: dict[int, list[str]] = {}
    for col in columns:
        texts = [row[col] for row in sheet.texts]
        head = [texts[r] for r in range(n_header) if texts[r]] if hanging else []
        name = head[-1] if head else ""
        for row in rows:
            name = texts[row] = texts[row] or name
        filled[col] = texts
    return filled
