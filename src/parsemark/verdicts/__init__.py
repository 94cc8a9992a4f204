"""Decides: how far two parsers are apart, whether a run is good enough, which results may be compared."""
