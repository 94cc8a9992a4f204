"""Words that can be seen: the picture changes without them, whatever the objects of the page say."""

from __future__ import annotations

import io
import logging
import shutil
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pikepdf
import pytest
from PIL import Image, ImageDraw, ImageFont
from tests.pdf.hostile import write_pdf

from parsemark.model import Box
from parsemark.pdf import layer_samples, ocr, save_picture_pdf, seen_document, seen_page, visible

SEEN = b"BT /F 12 Tf 0 g 1 0 0 1 50 %d Tm (%s) Tj ET\n"


def written(path: Path, *contents: bytes, resources: bytes = b"") -> Path:
    """A PDF of pages with these contents; `/F` is Helvetica, `/T` transparent, `/Off` a layer that is off."""
    n = len(contents)
    kids = b" ".join(b"%d 0 R" % (5 + 2 * k) for k in range(n))
    off = b"/OCProperties << /OCGs [4 0 R] /D << /OFF [4 0 R] >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R " + off + b" >>",
        b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % n,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /OCG /Name (off) >>",
    ]
    own = b"/Font << /F 3 0 R >> /ExtGState << /T << /ca 0 >> >> /Properties << /Off 4 0 R >>" + resources
    for k, content in enumerate(contents):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /CropBox [0 0 400 560] /Contents %d 0 R "
            b"/Resources << %s >> >>" % (6 + 2 * k, own),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        ]
    return write_pdf(path, objects)


def shown(pdf: Path, page: int = 1) -> dict[str, bool]:
    return {word.text: word.shown for word in seen_page(pdf, page).words}


@pytest.mark.parametrize(
    "painted",
    [
        b"BT /F 12 Tf 3 Tr 1 0 0 1 50 300 Tm (secret) Tj ET",  # not painted
        b"BT /F 12 Tf 1 g 1 0 0 1 50 300 Tm (secret) Tj ET",  # the colour of the paper
        b"0 0 1 rg 40 290 200 30 re f BT /F 12 Tf 0 0 1 rg 1 0 0 1 50 300 Tm (secret) Tj ET",
        b"BT /F 12 Tf 0 g 1 0 0 1 500 300 Tm (secret) Tj ET",  # beside the sheet
        b"BT /F 12 Tf 0 g 1 0 0 1 50 575 Tm (secret) Tj ET",  # outside of the crop box
        b"BT /F 12 Tf 0 g 1 0 0 1 50 300 Tm (secret) Tj ET 1 g 40 290 200 30 re f",  # covered
        b"q /T gs BT /F 12 Tf 0 g 1 0 0 1 50 300 Tm (secret) Tj ET Q",  # transparent
        b"q 300 300 5 5 re W n BT /F 12 Tf 0 g 1 0 0 1 50 300 Tm (secret) Tj ET Q",  # clipped
        b"BT /F 0.01 Tf 0 g 1 0 0 1 50 300 Tm (secret) Tj ET",  # of no size
        b"/OC /Off BDC BT /F 12 Tf 0 g 1 0 0 1 50 300 Tm (secret) Tj ET EMC",  # in a layer that is off
        # covered by something on which other words stand at the same place
        b"BT /F 12 Tf 0 g 1 0 0 1 50 300 Tm (secret) Tj ET 1 g 40 290 200 30 re f "
        b"BT /F 12 Tf 0 g 1 0 0 1 50 300 Tm (public) Tj ET",
        # below black words
        b"BT /F 12 Tf 3 Tr 1 0 0 1 50 300 Tm (secret) Tj ET "
        b"BT /F 12 Tf 0 Tr 0 g 1 0 0 1 50 300 Tm (xyzxyz) Tj ET",
    ],
)
def test_what_nobody_can_see_is_not_shown(painted: bytes, tmp_path: Path) -> None:
    found = shown(written(tmp_path / "a.pdf", SEEN % (400, b"visible") + painted))
    assert found.pop("visible") and not found.pop("secret", False)
    assert all(found.values())


