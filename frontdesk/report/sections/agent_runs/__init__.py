"""The report of agent runs."""
