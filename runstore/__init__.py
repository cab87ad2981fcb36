"""Vocabulary and memory of a run: records, ids, the journal, published files. No network."""
