"""Synthetic pages: tables and text of our own making, packed from measured heights, with exact truth."""
