"""A student whose state, learning and quiz are code, and whose words are a model's."""
