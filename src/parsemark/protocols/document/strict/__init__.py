"""Whole pages without the defects of the published evaluations: everything on both sides counts, once."""
