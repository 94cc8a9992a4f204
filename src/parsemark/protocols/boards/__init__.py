"""Boards of others, by their own rules: their figures from the same run. `docs/boards.md` says whose."""
