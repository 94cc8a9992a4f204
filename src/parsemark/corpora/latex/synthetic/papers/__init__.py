"""Papers and theses in the looks of publishers, set by the real classes: text flows, floats float."""
