"""The three notebooks, written and executed: ``make notebooks``. Their cells stand here, to be reviewed as text."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
FOLDER = "import tempfile\n\nfolder = tempfile.mkdtemp()"
CELLS: dict[str, list[str]] = {
    "data-set": [
        "# A data set of tutoring dialogues\n\nEvery simulated student is a persona; the teacher is an endpoint. Here both are scripted, so this costs nothing and gives the same everywhere.",
        f"import tutor_arena as ta\n\n{FOLDER}",
        'run = ta.simulate("data-set.toml", folder)',
        "A dialogue shows itself; `run.dialogues` is a table of typed records.",
        "run.dialogues[0]",
        "Into a data frame, and who the students are:",
        'frame = run.dialogues.to_pandas()\nframe["levels"].apply(lambda levels: levels["motivation"]).value_counts().to_dict()',
        'polars = run.dialogues.to_polars()\npolars.shape, polars["turns"].mean()',
        "`tutor-arena export RUN --as hf` writes it as a data set with its card; `tutor-arena quality RUN` says how realistic, faithful and varied the students are.",
    ],
    "benchmark": [
        "# A benchmark of tutors\n\nTwo tutors continue the same conversations; a judge compares them in balanced order, three rounds a match.",
        f"import tutor_arena as ta\n\n{FOLDER}",
        'run = ta.run("arena.toml", folder)',
        "run.leaderboard",
        "Ratings as a data frame, with their intervals:",
        'run.leaderboard.to_pandas()[["name", "rank", "rating", "lower", "upper", "wins", "losses", "ties"]].round(1)',
        "A match, whole: the conversation, both replies, and every vote.",
        "run.matches[0]",
        "The verdicts in any frame that takes an Arrow stream:",
        'import polars as pl\n\npl.DataFrame(run.verdicts).group_by("winner", "agreement").len().sort("len", descending=True)',
        "Anybody's battles are rated by the same machinery:",
        'import pandas as pd\n\nbattles = pd.DataFrame({"model_a": ["a", "a", "b", "a"] * 6, "model_b": ["b", "c", "c", "b"] * 6,\n                        "winner": ["model_a", "model_a", "tie", "model_b"] * 6, "cluster": range(24)})\nta.rate(battles)',
    ],
    "study": [
        "# A study: sheets, scores, and how far judges agree\n\nThree scripted judges fill in the checklist for a few sessions; a teacher's ratings stand beside them.",
        f"import tutor_arena as ta\n\n{FOLDER}",
        'example = "../examples/session-checklist"\nscores = ta.score(f"{example}/sessions.jsonl", "qac", ["gemini", "claude", "gpt"], f"{example}/config.toml", folder)',
        'import pandas as pd\n\npd.read_csv(f"{folder}/scores.csv").groupby("judge")[["A", "B", "C", "total"]].mean().round(2)',
        "A sheet is one judge's filled-in form, element by element, with what it quoted:",
        "ta.open_run(folder).sheets[0]",
        "Agreement of any ratings, from a data frame:",
        'ratings = pd.DataFrame({"item": [f"s{n}" for n in range(8) for _ in range(3)],\n                        "rater": ["teacher", "gpt", "gemini"] * 8,\n                        "value": [4, 4, 3, 2, 2, 2, 5, 4, 4, 1, 2, 1, 3, 3, 3, 5, 5, 4, 2, 1, 2, 4, 4, 5]})\nta.agree(ratings, scale="1..5", reference="teacher")',
    ],
}


def notebook(name: str) -> nbformat.NotebookNode:
    """The cells of a notebook: those that begin as prose are Markdown."""
    made = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for at, text in enumerate(CELLS[name]):
        is_prose = text[0] in "#`" or (text[0].isupper() and " " in text.split("\n")[0] and "=" not in text)
        cell = nbformat.v4.new_markdown_cell(text) if is_prose else nbformat.v4.new_code_cell(text)
        cell["id"] = f"{name}-{at}"
        made.cells.append(cell)
    return made


def execute(made: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Run every cell in a kernel of this Python, in this folder. Raises CellExecutionError."""
    NotebookClient(made, timeout=120, resources={"metadata": {"path": str(HERE)}}).execute()
    for cell in made.cells:
        cell.get("metadata", {}).pop("execution", None)
    made.metadata.pop("language_info", None)
    return made


if __name__ == "__main__":
    for chosen in sys.argv[1:] or CELLS:
        nbformat.write(execute(notebook(chosen)), HERE / f"{chosen}.ipynb")
