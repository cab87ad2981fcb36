"""The Markdown report of agent runs: the outline of the scoring document, in Korean or English."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from arena.agent_runs.scoring import Analysis
from runstore.languages import Words, words
from runstore.records import Language

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
_SHOWN = 80


def markdown(analysis: Analysis, language: Language) -> str:
    """The whole report as Markdown. Text from the tables is escaped: it stays text."""
    say, figures = words("frontdesk.report", "agent_runs", language), analysis.figures
    parts = [
        _summary(figures, say),
        _criteria(figures, say),
        [f"## {say('figures')}"],
        _intent(figures, say),
        _consistency(figures, say),
        _accuracy(figures, say),
        _speed(figures, say),
        _stability(figures, say),
        _risks(analysis, say),
        _comparison(analysis, say),
        _appendix(analysis, say),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def plain(text: object, limit: int = _SHOWN) -> str:
    """One line of text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", brief(text, limit))


def brief(text: object, limit: int = _SHOWN) -> str:
    """One line of text without control codes, its end left out where it is long."""
    line = _CONTROL.sub(" ", "" if text is None else str(text)).strip()
    return line if len(line) <= limit else f"{line[:limit]}…"


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}%"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [list(header), ["---"] * len(header), *map(list, rows)]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def input_line(described: dict[str, Any]) -> str:
    """A file with how it was read: format, encoding, delimiter."""
    how = [described["encoding"], described["delimiter"]]
    return f"{described['file']} ({', '.join(part for part in how if part)})"


def check_line(check: dict[str, Any], say: Words) -> str:
    """One check in words: what it found, n of m, its limit, and where."""
    state = {True: "passed", False: "not_passed", None: "noted"}[check["passed"]]
    line = f"{say('check_' + check['name'])}: {say(state)}"
    if check["name"] == "items_per_round":
        line += " — " + ", ".join(f"{brief(name)} = {count}" for name, count in check["rounds"].items())
    elif check["name"] != "single_round":
        line += f" — {say('of', n=check['count'], m=check['of'])} ({percent(check['share'])}"
        line += f", {say('limit')} {percent(check['limit'])})" if "limit" in check else ")"
    return line + _where(check, say)


def _where(check: dict[str, Any], say: Words) -> str:
    if check.get("queries"):
        return f" [{', '.join(map(brief, check['queries']))}]"
    rows: list[Any] = check.get("rows") or []
    if check["name"] == "duplicates":
        shown = [
            f"{brief(row['id'])} @ {brief(row['round'])}: {say('row')} {row['first_row']}, {row['row']}"
            for row in rows
        ]
    elif check["name"] == "rounds_look_like_dates":
        shown = [brief(row) for row in rows]
    else:
        shown = [f"{say('row')} {row}" for row in rows]
    return f" [{'; '.join(shown)}]" if shown else ""


def _summary(figures: dict[str, Any], say: Words) -> list[str]:
    failed = sum(check["passed"] is False for check in figures["checks"])
    runs = ", ".join(
        f"{say('round_n', n=row['index'])} = {plain(row['round'])} ({row['items']})" for row in figures["rounds"]
    )
    lines = [f"# {say('title')}"]
    if failed:
        lines += ["", f"> ⚠ {say('failed_checks', n=failed)}", ""]
    if figures["method"]["form"] == "plain":
        lines += ["", f"> {say('plain_form')}", ""]
    counted, rows = figures["counted"], figures["rows"]
    lines += [
        f"- {say('data')}: " + ", ".join(plain(input_line(each), 200) for each in figures["inputs"]),
        f"- {say('total')}: {counted}" + ("" if counted == rows else f" ({say('of', n=counted, m=rows)})"),
        f"- {say('runs')}: {runs}",
    ]
    return lines + [f"- {say('checks')}: {plain(check_line(check, say), 2_000)}" for check in figures["checks"]]


