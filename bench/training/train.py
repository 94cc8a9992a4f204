"""Trains Table Transformer's detector or structure model from nothing, within a given time, on one GPU.

    python bench/training/train.py FOLDER/detection --task detection --limit-s 300 --out OUT

Self-contained: torch, transformers, numpy and Pillow; no network, no parsemark. FOLDER is made by
`prepare.py`. The architecture is the published one (DETR with ResNet-18, 6 + 6 layers of 256; 15 or 125
queries), so the weights run wherever the published ones do. What differs from DETR's recipe, because minutes
must do what days did there:

- the backbone learns with real batch normalisation, which is frozen into the weights when they are saved;
- a linear head on the encoder's output sees at each place whether it lies in an object of each class, and in
  which box: a dense loss teaches the features from the first step on. It is thrown away afterwards;
- pictures begin at half their size; the learning rate follows the clock; the weights are averaged over steps;
- a query that answers an object is told where to look: the attention of the decoder that falls into the
  object's box is rewarded, which is what a DETR otherwise needs most of its days to find out;
- queries and objects are paired greedily on the GPU, once per step, for all decoder layers.

Writes OUT/weights.part0… (half precision; safetensors, cut into parts under 16 MB: `cat` joins them),
OUT/config.json and OUT/log.json.
"""

import argparse
import json
import math
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - as everybody calls it
from PIL import Image
from torch import nn
from transformers import ResNetConfig, TableTransformerConfig, TableTransformerForObjectDetection

QUERIES = {"detection": 15, "structure": 125}
NO_OBJECT_WEIGHT = {"detection": 0.2, "structure": 0.4}
STEP = 64
"""Canvas sizes are multiples of this."""
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
PART_BYTES = 15 * 1024 * 1024
MAX_TARGETS = 125
EVERY = 8
"""Steps between two of the averaged weights."""


# --- Data -----------------------------------------------------------------------------------------------


class Bucket:
    """Pictures of about the same shape on canvases of one size, on the device."""

    def __init__(self, pictures, boxes, labels, device):
        height = math.ceil(max(p.shape[0] for p in pictures) / STEP) * STEP
        width = math.ceil(max(p.shape[1] for p in pictures) / STEP) * STEP
        canvas = np.full((len(pictures), height, width), 255, dtype=np.uint8)
        count = min(MAX_TARGETS, max(1, *(len(b) for b in boxes)))
        corners = np.zeros((len(pictures), count, 4), dtype=np.float32)
        classes = np.full((len(pictures), count), -1, dtype=np.int64)
        for i, (picture, found, kinds) in enumerate(zip(pictures, boxes, labels, strict=True)):
            canvas[i, : picture.shape[0], : picture.shape[1]] = picture
            n = min(count, len(found))
            if n:
                corners[i, :n] = np.asarray(found[:n], dtype=np.float32) / (width, height, width, height)
                classes[i, :n] = kinds[:n]
        self.pictures = torch.from_numpy(canvas).to(device)
        self.corners = torch.from_numpy(corners).to(device)
        self.classes = torch.from_numpy(classes).to(device)

    def __len__(self):
        return len(self.pictures)


def load(folder, validation, device, at_most=None):
    """The pictures of one half, in buckets by shape."""
    content = json.loads((folder / "coco.json").read_text())
    images = [i for i in content["images"] if i["validation"] is validation][:at_most]
    found = {i["id"]: ([], []) for i in images}
    for a in content["annotations"]:
        if a["image_id"] in found:
            x, y, w, h = a["bbox"]
            found[a["image_id"]][0].append((x, y, x + w, y + h))
            found[a["image_id"]][1].append(a["category_id"])
    with ThreadPoolExecutor(8) as pool:
        pictures = list(pool.map(lambda i: read(folder / "images" / i["file_name"]), images))
    groups = {}
    for image, picture in zip(images, pictures, strict=True):
        shape = tuple(math.ceil(s / 256) for s in picture.shape)
        groups.setdefault(shape, []).append((picture, *found[image["id"]]))
    return [Bucket(*map(list, zip(*group, strict=True)), device) for _, group in sorted(groups.items())]


