"""Rows that slip, fall out, run away or change their group; names with accents, marks and parts of others.

Classes that showed when careful raters read extractions of tables that `reader` had never seen. The tables
are made up. The ranges are wide: they hold the order of harm, not a number.
"""

from __future__ import annotations

import pytest
from tests.metrics.reader.reading import read, value

from parsemark.metrics.reader.likeness import Change, difference


def kinds(truth: str, pred: str) -> set[str]:
    return {error["kind"] for error in read(truth, pred).details["errors"]}


def wing(name: str, *rows: str) -> str:
    lines = [
        f"<tr>{'' if k else f'<td rowspan={len(rows)}>{name}</td>'}{row}</tr>" for k, row in enumerate(rows)
    ]
    return "".join(lines)


HEAD = "<tr><th>Wing</th><th>Theme</th><th>Share</th><th>n</th></tr>"
THEMES = [
    f"<td>{theme}</td><td>{share}</td><td>{n}</td>"
    for theme, share, n in [
        ("Health", 0.31, 41),
        ("Schools", 0.22, 15),
        ("Taxes", 0.13, 12),
        ("Borders", 0.17, 82),
        ("Police", 0.19, 10),
        ("Farms", 0.11, 71),
    ]
]
PARTIES, OTHER_GROUP = (
    f"<table>{HEAD}{wing('Left', *THEMES[:2])}"
    f"{wing('Right', *THEMES[2:at])}{wing('Far-Right', *THEMES[at:])}</table>"
    for at in (4, 3)
)

RATES = """| Set | Runs | Mean | Best |
|---|---|---|---|
| first | 12 | 0.41 | 0.52 |
| second | 15 | 0.43 | 0.58 |
| third | 11 | 0.39 | 0.49 |
| fourth | 18 | 0.47 | 0.61 |"""


def test_a_row_in_the_group_of_another_one_is_charged_though_its_name_holds_the_right_one() -> None:
    assert 5 < value(PARTIES, OTHER_GROUP) < 9
    assert kinds(PARTIES, OTHER_GROUP) <= {"name_lost", "span_wrong"}
    assert value(PARTIES, PARTIES) == 10


def test_a_last_row_that_fell_out_of_the_table_is_read_where_it_stands() -> None:
    table, _, last = RATES.rpartition("\n")
    fallen = f"{table}\n\n{last.strip('| ').replace(' |', '')}\n"
    assert "fourth 18 0.47 0.61" in fallen
    assert 6 < value(RATES, fallen) < 9
    assert value(RATES, table) < value(RATES, fallen) - 1
    assert kinds(RATES, fallen) == {"plain_lines"}


def test_a_wrong_value_in_a_row_that_fell_out_is_still_wrong() -> None:
    table, _, last = RATES.rpartition("\n")
    fallen = f"{table}\n\n{last.strip('| ').replace(' |', '')}\n"
    assert value(RATES, fallen.replace("0.61", "0.16")) < value(RATES, fallen) - 0.5


def test_a_row_that_runs_away_is_one_event_and_touches_itself() -> None:
    short, long = (RATES.replace("0.61 |", "0.61 |" + " 0.61 |" * n) for n in (5, 40))
    assert 4 < value(RATES, long) <= value(RATES, short) < 9
    assert kinds(RATES, long) == {"invented"}
    assert len(read(RATES, long).details["errors"]) == 1


@pytest.mark.parametrize("row", ["first | 12 | 0.41 | 0.52", "fourth | 18 | 0.47 | 0.61"])
def test_a_row_without_its_empty_first_cell_has_slipped(row: str) -> None:
    cells = row.split(" | ")
    truth = RATES.replace(row, " | ".join(["", *cells[1:]]))
    pred = RATES.replace(row, " | ".join([*cells[1:], ""]))
    assert "value_shifted" in kinds(truth, pred)
    assert "row_missing" not in kinds(truth, pred)


