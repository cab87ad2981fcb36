"""A finished run with something changed: an endpoint more or less, another judge; only what is new is asked.

What a run already has is kept line by line: replies, judgments and verdicts of endpoints and judges that stay, and
their failures (``run`` on the folder's own ``run.toml`` tries those again).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import combinations, product

from arena.judge import Judging
from arena.kept import KeptRounds, round_item, round_key
from frontdesk.runner import config_file as configuration
from frontdesk.runner import leaderboard_history as history
from frontdesk.runner import prepare
from frontdesk.runner.config import Config
from frontdesk.runner.inputs import Tables, table_of
from frontdesk.runner.judged import Records
from frontdesk.runner.leaderboard_history import Pending, Refresh
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.plan import Calls, Kept
from frontdesk.runner.rating import rate_run
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.shortfall import NO_MATCH
from frontdesk.runner.student import StudentStage
from gateway.adapters.catalog import settings_of
from runstore.ids import digest
from runstore.problems import InputProblem, Problem
from runstore.publish import read_json, write_json
from simulator.collect import styles_of

FILES = ("subsets.jsonl", "replies.jsonl", "judgments.jsonl", "verdicts.jsonl", "leaderboard.json")
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What a refresh is asked to do.

    ``against`` limits whom the added endpoints meet (all others where it is empty). ``instead_of`` names judges
    whose judgments the new judges replace.
    """

    add: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rejudge: tuple[str, ...] = ()
    instead_of: tuple[str, ...] = ()

    def to_json(self) -> dict[str, list[str]]:
        """The parts that say something."""
        return {key: list(value) for key, value in asdict(self).items() if value}

    def is_told_by(self, change: Mapping[str, Sequence[str]]) -> bool:
        """Whether a record of a change tells this one."""
        return {key: list(names) for key, names in change.items()} == self.to_json()


def check_finished(folder: RunFolder) -> None:
    """Raises InputProblem where there is no judged and rated run to refresh, Problem where it is being changed."""
    history.refuse_change(folder)
    for name in FILES:
        if not folder.file(name).is_file():
            raise InputProblem(
                folder.path, f"a finished run (with {name}); tutor-arena run makes one", found="none"
            )


def planned(
    config: Config,
    change: Change,
    tables: Mapping[str, Mapping[str, object]],
    budget: Mapping[str, object] | None = None,
) -> Config:
    """The configuration after the change; ``tables`` holds endpoint tables given for it.

    Asking for the same change again gives the same configuration, so that an interrupted refresh can go on.
    Raises Problem for a name that is unknown, has other settings in the run, or can't be changed like this.
    """
    collected, judges = config.require_collect().endpoints, config.require_judge().endpoints
    endpoints = dict(config.endpoints)
    for name in (*change.add, *change.rejudge):
        endpoints[name] = _table(name, endpoints.get(name), tables.get(name))
    _check_names("--drop", change.drop, config.endpoints)
    _check_names("--instead-of", change.instead_of, config.endpoints)
    if both := set(change.add) & set(change.drop):
        raise Problem(f"{min(both)!r} is both to be added and to be dropped")
    names = tuple(name for name in dict.fromkeys((*collected, *change.add)) if name not in change.drop)
    if len(names) < 2:
        raise Problem(f"--drop: {len(names)} endpoints would be left, at least 2 are needed")
    bench = tuple(name for name in dict.fromkeys((*judges, *change.rejudge)) if name not in change.instead_of)
    if not bench:
        raise Problem("--instead-of: no judge would be left")
    for key, named in (("anchor", list(config.rate.anchor)), ("reference", [config.rate.reference])):
        if lost := set(named) & set(change.drop):
            raise Problem(f"--drop: {min(map(str, lost))!r} is the run's rate.{key}; change that first")
    data = config.model_dump(mode="json", exclude_none=True)
    data["endpoints"] = endpoints
    data["collect"]["endpoints"] = names
    data["judge"] |= {"endpoints": bench, "pairs": _pairs(config, change, names)}
    if data["judge"]["pairs"] is None:
        del data["judge"]["pairs"]
    if budget is not None:
        data["budget"] = dict(budget)
    return configuration.parse(data, "the refreshed configuration")


def _check_names(option: str, names: Sequence[str], known: Mapping[str, object]) -> None:
    for name in names:
        if name not in known:
            raise Problem(f"{option}: found {name!r}, expected one of {', '.join(map(repr, known))}")


def _table(name: str, old: Mapping[str, object] | None, given: Mapping[str, object] | None) -> dict[str, object]:
    """The endpoint's table: the run's own, or the one given where it means the same model."""
    if given is None:
        if old is None:
            raise Problem(
                f"endpoint {name!r} is not in the run; give its table with --config, --endpoint-file or --set"
            )
        return dict(old)
    if old is not None:
        before, after = (_settled(name, table) for table in (old, given))
        if different := configuration.differences(before, after, f"endpoints.{name}"):
            listed = "\n  ".join(different)
            raise Problem(f"the run has an endpoint {name!r} with other settings; use another name:\n  {listed}")
    return dict(given)


def _settled(name: str, table: Mapping[str, object]) -> Tables:
    return table_of(table_of(configuration.settled(Config(endpoints={name: dict(table)}))["endpoints"])[name])


