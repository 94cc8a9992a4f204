"""Made-up extractions of every class of error that people have rated, with the range of what they gave.

Each class has variants with other contents, sizes and formats. The ranges are people's, widened by half a
point; no rated table is among the cases. `tests/metrics/reader` holds `reader` to the ranges, and
`bench.reader_fit` fits prices to their middles beside the rated pairs.
"""

from __future__ import annotations

import html as html_escape
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Rows = list[list[str]]


@dataclass(frozen=True)
class Case:
    """A truth, an extraction, and what people give to such."""

    name: str
    truth: str
    pred: str
    low: float
    high: float


def md(rows: Rows, n_cols: int | None = None) -> str:
    """Return rows as a Markdown table, the first one its header."""
    width = n_cols or max(map(len, rows))
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]]) + "\n"


def html(rows: Sequence[Sequence[str | tuple[str, int]]], header: int = 1) -> str:
    """Return rows as HTML; a pair is a text and its colspan."""
    out = []
    for index, row in enumerate(rows):
        tag = "th" if index < header else "td"
        cells = []
        for cell in row:
            text, span = cell if isinstance(cell, tuple) else (cell, 1)
            inner = html_escape.escape(text).replace("&lt;br&gt;", "<br>")
            cells.append(
                f'<{tag} colspan="{span}">{inner}</{tag}>' if span > 1 else f"<{tag}>{inner}</{tag}>"
            )
        out.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(out)}</table>"


def latex(rows: Rows, n_cols: int, header: int = 1) -> str:
    """Return rows as LaTeX, ruled below the header; a cell may be any LaTeX."""
    lines = [" & ".join(row).replace("%", r"\%") + r" \\" for row in rows]
    head, body = "\n".join(lines[:header]), "\n".join(lines[header:])
    ruled = f"\\toprule\n{head}\n\\midrule\n{body}\n\\bottomrule"
    return f"\\begin{{tabular}}{{{'l' * n_cols}}}\n{ruled}\n\\end{{tabular}}"


CITIES: Rows = [
    ["City", "Rain", "Wind", "Sun"],
    ["Lisbon", "12.4", "18.1", "2806"],
    ["Oslo", "30.2", "11.7", "1668"],
    ["Graz", "25.9", "9.3", "1989"],
    ["Turin", "22.0", "7.8", "2150"],
    ["Porto", "36.6", "16.4", "2468"],
]
ALLOYS: Rows = [
    ["Alloy", "Yield", "Tensile", "Elongation", "Hardness"],
    ["A356", "165", "234", "3.5", "70"],
    ["AZ91", "150", "230", "3.0", "63"],
    ["Ti64", "880", "950", "14.0", "334"],
    ["M2", "1050", "1240", "8.1", "720"],
]
NETS: Rows = [
    ["Model", "Params (M)", "Top-1", "Top-5", "Latency"],
    ["ResNet-18", "11.7", "69.8", "89.1", "1.2"],
    ["ResNet-50", "25.6", "76.1", "92.9", "2.9"],
    ["ViT-B/16", "86.6", "81.1", "95.3", "4.8"],
    ["DeiT-S", "22.1", "79.9", "95.0", "2.2"],
    ["ConvNeXt-T", "28.6", "82.1", "95.9", "2.5"],
    ["Swin-T", "28.3", "81.3", "95.5", "3.1"],
]
BASES = (CITIES, ALLOYS, NETS)


def _title_lost() -> Iterator[tuple[str, str]]:
    for rows, title in zip(
        BASES, ("Climate normals 1991-2020", "Cast and heat treated", "ImageNet-1k"), strict=True
    ):
        n = len(rows[0])
        truth = latex([[rf"\multicolumn{{{n}}}{{c}}{{{title}}}"], *rows], n, 2)
        yield truth, md(rows)
        yield truth, html(rows)
        yield truth, f"## {title}\n\n{md(rows)}"
        yield truth, f"**{title}**\n\n{html(rows)}"


def _common_row_lost() -> Iterator[tuple[str, str]]:
    for rows, common in zip(BASES, ("Value (mean)", "Strength (%)", "ImageNet"), strict=True):
        n = len(rows[0])
        spanned = ["", rf"\multicolumn{{{n - 1}}}{{c}}{{{common}}}"]
        truth = latex([spanned, *rows], n, 2)
        yield truth, md(rows)
        yield truth, html(rows)
        below = latex([rows[0], spanned, *rows[1:]], n, 2)
        yield below, md(rows)
        units = latex([rows[0], ["", *[common] * (n - 1)], *rows[1:]], n, 2)
        yield units, md(rows)


