"""What docling-eval's programs do around its rules: statuses, rejections and timings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from parsemark_boards.docling_eval.items import items_of, markdown, table_html
from parsemark_boards.docling_eval.measures import (
    PIXEL_CLASSES,
    TEXT,
    collapsed,
    common_labels,
    label_counts,
    layout_evaluation,
    matrix_scores,
    pixel_matrix,
    pixel_pages,
    pixel_scores,
    statistics_of,
    table_teds,
    text_scores,
)

Docs = Sequence[Mapping[str, Any]]


def is_complex(table: Mapping[str, Any]) -> bool:
    """Whether a cell spans several rows or columns."""
    return any(cell[2] > 1 or cell[3] > 1 for cell in table["cells"])


def accepted(docs: Docs) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """Documents with a good status and a prediction, and how many have not."""
    rejected = {"invalid_conversion_status": 0, "missing_prediction": 0}
    kept = []
    for doc in docs:
        if doc.get("status", "success") not in ("success", "partial_success"):
            rejected["invalid_conversion_status"] += 1
        elif doc.get("pred") is None:
            rejected["missing_prediction"] += 1
        else:
            kept.append(doc)
    return kept, rejected


def tables_run(docs: Docs, *, structure_only: bool = False) -> dict[str, Any]:
    rejected = {"missing_prediction": 0, "evaluation_error": 0, "mismatched_document": 0}
    rows: list[list[Any]] = []
    structure: list[float] = []
    for doc in docs:
        if doc.get("pred") is None:
            rejected["missing_prediction"] += 1
            continue
        truth, pred = (
            [i for i in doc[side]["items"] if i["label"] in ("table", "document_index") and i.get("table")]
            for side in ("true", "pred")
        )
        if len(truth) != len(pred):
            rejected["mismatched_document"] += 1
            continue
        for number, (a, b) in enumerate(zip(truth, pred, strict=True)):
            if a["label"] != "table":
                continue
            texts = [table_html(item["table"], item.get("caption")) for item in (a, b)]
            for only in (True,) if structure_only else (False, True):
                value = table_teds(*texts, structure_only=only)
                if value is None:
                    rejected["evaluation_error"] += 1
                    continue
                structure.append(round(value, 3))
                if not only:
                    sizes = [side["table"][key] for side in (a, b) for key in ("rows", "cols")]
                    rows.append([doc["id"], number, round(value, 3), is_complex(a["table"]), *sizes])
    return {
        "evaluated": len(rows),
        "rejected": rejected,
        "TEDS": statistics_of([row[2] for row in rows]),
        "TEDS_struct": statistics_of(structure),
        "TEDS_simple": statistics_of([row[2] for row in rows if not row[3]]),
        "TEDS_complex": statistics_of([row[2] for row in rows if row[3]]),
        "tables": rows,
    }


def markdown_run(docs: Docs) -> dict[str, Any]:
    if any("markdown" in doc or doc.get("pred") is None for doc in docs):
        raise TypeError("null columns of pictures cannot be read")
    kept, rejected = accepted(docs)
    values = []
    for doc in kept:
        a, b = (markdown(doc[side]["items"]) for side in ("true", "pred"))
        if a and b:
            values.append(text_scores(a, b))
    stats = {f"{name}_stats": statistics_of([own[name] for own in values]) for name in TEXT}
    return {"evaluated": len(values), "rejected": rejected, **stats}


def layout_run(docs: Docs, *, ignore_missing: bool = False) -> dict[str, Any]:
    kept, rejected = accepted(docs)
    given = [doc for doc in docs if doc.get("pred") is not None]
    sides = [[doc[side] for doc in given] for side in ("true", "pred")]
    labels = common_labels(*sides)
    found = layout_evaluation(
        [(doc["id"], doc["true"], doc["pred"]) for doc in kept], labels, ignore_missing=ignore_missing
    )

    def pages(doc: Mapping[str, Any], side: str) -> set[str]:
        return {
            str(p["page"]) for i in items_of(doc[side]) if i["label"] in labels for p in i.get("prov", ())
        }

    mismatched = sum(bool(pages(doc, "true") - pages(doc, "pred")) for doc in kept) * (not ignore_missing)
    images = sorted(found["images"], key=lambda image: image["name"])
    for image in images:
        name, _, page = image["name"].rpartition("-page-")
        doc = next(doc for doc in kept if doc["id"] == name)
        image |= {
            f"{side}_{key}": n for side in ("true", "pred") for key, n in counts_of(doc[side], page).items()
        }
    return {
        **found,
        "images": images,
        "true_labels": dict(label_counts(sides[0])),
        "pred_labels": dict(label_counts(sides[1])),
        "labels": labels,
        "rejected": {**rejected, "mismatched_document": mismatched},
        "evaluated": len(images),
    }


def counts_of(doc: Mapping[str, Any], page: str) -> dict[str, int]:
    items = [item for item in doc["items"] if any(str(p["page"]) == page for p in item.get("prov", ()))]
    return {
        "element_count": len(items),
        "table_count": sum(item["label"] in ("table", "document_index") for item in items),
        "picture_count": sum(item["label"] == "picture" for item in items),
    }


def pixel_run(docs: Docs, *, ignore_missing: bool = False) -> dict[str, Any]:
    kept, rejected = accepted(docs)
    matrices, n_pixels = {}, 0
    for doc in kept:
        for page in pixel_pages(doc["true"]):
            if not ignore_missing or page in pixel_pages(doc["pred"]):
                matrices[f"{doc['id']}-{page}"] = pixel_matrix(doc["true"], doc["pred"], page)
                n_pixels += math.prod(map(math.ceil, doc["true"]["pages"][page]))
    total = sum(matrices.values(), np.zeros((len(PIXEL_CLASSES),) * 2))
    by_class, two = matrix_scores(total), matrix_scores(collapsed(total))
    pages = {name: pixel_scores(matrix) for name, matrix in matrices.items()}
    return {
        "num_pages": len(matrices),
        "num_pixels": n_pixels,
        "evaluated": len(kept),
        "rejected": {**rejected, "mismatched_document": 0},
        "confusion": [[int(g), int(p), float(total[g, p])] for g, p in zip(*np.nonzero(total), strict=True)],
        **{
            name: {PIXEL_CLASSES[k]: float(v) for k, v in enumerate(own) if v}
            for name, own in by_class.items()
        },
        **pixel_scores(total),
        "collapsed_f1": dict(zip(("Background", "all_classes"), map(float, two["f1"]), strict=True)),
        "pages": pages,
        "f1_all_classes_stats": statistics_of([page["f1_mean"] for page in pages.values()]),
        "f1_collapsed_classes_stats": statistics_of([page["collapsed_f1_mean"] for page in pages.values()]),
    }


def timings_run(docs: Docs) -> dict[str, Any]:
    kept, _ = accepted(docs)
    documents: list[float] = []
    pages: list[float] = []
    for stages in (doc.get("timings", {}) for doc in kept):
        documents += stages.get("pipeline_total", ())
        n_pages = len(stages.get("layout", ()))
        same = [values for values in stages.values() if len(values) == n_pages]
        pages += [sum(values) for values in zip(*same, strict=True)] if n_pages else []
    return {"document": statistics_of(documents, 32, None), "page": statistics_of(pages, 32, None)}
