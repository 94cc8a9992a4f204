"""The tests. A regular package, so that no package that is installed under this name stands before it."""
