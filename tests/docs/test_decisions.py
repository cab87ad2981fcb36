"""The index of decisions names every page by its title."""

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"


def test_the_index_lists_every_decision_with_its_title() -> None:
    pages = sorted(FOLDER.glob("[0-9]*.md"))
    expected = [
        f"- [{page.name[:3]}]({page.name}) {page.read_text(encoding='utf-8').splitlines()[0].removeprefix('# ')}"
        for page in pages
    ]
    listed = [
        line for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("- [")
    ]
    assert listed == expected
