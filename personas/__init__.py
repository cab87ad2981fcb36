"""The simulated students: factor texts as YAML, and the generator that crosses them."""

from personas.assignment import Assignment, assign, assigned, fits
from personas.generator import generate
from personas.listed import load_personas

__all__ = ["Assignment", "assign", "assigned", "fits", "generate", "load_personas"]
