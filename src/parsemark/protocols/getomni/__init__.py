"""getomni-ai/benchmark: text similarity and accuracy of extracted JSON."""
