"""Phrases that detectors look for, in English and Korean. Chosen so that a student would hardly say them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from simulator.style.traits import THANKS

__all__ = [
    "FAREWELL", "HEDGES", "PROMPT_WORDS", "REFUSALS", "STUDENT_NAME", "TEACHER_NAME", "TEACHER_TALK", "THANKS",
    "THINKING",
]  # fmt: skip


class Phrases:
    """Phrases looked for without regard to case, in a fraction of what one pattern that ignores it takes.

    A text is made lower case once, so that alternatives are told apart by their first letter; those without a word
    in ASCII are tried only where a text has a letter beyond it.
    """

    def __init__(self, *patterns: str) -> None:
        lowered = [_PART.sub(lambda part: part[1] or part[2].lower(), pattern) for pattern in patterns]
        is_beyond = [
            not each.isascii() and not _ASCII_WORD.search(_PART.sub(lambda part: part[2] or " ", each))
            for each in lowered
        ]
        self._any, self._beyond = (
            _joined([each for each, beyond in zip(lowered, is_beyond, strict=True) if beyond == wanted])
            for wanted in (False, True)
        )

    def search(self, text: str) -> re.Match[str] | None:
        """The first match in the text made lower case, or None."""
        text = text.lower()
        match = self._any.search(text)
        return match if match is not None or text.isascii() else self._beyond.search(text)


_PART = re.compile(r"(\\.)|([^\\]+)", re.DOTALL)
"""An escape, which stays as it is, or what stands between escapes."""
_ASCII_WORD = re.compile("[a-z]{2}")


def _joined(patterns: Sequence[str]) -> re.Pattern[str]:
    """One pattern for all. What begins alike is tried once: most places are no beginning of a word or line."""
    groups = {start: [pattern for pattern in patterns if pattern.startswith(start)] for start in (r"\b", r"^\W*")}
    rest = [pattern for pattern in patterns if not pattern.startswith(tuple(groups))]
    parts = [
        f"{start}(?:{_either(each[len(start) :] for each in alike)})" for start, alike in groups.items() if alike
    ]
    return re.compile("|".join([*parts, *([_either(rest)] if rest else [])]) or r"(?!)", re.MULTILINE)


def _either(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


FAREWELL = Phrases(
    r"\b(?:good)?bye\b", r"\bsee you\b(?=\W*(?:$|later|soon|tomorrow|next|then|around|again|on|in))",
    r"\btake care\b",
    r"\b(?:cheers|(?:much|really) appreciated|appreciate (?:it|that|your|all))\b",
    r"^\W*(?:later|laters|cya|ttyl|gtg|(?:i )?(?:gotta|have to) go(?: now)?)(?=\W*(?:$|bye\b))",
    "ㄱㅅ|ㄳ", "도움이 (?:됐|되었)", "잘 배웠", "이만 (?:가|나가) ?(?:볼|봐)",
    r"\bhave a (?:good|great|nice)\b", r"\bgood ?night\b",
    "안녕히", "다음에 (?:또 )?(?:봬|뵐|봐)", "수고하(?:세요|셨)", "좋은 하루",
)  # fmt: skip

HEDGES = Phrases(
    r"\b(?:maybe|perhaps|probably|i guess|i think|i suppose|not (?:really |so |too )?sure|idk|kinda|might be)\b",
    r"\b(?:i don['’]?t (?:really )?know|sort of|kind of|is that right|right\?)",
    "아마", "것 같", "거 같", "확실하(?:진|지)", "모르겠", "맞(?:나요|아요|죠)\\?", "인가요\\?", "글쎄",
)  # fmt: skip

TEACHER_TALK = Phrases(
    r"\b(?:great|excellent|fantastic|wonderful) (?:question|job|work|observation|thinking)\b",
    r"\b(?:good job|well done|you['’]?re on the right track|nice work)\b",
    r"\bhow (?:can|may) i (?:help|assist) you\b",
    r"\bi['’]?m (?:here|happy|glad) to (?:help|assist|guide|explain)\b",
    r"\blet me (?:help|walk|guide|show) you\b",
    r"\b(?:feel free to ask|hope (?:this|that) helps|would you like me to|do you have any (?:other )?questions)\b",
    r"\bas (?:your|a) (?:tutor|teacher)\b", r"\bas an ai\b",
    r"\b(?:does (?:that|this) make sense (?:so far|to you)|do you see why|what do you already know)\b",
    r"\b(?:explain|tell|show|walk|describe|share)\b.{0,30}\byour (?:own words|reasoning|understanding|thinking)\b",
    r"\b(?:that['’]?s|this is|it['’]?s) a (?:very )?common (?:mistake|misconception)\b",
    r"\b(?:happy|glad) to (?:help|explain|clarify|go over)\b",
    r"\blet['’]?s (?:break|walk|go) .{0,20}\b(?:down|through|step by step)\b",
    r"\blet me know if you (?:need|have|want|get|would)\b", r"\bbefore i (?:give|tell|show|explain to) you\b",
    r"\b(?:try|solve) .{0,20}\byourself\b",
    r"(?:^|[.!?] )(?:remember that (?:the|an?|it)|keep in mind|take your time|think again)\b",
    "(?:좋은|훌륭한|멋진) 질문(?:이|입니다|이에요|이네)", "도와드릴게요", "도와드리겠습니다", "무엇을 도와",
    "설명해 ?드(?:릴|리)", "잘하셨(?:어요|습니다)", "질문(?:이)? (?:더 )?있으(?:시면|신가요)",
    "(?:선생님|튜터)으?로서", "이해(?:되|하)(?:셨|시)(?:나요|네요|어요|죠)|생각하셨네",
    "아시겠(?:어요|습니까|나요)",
    "(?:생각|말|설명|풀어|계산|확인|기억)(?:해)? ?(?:보세요|보시겠|하세요)",
    "흔(?:히 하는|한) (?:실수|오해)(?:예요|이에요|입니다)(?!\\?)",
    "궁금한 (?:점|것|게)(?:이)? (?:더 )?있(?:으면|으시면)",
    "(?:본인|자신)의 말로",
    "알려 (?:주|드리)기 전에",
)  # fmt: skip
"""In a student's mouth: the student has become the teacher, or an assistant."""

