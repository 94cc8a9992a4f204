"""Papers in the looks of publishers: what they say is consistent, and their truth is what the PDF shows."""

import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.files import read_manifest
from parsemark.corpora.latex.marks import MarkedPage
from parsemark.corpora.latex.synthetic.make import make_synthetic
from parsemark.corpora.latex.synthetic.options import SyntheticOptions
from parsemark.corpora.latex.synthetic.papers.axes import PLOT_LOOKS, ticks
from parsemark.corpora.latex.synthetic.papers.comparisons import Ablation, Results
from parsemark.corpora.latex.synthetic.papers.compose import Paper
from parsemark.corpora.latex.synthetic.papers.exhibits import number
from parsemark.corpora.latex.synthetic.papers.front import Front, Matter, written_date
from parsemark.corpora.latex.synthetic.papers.furniture import Furniture, PageMargins
from parsemark.corpora.latex.synthetic.papers.looks import LOOKS, heading_number, roman, title_case
from parsemark.corpora.latex.synthetic.papers.reference_list import entry_tokens
from parsemark.corpora.latex.synthetic.papers.setting import Item
from parsemark.corpora.latex.synthetic.papers.subject import common, people, read_subject, subject_names
from parsemark.corpora.latex.synthetic.papers.tables import Counts, Regression
from parsemark.corpora.latex.synthetic.papers.tokens import PaperBlock, PaperToken, Register, Setter
from parsemark.corpora.latex.synthetic.papers.truth import find_parts, page_truth
from parsemark.corpora.latex.synthetic.papers.writing import Reference, Writer, cite_numbers
from parsemark.corpora.synthetic.pieces import plain, to_latex
from parsemark.corpora.synthetic.randomness import stream
from parsemark.errors import LatexError
from parsemark.formats import write_document
from parsemark.model import Box, Category, Page, Prediction, Sample
from parsemark.protocols import get_protocol

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
LINES = {"booktabs": 1.0}
SAID = (
    Category.TEXT_BLOCK,
    Category.LIST_GROUP,
    Category.TABLE_CAPTION,
    Category.FIGURE_CAPTION,
    Category.TITLE,
    Category.PAGE_FOOTNOTE,
)
OPTIONS = SyntheticOptions(
    7, 5, french=0, long=0, rotated=0, papers=1, document_pages=3, double_column=0.5, looks=("llncs", "icml")
)


def holds_the_bars(corpus: Path) -> None:
    report = check_corpus(load_corpus(str(corpus)))
    figures = report.figures
    assert report.problems == []
    assert figures.tables == figures.tables_at_ink > 0
    assert report.grids == report.grids_equal > 0
    assert figures.glyphs_inside == figures.glyphs > 0
    assert figures.cells_equal == figures.cells > 0
    assert figures.elements_found == figures.elements > 0


def paper(look: str, seed: int, folder: Path, pages: int = 3) -> Paper:
    names = subject_names("english")
    subject = read_subject(names[seed % len(names)])
    return Paper(stream("test", look, seed), LOOKS[look], subject, LINES, folder, pages, 2)


def blocks_of(made: Paper, *categories: Category) -> list[str]:
    found = [b for b in made.register.blocks if b.category in categories]
    return ["".join(t.before + t.text for t in b.tokens).strip() for b in found]


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_what_a_paper_points_to_is_there(look: str, tmp_path: Path) -> None:
    made = paper(look, len(look), tmp_path)
    made.latex()
    texts = " ".join(blocks_of(made, Category.TEXT_BLOCK, Category.LIST_GROUP))
    captions = blocks_of(made, Category.TABLE_CAPTION, Category.FIGURE_CAPTION)
    labels = [caption for caption in captions if not caption.startswith("(")]  # those of subtables
    numbers = {re.match(r"(?i)(table|fig\w*)\.? ([\w.]*\w)", label).groups() for label in labels}
    for word, count in re.findall(r"(Table|Fig(?:ure|\.)) (\d+(?:\.\d+)?|[IVX]+)", texts):
        assert any(n == count and name[:3].lower() == word[:3].lower() for name, n in numbers), (
            word,
            count,
        )
    assert len(labels) == len({label.split(" ")[0] + label.split(" ")[1] for label in labels})
    references = blocks_of(made, Category.REFERENCE)
    if references and LOOKS[look].cite in ("ieee", "numeric"):
        cited = {int(n) for group in re.findall(r"\[([\d, –]+)\]", texts) for n in re.findall(r"\d+", group)}
        assert cited
        assert max(cited) <= len(references)
    elif references and LOOKS[look].cite == "author":
        for name, year in re.findall(r"\(([A-Z][a-z]+) et al\., (\d{4})", texts):
            assert any(r.startswith(name) and year in r for r in references), (name, year)


