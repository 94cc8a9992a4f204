"""Pages of our own: drafts of documents with exact truth, looks and words as data, and renderers below."""