def _criteria(figures: dict[str, Any], say: Words) -> list[str]:
    levels = "by_key_two" if figures["method"]["accuracy"] == "two-level" else "by_key_three"
    return [
        f"## {say('criteria')}",
        f"- {say('by_key')}, {say(levels)}",
        f"- {say('matched_by')}",
        f"- {say('stable_by')}",
        f"- {say('speed_by')}",
        f"- {say('no_sum')}",
    ]


def _named(figures: dict[str, Any], say: Words) -> list[tuple[str, dict[str, Any]]]:
    return [*((say("round_n", n=row["index"]), row) for row in figures["rounds"]), (say("set"), figures["set"])]


def _intent(figures: dict[str, Any], say: Words) -> list[str]:
    lines = [f"### 1. {say('intent')}"]
    for name, row in _named(figures, say):
        n = say("of", n=row["intent"]["scored"], m=row["items"])
        lines.append(f"- {name}: {number(row['intent']['score'])} ({n})")
    origin = figures["set"]["intent"]["origin"]
    shown = ", ".join(f"{say(f'origin_{name}')} {count}" for name, count in origin.items() if count)
    return [*lines, f"- {say('basis')}: {shown or say('none')}"]


def _consistency(figures: dict[str, Any], say: Words) -> list[str]:
    found = figures["consistency"]
    lines = [f"### 2. {say('consistency')}"]
    if found["rate"] is None:
        return [*lines, f"- {say('not_estimable')}: {say('needs_two')}"]
    lines += [
        f"- {say('three_ways')}: {found['both_success']} / {found['both_fail']} / {found['differ']}",
        f"- {say('agreement_rate')}: {percent(found['rate'])}",
        f"- {say('score')}: {number(found['score'])}",
        f"- {say('queries')}: {found['queries']}, {say('unmatched')}: {found['unmatched']}",
    ]
    if len(found["pairs"]) > 1:
        header = [say(key) for key in ("pairs", "both_ok", "both_fail")] + ["≠", say("agreement_rate")]
        rows = [
            [
                f"{plain(pair['a'])} · {plain(pair['b'])}",
                str(pair["both_success"]),
                str(pair["both_fail"]),
                str(pair["only_a"] + pair["only_b"]),
                percent(pair["rate"]),
            ]
            for pair in found["pairs"]
        ]
        lines += ["", *table(header, rows)]
    if len(found["pass_at_k"]) > 1:
        rows = [
            [say(key), *(percent(value) for value in found[name].values())]
            for key, name in (("any_of_k", "pass_at_k"), ("all_of_k", "pass_hat_k"))
        ]
        lines += ["", *table([f"n = {found['pass_queries']}", *(f"k = {k}" for k in found["pass_at_k"])], rows)]
    return lines


def _accuracy(figures: dict[str, Any], say: Words) -> list[str]:
    header = [say(key) for key in ("round", "rate", "ok", "fail", "item_mean")]
    rows: list[list[str]] = []
    for name, row in _named(figures, say):
        found = row["accuracy"]
        counts = [str(found["success"]), str(found["fail"])]
        rows.append([name, percent(found["rate"]), *counts, number(found["score"])])
    lines = [f"### 3. {say('accuracy')}", *table(header, rows)]
    basis = figures["set"]["accuracy"]["basis"]
    return [
        *lines,
        "",
        "- " + ", ".join(f"{say(f'basis_{name}')} {count}" for name, count in basis.items() if count),
    ]


def _speed(figures: dict[str, Any], say: Words) -> list[str]:
    lines = [f"### 4. {say('speed')}", f"- {say('mean_by_round')}:"]
    for name, row in _named(figures, say):
        found = row["speed"]
        n = say("of", n=found["scored"], m=row["items"])
        lines.append(f"  - {name}: {number(found['mean_s'])}{say('sec')} / {number(found['score'])} ({n})")
    speed = figures["set"]["speed"]
    bands = " , ".join(f"{band}{say('points')}({count})" for band, count in speed["distribution"].items())
    return [*lines, f"- {say('distribution')}: `{bands}`, {say('missing_time')} {speed['missing']}"]


