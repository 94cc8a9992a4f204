"""Boxes: `(x0, y0, x1, y1)` in points, from the top left of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Box:
    """An axis-parallel rectangle with x0 ≤ x1 and y0 ≤ y1."""

    x0: float
    y0: float
    x1: float
    y1: float

    def __post_init__(self) -> None:
        ok = math.isfinite  # thousands of a page: a loop would take as long as all else
        if not (ok(self.x0) and ok(self.y0) and ok(self.x1) and ok(self.y1)):
            raise ValueError(f"a box needs finite coordinates, not {self.as_tuple()}")
        if self.x0 > self.x1 or self.y0 > self.y1:
            raise ValueError(f"a box needs x0 <= x1 and y0 <= y1, not {self.as_tuple()}")

    @classmethod
    def hull(cls, boxes: Iterable[Box]) -> Box:
        """Return the smallest box that holds all `boxes` (at least one)."""
        x0, y0, x1, y1 = zip(*(box.as_tuple() for box in boxes), strict=True)
        return cls(min(x0), min(y0), max(x1), max(y1))

    def as_tuple(self) -> tuple[float, float, float, float]:
        """Return the four coordinates."""
        return (self.x0, self.y0, self.x1, self.y1)

    @property
    def width(self) -> float:
        """Return the extent in x."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Return the extent in y."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Return the width times height."""
        return self.width * self.height

    def intersection_area(self, other: Box) -> float:
        """Return the area shared with `other`."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return width * height if width > 0 and height > 0 else 0.0

    def share_inside(self, other: Box) -> float:
        """Return how much of its area lies inside of `other`; without an area it counts by its middle."""
        return self.intersection_area(other) / self.area if self.area > 0 else float(other.holds_centre(self))

    @property
    def centre(self) -> tuple[float, float]:
        """Return the point in its middle."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def holds_centre(self, other: Box) -> bool:
        """Return whether the middle of `other` lies inside, or on an edge."""
        x, y = other.centre
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def iou(self, other: Box) -> float:
        """Return intersection over union; 0 if both are empty."""
        shared = self.intersection_area(other)
        union = self.area + other.area - shared
        return shared / union if union > 0 else 0.0

    def contains(self, other: Box, tolerance: float = 0.0) -> bool:
        """Return whether `other` lies inside, up to `tolerance` points."""
        return (
            self.x0 - tolerance <= other.x0
            and self.y0 - tolerance <= other.y0
            and other.x1 <= self.x1 + tolerance
            and other.y1 <= self.y1 + tolerance
        )

    @classmethod
    def of_points(cls, xs: Iterable[float], ys: Iterable[float]) -> Box:
        """Return the smallest box that holds all points, in whatever order their coordinates are."""
        across, down = list(xs), list(ys)
        return cls(min(across), min(down), max(across), max(down))

    def clipped(self, frame: Box) -> Box:
        """Return the part of it inside of `frame`; what lies outside becomes a line on the nearest edge."""
        x0, x1 = (min(max(x, frame.x0), frame.x1) for x in (self.x0, self.x1))
        y0, y1 = (min(max(y, frame.y0), frame.y1) for y in (self.y0, self.y1))
        return Box(x0, y0, x1, y1)

    def rounded(self) -> Box:
        """Round to hundredths of a point, the precision of truths."""
        return Box(*(round(value, 2) for value in self.as_tuple()))

    def turned(self, degrees: int) -> Box:
        """Return the box after the plane is turned clockwise about its origin by 0, 90, 180 or 270
        degrees.
        """
        if degrees == 90:
            return Box(-self.y1, self.x0, -self.y0, self.x1)
        if degrees == 180:
            return Box(-self.x1, -self.y1, -self.x0, -self.y0)
        return Box(self.y0, -self.x1, self.y1, -self.x0) if degrees == 270 else self

    def flipped(self, height: float) -> Box:
        """Return the same place where y is counted from the other edge of a page of this height."""
        return Box(self.x0, height - self.y1, self.x1, height - self.y0)

    def moved(self, right: float, down: float) -> Box:
        """Return the box at another place."""
        return Box(self.x0 + right, self.y0 + down, self.x1 + right, self.y1 + down)

    def scaled(self, across: float, down: float) -> Box:
        """Return the box in other units."""
        return Box(self.x0 * across, self.y0 * down, self.x1 * across, self.y1 * down)

    def expanded(self, margin: float) -> Box:
        """Return the box grown by `margin` on each side."""
        return Box(self.x0 - margin, self.y0 - margin, self.x1 + margin, self.y1 + margin)


def extents(places: Iterable[tuple[int, float, float]]) -> dict[int, tuple[float, float]]:
    """Return the extent of each row, or column: the least start of all its parts and the last end.

    >>> extents([(0, 1.0, 2.0), (1, 5.0, 6.0), (0, 0.5, 1.5)])
    {0: (0.5, 2.0), 1: (5.0, 6.0)}
    """
    found: dict[int, tuple[float, float]] = {}
    for key, start, end in places:
        low, high = found.get(key, (start, end))
        found[key] = min(low, start), max(high, end)
    return found