@pytest.mark.parametrize(
    "painted",
    [
        b"0 g 40 290 200 30 re f BT /F 12 Tf 1 g 1 0 0 1 50 300 Tm (light) Tj ET",  # white on black
        b"1 0 0 rg 40 290 200 30 re f BT /F 12 Tf 0 g 1 0 0 1 50 300 Tm (light) Tj ET",  # painted later
        b"BT /F 12 Tf 0.8 g 1 0 0 1 50 300 Tm (light) Tj ET",  # grey
        b"BT /F 12 Tf 1 Tr 0 G 1 0 0 1 50 300 Tm (light) Tj ET",  # outlines
    ],
)
def test_what_looks_suspicious_and_can_be_seen_is_shown(painted: bytes, tmp_path: Path) -> None:
    assert shown(written(tmp_path / "a.pdf", painted)) == {"light": True}


def test_running_heads_and_page_numbers_are_at_the_edge(tmp_path: Path) -> None:
    pages = [
        SEEN % (540, b"Report of 20%d" % k) + SEEN % (300, b"Text %d" % k) + SEEN % (20, b"- %d -" % k)
        for k in (7, 8)
    ]
    seen = seen_page(written(tmp_path / "a.pdf", *pages), 2)
    assert [w.text for w in seen.words if w.edge] == ["Report", "of", "208", "-", "8", "-"]
    alone = seen_page(written(tmp_path / "b.pdf", pages[0]), 1)
    assert [w.text for w in alone.words if w.edge] == ["-", "7", "-"]


def test_a_page_number_may_stand_deep_if_a_gap_parts_it_from_the_text(tmp_path: Path) -> None:
    text = b"".join(SEEN % (y, b"Text of the page 19") for y in (440, 426, 412, 152, 138))
    deep = seen_page(
        written(tmp_path / "a.pdf", SEEN % (466, b"Head of all") + text + SEEN % (100, b"17")), 1
    )
    assert [w.text for w in deep.words if w.edge] == ["17"]
    close = seen_page(written(tmp_path / "b.pdf", text + SEEN % (124, b"17")), 1)
    assert not any(w.edge for w in close.words), "it is the last line of the text"
    pages = [SEEN % (466, b"Head of all") + text.replace(b"19", b"%d" % k) for k in (21, 22)]
    both = seen_page(written(tmp_path / "c.pdf", *pages), 2)
    assert [w.text for w in both.words if w.edge] == ["Head", "of", "all"]


def with_field(path: Path, content: bytes, painted: bytes, flags: int = 4) -> Path:
    """A page with a field that says Jane Doe."""
    import pikepdf

    written(path, content)
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        font = pikepdf.Dictionary(Font=pikepdf.Dictionary(F=pdf.pages[0].Resources.Font.F))
        look = pdf.make_stream(painted, Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form, Resources=font)
        look.BBox = pikepdf.Array([0, 0, 200, 20])
        field = pikepdf.Dictionary(
            Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Widget, FT=pikepdf.Name.Tx, F=flags,
            T=pikepdf.String("name"), V=pikepdf.String("Jane Doe"), AP=pikepdf.Dictionary(N=look),
            Rect=pikepdf.Array([40, 300, 240, 320]),
        )  # fmt: skip
        pdf.pages[0].Annots = pikepdf.Array([pdf.make_indirect(field)])
        pdf.Root.AcroForm = pikepdf.Dictionary(Fields=pdf.pages[0].Annots)
        pdf.save(path)
    return path


@pytest.mark.parametrize(
    ("flags", "painted", "beside", "asked"),
    [
        (4, b"/Tx BMC BT /F 9 Tf 0 g (Jane Doe) Tj ET EMC", b"", True),
        (2, b"/Tx BMC BT /F 9 Tf 0 g (Jane Doe) Tj ET EMC", b"", False),  # hidden
        (4, b"0 g 0 0 5 5 re f", b"", False),  # its appearance says nothing
        (
            4,
            b"/Tx BMC BT /F 9 Tf 0 g (Jane Doe) Tj ET EMC",
            SEEN % (305, b"Jane Doe"),
            False,
        ),  # the page does
    ],
)
def test_what_fields_show_is_seen(
    flags: int, painted: bytes, beside: bytes, asked: bool, tmp_path: Path
) -> None:
    path = with_field(tmp_path / "a.pdf", SEEN % (400, b"Name of the pupil") + beside, painted, flags)
    fields = [word for word in seen_page(path, 1).words if word.line < 0]
    assert [word.text for word in fields] == (["Jane", "Doe"] if asked else [])
    assert all((w.box.x0, round(w.box.y0), w.shown, w.edge) == (40, 240, True, False) for w in fields)


