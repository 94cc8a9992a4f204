"""opendataloader-bench: reading order, tables, headings of Markdown pages."""
