"""Precision and recall of every detector, by language, and of recovered levels.  python bench/detectors.py

Of each kind 120 planted dialogues and 120 that only look a little like it, in English and in Korean; and students
whose levels show in their words, as they are and with the levels dealt out again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from runstore.ids import draw, pick, shuffled
from runstore.records import Dialogue, Utterance
from simulator.realism.failures import RULES
from simulator.realism.fidelity import fidelity
from simulator.realism.talk import talk_of
from tests.support.planted_failures import counted

SAID = {
    "high": ("why does {} need a {}?", "so what about {} and {} then, does it still hold?"),
    "low": ("ok", "{}", "idk {}"),
}
WORDS = ("heap", "tree", "list", "node", "root", "stack", "queue", "graph", "edge", "cost")


def scripted(dialogues: int, *, dealt: bool) -> list[Dialogue]:
    """Students of two levels that show in three of four messages; ``dealt``: levels belong to anybody."""
    levels = ["low" if at % 2 else "high" for at in range(dialogues)]
    shown = shuffled(((str(at), level) for at, level in enumerate(levels)), 5) if dealt else levels
    found: list[Dialogue] = []
    for at, (level, seen) in enumerate(zip(levels, shown, strict=True)):
        said = [Utterance(role="student", text=f"an opener number {at % 21}")]
        for turn in range(3):
            own = seen if draw(2, at, turn) < 0.75 else pick(("low", "high"), 2, "other", at, turn)
            text = pick(SAID[own], 3, at, turn).format(pick(WORDS, 4, at, turn), pick(WORDS, 5, at, turn))
            said += [Utterance(role="teacher", text="Why?"), Utterance(role="student", text=text)]
        fields = {"persona": level, "levels": {"motivation": level}, "question": f"q{at % 21}", "subject": "s"}
        fields |= {"turns": 4, "end": "turns reached", "complete": True, "utterances": tuple(said), "id": f"d{at}"}
        found.append(Dialogue.model_validate(fields))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=120)
    args = parser.parse_args()
    print(f"{'kind':16} {'language':9} planted  found  wrongly  precision  recall")
    for kind in RULES:
        for language in ("en", "ko"):
            hit, planted, wrong = counted(kind, args.each, language)
            precision = hit / (hit + wrong) if hit + wrong else 0.0
            print(f"{kind:16} {language:9} {planted:7} {hit:6} {wrong:8} {precision:10.2f} {hit / planted:7.2f}")
    for name, dealt in (("levels as they show", False), ("levels dealt out again", True)):
        found = fidelity(list(map(talk_of, scripted(240, dealt=dealt))), 5)["recoverability"]
        row = found["factors"]["motivation"]
        turns = "; ".join(
            f"turn {each['turn']} {each['recall']:.2f} [{each['lower']:.2f}, {each['upper']:.2f}]"
            for each in found["by_turn"]["motivation"]
        )
        print(
            f"{name:24} recall {row['recall']:.2f} [{row['lower']:.2f}, {row['upper']:.2f}], "
            f"chance {row['chance']:.2f} (95 %: {row['chance_upper']:.2f}), p {row['p']:.3f}; {turns}"
        )


if __name__ == "__main__":
    main()
