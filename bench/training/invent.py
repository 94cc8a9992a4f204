"""Invents pages and tables without a typesetter: quick, crude, and more varied than the makers' corpora.

What is drawn here is only for training: words of syllables, tables of many looks with the boxes of their
parts, and what a detector takes for tables (lists, contents, plots, forms). A core draws some 20 pages or 40
tables a second. Boxes follow `bench/_ideal_parts.py`: rows and columns touch, and reach over the whole table.
"""

import os
import random
from functools import lru_cache
from itertools import pairwise
from multiprocessing import TimeoutError, get_context

import numpy as np
from pictures import COLUMN, HEADER, PROJECTED, ROW, SPANNING, TABLE, canvas_of
from PIL import Image, ImageDraw, ImageFont

BORDER = 100
SYLLABLES = tuple(
    consonant + vowel + end for consonant in "bcdfglmnprstvwz" for vowel in "aeiou" for end in ("", "n", "r")
)
SIGNS = ("–", "—", "n/a", "yes", "no", "✓", "*", "…", "0", "%", "+")


@lru_cache(maxsize=512)
def font_of(path, size):
    return ImageFont.truetype(path, size)


class Pen:
    """One random source, one typeface, one size."""

    def __init__(self, rng, fonts):
        self.rng, self.fonts = rng, fonts
        self.path = rng.choice(fonts)
        self.size = rng.randint(13, 23)

    def font(self, grow=1.0):
        return font_of(self.path, max(8, round(self.size * grow)))

    def word(self):
        text = "".join(self.rng.choices(SYLLABLES, k=self.rng.randint(1, 3)))
        return text.capitalize() if self.rng.random() < 0.15 else text

    def words(self, low, high):
        text = " ".join(self.word() for _ in range(self.rng.randint(low, high)))
        return text[:1].upper() + text[1:] if self.rng.random() < 0.7 else text

    def number(self):
        rng = self.rng
        value = rng.random() * 10 ** rng.randint(0, 6)
        text = f"{value:,.{rng.choice((0, 0, 1, 2, 3))}f}"
        if rng.random() < 0.2:
            text = text.replace(",", " ").replace(".", ",")
        decoration = rng.random()
        if decoration < 0.08:
            text = f"({text})"
        elif decoration < 0.16:
            text = f"−{text}"
        elif decoration < 0.24:
            text = f"{text}%"
        elif decoration < 0.3:
            text = f"{text} ± {rng.random():.2f}"
        return text


# --- Tables ---------------------------------------------------------------------------------------------


def table(pen, widest):
    """Return a picture of a table and its parts [(class, corners)] in the picture's pixels."""
    made = Table(pen, widest)
    return made.picture(), made.parts()


