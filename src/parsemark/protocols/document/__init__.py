"""Whole pages: text, formulas, tables and reading order.

`published/` reproduces OmniDocBench's evaluation version by version; `strict/` is ours, without its defects.
"""