def read(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"))


def batch_of(bucket, chosen, scale, augment):
    """Pictures (normalised), boxes as corners in 0…1 and classes (-1: none) of the chosen items."""
    pixels = bucket.pictures[chosen].float().div_(255)[:, None]
    corners, classes = bucket.corners[chosen].clone(), bucket.classes[chosen]
    if scale < 1:
        size = [max(STEP, round(s * scale / 32) * 32) for s in pixels.shape[-2:]]
        pixels = F.interpolate(pixels, size=size, mode="area")
    if augment:
        pixels, corners = moved(pixels, corners)
        pixels = inked(pixels)
    mean = torch.tensor(MEAN, device=pixels.device).view(1, 3, 1, 1)
    std = torch.tensor(STD, device=pixels.device).view(1, 3, 1, 1)
    return (pixels.expand(-1, 3, -1, -1) - mean) / std, corners, classes


def moved(pixels, corners):
    """Shrunk, shifted within the canvas, and half of them mirrored."""
    n, device = len(pixels), pixels.device
    zoom = 1 - 0.35 * torch.rand(n, 2, device=device) * (torch.rand(n, 1, device=device) < 0.7)
    zoom = 0.5 * zoom + 0.5 * zoom.mean(1, keepdim=True)
    shift = (1 - zoom) * torch.rand(n, 2, device=device)
    mirrored = torch.rand(n, device=device) < 0.5
    # Output place u (0…1) shows input place (u - shift) / zoom.
    theta = torch.zeros(n, 2, 3, device=device)
    for axis in (0, 1):
        theta[:, axis, axis] = 1 / zoom[:, axis]
        theta[:, axis, 2] = (1 - 2 * shift[:, axis]) / zoom[:, axis] - 1
    theta[mirrored, 0] *= -1
    grid = F.affine_grid(theta, list(pixels.shape), align_corners=False)
    pixels = 1 - F.grid_sample(1 - pixels, grid, mode="bilinear", align_corners=False)
    flipped = corners.clone()
    flipped[..., 0], flipped[..., 2] = 1 - corners[..., 2], 1 - corners[..., 0]
    corners = torch.where(mirrored[:, None, None], flipped, corners)
    return pixels, corners * zoom.repeat(1, 2)[:, None] + shift.repeat(1, 2)[:, None]


def inked(pixels):
    """Fainter or bolder ink, some blur, some noise, some grey paper."""
    n, device = len(pixels), pixels.device

    def draw(low, high):
        return low + (high - low) * torch.rand(n, 1, 1, 1, device=device)

    ink = (1 - pixels).clamp(0, 1) ** draw(0.6, 1.5) * draw(0.55, 1.0)
    blurred = F.avg_pool2d(ink, 3, 1, 1)
    ink = torch.where(torch.rand(n, 1, 1, 1, device=device) < 0.25, blurred, ink)
    paper = 1 - draw(0, 0.12) * (torch.rand(n, 1, 1, 1, device=device) < 0.3)
    return (paper * (1 - ink) + draw(0, 0.04) * torch.randn_like(ink)).clamp(0, 1)


# --- Model and loss -------------------------------------------------------------------------------------


def make_model(task, names, layers):
    backbone = ResNetConfig(
        layer_type="basic", depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512], out_features=["stage4"]
    )
    config = TableTransformerConfig(
        use_timm_backbone=False,
        backbone=None,
        backbone_config=backbone,
        num_queries=QUERIES[task],
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
        encoder_layers=layers,
        decoder_layers=layers,
        auxiliary_loss=True,
    )
    return TableTransformerForObjectDetection(config)


def thaw(module):
    """Real batch normalisation in place of the frozen one, whose statistics mean nothing before training."""
    for name, child in module.named_children():
        if type(child).__name__ == "TableTransformerFrozenBatchNorm2d":
            setattr(module, name, nn.BatchNorm2d(child.weight.numel()))
        else:
            thaw(child)


