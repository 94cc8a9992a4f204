"""Where a table lies on its page, and how it is turned: from page to upright table and back."""

from __future__ import annotations

from dataclasses import dataclass

from parsemark.model import Box


@dataclass(frozen=True, slots=True)
class Frame:
    """Upright coordinates of a table: from its top left, after turning the picture clockwise by `angle`."""

    box: Box
    """The table on the page, in points."""
    angle: int = 0
    """0, 90, 180 or 270: by how much the crop is turned clockwise until its text is upright."""

    def __post_init__(self) -> None:
        if self.angle not in (0, 90, 180, 270):
            raise ValueError(f"a table can be turned by 0, 90, 180 or 270 degrees, not {self.angle}")

    def from_page(self, box: Box) -> Box:
        """A box of the page in the table's own coordinates."""
        x0, y0 = box.x0 - self.box.x0, box.y0 - self.box.y0
        x1, y1 = box.x1 - self.box.x0, box.y1 - self.box.y0
        width, height = self.box.width, self.box.height
        if self.angle == 0:
            return Box(x0, y0, x1, y1)
        if self.angle == 90:
            return Box(height - y1, x0, height - y0, x1)
        if self.angle == 180:
            return Box(width - x1, height - y1, width - x0, height - y0)
        return Box(y0, width - x1, y1, width - x0)

    def to_page(self, box: Box) -> Box:
        """A box of the table on the page."""
        width, height = self.box.width, self.box.height
        x0, y0, x1, y1 = box.as_tuple()
        if self.angle == 90:
            x0, y0, x1, y1 = y0, height - x1, y1, height - x0
        elif self.angle == 180:
            x0, y0, x1, y1 = width - x1, height - y1, width - x0, height - y0
        elif self.angle == 270:
            x0, y0, x1, y1 = width - y1, x0, width - y0, x1
        return Box(x0 + self.box.x0, y0 + self.box.y0, x1 + self.box.x0, y1 + self.box.y0)

    @property
    def upright(self) -> Box:
        """The table in its own coordinates."""
        return self.from_page(self.box)
