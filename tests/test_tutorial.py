"""The tutorial: each command prints what the page shows."""

from pathlib import Path

import pytest
from scripts.write_tutorial import PAGE, run_page, without_times


@pytest.mark.parsers
def test_every_output_of_the_tutorial_is_as_shown(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert without_times(run_page(text, tmp_path)) == without_times(text), (
        "run `python -m scripts.write_tutorial` and read what changed"
    )


def test_times_are_not_compared() -> None:
    row = "liteparse  0.54  0.01  0  Apache-2.0\n76 times less CPU time"
    assert without_times(row) == without_times(row.replace("0.01", "0.02").replace("76", "80"))
    assert without_times(row) != without_times(row.replace("0.54", "0.55"))


def test_what_is_printed_while_parsers_are_installed_is_not_compared() -> None:
    installed = "rapid: 14 pages\nrapid: 14/14 pages\nliteparse: 14/14 pages\nscoring 28 outputs\n"
    new = (
        "rapid: 14 pages\nrapid: creating the environment\nrapid: installing rapid==2.0, x==1.0 …\n"
        "liteparse: 14/14 pages\nrapid: 4/14 pages\nrapid: 14/14 pages\nscoring 28 outputs\n"
    )
    assert without_times(installed) == without_times(new)
    assert without_times(installed) != without_times(new.replace("rapid: 14 pages", "rapid: 13 pages"))
