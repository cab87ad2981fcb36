"""The walk through the library in the documentation is run as it stands."""

import re
from pathlib import Path

from tests.support.small_runs import write_config

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks_of(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def test_from_a_configuration_to_verdicts(provider, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path / "arena.toml", provider, dialogues=3, subsets=4)
    code = blocks_of("library.md")[0]
    exec(compile(code, "library.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines[:2]} == {"gemini", "ureka"}
    assert [line.split()[0] in {"win", "tie", "invalid"} for line in lines[2:]] == [True] * 3
    assert len(code.splitlines()) <= 15


def test_from_one_persona_to_one_verdict(provider, monkeypatch, capsys):
    monkeypatch.setenv("MODEL_URL", f"{provider.url}/v1")
    code = next(code for code in blocks_of("library.md") if "async def one_verdict" in code)
    names: dict[str, object] = {}
    exec(compile(code, "library.md", "exec"), names)
    outcome, winner, agreement = capsys.readouterr().out.split()
    assert outcome in {"win", "tie", "invalid"}
    assert winner in {"asks", "tells", "None"}
    assert agreement in {"unanimous", "majority", "split"}
    assert provider.stats.by_role == {"teacher": 2 + 2, "student": 1, "judge": 3}
    body = code[code.index("async def") :]
    assert len([line for line in body.splitlines() if line.strip()]) <= 30