class Dense(nn.Module):
    """At each place of the encoder's output, for each class: in such an object? in which box?"""

    def __init__(self, width, n_classes):
        super().__init__()
        self.n_classes = n_classes
        self.out = nn.Linear(width, n_classes * 5)

    def forward(self, features, shape, corners, classes):
        n, (height, width) = len(features), shape
        seen = self.out(features.float()).view(n, -1, self.n_classes, 5)
        ys = (torch.arange(height, device=features.device) + 0.5) / height
        xs = (torch.arange(width, device=features.device) + 0.5) / width
        y, x = (v.flatten() for v in torch.meshgrid(ys, xs, indexing="ij"))
        inside = (
            (x >= corners[..., 0:1])
            & (x < corners[..., 2:3])
            & (y >= corners[..., 1:2])
            & (y < corners[..., 3:4])
        )  # n, targets, places
        area = (corners[..., 2] - corners[..., 0]) * (corners[..., 3] - corners[..., 1])
        loss = features.new_zeros((), dtype=torch.float)
        for kind in range(self.n_classes):
            cost = torch.where(inside & (classes == kind)[..., None], area[..., None], torch.inf)
            smallest, which = cost.min(1)
            hit = smallest.isfinite()
            loss = loss + F.binary_cross_entropy_with_logits(seen[:, :, kind, 0], hit.float())
            wanted = corners.gather(1, which[..., None].expand(-1, -1, 4))
            off = (seen[:, :, kind, 1:].sigmoid() - wanted).abs().mean(-1) * hit
            loss = loss + 5 * off.sum() / hit.sum().clamp(min=1)
        return loss / self.n_classes


def centred(corners):
    return torch.cat([(corners[..., :2] + corners[..., 2:]) / 2, corners[..., 2:] - corners[..., :2]], -1)


def cornered(boxes):
    return torch.cat([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)


def giou(a, b):
    """Generalised IoU of boxes given by corners; shapes broadcast."""
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    shared = (high - low).clamp(min=0).prod(-1)
    size_a, size_b = (a[..., 2:] - a[..., :2]).prod(-1), (b[..., 2:] - b[..., :2]).prod(-1)
    union = size_a + size_b - shared
    hull = (torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])).prod(-1)
    return shared / (union + 1e-7) - (hull - union) / (hull + 1e-7)


@torch.no_grad()
def pair(logits, boxes, corners, classes):
    """For each target the query it is paired with, the cheapest pair first; -1 for padding."""
    n, queries, targets = len(logits), logits.shape[1], corners.shape[1]
    chance = logits.softmax(-1)
    index = classes.clamp(min=0)[:, None].expand(-1, queries, -1)
    cost = (
        -chance.gather(2, index)
        + 5 * torch.cdist(boxes, centred(corners), p=1)
        - 2 * giou(cornered(boxes)[:, :, None], corners[:, None])
    )
    cost = cost.masked_fill((classes < 0)[:, None], torch.inf)
    chosen = torch.full((n, targets), -1, dtype=torch.long, device=logits.device)
    rows = torch.arange(n, device=logits.device)
    for _ in range(int((classes >= 0).sum(1).max())):
        best, flat = cost.view(n, -1).min(1)
        query, target = flat // targets, flat % targets
        open_ = best.isfinite()
        chosen[rows[open_], target[open_]] = query[open_]
        cost[rows, query] = torch.inf
        cost[rows, :, target] = torch.inf
    rows, targets = (chosen >= 0).nonzero(as_tuple=True)
    return rows, chosen[rows, targets], targets


