"""Turns boxes of rows, columns, spans and headers, and words, into a table: what follows a detector. Pure."""

from parsemark.structure.assemble import build_table
from parsemark.structure.parts import RULES, Frame, Part, PartKind, Rules
from parsemark.structure.words import Word, join_glyphs, join_words

__all__ = ["RULES", "Frame", "Part", "PartKind", "Rules", "Word", "build_table", "join_glyphs", "join_words"]
