"""What the networks are trained for. All shapes are fixed by the host and no number travels, so that a
step can be recorded as a CUDA graph.

Boxes are corners in 0…1 (truths) or centre and size (what the network says); classes are -1 where there is no
object.
"""

import torch
import torch.nn.functional as F  # noqa: N812 - as everybody calls it
from torch import nn

FOREIGN = 3.0
"""Cost of pairing an object with a query that began as one of another class."""
ROUNDS = 24
"""Rounds of pairing: those objects that have no query by then (crowded pages) teach nothing in this step."""


def centred(corners):
    return torch.cat([(corners[..., :2] + corners[..., 2:]) / 2, corners[..., 2:] - corners[..., :2]], -1)


def cornered(boxes):
    return torch.cat([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)


def overlap(a, b):
    """Return IoU and generalised IoU of boxes given by corners; shapes broadcast.

    No `prod`: its gradient asks the device whether a factor is zero, and waits for the answer.
    """
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    shared = _area((high - low).clamp(min=0))
    union = _area(a[..., 2:] - a[..., :2]) + _area(b[..., 2:] - b[..., :2]) - shared
    hull = _area(torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2]))
    iou = shared / (union + 1e-7)
    return iou, iou - (hull - union) / (hull + 1e-7)


def _area(sides):
    return sides[..., 0] * sides[..., 1]


# --- Which query answers which object -------------------------------------------------------------------


@torch.no_grad()
def pair_cost(logits, boxes, corners, classes, anchors, kinds, trust):
    """Return the cost (batch, groups, queries, objects) of each pair.

    In the beginning (`trust`, a tensor, is 0) only the place that a query stands for counts, so that each
    learns one thing; later also what it says.
    """
    truth = centred(corners)
    off = (anchors[None, :, :, None] - truth[:, None, None]).abs()
    off = off[..., :2].sum(-1) + 0.5 * off[..., 2:].sum(-1)
    placed = 5 * off + FOREIGN * (kinds[None, None, :, None] != classes[:, None, None])
    index = classes.clamp(min=0)[:, None, None].expand(*logits.shape[:3], -1)
    chance = logits.softmax(-1).gather(3, index)
    far = (boxes[:, :, :, None] - truth[:, None, None]).abs().sum(-1)
    _, giou = overlap(cornered(boxes)[:, :, :, None], corners[:, None, None])
    said = 5 * far + 2 * (1 - giou) + 2 * (1 - chance)
    cost = (1 - trust) * placed + trust * said
    return cost.masked_fill((classes < 0)[:, None, None], torch.inf)


@torch.no_grad()
def pair(cost, rounds=ROUNDS):
    """Return for each object (batch, objects) the query it is paired with, the cheapest pair first; -1: none.

    Greedy, many pairs at a time: a pair that is the best of its query and of its object is the greedy choice.
    """
    cost = cost.clone()
    n, queries, objects = cost.shape
    chosen = torch.full((n, objects), -1, dtype=torch.long, device=cost.device)
    for _ in range(min(rounds, objects)):
        best, query = cost.min(1)  # of each object
        _, favourite = cost.min(2)  # of each query
        mutual = favourite.gather(1, query) == torch.arange(objects, device=cost.device)
        mutual &= best.isfinite()
        chosen = torch.where(mutual, query, chosen)
        taken = torch.zeros(n, queries + 1, dtype=torch.bool, device=cost.device)
        taken.scatter_(1, query.masked_fill(~mutual, queries), True)
        cost = cost.masked_fill(taken[:, :queries, None] | mutual[:, None], torch.inf)
    return chosen


# --- The loss of the set --------------------------------------------------------------------------------


