"""A few pages that stand for many: clusters of what pages look like, and a balanced draw (OmniDocBench, 3.1).

Pages are drawn as thumbnails; their tones, colours, columns and density are features; k-means from pages
that lie far apart finds clusters. Pages are then drawn in turn from the clusters, and in each from the
documents: those with the fewest pages so far first, and of a document the page nearest to the middle of its
cluster. The same PDFs give the same pages.
"""

import csv
import importlib
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from parsemark.corpora.loaders.files import is_storable
from parsemark.errors import MissingDependencyError, PdfError, UsageError
from parsemark.pdf import count_pages, extract_page, render_page
from parsemark.system.files import make_folder, replacing
from parsemark.system.scratch import made_whole

DPI = 24
_GRID = 12
_ROUNDS = 20
_MAX_PAGES = 50_000
Features = NDArray[np.float64]
Encoder = Callable[[Sequence[Image.Image]], Any]


@dataclass(frozen=True, slots=True)
class SampledPage:
    """A page of a PDF, with the cluster that it is in."""

    pdf: Path
    number: int
    cluster: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Sampled:
    """What was looked at and chosen, and what could not be read."""

    pages: tuple[SampledPage, ...]
    unreadable: tuple[str, ...]

    @property
    def chosen(self) -> list[SampledPage]:
        """Return the pages of the sample."""
        return [page for page in self.pages if page.chosen]


@made_whole
def sample_pages(
    pdfs: Sequence[Path],
    n_pages: int,
    out: Path,
    *,
    clusters: int | None = None,
    encoder: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sampled:
    """Choose pages of PDFs, and of all in folders; write `pages.csv`, `pdfs/` with a PDF per chosen page, and
    `sheets/` with a picture per cluster.

    Without `clusters` there are as many as the square root of half the number of pages, 2 to 20. An `encoder`
    gives the features instead: `resnet50` (OmniDocBench's, of torchvision), or `MODULE:FUNCTION`, which gets
    a list of Pillow pictures and gives a row of numbers for each.
    """
    encode = _encoder(encoder) if encoder else _features
    found = (sorted(path.rglob("*.pdf")) if path.is_dir() else [path] for path in pdfs)
    files = list(dict.fromkeys(path for paths in found for path in paths))
    if not files:
        raise UsageError("No PDF was found.")
    places, thumbnails, unreadable = _thumbnails(files, progress)
    if n_pages < 1 or not places:
        raise UsageError("There is no page to choose. Give readable PDFs, and --pages 1 or more.")
    features: Features = np.asarray(encode(thumbnails), dtype=np.float64)
    if features.ndim != 2 or len(features) != len(places) or not np.isfinite(features).all():
        raise UsageError(f"{encoder} must give one row of finite numbers for each of {len(places)} pictures.")
    wanted = clusters or max(2, min(20, round(math.sqrt(len(places) / 2))))
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)
    labels, distances = _clusters(scaled, min(wanted, len(places)))
    chosen = _draw(places, labels, distances, min(n_pages, len(places)))
    pages = tuple(
        SampledPage(pdf, number, int(labels[k]) + 1, k in chosen) for k, (pdf, number) in enumerate(places)
    )
    _write(out, pages, thumbnails)
    return Sampled(pages, tuple(unreadable))


def _thumbnails(
    files: Sequence[Path], progress: Callable[[int, int], None]
) -> tuple[list[tuple[Path, int]], list[Image.Image], list[str]]:
    places: list[tuple[Path, int]] = []
    pictures: list[Image.Image] = []
    unreadable: list[str] = []
    for index, pdf in enumerate(files):
        if not is_storable(pdf):
            name = pdf.name.encode("utf-8", "replace").decode()
            unreadable.append(f"{name}: its name is not UTF-8. Rename it.")
            continue
        try:
            for number in range(1, count_pages(pdf) + 1):
                if len(places) >= _MAX_PAGES:
                    raise UsageError(f"There are more than {_MAX_PAGES:,} pages; sample from fewer PDFs.")
                pictures.append(render_page(pdf, number, DPI))
                places.append((pdf, number))
        except PdfError as error:
            unreadable.append(str(error))
        progress(index + 1, len(files))
    return places, pictures, unreadable


def _encoder(name: str) -> Encoder:
    module, colon, function = name.partition(":")
    if name != "resnet50" and not (module and colon and function):
        raise UsageError(f"--encoder must be resnet50 or MODULE:FUNCTION, not {name!r}.")
    try:
        if name == "resnet50":
            return _resnet50(importlib.import_module("torch"), importlib.import_module("torchvision.models"))
        found: Encoder = getattr(importlib.import_module(module), function)
    except ModuleNotFoundError as error:
        install = "pip install torch torchvision" if name == "resnet50" else f"pip install {error.name}"
        raise MissingDependencyError(str(error.name), f"--encoder {name}", install) from error
    except AttributeError as error:
        raise UsageError(f"{module} has no function {function}.") from error
    return found


