"""Proof by injection for `parsemark check`: `CHECK_OUTPUTS=folder python -m bench check`.

The folder has `PACKAGE--NAME.pdf` (some neighbouring pages of a real document) and, for each parser, a folder
`PARSER/PACKAGE--NAME.json` with the list of the texts of its pages. `python bench/check.py FOLDER` makes the
outputs, in an environment with pdfminer.six, pdfplumber, pymupdf, pymupdf4llm, pypdf, pypdfium2 and
markitdown; `pdftotext` is poppler's.

Each output is given to `check` as one text without marks of pages, then harmed in one way and given again. A
harm is found if a new finding of a right kind has at least half of its words, and shown if findings of the
default certainty have them. New findings without words of the harm are false. Documents are split in two by
the hash of their package's name: choices are made on one half (`CHECK_HALF=tune`), figures are of the other.
`CHECK_EACH=1` takes one parser of each document, `CHECK_HARMS="sign lost,unit altered"` some kinds of harms,
`CHECK_RECORD=FILE` appends the findings of each harm to a file.
Intervals are bootstraps over packages. Beside it: the findings on untouched outputs per 1,000 words.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from parsemark.verdicts.check import CheckFinding

PARSERS = (
    *("pdftotext", "pdftotext-layout", "pymupdf", "pypdfium2", "pypdf", "pdfminer"),
    *("markitdown", "pymupdf4llm", "pymupdf-tables", "pdfplumber"),
)
SEED, BOOTSTRAPS = 49, 1000
COLUMN = 6  # lines of a column whose lines are mixed
ALL, DEFAULT = 0.0, 0.75  # least certainties of findings
OF: tuple[Literal["found", "shown"], ...] = ("found", "shown")
INVENTED = (
    "Quarterly shipments rose to 7391 crates before the committee adjourned",
    "Patients received 8264 milligrams twice daily without adverse reactions",
)


@dataclass(frozen=True)
class Damage:
    """An output of pages that was harmed."""

    pages: list[str]
    words: Counter[str]
    kinds: frozenset[str]
    cells: tuple[str, ...] = ()  # texts of the cells that were changed, and of all of their table
    table: tuple[str, ...] = ()


def kinds(*names: str) -> frozenset[str]:
    return frozenset(names)


LOST = kinds("lost", "missing_page", "altered", "number", "joined", "split")


def bag(text: str) -> Counter[str]:
    from parsemark.matching.words import atoms, counts

    return Counter(atom for atom in atoms(text) if counts(atom))


def with_page(pages: Sequence[str], k: int, text: str) -> list[str]:
    return [*pages[:k], text, *pages[k + 1 :]]


def _pick(pages: Sequence[str], pattern: str, dice: random.Random) -> tuple[int, re.Match[str]] | None:
    found = [(k, match) for k, page in enumerate(pages) for match in re.finditer(pattern, page)]
    return dice.choice(found) if found else None


def _lines(pages: Sequence[str]) -> list[tuple[int, int]]:
    return [
        (k, n)
        for k, page in enumerate(pages)
        for n, line in enumerate(page.split("\n"))
        if bag(line).total() >= 5 and n > 2
    ]


def line_lost(pages: Sequence[str], dice: random.Random) -> Damage | None:
    if not (known := _lines(pages)):
        return None
    k, n = dice.choice(known)
    lines = pages[k].split("\n")
    return Damage(with_page(pages, k, "\n".join(lines[:n] + lines[n + 1 :])), bag(lines[n]), LOST)


def page_lost(pages: Sequence[str], dice: random.Random) -> Damage | None:
    known = [k for k, page in enumerate(pages) if bag(page).total() >= 40]
    if len(known) < 2:
        return None
    k = dice.choice(known)
    return Damage(with_page(pages, k, ""), bag(pages[k]), LOST)


def digit_altered(pages: Sequence[str], dice: random.Random) -> Damage | None:
    place = _pick(pages, r"(?<![\w.,-])\d{2,6}(?![\w.,-])", dice)
    if place is None:
        return None
    k, match = place
    at = match.start() + dice.randrange(len(match[0]))
    other = str((int(pages[k][at]) + dice.randint(1, 9)) % 10)
    return Damage(
        with_page(pages, k, pages[k][:at] + other + pages[k][at + 1 :]), Counter([match[0]]), NUMBER
    )


NUMBER = kinds("number", "lost", "altered")


def _replaced(pattern: str, change: Callable[[re.Match[str]], str]) -> Callable[..., Damage | None]:
    def harm(pages: Sequence[str], dice: random.Random) -> Damage | None:
        place = _pick(pages, pattern, dice)
        if place is None:
            return None
        k, match = place
        text = pages[k][: match.start()] + change(match) + pages[k][match.end() :]
        return Damage(with_page(pages, k, text), bag(match["n"]), NUMBER)

    return harm


point_lost = _replaced(r"(?<![\w.,])(?P<n>\d{1,4}\.\d{1,4})(?![\w.,]\d)", lambda m: m[0].replace(".", ""))
sign_lost = _replaced(r"(?<=[ (])[-\u2212](?P<n>\d+(?:\.\d+)?)(?!\w|[-.])", lambda m: m["n"])
unit_altered = _replaced(
    r"(?<![\w.,])(?P<n>\d+(?:\.\d+)?) ?(?P<u>kg|mg|cm|mm|km|kB|MB|GB|ms|Hz|kHz|MHz|%)(?!\w)",
    lambda m: f"{m['n']} {'m' if m['u'] != 'mm' else 'km'}",
)
numbers_joined = _replaced(r"(?<![\w.,])(?P<n>\d{1,4}[ ]\d{1,4})(?![\w.,])", lambda m: m[0].replace(" ", ""))


def invented(pages: Sequence[str], dice: random.Random) -> Damage | None:
    if not (known := _lines(pages)):
        return None
    k, n = dice.choice(known)
    sentence = dice.choice(INVENTED)
    lines = pages[k].split("\n")
    lines.insert(n, sentence)
    return Damage(
        with_page(pages, k, "\n".join(lines)), bag(sentence), kinds("invented", "altered", "number")
    )


def repeated(pages: Sequence[str], dice: random.Random) -> Damage | None:
    known = [k for k, page in enumerate(pages) if bag(page).total() >= 60]
    if not known:
        return None
    k = dice.choice(known)
    lines = pages[k].split("\n")
    start = dice.randrange(max(1, len(lines) - 6))
    block = lines[start : start + 6]
    if bag(" ".join(block)).total() < 10:
        return None
    text = "\n".join([*lines[: start + 6], *block, *lines[start + 6 :]])
    return Damage(with_page(pages, k, text), bag(" ".join(block)), kinds("doubled", "invented"))


def moved(pages: Sequence[str], dice: random.Random) -> Damage | None:
    known = [k for k, page in enumerate(pages) if bag(page).total() >= 100 and page.count("\n") > 20]
    if not known:
        return None
    k = dice.choice(known)
    lines = pages[k].split("\n")
    start = dice.randrange(3, len(lines) // 2)
    block = lines[start : start + 4]
    if bag(" ".join(block)).total() < 12:
        return None
    rest = lines[:start] + lines[start + 4 :]
    at = dice.randrange(min(len(rest), start + 10), len(rest) + 1)
    words = bag(" ".join(lines[start : at + 4]))
    text = "\n".join(rest[:at] + block + rest[at:])
    return Damage(with_page(pages, k, text), words, kinds("moved", "order"))


def blank_lost(pages: Sequence[str], dice: random.Random) -> Damage | None:
    place = _pick(pages, r"(?<!\w)([a-z]{4,9}) ([a-z]{4,9})(?!\w)", dice)
    if place is None:
        return None
    k, match = place
    text = pages[k][: match.start()] + match[1] + match[2] + pages[k][match.end() :]
    return Damage(with_page(pages, k, text), bag(match[0]), kinds("joined", "altered", "lost"))


def word_altered(pages: Sequence[str], dice: random.Random) -> Damage | None:
    place = _pick(pages, r"(?<!\w)[a-z]{6,12}(?!\w)", dice)
    if place is None:
        return None
    k, match = place
    word = match[0]
    at = dice.randrange(1, len(word) - 2)
    other = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if other == word:
        return None
    text = pages[k][: match.start()] + other + pages[k][match.end() :]
    return Damage(with_page(pages, k, text), Counter([word]), kinds("altered", "lost"))


def heading_unmarked(pages: Sequence[str], dice: random.Random) -> Damage | None:
    place = _pick(pages, r"(?m)^#{1,6} +(?P<n>[^\n]*\w{4}[^\n]*)$", dice)
    if place is None:
        return None
    k, match = place
    plain = match["n"].replace("*", "")
    text = pages[k][: match.start()] + plain + pages[k][match.end() :]
    return Damage(with_page(pages, k, text), bag(plain), kinds("heading"))


def _table_rows(page: str) -> Iterator[list[int]]:
    """Yield the lines of the rows of each Markdown table, without its head."""
    lines = page.split("\n")
    for is_row, group in groupby(range(len(lines)), lambda n: lines[n].lstrip().startswith("|")):
        rows = [n for n in group if is_row]
        if len(rows) >= 6 and re.fullmatch(r"[\s|:-]+", lines[rows[1]]):
            yield rows[2:]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _in_table(
    change: Callable[[list[list[str]], random.Random], list[str]],
) -> Callable[..., Damage | None]:
    """Return a harm that changes the cells of a table and returns their texts."""

    def harm(pages: Sequence[str], dice: random.Random) -> Damage | None:
        known = [(k, rows) for k, page in enumerate(pages) for rows in _table_rows(page)]
        dice.shuffle(known)
        for k, rows in known:
            lines = pages[k].split("\n")
            cells = [_cells(lines[n]) for n in rows]
            if len({len(row) for row in cells}) != 1 or len(cells[0]) < 3:
                continue
            table = tuple(text for row in cells for text in row if bag(text))
            if words := bag(" ".join(texts := change(cells, dice))):
                for n, row in zip(rows, cells, strict=True):
                    lines[n] = f"|{'|'.join(row)}|"
                changed = with_page(pages, k, "\n".join(lines))
                return Damage(changed, words, kinds("cell"), tuple(filter(bag, texts)), table)
        return None

    return harm


def _exchanged(is_row: bool) -> Callable[[list[list[str]], random.Random], list[str]]:
    def change(cells: list[list[str]], dice: random.Random) -> list[str]:
        pairs = [
            (one, other)
            for one in ((r, c) for r in range(len(cells)) for c in range(len(cells[0])))
            for other in ((r, c) for r in range(len(cells)) for c in range(len(cells[0])))
            if one < other and (one[0] == other[0] if is_row else one[1] == other[1])
        ]
        pairs = [
            (a, b)
            for a, b in pairs
            if (x := bag(cells[a[0]][a[1]])) and (y := bag(cells[b[0]][b[1]])) and x != y
        ]
        if not pairs:
            return []
        (r, c), (s, d) = dice.choice(pairs)
        cells[r][c], cells[s][d] = cells[s][d], cells[r][c]
        return [cells[r][c], cells[s][d]]

    return change


def _empty_dropped(cells: list[list[str]], dice: random.Random) -> list[str]:
    places = [
        (r, c)
        for r, row in enumerate(cells)
        for c in range(len(row))
        if not row[c] and bag(" ".join(row[c:]))
    ]
    if not places:
        return []
    r, c = dice.choice(places)
    texts = cells[r][c + 1 :]
    cells[r][:] = [*cells[r][:c], *texts, ""]
    return texts


def _column_lowered(cells: list[list[str]], dice: random.Random) -> list[str]:
    c = dice.randrange(len(cells[0]))
    texts = [row[c] for row in cells[:-1]]
    for r in range(len(cells) - 1, -1, -1):
        cells[r][c] = texts[r - 1] if r else ""
    return texts


def table_flattened(pages: Sequence[str], dice: random.Random) -> Damage | None:
    """Write a table of Markdown as lines of text, in an output that marks more than this table."""
    from parsemark.matching.page_findings.flattened import marks_structure

    known = [(k, body) for k, page in enumerate(pages) for body in _table_rows(page)]
    dice.shuffle(known)
    between = dice.choice((" ", "  ", "\n"))
    for k, body in known:
        lines = pages[k].split("\n")
        rows = [body[0] - 2, *body]
        words = bag(" ".join(lines[n] for n in rows))
        for n in rows:
            lines[n] = between.join(cell for cell in _cells(lines[n]) if cell)
        del lines[rows[0] + 1]
        harmed = with_page(pages, k, "\n".join(lines))
        if marks_structure(harmed):
            return Damage(harmed, words, kinds("table"))
    return None


def columns_mixed(pages: Sequence[str], dice: random.Random, pdf: Path) -> Damage | None:
    """Write the lines of two columns in turns, or each two of them as one line."""
    known = [(k, *sides) for k, page in enumerate(pages) if (sides := _two_columns(pdf, k + 1, page))]
    if not known:
        return None
    k, left, right = dice.choice(known)
    lines = pages[k].split("\n")
    own = sorted({*left, *right})
    between = dice.choice(("\n", " "))
    pairs = zip_longest((lines[n] for n in left), (lines[n] for n in right), fillvalue="")
    mixed = [between.join(text for text in pair if text) for pair in pairs]
    rest = [line for n, line in enumerate(lines) if n > own[0] and n not in own]
    text = "\n".join([*lines[: own[0]], *mixed, *rest])
    return Damage(with_page(pages, k, text), bag(" ".join(mixed)), kinds("order"))


def _two_columns(pdf: Path, number: int, page: str) -> tuple[list[int], list[int]] | None:
    """Return the lines of an output that are of the left and of the right column of a page."""
    from parsemark.matching.words import atoms
    from parsemark.pdf import seen_page

    seen = seen_page(pdf, number)
    words = [
        (atom, word.box) for word in seen.words if word.shown and not word.edge for atom in atoms(word.text)
    ]
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i in range(len(words) - 2):
        places[tuple(atom for atom, _ in words[i : i + 3])].append(i)
    sides: tuple[list[int], list[int]] = [], []
    for n, line in enumerate(page.split("\n")):
        own = list(atoms(line))[: max(3, len(list(atoms(line))) - 1)]  # the last one may have a hyphen
        at = places.get(tuple(own[:3]), ())
        if len(at) != 1 or [atom for atom, _ in words[at[0] : at[0] + len(own)]] != own:
            continue
        boxes = [box for _, box in words[at[0] : at[0] + len(own)]]
        if max(box.x1 for box in boxes) <= 0.52 * seen.width:
            sides[0].append(n)
        elif min(box.x0 for box in boxes) >= 0.48 * seen.width:
            sides[1].append(n)
    cut = max(sides[1], key=lambda n: sum(m < n for m in sides[0]) - sum(m < n for m in sides[1]), default=0)
    left, right = [n for n in sides[0] if n < cut], [n for n in sides[1] if n >= cut]
    if min(len(left), len(right)) < COLUMN or len(left + right) < 0.8 * len(sides[0] + sides[1]):
        return None  # not two columns, or the output has their lines in turns already
    return left, right


HARMS: dict[str, Callable[..., Damage | None]] = {
    "page lost": page_lost,
    "line lost": line_lost,
    "digit altered": digit_altered,
    "decimal point lost": point_lost,
    "sign lost": sign_lost,
    "unit altered": unit_altered,
    "numbers joined": numbers_joined,
    "sentence invented": invented,
    "block repeated": repeated,
    "block moved": moved,
    "letters exchanged": word_altered,
    "blank lost": blank_lost,
    "heading unmarked": heading_unmarked,
    "cells of a row exchanged": _in_table(_exchanged(True)),
    "cells of a column exchanged": _in_table(_exchanged(False)),
    "empty cell dropped": _in_table(_empty_dropped),
    "column a row too low": _in_table(_column_lowered),
    "table flattened": table_flattened,
    "columns mixed": columns_mixed,
}
PARTLY = frozenset({"block moved", "unit altered", "sign lost", *list(HARMS)[-6:]})
"""Harms that one of their words tells."""
APART = ", in cells that the page does not have"
"""Behind the name of a harm: counted apart."""


def stands_as_cells(pdf: Path, n_pages: int, damage: Damage) -> bool:
    """Return whether a page shows all changed cells, and half of their table, each as words apart from
    others. Otherwise the output has no table of the page there, and no place to compare.
    """
    from parsemark.matching.words import atoms
    from parsemark.pdf import seen_page

    known: set[tuple[str, ...]] = set()
    for number in range(1, n_pages + 1):
        pieces: list[list[str]] = []
        before = None
        for word in (word for word in seen_page(pdf, number).words if word.shown):
            is_near = False
            if before is not None:
                one, other = before.box, word.box
                height = max(one.height, other.height)
                is_beside = min(one.y1, other.y1) > max(one.y0, other.y0)
                is_near = is_beside and -height < other.x0 - one.x1 < 0.6 * height
                is_near = is_near or (word.line == before.line and not is_beside)  # turned
            if not is_near:
                pieces.append([])
            pieces[-1] += atoms(word.text)
            before = word
        for k in range(len(pieces)):
            for n in range(1, 5):  # lines
                known.add(tuple(atom for piece in pieces[k : k + n] for atom in piece))
    stands = [atoms(text) in known for text in damage.table]
    return all(atoms(text) in known for text in damage.cells) and 2 * sum(stands) >= len(stands)


class Tally:
    """What was found in the outputs of one package, by harm or by kind of finding."""

    def __init__(self) -> None:
        self.tried, self.found, self.shown = Counter[str](), Counter[str](), Counter[str]()
        self.alarmed = Counter[str]()  # harmed outputs with other new findings that are shown
        self.false = Counter[str]()  # words of other new findings, by kind
        self.findings = Counter[str]()  # words of findings before outputs were harmed
        self.words = self.untouched = 0  # of harmed outputs, and of outputs


def checked(pdf: Path, pages: Sequence[str]) -> tuple[CheckFinding, ...]:
    from parsemark.verdicts.check import check

    return check(pdf, "\n\n".join(pages).encode(), ocr="off", certain=0).findings


def words_of(pdf: Path, findings: Sequence[CheckFinding], certain: float) -> Counter[tuple[str, str]]:
    """Return the words of findings, by kind: what the page has, or what only the output has."""
    told: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        if finding.certainty < certain:
            continue
        if finding.kind == "missing_page":
            from parsemark.pdf import seen_page

            words = " ".join(w.text for w in seen_page(pdf, finding.page).words if w.shown and not w.edge)
        else:
            words = finding.text or finding.output
        for word, n in bag(words).items():
            told[finding.kind, word] += n
    return told


def is_in_outline(pdf: Path, words: Counter[str]) -> bool:
    """Return whether an entry of the outline has these words, but for a number before them."""
    from parsemark.pdf import read_outline

    return any(
        (title := bag(entry.title)) <= words and (words - title).total() <= 1 and title.total() > 0
        for entry in read_outline(pdf)
    )


def tally_output(tally: Tally, pdf: Path, parser: str, pages: list[str], dice: random.Random) -> None:
    from parsemark.errors import ParsemarkError

    n_words = bag("\n".join(pages)).total()
    try:
        before = checked(pdf, pages)
    except ParsemarkError:
        return
    from parsemark.pdf import seen_page

    numbers = range(1, len(pages) + 1)
    asked = {
        a for n in numbers for w in seen_page(pdf, n).words if w.shown and not w.edge for a in bag(w.text)
    }
    tally.untouched += n_words
    old = {least: words_of(pdf, before, least) for least in (ALL, DEFAULT)}
    for (kind, _), n in old[ALL].items():
        tally.findings[kind] += n
    chosen = os.environ.get("CHECK_HARMS", ",".join(HARMS)).split(",")
    for name, harm in HARMS.items():
        if name not in chosen:
            continue
        damage = harm(pages, dice, pdf) if harm is columns_mixed else harm(pages, dice)
        if damage is None or not damage.words:
            continue
        if name == "heading unmarked" and not is_in_outline(pdf, damage.words):
            continue  # `check` asks only for headings of the outline
        if damage.kinds == NUMBER and not asked >= damage.words.keys():
            continue  # `check` does not compare page numbers
        try:
            after = checked(pdf, damage.pages)
        except ParsemarkError:
            continue  # so little is left that it is refused as the output of another document
        new = {least: words_of(pdf, after, least) - old[least] for least in (ALL, DEFAULT)}
        need = 1 if name in PARTLY else damage.words.total() / 2
        shared = {least: (_of_kinds(new[least], damage.kinds) & damage.words).total() for least in new}
        row = name if not damage.cells or stands_as_cells(pdf, len(pages), damage) else name + APART
        tally.tried[row] += 1
        tally.found[row] += shared[ALL] >= need
        tally.shown[row] += shared[DEFAULT] >= need
        for (kind, word), n in new[ALL].items():
            tally.false[kind] += n * is_false(kind, word, damage)
        tally.alarmed[name] += any(is_false(kind, word, damage) for kind, word in new[DEFAULT])
        tally.words += n_words
        if record := os.environ.get("CHECK_RECORD"):
            seen_before = Counter(map(_key, before))
            own = [f for f in after if f.kind in damage.kinds and not seen_before[_key(f)]]
            told = [
                asdict(f) for f in own if bag(f.text or f.output) & damage.words or f.kind == "missing_page"
            ]
            line = {"document": pdf.stem, "parser": parser, "harm": name, "words": damage.words, "need": need}
            with Path(record).open("a") as file:
                file.write(json.dumps({**line, "shared": shared[ALL], "findings": told}) + "\n")


def is_false(kind: str, word: str, damage: Damage) -> bool:
    explained = {"moved"} if "order" in damage.kinds else {"missing_page"} & damage.kinds
    return word not in damage.words and kind not in explained


def _key(finding: CheckFinding) -> tuple[str, int, str, str]:
    return finding.kind, finding.page, finding.text, finding.output


def _of_kinds(told: Counter[tuple[str, str]], right: frozenset[str]) -> Counter[str]:
    words = Counter[str]()
    for (kind, word), n in told.items():
        if kind in right:
            words[word] += n
    return words


def half_of(package: str) -> str:
    return "tune" if hashlib.sha256(package.encode()).digest()[0] % 2 else "report"


def interval(tallies: Sequence[Tally], value: Callable[[Sequence[Tally]], float]) -> tuple[float, float]:
    dice = np.random.default_rng(SEED)
    values = [
        value([tallies[i] for i in dice.integers(0, len(tallies), len(tallies))]) for _ in range(BOOTSTRAPS)
    ]
    low, high = np.nanquantile(values, (0.025, 0.975))
    return float(low), float(high)


def share(tallies: Sequence[Tally], names: Sequence[str], of: Literal["found", "shown"] = "found") -> float:
    tried = sum(t.tried[name] for t in tallies for name in names)
    return sum(getattr(t, of)[name] for t in tallies for name in names) / tried if tried else float("nan")


def main() -> bool:
    if not (folder := os.environ.get("CHECK_OUTPUTS")):
        print("no CHECK_OUTPUTS: nothing is injected")
        return True
    wanted = os.environ.get("CHECK_HALF", "report")
    tallies: dict[str, Tally] = defaultdict(Tally)
    documents, used = 0, Counter[str]()
    started = time.monotonic()
    by_hash = sorted(Path(folder).glob("*.pdf"), key=lambda p: hashlib.sha256(p.stem.encode()).hexdigest())
    for pdf in by_hash:
        package = pdf.stem.partition("--")[0]
        if wanted not in ("both", half_of(package)):
            continue
        documents += 1
        made = [parser for parser in PARSERS if Path(folder, parser, f"{pdf.stem}.json").is_file()]
        first = int(hashlib.sha256(pdf.stem.encode()).hexdigest(), 16)
        n_each = int(os.environ.get("CHECK_EACH", len(made)))
        for parser in [made[(first + k) % len(made)] for k in range(min(n_each, len(made)))]:
            path = Path(folder, parser, f"{pdf.stem}.json")
            if bag(" ".join(pages := json.loads(path.read_text()))).total() >= 30:
                used[parser] += 1
                dice = random.Random(f"{SEED} {pdf.stem} {parser}")
                tally_output(tallies[package], pdf, parser, pages, dice)
        if time.monotonic() - started > float(os.environ.get("CHECK_SECONDS", "inf")):
            break
    report(list(tallies.values()), documents, used)
    return share(list(tallies.values()), list(HARMS)) >= 0.9


def report(tallies: Sequence[Tally], documents: int, used: Counter[str]) -> None:
    print(f"{documents} documents of {len(tallies)} packages; outputs: {dict(used)}")
    print("| injection | tried | found | shown | outputs with other findings shown |")
    for name in (*HARMS, *(name + APART for name in HARMS), "all"):
        names = list(HARMS) if name == "all" else [name]
        tried = sum(t.tried[n] for t in tallies for n in names)
        if tried:
            cells = [f"{share(tallies, names, of):.3f} ({_interval_text(tallies, names, of)})" for of in OF]
            alarmed = sum(t.alarmed[n] for t in tallies for n in names)
            print(f"| {name} | {tried} | {' | '.join(cells)} | {alarmed} |")

    def false(some: Sequence[Tally], kinds: Collection[str]) -> float:
        return 1000 * sum(t.false[k] for t in some for k in kinds) / max(1, sum(t.words for t in some))

    every = sum((t.false for t in tallies), Counter[str]())
    print("new findings that no injection explains, words per 1,000 words:")
    for kind, chosen in (("all", every.keys()), *((k, {k}) for k, _ in every.most_common())):
        low, high = interval(tallies, partial(false, kinds=chosen))
        print(f"{kind}: {false(tallies, chosen):.3f} ({low:.3f} to {high:.3f})")
    words = sum(t.untouched for t in tallies)
    told = sum((t.findings for t in tallies), Counter[str]())
    print(f"untouched outputs, {words} words, words in findings per 1,000:")
    print(", ".join(f"{kind} {1000 * n / words:.2f}" for kind, n in told.most_common()))


def _interval_text(tallies: Sequence[Tally], names: Sequence[str], of: Literal["found", "shown"]) -> str:
    low, high = interval(tallies, lambda some: share(some, names, of))
    return f"{low:.3f} to {high:.3f}"


# --- outputs ------------------------------------------------------------------------------------------------


def texts_of(parser: str, pdf: Path, n_pages: int) -> list[str]:
    """Return the texts of the pages by one parser; runs where that is installed."""
    if parser.startswith("pdftotext"):
        how = ["-layout"] if parser.endswith("layout") else []
        done = subprocess.run(["pdftotext", *how, str(pdf), "-"], capture_output=True, check=True, timeout=60)
        found = done.stdout.decode("utf-8", "replace").split("\f")[:n_pages]
    elif parser == "pypdf":
        from pypdf import PdfReader

        found = [page.extract_text() for page in PdfReader(pdf).pages]
    elif parser == "pymupdf":
        import fitz

        found = [page.get_text() for page in fitz.open(pdf)]
    elif parser == "pymupdf4llm":
        import pymupdf4llm

        chunks = pymupdf4llm.to_markdown(str(pdf), page_chunks=True, show_progress=False)
        found = [chunk["text"] for chunk in chunks]
    elif parser == "pypdfium2":
        import pypdfium2

        found = [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]
    elif parser == "pdfminer":
        from pdfminer.high_level import extract_text

        found = [extract_text(pdf, page_numbers=[k]) for k in range(n_pages)]
    elif parser == "pdfplumber":
        import pdfplumber

        with pdfplumber.open(pdf) as document:
            found = [text_beside_tables(page) for page in document.pages]
    elif parser == "pymupdf-tables":
        import fitz

        found = [text_and_tables(page) for page in fitz.open(pdf)]
    else:
        from markitdown import MarkItDown

        found = MarkItDown().convert(str(pdf)).text_content.split("\f")
    return found


def text_and_tables(page: Any) -> str:
    """Return the text of one of pymupdf's pages outside of tables, and its tables in Markdown."""
    tables = page.find_tables().tables
    parts = []
    for x0, y0, x1, y1, text, *_ in page.get_text("blocks"):
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        if not any(t.bbox[0] <= x <= t.bbox[2] and t.bbox[1] <= y <= t.bbox[3] for t in tables):
            parts.append(text)
    return "\n\n".join([*parts, *map(markdown, (table.extract() for table in tables))])


def text_beside_tables(page: Any) -> str:
    """Return the text of one of pdfplumber's pages outside of tables, and its tables in Markdown."""
    tables, rest = page.find_tables(), page
    for table in tables:
        rest = rest.outside_bbox(table.bbox)
    return "\n\n".join(
        [rest.extract_text(), *(markdown(rows) for table in tables if (rows := table.extract()))]
    )


def markdown(rows: Sequence[Sequence[str | None]]) -> str:
    """Return a table in Markdown."""
    cells = [[(cell or "").replace("\n", " ").replace("|", "\\|") for cell in row] for row in rows]
    head, *body = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body])


def make_outputs(folder: Path) -> Iterator[str]:
    import pypdfium2

    for parser in PARSERS:
        for pdf in sorted(folder.glob("*.pdf")):
            path = folder / parser / f"{pdf.stem}.json"
            if path.exists():
                continue
            try:
                texts = texts_of(parser, pdf, len(pypdfium2.PdfDocument(pdf)))
            except Exception as error:
                yield f"{parser} {pdf.name}: {type(error).__name__}: {error}"
                continue
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(texts, ensure_ascii=False), errors="replace")


if __name__ == "__main__":
    for line in make_outputs(Path(sys.argv[1])):
        print(line)
