"""``tutor-arena calls``: look calls up in a run's journal."""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from runstore.journal import read_rows
from runstore.problems import InputProblem
from runstore.publish import to_json

QUANTILES = (0.5, 0.9, 0.99)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", dest="folder", metavar="DIR", required=True, help="the run folder")
    parser.add_argument("--endpoint", help="only calls of this endpoint")
    parser.add_argument("--stage", help="only calls of this stage (simulate, collect, judge, score)")
    parser.add_argument("--state", choices=("ok", "failed", "truncated"), help="only calls that ended so")
    parser.add_argument(
        "--item", help="only calls made for this dialogue, subset or match (a part of its id will do)"
    )
    parser.add_argument("--slowest", type=int, default=5, metavar="N", help="list the N slowest (default 5)")
    parser.add_argument("--list", action="store_true", help="one line a call instead of the summary")
    parser.add_argument("--full", action="store_true", help="whole journal records, one JSON object a line")
    parser.add_argument("--json", action="store_true", help="the summary as JSON")


def run(args: argparse.Namespace) -> int:
    folder = Path(args.folder) / "journal"
    if not folder.is_dir():
        raise InputProblem(args.folder, "a run folder with a journal", found="none")
    rows = _chosen(read_rows(folder), args)
    if args.full or args.list:
        for row in rows:
            print(to_json(row if args.full else _line(row)).decode())
        return 0
    summary = summarise(rows, args.slowest)
    if args.json:
        print(to_json(summary, indent=True).decode())
    else:
        _show(summary)
    return 0


def _chosen(rows: Iterable[dict[str, Any]], args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for row in rows:
        if row["state"] == "note":
            continue
        if row["state"] == "sent":
            # only what came of a call says what it was made for
            is_wanted = not (args.list or args.full or args.state or args.stage or args.item)
            if is_wanted and args.endpoint in (None, row["endpoint"]):
                yield row
            continue
        stage, item = row["where"]
        if (
            args.endpoint in (None, row["endpoint"])
            and args.stage in (None, stage)
            and args.state in (None, row["state"])
            and (args.item is None or args.item in item)
        ):
            yield row


def _line(row: dict[str, Any]) -> dict[str, Any]:
    failure = row.get("failure")
    return {
        "key": row["key"],
        "state": row["state"],
        "endpoint": row["endpoint"],
        "stage": row["where"][0],
        "item": row["where"][1],
        "at": row["at"],
        "attempts": len(row["faults"]) + (row["state"] == "ok"),
        "latency_s": row.get("latency_s"),
        "cost_usd": row.get("cost_usd"),
        "request_id": row["answer"]["request_id"] if failure is None else None,
        "error": None if failure is None else f"{failure['kind']}: {failure['message']}",
    }


def summarise(rows: Iterable[dict[str, Any]], slowest: int = 5) -> dict[str, Any]:
    """Counts, tokens, cost, latency quantiles, errors and stragglers per endpoint, and calls lost in flight."""
    latencies: defaultdict[str, list[float]] = defaultdict(list)
    states: defaultdict[str, Counter[str]] = defaultdict(Counter)
    tokens: defaultdict[str, Counter[str]] = defaultdict(Counter)
    faults: defaultdict[str, Counter[str]] = defaultdict(Counter)
    dollars: defaultdict[str, list[float | None]] = defaultdict(list)
    longest: list[tuple[float, dict[str, Any]]] = []
    sent: Counter[str] = Counter()
    for row in rows:
        if row["state"] == "note":
            continue
        name = row["endpoint"]
        if row["state"] == "sent":
            sent[row["key"]] += 1
            continue
        sent[row["key"]] -= 1
        states[name][row["state"]] += 1
        faults[name].update(fault["kind"] for fault in row["faults"])
        if row["state"] != "ok":
            continue
        dollars[name].append(row["cost_usd"])
        for kind, count in zip(("input", "output", "thinking", "cached"), row["answer"]["usage"], strict=True):
            tokens[name][kind] += count or 0
        if row["latency_s"] is not None:  # what came by batch has none
            latencies[name].append(row["latency_s"])
            longest = sorted([*longest, (row["latency_s"], _line(row))], key=lambda pair: -pair[0])[:slowest]
    endpoints = {
        name: {
            "calls": dict(states[name]),
            "attempts_failed": dict(faults[name].most_common()),
            "latency_s": _quantiles(latencies[name]),
            "tokens": dict(tokens[name]),
            "usd": _money(dollars[name]),
        }
        for name in sorted(states)
    }
    lost = sum(count for count in sent.values() if count > 0)
    return {"endpoints": endpoints, "lost_in_flight": lost, "slowest": [line for _, line in longest]}


def _quantiles(values: list[float]) -> dict[str, float | None]:
    ordered = sorted(values)
    return {
        f"p{round(100 * share)}": ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
        for share in QUANTILES
    }


def _money(costs: list[float | None]) -> dict[str, Any]:
    known = [cost for cost in costs if cost is not None]
    return {"known": sum(known) if known else None, "priced": len(known), "of": len(costs)}


def _tokens(counts: dict[str, int]) -> str:
    """Thinking is output that is paid for like the rest."""
    cached = f" ({counts['cached']:,})" if counts.get("cached") else ""
    return f"{counts.get('input', 0):,}/{counts.get('output', 0) + counts.get('thinking', 0):,}{cached}"


def _show(summary: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from frontdesk.report.untrusted import rich_markup

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    table = Table(box=box.SIMPLE)
    for column in (
        "endpoint",
        "ok",
        "failed",
        "truncated",
        "p50 s",
        "p90 s",
        "p99 s",
        "tokens in/out (cached)",
        "USD",
        "faults",
    ):
        table.add_column(column, justify="left" if column in ("endpoint", "faults") else "right")
    for name, row in summary["endpoints"].items():
        calls, latency, tokens, usd = row["calls"], row["latency_s"], row["tokens"], row["usd"]
        faults = ", ".join(f"{kind} {count}" for kind, count in row["attempts_failed"].items())
        known = "unknown" if usd["known"] is None else f"{usd['known']:.4f}"
        table.add_row(
            rich_markup(name),
            *(str(calls.get(state, 0)) for state in ("ok", "failed", "truncated")),
            *("-" if value is None else f"{value:.2f}" for value in latency.values()),
            _tokens(tokens),
            known if usd["priced"] in (0, usd["of"]) else f"{known} ({usd['priced']} of {usd['of']} priced)",
            rich_markup(faults) if faults else "-",
        )
    console.print(table)
    console.print(f"calls sent whose answers were lost with a process: {summary['lost_in_flight']}")
    for line in summary["slowest"]:
        who, what = rich_markup(line["endpoint"]), rich_markup(line["item"])
        console.print(f"slow: {line['latency_s']:.2f} s  {who}  {line['stage']}  {what}")