@pytest.mark.parametrize("name", subject_names())
def test_a_subject_speaks_of_all_that_it_shows(name: str) -> None:
    subject = read_subject(name)
    there = {("table", t) for t in subject.data["tables"]} | {("figure", f) for f in subject.data["figures"]}
    named = [set(part.exhibits) for part in subject.parts]
    assert {exhibit for one in named for exhibit in one} == there
    # each is named in a paragraph that names nothing else, so that it can be shown without the others
    assert {exhibit for one in named if len(one) == 1 for exhibit in one} == there
    cited = {key for keys in re.findall(r"\{citet?:([^}]*)\}", subject_text(name)) for key in keys.split(",")}
    assert cited <= set(subject.data["works"])
    for before, part in pairwise(subject.parts):  # what leads to a formula or list is never left out
        if part.kind in ("formula", "list"):
            assert before.kind in ("text", "more"), part
            assert not before.optional, part
            assert not before.exhibits, part
        assert part.kind != "more" or not part.exhibits, part


def test_many_people_in_towns_that_exist() -> None:
    names = [Writer(stream("names", i), read_subject("kaczmarz")).persons(1)[0] for i in range(400)]
    assert len(set(names)) > 360  # few come twice
    origins = people()["origins"]
    for given_name, family in names:
        assert any(given_name in o["given"] and family in o["family"] for o in origins)
    homes = people()["homes"]["list"]
    assert len({tuple(home) for home in homes}) == len(homes) > 80
    every = [name for o in origins for name in (*o["given"], *o["family"])] + [t for h in homes for t in h]
    assert {c for c in to_latex(" ".join(every)) if ord(c) > 0x17F} == set()
    matter = Matter(
        "", (("Élodie", "O’Neill"), ("Jan", "de Vries")), (0, 0), (), ("univ-leeds.ac.uk",), "", (), (1, 1, 1)
    )
    assert [matter.email(i) for i in (0, 1)] == ["e.oneill@univ-leeds.ac.uk", "j.devries@univ-leeds.ac.uk"]


def test_plots_have_many_looks() -> None:
    subject = read_subject("barley_drought")
    drawn = {}
    for look in PLOT_LOOKS:
        writer = Writer(stream("plots"), subject)
        writer.plot_look = look
        drawn[look] = writer.figures["course"].latex(200, 120, Path())
    assert len(set(drawn.values())) == len(PLOT_LOOKS) > 20
    writer = Writer(stream("plots"), read_subject("kaczmarz"))
    assert "$10^{" in writer.figures["floor"].latex(200, 120, Path())  # powers of ten on the upright axis


def test_headings_differ_between_papers_of_a_subject(tmp_path: Path) -> None:
    outlines = set()
    for seed in range(12):
        made = Paper(
            stream("outline", seed), LOOKS["llncs"], read_subject("code_review"), LINES, tmp_path, 4, 2
        )
        made.latex()
        outlines.add(tuple(blocks_of(made, Category.TITLE)[1:]))
    assert len(outlines) > 10


@pytest.mark.parametrize("name", subject_names())
def test_latex_can_set_all_characters_of_a_subject(name: str) -> None:
    file = files("parsemark.corpora.latex.synthetic.papers") / "subjects" / f"{name}.txt"
    text = to_latex(file.read_text(encoding="utf-8"))
    assert {character for character in text if ord(character) > 0x17F} == set()


def subject_text(name: str) -> str:
    return " ".join(part.text + " ".join(part.lines) + part.note for part in read_subject(name).parts)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(subject_names()), st.sampled_from(sorted(LOOKS)))
