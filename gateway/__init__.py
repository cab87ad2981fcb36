"""The only door to any model."""
