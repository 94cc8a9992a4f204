"""Truth that PDFs embed: structure trees, outlines, links and the values of forms."""
