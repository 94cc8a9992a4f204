"""Read datasets that others published without rules of their own: one module for each."""
