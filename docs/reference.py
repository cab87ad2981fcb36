"""The pages that are made of the program itself: commands, configuration, JSON objects, cost and time.

    python docs/reference.py            (make reference) writes them

A test holds that what is committed is what this writes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from frontdesk.cli import COMMANDS, PROGRAM, Parser
from frontdesk.cli.examples import lines
from frontdesk.runner import config_file as configuration
from frontdesk.runner import plan
from frontdesk.runner.config import Config
from frontdesk.runner.estimate import estimate
from frontdesk.runner.power import reach

DOCS = Path(__file__).parent
MADE = "<!-- made by docs/reference.py: change the program, then make reference -->\n\n"
HIDDEN = {"-h", "--help"}
SIZES = ((20, 40), (50, 100), (100, 200), (300, 600), (1000, 2000))
AT_ONCE, SECONDS = 64, 2.0


def pages() -> dict[str, str]:
    """Every page by its name."""
    return {
        "commands.md": commands(),
        "configuration.md": configuration_page(),
        "json.md": json_page(),
        "cost-and-time.md": cost_and_time(),
    }


# -- commands


def commands() -> str:
    said = [
        f"{MADE}# Commands\n\n`{PROGRAM} COMMAND --help` says the same. Exit codes are in [files](files.md#exit-codes).\n"
    ]
    for name, summary in COMMANDS.items():
        parser = Parser(prog=f"{PROGRAM} {name}")
        import_module(f"frontdesk.cli.{name.replace('-', '_')}").configure(parser)
        said += [f"## {name}\n", f"{_escaped(summary[0].upper() + summary[1:])}.\n", *_parser(parser, name)]
    return "\n".join(said).rstrip() + "\n"


def _parser(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    if typed := lines(name, PROGRAM):
        yield "\n".join(["```sh", *typed, "```\n"])
    rows: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for step, inner in action.choices.items():
                about = next((each.help for each in action._choices_actions if each.dest == step), "") or ""
                yield f"### {name} {step}\n"
                yield f"{_escaped(about[:1].upper() + about[1:])}.\n"
                yield from _parser(inner, f"{name} {step}")
        elif action.help != argparse.SUPPRESS and not HIDDEN & set(action.option_strings):
            rows.append(f"| {_named(action)} | {_escaped(_help(action))} |")
    if rows:
        yield "\n".join(["| | |", "| --- | --- |", *rows]) + "\n"


def _named(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar or ())
    if not value and action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not value and action.nargs != 0:
        value = action.dest.upper()
    if not action.option_strings:
        return f"`{value or action.dest.upper()}`".replace("|", "\\|")
    words = ", ".join(action.option_strings)
    return f"`{words}{' ' + value if value and action.nargs != 0 else ''}`".replace("|", "\\|")


def _help(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


def _escaped(text: str) -> str:
    return re.sub(r"([|<>*_\[\]])", r"\\\1", " ".join(text.split()))


# -- configuration


def configuration_page() -> str:
    about = dict(_remarks())
    said = [
        f"{MADE}# Configuration\n",
        """A TOML file; `tutor-arena init` writes a commented one. A key that is not here is refused with the nearest one.
