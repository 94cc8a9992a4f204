"""One page on which a parser fails, in a folder to attach to an issue; and the difference of two outputs."""

import difflib
import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from parsemark.errors import UsageError, require_known
from parsemark.formats import markdown_of, write_table
from parsemark.model import Element
from parsemark.parsers import get_parser
from parsemark.parsers.catalogue import builtin_scripts, with_version
from parsemark.parsers.fingerprint import modules_in
from parsemark.parsers.releases import own_package
from parsemark.pdf import extract_page
from parsemark.plain_words import one_line, rounded
from parsemark.report.names import safe_name
from parsemark.store import ParseRecord, Run
from parsemark.system import make_folder, write_bytes
from parsemark.system.scratch import whole_folder
from parsemark.verdicts.scored_run import ScoredRun

MOST_LINES = 60
_SUFFIX = {"markdown": "md", "html": "html", "latex": "tex"}


def output_difference(run: Run, old: str, new: str) -> str:
    """Return how the outputs of two parsers differ, page by page: in cells, or where these are equal in
    lines.
    """
    lines: list[str] = []
    for sample in sorted(run.table("samples")["sample"]):
        outputs = [run.prediction(sample, parser) for parser in (old, new)]
        before, after = (_lines(output.tables) for output in outputs)
        if before == after:
            before, after = (markdown_of(output).splitlines() for output in outputs)
            lines += _difference(before, after, f"{old}: {sample}", f"{new}: {sample}")
            continue
        lines += _difference(before, after, f"{old}: {sample}", f"{new}: {sample}")
        texts = [output.text for output in outputs]
        if None not in texts:  # tables that were read out of a text: it may not have changed
            written, now = ((text or "").splitlines() for text in texts)
            lines += _difference(written, now, f"{old}: {sample}, as written", f"{new}: {sample}, as written")
            if (why := _only_read_otherwise(*((text or "") for text in texts))) is not None:
                lines.append(f" {sample}: {why}")
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… {len(lines) - MOST_LINES} more lines"]
    # What marks a line stands before its text, and is a blank where both are alike.
    return "".join(f"{line[:1]}{_shown(line[1:])}\n" for line in lines)


def _shown(line: str) -> str:
    """Return the text of others as one line with its blanks, which may be all that differs."""
    text = "".join(c if c.isprintable() else " " for c in line)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _only_read_otherwise(old: str, new: str) -> str | None:
    """Return a note if only the reading of an output makes the difference; None where its words changed."""
    if old == new:
        return "the outputs are identical. Only their reading by parsemark differs, not the parser."
    if "".join(old.split()) == "".join(new.split()):
        return "the outputs differ only in white space, which changes how the tables are read."
    return None


def _difference(before: Sequence[str], after: Sequence[str], old: str, new: str) -> Iterator[str]:
    return difflib.unified_diff(before, after, old, new, n=1, lineterm="")


def _lines(elements: Sequence[Element]) -> list[str]:
    found = []
    for number, element in enumerate(elements, start=1):
        found.append(f"table {number}")
        if element.table is not None:
            found += write_table(element.table, "csv").splitlines()
    return found


def write_repro(run: Run, parser: str, sample: str, out: Path | None = None) -> list[Path]:
    """Write what shows a failure: page, truth, output, differences, and the command that shows it again.

    The parser may be said as `_found` says, the folder is new or empty (by default `repro-PARSER-SAMPLE`).
    UsageError if the run has no such page, its PDF is not here, or the folder holds something.
    """
    parser, spec = _found(run, parser)
    record = _record(run, parser, sample)
    row = next(r for r in run.table("samples").iter_rows(named=True) if r["sample"] == sample)
    pdf, page_number = Path(row["pdf"] or ""), int(row["page_number"])
    if not row["pdf"] or not pdf.is_file():
        raise UsageError(f"The PDF of {sample} is not here ({row['pdf'] or 'the corpus has none'}).")
    out = out or Path(f"repro-{safe_name(parser)}-{safe_name(sample)}")
    truth, files = run.truth(sample), dict[str, str | bytes]()
    true = truth.tables if truth else ()
    if truth is not None:
        tables = "\n".join(write_table(e.table, "html") for e in true if e.table is not None)
        files["truth.html"] = tables
    found: Sequence[Element] = ()
    if record.blob:
        name, content = _readable(run.raw(record.blob))
        files[name] = content
        found = run.prediction(sample, parser).tables
    spec, worker = _own_worker(spec, record.parser)
    files |= worker
    files["differences.diff"] = "\n".join([*_difference(_lines(true), _lines(found), "truth", parser), ""])
    with whole_folder(out) as folder:
        extract_page(pdf, page_number, folder / "page.pdf")
        files["README.md"] = _readme(run, record, spec)
        for name, content in files.items():
            make_folder(folder, *Path(name).parts[:-1])
            data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
            write_bytes(folder / name, data)
    return [out / name for name in ("page.pdf", *files)]


