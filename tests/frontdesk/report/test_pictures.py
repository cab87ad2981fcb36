"""Pictures: the same marks in pages and files, readable on a phone, with round ticks and enough contrast."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from frontdesk.cli import main
from frontdesk.report.blocks import Chart, charts
from frontdesk.report.marks import Picture, Words
from frontdesk.report.plots.axes import Axis, percent, plain
from frontdesk.report.plots.dots import Dot, dots
from frontdesk.report.plots.files import standalone
from frontdesk.report.plots.grids import STRONGEST, Shade, grid
from frontdesk.report.plots.panels import Counts, Panel, count_panels, rate_panels
from frontdesk.report.plots.planes import Moment, over_time
from frontdesk.report.sections.run.data import load
from frontdesk.report.sections.run.document import document
from frontdesk.report.writers.html import environment
from frontdesk.runner.runfolder import RunFolder
from tests.support.gallery import TUTORS, built_run

HOSTILE = '<script>alert(1)</script>\u202e&"'
PHONE = 358
"""Pixels that a phone of 390 has for a picture."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return RunFolder(built_run(tmp_path_factory.mktemp("drawn") / "run", 12))


@pytest.fixture(scope="module")
def drawn(run: RunFolder) -> dict[str, Chart]:
    return {chart.key: chart for chart in charts(document(load(run), "en"))}


def test_a_run_has_every_picture(drawn: dict[str, Chart]) -> None:
    wanted = {"ratings", "history", "matrix", "cost", "seconds", "slots", "judges", "by-subject", "by-depth"}
    assert wanted <= set(drawn)
    assert {"by-persona-motivation", "by-persona-year", "first-effect"} <= set(drawn)


def test_every_picture_fits_a_phone_unscaled_and_names_its_axis(drawn: dict[str, Chart]) -> None:
    for key, chart in drawn.items():
        narrow = chart.narrow or chart.picture
        if key not in ("matrix", "judges"):
            assert narrow.width <= PHONE, key
            assert any(isinstance(mark, Words) and mark.kind == "name" for mark in narrow.marks), key


@pytest.mark.parametrize("key", ["ratings", "history", "matrix", "by-subject"])
def test_texts_stay_inside_the_picture(drawn: dict[str, Chart], key: str) -> None:
    for picture in (drawn[key].picture, drawn[key].narrow):
        assert picture is not None
        for mark in picture.marks:
            if isinstance(mark, Words) and not mark.turned:
                wide = 6.2 * len(mark.text)
                left = {"start": mark.x, "middle": mark.x - wide / 2, "end": mark.x - wide}[mark.anchor]
                assert left > -12, (key, mark)
                assert 0 < mark.y <= picture.height, (key, mark)


def test_files_of_each_format(run: RunFolder, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    main(["report", str(run.path), "--quiet", "--site", str(tmp_path / "site"), "--plots", "svg,png,pdf"])
    folder = tmp_path / "site" / "plots"
    for path in folder.glob("*.svg"):
        root = ElementTree.fromstring(path.read_text("utf-8"))
        assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG"), path
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF"), path
    assert len(list(folder.glob("*.svg"))) >= 10


def test_wrong_formats_are_refused(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run.path), "--plots", "svg,jpeg"]) == 2
    assert "svg, png, pdf" in capsys.readouterr().err


def pictures_of(name: str) -> list[Picture]:
    dot = Dot(name, 0.5, 0.2, 0.8, 0, name)
    rates = rate_panels(name, name, {name: name}, [Panel(name, 0, {name: dot})])
    counts = count_panels(name, name, [Counts(name, (name,), {name: [3]})], [name])
    times = over_time(name, name, [Moment(name, {name: dot}), Moment(name, {name: dot})])
    shades = {(name, "b"): Shade(0.7, 3)}
    return [
        dots([dot], name, axis=name),
        rates.picture,
        counts.picture,
        times.picture,
        grid(name, [name, "b"], shades, diverging=True),
    ]


def test_hostile_names_stay_text() -> None:
    for picture in pictures_of(HOSTILE):
        text = standalone(picture)
        root = ElementTree.fromstring(text)
        assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
        assert "\u202e" not in text


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (931.0, 1124.0, [950.0, 1000.0, 1050.0, 1100.0]),
        (0.0, 3.7, [0.0, 1.0, 2.0, 3.0]),
        (-0.31, 0.27, [-0.2, 0.0, 0.2]),
        (12_000.0, 61_000.0, [20_000.0, 30_000.0, 40_000.0, 50_000.0, 60_000.0]),
    ],
)
def test_ticks_are_round_and_inside(low: float, high: float, ticks: list[float]) -> None:
    assert Axis(low, high, 0, 100).ticks() == ticks


def test_ticks_are_written_without_more_digits_than_they_need() -> None:
    assert [plain(value) for value in (0.2, 1000.0, 0.30000000000000004)] == ["0.2", "1,000", "0.3"]
    assert [percent(value) for value in (0.0, 0.5, 0.125)] == ["0%", "50%", "12.5%"]


def test_a_matrix_leans_away_from_a_half_and_the_same_on_both_sides() -> None:
    picture = grid("t", ["a", "b"], {("a", "b"): Shade(0.8, 10), ("b", "a"): Shade(0.2, 10)}, diverging=True)
    boxes = [mark for mark in picture.marks if hasattr(mark, "strength")]
    assert [box.kind for box in boxes] == ["cell win", "cell lose"]
    assert boxes[0].strength == boxes[1].strength == pytest.approx(STRONGEST * 0.6)


def test_counts_on_the_fullest_cell_have_the_contrast_of_aa_in_both_schemes() -> None:
    css = environment().get_template("page.css").render()
    light, dark = css.split("@media (prefers-color-scheme: dark)", 1)
    for block in (light, dark.partition("}\n}")[0]):
        colour = {name: rgb(value) for name, value in re.findall(r"--(\w+): (#[0-9a-f]{3,6})", block)}
        for tone in ("win", "lose", "accent"):
            cell = tuple(
                STRONGEST * own + (1 - STRONGEST) * under
                for own, under in zip(colour[tone], colour["ground"], strict=True)
            )
            assert contrast(colour["text"], cell) >= 4.5, tone


def rgb(text: str) -> tuple[float, ...]:
    digits = text[1:] if len(text) == 7 else "".join(2 * letter for letter in text[1:])
    return tuple(int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Of WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: tuple[float, ...]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_an_endpoint_that_left_keeps_its_line_in_the_history(drawn: dict[str, Chart]) -> None:
    texts = [mark.text for mark in drawn["history"].picture.marks if isinstance(mark, Words)]
    assert set(TUTORS) <= set(texts)
    assert "2026-08-14" in texts
