"""The words of each language, as data: one `VOCABULARY` per module."""
