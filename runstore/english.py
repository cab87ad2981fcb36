"""One of a thing in English: ``1 matches were invalid`` is ``1 match was invalid``.

A sentence is written in the plural, as it is for nearly every number; :func:`in_number` puts the noun behind a 1,
and the verb behind that, into the singular. The counterpart of the particles of :mod:`runstore.korean`.
"""

from __future__ import annotations

import re

_NOUNS = (
    "answers|arguments|attempts|battles|branches|calls|categories|cells|checks|clusters|columns|conditions|contestants|"
    "contradictions|criteria|days|degrees|dialogues|divisions|documents|endpoints|episodes|failures|files|games|"
    "groups|images|invitations|items|judges|judgments|keys|languages|letters|levels|lines|logs|matches|messages|"
    "minutes|models|openers|pairs|participants|persons|personas|places|plots|points|questions|raters|ratings|records|"
    "refreshes|repeats|replies|requests|resamples|results|rollouts|rounds|rows|rules|runs|samples|scores|seconds|"
    "sections|sessions|sheets|shards|sources|stages|students|subjects|subsets|teachers|texts|themes|ties|times|"
    "tokens|topics|tries|turns|units|utterances|values|verdicts|votes|weeks|wins|words|workers|years|losses"
)
_VERBS = {
    "were": "was",
    "are": "is",
    "have": "has",
    "do": "does",
    "say": "says",
    "hold": "holds",
    "lean": "leans",
    "find": "finds",
    "stay": "stays",
    "change": "changes",
    "lack": "lacks",
    "allow": "allows",
}
_NO_ADJECTIVE = (
    "of|the|to|in|at|by|with|and|or|is|from|as|x|for|on|than|that|per|a|an|these|those|all|its|their|more than"
)
_ONE = re.compile(
    rf"(?P<lead>(?:^|[\s(\[~])1(?P<between>(?: (?!(?:{_NO_ADJECTIVE})\b)[a-z][a-z-]*){{0,2}}) )"
    rf"(?P<noun>{_NOUNS})\b"
    rf"(?P<who> that| which)?(?: (?P<verb>{'|'.join(_VERBS)})\b)?"
)
_QUOTED = re.compile(r"((?<!\w)'[^'\n]*'(?!\w)|\"[^\"\n]*\")")
"""What somebody else said stays as it was said."""
_NUMBERED = re.compile(
    r"\b(?:line|row|round|item|position|group|page|stage|turn|table|level|version|seed|step|column|cell|judge|rater|"
    r"criterion|port|rank|place|no|=)\s*$",
    re.IGNORECASE,
)
"""Words behind which a 1 is a name and counts nothing."""
_ODD = {"criteria": "criterion", "ties": "tie"}


def in_number(text: str) -> str:
    """``text`` with the noun behind each 1 in the singular."""
    if "1 " not in text:
        return text
    parts = _QUOTED.split(text) if "'" in text or '"' in text else [text]
    return "".join(part if at % 2 else _ONE.sub(_singular, part) for at, part in enumerate(parts))


def _singular(found: re.Match[str]) -> str:
    if _NUMBERED.search(found.string[: found.start("between") - 1]):
        return found[0]
    verb = "" if found["verb"] is None else f" {_VERBS[found['verb']]}"
    return f"{found['lead']}{_one(found['noun'])}{found['who'] or ''}{verb}"


def _one(noun: str) -> str:
    if noun in _ODD:
        return _ODD[noun]
    for many, one in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss")):
        if noun.endswith(many):
            return noun.removesuffix(many) + one
    return noun.removesuffix("s")
