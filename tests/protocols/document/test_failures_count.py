"""Whether failed pages stand in the denominators is said beside the numbers, as it is."""

from __future__ import annotations

import pytest

from parsemark.protocols import get_protocol
from parsemark.protocols.document.figures import DocumentFigures
from parsemark.protocols.document.protocol import DocumentProtocol


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("document", True),
        ("document(profile=v1.0)", False),
        ("document(profile=v1.5)", False),
        ("document(profile=v1.6)", True),
    ],
)
def test_the_profiles_that_leave_failed_pages_out_say_so(spec: str, count: bool) -> None:
    protocol = get_protocol(spec)
    assert isinstance(protocol, DocumentProtocol)
    figures = DocumentFigures(protocol.profile, cdm=False)
    assert figures.failures_count is count
    assert any("failed" in note and "out of all means" in note for note in figures.notes()) is not count
