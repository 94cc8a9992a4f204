"""Writes a copy of a corpus as bad scans, one image-only PDF per page: skewed, blurred, noisy, faded,
compressed, with watermarks and tints, with the other side shining through, shadows, folds, stamps,
handwriting over the print, and ink that runs out.

The map from the clean page to the degraded one is known (a rotation about the centre), so the boxes of the
truth follow it. What was done is recorded in the page's attributes, under OmniDocBench's names where it has
them.
"""

from __future__ import annotations

import hashlib
import io
import math
import random
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from parsemark.corpora import Corpus
from parsemark.corpora.making import (
    MadeCorpus,
    Maker,
    MakingJob,
    option,
    write_copy_manifest,
    write_page,
)
from parsemark.corpora.render import page_image
from parsemark.errors import CorpusError, UsageError
from parsemark.model import AttributeValue, Box, Category, Element
from parsemark.pdf import save_picture_pdf
from parsemark.system import make_folder
from parsemark_makers.making import in_processes, pages_to_copy, with_boxes

WHITE = (255, 255, 255)
WATERMARKS = ("DRAFT", "CONFIDENTIAL", "COPY", "SAMPLE")
TINTS = ((255, 247, 219), (226, 240, 255), (233, 246, 228), (253, 230, 233), (238, 232, 250))
SEVERITIES = range(1, 6)
RANDOM_SEVERITY = (0.5, 3.5)
STAMPS = ("RECEIVED", "PAID", "APPROVED", "COPY", "URGENT")
_SHARES = """skew blur noise jpeg watermark background low_contrast bleed_through shadow fold stamp
handwriting low_ink"""
SHARES = tuple(_SHARES.split())
_STRENGTHS = ("bleed_through", "shadow", "fold", "handwriting", "low_ink")


@dataclass(frozen=True, kw_only=True)
class Degraded(Maker):
    """Copies of the pages of a corpus, degraded to bad scans; the boxes of the truth are adjusted."""

    generator: ClassVar[str] = "parsemark degrade 3"
    needs_corpus: ClassVar[bool] = True

    seed: int = option("The same seed gives the same damages.", 0)
    dpi: int = option("Resolution of the scans, 50 to 600.", 150)
    skew: float = option("Share of pages that are turned a little.", 0.7)
    blur: float = option("Share of blurred pages.", 0.5)
    noise: float = option("Share of noisy pages.", 0.5)
    jpeg: float = option("Share of strongly compressed pages.", 0.8)
    watermark: float = option("Share of pages with a watermark.", 0.2)
    background: float = option("Share of pages on coloured paper.", 0.2)
    low_contrast: float = option("Share of faded pages.", 0.2)
    bleed_through: float = option("Share of pages whose other side shines through.", 0.2)
    shadow: float = option("Share of pages with a shadow at an edge.", 0.2)
    fold: float = option("Share of pages with a crease.", 0.15)
    stamp: float = option("Share of pages with a stamp.", 0.1)
    handwriting: float = option("Share of pages with handwriting over the print.", 0.1)
    low_ink: float = option("Share of pages printed with little ink.", 0.15)
    severity: tuple[str, ...] = option(
        "Strength of all damages, 1 to 5 (default: random). Several (1-5 or 1+3+5): each page at each.",
        (),
    )

    def __post_init__(self) -> None:
        for name in SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"The share {name} must be from 0 to 1, not {getattr(self, name)}.")
        if not 50 <= self.dpi <= 600:
            raise UsageError(f"dpi must be from 50 to 600, not {self.dpi}.")
        _ = self.severities  # raises for one that does not exist

    @cached_property
    def severities(self) -> tuple[int, ...]:
        """Return the severities as numbers; none if they are random.

        >>> Degraded(severity=("1-3", "5")).severities
        (1, 2, 3, 5)
        """
        found: list[int] = []
        for part in self.severity:
            first, dash, last = part.strip().partition("-")
            if not first.isdecimal() or (dash and not last.isdecimal()):
                raise UsageError(
                    f"The severity must be a number from 1 to 5, or several (1-5, 1+3+5), not {part!r}."
                )
            low, high = int(first), int(last) if dash else int(first)
            if not (low in SEVERITIES and high in SEVERITIES and low <= high):
                raise UsageError(f"The severity must be from 1 to 5, not {part}.")
            found += [number for number in range(low, high + 1) if number not in found]
        return tuple(found)

    def settings(self) -> dict[str, Any]:
        """Return all options; several severities are a list of their own."""
        several = self.severities if len(self.severities) > 1 else ()
        one = self.severities[0] if len(self.severities) == 1 else None
        return {**asdict(self), "severity": one, **({"severities": list(several)} if several else {})}

    def make(self, job: MakingJob) -> MadeCorpus:
        """Degrade all pages that have truth; at several severities each is `ID-s1`, `ID-s2` and so on."""
        assert job.corpus is not None
        keys, left_out = pages_to_copy(job.corpus)
        make_folder(job.out / "pdfs")
        for key, done in in_processes(partial(_degrade_page, job.corpus, self, job.out), keys, job.workers):
            if done is None:
                raise CorpusError(f"Degrading sample {key} crashed the program.")
            job.progress(1)
        about = {"generator": self.generator, "seed": self.seed}
        manifest = write_copy_manifest(
            job.out, job.corpus, "degraded", "as bad scans", self.settings(), **about
        )
        return MadeCorpus(manifest, left_out=left_out)


