"""Tables and progress on real pseudo-terminals of 80 and 50 columns."""

import io
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from frontdesk.report.writers import terminal
from frontdesk.report.writers.terminal import Head
from tests.support import terminals
from tests.support.run_folders import RunBuilder
from tests.support.small_runs import REPOSITORY

HEADS = [Head("rank", True), Head("model"), *(Head(f"figure {n}", True) for n in range(6)), Head("what it says")]
ROWS = [
    [
        "1",
        "a-model-with-a-long-name-2026-01-preview",
        *(f"{n}234.5" for n in range(6)),
        "words that may wrap well",
    ],
    ["2", "짧은 이름의 모델", *(f"{n}034.5" for n in range(6)), "한국어 문장도 단어 사이에서 줄이 바뀝니다"],
]


def printed(width: int) -> list[str]:
    out = io.StringIO()
    terminal.print_grid(Console(file=out, width=width, force_terminal=True, color_system=None), "t", HEADS, ROWS)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [120, 80, 50, 30])
def test_a_table_fits_its_width_and_splits_no_figure(width: int) -> None:
    lines = printed(width)
    assert max(cell_len(line) for line in lines) <= width
    text = " ".join("\n".join(lines).split())
    named = [head.title for head in HEADS if head.title in text.split("(…")[-1]] if "(…" in text else []
    for at in range(6):
        assert ROWS[0][2 + at] in text or f"figure {at}" in named


def test_columns_are_left_out_from_the_right_and_named() -> None:
    assert printed(50)[-1].endswith("what it says)")
    assert "(…" not in "\n".join(printed(200))


def test_a_pipe_has_room_for_every_column_and_every_figure() -> None:
    out = io.StringIO()
    heads = [Head("pair"), *(Head(f"a figure with a long head, number {n}", True) for n in range(9))]
    rows = [["asks – tells", *(f"+0.{n}81 [+0.107, +0.456]" for n in range(9))]]
    terminal.print_grid(terminal.console(out), "", heads, rows)
    assert all(cell in out.getvalue() for cell in rows[0])


def on_a_terminal(columns: int, *arguments: str, **environ: str) -> str:
    """What a command writes to a pseudo-terminal of so many columns, standard error included."""
    ours, theirs = terminals.opened(columns, 40)
    with terminals.begun(theirs, REPOSITORY, arguments, environ):
        return terminals.written(ours).decode("utf-8")


@pytest.mark.parametrize("columns", [80, 50])
def test_no_line_of_a_report_is_wider_than_the_terminal(tmp_path: Path, columns: int) -> None:
    run = RunBuilder(["ureka-with-a-long-name-2026", "gemini-2.5-pro-preview-05-06", "gpt"])
    for pair in (("ureka-with-a-long-name-2026", "gpt"), ("gemini-2.5-pro-preview-05-06", "gpt")):
        run.play(["aaa", "bbb", "abt", "aab", "bba", "ttt"], pair)
    run.write(tmp_path / "run")
    for command in (["report", str(tmp_path / "run")], ["runs", str(tmp_path)], ["questions"], ["personas"]):
        said = on_a_terminal(columns, *command, NO_COLOR="1")
        assert "\x1b" not in said
        lines = [line for line in said.replace("\r\n", "\n").splitlines() if "report" not in line]
        assert max(cell_len(line) for line in lines) <= columns, command


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_escape_code_where_none_is_wanted(tmp_path: Path, environ: dict[str, str]) -> None:
    run = RunBuilder(["ureka", "gemini"])
    run.play(["aaa", "bbb", "aaa"])
    run.write(tmp_path / "run")
    assert "\x1b" not in on_a_terminal(80, "report", str(tmp_path / "run"), **environ)
    assert "\x1b" in on_a_terminal(80, "report", str(tmp_path / "run"))


@pytest.mark.parametrize("width", [120, 60])
def test_a_text_that_wraps_loses_no_letter(width: int) -> None:
    text = "−3을 옮기면 왜 +3이 되잖아요, 어 그런데 y = ax + b에서는 단계가 왜 다른가요? " * 3
    out = io.StringIO()
    on = Console(file=out, width=width, force_terminal=True, color_system=None)
    terminal.print_grid(on, "", [Head("id"), Head("text")], [["moving-a-term", text]])
    shown = out.getvalue().replace("moving-a-term", "")
    assert "".join(text.split()) in "".join(shown.split())
