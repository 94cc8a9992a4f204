"""Truth from the source files beside PDFs: what a source says, found again on the pages."""
