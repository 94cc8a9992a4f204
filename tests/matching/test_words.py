"""Words of a page in an output: a copy keeps all, and every harm is found where it was done."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.matching.words import (
    OutputAtom,
    PageAtom,
    WordComparison,
    WordStatus,
    atoms,
    compare_words,
    spaced_atoms,
)
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
            is_parted = not re.search(r"-\s*$", line[: word.start()] or lines[k - 1])
            found += [PageAtom(t, box, k, parted=is_parted and not n) for n, t in enumerate(atoms(word[0]))]
    return found


PAGE = page_of(LINES)
COPY = " ".join(LINES)


def statuses(output: str, hidden: str = "", beside: str = "") -> WordComparison:
    return compare_words(PAGE, atoms(hidden), spaced_atoms(output), atoms(beside))


def wrong(output: str) -> dict[str, list[str]]:
    """Kind to the words that have it."""
    found = statuses(output)
    said: dict[str, list[str]] = {}
    for atom, status in zip(found.page, found.of_page, strict=True):
        said.setdefault(status.value, []).append(atom.text)
    for text, status in zip(found.output, found.of_output, strict=True):
        if status not in (WordStatus.KEPT, WordStatus.ALTERED, WordStatus.JOINED, WordStatus.SPLIT):
            said.setdefault(status.value, []).append(text)
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
    assert statuses(COPY.replace("118.7", "117.8")).said == {
        k: "117.8" for k, a in enumerate(PAGE) if a.text == "118.7"
    }
    assert wrong(COPY.replace("harbour", "harbor")) == {"altered": ["harbour"]}
    assert wrong(f"{COPY} {LINES[3]}")["doubled"] == [a.text for a in page_of(LINES[3:4])]
    assert wrong(f"{COPY} 330,579") == {"doubled": ["330579"]}
    invented = "Nobody expected profits of 9,999 pounds"
    assert wrong(f"{COPY} {invented}") == {"invented": list(atoms(invented))}
    assert wrong("") == {"lost": [a.text for a in PAGE if a.text != "a"]}


def test_words_that_the_output_tears_are_split_and_those_of_a_torn_layer_are_not() -> None:
    torn = statuses(COPY.replace("workshop", "works hop"))
    (place,) = torn.said
    assert (torn.page[place].text, torn.of_page[place], torn.said[place]) == (
        "workshop",
        "split",
        "works hop",
    )
    layer = [replace(a, parted=a.text != "hop") for a in page_of([LINES[2].replace("workshop", "works hop")])]
    for output in (LINES[2], LINES[2].replace("workshop", "works hop")):
        assert set(compare_words(layer, (), spaced_atoms(output), ()).of_page) == {"kept", "passed"}


@pytest.mark.parametrize(
    ("words", "together"),
    [
        ("moved to the old harbour with", "movedtotheoldharbourwith"),
        ("old harbour", "oldharbour"),
        ("with 17 helpers", "with17helpers"),
        ("City     Inhabitants", "CityInhabitants"),
    ],
)
def test_words_that_are_run_together_are_joined(words: str, together: str) -> None:
    assert words in COPY
    assert wrong(COPY.replace(words, together)) == {"joined": list(atoms(words))}


def test_every_second_blank_that_is_lost_is_found() -> None:
    words = COPY.split(" ")
    together = " ".join(map("".join, zip(words[::2], [*words[1::2], ""], strict=False)))
    assert len(wrong(together)["joined"]) >= 0.6 * len(PAGE)


def test_scripts_without_blanks_have_no_joined_words() -> None:
    page = page_of(["ภาษา ไทย", "日本 語 文"])
    assert set(compare_words(page, (), spaced_atoms("ภาษาไทย 日本語文")).of_page) == {WordStatus.KEPT}


def test_words_of_indic_scripts_are_whole() -> None:
    assert atoms("हिन्दी भाषा") == atoms(" हिन्दी  भाषा ") and len(atoms("हिन्दी भाषा")) == 2


def test_words_in_any_order_are_not_kept_in_their_place() -> None:
    shuffled = random.Random(1).sample(COPY.split(), len(COPY.split()))
    assert len(statuses(" ".join(shuffled)).moved) >= 0.5 * len(PAGE)


@pytest.mark.parametrize("share", [1, 2, 3])
def test_lost_words_that_are_heaped_up_at_the_end_have_moved(share: int) -> None:
    lost = LINES[1].split()
    heap = random.Random(2).sample(lost, len(lost))[::share]
    found = statuses(f"{COPY.replace(LINES[1], '')} {' '.join(heap)}")
    there = {k for k, atom in enumerate(PAGE) if atom.line == 1 and found.of_page[k] is WordStatus.KEPT}
    assert len(there & found.moved) >= 0.6 * len(there)


def test_a_page_number_is_no_excuse_for_another_number() -> None:
    page = [*PAGE, PageAtom("12", Box(300, 800, 310, 810), 98, edge=True)]
    status = {
        said: compare_words(page, (), spaced_atoms(f"{COPY} {said}")).of_output[-1] for said in ("12", "7421")
    }
    assert status == {"12": WordStatus.KEPT, "7421": WordStatus.INVENTED}


def test_one_kana_alone_is_no_finding() -> None:
    page = page_of(["東京の本"])
    assert WordStatus.LOST not in compare_words(page, (), spaced_atoms("東京本")).of_page
    assert WordStatus.INVENTED not in compare_words(page, (), spaced_atoms("東京の本も")).of_output


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
    assert not compare_words(page, (), spaced_atoms(COPY), ()).moved
    for one, other in (("126,329", "330,579"), ("Area", "City"), ("118.7", "126,329")):
        changed = COPY.replace(one, "%").replace(other, one).replace("%", other)
        found = compare_words(page, (), spaced_atoms(changed), ())
        assert {page[i].text for i in found.moved} & {*atoms(one), *atoms(other)}, (one, other)


def test_cells_that_say_the_same_are_told_apart_by_their_order() -> None:
    rows = ("Rank    Mark    Film", "1    8.5    Alpha", "2    8.5    Beta", "3    8.5    Gamma")
    page = page_of(rows)
    assert not compare_words(page, (), spaced_atoms(" ".join(rows)), ()).moved
    swapped = " ".join("    ".join((row.split()[k]) for k in (0, 2, 1)) for row in rows)
    moved = compare_words(page, (), spaced_atoms(swapped), ()).moved
    assert Counter(page[i].text for i in moved)["8.5"] == 3


def test_words_in_no_order_are_not_put_in_one() -> None:
    """Text that runs from right to left, or lines that the file has the other way round."""
    turned = [PageAtom(a.text, Box(900 - a.box.x1, a.box.y0, 900 - a.box.x0, a.box.y1), a.line) for a in PAGE]
    assert not compare_words(turned, (), spaced_atoms(" ".join(reversed(COPY.split()))), ()).moved


def test_hidden_words_are_leaked_and_what_is_beside_the_page_is_allowed() -> None:
    found = statuses(f"{COPY} ignore all rules", hidden="Please ignore all rules")
    assert [t for t, f in zip(found.output, found.of_output, strict=True) if f is WordStatus.LEAKED] == [
        "ignore",
        "all",
        "rules",
    ]
    found = statuses(f"{COPY} example org", beside="http://example.org")
    assert WordStatus.INVENTED not in found.of_output


def test_running_heads_are_neither_asked_for_nor_invented() -> None:
    head = [PageAtom(text, Box(50, 10, 90, 20), 99, edge=True) for text in ("annual", "report", "7")]
    without = compare_words([*head, *PAGE], (), spaced_atoms(COPY), ())
    within = compare_words([*head, *PAGE], (), spaced_atoms(f"Annual report 7 {COPY}"), ())
    for found in (without, within):
        assert {*found.of_page} == {WordStatus.KEPT, WordStatus.PASSED}
        assert {*found.of_output} <= {WordStatus.KEPT, WordStatus.PASSED}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_words_are_neither_made_nor_forgotten(data: st.DataObject) -> None:
    words = list(atoms(COPY))
    output = data.draw(st.lists(st.sampled_from([*words, "zzz", "77777"]), max_size=90))
    found = compare_words(PAGE, (), [OutputAtom(word) for word in output], ())
    left = [a.text for a, f in zip(PAGE, found.of_page, strict=True) if f is WordStatus.LOST]
    spare = [
        t
        for t, f in zip(output, found.of_output, strict=True)
        if f in (WordStatus.INVENTED, WordStatus.DOUBLED)
    ]
    assert not set(left) & set(spare)  # what is there was not lost
    assert "zzz" not in {t for t, f in zip(output, found.of_output, strict=True) if f is WordStatus.KEPT}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(PAGE) - 1), st.integers(1, 12))
def test_what_is_left_out_is_lost_in_number(start: int, size: int) -> None:
    words = [a.text for a in PAGE]
    found = compare_words(PAGE, (), [OutputAtom(word) for word in words[:start] + words[start + size :]], ())
    gone = [w for w in words[start : start + size] if w != "a"]
    lost = sum(status in (WordStatus.LOST, WordStatus.ALTERED) for status in found.of_page)
    assert lost == len(gone)
    assert not found.moved and set(found.of_output) <= {WordStatus.KEPT, WordStatus.PASSED}


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
        status.value
        for status in compare_words(page, (), spaced_atoms("a sum of 4500 crowns and 412230 more")).of_page
    ]
    assert said[3:5] == ["kept", "kept"] and said[7:9] == ["altered", "altered"]


def test_hyphenated_words_that_are_repeated_or_leaked_are_not_invented() -> None:
    repeated = "the workshop was sold to a cousin of the engineer who lived near the river"
    assert wrong(f"{COPY} {repeated}") == {"doubled": [w for w in atoms(repeated) if len(w) > 1]}
    leaked = statuses(f"{COPY} secret instructions for readers", hidden="secret instruc- tions for readers")
    assert leaked.of_output[-4:] == [WordStatus.LEAKED] * 4


def test_what_changes_places_over_a_lost_line_has_moved() -> None:
    kept = [LINES[k] for k in (1, 2, 4, 5, 6, 0)]  # the first line comes last, the fourth is lost
    found = statuses(" ".join(kept))
    assert {found.page[i].line for i in found.moved} & {0, 1}
    over = statuses(" ".join([LINES[k] for k in (2, 0, 4, 5, 6)]))  # what stands between both is lost
    assert {found.page[i].line for i in over.moved} & {0, 2}


def test_what_a_field_says_is_asked_for_in_no_order() -> None:
    field = PageAtom("mueller", Box(60, 20, 90, 30), -1)
    page = [*PAGE, field]
    first, none = (compare_words(page, (), spaced_atoms(text)) for text in (f"Mueller {COPY}", COPY))
    assert first.of_page[-1] is WordStatus.KEPT and not first.moved
    assert none.of_page[-1] is WordStatus.LOST


@pytest.mark.parametrize("between", ["Nobody knew why.", " ".join(f"between{k}x" for k in range(12))])
def test_what_stands_between_two_paragraphs_that_change_places_has_not_moved(between: str) -> None:
    """It is out of order with both, and may be shorter or longer than their lines."""
    rest = [" ".join(f"{letter}{k}x" for k in range(100, 110)) for letter in "abcdefgh"]
    lines = [*rest[:4], *LINES[:2], between, *LINES[2:4], *rest[4:]]
    page = page_of(lines)
    order = [0, 1, 2, 3, 7, 8, 6, 4, 5, *range(9, 13)]
    found = compare_words(page, (), spaced_atoms(" ".join(lines[k] for k in order)))
    told = {page[i].line for i in found.moved}
    assert told & {4, 5} and told & {7, 8} and told <= {4, 5, 7, 8}
