"""Yields samples of a named, versioned corpus; corpora/latex makes them."""
