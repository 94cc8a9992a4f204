"""Attacks on the promises of parsemark: `make faults`, or `python -m tests.faults [SECTION…]`.

Each module is a section: its `attack(work)` yields one `Case` for everything that it tries.
"""
