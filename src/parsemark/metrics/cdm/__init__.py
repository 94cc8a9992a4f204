"""Character Detection Matching: formulas compared as they look (Wang et al. 2024)."""
