"""The report of anybody's table of ratings."""