@dataclass(frozen=True)
class Damage:
    """What is done to one page. Zero, None and 100 (of quality) do nothing."""

    angle: float = 0.0  # degrees counter-clockwise
    blur_px: float = 0.0
    noise: float = 0.0  # standard deviation, in grey levels
    quality: int = 100
    watermark: str | None = None
    tint: tuple[int, int, int] | None = None
    contrast: float = 1.0
    bleed_through: float = 0.0  # how much of the other side is seen; this and the next from 0 to 1
    shadow: float = 0.0
    fold: float = 0.0
    stamp: str | None = None
    handwriting: float = 0.0
    low_ink: float = 0.0
    severity: int | None = None

    def attributes(self) -> dict[str, AttributeValue]:
        """Return the values as recorded on the page."""
        strengths = {name: getattr(self, name) for name in _STRENGTHS}
        done = (*strengths.values(), self.angle, self.blur_px, self.noise, self.stamp)
        return {
            "fuzzy_scan": any(done) or self.quality < 100 or self.contrast < 1,
            "watermark": self.watermark is not None,
            "colorful_background": self.tint is not None,
            "skew_degrees": round(self.angle, 3),
            "blur_px": round(self.blur_px, 3),
            "noise": round(self.noise, 2),
            "jpeg_quality": self.quality,
            "contrast": round(self.contrast, 3),
            **{name: round(value, 3) for name, value in strengths.items()},
            "stamp": self.stamp is not None,
            **({} if self.severity is None else {"severity": self.severity}),
        }


def draw_damage(options: Degraded, page_id: str, severity: int | None = None) -> Damage:
    """Return what happens to a page, which depends on the seed and the page's id alone.

    The same damages hit it at each severity; without one, each damage has a random strength of its own.
    """
    digest = hashlib.sha256(f"degrade:{options.seed}:{page_id}".encode()).digest()
    rng = random.Random(int.from_bytes(digest[:16], "big"))
    hit = {name: rng.random() < getattr(options, name) for name in SHARES}
    sign = 1 if rng.uniform(-1, 1) > 0 else -1
    watermark = rng.choice(WATERMARKS) if hit["watermark"] else None
    tint = rng.choice(TINTS) if hit["background"] else None
    stamp = rng.choice(STAMPS) if hit["stamp"] else None
    strength = {name: hit[name] * (severity or rng.uniform(*RANDOM_SEVERITY)) for name in SHARES}
    return Damage(
        angle=sign * 0.6 * strength["skew"],
        blur_px=0.35 * strength["blur"],
        noise=7.0 * strength["noise"],
        quality=round(95 - 16 * strength["jpeg"]) if hit["jpeg"] else 100,
        watermark=watermark,
        tint=tint,
        contrast=1.0 - 0.14 * strength["low_contrast"],
        stamp=stamp,
        severity=severity,
        **{name: 0.2 * strength[name] for name in _STRENGTHS},
    )