def _sections_as_headings() -> Iterator[tuple[str, str]]:
    for rows, names in zip(BASES, (("North", "South"), ("Cast", "Wrought"), ("Small", "Large")), strict=True):
        n, head, body = len(rows[0]), rows[0], rows[1:]
        half = len(body) // 2
        section = [[rf"\multicolumn{{{n}}}{{l}}{{\textit{{{name}}}}}"] for name in names]
        truth = latex([head, section[0], *body[:half], section[1], *body[half:]], n)
        parts = [md([head, *body[:half]]), md([head, *body[half:]])]
        yield truth, "\n".join(f"### {name}\n\n{part}" for name, part in zip(names, parts, strict=True))
        yield truth, "\n".join(f"**{name}**\n\n{part}" for name, part in zip(names, parts, strict=True))
        web = [html([head, *body[:half]]), html([head, *body[half:]])]
        yield truth, "\n".join(f"{name}\n\n{part}\n" for name, part in zip(names, web, strict=True))
        grouped = [
            [names[0] if k == 0 else names[1] if k == half else "", *row] for k, row in enumerate(body)
        ]
        group = latex(
            [
                ["Group", *head],
                [rf"\multirow{{{half}}}{{*}}{{{names[0]}}}", *body[0]],
                *grouped[1:half],
                [rf"\multirow{{{len(body) - half}}}{{*}}{{{names[1]}}}", *body[half]],
                *grouped[half + 1 :],
            ],
            n + 1,
        )
        yield group, "\n".join(f"### {name}\n\n{part}" for name, part in zip(names, parts, strict=True))


def _folded_groups() -> Iterator[tuple[str, str]]:
    for rows, names in zip(BASES, (("North", "South"), ("Cast", "Wrought"), ("Small", "Large")), strict=True):
        n, head, body = len(rows[0]), rows[0], rows[1:]
        half = len(body) // 2
        truth = latex(
            [
                ["Group", *head],
                [rf"\multirow{{{half}}}{{*}}{{{names[0]}}}", *body[0]],
                *[["", *row] for row in body[1:half]],
                [rf"\multirow{{{len(body) - half}}}{{*}}{{{names[1]}}}", *body[half]],
                *[["", *row] for row in body[half + 1 :]],
            ],
            n + 1,
        )
        folded = [
            [name, *("<br>".join(row[c] for row in part) for c in range(n))]
            for name, part in zip(names, (body[:half], body[half:]), strict=True)
        ]
        yield truth, md([["Group", *head], *folded])
        yield truth, html([["Group", *head], *folded])
        plain = latex(rows, n)
        yield plain, html([head, *[row[1:] for row in folded]])


def _group_too_far() -> Iterator[tuple[str, str]]:
    head = ["Method", "P@1", "P@5", "Recall", "mAP", "Time"]
    body = [["BM25", "31.2", "52.0", "70.1", "44.0", "0.4"], ["DPR", "42.6", "63.9", "81.0", "55.5", "1.9"],
            ["ColBERT", "47.1", "68.2", "84.4", "58.8", "3.7"]]  # fmt: skip
    groups = ["", r"\multicolumn{2}{c}{Precision}", r"\multicolumn{2}{c}{Coverage}", "Cost"]
    truth = latex([groups, head, *body], 6, 2)
    far: list[list[str | tuple[str, int]]] = [["", ("Precision", 3), "Coverage", "Cost"], [*head]]
    yield truth, html([*far, *body], 2)
    far = [["", ("Precision", 2), ("Coverage", 3)], [*head]]
    yield truth, html([*far, *body], 2)
    flat = ["Method", "Precision P@1", "Precision P@5", "Precision Recall", "Coverage mAP", "Cost Time"]
    yield truth, md([flat, *body])
    unneeded = [
        "Method",
        "Precision P@1",
        "Precision P@5",
        "Coverage Recall",
        "Coverage mAP",
        "Coverage Time",
    ]
    yield truth, md([unneeded, *body])


def _plain_lines() -> Iterator[tuple[str, str]]:
    pairs: Rows = [
        ["Setting", "Value"],
        ["learning rate", "3e-4"],
        ["batch size", "256"],
        ["warm-up steps", "2000"],
        ["weight decay", "0.05"],
        ["epochs", "300"],
    ]
    for rows in (pairs, CITIES, ALLOYS):
        yield latex(rows, len(rows[0])), "\n".join(" ".join(row) for row in rows)
    for rows in (pairs, NETS):
        lines = [r"\[ " + r" \quad ".join(rf"\text{{{t}}}" for t in row) + r" \]" for row in rows]
        yield latex(rows, len(rows[0])), "\n".join(lines)
        lines = ["$$" + r" \quad ".join(rf"\text{{{t}}}" for t in row) + "$$" for row in rows]
        yield latex(rows, len(rows[0])), "\n\n".join(lines)


