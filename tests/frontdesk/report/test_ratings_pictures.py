"""Pictures of the leaderboard."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from frontdesk.report.sections.ratings.write import write_leaderboard
from tests.support.battles import battles_of, rows_of

RESULTS = [("<b>&P", "Q$", 20, 10, 1), ("Q$", "\u202eR", 20, 10, 0), ("S", "Q$", 5, 0, 0)]


def test_the_svg_is_well_formed_and_shows_every_name_as_text(tmp_path):
    board = build(battles_of(rows_of(RESULTS)), Settings(resamples=50))
    root = ElementTree.fromstring(write_leaderboard(tmp_path, board, svg=True)[-1].read_text("utf-8"))
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]

    assert {"<b>&P", "Q$", "\ufffdR", "S"} <= set(texts)
    assert any("won every game" in text for text in texts)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 3
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_an_empty_board_has_a_picture_too(tmp_path):
    picture = write_leaderboard(tmp_path, build(battles_of([])), svg=True, latex=True)[-1]
    assert ElementTree.fromstring(picture.read_text("utf-8")) is not None


def test_png_where_matplotlib_is_installed(tmp_path):
    pytest.importorskip("matplotlib")
    paths = write_leaderboard(tmp_path, build(battles_of(rows_of(RESULTS)), Settings(resamples=50)), png=True)

    assert paths[-1].read_bytes().startswith(b"\x89PNG")


def test_a_name_that_no_font_has_letters_for_is_drawn_without_a_word_of_the_library(tmp_path, recwarn):
    pytest.importorskip("matplotlib")
    battles = battles_of(rows_of([("👩🏽‍🏫 튜터", "b", 5, 5, 0)]))
    assert write_leaderboard(tmp_path, build(battles, Settings(resamples=50)), png=True)[-1].is_file()
    assert not list(recwarn)
