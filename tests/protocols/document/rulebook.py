r"""OmniDocBench's rules, slow and literal: the oracle of the fast code.

Written from the description of the published programs, one function per rule, with their regular expressions
and their libraries, without a thought for speed or hostile input. Imports nothing of parsemark, so it also
runs where the libraries are those that the published programs pin.

Items and truths are plain dicts; `version` is "v1.0", "v1.5" or "v1.6".
"""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from collections import Counter
from typing import Any

import numpy as np
from bs4 import BeautifulSoup
from scipy.optimize import linear_sum_assignment

try:
    from Levenshtein import distance as lev
except ImportError:
    from rapidfuzz.distance.Levenshtein import distance as lev

Dict = dict[str, Any]
S = re.DOTALL


def words(listed: str) -> list[str]:
    return listed.split()


TEXT_CATEGORIES = words(
    "text_block title code_txt code_txt_caption reference equation_caption figure_caption "
    "figure_footnote table_caption table_footnote code_algorithm code_algorithm_caption "
    "header footer page_footnote page_number"
)
IGNORED = set(
    words(
        "figure_caption figure_footnote table_caption table_footnote code_algorithm "
        "code_algorithm_caption header footer page_footnote page_number equation_caption"
    )
)
INLINE = r"\$(.*?)\$|\\\((.*?)\\\)"


def ned(a: Any, b: Any) -> float:
    longer = max(len(a), len(b))
    return lev(a, b) / longer if longer else 0.0


def neds(rows: list[str], columns: list[str], measure: Any = ned) -> Any:
    return np.array([[float(measure(r, c)) for c in columns] for r in rows]).reshape(len(rows), len(columns))


def hungarian(matrix: Any) -> list[tuple[int, int]]:
    if 0 in matrix.shape:
        return []
    return [(int(a), int(b)) for a, b in zip(*linear_sum_assignment(matrix), strict=True)]


def collapse(text: str) -> str:
    return " ".join(text.split())


def blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


# --- 2 truth -----------------------------------------------------------------------------------------------


def truths(page: Dict, version: str) -> tuple[list[Dict], list[Dict], list[Dict]]:
    new = version == "v1.6"
    groups: list[list[Any]] = []
    for r in page["extra"]["relation"]:
        if r["relation_type"] != "truncated":
            continue
        a, b = r["source_anno_id"], r["target_anno_id"]
        touched = [g for g in groups if a in g or b in g]
        if not touched:
            groups.append([a, b])
        elif new:
            united = list(dict.fromkeys([m for g in touched for m in g] + [a, b]))
            groups[groups.index(touched[0])] = united
            for g in touched[1:]:
                groups.remove(g)
        else:
            for g in touched:
                g += [a, b]
    lists: dict[str, list[Dict]] = {}
    for det in page["layout_dets"]:
        if any(det["anno_id"] in g for g in groups) or (new and det.get("ignore")):
            continue
        lists.setdefault(det["category_type"], []).append(det)
    ids = {d["anno_id"]: d for d in page["layout_dets"]}
    for group in groups:
        members = [ids[m] for m in group if m in ids]
        if not members or (new and any(m.get("ignore") for m in members)):
            continue
        members.sort(key=lambda m: m["order"] or 0)
        first = members[0]
        merged = {
            "category_type": first["category_type"],
            "order": first["order"],
            "anno_id": first["anno_id"],
            "text": "".join(m.get("text", "") for m in members),
        }
        lists.setdefault(first["category_type"], []).append(merged)
    categories = [*TEXT_CATEGORIES, *(["equation_isolated"] if version != "v1.0" else [])]
    text = [t for c in categories for t in lists.get(c, [])]

    def ordered(items: list[Dict]) -> list[Dict]:
        return sorted(items, key=lambda t: t["order"] or 0)

    return ordered(text), ordered(lists.get("equation_isolated", [])), ordered(lists.get("table", []))


# --- 3 extraction ------------------------------------------------------------------------------------------


def item(cat: str, start: int, end: int, content: str, fine: str | None = None) -> Dict:
    made = {"category_type": cat, "position": [start, end], "content": content}
    return made | ({"fine_category_type": fine} if fine else {})


def extract(md: str, version: str) -> list[Dict]:
    new, old = version == "v1.6", version == "v1.0"
    found: list[Dict] = []
    c = md
    images = re.compile(r"!\[.*?\]\(.*?\)")
    if new:
        for m in images.finditer(md):
            alt = re.match(r"!\[(.*?)\]\(", m.group())[1].strip()  # type: ignore[index]
            found += rescue(alt, m.start(), m.end(), "image_formula")
        c = images.sub(lambda m: " " * len(m.group()), c)
    else:
        c = images.sub("", c)
    for kind in ["markdown"] if old else ["markdown", "html", "latex"]:
        c = re.sub(rf"^```{kind}\n?", "", c, flags=re.M)
    c = re.sub(r"```\n?$", "", c, flags=re.M)
    c = re.sub(r"_{4,}", "____", c)
    c = re.sub(r" {4,}", "    ", c)
    if old:
        c = re.sub(r"([^a-zA-Z0-9])\1{10,}", r"\1\1\1\1", c)
    else:
        for tag in ("<html>", "</html>", "<body>", "</body>"):
            c = c.replace(tag, "")
    if new:
        c = "".join(descriptions(part) for part in re.split(r"(\n\s*\n)", c))
    # LaTeX tables
    tables = [[m.start(), m.end(), m.group()] for m in re.finditer(r"\\begin{table}.*?\\end{table}", c, S)]
    without = c
    for start, end, _ in tables:
        without = blank(without, start, end)
    tables += nesting(without, r"\\begin{tabular}", r"\\end{tabular}", 14)
    for start, _, content in sorted(tables, key=lambda t: t[0]):
        found.append(
            item("latex_table", start, start + len(content), content, "latex_table" if new else None)
        )
        c = blank(c, start, start + len(content))
    for start, end, content in nesting(c, r"<table[^>]*>", r"</table>", 8):
        found.append(item("html_table", start, start + len(content), content))
        if new:
            found += table_rescue(content, start)
        c = blank(c, start, end)
    for m in re.finditer(r"\$\$(.*?)\$\$|\\\[(.*?)\\\]|\$(.*?)\$|\\\((.*?)\\\)", c, S):
        whole = m.group()
        line = re.sub(r"\s", "", whole) if old else " ".join(whole.strip().split("\n"))
        p = re.compile(r"\$\$(.*?)\$\$|\$(.*?)\$|\\\((.*?)\\\)", S)
        first = p.search(line)
        fine = None
        if first is not None and first[1]:
            line = p.sub(lambda k: "\\[" + (k[1] or "") + "\\]", line)
        elif first is not None:
            line = p.sub(lambda k: "\\[" + (k[2] or "") + (k[3] or "") + "\\]", line)
            fine = "equation_inline"
        made = item("equation_isolated", m.start(), m.end(), line, fine)
        found += split_formula(made) if new else [made]
        if fine is None:
            c = blank(c, m.start(), m.end())
    if len(re.findall(r"\|\s*.*?\s*\|\n", c + "\n", S)) >= 2:
        c = convert_pipes(c)
        places = []
        for m in re.finditer(r"<table.*?</table>", c, S):
            found.append(item("html_table", m.start(), m.end(), m.group(), "md2html_table"))
            if new:
                found += table_rescue(m.group(), m.start())
            places.append(m.span())
        for start, end in places:
            c = blank(c, start, end)
    for m in re.finditer(r"```(\w+)\n(.*?)```", c, S):
        found.append(item("text_all", m.start(), m.end(), m[2].strip(), "code"))
        c = blank(c, m.start(), m.end())
    c = re.sub(r"\\title\{(.*?)\}", lambda m: m[1], c)
    c = re.sub(r"\\title\s*\{\s*(.*?)\s*\}", lambda m: m[1], c, flags=S)
    c = re.sub(r"\\text\s*\{\s*(.*?)\s*\}", lambda m: m[1], c, flags=S)
    c = re.sub(r"\\section\*?\{(.*?)\}", lambda m: m[1], c)
    c = re.sub(r"\\section\*?\{\s*(.*?)\s*\}", lambda m: m[1], c, flags=S)
    pieces = c.split("\n\n")
    if len(pieces) == 1:
        pieces = c.split("\n")
    start = 0
    for piece in pieces:
        place = (start, start + len(piece))
        start += len(piece)
        t = "\n".join(line.strip() for line in piece.strip().split("\n") if line.strip())
        if new:
            t = fragment(t)
        if not t:
            continue
        if not new and t.startswith("<table") and t.endswith("</table>"):
            found.append(item("html_table", *place, t))
        elif not new and t.startswith("$") and t.endswith("$"):
            if t.replace("$", "").strip():
                found.append(item("equation_isolated", *place, t))
        else:
            found.append(item("text_all", *place, t, "text_block"))
            if new:
                found += rescue(t, *place, "text_formula")
    found.sort(key=lambda i: i["position"][0])
    if new:
        found = [i for i in found if not (is_inline(i) and is_short(i["content"]))]
    groups: dict[str, list[Dict]] = {}
    for i in found:
        groups.setdefault(i["category_type"], []).append(i)
    return [i for group in groups.values() for i in group]


