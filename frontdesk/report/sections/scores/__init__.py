"""The report of rubric scores."""
