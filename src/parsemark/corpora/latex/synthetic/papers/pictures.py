"""Pictures that look like micrographs, maps, skies and flows, made of smooth random fields."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float64]
_WIDE, _HIGH = 280, 220
_PALETTES = {
    "grey": ((0.05, 0.05, 0.05), (0.5, 0.5, 0.5), (0.95, 0.95, 0.95)),
    "stain": ((0.35, 0.15, 0.45), (0.85, 0.55, 0.75), (0.98, 0.92, 0.95)),
    "earth": ((0.12, 0.25, 0.10), (0.55, 0.52, 0.28), (0.86, 0.80, 0.66)),
    "flow": ((0.10, 0.20, 0.60), (0.95, 0.95, 0.95), (0.70, 0.08, 0.12)),
    "sky": ((0.01, 0.01, 0.04), (0.25, 0.20, 0.35), (1.0, 0.97, 0.90)),
    "heat": ((0.0, 0.0, 0.15), (0.75, 0.20, 0.30), (1.0, 0.95, 0.55)),
}


def picture(rng: random.Random, field: str, level: float) -> bytes:
    """A JPEG of a field; `level` from 0 to 1 is how far whatever changes between panels has gone."""
    from PIL import Image

    make, palette = FIELDS[field]
    noise = np.random.default_rng(rng.getrandbits(32))
    values = make(noise, level)
    values = np.clip(values + noise.normal(scale=0.015, size=values.shape), 0, 1)
    dark, middle, light = (np.array(colour) for colour in _PALETTES[palette])
    share = values[..., None]
    colours = np.where(
        share < 0.5, dark + 2 * share * (middle - dark), middle + (2 * share - 1) * (light - middle)
    )
    buffer = io.BytesIO()
    Image.fromarray((colours * 255).astype(np.uint8)).save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _smooth(noise: np.random.Generator, size: float, *, stretch: float = 1.0) -> Field:
    """A random field whose bumps are about `size` pixels large, with mean 0 and spread 1."""
    white = noise.normal(size=(_HIGH, _WIDE))
    fy, fx = np.fft.fftfreq(_HIGH)[:, None], np.fft.fftfreq(_WIDE)[None, :]
    damp = np.exp(-2 * (np.pi * size) ** 2 * ((fy * stretch) ** 2 + fx**2) / 4)
    field = np.fft.ifft2(np.fft.fft2(white) * damp).real
    return np.asarray((field - field.mean()) / (field.std() or 1))


def _seeds(noise: np.random.Generator, count: int) -> tuple[Field, NDArray[np.intp]]:
    """For each pixel how much nearer its nearest seed is than the next, and which it is."""
    places = noise.uniform(size=(count, 2)) * (_HIGH, _WIDE)
    yy, xx = np.mgrid[0:_HIGH, 0:_WIDE]
    distances = np.sqrt((yy[..., None] - places[:, 0]) ** 2 + (xx[..., None] - places[:, 1]) ** 2)
    nearest = distances.argmin(axis=2)
    two = np.partition(distances, 1, axis=2)[..., :2]
    return np.asarray(two[..., 1] - two[..., 0]), nearest


def _grains(noise: np.random.Generator, level: float) -> Field:
    """Polycrystal: grains in tones of their own, dark boundaries, precipitates."""
    edge, nearest = _seeds(noise, int(70 - 45 * level))
    tones = noise.uniform(0.45, 0.8, size=nearest.max() + 1)
    field = tones[nearest] + 0.03 * _smooth(noise, 3)
    field *= 0.45 + 0.55 * np.clip(edge / 3.0, 0, 1)
    return np.asarray(np.where(_smooth(noise, 5) > 2.4 - 0.5 * level, 0.15, field))


def _cells(noise: np.random.Generator, level: float) -> Field:
    """Stained tissue: pale ground, dark nuclei, fibres."""
    field = 0.72 + 0.07 * _smooth(noise, 14) + 0.04 * _smooth(noise, 3, stretch=4)
    yy, xx = np.mgrid[0:_HIGH, 0:_WIDE]
    for _ in range(int(45 + 70 * level)):
        cy, cx = noise.uniform(0, _HIGH), noise.uniform(0, _WIDE)
        angle, long = noise.uniform(0, np.pi), noise.uniform(4, 7)
        u = (yy - cy) * np.cos(angle) + (xx - cx) * np.sin(angle)
        v = -(yy - cy) * np.sin(angle) + (xx - cx) * np.cos(angle)
        inside = np.clip(1.4 - (u / long) ** 2 - (v / (long * 0.65)) ** 2, 0, 1)
        field = field * (1 - inside * 0.75) + 0.13 * inside
    return np.asarray(field)


def _sky(noise: np.random.Generator, level: float) -> Field:
    """Stars of all magnitudes, and a galaxy or two."""
    field = 0.05 + 0.015 * _smooth(noise, 40)
    yy, xx = np.mgrid[0:_HIGH, 0:_WIDE]
    for _ in range(190):
        cy, cx, bright = noise.uniform(0, _HIGH), noise.uniform(0, _WIDE), noise.pareto(1.4) * 0.14
        field += min(bright, 1.3) * np.exp(
            -((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * (1.0 + min(bright, 1)) ** 2)
        )
    tilt, cy, cx = noise.uniform(0, np.pi), _HIGH * 0.5, _WIDE * 0.5
    u = (yy - cy) * np.cos(tilt) + (xx - cx) * np.sin(tilt)
    v = (-(yy - cy) * np.sin(tilt) + (xx - cx) * np.cos(tilt)) * 2.2
    radius = np.hypot(u, v)
    return np.asarray(
        field
        + (0.55 + 0.4 * level) * np.exp(-radius / 14) * (1 + 0.25 * np.sin(3 * np.arctan2(v, u) + radius / 6))
    )


def _flow(noise: np.random.Generator, level: float) -> Field:
    """Vorticity of a wake: a street of vortices of both signs that widens downstream."""
    yy, xx = np.mgrid[0:_HIGH, 0:_WIDE]
    field = np.zeros((_HIGH, _WIDE))
    for k in range(11):
        cx = 42 + k * 26 + noise.normal(scale=1.5 + 3 * level)
        sign = 1 if k % 2 else -1
        cy = _HIGH / 2 + sign * (9 + 1.3 * k) + noise.normal(scale=1 + 3 * level)
        wide = 8 + 1.1 * k
        field += (
            sign * np.exp(-((xx - cx) ** 2 / (1.4 * wide**2) + (yy - cy) ** 2 / wide**2)) * (1 - 0.05 * k)
        )
    field += (
        level
        * 0.18
        * _smooth(noise, 7)
        * np.clip((xx - 45) / 60, 0, 1)
        * np.exp(-((yy - _HIGH / 2) ** 2) / 2500)
    )
    body = np.hypot(xx - 28, yy - _HIGH / 2) < 12
    return np.asarray(np.where(body, 0.5, 0.5 + 0.45 * field) * np.where(body, 0.0, 1.0))


def _terrain(noise: np.random.Generator, level: float) -> Field:
    """A landscape from above: hills, fields with straight edges, a river."""
    hills = 0.5 + 0.12 * _smooth(noise, 45) + 0.06 * _smooth(noise, 15) + 0.03 * _smooth(noise, 4)
    _, plots = _seeds(noise, 40)
    tones = noise.normal(scale=0.1, size=plots.max() + 1)
    farmed = _smooth(noise, 60) > 0.6 - 1.2 * level
    river = np.abs(_smooth(noise, 55, stretch=0.6)) < 0.035
    return np.asarray(np.where(river, 0.02, np.where(farmed, hills + 0.12 + tones[plots], hills - 0.12)))


def _infrared(noise: np.random.Generator, level: float) -> Field:
    """A warm body before a cooler ground."""
    yy, xx = np.mgrid[0:_HIGH, 0:_WIDE]
    field = 0.25 + 0.05 * _smooth(noise, 30)
    for k in range(4):
        cy, cx = _HIGH * (0.35 + 0.1 * k), _WIDE * (0.3 + 0.13 * k)
        field += (0.3 + 0.3 * level) * np.exp(-((yy - cy) ** 2 / 900 + (xx - cx) ** 2 / 1500))
    return np.asarray(field + 0.02 * _smooth(noise, 6))


FIELDS: dict[str, tuple[Callable[[np.random.Generator, float], Field], str]] = {
    "grains": (_grains, "grey"),
    "cells": (_cells, "stain"),
    "sky": (_sky, "sky"),
    "flow": (_flow, "flow"),
    "terrain": (_terrain, "earth"),
    "infrared": (_infrared, "heat"),
}
