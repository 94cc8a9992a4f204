"""OmniDocBench's evaluation as its published versions compute it, step by step.

The files cite sections of plugins/boards/docs/omnidocbench-rules.md, which describes the rules in words.
"""
