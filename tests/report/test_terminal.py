import io

from rich.console import Console

from parsemark.report.terminal import leaderboard


def figure(value: float | None, ci95: list[float] | None = None) -> dict:
    return {"value": value, "ci95": ci95, "n": 10}


SUMMARY = {
    "primary": "te_f1_con",
    "rule": "bbox",
    "theta": 0.5,
    "n_pages": 10,
    "n_tables": 12,
    "n_negative_pages": 3,
    "parsers": {
        "poor": {"te_f1_con": figure(0.2, [0.1, 0.3]), "td_f1": figure(None), "failures": figure(4)},
        "best": {"te_f1_con": figure(0.9, [0.8, 1.0]), "td_f1": figure(0.95, [0.9, 1.0])},
        "near[bold]": {"te_f1_con": figure(0.88, [0.78, 0.97]), "td_f1": figure(0.9, [0.8, 1.0])},
    },
    "comparison": {"best": "best", "tied_with_best": ["near[bold]"]},
}


def shown(width: int, summary: dict = SUMMARY) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(leaderboard(summary, width))
    return console.file.getvalue().splitlines()


def test_sorted_and_marked() -> None:
    lines = shown(120)
    rows = [line for line in lines if line[2:].split()[:1] in ([name] for name in SUMMARY["parsers"])]
    assert [row.split()[0] for row in rows] == ["★", "≈", "poor"]
    assert "0.900 .80–1.00" in rows[0] and "near[bold]" in rows[1]
    assert "10 pages · 12 tables · 3 pages without tables · matched by bbox, θ 0.5" in lines[0]


def test_fits_into_80_columns() -> None:
    lines = shown(80)
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert "…" not in "".join(lines)
    assert any(".78–.97" in line for line in lines)


def test_what_is_not_known_is_a_dash() -> None:
    poor = next(line for line in shown(120) if "poor" in line)
    assert "–" in poor.split() and "4" in poor.split()


def test_summary_without_comparison() -> None:
    assert any("only" in line for line in shown(100, {"parsers": {"only": {"td_f1": figure(0.5)}}}))


def test_scores_that_could_not_be_computed_are_told() -> None:
    failure = {"sample": "doc-p3", "metric": "teds", "message": "needs [more]\nmemory"}
    figures = {"td_f1": figure(0.5), "metric_failures": figure(7), "first_metric_failure": failure}
    summary = {"parsers": {"sick": figures, "sound": {"metric_failures": figure(0)}}}
    (warning,) = [line for line in shown(200, summary) if line.startswith("Warning")]
    assert "sick: 7 scores could not be computed and count as zero" in warning
    assert "teds on doc-p3: needs [more] memory" in warning


def test_without_truth_the_table_shows_what_needs_none() -> None:
    figures = {"tables_per_page": figure(1.5), "failures": figure(2), "cpu_s_per_page": figure(0.25)}
    lines = shown(100, {"n_pages": 4, "n_pages_with_truth": 0, "n_tables": 0, "parsers": {"x": figures}})
    assert lines[0] == "4 pages without truth: nothing can be scored"
    assert next(line for line in lines if " x " in line).split() == ["x", "1.50", "–", "2", "0.25"]
    assert not any("F1" in line for line in lines)
