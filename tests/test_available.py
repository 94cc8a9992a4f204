"""What `parsemark list` says about each name is enough to choose by."""

from collections import Counter

import pytest

from parsemark.available import KINDS, available


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"parsers"}))
def test_each_name_has_a_line_of_its_own(kind: str) -> None:
    lines = {entry.name: entry.summary for entry in available(kind)}
    assert [name for name, line in lines.items() if not line] == []
    repeated = [line for line, n in Counter(lines.values()).items() if n > 1]
    assert [line for line in repeated if "not installed" not in line] == []


@pytest.mark.parametrize("kind", ["protocols", "corpora", "schemas", "makers"])
def test_a_line_is_a_whole_sentence(kind: str) -> None:
    assert [entry.summary for entry in available(kind) if entry.summary[-1] not in ".)"] == []
