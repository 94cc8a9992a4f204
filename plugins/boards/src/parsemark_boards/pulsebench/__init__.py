"""PulseBench-Tab (Pulse): T-LAG of one table on each page."""
