"""The simulated students: factor texts as YAML, and the generator that crosses them."""
