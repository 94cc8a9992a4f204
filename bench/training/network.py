"""Table Transformer, trained faster: the published network, its start, and a forward pass of our own.

The weights live in transformers' `TableTransformerForObjectDetection` and are saved from there. `Trainee`
computes the same values from the same weights (a test compares them) with fused attention, several groups
of queries at once, and the maps that the dense losses see.
"""

import json
import math

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - as everybody calls it
from torch import nn
from transformers import ResNetConfig, TableTransformerConfig, TableTransformerForObjectDetection

QUERIES = {"detection": (12, 3), "structure": (2, 30, 62, 3, 7, 21)}
"""How many queries begin as answers of each class: 15 and 125 in all, as published."""
PART_BYTES = 15 * 1024 * 1024
HEADS = 8
SHARPNESS = 3.0
"""How sharply queries look at their own place in the beginning."""
QUIET = 0.3
"""Scale of the encoder's output in the beginning, so that places count for more than contents."""


def make_model(task, names, layers=6):
    backbone = ResNetConfig(
        layer_type="basic", depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512], out_features=["stage4"]
    )
    config = TableTransformerConfig(
        use_timm_backbone=False,
        backbone=None,
        backbone_config=backbone,
        num_queries=sum(QUERIES[task]),
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
        encoder_layers=layers,
        decoder_layers=layers,
        auxiliary_loss=False,  # True would also normalise the state between layers, unlike the published one
    )
    model = TableTransformerForObjectDetection(config)
    thaw(model)
    # transformers freezes every convolution of a ResNet that is not timm's: nothing would learn to see.
    model.requires_grad_(True)
    return model


def thaw(module):
    """Replace frozen batch normalisation by a real one, as its statistics mean nothing before
    training.
    """
    for name, child in module.named_children():
        if type(child).__name__ == "TableTransformerFrozenBatchNorm2d":
            setattr(module, name, nn.BatchNorm2d(child.weight.numel()))
        else:
            thaw(child)


def begin(model):
    """Return initial weights: usual ones, and decoders whose queries look at the place they stand for."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
    look = _looking_at_places(model.config.d_model)
    with torch.no_grad():
        model.model.encoder.layernorm.weight.fill_(QUIET)
        for layer in model.model.decoder.layers:
            attention = layer.encoder_attn
            for projection in (attention.q_proj, attention.k_proj):
                projection.weight.mul_(0.3).add_(look)
            attention.v_proj.weight.div_(QUIET)


def _looking_at_places(width):
    """Return a projection that gives each head the quickest waves of the place: down, across, or both."""
    look = torch.zeros(width, width)
    each, half = width // HEADS, width // 2
    for head in range(HEADS):
        start = head * each
        if head < 2:
            places = list(range(each))
        elif head < 4:
            places = list(range(half, half + each))
        else:
            places = [*range(each // 2), *range(half, half + each // 2)]
        for i, place in enumerate(places):
            look[start + i, place] = SHARPNESS * (0.7 if head % 2 else 1.2)
    return look


def waves(places, width):
    """Return the sine embedding of places (…, x and y in 0…1), as the network embeds its own grid."""
    half = width // 2
    i = torch.arange(half, device=places.device)
    period = 10000.0 ** (2 * torch.div(i, 2, rounding_mode="floor") / half)

    def one(values):
        angles = values[..., None] * 2 * math.pi / period
        return torch.stack([angles[..., 0::2].sin(), angles[..., 1::2].cos()], -1).flatten(-2)

    return torch.cat([one(places[..., 1]), one(places[..., 0])], -1)


class Trainee(nn.Module):
    """The network with `groups` sets of queries: the first is the model's own, the others only help it."""

    def __init__(self, model, anchors):
        super().__init__()
        self.model = model
        self.register_buffer("anchors", anchors)  # groups, queries, 4 (centre and size)
        width = model.config.d_model
        start = waves(anchors[..., :2], width)
        with torch.no_grad():
            model.model.query_position_embeddings.weight.copy_(start[0])
        self.helpers = nn.Parameter(start[1:].clone())

    def forward(self, pixels):
        """Return logits and boxes (layers, batch, groups, queries, …), the backbone's map and encoder's
        states.
        """
        inner = self.model.model
        seen = inner.backbone.conv_encoder.model(pixels).feature_maps[-1]
        height, width = seen.shape[-2:]
        y = (torch.arange(height, device=seen.device) + 1) / (height + 1e-6)
        x = (torch.arange(width, device=seen.device) + 1) / (width + 1e-6)
        grid = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).flatten(0, 1)
        position = waves(grid, self.model.config.d_model)[None]
        state = inner.input_projection(seen).flatten(2).transpose(1, 2)
        states = []
        for layer in inner.encoder.layers:
            normal = layer.self_attn_layer_norm(state)
            placed = normal + position
            state = state + attend(layer.self_attn, placed, placed, normal)
            state = state + perceptron(layer, state)
            states.append(state)
        memory = inner.encoder.layernorm(state)
        own = inner.query_position_embeddings.weight[None]
        queries = torch.cat([own, self.helpers]) if self.training else own
        layers = self.decode(memory, memory + position, queries)
        logits = self.model.class_labels_classifier(layers).float()
        boxes = self.model.bbox_predictor(layers).float().sigmoid()
        return logits, boxes, seen, [*states[:-1], memory]

    def decode(self, memory, keys, queries):
        inner = self.model.model.decoder
        (groups, each, width), n = queries.shape, len(memory)
        apart = queries.repeat(n, 1, 1)  # batch and groups, each for itself
        joint = queries.reshape(1, -1, width)
        state = torch.zeros(n, groups * each, width, device=memory.device)
        layers = []
        for layer in inner.layers:
            normal = layer.self_attn_layer_norm(state).view(n * groups, each, width)
            placed = normal + apart
            mixed = attend(layer.self_attn, placed, placed, normal)
            state = state + mixed.reshape(n, groups * each, width)
            normal = layer.encoder_attn_layer_norm(state)
            state = state + attend(layer.encoder_attn, normal + joint, keys, memory)
            state = state + perceptron(layer, state)
            layers.append(inner.layernorm(state))
        return torch.stack(layers).view(len(layers), n, groups, each, width)


