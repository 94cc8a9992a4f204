"""Recipes: which matching, which metrics, which aggregates."""
