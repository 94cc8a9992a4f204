"""Sets documents with LaTeX: blocks are measured, packed onto pages, and compiled with and without marks."""

from parsemark_makers.synthetic.renderers.latex.render import precompile, render

__all__ = ["precompile", "render"]
