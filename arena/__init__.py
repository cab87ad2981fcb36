"""Replies -> judgments -> verdicts -> ratings; dialogues -> sheets -> scores -> agreement."""
