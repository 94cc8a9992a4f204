"""marker's own benchmark (Datalab): blocks looked for in a page."""
