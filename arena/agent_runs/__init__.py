"""Scores raw CSVs of agent runs."""