def set_loss(logits, boxes, corners, classes, chosen, no_object):
    """Return DETR's loss for all layers and groups at once, and the part of the last layer's first group.

    Args:
        logits: Layers, batch, groups, queries, classes and none.
        boxes: Layers, batch, groups, queries, 4.
        corners: Batch, objects, 4.
        classes: Batch, objects.
        chosen: Batch, groups, objects: the query of each object, -1 for none.
        no_object: Weight of queries without object.
    """
    layers, n, groups, queries, n_classes = logits.shape
    paired = (chosen >= 0) & (classes >= 0)[:, None]
    place = chosen.masked_fill(~paired, queries)
    wanted = torch.full((n, groups, queries + 1), n_classes - 1, dtype=torch.long, device=logits.device)
    wanted.scatter_(2, place, classes[:, None].expand_as(place).clamp(min=0))
    wanted = wanted[..., :queries]
    weight = torch.ones_like(wanted, dtype=torch.float).masked_fill(wanted == n_classes - 1, no_object)
    entropy = F.cross_entropy(
        logits.flatten(0, 3), wanted.expand(layers, -1, -1, -1).flatten(), reduction="none"
    )
    entropy = entropy.view(layers, n, groups, queries) * weight
    named = entropy.sum((1, 3)) / weight.sum((0, 2))  # layers, groups
    index = chosen.clamp(min=0)[None, ..., None].expand(layers, -1, -1, -1, 4)
    mine = boxes.gather(3, index)
    far = (mine - centred(corners)[None, :, None]).abs().sum(-1)
    _, giou = overlap(cornered(mine), corners[None, :, None])
    off = (5 * far + 2 * (1 - giou)) * paired
    boxed = off.sum((1, 3)) / paired.sum((0, 2)).clamp(min=1)
    loss = 2 * named + boxed
    return loss.mean(), loss[-1, 0]


# --- Dense losses ---------------------------------------------------------------------------------------


class Dense(nn.Module):
    """A linear head that says at each place of a map, for each class: in such an object? in which box?

    It is thrown away after training. With `absolute` boxes are told by their place on the page, which the
    decoder will need, else by the way to their four sides.
    """

    def __init__(self, width, n_classes, absolute):
        super().__init__()
        self.n_classes, self.absolute = n_classes, absolute
        self.normal = nn.LayerNorm(width, elementwise_affine=False)
        self.out = nn.Linear(width, n_classes * 5 + 2)

    def forward(self, states, goals):
        said = self.out(self.normal(states.float()))
        where, seen = said[..., :2], said[..., 2:].view(*said.shape[:2], self.n_classes, 5)
        places, hit, wanted = goals
        loss = F.binary_cross_entropy_with_logits(seen[..., 0], hit)
        if self.absolute:
            corners = seen[..., 1:].sigmoid()
            low, high = corners[..., :2], corners[..., 2:]
            corners = torch.cat([torch.minimum(low, high), torch.maximum(low, high)], -1)
            loss = loss + (where - places).abs().mean()
        else:
            ways = F.softplus(seen[..., 1:]) * 0.3
            here = places[None, :, None]
            corners = torch.cat([here - ways[..., :2], here + ways[..., 2:]], -1)
        _, giou = overlap(corners, wanted)
        off = 5 * (corners - wanted).abs().sum(-1) + 1 - giou
        return loss + (off * hit).sum() / hit.sum().clamp(min=1)


@torch.no_grad()
def dense_goals(shape, corners, classes, n_classes):
    """Return places (x, y), and for each picture, place and class: 1 in an object (the smallest counts), its
    box.
    """
    height, width = shape
    y = (torch.arange(height, device=corners.device) + 0.5) / height
    x = (torch.arange(width, device=corners.device) + 0.5) / width
    places = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).flatten(0, 1)
    inside = (places >= corners[:, :, None, :2]).all(-1) & (places < corners[:, :, None, 2:]).all(-1)
    area = (corners[..., 2] - corners[..., 0]) * (corners[..., 3] - corners[..., 1])
    hits, boxes = [], []
    for kind in range(n_classes):
        outside = ~(inside & (classes == kind)[..., None])
        size = area[..., None].expand_as(outside).masked_fill(outside, torch.inf)
        smallest, which = size.min(1)
        hits.append(smallest.isfinite().float())
        boxes.append(corners.gather(1, which[..., None].expand(-1, -1, 4)))
    return places, torch.stack(hits, -1), torch.stack(boxes, 2)
