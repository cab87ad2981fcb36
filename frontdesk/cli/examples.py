"""A line to begin with for every command, as ``--help`` ends and as the reference shows it."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "run": ("run arena.toml", "run arena.toml --dialogues 8 --subsets 16 --live", "run arena.toml --goal best"),
    "demo": ("demo",),
    "init": ("init arena.toml",),
    "check": ("check arena.toml",),
    "estimate": ("estimate arena.toml", "estimate arena.toml --dialogues 200 --subsets 400"),
    "personas": ("personas --language ko", "personas --output personas.csv"),
    "questions": ("questions --subject databases", "questions --input mine.csv"),
    "simulate": ("simulate arena.toml", "simulate arena.toml --dialogues 50 --turns 5"),
    "cut": ("cut runs/mine --subsets 100", "cut --input dialogues.jsonl --output subsets.jsonl"),
    "collect": ("collect runs/mine",),
    "judge": ("judge runs/mine", "judge runs/mine --goal best"),
    "student": ("student runs/mine",),
    "sensitivity": ("sensitivity runs/curious runs/reluctant",),
    "rate": ("rate runs/mine", "rate --battles battles.csv --out rated"),
    "power": ("power --win-rate 0.6", "power runs/mine --calls 2000"),
    "score": ("score --input sessions.csv --rubric qac --judge gpt --config arena.toml --out scored",),
    "agree": ("agree --ratings ratings.csv --scale 1..5 --out agreed",),
    "agent-runs": ("agent-runs runs.csv --out scored --language en",),
    "human init": ("human init study",),
    "human plan": ("human plan study/study.toml --out study/plan",),
    "human serve": ("human serve study/plan --address https://study.example.org",),
    "human forms": ("human forms study/plan --pdf",),
    "human import": ("human import study/plan answers.csv",),
    "human replace": ("human replace study/plan --rater lay-03",),
    "human withdraw": ("human withdraw study/plan CODE",),
    "human purge": ("human purge study/plan",),
    "human analyze": (
        "human analyze study/plan",
        "human analyze --study study.toml --ratings ratings.csv --out out",
    ),
    "human sessions": ("human sessions study/plan --out sessions.jsonl",),
    "human themes": ("human themes coded.csv --out themes",),
    "report": ("report runs/mine", "report runs/mine --site public"),
    "export": ("export runs/mine --as hf,csv",),
    "quality": ("quality runs/mine",),
    "verify": ("verify runs/mine",),
    "refresh": ("refresh runs/mine --config arena.toml --add newcomer", "refresh runs/mine --drop old"),
    "calls": ("calls runs/mine", "calls runs/mine --state failed --list"),
    "compare": ("compare runs/before runs/after --out compared",),
    "watch": ("watch runs/mine",),
    "runs": ("runs", "runs elsewhere --cost"),
    "completion": (
        'eval "$(tutor-arena completion bash)"        # in ~/.bashrc; with zsh in ~/.zshrc',
        "tutor-arena completion fish | source         # in ~/.config/fish/config.fish",
    ),
}
"""By command, or command and step: what follows the program's name; whole lines where the program is inside."""


def lines(name: str, program: str) -> list[str]:
    """What is typed, a line an example; none of a command that has only steps."""
    return [each if program in each else f"{program} {each}" for each in EXAMPLES.get(name, ())]
