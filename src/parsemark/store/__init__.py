"""The on-disk run: manifest, raw blobs by hash, Parquet tables, schema version."""

from parsemark.store.cache import ParseCache, default_cache_folder
from parsemark.store.manifest import SCHEMA_VERSION, CorpusEntry, Manifest, ParserEntry, RunLimits
from parsemark.store.records import ParseRecord, sample_from_row, sample_to_row, work_key
from parsemark.store.run import Run
from parsemark.store.schemas import SCHEMAS, schema_of

__all__ = [
    "SCHEMAS",
    "SCHEMA_VERSION",
    "CorpusEntry",
    "Manifest",
    "ParseCache",
    "ParseRecord",
    "ParserEntry",
    "Run",
    "RunLimits",
    "default_cache_folder",
    "sample_from_row",
    "sample_to_row",
    "schema_of",
    "work_key",
]
