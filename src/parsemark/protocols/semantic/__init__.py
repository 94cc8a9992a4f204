"""The `semantic` protocol: what a reader can take from each table (Horn & Keuper, sections 3.2, 4.3, 5)."""

from parsemark.protocols.semantic.protocol import SemanticProtocol

__all__ = ["SemanticProtocol"]
