"""Plain text: grid tables, separated values, aligned columns."""
