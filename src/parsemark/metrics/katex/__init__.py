"""Formulas as KaTeX in a browser shows them, for boards that compare what is rendered."""

from parsemark.metrics.katex.render import DrawnSpan, Kind, Render, find_chromium, render_all

__all__ = ["DrawnSpan", "Kind", "Render", "find_chromium", "render_all"]
