"""Checks a bundle: does what it says follow from the raw outputs in it, by the scoring of this parsemark?

It is read as hostile input. Its parts are held against their hashes, its pages against the corpus, its
protocols against ours; then its raw outputs are scored again in a folder of our own, by the path that every
run takes, and matches, scores and summary are compared row by row. What cannot be shown from a bundle is that
the raw outputs came from the parser, and that its times were measured: for that, parse again.
"""

import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, ValidationError

from parsemark.corpora import Corpus
from parsemark.engine import bundle_checks
from parsemark.engine.bundle_checks import BundleCheck, is_in_no_score
from parsemark.engine.events import Events
from parsemark.engine.import_outputs import IMPORTED
from parsemark.engine.parsing.parse import sample_rows
from parsemark.engine.scoring.score import score_run
from parsemark.errors import ParsemarkError, StoreError
from parsemark.plain_words import counted
from parsemark.protocols import get_protocol
from parsemark.store import RunFolder
from parsemark.store.bundle import Bundle, DamagedBundleError, Index
from parsemark.system.processes import describe_exit, run_our_module, tool_rights, why_not_confined
from parsemark.system.scratch import ScratchFolder
from parsemark.system.secrets import masked
from parsemark.version import __version__


@dataclass
class Verification:
    """What came of checking a bundle."""

    bundle: str
    index: Index | None = None
    checks: list[BundleCheck] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what the reader must know: what was not checked, and why

    @property
    def passed(self) -> bool:
        """Return whether everything agrees."""
        return all(check.passed for check in self.checks)


def verify_bundle(
    path: Path, *, corpus: Corpus | None = None, n_workers: int | None = None, events: Events | None = None
) -> Verification:
    """Check a bundle, as far as its parts let that happen; the first check that fails ends it.

    Without a corpus the truth in the bundle is taken as it stands. StoreError if there is no such file, it is
    of a newer parsemark, or it needs the corpus.
    """
    found = Verification(str(path))
    parts = BundleCheck("parts")
    found.checks.append(parts)
    try:
        bundle = Bundle(path)
    except DamagedBundleError as error:
        parts.differs(str(error))
        return found
    with bundle:
        found.index = bundle.index
        try:
            _verify(bundle, found, corpus, n_workers, events)
        except DamagedBundleError as error:  # a part that its own hash fits, and that is still no table
            parts.differs(str(error))
    return found


def _verify(
    bundle: Bundle, found: Verification, corpus: Corpus | None, n_workers: int | None, events: Events | None
) -> None:
    index, parts = bundle.index, found.checks[0]
    for problem in bundle.damage():
        parts.differs(problem)
    outputs = counted(index.raw.n, "raw output")
    parts.text = f"{counted(len(index.parts), 'part')} and {outputs} match their hashes"
    if not parts.passed:
        return
    if corpus is None and not index.has_truth:
        raise StoreError(f"{bundle.path} contains no truth. Give its corpus: --corpus {index.corpus.spec}")
    samples, records = bundle.table("samples"), bundle.records()
    found.checks.append(bundle_checks.check_corpus(bundle, samples, corpus))
    found.checks.append(bundle_checks.check_protocols(bundle))
    found.checks.append(bundle_checks.check_outputs(bundle, samples, records))
    found.checks.append(statuses := bundle_checks.check_statuses(bundle, records))
    if not found.passed:
        return
    found.notes.extend(_notes(bundle, samples, corpus))
    with ScratchFolder("parsemark-verify-") as scratch:
        run = bundle.unpack(scratch / "run")
        if corpus is not None:
            RunFolder.of(run).replace_samples(sample_rows(corpus, samples))
            RunFolder.of(run).files.texts_path.unlink(missing_ok=True)
        checkable = [entry for entry in index.protocols if not get_protocol(entry.spec).asks]
        if not checkable:
            return
        try:
            score_run(run, protocols=[e.spec for e in checkable], n_workers=n_workers, events=events)
        except Exception as error:  # the boundary: whatever its hashes fit, it may be made to break us
            why = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            found.checks.append(failed := BundleCheck("scoring"))
            failed.differs(f"its outputs cannot be scored again: {why}")
            return
        bundle_checks.compare_parses(statuses, run, records)
        for entry in checkable:
            found.checks.append(bundle_checks.compare_scores(run, bundle, entry))
            found.checks.append(bundle_checks.compare_summary(run, bundle, entry))


