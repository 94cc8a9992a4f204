"""OHR-Bench: its own results on examples, and the protocol on pages."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from benchmark_pages import page, values
from fake_judge import judge
from reference_examples import families, same
from rich.console import Console
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora.files import page_file_text, page_from_file
from parsemark.corpora.schema import PageFile
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError, UsageError
from parsemark.model import Element, Page, Prediction, Sample
from parsemark.protocols import Figure, Ranking, Verdict, get_protocol
from parsemark.report.terminal_leaderboard import leaderboard
from parsemark.store import Run
from parsemark.testing import write_corpus
from parsemark.verdicts.run_verdict import run_verdict
from parsemark_boards.ohr_bench import protocol as ohr_bench
from parsemark_boards.ohr_bench import rag


def own_result(family: str, given: dict[str, Any]) -> dict[str, Any]:
    if family == "normalise":
        return {"text": ohr_bench.normalised(given["text"])}
    if family == "answer":
        return ohr_bench.answer_scores(given["generated"], given["answer"])
    lcs = ohr_bench.retrieval_lcs(given)
    return {"lcs": 0 if lcs is None else lcs, "valid": lcs is not None}


@pytest.mark.conformance
def test_ohr_bench_examples(reference_data: Path) -> None:
    pytest.importorskip("jieba")
    for example in families(reference_data, "ohr-bench"):
        own, theirs = own_result(example["family"], example["input"]), example["expected"]
        assert same(own, theirs) or (not theirs.get("valid", True) and not own["valid"]), example["id"]


QUESTION = {
    "doc_name": "finance/BANK",
    "questions": "What was the net income?",
    "answers": "842 million",
    "evidence_context": "net income of 842 million",
    "evidence_page_no": 0,
    "generated": {"one": "842"},
}


def test_a_page_counts_as_fetched_and_answers_are_scored_question_by_question() -> None:
    truth = page(ohr_bench_questions=[QUESTION, {**QUESTION, "generated": {"one": " "}}])
    rows = get_protocol("ohr-bench").score_page(
        truth, Prediction("p", "one", text="Net income: 842 million."), None
    )
    found = {name: [r.value for r in rows.scores if r.metric == name] for name in ("lcs", "f1", "em")}
    assert found == {"lcs": [0.8, 0.8], "f1": [pytest.approx(2 / 3)], "em": [0]}
    strict = get_protocol("ohr-bench(empty_left_out=false)")
    kept = strict.score_page(truth, Prediction("p", "one", text=""), None).scores
    assert [r.value for r in kept if r.metric == "f1"] == [pytest.approx(2 / 3), 0]


def test_what_was_fetched_counts_where_it_is_known() -> None:
    chunk = {"file_name": "BANK", "page_idx": 0, "text": "net income"}
    asked = {**QUESTION, "retrieval_results": {"one": [chunk]}}
    assert values("ohr-bench", page(ohr_bench_questions=[asked]), "all of it")["lcs"] == 0.4
    nothing = page(ohr_bench_questions=[{**QUESTION, "retrieval_results": {"one": []}}])
    assert values("ohr-bench", nothing, "")["lcs"] is None
    assert values("ohr-bench(empty_left_out=false)", nothing, "")["lcs"] == 0
    assert values("ohr-bench", page(), "text")["lcs"] is None


def test_leaving_out_lines_of_results_does_not_pay(tmp_path: Path) -> None:
    """A parser without a line had its whole page counted as fetched, and led."""
    line = {"parser": "other", "ID": "q", "generated": "842", "retrieval_results": []}
    (tmp_path / "r.jsonl").write_text(json.dumps(line))
    question = {**QUESTION, "ID": "q"}
    del question["generated"]
    found = values(f"ohr-bench(results={tmp_path / 'r.jsonl'})", page(ohr_bench_questions=[question]), "842")
    assert (found["lcs"], found["f1"], found["e2e_f1"]) == (0, 0, None)


def test_the_dictionary_of_chinese_words_is_in_no_folder_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jieba")
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    ohr_bench._segmenter.cache_clear()
    assert ohr_bench._cut("我们在北京") == ["我们", "在", "北京"]
    assert list((tmp_path / "jieba").iterdir())
    ohr_bench._segmenter.cache_clear()


DOCUMENTS = {
    "BANK": ["The net income of 842 million rose.", "Staff: nine people at the quay."],
    "SHIP": ["Slack water lasts nine minutes.", "The crew is 31."],
}


@pytest.fixture
def asked(tmp_path: Path) -> Run:
    """A run of two documents with a question each, which one parser reads well and the other badly."""
    questions = {
        "BANK-p1": [{**QUESTION, "ID": "q1", "generated": {}}],
        "SHIP-p2": [
            {
                "ID": "q2",
                "doc_name": "finance/SHIP",
                "questions": "How large is the crew?",
                "answers": "31",
                "evidence_context": "The crew is 31.",
                "evidence_page_no": [1],
            }
        ],
    }
    samples = []
    for document, texts in DOCUMENTS.items():
        for number, text in enumerate(texts, 1):
            name = f"{document}-p{number}"
            own = {"ohr_bench_questions": questions.get(name, [])}
            elements = (Element("1", "text_block", order=0, text=text),)
            samples.append(Sample(name, document, number, Page(name, 9, 9, elements, annotation=own)))
    corpus = write_corpus(tmp_path / "corpus", samples, name="asked")
    for parser in ("good", "bad"):
        (tmp_path / parser).mkdir()
        for sample in samples:
            text = DOCUMENTS[sample.document][sample.page_number - 1]
            text = text if parser == "good" else text.replace("crew", "cr3w").replace("842", "8 4 2")
            (tmp_path / parser / f"{sample.id}.md").write_text(text)
        run = import_predictions(tmp_path / "run", corpus, tmp_path / parser, name=parser)
    return run


def lines_of(run: Run) -> dict[tuple[str, str], dict[str, Any]]:
    """What the search and the judge gave, from the file that the run keeps."""
    [path] = (run.path / "prepared").glob("ohr-bench-*.jsonl")
    return {(own["parser"], own["ID"]): own for own in map(json.loads, path.read_text().splitlines())}


def test_a_search_and_a_model_give_what_is_scored(asked: Run) -> None:
    def answer(shown: dict[str, str]) -> str:
        found = next((a for a in ("842 million", "31") if a in shown["TEXT"]), "Not answerable")
        return json.dumps({"response": found})

    with judge(answer) as named:
        spec = f"ohr-bench(judge={named},top=1)"
        result = CliRunner().invoke(app, ["score", str(asked.path), "--protocol", spec])
    assert result.exit_code == 0, result.output
    lines = lines_of(asked)
    assert lines["good", "q2"]["retrieval_results"][0]["page_idx"] == 1
    assert lines["good", "q1"]["generated"] == lines["good", "q1"]["end_to_end"] == "842 million"
    assert lines["bad", "q1"]["generated"] == "Not answerable"
    summary = Run.open(asked.path).summary(spec)
    assert summary.protocol == str(get_protocol(spec)), "scores stand under the judge, not under a file"
    figures = summary.parsers
    assert figures["good"]["f1"].value == figures["good"]["e2e_f1"].value == figures["good"]["em"].value == 1
    assert figures["bad"]["f1"].value == 0.5 and (figures["bad"]["lcs"].value or 0) < 1
    [path] = (asked.path / "prepared").iterdir()
    [given] = score_run(asked, protocols=[f"ohr-bench(results={path})"], n_workers=1)
    for parser in ("good", "bad"):
        assert {n: f.value for n, f in given.parsers[parser].items() if n != "seconds"} == {
            n: f.value for n, f in figures[parser].items() if n != "seconds"
        }


@pytest.mark.parametrize(
    ("left_out", "worth", "said"), [("true", 1.0, "in no mean"), ("false", 0.5, "worth nothing")]
)
def test_answers_that_fail_are_said_by_the_command_and_beside_the_figures(
    asked: Run, left_out: str, worth: float, said: str
) -> None:
    def answer(shown: dict[str, str]) -> str | None:
        return '{"response": "842 million"}' if "842" in shown["TEXT"] else None

    with judge(answer) as named:
        spec = f"ohr-bench(concurrency=1,empty_left_out={left_out},judge={named},top=1)"
        result = CliRunner().invoke(app, ["score", str(asked.path), "--protocol", spec])
    assert result.exit_code == 1
    assert "calls to a language model failed" in result.output and "rejected" in result.output
    lines = lines_of(asked)
    assert "failed" not in lines["good", "q1"]
    assert lines["good", "q2"]["generated"] == ""
    assert "no such model" in lines["good", "q2"]["failed"]["generated"]
    summary = Run.open(asked.path).summary(str(get_protocol(spec)))
    assert summary.parsers["good"]["f1"].value == worth and summary.failed_calls > 2
    assert any(
        note.startswith(f"good: 2 answers failed, {said}. The first: rejected: ") for note in summary.notes
    )


def test_without_a_model_the_search_alone_is_scored(asked: Run) -> None:
    [summary] = score_run(asked, protocols=["ohr-bench(top=2)"], n_workers=1)
    figures = summary.parsers["good"]
    assert figures["lcs"].value == 1 and figures["f1"].value is None
    assert lines_of(asked)["good", "q1"]["retrieval_results"]


def test_what_searches_a_run_cannot_score_a_page_alone() -> None:
    protocol = get_protocol("ohr-bench(top=2)")
    with pytest.raises(RuntimeError, match="searches a whole run"):
        protocol.score_page(page(), Prediction("p", "one", text="a"), None)


@pytest.mark.parametrize("options", ["top=101", "max_cost=-1", "concurrency=0", "judge=nobody"])
def test_wrong_options_are_refused(options: str) -> None:
    with pytest.raises(UsageError):
        get_protocol(f"ohr-bench({options})")


def test_two_questions_of_one_id_are_refused(asked: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag, "own_truth", lambda page, *_: [{**QUESTION, "ID": "q1", "questions": page.id}])
    with pytest.raises(UsageError, match=r"Two questions have the ID 'q1', one of them on "):
        score_run(asked, protocols=["ohr-bench(top=2)"], n_workers=1)


def test_unknown_parsers_and_questions_of_results_are_named_and_ties_are_level(
    asked: Run, tmp_path: Path
) -> None:
    out = tmp_path / "given.jsonl"
    lines = [("good", "q1", "842 million"), ("bad", "q2", "31"), ("godo", "q1", "1"), ("good", "q9", "1")]
    out.write_text(
        "\n".join(json.dumps({"parser": p, "ID": q, "generated": g, "end_to_end": g}) for p, q, g in lines)
    )
    spec = f"ohr-bench(results={out})"
    score_run(asked, protocols=[spec], n_workers=1)
    summary = Run.open(asked.path).summary(spec)
    said = " ".join(summary.notes)
    assert "lines for 1 parser not in this run, which count for nothing: godo." in said
    assert "lines for 1 question not in this run, which count for nothing: q9." in said
    level = {"value_a": 0.5, "value_b": 0.5, "difference": 0.0, "low": -0.1, "high": 0.1, "p": 1.0}
    verdict = Verdict(a="a", b="b", figure="f1", **level, state="not_significant", n_documents=2)
    ranking = Ranking(figure="f1", best="a", verdicts=[verdict])
    figures = {name: {"f1": Figure(value=0.5, n=2)} for name in ("a", "b")}
    tied = summary.model_copy(update={"primary": "f1", "parsers": figures, "ranking": ranking})
    told = " ".join(run_verdict(tied, [], ""))
    assert "Tied with it: b." in told
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(leaderboard(tied))
    assert console.export_text().count("★") == 3  # both rows and the legend


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 1 is not a result for a question"),
        ('{"parser": "a"}', "ID"),
        ('{"parser": "a", "ID": "q", "generatd": "x"}', "generatd"),
        ('{"parser": "a", "ID": "q", "retrieval_results": [{"text": "x", "page_idx": 1}]}', "file_name"),
        ('{"parser": "a", "ID": "q"}\n{"parser": "a", "ID": "q"}', "twice"),
    ],
)
def test_a_file_of_results_that_is_none_is_refused(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "r.jsonl").write_text(line)
    with pytest.raises(CorpusError, match=why):
        get_protocol(f"ohr-bench(results={tmp_path / 'r.jsonl'})")


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, -7, 10**400, float("nan"), "", "a\x00\x1b[2J", "a" * 100_000, [], {}, [[[]]]),
        *([0] * 10_000, {f"k{k}": k for k in range(10_000)}, json.loads("[" * 300 + "]" * 300)),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_hostile_results_and_questions_are_refused_or_scored(tmp_path: Path, value: object) -> None:
    chunk = {"file_name": "BANK", "page_idx": 0, "text": "net income"}
    line = {"parser": "one", "ID": "q", "generated": "842", "end_to_end": "842", "retrieval_results": [chunk]}
    changes = [
        *({**line, key: value} for key in (*line, "failed", "more")),
        *({**line, "retrieval_results": [{**chunk, key: value}]} for key in chunk),
    ]
    truth = page(ohr_bench_questions=[{**QUESTION, "ID": "q"}])
    for number, changed in enumerate(changes):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json.dumps(changed) + "\n")
        try:
            protocol = get_protocol(f"ohr-bench(results={path})")
        except (CorpusError, UsageError) as error:
            assert len(str(error)) < 5_000 and "pydantic" not in str(error)
            continue
        rows = protocol.score_page(truth, Prediction("p", "one", text="Net income"), None).scores
        assert all(row.value is None or 0 <= row.value <= 1 for row in rows)
    for key in QUESTION:
        hostile = page(ohr_bench_questions=[{**QUESTION, key: value}])
        try:
            written = page_file_text(Sample("p", "d", 1, hostile), None)
            truth = page_from_file(PageFile.model_validate_json(written), "p")
        except (CorpusError, ValueError):
            continue
        prediction = Prediction("p", "one", text="Net income")
        rows = get_protocol("ohr-bench").score_page(truth, prediction, None).scores
        assert all(row.value is None or 0 <= row.value <= 1 for row in rows), key
