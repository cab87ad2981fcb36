"""How judges judge: position, consistency, agreement, preferences, and a panel weighed by reliability.

Pure functions over judgments, verdicts and replies. A judge is who a judgment names; a person is ``person:NAME``.
"""
