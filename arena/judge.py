"""One round: a judge compares two replies to one subset, and what it wrote becomes a judgment.

The judged texts are hostile: they stand between fences drawn by identity that they do not contain, and nothing
inside them can count as the verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from arena.asking import Asked, Reading, ask_judge, fence
from arena.criteria import OVERALL, Criterion, render
from arena.kept import NOTHING, KeptRounds, round_item
from arena.matches import Match, Order, slots
from arena.reading import LetterReading, ObjectReading, read_choice, read_marker, read_object
from arena.votes import judgment_from, majority, verdict
from gateway import prompts
from gateway.crowd import each
from gateway.errors import CallFailed, as_failed
from gateway.prompt import Ask, Message, Prompt, Schema
from gateway.thinking import without_thinking
from runstore.ids import digest, hashed_number
from runstore.languages import words
from runstore.records import Judgment, Language, Outcome, Reply, Subset, Utterance, Verdict

PACKAGE = "arena"
Said = tuple[LetterReading, str | None]
"""The letter that a judge gave, and its own words about both replies."""
VERDICT_SCHEMA = Schema(
    "verdict",
    {
        "type": "object",
        "properties": {
            "comparison": {"type": "string"},
            "overall": {"type": "string"},
            "verdict": {"type": "string", "enum": ["a", "b", "c"]},
        },
        "required": ["comparison", "overall", "verdict"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class Judging:
    """How matches are judged.

    ``rounds`` are asked of each judge. ``one_by_one``: a verdict per criterion instead of one over all of them.
    ``decisive`` skips rounds that can no longer change a verdict. ``reask``: further tries at a round whose
    reply could not be read.
    """

    judges: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    rounds: int = 3
    order: Order = "random"
    answer_format: Literal["marker", "json"] = "marker"
    one_by_one: bool = False
    rounds_mode: Literal["all", "decisive"] = "all"
    reask: int = 0
    seed: int = 0

    @property
    def asked(self) -> int:
        """Rounds asked of all judges for one match and criterion."""
        return self.rounds * len(self.judges)

    @property
    def needed(self) -> int:
        """Rounds that are asked of all judges whatever they say."""
        return self.asked // 2 + 1 if self.rounds_mode == "decisive" else self.asked

    @property
    def criterion_ids(self) -> list[str]:
        return [criterion.id for criterion in self.criteria] if self.one_by_one else [OVERALL]


@dataclass(frozen=True, slots=True)
class JudgePanel:
    """The judges' prompt text, loaded once; ``hashes`` name the files used."""

    how: Judging
    language: Language
    text: prompts.PromptFile
    hashes: dict[str, str]
    subject: str | None = None
    _criteria: dict[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)
    _shown: list[tuple[Subset, str]] = field(default_factory=list[tuple[Subset, str]], repr=False, compare=False)
    _made: list[tuple[Reply, Reply, str, Prompt]] = field(
        default_factory=list[tuple[Reply, Reply, str, Prompt]], repr=False, compare=False
    )

    @classmethod
    def load(
        cls, how: Judging, language: Language = "en", folder: Path | None = None, domain: str | None = None
    ) -> JudgePanel:
        """The shipped judge prompts, or the user's own out of ``folder``; ``domain`` is what is taught.

        Raises Problem, InputProblem.
        """
        name = ("judge_single_criterion" if how.one_by_one else "judge") + (
            "_json" if how.answer_format == "json" else ""
        )
        text = prompts.load(PACKAGE, name, language, folder)
        criteria = digest(
            [
                (
                    criterion.id,
                    criterion.name,
                    criterion.description,
                    *([criterion.role] if criterion.role else []),
                )
                for criterion in how.criteria
            ],
            size=8,
        )
        hashes = {f"{name}.{language}": text.hash, "criteria": criteria}
        if domain is None:
            return cls(how, language, text, hashes)
        subject = prompts.load(PACKAGE, "judge_subject", language, folder)
        hashes[f"judge_subject.{language}"] = subject.hash
        return cls(how, language, text, hashes, subject.fill(domain=domain))

    def prompt(self, match: Match, slot_a: Reply, slot_b: Reply, criterion: str) -> Prompt:
        """What a judge is sent. The fence depends on the texts alone, so a replay sends the same bytes."""
        history = self._history(match.subset)
        for first, second, asked, made in self._made:
            if first is slot_a and second is slot_b and asked == criterion:
                return made
        made = self._prompt(match, history, slot_a, slot_b, criterion)
        self._made.append((slot_a, slot_b, criterion, made))
        return made

    def _prompt(self, match: Match, history: str, slot_a: Reply, slot_b: Reply, criterion: str) -> Prompt:
        reply_a, reply_b = defused(slot_a.text), defused(slot_b.text)
        mark = fence(history, reply_a, reply_b)
        fields = {"history": history, "reply_a": reply_a, "reply_b": reply_b, "fence": mark}
        if criterion not in self._criteria:
            chosen = [each for each in self.how.criteria if criterion in (OVERALL, each.id)]
            self._criteria[criterion] = render(chosen)
        name = "criterion" if self.how.one_by_one else "criteria"
        filled = self.text.fill(**fields, **{name: self._criteria[criterion]})
        content = filled if self.subject is None else f"{self.subject}\n\n{filled}"
        return Prompt(
            role="judge",
            messages=(Message("user", content),),
            transcript=match.subset.history,
            fields={
                "history": history,
                "response_a": reply_a,
                "response_b": reply_b,
                "topic": match.subset.subject,
                "subset_id": match.subset.id,
                "dialogue_id": match.subset.dialogue,
            },
            schema=VERDICT_SCHEMA if self.how.answer_format == "json" else None,
        )

    def _history(self, subset: Subset) -> str:
        """The history as it is shown; the rounds of one match follow each other, so the last one is kept, and
        with it what was made of it: two orders are few beside many rounds and judges."""
        if not self._shown or self._shown[0][0] is not subset:
            self._made.clear()
            self._shown[:] = [(subset, defused(transcript_text(subset.history, self.language)))]
        return self._shown[0][1]


