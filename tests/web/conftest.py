"""Where screenshots go."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def screenshot(tmp_path: Path) -> Callable[[Any, str], None]:
    """Take a picture of a page; it is kept where PARSEMARK_SCREENSHOTS names a folder."""
    folder = Path(os.environ.get("PARSEMARK_SCREENSHOTS") or tmp_path)

    def take(page: Any, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", full_page=False)

    return take
