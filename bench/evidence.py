"""Proof by injection for the protocol `evidence`: `EVIDENCE_RUN=folder python -m bench evidence`.

The folder is a run (`parsemark bench PDFS/ --no-score …`) over real documents without truth; the name of
a PDF begins with its package and `--`. `EVIDENCE_EVERY=3` takes every third output. Ours are of Debian's
documentation: `apt-get download`, `dpkg -x`, three neighbouring pages of up to three PDFs of each package,
split in two by the hash of the package's name. Rules were made while looking at one half; the figures in
`docs/reference/evidence.md` are of the other one.

Real outputs are harmed in known ways: lines, paragraphs, rows, cells, columns and pages deleted, repeated or
exchanged, numbers altered, sentences invented, blanks dropped and added, words heaped up. A change must do
harm: words are deleted, repeated and altered
that page and output have equally often (to delete one that was doubled mends, as to repeat one that was lost
elsewhere), and what is exchanged stood in its place and changes the order of the output's words. Found: at
least half of the harmed words are new findings of the right kind. False alarms: new findings among the words
that were left alone. Beside it, changes that harm nothing. Then how the figures go along with true ones
(`EVIDENCE_TRUE`: a run of a corpus with truth, scored by evidence, document and tables), and how
long it takes.
"""

from __future__ import annotations

import gc
import os
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from parsemark.corpora import load_corpus
from parsemark.engine.scoring.chunk import read_record
from parsemark.formats import write_document
from parsemark.matching.page_evidence import PageEvidence, agreement, compare, output_words
from parsemark.matching.words import atoms, counts
from parsemark.model import Prediction, Status, Table
from parsemark.pdf import SeenPage, child, seen_page
from parsemark.protocols import get_protocol
from parsemark.store import Run

SEED = 30
PER_OUTPUT = 3
"""Harms of each output, of different kinds."""
BOOTSTRAPS = 1000
MOST_MS = 50
TRUE_FIGURES = (
    ("kept", "document", "text_edit"),
    ("lost", "document", "lost_text"),
    ("invented", "document", "invented_text"),
    ("kept", "tables", "te_f1_con"),
)
MIN_LINE, MIN_PARAGRAPH = 4, 12
Grid = list[list[str]]
SENTENCES = (
    "Quarterly shipments rose to {} crates before the committee adjourned",
    "According to witnesses the vessel carried {} barrels of olive oil",
    "Our survey reached {} households across seventeen mountain villages",
    "Patients received {} milligrams twice daily without adverse reactions",
)


@dataclass(frozen=True)
class Harm:
    """An output that was harmed."""

    prediction: Prediction
    kinds: frozenset[str]
    """Findings that tell it."""
    words: Counter[str]
    """What was deleted, repeated, altered or invented; of an exchange, what changed places."""
    touched: Counter[str] = field(default_factory=Counter)
    """Other words that were changed with them."""
    any_word: bool = False
    """Whether one word is enough: of two things that are exchanged, either has moved."""


LOST = frozenset({"lost", "altered", "joined", "split"})
EXTRA, MOVED = frozenset({"doubled", "invented"}), frozenset({"moved"})
JOINED, SPLIT = frozenset({"joined", "altered", "lost"}), frozenset({"split", "altered", "lost"})
OTHER_NUMBER = frozenset({"altered", "lost", "invented"})


def counted(text: str) -> Counter[str]:
    return Counter(atom for atom in atoms(text) if counts(atom))


# --- outputs as lines, paragraphs and grids -----------------------------------------------------------------


