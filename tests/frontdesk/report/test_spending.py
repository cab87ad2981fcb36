"""Cost and days are counted from journal lines; what is unknown stays unknown."""

from __future__ import annotations

from typing import Any

from frontdesk.report.sections.run.made import money, settings_text
from frontdesk.report.sections.run.spending import count
from runstore.languages import words


def line(state: str, endpoint: str = "e", stage: str = "judge", **more: Any) -> dict[str, Any]:
    usage = more.pop("usage", [10, 5, None, 4])
    answer = {"usage": usage, "model": "m-1"} if state == "ok" else {}
    base = {"key": "k", "state": state, "endpoint": endpoint, "where": [stage, "i"], "at": 86400.0, "faults": []}
    return {**base, "cost_usd": None, "answer": answer, **more}


def test_tokens_dollars_states_and_days() -> None:
    found = count(
        [
            {"key": "k", "state": "sent", "endpoint": "e"},
            line("ok", cost_usd=0.5),
            line("ok", usage=[1, 1, None, None], at=5 * 86400.0, key="k2"),
            line("failed", faults=[{}, {}], key="k3"),
            line("ok", stage="score", key="k4"),
            {"key": "gone", "state": "sent", "endpoint": "e"},
            {"key": "0", "state": "note"},
        ]
    )
    (only,) = found.lines
    assert (only.states["ok"], only.states["failed"], only.retried) == (2, 1, 1)
    assert (only.tokens["input"], only.tokens["cached"], only.counted["thinking"]) == (11, 4, 0)
    assert (found.first_day, found.last_day) == ("1970-01-02", "1970-01-06")
    assert found.answered_by == {"e": ["m-1"]}
    assert money(only, words("frontdesk.report", "run", "en")) == "0.5000 (1 of 2 priced)"


def test_no_price_is_unknown_not_zero() -> None:
    assert money(count([line("ok")]).lines[0], words("frontdesk.report", "run", "en")) == "unknown"
    assert money(count([line("ok", cost_usd=0.0)]).lines[0], words("frontdesk.report", "run", "en")) == "0.0000"


def test_settings_hold_no_secret() -> None:
    text = settings_text(
        {
            "kind": "http",
            "model": "m",
            "url": "https://me:hunter2@tutor.example:8000/reply?token=hunter3",
            "api_key_env": "THE_KEY",
            "headers": {"Authorization": "Bearer hunter4"},
            "temperature": 0.7,
            "max_output_tokens": 512,
        }
    )
    assert text == "max_output_tokens 512, temperature 0.7, url https://tutor.example:8000/reply"
