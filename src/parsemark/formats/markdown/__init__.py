"""Markdown: pipe tables, running text, code fences."""
