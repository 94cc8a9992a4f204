"""What all tests of the makers share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples each time, so that a failure belongs to a change; `make faults` looks for new ones.
settings.register_profile("parsemark", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("parsemark")


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder with reference data; only `make conformance` sets it."""
    folder = os.environ.get("PARSEMARK_DATA")
    if not folder:
        pytest.skip("set PARSEMARK_DATA to the reference data (make conformance DATA=...)")
    return Path(folder)
