"""Checks of a bundle: its parts belong together, and its results equal those scored again."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from parsemark.corpora import Corpus
from parsemark.engine.import_outputs import IMPORTED
from parsemark.engine.parsing.parse import sample_rows
from parsemark.errors import ParsemarkError
from parsemark.formats.model_json import page_from_json
from parsemark.model import Status
from parsemark.pdf.page_kinds import OTHER_FILE, UNREADABLE, stored_kinds
from parsemark.plain_words import counted
from parsemark.protocols import get_protocol
from parsemark.store import ParseRecord, Run
from parsemark.store.bundle import Bundle, ProtocolEntry, text_layers
from parsemark.version import __version__

TOLERANCE = 1e-9  # scores that differ by no more are equal: machines may add in another order
SUMMARY_TOLERANCE = 1e-6
MAX_LISTED = 20  # differences that each check names; the others are counted
_KEYS = {
    "matches": ("sample", "parser", "rule", "category", "truth", "pred"),
    "scores": ("sample", "parser", "rule", "category", "element", "pred", "metric"),
}
_VALUES = {"matches": (("overlap", "confidence"), ("kind",)), "scores": (("value",), ("status",))}
"""Numbers, and words, that must agree. Messages may differ: they can name files."""
_BORNE_BY_AN_OUTPUT = frozenset({Status.OK, Status.PARSER_FAILED})
"""What may be said of a page with an output: it was read, or it could not be."""
_BORNE_BY_NONE = frozenset({Status.NO_PREDICTION, Status.PARSER_FAILED, Status.PARSER_TIMEOUT})
"""What may be said of a page without one: any reason why there is none."""


@dataclass
class BundleCheck:
    """One thing that was looked at."""

    name: str  # `parts`, `corpus`, `protocols`, `outputs`, `statuses`, `scores PROTOCOL`, `summary PROTOCOL`
    text: str = ""  # what was found equal, in words
    differences: list[str] = field(default_factory=list)  # what differs, each with its place
    n_differences: int = 0

    @property
    def passed(self) -> bool:
        """Return whether nothing differs."""
        return not self.n_differences

    def differs(self, what: str) -> None:
        """Note a difference."""
        self.n_differences += 1
        if len(self.differences) < MAX_LISTED:
            self.differences.append(what)


def check_corpus(bundle: Bundle, samples: pl.DataFrame, corpus: Corpus | None) -> BundleCheck:
    """Check that its pages are those of the corpus, or at least sound in themselves."""
    check, stated = BundleCheck("corpus"), bundle.index.corpus
    name = f"{stated.name} {stated.version} ({stated.hash[:12]})"
    if bundle.manifest().corpus != stated:
        check.differs(f"bundle.json and manifest.json name different corpora: {name}")
    ids = samples["sample"]
    if ids.null_count() or ids.n_unique() != len(ids):
        check.differs("samples.jsonl has pages without an id, or two of the same")
    for row in samples.iter_rows(named=True) if check.passed else ():
        for problem in _problems_of(row):
            check.differs(f"page {row['sample']}: {problem}")
    n_files = sum(is_in_no_score(*row) for row in samples.select("kinds", "truth").iter_rows())
    files = f" and {counted(n_files, 'file')} in no score" if n_files else ""
    held = f"{name}, {len(ids) - n_files} of its {counted(stated.n_samples, 'page')}{files}"
    check.text = f"{held}; truth taken from the bundle"
    if corpus is None or not check.passed:
        return check
    if corpus.hash != stated.hash:
        given = f"{corpus.name} {corpus.version} ({corpus.hash[:12]})"
        check.differs(f"the bundle is of the corpus {name}, not of {given}")
    if stated.n_samples != len(corpus):
        has = counted(len(corpus), "page")
        check.differs(f"the bundle states that its corpus has {stated.n_samples}; it has {has}")
    known = {*corpus.keys, *(sample.id for sample in corpus.broken)}
    for sample in ids:
        if sample not in known:
            check.differs(f"page {sample} is not in the corpus")
    own = {row["sample"]: row for row in sample_rows(corpus, samples)}
    for row in samples.iter_rows(named=True):
        if (true := own.get(row["sample"])) is not None:
            _compare_sample(check, row, true, has_truth=bundle.index.has_truth)
    _compare_texts(check, bundle, own)
    check.text = f"{held}; truth and PDFs taken from the corpus"
    return check


def is_in_no_score(kinds: str | None, truth: str | None) -> bool:
    """Return whether a row of the samples is of a file that cannot be opened, which is no page of its
    corpus.
    """
    return truth is None and stored_kinds(kinds).get("file") in (UNREADABLE, OTHER_FILE)


def _problems_of(row: dict[str, Any]) -> Iterator[str]:
    """Yield the contradictions within a page: figures are counted by values that must follow from its
    truth.
    """
    if row["document"] is None or row["page_number"] is None or row["page_number"] < 1:
        yield "it has no document or no page number"
    if row["truth"] is None:
        return
    try:
        truth = page_from_json(json.loads(row["truth"]))
        stated = {} if row["attributes"] is None else json.loads(row["attributes"])
    except (ParsemarkError, ValueError, TypeError, KeyError, RecursionError) as error:
        yield f"its truth or its attributes cannot be read ({' '.join(str(error).split())[:100]})"
        return
    if row["n_tables"] != truth.n_tables:
        yield f"n_tables is {row['n_tables']}, but its truth has {truth.n_tables}"
    if stated != json.loads(json.dumps(dict(truth.attributes))):
        yield "its attributes differ from those of its truth"


def _compare_sample(
    check: BundleCheck, row: dict[str, Any], true: dict[str, Any], *, has_truth: bool
) -> None:
    sample = row["sample"]
    for column, what in (("document", "document"), ("page_number", "page number"), ("pdf_sha256", "PDF")):
        if row[column] != true[column]:
            check.differs(f"page {sample}: another {what} than in the corpus")
    for column in ("truth", "attributes") if has_truth else ():
        if _loaded(row[column]) != _loaded(true[column]):
            check.differs(f"page {sample}: another {column} than in the corpus")


def _compare_texts(check: BundleCheck, bundle: Bundle, own: dict[str, dict[str, Any]]) -> None:
    """Compare the text layers of a bundle with those of the corpus, by which its outputs are scored again."""
    texts = bundle.table("texts")
    given = dict(zip(texts["sample"], texts["text"], strict=True))
    true = {row["sample"]: row["text"] for row in text_layers(own[s] for s in own if s in given)}
    for sample, text in given.items():
        if text != true.get(sample):
            check.differs(f"page {sample}: another text layer than in the corpus")


def _loaded(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return ("no JSON", text)


def check_protocols(bundle: Bundle) -> BundleCheck:
    """Check that its protocols are ours, in the versions that we have."""
    check = BundleCheck("protocols")
    stated = [entry.spec for entry in bundle.index.protocols]
    check.text = ", ".join(f"{e.spec} (comparability {e.comparability})" for e in bundle.index.protocols)
    if not stated or not set(stated) <= set(bundle.manifest().protocols):
        check.differs("bundle.json and manifest.json name different protocols")
    for entry in bundle.index.protocols:
        try:
            ours = get_protocol(entry.spec)
        except ParsemarkError as error:
            check.differs(f"{entry.spec}: {error}")
            continue
        if str(ours) != entry.spec:
            check.differs(f"{entry.spec}: is written {ours} here")
        if ours.comparability != entry.comparability:
            check.differs(
                f"{entry.spec}: the bundle was scored by version {entry.comparability} of the protocol, this "
                f"parsemark ({__version__}) has version {ours.comparability}; scores cannot be compared. "
                f"Verify it with parsemark {bundle.index.code_version}"
            )
        summary = bundle.summary(entry)
        said = summary.get("comparability") if isinstance(summary, dict) else None
        if said != entry.comparability or summary.get("protocol") != entry.spec:
            check.differs(f"{entry.spec}: its summary is of another protocol or version")
    return check


def problems_in(bundle: Bundle) -> Iterator[str]:
    """Yield the contradictions within a bundle, without scoring; raise DamagedBundleError for unreadable
    parts.
    """
    samples = bundle.table("samples")
    records = bundle.records()
    for check in (
        check_corpus(bundle, samples, None),
        check_outputs(bundle, samples, records),
        check_statuses(bundle, records),
    ):
        yield from check.differences
    pages, parsers = set(samples["sample"]), {p.name for p in bundle.manifest().parsers}
    for entry in bundle.index.protocols:
        for table, (numbers, words) in _VALUES.items():
            rows = bundle.table(table, entry)
            named = rows.select(pl.col(_KEYS[table]).is_not_null().all(), pl.col(words).is_not_null().all())
            known = set(rows["sample"]) <= pages and set(rows["parser"]) <= parsers
            finite = rows.select(pl.col(numbers).is_finite().fill_null(True).all())
            if not known or not all(named.row(0)) or not all(finite.row(0)):
                yield f"{entry.spec}: rows of {table} that belong to no page and parser of the bundle"


def check_outputs(bundle: Bundle, samples: pl.DataFrame, records: Sequence[ParseRecord]) -> BundleCheck:
    """Check that records, pages, parsers and raw outputs belong together."""
    check = BundleCheck("outputs")
    pages, parsers = set(samples["sample"]), {p.name for p in bundle.manifest().parsers}
    blobs, used = set(bundle.raw_names), set()
    seen: set[tuple[str, str]] = set()
    for record in records:
        place = f"page {record.sample}, {record.parser}"
        if record.sample not in pages or record.parser not in parsers:
            check.differs(f"{place}: no such page or parser in the bundle")
        if (record.sample, record.parser) in seen:
            check.differs(f"{place}: occurs twice")
        seen.add((record.sample, record.parser))
        if record.blob is not None and record.blob not in blobs:
            check.differs(f"{place}: its raw output is not in the bundle")
        if record.blob is None and record.status is Status.OK:
            check.differs(f"{place}: has the status {record.status}, but no output")
        used.add(record.blob)
    for sample in samples["sample"]:
        for parser in sorted(parsers):
            if (sample, parser) not in seen:
                check.differs(
                    f"page {sample}, {parser}: has no record, so its status is unknown. "
                    "Parse the page, score the run and bundle it again"
                )
    for blob in sorted(blobs - used):
        check.differs(f"raw/{blob} belongs to no page")
    check.text = f"{len(records)} of {len(pages) * len(parsers)} pages × parsers have a record"
    return check


def check_statuses(bundle: Bundle, records: Sequence[ParseRecord]) -> BundleCheck:
    """Check that each status fits its output, or the lack of one.

    A page is without a prediction only where outputs were imported and there was no file for it. A parser
    that was run has answered or failed.
    """
    imported = {p.name for p in bundle.manifest().parsers if p.fingerprint.startswith(f"{IMPORTED} ")}
    check = BundleCheck("statuses", f"{counted(len(records), 'record')} checked against their outputs")
    for record in records:
        if record.status not in (_BORNE_BY_NONE if record.blob is None else _BORNE_BY_AN_OUTPUT):
            has = "without an output" if record.blob is None else "with an output"
            check.differs(f"page {record.sample}, {record.parser}: {record.status} {has} is impossible")
            continue
        was_run = record.parser not in imported or record.key != IMPORTED or record.wall_s is not None
        if record.status is Status.NO_PREDICTION and was_run:
            check.differs(
                f"page {record.sample}, {record.parser}: {record.status}, but the parser was run there, "
                "so each page has an output or a failure; only imported outputs can lack a page"
            )
    return check


def compare_parses(check: BundleCheck, run: Run, records: Iterable[ParseRecord]) -> None:
    """Check that outputs recorded as answers are readable, and the others not."""
    now = {(r.sample, r.parser): r.status for r in run.records()}
    for record in records:
        status = now[record.sample, record.parser]
        if status != record.status:
            how = f"{record.status} in the bundle, {status} when read again"
            check.differs(f"page {record.sample}, {record.parser}: {how}")


def compare_scores(run: Run, bundle: Bundle, entry: ProtocolEntry) -> BundleCheck:
    """Compare its matches and scores with those scored again."""
    check = BundleCheck(f"scores {entry.spec}")
    n_rows = 0
    for table in ("matches", "scores"):
        ours, theirs = run.table(table, entry.spec), bundle.table(table, entry)
        n_rows += ours.height
        for difference in table_differences(table, theirs, ours):
            check.differs(difference)
    check.text = f"{counted(n_rows, 'row')} of matches and scores: identical when scored again"
    return check


def table_differences(table: str, theirs: pl.DataFrame, ours: pl.DataFrame) -> Iterator[str]:
    """Yield the differences between matches or scores, row by row, as text."""
    keys, (numbers, words) = list(_KEYS[table]), _VALUES[table]
    left, right = (_prepared(frame, [*keys, *numbers, *words], keys) for frame in (theirs, ours))
    joined = left.join(right, on=[*keys, "_nth"], how="full", suffix="_anew", nulls_equal=True, coalesce=True)
    unlike = [pl.col("_there").is_null(), pl.col("_there_anew").is_null()]
    unlike += [pl.col(c).ne_missing(pl.col(f"{c}_anew")) for c in words]
    for c in numbers:
        a, b = pl.col(c), pl.col(f"{c}_anew")
        unlike.append(a.is_null() != b.is_null())
        unlike.append(((a - b).abs() > TOLERANCE).fill_null(False))
        unlike.append(a.is_nan().fill_null(False))
    for row in joined.filter(pl.any_horizontal(unlike)).sort(keys).iter_rows(named=True):
        yield _describe(table, row, (*numbers, *words))


def _prepared(frame: pl.DataFrame, columns: list[str], keys: list[str]) -> pl.DataFrame:
    lists = [pl.col(c).list.join("+") for c in keys if frame.schema[c] == pl.List(pl.String)]
    shown = frame.select(columns).with_columns(*lists, _there=pl.lit(True))
    return shown.with_columns(_nth=pl.int_range(pl.len()).over(keys))


def _describe(table: str, row: dict[str, Any], values: Sequence[str]) -> str:
    what = [str(row[key]) for key in _KEYS[table][2:] if row[key]]
    place = f"page {row['sample']}, {row['parser']}, {' '.join(what)}"
    if row["_there"] is None:
        return f"{place}: not in the {table} of the bundle"
    if row["_there_anew"] is None:
        return f"{place}: in the {table} of the bundle, but does not follow from the output"
    unequal = [(c, row[c], row[f"{c}_anew"]) for c in values if row[c] != row[f"{c}_anew"]]
    said = (f"{c} {stated} in the bundle, {anew} when scored again" for c, stated, anew in unequal)
    return f"{place}: {'; '.join(said)}"


def compare_summary(run: Run, bundle: Bundle, entry: ProtocolEntry) -> BundleCheck:
    """Compare its figures with those computed again."""
    check = BundleCheck(f"summary {entry.spec}")
    ours = run.summary(entry.spec).model_dump(mode="json")
    n = 0
    for place, stated, anew in _leaves("", bundle.summary(entry), ours):
        n += 1
        if not _same(stated, anew):
            check.differs(f"{place}: {_short(stated)} in the bundle, {_short(anew)} when scored again")
    check.text = f"{counted(n, 'value')}: identical when scored again"
    return check


_ABSENT = object()


def _leaves(place: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from _leaves(f"{place}.{key}".lstrip("."), a.get(key, _ABSENT), b.get(key, _ABSENT))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for number, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _leaves(f"{place}[{number}]", x, y)
    else:
        yield place, a, b


def _same(a: Any, b: Any) -> bool:
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    if numbers and not isinstance(a, bool) and not isinstance(b, bool):
        return math.isclose(a, b, rel_tol=SUMMARY_TOLERANCE, abs_tol=SUMMARY_TOLERANCE)
    return bool(a == b) and type(a) is type(b)


def _short(value: Any) -> str:
    text = "nothing" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
