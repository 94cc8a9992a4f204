"""Programs that set stories, and say where they put what."""
