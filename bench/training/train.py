"""Trains Table Transformer's detector or structure model from nothing, within a given time, on one GPU.

    python bench/training/train.py FOLDER/detection --task detection --limit-s 500 --out OUT

Needs torch, transformers, numpy and Pillow; no network, no parsemark. FOLDER is made by `prepare.py`. The
architecture is the published one (DETR with ResNet-18, 6 + 6 layers of 256; 15 or 125 queries), so the
weights run wherever the published ones do. What differs from DETR's recipe, because minutes must do what
days did there:

- all pictures lie on the device as bytes and are varied there (`pictures.py`); most steps see them smaller,
  the last ones as the worker will show them;
- each query begins as the answer for one place and class, looks there, and is paired with the objects next
  to that place; later what it says counts as well. Further groups of queries, dropped at the end, learn with
  other places (`network.py`);
- linear heads on the maps of the backbone and the encoder say at each place which objects it lies in: a dense
  loss that teaches the features from the first step on (`losses.py`);
- batch normalisation learns and is measured anew at the end; the learning rate follows the clock; the weights
  are averaged over steps.

Writes OUT/weights.part0… (half precision; safetensors, cut into parts under 16 MB: `cat` joins them),
OUT/config.json and OUT/log.json.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import invent
import losses
import network
import numpy as np
import pictures
import torch
from torch import nn

NO_OBJECT = {"detection": 0.3, "structure": 0.3}
GROUPS = {"detection": 9, "structure": 4}
SMALL = {"detection": 0.52, "structure": 0.64}
"""Share of the full size in most steps."""
PIXELS = {"detection": 16e6, "structure": 16e6}
"""Pixels in one step on a GPU."""
UNRECORDED = 5
"""So many times the pixels where steps are not recorded: the GPU is idle most of the time then."""
ENDS, LOADING_S = "TRAINING_ENDS", 45.0
"""Variable that says when training ends, also for a process that begins anew; what loading may take."""
EVERY = 8
"""Steps between two of the averaged weights."""


class Teacher(nn.Module):
    """The network with everything that only training needs; gives the loss of a batch."""

    def __init__(self, model, anchors, kinds, task):
        super().__init__()
        width, channels = model.config.d_model, model.config.backbone_config.hidden_sizes[-1]
        self.trainee = network.Trainee(model, anchors)
        self.register_buffer("kinds", kinds)
        self.n_classes, self.no_object = model.config.num_labels, NO_OBJECT[task]
        self.at_backbone = losses.Dense(channels, self.n_classes, absolute=False)
        depth = len(model.model.encoder.layers)
        self.watched = sorted({0, depth // 2, depth - 1})
        self.at_encoder = nn.ModuleList(
            losses.Dense(width, self.n_classes, absolute=True) for _ in self.watched
        )

    def forward(self, batch, trust, dense_weight):
        pixels, corners, classes = batch
        logits, boxes, seen, states = self.trainee(pixels)
        with torch.autocast(pixels.device.type, enabled=False):
            goals = losses.dense_goals(seen.shape[-2:], corners, classes, self.n_classes)
            dense = self.at_backbone(seen.flatten(2).transpose(1, 2), goals)
            for head, number in zip(self.at_encoder, self.watched, strict=True):
                dense = dense + head(states[number], goals)
            cost = losses.pair_cost(
                logits[-1].detach(),
                boxes[-1].detach(),
                corners,
                classes,
                self.trainee.anchors,
                self.kinds,
                trust,
            )
            chosen = losses.pair(cost.flatten(0, 1)).view(*cost.shape[:2], -1)
            whole, last = losses.set_loss(logits, boxes, corners, classes, chosen, self.no_object)
        return 2 * whole + dense_weight * dense / (1 + len(self.watched)), last


# --- How good it is -------------------------------------------------------------------------------------


@torch.no_grad()
def validate(model, items, shapes):
    """Return per class, on whole pictures as the worker shows them: recall and precision at IoU .5, and AP.

    A box counts if its score is over .5, its class right, and no better box has the same truth.
    """
    model.eval()
    device = next(model.parameters()).device
    names = [model.config.id2label[i] for i in range(model.config.num_labels)]
    claims, truths = {name: [] for name in names}, dict.fromkeys(names, 0)
    for picture, boxes, kinds in items:
        pixels = torch.from_numpy(picture.copy()).to(device).float().div_(255)[None, None]
        aspect = picture.shape[1] / picture.shape[0]
        size = min(shapes, key=lambda shape: abs(math.log(shape[1] / shape[0] / aspect)))
        pixels = torch.nn.functional.interpolate(pixels, size=size, mode="bilinear", antialias=True)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            out = model(pictures.normalised(pixels))
        chances = out.logits[0].float().softmax(-1)[:, :-1]
        size = torch.tensor([picture.shape[1], picture.shape[0]] * 2)
        found = losses.cornered(out.pred_boxes[0].float()).cpu() * size
        scores, classes = (v.cpu() for v in chances.max(-1))
        for number, name in enumerate(names):
            wanted = torch.tensor([b for b, k in zip(boxes, kinds, strict=True) if k == number]).view(-1, 4)
            truths[name] += len(wanted)
            mine = classes == number
            claims[name] += judged(scores[mine], found[mine], wanted)
    return {name: figures(claims[name], truths[name]) for name in names}


def judged(scores, boxes, truths):
    """Return (score, right, IoU) of each box, the most confident first; a truth is found once."""
    order = scores.argsort(descending=True)
    left = torch.ones(len(truths), dtype=torch.bool)
    rows = []
    for i in order.tolist():
        iou = losses.overlap(boxes[i], truths)[0] * left if len(truths) else torch.zeros(1)
        best = int(iou.argmax())
        right = float(iou[best]) >= 0.5
        if right:
            left[best] = False
        rows.append((float(scores[i]), right, float(iou[best])))
    return rows


def figures(rows, n_truths):
    """Return recall and precision at score .5, mean IoU of the right ones, and average precision."""
    sure = [row for row in rows if row[0] > 0.5]
    right = [row for row in sure if row[1]]
    rows = sorted(rows, key=lambda row: -row[0])
    hits = np.cumsum([row[1] for row in rows]) if rows else np.zeros(0)
    precision = hits / (np.arange(len(rows)) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    average = sum(e for e, row in zip(envelope, rows, strict=True) if row[1]) / n_truths if n_truths else None
    return {
        "n": n_truths,
        "recall": round(len(right) / n_truths, 4) if n_truths else None,
        "precision": round(len(right) / len(sure), 4) if sure else None,
        "iou": round(float(np.mean([row[2] for row in right])), 4) if right else None,
        "ap": None if average is None else round(float(average), 4),
    }


@torch.no_grad()
def settle(model, buckets, count):
    """Measure the statistics of batch normalisation anew, for the weights as they are.

    Those that were gathered on the way belong to other weights and mostly to smaller pictures.
    """
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    model.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the plain mean over all batches
        norm.train()
    device, done = next(model.parameters()).device, 0
    while done < count:
        bucket = random.choices(buckets, [b.filled for b in buckets])[0]
        chosen = bucket.draw(np.random.default_rng(done), min(bucket.filled, 24))
        pixels, _, _ = pictures.batch_of(bucket, chosen, 1.0, varied=0.3)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            model.model.backbone.conv_encoder.model(pixels)
        done += len(chosen)
    model.eval()


# --- Training -------------------------------------------------------------------------------------------


@torch.no_grad()
def follow(average, model, share):
    """Let the averaged weights follow those of the model."""
    state = model.state_dict()
    names = [name for name, value in state.items() if value.is_floating_point()]
    torch._foreach_lerp_([average[n] for n in names], [state[n] for n in names], share)
    for name in state.keys() - set(names):
        average[name].copy_(state[name])


def rate_at(passed):
    """Return the learning rate as a share of its peak: a short rise, then a cosine to nearly nothing."""
    rise = 0.04
    if passed < rise:
        return max(0.01, passed / rise)
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (passed - rise) / (1 - rise)))


class NotRecordedError(Exception):
    """A step could not be recorded. The random source is left in a state in which it cannot be used."""


class Stepper:
    """One step of training: on a GPU a recorded one (a CUDA graph for each shape), else step by step.

    Launching some thousand kernels takes the host several times as long as the GPU needs to run them.
    """

    def __init__(self, teacher, optimiser, device, recorded):
        self.teacher, self.optimiser, self.device, self.recorded = teacher, optimiser, device, recorded
        self.trust = torch.zeros((), device=device)
        self.dense_weight = torch.zeros((), device=device)
        self.records = {}
        self.pool = torch.cuda.graph_pool_handle() if recorded else None

    def set(self, rate, trust, dense_weight):
        self.trust.fill_(trust)
        self.dense_weight.fill_(dense_weight)
        for group in self.optimiser.param_groups:
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def __call__(self, batch):
        """Return the loss of the batch, and the part of the last layer.

        Raises:
            NotRecordedError: The GPU cannot record this; the process is of no further use.
        """
        if not self.recorded:
            return self._work(batch)
        key = tuple(tuple(value.shape) for value in batch)
        if key not in self.records:
            try:
                self.records[key] = self._record(batch)
            except RuntimeError as error:
                raise NotRecordedError(f"{error.__context__ or ''} {error}") from error
        record, inputs, outputs = self.records[key]
        for mine, new in zip(inputs, batch, strict=True):
            mine.copy_(new)
        record.replay()
        return outputs

    def _record(self, batch):
        inputs = [value.clone(memory_format=torch.preserve_format) for value in batch]
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                self._work(inputs)
        torch.cuda.current_stream().wait_stream(aside)
        self.optimiser.zero_grad(set_to_none=True)
        record = torch.cuda.CUDAGraph()
        with torch.cuda.graph(record, pool=self.pool):
            outputs = self._work(inputs)
        return record, inputs, outputs

    def _work(self, batch):
        self.optimiser.zero_grad(set_to_none=True)
        bf16 = self.device == "cuda"
        with torch.autocast(self.device, torch.bfloat16, enabled=bf16, cache_enabled=False):
            loss, last = self.teacher(batch, self.trust, self.dense_weight)
        loss.backward()
        nn.utils.clip_grad_norm_(self.teacher.parameters(), 1.0)
        self.optimiser.step()
        return loss.detach(), last.detach()


def try_recording(task):
    """Record and replay two small steps; raises where that cannot be done. Meant for a process of its own."""
    names = [str(i) for i in range(len(network.QUERIES[task]))]
    model = network.make_model(task, names)
    network.begin(model)
    kinds = torch.tensor([k for k, n in enumerate(network.QUERIES[task]) for _ in range(n)])
    teacher = Teacher(model, torch.rand(2, len(kinds), 4), kinds, task).to("cuda")
    model.to(memory_format=torch.channels_last)
    teacher.train()
    stepper = Stepper(teacher, optimiser_of(teacher, 1e-4, "cuda"), "cuda", recorded=True)
    for size in (128, 192, 128):
        stepper.set(1e-4, 0.2, 1.0)
        pixels = torch.rand(4, 3, size, 128, device="cuda").contiguous(memory_format=torch.channels_last)
        corners = torch.tensor([[0.1, 0.1, 0.6, 0.5], [0.3, 0.6, 0.9, 0.9]], device="cuda").repeat(4, 1, 1)
        classes = torch.tensor([[0, 1]], device="cuda").repeat(4, 1)
        losses_ = [float(stepper((pixels, corners, classes))[0]) for _ in range(5)]
        if not np.isfinite(losses_).all():
            raise NotRecordedError(f"recorded steps give {losses_}")
    print(json.dumps({"recording works": losses_}), flush=True)


def can_record(task):
    """Return whether steps can be recorded here, tried in another process: a failure would spoil this one."""
    command = [sys.executable, __file__, "-", "--task", task, "--out", "-", "--try-recording"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired:
        print(json.dumps({"not recorded": "the trial took too long"}), flush=True)
        return False
    print((done.stdout if done.returncode == 0 else done.stderr[-1500:]).strip(), flush=True)
    return done.returncode == 0


def load(given, feeder, device):
    """Return buckets to learn from (with room for invented pictures), and pictures to be measured on."""
    items = pictures.read_folder(given.data, False, given.at_most)
    if given.task == "structure" and given.parts:
        items += pictures.parts_of_tables(items, given.parts, given.seed)
    held_back = pictures.read_folder(given.data, True, given.at_most)
    buckets = pictures.into_buckets(items, given.task, device, given.invent if feeder else 0)
    if feeder:
        take(feeder, buckets, parcel=1, wait=20.0)
    return buckets, held_back


def take(feeder, buckets, parcel=24, wait=0.0):
    """Add what has been invented by now to the buckets it fits in, in parcels: each makes the GPU wait."""
    feeder.collect(wait)
    for shape, items in feeder.kept.items():
        if len(items) >= parcel and shape in buckets:
            buckets[shape].add(items)
        if len(items) >= parcel:
            feeder.kept[shape] = []


def train(given):  # noqa: PLR0915 - one loop, told in order
    started = time.monotonic()
    ends = float(os.environ.setdefault(ENDS, str(time.time() + given.limit_s + LOADING_S)))
    # Before CUDA is touched: the processes are forked.
    feeder = invent.Feeder(given.task, given.fonts, given.processes, given.seed) if given.fonts else None
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(given.seed)
    random.seed(given.seed)
    rng = np.random.default_rng(given.seed)
    names = [c["name"] for c in json.loads((given.data / "coco.json").read_text())["categories"]]
    shapes, held_back = load(given, feeder, device)
    buckets = list(shapes.values())
    anchors, kinds = network.make_anchors(buckets, given.task, given.groups or GROUPS[given.task], given.seed)
    model = network.make_model(given.task, names, given.layers)
    network.begin(model)
    teacher = Teacher(model, anchors, kinds, given.task).to(device)
    model.to(memory_format=torch.channels_last)
    if given.resume:
        teacher.load_state_dict(torch.load(given.resume, map_location=device, weights_only=True))
    teacher.train()
    average = {k: v.detach().clone() for k, v in model.state_dict().items()}
    recorded = device == "cuda" and not given.unrecorded and can_record(given.task)
    stepper = Stepper(teacher, optimiser_of(teacher, given.lr, device), device, recorded)
    limit_s = min(given.limit_s, ends - time.time())
    log = [{"device": device, "canvases": {str(b.shape): b.filled for b in buckets}}]
    print(json.dumps(log[0] | {"loaded_s": round(time.monotonic() - started)}), flush=True)
    step, seen = 0, 0
    begun = shown = checked = time.monotonic()
    while (passed := (time.monotonic() - begun) / limit_s) < 1 and step < given.max_steps:
        late = passed > 0.9
        scale = SMALL[given.task] if passed < given.small_share else 1.0
        stepper.set(given.lr * rate_at(passed), min(0.7, max(0.0, passed - 0.25) * 1.4), 1.5 - passed)
        if feeder and step % 2 == 0:
            take(feeder, shapes)
        bucket = random.choices(buckets, [b.filled for b in buckets])[0]
        height, width = bucket.canvases(scale).shape[1:]
        pixels = given.pixels * (1 if stepper.recorded or device == "cpu" else UNRECORDED)
        room = int(max(1, pixels / (height * width)))
        batch = pictures.batch_of(
            bucket,
            bucket.draw(rng, room),
            scale,
            spliced=0.5 * (given.task == "detection") * (not late) * given.varied,
            varied=given.varied * (0.4 if late else 1.0),
        )
        try:
            loss, last = stepper(batch)
        except NotRecordedError as error:
            print(json.dumps({"not recorded": str(error)[-1500:]}), flush=True)
            if feeder:
                feeder.close()
            os.execv(sys.executable, [sys.executable, *sys.argv, "--unrecorded"])
        step, seen = step + 1, seen + room
        if step % EVERY == 0:
            follow(average, model, max(0.02, EVERY / (step + EVERY)))
        now = time.monotonic()
        if now - shown > given.show_s:
            shown = now
            log.append(
                {"s": round(now - begun), "step": step, "seen": seen, "loss": round(float(loss), 4)}
                | {"last": round(float(last), 4), "pictures": sum(b.filled for b in buckets)}
            )
            print(json.dumps(log[-1]), flush=True)
        if held_back and now - checked > given.check_s:
            checked = now
            log.append({"s": round(now - begun), "validation": validate(model, held_back[:40], shapes)})
            print(json.dumps(log[-1]), flush=True)
            teacher.train()
    if feeder:
        feeder.close()
    if given.checkpoint:
        torch.save(teacher.state_dict(), given.checkpoint)
    model.load_state_dict(average)
    settle(model, buckets, given.settle)
    network.save(model, given.out, list(shapes))
    final = validate(model, held_back, shapes)
    print(json.dumps(final), flush=True)
    content = {"task": given.task, "device": device, "arguments": {k: str(v) for k, v in vars(given).items()}}
    content |= {"steps": step, "pictures": seen, "validation": final, "log": log}
    (given.out / "log.json").write_text(json.dumps(content, indent=1))
    return final


def optimiser_of(teacher, rate, device):
    flat = [p for p in teacher.parameters() if p.ndim < 2]
    deep = [p for p in teacher.parameters() if p.ndim >= 2]
    gpu = device == "cuda"
    return torch.optim.AdamW(
        [{"params": deep, "weight_decay": 1e-2}, {"params": flat, "weight_decay": 0.0}],
        lr=torch.tensor(rate, device=device) if gpu else rate,
        betas=(0.9, 0.98),
        fused=gpu,
        capturable=gpu,
    )


def arguments():
    said = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    said.add_argument("data", type=Path)
    said.add_argument("--task", choices=sorted(network.QUERIES), required=True)
    said.add_argument("--out", type=Path, required=True)
    said.add_argument("--fonts", type=Path, help="folder of typefaces to invent further pictures with")
    said.add_argument("--invent", type=int, default=6000, help="how many at most of each shape")
    said.add_argument("--processes", type=int, default=14, help="that invent pictures beside the training")
    said.add_argument("--limit-s", type=float, default=500, help="seconds of training, loading not counted")
    said.add_argument("--max-steps", type=int, default=10**9)
    said.add_argument("--pixels", type=float, help="pixels in one step")
    said.add_argument("--lr", type=float, default=5e-4)
    said.add_argument("--layers", type=int, default=6)
    said.add_argument("--groups", type=int, help="groups of queries in training")
    said.add_argument("--parts", type=int, default=4, help="parts of each table to learn from as well")
    said.add_argument("--small-share", type=float, default=0.6, help="share of the time at the smaller size")
    said.add_argument("--varied", type=float, default=1.0, help="how much pictures are varied")
    said.add_argument("--checkpoint", type=Path, help="where the state is kept for --resume")
    said.add_argument("--resume", type=Path, help="begin with this state")
    said.add_argument("--settle", type=int, default=512, help="pictures for the statistics at the end")
    said.add_argument("--at-most", type=int, help="use only so many pictures (for a trial)")
    said.add_argument("--check-s", type=float, default=100, help="seconds between two validations")
    said.add_argument("--show-s", type=float, default=10)
    said.add_argument("--unrecorded", action="store_true", help="do not record steps as CUDA graphs")
    said.add_argument("--try-recording", action="store_true", help="only see whether that can be done")
    said.add_argument("--seed", type=int, default=0)
    return said


def main():
    given = arguments().parse_args()
    given.pixels = given.pixels or PIXELS[given.task]
    if given.try_recording:
        try_recording(given.task)
    else:
        train(given)


if __name__ == "__main__":
    main()