def test_what_is_said_is_whole_and_said_once(seed: int, name: str, look: str) -> None:
    with TemporaryDirectory() as folder:
        made = Paper(stream(seed), LOOKS[look], read_subject(name), LINES, Path(folder), 4, seed % 7)
        made.latex()
    texts = blocks_of(made, *SAID)
    for text in texts:
        rest = re.sub(r"\$[^$]*\$|\^\{[^}]*\}|\[[\d, –]+\]|\[Fe/H\]", "x", text)
        stops = ".,;" if read_subject(name).language == "english" else ".,"
        assert not re.search(rf"[\[\]{{}}|⟦]|\s[{stops}]|\.\.", rest), text
    said = [s for text in texts for s in re.split(r"(?<=[a-z)\]]\.) ", text) if len(s) > 40]
    assert [s for s, count in Counter(said).items() if count > 1] == []


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(subject_names()))
def test_tables_say_what_can_be(seed: int, name: str) -> None:
    writer = Writer(stream(seed), read_subject(name))
    for exhibit in writer.tables.values():
        drawn = exhibit.table(LINES)
        table = drawn.content.table
        assert table.holes == ()
        assert drawn.caption.endswith(".")
        rows = table.text_rows()
        cells = " ".join(re.sub(r"\$[^$]*\$|\^\{[^}]*\}", "", text) for row in rows for text in row)
        assert not re.search(r"[{}$]|\[\w+\|", cells), cells
        body = [tuple(row) for row in rows[drawn.content.header_rows :]]
        assert len(body) == len(set(body)) or isinstance(exhibit, Regression), (exhibit.name, body)
        if isinstance(exhibit, Counts):
            values = exhibit.values
            assert sum(map(sum, values)) == writer.amounts[exhibit.spec["total"]]
            assert min(map(min, values)) >= 0
            sums = [sum(column) for column in zip(*values, strict=True)]
            assert [int(re.sub(r"[,\u202f]", "", t)) for t in rows[-1][1 : 1 + len(sums)]] == sums
        if isinstance(exhibit, Results):
            first = exhibit.columns[0]
            best = min if first.better == "down" else max
            for grid in exhibit.values:
                assert best(cells[0] for cells in grid) == grid[-1][0]
                percents = [
                    v for cells in grid for m, v in zip(exhibit.columns, cells, strict=True) if m.unit == "%"
                ]
                assert all(0 <= v <= 100 for v in percents)
        if isinstance(exhibit, Ablation):
            assert exhibit.fact("full") == writer.tables[exhibit.spec["of"]].fact("ours")
            worse = [
                v < exhibit.full if exhibit.measure.better == "up" else v > exhibit.full
                for v in exhibit.without
            ]
            assert all(worse)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(subject_names()))
def test_axes_fit_what_is_plotted(seed: int, name: str) -> None:
    writer = Writer(stream(seed), read_subject(name))
    with TemporaryDirectory() as folder:
        for figure in writer.figures.values():
            latex = figure.latex(180, 90, Path(folder))
            assert "⟦" not in latex
            assert figure.caption().endswith(".")
            if figure.spec.get("y", ["", ""])[1] == "%":
                labels = [
                    float(t)
                    for t in re.findall(r"\\node\[left,inner sep=1\.5pt\] at \S+ \{([\d.]+)\}", latex)
                ]
                assert labels
                assert max(labels) <= 100


def test_numbers_of_a_paper_agree() -> None:
    """The abstract, the text and the tables say the same about the main result."""
    writer = Writer(stream(3), read_subject("long_tailed_recognition"))
    main = writer.tables["main"]
    assert isinstance(main, Results)
    best = max(cells[0] for cells in main.values[0][:-1])
    assert main.fact("gain") == f"{main.values[0][-1][0] - best:.1f}"
    assert main.fact("ours") in writer.fill(writer.subject.data["abstract"][0])
    assert ticks(0, 100)[-1] == (100, "100")
    assert [text for _, text in ticks(0, 12)] == ["0", "3", "6", "9", "12"]
    assert ticks(-0.1, 0.1)[0][1] == "$-$0.10"


