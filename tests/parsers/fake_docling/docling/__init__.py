"""Stands in for docling, whose models tests cannot have; the documents are docling-core's own."""
