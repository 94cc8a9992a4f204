"""Files that other installed packages carry."""

import importlib.util
from pathlib import Path

INSTALL_WORDS = "pip install 'parsemark-boards[words]'"
"""Brings llama-index-core, which carries data of nltk and tiktoken that are else downloaded."""


def find_package_file(package: str, path: str) -> Path | None:
    """Return a file or folder inside an installed package, without importing it; None if it is not there."""
    spec = importlib.util.find_spec(package)
    folders = () if spec is None else spec.submodule_search_locations or ()
    return next((file for folder in folders if (file := Path(folder) / path).exists()), None)
