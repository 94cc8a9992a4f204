"""Programs that set documents, and say where they put what."""
