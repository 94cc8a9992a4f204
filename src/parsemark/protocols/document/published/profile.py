"""The published programs as data: what differs between versions, and each defect as one named switch."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from parsemark.errors import UnknownNameError


@dataclass(frozen=True)
class Profile:
    """One published version of OmniDocBench's evaluation. `docs/protocol-document.md` lists the switches."""

    name: str

    # --- truth -------------------------------------------------------------------------------------------
    missing_page_is_empty: bool = True
    """A page without a prediction is scored as empty; else it is in no average (v1.0, v1.5)."""
    reads_ignore: bool = True
    """Elements marked `ignore` are left out; else the mark is never read (v1.0, v1.5)."""
    unites_truncated: bool = True
    """Truncated parts are united as sets; else a part in two relations is written twice (v1.0, v1.5)."""
    mixes_formulas: bool = True
    """Text and formulas are matched together; else each kind apart (v1.0)."""

    # --- Markdown to items -------------------------------------------------------------------------------
    keeps_image_room: bool = True
    """Images become spaces; else they are deleted and later positions move (v1.0, v1.5)."""
    unwraps_html_and_latex_fences: bool = True
    """Fences of html and latex are removed as those of markdown are; not in v1.0."""
    shortens_runs: bool = False
    """Eleven or more of one character other than a letter or digit become four (v1.0)."""
    formula_keeps_spaces: bool = True
    """White space inside a formula survives; v1.0 deletes it all."""
    lone_dollars_are_formula: bool = False
    """A paragraph that starts and ends with `$` is a formula and no text, even `$a$ is $b$` (v1.0, v1.5)."""
    rescues_formulas: bool = False
    """Formulas are also looked for in text, cells and captions of images (v1.6)."""

    # --- normalisation -----------------------------------------------------------------------------------
    guards_latex_text: bool = True
    """Inline formulas become text only where that is safe, and circled characters are plain (v1.6)."""
    formula_norm: Literal["v1.0", "v1.5", "v1.6"] = "v1.6"
    """Which rules normalise formulas; v1.0 leaves the truth's `$$` and newlines in, so nothing fits."""
    normalises_table_cells: bool = True
    """Tables are matched as normalised HTML with normalised cells; else as raw strings (v1.0, v1.5)."""
    lone_brace_empties_text: bool = False
    """A stray `}` or an unclosed argument empties an inline formula (pylatexenc 3.0a30: v1.0, v1.5)."""

    # --- matching ----------------------------------------------------------------------------------------
    filters_strings_only: bool = True
    """Defect: empty strings are dropped from the strings but not from the items they are looked up in."""
    ignored_first: bool = True
    """Captions, headers and the like take what fits them before the rest is matched; not in v1.0."""
    group_limit: int | None = 160
    """How many predictions may be merged for one truth; None: any number (v1.0, v1.5)."""
    formulas_can_be_contained: bool = False
    """Unmatched formula truths may be found inside of a prediction (v1.0, v1.5)."""
    leftovers_by_ned: bool = True
    """The second assignment minimises the normalised distance; v1.0 the plain one."""
    counts_leftover_predictions: bool = False
    """Predictions that answer nothing count, but only where no truth is left (v1.0)."""
    repeats_unmatched_truths: bool = False
    """Defect: where no prediction is left, an unmatched truth is counted twice (v1.0)."""
    splits_rows: Literal["no", "array", "all"] = "all"
    """Which formulas of several rows are split: none (v1.0), one-column arrays (v1.5), most (v1.6)."""
    index_zero_is_missing: bool = True
    """Defect: the first predicted table has no position, so reading order takes it for missing."""
    latex_tables: Literal["apart", "zero", "html"] = "html"
    """LaTeX tables: they alone count if they outnumber HTML, else none (v1.0); 0 (v1.5); as HTML (v1.6)."""
    leftover_cells_are_text: bool = False
    """Cells of tables that answer no truth are matched as text (v1.5)."""
    moves_text_formulas: bool = False
    """Formulas answered by text are scored as text (v1.5)."""
    refines_matches: bool = False
    """Mixed pairs are compared as text, runs of items are searched, formulas matched again (v1.6)."""
    order_of_all: bool = False
    """Reading order has text, formulas and tables (v1.6); else text alone."""

    # --- figures -----------------------------------------------------------------------------------------
    whole_and_sample_means: bool = True
    """`edit_whole` and `edit_sample_avg` are given; not in v1.0."""
    page_variance: bool = False
    """The variance over pages is given (v1.0)."""
    silent_pages_are_zero: bool = False
    """Pages with a table (formula) but no record enter TEDS (CDM) with 0 (v1.6)."""
    teds_fails_together: bool = False
    """An error in one of TEDS and TEDS-S makes both 0 (v1.6)."""
    cdm: Literal["none", "v1.5", "v1.6"] = "v1.6"
    """Which rules CDM follows; v1.0 left it to another program."""
    bleu_of_bare_text: bool = True
    """Defect: BLEU of texts is taken without their white space, so a block is one word and BLEU 0."""
    bleu_turned_round: bool = True
    """Defect: BLEU takes the truth for the prediction and the prediction for the truth."""
    overall: Literal["edits", "mixed"] = "mixed"
    """Overall: mean of four edit distances per language (v1.0), or of text, TEDS and CDM."""