TEACHER_NAME = Phrases(r"^\W*(?:teacher|tutor|assistant|선생님|교사|튜터)\W{0,3}[:：]")
STUDENT_NAME = Phrases(r"^\W*(?:student|user|학생|사용자)\W{0,3}[:：]")

PROMPT_WORDS = Phrases(
    r"\bself[- _]efficacy\b", r"\bgoal[- _]commitment\b", r"\b(?:low|high)[- ]motivation\b",
    r"\b(?:system prompt|my persona|this persona|seed question|role[- ]?play(?:ing)?)\b",
    r"\b(?:simulated|playing a|play the) student\b", r"\bstay(?:ing)? in character\b",
    r"\baccording to my profile\b", r"\bmy (?:instructions|profile) (?:say|tell|are|is)", r"\bas instructed\b",
    r"\bmy (?:assigned|given) role\b", r"\bmy character (?:is|has|would|does|wants|cares)",
    r"\bend[- ]token\b", r"\btoken\W+END\b",
    r"^\W*[\[(](?:in character )?as an? [^\])]*\bstudent\b", r"^\W*[\[(][^\])]*학생(?:으로서|처럼| 연기| 역할)",
    r"\{\{.*?\}\}",
    r"</?(?:system|assistant|instructions?|persona)>",
    r"^\W*#{2,}\s*(?:instructions?|system|response|human|user|지시|응답)\b", r"종료 ?토큰",
    r"^\W*(?:personas?|profile|act|instructions?|설정|지시|행동|프로필|페르소나)\W{0,3}[:：]", "설정상",
    "(?<!\\S)(?:제|내) (?:프로필|캐릭터|지시)",
    "지시(?:에 따라|받)", "^\\W*지시대로", r"<\s*/?\s*END\s*>", r"<\|[a-z_]+\|>", r"\[/?INST\]",
    r"\{(?:persona|messages|question|act)\}",
    "자기 ?효능감", "목표 ?몰입", "학습 ?동기(?:가|는) ?(?:낮|높)", "시스템 ?프롬프트", "페르소나", "역할극",
)  # fmt: skip
"""Words of the instructions, and marks of chat templates."""