@dataclass
class Output:
    """An output that can be taken apart and put together."""

    prediction: Prediction
    settled: frozenset[str] = frozenset()
    """Words that page and output have equally often, and not in running heads nor hidden."""
    moved: frozenset[str] = frozenset()
    """Words that stand elsewhere already."""
    wrong: frozenset[str] = frozenset()
    """Words with another finding."""
    edges: frozenset[str] = frozenset()
    """Words of running heads."""

    @classmethod
    def of(cls, prediction: Prediction) -> Output | None:
        if prediction.text is not None:
            return cls(replace(prediction, elements=()))
        tables = tuple(
            replace(e, table=Table.from_rows(grid_of(e.table)), html=None)
            for e in prediction.elements
            if e.table
        )
        return cls(replace(prediction, elements=tables)) if tables else None

    def look(self, seen: SeenPage, before: Counter[tuple[str, str]]) -> None:
        """See which words can be harmed."""
        shown = Counter(a for w in seen.words if w.shown for a in atoms(w.text) if counts(a))
        unasked = {a for w in seen.words if w.edge or not w.shown for a in atoms(w.text)}
        said = Counter(a for a in output_words(self.prediction, shown.keys()) if counts(a))
        self.edges = frozenset(a for w in seen.words if w.edge for a in atoms(w.text))
        self.wrong = frozenset(word for kind, word in before if kind != "moved")
        self.moved = frozenset(word for kind, word in before if kind == "moved")
        self.settled = frozenset(w for w, n in said.items() if n == shown[w]) - unasked - self.wrong

    def harmed(self, text: str) -> Counter[str]:
        return Counter({word: n for word, n in counted(text).items() if word in self.settled})

    def can_lose(self, text: str, least: int = 1) -> bool:
        own = counted(text)
        return own.total() >= least and 2 * self.harmed(text).total() >= own.total()

    def in_place(self, *texts: str) -> bool:
        return all(not self.moved & counted(text).keys() for text in texts)

    def harm(self, changed: Prediction, kinds: frozenset[str], text: str) -> Harm:
        return Harm(changed, kinds, self.harmed(text), counted(text))

    def exchanged(self, changed: Prediction, between: str) -> Harm | None:
        """Return a harm of which any word tells, if the words stand in another order now."""
        if list(output_words(changed)) == list(output_words(self.prediction)):
            return None
        return Harm(changed, MOVED, counted(between), any_word=True)

    def with_text(self, text: str) -> Prediction:
        return replace(self.prediction, text=text)

    def parts(self, pattern: str, least: int) -> tuple[list[str], list[int]]:
        """Return the text cut at a pattern (separators stay), and which parts can be harmed."""
        parts = re.split(f"({pattern})", self.prediction.text or "")
        return parts, [
            k for k in range(0, len(parts), 2) if self.can_lose(parts[k], least) and "|" not in parts[k]
        ]

    def grids(self) -> Iterator[tuple[Grid, Callable[[Grid], Prediction]]]:
        """Yield tables of at least three rows and two columns, each with what puts a changed one in its
        place.
        """
        if self.prediction.text is None:
            for k, element in enumerate(self.prediction.elements):
                if element.table and element.table.n_rows > 2 and element.table.n_cols > 1:
                    yield grid_of(element.table), lambda grid, k=k: self._with_table(k, grid)
            return
        for found in re.finditer(r"(?:^\|[^\n]*\|[ \t]*\n?){4,}", self.prediction.text, re.MULTILINE):
            lines = found[0].rstrip("\n").split("\n")
            if not re.fullmatch(r"[|:\- ]+", lines[1]) or "\\|" in found[0]:
                continue
            rows = [line.strip().strip("|").split("|") for line in (lines[0], *lines[2:])]
            if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1:

                def put(grid: Grid, at: tuple[int, int] = found.span(), rule: str = lines[1]) -> Prediction:
                    text = ["|" + "|".join(row) + "|" for row in grid]
                    text.insert(1, "|" + "|".join("---" for _ in grid[0]) + "|")
                    whole = self.prediction.text or ""
                    return self.with_text(whole[: at[0]] + "\n".join(text) + "\n" + whole[at[1] :])

                yield rows, put

    def _with_table(self, k: int, grid: Grid) -> Prediction:
        elements = list(self.prediction.elements)
        elements[k] = replace(elements[k], table=Table.from_rows(grid))
        return replace(self.prediction, elements=tuple(elements))


def grid_of(table: Table) -> Grid:
    grid = [[""] * table.n_cols for _ in range(table.n_rows)]
    for cell in table.cells:
        grid[cell.row][cell.col] = cell.text
    return grid


def whole(grid: Grid) -> str:
    return " ".join(" ".join(row) for row in grid)


# --- harms --------------------------------------------------------------------------------------------------


