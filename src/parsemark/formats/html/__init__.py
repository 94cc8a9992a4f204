"""HTML: its tables, the text of its cells, its tree and its markup."""
