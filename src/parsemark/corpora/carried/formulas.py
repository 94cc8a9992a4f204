"""Formulas of a structure tree as LaTeX: from an attached file, or from the MathML that is in the tree."""

from __future__ import annotations

from parsemark.corpora.carried.content import DocumentContent


def latex_of(content: DocumentContent, index: int) -> str | None:
    """The LaTeX of an element `Formula`; None where nothing says it."""
    tag = content.tree.tags[index]
    if tag.source and not tag.source.lstrip().startswith("<"):
        return tag.source.strip()
    return None