def _look_alikes() -> Iterator[tuple[str, str]]:
    for written, given in (
        (r"$\circ$", "○"),
        ("○", r"$\circ$"),
        (r"$\times$", "x"),
        (r"$\times$", "✗"),
        ("★", "*"),
        (r"$\star$", "★"),
        (r"$\bullet$", "●"),
        (r"$\triangle$", "Δ"),
        (r"$\checkmark$", "✔"),
        (r"$\square$", "□"),
    ):
        truth = [
            ["Tool", "Fast", "Safe", "Free"],
            ["Alpha", written, "--", written],
            ["Beta", "--", written, written],
            ["Gamma", written, written, "--"],
        ]
        pred = [[given if text == written else text for text in row] for row in truth]
        yield latex(truth, 4), md(pred)
    for written, given in (
        ("µm", "μm"),
        (r"$\sim$10", "~10"),
        (r"$2\times$", "2x"),
        (r"$^\ast$", "*"),
        ("°C", "ºC"),
    ):
        head = ["Item", f"Width {written}", f"Depth {written}"]
        rows = [["a1", "2.0", "3.1"], ["b2", "4.5", "6.6"], ["c3", "8.2", "9.9"]]
        yield latex([head, *rows], 3), md([[t.replace(written, given) for t in head], *rows])


def _header_letter_misread() -> Iterator[tuple[str, str]]:
    rows = [
        ["DnCNN", "33.9", "31.4", "27.9"],
        ["FFDNet", "33.8", "31.2", "28.1"],
        ["Ours", "35.1", "33.0", "30.1"],
    ]
    for written, given in ((r"$\theta={}$", "0={}"), (r"$\delta={}$", "b={}"), (r"$\sigma={}$", "o={}"),
                           (r"$\rho$ = {}", "p = {}")):  # fmt: skip
        head = ["Method", *(written.replace("{}", k) for k in ("15", "25", "50"))]
        yield (
            latex([head, *rows], 4),
            md([["Method", *(given.replace("{}", k) for k in ("15", "25", "50"))], *rows]),
        )


def _script_flattened() -> Iterator[tuple[str, str]]:
    for names, flat in (
        ((r"$\lambda_c$", r"$\lambda_r$", r"$\eta_0$"), ("λc", "λr", "η0")),
        ((r"$T_{max}$", r"$T_{min}$", r"$p^{*}$"), ("Tmax", "Tmin", "p*")),
        ((r"$L_{cls}$", r"$L_{box}$", r"$k_B$"), ("Lcls", "Lbox", "kB")),
    ):
        rows = [[names[0], "0.1", "loss weight"], [names[1], "0.5", "rank weight"], [names[2], "2", "offset"]]
        pred = [[flat[k], *row[1:]] for k, row in enumerate(rows)]
        yield latex([["Symbol", "Value", "Meaning"], *rows], 3), md([["Symbol", "Value", "Meaning"], *pred])
        head = ["Run", *names]
        body = [["first", "1.2", "3.4", "5.6"], ["second", "7.8", "9.0", "1.1"]]
        yield latex([head, *body], 4), md([["Run", *flat], *body])


def _number_pairs() -> Iterator[tuple[str, str]]:
    pairs = [("81", "501"), ("120", "345"), ("9", "100"), ("64", "128"), ("77", "222")]
    for written, given in (
        ("({}, {})", "$({}, {})$"),
        ("$({}, {})$", "({}, {})"),
        ("[{}, {}]", "$[{},\\ {}]$"),
    ):
        rows = [[f"L{k}", written.replace("{}", "%s") % p, str(k + 3)] for k, p in enumerate(pairs)]
        pred = [[f"L{k}", given.replace("{}", "%s") % p, str(k + 3)] for k, p in enumerate(pairs)]
        head = ["Layer", "Shape", "Depth"]
        yield latex([head, *rows], 3), md([head, *pred])


def _columns_run_together() -> Iterator[tuple[str, str]]:
    for rows, at in ((CITIES, 1), (ALLOYS, 2), (NETS, 2), (ALLOYS, 3)):
        joined = [[*row[:at], f"{row[at]} {row[at + 1]}", *row[at + 2 :]] for row in rows]
        yield latex(rows, len(rows[0])), md(joined)
        yield latex(rows, len(rows[0])), html(joined)