def _resnet50(torch: Any, models: Any) -> Encoder:
    """Return the encoder that uses the last layer but one of ResNet-50, like OmniDocBench."""
    weights = models.ResNet50_Weights.DEFAULT
    network, prepare = models.resnet50(weights=weights), weights.transforms()
    network.fc = torch.nn.Identity()
    network.eval()

    def encode(pictures: Sequence[Image.Image]) -> Any:
        with torch.no_grad():
            return np.concatenate([network(prepare(p.convert("RGB"))[None]).numpy() for p in pictures])

    return encode


def _features(pictures: Sequence[Image.Image]) -> Features:
    """Return shape, tones on a grid, ink by row and column, and how colourful each page is."""
    rows = []
    for picture in pictures:
        small = np.asarray(picture.convert("RGB").resize((4 * _GRID, 4 * _GRID)), dtype=np.float64) / 255
        grey = small.mean(axis=2)
        tones = grey.reshape(_GRID, 4, _GRID, 4).mean(axis=(1, 3)).ravel()
        ink = 1 - grey
        colour = small.max(axis=2) - small.min(axis=2)
        histogram = np.histogram(grey, bins=8, range=(0, 1))[0] / grey.size
        edges = [np.abs(np.diff(grey, axis=axis)).mean() for axis in (0, 1)]
        shape = [colour.mean(), colour.max(), picture.width / max(1, picture.height)]
        profile = [ink.mean(axis=0), ink.mean(axis=1)]
        rows.append(np.concatenate([tones * 0.5, *profile, histogram, shape, edges]))
    return np.stack(rows)


def _clusters(points: Features, k: int) -> tuple[NDArray[np.intp], Features]:
    """Return k-means from pages that lie far apart: the cluster of each point, and its distance to the
    middle.
    """
    middles = points[:1]
    while len(middles) < k:
        middles = np.vstack([middles, points[_distances(points, middles).min(axis=1).argmax()]])
    labels = np.zeros(len(points), dtype=np.intp)
    for _ in range(_ROUNDS):
        labels = _distances(points, middles).argmin(axis=1)
        for cluster in set(labels.tolist()):
            middles[cluster] = points[labels == cluster].mean(axis=0)
    distances = _distances(points, middles)
    return labels, np.asarray(distances[np.arange(len(points)), labels])


def _distances(points: Features, middles: Features) -> Features:
    return np.stack([((points - middle) ** 2).sum(axis=1) for middle in middles], axis=1)


def _draw(
    places: Sequence[tuple[Path, int]], labels: NDArray[np.intp], distances: Features, n: int
) -> set[int]:
    """Return pages in turn from the clusters; in each, from the document that has fewest pages so far."""
    members: dict[int, list[int]] = defaultdict(list)
    for index in sorted(range(len(places)), key=lambda k: (distances[k], str(places[k][0]), places[k][1])):
        members[int(labels[index])].append(index)
    taken: dict[Path, int] = defaultdict(int)
    chosen: set[int] = set()
    while len(chosen) < n:
        for cluster in sorted(members):
            left = [k for k in members[cluster] if k not in chosen]
            if not left or len(chosen) >= n:
                continue
            best = min(left, key=lambda k: (taken[places[k][0]], left.index(k)))
            chosen.add(best)
            taken[places[best][0]] += 1
    return chosen


# --- writing -----------------------------------------------------------------------------------------------


def _write(out: Path, pages: Sequence[SampledPage], thumbnails: Sequence[Image.Image]) -> None:
    make_folder(out)
    folder, sheets = make_folder(out, "pdfs"), make_folder(out, "sheets")
    with replacing(out / "pages.csv") as listing, listing.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["pdf", "page", "cluster", "chosen", "file"])
        for number, page in enumerate(pages, 1):
            name = f"{number:05d}-{page.pdf.stem[:60]}-p{page.number}.pdf" if page.chosen else ""
            writer.writerow([page.pdf, page.number, page.cluster, int(page.chosen), name])
            if page.chosen:
                extract_page(page.pdf, page.number, folder / name)
    by_cluster: dict[int, list[int]] = defaultdict(list)
    for index, page in enumerate(pages):
        by_cluster[page.cluster].append(index)
    for cluster, members in sorted(by_cluster.items()):
        ordered = sorted(members, key=lambda k: not pages[k].chosen)[:60]
        shown = [(thumbnails[k], pages[k].chosen) for k in ordered]
        with replacing(sheets / f"cluster-{cluster:02d}.png") as picture:
            _sheet(shown).save(picture, format="PNG")


def _sheet(pictures: Sequence[tuple[Image.Image, bool]], side: int = 200, per_row: int = 6) -> Image.Image:
    """Return a contact sheet; chosen pages have a frame."""
    rows = math.ceil(len(pictures) / per_row)
    sheet = Image.new("RGB", (side * min(per_row, len(pictures)), side * rows), "white")
    draw = ImageDraw.Draw(sheet)
    for k, (picture, chosen) in enumerate(pictures):
        shown = picture.copy()
        shown.thumbnail((side - 16, side - 16))
        x, y = side * (k % per_row) + 8, side * (k // per_row) + 8
        sheet.paste(shown, (x, y))
        colour, width = ("#c2410c", 4) if chosen else ("#d4d4d8", 1)
        draw.rectangle((x - 3, y - 3, x + shown.width + 2, y + shown.height + 2), outline=colour, width=width)
    return sheet
