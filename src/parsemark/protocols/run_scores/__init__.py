"""Figures of protocols: sums over pages, numbers with intervals, the summary of a run, verdicts on pairs."""