def test_a_text_that_goes_on_in_the_next_row_may_stand_in_one_cell() -> None:
    truth = """| Set | Question |
|---|---|
| plants | Which of these grows from a bulb and flowers early in spring? |
|  | A: oak B: tulip C: fern D: moss |
| stars | Which one is nearest to the sun among those that are seen at night? |"""
    joined = truth.replace("spring? |\n|  | A", "spring? A")
    assert joined != truth
    assert value(truth, joined) > 9


def test_a_running_text_is_worse_than_lines_and_better_than_nothing() -> None:
    lines = "\n\n".join(
        line.strip("| ").replace(" |", "") for line in RATES.splitlines() if not line.startswith("|---")
    )
    running = " ".join(lines.split())
    assert 1.5 < value(RATES, running) < value(RATES, lines) < 8


def test_a_title_over_all_columns_misread_costs_no_more_than_lost() -> None:
    def titled(title: str) -> str:
        head = f"<tr><th rowspan=2>Model</th><th colspan=3>{title}</th></tr>" if title else ""
        names = ("" if title else "<th>Model</th>") + "<th>Acc.</th><th>F1</th><th>AUC</th>"
        rows = "<tr><td>One</td><td>61.7</td><td>49.1</td><td>61.8</td></tr>"
        rows += "<tr><td>Two</td><td>64.2</td><td>52.2</td><td>64.3</td></tr>"
        return f"<table>{head}<tr>{names}</tr>{rows}</table>"

    truth = titled("Sleep stages (five classes)")
    lost, misread = value(truth, titled("")), value(truth, titled("Sleep stages"))
    assert 7 < lost <= misread < 10


def test_the_names_of_groups_do_not_hide_which_column_of_the_group_it_is() -> None:
    def grouped(first: str, second: str) -> str:
        head = "<tr><th rowspan=2>Model</th><th colspan=2>Long videos</th><th colspan=2>Short films</th></tr>"
        names = f"<tr>{f'<th>{first}</th><th>{second}</th>' * 2}</tr>"
        rows = "".join(
            f"<tr><td>M{k}</td><td>0.{k}4</td><td>0.{k}7</td><td>0.{k}2</td><td>0.{k}6</td></tr>"
            for k in range(4)
        )
        return f"<table>{head}{names}{rows}</table>"

    truth = grouped("τ", "γ")
    assert kinds(truth, grouped("T", "Y")) == {"header_misread"}
    assert kinds(truth, grouped("γ", "τ")) != {"header_misread"}


@pytest.mark.parametrize(
    ("written", "given", "change"),
    [
        ("γ̂", "γˆ", Change.NONE),  # the accent beside its letter, as text layers have it
        ("γ̂", "ˆγ", Change.NONE),
        ("x̄_1", "¯x1", Change.NONE),
        ("x̄", "x", Change.MISREAD),
        ("É", "é", Change.MISREAD),
        ("δ_g^{cut}", "δcut g", Change.MISREAD),  # scripts in another order
        ("CNN", "[24]", Change.OTHER),
        ("F1-epe", "Fl-epe", Change.MISREAD),  # a letter taken for a digit
    ],
)
def test_accents_and_scripts_of_names(written: str, given: str, change: Change) -> None:
    assert difference(written, given, name=True).change is change


def test_marks_of_emphasis_left_at_signs_are_no_scripts() -> None:
    truth = "| Tile | Error |\n|---|---|\n| A | $1.3\\times10^{-2}$ |\n| B | $7.1\\times10^{-3}$ |"
    marked = "| Tile | Error |\n|---|---|\n| A | 1.3_×10^{−_2} |\n| B | 7.1_×10^{−_3} |"
    assert value(truth, marked) > 9.5
    assert value(truth, marked.replace("7.1", "7.4")) < 8


@pytest.mark.parametrize(
    ("written", "given"),
    [("20$\\sim$80 J", "20~80 J"), ("$12\\,^o$C", "12 °C"), ("$12^{o}$C", "12°C"), ("30$^\\circ$", "30^o")],
)
def test_signs_in_the_ways_that_authors_and_parsers_write_them(written: str, given: str) -> None:
    truth = f"| Part | Range |\n|---|---|\n| first | {written} |\n| second | 7 |\n| third | 9 |"
    assert value(truth, truth.replace(written, given)) > 9.8


