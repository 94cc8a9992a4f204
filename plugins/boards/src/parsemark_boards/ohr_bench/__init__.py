"""OHR-Bench: what a parser's errors cost a system that answers questions."""
