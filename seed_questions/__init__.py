"""The bank of opening questions as YAML by subject, and the loader for users' own files."""
