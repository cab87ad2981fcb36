"""The bank of opening questions as YAML by subject, and the loader for users' own files."""

from seed_questions.loader import bank_path, load

__all__ = ["bank_path", "load"]
