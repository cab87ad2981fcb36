"""Scoring forms as data, and the arithmetic on filled-in sheets."""