THINKING = Phrases(
    r"</?(?:think|thinking|thought|reasoning|scratchpad)>",
    r"^\W*(?:thought|thinking|thoughts|reasoning|internal monologue|생각|추론)\W{0,3}[:：]",
    r"^\W*(?:(?:okay|ok|alright|hmm)\W+)?(?:so )?"
    r"the (?:student|teacher|tutor) (?:is|asks|asked|wants|seems|has|just)\b",
    r"\bthe user (?:is asking|asked me|has asked|wants me)\b",
    r"\bi (?:need|should|have|must) (?:to )?(?:respond|reply|answer|act|write) as (?:an?|the|someone)\b",
    r"\b(?:an?|the) (?:\w+ )?student (?:would|might|could|will|should) (?:\w+ )?"
    r"(?:say|reply|respond|write|answer)\b",
    r"\bthe student['’]s (?:\w+ )?(?:message|reply|response|turn|voice|answer)\b",
    r"\bgiven the (?:context|instructions|persona)\b",
    r"\bi should (?:sound|seem|act|pretend|respond|reply)\b",
    r"\bsupposed to (?:reply|respond|answer|act|sound|be) (?:as|like)\b",
    r"\b(?:let me|i will|i['’]ll) (?:craft|draft|compose|formulate|analy[sz]e|pretend|respond|reply)\b",
    r"^\W*\*(?:thinks|thinking|wonders|considers|ponders)\b", "^\\W*\\*[^*\\n]*(?:생각|고민)[^*\\n]*\\*",
    r"^\W*(?:draft|analysis|plan|초안|분석|계획|속마음)\W{0,3}[:：]", "학생(?:이라면|처럼|답게| 말투|의 다음)",
    "(?:맥락|상황)상",
    "(?:말|답|대답|응답|반응|질문|출력|분석)(?:해야|하)? ?(?:겠다|한다|할 것이다|하자)(?!\\w|\\?)",
    "(?:답|말|메시지|질문)(?:을|를) .{0,8}(?:보자|하자|하겠다|쓰겠다)",
    r"\bas the (?:student|teacher), i\b",
    r"^\W*(?:okay|ok|alright|hmm)\W+(?:so )?the user\b",
    "(?:사용자|학생)(?:가|이) (?:묻고|질문하고|원하)", "(?:학생|선생님)의 입장에서 (?:답|대답|응답)",
    "(?:학생|선생님) 역할(?:에|로|을)", "답변해야 (?:한다|할)",
)  # fmt: skip
"""A model's deliberation in what should be speech."""

REFUSALS = Phrases(
    r"\b(?:sorry|afraid|apologi[sz]e)\b.{0,24}\bi (?:can(?:no|['’])t|am unable to|won['’]t) "
    r"(?:help|assist|provide|comply|continue|fulfil|engage|discuss|do that|answer that)",
    r"\bi (?:can(?:no|['’])t|won['’]t) (?:assist|comply|help (?:you )?with (?:that|this))",
    r"\bi(?:['’]m| am) (?:unable|not able|not allowed) to (?:help|assist|provide|comply|continue|discuss|answer)",
    r"\bas an ai\b.{0,60}\b(?:can(?:no|['’])t|unable|not able)\b",
    r"\b(?:against|violates?) (?:my|the|our) (?:guidelines|policy|policies|programming)\b",
    r"\b(?:i am|i['’]m|as) (?:just |only )?an? (?:large )?(?:ai|language) ?(?:model|assistant)?\b"
    r"(?=.{0,80}\b(?:not?|can|don['’]t|unable)\b)",
    r"\bi (?:can(?:no|['’])t|won['’]t|will not|am (?:not able|unable) to|must not) "
    r"(?:pretend|role[- ]?play|take part|participate|answer this)\b",
    r"\bi (?:won['’]t|will not) answer\b", r"\bnot able to (?:take part|participate|pretend)\b",
    r"\bi (?:must|have to|need to) (?:decline|refuse) (?:this|that|your|to)\b",
    r"\b(?:outside|beyond) (?:of )?(?:what i can|my (?:scope|abilities|capabilities))\b",
    r"\b(?:in|not )appropriate for me\b",
    r"\b(?:not|n['’]t) (?:feel )?comfortable (?:answering|discussing|with (?:this|that))\b",
    "(?:저는|제가|나는) .{0,6}(?:언어 ?모델|인공 ?지능|AI)(?:이라|라서|이기|입니다|이므로)",
    "(?:언어 ?모델|인공 ?지능|AI)(?:으)?로서",
    "(?:답변|대답|요청)(?:을|은|를)? ?(?:거절|거부)(?:하겠|해야|합니다|드립)", "정책상 (?:말씀|답|도와)",
    "(?:할 수 있는|능력의|제) 범위를 벗어",
    "(?:척(?:할|을 할)|역할을 (?:맡을|할)|대화에 참여할|내용은? 생성할) 수(?:가|는|도)? ?없",
    "(?:주제는 다룰|도와줄|해 ?드릴|대화를 계속할) 수(?:가|는|도)? ?없",
    "답(?:변)?하(?:기|는 것)(?:에|가|이|은|는)? (?:적절하지|불편)",
    "도와드릴 수(?:가|는)? 없", "답변(?:을|해)? ?(?:드릴|할) 수(?:가|는)? 없",
    "제공(?:해 ?드릴|할) 수(?:가|는)? 없", "응답할 수(?:가|는)? 없",
)  # fmt: skip
