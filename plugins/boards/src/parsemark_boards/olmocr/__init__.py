"""olmOCR-bench (Allen AI): unit tests on pages."""
