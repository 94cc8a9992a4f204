"""marker's own benchmark: blocks and their order."""
