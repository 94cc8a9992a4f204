"""Turns truth and prediction into a score. One family per file."""
