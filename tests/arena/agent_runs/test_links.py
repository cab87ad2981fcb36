from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.agent_runs.links import judge_links, read_expectation, read_link


@pytest.mark.parametrize(
    ("url", "keys", "paths"),
    [
        ("https://a.example/menu/card?dataKey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("/menu/card?x=1&dataKey=CARD%5F01", {"CARD_01"}, {"/menu/card"}),
        ("/menu/card?dataKey=CARD%255F01", {"CARD_01"}, {"/menu/card"}),
        ("/menu/card?data%4Bey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("/menu/card?a=1&amp;dataKey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("/menu/card?dataKey=A&dataKey=B", {"A", "B"}, {"/menu/card"}),
        ("/menu/card?DataKey=card_01", {"CARD_01"}, {"/menu/card"}),
        ("/menu/card#dataKey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("https://a.example/#/menu/card?dataKey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("https://a.example/#!/menu/card?dataKey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("menu/card?dataKey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("./menu//card/?dataKey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("../menu/card", set[str](), {"/menu/card"}),
        ("?dataKey=CARD_01", {"CARD_01"}, set[str]()),
        ("bank-app://menu/card?dataKey=CARD_01", {"CARD_01"}, {"/menu/card"}),
        ("https%3A%2F%2Fa.example%2Fmenu%2Fcard%3FdataKey%3DCARD_01", {"CARD_01"}, {"/menu/card"}),
        ("/go?to=%2Fmenu%2Fcard%3FdataKey%3DCARD_01%26x%3D1", {"CARD_01"}, {"/go", "/menu/card"}),
        ("/menu/%EC%B9%B4%EB%93%9C?dataKey=K", {"K"}, {"/menu/카드"}),
        ("/menu/card?mydataKey=CARD_01&dataKeys=B", set[str](), {"/menu/card"}),
        ("/menu/card?dataKey=", set[str](), {"/menu/card"}),
        ("/menu/card?dataKey=not a key", set[str](), {"/menu/card"}),
        ("https://[broken?dataKey=CARD_01", {"CARD_01"}, set[str]()),
        ("https://a.example", set[str](), set[str]()),
    ],
)
def test_keys_and_paths_of_a_url(url: str, keys: set[str], paths: set[str]) -> None:
    link = read_link(url)
    assert (set(link.keys), set(link.paths)) == (keys, paths)


@pytest.mark.parametrize(
    ("text", "keys", "paths"),
    [
        ("dataKey=CARD_01", {"CARD_01"}, set[str]()),
        ("화면: https://a.example/menu/card?dataKey=CARD_01 (카드)", {"CARD_01"}, {"/menu/card"}),
        ("/menu/card?dataKey=A_1 또는 dataKey=B_2", {"A_1", "B_2"}, {"/menu/card"}),
        ("/menu/card로 이동", set[str](), {"/menu/card"}),
        ("(/menu/card).", set[str](), {"/menu/card"}),
        ("menu/card?dataKey=C_3&x=1", {"C_3"}, {"/menu/card"}),
        ("dataKey%3DCARD_01", {"CARD_01"}, set[str]()),
        ("카드/대출 안내", set[str](), set[str]()),
        ("N/A", set[str](), set[str]()),
        ("24/7 상담?", set[str](), set[str]()),
        ("", set[str](), set[str]()),
    ],
)
def test_what_an_expectation_names(text: str, keys: set[str], paths: set[str]) -> None:
    found = read_expectation(text)
    assert (set(found.keys), set(found.paths)) == (keys, paths)


def test_a_key_that_only_begins_alike_is_another_key() -> None:
    found = judge_links(read_expectation("/menu/card?dataKey=CARD_1"), ["/menu/card?dataKey=CARD_10"])
    assert (found.score, found.basis) == (3, "other key on the same path")


def test_the_same_path_without_any_key_is_no_alternative() -> None:
    found = judge_links(read_expectation("/menu/card?dataKey=CARD_1"), ["/menu/card"])
    assert (found.score, found.basis) == (0, "wrong key")


def test_any_button_may_be_the_right_one() -> None:
    urls = ["/home", "/menu/loan?dataKey=L", "/menu/card?dataKey=CARD_1"]
    assert judge_links(read_expectation("dataKey=CARD_1"), urls).score == 5
    assert judge_links(read_expectation("/menu/loan"), urls).score == 5


def test_very_long_urls_are_read_and_not_kept() -> None:
    assert read_link("/menu?" + "x=1&" * 10_000 + "dataKey=K").keys == {"K"}


@given(st.text(max_size=80))
@settings(max_examples=150)
def test_no_text_breaks_the_readers(text: str) -> None:
    read_link(text)
    read_expectation(text)


@given(st.text(alphabet="ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", min_size=1, max_size=20))
@settings(max_examples=50)
def test_every_key_is_found_however_it_is_written(key: str) -> None:
    encoded = "".join(f"%{ord(character):02X}" for character in key)
    for url in (f"/m?dataKey={key}", f"/m?DATAKEY={key.lower()}", f"/m?dataKey={encoded}", f"/#/m?dataKey={key}"):
        assert judge_links(read_expectation(f"dataKey={key}"), [url]).score == 5
