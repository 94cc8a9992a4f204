"""Truth that documents carry: structure trees, outlines, links and the values of forms."""
