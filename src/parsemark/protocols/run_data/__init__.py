"""What protocols read and write of a run: its pages and tables, the rows of a page, pages that broke."""
