"""The walk through the library in the documentation is run as it stands."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def code_of(page: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL))


def test_from_one_persona_to_one_verdict(provider, monkeypatch, capsys):
    monkeypatch.setenv("MODEL_URL", f"{provider.url}/v1")
    code = code_of("library.md")
    names: dict[str, object] = {}
    exec(compile(code, "library.md", "exec"), names)
    outcome, winner, agreement = capsys.readouterr().out.split()
    assert outcome in {"win", "tie", "invalid"}
    assert winner in {"asks", "tells", "None"}
    assert agreement in {"unanimous", "majority", "split"}
    assert provider.stats.by_role == {"teacher": 2 + 2, "student": 1, "judge": 3}
    body = code[code.index("async def") :]
    assert len([line for line in body.splitlines() if line.strip()]) <= 30
