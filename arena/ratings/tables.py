"""The leaderboard as text for people: Markdown and LaTeX. Models' names are untrusted text everywhere."""

from __future__ import annotations

import html
import re
import unicodedata

from arena.ratings.result import CategoryTable, Leaderboard, RatedModel, StyleControl

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~>$.-])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def one_line(text: str) -> str:
    """Control, bidirectional and line characters made visible or taken out: a name stays in its cell."""
    out = "".join(
        " " if c in "\t\n\r\v\f\x85\u2028\u2029" else "" if unicodedata.category(c) in {"Cc", "Cf"} else c
        for c in text
    )
    return " ".join(out.split()) or "(blank)"


def markdown_text(text: str) -> str:
    """Any text as Markdown that shows it literally, also where HTML is let through."""
    return html.escape(_MARKDOWN.sub(r"\\\1", one_line(text)), quote=False)


def latex_text(text: str) -> str:
    """Any text as LaTeX that shows it literally."""
    return "".join(_LATEX.get(c, c) for c in one_line(text))


def markdown(board: Leaderboard) -> str:
    """The table, what it rests on, what is wrong with it, and the win rates of every pair."""
    lines = ["# Leaderboard", "", *_preamble(board)]
    for number, group in enumerate(board.groups):
        members = [model for model in board.models if model.name in set(group)]
        if len(board.groups) > 1:
            lines += [f"## Group {number + 1} of {len(board.groups)}", ""]
        lines += [*_ratings(board, members), ""]
    reasons = [f"- {markdown_text(model.name)}: {model.reason}" for model in board.models if model.reason]
    if reasons:
        lines += ["## Remarks", "", *reasons, ""]
    lines += [*_position(board), *_win_rates(board)]
    lines += [
        *_style(board.style),
        *(line for part in board.by for line in _levels(part)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _style(style: StyleControl | None) -> list[str]:
    if style is None:
        return []
    lines = ["## Style control", ""]
    if style.reason:
        return [*lines, f"Not estimated: {style.reason}.", ""]
    lines += ["| Covariate | Log-odds per SD | Interval |", "|:---|---:|---:|"]
    for row in style.covariates:
        span = f"[{row.lower:+.3f}, {row.upper:+.3f}]"
        lines.append(f"| {markdown_text(row.name)} | {row.log_odds_per_sd:+.3f} | {span} |")
    lines += ["", "| Model | Plain | Style controlled | Interval |", "|:---|---:|---:|---:|"]
    for row in sorted(style.models, key=lambda row: -(row.rating or 0)):
        cells = [markdown_text(row.name), _figure(row.raw), _figure(row.rating)]
        lines.append(f"| {' | '.join([*cells, limits(row.lower, row.upper)])} |")
    return [*lines, ""]


def _levels(part: CategoryTable) -> list[str]:
    lines = [f"## By {markdown_text(part.category)}", ""]
    if part.deviation is not None:
        lines += [f"Levels scatter around the whole by {part.deviation:.0f} points (standard deviation).", ""]
    lines += ["| Level | Model | Rating | Interval | Shrunken | Interval | Matches | Win rate |"]
    lines += ["|:---|:---|---:|---:|---:|---:|---:|---:|"]
    for level in part.levels:
        for row in level.models:
            near = row.shrunken
            cells = [
                markdown_text(level.level),
                markdown_text(row.name),
                _figure(row.rating),
                limits(row.lower, row.upper),
                _figure(near.rating),
                limits(near.lower, near.upper),
                f"{row.matches:g}",
                percent(row.win_rate),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _preamble(board: Leaderboard) -> list[str]:
    counts = board.counts
    text = [f"{board.method}. {counts.battles} battles, {counts.models} models. {_intervals(board)}"]
    if counts.invalid:
        total = counts.battles + counts.invalid
        text.append(f"{counts.invalid} of {total} matches were invalid and took no part.")
    if board.agreement is not None:
        parts = ", ".join(f"{value} {kind}" for kind, value in board.agreement.items())
        text.append(f"Verdicts: {parts}.")
    notes = [f"> **Note:** {markdown_text(note)}" for note in board.notes]
    return [*(line for note in notes for line in (note, "")), " ".join(text), ""]


def _intervals(board: Leaderboard) -> str:
    settings = board.settings
    if settings.intervals == "none":
        return "No intervals were asked for."
    unit = board.intervals.cluster or "battle"
    if settings.intervals == "sandwich":
        return f"{settings.level:.0%} intervals by the sandwich covariance, clustered by {unit}."
    kind = board.intervals.refit or "exact"
    return f"{settings.level:.0%} intervals by bootstrap ({kind}, {settings.resamples} resamples, by {unit})."


def _ratings(board: Leaderboard, members: list[RatedModel]) -> list[str]:
    rounds = any(model.rating_rounds is not None for model in members)
    reference = board.settings.reference
    head = ["Rank", "Places", "Model", "Rating", f"{board.settings.level:.0%} interval", "Wins", "Losses", "Ties"]
    head += ["Win rate"] + (["Rating by rounds"] if rounds else [])
    head += [f"Against {markdown_text(reference)}"] if reference is not None else []
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('---:' if name != 'Model' else ':---' for name in head)}|"]
    for model in members:
        cells = [
            _figure(model.rank),
            "–" if model.rank_range is None else f"{model.rank_range[0]}–{model.rank_range[1]}",
            markdown_text(model.name),
            _figure(model.rating),
            limits(model.lower, model.upper),
            *(f"{value:g}" for value in (model.wins, model.losses, model.ties)),
            percent(model.win_rate),
        ]
        cells += [_figure(model.rating_rounds)] if rounds else []
        cells += [_versus(model)] if reference is not None else []
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _versus(model: RatedModel) -> str:
    found = model.reference
    if found is None:
        return "no games"
    rate, low, high = map(percent, (found.win_rate, found.lower, found.upper))
    return f"{rate} [{low}, {high}] of {found.matches:g}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def percent(rate: float | None) -> str:
    """A share, or a dash."""
    return "–" if rate is None else f"{100 * rate:.1f}%"


def limits(lower: float | None, upper: float | None) -> str:
    """An interval, open where it has no limit."""
    if lower is None and upper is None:
        return "–"
    return f"[{_figure(lower) if lower is not None else '…'}, {_figure(upper) if upper is not None else '…'}]"


def _position(board: Leaderboard) -> list[str]:
    found = board.position
    if not (found.first_wins or found.second_wins or found.ties):
        return []
    text = f"Shown first and won: {found.first_wins:g}; shown second and won: {found.second_wins:g}; ties: "
    text += f"{found.ties:g} ({found.of})."
    if found.log_odds is None:
        text += f" The effect is not estimated: {found.reason}."
    else:
        text += f" Being shown first is worth {found.log_odds:+.3f} in log-odds"
        if found.lower is not None:
            text += f" [{found.lower:+.3f}, {found.upper:+.3f}]"
        text += "."
    return ["## Position", "", text, ""]


def _win_rates(board: Leaderboard) -> list[str]:
    names = [model.name for model in board.models]
    if not names or len(names) > 30:
        return []
    rates: dict[tuple[str, str], str] = {}
    for pair in board.pairs:
        rate = pair.win_rate_a
        rates[pair.a, pair.b] = percent(rate) if rate is not None else "no games"
        rates[pair.b, pair.a] = percent(1 - rate) if rate is not None else "no games"
    head = ["Row beats column", *map(markdown_text, names)]
    lines = ["## Win rates, ties as halves", "", f"| {' | '.join(head)} |", f"|:---{'|---:' * len(names)}|"]
    for row in names:
        cells = [
            markdown_text(row),
            *("" if row == name else rates.get((row, name), "no games") for name in names),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def latex_table(board: Leaderboard) -> str:
    """A ``tabular`` for booktabs."""
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{rlrrrrrr}",
        r"\toprule",
        r"Rank & Model & Rating & Lower & Upper & Wins & Losses & Ties \\",
        r"\midrule",
    ]
    for number, group in enumerate(board.groups):
        lines += [r"\midrule"] if number else []
        for model in (model for model in board.models if model.name in set(group)):
            figures = [_figure(value).replace("–", "--") for value in (model.rating, model.lower, model.upper)]
            counts = [f"{value:g}" for value in (model.wins, model.losses, model.ties)]
            cells = [_figure(model.rank).replace("–", "--"), latex_text(model.name), *figures, *counts]
            lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