def test_a_title_that_does_not_say_how_far_it_reaches_is_a_title() -> None:
    spanned, rows = r"\multicolumn{2}{c}{Training} \\", r"Episodes & 1000 \\ Teachers & 5 \end{tabular}"
    truth, pred = (r"\begin{tabular}{ll} " + title + rows for title in (spanned, r"Training \\ "))
    assert value(truth, pred) > 9


SECTIONS = """| Method | Short | Long |
|---|---|---|
| small model |  |  |
| plain | 1.01 | 11.13 |
| tuned | 1.35 | 12.60 |
| large model |  |  |
| plain | 8.75 | 41.12 |
| tuned | 8.08 | 40.71 |"""


def test_a_section_heading_may_stand_in_a_middle_column() -> None:
    assert value(SECTIONS, SECTIONS.replace("| large model |  |  |", "|  | large model |  |")) > 9
    assert value(SECTIONS, SECTIONS.replace("| large model |  |  |\n", "")) < 8


def test_a_last_row_after_a_spanning_name_is_missing_and_nothing_is_cut_off() -> None:
    truth = """<table><tr><th>Set</th><th>Method</th><th>Error</th></tr>
<tr><td rowspan=2>one</td><td>A</td><td>25.1</td></tr><tr><td>B</td><td>31.2</td></tr>
<tr><td rowspan=3>two</td><td>A</td><td>23.4</td></tr><tr><td>B</td><td>26.4</td></tr>
<tr><td>C</td><td>20.8</td></tr></table>"""
    pred = """| Set | Method | Error |
|---|---|---|
| one | A | 25.1 |
|  | B | 31.2 |
| two | A | 23.4 |
|  | B | 26.4 |"""
    assert "row_missing" in kinds(truth, pred)
    assert "cut_off" not in kinds(truth, pred)


def test_headers_joined_with_their_group_are_still_compared_by_themselves() -> None:
    head = "<tr><th rowspan=2>Model</th><th colspan=2>Films (train)</th><th colspan=2>Roads (train)</th></tr>"
    names = "<tr><th>Clean</th><th>Final</th><th>F1-epe</th><th>F1-all</th></tr>"
    rows = "".join(
        f"<tr><td>M{k}</td><td>0.{k}1</td><td>2.{k}3</td><td>6.{k}7</td><td>19.{k}</td></tr>" for k in (1, 2)
    )
    flat = "<tr><th>Model</th><th>Films (train) Clean</th><th>Films (train) Final</th>"
    flat += "<th>Roads (train) Fl-epe</th><th>Roads (train) Fl-all</th></tr>"
    truth, pred = f"<table>{head}{names}{rows}</table>", f"<table>{flat}{rows}</table>"
    assert kinds(truth, pred) == {"header_misread"}
    assert value(truth, pred) > 7


def test_a_value_of_several_rows_may_stand_at_any_one_of_them() -> None:
    truth = """<table><tr><th>Model</th><th>Loss</th><th>Final</th></tr>
<tr><td>A</td><td>0.41</td><td rowspan=3>45.02</td></tr><tr><td>B</td><td>0.43</td></tr>
<tr><td>C</td><td>0.44</td></tr></table>"""

    def given(*finals: str) -> str:
        rows = zip("ABC", ("0.41", "0.43", "0.44"), finals, strict=True)
        return "| Model | Loss | Final |\n|---|---|---|\n" + "\n".join(
            f"| {' | '.join(row)} |" for row in rows
        )

    first, middle, none = given("45.02", "", ""), given("", "45.02", ""), given("", "", "")
    assert value(truth, middle) == pytest.approx(value(truth, first))
    assert kinds(truth, middle) == {"span_lost"}
    assert value(truth, none) < value(truth, middle)
