"""RD-TableBench (Reducto): tables aligned row by row."""
