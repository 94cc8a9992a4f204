"""Scores stored outputs in chunks, by a pool of processes or a cluster."""
