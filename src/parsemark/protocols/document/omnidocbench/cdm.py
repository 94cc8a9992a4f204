"""What of formulas is drawn for CDM: matrices are cleaned before (sections 8 and 10.1)."""

import re

from parsemark.formats.latex.formula import bare_formula
from parsemark.protocols.document.omnidocbench.normalise import unwrap_formula, without_tags
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.records import Record
from parsemark.protocols.document.omnidocbench.rows import top_rows
from parsemark.protocols.document.omnidocbench.scan import brace_ends

_FENCE = "```latex"
_MATRIX_NAMES = "matrix|bmatrix|pmatrix|vmatrix|Vmatrix|smallmatrix"
_MATRIX = re.compile(rf"\\begin\{{(?:{_MATRIX_NAMES})\}}")
_EMPTY_SPEC = re.compile(r"\\begin\{array\}\s*\{\s*\}")
_DOUBLE_SUB = re.compile(r"_\{\s*_\{([^{}]*)\}\s*\}")
_FONT = re.compile(r"\\(?:boldsymbol|mathbf|mathrm|mathit|mathsf|mathtt|textbf)\s*\{([^{}]*)\}")
_DET = re.compile(r"\\operatorname\s*\{\s*det\s*\}")
_GRID = re.compile(
    rf"(\\begin\{{(array|{_MATRIX_NAMES})\}}(?:\{{[^{{}}]*\}})?)((?:(?!\\begin\{{|\\end\{{).)*)(\\end\{{\2\}})",
    re.DOTALL,
)
_ALIGNED = re.compile(r"^\\begin\{aligned\}(.*)\\end\{aligned\}$", re.DOTALL)
_LIST = re.compile(r"^\\begin\{array\}\{l\}(.*)\\end\{array\}$", re.DOTALL)


def cdm_strings(record: Record, profile: Profile) -> tuple[str, list[str]]:
    """Return the truth, and the predictions of which the better one counts."""
    pred = record.pred
    if _FENCE in pred:
        pred = pred.rpartition(_FENCE)[2].partition("```")[0]
    if profile.cdm != "v1.6":
        return record.gt.strip("$").strip(), [pred.strip("$").strip()]
    truth = record.gt if record.gt_cdm is None else record.gt_cdm
    preds = [without_tags(bare_formula(pred)).strip()]
    return truth, preds + ([record.pred_cdm_alt] if record.pred_cdm_alt else [])


def cdm_variants(gt: str, pred: str) -> tuple[str, str | None]:
    """Return the texts that CDM compares: the truth without tags, and a cleaned prediction where matrices are
    concerned.
    """
    truth = without_tags(unwrap_formula(gt))
    if _EMPTY_SPEC.search(truth) is not None:
        truth = _clean_matrix(truth)
    if not (_is_matrix(gt) or _is_matrix(pred)):
        return truth, None
    plain = without_tags(unwrap_formula(pred))
    cleaned = _clean_matrix(plain)
    return truth, cleaned if cleaned != plain else None


def _is_matrix(text: str) -> bool:
    """Return whether a matrix, or an array that is drawn as one, occurs."""
    if _MATRIX.search(text) is not None:
        return True
    return "\\begin{array}" in text and any(mark in text for mark in ("\\left[", "\\right]", "&"))


def _clean_matrix(text: str, depth: int = 0) -> str:
    """Remove the parts that a matrix does not need."""
    text = _without_outer_braces(text.strip())
    text = _EMPTY_SPEC.sub(r"\\begin{array}{l}", text).replace("\\dfrac", "\\frac")
    text = _DOUBLE_SUB.sub(r"_{\1}", text)
    while True:
        plainer = _FONT.sub(r"\1", text)
        if plainer == text:
            break
        text = plainer
    text = _GRID.sub(_clean_grid, _DET.sub(r"\\det", text))
    if (aligned := _ALIGNED.match(text)) is not None:
        inner = aligned[1].strip()
        is_one_matrix = _MATRIX.match(inner) is not None and len(_MATRIX.findall(inner)) == 1
        text = inner if is_one_matrix and inner.endswith("matrix}") else text
    rows = _LIST.match(text)
    if rows is not None and _MATRIX.search(rows[1]) is not None:
        text = r" \qquad ".join(_without_outer_braces(row) for row in top_rows(rows[1]))
        if depth < 5:
            text = _clean_matrix(text, depth + 1)
    return text


def _without_outer_braces(text: str) -> str:
    text = text.strip()
    while brace_ends(text).get(0) == len(text):
        text = text[1:-1].strip()
    return text


def _clean_grid(match: re.Match[str]) -> str:
    begin, _, body, end = match.groups()
    rows = [
        "&".join(_without_outer_braces(cell) for cell in re.split(r"(?<!\\)&", row)) for row in top_rows(body)
    ]
    return begin + "\\\\".join(rows) + end