def of_text(output: Output, rng: random.Random, what: str, pattern: str, least: int) -> Harm | None:
    parts, usable = output.parts(pattern, least)
    if output.prediction.text is None or len(usable) < 3:
        return None
    k = rng.choice(usable)
    if what == "delete":
        rest = "".join(p for i, p in enumerate(parts) if i != k)
        return output.harm(output.with_text(rest), LOST, parts[k])
    if what == "repeat":
        at = rng.choice(range(0, len(parts), 2))
        changed = [*parts[: at + 1], "\n\n", parts[k], "\n\n", *parts[at + 1 :]]
        return output.harm(output.with_text("".join(changed)), EXTRA, parts[k])
    here = usable.index(k)
    j = usable[max(0, min(len(usable) - 1, here + rng.choice([-3, -2, -1, 1, 2, 3])))]
    same = j == k or counted(parts[j]) == counted(parts[k])
    if same or not output.in_place(parts[j], parts[k]):
        return None
    changed = list(parts)
    changed[j], changed[k] = parts[k], parts[j]
    return output.exchanged(output.with_text("".join(changed)), " ".join(parts[min(j, k) : max(j, k) + 1]))


def of_table(output: Output, rng: random.Random, what: str, part: str) -> Harm | None:
    tables = list(output.grids())
    if not tables:
        return None
    rows, put = rng.choice(tables)
    grid = [list(row) for row in rows]
    if part == "column":
        grid = [list(row) for row in zip(*grid, strict=True)]
    lines = [k for k, line in enumerate(grid) if output.can_lose(" ".join(line), 2)]
    if len(lines) < 3:
        return None
    k = rng.choice(lines)
    text = " ".join(grid[k])
    if what == "delete":
        del grid[k]
    elif what == "repeat":
        grid.insert(k, list(grid[k]))
    else:
        j = rng.choice([i for i in lines if i != k])
        other = " ".join(grid[j])
        if counted(other) == counted(text) or not output.in_place(other, text):
            return None
        grid[j], grid[k] = grid[k], grid[j]
    if part == "column":
        grid = [list(row) for row in zip(*grid, strict=True)]
    if what == "exchange":
        return output.exchanged(put(grid), whole(grid))
    return output.harm(put(grid), {"delete": LOST, "repeat": EXTRA}[what], text)


def of_cell(output: Output, rng: random.Random, what: str) -> Harm | None:
    tables = list(output.grids())
    if not tables:
        return None
    rows, put = rng.choice(tables)
    grid = [list(row) for row in rows]
    places = [(r, c) for r, row in enumerate(grid) for c, t in enumerate(row) if output.can_lose(t)]
    if len(places) < 4:
        return None
    r, c = rng.choice(places)
    text = grid[r][c]
    if what == "delete":
        grid[r][c] = " "
        return output.harm(put(grid), LOST, text)
    beside = [(i, k) for i, k in places if (i == r) != (k == c) and counted(grid[i][k]) != counted(text)]
    beside = [(i, k) for i, k in beside if output.in_place(text, grid[i][k])]
    if not beside:
        return None
    i, k = rng.choice(beside)
    grid[r][c], grid[i][k] = grid[i][k], text
    return output.exchanged(put(grid), whole(grid))


def other_number(output: Output, rng: random.Random) -> Harm | None:
    text = output.prediction.text
    found = [m for m in re.finditer(r"(?<![\w.,#/-])\d{2,}(?![\w.,/-])", text or "") if output.can_lose(m[0])]
    if text is None or not found:
        return None
    m = rng.choice(found)
    at = rng.randrange(len(m[0]))
    digit = rng.choice([d for d in "123456789" if d != m[0][at]])
    number = m[0][:at] + digit + m[0][at + 1 :]
    if counted(number) == counted(m[0]):
        return None
    return Harm(
        output.with_text(text[: m.start()] + number + text[m.end() :]),
        OTHER_NUMBER,
        counted(m[0]) | counted(number),
    )


