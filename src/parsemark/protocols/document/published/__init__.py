"""OmniDocBench's evaluation as its published versions compute it, step by step."""