def damage_picture(picture: Image.Image, damage: Damage, page_id: str) -> Image.Image:
    """Return the degraded picture, of the same size."""
    result = picture.convert("RGB")
    if damage.low_ink:
        result = _low_ink(result, damage.low_ink, _dice("ink", page_id))
    if damage.bleed_through:
        result = _bleed_through(result, damage.bleed_through)
    if damage.tint is not None:
        tinted = np.asarray(result, dtype=np.uint16) * np.array(damage.tint, dtype=np.uint16) // 255
        result = Image.fromarray(tinted.astype(np.uint8))
    if damage.watermark is not None:
        result = _watermark(result, damage.watermark)
    if damage.stamp is not None:
        result = _stamp(result, damage.stamp, _dice("stamp", page_id))
    if damage.handwriting:
        result = _handwriting(result, damage.handwriting, _dice("hand", page_id))
    if damage.fold:
        result = _fold(result, damage.fold, _dice("fold", page_id))
    if damage.angle:
        result = result.rotate(damage.angle, Image.Resampling.BICUBIC, fillcolor=damage.tint or WHITE)
    if damage.shadow:
        result = _shadow(result, damage.shadow, _dice("shadow", page_id))
    if damage.blur_px:
        result = result.filter(ImageFilter.GaussianBlur(damage.blur_px))
    if damage.contrast < 1:
        grey = 200.0
        faded = grey + (np.asarray(result, dtype=np.float32) - grey) * damage.contrast
        result = Image.fromarray(np.clip(faded, 0, 255).astype(np.uint8))
    if damage.noise:
        grain = _dice("noise", page_id).normal(0, damage.noise, (result.height, result.width, 1))
        result = Image.fromarray(np.clip(np.asarray(result) + grain, 0, 255).astype(np.uint8))
    if damage.quality < 100:
        buffer = io.BytesIO()
        result.save(buffer, format="JPEG", quality=damage.quality)
        result = Image.open(buffer).convert("RGB")
    return result


def turn_box(box: Box, degrees: float, frame: Box) -> Box:
    """Return the hull of a box after a rotation about the centre of the frame, cut at its edges."""
    if not degrees:
        return box
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x_mid, y_mid = frame.centre
    points = [
        (x_mid + (x - x_mid) * cos + (y - y_mid) * sin, y_mid - (x - x_mid) * sin + (y - y_mid) * cos)
        for x in (box.x0, box.x1)
        for y in (box.y0, box.y1)
    ]
    return Box.of_points(*zip(*points, strict=True)).clipped(frame).rounded()


def _moved(element: Element, damage: Damage, frame: Box) -> Element:
    attributes = dict(element.attributes)
    if damage.tint is not None and element.category == Category.TABLE:
        attributes["include_background"] = True
    elif damage.tint is not None and "text_background" in attributes:
        attributes["text_background"] = "single_colored"
    moved = with_boxes(element, lambda box: turn_box(box, damage.angle, frame))
    return replace(moved, attributes=attributes)


