"""The feature matrix: pairs of pages (`make.py`), and the protocol that scores them (`protocol.py`)."""