FRENCH_LOOKS = sorted(name for name, look in LOOKS.items() if "french" in look.languages)


def test_words_have_the_same_keys_in_every_language() -> None:
    def keys(value: object, path: str = "") -> set[str]:
        return (
            {path} | {k for key, v in value.items() for k in keys(v, f"{path}/{key}")}
            if isinstance(value, dict)
            else {path}
        )

    languages = {language for look in LOOKS.values() for language in look.languages}
    assert languages == {"english", "french"}
    for language in languages:
        assert len(subject_names(language)) > 2
        own = {"/homes", "/publisher", "/named"}  # those of people.toml, and the labels, will do for others
        missing = keys(common("english")) - keys(common(language))
        strange = {
            key
            for key in keys(common(language)) - keys(common("english"))
            if "/" + key.split("/")[1] not in own
        }
        assert (missing, strange) == (set(), set())


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10_000),
    name=st.sampled_from(subject_names("french")),
    look=st.sampled_from(FRENCH_LOOKS),
)
def test_a_paper_in_french_is_french_throughout(seed: int, name: str, look: str) -> None:
    with TemporaryDirectory() as folder:
        made = Paper(stream(seed), LOOKS[look], read_subject(name), LINES, Path(folder), 8, 5)
        made.latex()
    assert {
        b.attributes["text_language"] for b in made.register.blocks if "text_language" in b.attributes
    } == {"text_french"}
    assert {b.attributes["language"] for b in made.register.blocks if b.content} <= {"table_fr"}
    said = blocks_of(made, *SAID, Category.TABLE_FOOTNOTE)
    cells = [
        cell for b in made.register.blocks if b.content for row in b.content.table.text_rows() for cell in row
    ]
    english = (
        r"\b(?:the|and|of|Table|Section|Abstract|without|Mean|Share|Difference|Observations? of|Yes|No)\b"
    )
    for text in [*said, *cells]:
        plain = re.sub(
            r"\$[^$]*\$|\^\{[^}]*\}|\([^()]*, \d{4}\)", "", text
        )  # citations are as BibTeX has them
        assert not re.search(english, plain), text
        assert not re.search(r"\w[;!?»]|\d%", plain), text  # set apart by a blank
        bare = re.sub(
            r"(?i)(?:tableau|figure|section|équation)\s\(?[\d.]+\w?|^[\d.]+ |https?\S+|[\w.]+@\S+", "", plain
        )
        assert not re.search(r"\d\.\d", bare), text  # 0,25
    labels = [c for c in blocks_of(made, Category.TABLE_CAPTION) if not c.startswith("(")]
    assert labels
    assert all(re.match(r"Tableau [\d.]+( –|\.) ", label) for label in labels), labels
    numbers = {re.match(r"Tableau ([\d.]*\d)", label)[1] for label in labels}
    assert set(re.findall(r"tableau ([\d.]*\d)", " ".join(blocks_of(made, Category.TEXT_BLOCK)))) == numbers


def test_numbers_are_written_as_the_language_has_them() -> None:
    assert [number(v, d, "english") for v, d in ((-12345.678, 1), (1234, 0))] == ["−12,345.7", "1234"]
    assert [number(v, d, "french") for v, d in ((-12345.678, 1), (1234, 0))] == ["−12\u202f345,7", "1234"]
    assert number(1234, 0, "french", 1000) == "1\u202f234"
    assert written_date(common("english"), 3, 5, 2021) == "May 3, 2021"
    assert written_date(common("french"), 3, 5, 2021) == "3 mai 2021"


@pytest.mark.parametrize(
    ("language", "look"), [("english", "ieee-journal"), ("english", "llncs"), ("french", "acl")]
)
def test_the_end_of_the_introduction_names_the_sections_that_follow(
    language: str, look: str, tmp_path: Path
) -> None:
    found = 0
    for seed in range(12):
        name = subject_names(language)[seed % len(subject_names(language))]
        made = Paper(stream("map", seed), LOOKS[look], read_subject(name), LINES, tmp_path, 4, 2)
        made.latex()
        starts = tuple(start for way in common(language)["roadmap"]["start"] for start in variants(way))
        maps = [text for text in blocks_of(made, Category.TEXT_BLOCK) if text.startswith(starts)]
        headings = [re.match(r"(\d+|[IVX]+)\.? ", t) for t in blocks_of(made, Category.TITLE)]
        numbers = [heading[1] for heading in headings if heading]
        for text in maps:
            found += 1
            assert re.findall(r"[Ss]ection (\d+|[IVX]+)\b", text) == numbers[1:], text
    assert 2 < found < 10


