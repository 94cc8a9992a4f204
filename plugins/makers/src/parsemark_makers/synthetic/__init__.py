"""Synthetic pages: documents are drawn, set by a program, and located on the finished pages."""

from parsemark_makers.synthetic.makers import Documents, Docx, Html, Synthetic, Typst

__all__ = ["Documents", "Docx", "Html", "Synthetic", "Typst"]
