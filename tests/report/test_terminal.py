import io

from rich.console import Console

from parsemark.protocols import Figure, FigureInfo, Ranking, Summary, Verdict
from parsemark.report.terminal_leaderboard import leaderboard


def figure(value: float | None, low: float | None = None, high: float | None = None) -> Figure:
    return Figure(value=value, low=low, high=high, n=10)


def info(name: str, label: str, style: str = "score") -> FigureInfo:
    return FigureInfo(name=name, label=label, definition="?", denominator="?", style=style, main=True)


def verdict(a: str, b: str, state: str) -> Verdict:
    return Verdict(
        a=a,
        b=b,
        figure="f",
        value_a=0,
        value_b=0,
        difference=-0.2,
        low=-0.3,
        high=-0.1,
        p=1,
        state=state,
        n_documents=9,
    )


def make_summary(parsers: dict[str, dict[str, Figure]], **changes: object) -> Summary:
    facts = {
        "protocol": "anything",
        "comparability": 1,
        "primary": "quality",
        "figures": [
            info("quality", "Quality of all"),
            info("other", "Other"),
            info("failures", "Failures", "count"),
        ],
        "ranking": Ranking(figure="quality"),
        **changes,
    }
    return Summary(parsers=parsers, **facts)


SUMMARY = make_summary(
    {
        "poor": {"quality": figure(0.2, 0.1, 0.3), "other": figure(None), "failures": figure(4)},
        "best": {"quality": figure(0.9, 0.8, 1.0), "other": figure(0.95, 0.9, 1.0)},
        "near[bold]": {"quality": figure(0.88, 0.78, 0.97), "other": figure(0.9, 0.8, 1.0)},
    },
    counts={"pages": 10, "pages without tables": 1},
    settings={"match": "bbox"},
    ranking=Ranking(
        figure="quality",
        best="best",
        verdicts=[verdict("best", "poor", "better"), verdict("near[bold]", "best", "not_significant")],
    ),
)


def shown(width: int, summary: Summary = SUMMARY) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(leaderboard(summary, width))
    return console.file.getvalue().splitlines()


def test_sorted_and_marked() -> None:
    lines = shown(120)
    rows = [line for line in lines if line[2:].split()[:1] in ([name] for name in SUMMARY.parsers)]
    assert [row.split()[0] for row in rows] == ["★", "?", "poor"]
    assert "0.900 .80–1.00" in rows[0] and "near[bold]" in rows[1]
    assert lines[0].rstrip() == "anything: 10 pages · 1 page without tables"


def test_lower_is_better_turns_the_order() -> None:
    turned = SUMMARY.figures[0].model_copy(update={"higher_is_better": False})
    assert SUMMARY.model_copy(update={"figures": [turned]}).ordered() == ["poor", "near[bold]", "best"]


def test_fits_into_80_columns() -> None:
    many = [info(f"figure_{n}", f"Figure number {n}") for n in range(20)]
    figures = {f.name: figure(0.5, 0.4, 0.6) for f in many}
    wide = make_summary(
        {"a-parser-with-a-long-name": {**figures, "quality": figure(0.88, 0.78, 0.97)}},
        figures=[*many, *SUMMARY.figures],
    )
    for summary in (SUMMARY, wide):
        lines = shown(80, summary)
        assert max(len(line.rstrip()) for line in lines) <= 80
        assert "…" not in "".join(lines)
        assert any(".78–.97" in line for line in lines)


def test_what_is_not_known_is_a_dash() -> None:
    poor = next(line for line in shown(120) if "poor" in line)
    assert "–" in poor.split() and "4" in poor.split()


def test_figures_that_nobody_described_are_no_reason_to_fail() -> None:
    assert any("only" in line for line in shown(100, make_summary({"only": {"unknown": figure(0.5)}})))


def test_intervals_are_explained_where_there_are_any() -> None:
    few = make_summary({"only": {"quality": figure(0.5)}})
    for summary, expected in ((SUMMARY, True), (few, False)):
        assert any(line.startswith("below each score: 95 % CI") for line in shown(120, summary)) is expected


def test_notes_are_told() -> None:
    summary = make_summary({"sick": {"quality": figure(0.5)}}, notes=["sick: needs [more] memory"])
    assert "Note: sick: needs [more] memory" in [line.rstrip() for line in shown(200, summary)]


def test_no_figure_is_cut_at_any_width() -> None:
    """What there is no room for is left out whole; whatever stands there can be read."""
    names = [f"figure_{k}" for k in range(6)]
    parsers = {
        parser: {name: figure(0.123 + k / 10, 0.01, 0.99) for k, name in enumerate(names)}
        for parser in ("a", "a-parser(with=settings)", "nobody")
    }
    ranking = Ranking(
        figure="figure_0",
        best="nobody",
        verdicts=[verdict("nobody", other, "better") for other in ("a", "a-parser(with=settings)")],
    )
    wide = make_summary(
        parsers,
        primary="figure_0",
        figures=[info(name, f"Figure number {name}") for name in names],
        ranking=ranking,
    )
    seen = set()
    for width in range(60, 220):
        lines = shown(width, wide)
        table = "\n".join(lines[2 : lines.index("", 3)])
        assert "…" not in table
        assert max(map(len, lines)) <= width
        n_intervals = table.count(".01–.99")
        assert n_intervals % 3 == 0 and n_intervals > 0, width
        assert table.count("+.200") == table.count("+.10 +.30") == 2
        seen.add(n_intervals // 3)
    assert seen >= {2, 6}


def test_columns_without_room_are_named() -> None:
    assert "settings used, explained in the HTML report: match=bbox" in [line.strip() for line in shown(120)]
    words = " ".join(line.strip() for line in shown(44))
    assert "further columns, shown in the HTML report: Other, Failures" in words
