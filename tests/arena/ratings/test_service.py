"""What replies took and cost beside a rating: medians and prices of what is known, and nothing made up."""

from arena.ratings.battles import from_columns
from arena.ratings.leaderboard import build
from arena.ratings.result import RatedModel
from arena.ratings.service import with_service
from runstore.records import Reply, Usage


def reply(endpoint: str, at: int, seconds: float | None, dollars: float | None) -> Reply:
    return Reply(
        subset=f"s{at}",
        dialogue="d",
        endpoint=endpoint,
        text="Well?",
        finish="stop",
        usage=Usage(),
        latency_s=seconds,
        cost_usd=dollars,
    )


def served(replies: list[Reply]) -> dict[str, RatedModel]:
    board = build(from_columns(["a", "b", "a"], ["b", "a", "c"], ["model_a", "model_a", "tie"]))
    return {model.name: model for model in with_service(board, replies).models}


def test_median_percentile_and_price_of_a_thousand_replies():
    replies = [reply("a", at, 0.4558 + at / 10, 0.002 * at) for at in range(21)]
    found = served(replies)["a"]
    assert (found.replies, found.timed, found.priced) == (21, 21, 21)
    assert found.latency_s == 1.4558
    assert found.latency_p95_s == 2.3558
    assert found.usd_per_1000 == 20.0


def test_an_unknown_price_is_none_and_a_free_reply_is_zero():
    models = served([reply("a", 0, 1.0, None), reply("b", 0, None, 0.0)])
    assert (models["a"].usd_per_1000, models["a"].priced) == (None, 0)
    assert (models["b"].usd_per_1000, models["b"].latency_s) == (0.0, None)
    assert (models["c"].replies, models["c"].usd_per_1000, models["c"].latency_s) == (0, None, None)


def test_prices_that_only_some_replies_have_are_a_mean_of_those_and_say_so():
    found = served([reply("a", 0, 1.0, 0.004), reply("a", 1, 2.0, None)])["a"]
    assert (found.usd_per_1000, found.priced, found.replies) == (4.0, 1, 2)


def test_battles_without_replies_say_nothing_of_service():
    board = build(from_columns(["a", "b"], ["b", "a"], ["model_a", "model_a"]))
    assert not board.has_service
    assert "usd_per_1000" not in board.to_json()["models"][0]
