"""Providers bill a repeated beginning less: what stays the same from call to call comes first."""

from collections import defaultdict

import orjson
import pytest

from frontdesk.cli import main
from runstore.journal import read_rows
from tests.support.small_runs import write_config


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """Prompt texts of a small run by stage and item, in order of the turns."""
    from tests.support.fake_provider import FakeProvider

    folder = tmp_path_factory.mktemp("run")
    with FakeProvider() as provider:
        config = write_config(folder / "c.toml", provider, dialogues=6, subsets=6)
        assert main(["run", str(config), "--run", str(folder / "run")]) == 0
    found = defaultdict(list)
    for row in read_rows(folder / "run" / "journal"):
        if row["state"] == "ok" and row["endpoint"] == "gemini":
            request = row["request"].get("body", row["request"])
            system = (
                request.get("systemInstruction") or request.get("system_instruction") or {"parts": [{"text": ""}]}
            )
            texts = [part["text"] for part in system["parts"]]
            texts += [part["text"] for content in request["contents"] for part in content["parts"]]
            found[row["where"][0]].append((row["where"][1], "\n".join(texts), orjson.dumps(request)))
    return found


def shared(one: str, other: str) -> int:
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def test_teachers_are_sent_their_instructions_first_and_then_the_dialogue_as_it_grows(sent):
    by_item = defaultdict(list)
    for item, text, _ in sent["simulate"]:
        by_item[item].append(text)
    for texts in by_item.values():
        texts.sort(key=len)
        grown = sum(later.startswith(earlier) for earlier in texts for later in texts if earlier is not later)
        assert grown >= len(texts) - 2


def test_judges_are_sent_instructions_and_criteria_before_anything_of_the_match(sent):
    texts = [text for _, text, _ in sent["judge"]]
    instructions = shared(min(texts), max(texts))
    assert instructions > 1000
    assert all(shared(texts[0], text) >= instructions for text in texts)


def test_rounds_in_the_same_order_send_the_same_bytes(sent):
    by_match = defaultdict(set)
    for item, _, request in sent["judge"]:
        by_match[item.split("#")[0]].add(request)
    assert all(len(requests) <= 2 for requests in by_match.values())
