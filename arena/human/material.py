"""What is put before the raters: the study's documents, matches and dialogues of a run, with names masked.

Nothing that a rater is shown may tell which tutor or condition wrote it. Names that stand in a text are masked,
and how many were is said.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from arena.human.forms import Text
from arena.human.study import Dialogues, Document, Matches, Study, load_documents
from arena.matches import Match, all_pairs, matches
from runstore.ids import shuffled
from runstore.problems import InputProblem
from runstore.publish import FILLERS, read_records
from runstore.records import Dialogue, Reply, Subset

MASK = "▮▮▮"
_EAST_ASIAN = "\u1100-\u11ff\u3040-\u318f\u3400-\u9fff\uac00-\ud7af"
_PART_OF_WORD = rf"[^\W{_EAST_ASIAN}]"
_LETTER = re.compile(_PART_OF_WORD)


@dataclass(frozen=True, slots=True)
class Material:
    """All documents of a study; in how many of their different texts a name was masked."""

    documents: tuple[Document, ...]
    masked: int
    texts: int


def gather(study: Study, folder: Path, seed: int) -> Material:
    """Everything that the study's groups rate. ``folder`` is the study file's. Raises InputProblem."""
    documents = list(load_documents(study, folder, seed)) if study.documents or study.strata else []
    names = [name for condition in study.conditions.values() for name in (condition.name, *condition.mask)]
    if study.matches:
        gathered, endpoints = match_documents(study.matches, folder, seed)
        documents += gathered
        names += (*endpoints, *study.matches.mask)
    if study.dialogues:
        documents += dialogue_documents(study.dialogues, folder, seed)
    if not study.mask_names:
        return Material(tuple(documents), 0, 0)
    return _masked(documents, names)


def match_documents(wanted: Matches, folder: Path, seed: int) -> tuple[list[Document], list[str]]:
    """Matches of a run as documents, and the endpoints' names.

    The conditions are the two orders: XY shows the first endpoint's reply on the left, YX on the right. ``source``
    holds who is who and stays with the organiser. Raises InputProblem where the run lacks files or endpoints.
    """
    run = _run_folder(wanted.run, folder)
    subsets = read_records(run / "subsets.jsonl", Subset)
    replies = read_records(run / "replies.jsonl", Reply)
    known = sorted({reply.endpoint for reply in replies})
    endpoints = list(wanted.endpoints) or known
    strangers = [name for name in endpoints if name not in known]
    if strangers:
        raise InputProblem(
            run / "replies.jsonl", f"replies of {', '.join(known)}", found=strangers[0], field="endpoints"
        )
    played, _ = matches(subsets, replies, all_pairs(endpoints))
    chosen = shuffled([(match.id, match) for match in played], seed, "human", "matches")[: wanted.matches]
    return [_match_document(match, number, wanted.material) for number, match in enumerate(chosen, 1)], known


def _match_document(match: Match, number: int, material: str) -> Document:
    x, y = _text(match.first.text), _text(match.second.text)
    return Document(
        id=f"m{number:03d}",
        material=material,
        turns=tuple((said.role, said.text) for said in match.subset.history),
        replies={"XY": x, "YX": y},
        right={"XY": y, "YX": x},
        source={
            "subset": match.subset.id,
            "dialogue": match.subset.dialogue,
            "x": match.endpoints[0],
            "y": match.endpoints[1],
        },
    )


def dialogue_documents(wanted: Dialogues, folder: Path, seed: int) -> list[Document]:
    """Whole dialogues of a run as documents without conditions."""
    dialogues = read_records(_run_folder(wanted.run, folder) / "dialogues.jsonl", Dialogue)
    drawn = shuffled([(dialogue.id, dialogue) for dialogue in dialogues], seed, "human", "dialogues")[
        : wanted.dialogues
    ]
    return [
        Document(
            id=f"g{number:03d}",
            material=wanted.material,
            turns=tuple((said.role, said.text) for said in talk.utterances),
            source={"dialogue": talk.id},
        )
        for number, talk in enumerate(drawn, 1)
    ]


def _text(text: str) -> Text:
    return {"any": text}


def _run_folder(name: str, folder: Path) -> Path:
    """The run named in a study file: beside that file, else from here."""
    beside = folder / name
    return beside if beside.is_dir() else Path(name)


def with_run_paths(study: Study, folder: Path) -> Study:
    """The study with its runs' folders in full, so that it can be used from anywhere."""
    placed: dict[str, Matches | Dialogues] = {}
    for name, part in (("matches", study.matches), ("dialogues", study.dialogues)):
        if part:
            placed[name] = part.model_copy(update={"run": str(_run_folder(part.run, folder).resolve())})
    return study.model_copy(update=placed)