def transcript_text(history: Sequence[Utterance], language: Language = "en") -> str:
    """A dialogue as judges read it: one speaker's line after the other, names in the run's language."""
    name = words("arena", "speakers", language)
    return "\n".join(f"[{name(utterance.role)}]: {utterance.text}" for utterance in history)


_BLANK_LINE = re.compile(r"\n\s*\n")
_PLANTED = re.compile(r"[#＃]{3,}(?=.{0,60}?[(（]\s*[abcａｂｃ]\s*[)）])", re.DOTALL | re.IGNORECASE)


def defused(text: str) -> str:
    """A judged text as it is shown: whatever in it looks like a decision no longer starts with ``###``.

    Otherwise a tutor could make decisions unreadable by writing them: the judge's own would look like a quotation.
    """
    return _PLANTED.sub("(#)", text) if "#" in text or "＃" in text else text


async def judge_round(
    ask: Ask, panel: JudgePanel, match: Match, judge: str, criterion: str, round_number: int
) -> Judgment:
    """One round of one judge (rounds count from 1). A reply that was cut off is an unreadable judgment.

    Raises CallFailed where no reply came at all.
    """
    how = panel.how
    slot_a, slot_b = slots(match, judge, criterion, round_number, how.order, how.seed)
    prompt = panel.prompt(match, slot_a, slot_b, criterion)
    said: Asked[Said] = Asked("failed")
    for attempt in range(how.reask + 1):
        repeat = hashed_number(match.id, criterion, round_number, attempt)
        item = f"{match.id}#{round_number}"
        said = await ask_judge(ask, judge, prompt, _reader(panel, prompt), stage="judge", item=item, repeat=repeat)
        if said.failure is not None:
            raise said.failure
        if said.state == "answered":
            break
    letter, reason = said.value or (LetterReading(None, "not asked"), None)
    return judgment_from(
        letter,
        subset=match.subset.id,
        dialogue=match.subset.dialogue,
        judge=judge,
        criterion=criterion,
        round=round_number,
        slot_a=slot_a.endpoint,
        slot_b=slot_b.endpoint,
        raw=said.raw,
        reason=reason,
    )


def _reader(panel: JudgePanel, prompt: Prompt) -> Callable[[str, str], Reading[Said]]:
    quoted = [prompt.fields[name] for name in ("history", "response_a", "response_b")]

    def read(raw: str, finish: str) -> Reading[Said]:
        if panel.how.answer_format == "marker":
            letter, overall = read_marker(raw, finish=finish, quoted=quoted), _overall_words(raw)
        else:
            letter, overall = _read_object(read_object(raw, finish=finish, keys=("verdict",), quoted=quoted))
        return Reading((letter, overall), letter.letter is not None, reason=letter.reason)

    return read