def blank(output: Output, rng: random.Random, what: str) -> Harm | None:
    """Return a blank between two words that is dropped, or one that is put into a word."""
    text = output.prediction.text or ""
    pattern = (
        r"(?<![\w*`-])([^\W\d_]{3,}) ([^\W\d_]{3,})(?![\w*`-])" if what == "drop" else r"\b[^\W\d_]{6,}\b"
    )
    found = [
        m
        for m in re.finditer(pattern, text)
        if _HAS_CASE.match(m[0]) and counted(m[0]).keys() <= output.settled and counted(m[0]).total() <= 2
    ]
    if not found:
        return None
    m = rng.choice(found)
    inner = m[0].replace(" ", "") if what == "drop" else f"{m[0][:3]} {m[0][3:]}"
    changed = output.with_text(text[: m.start()] + inner + text[m.end() :])
    return Harm(changed, JOINED if what == "drop" else SPLIT, counted(m[0]), counted(inner))


_HAS_CASE = re.compile(r"[A-Za-z\u00c0-\u052f]")
"""Latin, Greek and Cyrillic: scripts with blanks."""


def page_number(output: Output, rng: random.Random) -> Harm | None:
    """Replace the page's number by another one."""
    text = output.prediction.text or ""
    found = [m for m in re.finditer(r"^\W*(\d{1,3})\W*$", text, re.MULTILINE) if m[1] in output.edges]
    if not found:
        return None
    m = rng.choice(found)
    number = str(rng.randrange(2100, 9999))
    return Harm(
        output.with_text(text[: m.start(1)] + number + text[m.end(1) :]),
        frozenset({"invented"}),
        counted(number),
        counted(m[1]),
    )


def sentence(output: Output, rng: random.Random) -> Harm | None:
    if output.prediction.text is None:
        return None
    said = rng.choice(SENTENCES).format(rng.randrange(10_000, 99_999))
    parts = output.prediction.text.split("\n\n")
    parts.insert(rng.randrange(len(parts) + 1), said + ".")
    return Harm(output.with_text("\n\n".join(parts)), EXTRA, counted(said))


def whole_page(output: Output, rng: random.Random) -> Harm | None:
    if output.prediction.text is None or not output.settled:
        return None
    touched = " ".join((*output_words(output.prediction), *output.wrong))
    return output.harm(output.with_text(""), LOST, touched)


LINE, PARAGRAPH = r"\n", r"\n[ \t]*\n"
HARMS: dict[str, Callable[[Output, random.Random], Harm | None]] = {
    **{
        f"line {w}": lambda o, r, w=w: of_text(o, r, w, LINE, MIN_LINE)
        for w in ("delete", "repeat", "exchange")
    },
    **{
        f"paragraph {w}": lambda o, r, w=w: of_text(o, r, w, PARAGRAPH, MIN_PARAGRAPH)
        for w in ("delete", "repeat", "exchange")
    },
    **{
        f"{p} {w}": lambda o, r, w=w, p=p: of_table(o, r, w, p)
        for p in ("row", "column")
        for w in ("delete", "repeat", "exchange")
    },
    **{f"cell {w}": lambda o, r, w=w: of_cell(o, r, w) for w in ("delete", "exchange")},
    "page delete": whole_page,
    "number alter": other_number,
    "number for page number": page_number,
    "blank drop": lambda o, r: blank(o, r, "drop"),
    "blank add": lambda o, r: blank(o, r, "add"),
    "sentence invent": sentence,
}


def harmless(text: str, rng: random.Random) -> str:
    """Return the same content written otherwise: other line ends, bold words, escapes, entities,
    ligatures.
    """
    words = re.split(r"(\s+)", text)
    for k in range(0, len(words), 2):
        word = words[k]
        if not word.isalpha() or rng.random() > 0.3:
            continue
        words[k] = rng.choice(
            [f"**{word}**", word.replace("fi", "\ufb01"), word.replace("ff", "\ufb00"), f"*{word}*"]
        )
    for k in range(1, len(words), 2):
        if words[k] == " " and rng.random() < 0.1:
            words[k] = rng.choice(["\u00a0", "  "])
    return "".join(words).replace("&", "&amp;") if "&" in text and ";" not in text else "".join(words)


# --- measuring ----------------------------------------------------------------------------------------------

ALARMS = ("lost", "altered", "joined", "split", "moved", "doubled", "invented", "leaked")


def alarms(found: PageEvidence) -> Counter[tuple[str, str]]:
    told: Counter[tuple[str, str]] = Counter()
    for finding in found.findings:
        said = finding.said.split() if finding.kind in ("altered", "joined", "split") else ()
        for word in (*finding.text.split(), *said):
            if finding.kind in ALARMS and counts(word):
                told[finding.kind, word] += 1
    return told


