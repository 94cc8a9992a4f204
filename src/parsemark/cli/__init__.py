"""Turns flags into calls of the public API. No logic."""
