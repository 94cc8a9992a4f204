"""Makes corpora from LaTeX: confined compilation, marks that give exact boxes, and the synthetic pages."""