def judge(harm: Harm, before: Counter[tuple[str, str]], seen: SeenPage) -> tuple[bool, int]:
    """Return whether a harm was found, and how many of the other words have new findings."""
    new = alarms(compare(seen, harm.prediction)) - before
    own: Counter[str] = Counter()
    for (kind, word), n in new.items():
        if kind in harm.kinds:
            own[word] += n
    hit = (own & harm.words).total()
    found = hit > 0 if harm.any_word else 2 * hit >= harm.words.total()
    own_words = harm.words | harm.touched
    return found, sum(n for (kind, word), n in new.items() if word not in own_words)


def score(counts: Counter[str]) -> float:
    """Return the headline."""
    above, below = agreement(counts.__getitem__)
    return above / below if below else 1.0


def order(seen: SeenPage, output: Output, rng: random.Random) -> tuple[float, ...] | None:
    """Return the headline of an output, of its words in any order, without a paragraph, with that heaped
    up.
    """
    parts, usable = output.parts(PARAGRAPH, MIN_PARAGRAPH)
    if not usable:
        return None
    text = output.prediction.text or ""
    k = rng.choice(usable)
    rest = "".join(part for i, part in enumerate(parts) if i != k)
    words, heap = text.split(), parts[k].split()
    texts = (
        text,
        " ".join(rng.sample(words, len(words))),
        rest,
        f"{rest} {' '.join(rng.sample(heap, len(heap)))}",
    )
    return tuple(score(compare(seen, output.with_text(one)).counts) for one in texts)


def interval(pairs: dict[str, list[tuple[float, float]]]) -> tuple[float, float, float]:
    """Return a quotient of sums with its 95 % interval over packages."""
    sums = np.array([np.sum(own, axis=0) for own in pairs.values()])
    drawn = np.random.default_rng(SEED).integers(0, len(sums), (BOOTSTRAPS, len(sums)))
    totals = sums[drawn].sum(axis=1)
    low, high = np.percentile(totals[:, 0] / np.maximum(totals[:, 1], 1e-9), [2.5, 97.5])
    return float(sums[:, 0].sum() / sums[:, 1].sum()), float(low), float(high)


Tally = dict[str, list[tuple[float, float]]]


def injection(run: Run) -> bool:  # noqa: PLR0915 - a report, line by line
    rng = random.Random(SEED)
    places = {row["sample"]: row for row in run.table("samples").iter_rows(named=True)}
    found: dict[str, Tally] = defaultdict(lambda: defaultdict(list))
    false: Tally = defaultdict(list)
    plain: Tally = defaultdict(list)
    parsers, skipped = Counter[str](), 0
    missed: list[str] = []
    orders: list[tuple[float, ...]] = []
    every = int(os.environ.get("EVIDENCE_EVERY", "1"))
    for record in sorted(run.records(), key=lambda r: (r.sample, r.parser))[::every]:
        row = places[record.sample]
        seen = seen_page(Path(row["pdf"]), row["page_number"])
        prediction = read_record(run, record)
        output = Output.of(prediction) if prediction.status is Status.OK else None
        if output is None or seen.source == "none":
            skipped += 1
            continue
        package = row["document"].partition("--")[0]
        base = compare(seen, output.prediction)
        before = alarms(base)
        output.look(seen, before)
        n_words = base.counts["words"]
        parsers[record.parser] += 1
        if prediction.text is not None and n_words:
            same = alarms(compare(seen, output.with_text(harmless(prediction.text, rng)))) - before
            plain[package].append((same.total(), n_words))
        if (scores := order(seen, output, rng)) is not None:
            orders.append(scores)
        done = 0
        for kind in rng.sample(list(HARMS), len(HARMS)):
            harm = HARMS[kind](output, rng)
            if harm is None or not harm.words:
                continue
            is_found, n_false = judge(harm, before, seen)
            found[kind][package].append((is_found, 1))
            false[package].append((n_false, max(n_words - harm.words.total(), 0)))
            if not is_found:
                missed.append(f"{record.parser} {record.sample} {kind}: {' '.join(harm.words)[:90]}")
            if (done := done + 1) == PER_OUTPUT:
                break
    n_documents = len({row["document"] for row in places.values()})
    print(f"{len(plain)} packages, {n_documents} documents; outputs: {dict(parsers)}; {skipped} not used")
    if os.environ.get("EVIDENCE_MISSED"):
        print("\n".join(f"  missed: {line}" for line in missed))
    if orders:
        plain_score, any_order, without, heaped = np.mean(orders, axis=0)
        gains = sum(one[3] > one[2] + 1e-9 for one in orders)
        print(f"headline of {len(orders)} outputs {plain_score:.3f}, words in any order {any_order:.3f}")
        print(
            f"  without a paragraph {without:.3f}, its words heaped up at the end {heaped:.3f}: {gains} gain"
        )
    everything: Tally = defaultdict(list)
    for kind, own in sorted(found.items()):
        for package, events in own.items():
            everything[package] += events
        share, low, high = interval(own)
        print(f"  {kind:20} found {share:.3f} [{low:.3f}, {high:.3f}] of {sum(map(len, own.values()))}")
    share, low, high = interval(everything)
    wrong, wrong_low, wrong_high = interval(false)
    print(f"found {share:.4f} [{low:.4f}, {high:.4f}] of {sum(map(len, everything.values())):,} harms")
    print(f"false alarms {wrong:.5f} [{wrong_low:.5f}, {wrong_high:.5f}] of the words that were left alone")
    same = interval(plain)
    print(f"false alarms {same[0]:.5f} [{same[1]:.5f}, {same[2]:.5f}] of the words where nothing was harmed")
    return share >= 0.95 and max(wrong, same[0]) <= 0.01 and wrong_high <= 0.02


