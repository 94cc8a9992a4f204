"""Formulas as KaTeX in a browser shows them, for boards that compare what is rendered."""

from parsemark.metrics.katex.render import Kind, Render, Span, find_chromium, render_all

__all__ = ["Kind", "Render", "Span", "find_chromium", "render_all"]