def variants(text: str) -> list[str]:
    match = re.search(r"\[([^\]]*)\]", text)
    if match is None:
        return [text]
    return [v for one in match[1].split("|") for v in variants(text.replace(match[0], one, 1))]


def test_paragraphs_are_joined_in_order_and_floats_stay(tmp_path: Path) -> None:
    words, most, texts = [], 0, []
    for seed in range(8):
        made = Paper(
            stream("join", seed), LOOKS["preprint"], read_subject("farmland_bees"), LINES, tmp_path, 6, 3
        )
        items = [Item("text", f"One {i}.") for i in range(4)] + [
            Item("figure"),
            Item("text", "Two."),
            Item("heading"),
            Item("text", "Three."),
        ]
        joined = made._joined([replace(item) for item in items])
        assert [i.kind for i in joined if i.kind != "text"] == ["figure", "heading"]
        assert " ".join(i.text for i in joined if i.text) == " ".join(i.text for i in items if i.text)
        made.latex()
        counts = [len(text.split()) for text in blocks_of(made, Category.TEXT_BLOCK)]
        words.append(sum(counts) / len(counts))
        most = max(most, *counts)
        texts.append(len(joined))
    assert most > 130  # a paragraph of the subject has up to 100
    assert max(words) > 1.4 * min(words)  # authors differ
    assert len(set(texts)) > 2


def test_authors_of_a_work_come_mostly_from_the_same_place() -> None:
    origins = people()["origins"]
    together = pairs = french = cited = 0
    for seed in range(30):
        writer = Writer(stream("together", seed), read_subject("reseau_chaleur"))
        for work in writer.references:
            homes = [
                {i for i, o in enumerate(origins) if given in o["given"] and family in o["family"]}
                for given, family in work.authors
            ]
            assert all(homes)
            together += sum(bool(a & b) for a, b in pairwise(homes))
            pairs += len(homes) - 1
            assert len({family for _, family in work.authors}) == len(work.authors)
        abroad = {k for k, w in writer.subject.data["works"].items() if w.endswith("|abroad")}
        assert 3 < len(abroad) < 12
        own = [
            w for k, w in zip(writer.subject.data["works"], writer.references, strict=True) if k not in abroad
        ]
        french += sum(work.authors[0][1] in origins[3]["family"] for work in own)
        cited += len(own)
    assert origins[3]["language"] == "french"
    assert 0.6 < together / pairs < 0.95
    assert french / cited > 0.7


def entry(style: str, language: str = "english", **changes: object) -> str:
    work = Reference((("Ada", "Byron"), ("Jo", "Hill"), ("Li", "Wu")), "On waves", "Nature", 2011, 7, (3, 9))
    tokens = entry_tokens(
        replace(work, **changes), style, Setter(lambda kind, works: ("", "")), common(language)["labels"]
    )
    return " ".join(token.text for token in tokens)


