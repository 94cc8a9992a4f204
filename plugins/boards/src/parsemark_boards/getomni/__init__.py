"""getomni-ai/benchmark: text similarity and JSON accuracy."""
