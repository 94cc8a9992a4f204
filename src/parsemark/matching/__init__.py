"""Decides what answers what."""
