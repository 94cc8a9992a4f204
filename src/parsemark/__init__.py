"""parsemark: the benchmark for PDF parsers."""

__version__ = "0.1.0"
