"""What ParseBench's programs say beside its five dimensions: no figure of a run needs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
from lxml import html

from parsemark.metrics import EditTree, reference_tree, tree_similarity
from parsemark_boards.parsebench import diagrams, furniture, layout, protocol, styling, tables
from parsemark_boards.parsebench.content import AskedMarkdown, Rule
from parsemark_boards.parsebench.grids import html_grids, soup_of, table_slices
from parsemark_boards.parsebench.text import norm_cell

Answer = Mapping[str, Any]
"""What a parser's service says beside its Markdown."""
_WITHOUT_TABLES = ("grits_con", "table_record_match", "table_record_match_perfect", "grits_trm_composite")


def mermaid(source: str) -> dict[str, Any]:
    """A source as a graph, in the words of the benchmark's files."""
    graph = diagrams.parse_mermaid(source)
    return {
        "type": graph.kind,
        "direction": graph.direction,
        "nodes": [
            {"id": node, "label": label, **({"group": group} if (group := graph.group_of.get(node)) else {})}
            for node, label in graph.labels.items()
        ],
        "edges": [
            {"from": own.source, "to": own.target}
            | ({"label": own.label} if own.label else {})
            | ({} if own.directed else {"directed": False})
            | ({"bidirectional": True} if own.both_ways else {})
            for own in graph.edges
        ],
        "groups": graph.groups,
        "errors": graph.errors,
    }


def form_text(rule: Mapping[str, Any], markdown: str, parsed: Mapping[str, Any]) -> str:
    """The page that a rule speaks of, or the document."""
    page = rule.get("page")
    if not page or not (parsed.get("pages") or parsed.get("layout_pages")):
        return markdown
    for own in parsed.get("pages") or ():
        if own.get("page_index") == page - 1:
            return str(own.get("markdown") or "")
    for own in parsed.get("layout_pages") or ():
        if own.get("page_number") == page:
            items = [i.get("md") or i.get("html") or i.get("value") or "" for i in own.get("items") or ()]
            return str(own.get("md") or "\n\n".join(filter(None, items)))
    return ""


def run_rule(rule: Rule, markdown: str, parsed: Answer, raw: Answer) -> dict[str, Any]:
    """What came of a rule, also of one that looks at more than Markdown."""
    pages = list(parsed.get("layout_pages") or ())
    kind = rule["type"]
    if kind == "watermark_removal":
        own = [p for p in parsed.get("pages") or () if p.get("page_index") == rule.get("page", 0) - 1]
        markdown = str(own[0].get("markdown") or "") if own else markdown
    if kind == "page_decoration" and markdown and pages:
        of_page = [p for p in pages if rule.get("page") in (None, p.get("page_number"))] or pages
        slots = {slot: of_page[0].get(f"page_{slot}_markdown") or None for slot in ("header", "footer")}
        slots["page_number"] = of_page[0].get("printed_page_number") or None
        passed, score = furniture.decide_decoration(rule, markdown, slots)
        return {"passed": passed, "score": score}
    if kind == "form_field":
        markdown = form_text(rule, markdown, parsed) if markdown else ""
    if not markdown or kind == "form_field" or (kind not in protocol.BESIDE_MARKDOWN and not pages):
        return protocol.run_rule(rule, AskedMarkdown(markdown))
    if kind == "rotate_check":
        if rule.get("value") is None:
            return {"passed": False, "score": 0.0, "error": True}
        pages = pages or list(raw.get("pages") or ())
        passed = bool(pages) and pages[0].get("original_orientation_angle") == rule["value"]
    elif kind in ("is_header", "is_footer"):
        part = kind.removeprefix("is_")
        asked = [p for p in pages if rule.get("page") in (None, p.get("page_number"))]
        texts = [str(p.get(f"page_{part}_markdown") or "").replace("<", " ") for p in asked]
        tagged = (f"<page_{part}>{text}</page_{part}>" for text in texts)
        passed = any(styling.in_running_head(rule, own) for own in tagged)
    else:
        return protocol.run_rule(rule, AskedMarkdown(markdown))
    return {"passed": passed, "score": float(passed)}