class Table:
    """One invented table: contents, spans and lines first, then the picture."""

    def __init__(self, pen, widest):
        rng = self.rng = pen.rng
        self.pen = pen
        self.n_header = rng.choices((0, 1, 2, 3), (0.1, 0.6, 0.22, 0.08))[0]
        n_rows = max(self.n_header + 1, round(2 * 16 ** (rng.random() ** 1.3)))
        n_cols = rng.choice((2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 10, 12))
        kinds = ["text", *rng.choices(("number", "number", "number", "text", "short"), k=n_cols - 1)]
        empty = rng.choice((0, 0, 0.05, 0.2, 0.4))
        texts = [[_cell(pen, kind, empty, row < self.n_header) for kind in kinds] for row in range(n_rows)]
        self.gap, self.pad = rng.randint(8, 40), rng.choice((1, 2, 4, 6, 10, 16))
        wrap = rng.choice((10**6, 10**6, 10**6, 120, 200))
        widths = [max(30, *(min(pen.font().getlength(row[c]), wrap) for row in texts)) for c in range(n_cols)]
        while sum(widths) + self.gap * len(widths) > widest and len(widths) > 2:
            widths.pop()
        n_cols = len(widths)
        natural = sum(widths) + self.gap * n_cols
        stretch = max(1.0, min(rng.choice((1.0, 1.0, 1.0, 1.3, widest / natural)), widest / natural))
        self.xs = [round(x) for x in np.cumsum([0, *((w + self.gap) * stretch for w in widths)])]
        self.spans, self.projected = _spans(rng, n_rows, n_cols, self.n_header)
        self.covered = {
            (r, c): span
            for span in self.spans
            for r in range(span[0], span[2])
            for c in range(span[1], span[3])
        }
        self.line = round(pen.size * rng.uniform(1.15, 1.45))
        self.lines = [
            [_wrapped(pen, row[c], self.xs[c + 1] - self.xs[c] - self.gap + 1) for c in range(n_cols)]
            for row in texts
        ]
        for (r, c), span in self.covered.items():
            room = self.xs[span[3]] - self.xs[span[1]] - self.gap
            self.lines[r][c] = _wrapped(pen, texts[r][c] or pen.word(), room)[: span[2] - span[0]]
        for r in self.projected:
            self.lines[r] = [_wrapped(pen, pen.words(1, 5), self.xs[-1] - self.gap)[:1]]
        heights = [max(len(cell) for cell in row) * self.line + self.pad for row in self.lines]
        self.ys = [int(y) for y in np.cumsum([0, *heights])]
        self.align = [rng.choice(("right", "center", "left")) if k != "text" else "left" for k in kinds]
        if rng.random() < 0.2:
            self.align = ["center"] * len(kinds)

    def picture(self):
        rng, xs, ys = self.rng, self.xs, self.ys
        picture = Image.new("L", (xs[-1] + 1, ys[-1] + 1), 255)
        draw = ImageDraw.Draw(picture)
        _shade(draw, rng, xs, ys, self.n_header)
        head, bold, middle = (
            rng.choice((None, "center", "left")),
            rng.random() < 0.5,
            rng.choice((0, 0.5, 0.5)),
        )
        for r, row in enumerate(self.lines):
            for c, text in enumerate(row):
                span = self.covered.get(
                    (r, c), (r, c, r + 1, c + 1 if r not in self.projected else len(xs) - 1)
                )
                if span[:2] != (r, c):
                    continue
                side = head if r < self.n_header and head else self.align[c]
                side = "center" if span[3] - c > 1 and r < self.n_header else side
                self._write(draw, (xs[c], ys[r], xs[span[3]], ys[span[2]]), text, side, middle)
                if bold and r < self.n_header:
                    self._write(draw, (xs[c] + 1, ys[r], xs[span[3]] + 1, ys[span[2]]), text, side, middle)
        _rules(draw, rng, xs, ys, self.n_header, self.covered, self.projected)
        return picture

    def _write(self, draw, box, text, side, middle):
        font, inner = self.pen.font(), self.gap // 2
        y = box[1] + self.pad / 2 + (box[3] - box[1] - self.pad - len(text) * self.line) * middle
        for part in text:
            width = font.getlength(part)
            x = {"left": box[0] + inner, "right": box[2] - inner - width}.get(
                side, (box[0] + box[2] - width) / 2
            )
            draw.text((x, y), part, fill=0, font=font)
            y += self.line

    def parts(self):
        xs, ys = self.xs, self.ys
        right, bottom = xs[-1], ys[-1]
        parts = [(TABLE, (0, 0, right, bottom))]
        parts += [(COLUMN, (x0, 0, x1, bottom)) for x0, x1 in pairwise(xs)]
        parts += [(ROW, (0, y0, right, y1)) for y0, y1 in pairwise(ys)]
        if self.n_header:
            parts.append((HEADER, (0, 0, right, ys[self.n_header])))
        parts += [(PROJECTED, (0, ys[r], right, ys[r + 1])) for r in self.projected]
        return parts + [(SPANNING, (xs[c0], ys[r0], xs[c1], ys[r1])) for r0, c0, r1, c1 in self.spans]


def _cell(pen, kind, empty, header):
    rng = pen.rng
    if header:
        return pen.words(1, 3) if rng.random() < 0.92 else ""
    if rng.random() < empty:
        return rng.choice(("", "", "", "–"))
    if kind == "number":
        return pen.number() if rng.random() < 0.96 else rng.choice(SIGNS)
    if kind == "short":
        return rng.choice((*SIGNS, pen.word(), pen.word(), str(rng.randint(0, 99))))
    return pen.words(1, rng.choice((1, 2, 3, 6)))