def _own_worker(spec: str, parser: str) -> tuple[str, dict[str, bytes]]:
    """Return the spec of a script from inside the folder, with no path of this machine, and the files of the
    worker.

    Of a built-in parser the worker is there to read: its name runs it.
    """
    path, bracket, settings = spec.partition("(")
    base, at, version = path.rpartition("@") if "@" in path else (path, "", "")
    if not base.endswith(".py"):
        script = builtin_scripts().get(base)
        return spec, {} if script is None or not script.is_file() else {
            f"worker-{script.name}": script.read_bytes()
        }
    script = get_parser(spec).script
    beside = [own for own in modules_in(script.parent, script) if own.is_file()]
    files = {own.relative_to(script.parent).as_posix(): own.read_bytes() for own in (script, *beside)}
    return f"{script.name}{at}{version}{bracket}{settings}", files


def _found(run: Run, said: str) -> tuple[str, str]:
    """Return the name of a parser in the run, and the spec that runs it again; a script may be said by its
    path. Raise UsageError if the run has no such parser, or one of that name from another script.
    """
    known = {record.parser for record in run.records()}
    if said in known or not said.partition("(")[0].partition("@")[0].endswith(".py"):
        require_known("parser", said, known)
        return said, _spec(run, said)
    given = get_parser(said)
    require_known("parser", given.name, known)
    entry = run.manifest.parser(given.name)
    if entry is not None and entry.spec not in (None, given.spec):
        raise UsageError(f"{given.name} of {run.path} is {entry.spec}, not {given.spec}.")
    return given.name, given.spec


def _record(run: Run, parser: str, sample: str) -> ParseRecord:
    records = run.records()
    require_known("page", sample, {r.sample for r in records})
    found = next((r for r in records if (r.parser, r.sample) == (parser, sample)), None)
    if found is None:
        raise UsageError(f"{run.path} has no output of {parser} for {sample}.")
    return found


def _spec(run: Run, parser: str) -> str:
    """Return the spec that runs the parser again: a script's path, or the name with the version of the
    run.
    """
    entry = run.manifest.parser(parser)
    if entry is not None and entry.spec is not None:
        return entry.spec
    if "@" in parser or entry is None or entry.worker is None:
        return parser
    try:
        package = own_package(get_parser(parser)).name
    except UsageError:
        return parser
    version = entry.versions.get(package)
    return with_version(parser, version) if version else parser


def _readable(raw: bytes) -> tuple[str, str | bytes]:
    """Return a file's name and content: the text that an output holds, or the output as it came."""
    try:
        data = json.loads(raw)
        name, content = f"output.{_SUFFIX[data['format']]}", data["content"]
    except (ValueError, KeyError, TypeError):
        return "output.json", raw
    return (name, content) if isinstance(content, str) else ("output.json", raw)


def _readme(run: Run, record: ParseRecord, spec: str) -> str:
    entry = run.manifest.parser(record.parser)
    versions = ", ".join(f"{k} {v}" for k, v in entry.versions.items()) if entry else ""
    lines = [f"# {record.parser} on {record.sample}", "", f"Versions: {versions or 'unknown'}."]
    if record.error:
        lines += ["", f"It failed ({record.status}): {one_line(record.error, 300)}"]
    source = ScoredRun(run)
    figure = source.summary.info(source.summary.primary)
    sums = next(
        (s for s in source.recipe.figure_sums(run.run_tables(source.summary.protocol)) if s.info == figure),
        None,
    )
    if sums is not None and record.sample in sums.samples and record.parser in sums.sums:
        value = float(sums.page_values(record.parser)[sums.samples.index(record.sample)])
        lines += ["", f"{figure.label} on this page: {rounded(value)} ({source.summary.protocol})."]
    lines += [
        "",
        "- `page.pdf`: the page; `truth.html`: its truth; `output.*`: the parser's output;",
        "  `differences.diff`: from the truth to the output, cell by cell; `*.py`: the worker.",
        "",
        "Show it again:",
        "",
        f"    parsemark try page.pdf --parser {shlex.quote(spec)} --pages 1",
    ]
    return "\n".join(lines) + "\n"
