"""Minimal pairs: a page with a feature and the same page without it; a file of `pages/` for each feature."""
