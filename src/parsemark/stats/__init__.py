"""Turns per-sample scores into intervals, paired tests, ranks and calibration. Knows no PDFs."""
