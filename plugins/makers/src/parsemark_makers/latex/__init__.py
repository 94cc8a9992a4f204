"""Makes corpora from LaTeX: marks in real sources that give exact boxes, cells and grids (`documents/`)."""
