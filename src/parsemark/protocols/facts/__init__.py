"""What boards of facts have in common: verdicts on facts, and tables as grids of neighbours."""
