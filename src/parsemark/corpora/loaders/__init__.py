"""Read corpora that others made, in the layouts in which they publish them. One module per layout."""
