"""What the page itself says against an output, without any truth."""
