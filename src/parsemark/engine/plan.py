"""What is to be done: every sample by every parser, less what is done already."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from parsemark.errors import UsageError
from parsemark.store import ParseCache, ParseRecord, Run, work_key

_POSITIONS = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """A page that parsers are run on."""

    sample: str
    pdf: Path
    pdf_sha256: str
    number: int


@dataclass(frozen=True, slots=True)
class Job:
    """One page by one parser."""

    page: PlannedPage
    parser: str
    key: str


@dataclass(frozen=True)
class Plan:
    """The work of a run."""

    jobs: dict[str, list[Job]]
    """What is left to do, by parser, in the corpus's order."""
    n_done: dict[str, int]
    """How many pages of each parser were done before."""
    from_cache: list[ParseRecord]
    """What another run has done already."""


def make_plan(
    run: Run,
    pages: Sequence[PlannedPage],
    parsers: Iterable[tuple[str, str]],
    cache: ParseCache | None,
    limits: str,
    since: Mapping[str, float] | None = None,
) -> Plan:
    """Compare what is wanted with what the run and the cache hold.

    Args:
        run: The run; what it has recorded for the same work is done.
        pages: The pages, in order.
        parsers: Name and fingerprint of each.
        cache: Parses of other runs; None to use none.
        limits: Under which failures of other runs count.
        since: For some parsers, the sequence below which what the run has recorded does not count.
    """
    begun = since or {}
    done = {
        (r.sample, r.parser): r.key
        for r in run.records()
        if (r.blob is None or run.blobs.has(r.blob, r.n_bytes)) and r.sequence >= begun.get(r.parser, 0)
    }
    plan = Plan({}, {}, [])
    for name, fingerprint in parsers:
        wanted = [Job(page, name, work_key(page.pdf_sha256, page.number, fingerprint)) for page in pages]
        todo = [job for job in wanted if done.get((job.page.sample, name)) != job.key]
        plan.n_done[name] = len(wanted) - len(todo)
        plan.jobs[name] = []
        for job in todo:
            cached = cache.get(job.key, limits, run.blobs) if cache else None
            if cached is None:
                plan.jobs[name].append(job)
            else:
                plan.from_cache.append(_for_job(cached, job))
    return plan


def _for_job(record: ParseRecord, job: Job) -> ParseRecord:
    """A cached record under the names that this run has for the page and the parser."""
    return ParseRecord.from_json({**record.to_json(), "sample": job.page.sample, "parser": job.parser})


def select_keys(keys: Sequence[str], pages: str | None) -> list[str]:
    """The samples that `--pages` names: a number (the first ones), positions `5-9`, or ids with `*`.

    >>> select_keys(["a1", "a2", "b1"], "2")
    ['a1', 'a2']
    >>> select_keys(["a1", "a2", "b1"], "b*,2-2")
    ['a2', 'b1']
    """
    if pages is None:
        return list(keys)
    if pages.strip().isdigit():
        chosen = set(keys[: int(pages)])
    else:
        chosen = set().union(*(_select(keys, part.strip()) for part in pages.split(",") if part.strip()))
    if not chosen:
        raise UsageError(f"--pages {pages} names no sample; ids are like {', '.join(keys[:3])}.")
    return [key for key in keys if key in chosen]


def _select(keys: Sequence[str], part: str) -> set[str]:
    named = set(fnmatch.filter(keys, part))
    positions = _POSITIONS.fullmatch(part)
    if named or positions is None:
        return named
    return set(keys[max(int(positions[1]) - 1, 0) : int(positions[2])])
