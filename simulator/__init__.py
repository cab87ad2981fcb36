"""Persona and question -> dialogue -> subset -> replies."""
