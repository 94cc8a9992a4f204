"""OHR-Bench: its own results on examples, and the protocol on pages."""

from pathlib import Path
from typing import Any

import pytest
from tests.protocols.boards.test_docling_eval import families, same
from tests.protocols.boards.test_protocols import page, values

from parsemark.model import Prediction
from parsemark.protocols import get_protocol, ohr_bench


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


def test_the_dictionary_of_chinese_words_is_in_no_folder_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jieba")
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    ohr_bench._segmenter.cache_clear()
    assert ohr_bench._cut("我们在北京") == ["我们", "在", "北京"]
    assert list((tmp_path / "jieba").iterdir())
    ohr_bench._segmenter.cache_clear()