def hide(text: str, names: Iterable[str]) -> str:
    """The text with whole-word occurrences of the names masked, whatever their case.

    A few signs or blanks between the parts of a name (dashes, underlines, dots, a character reference), and
    nothing at all, are one spelling, also where letters and digits meet; letters that nobody sees, accents, tags
    and marks of emphasis make no other.
    Korean puts particles right behind a name, so letters of East Asian scripts never make it a longer word.
    """
    wanted = {_comparable(name)[0].strip("-.") for name in names}
    ordered = sorted((name for name in wanted if len(name) > 1), key=len, reverse=True)
    if not ordered:
        return text
    compared, places = _comparable(text)
    pattern = "|".join(map(_whole_word, ordered))
    shown, end = "", 0
    for match in re.finditer(pattern, compared):
        shown += text[end : places[match.start()][0]] + MASK
        end = places[match.end() - 1][1]
    return shown + text[end:]


_SIGN = re.compile(r"</?[A-Za-z]{1,10}>|&(?:#\w{1,6}|[A-Za-z]{2,8});|\\?.", re.DOTALL)
_EMPHASIS = frozenset("*`")
_BETWEEN = r"(?:-{1,5}|\.)?"
"""A dot and a blank end a sentence."""
_ENDS = frozenset("+.,;!?\"'()[]{}<>&%@#$^“”‘’「」«»…")
"""Signs that end something, or belong to one side: of none of them is a name made."""
_DIGITS_MEET = r"(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])"


def _comparable(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text as names are compared, and from where to where in the text each of its letters stands.

    Without unseen letters, tags, emphasis and accents; in compatibility form, in lower case; all signs that may
    join words alike.
    """
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for sign in _SIGN.finditer(text):
        plain = _plain(sign[0])
        is_accent = not plain.isascii() and unicodedata.category(plain[0]) == "Mn" and letters[-1:] != []
        if not (is_accent and letters[-1].isascii()):
            letters += plain
            places += [sign.span()] * len(plain)
    return "".join(letters), places


@lru_cache(4096)
def _plain(sign: str) -> str:
    """What a letter, a character reference or an escaped sign is compared as; nothing for a tag and the unseen."""
    said = html.unescape(sign) if sign[0] == "&" else sign[1:] or sign if sign[0] == "\\" else sign
    if (
        not said
        or (sign[0] == "<" and len(sign) > 1)
        or said in _EMPHASIS
        or unicodedata.category(said[0]) == "Cf"
    ):
        return ""
    folded = _without_accent(unicodedata.normalize("NFKC", said)).casefold()
    return "".join("-" if _joins(each) else each for each in folded)


def _joins(sign: str) -> bool:
    return sign in _FILLERS or sign.isspace() or (sign not in _ENDS and unicodedata.category(sign)[0] in "PS")


_FILLERS = frozenset(unicodedata.normalize("NFKC", filler) for filler in FILLERS)


def _without_accent(letter: str) -> str:
    """A Latin letter without its marks; any other sign as it is."""
    if letter.isascii():
        return letter
    base = unicodedata.normalize("NFD", letter)[:1]
    return base if base.isascii() and base.isalpha() else letter


def _whole_word(name: str) -> str:
    """A name in comparable form, its parts joined by a few separators or by none."""
    before, after = (_PART_OF_WORD if _LETTER.fullmatch(end) else None for end in (name[0], name[-1]))
    parts = [part for part in re.split("[-.]+", name) if part]
    if len(name) > _SHORT:
        parts = [piece for part in parts for piece in re.split(_DIGITS_MEET, part)]
    spelled = _BETWEEN.join(map(re.escape, parts))
    return (f"(?<!{before})" if before else "") + spelled + (f"(?!{after})" if after else "")


_SHORT = 3
"""Letters of a name that is too short to be taken apart: ``a1`` is no ``a 1``."""


def _masked(documents: Sequence[Document], names: Sequence[str]) -> Material:
    seen: dict[str, str] = {}

    def clean(text: str) -> str:
        return seen.setdefault(text, hide(text, names))

    def clean_all(text: Text) -> Text:
        return {language: clean(shown) for language, shown in text.items()}

    result = [
        document.model_copy(
            update={
                "title": clean_all(document.title),
                "original": clean_all(document.original),
                "turns": tuple((role, clean(said)) for role, said in document.turns),
                "replies": {name: clean_all(text) for name, text in document.replies.items()},
                "right": {name: clean_all(text) for name, text in document.right.items()},
            }
        )
        for document in documents
    ]
    return Material(tuple(result), sum(hidden != text for text, hidden in seen.items()), len(seen))
