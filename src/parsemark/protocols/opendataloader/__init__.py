"""opendataloader-bench: reading order, tables and headings of Markdown pages."""
