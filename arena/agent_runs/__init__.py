"""Scoring of raw agent-run tables: one question set asked several times, five figures that are never summed.

columns -> tables -> payload, links, intent -> items -> state -> figures, consistency, checks -> scoring
"""
