"""Battles -> ratings with intervals: pure functions over arrays."""
