"""Which version broke it: the search itself, releases of a local package, and commits."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import validate
from tests.authors.releases import make_releases, write_pages, write_worker_script
from tests.packages import index_of_wheels, write_wheel
from typer.testing import CliRunner

from parsemark import version_history
from parsemark.cli.main import app
from parsemark.cli.version_history import _show_both
from parsemark.errors import UsageError
from parsemark.report.history_page import bisection_words
from parsemark.schemas import json_schemas
from parsemark.verdicts.bisection import Probe, bisect_versions, jumps_by_reading


def tried_on(n: int, first_bad: int, skipped: frozenset[int] = frozenset()) -> tuple[object, list[int]]:
    tried: list[int] = []

    def probe(version: str) -> Probe:
        tried.append(int(version))
        if int(version) in skipped:
            return Probe(version, "skipped", why="no wheel")
        return Probe(version, "bad", 0.2) if int(version) >= first_bad else Probe(version, "good", 0.9)

    return bisect_versions([str(k) for k in range(n)], probe), tried


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 16, 17, 40, 64])
def test_no_more_versions_are_tried_than_the_worst_case_needs(n: int) -> None:
    for first_bad in range(1, n):
        found, tried = tried_on(n, first_bad)
        assert (found.last_good, found.first_bad) == (str(first_bad - 1), str(first_bad))
        assert found.is_one_step and found.unknown == ()
        assert found.n_tried == len(set(tried)) == len(tried) <= 1 + (n - 1).bit_length()
    assert 1 + (40 - 1).bit_length() == 7, "40 releases take at most seven parses, both ends counted"


@given(
    st.integers(3, 40).flatmap(
        lambda n: st.tuples(
            st.just(n), st.integers(1, n - 1), st.frozensets(st.integers(1, n - 2), max_size=10)
        )
    )
)
def test_versions_that_cannot_be_used_widen_the_answer_and_do_not_change_it(
    case: tuple[int, int, frozenset[int]],
) -> None:
    n, first_bad, skipped = case
    found, _ = tried_on(n, first_bad, skipped)
    good, bad = int(found.last_good), int(found.first_bad)
    usable = [k for k in range(n) if k not in skipped]
    assert good == max(k for k in usable if k < first_bad)
    assert bad == min(k for k in usable if k >= first_bad)
    assert {int(v) for v in found.unknown} == set(range(good + 1, bad)) <= skipped


def test_a_bad_end_that_is_good_is_no_answer() -> None:
    found, _ = tried_on(10, 99)
    assert found.first_bad is None
    assert "9 is as good as 0" in bisection_words("p", found, "page x")


def test_a_good_end_that_is_bad_is_refused() -> None:
    with pytest.raises(UsageError, match="is already bad"):
        bisect_versions(["1", "2"], lambda v: Probe(v, "skipped", why="there is no release 1"))


def test_more_than_one_step_is_said() -> None:
    values = {"0": 1.0, "1": 1.0, "2": 0.8, "3": 0.4, "4": 0.4}
    found = bisect_versions(
        list(values), lambda v: Probe(v, "good" if values[v] == 1.0 else "bad", values[v])
    )
    assert (found.last_good, found.first_bad, found.is_one_step) == ("1", "2", False)
    assert "Not a single step: 0 1.000" in found.step_words()


@pytest.mark.parametrize(("last", "is_one"), [("b", True), ("c", False)])
def test_without_a_figure_outputs_are_held_against_each_other(last: str, is_one: bool) -> None:
    outputs = {"0": "a", "1": "a", "2": "b", "3": "b", "4": last}
    found = bisect_versions(
        list(outputs), lambda v: Probe(v, "good" if outputs[v] == "a" else "bad", None, outputs[v])
    )
    assert (found.first_bad, found.is_one_step) == ("2", is_one)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty releases of a package, the 23rd of which loses a row; one of them cannot be imported."""
    make_releases(tmp_path, monkeypatch, 40, lost_from=23, broken=(20,))
    write_pages(tmp_path / "corpus", 2)
    write_worker_script(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_planted_regression_among_forty_releases(workplace: Path) -> None:
    found, run = version_history.bisect("mine.py", "1.1", "1.40", corpus="corpus", page="s001")
    assert (found.last_good, found.first_bad) == ("1.22", "1.23")
    assert found.is_one_step and found.n_tried <= 7
    assert run is not None and len({r.parser for r in run.records()}) == found.n_tried
    words = bisection_words("mine.py", found, "s001")
    assert words.startswith("mine.py 1.23 broke s001 1.000 → ") and "good until 1.22" in words
    assert not found.is_reading and "nearly equal" not in words
    backwards, _ = version_history.bisect("mine.py", "1.22", "1.24", corpus="corpus", out="again")
    assert backwards.first_bad == "1.23"


def test_a_command_decides(workplace: Path) -> None:
    check = workplace / "check.py"
    check.write_text("import sys, tabler; sys.exit(len(tabler.read('a b')) < 2)")
    found, run = version_history.bisect("mine.py", "1.18", "1.25", command=f"python {check}")
    assert (found.last_good, found.first_bad, run) == ("1.22", "1.23", None)
    check.write_text("import sys; sys.exit(125)")
    with pytest.raises(UsageError, match="skipped it"):
        version_history.bisect("mine.py", "1.18", "1.25", command=f"python {check}")


def test_bad_input_is_one_line(workplace: Path) -> None:
    for good, bad, words in (
        ("1.1", "9.9", "no release 9.9 of mine.py"),
        ("1.1", "1.1", "Give two different versions"),
    ):
        with pytest.raises(UsageError, match=words):
            version_history.bisect("mine.py", good, bad, corpus="corpus", page="s001")
    with pytest.raises(UsageError, match="no score 'beauty'"):
        version_history.bisect("mine.py", "1.1", "1.2", corpus="corpus", score="beauty")


@pytest.mark.parametrize(("bad", "tried"), [("3", ["1", "2", "3"]), ("3rc1", ["1", "2rc1", "2", "3rc1"])])
def test_pre_releases_are_tried_if_one_is_given(
    bad: str, tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    releases = ["1", "2rc1", "2", "3rc1", "3"]
    monkeypatch.setattr(
        version_history,
        "parsers_versions",
        lambda _, pre=False: [version for version in releases if pre or "rc" not in version],
    )
    assert version_history._line("p", "1", bad, None) == tried


def test_commits_of_a_repository(workplace: Path) -> None:
    repo = workplace / "repo"
    repo.mkdir()

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", "-C", str(repo), *identity, *arguments], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (repo / "pyproject.toml").write_text(
        '[project]\nname = "tabler"\nversion = "2"\n[build-system]\nrequires = []\n'
        'build-backend = "backend"\nbackend-path = ["."]\n'
    )
    (repo / "backend.py").write_text(BACKEND)
    for number in range(6):
        (repo / "tabler.py").write_text(
            f"# {number}\ndef read(text):\n    rows = [[text.split()[1], 'page 1'], ['1', '2']]\n"
            f"    return rows{'[:1]' if number >= 4 else ''}\n"
        )
        git("add", ".")
        git("commit", "-q", "-m", f"Commit {number}", "--no-gpg-sign")
    found, _ = version_history.bisect("mine.py", "HEAD~5", "HEAD", corpus="corpus", repo="repo", page="s000")
    assert found.first_bad is not None and found.versions.index(found.first_bad) == 4


BACKEND = """
import pathlib, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "tabler-2-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as archive:
        archive.write("tabler.py")
        info = "tabler-2.dist-info/"
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: tabler\\nVersion: 2\\n")
        wheel = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        archive.writestr(info + "WHEEL", wheel)
        archive.writestr(info + "RECORD", "tabler.py,,\\n")
    return name
"""


def test_a_mended_page_is_said_to_be_mended_by_the_later_release() -> None:
    def probe(version: str) -> Probe:
        return Probe(version, "good" if version >= "1.3" else "bad", float(version >= "1.3"))

    found = bisect_versions(["1.5", "1.4", "1.3", "1.2", "1.1"], probe)
    words = bisection_words("p", found, "s1")
    assert words.startswith("p 1.3 fixed s1 0.000 → 1.000: bad until 1.2; ")


def test_a_jump_of_nearly_equal_outputs_is_one_of_their_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 1.3 on the table is one line: other white space, and no table is read."""
    wheels = index_of_wheels(tmp_path, monkeypatch)
    for number in range(1, 5):
        table = "f'| {text.split()[1]} | page 1 |\\n|---|---|\\n| 1 | 2 |\\n'"
        source = f"def read(text):\n    table = {table}\n"
        joined = "' '.join(table.split())" if number >= 3 else "table"
        write_wheel(wheels, "tabler", f"1.{number}", f"{source}    return {joined}\n")
    write_pages(tmp_path / "corpus", 2)
    script = write_worker_script(tmp_path)
    text = script.read_text().replace('["cells"]', '["markdown"]').replace("elements_output,", "text_output,")
    before, _, _ = text.partition("    return elements_output")
    call = '    return text_output("markdown", tabler.read(Path(pdf).read_text()))\n\nserve(parse)\n'
    script.write_text(before + call)
    monkeypatch.chdir(tmp_path)
    found, _ = version_history.bisect("mine.py", "1.1", "1.4", corpus="corpus", page="s001")
    assert (found.last_good, found.first_bad, found.is_reading) == ("1.2", "1.3", True)
    said = "nearly equal, so the change of the score comes from how the output is read."
    assert bisection_words("mine.py", found, "s001").endswith(said)


@pytest.mark.parametrize(
    ("bad", "output", "is_reading"),
    [
        (0.2, "x" * 500, True),
        (0.2, "x \n" * 500, True),
        (0.2, "x" * 499 + "y", True),
        (0.2, "x" * 480 + "y" * 20, False),
        (0.2, "", False),
        (0.85, "x" * 500, False),
        (None, "x" * 500, False),
    ],
)
def test_what_counts_as_nearly_equal(bad: float | None, output: str, is_reading: bool) -> None:
    good = Probe("1", "good", 0.9)
    outputs = [("same", "same"), ("x" * 500, output)]
    assert jumps_by_reading(good, Probe("2", "bad", bad), outputs) is is_reading


def test_with_a_command_any_package_can_be_bisected(workplace: Path) -> None:
    """`tabler` is no parser of ours, and no worker is written for it."""
    check = "python -c \"import sys, tabler; sys.exit(len(tabler.read('a b')) < 2)\""
    found, run = version_history.bisect("tabler", "1.21", "1.26", command=check)
    assert (found.last_good, found.first_bad, run) == ("1.22", "1.23", None)
    shown = CliRunner().invoke(
        app, ["bisect", "tabler", "--good", "1.22", "--bad", "1.23", "--command", check, "--json"]
    )
    result = json.loads(shown.stdout)
    validate(result, json_schemas()["bisect.schema.json"])
    assert (result["last_good"], result["first_bad"], result["is_one_step"]) == ("1.22", "1.23", True)
    with pytest.raises(UsageError, match="Unknown parser 'tabler'"):
        version_history.bisect("tabler", "1.21", "1.26", corpus="corpus")


def test_without_a_figure_both_outputs_are_shown_all_the_same(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_truth(*_: object) -> None:
        raise UsageError("there is no page with a truth")

    found, run = version_history.bisect("mine.py", "1.22", "1.23", corpus="corpus", page="s001")
    monkeypatch.setattr("parsemark.verdicts.comparison.compare_parsers", without_truth)
    assert run is not None
    _show_both(run, "mine.py", found)
    shown = capsys.readouterr().out
    assert shown.startswith("--- ") and f"Report: {run.path / 'report' / 'index.html'}" in shown
