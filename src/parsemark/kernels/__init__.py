"""Computes on arrays and strings without knowing documents: tree edit, alignment, text similarity.

Every function exists twice: compiled (`_native`, from cpp/) and in Python (`pure`). Both give the same
values. The compiled one is used where it was built; set PARSEMARK_PURE_PYTHON=1 to use the
Python one all the same.
"""

import os
import warnings
from types import ModuleType

from parsemark.kernels import pure


def _choose() -> ModuleType:
    if os.environ.get("PARSEMARK_PURE_PYTHON", "") not in ("", "0"):
        return pure
    try:
        from parsemark.kernels import _native
    except ImportError:
        return _slow_twin(
            "was installed without its compiled kernel", "Install a C++17 compiler and reinstall"
        )
    if getattr(_native, "VERSION", 0) != pure.VERSION:
        return _slow_twin("has a compiled kernel of another version", "Reinstall")
    return _native


def _slow_twin(reason: str, remedy: str) -> ModuleType:
    warnings.warn(
        f"parsemark {reason}: values are the same, but metrics are slower. {remedy} parsemark to fix that.",
        RuntimeWarning,
        stacklevel=4,
    )
    return pure


kernel: ModuleType = _choose()  # the implementation in use


def is_native() -> bool:
    """Return whether the compiled implementation is in use."""
    return kernel is not pure
