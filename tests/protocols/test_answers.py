"""`answers`: a perfect copy answers everything, a lost value loses its facts, and no trick pays."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError
from parsemark.formats import read_output, write_document, write_table
from parsemark.model import Cell, Element, Fact, Page, Prediction, Status, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.answers.ask import KINDS, ask
from parsemark.protocols.answers.derive import facts_of_page, question
from parsemark.protocols.answers.files import read_facts
from parsemark.protocols.answers.output import AskedOutput, said_words, share_of_page
from parsemark.protocols.answers.retrieval import SIZE, Retriever, chunks_of

ROWS = [["City", "Inhabitants", "Area"], ["Ulm", "126,329", "118.7"], ["Bonn", "330,579", "141.1"]]
TABLE = Table.from_rows(ROWS, header_rows=1)
TEXT = "In the spring of 1923 the engineer Tomas Weber moved to the old harbour with 17 helpers and a boat."
OTHER = "Later on the workshop was sold for 4,500 crowns to a cousin who lived near the river."
FORMULA = r"\frac{a+b}{c} = \sqrt{2}"


def page(*elements: Element) -> Page:
    return Page("p", 600, 800, elements)


PAGE = page(
    Element("h", "header", text="Annual report of the harbour"),
    Element("t1", "title", order=0, text="History", attributes={"level": 1}),
    Element("a", "text_block", order=1, text=TEXT),
    Element("t2", "title", order=2, text="Decline", attributes={"level": 2}),
    Element("b", "text_block", order=3, text=OTHER),
    Element("c", "table_caption", order=4, text="Table 1: Cities of the region"),
    Element("t", "table", order=5, table=TABLE),
    Element("f", "equation_isolated", order=6, latex=FORMULA),
)
FACTS = facts_of_page(PAGE)
COPY = write_document(page(*(e for e in PAGE.elements if e.category != "header")))


def states(text: str, format: str = "markdown", facts: tuple[Fact, ...] = FACTS) -> dict[str, str]:
    output = AskedOutput(read_output(text, format).elements)
    return {fact.id: ask(fact, output).state for fact in facts}


def right(text: str, facts: tuple[Fact, ...] = FACTS) -> float:
    """As the protocol counts."""
    found = get_protocol("answers").score_page(PAGE, Prediction("p", "x", Status.OK, text=text), None)
    return sum(row.value or 0.0 for row in found.scores) / len(facts)


def test_every_kind_is_derived() -> None:
    of_documents = {"link", "field"}  # which no element has
    assert {fact.kind for fact in FACTS} == set(KINDS) - {"cell text"} - of_documents
    assert {question(fact) for fact in FACTS if fact.kind == "cell number"} >= {
        "What is the value of “Ulm” under “Area”?"
    }
    answers = {fact.arguments["answer"] for fact in FACTS if fact.kind in ("number", "name")}
    assert answers == {"1923", "17", "4500", "Tomas", "Weber"}


HTML = (
    f"<h1>History</h1><p>{TEXT}</p><h2>Decline</h2><p>{OTHER}</p><p>Table 1: Cities of the region</p>"
    f"{write_table(TABLE, 'html')}"
)
PIPES = COPY.replace(write_table(TABLE, "html"), write_table(TABLE, "markdown"))
LATEX = (
    rf"\section{{History}} {TEXT}"
    "\n\n"
    rf"\subsection{{Decline}} {OTHER}"
    "\n\n"
    rf"{write_table(TABLE, 'latex')}"
)


@pytest.mark.parametrize(
    ("text", "format", "cannot"),
    [
        (COPY, "markdown", ()),
        (PIPES, "markdown", ()),
        (HTML, "html", ("formula",)),
        (LATEX, "latex", ("formula", "caption")),
        (
            f"{TEXT}\n\n{OTHER}\n",
            "text",
            ("formula", "caption", "cell number", "cell text", "heading", "level"),
        ),
    ],
    ids=("html tables", "pipes", "html", "latex", "text"),
)
def test_a_perfect_copy_answers_what_its_format_can_say(
    text: str, format: str, cannot: tuple[str, ...]
) -> None:
    kinds = {fact.id: fact.kind for fact in FACTS}
    found = states(text, format)
    left = {
        (kinds[key], state) for key, state in found.items() if kinds[key] not in cannot and state != "right"
    }
    orders = (
        {("order", "not found")} if format in ("text", "html", "latex") else set()
    )  # over what is not there
    assert left <= orders


def test_the_demo_answers_itself() -> None:
    n = 0
    for sample in load_corpus("demo").samples():
        assert sample.truth is not None
        kept = [e for e in sample.truth.elements if e.category not in ("header", "footer", "page_number")]
        found = states(write_document(kept), facts=facts_of_page(sample.truth))
        assert set(found.values()) <= {"right"}, sample.id
        n += len(found)
    assert n > 2000


@given(st.integers(0, 5), st.sampled_from(["7", "126,328", "Ulm", ""]))
def test_an_altered_value_changes_exactly_its_fact(place: int, value: str) -> None:
    assume(TABLE.cells[3 + place].text != value)
    cells = [c if k != 3 + place else replace_text(c, value) for k, c in enumerate(TABLE.cells)]
    altered = Table(3, 3, tuple(cells))
    found = states(COPY.replace(write_table(TABLE, "html"), write_table(altered, "html")))
    changed = {fact.id for fact in FACTS if found[fact.id] != "right"}
    row, column = divmod(place, 3)
    if column:  # a value; its own fact alone
        wanted = ROWS[1 + row][0], ROWS[0][column]
        own = {
            f.id
            for f in FACTS
            if (f.arguments.get("row"), f.arguments.get("column")) == tuple([w] for w in wanted)
        }
        assert changed == own and {found[key] for key in own} == {"wrong" if value else "not found"}
    else:  # a label: all values of its row
        assert changed >= {f.id for f in FACTS if f.arguments.get("row") == [ROWS[1 + row][0]]}


def replace_text(cell: Cell, text: str) -> Cell:
    return Cell(cell.row, cell.col, text, header=cell.header)


def test_a_wrong_digit_is_wrong_and_a_lost_number_is_not_found() -> None:
    fact = next(f for f in FACTS if f.arguments.get("answer") == "1923")
    assert states(COPY.replace("1923", "1928"))[fact.id] == "wrong"
    assert states(COPY.replace(" 1923", ""))[fact.id] == "not found"
    assert states(COPY.replace(TEXT, ""))[fact.id] == "not found"


@pytest.mark.parametrize(
    ("true", "said"),
    [("-5.2", "5.2"), ("\u22125.2", "+5.2"), ("±3", "3"), ("> 0.05", "< 0.05"), ("1234", "12 34")],
)
def test_signs_and_digits_count(true: str, said: str) -> None:
    text = f"In the old harbour the level was {true} on that morning of the year."
    table = Table.from_rows([["place", "level"], ["pier", true]], header_rows=1)
    own = page(Element("a", "text_block", order=0, text=text), Element("t", "table", order=1, table=table))
    facts = facts_of_page(own)
    assert {"number", "cell number"} <= {fact.kind for fact in facts}
    assert set(states(write_document(own), facts=facts).values()) == {"right"}
    other = write_table(Table.from_rows([["place", "level"], ["pier", said]], header_rows=1), "html")
    wrong = states(f"{text.replace(true, said)}\n\n{other}", facts=facts)
    assert {wrong[f.id] for f in facts if f.kind in ("number", "cell number")} == {"wrong"}


def test_a_bad_file_of_facts_is_refused_beforehand(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read"):
        get_protocol(f"answers(facts={tmp_path / 'none.jsonl'})")


def test_order_levels_captions_and_what_must_not_be_there() -> None:
    swapped = COPY.replace(TEXT, "@").replace(OTHER, TEXT).replace("@", OTHER)
    found = states(swapped)
    assert "wrong" in {found[f.id] for f in FACTS if f.kind == "order"}
    assert {states(COPY.replace("## Decline", "# Decline"))[f.id] for f in FACTS if f.kind == "level"} == {
        "wrong"
    }
    other = write_table(Table.from_rows([["x", "y"], ["1", "2"]]), "html")
    kinds = {
        f.id: s
        for f in FACTS
        if f.kind == "caption"
        for s in [states(COPY.replace(write_table(TABLE, "html"), other))[f.id]]
    }
    assert set(kinds.values()) == {"wrong"}
    assert {states("Annual report of the harbour\n\n" + COPY)[f.id] for f in FACTS if f.kind == "absent"} == {
        "wrong"
    }


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _all_values(text: str) -> str:
    rows = [[row[0], f"{row[1]} {row[2]}", f"{row[1]} {row[2]}"] for row in ROWS[1:]]
    return text.replace(write_table(TABLE, "html"), write_table(Table.from_rows([ROWS[0], *rows]), "html"))


def _both_ways(text: str) -> str:
    turned = [[ROWS[0][0], ROWS[0][2], ROWS[0][1]], *ROWS[1:]]
    return text + "\n\n" + write_table(Table.from_rows(turned, header_rows=1), "html")


_HEADING = re.compile(r"^#+ (.+)$", re.M)
TRICKS: dict[str, Callable[[str], str]] = {
    "everything twice": lambda text: f"{text}\n\n{text}",
    "all in one line": _one_line,
    "a page of numbers": lambda text: text + "\n\n" + " ".join(map(str, range(2000))),
    "all values in each cell": _all_values,
    "every assignment of columns": _both_ways,
    "every heading at two levels": lambda text: _HEADING.sub(r"# \1\n\n## \1", text),
    "every heading at six levels": lambda text: _HEADING.sub(
        "\n\n".join(rf"{'#' * k} \1" for k in range(1, 7)), text
    ),
    "every block a heading": lambda text: re.sub(r"^#* ?(?=[\w#])", "# ", text, flags=re.M),
    "nothing": lambda text: "",
    "one blank": lambda text: " ",
}


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("lost", ["nothing", "a value", "a paragraph", "levels", "headings"])
def test_no_trick_beats_its_honest_base(trick: str, lost: str) -> None:
    base = COPY.replace({"a value": "118.7", "a paragraph": TEXT}.get(lost, "\0"), "")
    if lost in ("levels", "headings"):
        base = _HEADING.sub(r"# \1" if lost == "levels" else r"\1", base)
    assert right(TRICKS[trick](base)) <= right(base)
    assert right(base) == 1 or lost != "nothing"


@pytest.mark.parametrize(
    "padded",
    [
        lambda text: f"{text}\n\n{text}",
        lambda text: text + "\n\n" + write_table(Table.from_rows([[str(k)] * 9 for k in range(40)]), "html"),
        lambda text: text + "\n\n" + " ".join(f"word{k} more" for k in range(400)),
    ],
    ids=["everything twice", "a giant table", "another document"],
)
def test_text_that_the_page_does_not_account_for_costs(padded: Callable[[str], str]) -> None:
    assert right(padded(COPY)) < 0.8 * right(COPY) == 0.8


def test_a_figure_may_be_described_and_partial_truth_charges_nothing() -> None:
    described = COPY + "\n\n" + " ".join(["description"] * 100)
    assert right(described) < 1
    with_figure = replace(PAGE, elements=(*PAGE.elements, Element("g", "figure", order=9)))
    twice = AskedOutput(read_output(f"{COPY}\n\n{COPY}", "markdown").elements)
    assert share_of_page(AskedOutput(read_output(described, "markdown").elements), with_figure) == 1
    assert share_of_page(twice, PAGE) < 0.8
    assert share_of_page(twice, replace(PAGE, only_tables=True)) == 1
    assert share_of_page(twice, None) == 1


@pytest.mark.parametrize("scope", ["page", "document"])
def test_text_that_the_layer_does_not_account_for_costs_without_page_truth(
    tmp_path: Path, scope: str
) -> None:
    """With a file of assertions alone, the page twice and invented text cost nothing."""
    layer = " ".join(f"word{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(300))
    layer = f"The ship has a crew of 12 sailors. {layer}"
    argued = {"before": "a crew of", "after": "sailors", "answer": "12"}
    fact = {"sample": "p1", "id": "g0", "kind": "number", "arguments": argued}
    (tmp_path / "f.jsonl").write_text(json.dumps(fact))
    asked = get_protocol(f"answers(scope={scope},facts={tmp_path / 'f.jsonl'})")

    def value(text: str, page_text: str | None) -> float:
        output = Prediction("p1", "p", text=text, pages=("p1",) if scope == "document" else ())
        rows = asked.score_page(None, output, page_text).scores
        return next(row.value or 0.0 for row in rows if row.metric == "answer")

    described = f"{layer}\n\n" + " ".join(["description"] * 100)
    assert value(layer, layer) == value(described, layer) == 1
    for padded in (f"{layer}\n\n{layer}", f"{layer}\n\n" + " ".join(f"more{k}" for k in range(400))):
        assert value(padded, layer) < 0.8
        assert value(padded, None) == 1
        assert value(padded, "Signed 2024-05-01") == 1, "the layer of a scan says nothing"


def test_wrong_is_a_share_of_the_answers_given() -> None:
    from tests.protocols.test_semantic import prediction, run_of

    said = {"all": COPY.replace("118.7", "118.2"), "half": COPY.replace("118.7", "118.2").replace(TEXT, "")}
    parsers = {name: {"p": prediction(name, "p", text=text)} for name, text in said.items()}
    figures = run_of("answers", parsers, {"p": PAGE}).parsers
    for name in said:
        found = [figures[name][key].value or 0.0 for key in ("wrong", "not_found")]
        assert found[0] == pytest.approx(1 / (len(FACTS) * (1 - found[1])))
    assert (figures["half"]["wrong"].value or 0) > (figures["all"]["wrong"].value or 0) > 0


NUMBER = re.compile(r"\d[\d.,]*\d|\d")


@pytest.mark.parametrize("between", ["/", " / ", " or ", ", ", " ", "<br>", " (", "; ", "–"])
@pytest.mark.parametrize("first", ["right", "wrong"])
def test_who_gives_two_values_for_one_is_right_in_neither(between: str, first: str) -> None:
    def hedged(found: re.Match[str]) -> str:
        other = found[0][:-1] + str((int(found[0][-1]) + 5) % 10)
        return between.join((found[0], other) if first == "right" else (other, found[0]))

    asked = tuple(fact for fact in FACTS if fact.kind in ("cell number", "number"))
    assert asked and "right" in set(states(COPY, facts=asked).values())
    found = states(NUMBER.sub(hedged, COPY), facts=asked)
    # Half of the values would be right by chance; a value beside another one never is.
    assert [fact.id for fact in asked if found[fact.id] == "right"] == []


def test_a_failed_page_counts() -> None:
    failed = Prediction("p", "x", Status.PARSER_FAILED, message="crash")
    rows = get_protocol("answers").score_page(PAGE, failed, None).scores
    assert len(rows) == len(FACTS) and {row.status for row in rows} == {Status.PARSER_FAILED}


def test_a_question_with_two_answers_is_not_asked() -> None:
    twice = Table.from_rows([*ROWS, ["Ulm", "1", "2"]], header_rows=1)
    asked = {
        tuple(f.arguments["row"])
        for f in facts_of_page(page(Element("t", "table", table=twice)))
        if "row" in f.arguments
    }
    assert asked == {("Bonn",)}


def test_headers_of_several_levels_are_found_however_they_are_cut() -> None:
    cells = (
        Cell(0, 0, "Method", rowspan=2, header=True),
        Cell(0, 1, "Urban", colspan=2, header=True),
        Cell(1, 1, "PSNR", header=True),
        Cell(1, 2, "SSIM", header=True),
        Cell(2, 0, "A", header=True),
        Cell(2, 1, "31.2"),
        Cell(2, 2, "0.91"),
    )
    facts = facts_of_page(page(Element("t", "table", table=Table(3, 3, cells))))
    assert len(facts) == 2 and facts[0].arguments["column"] == ["Urban", "PSNR"]
    flat = "| Method | Urban PSNR | Urban SSIM |\n|---|---|---|\n| A | 31.2 | 0.91 |\n"
    padded = "| Method | Urban | |\n|---|---|---|\n| | PSNR | SSIM |\n| A | 31.2 | 0.91 |\n"
    turned = "| Method | | A |\n|---|---|---|\n| Urban | PSNR | 31.2 |\n| | SSIM | 0.91 |\n"
    for text in (flat, padded, turned):
        assert set(states(text, facts=facts).values()) == {"right"}, text
    assert set(states(flat.replace("31.2", "37.2"), facts=facts).values()) == {"right", "wrong"}


def test_facts_are_written_edited_and_asked(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["corpus", "export", "demo", "--format", "assertions", "--out", str(tmp_path / "facts.jsonl")]
    )
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in (tmp_path / "facts.jsonl").read_text().splitlines()]
    assert len(lines) > 2000 and {"sample", "question", "kind", "arguments"} <= set(lines[0])
    sample = next(load_corpus("demo").samples())
    own = [line for line in lines if line["sample"] == sample.id][:3]
    edited = tmp_path / "edited.jsonl"
    edited.write_text("".join(json.dumps(line) + "\n" for line in own))
    protocol = get_protocol(f"answers(facts={edited})")
    empty = Prediction(sample.id, "x", Status.OK, text="")
    assert len(protocol.score_page(sample.truth, empty, None).scores) == 3


GOOD = {"sample": "a", "id": "1", "kind": "cell text"}
ARGUMENTS = {"row": ["Ulm"], "column": ["Area"], "answer": "118.7"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "it is not JSON"),
        ("[]", "it is not a JSON object"),
        (f'{{"sample": {"9" * 5000}}}', "a number with too many digits"),
        ({"kind": "riddle", "arguments": {}}, "'riddle' is not a known kind"),
        ({"kind": "order", "arguments": {}}, "needs the argument 'before': a non-empty text"),
        (
            {"kind": "number", "arguments": {"answer": "17"}},
            "needs 'before' or 'after': the words next to it",
        ),
        ({"argument": {}}, "the unknown key 'argument'"),
        ({"rules": "olmocr-bench"}, "its rules are 'olmocr-bench'"),
        ({"arguments": ["Ulm"]}, "it needs 'arguments': an object"),
        ({"arguments": {**ARGUMENTS, "row": "Ulm"}}, "'row': a non-empty list of texts"),
        ({"arguments": {**ARGUMENTS, "answer": 118.7}}, "'answer': a non-empty text"),
        ({"arguments": {**ARGUMENTS, "answer": " "}}, "'answer': a non-empty text"),
        ({"arguments": {**ARGUMENTS, "column": []}}, "'column': a non-empty list of texts"),
        ({"sample": 5}, "it needs 'sample': a text"),
        ({"id": None}, "it needs 'id': a text"),
        ({"page": "one"}, "its page, tags or box is not of the right type"),
        ({"box": [1, 2]}, "its page, tags or box is not of the right type"),
    ],
)
def test_a_line_that_is_no_fact_is_named(tmp_path: Path, line: str | dict[str, object], why: str) -> None:
    path = tmp_path / "facts.jsonl"
    written = line if isinstance(line, str) else json.dumps({**GOOD, "arguments": ARGUMENTS, **line})
    path.write_text(f"\n{written}\n")
    with pytest.raises(CorpusError, match="line 2 is not an assertion") as raised:
        read_facts(str(path))
    assert why in str(raised.value) and "Error" not in str(raised.value) and ".." not in str(raised.value)


def test_chunks_are_bounded_and_lose_nothing() -> None:
    text = "# A\n" + "\n".join(f"word{k} " * 40 for k in range(60)) + "\n# B\n" + "x " * 1500
    by_size, by_heading = chunks_of(text, "tokens"), chunks_of(text, "headings")
    assert max(len(chunk.split()) for chunk in by_size) <= SIZE
    assert max(len(chunk.split()) for chunk in by_heading) <= SIZE
    assert {chunk.split()[1] for chunk in by_heading if chunk.startswith("#")} == {"A", "B"}
    for chunks in (by_size, by_heading):
        assert " ".join(chunks).split() == text.split()


def test_where_an_answer_is_lost() -> None:
    pytest.importorskip("bm25s")
    facts = {f.arguments["answer"]: f for f in FACTS if f.kind in ("number", "cell number")}
    assert Retriever(COPY, "headings").lost(facts["1923"]) == ""
    words = TEXT.split()
    cut = f"# A\n{' '.join(words[:4])}\n# B\n1923\n# C\n{' '.join(words[5:])}"
    assert Retriever(cut, "headings").lost(facts["1923"]) == "chunk"
    decoys = "\n".join(
        f"# In the spring of the engineer {k}\nIn the spring of in the spring of the engineer. Tomas, Tomas"
        for k in range(200)
    )
    buried = f"{decoys}\n# Z\n" + TEXT + " filler" * 3000
    assert Retriever(buried, "headings").lost(facts["1923"]) == "retrieval"


def _found(text: str, truth: Page) -> dict[str, float]:
    protocol = get_protocol("answers(scope=document)")
    rows = protocol.score_page(truth, Prediction("p", "x", Status.OK, text=text), None).scores
    by_metric: dict[str, list[float]] = {}
    for row in rows:
        if row.metric.startswith("found_"):
            by_metric.setdefault(row.metric, []).append(row.value or 0.0)
    return {metric: sum(values) / len(values) for metric, values in by_metric.items()}


RETRIEVAL_TRICKS: dict[str, Callable[[str], str]] = {
    "no headings": lambda text: _HEADING.sub(r"\1", text),
    "every line a heading": lambda text: re.sub(r"^(?=\w)", "# ", text, flags=re.M),
    "every heading twice": lambda text: _HEADING.sub(r"# \1\n\n# \1", text),
    "everything twice": lambda text: f"{text}\n\n{text}",
    "its heading before each line": lambda text: re.sub(
        r"^(?=The )", "Report of the region ", text, flags=re.M
    ),
}


def sections() -> Page:
    """Forty sections that speak of the same things, so that few can be told from the others."""
    rng = random.Random(4)
    words = ["mill", "ford", "ewes", "barn", "crop", "tithe", "lane", "yard", "pond", "hill", "wood", "gate"]
    elements: list[Element] = []
    for k in range(40):
        filler = " ".join(rng.choices(words, k=110))
        number = rng.randint(1000, 9999)
        sentence = f"The {' '.join(rng.sample(words, 4))} counted {number} {rng.choice(words)} sheep."
        texts = [(f"Section {k}", "title"), (f"The {filler}.", "text_block"), (sentence, "text_block")]
        for text, category in texts:
            level = {"level": 1} if category == "title" else {}
            elements.append(
                Element(f"e{len(elements)}", category, order=len(elements), text=text, attributes=level)
            )
    return page(*elements)


@pytest.mark.parametrize("trick", RETRIEVAL_TRICKS)
def test_no_trick_makes_answers_easier_to_retrieve(trick: str) -> None:
    pytest.importorskip("bm25s")
    truth = sections()
    honest = write_document(truth)
    base, tricked = (_found(text, truth) for text in (honest, RETRIEVAL_TRICKS[trick](honest)))
    assert 0.3 < base["found_headings"] < 1 and 0.3 < base["found_tokens"] < 1
    for metric, value in tricked.items():
        assert value <= max(base.values()) + 0.02, (metric, base, tricked)


def test_huge_outputs_cost_little() -> None:
    wide = "<table><tr>" + "<td>1</td>" * 100_000 + "</tr></table>"
    assert set(states(wide).values()) <= {"right", "not found"}
    assert "right" not in {states("word " * 200_000)[f.id] for f in FACTS if f.kind != "absent"}


def test_pages_of_a_document_are_asked_together() -> None:
    protocol = get_protocol("answers(scope=document)")
    assert protocol.whole_documents
    rows = protocol.score_page(PAGE, Prediction("p", "x", Status.OK, text=COPY), None).scores
    assert {row.metric for row in rows} == {"answer", "found_tokens", "found_headings"}
    assert all(row.value == 1 for row in rows)
    assert not replace(protocol, scope="page").whole_documents


def test_a_broken_chinese_line_says_what_it_says() -> None:
    """An output breaks a sentence where the page does, as a blank or as a new line; Korean has blanks."""
    whole = said_words("本公司的年度报告于三月发布,收入增长。")
    assert said_words("本公司的年度报 告于三月\n发布,收入增长。") == whole
    assert said_words("서울 시청") == ("서울", "시청")
    assert said_words("版本 2 发布 in May") == ("版本", "2", "发布", "in", "may")


def test_a_sentence_in_a_cell_of_a_table_is_found() -> None:
    own = page(
        Element("a", "text_block", order=0, text=TEXT), Element("b", "text_block", order=1, text=OTHER)
    )
    facts = facts_of_page(own)
    assert {fact.kind for fact in facts} == {"number", "name", "order"}
    layout = write_table(Table.from_rows([[TEXT, OTHER]]), "html")
    assert set(states(layout, facts=facts).values()) == {"right"}
    assert "wrong" in states(layout.replace("1923", "1928"), facts=facts).values()


def test_the_case_of_a_sentence_does_not_matter() -> None:
    own = page(Element("t", "title", order=0, text="History"), Element("a", "text_block", order=1, text=TEXT))
    facts = facts_of_page(own)
    assert set(states(f"# HISTORY\n\n{TEXT.upper()}", facts=facts).values()) == {"right"}


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        ({"before": "crew of", "answer": "14", "after": "sailors"}, "right"),
        ({"before": "crew of", "answer": "15", "after": "sailors"}, "wrong"),
        ({"before": "crew of", "answer": "14"}, "right"),
        ({"answer": "14", "after": "sailors"}, "right"),
        ({"before": "leads a crew of", "answer": "14", "after": "people"}, "right"),
        ({"before": "a fleet of", "answer": "14", "after": "ships"}, "not found"),
    ],
)
def test_a_number_between_few_words_is_found(arguments: dict[str, str], state: str) -> None:
    fact = Fact("f", "number", "answers", arguments)
    assert states("Anna leads a crew of 14 sailors.", facts=(fact,)) == {"f": state}


def test_a_wrong_number_beside_a_name_costs_the_number_alone() -> None:
    own = page(
        Element(
            "a", "text_block", order=0, text="The line Nord earned €1250 in 2020 and lost −3.5 % later on."
        )
    )
    facts = facts_of_page(own)
    answers = {fact.arguments["answer"] for fact in facts if fact.kind == "number"}
    assert "−3.5%" in answers, "signs are written as people write them"
    found = states((own.elements[0].text or "").replace("1250", "1205"), facts=facts)
    assert [fact.arguments["answer"] for fact in facts if found[fact.id] != "right"] == ["€1250"]


def test_facts_of_a_file_are_asked_of_whole_documents(tmp_path: Path) -> None:
    fact = {"kind": "number", "arguments": {"before": "a crew of", "after": "sailors"}}
    lines = [
        {"sample": f"v-p{n}", "id": "g0", **fact, "arguments": {**fact["arguments"], "answer": str(n)}}
        for n in (1, 2)
    ]
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, lines)))
    text = "It has a crew of 1 sailors. It has a crew of 7 sailors."
    asked = get_protocol(f"answers(scope=document,facts={tmp_path / 'f.jsonl'})")
    rows = asked.score_page(None, Prediction("v-p1", "p", text=text, pages=("v-p1", "v-p2"))).scores
    assert {row.element for row in rows if row.metric == "answer"} == {"p1-g0", "p2-g0"}


def test_currencies_are_not_exchanged() -> None:
    text = "On that day the old boat was sold for $ 4,500 to a cousin who paid 20 € more."
    facts = facts_of_page(page(Element("a", "text_block", order=0, text=text)))
    numbers = [fact.id for fact in facts if fact.kind == "number"]
    said = text.replace("$ ", "$").replace("20 €", "20€")
    assert len(numbers) == 2 and set(states(said, facts=facts).values()) == {"right"}
    wrong = states(text.replace("€", "£").replace("$", "€"), facts=facts)
    assert [wrong[key] for key in numbers] == ["wrong", "wrong"]


@pytest.mark.parametrize(("step", "side"), [((1, -1), "right"), ((-1, 1), "below")])
def test_names_may_stand_on_the_right_or_below(step: tuple[int, int], side: str) -> None:
    rows = [row[:: step[1]] for row in ROWS[:: step[0]]]
    cells = tuple(
        Cell(r, c, text, header=r == (2 if side == "below" else 0) or c == (2 if side == "right" else 0))
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    )
    facts = facts_of_page(page(Element("t", "table", table=Table(3, 3, cells))))
    assert {(*f.arguments["row"], *f.arguments["column"], f.arguments["answer"]) for f in facts} == {
        (row[0], ROWS[0][k], row[k]) for row in ROWS[1:] for k in (1, 2)
    }
    for said in (ROWS, rows):
        assert set(states(write_table(Table.from_rows(said), "html"), facts=facts).values()) == {"right"}


def test_a_row_that_names_a_section_is_no_header_of_another() -> None:
    head = "<tr><th>City</th><th>Area</th></tr>"
    north = "<tr><th colspan=2>North</th></tr><tr><td>Kiel</td><td>118</td></tr>"
    south = "<tr><th>South</th><th></th></tr><tr><td>Ulm</td><td>119</td></tr>"
    for first, second in ((north, south), (south, north)):
        (element,) = read_output(f"<table>{head}{first}{second}</table>", "markdown").elements
        facts = facts_of_page(page(element))
        assert {tuple(fact.arguments["column"]) for fact in facts} == {("Area",)}
        assert {fact.arguments["answer"] for fact in facts} == {"118", "119"}


def test_a_wrong_digit_changes_no_order() -> None:
    texts = [
        "In 1923 the old boat of the harbour was sold.",
        "For 4 500 crowns a cousin bought the workshop.",
    ]
    own = page(*(Element(str(k), "text_block", order=k, text=text) for k, text in enumerate(texts)))
    facts = facts_of_page(own)
    (order,) = [fact for fact in facts if fact.kind == "order"]
    assert (
        states("\n\n".join(texts).replace("1923", "1928").replace("4 500", "9"), facts=facts)[order.id]
        == "right"
    )
    assert states("\n\n".join(texts[::-1]), facts=facts)[order.id] == "wrong"


def test_a_mark_alone_is_nothing_to_leave_out() -> None:
    own = page(Element("n", "page_number", text="– • –"), Element("a", "text_block", order=0, text=TEXT))
    assert "absent" not in {fact.kind for fact in facts_of_page(own)}
    fact = Fact("1", "absent", "answers", {"text": "– –"})
    assert states("***\n\nText.", facts=(fact,)) == {"1": "right"}


def test_a_fact_counts_once_and_an_id_means_one_fact(tmp_path: Path) -> None:
    fact = {"sample": "p", "id": "1", "kind": "heading", "arguments": {"text": "History"}}
    path = tmp_path / "facts.jsonl"
    path.write_text("".join(json.dumps({**fact, "id": str(k)}) + "\n" for k in range(3)))
    assert len(read_facts(str(path))["p"]) == 1
    other = tmp_path / "other.jsonl"
    other.write_text(f"{json.dumps(fact)}\n{json.dumps({**fact, 'arguments': {'text': 'Decline'}})}\n")
    with pytest.raises(CorpusError, match=r"line 2 is not an assertion: .* the id 1"):
        read_facts(str(other))


def test_what_was_not_asked_and_what_failed_is_said(tmp_path: Path) -> None:
    from tests.protocols.test_semantic import prediction, run_of

    path = tmp_path / "facts.jsonl"
    fact = {"id": "1", "kind": "heading", "arguments": {"text": "History"}}
    path.write_text("".join(json.dumps({"sample": sample, **fact}) + "\n" for sample in ("p1", "gone")))
    good = prediction("y", "p1", text="# History")
    broken = prediction("x", "p1", status=Status.METRIC_FAILED, message="no memory")
    pages = {"p1": PAGE, "p2": PAGE}
    summary = run_of(f"answers(facts={path})", {"x": {"p1": broken}, "y": {"p1": good}}, pages)
    assert summary.counts == {"documents": 2, "pages": 2, "pages with truth": 1}, "p2 is asked nothing"
    assert any("x: 1 page could not be scored" in note and "no memory" in note for note in summary.notes)
    assert any("1 assertion for pages that are not in the run: gone." in note for note in summary.notes)