def is_inline(i: Dict) -> bool:
    return i.get("fine_category_type") == "equation_inline"


def type_of(i: Dict) -> str:
    return i.get("fine_category_type") or i["category_type"]


def nesting(text: str, begin: str, end: str, k: int) -> list[list[Any]]:
    found: list[list[Any]] = []
    stack: list[int] = []
    pos = 0
    while True:
        b, e = re.search(begin, text[pos:]), re.search(end, text[pos:])
        if b is None and e is None:
            break
        if b is not None and (e is None or b.start() < e.start()):
            stack.append(pos + b.start())
            pos += b.start() + k
        else:
            assert e is not None
            if stack:
                first = stack.pop()
                if not stack:
                    last = pos + e.start() + k
                    found.append([first, last, text[first:last]])
            pos += e.start() + k
    if stack:
        offset = stack[0] + 16
        found += [[a + offset, b + offset, t] for a, b, t in nesting(text[offset:], begin, end, k)]
    return found


def convert_pipes(c: str) -> str:
    c = c.replace("\r", "") + "\n"
    for segment in re.findall(r"\|\s*.*?\s*\|\n", c, S):
        c = c.replace(segment, segment_table(segment), 1)
    out: list[str] = []
    inside, buffer, last = False, "", ""
    for line in c.split("\n"):
        if "<table>" in line:
            inside = True
            buffer += last
        elif inside:
            if not (":" in last or "---" in last or "</thead>" in last):
                buffer += "\n" + last
            if "</table>" in last:
                inside = False
                out.append(one_table(buffer))
                buffer = ""
        else:
            out.append(last)
        last = line
    if last != "":
        out.append(one_table(buffer + "\n" + last) if inside or "</table>" in last else last)
    c = "\n".join(out)
    c = c.replace("<table>", '<table border="1" >')
    return c.replace("<td>", '<td colspan="1" rowspan="1">')


def segment_table(segment: str) -> str:
    lines = [line.strip() for line in segment.strip().split("\n")]

    def cells(line: str) -> list[str]:
        return [x.strip() for x in line.split("|")[1:-1]]

    h = "<table>\n  <thead>\n    <tr>\n"
    for cell in cells(lines[0]):
        h += f"      <th>{cell}</th>\n"
    h += "    </tr>\n  </thead>\n  <tbody>\n"
    for line in lines[2:]:
        h += "    <tr>\n"
        for cell in cells(line):
            h += f"      <td>{cell}</td>\n"
        h += "    </tr>\n"
    return h + "  </tbody>\n</table>\n"


def one_table(b: str) -> str:
    b = re.sub(r"<!--.*?-->", "", b, flags=S)
    kept: list[str] = []
    for table in re.findall(r"<table>.*?</table>", b, S):
        lines = []
        for line in table.split("\n"):
            as_cells = line.replace("<th>", "<td>").replace("</th>", "</td>") if "<th>" in line else line
            if not any(
                x in line for x in ("<table>", "</table>", "<thead>", "</thead>", "<tbody>", "</tbody>")
            ):
                lines.append(as_cells)
        if len(lines) > 2:
            kept += lines
    return "\n\n<table>\n" + "\n".join(kept) + "\n</table>\n\n"


# v1.6 only


def descriptions(block: str) -> str:
    head = collapse(block).lower()
    starts = ("the image ", "the figure ", "the diagram ", "diagram:", "[diagram:", "[image:", "qr code ")
    if len(head) >= 24 and head.startswith(starts):
        block = re.sub(r"\\\((.*?)\\\)", lambda m: m[1], block, flags=S)
        block = re.sub(r"\$(.*?)\$", lambda m: m[1], block, flags=S)
    return block


ENVELOPES = (("\\[", "\\]"), ("\\(", "\\)"), ("$$", "$$"), ("$", "$"))
SP = r"(?:\\qquad|\\quad|\\enspace|\\,|\\;|\\:)"
NUMBER = r"(?:\\left\s*\(\s*[0-9IVXivx]+\s*\\right\s*\)|\(\s*[0-9IVXivx]+\s*\))"
ENDINGS = (
    rf"^(.*){SP}\s*(\\text\s*\{{[^{{}}]*\}}\s*\.?)\s*$",
    rf"^(.*){SP}\s*(\([^()]*[A-Za-z][^()]*\)\s*\.?)\s*$",
)


def plain(x: str) -> str:
    return collapse(safe_text(x, x).replace("\xa0", " "))


def is_caption(x: str) -> bool:
    p = plain(x)
    bare = p[1:-1] if p.startswith("(") and p.endswith(")") else p
    if re.fullmatch("[0-9IVXivx]+", bare.replace(" ", "")):
        return False
    letters = len(re.findall("[A-Za-z]", p))
    math = len(re.findall(r"\\[A-Za-z]+|[=<>≤≥÷×±∑∫√_^{}]", x))
    if letters >= 10 and len(re.findall("[A-Za-z]{2,}", p)) >= 2 and math <= 6:
        return True
    return letters >= 14 and not re.search(r"\d", p) and math <= 3


def ending(inner: str) -> tuple[str, str] | None:
    for pattern in ENDINGS:
        m = re.match(pattern, inner, S)
        if m is not None and is_caption(m[2]):
            return m[1], m[2]
    return None


