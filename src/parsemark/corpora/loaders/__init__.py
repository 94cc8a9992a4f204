"""Read corpora that others made, in the layouts in which they publish them. One module per layout.

What every loader needs is here: files read within limits, ids of samples, and truth tables.
"""

from parsemark.corpora.loaders.files import (
    SampleIds,
    files_inside,
    first_page_size,
    listing_hash,
    parse_json,
    read_each,
    read_json,
    read_model,
    read_number,
    read_text,
    read_xml,
    require_inside,
    require_some,
    skip_with_remark,
)
from parsemark.corpora.loaders.truth_tables import filled_table, table_element

__all__ = [
    "SampleIds", "files_inside", "filled_table", "first_page_size", "listing_hash", "parse_json", "read_each",
    "read_json", "read_model", "read_number", "read_text", "read_xml", "require_inside", "require_some",
    "skip_with_remark", "table_element",
]  # fmt: skip