def picture(tmp_path: Path, *lines: str) -> Path:
    image = Image.new("L", (1000, 700), 255)
    font = ImageFont.load_default(32)
    for k, line in enumerate(lines):
        ImageDraw.Draw(image).text((60, 60 + 60 * k), line, font=font, fill=0)
    save_picture_pdf(image, tmp_path / "scan.pdf", (500.0, 350.0), quality=90, producer="test")
    return tmp_path / "scan.pdf"


def test_a_scan_is_not_judged_without_ocr(tmp_path: Path) -> None:
    seen = seen_page(picture(tmp_path, "The engineer moved to the harbour"), 1)
    assert (seen.source, seen.why) == ("none", "the page is a picture")


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="needs tesseract")
def test_a_scan_is_read_by_ocr(tmp_path: Path) -> None:
    seen = seen_page(picture(tmp_path, "The engineer moved to the harbour"), 1, ocr=True)
    assert seen.source == "ocr"
    assert [w.text for w in seen.words] == ["The", "engineer", "moved", "to", "the", "harbour"]
    first = seen.words[0].box
    assert 25 <= first.x0 <= 35 and 30 <= first.y0 <= 45


def test_rapidocr_reads_where_there_is_no_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [([(60, 60), (460, 60), (460, 90), (60, 90)], "To the harbour", 0.9), ([(0, 0)] * 4, "dust", 0.2)]
    boxes, texts, scores = zip(*lines, strict=True)
    result = SimpleNamespace(boxes=boxes, txts=texts, scores=scores)
    engine_log = logging.Logger("RapidOCR")
    engine_log.addHandler(logging.StreamHandler(log := io.StringIO()))
    monkeypatch.setitem(logging.Logger.manager.loggerDict, "RapidOCR", engine_log)

    def read(_: object) -> SimpleNamespace:
        engine_log.info("loading a model")  # rapidocr 3.10 loads models when it reads its first picture
        engine_log.warning("a model is damaged")
        return result

    monkeypatch.setitem(sys.modules, "rapidocr", SimpleNamespace(RapidOCR=lambda: read))
    monkeypatch.setattr(ocr.shutil, "which", lambda name: None)
    ocr._rapidocr.cache_clear()
    seen = seen_page(picture(tmp_path, "To the harbour"), 1, ocr=True)
    ocr._rapidocr.cache_clear()
    assert (seen.source, [(w.text, w.line) for w in seen.words]) == (
        "ocr",
        [("To", 0), ("the", 0), ("harbour", 0)],
    )
    assert log.getvalue() == "a model is damaged\n"
    first, last = seen.words[0].box, seen.words[-1].box
    assert (round(first.x0, 1), round(last.x1, 1), round(first.y1, 1)) == (21.6, 165.6, 32.4)


def test_a_page_of_drawings_is_not_judged_and_an_empty_one_is(tmp_path: Path) -> None:
    drawn = written(tmp_path / "a.pdf", b"0 g 50 50 100 100 re f")
    assert seen_page(drawn, 1).why == "the page shows no text"
    empty = seen_page(written(tmp_path / "b.pdf", b""), 1)
    assert (empty.source, empty.words) == ("layer", ())


PROSE = (
    b"The engineer moved slowly towards",
    b"another harbour because nobody there",
    b"remembered those boats anymore",
)
PARTS = (
    b"p16f84a p16f877 p16c54b p12f675 p18f452",
    b"p16f628 p12c508 p17c44x p14000 p16hv540",
    b"p18f242 p12f629",
)
OTHERS = (
    ("Quarterly", "shipments", "rose", "until", "dusk"),
    ("Beyond", "seventeen", "mountain", "villages"),
)


