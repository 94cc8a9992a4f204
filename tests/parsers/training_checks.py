"""Checks of bench/training, run in the environment of the worker `tatr` (torch is no dependency of ours).

python training_checks.py BENCH_TRAINING WORKERS TEMPORARY FONT
"""

import importlib.util
import os
import random
import sys
from itertools import pairwise
from pathlib import Path

training, workers, temporary, font = map(Path, sys.argv[1:])
sys.path[:0] = [str(training), str(workers.parent / "kit")]

import invent  # noqa: E402
import losses  # noqa: E402
import network  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
import torch  # noqa: E402
import train  # noqa: E402
from torch.profiler import profile  # noqa: E402

torch.set_num_threads(1)
torch.manual_seed(0)
NAMES = ["table", "table rotated"]


def small_trainee(groups=3):
    model = network.make_model("detection", NAMES, layers=2)
    network.begin(model)
    return model, network.Trainee(model, torch.rand(groups, 15, 4))


def every_weight_learns():
    _, trainee = small_trainee()
    trainee.train()
    logits, boxes, _, _ = trainee(torch.randn(2, 3, 64, 96))
    (logits.square().sum() + boxes.square().sum()).backward()
    idle = [name for name, p in trainee.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    # Keys shift all attention alike by their bias; the first decoder layer begins with empty contents.
    told = [name for name in idle if not name.endswith("k_proj.bias") and "decoder.layers.0." not in name]
    assert not told, told


def evaluation_is_the_published_network():
    model, trainee = small_trainee()
    trainee.train()
    with torch.no_grad():
        trainee(torch.randn(4, 3, 64, 96))  # statistics that are not 0 and 1
    pixels = torch.randn(2, 3, 96, 64)
    trainee.eval()
    with torch.no_grad():
        theirs = model(pixels)
        logits, boxes, _, _ = trainee(pixels)
        assert torch.allclose(theirs.logits, logits[-1, :, 0], atol=1e-4)
        assert torch.allclose(theirs.pred_boxes, boxes[-1, :, 0], atol=1e-5)
        # The helping groups change nothing in the first.
        trainee.train()
        for module in trainee.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.eval()
        together, _, _, _ = trainee(pixels)
    assert together.shape[2] == 3
    assert torch.allclose(theirs.logits, together[-1, :, 0], atol=1e-4)


def saved_weights_run_in_the_worker():
    model, trainee = small_trainee()
    trainee.train()
    with torch.no_grad():
        trainee(torch.randn(4, 3, 64, 96))
    out = temporary / "detection"
    network.save(model, out, [(800, 608), (608, 800)])
    (out / "model.safetensors").write_bytes(
        b"".join(p.read_bytes() for p in sorted(out.glob("weights.part*")))
    )
    os.environ["TATR_WEIGHTS"] = str(temporary)
    spec = importlib.util.spec_from_file_location("tatr_worker", workers / "tatr.py")
    worker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    loaded = worker.model("detection")
    assert worker.size_for("detection", (595, 842)) == (608, 800)
    assert worker.size_for("detection", (842, 595)) == (800, 608)
    assert worker.size_for("structure", (500, 250)) == (1000, 500)  # its weights name no shapes
    pixels = torch.randn(1, 3, 96, 64)
    model.eval()
    with torch.no_grad():
        assert torch.allclose(model(pixels).logits, loaded(pixels).logits, atol=0.05)  # half precision


def pairs_are_greedy():
    rng = random.Random(1)
    for _ in range(30):
        cost = torch.rand(3, rng.randint(1, 12), rng.randint(1, 12))
        cost[:, :, torch.rand(cost.shape[2]) < 0.2] = torch.inf
        chosen = losses.pair(cost).numpy()
        for one, mine in zip(cost.numpy(), chosen, strict=True):
            left, wanted = one.copy(), np.full(one.shape[1], -1)
            while np.isfinite(left).any():
                query, target = divmod(int(left.argmin()), left.shape[1])
                wanted[target] = query
                left[query], left[:, target] = np.inf, np.inf
            assert (wanted == mine).all()


def set_loss_is_the_sum_over_pairs():
    layers, n, groups, queries, objects = 2, 3, 2, 5, 4
    logits = torch.randn(layers, n, groups, queries, 3)
    boxes = torch.rand(layers, n, groups, queries, 4)
    low = torch.rand(n, objects, 2) * 0.5
    corners = torch.cat([low, low + 0.1 + 0.4 * torch.rand(n, objects, 2)], -1)
    classes = torch.tensor([[0, 1, -1, -1], [-1, -1, -1, -1], [1, 0, 0, 1]])
    chosen = losses.pair(torch.rand(n * groups, queries, objects)).view(n, groups, objects)
    whole, last = losses.set_loss(logits, boxes, corners, classes, chosen, 0.3)
    slow = torch.zeros(layers, groups)
    for layer in range(layers):
        for group in range(groups):
            named = weights = boxed = count = 0.0
            for i in range(n):
                answer = {int(chosen[i, group, t]): t for t in range(objects) if classes[i, t] >= 0}
                for q in range(queries):
                    kind = int(classes[i, answer[q]]) if q in answer else 2
                    weight = 1.0 if q in answer else 0.3
                    named += -weight * float(logits[layer, i, group, q].log_softmax(-1)[kind])
                    weights += weight
                    if q in answer:
                        truth = corners[i, answer[q]]
                        mine = boxes[layer, i, group, q]
                        far = float((mine - losses.centred(truth)).abs().sum())
                        boxed += 5 * far + 2 * (1 - slow_giou(losses.cornered(mine).tolist(), truth.tolist()))
                        count += 1
            slow[layer, group] = 2 * named / weights + boxed / count
    assert torch.allclose(whole, slow.mean(), atol=1e-4)
    assert torch.allclose(last, slow[-1, 0], atol=1e-4)


def slow_giou(a, b):
    def area(x):
        return max(0.0, x[2] - x[0]) * max(0.0, x[3] - x[1])

    shared = area([max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])])
    hull = area([min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])])
    union = area(a) + area(b) - shared
    return shared / union - (hull - union) / hull


