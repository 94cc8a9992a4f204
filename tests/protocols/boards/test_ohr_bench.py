"""OHR-Bench: its own results on examples, and the protocol on pages."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.corpora.writing import write_corpus
from tests.judges.chat_server import ChatServer, Request, completion, error, fenced_blocks
from tests.protocols.boards.test_docling_eval import families, same
from tests.protocols.boards.test_protocols import page, values
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.engine import rag
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError, UsageError
from parsemark.model import Element, Page, Prediction, Sample
from parsemark.protocols import get_protocol
from parsemark.protocols.boards import ohr_bench
from parsemark.protocols.figures.figure import Figure
from parsemark.protocols.figures.summary import Ranking, Verdict
from parsemark.report.terminal import leaderboard
from parsemark.store import Run
from parsemark.verdicts.plain_verdict import plain_verdict


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
    write_corpus(tmp_path / "corpus", samples, name="asked")
    for parser in ("good", "bad"):
        (tmp_path / parser).mkdir()
        for sample in samples:
            text = DOCUMENTS[sample.document][sample.page_number - 1]
            text = text if parser == "good" else text.replace("crew", "cr3w").replace("842", "8 4 2")
            (tmp_path / parser / f"{sample.id}.md").write_text(text)
        run = import_predictions(
            tmp_path / "run", load_corpus(str(tmp_path / "corpus")), tmp_path / parser, name=parser
        )
    return run


def test_a_search_and_a_model_give_what_is_scored(asked: Run, tmp_path: Path) -> None:
    pytest.importorskip("bm25s")

    def answer(request: Request, _count: int) -> Any:
        shown = fenced_blocks(request)
        found = next((a for a in ("842 million", "31") if a in shown["TEXT"]), "Not answerable")
        return completion(json.dumps({"response": found}))

    out = tmp_path / "answers.jsonl"
    with ChatServer(answer) as server:
        arguments = ["rag", str(asked.path), "--out", str(out), "--top", "1", "--judge", server.spec()]
        result = CliRunner().invoke(app, [*arguments, "--answers", str(tmp_path / "a.sqlite")])
    assert result.exit_code == 0, result.output
    lines = {(own["parser"], own["ID"]): own for own in map(json.loads, out.read_text().splitlines())}
    assert lines["good", "q2"]["retrieval_results"][0]["page_idx"] == 1
    assert lines["good", "q1"]["generated"] == lines["good", "q1"]["end_to_end"] == "842 million"
    assert lines["bad", "q1"]["generated"] == "Not answerable"
    spec = f"ohr-bench(results={out})"
    score_run(asked, protocols=[spec], n_workers=1)
    figures = Run.open(asked.path).summary(spec).parsers
    assert figures["good"]["f1"].value == figures["good"]["e2e_f1"].value == figures["good"]["em"].value == 1
    assert figures["bad"]["f1"].value == 0.5 and (figures["bad"]["lcs"].value or 0) < 1


@pytest.mark.parametrize(
    ("left_out", "worth", "said"), [("true", 1.0, "in no mean"), ("false", 0.5, "worth nothing")]
)
def test_answers_that_fail_are_said_by_the_command_and_beside_the_figures(
    asked: Run, tmp_path: Path, left_out: str, worth: float, said: str
) -> None:
    pytest.importorskip("bm25s")

    def answer(request: Request, _count: int) -> Any:
        is_first = "842" in fenced_blocks(request)["TEXT"]
        return completion('{"response": "842 million"}') if is_first else error(404, "no such model")

    out = tmp_path / "answers.jsonl"
    with ChatServer(answer) as server:
        arguments = ["rag", str(asked.path), "--out", str(out), "--top", "1", "--judge", server.spec()]
        arguments += ["--answers", str(tmp_path / "a.sqlite"), "--concurrency", "1"]
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1 and "answers failed, the first: rejected: " in result.output
    lines = {(own["parser"], own["ID"]): own for own in map(json.loads, out.read_text().splitlines())}
    assert "failed" not in lines["good", "q1"]
    assert (
        lines["good", "q2"]["generated"] == ""
        and "no such model" in lines["good", "q2"]["failed"]["generated"]
    )
    spec = f"ohr-bench(results={out},empty_left_out={left_out})"
    (summary,) = score_run(asked, protocols=[spec], n_workers=1)
    assert summary.parsers["good"]["f1"].value == worth
    assert any(
        note.startswith(f"good: 2 answers failed, {said}. The first: rejected: ") for note in summary.notes
    )


def test_without_a_model_the_search_alone_is_scored(asked: Run, tmp_path: Path) -> None:
    pytest.importorskip("bm25s")
    out = tmp_path / "found.jsonl"
    assert CliRunner().invoke(app, ["rag", str(asked.path), "--out", str(out)]).exit_code == 0
    spec = f"ohr-bench(results={out})"
    score_run(asked, protocols=[spec], n_workers=1)
    figures = Run.open(asked.path).summary(spec).parsers["good"]
    assert figures["lcs"].value == 1 and figures["f1"].value is None


def test_two_questions_of_one_id_are_refused(asked: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag, "own_truth", lambda page, *_: [{**QUESTION, "ID": "q1", "questions": page.id}])
    with pytest.raises(UsageError, match=r"Two questions have the ID 'q1', one of them on "):
        rag.questions_of(asked)


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
    verdict = Verdict(a="a", b="b", figure="f1", **level, state="not_resolved", n_documents=2)
    ranking = Ranking(figure="f1", best="a", verdicts=[verdict])
    figures = {name: {"f1": Figure(value=0.5, n=2)} for name in ("a", "b")}
    tied = summary.model_copy(update={"primary": "f1", "parsers": figures, "ranking": ranking})
    told = " ".join(plain_verdict(tied, [], ""))
    assert "Level with it: b; the order among them is that of their names." in told
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(leaderboard(tied))
    assert console.export_text().count("★") == 3  # both rows and the legend


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 1 is no result for a question"),
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
