"""OmniDocBench's evaluation as its published versions compute it, step by step.

The sections that the files cite are those of docs/omnidocbench-rules.md, which says the rules in words.
"""
