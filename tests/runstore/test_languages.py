"""Languages are files: what there is of them, what is wrong with one, and one more by files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from runstore.languages import VARIABLE, languages, listed, name_of, resource, words
from runstore.problems import InputProblem, Problem
from runstore.yaml_file import read_yaml

ROOT = Path(__file__).parents[2]
FORMS = "met: oui\nnot_met: non\nflag_yes: oui (1)\nflag_no: non (0)\n"
"""All the words of the raters' forms but the last."""


def test_every_words_file_stands_in_every_language() -> None:
    tables = sorted(path for path in ROOT.glob("*/**/words/*.en.yaml") if ".venv" not in path.parts)
    assert len(tables) > 10
    for path in tables:
        package = ".".join(path.relative_to(ROOT).parts[:-2])
        table = path.name.removesuffix(".en.yaml")
        for language in languages():
            assert words(package, table, language).texts.keys() == words(package, table, "en").texts.keys()
            read_yaml(path.with_name(f"{table}.{language}.yaml"))  # refuses a key that stands twice


def test_words_fill_their_fields_and_keep_braces_in_values() -> None:
    assert words("frontdesk.report", "run", "ko")("title", name="{x}") == "보고서: {x}"
    assert name_of("ko") == "한국어"


def test_a_language_nobody_wrote_is_refused() -> None:
    with pytest.raises(Problem, match=r"run\.xx\.yaml: found no such file"):
        words("frontdesk.report", "run", "xx")


def _own(folder: Path, path: str, text: str) -> None:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def test_a_language_is_added_by_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _own(tmp_path, "runstore/words/language.fr.yaml", "name: français\ncased: 'yes'\n")
    _own(tmp_path, "arena/words/forms.fr.yaml", f"{FORMS}not_applicable: sans objet\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert languages() == ("en", "fr", "ko")
    assert words("arena", "forms", "fr")("met") == "oui"
    assert resource("arena", "words/forms.fr.yaml") == tmp_path / "arena/words/forms.fr.yaml"
    assert [path.name for path in listed("arena", "words", "forms.*.yaml")] == [
        "forms.en.yaml",
        "forms.fr.yaml",
        "forms.ko.yaml",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            FORMS,
            "not_applicable: found no not_applicable, expected every word",
        ),
        (f"{FORMS}not_applicable: s\nmett: x\n", "mett: found mett, expected the words"),
        (
            f"{FORMS}not_applicable: s\n".replace("oui", "oui {n}", 1),
            "met: found oui {n}, expected the fields of 'met'",
        ),
    ],
)
def test_a_file_that_does_not_fit_english_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    _own(tmp_path, "runstore/words/language.fr.yaml", "name: français\ncased: 'yes'\n")
    _own(tmp_path, "arena/words/forms.fr.yaml", text)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(InputProblem, match=complaint.replace("{", r"\{")):
        words("arena", "forms", "fr")