def _dice(concern: str, page_id: str) -> np.random.Generator:
    """Return the same for a page at each severity."""
    digest = hashlib.sha256(f"{concern}:{page_id}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def _darkened(picture: Image.Image, light: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> Image.Image:
    """Return the picture times what is left of the light, from 0 to 1 (rows, columns, or both)."""
    return Image.fromarray(np.clip(np.asarray(picture, np.float32) * light, 0, 255).astype(np.uint8))


def _low_ink(picture: Image.Image, strength: float, dice: np.random.Generator) -> Image.Image:
    """Draw stripes and patches in which the print is pale, as of a cartridge that runs out."""
    stripes = dice.random(max(2, picture.width // 24)).astype(np.float32)
    patches = dice.random((max(2, picture.height // 90), max(2, picture.width // 90))).astype(np.float32)
    pale = np.asarray(Image.fromarray(patches).resize(picture.size, Image.Resampling.BICUBIC), np.float32)
    columns = np.interp(np.linspace(0, 1, picture.width), np.linspace(0, 1, len(stripes)), stripes)
    lost = np.clip(1.6 * strength * pale * columns, 0, 0.92)[:, :, None]
    paper = np.asarray(picture, np.float32)
    return Image.fromarray((paper + (255 - paper) * lost).astype(np.uint8))


def _bleed_through(picture: Image.Image, strength: float) -> Image.Image:
    """Return the page itself, mirrored, stands for what is printed on the other side."""
    back = picture.convert("L").transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    back = back.filter(ImageFilter.GaussianBlur(1.2))
    light = 1 - (255 - np.asarray(back, np.float32)) / 255 * 0.4 * strength
    return _darkened(picture, light[:, :, None])


def _shadow(picture: Image.Image, strength: float, dice: np.random.Generator) -> Image.Image:
    """Darken a picture towards one edge, as at the spine of a book or under a hand."""
    side = int(dice.integers(4))
    length = picture.size[side % 2]
    reach = dice.uniform(0.2, 0.5)
    fall = np.clip(1 - np.linspace(0, 1, length, dtype=np.float32) / reach, 0, 1) ** 2
    light = 1 - 0.75 * strength * (fall if side < 2 else fall[::-1])
    return _darkened(picture, light[None, :, None] if side % 2 == 0 else light[:, None, None])


def _fold(picture: Image.Image, strength: float, dice: np.random.Generator) -> Image.Image:
    """Return a crease across the sheet: a thin line with a dark side; nothing moves."""
    upright = bool(dice.integers(2))
    length = picture.width if upright else picture.height
    distance = np.arange(length, dtype=np.float32) - length * dice.uniform(0.3, 0.7)
    shade = np.where(distance > 0, np.exp(-distance / (0.04 * length)), 0) * 0.5
    crease = np.exp(-((distance / max(1.0, length / 900)) ** 2)) * 0.6
    light = 1 - strength * np.clip(shade + crease, 0, 0.85)
    return _darkened(picture, light[None, :, None] if upright else light[:, None, None])


def _stamp(picture: Image.Image, text: str, dice: np.random.Generator) -> Image.Image:
    """Return a red stamp with a frame somewhere on the page; the print shows through."""
    font = ImageFont.load_default(size=picture.width // 22)
    wide, high = picture.width // 4, picture.width // 12
    layer = Image.new("L", (wide, high), 0)
    pen = ImageDraw.Draw(layer)
    pen.rectangle((2, 2, wide - 3, high - 3), outline=170, width=max(2, wide // 60))
    pen.text((wide / 2, high / 2), text, fill=170, font=font, anchor="mm")
    layer = layer.rotate(float(dice.uniform(-25, 25)), Image.Resampling.BICUBIC, expand=True)
    place = tuple(int(dice.uniform(0.05, 0.7) * side) for side in picture.size)
    whole = Image.new("L", picture.size, 0)
    whole.paste(layer, (place[0], place[1]))
    return Image.composite(Image.new("RGB", picture.size, (178, 30, 40)), picture, whole)


def _handwriting(picture: Image.Image, strength: float, dice: np.random.Generator) -> Image.Image:
    """Draw lines of blue loops, some of them over the print."""
    result = picture.copy()
    pen = ImageDraw.Draw(result)
    size = picture.width / 60
    for _ in range(max(1, round(5 * strength))):
        x, y = dice.uniform(0.05, 0.6) * picture.width, dice.uniform(0.08, 0.92) * picture.height
        steps = np.arange(int(dice.integers(40, 120)), dtype=np.float32)
        across = x + steps * size * 0.11 + size * 0.5 * np.sin(steps * 0.7)
        up = y + size * np.sin(steps * 0.55 + dice.uniform(0, 6)) * (0.4 + 0.6 * dice.random(len(steps)))
        points = [(float(a), float(b)) for a, b in zip(across, up, strict=True)]
        pen.line(points, fill=(28, 46, 140), width=max(1, picture.width // 500), joint="curve")
    return result


def _watermark(picture: Image.Image, text: str) -> Image.Image:
    """Return a large grey word across the page."""
    font = ImageFont.load_default(size=picture.width // 8)
    layer = Image.new("L", picture.size, 0)
    pen = ImageDraw.Draw(layer)
    pen.text((picture.width / 2, picture.height / 2), text, fill=70, font=font, anchor="mm")
    layer = layer.rotate(40, Image.Resampling.BICUBIC)
    return Image.composite(Image.new("RGB", picture.size, (110, 110, 110)), picture, layer)


def _degrade_page(corpus: Corpus, options: Degraded, out: Path, key: str) -> str:
    sample = corpus.read(key)
    assert sample.truth is not None
    frame = Box(0, 0, sample.truth.width, sample.truth.height)
    clean = page_image(sample, options.dpi)
    for severity in options.severities or (None,):
        name = f"{key}-s{severity}" if len(options.severities) > 1 else key
        damage = draw_damage(options, key, severity)
        picture = damage_picture(clean, damage, key)
        pdf = out / "pdfs" / f"{name}.pdf"
        width, height = (side * 72 / options.dpi for side in picture.size)
        save_picture_pdf(picture, pdf, (width, height), quality=damage.quality, producer="parsemark degrade")
        truth = replace(
            sample.truth,
            id=name,
            width=round(width, 2),
            height=round(height, 2),
            elements=tuple(_moved(element, damage, frame) for element in sample.truth.elements),
            attributes={**sample.truth.attributes, **damage.attributes()},
        )
        scan = replace(sample, id=name, truth=truth, pdf=pdf, page_number=1)
        write_page(out, scan, f"pdfs/{name}.pdf")
    return key