def with_truth(run: Run) -> None:
    """Correlate evidence with figures that use the truth, over outputs of pages and over parsers."""
    from scipy.stats import spearmanr

    def values(name: str, figure: str) -> dict[tuple[str, str], float]:
        spec = next(spec for spec in run.protocols if get_protocol(spec).name == name)
        sums = next(f for f in get_protocol(spec).figure_sums(run.run_tables(spec)) if f.info.name == figure)
        return {(s, p): v for p in sums.sums for s, v in zip(sums.samples, sums.page_values(p), strict=True)}

    for mine, name, theirs in TRUE_FIGURES:
        ours, true = values("evidence", mine), values(name, theirs)
        both = [key for key in ours if np.isfinite(ours[key]) and np.isfinite(true.get(key, np.nan))]
        pages = spearmanr([ours[key] for key in both], [true[key] for key in both]).statistic
        names = sorted({parser for _, parser in both})
        means = [[np.mean([of[k] for k in both if k[1] == p]) for p in names] for of in (ours, true)]
        parsers = spearmanr(*means).statistic
        n = f"{len(both)} outputs, {len(names)} parsers"
        print(f"  {mine} with {name} {theirs}: {pages:+.2f} over outputs, {parsers:+.2f} over parsers ({n})")


def main() -> bool:
    met = True
    if folder := os.environ.get("EVIDENCE_RUN"):
        met = injection(Run.open(Path(folder)))
    else:
        print("no EVIDENCE_RUN: nothing is injected")
    if folder := os.environ.get("EVIDENCE_TRUE"):
        with_truth(Run.open(Path(folder)))
    return speed() and met


def speed() -> bool:
    """Return CPU time of a page and of an output, without OCR, on the demo corpus."""
    child._is_child = True  # else their time is that of another process
    of_page = of_output = 0.0
    samples = [
        (s.pdf, s.page_number, write_document(s.truth)) for s in load_corpus("demo").samples() if s.truth
    ]
    gc.collect()
    gc.freeze()  # what was loaded before is not looked through again and again
    for n, (pdf, number, text) in enumerate([*samples[-1:], *samples]):
        started = time.process_time()
        seen = seen_page(pdf, number)
        read = time.process_time()
        compare(seen, Prediction("page", "itself", text=text))
        if n:  # the first one imports what all need
            of_page, of_output = of_page + read - started, of_output + time.process_time() - read
    page, output = of_page / len(samples) * 1e3, of_output / len(samples) * 1e3
    print(
        f"{len(samples)} pages: {page:.1f} ms for a page, once for all parsers, {output:.1f} ms for an output"
    )
    return page + output <= MOST_MS
