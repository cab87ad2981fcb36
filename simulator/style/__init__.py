"""How students type: the profile of a group, the target it gives each message, and what is done to reach it.

traits.py    one text: its words and which traits it has
profile.py   a group: quantiles of words by turn, shares of traits; YAML files
learn.py     a group's profile counted from its transcripts, aggregates only
target.py    what one message is to be, drawn by identity so that all of them together follow the profile
choose.py    the candidate nearest to its target
typing.py    case, full stop and slips, by code, with the clean text kept
"""
