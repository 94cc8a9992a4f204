"""Measures the speed claims: `make speed`, or `python -m bench NAME`."""