def set_loss(logits, boxes, corners, classes, chosen, no_object):
    """DETR's loss: classes of all queries, L1 and GIoU of the paired ones (rows, queries, targets)."""
    n_classes = logits.shape[-1] - 1
    wanted = torch.full(logits.shape[:2], n_classes, dtype=torch.long, device=logits.device)
    rows, queries, targets = chosen
    wanted[rows, queries] = classes[rows, targets]
    weight = torch.ones(n_classes + 1, device=logits.device)
    weight[-1] = no_object
    loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), weight)
    if len(rows):
        mine, truth = boxes[rows, queries], corners[rows, targets]
        loss = loss + 5 * (mine - centred(truth)).abs().sum(-1).mean()
        loss = loss + 2 * (1 - giou(cornered(mine), truth)).mean()
    return loss


def looking(attentions, shape, corners, chosen):
    """How little of each answering query's attention lies in its object's box and half a place around it."""
    rows, queries, targets = chosen
    height, width = shape
    box = corners[rows, targets]
    ys = (torch.arange(height, device=box.device) + 0.5) / height
    xs = (torch.arange(width, device=box.device) + 0.5) / width
    y, x = (v.flatten() for v in torch.meshgrid(ys, xs, indexing="ij"))
    inside = (x >= box[:, 0:1] - 0.5 / width) & (x <= box[:, 2:3] + 0.5 / width)
    inside &= (y >= box[:, 1:2] - 0.5 / height) & (y <= box[:, 3:4] + 0.5 / height)
    loss = box.new_zeros(())
    if not len(rows):
        return loss
    for attention in attentions:
        share = (attention[rows, :, queries].float().mean(1) * inside).sum(-1)
        loss = loss - (share + 1e-3).log().mean()
    return loss / len(attentions)


def loss_of(model, dense, batch, no_object, bf16, guided):
    pixels, corners, classes = batch
    with torch.autocast(pixels.device.type, torch.bfloat16, enabled=bf16):
        out = model.model(pixels.contiguous(memory_format=torch.channels_last), output_attentions=True)
        layers = out.intermediate_hidden_states
        logits = model.class_labels_classifier(layers).float()
        boxes = model.bbox_predictor(layers).float().sigmoid()
    chosen = chosen_last = pair(logits[-1], boxes[-1], corners, classes)
    last = set_loss(logits[-1], boxes[-1], corners, classes, chosen, no_object)
    # Where objects are few, the other layers answer each several times: more queries learn from a picture.
    times = 3 if logits.shape[2] < 50 else 1
    many, kinds = corners.repeat(1, times, 1), classes.repeat(1, times)
    chosen = pair(logits[-1], boxes[-1], many, kinds) if times > 1 else chosen
    earlier = [set_loss(c, b, many, kinds, chosen, no_object) for c, b in zip(logits[:-1], boxes[:-1])]  # noqa: B905
    shape = [math.ceil(s / 32) for s in pixels.shape[-2:]]
    seen = dense(out.encoder_last_hidden_state, shape, corners, classes)
    # The first layer has seen nothing of the page yet and must look around.
    looked = looking(out.cross_attentions[1:], shape, corners, chosen_last)
    return (sum(earlier) + last) / len(layers) + 2 * seen + guided * looked, last


# --- Training -------------------------------------------------------------------------------------------


@torch.no_grad()
def validate(model, buckets, n_classes, batch_size, bf16):
    """Per class: recall of boxes at IoU .5 and .75 with the right class, and precision at score .5."""
    model.eval()
    hits50, hits75, truths, right, claimed = (torch.zeros(n_classes) for _ in range(5))
    for bucket in buckets:
        for start in range(0, len(bucket), batch_size):
            pixels, corners, classes = batch_of(bucket, slice(start, start + batch_size), 1.0, False)
            with torch.autocast(pixels.device.type, torch.bfloat16, enabled=bf16):
                out = model(pixels)
            scores, kinds = out.logits.float().softmax(-1)[..., :-1].max(-1)
            iou = _iou(cornered(out.pred_boxes.float())[:, :, None], corners[:, None])
            same = (kinds[:, :, None] == classes[:, None]) & (scores > 0.5)[..., None]
            best = (iou * same).max(1).values
            found = (iou * same).max(2).values > 0.5
            for kind in range(n_classes):
                mine = classes == kind
                truths[kind] += mine.sum().cpu()
                hits50[kind] += (best[mine] > 0.5).sum().cpu()
                hits75[kind] += (best[mine] > 0.75).sum().cpu()
                asked = (kinds == kind) & (scores > 0.5)
                claimed[kind] += asked.sum().cpu()
                right[kind] += found[asked].sum().cpu()
    model.train()
    return [
        {"n": int(t), "recall50": _share(a, t), "recall75": _share(b, t), "precision50": _share(r, c)}
        for t, a, b, r, c in zip(truths, hits50, hits75, right, claimed, strict=True)
    ]


