"""Brings into a run what no worker of it has made: files from elsewhere, parsers made of others, bundles."""