def reading(monkeypatch: pytest.MonkeyPatch, words: list[tuple[str, Box]], sure: float = 1.0) -> None:
    """Has OCR read these words, wherever it looks, cut out or not."""

    def read(picture: Image.Image) -> tuple[list[ocr.ReadWord], float]:
        return [(text, box, k) for k, (text, box) in enumerate(words)], sure

    for module in (visible, layer_samples):
        monkeypatch.setattr(module, "read_picture", read)
    monkeypatch.setattr(layer_samples, "read_part", lambda picture, part: read(picture)[0])
    monkeypatch.setattr(visible, "can_read", lambda: True)
    monkeypatch.setattr(layer_samples, "scripts", lambda: frozenset({"LATIN"}))
    visible._seen_page.cache_clear()
    layer_samples._is_comparable.cache_clear()


def places(pdf: Path) -> list[tuple[str, Box]]:
    return [(word.text, word.box) for word in seen_page(pdf, 1).words]


@pytest.mark.parametrize(
    ("lines", "say", "source", "why"),
    [
        (PARTS, lambda words: ["pie"] * len(words), "layer", ""),  # OCR takes names for words
        (PROSE, lambda words: words, "layer", ""),
        (PROSE, lambda words: ["zzyzxqk"] * len(words), "ocr", "contradicts its picture"),
        (PROSE, lambda w: [*w[:5], *["zzyzxqk"] * (len(w) - 5)], "none", "text layer and OCR disagree"),
        (PROSE, lambda words: [], "layer", ""),  # what OCR cannot read says nothing about the layer
    ],
)
def test_the_text_layer_wins_unless_ocr_surely_reads_something_else(
    lines: tuple[bytes, ...], say, source: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = written(tmp_path / "a.pdf", b"".join(SEEN % (500 - 20 * k, line) for k, line in enumerate(lines)))
    there = places(pdf)
    texts = say([text for text, _ in there])
    reading(monkeypatch, [(text, box) for text, (_, box) in zip(texts, there, strict=False)])
    seen = seen_page(pdf, 1, ocr=True)
    assert seen.source == source and why in seen.judged_by


@pytest.mark.parametrize(
    ("doubt", "source"), [("", "layer"), ("the page is a picture", "none"), ("the fonts", "none")]
)
@pytest.mark.parametrize(
    ("word", "script"),
    [("Καλημέρα", "Greek"), ("한국어문서", "Korean"), ("中文文件由許", "Chinese characters")],
)
def test_ocr_does_not_judge_scripts_that_it_has_no_model_for(
    doubt: str, source: str, word: str, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = written(tmp_path / "a.pdf", b"")
    seen_words = [
        (word, (50.0, 50.0, 90.0, 60.0), 0, True, False, "Font"),
        ("of", (9.0, 50.0, 19.0, 60.0), 0, True, False, "Font"),
    ]
    monkeypatch.setattr(visible, "_seen", lambda *_: (400.0, 560.0, seen_words, "", doubt, [], {}, {}))
    monkeypatch.setattr(layer_samples, "scripts", lambda: frozenset({"LATIN"}))
    reading(monkeypatch, [("Kaanuepa", Box(50, 50, 90, 60))])
    seen = seen_page(pdf, 1, ocr=True)
    assert seen.source == source and f"OCR has no model for {script}" in seen.judged_by
    assert source == "none" or [shown.text for shown in seen.words] == [word, "of"]


def test_what_ocr_is_unsure_of_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, [("Kaanuepa", Box(50, 50, 90, 60))], sure=0.3)
    seen = seen_page(picture(tmp_path, "To the harbour"), 1, ocr=True)
    assert seen.judged_by == "not judged: the page is a picture, and OCR is unsure of most words"


FACING = (
    b"Winter closed the northern harbour again",
    b"before anybody finished repairing sails",
    b"beside warehouses along the quay",
)
NEXT = b"".join(b"<%02X> <%04X>\n" % (code, 97 + (code - 96) % 26) for code in range(97, 123))


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="needs tesseract")
def test_fonts_are_read_once_and_a_page_where_one_lies_is_still_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four pages have one font, of the same name; on the third its letters are extracted as the next ones."""
    pages = [b"".join(SEEN % (500 - 20 * k, line) for k, line in enumerate((*PROSE, *FACING)))] * 4
    pdf = written(tmp_path / "a.pdf", *pages)
    sizes: list[tuple[int, int]] = []

    def read(picture: Image.Image) -> tuple[list[ocr.ReadWord], float]:
        sizes.append(picture.size)
        return ocr.read_picture(picture)

    for module in (visible, layer_samples):
        monkeypatch.setattr(module, "read_picture", read)
    assert [page.source for page in seen_document(pdf, ocr=True)] == ["layer"] * 4
    assert len(sizes) == 1, "one start of OCR for all pages"
    with pikepdf.open(pdf) as document:
        fonts = document.pages[2].Resources.Font
        fonts.F = document.make_indirect(pikepdf.Dictionary(dict(fonts.F.items())))
        fonts.F.ToUnicode = document.make_stream(
            b"begincmap 1 begincodespacerange <00> <FF> endcodespacerange 26 beginbfchar\n"
            + NEXT
            + b"endbfchar endcmap"
        )
        document.save(tmp_path / "b.pdf")
    assert [page.source for page in seen_document(tmp_path / "b.pdf", ocr=True)] == [
        *("layer", "layer", "ocr", "layer")
    ]


IMAGE = b"q 200 0 0 100 100 300 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q\n"


def test_text_inside_of_a_picture_is_not_asked_for_and_not_invented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = b"BT /F 12 Tf 3 Tr 1 0 0 1 120 350 Tm (screenshot) Tj ET\n"
    pdf = written(tmp_path / "a.pdf", SEEN % (500, b"Some text above it") + IMAGE + behind)
    plain = seen_page(pdf, 1)
    assert [word.text for word in plain.words] == ["Some", "text", "above", "it"]
    assert plain.beside.split() == ["screenshot"], "what a hidden layer says of a picture is no leak"
    reading(monkeypatch, [("button", Box(150, 200, 190, 210))])
    assert "button" in seen_page(pdf, 1, ocr=True).beside.split()


def test_a_page_that_is_read_by_ocr_is_not_asked_for_its_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawn letters beside a screenshot, which does not fill the page."""
    pdf = written(tmp_path / "a.pdf", b"0 g 50 480 200 30 re f\n" + IMAGE)
    reading(monkeypatch, [("drawn", Box(60, 60, 90, 70)), ("button", Box(150, 200, 190, 210))])
    seen = seen_page(pdf, 1, ocr=True)
    assert (seen.source, [word.text for word in seen.words], seen.beside.split()) == (
        "ocr",
        ["drawn"],
        ["button"],
    )


def test_ligatures_of_fonts_without_names_stay_in_their_words(tmp_path: Path) -> None:
    pdf = written(tmp_path / "a.pdf", SEEN % (300, b"coe\\036cients of the \\034rst"))
    words = [unicodedata.normalize("NFKD", word) for word in shown(pdf)]
    assert words == ["coefficients", "of", "the", "first"]


@pytest.mark.parametrize("n_changed", [0, 3, 2000])
def test_pixels_that_differ_are_those_of_a_plain_comparison(n_changed: int) -> None:
    draw = np.random.default_rng(n_changed)
    one = draw.integers(0, 256, (61, 83), dtype=np.uint8)
    other = one.copy()
    other.ravel()[draw.integers(0, one.size, n_changed)] ^= 0x1C
    other[-1, -1] = one[-1, -1] ^ 0x80  # behind the last eight
    plain = np.abs(one.astype(int) - other.astype(int)).ravel() >= visible.CONTRAST
    for first in (one, np.pad(one, ((0, 0), (0, 5)))[:, :83]):  # also of rows that stand apart
        assert visible._differing(first, other).tolist() == np.flatnonzero(plain).tolist()