def _iou(a, b):
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    shared = (high - low).clamp(min=0).prod(-1)
    return shared / ((a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - shared + 1e-7)


def _share(part, whole):
    return round(float(part / whole), 4) if whole else None


@torch.no_grad()
def settle(model, buckets, pictures, bf16):
    """Measure the statistics of batch normalisation anew, for the weights as they are.

    Those that were gathered on the way belong to other weights and to pictures of half the size.
    """
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    model.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the plain mean over all batches
        norm.train()
    device = next(model.parameters()).device
    done = 0
    while done < pictures:
        bucket = random.choices(buckets, [len(b) for b in buckets])[0]
        chosen = torch.randint(len(bucket), (min(len(bucket), 8),), device=device)
        pixels, _, _ = batch_of(bucket, chosen, 1.0, False)
        with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
            model.model.backbone.conv_encoder.model(pixels)
        done += len(chosen)
    model.eval()


def save(model, out):
    """Half-precision weights in parts, the configuration beside them."""
    from safetensors.torch import save as to_bytes

    out.mkdir(parents=True, exist_ok=True)
    state = {
        name: value.detach().to("cpu", torch.float32 if "running_" in name else torch.float16).contiguous()
        for name, value in model.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
    data = to_bytes(state, metadata={"format": "pt"})
    for old in out.glob("weights.part*"):
        old.unlink()
    for number, start in enumerate(range(0, len(data), PART_BYTES)):
        (out / f"weights.part{number}").write_bytes(data[start : start + PART_BYTES])
    model.config.save_pretrained(out)


@torch.no_grad()
def follow(average, model, share):
    """Let the averaged weights follow those of the model."""
    state = model.state_dict()
    names = [name for name, value in state.items() if value.is_floating_point()]
    torch._foreach_lerp_([average[n] for n in names], [state[n] for n in names], share)
    for name in state.keys() - set(names):
        average[name].copy_(state[name])


def train(given):  # noqa: PLR0915 - one loop, told in order
    started = time.monotonic()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    bf16 = device == "cuda"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(given.seed)
    random.seed(given.seed)
    names = [c["name"] for c in json.loads((given.data / "coco.json").read_text())["categories"]]
    buckets = load(given.data, False, device, given.at_most)
    held_back = load(given.data, True, device, given.at_most)
    model = make_model(given.task, names, given.layers)
    thaw(model)
    model.to(device, memory_format=torch.channels_last).train()
    dense = Dense(256, len(names)).to(device)
    if given.weights:
        from safetensors.torch import load_file

        state = load_file(given.weights, device=device)
        mine = model.state_dict()
        fitting = {k: v.float() for k, v in state.items() if k in mine and v.shape == mine[k].shape}
        model.load_state_dict(fitting, strict=False)
        print(f"{len(fitting)} of {len(mine)} weights from {given.weights}", flush=True)
    average = {k: v.detach().clone() for k, v in model.state_dict().items()}
    earlier = 0.0
    if given.resume and given.resume.exists():
        print(f"going on from {given.resume}", flush=True)
        state = torch.load(given.resume, map_location=device, weights_only=True)
        model.load_state_dict(state["model"])
        dense.load_state_dict(state["dense"])
        average = state["average"]
        earlier = 1.0
    optimiser = torch.optim.AdamW(
        [*model.parameters(), *dense.parameters()], lr=given.lr, weight_decay=1e-4, fused=device == "cuda"
    )
    sizes = [len(b) for b in buckets]
    print(
        f"{device}: {sum(sizes)} images, {len(sizes)} buckets, loaded in {time.monotonic() - started:.0f} s",
        flush=True,
    )
    log, step, seen, shown = [], 0, 0, time.monotonic()
    begun = checked = time.monotonic()
    while given.limit_s > 0 and (passed := (time.monotonic() - begun) / given.limit_s) < 1:
        small = passed < given.small_share and not earlier
        scale = 0.5 if small else 1.0
        rate = min(1.0, (step + 1) / 200) * (0.5 * (1 + math.cos(math.pi * passed)) * 0.98 + 0.02)
        for group in optimiser.param_groups:
            group["lr"] = given.lr * rate
        bucket = random.choices(buckets, sizes)[0]
        room = (
            given.batch
            * (3 if small else 1)
            * 640_000
            // (bucket.pictures.shape[1] * bucket.pictures.shape[2])
        )
        chosen = torch.randint(len(bucket), (max(1, min(room, 256)),), device=device)
        loss, last = loss_of(
            model,
            dense,
            batch_of(bucket, chosen, scale, True),
            NO_OBJECT_WEIGHT[given.task],
            bf16,
            given.guided * (1 - passed),
        )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimiser.step()
        step, seen = step + 1, seen + len(chosen)
        if step % EVERY == 0:
            follow(average, model, max(0.02, EVERY / (step + 1)))
        if time.monotonic() - shown > given.show_s:
            shown = time.monotonic()
            log.append(
                {
                    "s": round(shown - begun),
                    "step": step,
                    "seen": seen,
                    "loss": round(float(last.detach()), 4),
                }
            )
            print(json.dumps(log[-1]), flush=True)
        if held_back and time.monotonic() - checked > given.check_s:
            checked = time.monotonic()
            figures = validate(model, held_back, len(names), 16, bf16)
            print(json.dumps({"s": round(checked - begun), "validation": figures}), flush=True)
    if given.checkpoint:
        torch.save(
            {"model": model.state_dict(), "dense": dense.state_dict(), "average": average}, given.checkpoint
        )
    if given.limit_s > 0:
        model.load_state_dict(average)
    settle(model, buckets, given.settle, bf16)
    figures = (
        dict(zip(names, validate(model, held_back, len(names), 16, bf16), strict=True)) if held_back else {}
    )
    print(json.dumps(figures, indent=1), flush=True)
    save(model, given.out)
    content = {"task": given.task, "device": device, "arguments": {k: str(v) for k, v in vars(given).items()}}
    content |= {"steps": step, "pictures": seen, "validation": figures, "log": log}
    (given.out / "log.json").write_text(json.dumps(content, indent=1))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--task", choices=sorted(QUERIES), required=True)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument(
        "--limit-s", type=float, default=300, help="seconds of training, loading not counted"
    )
    arguments.add_argument("--batch", type=int, default=16, help="pictures of 800 x 800 in one step")
    arguments.add_argument("--lr", type=float, default=3e-4)
    arguments.add_argument("--layers", type=int, default=6)
    arguments.add_argument(
        "--small-share", type=float, default=0.3, help="share of the time at half the size"
    )
    arguments.add_argument("--checkpoint", type=Path, help="where the state is kept for --resume")
    arguments.add_argument("--resume", type=Path)
    arguments.add_argument(
        "--weights", type=Path, help="begin with these (safetensors); --limit-s 0: only settle"
    )
    arguments.add_argument("--settle", type=int, default=512, help="pictures for the statistics at the end")
    arguments.add_argument("--at-most", type=int, help="use only so many pictures (for a trial)")
    arguments.add_argument(
        "--guided", type=float, default=1.0, help="weight of the attention's loss at the start"
    )
    arguments.add_argument("--check-s", type=float, default=120, help="seconds between two validations")
    arguments.add_argument("--show-s", type=float, default=10)
    arguments.add_argument("--seed", type=int, default=0)
    train(arguments.parse_args())


if __name__ == "__main__":
    main()
