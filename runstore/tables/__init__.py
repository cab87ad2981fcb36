"""Tables that people bring, whatever wrote them: the one reader of all commands."""

from runstore.tables.assumptions import Skipped, assume, told_on_stderr
from runstore.tables.headers import Schema, clean_header, folded, rename_columns
from runstore.tables.names import (
    FILLING,
    Names,
    clean_name,
    is_width_variant,
    strict_number,
    whole_number,
    width_folded,
)
from runstore.tables.reader import FORMATS, Table, read_table, require_rows, text_rows
from runstore.tables.separated import Csv, open_csv
from runstore.tables.shards import SUFFIXES, Shard, is_one_file, shards_of
from runstore.tables.stream import Stream, open_stream

__all__ = [
    "FILLING",
    "FORMATS",
    "SUFFIXES",
    "Csv",
    "Names",
    "Schema",
    "Shard",
    "Skipped",
    "Stream",
    "Table",
    "assume",
    "clean_header",
    "clean_name",
]
__all__ += ["folded", "open_csv", "open_stream", "read_table", "rename_columns", "require_rows", "strict_number"]
__all__ += ["text_rows"]
__all__ += ["is_one_file", "is_width_variant", "shards_of", "told_on_stderr", "whole_number", "width_folded"]
