"""`parsemark study rate`: people rate how well extractions preserve tables (Horn & Keuper, section 4.2)."""