Keys of endpoints are in [endpoints](endpoints.md).
""",
    ]
    for name, field in Config.model_fields.items():
        model = _model(field.annotation)
        if model is None:
            continue
        said.append(f"## [{name}]\n\n| key | type | default | |\n| --- | --- | --- | --- |")
        said += [
            f"| `{part.alias or key}` | {_type(part)} | {_default(part)} | {_escaped(about.get((name, key), ''))} |"
            for key, part in model.model_fields.items()
        ]
        said.append("")
    return "\n".join(said).rstrip() + "\n"


def _model(annotation: Any) -> type[BaseModel] | None:
    options = typing.get_args(annotation) or (annotation,)
    return next((each for each in options if isinstance(each, type) and issubclass(each, BaseModel)), None)


def _type(field: FieldInfo) -> str:
    return _escaped(_told(field.annotation))


def _told(kind: Any) -> str:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _told(inner[0])
    if origin is typing.Literal:
        return " or ".join(f'"{each}"' for each in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_told(each) for each in inner if each is not type(None)))
    if origin is tuple:
        return f"list of {_told(inner[0])}"
    if origin is dict:
        return f"table of {_told(inner[1])}"
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return names.get(kind, getattr(kind, "__name__", str(kind)))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    return f"`{json.dumps(value)}`"


def _remarks() -> Iterator[tuple[tuple[str, str], str]]:
    """What the commented example says beside each key."""
    section, key, remark = "", "", ""
    for line in (DOCS.parent / "frontdesk" / "example.toml").read_text(encoding="utf-8").splitlines():
        if head := re.match(r"#? ?\[(\w+)\]", line):
            section = head[1]
        elif found := re.match(r"#? ?(\w+) = .*?\s#\s*(.+)$", line):
            key, remark = found[1], found[2]
            yield (section, key), remark
        elif remark and (more := re.match(r"#? {20,}#\s*(.+)$", line)):  # the remark goes on
            remark = f"{remark} {more[1]}"
            yield (section, key), remark
        else:
            remark = ""


# -- JSON


def objects() -> dict[str, tuple[str, Any]]:
    """By heading: the commands that print the object, and its type."""
    from arena.ratings.result import Leaderboard
    from frontdesk.report.run import Reported
    from frontdesk.runner.compared import Verified
    from frontdesk.runner.comparing import Comparison
    from frontdesk.runner.estimate import Told
    from frontdesk.runner.leaderboard_history import Refresh
    from frontdesk.runner.outcome import Outcome
    from frontdesk.runner.overview import Overview
    from frontdesk.runner.preflight import Checking
    from frontdesk.runner.watching import Live

    return {
        "run, demo, simulate, cut, collect, judge": ("what the command did", Outcome),
        "report": ("the files made, and how whole the run is", Reported),
        "check": ("what came of each role", Checking),
        "estimate, run --dry-run, refresh --dry-run": ("calls, tokens and dollars", Told),
        "verify": ("every file, and whether it is what the journal says", Verified),
        "refresh": ("the history's line", Refresh),
        "rate": ("the leaderboard, as in `leaderboard.json`", Leaderboard),
        "compare": ("what moved between two runs", Comparison),
        "runs": ("one object a run, one a line", Overview),
        "watch": ("the run at this moment", Live),
    }


def json_page() -> str:
    said = [
        f"{MADE}# JSON objects\n",
        textwrap.dedent("""\
            With `--json` a command prints one object on standard output, and everything else on standard error;
            `personas`, `questions` and `runs` print one a line. A command that stopped at a cap, was interrupted or refused
            prints the object of `run` ([below](#run-demo-simulate-cut-collect-judge)), with the state and the reason, in place
            of its own; `init` and `human` print that one always, with what they told. `score`, `student` and `agree` print what
            they write: `score.json` ([rubrics](rubrics.md)), `student.json` ([student's side](student-side.md)),
            `agreement.json` ([agreement](agreement.md)); `export` prints `export.json`, of several forms all of them under
            `exports`. Keys may be added in later versions; none is renamed.
            """),
    ]
    seen: set[str] = set()
    for heading, (about, kind) in objects().items():
        schema = TypeAdapter(kind).json_schema(mode="serialization")
        said += [f"## {heading}\n", f"{about[0].upper()}{about[1:]}.\n", *_object(schema)]
        for name, part in schema.get("$defs", {}).items():
            if "properties" in part and name not in {*seen, "Leaderboard"}:
                seen.add(name)
                said += [f"### {name}\n", *_object(part)]
    return "\n".join(said).rstrip() + "\n"


def _object(schema: Mapping[str, Any]) -> Iterator[str]:
    about = " ".join(schema.get("description", "").replace("``", "`").split())
    if about and not about.startswith("!"):
        yield re.sub(r":[a-z]+:`~?([^`]+)`", r"`\1`", about) + "\n"
    rows = [f"| `{name}` | {_escaped(_kind(part))} |" for name, part in schema.get("properties", {}).items()]
    yield "\n".join(["| key | value |", "| --- | --- |", *rows]) + "\n"


def _kind(part: Mapping[str, Any]) -> str:
    if "$ref" in part:
        return str(part["$ref"]).rsplit("/", 1)[1]
    if "anyOf" in part:
        kinds = dict.fromkeys(_kind(each) for each in part["anyOf"])
        return " or ".join(kind for kind in kinds if kind != "whole number" or "number" not in kinds)
    if "enum" in part or "const" in part:
        return " or ".join(json.dumps(each) for each in part.get("enum", [part.get("const")]))
    if part.get("type") == "array":
        items = part.get("items") or next(iter(part.get("prefixItems", [])), {})
        return f"list of {_kind(items)}"
    if part.get("type") == "object":
        inner = part.get("additionalProperties")
        return f"object of {_kind(inner)}" if isinstance(inner, dict) and inner else "object"
    return {"string": "text", "number": "number", "integer": "whole number", "boolean": "true or false"}.get(
        str(part.get("type")), str(part.get("type", "any"))
    )


# -- cost and time


def cost_and_time() -> str:
    lines = [
        "| dialogues | subsets | calls | tokens in | tokens out | USD | minutes | gap found |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for dialogues, subsets in SIZES:
        config = _sized(dialogues, subsets)
        load = plan.workload(config)
        cost = estimate(config, load)
        found = reach(load, 0.95)
        gap = "–" if found is None or found.gap is None else f"{found.gap:.0f}"
        minutes = max(cost.calls * SECONDS / AT_ONCE, _longest(config)) / 60
        figures = (cost.input / 1e6, cost.output / 1e6)
        lines.append(
            f"| {dialogues:,} | {subsets:,} | {cost.calls:,} | {figures[0]:.1f} M | {figures[1]:.1f} M | "
            f"{cost.usd:,.2f} | {minutes:.1f} | {gap} |"
        )
    return f"""{MADE}# Cost and time by size

Two tutors, four turns a dialogue, one judge with three rounds a match, everything on `gemini-2.5-flash` at its list price,
as `tutor-arena estimate` counts it. Minutes are calls times {SECONDS:g} seconds over {AT_ONCE} at once; a provider's limits may make
it longer. The gap is what the plan finds with a chance of 80% at 95%, in rating points: 100 points are a win rate of 64%.

{chr(10).join(lines)}

- The judge is most of it: `rounds = 1` costs about a third, and for the same money more subsets tell tutors apart sooner.
- `run --goal decide` asks only what a decision needs, often a fraction ([fewer calls](fewer-calls.md)).
- A third tutor adds its replies and two pairs; `refresh --add` pays for these alone ([refresh](refresh.md)).
- By the providers' batch interfaces judging costs half and takes up to a day ([batches](batches.md)).
- `[budget]` is a cap that holds: a run that reaches it stops, and goes on when it is raised.
"""


def _sized(dialogues: int, subsets: int) -> Config:
    flash = {"kind": "gemini", "model": "gemini-2.5-flash"}
    return configuration.parse(
        {
            "endpoints": {"a": flash, "b": flash},
            "simulate": {"dialogues": dialogues, "turns": 4, "student": "a", "teacher": "a"},
            "cut": {"subsets": subsets},
            "collect": {"endpoints": ["a", "b"]},
            "judge": {"endpoints": ["a"], "rounds": 3},
        }
    )


def _longest(config: Config) -> float:
    """Seconds of the longest chain of calls that wait for each other: a dialogue, a reply, its rounds at once."""
    turns = config.require_simulate().turns
    return SECONDS * (2 * turns + 2)


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(text.splitlines())} lines\n")
