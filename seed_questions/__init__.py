"""The banks of opening questions as YAML by subject, and the loader for users' own files."""

from seed_questions.banks import DEFAULT, Bank, bank, bank_names, path_of_bank
from seed_questions.loader import load

__all__ = ["DEFAULT", "Bank", "bank", "bank_names", "load", "path_of_bank"]
