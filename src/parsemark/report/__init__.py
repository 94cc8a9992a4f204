"""Turns a stored run into tables, figures and a static site."""