def document_metrics(listed: Sequence[Rule], markdown: str) -> dict[str, Any]:
    """All metrics of a document's rules, under the names of the board's files."""
    results = [run_rule(rule, markdown, {}, {}) for rule in listed]
    scores = [own["score"] for own in results if "score" in own]
    listed = [rule for rule, own in zip(listed, results, strict=True) if "score" in own]
    metrics = {"rule_pass_rate": fmean(scores) if scores else 1.0}
    for kind in {rule["type"] for rule in listed}:
        own = [score for rule, score in zip(listed, scores, strict=True) if rule["type"] == kind]
        metrics[f"rule_{kind}_pass_rate"] = fmean(own)
    for name, value in protocol.document_scores(listed, AskedMarkdown(markdown)).items():
        bare = name in ("content_faithfulness", "semantic_formatting")
        if name != "rule_pass_rate":
            metrics[name if bare else f"normalized_{name}"] = value
    angles: dict[Any, list[float]] = {}
    for rule, score in zip(listed, scores, strict=True):
        if rule["type"] == "rotate_check":
            angles.setdefault(rule.get("value"), []).append(score)
    if angles:
        shares = {angle: fmean(own) for angle, own in angles.items()}
        metrics |= {f"rotate_check_{angle}_pass_rate": share for angle, share in shares.items()}
        weighted = 10 * shares.get(0, 0.0) + sum(shares.get(angle, 0.0) for angle in (90, 180, 270))
        metrics["normalized_rotate_check"] = weighted / 13
    return {"metrics": metrics, "rule_scores": scores}


def table_metrics(truth: str, pred: str, flags: Mapping[str, Any]) -> dict[str, Any]:
    """All measures of a document's tables."""
    found = tables.table_metrics(truth, pred, **flags)
    if "pairing" not in found:
        return dict.fromkeys(_WITHOUT_TABLES, 0.0) if found else {}
    pred = tables.with_titles_inside(truth, pred)
    n_wanted, slices, pairs = len(table_slices(truth)), table_slices(pred), found["pairing"]
    grids = [grid for source in slices for grid in html_grids(source)[:1]]
    n_found = len(grids)
    if flags.get("allow_splitting_ambiguous_merged_tables") and n_wanted > n_found:
        n_found = len(tables.split_tables(grids, n_wanted))
    return {
        **found,
        "table_record_match_perfect": fmean(float(own == 1) for own in found["trm_per_table"]),
        "structural_consistency": fmean(map(_is_consistent, slices)),
        "tables_expected": float(n_wanted),
        "tables_actual": float(len(grids)),
        "tables_unparseable_pred": float(len(slices) - len(grids)),
        "tables_paired": float(len(pairs)),
        "tables_unmatched_expected": float(n_wanted - len(pairs)),
        "tables_unmatched_pred": float(n_found - len(pairs)),
        "pairing": [[i, pairs.get(i)] for i in range(n_wanted)],
    }


def layout_metrics(given: Mapping[str, Any]) -> dict[str, Any]:
    """All that is said of visual grounding."""
    found = layout.layout_metrics(**given)
    ontology, sizes = (
        given.get("ontology", "basic"),
        [given.get(f"image_{s}", 1.0) for s in ("width", "height")],
    )
    every = layout.true_blocks(given["rules"], ontology)
    truth = [element for element in every if not element.has("ignore")]
    blocks = layout.predicted_blocks(given["predictions"], sizes[0], sizes[1], ontology)
    blocks = [block for block in blocks if block.kind is not None]
    elements, counts = found["elements"], Counter[int]()
    for number, own in enumerate(elements):
        why = "no_attribution" if own["attribution_applicable"] else own["attribution_reason"]
        why = "no_localization" if not own["localization_pass"] else why
        verdict = found["reading_order"].get(number)
        own |= {
            "element_index": counts[own["page"]],
            "reading_order_eligible": verdict is not None,
            "reading_order_pass": verdict == "pass",
            "reading_order_reason": verdict or f"ineligible_{why}",
        }
        counts[own["page"]] += 1
    n, asked = len(elements), [own for own in elements if own["attribution_applicable"]]
    located, classed = (sum(own[f"{k}_pass"] for own in elements) for k in ("localization", "classification"))
    said = sum(own["attribution_pass"] for own in asked)
    if n:
        answers = layout.answers
        found |= {
            "unmatched_gt_elements": float(sum(not any(answers(e, b) for b in blocks) for e in truth)),
            "unmatched_pred_elements": float(sum(not any(answers(e, b) for e in truth) for b in blocks)),
            "layout_localization_pass_rate": located / n,
            "layout_classification_pass_rate": classed / n,
            "layout_rule_pass_rate": (located + classed + said) / (2 * n + len(asked)),
            "rule_pass_rate": (located + classed + said) / (2 * n + len(asked)),
        }
    if asked:
        found["layout_attribution_pass_rate"] = said / len(asked)
    return found | _detections([element for element in every if element.kind is not None], blocks)


