"""How good simulated students are: how like people, how like their personas, what went wrong, how varied.

Pure functions over dialogues; nothing here calls a model. ``assess`` puts them together.
"""

from simulator.realism.assess import Material, assess
from simulator.realism.gate import LIMITS

__all__ = ["LIMITS", "Material", "assess"]