def split_formula(made: Dict) -> list[Dict]:
    s, e = made["position"]
    fine = made.get("fine_category_type")
    line = collapse(made["content"])
    pair = next(
        ((a, b) for a, b in ENVELOPES if len(line) >= len(a + b) and line.startswith(a) and line.endswith(b)),
        None,
    )
    if pair is None:
        return [made]
    left, right = pair
    inner = line[len(left) : len(line) - len(right)].strip()
    content, captions = made["content"], []
    number = re.match(NUMBER, inner)
    if number or ending(inner):
        rest = inner
        if number:
            n = number.group()
            captions.append(item("text_all", s, min(e, s + len(n)), plain(n), "equation_caption"))
            rest = re.sub(rf"^(?:\s*{SP})*", "", rest[number.end() :])
        while (found := ending(rest)) is not None:
            rest = found[0]
            captions.append(
                item("text_all", max(s, e - len(found[1].strip())), e, plain(found[1]), "equation_caption")
            )
        rest = re.sub(rf"(?:\s*{SP})+\s*$", "", rest).strip()
        if rest:
            inner, content = rest, f"{left} {rest} {right}"
        else:
            captions, content = [], line
    out = [item("equation_isolated", s, e, content, fine)]
    if "\\quad" in inner or "\\qquad" in inner:
        parts = [p.strip() for p in re.split(r"\\qquad|\\quad", inner) if p.strip()]
        if len(parts) >= 2 and all(is_arithmetic(p) for p in parts):
            n = len(parts)
            w = max(max(e - s, n) // n, 1)
            out = [
                item(
                    "equation_isolated",
                    s + k * w,
                    e if k == n - 1 else min(e, s + k * w + w),
                    f"{left} {p} {right}",
                    fine,
                )
                for k, p in enumerate(parts)
            ]
    return out + captions


def has_fraction(t: str) -> bool:
    return "\\frac" in t or re.search(r"\d+\s*/\s*\d+", t) is not None


def is_arithmetic(t: str) -> bool:
    return (
        len(t) <= 160
        and "\\begin{" not in t
        and "\\end{" not in t
        and not re.search(r"\\(mathbf|left|right|cdot|lambda|Gamma|varGamma|text|matrix|pmatrix|bmatrix)", t)
        and any(x in t for x in ("=", "\\approx", "≈", "\\neq", "≠", "\\leq", "≤", "\\geq", "≥"))
        and (len(re.findall(r"\d", t)) >= 2 or has_fraction(t))
    )


def unwrap(x: str) -> str:
    for p in (r"\$\$(.*?)\$\$", r"\\\[(.*?)\\\]", r"\\\((.*?)\\\)", r"\$(.*?)\$"):
        x = re.sub(p, lambda m: f" {m[1]} ", x, flags=S)
    return x


def is_formula_like(t: str) -> bool:
    t = collapse(t)
    if not 1 <= len(t) <= 220:
        return False
    b = unwrap(t)
    k = re.sub(r"\s", "", b)
    if not k:
        return False
    op = len(
        re.findall(
            r"\\(?:frac|sqrt|sum|int|prod|times|div|square|cdots|left|right|approx|xrightarrow|rightarrow"
            r"|longrightarrow)|[=<>≤≥≈÷×±∑∫√→^_□△…%/+\-]",
            b,
        )
    )
    dig = len(re.findall(r"\d", b))
    inl = len(re.findall(INLINE, t)) + len(re.findall(r"\$\$.*?\$\$|\\\[.*?\\\]", t, S))
    cjk = len(re.findall("[\u4e00-\u9fff]", b))
    alp = len(re.findall("[A-Za-z]{4,}", b))
    r = len(re.sub(r"\s", "", re.sub(r"\d", "", re.sub(
        r"[=<>≤≥÷×±∑∫√^_□△…%/()+\-]", "", re.sub(r"\\[A-Za-z]+", "", b)))))  # fmt: skip
    return (
        (inl > 0 and r <= 18 and op >= 1)
        or (("□" in b or "\\square" in b) and op >= 1 and alp <= 1 and len(k) <= 80)
        or (any(x in b for x in ("\\xrightarrow", "\\longrightarrow", "→")) and cjk <= 24 and len(k) <= 120)
        or (op >= 2 and dig >= 1 and alp <= 2 and cjk <= 12 and len(k) <= 100)
        or (op >= 3 and alp == 0 and cjk <= 18 and len(k) <= 80)
    )


def sanitise(t: str) -> str:
    t = unwrap(collapse(t.replace("\u3000", " ")))
    for old, new in (
        ("……", " \\cdots \\cdots "), ("…", " \\cdots "), ("×", " \\times "), ("÷", " \\div "),
        ("≤", " \\leq "), ("≥", " \\geq "), ("≠", " \\neq "), ("≈", " \\approx "), ("□", " \\square "),
        ("△", " \\triangle "), ("（", "("), ("）", ")"), ("［", "["), ("］", "]"), ("｛", "{"), ("｝", "}"),
    ):  # fmt: skip
        t = t.replace(old, new)
    m = re.search(r"(.*?)\\xrightarrow\s*\{([^{}]+)\}(.*)", t)
    if m is not None:
        lhs, label, rhs = (g.strip() for g in m.groups())
        label = label if "\\" in label else f"\\text{{{label}}}"
        redox = "氧化还原反应"
        if rhs.endswith(redox):
            t = f"{lhs} \\underset{{{redox}}}{{\\xrightarrow{{{label}}}}} {rhs[: -len(redox)].strip()}"
        else:
            t = f"{lhs} \\xrightarrow{{{label}}} {rhs}"
    t = re.sub(r"(?<!\\)%", r"\\%", t)
    t = collapse(re.sub(r"(?<!\\)&", r"\\&", t))
    return t if t.startswith(("\\begin{", "$$", "\\[")) else f"\\[ {t} \\]"


def rescue(t: str, start: int, end: int, fine: str) -> list[Dict]:
    if not is_formula_like(t):
        return []
    content = sanitise(t)
    reaction = "\\xrightarrow" in content or "\\longrightarrow" in content
    return [item("equation_isolated" if reaction else "formula_rescue", start, end, content, fine)]


def table_rescue(source: str, start: int) -> list[Dict]:
    found, cursor = [], start
    for cell in BeautifulSoup(source, "html.parser").find_all(["td", "th"]):
        t = collapse(cell.get_text(" "))
        if (
            len(t) <= 120
            and is_formula_like(t)
            and any(x in t for x in ("=", "+", "-", "×", "÷", "/", "≈", "\\times", "\\div", "\\approx"))
            and (len(re.findall(r"\d", t)) >= 2 or has_fraction(t))
        ):
            found.append(
                item("equation_isolated", cursor, cursor + len(t), sanitise(t), "table_formula_rescue")
            )
            cursor += len(t) + 1
    return found


def fragment(t: str) -> str:
    if "<table" in t.lower() or not re.match(r"<(?:div|dir)\b", t):
        return t
    soup = BeautifulSoup(t, "html.parser")
    for tag in soup.find_all(["style", "script"]):
        tag.decompose()
    for tag in soup.find_all(["span", "font", "b", "strong", "i", "em", "u", "a", "sup", "sub"]):
        tag.unwrap()
    for tag in soup.find_all("br"):
        tag.replace_with("\n")
    for tag in soup.find_all(["div", "dir", "p", "li"]):
        if not tag.contents or str(tag.contents[-1]) != "\n":
            tag.append("\n")
    lines = [line.strip() for line in soup.get_text().replace("\xa0", " ").split("\n")]
    return "\n".join(line for line in lines if line) or t


def is_short(content: str) -> bool:
    u = unwrap(content)
    k = re.sub(r"\s", "", u)
    if k.startswith(("\\xrightarrow", "\\longrightarrow")):
        return True
    signs = "= < > ≤ ≥ ≈ ≠ ^ + - / \\cdot \\frac \\sqrt \\sum \\int \\times \\div \\approx \\neq \\leq \\geq"
    patterns = (
        "[A-Za-z0-9._,-]+",
        "[A-Za-z][A-Za-z0-9_.,-]*",
        "[A-Za-z0-9]+Oy",
        "[ΓγλμνxyzuvwMNOabcABC0-9._,-]+",
    )
    return (
        1 <= len(k) <= 24
        and not any(x in u for x in signs.split())
        and any(re.fullmatch(p, k) for p in patterns)
    )


# --- 4 normalisation ---------------------------------------------------------------------------------------


def latex_to_text(x: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    return str(LatexNodes2Text().latex_to_text(x))


def circled(t: str) -> str:
    t = re.sub(r"\\textcircled\s*\{\s*([^{}]+?)\s*\}", lambda m: m[1], t)
    for k in range(20):
        t = t.replace(chr(0x2460 + k), str(k + 1))
    for k in range(26):
        t = t.replace(chr(0x24D0 + k), chr(97 + k)).replace(chr(0x24B6 + k), chr(65 + k))
    return t


def inline(t: str, version: str) -> str:
    new = version == "v1.6"
    if new:
        t = circled(t)
    changes = []
    for m in re.finditer(INLINE, t):
        x = m[1] if m[1] is not None else m[2]
        x = re.sub(r"\\[\\_&%^]", "", x)
        if not any(c in x for c in "\\^_"):
            continue
        if new and (
            len(x.strip()) > 128
            or any(
                w in x.strip()
                for w in (
                    "\\begin{", "\\end{", "\\array", "\\matrix", "\\tabular", "\\cases", "\\align", "\\\\",
                    "&",
                )
            )
            or x.strip().count("{") != x.strip().count("}")
        ):  # fmt: skip
            continue
        if x.endswith("\\"):
            x += " "
        try:
            changes.append((m.start(), m.end(), safe_text(x, x) if new else latex_to_text(x)))
        except Exception:
            continue
    for start, end, text in reversed(changes):
        t = t[:start] + text.strip() + t[end:]
    return t


def clean(t: str, version: str) -> str:
    if version == "v1.6":
        t = circled(t)
    for x in ("\\t", "\\n", "\t", "\n", "/t", "/n"):
        t = t.replace(x, "")
    return re.sub("[^\\w\u4e00-\u9fff]", "", t)


def norm_text(t: str, version: str) -> str:
    return clean(inline(t, version), version)


A = [
    *words(
        "\\mathbf \\mathrm \\mathnormal \\mathit \\mathbb \\mathcal \\mathscr \\mathfrak "
        "\\mathsf \\mathtt \\textbf \\text \\boldmath \\boldsymbol \\operatorname \\bm "
        "\\symbfit \\mathbfcal \\symbf \\scriptscriptstyle \\notag \\setlength \\coloneqq "
        "\\space \\thickspace \\thinspace \\medspace \\nobreakspace \\negmedspace \\quad "
        "\\qquad \\enspace \\substackw"
    ),
    " ",
]


def d(t: str) -> str:
    t = t.strip()
    while True:
        for a, b in (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$")):
            if len(t) >= len(a + b) and t.startswith(a) and t.endswith(b):
                t = t[len(a) : len(t) - len(b)].strip()
                break
        else:
            return t


def group_end(t: str, start: int) -> int:
    depth = 0
    for k in range(start, len(t)):
        depth += (t[k] == "{") - (t[k] == "}")
        if depth == 0:
            return k + 1
    return -1


def tags(t: str) -> str:
    at = 0
    while (m := re.compile(r"\\tag(?![A-Za-z])\s*\*?\s*\{").search(t, at)) is not None:
        end = group_end(t, m.end() - 1)
        t = t[: m.start()] + t[m.start() + 4 if end < 0 else end :]
        at = m.start()
    return t.replace("\\notag", "").replace("\\nonumber", "")


def norm_formula(t: str, version: str) -> str:
    new = version == "v1.6"
    if version == "v1.5":
        t = t.strip().strip("$").strip("\n")
    if new:
        t = tags(d(circled(t)))
        m = re.search(r"\\\[(.+?)(?<!\\)\\\]|\\\((.+?)(?<!\\)\\\)", t)
        t = (m[1] or m[2]).strip() if m else t
        while (m := re.search(r"\\phantom(?=\{)", t)) is not None:
            end = group_end(t, m.end())
            t = t[: m.start()] + t[(m.end() if end < 0 else end) :]
            if end < 0:
                break
        t = re.sub(r"\\[!,;:]", "", t)
        t = re.sub(r"(?<!\\)&", "", t)
        t = t.replace("\\mid", "|").replace("\\vert", "|")
        t = t.replace("\\{", "").replace("\\}", "").replace("~", "")
    else:
        m = re.search(r"\\\[(.+?)(?<!\\)\\\]", t)
        t = m[1].strip() if m else t
        t = re.sub(r"\\tag\{.*?\}", "", t)
    for p in (r"\\hspace\{.*?\}", r"\\begin\{.*?\}", r"\\end\{.*?\}", r"\\arraycolsep.*?\}"):
        t = re.sub(p, "", t)
    if new:
        t = re.sub(r"\{[lcr| ]+\}", "", t)
    t = t.strip(".")
    for word in A if version == "v1.0" else [*A, "$$", "\\left", "\\right", "\\displaystyle", "\\text"]:
        t = t.replace(word, "")
    if not new:
        return t.lower()
    before = None
    while t != before:
        before = t
        t = re.sub(r"\{([A-Za-z0-9.+\-]+)\}", r"\1", t).replace("{}", "")
        t = re.sub(r"\}\}+", "}", re.sub(r"\{\{+", "{", t))
        t = re.sub(
            r"\{([^{}]{1,160})\}",
            lambda m: (
                m[1]
                if any(x in m[1] for x in ("=", "+", "-", "\\\\", "^", "_", "[", "]", "(", ")"))
                else m[0]
            ),
            t,
        )
    return re.sub(r"\s", "", t.lower())


def is_bad(s: str) -> bool:
    if len(s) > 8000:
        return True
    depth, k = 0, 0
    while k < len(s):
        if s[k] == "\\" and k + 1 < len(s) and s[k + 1] in "{}[]()":
            k += 2
            continue
        depth += (s[k] == "{") - (s[k] == "}")
        if depth < 0:
            return True
        k += 1
    stack = []
    for m in re.finditer(r"\\(begin|end)\{([^{}]+)\}", s):
        if m[1] == "begin":
            stack.append(m[2])
        elif not stack or stack.pop() != m[2]:
            return True
    return bool(
        depth
        or stack
        or len(re.findall(r"\\left\b", s)) != len(re.findall(r"\\right\b", s))
        or s.count("\\(") != s.count("\\)")
        or s.count("\\[") != s.count("\\]")
        or len(re.findall(r"(?<!\\)\$", s)) % 2
    )


def safe_text(x: str, fallback: str) -> str:
    s = x.strip()
    if not s:
        return fallback
    if not any(c in s for c in "\\{}$"):
        return s
    commands = len(re.findall(r"\\[A-Za-z]+", s))
    runs = len(re.findall("[A-Za-z]{3,}", s))
    q = sum(c in "{}$^_=&%#" for c in s)
    noise = (
        len(s) >= 32
        and len(re.findall(r"\\[A-Za-z]+|[_^{}$]|&|%|#", s)) <= 2
        and not any(c in s for c in "{}$^_")
        and not any(
            w in s for w in words("\\frac \\sqrt \\left \\right \\begin \\end \\sum \\int \\alpha \\beta")
        )
        and runs >= 6
        and s.count(" ") >= 5
    )
    weak = (
        s in ("\\", "\\\\")
        or (s.endswith("\\") and not s.endswith("\\\\") and commands == 0)
        or ("\\" in s and commands == 0 and q == 0)
        or (runs >= 2 and commands == 0 and q <= 1)
        or (runs >= 4 and commands <= 1 and q <= 2)
    )
    if noise or weak or is_bad(s):
        return fallback
    try:
        return latex_to_text(s)
    except Exception:
        return fallback


def norm_table(t: str, version: str) -> str:
    new = version == "v1.6"
    if "<table" not in t.replace(" ", ""):
        return ""
    soup = BeautifulSoup(t, "html.parser")
    for tag in soup.find_all("th"):
        tag.name = "td"
    for tag in soup.find_all("thead"):
        tag.unwrap()
    for tag in soup.find_all("tbody") if new else []:
        tag.unwrap()
    for tag in soup.find_all("math"):
        tag.replace_with("$" + tag.get("alttext", "") + "$")
    for tag in soup.find_all("span"):
        tag.unwrap()
    t = str(soup)
    if new:
        soup = BeautifulSoup(t, "html.parser")
        for node in soup.find_all(string=True):
            if type(node).__name__ == "NavigableString" and node.find_parent(["td", "th"]):
                node.replace_with(norm_cell(str(node)))
        t = str(soup)
    t = unicodedata.normalize("NFKC", html.unescape(t).replace("\n", "")).strip()
    t = "".join(re.findall(r"<table\b[^>]*>(.*)</table>", t, S | re.I))
    for name in ("style", "height", "width", "align", "class"):
        t = re.sub(f' {name}=".*?"', "", t)
    t = re.sub("</?tbody>", "", t)
    t = re.sub(r"\s+", " ", t)
    t = '<html><body><table border="1" >' + t + "</table></body></html>"
    for tag in ("sup", "sub", "span", "div", "p"):
        t = t.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
    return re.sub("<colgroup>.*?</colgroup>", "", t)


R = (
    (r"\checkmark \checked \surd", "√"), (r"\times \xmark \crossmark", "×"), (r"\pm", "±"), (r"\mp", "∓"),
    (r"\alpha", "α"), (r"\beta", "β"), (r"\gamma \gama", "γ"), (r"\mu", "μ"), (r"\lambda", "λ"),
    (r"\theta", "θ"), (r"\eta", "η"), (r"\pi", "π"), (r"\rho", "ρ"), (r"\sigma", "σ"), (r"\omega", "ω"),
    (r"\delta", "δ"), (r"\Delta", "Δ"), (r"\epsilon \varepsilon", "ε"), (r"\phi \varphi", "φ"),
    (r"\tau", "τ"), (r"\partial", "∂"), (r"\varnothing \emptyset", "∅"), (r"\sim", "～"),
    ("✓ ✔ ☑ ✅ 🗸", "√"), ("✗ ✘ ✕ ✖ ☒ ❌ ╳ ⨯", "×"), ("Ø", "∅"), ("∼ 〜", "～"),
    (r"\%", "%"), (r"\#", "#"), (r"\&", "&"), (r"\_", "_"),
)  # fmt: skip


def norm_cell(x: str) -> str:
    def replaced(t: str) -> str:
        for olds, new in R:
            for old in olds.split():
                t = t.replace(old, new)
        return t

    x = replaced(unicodedata.normalize("NFKC", x).replace("\u200b", "")).strip()
    again = True
    while again:
        again = False
        for a, b in (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$")):
            if len(x) >= len(a + b) and x.startswith(a) and x.endswith(b):
                inside = x[len(a) : len(x) - len(b)].strip()
                if inside and len(inside) <= 128 and not any(c in inside for c in "<>$"):
                    x, again = inside, True
                    break
    x = replaced(x)
    if x.strip() in ("-", "–", "−", "－", "—"):
        x = "—"
    return collapse(x)


# --- 5 matching --------------------------------------------------------------------------------------------


def raw_of(t: Dict) -> str:
    key = {"equation_isolated": "latex", "table": "html"}.get(t["category_type"], "text")
    return str(t.get("content") or t.get(key) or "")


def place_of(t: Dict) -> Any:
    return t["order"] or ""


def window(s: str, g: str) -> float | None:
    """W: how well s fits somewhere in g."""
    if not s or len(s) > len(g):
        return None
    return min(lev(s, g[k : k + len(s)]) for k in range(len(g) - len(s) + 1)) / len(s)


ENVS = words(
    "array aligned align align* alignedat alignedat* split gather gather* gathered multline "
    "multline* flalign flalign* eqnarray eqnarray* cases"
)
LOGIC = (
    r"单调|否定|\\(?:Rightarrow|Leftrightarrow|Longrightarrow|Longleftrightarrow|longrightarrow"
    r"|longleftrightarrow|implies|therefore|because|uparrow|downarrow|Updownarrow|forall|exists)\b"
)
NESTED = (
    r"\\begin\{(array|aligned|align\*?|alignedat\*?|split|gathered?|multline\*?|flalign\*?|eqnarray\*?"
    r"|cases)\}"
)


def rows_of(text: str) -> list[str]:
    parts, start, k, braces, environments = [], 0, 0, 0, 0
    while k < len(text):
        if m := re.compile(r"\\(begin|end)\s*\{[^{}]*\}").match(text, k):
            environments = max(0, environments + (1 if m[1] == "begin" else -1))
            k = m.end()
        elif text.startswith("\\\\", k):
            if not braces and not environments:
                parts.append(text[start:k])
                k = re.compile(r"\\\\\s*\*?\s*(\[[^\]]*\])?").match(text, k).end()  # type: ignore[union-attr]
                start = k
            else:
                k += 2
        elif text[k] == "\\":
            k += 2
        else:
            braces = max(0, braces + (text[k] == "{") - (text[k] == "}"))
            k += 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


def ampersands(row: str) -> list[int]:
    """Places of top-level ampersands: unescaped and in no environment."""
    found, k, environments = [], 0, 0
    while k < len(row):
        if m := re.compile(r"\\(begin|end)\s*\{[^{}]*\}").match(row, k):
            environments = max(0, environments + (1 if m[1] == "begin" else -1))
            k = m.end()
        elif row[k] == "\\":
            k += 2
        else:
            if row[k] == "&" and not environments:
                found.append(k)
            k += 1
    return found


def environment(text: str, at: int = 0) -> tuple[str, str, int, int, int] | None:
    """Name, first brace group, body start, body end, end."""
    m = re.compile(r"\\begin\s*\{([^{}]*)\}").match(text, at)
    if m is None or m[1] not in ENVS:
        return None
    k, spec = m.end(), None
    while (g := re.compile(r"\s*\{([^{}]*)\}").match(text, k)) is not None:
        spec = g[1] if spec is None else spec
        k = g.end()
    depth = 1
    for o in re.compile(r"\\(begin|end)\s*\{([^{}]*)\}").finditer(text, k):
        if o[2] == m[1]:
            depth += 1 if o[1] == "begin" else -1
            if depth == 0:
                return m[1], spec or "", k, o.start(), o.end()
    return None


def clean_spec(spec: str) -> str:
    return re.sub(r"\s|\||[@!]\{[^{}]*\}", "", spec)


def is_case(row: str) -> bool:
    row = tags(re.sub(r"^[\s&]*", "", row)).strip()
    starts = (
        "\\Rightarrow \\Leftrightarrow \\Longrightarrow \\Longleftrightarrow \\implies \\therefore \\uparrow "
        "\\downarrow \\Updownarrow \\leftarrow \\rightarrow"
    )
    return bool(re.match(r"\(?\d+\)?", row)) or row.startswith(tuple(starts.split()))


SPACING = ("\\qquad", "\\quad", "\\,", "\\;", "\\!", "\\>", "\\:", "~")


def without_end_labels(t: str) -> str:
    while True:
        t = t.rstrip()
        cut = None
        for m in re.finditer(r"\\tag\*?\s*\{", t):
            if group_end(t, m.end() - 1) == len(t):
                cut = m.start()
        if (
            cut is None
            and (m := re.search(r"[(\[]([^()\[\]]*)[)\]]$", t))
            and t[m.start()] + t[-1] in ("()", "[]")
        ):
            b, before = m[1], t[: m.start()]
            if (
                not re.fullmatch("[a-z]{1,3}", b)
                and re.fullmatch(r"[A-Za-z0-9.\-#]+|(\\[A-Za-z#]+)+", b)
                and (not before or before[-1].isspace() or any(s in before[-10:] for s in SPACING))
            ):
                cut = m.start()
        if cut is None:
            return t
        t = t[:cut].rstrip()
        while t.endswith(SPACING):
            t = re.sub(r"(\\qquad|\\quad|\\,|\\;|\\!|\\>|\\:|~)$", "", t).rstrip()


def split_rows(formula: str, version: str) -> tuple[str, list[str], str] | None:
    """Body, rows, suffix."""
    if version == "v1.0":
        return None
    if version == "v1.5":
        m = re.search(r"\\begin\{array\}\{([^}]*)\}(.*?)\\end\{array\}", formula, S)
        if "\\begin{array" not in formula or m is None or clean_spec(m[1]) not in ("l", "c", "r"):
            return None
        rows = [r.strip() for r in m[2].split("\\\\") if r.strip()]
        return (m[2], rows, "") if rows else None
    s = d(formula)
    form = environment_form(s)
    if form is None:
        if "\\\\" not in s or len(rows_of(s)) <= 1:
            return None
        form = (s, rows_of(s), "")
    body, rows, suffix = form
    rows = [r for r in (tags(row).strip() for row in rows) if r]
    if len(rows) < 2:
        return None
    suffix = tags(suffix).strip()
    if suffix:
        rows[-1] += " " + suffix
    return body, rows, suffix


def environment_form(s: str) -> tuple[str, list[str], str] | None:
    wrapped = False
    for opening in ("\\left\\{", "\\left."):
        if s.startswith(opening):
            s, wrapped = s[len(opening) :].lstrip(), True
            break
    for closing in ("\\right.", "\\right\\}"):
        if s.endswith(closing):
            s, wrapped = s[: -len(closing)].rstrip(), True
            break
    env = environment(s)
    if env is None:
        return None
    name, spec, a, b, end = env
    body = s[a:b]
    suffix = without_end_labels(re.sub(r"\\label\{[^{}]*\}", "", s[end:]).strip())
    rows = rows_of(body)
    later = rows[1:]
    if len(rows_of(suffix)) > 1:
        return None
    nested = re.search(NESTED, body) is not None
    cases = any(is_case(r) for r in later)
    if name == "cases" and not (
        len(rows) >= 2 and not any(ampersands(r) for r in rows) and re.search(LOGIC, body)
    ):
        return None
    if name in ("aligned", "align", "align*", "alignedat", "alignedat*"):
        full = sum(1 for r in rows if (at := ampersands(r)) and r[: at[0]].strip())
        texts = any(re.search(r"\\(text|mathrm|operatorname)\s*\{", r) for r in later)
        if (nested and cases) or (wrapped and (nested or full >= 2 or texts or cases)):
            return None
    if name == "array":
        spec = clean_spec(spec)
        if not re.fullmatch("[lcr]+", spec) or len(spec) > 2 or spec == "cc" or (nested and cases):
            return None
        if wrapped and set(spec) == {"l"} and len(rows) > 1:
            return None
    return body, rows, suffix


def split_truths(listed: list[Dict], version: str) -> list[Dict]:
    out = []
    for t in listed:
        found = split_rows(raw_of(t), version) if t["category_type"] == "equation_isolated" else None
        if found is None:
            out.append(t)
            continue
        for k, row in enumerate(found[1], 1):
            order = t["order"] or 0
            order = round(order + k / 10, 1) if version == "v1.5" else order + k / 1000
            out.append(t | {"latex": f"\\[{row}\\]", "order": order})
    return out


def item_rows(i: Dict, version: str) -> list[Dict] | None:
    found = split_rows(i["content"], version) if i["category_type"] == "equation_isolated" else None
    if found is None:
        return None
    body, rows, suffix = found
    base = max(0, i["content"].find(body))
    out, cursor = [], 0
    for k, row in enumerate(rows):
        last = k == len(rows) - 1
        text = row[: -len(suffix)].rstrip() if suffix and last else row
        at = body.find(text, cursor)
        at = at if at >= 0 else cursor
        cursor = at + len(text)
        a = i["position"][0] + base + at
        e = a + len(text) - 1
        if suffix and last and (place := i["content"].find(suffix, base + cursor)) >= 0:
            e = i["position"][0] + place + len(suffix) - 1
        out.append(i | {"content": f"\\[{row}\\]", "position": [a, e]})
    return out


def split_items(items: list[Dict], version: str) -> list[Dict]:
    return [r for i in items for r in (item_rows(i, version) or [i])]


def as_array(raws: list[str], version: str) -> str:
    parts = [d(r) if version == "v1.6" else r.strip("$").strip("\n") for r in raws]
    return "\\begin{array}{l} " + " \\\\ ".join("{" + p + "}" for p in parts) + " \\end{array}"


def strings(gt: list[Dict], pred: list[Dict], version: str, kind: str) -> tuple[Any, Any]:
    def norm(raw: str, cat: str) -> str:
        if kind == "formula" or (kind == "mixed" and cat == "equation_isolated"):
            return norm_formula(raw, version)
        return norm_text(raw, version)

    g = [(raw_of(t), norm(raw_of(t), t["category_type"])) for t in gt]
    p = [(i["content"], norm(i["content"], i["category_type"])) for i in pred]
    cats = [t["category_type"] for t, (r, n) in zip(gt, g, strict=True) if r and n]
    return ([x for x in g if x[0] and x[1]], cats), [x for x in p if x[0] and x[1]]


def quick_match(gt: list[Dict], pred: list[Dict], version: str, kind: str, split: bool = True) -> list[Dict]:
    if version != "v1.0":
        gt = split_truths(gt, version)
        pred = [
            pred[k]
            for k in sorted(range(len(pred)), key=lambda k: (is_inline(pred[k]), pred[k]["position"][0], k))
        ]
        if split:
            pred = split_items(pred, version)
    (g, cats), p = strings(gt, pred, version, kind)
    ng, np_ = [x[1] for x in g], [x[1] for x in p]
    return [
        make_record(a, b, e, gt, pred, g, p, version) for a, b, e in answers(ng, np_, cats, pred, version)
    ]


def answers(ng: list[str], np_: list[str], cats: list[str], pred: list[Dict], version: str) -> list[Any]:
    if not ng:
        return [([], [k], 1) for k in range(len(np_))]
    if not np_:
        return [([k], [], 1) for k in range(len(ng))]
    if len(ng) == len(np_) == 1:
        return [([0], [0], ned(ng[0], np_[0]))]
    rows, columns, tail = list(range(len(ng))), list(range(len(np_))), []
    if version != "v1.0":
        ignored = [k for k in rows if cats[k] in IGNORED]
        e = [(k, j) for k in ignored for j in columns if ned(ng[k], np_[j]) < 0.25]
        taken = {j for _, j in e}
        last = dict(e)
        open_rows = [k for k in ignored if k not in last]
        unused = sorted(taken - set(last.values()))
        m = neds([ng[k] for k in open_rows], [np_[j] for j in unused])
        for a, b in hungarian(m):
            last[open_rows[a]] = unused[b]
        tail = [([k], [last[k]], ned(ng[k], np_[last[k]])) if k in last else ([k], [], 1) for k in ignored]
        rows = [k for k in rows if k not in ignored]
        columns = [j for j in columns if j not in taken]
    found = adjacency([ng[k] for k in rows], [np_[j] for j in columns], [cats[k] for k in rows], version)
    out = [([rows[k] for k in a], [columns[j] for j in b], e) for a, b, e in found]
    if version != "v1.0":
        out = [x for x in out if x[0] or not x[1] or not is_inline(pred[x[1][0]])]
    return out + tail


def adjacency(g: list[str], p: list[str], cats: list[str], version: str) -> list[Any]:
    m = neds(g, p)
    settled_rows = {k for k in range(len(g)) if any(m[k, j] < 0.25 for j in range(len(p)))}
    settled = {j for j in range(len(p)) if any(m[k, j] < 0.25 for k in range(len(g)))}
    proposals = []
    for k in range(len(g)):
        if k in settled_rows:
            continue
        options = []
        for j in range(len(p)):
            if j in settled:
                continue
            group = [j]
            q = j + 1
            while q < len(p) and q not in settled and not (version == "v1.6" and len(group) >= 160):
                longer = " ".join(p[x] for x in [*group, q])
                now = " ".join(p[x] for x in group)
                fits = [window(p[x], g[k]) for x in group]
                wq = window(p[q], g[k])
                if not (
                    ned(g[k], longer) <= ned(g[k], now)
                    and all(w is not None and w <= 0.6 for w in fits)
                    and wq is not None
                    and wq < 0.6
                ):
                    break
                group.append(q)
                if len(longer) > len(g[k]):
                    break
                q += 1
            options.append((ned(g[k], " ".join(p[x] for x in group)), group))
        if options:
            proposals.append(min(options, key=lambda o: o[0]))
    proposals.sort(key=lambda o: o[1][0])
    clusters: list[list[Any]] = []
    for o in proposals:
        if clusters and any(set(o[1]) & set(c[1]) for c in clusters[-1]):
            clusters[-1].append(o)
        else:
            clusters.append([o])
    accepted = [o for c in clusters for o in best_path(c)]
    columns = [[j] for j in range(len(p))]
    if accepted:
        merged = {j for _, group in accepted for j in group}
        columns = sorted([group for _, group in accepted] + [[j] for j in range(len(p)) if j not in merged])
        m = neds(g, [" ".join(p[j] for j in c) for c in columns])
    keys: dict[tuple[int, ...], list[int]] = {}
    matched = set()
    for k, c in hungarian(m):
        if m[k, c] <= 0.7:
            keys[tuple(columns[c])] = [k]
            matched.add(k)
    open_ = [
        k
        for k in range(len(g))
        if k not in matched and not (version == "v1.6" and cats[k] == "equation_isolated")
    ]
    for j in range(len(p)):
        hits = []
        for k in open_:
            w = window(g[k], p[j])
            if w is not None and w < 0.4:
                hits.append(k)
        if hits:
            keys.setdefault((j,), [])
            for k in hits:
                if k not in matched:
                    keys[j,].append(k)
                    matched.add(k)
    out: list[Any] = []
    for key, members in keys.items():
        members.sort()
        if len(members) > 1:
            out.append((members, list(key), ned("".join(g[k] for k in members), p[key[0]])))
        elif members:
            out.append((members, list(key), ned(g[members[0]], " ".join(p[j] for j in key))))
    ug = list(set(range(len(g))) - set(matched))
    up = list(set(range(len(p))) - {j for key in keys for j in key})
    if ug and up:
        measure = lev if version == "v1.0" else ned
        pairs = hungarian(neds([g[k] for k in ug], [p[j] for j in up], measure))
        out += [([ug[a]], [up[b]], 1) for a, b in pairs]
        done = {ug[a] for a, _ in pairs}
        return out + [([k], [], 1) for k in ug if k not in done]
    if up:
        return [*out, ([], up, 1)]
    return out + [([k], [], 1) for k in ug] * (2 if version == "v1.0" else 1)


def best_path(cluster: list[Any]) -> list[Any]:
    paths = [[cluster[0]]]
    for s in cluster[1:]:
        placed = False
        for path in paths:
            equal = [k for k, o in enumerate(path) if o[1] == s[1]]
            if equal:
                placed = True
                if s[0] < path[equal[0]][0]:
                    path[equal[0]] = s
            elif not any(set(o[1]) & set(s[1]) for o in path):
                path.append(s)
                placed = True
        if not placed:
            paths.append([s])
    return min(paths, key=lambda path: sum(o[0] for o in path) / len(path))


def make_record(a: Any, b: Any, edit: float, gt: Any, pred: Any, g: Any, p: Any, version: str) -> Dict:
    r: Dict = {
        "gt_idx": a or [""], "pred_idx": b or [""], "gt": "", "pred": "", "norm_gt": "", "norm_pred": "",
        "edit": edit, "gt_position": [""], "pred_position": "", "gt_category_type": "",
        "pred_category_type": "", "gt_attribute": [{}],
    }  # fmt: skip
    if a:
        r["gt"], r["norm_gt"] = "".join(g[k][0] for k in a), "".join(g[k][1] for k in a)
        r["gt_position"] = [place_of(gt[k]) for k in a]
        r["gt_attribute"] = [gt[k].get("attribute", {}) for k in a]
        cats = [gt[k]["category_type"] for k in a]
        counted = [c for c in cats if c not in IGNORED] or cats
        r["gt_category_type"] = Counter(counted).most_common(1)[0][0]
        if version != "v1.0" and len(a) > 1 and r["gt_category_type"] == "equation_isolated":
            r["gt"] = as_array([g[k][0] for k in a], version)
    if b:
        r["pred"], r["norm_pred"] = "".join(p[k][0] for k in b), "".join(p[k][1] for k in b)
        r["pred_category_type"], r["pred_position"] = type_of(pred[b[0]]), pred[b[0]]["position"][0]
        if version != "v1.0" and len(b) > 1 and "equation" in r["pred_category_type"]:
            r["pred"] = as_array([p[k][0] for k in b], version)
    return r


# --- 6 tables ----------------------------------------------------------------------------------------------


def table_match(gt: list[Dict], pred: list[Dict], version: str) -> list[Dict]:
    def norm(raw: str) -> str:
        return norm_table(raw, version) if version == "v1.6" and "<table" in raw.lower() else raw

    g = [(raw_of(t), norm(raw_of(t))) for t in gt]
    g = [x for x in g if x[0] and x[1]]
    p = [(i["content"], norm(i["content"])) for i in pred]
    p = [x for x in p if x[0] and x[1]]
    m = neds([x[1] for x in g], [x[1] for x in p])
    pairs = dict(hungarian(m))
    out = []
    for k in range(len(g)):
        j = pairs.get(k)
        r = make_record([k], [] if j is None else [j], 1, gt, pred, g, p, version)
        if j is not None:
            r["edit"] = m[k, j]
        if not j:
            r["pred_category_type"] = r["pred_position"] = ""
        out.append(r)
    return out


def tables(gt: list[Dict], items: list[Dict], version: str) -> tuple[list[Dict], list[Dict], list[Dict]]:
    """HTML records, LaTeX records (v1.0), left-over cells as text (v1.5)."""
    html_ = [i for i in items if i["category_type"] == "html_table"]
    latex = [i for i in items if i["category_type"] == "latex_table"]
    if not gt:
        return [], [], []
    if version == "v1.6":
        return table_match(gt, html_ + [i | {"content": ""} for i in latex], version), [], []
    if len(latex) <= len(html_):
        found = table_match(gt, html_, version)
        return found, [], left_cells(found, html_, version)
    found = table_match([t | {"html": t.get("latex") or ""} for t in gt], latex, version)
    with_latex = [t for t in gt if t.get("latex")]
    for r in found:
        r["gt"] = r["norm_gt"] = raw_of(with_latex[r["gt_idx"][0]])
    if version == "v1.0":
        return [], found, []
    cells = left_cells(found, latex, version)
    for r in found:
        r |= {"pred": "", "norm_pred": "", "pred_idx": [""], "pred_position": "", "edit": 1}
        r["pred_category_type"] = ""
    return found, [], cells


def left_cells(found: list[Dict], tables: list[Dict], version: str) -> list[Dict]:
    used = {j for r in found for j in r["pred_idx"]}
    cells = []
    for i in [i for k, i in enumerate(tables) if k not in used]:
        for td in BeautifulSoup(i["content"], "html.parser").find_all("td"):
            if td.string is not None:
                text = str(td.string).replace("$\\cdot$", "").strip()
                cells.append(item("text_all", *i["position"], text, i.get("fine_category_type")))
    return cells if version == "v1.5" else []


def teds(gt: str, pred: str, version: str) -> tuple[float, float]:
    """TEDS and TEDS of the structure of two tables; what is measured (9.0) is normalised once more."""
    gt, pred = (norm_table(side, version) or side for side in (gt, pred))
    values = []
    for structure in (False, True):
        try:
            values.append(one_teds(norm_table(gt, version), norm_table(pred, version), structure))
        except Exception:
            values.append(None)
    if version == "v1.6" and None in values:
        return 0.0, 0.0
    return values[0] or 0.0, values[1] or 0.0


def one_teds(gt: str, pred: str, structure: bool) -> float:
    from apted import APTED, Config
    from lxml import html as lxml_html

    if not gt or not pred:
        return 0.0
    tables = []
    for text in (gt, pred):
        parser = lxml_html.HTMLParser(remove_comments=True, encoding="utf-8")
        tables.append(lxml_html.fromstring(text, parser=parser).xpath("body/table"))
    if not tables[0] or not tables[1]:
        return 0.0
    a, b = tables[0][0], tables[1][0]
    n = max(len(a.xpath(".//*")), len(b.xpath(".//*")))

    class Costs(Config):  # type: ignore[misc]
        def rename(self, x: Any, y: Any) -> float:
            if x.name != y.name:
                return 1.0
            return ned(x.tokens, y.tokens) if x.tag == "td" and (x.tokens or y.tokens) else 0.0

    distance = APTED(tree(a, structure), tree(b, structure), Costs()).compute_edit_distance()
    return 1.0 - float(distance) / n


class Node:
    def __init__(self, tag: str, name: Any, tokens: list[str]) -> None:
        self.tag, self.name, self.tokens = tag, name, tokens
        self.children: list[Node] = []


def tree(element: Any, structure: bool) -> Node:
    if element.tag == "td":
        spans = int(element.attrib.get("colspan", "1")), int(element.attrib.get("rowspan", "1"))
        return Node("td", ("td", *spans), [] if structure else tokens_inside(element))
    node = Node(element.tag, (element.tag,), [])
    node.children = [tree(child, structure) for child in element]
    return node


def tokens_inside(element: Any) -> list[str]:
    out = list(element.text or "")
    for child in element:
        out += [f"<{child.tag}>", *tokens_inside(child)]
        out += [f"</{child.tag}>"] if child.tag != "unk" else []
        out += list(child.tail or "")
    return out


# --- 7 records of a page -----------------------------------------------------------------------------------


def page_records(page: Dict, md: str, version: str) -> Dict:
    text, formulas, table_truths = truths(page, version)
    items = extract(md, version)
    html_tables, latex_tables, cells = tables(table_truths, items, version)
    out: Dict = {"table_html": html_tables, "table_latex": latex_tables, "moved": []}
    if version == "v1.0":
        only = [i for i in items if i["category_type"] == "text_all"]
        found = quick_match(text, only, version, "text")
        out["text"] = [r for r in found if r["gt_category_type"] not in IGNORED]
        only = [i for i in items if i["category_type"] == "equation_isolated"]
        found = quick_match(formulas, only, version, "formula")
        out["formula"] = [r for r in found if r["gt_idx"] != [""]]
        out["order"] = reading_order(out["text"])
        return out
    mixed = [
        i for i in items if i["category_type"] not in ("html_table", "latex_table", "formula_rescue")
    ] + cells
    found = quick_match(text, mixed, version, "mixed")
    if version == "v1.6":
        as_text(found)
        span_search(found, mixed)
    out["text"] = [
        r for r in found if r["gt_category_type"] in TEXT_CATEGORIES and r["gt_category_type"] not in IGNORED
    ]
    out["formula"] = [r for r in found if r["gt_category_type"] == "equation_isolated"]
    if version == "v1.6":
        out["formula"] = match_formulas(formulas, items, out["formula"])
        out["order"] = reading_order(out["text"] + out["formula"] + html_tables)
        return out
    out["order"] = reading_order(out["text"])
    kept = ("equation_inline", "equation_isolated", "")
    for r in out["formula"]:
        if r["pred_category_type"] not in kept:
            gt = latex_to_text(r["gt"])
            out["moved"].append(r | {"gt": gt, "norm_gt": clean(gt, version)})
    out["formula"] = [r for r in out["formula"] if r["pred_category_type"] in kept]
    return out


def reading_order(records: list[Dict]) -> Dict | None:
    placed = [r for r in records if r["gt_position"] != [""]]
    g = sorted(x for r in placed for x in r["gt_position"] if x)
    with_pred = sorted((r for r in placed if r["pred_position"] != ""), key=lambda r: r["pred_position"])
    p = [x for r in with_pred for x in r["gt_position"] if x]
    if not g and not p:
        return None
    return {"gt": g, "pred": p, "edit": lev(g, p) / max(len(g), len(p))}


V = "v1.6"
FORMULA_TYPES = ("equation_isolated", "equation_inline")


def as_text(records: list[Dict]) -> None:
    for r in records:
        a, b = r["gt_category_type"], r["pred_category_type"]
        if not a or not b or (a in FORMULA_TYPES) == (b in FORMULA_TYPES):
            continue
        r["gt"] = inline(d(r["gt"]) if a in FORMULA_TYPES else r["gt"], V)
        r["pred"] = inline(d(r["pred"]) if b in FORMULA_TYPES else r["pred"], V)
        r["norm_gt"], r["norm_pred"] = norm_text(r["gt"], V), norm_text(r["pred"], V)
        r["edit"] = ned(r["norm_gt"], r["norm_pred"]) if r["norm_gt"] and r["norm_pred"] else 1


def has_hint(t: str) -> bool:
    return bool(
        re.search(r"\$[^$]+\$|\\\([^)]*\\\)", t)
        or any(x in t for x in ("\\frac", "\\sum", "\\int", "\\sqrt", "\\left", "\\right"))
        or (("^" in t or "_" in t) and ("$" in t or "\\" in t))
    )


def span_search(records: list[Dict], mixed: list[Dict]) -> None:
    pool = [
        mixed[k]
        for k in sorted(range(len(mixed)), key=lambda k: (is_inline(mixed[k]), mixed[k]["position"][0], k))
    ]

    def own(r: Dict) -> list[int]:
        inside = [j for j in r["pred_idx"] if j != "" and j < len(pool)]
        at = r["pred_position"]
        if inside or at == "":
            return inside
        return [j for j, i in enumerate(pool) if i["position"][0] <= at <= i["position"][1]]

    owned = [own(r) for r in records]
    found = []
    for index, r in enumerate(records):
        if r["gt_idx"] == [""] or r["edit"] <= 0.45:
            continue
        hint = has_hint(r["gt"])
        cat = r["gt_category_type"]
        if not (cat == "title" or (cat == "text_block" and (hint or len(r["norm_gt"]) >= 80))):
            continue
        if hint:
            target = norm_text(
                re.sub(
                    INLINE,
                    lambda m: norm_formula(m[1] if m[1] is not None else m[2], V).strip(),
                    r["gt"],
                ),
                V,
            )
        else:
            target = norm_text(inline(r["gt"], V), V)
        mine = owned[index]
        low, high = (min(mine) - 8, max(mine) + 8) if mine else (0, len(pool))
        others = {j for k, o in enumerate(owned) if k != index and records[k]["gt_idx"] != [""] for j in o}
        best: Any = None
        for a in range(max(0, low), min(len(pool) - 1, high) + 1):
            for b in range(a, min(len(pool) - 1, high, a + (8 if hint else 4) - 1) + 1):
                cat = pool[b]["category_type"]
                if b in others or not (cat == "text_all" or (hint and cat == "equation_isolated")):
                    break
                content = "".join(
                    inline(d(i["content"]) if i["category_type"] == "equation_isolated" else i["content"], V)
                    for i in pool[a : b + 1]
                )
                norm = norm_text(content, V)
                if not norm:
                    continue
                key = (ned(target, norm), b - a, abs(a - mine[0]) if mine else 0)
                if (
                    best is None
                    or key[0] < best[0][0] - 1e-12
                    or (abs(key[0] - best[0][0]) <= 1e-12 and key[1:] < best[0][1:])
                ):
                    best = (key, a, b, norm)
        if best and best[0][0] < r["edit"] - 0.2 and best[0][0] <= (0.45 if hint else 0.35):
            found.append((r["edit"] - best[0][0], r, best))
    used: set[int] = set()
    for _, r, (key, a, b, norm) in sorted(found, key=lambda f: -f[0]):
        if used & set(range(a, b + 1)):
            continue
        used |= set(range(a, b + 1))
        r |= {
            "pred_idx": list(range(a, b + 1)),
            "pred": "".join(i["content"] for i in pool[a : b + 1]),
            "pred_position": pool[a]["position"][0],
            "pred_category_type": "text_block",
            "norm_pred": norm,
            "edit": key[0],
        }


# --- 8 formulas of v1.6 ------------------------------------------------------------------------------------

RESCUED = ("text_formula", "image_formula", "formula_rescue", "table_formula_rescue")


def ftype(i: Dict) -> str:
    return "equation_isolated" if type_of(i) in RESCUED else type_of(i)


def source_of(i: Dict) -> Any:
    return (*i["position"], i["content"], i.get("fine_category_type"), i["category_type"])


class Prepared:
    def __init__(self, gt: list[Dict], pool: list[Dict], split: bool = False) -> None:
        self.gt = split_truths(gt, V)
        pool = [i if "source" in i else i | {"source": source_of(i)} for i in pool]
        pool = sorted(pool, key=lambda i: (i["position"][0], ftype(i) == "equation_inline", i["position"][1]))
        self.items = split_items(pool, V) if split else pool
        (self.g, _), self.p = strings(self.gt, self.items, V, "mixed")

    def norm(self, seq: Any) -> str:
        return " ".join(self.p[j][1] for j in seq).strip()

    def row(self, k: int, seq: Any) -> Dict:
        r = make_record([k], [], 1, self.gt, [], self.g, [], V)
        r["gt_category_type"] = self.gt[k]["category_type"]
        if not seq:
            return r
        raws = [self.p[j][0] for j in seq]
        norm = self.norm(seq)
        return r | {
            "pred_idx": list(seq),
            "pred": raws[0] if len(raws) == 1 else as_array(raws, V),
            "norm_pred": norm,
            "pred_category_type": ftype(self.items[seq[0]]) if len(seq) == 1 else "equation_isolated",
            "pred_position": self.items[seq[0]]["position"][0],
            "edit": ned(self.g[k][1], norm) if norm and self.g[k][1] else 1,
        }


def hungarian_rows(x: Prepared) -> list[Dict]:
    n, p = len(x.g), len(x.p)
    m = np.ones((n + p, n + p))
    m[n:, p:] = 0
    for k in range(n):
        for j in range(p):
            m[k, j] = ned(x.g[k][1], x.p[j][1])
    pairs = dict(hungarian(m))
    return [x.row(k, [pairs[k]] if pairs[k] < p else []) for k in range(n)]


def sequences(x: Prepared, start: int, gaps: bool) -> list[list[int]]:
    n, p = len(x.g), len(x.p)
    most = min(p, 10) if n <= 1 else min(p, 12 if abs(n - p) >= 2 else 10)
    span, skips = most, 0
    if gaps:
        span = min(p, most + 2)
        skips = 2 if abs(n - p) >= 3 else 1 if abs(n - p) >= 1 or p >= 4 else 0
    found = []

    def extend(seq: list[int]) -> None:
        found.append(seq)
        if len(seq) < most:
            for nxt in range(seq[-1] + 1, min(p, start + span)):
                if nxt - seq[0] + 1 - (len(seq) + 1) <= skips:
                    extend([*seq, nxt])

    extend([start])

    def is_allowed(seq: list[int]) -> bool:
        one = len({x.items[j]["source"] for j in seq}) == 1
        contiguous = seq == list(range(seq[0], seq[-1] + 1))
        types = all(ftype(x.items[j]) == "equation_isolated" for j in seq)
        return bool(x.norm(seq)) and (len(seq) == 1 or one or (contiguous and types))

    return [s for s in found if is_allowed(s)]


def dp_rows(x: Prepared, gaps: bool) -> list[Dict]:
    n, p = len(x.g), len(x.p)

    def better(a: Any, b: Any) -> bool:
        if b is None or a[0] < b[0] - 1e-12:
            return True
        if a[0] > b[0] + 1e-12:
            return False
        ra, rb = (v[1] / v[2] if v[2] else float("inf") for v in (a, b))
        if abs(ra - rb) > 1e-12 and ra != rb:
            return ra < rb
        return a[3] < b[3]

    best: Dict = {(0, 0): ((0.0, 0, 0, 0), [])}
    for k in range(n + 1):
        for j in range(p + 1):
            if (k, j) not in best:
                continue
            v, path = best[k, j]
            moves: list[Any] = []
            if j < p:
                moves.append(((k, j + 1), (v[0] + 1, v[1], v[2], v[3]), path))
            if k < n:
                moves.append(((k + 1, j), (v[0] + 1, v[1], v[2], v[3]), path))
            if k < n and j < p:
                for seq in sequences(x, j, gaps):
                    a, b = x.g[k][1], x.norm(seq)
                    one = len(seq) == 1 and ftype(x.items[seq[0]]) == "equation_inline"
                    value = (
                        v[0] + ned(a, b), v[1] + lev(a, b), v[2] + max(len(a), len(b)), v[3] + one,
                    )  # fmt: skip
                    moves.append(((k + 1, seq[-1] + 1), value, [*path, (k, seq)]))
            for state, value, steps in moves:
                if better(value, best.get(state, (None,))[0]):
                    best[state] = (value, steps)
    chosen = dict(best[n, p][1])
    return [x.row(k, chosen.get(k, [])) for k in range(n)]


def partitions(gt: list[Dict], pool: list[Dict]) -> list[tuple[list[Dict], Prepared]]:
    options = []
    for i in Prepared([], pool).items:
        rows = item_rows(i, V)
        if rows is None or not 2 <= len(rows) <= 8:
            options.append([[i]])
            continue
        cuts = []
        for mask in range(2 ** (len(rows) - 1)):
            segments = [[rows[0]]]
            for b, row in enumerate(rows[1:]):
                if mask >> b & 1:
                    segments.append([row])
                else:
                    segments[-1].append(row)
            cuts.append([
                s[0] if len(s) == 1 else s[0] | {
                    "content": "\\[" + as_array([r["content"] for r in s], V) + "\\]",
                    "position": [s[0]["position"][0], s[-1]["position"][1]],
                    "fine_category_type": "equation_isolated",
                }
                for s in segments
            ])  # fmt: skip
        options.append(cuts)
    total = 1
    for o in options:
        total *= len(o)
    if total == 1 or total > 128:
        return []
    found, seen = [], set()
    for combination in itertools.product(*options):
        x = Prepared(gt, [i for part in combination for i in part])
        rows = hungarian_rows(x)
        key = str([(r["gt_position"], r["pred_idx"], round(r["edit"], 6)) for r in rows])
        if key not in seen:
            seen.add(key)
            found.append((rows, x))
    return found


def rewrite(text: str) -> str:
    out, at = "", 0
    while (m := re.compile(r"\\begin\s*\{").search(text, at)) is not None:
        env = environment(text, m.start())
        if env is None:
            out += text[at : m.end()]
            at = m.end()
            continue
        name, _, a, b, end = env
        out += text[at : m.start()]
        body = rewrite(text[a:b])
        rows, after = rows_of(body), text[end:]
        logic = (
            re.search(LOGIC, body) or re.search(LOGIC, after[:200]) or environment(after.lstrip()) is not None
        )
        if name == "cases" and len(rows) >= 2 and not any(ampersands(r) for r in rows) and logic:
            out += "\\left\\{ \\begin{array}{l} " + body.strip() + " \\end{array} \\right."
        else:
            out += text[m.start() : a] + body + text[b:end]
        at = end
    return out + text[at:]


def match_formulas(gt: list[Dict], items: list[Dict], current: list[Dict]) -> list[Dict]:
    pool: list[Dict] = []
    for cat in ("equation_isolated", "formula_rescue"):
        for i in items:
            formula = i | {"category_type": "equation_isolated"}
            if i["category_type"] == cat and source_of(formula) not in [source_of(o) for o in pool]:
                pool.append(formula | {"source": source_of(formula)})
    if not gt and not pool:
        return []
    candidates: list[Any] = [(current, Prepared(gt, pool), 0)]

    def add(pool: list[Dict], changed: int) -> None:
        whole = Prepared(gt, pool)
        quick = [r for r in quick_match(gt, pool, V, "mixed", split=False) if r["gt_idx"] != [""]]
        candidates.append((quick, whole, changed))
        candidates.append((hungarian_rows(whole), whole, changed))
        candidates.append((dp_rows(whole, False), whole, changed))
        candidates.append((dp_rows(whole, True), whole, changed))
        candidates.extend((rows, x, changed) for rows, x in partitions(gt, pool))
        split = Prepared(gt, pool, split=True)
        if len(split.items) > len(whole.items):
            candidates.append((dp_rows(split, False), split, changed))
            candidates.append((dp_rows(split, True), split, changed))

    add(pool, 0)
    new = [i | {"content": rewrite(i["content"])} for i in pool]
    changed = sum(a["content"] != b["content"] for a, b in zip(pool, new, strict=True))
    if changed:
        add(new, changed)
    n = len(Prepared(gt, pool).g)
    best: Any = None
    for records, x, changes in candidates:
        for r in records:
            if r["pred_category_type"] in RESCUED:
                r["pred_category_type"] = "equation_isolated"
        complete = (
            len(records) == n
            and all(len(r["gt_idx"]) == 1 for r in records)
            and len({r["gt_idx"][0] for r in records}) == n
            and all(r["pred_category_type"] in ("", *FORMULA_TYPES) for r in records)
        )
        if n and not complete:
            continue
        with_pred = [r for r in records if r["pred_idx"] != [""]]
        top = sum(lev(r["norm_gt"], r["norm_pred"]) for r in with_pred)
        bottom = sum(max(len(r["norm_gt"]), len(r["norm_pred"])) for r in with_pred)
        sources = {
            x.items[j]["source"] for r in records for j in r["pred_idx"] if j != "" and j < len(x.items)
        }
        total = sum(r["edit"] for r in records)
        key = (
            total,
            float("inf") if not records else top / bottom if bottom else 0,
            max(0, len(pool) - len(sources)),
            total / len(records) if records else 0,
            -changes,
            len(records) - len(with_pred),
        )
        if best is None or is_less(key, best[0]):
            best = (key, records)
    return best[1] if best else []


def is_less(a: Any, b: Any) -> bool:
    for x, y in zip(a, b, strict=True):
        if x != y and abs(x - y) > 1e-12:
            return bool(x < y)
    return False
