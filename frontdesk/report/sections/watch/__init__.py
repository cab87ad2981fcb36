"""A run as it goes."""