def _detections(
    truth: Sequence[layout.GroundedBlock], pred: Sequence[layout.GroundedBlock]
) -> dict[str, float]:
    """Precision, recall and F1 of each class of the truth, and what is said of all."""
    values: dict[str, float] = {}
    precisions = layout.average_precisions(truth, pred)
    for kind in precisions:
        wanted, own = ([block for block in side if block.kind == kind] for side in (truth, pred))
        own.sort(key=lambda block: -block.score)
        n = sum(layout.hits(wanted, own, 0.5))
        precision, recall = n / len(own) if own else 0.0, n / len(wanted)
        values[f"f1_{kind}"] = 2 * precision * recall / (precision + recall) if n else 0.0
        values |= {f"precision_{kind}": precision, f"recall_{kind}": recall}
    n_kinds = max(1, len(precisions))
    return values | {
        "AP50": sum(own[0] for own in precisions.values()) / n_kinds,
        "AP75": sum(own[5] for own in precisions.values()) / n_kinds,
        "mean_f1": sum(values[f"f1_{kind}"] for kind in precisions) / n_kinds,
        "num_predictions": float(len(pred)),
        "num_ground_truth": float(len(truth)),
    }


def teds(truth: str, pred: str) -> float | None:
    """Its TEDS, which is off by default: header cells are leaves whose texts are never compared."""
    pred = tables.with_titles_inside(truth, pred) if "<table" in pred.lower() else pred
    wanted, found = (
        [_tree(t) for t in html.fromstring(text).iter("table")] if "<table" in text.lower() else []
        for text in (truth, pred)
    )
    if not wanted:
        return None
    values = np.array([[max(0.0, tree_similarity(a, b, False)) for b in found] for a in wanted])
    return sum(float(values[i, j]) for i, j in tables.assignment(values)) / len(wanted)


def _tree(table: Any) -> EditTree:
    n_elements = len(table.xpath(".//*")) + 1
    for head in table.xpath(".//th"):
        spans = int(head.get("colspan", "1")), int(head.get("rowspan", "1"))
        for child in head:
            head.remove(child)
        head.tag = f"th-{spans[0]}-{spans[1]}"
    tree = reference_tree(table)
    contents = tuple(None if own is None else norm_cell("".join(own)) for own in tree.contents)
    return replace(tree, contents=contents, n_elements=n_elements)


def _is_consistent(source: str) -> float:
    """Whether all rows and all columns of a table have as many cells, spans filled in."""
    places: set[tuple[int, int]] = set()
    table = soup_of(source).find("table")
    for r, row in enumerate(table.find_all("tr") if table is not None else ()):
        c = 0
        for cell in row.find_all(["td", "th"]):
            while (r, c) in places:
                c += 1
            spans = int(cell.get("rowspan") or 1), int(cell.get("colspan") or 1)
            places |= {(r + y, c + x) for y in range(spans[0]) for x in range(spans[1])}
    return float(all(len(set(Counter(place[axis] for place in places).values())) <= 1 for axis in (0, 1)))
