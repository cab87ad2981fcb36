"""Rating against what replies cost and took: two pictures, and who is missing from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frontdesk.report.blocks import Block, Text
from frontdesk.report.plots.dots import Dot
from frontdesk.report.plots.planes import against
from frontdesk.report.sections.run.data import RunData
from runstore.languages import Words


def pictures(data: RunData, say: Words, ratings: Sequence[Dot]) -> list[Block]:
    """A picture for dollars and one for seconds where two endpoints or more have both a rating and the figure."""
    if not data.board.has_service:
        return []
    dollars = {model.name: model.usd_per_1000 for model in data.board.models}
    seconds = {model.name: model.latency_s for model in data.board.models}
    return [
        *_picture(say, ratings, dollars, ("cost_chart", "usd_per_1000", "no_price")),
        *_picture(say, ratings, seconds, ("seconds_chart", "seconds_axis", "no_seconds")),
    ]


def _picture(
    say: Words, ratings: Sequence[Dot], known: Mapping[str, float | None], keys: tuple[str, str, str]
) -> list[Block]:
    title, axis, lacking = keys
    blocks: list[Block] = []
    points = [(x, dot) for dot in ratings if (x := known[dot.label]) is not None and dot.value is not None]
    if len(points) > 1:
        blocks.append(against(say(title), (say(axis), say("rating_axis")), points, title.removesuffix("_chart")))
    if unknown := [name for name, value in known.items() if value is None]:
        blocks.append(Text(say(lacking, names=", ".join(unknown)), "soft"))
    return blocks
