"""How complex a table is, by rule: the model's own definition, where corpora look for it."""

from parsemark.model.complexity import COMPLEX, MODERATE, SIMPLE, complexity

__all__ = ["COMPLEX", "MODERATE", "SIMPLE", "complexity"]
