"""The training pictures: decoded once, kept on the device as bytes, varied there.

A picture fills its canvas by an affine map, so every canvas of a bucket has one shape and the network sees
no padding, as in the worker. Pages are spliced (the upper part of one, the lower part of another), tables cut
down to some of their rows and columns: a thousand pages then look like many more.
"""

import json
import math
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - as everybody calls it
from PIL import Image

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SHORT_SIDES = {"detection": (608, 800), "structure": (320, 480, 704, 1024)}
"""Short sides of the canvases, in pixels."""
LONG_SIDE = {"detection": 800, "structure": 1024}
TABLE, COLUMN, ROW, HEADER, PROJECTED, SPANNING = range(6)
MIN_ROWS, MIN_COLUMNS = 2, 2


class Bucket:
    """Pictures on canvases of one shape, with their boxes (corners in 0…1) and classes (-1: none).

    The first `given` of them are those of the data folder; further ones may be added up to `room` in all.
    """

    def __init__(self, shape, room, most, device):
        self.shape, self.given, self.filled = shape, 0, 0
        self.corners = torch.zeros(room, most, 4, device=device)
        self.classes = torch.full((room, most), -1, dtype=torch.long, device=device)
        self._canvases = {1.0: torch.empty(room, *shape, dtype=torch.uint8, device=device)}

    def add(self, items):
        """Take in (picture, boxes, classes) while there is room; those with too many boxes are left out."""
        (room, most), (height, width) = self.classes.shape, self.shape
        items = [item for item in items if len(item[2]) <= most][: room - self.filled]
        if not items:
            return
        canvas = np.empty((len(items), height, width), dtype=np.uint8)
        corners = np.zeros((len(items), most, 4), dtype=np.float32)
        classes = np.full((len(items), most), -1, dtype=np.int64)

        def lay(i):
            picture, boxes, kinds = items[i]
            if kinds:
                size = (picture.shape[1], picture.shape[0]) * 2
                corners[i, : len(kinds)] = np.asarray(boxes, dtype=np.float32) / size
                classes[i, : len(kinds)] = kinds
            if picture.shape != self.shape:
                stretched = Image.fromarray(picture).resize((width, height), Image.Resampling.BILINEAR)
                picture = np.asarray(stretched)
            canvas[i] = picture

        if len(items) > 64:
            with ThreadPoolExecutor(16) as pool:
                list(pool.map(lay, range(len(items))))
        else:
            for i in range(len(items)):
                lay(i)
        here = slice(self.filled, self.filled + len(items))
        self.corners[here] = torch.from_numpy(corners).to(self.corners.device)
        self.classes[here] = torch.from_numpy(classes).to(self.classes.device)
        self._canvases[1.0][here] = torch.from_numpy(canvas).to(self.corners.device)
        for scale, small in self._canvases.items():
            if scale != 1.0:
                small[here] = _smaller(self._canvases[1.0][here], small.shape[1:])
        self.filled += len(items)

    def canvases(self, scale):
        """Return all pictures at a share of the full size, made once."""
        if scale not in self._canvases:
            size = [max(64, round(s * scale / 32) * 32) for s in self.shape]
            whole = self._canvases[1.0]
            small = torch.empty(len(whole), *size, dtype=torch.uint8, device=whole.device)
            for start in range(0, self.filled, 256):
                here = slice(start, min(start + 256, self.filled))
                small[here] = _smaller(whole[here], size)
            self._canvases[scale] = small
        return self._canvases[scale]

    def draw(self, rng, count):
        """Return numbers of items to show: half of them of the data folder, half of those that were added."""
        added = self.filled - self.given
        mine = rng.integers(max(1, self.given), size=count)
        theirs = self.given + rng.integers(max(1, added), size=count)
        chance = 0.5 if self.given and added else float(added > 0)
        return np.where(rng.random(count) < chance, theirs, mine)


def _smaller(canvases, size):
    return (
        F.interpolate(canvases[:, None].float(), size=list(size), mode="area").round().to(torch.uint8)[:, 0]
    )


def read_folder(folder, validation, at_most=None):
    """Return (picture, boxes, classes) of one half of a data folder, in pixels."""
    content = json.loads((folder / "coco.json").read_text())
    images = [i for i in content["images"] if i["validation"] is validation][:at_most]
    found = {i["id"]: ([], []) for i in images}
    for a in content["annotations"]:
        if a["image_id"] in found:
            x, y, w, h = a["bbox"]
            found[a["image_id"]][0].append((x, y, x + w, y + h))
            found[a["image_id"]][1].append(a["category_id"])
    with ThreadPoolExecutor(16) as pool:
        pictures = list(pool.map(lambda i: _read(folder / "images" / i["file_name"]), images))
    return [(picture, *found[i["id"]]) for i, picture in zip(images, pictures, strict=True)]


