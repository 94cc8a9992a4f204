"""Evaluation results for model repositories on the Hugging Face Hub (`.eval_results/*.yaml`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from parsemark.errors import UsageError
from parsemark.plain_words import INTERVAL, format_value
from parsemark.report.names import safe_name
from parsemark.store import Run
from parsemark.store.summary import Summary
from parsemark.system.files import write_text

_REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)


def write_hub_results(
    run: Run,
    dataset: str | None,
    *,
    protocol: str | None = None,
    parsers: Sequence[str] | None = None,
    link: str | None = None,
    out: Path,
) -> list[Path]:
    """Write one file per parser: each main score with its interval and the versions behind it.

    Args:
        run: A scored run.
        dataset: Repository of the corpus on the hub, as `OWNER/NAME`.
        protocol: Protocol to report; by default the run's first.
        parsers: Parsers to write; by default all.
        link: Address of the results, stored as their source.
        out: Folder to write; put the files into `.eval_results/` of the model's repository.

    Raises:
        UsageError: `dataset` is missing or malformed, or the run has no such parser.
    """
    if dataset is None or _REPOSITORY.fullmatch(dataset) is None:
        wrong = "" if dataset is None else f"; got {dataset!r}"
        raise UsageError(
            f"--format hf-eval needs the corpus's dataset on the hub: --dataset OWNER/NAME{wrong}."
        )
    if link is not None and not link.startswith(("https://", "http://")):
        raise UsageError(f"--link {link}: give an address that begins with https://.")
    summary = run.summary(protocol or next(iter(run.protocols), None))
    names = list(parsers or summary.parsers)
    if unknown := [name for name in names if name not in summary.parsers]:
        raise UsageError(f"The run has no parser {unknown[0]!r}; it has {', '.join(summary.parsers)}.")
    paths = []
    for name in names:
        path = out / f"{safe_name(name)}.yaml"
        write_text(path, "".join(_entries(run, summary, name, dataset, link)))
        paths.append(path)
    return paths


def _entries(run: Run, summary: Summary, parser: str, dataset: str, link: str | None) -> Iterator[str]:
    manifest = run.manifest
    entry = manifest.parser(parser)
    versions = [] if entry is None else [f"{tool} {version}" for tool, version in entry.versions.items()]
    tools = f"{parser} ({', '.join(versions)})" if versions else parser
    for info in summary.figures:
        score = summary.figure(parser, info.name)
        if not info.main or score is None or score.value is None:
            continue
        ends = score.interval
        shown = (
            [] if ends is None else [f"{INTERVAL}: {' to '.join(format_value(e, info.style) for e in ends)}"]
        )
        corpus = manifest.corpus
        notes = [
            f"{tools}: {info.label}, {info.direction}",
            *shown,
            f"parsemark {manifest.code_version}, {summary.protocol} version {summary.comparability}",
            f"corpus {corpus.name} {corpus.version} {corpus.hash[:12]}",
        ]
        yield (  # JSON strings are YAML strings
            f"- dataset:\n    id: {json.dumps(dataset)}\n"
            f"    task_id: {json.dumps(f'{summary.protocol}.{info.name}')}\n"
            f"  value: {score.value!r}\n"
            f"  date: {json.dumps(manifest.created)}\n"
        )
        if link is not None:
            yield f'  source:\n    url: {json.dumps(link)}\n    name: "parsemark"\n'
        yield f"  notes: {json.dumps('; '.join(notes), ensure_ascii=False)}\n"