def _digits_spaced() -> Iterator[tuple[str, str]]:
    for rows in BASES:
        last = len(rows) - 1
        pred = [row if k < last else [row[0], *(" ".join(t) for t in row[1:])] for k, row in enumerate(rows)]
        bold = [
            row if k < last else [row[0], *(rf"\textbf{{{t}}}" for t in row[1:])]
            for k, row in enumerate(rows)
        ]
        yield latex(bold, len(rows[0])), md(pred)


def _padded() -> Iterator[tuple[str, str]]:
    groups = ["Method", r"\multicolumn{2}{c}{Urban}", r"\multicolumn{2}{c}{Rural}"]
    head = ["", "PSNR", "SSIM", "PSNR", "SSIM"]
    body = [["BM3D", "33.9", "0.91", "33.5", "0.92"], ["DnCNN", "33.0", "0.93", "33.9", "0.93"]]
    yield latex([groups, head, *body], 5, 2), md([["Method", "Urban", "", "Rural", ""], head, *body])


def _row_missing() -> Iterator[tuple[str, str]]:
    for rows in BASES:
        yield latex(rows, len(rows[0])), md([*rows[:2], *rows[3:]])


def _value_wrong() -> Iterator[tuple[str, str]]:
    for rows in BASES:
        wrong = [list(row) for row in rows]
        wrong[2][2] = wrong[2][2].replace(".", "") if "." in wrong[2][2] else wrong[2][2][:-1] + "8"
        yield latex(rows, len(rows[0])), md(wrong)


def _name_misspelt() -> Iterator[tuple[str, str]]:
    for rows in BASES:
        wrong = [list(row) for row in rows]
        wrong[3][0] = wrong[3][0][:-2] + "l" + wrong[3][0][-1]
        yield latex(rows, len(rows[0])), md(wrong)


def _rows_run_together() -> Iterator[tuple[str, str]]:
    for rows in BASES:
        body = rows[1:]
        joined = [
            [f"{a} {b}" for a, b in zip(body[k], body[k + 1], strict=True)]
            for k in range(0, len(body) - 1, 2)
        ]
        rest = [body[-1]] if len(body) % 2 else []
        yield latex(rows, len(rows[0])), md([rows[0], *joined, *rest])


def _cut_off() -> Iterator[tuple[str, str]]:
    for rows in (CITIES, NETS):
        text = html(rows)
        yield latex(rows, len(rows[0])), text[: round(0.72 * len(text))]


def _unrelated() -> Iterator[tuple[str, str]]:
    for one, other in ((CITIES, ALLOYS), (ALLOYS, NETS), (NETS, CITIES)):
        yield latex(one, len(one[0])), md(other)
        yield latex(one, len(one[0])), "There is no table on this page, only a paragraph of text."


CLASSES: dict[str, tuple[Callable[[], Iterator[tuple[str, str]]], float, float]] = {
    "a title row is lost or stands above": (_title_lost, 6.5, 10.0),
    "a row that says the same of all columns is lost": (_common_row_lost, 6.5, 8.5),
    "sections given as headings": (_sections_as_headings, 8.5, 10.0),
    "row groups folded line by line": (_folded_groups, 8.5, 10.0),
    "a group header reaches too far": (_group_too_far, 7.5, 9.6),
    "lines of text": (_plain_lines, 4.5, 7.5),
    "look-alikes": (_look_alikes, 9.0, 10.0),
    "a letter of all headers misread": (_header_letter_misread, 6.0, 8.5),
    "scripts set flat": (_script_flattened, 9.5, 10.0),
    "pairs of numbers": (_number_pairs, 8.5, 10.0),
    "two columns run together": (_columns_run_together, 3.5, 7.5),
    "digits spaced apart": (_digits_spaced, 6.0, 8.5),
    "padded group headers": (_padded, 8.0, 10.0),
    "a row is missing": (_row_missing, 3.5, 6.5),
    "a value is wrong": (_value_wrong, 5.0, 8.0),
    "a name is misspelt": (_name_misspelt, 7.5, 9.6),
    "rows run together": (_rows_run_together, 1.0, 4.0),
    "the output breaks off": (_cut_off, 0.5, 4.0),
    "another table, or none": (_unrelated, 0.0, 0.7),
}
"""The variants of each class, and the range of people's ratings."""


def cases() -> Iterator[Case]:
    """Yield every variant of every class."""
    for name, (variants, low, high) in CLASSES.items():
        for number, (truth, pred) in enumerate(variants()):
            yield Case(f"{name} {number}", truth, pred, low, high)
