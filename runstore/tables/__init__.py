"""Tables that people bring, whatever wrote them: the one reader of all commands."""

from runstore.tables.names import Names, clean_name, strict_number, whole_number
from runstore.tables.reader import SUFFIXES, Csv, Schema, Table, open_csv, read_table, rename_columns

__all__ = ["SUFFIXES", "Csv", "Names", "Schema", "Table", "clean_name", "open_csv", "read_table", "rename_columns"]
__all__ += ["strict_number", "whole_number"]
