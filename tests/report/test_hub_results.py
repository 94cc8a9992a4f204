"""Evaluation results for the Hugging Face Hub, read back by the hub's own client."""

from pathlib import Path

import pytest
import yaml
from huggingface_hub import EvalResultEntry, parse_eval_result_entries

from parsemark import api
from parsemark.errors import UsageError
from parsemark.store import Run


def entries(path: Path) -> list[EvalResultEntry]:
    return parse_eval_result_entries(yaml.safe_load(path.read_text()))


def test_every_main_score_is_an_entry_that_the_hub_reads(run: Run, tmp_path: Path) -> None:
    summary = run.summary()
    paths = api.export(run.path, format="hf-eval", dataset="acme/pages", out=tmp_path)
    assert len(paths) == len(summary.parsers)
    for path, (parser, scores) in zip(paths, summary.parsers.items(), strict=True):
        found = {entry.task_id: entry for entry in entries(Path(path))}
        expected = {
            f"{summary.protocol}.{info.name}": scores[info.name].value
            for info in summary.figures
            if info.main and info.name in scores and scores[info.name].value is not None
        }
        assert expected and {task: entry.value for task, entry in found.items()} == expected
        for entry in found.values():
            assert entry.dataset_id == "acme/pages" and entry.date == run.manifest.created
            assert entry.source_url is None
            assert parser in entry.notes and run.manifest.corpus.hash[:12] in entry.notes


def test_a_link_is_the_source(run: Run, tmp_path: Path) -> None:
    link = 'https://example.org/"a": b'
    (path, *_) = api.export(run.path, format="hf-eval", dataset="acme/pages", link=link, out=tmp_path)
    assert {entry.source_url for entry in entries(Path(path))} == {link}


@pytest.mark.parametrize("dataset", [None, "pages", "a/b/c", "../x", "acme/pa ges", "acme/pages\n"])
def test_a_dataset_has_an_owner_and_a_name(run: Run, tmp_path: Path, dataset: str | None) -> None:
    with pytest.raises(UsageError, match="--dataset OWNER/NAME"):
        api.export(run.path, format="hf-eval", dataset=dataset, out=tmp_path)


def test_unknown_parsers_and_links_are_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no parser 'nobody'"):
        api.export(run.path, format="hf-eval", dataset="a/b", parsers=["nobody"], out=tmp_path)
    with pytest.raises(UsageError, match="https://"):
        api.export(run.path, format="hf-eval", dataset="a/b", link="javascript:alert(1)", out=tmp_path)