def _spans(rng, n_rows, n_cols, n_header):
    """Return spanning cells (top, left, bottom, right) that do not touch each other, and projected row
    headers.
    """
    spans, projected = [], []
    if n_header >= 2 and n_cols >= 3:
        column = 1
        if rng.random() < 0.6:
            spans.append((0, 0, n_header, 1))
        while column + 1 < n_cols:
            width = rng.randint(2, min(4, n_cols - column))
            if rng.random() < 0.75:
                spans.append((0, column, 1, column + width))
            column += width
    body = list(range(n_header, n_rows))
    if rng.random() < 0.18 and len(body) > 3:
        projected = sorted(rng.sample(body[:-1], min(len(body) // 3, rng.randint(1, 4))))
    elif rng.random() < 0.25 and len(body) > 2:
        row = n_header
        while row + 1 < n_rows:
            height = rng.randint(2, min(4, n_rows - row)) if n_rows - row >= 2 else 1
            if height > 1 and rng.random() < 0.8:
                spans.append((row, 0, row + height, 1))
            row += height
    return spans, projected


def _wrapped(pen, text, room):
    font, lines = pen.font(), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _shade(draw, rng, xs, ys, n_header):
    tone = rng.randint(190, 245)
    if n_header and rng.random() < 0.25:
        draw.rectangle((0, 0, xs[-1], ys[n_header]), fill=tone)
    if rng.random() < 0.15:
        for r in range(n_header, len(ys) - 1, 2):
            draw.rectangle((0, ys[r], xs[-1], ys[r + 1]), fill=tone)
    if rng.random() < 0.05:
        draw.rectangle((0, 0, xs[1], ys[-1]), fill=tone)


def _rules(draw, rng, xs, ys, n_header, covered, projected):
    style = rng.choices(
        ("none", "booktabs", "rows", "full", "columns", "frame"), (0.2, 0.27, 0.15, 0.25, 0.06, 0.07)
    )[0]
    tone, thick = rng.choice((0, 0, 0, 90, 160)), rng.choice((1, 1, 1, 2))
    right, bottom = int(xs[-1]), int(ys[-1])
    last = len(ys) - 1

    def across(r, heavy=0):
        for c in range(len(xs) - 1):
            span = covered.get((r, c))
            if 0 < r < last and span is not None and span[0] < r:
                continue
            draw.line((xs[c], ys[r], xs[c + 1], ys[r]), fill=tone, width=thick + heavy)

    if style != "none":
        across(0, int(style == "booktabs"))
        across(last, int(style == "booktabs"))
    if n_header and (style in ("booktabs", "rows", "full", "frame") or rng.random() < 0.3):
        across(n_header)
    if style in ("rows", "full"):
        for r in range(1, last):
            across(r)
    elif rng.random() < 0.15:
        for r in sorted(rng.sample(range(1, last), min(last - 1, 2))) if last > 1 else ():
            across(r)
    if style in ("full", "columns"):
        for r in range(last):
            for c in range(1, len(xs) - 1):
                span = covered.get((r, c))
                if r not in projected and not (span is not None and span[1] < c):
                    draw.line((xs[c], ys[r], xs[c], ys[r + 1]), fill=tone, width=thick)
    if style in ("full", "frame"):
        draw.line((0, 0, 0, bottom), fill=tone, width=thick)
        draw.line((right, 0, right, bottom), fill=tone, width=thick)


# --- Pages ----------------------------------------------------------------------------------------------


def page(pen):
    """Return a page at 144 dpi and its tables [(class: 0 upright, 1 on its side; corners)]."""
    rng = pen.rng
    width, height = rng.choice(((1190, 1684), (1190, 1684), (1224, 1584), (1684, 1190)))
    sheet = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(sheet)
    margin = rng.randint(70, 190)
    n_columns = rng.choices((1, 2, 3), (0.6, 0.35, 0.05))[0]
    gutter = rng.randint(24, 60)
    column = (width - 2 * margin - gutter * (n_columns - 1)) // n_columns
    boxes, tops = [], rng.randint(60, 180)
    wanted = rng.choices((0, 1, 2, 3, 4, 6), (0.12, 0.3, 0.25, 0.15, 0.1, 0.08))[0]
    if rng.random() < 0.5:
        _text(draw, pen, margin, tops // 2, pen.words(2, 6), 0.8)
    if n_columns > 1 and wanted and rng.random() < 0.4:
        tops = _place(sheet, pen, boxes, (margin, tops), width - 2 * margin, height - margin)
        wanted -= 1
    chance = wanted / (6 * n_columns)
    for number in range(n_columns):
        x, y = margin + number * (column + gutter), tops
        end = height - rng.randint(80, 200)
        while y < end - 60:
            if wanted and rng.random() < max(chance, 0.2):
                y = _place(sheet, pen, boxes, (x, y), column, end)
                wanted -= 1
            else:
                y = _block(draw, pen, x, y, column, end)
            y += rng.randint(8, 40)
            if rng.random() < 0.03:
                break
    return sheet, boxes


def _place(sheet, pen, boxes, corner, widest, end):
    """Draw a table with its caption, if there is room; returns where the page goes on."""
    rng = pen.rng
    own = Pen(rng, pen.fonts)
    own.path = pen.path if rng.random() < 0.7 else own.path
    own.size = max(11, min(22, pen.size - rng.randint(0, 4)))
    turned = rng.random() < 0.06
    picture, _ = table(own, widest if not turned else max(200, int((end - corner[1]) * 0.9)))
    if turned:
        picture = picture.rotate(rng.choice((90, 270)), expand=True, fillcolor=255)
    x, y = corner
    above = rng.random() < 0.6
    draw = ImageDraw.Draw(sheet)
    caption = 0 if rng.random() < 0.2 else round(pen.size * 1.5)
    if picture.width > widest + 4 or y + caption + picture.height + 20 > end:
        return _block(draw, pen, x, y, widest, end)
    if caption and above:
        _text(draw, pen, x, y, "Table " + pen.words(2, 8), 0.95, widest)
        y += caption + rng.randint(2, 14)
    left = x + (0 if rng.random() < 0.3 else (widest - picture.width) // 2)
    sheet.paste(picture, (left, y))
    boxes.append((int(turned), (left, y, left + picture.width - 1, y + picture.height - 1)))
    y += picture.height
    if caption and not above:
        _text(draw, pen, x, y + rng.randint(4, 14), "Table " + pen.words(2, 8), 0.95, widest)
        y += caption + 14
    return y


def _text(draw, pen, x, y, text, grow=1.0, room=None):
    font = pen.font(grow)
    if room:
        while len(text) > 4 and font.getlength(text) > room:
            text = text[: int(len(text) * 0.85)]
    draw.text((x, y), text, fill=pen.rng.choice((0, 0, 40)), font=font)


def _block(draw, pen, x, y, width, end):
    kind = pen.rng.choices(
        (_paragraph, _heading, _items, _plot, _formula, _contents, _form),
        (0.55, 0.12, 0.08, 0.09, 0.06, 0.05, 0.05),
    )[0]
    return kind(draw, pen, x, y, width, end)


def _paragraph(draw, pen, x, y, width, end, marker="", most=16):
    rng, font = pen.rng, pen.font()
    line = round(pen.size * rng.uniform(1.2, 1.6))
    each = max(1, int(width / (pen.size * 2.2)))
    ragged = rng.random() < 0.3
    for number in range(rng.randint(1, most)):
        if y > end - line:
            break
        text = (marker if number == 0 else "") + " ".join(pen.word() for _ in range(each))
        room = width * (rng.uniform(0.8, 1) if ragged else 1)
        while len(text) > 3 and font.getlength(text) > room:
            text = text[: max(3, int(len(text) * room / font.getlength(text)))]
        draw.text((x, y), text, fill=0, font=font)
        y += line
    return y


def _heading(draw, pen, x, y, width, end):
    _text(draw, pen, x, y, pen.words(1, 6), pen.rng.uniform(1.1, 1.8), width)
    return y + round(pen.size * 2.2)


def _items(draw, pen, x, y, width, end):
    for number in range(pen.rng.randint(2, 7)):
        y = _paragraph(draw, pen, x + 30, y, width - 30, end, f"{number + 1}. ", 3) + 6
    return y


def _plot(draw, pen, x, y, width, end):
    rng = pen.rng
    high = rng.randint(120, 420)
    if y + high > end:
        return _paragraph(draw, pen, x, y, width, end)
    wide = rng.randint(width // 2, width)
    if rng.random() < 0.3:
        draw.rectangle((x, y, x + wide, y + high), fill=rng.randint(120, 245))
        return y + high
    draw.line((x, y, x, y + high, x + wide, y + high), fill=0, width=2)
    for _ in range(rng.randint(1, 4)):
        points = [(x + wide * i / 12, y + high * rng.random()) for i in range(13)]
        draw.line(points, fill=rng.randint(0, 160), width=2)
    if rng.random() < 0.4:
        for i in range(8):
            top = y + high * rng.random()
            draw.rectangle(
                (x + wide * i / 8 + 6, top, x + wide * i / 8 + 24, y + high), fill=rng.randint(60, 220)
            )
    for i in range(rng.randint(3, 8)):
        _text(draw, pen, x + wide * i / 8, y + high + 4, str(i * 10), 0.7)
    return y + high + pen.size * 2


def _formula(draw, pen, x, y, width, end):
    _text(
        draw, pen, x + width * 0.3, y + 6, f"{pen.word()} = {pen.number()} + {pen.word()}", 1.1, width * 0.6
    )
    _text(draw, pen, x + width - 40, y + 6, f"({pen.rng.randint(1, 30)})")
    return y + pen.size * 3


def _contents(draw, pen, x, y, width, end):
    for _ in range(pen.rng.randint(4, 14)):
        if y > end - 30:
            break
        text = pen.words(1, 5)
        dots = int((width * 0.9 - pen.font().getlength(text)) / max(1.0, pen.font().getlength(" .")))
        _text(draw, pen, x, y, text + " ." * max(0, dots), 1.0, width * 0.93)
        _text(draw, pen, x + width - 34, y, str(pen.rng.randint(1, 300)))
        y += round(pen.size * 1.5)
    return y


def _form(draw, pen, x, y, width, end):
    for _ in range(pen.rng.randint(2, 6)):
        if y > end - 40:
            break
        text = pen.words(1, 3) + ":"
        _text(draw, pen, x, y, text, 1.0, width * 0.4)
        draw.line((x + width * 0.45, y + pen.size, x + width * 0.95, y + pen.size), fill=0)
        y += round(pen.size * 2)
    return y


# --- Many of them ---------------------------------------------------------------------------------------


def invent(task, fonts, seed):
    """Return one (picture, boxes, classes) on its canvas."""
    pen = Pen(random.Random(seed), fonts)
    if task == "detection":
        picture, found = page(pen)
    else:
        inside, parts = table(pen, pen.rng.randint(300, 1100))
        picture = Image.new("L", (inside.width + 2 * BORDER, inside.height + 2 * BORDER), 255)
        picture.paste(inside, (BORDER, BORDER))
        found = [(kind, tuple(v + BORDER for v in box)) for kind, box in parts]
    height, width = canvas_of((picture.height, picture.width), task)
    across, down = width / picture.width, height / picture.height
    boxes = [(b[0] * across, b[1] * down, b[2] * across, b[3] * down) for _, b in found]
    small = picture.resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(small), boxes, [kind for kind, _ in found]


def _some(job):
    task, fonts, seeds = job
    return [invent(task, fonts, seed) for seed in seeds]


class Feeder:
    """Processes that invent pictures while the network learns. Make it before CUDA is touched (it forks)."""

    def __init__(self, task, folder, processes, seed=0, at_once=4):
        fonts = sorted(str(path) for path in folder.iterdir() if path.suffix in (".ttf", ".otf"))
        seeds = range(seed * 10**7, seed * 10**7 + 10**5, at_once)
        self.pool = get_context("fork").Pool(processes, initializer=os.nice, initargs=(5,))
        self.made = self.pool.imap_unordered(_some, ((task, fonts, range(n, n + at_once)) for n in seeds))
        self.kept = {}

    def collect(self, wait=0.0):
        """Keep what is made by now (at most one parcel), by shape; waits so many seconds for it."""
        try:
            items = self.made.next(timeout=wait)
        except (TimeoutError, StopIteration):
            return
        for item in items:
            self.kept.setdefault(item[0].shape, []).append(item)

    def close(self):
        self.pool.terminate()
        self.pool.join()
