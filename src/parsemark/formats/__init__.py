"""Turns text or bytes (HTML, Markdown, LaTeX, benchmark JSON) into the model and back."""
