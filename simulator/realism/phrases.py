"""Phrases that detectors look for, in English and Korean. Chosen so that a student would hardly say them."""

from __future__ import annotations

import re

from simulator.style.traits import THANKS

__all__ = [
    "FAREWELL", "HEDGES", "PROMPT_WORDS", "REFUSALS", "STUDENT_NAME", "TEACHER_NAME", "TEACHER_TALK", "THANKS",
    "THINKING",
]  # fmt: skip


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE)


FAREWELL = _any(
    r"\b(?:good)?bye\b", r"\bsee you\b", r"\btake care\b", r"\bhave a (?:good|great|nice)\b", r"\bgood ?night\b",
    "안녕히", "다음에 (?:또 )?(?:봬|뵐|봐)", "수고하(?:세요|셨)", "좋은 하루",
)  # fmt: skip

HEDGES = _any(
    r"\b(?:maybe|perhaps|probably|i guess|i think|i suppose|not (?:really |so |too )?sure|idk|kinda|might be)\b",
    r"\b(?:i don['’]?t (?:really )?know|sort of|kind of|is that right|right\?)",
    "아마", "것 같", "거 같", "확실하(?:진|지)", "모르겠", "맞(?:나요|아요|죠)\\?", "인가요\\?", "글쎄",
)  # fmt: skip

TEACHER_TALK = _any(
    r"\b(?:great|excellent|fantastic|wonderful) (?:question|job|work|observation|thinking)\b",
    r"\b(?:good job|well done|you['’]?re on the right track|nice work)\b",
    r"\bhow (?:can|may) i (?:help|assist) you\b",
    r"\bi['’]?m (?:here|happy|glad) to (?:help|assist|guide|explain)\b",
    r"\blet me (?:help|walk|guide|show) you\b",
    r"\b(?:feel free to ask|hope (?:this|that) helps|would you like me to|do you have any (?:other )?questions)\b",
    r"\bas (?:your|a) (?:tutor|teacher)\b", r"\bas an ai\b",
    "(?:좋은|훌륭한|멋진) 질문(?:이|입니다|이에요|이네)", "도와드릴게요", "도와드리겠습니다", "무엇을 도와",
    "설명해 ?드(?:릴|리)", "잘하셨(?:어요|습니다)", "질문(?:이)? (?:더 )?있으(?:시면|신가요)",
    "(?:선생님|튜터)으?로서",
)  # fmt: skip
"""In a student's mouth: the student has become the teacher, or an assistant."""

TEACHER_NAME = _any(r"^\W*(?:teacher|tutor|assistant|선생님|교사|튜터)\W{0,3}[:：]")
STUDENT_NAME = _any(r"^\W*(?:student|user|학생|사용자)\W{0,3}[:：]")

PROMPT_WORDS = _any(
    r"\bself[- _]efficacy\b", r"\bgoal[- _]commitment\b", r"\b(?:low|high)[- ]motivation\b",
    r"\b(?:system prompt|my persona|this persona|seed question|role[- ]?play(?:ing)?)\b",
    r"\b(?:simulated|playing a|play the) student\b", r"\bstay(?:ing)? in character\b",
    r"<\s*/?\s*END\s*>", r"<\|[a-z_]+\|>", r"\[/?INST\]", r"\{(?:persona|messages|question|act)\}",
    "자기 ?효능감", "목표 ?몰입", "학습 ?동기(?:가|는) ?(?:낮|높)", "시스템 ?프롬프트", "페르소나", "역할극",
)  # fmt: skip
"""Words of the instructions, and marks of chat templates."""

THINKING = _any(
    r"</?(?:think|thinking|thought|reasoning|scratchpad)>",
    r"^\W*(?:thought|thinking|thoughts|reasoning|internal monologue|생각|추론)\W{0,3}[:：]",
    r"^\W*(?:(?:okay|ok|alright|hmm)\W+)?(?:so )?"
    r"the (?:student|teacher|tutor) (?:is|asks|asked|wants|seems|has|just)\b",
    r"\bthe user (?:is asking|asked me|has asked|wants me)\b",
    r"\bi (?:need|should|have|must) (?:to )?(?:respond|reply|answer|act|write) as\b",
    r"\bas the (?:student|teacher), i\b",
    r"^\W*(?:okay|ok|alright|hmm)\W+(?:so )?the user\b",
    "(?:사용자|학생)(?:가|이) (?:묻고|질문하고|원하)", "(?:학생|선생님)의 입장에서 (?:답|대답|응답)",
    "(?:학생|선생님) 역할(?:에|로|을)", "답변해야 (?:한다|할)",
)  # fmt: skip
"""A model's deliberation in what should be speech."""

REFUSALS = _any(
    r"\b(?:sorry|afraid|apologi[sz]e)\b.{0,24}\bi (?:can(?:no|['’])t|am unable to|won['’]t) "
    r"(?:help|assist|provide|comply|continue|fulfil|engage|discuss|do that|answer that)",
    r"\bi (?:can(?:no|['’])t|won['’]t) (?:assist|comply|help (?:you )?with (?:that|this))",
    r"\bi(?:['’]m| am) (?:unable|not able|not allowed) to (?:help|assist|provide|comply|continue|discuss|answer)",
    r"\bas an ai\b.{0,60}\b(?:can(?:no|['’])t|unable|not able)\b",
    r"\b(?:against|violates?) (?:my|the|our) (?:guidelines|policy|policies|programming)\b",
    "도와드릴 수(?:가|는)? 없", "답변(?:을|해)? ?(?:드릴|할) 수(?:가|는)? 없",
    "제공(?:해 ?드릴|할) 수(?:가|는)? 없", "응답할 수(?:가|는)? 없",
)  # fmt: skip