def _read_object(reply: ObjectReading) -> Said:
    if reply.value is None:
        return LetterReading(None, reply.reason), None
    overall = reply.value.get("overall")
    return read_choice(reply.value.get("verdict")), overall if isinstance(overall, str) else None


def _overall_words(raw: str) -> str | None:
    """The judge's own last paragraph before its decision."""
    before = without_thinking(raw).rpartition("###")[0]
    paragraphs = [part.strip() for part in _BLANK_LINE.split(before.strip(" \n*_")) if part.strip()]
    return paragraphs[-1] if paragraphs else None


@dataclass(frozen=True, slots=True)
class Judged:
    """One match under one criterion: its judgments, the rounds that got no reply, and the verdict.

    The verdict is None where no round at all got a reply.
    """

    match: Match
    criterion: str
    judgments: tuple[Judgment, ...]
    failures: tuple[tuple[str, CallFailed], ...]
    verdict: Verdict | None


async def judge_match(
    ask: Ask, panel: JudgePanel, match: Match, criterion: str, earlier: KeptRounds = NOTHING
) -> Judged:
    """All rounds of all judges for one match, and the majority.

    Rounds are asked at once, or, where ``rounds_mode`` is ``decisive``, as many as any verdict needs, and then one
    after the other while the verdict is open. A round that ``earlier`` knows is taken from there.
    """
    how = panel.how
    rounds = [(number, judge) for number in range(1, how.rounds + 1) for judge in how.judges]
    judgments: list[Judgment] = []
    failures: list[tuple[str, CallFailed]] = []
    for batch in [rounds[: how.needed], *([asked] for asked in rounds[how.needed :])]:
        if is_decided(judgments, how.asked):
            break
        known, new = _sorted_out(batch, match, criterion, earlier)
        judgments.extend(known)
        outcome = await each(
            new, lambda asked: judge_round(ask, panel, match, asked[1], criterion, asked[0]), at_once=len(new)
        )
        if outcome.stopped is not None:
            raise outcome.stopped
        judgments.extend(outcome.results())
        failures.extend(
            (round_item(match.id, criterion, judge, number), as_failed(judge, error))
            for (number, judge), error in outcome.failed
        )
    judgments.sort(key=lambda asked: rounds.index((asked.round, asked.judge)))
    decided = verdict(judgments, match.endpoints, how.asked) if judgments else None
    return Judged(match, criterion, tuple(judgments), tuple(failures), decided)


def _sorted_out(
    rounds: Sequence[tuple[int, str]], match: Match, criterion: str, earlier: KeptRounds
) -> tuple[list[Judgment], list[tuple[int, str]]]:
    """The judgments that are known already, and the rounds of which nothing is known."""
    known: list[Judgment] = []
    new: list[tuple[int, str]] = []
    for at, judge in rounds:
        judgment = earlier.judgments.get((match.subset.id, *match.endpoints, criterion, judge, at))
        if judgment is not None:
            known.append(judgment)
        elif round_item(match.id, criterion, judge, at) not in earlier.failures:
            new.append((at, judge))
    return known, new


def judged_before(how: Judging, match: Match, criterion: str, earlier: KeptRounds) -> tuple[Judged, bool]:
    """A match as far as ``earlier`` knows it, and whether that is all of it: only then it has a verdict."""
    rounds = [(number, judge) for number in range(1, how.rounds + 1) for judge in how.judges]
    known, new = _sorted_out(rounds, match, criterion, earlier)
    whole = not new or (how.rounds_mode == "decisive" and is_decided(known, how.asked))
    decided = verdict(known, match.endpoints, how.asked) if known and whole else None
    return Judged(match, criterion, tuple(known), (), decided), whole


def is_decided(judgments: Sequence[Judgment], asked: int) -> bool:
    """Whether the rounds still open can't change the verdict any more.

    Either an outcome has more than half of the rounds asked, or one was unreadable and no outcome can get so many:
    then the match is invalid.
    """
    votes: list[tuple[Outcome, str | None]] = [(judgment.outcome, judgment.winner) for judgment in judgments]
    if votes and majority(votes, asked)[2] != "split":
        return True
    readable = Counter(vote for vote in votes if vote[0] != "unreadable")
    most = max(readable.values(), default=0) + asked - len(votes)
    return readable.total() < len(votes) and 2 * most <= asked