def dense_goals_name_the_smallest_object():
    low = torch.rand(2, 5, 2) * 0.6
    corners = torch.cat([low, low + 0.4 * torch.rand(2, 5, 2)], -1)
    classes = torch.tensor([[0, 1, 1, -1, 0], [1, 1, 0, 0, -1]])
    places, hit, boxes = losses.dense_goals((4, 6), corners, classes, 2)
    for i in range(2):
        for number, (x, y) in enumerate(places.tolist()):
            assert (abs(x * 6 - number % 6 - 0.5), abs(y * 4 - number // 6 - 0.5)) < (1e-5, 1e-5)
            for kind in range(2):
                inside = [
                    c
                    for c, k in zip(corners[i].tolist(), classes[i].tolist(), strict=True)
                    if k == kind and c[0] <= x < c[2] and c[1] <= y < c[3]
                ]
                assert bool(hit[i, number, kind]) == bool(inside)
                if inside:
                    wanted = min(inside, key=lambda c: (c[2] - c[0]) * (c[3] - c[1]))
                    assert torch.allclose(boxes[i, number, kind], torch.tensor(wanted))


TRAVELS = {"aten::item", "aten::lift_fresh", "aten::nonzero", "aten::masked_select", "aten::is_nonzero"}
"""What makes a GPU wait and cannot be recorded: numbers that are read back, tensors made of numbers."""


def no_number_travels_within_a_step():
    model, _ = small_trainee()
    kinds = torch.tensor([0] * 12 + [1] * 3)
    teacher = train.Teacher(model, torch.rand(2, 15, 4), kinds, "detection")
    corners = torch.tensor([[0.1, 0.1, 0.6, 0.5], [0.3, 0.6, 0.9, 0.9], [0, 0, 0, 0]]).repeat(2, 1, 1)
    classes = torch.tensor([[0, 1, -1], [1, -1, -1]])
    pixels, trust, weight = torch.rand(2, 3, 64, 96), torch.tensor(0.3), torch.tensor(1.0)
    with profile() as seen:
        loss, _ = teacher((pixels, corners, classes), trust, weight)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)
    names = {event.key for event in seen.key_averages()}
    assert "aten::convolution" in names
    assert not names & TRAVELS, names & TRAVELS


def boxes_move_with_their_pictures():
    n, side = 24, 96
    pixels, corners = torch.ones(n, 1, side, side), torch.zeros(n, 2, 4)
    classes = torch.zeros(n, 2, dtype=torch.long)
    for i in range(n):
        for k, (x, y) in enumerate(
            ((random.randint(5, 30), random.randint(3, 30)), (random.randint(5, 60), 60))
        ):
            box = (x, y, x + 20, y + 14)
            pixels[i, 0, box[1] : box[3], box[0] : box[2]] = 0
            corners[i, k] = torch.tensor(box) / side
    moved, places = pictures.moved(pixels, corners, 1.0)
    moved, places, kinds = pictures.splice(moved, places, classes, 0.5)
    dark = (1 - moved[:, 0]) > 0.5
    claimed = torch.zeros_like(dark)
    for i in range(n):
        for box, kind in zip((places[i] * side).tolist(), kinds[i].tolist(), strict=True):
            if kind >= 0:
                x0, y0, x1, y1 = (round(v) for v in box)
                claimed[i, y0:y1, x0:x1] = True
    assert (dark ^ claimed).sum() < 0.12 * dark.sum(), ((dark ^ claimed).sum(), dark.sum())


def parts_keep_their_rows():
    fonts = [str(font)]
    made = 0
    for seed in range(12):
        item = invent.invent("structure", fonts, seed)
        rows = sorted(b for b, k in zip(item[1], item[2], strict=True) if k == pictures.ROW)
        table = next(b for b, k in zip(item[1], item[2], strict=True) if k == pictures.TABLE)
        assert all(abs(a[3] - b[1]) < 0.01 for a, b in pairwise(rows))  # they touch
        assert abs(rows[0][1] - table[1]) < 0.01 and abs(rows[-1][3] - table[3]) < 0.01
        ink = np.argwhere(item[0] < 128)
        assert ink[:, 0].min() >= table[1] - 2 and ink[:, 0].max() <= table[3] + 2
        part = pictures.part_of_table(item, seed)
        if part is not None:
            made += 1
            assert part[2].count(pictures.TABLE) == 1 and part[2].count(pictures.ROW) >= pictures.MIN_ROWS
    assert made > 3
    page = invent.invent("detection", fonts, 3)
    assert page[0].shape in {(800, 608), (608, 800)}
    assert all(0 <= b[0] < b[2] <= page[0].shape[1] and 0 <= b[1] < b[3] <= page[0].shape[0] for b in page[1])


if __name__ == "__main__":
    every_weight_learns()
    evaluation_is_the_published_network()
    saved_weights_run_in_the_worker()
    pairs_are_greedy()
    set_loss_is_the_sum_over_pairs()
    dense_goals_name_the_smallest_object()
    no_number_travels_within_a_step()
    boxes_move_with_their_pictures()
    parts_keep_their_rows()
