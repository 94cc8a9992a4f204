"""What protocols of facts have in common: verdicts as rows of a run, and figures of them."""

from parsemark.protocols.facts.protocol import (
    Decide,
    FactsProtocol,
    FactTotals,
    Outcome,
    TooHardError,
    share_info,
)

__all__ = ["Decide", "FactTotals", "FactsProtocol", "Outcome", "TooHardError", "share_info"]