def _read(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"))


def canvas_of(shape, task):
    """Return height and width of the canvas that fits a picture best."""
    height, width = shape
    short = min(height, width) / max(height, width) * LONG_SIDE[task]
    side = min(SHORT_SIDES[task], key=lambda s: abs(math.log(s / short)))
    return (LONG_SIDE[task], side) if height >= width else (side, LONG_SIDE[task])


def into_buckets(items, task, device, spare=0):
    """Return buckets by the shape of the canvas, each with room for `spare` further pictures."""
    groups = {}
    for item in items:
        groups.setdefault(canvas_of(item[0].shape, task), []).append(item)
    most = 2 + max(len(kinds) for _, _, kinds in items)
    buckets = {}
    for shape, group in sorted(groups.items()):
        buckets[shape] = Bucket(shape, len(group) + spare, most, device)
        buckets[shape].add(group)
        buckets[shape].given = buckets[shape].filled
    return buckets


# --- Smaller tables of larger ones ----------------------------------------------------------------------


def parts_of_tables(items, times, seed):
    """Return a number of parts of each table: some neighbouring rows and columns, with the white border."""
    with ThreadPoolExecutor(16) as pool:
        jobs = [(item, seed + 7919 * i + j) for i, item in enumerate(items) for j in range(times)]
        return [part for part in pool.map(lambda job: part_of_table(*job), jobs) if part is not None]


def part_of_table(item, seed):
    """Return one part of a table, enlarged to the usual size; None where every cut goes through a spanning
    cell.
    """
    picture, boxes, kinds = item
    rng = random.Random(seed)
    rows = sorted((b for b, k in zip(boxes, kinds, strict=True) if k == ROW), key=lambda b: b[1])
    columns = sorted((b for b, k in zip(boxes, kinds, strict=True) if k == COLUMN), key=lambda b: b[0])
    if len(rows) <= MIN_ROWS or len(columns) <= MIN_COLUMNS:
        return None
    spans = [b for b, k in zip(boxes, kinds, strict=True) if k == SPANNING]
    table = next(b for b, k in zip(boxes, kinds, strict=True) if k == TABLE)
    for _ in range(8):
        n_rows, n_columns = rng.randint(MIN_ROWS, len(rows)), rng.randint(MIN_COLUMNS, len(columns))
        top = 0 if rng.random() < 0.5 else rng.randint(0, len(rows) - n_rows)
        left = 0 if rng.random() < 0.5 else rng.randint(0, len(columns) - n_columns)
        window = (
            columns[left][0],
            rows[top][1],
            columns[left + n_columns - 1][2],
            rows[top + n_rows - 1][3],
        )
        if all(_inside(span, window) or not _overlap(span, window) for span in spans):
            border = max(4.0, min(table[0], table[1]))
            return _cut_out(picture, boxes, kinds, window, border)
    return None


def _cut_out(picture, boxes, kinds, window, border):
    x0, y0, x1, y1 = (round(v) for v in window)
    margin = round(border)
    if x1 - x0 < 8 or y1 - y0 < 8:
        return None
    piece = np.full((y1 - y0 + 2 * margin, x1 - x0 + 2 * margin), 255, dtype=np.uint8)
    piece[margin:-margin, margin:-margin] = picture[y0:y1, x0:x1]
    scale = LONG_SIDE["structure"] / max(piece.shape)
    size = (max(8, round(piece.shape[1] * scale)), max(8, round(piece.shape[0] * scale)))
    grown = np.asarray(Image.fromarray(piece).resize(size, Image.Resampling.BILINEAR))
    kept, names = [], []
    for box, kind in zip(boxes, kinds, strict=True):
        clipped = (max(box[0], x0), max(box[1], y0), min(box[2], x1), min(box[3], y1))
        if clipped[2] - clipped[0] < 2 or clipped[3] - clipped[1] < 2:
            continue
        kept.append(tuple((v - (x0, y0)[i % 2] + margin) * scale for i, v in enumerate(clipped)))
        names.append(kind)
    heights = [b for b, k in zip(kept, names, strict=True) if k == ROW]
    headers = [b for b, k in zip(kept, names, strict=True) if k == HEADER]
    if headers and headers[0][3] >= max(b[3] for b in heights) - 2:
        return None  # nothing but a header says nothing
    return grown, kept, names


def _inside(a, b):
    return a[0] >= b[0] - 1 and a[1] >= b[1] - 1 and a[2] <= b[2] + 1 and a[3] <= b[3] + 1


def _overlap(a, b):
    return min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1


# --- Batches --------------------------------------------------------------------------------------------


def batch_of(bucket, chosen, scale, *, spliced=0.0, varied=1.0):
    """Return pictures (normalised), boxes and classes of the chosen items (an array of the host).

    Args:
        bucket: Where the items lie.
        chosen: Their numbers.
        scale: Share of the full size.
        spliced: Share of pictures that are made of two.
        varied: Share of pictures that are moved and inked otherwise; 0 gives them as they are.
    """
    device = bucket.corners.device
    index = torch.from_numpy(np.asarray(chosen)).to(device, non_blocking=True)
    pixels = bucket.canvases(scale)[index].float().div_(255)[:, None]
    corners, classes = bucket.corners[index], bucket.classes[index]
    if spliced:
        pixels, corners, classes = splice(pixels, corners, classes, spliced)
    if varied:
        pixels, corners = moved(pixels, corners, varied)
        pixels = inked(pixels, varied)
    return normalised(pixels), corners, classes


def normalised(pixels):
    values = torch.cat([(pixels - mean) / std for mean, std in zip(MEAN, STD, strict=True)], 1)
    return values.contiguous(memory_format=torch.channels_last)


def splice(pixels, corners, classes, share, tries=12):
    """Return the upper (or left) part of a page, and the rest of another, cut where neither has a table."""
    n, device = len(pixels), pixels.device
    other = torch.rand(n, device=device).argsort()
    across = torch.rand(n, device=device) < 0.8  # a cut from left to right
    cuts = 0.15 + 0.7 * torch.rand(n, tries, device=device)
    axis = torch.where(across, 1, 0)
    low = corners.gather(2, axis[:, None, None].expand(-1, corners.shape[1], 1))[..., 0]
    high = corners.gather(2, axis[:, None, None].expand(-1, corners.shape[1], 1) + 2)[..., 0]
    low_other = corners[other].gather(2, axis[:, None, None].expand(-1, corners.shape[1], 1))[..., 0]
    high_other = corners[other].gather(2, axis[:, None, None].expand(-1, corners.shape[1], 1) + 2)[..., 0]
    real, real_other = classes >= 0, classes[other] >= 0
    near = 0.008

    def free(start, end, valid):
        hit = (cuts[:, :, None] > start[:, None] - near) & (cuts[:, :, None] < end[:, None] + near)
        return ~(hit & valid[:, None]).any(-1)

    allowed = free(low, high, real) & free(low_other, high_other, real_other)
    which = allowed.float().argmax(1)
    cut = cuts.gather(1, which[:, None])[:, 0]
    done = allowed.any(1) & (torch.rand(n, device=device) < share)
    height, width = pixels.shape[-2:]
    y = (torch.arange(height, device=device) + 0.5)[None, :, None] / height
    x = (torch.arange(width, device=device) + 0.5)[None, None, :] / width
    place = torch.where(across[:, None, None], y.expand(1, -1, width), x.expand(1, height, -1))
    second = done[:, None, None] & (place > cut[:, None, None])
    pixels = torch.where(second[:, None], pixels[other], pixels)
    mine = torch.where(real & (~done[:, None] | (high < cut[:, None])), classes, -1)
    theirs = torch.where(real_other & done[:, None] & (low_other > cut[:, None]), classes[other], -1)
    return pixels, torch.cat([corners, corners[other]], 1), torch.cat([mine, theirs], 1)


def moved(pixels, corners, share):
    """Return some shrunk and shifted within the canvas (the rest white), some mirrored."""
    n, device = len(pixels), pixels.device
    zoom = 1 - 0.4 * torch.rand(n, 2, device=device) * (torch.rand(n, 1, device=device) < 0.7 * share)
    zoom = 0.35 * zoom + 0.65 * zoom.mean(1, keepdim=True)
    shift = (1 - zoom) * torch.rand(n, 2, device=device)
    mirrored = torch.rand(n, device=device) < 0.25 * share
    # The place u (0…1) of the new picture shows the place (u - shift) / zoom of the old one.
    theta = torch.zeros(n, 2, 3, device=device)
    for axis in (0, 1):
        theta[:, axis, axis] = 1 / zoom[:, axis]
        theta[:, axis, 2] = (1 - 2 * shift[:, axis]) / zoom[:, axis] - 1
    theta[:, 0] = torch.where(mirrored[:, None], -theta[:, 0], theta[:, 0])
    grid = F.affine_grid(theta, list(pixels.shape), align_corners=False)
    pixels = 1 - F.grid_sample(1 - pixels, grid, mode="bilinear", align_corners=False)
    flipped = torch.stack([1 - corners[..., 2], corners[..., 1], 1 - corners[..., 0], corners[..., 3]], -1)
    placed = corners * zoom.repeat(1, 2)[:, None] + shift.repeat(1, 2)[:, None]
    placed_flipped = flipped * zoom.repeat(1, 2)[:, None] + shift.repeat(1, 2)[:, None]
    return pixels, torch.where(mirrored[:, None, None], placed_flipped, placed)


def inked(pixels, share):
    """Vary pictures: fainter or bolder ink, some blur, some noise, some grey paper."""
    n, device = len(pixels), pixels.device

    def draw(low, high):
        return low + (high - low) * torch.rand(n, 1, 1, 1, device=device)

    def some(chance):
        return torch.rand(n, 1, 1, 1, device=device) < chance * share

    ink = (1 - pixels).clamp(0, 1)
    ink = torch.where(some(0.8), ink.clamp(min=1e-4) ** draw(0.6, 1.5) * draw(0.5, 1.0), ink)
    ink = torch.where(some(0.3), F.avg_pool2d(ink, 3, 1, 1), ink)
    paper = 1 - draw(0, 0.15) * some(0.3)
    noise = draw(0, 0.05) * torch.randn_like(ink) * some(0.5)
    return (paper * (1 - ink) + noise).clamp(0, 1)
