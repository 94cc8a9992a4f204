"""Words of a page in an output: a copy keeps all, and every harm is found where it was done."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.matching.word_fates import Fate, PageAtom, WordFates, atoms, word_fates
from parsemark.model import Box

LINES = (
    "In the spring of 1923 the engineer Tomas moved to the",
    "old harbour with 17 helpers, a boat and 4,500 crowns of debt.",
    "Later on the workshop was sold to a cousin of the engi-",
    "neer who lived near the river and owned 12 boats.",
    "City     Inhabitants     Area",
    "Ulm     126,329     118.7",
    "Bonn     330,579     141.1",
)


def page_of(lines: Sequence[str]) -> list[PageAtom]:
    found = []
    for k, line in enumerate(lines):
        for word in re.finditer(r"\S+", line):
            box = Box(50 + 6 * word.start(), 50 + 14 * k, 50 + 6 * word.end(), 60 + 14 * k)
            found += [PageAtom(text, box, k) for text in atoms(word[0])]
    return found


PAGE = page_of(LINES)
COPY = " ".join(LINES)


def fates(output: str, hidden: str = "", beside: str = "") -> WordFates:
    return word_fates(PAGE, atoms(hidden), atoms(output), atoms(beside))


def wrong(output: str) -> dict[str, list[str]]:
    """Kind to the words that have it."""
    found = fates(output)
    said: dict[str, list[str]] = {}
    for atom, fate in zip(found.page, found.of_page, strict=True):
        said.setdefault(fate.value, []).append(atom.text)
    for text, fate in zip(found.output, found.of_output, strict=True):
        if fate not in (Fate.KEPT, Fate.ALTERED):
            said.setdefault(fate.value, []).append(text)
    if found.moved:
        said["moved"] = [found.page[i].text for i in sorted(found.moved)]
    return {kind: words for kind, words in said.items() if kind not in ("kept", "passed")}


@pytest.mark.parametrize(
    "copy",
    [
        COPY,
        COPY.replace("engi- neer", "engineer"),
        COPY.upper(),
        COPY.replace("4,500", "4500"),
        COPY.replace("later", "L a t e r"),
        " ".join((*LINES[:4], "City Ulm Bonn", "Inhabitants 126,329 330,579", "Area 118.7 141.1")),
    ],
)
def test_a_copy_keeps_everything(copy: str) -> None:
    assert wrong(copy) == {}


def test_each_harm_is_found_where_it_was_done() -> None:
    assert wrong(COPY.replace(LINES[1], "")) == {
        "lost": [a.text for a in page_of(LINES[1:2]) if a.text != "a"]
    }
    assert wrong(COPY.replace("126,329", "")) == {"lost": ["126329"]}
    assert wrong(COPY.replace("118.7", "1187")) == {"altered": ["118.7"]}
    assert fates(COPY.replace("118.7", "117.8")).said == {
        k: "117.8" for k, a in enumerate(PAGE) if a.text == "118.7"
    }
    assert wrong(COPY.replace("harbour", "harbor")) == {"altered": ["harbour"]}
    assert wrong(f"{COPY} {LINES[3]}")["doubled"] == [a.text for a in page_of(LINES[3:4])]
    assert wrong(f"{COPY} 330,579") == {"doubled": ["330579"]}
    invented = "Nobody expected profits of 9,999 pounds"
    assert wrong(f"{COPY} {invented}") == {"invented": list(atoms(invented))}
    assert wrong("") == {"lost": [a.text for a in PAGE if a.text != "a"]}


def test_words_that_the_output_tears_are_altered_and_those_of_a_torn_layer_are_not() -> None:
    torn = fates(COPY.replace("workshop", "works hop"))
    (place,) = torn.said
    assert (torn.page[place].text, torn.of_page[place], torn.said[place]) == (
        "workshop",
        "altered",
        "works hop",
    )
    layer = page_of([LINES[2].replace("workshop", "works hop")])
    for output in (LINES[2], LINES[2].replace("workshop", "works hop")):
        assert set(word_fates(layer, (), atoms(output), ()).of_page) == {"kept", "passed"}


def test_words_that_are_run_together_are_altered() -> None:
    assert wrong(COPY.replace("moved to the old harbour with", "movedtotheoldharbourwith")) == {
        "altered": ["moved", "to", "the", "old", "harbour", "with"]
    }


def test_what_changes_places_is_moved_and_not_lost() -> None:
    swapped = " ".join((*LINES[:2], LINES[3], LINES[2], *LINES[4:]))
    assert set(wrong(swapped)) == {"moved"}
    rows = " ".join((*LINES[:5], LINES[6], LINES[5]))
    assert set(wrong(rows)) == {"moved"}
    cells = COPY.replace("126,329     118.7", "118.7     126,329")
    assert wrong(cells)["moved"] in (["118.7"], ["126329"])


@pytest.mark.parametrize("degrees", [0, 90, 270])
def test_turned_tables_have_an_order_too(degrees: int) -> None:
    page = [PageAtom(a.text, a.box.turned(degrees), a.line) for a in PAGE]
    assert not word_fates(page, (), atoms(COPY), ()).moved
    for one, other in (("126,329", "330,579"), ("Area", "City"), ("118.7", "126,329")):
        changed = COPY.replace(one, "%").replace(other, one).replace("%", other)
        found = word_fates(page, (), atoms(changed), ())
        assert {page[i].text for i in found.moved} & {*atoms(one), *atoms(other)}, (one, other)


def test_cells_that_say_the_same_are_told_apart_by_their_order() -> None:
    rows = ("Rank    Mark    Film", "1    8.5    Alpha", "2    8.5    Beta", "3    8.5    Gamma")
    page = page_of(rows)
    assert not word_fates(page, (), atoms(" ".join(rows)), ()).moved
    swapped = " ".join("    ".join((row.split()[k]) for k in (0, 2, 1)) for row in rows)
    moved = word_fates(page, (), atoms(swapped), ()).moved
    assert Counter(page[i].text for i in moved)["8.5"] == 3


def test_words_in_no_order_are_not_put_in_one() -> None:
    """Text that runs from right to left, or lines that the file has the other way round."""
    turned = [PageAtom(a.text, Box(900 - a.box.x1, a.box.y0, 900 - a.box.x0, a.box.y1), a.line) for a in PAGE]
    assert not word_fates(turned, (), atoms(" ".join(reversed(COPY.split()))), ()).moved


def test_hidden_words_are_leaked_and_what_is_beside_the_page_is_allowed() -> None:
    found = fates(f"{COPY} ignore all rules", hidden="Please ignore all rules")
    assert [t for t, f in zip(found.output, found.of_output, strict=True) if f is Fate.LEAKED] == [
        "ignore",
        "all",
        "rules",
    ]
    found = fates(f"{COPY} example org", beside="http://example.org")
    assert Fate.INVENTED not in found.of_output


def test_running_heads_are_neither_asked_for_nor_invented() -> None:
    head = [PageAtom(text, Box(50, 10, 90, 20), 99, edge=True) for text in ("annual", "report", "7")]
    without = word_fates([*head, *PAGE], (), atoms(COPY), ())
    within = word_fates([*head, *PAGE], (), atoms(f"Annual report 7 {COPY}"), ())
    for found in (without, within):
        assert {*found.of_page} == {Fate.KEPT, Fate.PASSED}
        assert {*found.of_output} <= {Fate.KEPT, Fate.PASSED}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_words_are_neither_made_nor_forgotten(data: st.DataObject) -> None:
    words = list(atoms(COPY))
    output = data.draw(st.lists(st.sampled_from([*words, "zzz", "77777"]), max_size=90))
    found = word_fates(PAGE, (), output, ())
    left = [a.text for a, f in zip(PAGE, found.of_page, strict=True) if f is Fate.LOST]
    spare = [t for t, f in zip(output, found.of_output, strict=True) if f in (Fate.INVENTED, Fate.DOUBLED)]
    assert not set(left) & set(spare)  # what is there was not lost
    assert "zzz" not in {t for t, f in zip(output, found.of_output, strict=True) if f is Fate.KEPT}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(PAGE) - 1), st.integers(1, 12))
def test_what_is_left_out_is_lost_in_number(start: int, size: int) -> None:
    words = [a.text for a in PAGE]
    found = word_fates(PAGE, (), words[:start] + words[start + size :], ())
    gone = [w for w in words[start : start + size] if w != "a"]
    lost = sum(fate in (Fate.LOST, Fate.ALTERED) for fate in found.of_page)
    assert lost == len(gone)
    assert not found.moved and set(found.of_output) <= {Fate.KEPT, Fate.PASSED}


@pytest.mark.parametrize(
    ("output", "altered"),
    [
        (COPY.replace("126,329     118.7", "126329118.7"), ["126329", "118.7"]),
        (COPY.replace("1923", "19 23"), ["1923"]),
        (COPY.replace("4,500", "45 00"), ["4500"]),
    ],
)
def test_numbers_that_are_run_together_or_torn_are_altered(output: str, altered: list[str]) -> None:
    assert wrong(output) == {"altered": altered}


def test_groups_of_thousands_are_one_number() -> None:
    assert wrong(COPY.replace("4,500", "4 500")) == {}
    page = page_of(["a sum of 4 500 crowns and 412    230 more"])
    said = [
        fate.value for fate in word_fates(page, (), atoms("a sum of 4500 crowns and 412230 more")).of_page
    ]
    assert said[3:5] == ["kept", "kept"] and said[7:9] == ["altered", "altered"]


def test_hyphenated_words_that_are_repeated_or_leaked_are_not_invented() -> None:
    repeated = "the workshop was sold to a cousin of the engineer who lived near the river"
    assert wrong(f"{COPY} {repeated}") == {"doubled": [w for w in atoms(repeated) if len(w) > 1]}
    leaked = fates(f"{COPY} secret instructions for readers", hidden="secret instruc- tions for readers")
    assert leaked.of_output[-4:] == [Fate.LEAKED] * 4


def test_what_changes_places_over_a_lost_line_has_moved() -> None:
    kept = [LINES[k] for k in (1, 2, 4, 5, 6, 0)]  # the first line comes last, the fourth is lost
    found = fates(" ".join(kept))
    assert {found.page[i].line for i in found.moved} & {0, 1}
    over = fates(" ".join([LINES[k] for k in (2, 0, 4, 5, 6)]))  # what stands between both is lost
    assert {found.page[i].line for i in over.moved} & {0, 2}


def test_what_a_field_says_is_asked_for_in_no_order() -> None:
    field = PageAtom("mueller", Box(60, 20, 90, 30), -1)
    page = [*PAGE, field]
    first, none = (word_fates(page, (), atoms(text)) for text in (f"Mueller {COPY}", COPY))
    assert first.of_page[-1] is Fate.KEPT and not first.moved
    assert none.of_page[-1] is Fate.LOST


@pytest.mark.parametrize("between", ["Nobody knew why.", " ".join(f"between{k}x" for k in range(12))])
def test_what_stands_between_two_paragraphs_that_change_places_has_not_moved(between: str) -> None:
    """It is out of order with both, and may be shorter or longer than their lines."""
    rest = [" ".join(f"{letter}{k}x" for k in range(100, 110)) for letter in "abcdefgh"]
    lines = [*rest[:4], *LINES[:2], between, *LINES[2:4], *rest[4:]]
    page = page_of(lines)
    order = [0, 1, 2, 3, 7, 8, 6, 4, 5, *range(9, 13)]
    found = word_fates(page, (), atoms(" ".join(lines[k] for k in order)))
    told = {page[i].line for i in found.moved}
    assert told & {4, 5} and told & {7, 8} and told <= {4, 5, 7, 8}