def _notes(bundle: Bundle, samples: pl.DataFrame, corpus: Corpus | None) -> Iterator[str]:
    index = bundle.index
    n_pages = sum(not is_in_no_score(*row) for row in samples.select("kinds", "truth").iter_rows())
    if n_pages < index.corpus.n_samples:
        yield (
            f"It holds {n_pages} of the {counted(index.corpus.n_samples, 'page')} of its corpus; "
            "compare it only with bundles of the same pages."
        )
    if corpus is None:
        yield "The truth was taken from the bundle itself. Compare it with the corpus: --corpus CORPUS."
    for entry in index.protocols:
        if get_protocol(entry.spec).asks:
            yield f"{entry.spec} uses a language model, so its scores were NOT checked."
    if index.code_version != __version__:
        yield f"It was made by parsemark {index.code_version} and scored again by {__version__}."
    imported = [p.name for p in bundle.manifest().parsers if p.fingerprint.startswith(IMPORTED)]
    if imported:
        yield f"Imported outputs, of unknown origin: {', '.join(imported)}."
    confined = ", ".join(f"{p.name} {p.confined_in_words}" for p in bundle.manifest().parsers)
    yield f"Confined during the run, so without access to truth (as stated by the bundle): {confined}."
    yield (
        "This does not prove that the parsers returned these outputs, nor that times and memory are right. "
        "To check that, parse again."
    )


def verify_confined(
    path: Path, *, corpus: Corpus | None = None, n_workers: int | None = None, events: Events | None = None
) -> Verification:
    """Check a bundle as `verify_bundle` does, in a process that sees the bundle and the corpus, no more.

    It has a cache folder of its own: everything is drawn again, and nothing that it writes is reused.
    Where the machine cannot confine, it is checked in this process, and the notes say so.
    """
    if (why := why_not_confined()) is not None:
        found = verify_bundle(path, corpus=corpus, n_workers=n_workers, events=events)
        found.notes.append(f"It was checked without confinement: {why}.")
        return found
    with ScratchFolder("parsemark-verify-") as scratch:
        read = [str(path.resolve()), *([str(corpus.root.resolve())] if corpus else [])]
        given = pickle.dumps((path.resolve(), corpus, n_workers, Path.cwd()))
        rights = tool_rights(read, [str(scratch)])
        done = run_our_module(__name__, rights, cwd=scratch, timeout_s=None, given=given)
    try:
        answer = _ConfinedAnswer.model_validate_json(done.stdout)
    except ValidationError as error:
        said = masked(done.stderr.decode(errors="replace").strip()[-300:])
        raise StoreError(f"{path}: checking it ended {describe_exit(done.returncode)}: {said}") from error
    if answer.refused:
        raise StoreError(answer.refused)
    checks = [BundleCheck(**check) for check in answer.checks]
    for note in answer.events:
        (events or Events()).note(note)
    return Verification(str(path), answer.index, checks, answer.notes)


class _ConfinedAnswer(BaseModel, extra="forbid"):
    """What the confined process says, which is not believed to be more than text."""

    refused: str = ""
    index: Index | None = None
    checks: list[dict[str, Any]] = []
    notes: list[str] = []
    events: list[str] = []


class _CollectedNotes(Events):
    """Keeps what the user should know."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Keep it."""
        self.notes.append(text)


def main() -> None:
    """Check the bundle that stands on stdin, and print what came of it."""
    path, corpus, n_workers, here = pickle.load(sys.stdin.buffer)
    os.chdir(here)  # a corpus may have been named from there
    events = _CollectedNotes()
    try:
        found = verify_bundle(path, corpus=corpus, n_workers=n_workers, events=events)
    except ParsemarkError as error:
        answer = _ConfinedAnswer(refused=str(error))
    else:
        checks = [asdict(check) for check in found.checks]
        answer = _ConfinedAnswer(index=found.index, checks=checks, notes=found.notes, events=events.notes)
    sys.stdout.write(answer.model_dump_json())


if __name__ == "__main__":
    main()
