"""The published programs as data: `profiles.toml` says what differs between versions, defect by defect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from parsemark.errors import require_known
from parsemark.protocols.run_scores.sums import read_toml


@dataclass(frozen=True)
class Profile:
    """One published version of OmniDocBench's evaluation (switches: `profiles.toml`)."""

    name: str
    missing_page_is_empty: bool
    reads_ignore: bool
    unites_truncated: bool
    mixes_formulas: bool
    keeps_image_room: bool
    unwraps_html_and_latex_fences: bool
    shortens_runs: bool
    formula_keeps_spaces: bool
    lone_dollars_are_formula: bool
    rescues_formulas: bool
    guards_latex_text: bool
    formula_norm: Literal["v1.0", "v1.5", "v1.6"]
    normalises_table_cells: bool
    lone_brace_empties_text: bool
    filters_strings_only: bool
    ignored_first: bool
    group_limit: int
    formulas_can_be_contained: bool
    leftovers_by_ned: bool
    repeats_unmatched_truths: bool
    splits_rows: Literal["no", "array", "all"]
    index_zero_is_missing: bool
    latex_tables: Literal["apart", "zero", "html"]
    leftover_cells_are_text: bool
    leftover_tables_are_lines: bool
    moves_text_formulas: bool
    refines_matches: bool
    order_of_all: bool
    whole_and_sample_means: bool
    page_variance: bool
    silent_pages_are_zero: bool
    teds_fails_together: bool
    cdm: Literal["none", "v1.5", "v1.6"]
    bleu_of_bare_text: bool
    bleu_turned_round: bool

    def __hash__(self) -> int:
        """Return the hash of its name alone: each text that is normalised asks for it."""
        return hash(self.name)


_SWITCHES: dict[str, list[Any]] = read_toml(__package__, "profiles.toml")
V1_0, V1_5, V1_6 = (
    Profile(name, **{switch: row[k] for switch, row in _SWITCHES.items()})
    for k, name in enumerate(("v1.0", "v1.5", "v1.6"))
)
V1_6_FIXED = replace(V1_6, name="v1.6-fixed", index_zero_is_missing=False, filters_strings_only=False)
"""v1.6 with its two index defects mended."""
V1_7 = replace(V1_6, name="v1.7", index_zero_is_missing=False, leftover_tables_are_lines=True)
"""v1.6 with both later changes to its matching; published rows of v1.7 may have none, one or both."""
STRICT_COMPONENTS = replace(V1_6, name="strict", bleu_of_bare_text=False, bleu_turned_round=False)
"""The notation of v1.6 without its defects, for a table or formula on its own; texts have that of strict."""

PROFILES = {p.name: p for p in (V1_0, V1_5, V1_6, V1_6_FIXED, V1_7)}


def get_profile(name: str) -> Profile:
    """Return the published profile of that name."""
    require_known("profile", name, PROFILES)
    return PROFILES[name]


SWITCH_SENTENCES = {switch: str(row[-1]) for switch, row in _SWITCHES.items()}
"""What each switch does."""
