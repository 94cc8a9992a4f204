"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("parsemark", deadline=None)
settings.load_profile("parsemark")  # A busy machine is slow; time is bounded where it is the matter.


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder with reference data; only `make conformance` sets it."""
    folder = os.environ.get("PARSEMARK_DATA")
    if not folder:
        pytest.skip("set PARSEMARK_DATA to the reference data (make conformance DATA=...)")
    return Path(folder)
