"""``tutor-arena calls``: look calls up in a run's journal."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from frontdesk.cli import options
from frontdesk.runner.told import head, tell, told
from runstore.problems import Problem


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_run_folder(parser)
    parser.add_argument("--repair", metavar="RUN", help="set damage in its journal aside; deletes nothing")
    parser.add_argument("--endpoint", metavar="NAME", help="only calls of this endpoint")
    parser.add_argument(
        "--stage", metavar="STAGE", help="only calls of this stage (simulate, collect, student, judge, score)"
    )
    parser.add_argument("--state", choices=("ok", "failed", "truncated"), help="only calls that ended so")
    parser.add_argument(
        "--item",
        metavar="ID",
        help="only calls made for this dialogue, subset or match (a part of its id will do)",
    )
    parser.add_argument("--slowest", type=int, default=5, metavar="N", help="list the N slowest (default 5)")
    parser.add_argument("--list", action="store_true", help="one line a call instead of the summary")
    parser.add_argument("--full", action="store_true", help="whole journal records, one JSON object a line")
    parser.add_argument("--json", action="store_true", help="the summary, or what was repaired, as JSON")


def run(args: argparse.Namespace) -> int:
    from frontdesk.runner import calls
    from runstore.publish import to_json

    if args.repair is not None:
        return _repair(Path(args.repair), as_json=args.json)
    folder = options.run_folder(args)
    selection = calls.Selection(args.endpoint, args.stage, args.state, args.item)
    if args.full or args.list:
        for row in calls.finished(folder, selection):
            print(to_json(row if args.full else calls.line_of(row)).decode())
        return 0
    summary = calls.summarise(calls.selected(folder, selection), args.slowest)
    if args.json:
        print(to_json(summary, indent=True).decode())
    else:
        _show(summary)
    return 0


def _repair(folder: Path, *, as_json: bool) -> int:
    """Say what was set aside, line by line, and what that means."""
    from frontdesk.runner.before import kept
    from frontdesk.runner.held import accept
    from frontdesk.runner.runfolder import RunFolder
    from runstore.publish import to_json
    from runstore.runlock import RunLock
    from runstore.segments import repair

    if not (folder / "journal").is_dir():
        raise Problem(f"calls --repair: found no journal in {folder}, expected a run folder")
    with RunLock(folder):
        repairs, gone = repair(folder / "journal"), accept(folder)
        if (earlier := kept(RunFolder(folder))).journal.is_dir():  # the same segments, and files made of them
            repair(earlier.journal)
            accept(earlier.path)
    if as_json:
        done = {"run": str(folder), "repairs": [asdict(done) for done in repairs], "answers_gone": gone}
        print(to_json(done, indent=True).decode())
        return 0
    for done in repairs:
        lines = ", ".join(map(str, done.damaged[:20])) + (" …" if len(done.damaged) > 20 else "")
        what = f"{len(done.damaged)} damaged lines ({lines})" if done.damaged else "line ends set right"
        tell(f"{done.segment}: {what}; the file as it was: {done.set_aside}")
        tell(f"{done.segment}: {done.kept} whole lines stay; the other calls are asked again when needed")
    if gone:
        tell(f"journal: {gone} answers are gone; these calls are asked and paid for again when needed")
    if not repairs and not gone:
        tell("nothing is damaged")
    return 0


def _tokens(counts: dict[str, int]) -> str:
    """Thinking is output that is paid for like the rest."""
    cached = f" ({counts['cached']:,})" if counts.get("cached") else ""
    return f"{counts.get('input', 0):,}/{counts.get('output', 0) + counts.get('thinking', 0):,}{cached}"


def _show(summary: dict[str, Any]) -> None:
    from frontdesk.report.untrusted import one_line
    from frontdesk.report.writers import terminal
    from frontdesk.report.writers.terminal import Head

    figures = ("ok", "failed", "truncated", "p50 s", "p90 s", "p99 s", "tokens in/out (cached)", "USD")
    heads = [Head(head("endpoint")), *(Head(head(title), number=True) for title in figures), Head(head("faults"))]
    rows: list[list[str]] = []
    for name, row in summary["endpoints"].items():
        calls, latency, tokens, usd = row["calls"], row["latency_s"], row["tokens"], row["usd"]
        faults = ", ".join(f"{told(kind)} {count}" for kind, count in row["attempts_failed"].items())
        known = told("unknown") if usd["known"] is None else f"{usd['known']:.4f}"
        rows.append(
            [
                name,
                *(str(calls.get(state, 0)) for state in ("ok", "failed", "truncated")),
                *("-" if value is None else f"{value:.2f}" for value in latency.values()),
                _tokens(tokens),
                known
                if usd["priced"] in (0, usd["of"])
                else told(f"{known} ({usd['priced']} of {usd['of']} priced)"),
                faults or "-",
            ]
        )
    console = terminal.console()
    terminal.print_grid(console, "", heads, rows)
    console.print(told(f"calls sent whose answers were lost with a process: {summary['lost_in_flight']}"))
    for line in summary["slowest"]:
        who, what = one_line(line["endpoint"]), one_line(line["item"])
        console.print(told(f"slow: {line['latency_s']:.2f} s  {who}  {line['stage']}  {what}"))