def test_entries_of_the_list_are_those_of_what_appeared() -> None:
    assert entry("plain") == "Ada Byron, Jo Hill, and Li Wu. On waves. Nature, 7:3–9, 2011."
    assert (
        entry("plain", issue=2, doi="doi:10.1/x")
        == "Ada Byron, Jo Hill, and Li Wu. On waves. Nature, 7(2):3–9, 2011. doi:10.1/x."
    )
    assert entry("ieee", issue=2).endswith("“On waves,” Nature, vol. 7, no. 2, pp. 3–9, 2011.")
    assert (
        entry("apa", "french", conjunction="et")
        == "Byron, A., Hill, J. et Wu, L. (2011). On waves. Nature, 7:3–9."
    )
    assert entry("physics") == "A. Byron, J. Hill, and L. Wu, Nature 7, 3 (2011)."
    assert entry("apa", title="Why waves?", kind="talk", venue="Workshop X").endswith(
        "(2011). Why waves? In Workshop X, pp. 3–9."
    )
    for style in ("ieee", "apa", "plain", "nature", "physics"):
        book = entry(style, kind="book", venue="Dover")
        assert re.search(r"On waves[.,] \(?Dover[.,)]", book), book  # named once, without volume or pages
        assert not re.search(r"\b7\b|3–9", book), book
        assert "PhD thesis, KAIST" in entry(style, kind="thesis", venue="KAIST")
        assert "Thèse de doctorat, KAIST" in entry(style, "french", kind="thesis", venue="KAIST")
    kinds = Counter(
        w.kind
        for i in range(40)
        for w in Writer(stream("kinds", i), read_subject("long_tailed_recognition")).references
    )
    assert set(kinds) == {"article", "talk", "book", "thesis", "preprint"}
    assert kinds["thesis"] + kinds["preprint"] < 0.2 * kinds.total()


def test_small_words_after_a_colon_begin_a_title() -> None:
    assert title_case("waves of the sea: a review of the field") == "Waves of the Sea: A Review of the Field"


def test_dates_of_an_article_are_in_order() -> None:
    matter = Matter("T", (("Ada", "Byron"),), (0,), (("D", "U", "C"),), ("u.fr",), "A.", ("k",), (2, 1, 2020))
    register = Register()
    Front(LOOKS["mdpi"], matter, register, Setter(lambda kind, works: ("", "")), common("english")).latex()
    texts = [" ".join(t.text for t in block.tokens) for block in register.blocks]
    (line,) = [text for text in texts if text.startswith("Received")]
    days = [datetime.strptime(day, "%d %B %Y") for day in re.findall(r"\d+ \w+ \d{4}", line)]
    assert len(days) == 3
    assert days == sorted(set(days))
    assert days[-1] == datetime(2020, 1, 2)


def test_the_widest_table_is_the_one_that_is_turned(tmp_path: Path) -> None:
    for seed in range(6):
        made = Paper(
            stream("wide", seed),
            LOOKS["llncs"],
            read_subject("stellar_rotation"),
            LINES,
            tmp_path,
            4,
            2,
            turned=1,
        )
        made.latex()
        breadths = {name: exhibit.breadth for name, exhibit in made.writer.tables.items()}
        assert [breadths[name] for name in made._sideways] == [max(breadths.values())]


def test_stacked_heads_keep_off_the_rule_above_them() -> None:
    assert plain("Depth\n(km)").latex == r"\shortstack{\strut Depth\\(km)}"


@pytest.mark.latex
@needs_latex
@pytest.mark.parametrize("double", [0.0, 1.0])
def test_papers_in_french_hold_the_bars_of_check(double: float, tmp_path: Path) -> None:
    options = SyntheticOptions(4, 11, french=1, long=0, rotated=0, empty=0.25, papers=1, double_column=double)
    make_synthetic(options, tmp_path / "out", workers=1)
    assert "replaced" not in read_manifest(tmp_path / "out").settings
    pages = [sample.truth for sample in samples(tmp_path / "out")]
    assert {page.attributes["language"] for page in pages} == {"french"}
    assert {page.attributes["look"] for page in pages} <= set(FRENCH_LOOKS)
    assert {page.attributes["subject"] for page in pages} <= set(subject_names("french"))
    holds_the_bars(tmp_path / "out")


def test_citations_are_written_as_the_styles_have_them() -> None:
    assert cite_numbers([7, 3], "numeric") == "[3, 7]"
    assert cite_numbers([5, 3, 4, 9], "numeric") == "[3–5, 9]"
    assert cite_numbers([5, 3, 4, 9], "ieee") == "[3]–[5], [9]"
    assert cite_numbers([2, 1], "raised") == "1,2"
    assert [roman(n) for n in (1, 4, 9, 14)] == ["I", "IV", "IX", "XIV"]
    assert heading_number(LOOKS["ieee-journal"], (2, 3)) == "C."
    assert heading_number(LOOKS["icml"], (2, 3)) == "2.3."
    setter = Setter(lambda kind, works: ("[1]", "[1]"))
    words = setter("as seen ⟦cite:0⟧, where ⟦math:x^2⟧ is 5%.")
    assert [w.text for w in words] == ["as", "seen", "[1],", "where", "$x^2$", "is", "5%."]
    assert words[-1].latex == r"5\%."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("papers") / "corpus"
    make_synthetic(OPTIONS, out, workers=1)
    return out


