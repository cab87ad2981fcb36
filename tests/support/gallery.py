"""One page of every kind that the package writes, with texts as tutors write them: Markdown, code, formulas."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

from frontdesk.cli import main
from frontdesk.runner.leaderboard_history import Changed, Figures, Move, Refresh
from runstore.ids import draw, pick
from runstore.publish import write_jsonl
from runstore.records import Reply, Subset
from tests.support.agent_runs_table import rows, table_text
from tests.support.fake_provider import FakeProvider
from tests.support.run_folders import RunBuilder
from tests.support.scoring_command import JUDGES, prepared
from tests.support.student_runs import config_of, replies_of, run_stage
from tests.support.student_world import subsets as student_subsets

TUTORS = ("socratic-large", "socratic-small", "explainer", "단계별 안내 튜터", "plain-baseline")
STRENGTH = dict(zip(TUTORS, (0.9, 0.7, 0.55, 0.5, 0.2), strict=True))
QUESTION = "Why does binary search need a *sorted* list? I don't see it for `[3, 1, 2]`."
REPLIES = {
    "socratic-large": """Good question! Let's look at **one step** together.

If the middle element is $a_m$ and you look for $x$, you throw away half of the list because

$$x < a_m \\implies x \\notin \\{a_{m}, \\dots, a_{n}\\}$$

1. Which elements do you *know* are larger than $a_m$?
2. What would that need of their order?

```python
def search(items: list[int], wanted: int) -> int | None:
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return None
```
Try it with `[3, 1, 2]` and say where it goes wrong.""",
    "socratic-small": """Let's look at **one step**.

1. Which elements do you know are larger than the middle one?
2. What would that need of their order?

Try it with `[3, 1, 2]`.""",
    "explainer": """Binary search halves the range each time, so it takes $O(\\log n)$ comparisons.

| step | range | middle |
|---|---|---|
| 1 | 0–2 | 1 |
| 2 | 2–2 | 2 |

> It only works because *everything* left of the middle is smaller.""",
    "단계별 안내 튜터": """좋은 질문이에요. **한 단계씩** 살펴볼까요?

- 가운데 값 $a_m$보다 큰 값은 어디에 있나요?
- 정렬되어 있지 않다면 그 사실을 알 수 있을까요?

`[3, 1, 2]`에서 `2`를 찾아보고 어디서 막히는지 알려 주세요.""",
    "plain-baseline": "Because the algorithm compares with the middle and drops one half.",
}  # fmt: skip


class GalleryRun(RunBuilder):
    """Replies as tutors write them, with what they took and cost."""

    def _reply(self, subset: Subset, name: str) -> Reply:
        base = super()._reply(subset, name)
        seconds = 0.6 + 3 * STRENGTH.get(name, 0.5) * (0.5 + draw(3, subset.id, name))
        text = f"{REPLIES.get(name, base.text)}\n\n{subset.id}"
        cost = 0.0002 * (1 + 20 * STRENGTH.get(name, 0.5) ** 2)
        return base.model_copy(update={"text": text, "latency_s": seconds, "cost_usd": cost})


def built_run(path: Path, subsets: int = 40, *, shift: float = 0.0, language: str = "en") -> Path:
    """A run of five tutors and two judges: ``subsets`` contexts, every pair on each."""
    run = GalleryRun(TUTORS, judges=("judge-a", "judge-b"), utterance=QUESTION, language=language)
    run.settings["run"]["name"] = "Tutors of algorithms"
    for _ in range(subsets):
        subset = run.subset()
        for a, b in combinations(TUTORS, 2):
            lead = STRENGTH[a] - STRENGTH[b] + shift * (1 if a == TUTORS[1] else -1 if b == TUTORS[1] else 0)
            chance = 0.5 + lead / 2
            drawn = draw(11, subset.id, a, b)
            words = ["aaaaaa", "aaaaba", "aabatb"] if drawn < chance else ["bbbbbb", "bbabbb", "btbabt"]
            run.match(subset, (a, b), "xxxxxx" if drawn > 0.995 else pick(words, 1, subset.id, a, b, "how"))
    run.write(path)
    _history(path)
    return path


def _history(path: Path) -> None:
    board = json.loads((path / "leaderboard.json").read_text("utf-8"))
    fields = Figures.model_fields
    now = tuple(Figures(**{key: model[key] for key in fields}) for model in board["models"])
    lines: list[Refresh] = []
    for number in range(1, 5):
        kept = [model for model in now if number > 2 or model.name != TUTORS[3]]
        after = tuple(
            model.model_copy(update={key: getattr(model, key) + 18 * (4 - number) * (draw(4, model.name) - 0.5)
                                     for key in ("rating", "lower", "upper")})
            for model in kept
        )  # fmt: skip
        lines.append(
            Refresh(
                number=number, at=f"2026-0{number + 4}-1{number}T09:00:00+00:00",
                change={"add": (TUTORS[3],)} if number == 3 else {"rejudge": ()}, config="0" * 12,
                verdicts=Changed(new=40, gone=0, changed=0, same=160),
                before=lines[-1].after if lines else after, after=after,
                moves=tuple(Move(name=model.name, moved=1.5, scale=0.5, evidence=1.0, new_matches=10,
                                 gone_matches=0, changed_verdicts=0, why=("new_matches",)) for model in after),
            )
        )  # fmt: skip
    write_jsonl(path / "history.jsonl", lines)


def written(folder: Path, *, subsets: int = 40) -> dict[str, Path]:
    """The pages by kind; ``folder`` also holds what they were made of."""
    run = built_run(folder / "run", subsets)
    other = built_run(folder / "later", subsets, shift=0.15)
    _students_side(folder / "side", run)
    for command in (
        ["report", str(run), "--quiet"],
        ["report", str(run), "--quiet", "--language", "ko"],
        ["report", str(run), "--site", str(folder / "site"), "--against", str(other)],
        ["compare", str(run), str(other), "--out", str(folder / "compare")],
        ["agree", "--ratings", str(_ratings(folder)), "--scale", "1..5", "--out", str(folder / "agree")],
        ["agent-runs", str(_agent_runs(folder)), "--out", str(folder / "agent"), "--language", "en"],
    ):
        code = main(command)
        assert code in (0, 1), (command, code)
    _scores(folder)
    return {
        "report": run / "report.html",
        "report-ko": run / "report.ko.html",
        "site": folder / "site" / "index.html",
        "comparison": folder / "compare" / "compare.html",
        "agreement": folder / "agree" / "agreement.html",
        "agent-runs": folder / "agent" / "agent_runs.html",
        "score": folder / "score" / "score.html",
    }


def _students_side(folder: Path, run: Path) -> None:
    """What two tutors leave behind in simulated students, as a part of the run's report."""
    tutors, cut = ("good", "leak"), student_subsets(12, 2)
    run_stage(folder, config_of(tutors), cut, replies_of(tutors, cut))
    shutil.copy(folder / "student.json", run / "student.json")


def _ratings(folder: Path) -> Path:
    lines = ["item,rater,value"]
    for item in range(24):
        lines += [f"i{item},{rater},{1 + int(5 * draw(2, item, rater)) % 5}" for rater in ("ann", "bo", "다은")]
    path = folder / "ratings.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _agent_runs(folder: Path) -> Path:
    path = folder / "runs.csv"
    path.write_text(table_text(rows()), encoding="utf-8")
    return path


def _scores(folder: Path) -> None:
    with FakeProvider() as provider, _environment(A_KEY="k-123456789"):
        command: list[Any] = prepared(folder, provider, 24)[3:]
        assert main([*command, "--out", str(folder / "score")]) in (0, 1), JUDGES


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