def _pairs(config: Config, change: Change, names: Sequence[str]) -> Pairs | None:
    """Who meets: None for all. Pairs that were chosen stay; an added endpoint meets ``against``, or everybody."""
    chosen = config.require_judge().pairs
    old = [name for name in config.require_collect().endpoints if name in names]
    unknown = [name for name in change.against if name not in names or name in change.add]
    if unknown:
        raise Problem(f"--against: found {unknown[0]!r}, expected some of {', '.join(map(repr, old))}")
    new = [name for name in change.add if name not in old]
    if chosen is None and not (change.against and change.add):
        return None
    if chosen is None and (already := set(change.add) & set(old)):
        raise Problem(f"--against: {min(already)!r} meets everybody in this run; its matches stay")
    kept = list(chosen) if chosen is not None else list(combinations(old, 2))
    kept = [pair for pair in kept if set(pair) <= set(names)]
    met = {frozenset(pair) for pair in kept}
    for name in new:
        for other in change.against or names:
            if other != name and frozenset((name, other)) not in met:
                kept.append((name, other))
                met.add(frozenset((name, other)))
    if not kept:
        raise Problem("no pair of endpoints would be left to meet")
    return tuple(kept)


def kept(folder: RunFolder, config: Config, change: Change) -> Kept:
    """What stays: all that is neither of an added endpoint nor of a new judge, and is still part of the run."""
    names = set(config.require_collect().endpoints) - set(change.add)
    pairs = {pair for pair in prepare.pairs(config) if not set(pair) & set(change.add)}
    how = prepare.judging(config)
    judges = set(how.judges) - set(change.rejudge)
    replies = {(r.subset, r.endpoint): r for r in folder.replies() if r.endpoint in names}
    judgments = {round_key(judgment): judgment for judgment in folder.judgments()}
    rounds = {
        key: judgment
        for key, judgment in judgments.items()
        if key[1:3] in pairs and key[3] in how.criterion_ids and key[4] in judges and key[5] <= how.rounds
    }
    recorded = folder.failures()
    lost = {(f.item, f.endpoint): f for f in recorded if f.stage == "collect" and f.endpoint in names}
    items = _items([subset.id for subset in folder.subsets()], pairs, how, judges)
    judging = (f for f in recorded if f.stage == "judge" and f.kind != NO_MATCH)
    failed = {failure.item: failure for failure in judging if failure.item in items}
    return Kept(replies, lost, KeptRounds(rounds, failed))


def _items(subsets: Sequence[str], pairs: set[tuple[str, str]], how: Judging, judges: set[str]) -> set[str]:
    """The names under which failures of these matches and rounds are recorded."""
    matches = ["/".join((subset, *pair)) for subset, pair in product(subsets, pairs)]
    rounds = list(product(how.criterion_ids, judges, range(1, how.rounds + 1)))
    return {*matches, *(round_item(match, *asked) for match in matches for asked in rounds)}


def callers(config: Config, needed: Sequence[Calls]) -> list[str]:
    """The endpoints that will be called, which must have their keys; none of the others is opened."""
    judge = config.require_judge()
    names = [part.endpoint for part in needed]
    if judge.rounds_mode == "decisive" and any(part.stage == "judge" for part in needed):
        names += judge.endpoints
    if config.student is not None:
        # Branches that are known already are grown again from the journal, which takes their endpoints.
        names += StudentStage.prepared(config, prepare.prompts_of(config)).endpoints
    return list(dict.fromkeys(names))


def forget_styles(folder: RunFolder, config: Config) -> None:
    """Take prompts that no endpoint uses any more out of the manifest: recomputing the run would not name them."""
    path = folder.file("manifest.json")
    manifest = table_of(read_json(path))
    names = config.require_collect().endpoints
    used = set(styles_of({name: settings_of(name, config.endpoints[name]) for name in names}))
    used |= {config.simulate.style} if config.simulate is not None else set()
    files = {f"teacher.{style}.{config.run.language}" for style in used}
    prompts = table_of(manifest["prompts"])
    left = {name: hash_ for name, hash_ in prompts.items() if not name.startswith("teacher.") or name in files}
    if left != prompts:
        write_json(path, {**manifest, "prompts": left})


async def perform(pipeline: Pipeline, change: Change) -> Records:
    """Ask what is new and publish the stage files; returns all judgments and verdicts.

    Replies that were brought to the run stay brought, with the new ones among them: the journal can't make them.
    Raises Stopping as the stages do; asking for the same change again goes on.
    """
    folder = pipeline.folder
    have = kept(folder, pipeline.config, change)
    subsets, were_brought = folder.subsets(), folder.given("replies")
    prompts = read_json(folder.file("manifest.json"))["prompts"]
    try:
        replies = await pipeline.collect(subsets, have)
    finally:
        if were_brought:
            folder.take("replies", folder.replies(), pipeline.config, change=True)
            # Replies that are brought have no prompts of this run, and recomputing it would name none.
            manifest: Tables = read_json(folder.file("manifest.json"))
            write_json(folder.file("manifest.json"), {**manifest, "prompts": prompts})
    judged = await pipeline.judge(subsets, replies, have)
    if pipeline.config.student is not None:
        await pipeline.student(subsets, replies)
    return judged


def conclude(folder: RunFolder, config: Config, began: Pending, judged: Records) -> tuple[Refresh, bool]:
    """New ratings, and the history's line; returns the line and whether anything is new in it."""
    judgments, verdicts = judged
    forget_styles(folder, config)
    board = rate_run(folder, config, judgments, verdicts)
    after = history.figures(board)
    counts = history.changed_verdicts(began.verdicts, verdicts)
    line = Refresh(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        change=began.change,
        config=digest(configuration.settled(config)),
        verdicts=counts.total,
        before=began.models,
        after=after,
        moves=history.moves(began.models, after, counts, anchored=bool(config.rate.anchor)),
    )
    return line, history.end(folder, line)