def attend(weights, queries, keys, values):
    """Return attention of several heads with the weights of one of transformers' modules."""

    def heads(x):
        return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

    mixed = F.scaled_dot_product_attention(
        heads(weights.q_proj(queries)), heads(weights.k_proj(keys)), heads(weights.v_proj(values))
    )
    return weights.out_proj(mixed.transpose(1, 2).flatten(2))


def perceptron(layer, state):
    return layer.fc2(layer.activation_fn(layer.fc1(layer.final_layer_norm(state))))


# --- Anchors --------------------------------------------------------------------------------------------


def make_anchors(buckets, task, groups, seed=0, sample=6000):
    """Return for each group the boxes its queries stand for: centres of the boxes that occur, class by class.

    Returns the anchors (groups, queries, 4: centre and size) and their classes (queries).
    """
    rng = np.random.default_rng(seed)
    boxes = np.concatenate([b.corners[: b.filled].cpu().numpy().reshape(-1, 4) for b in buckets])
    classes = np.concatenate([b.classes[: b.filled].cpu().numpy().reshape(-1) for b in buckets])
    kinds = np.repeat(np.arange(len(QUERIES[task])), QUERIES[task])
    anchors = np.zeros((groups, len(kinds), 4), dtype=np.float32)
    for kind, count in enumerate(QUERIES[task]):
        mine = boxes[classes == kind]
        if not len(mine):
            mine = boxes[classes >= 0] if (classes >= 0).any() else np.array([[0.1, 0.1, 0.9, 0.9]])
        for group in range(groups):
            drawn = mine[rng.integers(len(mine), size=sample)]
            zoom = 1 - 0.4 * rng.random((sample, 2)) * (rng.random((sample, 1)) < 0.5)
            shift = (1 - zoom) * rng.random((sample, 2))
            drawn = drawn * np.tile(zoom, 2) + np.tile(shift, 2)
            centred = np.concatenate([(drawn[:, :2] + drawn[:, 2:]) / 2, drawn[:, 2:] - drawn[:, :2]], 1)
            anchors[group, kinds == kind] = _centres(centred, count, rng)
    return torch.from_numpy(anchors), torch.from_numpy(kinds)


ANCHOR_WEIGHTS = np.array([1.0, 1.0, 0.5, 0.5], dtype=np.float32)


def _centres(points, count, rng, rounds=15):
    """Return k-means with weights on the coordinates; an empty centre begins again."""
    centres = points[rng.permutation(len(points))[:count]].copy()
    for _ in range(rounds):
        far = (np.abs(points[:, None] - centres[None]) * ANCHOR_WEIGHTS).sum(-1)
        nearest = far.argmin(1)
        for i in range(count):
            mine = points[nearest == i]
            centres[i] = mine.mean(0) if len(mine) else points[rng.integers(len(points))]
    return centres


# --- On disk --------------------------------------------------------------------------------------------


def save(model, out, canvases=()):
    """Return half-precision weights in parts, the configuration and the shapes it was trained on beside
    them.
    """
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
    if canvases:
        # A network that has seen few shapes tells places by their distance from the borders, in pixels.
        (out / "preprocessor_config.json").write_text(json.dumps({"canvases": [list(c) for c in canvases]}))