@pytest.mark.latex
@needs_latex
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    make_synthetic(replace(OPTIONS, pages=2), tmp_path / "one", workers=1)
    make_synthetic(replace(OPTIONS, pages=2), tmp_path / "two", workers=2)
    roots = [tmp_path / "one", tmp_path / "two"]
    found = [sorted(p.relative_to(root) for p in root.rglob("*") if p.is_file()) for root in roots]
    assert found[0] == found[1] != []
    for file in found[0]:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


@needs_latex
def test_the_paper_is_the_size_of_the_page(made: Path) -> None:
    sizes = {"a4": (595, 842), "letter": (612, 792)}
    for sample in load_corpus(str(made)).samples():
        page = sample.truth
        assert (round(page.width), round(page.height)) == sizes[page.attributes["paper"]]


def samples(root: Path) -> list[Sample]:
    return list(load_corpus(str(root)).samples())


TURNED = replace(OPTIONS, pages=3, seed=3, rotated=1, empty=1 / 3, document_pages=3, double_column=1)


@pytest.mark.latex
@needs_latex
@pytest.mark.parametrize("look", ["llncs", "icml"])
def test_a_turned_table_has_a_page_of_its_paper(look: str, tmp_path: Path) -> None:
    options = replace(TURNED, looks=(look,), double_column=float(LOOKS[look].columns == 2))
    make_synthetic(options, tmp_path / "out", workers=1)
    assert "replaced" not in read_manifest(tmp_path / "out").settings
    turned = [s.truth for s in samples(tmp_path / "out") if s.truth.attributes["rotated"]]
    assert len(turned) == 2
    for page in turned:
        (table,) = page.tables
        (caption,) = [e for e in page.elements if e.category == Category.TABLE_CAPTION]
        assert table.attributes["rotated"] == 90
        assert caption.attributes["text_rotate"] == "rotate90"
        assert caption.order == 0 < table.order  # it stands to the left, where the top of the table is
        assert caption.box.x1 < table.box.x0
        first, last = table.table.cells[0], table.table.cells[-1]
        assert first.box.y0 > last.box.y1  # columns run upwards
        assert first.box.x1 < last.box.x0  # rows run to the right
    report = check_corpus(load_corpus(str(tmp_path / "out")))
    assert report.is_faithful
    assert report.grids == report.grids_equal > 0


@pytest.mark.latex
@needs_latex
def test_a_table_over_pages_stands_in_the_appendix_of_a_paper(tmp_path: Path) -> None:
    options = replace(OPTIONS, pages=3, seed=2, long=1, empty=0, double_column=0, looks=("llncs",))
    make_synthetic(options, tmp_path / "out", workers=1)
    assert "replaced" not in read_manifest(tmp_path / "out").settings
    pages = [s.truth for s in samples(tmp_path / "out")]
    assert [page.attributes["long"] for page in pages] == [True] * 3
    parts = [[t for t in page.tables if t.attributes.get("long")] for page in pages]
    assert [[t.attributes["part"] for t in part] for part in parts] == [[1], [2], [3]]
    grids = [part[0].table.text_rows() for part in parts]
    assert len({tuple(grid[0]) for grid in grids}) == 1  # the head comes again
    numbers = [int(re.sub(r"\D", "", row[0])) for grid in grids for row in grid[1:]]
    assert numbers == list(range(1, len(numbers) + 1))
    (caption,) = [e for page in pages for e in page.elements if e.category == Category.TABLE_CAPTION]
    assert any(r.kind == "parent_son" and r.target == caption.id for r in pages[0].relations)
    assert check_corpus(load_corpus(str(tmp_path / "out"))).is_faithful


