"""Whole pages: text, formulas, tables and reading order.

`omnidocbench/` reproduces that benchmark version by version; `strict/` is ours, without its defects.
"""
