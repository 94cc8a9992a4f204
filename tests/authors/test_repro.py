"""A failure in one folder, and the badge of a run."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.corpora.writing import write_corpus
from tests.parsers.pages import write_page

from parsemark import api
from parsemark.errors import UnknownNameError, UsageError
from parsemark.model import Box, Element, Page, Prediction, Sample, Table
from parsemark.report.badge import badge_svg
from parsemark.report.repro import output_difference, write_repro
from parsemark.store import Run

SCRIPT = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# licence = "MIT"
# gives = ["cells"]
# ///
from parsemark_worker import elements_output, serve, table

def parse(pdf, page, options):
    return elements_output([table([["a", "b"]], box=(10, 10, 200, 100))])

serve(parse)
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """One page whose second row the parser loses."""
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus" / "pdfs").mkdir(parents=True)
    pdf = write_page(tmp_path / "corpus" / "pdfs" / "one.pdf")
    table = Table.from_rows([["a", "b"], ["1", "2"]])
    truth = Page("one", 600, 800, (Element("t0", "table", Box(500, 700, 510, 710), table=table),))
    write_corpus(tmp_path / "corpus", [Sample("one", "d", 1, truth, pdf)], name="tiny", licence="CC0-1.0")
    (tmp_path / "mine.py").write_text(SCRIPT)
    return api.bench("corpus", ["mine.py"], out="run", workers=1)


def test_a_repro_holds_page_truth_output_differences_and_command(run: Run, tmp_path: Path) -> None:
    write_repro(run, "mine", "one", Path("shown"))
    folder = tmp_path / "shown"
    assert (folder / "page.pdf").read_bytes().startswith(b"%PDF")
    assert "<td>2</td>" in (folder / "truth.html").read_text()
    assert "-1,2" in (folder / "differences.diff").read_text().splitlines()
    assert (folder / "output.json").is_file()
    readme = (folder / "README.md").read_text()
    assert "parsemark try page.pdf --parser mine.py --pages 1" in readme
    assert (folder / "mine.py").read_text() == SCRIPT
    texts = [
        path.read_text() for path in folder.iterdir() if path.suffix in (".md", ".html", ".json", ".diff")
    ]
    assert not any(str(tmp_path) in text for text in texts), "no path of this machine"
    assert re.search(r"TE F1 Con on this page: 0\.\d+", readme)
    with pytest.raises(UsageError, match="shown is not empty"):
        write_repro(run, "mine", "one", Path("shown"))
    with pytest.raises(UnknownNameError, match="Unknown page 'two'"):
        write_repro(run, "mine", "two", Path("other"))


def test_a_script_is_found_again_by_name_or_path_and_a_refusal_leaves_no_folder(
    run: Run, tmp_path: Path
) -> None:
    write_repro(run, "mine", "one", Path("by-name"))
    write_repro(run, "mine.py", "one", Path("by-path"))
    for folder in ("by-name", "by-path"):
        assert "try page.pdf --parser mine.py" in (tmp_path / folder / "README.md").read_text()
    (tmp_path / "v1").mkdir()
    before = set(tmp_path.iterdir())
    (tmp_path / "mine.py").rename(tmp_path / "v1" / "mine.py")
    with pytest.raises(UsageError, match=r"mine of .*run is .*, not .*v1/mine\.py"):
        write_repro(run, "v1/mine.py", "one", Path("other"))
    assert set(tmp_path.iterdir()) <= before


def test_lines_that_are_alike_keep_the_blank_before_them(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = (Element("t0", "table", table=Table.from_rows([["a", "b"], ["3", "4"]])),)
    predictions = {"mine": run.prediction("one", "mine"), "new": Prediction("one", "new", elements=changed)}
    monkeypatch.setattr(Run, "prediction", lambda _, sample, parser: predictions[parser])
    assert output_difference(run, "mine", "new").splitlines()[3:] == [" a,b", "+3,4"]


def test_it_is_said_when_reading_and_not_the_output_makes_the_jump(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words, one blank further: a table before, none now."""
    table = (Element("t0", "table", table=Table.from_rows([["a", "b"], ["1", "2"]])),)
    predictions = {
        "mine": Prediction("one", "mine", elements=table, text="a   b\n1   2"),
        "new": Prediction("one", "new", text="a   b\n1    2"),
    }
    monkeypatch.setattr(Run, "prediction", lambda _, sample, parser: predictions[parser])
    said = output_difference(run, "mine", "new")
    assert "-1   2\n+1    2" in said and "differ only in white space" in said
    predictions["new"] = Prediction("one", "new", text="a   b\n1   3")
    said = output_difference(run, "mine", "new")
    assert "+1   3" in said and "white space" not in said


def test_words_are_compared_where_the_tables_are_equal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"mine": "one\ntwo three", "new": "one\ntwothree"}
    predictions = {parser: Prediction("one", parser, text=text) for parser, text in said.items()}
    monkeypatch.setattr(Run, "prediction", lambda _, sample, parser: predictions[parser])
    assert output_difference(run, "mine", "new").splitlines()[3:] == [" one", "-two three", "+twothree"]


def test_a_badge_says_score_interval_corpus_and_rule(run: Run, tmp_path: Path) -> None:
    root = ElementTree.fromstring(badge_svg(run, link='https://example.org/b?a="1"&b=<2>'))
    text = "".join(root.itertext())
    corpus = run.manifest.corpus
    assert f"mine: TE F1 Con on tiny {corpus.hash[:8]}" in text and corpus.hash in text
    value = run.summary().figure("mine", "te_f1_con")
    assert value is not None and f"{value.value:.3f}" in text and "bbox" in text and "✓" not in text
    link = next(iter(root))
    assert link.get("href") == 'https://example.org/b?a="1"&b=<2>'
    with pytest.raises(UsageError, match="begins with https"):
        badge_svg(run, link="javascript:alert(1)")
    with pytest.raises(UsageError, match="no parser 'other'"):
        badge_svg(run, parser="other")


def test_a_badge_is_verified_only_by_the_bundle_of_its_own_run(run: Run, tmp_path: Path) -> None:
    api.bundle(run, "own.bundle")
    assert "✓" in badge_svg(run, bundle=Path("own.bundle"))
    (tmp_path / "mine.py").write_text(SCRIPT.replace('["a", "b"]', '["a", "c"]'))
    other = api.bench("corpus", ["mine.py"], out="other", workers=1)
    with pytest.raises(UsageError, match="is not of"):
        badge_svg(other, bundle=Path("own.bundle"))
