"""Fewer judge calls for the same answer: tests that may be looked at at any time, and what to ask next."""
