"""Serves the rating app and the annotation app: the only part of parsemark that writes from a browser."""
