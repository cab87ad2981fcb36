"""Whole dialogues, or any questions and answers, scored by judges against a rubric: sheets, scores, tables."""
