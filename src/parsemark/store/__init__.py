"""The on-disk run: manifest, raw blobs by hash, Parquet tables, schema version."""