def _stability(figures: dict[str, Any], say: Words) -> list[str]:
    found = figures["set"]["stability"]
    lines = [
        f"### 5. {say('stability')}",
        f"- {say('normal')}: {found['ok']}",
        f"- {say('abnormal')}: {found['bad']}",
        f"- {say('score')}: {number(found['score'])}",
    ]
    lines += [f"  - {name}: {number(row['stability']['score'])}" for name, row in _named(figures, say)[:-1]]
    return lines


def _listing(title: str, rows: Sequence[str], say: Words) -> list[str]:
    return [f"- {title}" + ("" if rows else f": {say('none')}"), *(f"  - {row}" for row in rows)]


def _risks(analysis: Analysis, say: Words) -> list[str]:
    figures, shown = analysis.figures, analysis.shown
    paths = [
        f"{plain(row['path'] or say('no_name'))}: {say('of', n=row['fail'], m=row['items'])}"
        f" ({say('no_url')} {row['no_url']})"
        for row in figures["failures_by_path"]
    ]
    patterns = [
        f"{plain(row['track'] or say('no_name'))} / {plain(row['category'] or say('no_name'))}: "
        f"{say('basis_' + row['reason'])} {say('of', n=row['fail'], m=row['items'])}"
        for row in figures["patterns"]
    ]
    differing = [f"{plain(row['query_id'])}: {plain(row['query'])}" for row in shown["differing"]]
    slowest = [
        f"{plain(row['query_id'])} ({plain(row['round'])}): {number(row['seconds'])}{say('sec')}"
        for row in shown["slowest"]
    ]
    causes = [f"{plain(row['cause'], 120)}: {row['items']}" for row in figures["instability"]]
    return [
        f"## {say('risks')}",
        *_listing(say("by_path"), paths, say),
        *_listing(say("patterns"), patterns, say),
        *_listing(say("differing"), differing, say),
        *_listing(say("slowest"), slowest, say),
        *_listing(say("causes"), causes, say),
    ]


def p_text(test: dict[str, Any]) -> str:
    """p, Holm's p, and how it was found; or the reason why there is none."""
    if test["p_value"] is None:
        return str(test["reason"])
    return f"p = {test['p_value']:.4g}, Holm {test['p_holm']:.4g} ({test['method']}, n = {test['n_used']})"


def _comparison(analysis: Analysis, say: Words) -> list[str]:
    found = analysis.figures.get("comparison")
    if not found:
        return []
    header = [say(key) for key in ("figure", "queries", "before", "after", "difference", "test")]
    rows = [
        [
            say(test["figure"]),
            str(test["queries"]),
            *(number(test[key], 3) for key in ("before", "after", "difference")),
            f"{test['name']}: {plain(p_text(test), 200)}",
        ]
        for test in found["tests"]
    ]
    names = " → ".join(plain(", ".join(found[side])) for side in ("before", "after"))
    lines = [f"## {say('comparison')}", f"- {say('data')}: {names}"]
    for key in ("gained", "lost"):
        listed = ", ".join(plain(row["query_id"]) for row in analysis.shown.get(key, []))
        lines.append(f"- {say(key)}: {found[key]}" + (f" ({listed})" if listed else ""))
    return [*lines, "", *table(header, rows)]


def _appendix(analysis: Analysis, say: Words) -> list[str]:
    rows = analysis.shown["appendix"]
    keys = ("round", "intent", "accuracy", "speed_short", "stability", "consistency")
    header = [say("row"), "Query ID", *(say(key) for key in keys)]
    columns = ("row", "query_id", "round", "intent", "accuracy", "speed", "stability", "consistency")
    cells = [["–" if row[name] is None else plain(row[name], 40) for name in columns] for row in rows]
    lines = [f"## {say('appendix')}", *table(header, cells)]
    total = analysis.figures["counted"]
    return lines if total == len(rows) else [*lines, "", say("see_items", n=total, m=len(rows))]
