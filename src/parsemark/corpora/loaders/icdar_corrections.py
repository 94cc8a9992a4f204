"""Corrections of ICDAR 2013's truth: an overlay over the files, which are never edited.

The overlay is a JSON list:

    [{"document": "eu-000", "table": 1, "region": 1, "reason": "why",
      "changes": [{"cell": [2, 0], "set": {"text": "new", "colspan": 2}},
                  {"cell": [3, 1], "remove": true},
                  {"add": {"row": 4, "col": 0, "text": "missed"}}]}]

Tables and regions count from 1 in the order of the file; rows and columns from 0 inside the region. A change
that does not fit the file (its cell is not there) is an error: the files differ from those corrected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from parsemark.corpora.loaders.files import read_model
from parsemark.corpora.loaders.icdar_annotations import Annotation, Region, with_cells
from parsemark.errors import CorpusError
from parsemark.model import Cell

SHIPPED = Path(__file__).with_name("icdar2013_corrections.json")
OWN_NAME = "corrections.json"
"""A file of this name in the corpus folder is applied too."""

Count = Annotated[int, Field(ge=1, le=1000)]
Index = Annotated[int, Field(ge=0, le=100_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewValues(_Strict):
    """What a cell becomes."""

    row: Index | None = None
    col: Index | None = None
    rowspan: Count | None = None
    colspan: Count | None = None
    text: str | None = None


class AddedCell(_Strict):
    """A cell that the truth has not."""

    row: Index
    col: Index
    rowspan: Count = 1
    colspan: Count = 1
    text: str = ""


class IcdarChange(_Strict):
    """One change: set values of a cell, remove it, or add one."""

    cell: tuple[Index, Index] | None = None
    set: NewValues | None = None
    remove: Literal[True] | None = None
    add: AddedCell | None = None


class IcdarCorrection(_Strict):
    """Changes of one region, with the reason."""

    document: str
    table: Count = 1
    region: Count = 1
    reason: str
    changes: list[IcdarChange]


@dataclass(frozen=True, slots=True)
class Overlay:
    """Corrections from one or two files."""

    corrections: tuple[IcdarCorrection, ...]

    def apply(self, truth: Annotation) -> Annotation:
        """The annotation with its corrections."""
        mine = [c for c in self.corrections if c.document == truth.name]
        regions = list(truth.regions)
        for correction in mine:
            index = next(
                (
                    i
                    for i, r in enumerate(regions)
                    if (r.table, r.number + 1) == (correction.table, correction.region)
                ),
                None,
            )
            if index is None:
                raise CorpusError(
                    f"{truth.name}: the corrections name table {correction.table}, region "
                    f"{correction.region}, which the files do not have."
                )
            regions[index] = _corrected(regions[index], correction)
        return Annotation(truth.name, tuple(regions))


def overlay_for(root: Path) -> Overlay:
    """The corrections that come with parsemark, and those of the corpus folder where it has some."""
    own = root / OWN_NAME
    return Overlay(_read(SHIPPED) + (_read(own) if own.is_file() else ()))


@lru_cache(maxsize=4)
def _read(path: Path) -> tuple[IcdarCorrection, ...]:
    return tuple(read_model(path, list[IcdarCorrection]))


def _corrected(region: Region, correction: IcdarCorrection) -> Region:
    cells = {(c.row, c.col): c for c in region.cells}
    for change in correction.changes:
        if change.add is not None:
            cells[change.add.row, change.add.col] = Cell(**change.add.model_dump())
            continue
        cell = cells.pop(change.cell, None) if change.cell is not None else None
        if cell is None:
            raise CorpusError(
                f"{correction.document}, table {correction.table}: the corrections change a cell at "
                f"{change.cell}, which the files do not have."
            )
        if change.set is not None:
            changed = replace(cell, **change.set.model_dump(exclude_none=True))
            cells[changed.row, changed.col] = changed
    return with_cells(region, tuple(cells.values()), correction.reason)
