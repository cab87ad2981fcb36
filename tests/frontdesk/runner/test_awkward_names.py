"""Names of endpoints and folders that no file system likes: every file stays inside, every true name is told."""

import json

from frontdesk.cli import main
from tests.support.small_runs import files_of, write_config

NAMES = ["org/tutor:8b", "org-tutor-8b", "../../up", "CON", "n" * 300]


def test_awkward_names_stay_inside_the_folder_and_are_told_apart(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    text = config.read_text().replace('["ureka", "gemini"]', json.dumps(NAMES))
    for name in NAMES:
        settings = provider.settings("openai", model=name)
        lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in settings.items())
        text += f"\n[endpoints.{json.dumps(name)}]\n{lines}\n"
    config.write_text(text)
    run = tmp_path / "outer" / "my results 한글"
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert main(["run", str(config), "--run", str(run)]) == 0
    made = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert made and all(path.is_relative_to(run) for path in made)
    parts = [part for path in made for part in path.relative_to(run).parts]
    assert not any(set(part) & set('<>:"\\|?*') or part.upper().startswith("CON.") for part in parts)
    assert all(len(part) < 200 for part in parts)
    rows = json.loads((run / "leaderboard.json").read_bytes())
    told = json.dumps(rows)
    assert all(json.dumps(name) in told for name in NAMES)
    calls, files = provider.stats.calls, files_of(run)
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert provider.stats.calls == calls and files_of(run) == files
    assert main(["verify", "--run", str(run)]) == 0


def test_a_run_named_like_a_path_makes_no_folder_elsewhere(provider, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    config = write_config(tmp_path / "c.toml", provider, dialogues=1, subsets=1)
    config.write_text(config.read_text().replace('"main-job"', '"../../up"'))
    assert main(["simulate", "--config", str(config)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"here", "c.toml"}
    (made,) = (tmp_path / "here" / "runs").iterdir()
    assert (made / "dialogues.jsonl").is_file()
