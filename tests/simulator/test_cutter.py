"""Cuts end at a student utterance, are spread evenly, and keep their ids whatever else changes."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontdesk.runner.given import read_dialogues
from runstore.problems import Problem
from runstore.records import Dialogue, Utterance
from simulator.cutter import cut


def dialogue(name: str, turns: int = 4, *, last_teacher: bool = True) -> Dialogue:
    said = [
        Utterance(role=role, text=f"{role[0].upper()}{turn} of {name}")
        for turn in range(1, turns + 1)
        for role in ("student", "teacher")
    ]
    if not last_teacher:
        said = said[:-1]
    return Dialogue(
        id=name,
        persona="p",
        question="q",
        subject="s",
        turns=turns,
        utterances=tuple(said),
        end="turns reached",
        complete=True,
    )


def test_every_subset_is_a_prefix_that_ends_with_the_student():
    dialogues = [dialogue(f"d-{i}") for i in range(20)]
    by_id = {one.id: one for one in dialogues}
    for subset in cut(dialogues, 50, seed=3):
        whole = by_id[subset.dialogue].utterances
        assert subset.history == whole[: subset.cut]
        assert subset.history[-1].role == "student"
        assert subset.depth == sum(utterance.role == "student" for utterance in subset.history)


@given(n=st.integers(1, 30), subsets=st.integers(0, 140), turns=st.integers(1, 5), seed=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_spread_is_even_and_no_cut_is_taken_twice(n, subsets, turns, seed):
    dialogues = [dialogue(f"d-{i}", turns) for i in range(n)]
    chosen = cut(dialogues, subsets, seed=seed)
    assert len(chosen) == min(subsets, n * turns) == len({(one.dialogue, one.cut) for one in chosen})
    per_dialogue = Counter(one.dialogue for one in chosen)
    shares = [per_dialogue[one.id] for one in dialogues]
    assert max(shares) - min(shares) <= 1
    depths = Counter(one.depth for one in chosen)
    used = [depths[level] for level in range(1, turns + 1)]
    assert max(used) - min(used) <= 1


def test_ids_do_not_depend_on_the_order_or_the_seed():
    dialogues = [dialogue(f"d-{i}") for i in range(6)]
    first = {(one.dialogue, one.cut): one.id for one in cut(dialogues, 24, seed=1)}
    second = {(one.dialogue, one.cut): one.id for one in cut(list(reversed(dialogues)), 24, seed=2)}
    assert first == second
    assert cut(dialogues, 4, seed=1) == cut(list(reversed(dialogues)), 4, seed=1)
    assert cut(dialogues, 4, seed=1) != cut(dialogues, 4, seed=2)


def test_dialogues_without_ids_cut_the_same_in_any_process(tmp_path):
    rows = [
        {"utterances": [{"role": "student", "text": f"Q{i}"}, {"role": "teacher", "text": "T"}]} for i in range(6)
    ]
    source = tmp_path / "dialogues.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outputs = {}
    for seed in (1, 2):
        for hash_seed in ("0", "12345"):
            out = tmp_path / f"{seed}-{hash_seed}.jsonl"
            command = [sys.executable, "-m", "frontdesk", "cut", "--input", source, "--output", out]
            command += ["--subsets", "4", "--seed", str(seed)]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": hash_seed})
            outputs[seed, hash_seed] = out.read_bytes()
    assert outputs[1, "0"] == outputs[1, "12345"]
    assert outputs[2, "0"] == outputs[2, "12345"]
    cuts = [
        {row["history"][0]["text"]: row["dialogue"] for row in map(json.loads, outputs[seed, "0"].splitlines())}
        for seed in (1, 2)
    ]
    assert len(set(cuts[0].values())) == len(cuts[0]) == 4
    both = cuts[0].keys() & cuts[1].keys()
    assert both
    assert all(cuts[0][text] == cuts[1][text] for text in both)


def test_two_dialogues_with_one_id_are_refused():
    with pytest.raises(Problem, match="'d-1'"):
        cut([dialogue("d-1"), dialogue("d-1")], 2)


def test_a_history_can_be_limited_to_its_last_exchanges():
    whole = dialogue("d-1", 4)
    limited = {one.depth: one for one in cut([whole], 4, last_turns=2)}
    assert [u.text.split()[0] for u in limited[4].history] == ["S3", "T3", "S4"]
    assert limited[4].first == 4
    assert [u.text.split()[0] for u in limited[1].history] == ["S1"]
    assert limited[4].id != {one.depth: one for one in cut([whole], 4)}[4].id


def test_a_teachers_greeting_before_the_first_question_opens_no_history():
    spoken = dialogue("d-1", 2)
    greeted = spoken.model_copy(update={"utterances": (Utterance(role="teacher", text="Hi"), *spoken.utterances)})
    for subset in cut([greeted], 4):
        assert subset.first == 1
        assert subset.history == greeted.utterances[1 : subset.cut]
        assert subset.history[0].role == "student"


def test_dialogues_that_are_alike_and_have_no_ids_get_different_ones(tmp_path):
    row = {"id": "", "utterances": [{"role": "student", "text": "Q"}, {"role": "teacher", "text": "T"}]}
    source = tmp_path / "dialogues.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for _ in range(3)))
    first, *others = [one.id for one in read_dialogues(source)]
    assert len({first, *others}) == 3
    source.write_text(json.dumps(row) + "\n")
    assert [one.id for one in read_dialogues(source)] == [first]
