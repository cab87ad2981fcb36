"""A language is a file beside the others; what it lacks is an error, never English in silence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from frontdesk.report.wording import FOLDER
from runstore.languages import Words, languages, words
from runstore.problems import InputProblem, Problem

ENGLISH = 'page:\n  title: "Report: {name}"\n  none: none\n'


def _folder(tmp_path: Path, **files: str) -> Path:
    for language, text in {"en": ENGLISH, **files}.items():
        (tmp_path / f"{language}.yaml").write_text(text, "utf-8")
    return tmp_path


def test_the_languages_are_the_files_that_are_there(tmp_path: Path) -> None:
    folder = _folder(tmp_path, xx='page:\n  title: "⟦{name}⟧"\n  none: "⟦none⟧"\n')
    assert languages(folder) == ("en", "xx")
    say = Words(folder, "page", "xx")
    assert (say("title", name="a{b}"), say("none")) == ("⟦a{b}⟧", "⟦none⟧")
    with pytest.raises(Problem, match=r"'yy'.*there are: en, xx"):
        words(folder, "yy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('page:\n  title: "{name}"\n', r"xx\.yaml.*page\.none.*nothing"),
        ('page:\n  title: "{name}"\n  none: a\n  more: b\n', r"xx\.yaml.*4.*page\.more"),
        ('page:\n  title: "{nam}"\n  none: a\n', r"xx\.yaml.*2.*page\.title.*\{nam"),
        ('page:\n  title: "{name"\n  none: a\n', r"xx\.yaml.*2.*page\.title"),
        ('page:\n  title: "{name}"\n  none: ""\n', r"xx\.yaml.*3.*page\.none"),
        ('page:\n  title: "{name}"\n  none: a\nother:\n  key: b\n', r"xx\.yaml.*other\.key"),
    ],
    ids=["missing", "unused", "other name", "open brace", "blank", "unused group"],
)
def test_a_file_that_says_less_more_or_other_than_english_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputProblem, match=message):
        words(_folder(tmp_path, xx=text), "xx")


def test_every_language_of_the_reports_is_whole_and_another_is_added_by_its_file(tmp_path: Path) -> None:
    for language in languages(FOLDER):
        (tmp_path / f"{language}.yaml").write_bytes((FOLDER / f"{language}.yaml").read_bytes())
        assert words(tmp_path, language)
    wrapped = {
        group: {key: f"⟦{text}⟧" for key, text in texts.items()} for group, texts in words(FOLDER, "en").items()
    }
    (tmp_path / "xx.yaml").write_text(yaml.safe_dump(wrapped, allow_unicode=True), "utf-8")
    assert words(tmp_path, "xx") == wrapped
    assert re.fullmatch("⟦.*⟧", Words(tmp_path, "run", "xx")("title", name="r"))
