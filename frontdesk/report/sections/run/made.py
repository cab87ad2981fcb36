"""The sections on how a run was made: dialogues, what is missing, cost, provenance."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from frontdesk.report.blocks import Block, Cell, Section, Table, Text, cells, columns
from frontdesk.report.figures import count, dollars, percent
from frontdesk.report.sections.run import outcomes
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.spending import TOKENS, Line
from frontdesk.report.sections.run.told import told
from frontdesk.report.sentences import spoken, spoken_message
from frontdesk.runner import inputs
from frontdesk.runner.config import Config
from frontdesk.runner.inputs import Tables
from runstore.languages import Words
from runstore.records import Failure

_SECRET = ("key", "token", "secret", "password", "auth", "header", "body")
_APART = ("kind", "model")


def dialogues(data: RunData, say: Words) -> Section:
    """How the dialogues ended, and which rules of reading had to act."""
    if data.dialogues is None:
        return Section("dialogues", say("dialogues"), [Text(say("no_dialogues"), "soft")])
    of = len(data.dialogues)
    ends, notes = outcomes.ends_and_notes(data.dialogues)
    planned = (
        data.config.simulate.turns
        if data.config.simulate is not None
        else max((d.turns for d in data.dialogues), default=0)
    )
    complete = sum(dialogue.complete for dialogue in data.dialogues)
    caption = say("of_dialogues", of=of, complete=complete, turns=planned)
    blocks: list[Block] = [
        Table(
            columns(say("end"), say("count"), say("share")),
            _counts({spoken(end, say.language): n for end, n in ends.items()}, of),
            caption,
            say("dialogues_ends"),
        )
    ]
    if notes:
        caption = say("notes_caption", of=of)
        blocks.append(
            Table(columns(say("note"), say("count"), say("share")), _counts(notes, of), caption, say("notes"))
        )
    else:
        blocks.append(Text(say("no_notes", of=of), "soft"))
    return Section("dialogues", say("dialogues"), blocks)


def _counts(counts: Mapping[str, int], of: int) -> list[tuple[Cell, ...]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [cells(name, str(times), percent(times / of if of else None)) for name, times in ordered]


def missing(data: RunData, say: Words) -> Section:
    """Asked for and usable per stage, and failures by kind."""
    table = Table(
        columns(say("stage"), say("done"), say("asked_for"), say("share")),
        [
            cells(
                say(f"what_{row.what}"), str(row.done), str(row.of), percent(row.done / row.of if row.of else None)
            )
            for row in data.coverage
        ],
    )
    blocks: list[Block] = [table]
    if data.failures:
        groups: dict[tuple[str, str, str], list[Failure]] = {}
        for failure in data.failures:
            groups.setdefault((failure.stage, failure.kind, failure.endpoint), []).append(failure)
        head = (
            *columns(say("stage")),
            *(columns(say(key))[0] for key in ("kind", "endpoint")),
            columns("", say("count"))[1],
        )
        rows = [
            cells(
                stage,
                say.texts.get(f"failed_{kind}", kind),
                endpoint or "–",
                str(len(failures)),
                spoken_message(failures[0].message, say.language),
            )
            for (stage, kind, endpoint), failures in sorted(groups.items())
        ]
        blocks.append(Table((*head, columns(say("first_message"))[0]), rows, title=say("failures_by_kind")))
    else:
        blocks.append(Text(say("no_failures"), "soft"))
    return Section("missing", say("missing"), blocks)


def cost(data: RunData, say: Words) -> Section:
    """Calls, tokens and dollars per stage and endpoint."""
    lines = data.spending.lines
    if not lines:
        return Section("cost", say("cost"), [Text(say("no_calls"), "soft")])
    keys = ("calls_ok", "calls_failed", "retried", *(f"tokens_{kind}" for kind in TOKENS), "usd")
    head = (*columns(say("stage")), *columns(say("endpoint"), *map(say, keys)))
    rows = [_line(line, line.stage, line.endpoint, say) for line in lines]
    rows.append(_line(total(lines), say("total"), "", say))
    # Calls lost with a killed process are told by `tutor-arena calls`: a resumed run's report is the quiet run's.
    return Section("cost", say("cost"), [Table(head, rows, say("cost_caption"))])


def _line(line: Line, stage: str, endpoint: str, say: Words) -> tuple[Cell, ...]:
    answered = line.states["ok"]
    failed = sum(line.states.values()) - answered
    tokens = [count(line.tokens[kind]) if line.counted[kind] else say("unknown") for kind in TOKENS]
    return cells(stage, endpoint, count(answered), count(failed), count(line.retried), *tokens, money(line, say))


def money(line: Line, say: Words) -> str:
    """Known dollars, and of how many calls they are known."""
    answered = line.states["ok"]
    known = dollars(line.usd if line.priced else None, say("unknown"))
    return known if line.priced in (0, answered) else say("n_priced", usd=known, n=line.priced, of=answered)


def total(lines: list[Line]) -> Line:
    """All lines as one."""
    total = Line("", "")
    for line in lines:
        total.states += line.states
        total.tokens += line.tokens
        total.counted += line.counted
        total.retried += line.retried
        total.usd += line.usd
        total.priced += line.priced
    return total


def provenance(data: RunData, say: Words) -> Section:
    """Program, seed, days, endpoints and their settings (never a key), prompts by hash, inputs."""
    manifest = data.manifest
    spending = data.spending
    days = say("unknown")
    if spending.first_day is not None:
        same = spending.first_day == spending.last_day
        days = (
            spending.first_day if same else say("days_between", first=spending.first_day, last=spending.last_day)
        )
    program = f"{manifest.get('program', 'tutor-arena')} {manifest.get('version', say('unknown'))}"
    facts = [
        (say("made_by"), program),
        (say("seed"), str(data.config.run.seed)),
        (say("language"), data.config.run.language),
        (say("days"), days),
    ]
    for name, value in manifest.get("inputs", {}).items():
        facts.append((f"{say('inputs')}: {name}", f"{value.get('count', '')} ({value.get('hash', '')})"))
    prompts = sorted(manifest.get("prompts", {}).items())
    words = tuple(columns(title)[0] for title in (say("item"), say("value")))
    blocks: list[Block] = [Table(words, [cells(*fact) for fact in facts]), _endpoints(data, say), *told(data, say)]
    if prompts:
        head = tuple(columns(say(key))[0] for key in ("name", "hash"))
        blocks.append(Table(head, [cells(name, hashed) for name, hashed in prompts], title=say("prompts")))
    blocks.append(Text(say("verify_hint"), "soft"))
    return Section("provenance", say("provenance"), blocks)


def _endpoints(data: RunData, say: Words) -> Table:
    head = tuple(columns(say(key))[0] for key in ("endpoint", "role", "kind", "model", "answered_as", "settings"))
    rows: list[tuple[Cell, ...]] = []
    for name in data.config.used_endpoints():
        raw = data.config.endpoints.get(name, {})
        rows.append(
            cells(
                name,
                ", ".join(say(f"role_{role}") for role in roles_of(data.config, name)),
                str(raw.get("kind", "")),
                str(raw.get("model") or say("provider_default")),
                ", ".join(data.spending.answered_by.get(name, [])) or "–",
                settings_text(raw) or say("provider_default"),
            )
        )
    return Table(head, rows, title=say("endpoints"))


def roles_of(config: Config, name: str) -> list[str]:
    """What an endpoint does in a run: student, teacher, contestant, judge."""
    roles: list[str] = []
    if config.simulate is not None:
        roles += [role for role in ("student", "teacher") if getattr(config.simulate, role) == name]
    if config.collect is not None and name in config.collect.endpoints:
        roles.append("contestant")
    if config.judge is not None and name in config.judge.endpoints:
        roles.append("judge")
    return roles


def settings_text(raw: Tables) -> str:
    """An endpoint's settings as ``key value``, without keys that could hold a secret, users and queries."""
    shown: list[str] = []
    for key, value in sorted(inputs.contained_endpoint(raw).items()):
        if key in _APART or any(word in key.lower() for word in _SECRET if not key.endswith("_tokens")):
            continue
        if isinstance(value, str) and "://" in value:
            value = _address(value)
        if isinstance(value, (str, int, float)):
            shown.append(f"{key} {value}")
    return ", ".join(shown)


def _address(url: str) -> str:
    """Scheme, host, port and path: no user, no query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"
