"""The results of a study with people."""
