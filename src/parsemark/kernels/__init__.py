"""Computes on arrays and strings without knowing documents: tree edit, 2-D alignment, difflib."""
