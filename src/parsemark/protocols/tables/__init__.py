"""The `tables` protocol: detection, structure given detection, and both together (Soric et al.).

Which rule matched, which metrics scored, and every figure with its definition stand in the summary.
"""

from parsemark.protocols.tables.protocol import TablesProtocol

__all__ = ["TablesProtocol"]
