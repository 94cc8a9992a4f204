"""`parsemark annotate`: people make truth for their own documents, starting from what parsers agree on."""
