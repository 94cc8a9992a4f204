"""Runs parsers on the pages of a corpus: plan, workers with limits, retries, resuming."""
