"""The simulated students: factor texts as YAML, and the generator that crosses them."""

from personas.assignment import Assignment, assign
from personas.generator import generate
from personas.listed import load_personas

__all__ = ["Assignment", "assign", "generate", "load_personas"]
