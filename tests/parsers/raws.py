"""Raw outputs for tests."""

import json
from typing import Any


def as_raw(data: Any) -> bytes:
    return json.dumps(data).encode()