V1_6 = Profile(
    "v1.6",
    rescues_formulas=True,
    refines_matches=True,
    order_of_all=True,
    silent_pages_are_zero=True,
    teds_fails_together=True,
)
V1_5 = replace(
    V1_6,
    name="v1.5",
    missing_page_is_empty=False,
    reads_ignore=False,
    unites_truncated=False,
    keeps_image_room=False,
    lone_dollars_are_formula=True,
    rescues_formulas=False,
    guards_latex_text=False,
    formula_norm="v1.5",
    normalises_table_cells=False,
    lone_brace_empties_text=True,
    group_limit=None,
    formulas_can_be_contained=True,
    splits_rows="array",
    latex_tables="zero",
    leftover_cells_are_text=True,
    moves_text_formulas=True,
    refines_matches=False,
    order_of_all=False,
    silent_pages_are_zero=False,
    teds_fails_together=False,
    cdm="v1.5",
)
V1_0 = replace(
    V1_5,
    name="v1.0",
    mixes_formulas=False,
    unwraps_html_and_latex_fences=False,
    shortens_runs=True,
    formula_keeps_spaces=False,
    formula_norm="v1.0",
    ignored_first=False,
    leftovers_by_ned=False,
    counts_leftover_predictions=True,
    repeats_unmatched_truths=True,
    splits_rows="no",
    latex_tables="apart",
    leftover_cells_are_text=False,
    moves_text_formulas=False,
    whole_and_sample_means=False,
    page_variance=True,
    cdm="none",
    overall="edits",
)
V1_6_FIXED = replace(V1_6, name="v1.6-fixed", index_zero_is_missing=False, filters_strings_only=False)
"""v1.6 with its two index defects mended."""
STRICT_COMPONENTS = replace(V1_6, name="strict", bleu_of_bare_text=False, bleu_turned_round=False)
"""The notation of v1.6 without its defects, for a component on its own; whole pages have their own rules."""

PROFILES = {p.name: p for p in (V1_0, V1_5, V1_6, V1_6_FIXED)}


def get_profile(name: str) -> Profile:
    """The published profile of that name."""
    if name not in PROFILES:
        raise UnknownNameError("profile", name, list(PROFILES))
    return PROFILES[name]


def differences(a: Profile, b: Profile) -> dict[str, tuple[object, object]]:
    """The switches in which two profiles differ."""
    return {
        f.name: (getattr(a, f.name), getattr(b, f.name))
        for f in fields(Profile)
        if f.name != "name" and getattr(a, f.name) != getattr(b, f.name)
    }


@lru_cache(maxsize=1)
def switch_sentences() -> dict[str, str]:
    """What each switch means: the sentence under it in this file."""
    body = ast.parse(inspect.getsource(Profile)).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, text in pairwise(body.body):
        is_switch = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if is_switch and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            found[field.target.id] = " ".join(str(text.value.value).split())  # type: ignore[attr-defined]
    return found
