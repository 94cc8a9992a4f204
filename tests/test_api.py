"""The public calls do what the commands do."""

from pathlib import Path

from tests.engine.fakes import make_corpus

import parsemark as pm

WORKER = Path(__file__).parent / "cli" / "echo_parser.py"


def test_bench_compare_and_report(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine", "fine"])
    out = tmp_path / "run"
    parsers = [str(WORKER), f"{WORKER}(speed=slow)"]
    run = pm.bench(corpus, parsers, out=out, workers=1, cache=False)
    summary = run.summary()
    names = list(summary.parsers)
    assert len(names) == 2
    again = pm.bench(corpus, parsers, out=out, workers=1)
    assert again.summary() == summary
    comparison = pm.compare(out, *names)
    assert comparison.primary == summary.ranking.verdict(*names)
    assert [s.protocol for s in pm.score_run(out, workers=1)] == [summary.protocol]
    assert pm.build_report(run).read_text().startswith("<!doctype html>")
