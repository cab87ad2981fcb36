"""Answers that their writer takes back in what follows them: a judge that thinks aloud to its last line.

Not what is said of the answer is looked at, but the few ways in which speakers mend their own speech: a clause of
an interjection (``Wait, no.``, ``Hmm.``), or one about what was just said (``scratch that``, ``I take it back``).
Such a clause stands directly behind the answer or begins a sentence.
"""

from __future__ import annotations

import re

_BEGINS = r"(?:\A[\s.,;:!…—–\-(\[)\]}\"'*_`]*+|(?<=[.!?…。！？\n])[ \t(\-—–*_]*+)"
_ALONE = (
    r"\b(?:no|nope|nah|wait|hold on|hang on|hm+|actually|oops|whoops|sorry|apologies|correction|retracted"
    r"|withdrawn)\b"
)
_ENDS = r"(?=\s*(?:[,.!?…:;—–)\]]|-(?!\w)|\Z)|\s+(?:no|wait|actually|that|it|i|let|this)\b)"
_ABOUT = (
    r"(?:(?:please )?(?:scratch|strike|ignore|disregard|forget|cancel|discard) "
    r"(?:that|this|it|the (?:above|last))\b"
    r"|never ?mind\b|(?:that|this)(?:'s|’s| is| was) (?:wrong|incorrect|not right|a mistake|an error|not what i)\b"
    r"|my (?:bad|mistake|error)\b|on (?:second thoughts?|(?:further )?reflection)\b"
    r"|i (?:take (?:that|this|it) back|(?:have )?changed? my mind"
    r"|(?:retract|withdraw|revoke)\b|mis(?:read|spoke)\b"
    r"|(?:was|am) (?:wrong|mistaken|undecided|no longer (?:so )?sure|not (?:so |really )?sure)|spoke too soon"
    r"|(?:can ?not|can['’]t|could not) (?:really )?(?:decide|tell))|i['’]m (?:not (?:so |really )?sure|undecided)"
    r"|let me (?:re\w+|think|look|check|start over|correct))"
)
_KOREAN = (
    r"(?:(?:아니(?:요|야|다|지)?|아뇨|잠깐만?|잠시만요?|음+|흠+|아차|이런)"
    r"(?=\s*(?:[,.!?…~—]|-(?!\w)|\Z)|\s+(?:아니|다시|잠깐|잘못))"
    r"|(?:정정|취소|철회|번복|수정)(?:합니다|할게|하겠|한다|입니다)|다시 (?:생각|보니|살펴|판단)"
    r"|생각해 ?보니|잘못 (?:봤|보았|읽|판단|골랐)"
    r"|무시하)"
)
_WITHDRAWN = re.compile(rf"{_BEGINS}(?:{_ALONE}{_ENDS}|{_ABOUT}|{_KOREAN})", re.IGNORECASE)


def withdrawn(behind: str) -> str | None:
    """The words by which what stands ``behind`` an answer takes it back, or None where it does not."""
    found = _WITHDRAWN.search(behind)
    if found is None:
        return None
    return " ".join(found[0].strip(" \t\n.,;:!…—–-([)]}\"'*_`").split())
