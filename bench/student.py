"""What the student's side measures, and how surely.  python bench/student.py [PART ...]

    python bench/student.py labels --config run.toml --endpoint NAME [--language ko]

measures an endpoint of a configuration as labeller: 186 utterances a language, spoken freely, one call each.

coverage   how often the interval of D holds the difference of a scripted world (200 runs)
variance   variance of D by pairing, probability scoring and common draws, against unpaired and diced
samples    D's expectation at 1, 2 and 4 samples of each utterance, and the gap in ratings of the same verdicts
labels     precision and recall of moves and leaks on planted utterances, by language and kind
order      how often the order of three tutors is right at 200 subsets
calls      200 subsets x 2 tutors, and with a third, against a fake provider: calls, a kill, bytes
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arena.learning.labelling import ModelLabeller
from arena.learning.paired import clustered_mean
from arena.learning.panel import label_row
from arena.learning.phrases import labels_of, said_of
from arena.ratings.leaderboard import build
from arena.ratings.verdicts import from_verdicts
from frontdesk.runner import config_file
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.prompt import Ask
from knowledge import load_learning, load_topics
from knowledge.topic import Topic
from runstore.ids import draw
from runstore.records import Persona, Subset, Verdict
from runstore.student_records import MoveLabel
from simulator.knowledge.acts import Directions
from simulator.knowledge.rollout import Rolling, Said, Samples, Situation, grow, situation
from simulator.roles import Roles
from tests.support.planted import Planted, planted, spoken
from tests.support.student_world import subsets, topics, utterance

RULES = load_learning()
TOPICS = topics()
TRANSFER = {name: [item.id for item in topic.items if item.kind == "transfer"] for name, topic in TOPICS.items()}


class Cached:
    """The labeller without a model, reading each text once."""

    name = "phrases"

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], list[MoveLabel]] = {}

    async def __call__(
        self,
        ask: Ask,  # noqa: ARG002
        topic: Topic,
        before: str,  # noqa: ARG002
        said: str,
        *,
        node: str,
        **_: Any,
    ) -> Sequence[MoveLabel]:
        key = (topic.question, said)
        if key not in self.known:
            self.known[key] = labels_of(topic, said)
        return [label.model_copy(update={"node": node}) for label in self.known[key]]


LABELLER = Cached()
LOOP = asyncio.new_event_loop()


async def nobody(*_: Any, **__: Any) -> Any:
    raise AssertionError("nobody is asked: scripted tutors, silent students")


def how(branches: tuple[int, ...], seed: int) -> Rolling:
    return Rolling(branches, seed, RULES, (LABELLER,), Roles.load("en"), Directions.load("en"))


def leaves(tutor: str, subset: Subset, rolling: Rolling, who: str | None = None) -> list[float]:
    """Transfer credit at each leaf; ``who`` gives the student draws of its own."""
    person = Persona(id="p", levels=subset.levels, text="")
    at: Situation = replace(
        situation(subset, TOPICS[subset.question], person, RULES, rolling.seed), who=who or subset.id
    )

    async def says(history: Any, states: Any, path: Samples) -> Said:  # noqa: ARG001
        return Said(utterance(tutor, at.topic, subset.id, str(path), str(rolling.seed)))

    grown = LOOP.run_until_complete(grow(nobody, rolling, at, tutor, None, says))
    found: dict[str, list[float]] = {}
    for row in grown.quiz:
        if row.item in TRANSFER[subset.question]:
            found.setdefault(row.leaf, []).append(row.p or 0.0)
    return [float(np.mean(points)) for points in found.values()]


def world(dialogues: int, run: int) -> list[Subset]:
    """Other dialogues in each run: their ids are what everything is drawn by."""
    made = subsets(dialogues, 2)
    return [one.model_copy(update={"id": f"{one.id}-{run}", "dialogue": f"{one.dialogue}-{run}"}) for one in made]


def deltas(a: str, b: str, cut: Sequence[Subset], rolling: Rolling) -> list[float]:
    return [float(np.mean(leaves(a, one, rolling)) - np.mean(leaves(b, one, rolling))) for one in cut]


def coverage(runs: int = 200, dialogues: int = 28) -> None:
    rolling, seen = how((2, 1), 11), []
    for run in range(runs):
        cut = world(dialogues, run)
        seen.append(clustered_mean(deltas("good", "fair", cut, rolling), [one.dialogue for one in cut]))
    # The constructed difference is what all runs together, none of which shares a dialogue, come to; an interval
    # is held against the others' mean only.
    means = np.array([found.value for found in seen], dtype=float)
    others = (means.sum() - means) / (runs - 1)
    held = [(f.lower or 0) <= truth <= (f.upper or 0) for f, truth in zip(seen, others, strict=True)]
    print(
        f"coverage: D {means.mean():+.4f}; {sum(held)} of {runs} intervals hold it ({np.mean(held):.1%}), "
        f"{dialogues} dialogues x 2 subsets; right sign in {np.mean(means > 0):.1%}"
    )


def variance(runs: int = 60, dialogues: int = 42) -> None:
    """Each way of measuring the same difference: standard deviation over runs."""
    found: dict[str, list[float]] = {}
    for run in range(runs):
        rolling = how((2, 1), run)
        cut, other = world(dialogues, run), world(dialogues, run + 10**6)
        own = {t: {one.id: leaves(t, one, rolling, f"{one.id}/{t}") for one in cut} for t in ("good", "fair")}
        common = {t: {one.id: leaves(t, one, rolling) for one in cut} for t in ("good", "fair")}
        apart = {one.id: leaves("fair", one, rolling, f"{one.id}/fair") for one in other}

        def diced(name: str, credit: Mapping[str, list[float]], run: int = run) -> list[float]:
            return [
                float(np.mean([draw(run, "dice", name, s, at) < p for at, p in enumerate(points)]))
                for s, points in credit.items()
            ]

        def scored(credit: Mapping[str, list[float]]) -> list[float]:
            return [float(np.mean(points)) for points in credit.values()]

        ways: dict[str, float] = {
            "unpaired, diced": np.mean(diced("a", own["good"])) - np.mean(diced("b", apart)),
            "paired, diced": np.mean(diced("a", own["good"])) - np.mean(diced("b", own["fair"])),
            "paired, diced, common draws": np.mean(diced("c", common["good"]))
            - np.mean(diced("c", common["fair"])),
            "paired, scored": np.mean(scored(own["good"])) - np.mean(scored(own["fair"])),
            "paired, scored, common draws": np.mean(scored(common["good"])) - np.mean(scored(common["fair"])),
        }
        for name, value in ways.items():
            found.setdefault(name, []).append(float(value))
    base = np.var(found["unpaired, diced"], ddof=1)
    for name, values in found.items():
        print(
            f"variance: {name:<30} D {np.mean(values):+.4f}, sd {np.std(values, ddof=1):.4f}, "
            f"{base / np.var(values, ddof=1):5.1f} times less than unpaired and diced"
        )


def samples(runs: int = 20, dialogues: int = 42) -> None:
    for branches in ((1, 1), (2, 1), (2, 2), (4, 2)):
        means, gaps = [], []
        for run in range(runs):
            cut = world(dialogues, run)
            found = deltas("good", "fair", cut, how(branches, run))
            means.append(float(np.mean(found)))
            gaps.append(gap(cut, found))
        print(
            f"samples: {branches} D {np.mean(means):+.4f} (se {np.std(means, ddof=1) / runs**0.5:.4f}), "
            f"gap in ratings {np.mean(gaps):+.0f}"
        )


def gap(cut: Sequence[Subset], found: Sequence[float]) -> float:
    verdicts: list[Verdict] = []
    for one, d in zip(cut, found, strict=True):
        winner = None if abs(d) <= 0.05 else "good" if d > 0 else "fair"
        verdicts.append(
            Verdict(
                subset=one.id,
                dialogue=one.dialogue,
                endpoints=("fair", "good"),
                criterion="transfer",
                outcome="tie" if winner is None else "win",
                winner=winner,
                agreement="unanimous",
                votes=(),
            )
        )
    ratings = {model.name: model.rating for model in build(from_verdicts(verdicts)).models}
    return float((ratings["good"] or 0) - (ratings["fair"] or 0))


def labels() -> None:
    for language in ("en", "ko"):
        _labelled(
            f"{language}, of the topics' phrases",
            [p for t in load_topics(language=language).topics.values() for p in planted(t)],
        )
        _labelled(f"{language}, spoken, to work with", list(spoken(language, held=False)))
        _labelled(f"{language}, spoken, held", list(spoken(language, held=True)))


def labels_by(config: Path, endpoint: str, languages: Sequence[str]) -> None:
    """Moves and leaks as an endpoint of a configuration reads them: one call an utterance."""
    settings = config_file.load(config).endpoints
    if endpoint not in settings:
        raise SystemExit(f"{config}: found no [endpoints.{endpoint}]")
    for language in languages:
        made = {str(at): one for at, one in enumerate(spoken(language))}
        read = LOOP.run_until_complete(_read_by(endpoint, settings[endpoint], language, made))
        told = {
            node: {label.component for label in found if label.component and label.move == "tell" and label.found}
            for node, found in read.items()
        }
        print(f"labels: {endpoint}, {language}: {len(made) - len(read)} of {len(made)} could not be read")
        _figures(f"{endpoint}, {language}, spoken", endpoint, {node: made[node] for node in read}, read, told)


async def _read_by(
    name: str, settings: Mapping[str, Any], language: str, made: Mapping[str, Planted]
) -> dict[str, list[MoveLabel]]:
    """The labels of each utterance for which some came that can be read."""
    labeller = ModelLabeller.load(name, language)

    async def read(node: str, one: Planted) -> tuple[str, list[MoveLabel]] | None:
        try:
            return node, list(await labeller(gateway.ask, one.topic, "", one.text, node=node, repeat=0))
        except CallFailed as failed:
            print(f"labels: {node}: {failed}", file=sys.stderr)
            return None

    async with Gateway.open({name: settings}) as gateway:
        found = await asyncio.gather(*(read(node, one) for node, one in made.items()))
    return dict(one for one in found if one is not None)


def _labelled(name: str, planted_ones: Sequence[Planted]) -> None:
    made = {str(at): one for at, one in enumerate(planted_ones)}
    read = {node: labels_of(one.topic, one.text, node) for node, one in made.items()}
    told = {node: {component for component, _ in said_of(one.topic, one.text)} for node, one in made.items()}
    _figures(name, "phrases", made, read, told)


def _figures(
    name: str,
    labeller: str,
    made: Mapping[str, Planted],
    read: Mapping[str, Sequence[MoveLabel]],
    told: Mapping[str, set[str]],
) -> None:
    """Moves as the panel counts them, and leaks: components that an utterance states."""
    every = [label for found in read.values() for label in found]
    for move in ("all", "tell", "hint", "contrast", "ask", "wrong"):
        wanted = {
            node: {c: m for c, m in one.moves.items() if move in ("all", m[0])} for node, one in made.items()
        }
        row = label_row(labeller, wanted, [label for label in every if move in ("all", label.move)])
        print(f"labels: {name} ({len(made)}): {move:<8} {_shares(row.right, row.given, row.known)}")
    right = sum(len(told[node] & one.states) for node, one in made.items())
    given, true = sum(map(len, told.values())), sum(len(one.states) for one in made.values())
    print(f"labels: {name} ({len(made)}): leaks    {_shares(right, given, true)}")


def _shares(right: int, given: int, true: int) -> str:
    precision = f"{right / given:.2f}" if given else "none"
    return (
        f"precision {precision} of {given}, recall {right / true:.2f} of {true}"
        if true
        else f"{given} given, none true"
    )


def order(runs: int = 20, dialogues: int = 100) -> None:
    right = 0
    for run in range(runs):
        rolling, cut = how((2, 1), run), world(dialogues, run)
        mean = {
            t: float(np.mean([np.mean(leaves(t, one, rolling)) for one in cut]))
            for t in ("good", "fair", "silent")
        }
        right += mean["good"] > mean["fair"] > mean["silent"]
    print(f"order: good > fair > silent in {right} of {runs} runs of {2 * dialogues} subsets")


def calls(subsets_wanted: int = 200) -> None:
    from frontdesk.runner import plan
    from tests.support.fake_provider import FakeProvider
    from tests.support.small_runs import counts, finished_twice, start
    from tests.support.student_runs import by_arm, write_student_config
    from tests.support.student_world import provider_script

    with (
        tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name,
        FakeProvider(script=provider_script(), keep=False) as provider,
    ):
        folder, names = Path(name), ("good", "lecturer", "fair")
        sizes = {"dialogues": subsets_wanted // 2, "subsets": subsets_wanted}
        two = write_student_config(folder / "two.toml", provider, names, collected=names[:2], **sizes)
        three = write_student_config(folder / "three.toml", provider, names, **sizes)
        asked = plan.workload(config_file.load(two)).calls
        formula = sum(part.calls for part in asked)
        process = start("run", two, "--run", folder / "two")
        while provider.stats.calls < formula * 0.7 and process.poll() is None:
            pass
        process.kill()
        process.communicate()
        start("run", two, "--run", folder / "two").communicate()
        answered, lost = counts(folder / "two")
        side = sum(part.calls for part in asked if part.stage == "student")
        print(
            f"calls: 2 tutors, formula {formula} ({side} of the student's side), {answered} in the journal; "
            f"killed at 70 %: {provider.stats.answered - answered} paid again of {lost} in flight, "
            f"{len(finished_twice(folder / 'two'))} answered twice"
        )
        start("run", three, "--run", folder / "three").communicate()
        before, after = by_arm(folder / "two"), by_arm(folder / "three")
        changed = [arm for arm in before if after.get(arm) != before[arm]]
        print(f"calls: with a third tutor, branches of {len(before)} arms compared, changed: {changed or 'none'}")


PARTS: Mapping[str, Callable[[], None]] = {
    part.__name__: part for part in (labels, coverage, variance, samples, order, calls)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="all of them where none is given")
    parser.add_argument("--config", type=Path, help="with --endpoint: the configuration that it stands in")
    parser.add_argument("--endpoint", help="labels: measure this endpoint instead of the topics' phrases")
    parser.add_argument("--language", choices=("en", "ko"), help="with --endpoint: one alone (both)")
    args = parser.parse_args()
    if args.endpoint:
        if args.parts != ["labels"] or args.config is None:
            parser.error("--endpoint goes with labels and --config")
        labels_by(args.config, args.endpoint, [args.language] if args.language else ["en", "ko"])
        return 0
    for name in args.parts or PARTS:
        PARTS[name]()
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