@pytest.mark.latex
@needs_latex
def test_papers_hold_the_bars_of_check(made: Path) -> None:
    manifest = read_manifest(made)
    assert "replaced" not in manifest.settings
    holds_the_bars(made)


@pytest.mark.latex
@needs_latex
def test_pages_are_as_planned_and_say_their_look(made: Path) -> None:
    pages = [s.truth for s in samples(made)]
    assert len(pages) == 7
    assert sum(not page.tables for page in pages) == 2
    assert {page.attributes["look"] for page in pages} == {"llncs", "icml"}
    assert {page.attributes["subject"] for page in pages} <= set(subject_names())
    seen = Counter(e.category for page in pages for e in page.elements)
    assert {Category.TITLE, Category.TABLE_CAPTION, Category.PAGE_NUMBER, Category.HEADER} <= set(seen)
    for page in pages:
        ordered = [e.order for e in page.elements if e.order is not None]
        assert ordered == list(range(len(ordered)))
        ids = {e.id: e.category for e in page.elements}
        for table in page.tables:
            sons = [r.target for r in page.relations if r.kind == "parent_son" and r.source == table.id]
            assert Category.TABLE_CAPTION in {ids[son] for son in sons}
        for relation in page.relations:
            if relation.kind == "truncated":
                assert ids[relation.source] == ids[relation.target]


@pytest.mark.latex
@needs_latex
def test_the_truth_of_a_paper_written_as_markdown_is_perfect(made: Path) -> None:
    protocol = get_protocol("document")
    for sample in samples(made):
        text = write_document(sample.truth)
        rows = protocol.score_page(sample.truth, Prediction(sample.id, "own", text=text), None).scores
        found = {row.metric: row.value for row in rows if row.element == ""}
        assert (found["text_edit"], found["order_edit"]) == (0, 0), sample.id
        assert all(found[name] == 1 for name in ("formula_f1", "teds_f1") if name in found), sample.id


def words_at(first: int, places: list[tuple[float, float]]) -> dict[int, Box]:
    return {first + i: Box(x, y, x + 20, y + 8) for i, (x, y) in enumerate(places)}


def test_a_paragraph_over_two_columns_is_two_parts_and_floats_stand_between_them() -> None:
    tokens = [PaperToken(word, word) for word in ["one", "two", "three", "four"]]
    text = PaperBlock(Category.TEXT_BLOCK, tokens, 1)
    figure = PaperBlock(Category.FIGURE, [], 5)
    caption = PaperBlock(Category.FIGURE_CAPTION, [PaperToken("Fig. 1.", "Fig. 1.")], 6, parent=1)
    blocks = [text, figure, caption]
    paragraph = words_at(1, [(50, 700), (80, 700), (350, 200), (380, 200)])
    floating = {5: Box(320, 50, 560, 150), 6: Box(330, 160, 400, 170)}
    nothing = PageMargins((None, None, None), (None, None, None))
    furniture = Furniture(nothing, nothing, nothing, 1)

    def truth(boxes: dict[int, Box], shown: list[PaperBlock]) -> Page:
        marks = MarkedPage(1, 612, 792, (), boxes, {})
        return page_truth(find_parts(shown, [marks], 2)[0], shown, furniture, 1, "p", {}, frozenset())

    plain = truth(paragraph, [text])
    assert [e.text for e in plain.elements] == ["one two", "three four"]
    assert [r.kind for r in plain.relations] == ["truncated"]
    parted = truth({**paragraph, **floating}, blocks)
    assert [e.category for e in parted.elements] == ["text_block", "figure", "figure_caption", "text_block"]
    assert [e.order for e in parted.elements] == [0, 1, 2, 3]
    assert {r.kind for r in parted.relations} == {"continued", "parent_son"}
    text.is_wide = True
    assert [
        e.text for e in truth(words_at(1, [(250, 60), (280, 60), (310, 60), (340, 60)]), [text]).elements
    ] == ["one two three four"]
    with pytest.raises(LatexError, match="has no ink"):
        find_parts([text], [MarkedPage(1, 612, 792, (), words_at(1, [(50, 60)]), {})], 2)
