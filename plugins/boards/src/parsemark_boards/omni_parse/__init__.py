"""Omni Parse Bench (Datalab): yes/no tests on pages."""
