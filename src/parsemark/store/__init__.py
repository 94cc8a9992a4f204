"""The on-disk run: manifest, raw blobs by hash, Parquet tables, schema version."""

from parsemark.store.cache import ParseCache, default_cache_folder
from parsemark.store.folder import RunFolder
from parsemark.store.manifest import SCHEMA_VERSION, CorpusEntry, Manifest, ParserEntry, RunLimits
from parsemark.store.records import ParseRecord, sample_from_row, sample_to_row, work_key
from parsemark.store.run import Run, report_damage
from parsemark.store.tables import SCHEMAS, schema_of

__all__ = [
    "SCHEMAS", "SCHEMA_VERSION", "CorpusEntry", "Manifest", "ParseCache", "ParseRecord", "ParserEntry", "Run",
    "RunFolder", "RunLimits", "default_cache_folder", "report_damage", "sample_from_row", "sample_to_row",
    "schema_of", "work_key",
]  # fmt: skip
