"""The ``tutor-arena`` command.

Each command is a module of this package with ``configure(parser)`` and ``run(args) -> int`` (the exit code).
It is imported only when it is chosen, so that ``--help`` stays instant. Adding a command: one module, one line.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn, cast

PROGRAM = "tutor-arena"

COMMANDS: dict[str, str] = {
    "run": "every stage in order, resuming what exists",
    "demo": "the whole pipeline on the embedded model, no key needed",
    "init": "write a commented configuration file",
    "check": "validate a configuration and play each role once",
    "estimate": "calls, tokens and dollars per stage, before anything is spent",
    "personas": "list or export the simulated students",
    "questions": "list or export the bank of seed questions",
    "simulate": "personas and questions -> dialogues",
    "cut": "dialogues -> subsets that end at a student utterance",
    "collect": "subsets -> every endpoint's replies",
    "judge": "replies -> judgments and verdicts",
    "student": "replies -> branches with simulated students: what each tutor leaves behind",
    "sensitivity": "how far the order of tutors hangs on the simulated students, or on the judges",
    "rate": "verdicts, or anybody's battles -> ratings with intervals",
    "power": "how many matches tell two endpoints apart",
    "score": "fill in a rubric for dialogues with one or several judges",
    "agree": "agreement statistics for any table of ratings",
    "agent-runs": "score raw tables of agent runs",
    "human": "plan, serve, import and analyse a human study",
    "report": "Markdown and HTML report, or a site to publish",
    "export": "data sets for other tools, with a data card",
    "quality": "how realistic, faithful and varied the students are, without a call",
    "verify": "recompute everything after the journal and compare byte for byte",
    "refresh": "add or drop an endpoint and pay only for what is new",
    "calls": "look calls up in a run's journal",
    "compare": "two runs beside each other: what moved, which verdicts flipped",
    "watch": "a local page that shows a run as it goes",
    "runs": "list run folders: when, endpoints, state, decision, cost",
    "completion": "print what makes a shell complete commands and options",
}

BEGIN = """to begin:
  tutor-arena demo               without a key, a few minutes
  tutor-arena init arena.toml    then: check, estimate and run arena.toml
  tutor-arena COMMAND --help     what a command takes, with an example"""

_PRINTED = "of what is printed (default: that of the run, the configuration or the study, else en)"
TOLD = ("init", "human")
"""Commands whose object holds what they told, line by line."""


class _GivenOnce(argparse.Action):
    """A value; a file named twice by one option is refused, as the last would win in silence."""

    given = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if option_string is not None and getattr(self.type, "__name__", "") in ("Path", "source"):
            if self.given:
                parser.error(f"{option_string}: given twice, expected one file")
            self.given = True
        setattr(namespace, self.dest, values)


class Misused(SystemExit):
    """A command line that cannot be read, and why; said on stderr already."""

    def __init__(self, reason: str) -> None:
        super().__init__(2)
        self.reason = reason


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help whose names of commands stand in one column with what they do, and whose examples keep their lines."""

    def add_argument(self, action: argparse.Action) -> None:
        """As argparse does it; it forgets that the names of commands are indented further."""
        super().add_argument(action)
        if action.choices is not None and isinstance(action.choices, dict):
            self._action_max_length += 2


class Parser(argparse.ArgumentParser):
    """Refuses a file given twice, and says which option was probably meant."""

    words: Sequence[str] = ()
    """The command line, as far as this parser was given it."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", _Help)
        super().__init__(**settings)
        self.register("action", None, _GivenOnce)
        self.register("action", "store", _GivenOnce)

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride] - it is overloaded there
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        """As argparse does it; what it was given is kept for :meth:`error`."""
        self.words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """As argparse says it, with the option or the step that was probably meant. Raises Misused."""
        from frontdesk.runner.told import head, told

        message += self._meant(message)
        self.print_usage(sys.stderr)
        sys.stderr.write(f"{self.prog}: {head('error')}: {told(message)}\n")
        raise Misused(message)

    def _meant(self, message: str) -> str:
        """An option that was left out may stand there, mistyped; the same of a choice that there is not."""
        from runstore.problems import nearest

        known = self.options()
        typed = [word.partition("=")[0] for word in self.words if word.startswith("--")]
        wrong = [word for word in typed if not any(option.startswith(word) for option in known)]
        if re.match("unrecognized arguments: --|the following arguments are required", message):
            for word in wrong:
                if meant := nearest(word, known):
                    instead = "" if word in message else f"for {word}, "
                    return f"; {instead}did you mean {meant}?"
        choice = re.search(r"invalid choice: '([^']+)' \(choose from (.+)\)$", message)
        meant = choice and nearest(choice[1], [each.strip("' ") for each in choice[2].split(",")])
        return f"; did you mean {meant!r}?" if meant else ""

    def format_usage(self) -> str:
        """As argparse has it, in the console's language."""
        from frontdesk.runner.told import head

        return super().format_usage().replace("usage:", f"{head('usage')}:", 1)

    def options(self) -> list[str]:
        """Every option of this parser and of the command that was chosen."""
        return self.own_options() + [option for step in self.steps() for option in step.options()]

    def choices(self) -> Iterator[tuple[str, list[str]]]:
        """(option, the values it may have) of this parser and its steps, where those are a closed list."""
        for action in self._actions:
            if action.choices is not None and not isinstance(action.choices, dict):
                for option in action.option_strings:
                    yield option, [str(value) for value in action.choices]
        for step in self.steps():
            yield from step.choices()

    def step_names(self) -> list[str]:
        """The names of its commands or steps."""
        return [name for name, _ in self.named_steps()]

    def own_options(self) -> list[str]:
        """The options of this parser alone."""
        return [option for action in self._actions for option in action.option_strings]

    def steps(self) -> list[Parser]:
        """The parsers of its commands or steps."""
        return [step for _, step in self.named_steps()]

    def named_steps(self) -> Iterator[tuple[str, Parser]]:
        """(name, parser) of its commands or steps."""
        for action in self._actions:
            choices = cast("object", action.choices)
            if isinstance(choices, dict):
                yield from cast("dict[str, Parser]", choices).items()


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code of the contract (0, 1, 2, 3, 130)."""
    from frontdesk.cli.language import asked_for
    from frontdesk.runner.told import console_language, speak

    _print_what_can_be_printed()
    arguments = sys.argv[1:] if argv is None else argv
    before, asked = console_language(), asked_for(arguments)
    speak(asked)
    try:
        return _parsed(arguments, is_asked=asked is not None)
    finally:
        speak(before)


def _parsed(arguments: list[str], *, is_asked: bool) -> int:
    """``is_asked``: the console has the language that it was asked for, whatever the command works on."""
    from frontdesk.cli.language import language_of
    from frontdesk.runner.told import speak

    parser = _parser(arguments)
    if (wrong := next((word for word in arguments if not word.startswith("-")), None)) and wrong not in COMMANDS:
        return _refused(wrong, 2, f"no command {wrong!r}{_meant(wrong)}", as_json="--json" in arguments)
    try:
        args = parser.parse_args(arguments)
    except Misused as misused:
        if "--json" in arguments:
            _print_refusal(next((word for word in arguments if word in COMMANDS), ""), 2, misused.reason)
        return 2
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 2
    if not is_asked:
        speak(language_of(args))
    return _guarded(args)


def _refused(command: str, code: int, reason: object, *, as_json: bool) -> int:
    """Say why nothing was done; the exit code."""
    from frontdesk.runner.told import told

    print(f"{PROGRAM}: {told(reason)}", file=sys.stderr)
    if as_json:
        _print_refusal(command, code, str(reason))
    return code


def _done_as_object(args: argparse.Namespace) -> int:
    """``--json`` of a command that has no object of its own: how it ended, and the lines it would have printed."""
    from contextlib import redirect_stdout
    from io import StringIO

    from frontdesk.cli.listing import print_object
    from frontdesk.runner.outcome import ended

    with redirect_stdout(StringIO()) as said:
        code = args.run(args)
    sys.stderr.write(said.getvalue())
    print_object(ended(args.command, code, told=said.getvalue().splitlines()))
    return code


def _print_refusal(command: str, code: int, reason: str) -> None:
    """``--json``: the object of a command that came to nothing."""
    from frontdesk.cli.listing import print_object
    from frontdesk.runner.outcome import ended

    print_object(ended(command, code, reason=reason))


def _print_what_can_be_printed() -> None:
    """A terminal or pipe without a letter (CP949, Windows-1252, ASCII) gets another in its place.

    A command that did its work must not fail over saying so.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _meant(word: str) -> str:
    from runstore.problems import nearest

    close = nearest(word, COMMANDS)
    return f"; did you mean {close!r}?" if close else f" (see {PROGRAM} --help)"


def _parser(arguments: list[str]) -> argparse.ArgumentParser:
    parser = Parser(prog=PROGRAM, description="Which tutor teaches better, and how sure are we?", epilog=BEGIN)
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    chosen = next((word for word in arguments if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == chosen:
            _configure(command, name)
    return parser


def of_command(name: str) -> Parser:
    """The parser of one command, as it is when that command is chosen."""
    parser = Parser(prog=f"{PROGRAM} {name}")
    _configure(parser, name)
    return parser


def _configure(command: Parser, name: str) -> None:
    module = import_module(f"frontdesk.cli.{name.replace('-', '_')}")
    module.configure(command)
    command.set_defaults(run=module.run)
    _add_examples(command, name)
    _add_language(command)
    if "--debug" not in command.own_options():
        command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _add_examples(command: Parser, name: str) -> None:
    from frontdesk.cli.examples import lines

    for each, words in [(command, name), *((step, f"{name} {word}") for word, step in command.named_steps())]:
        if typed := lines(words, PROGRAM):
            each.epilog = "\n".join(
                ["examples:" if len(typed) > 1 else "example:", *(f"  {line}" for line in typed)]
            )


def _add_language(command: Parser) -> None:
    """``--language`` for what a command prints, where it has none of its own; its steps take it as well."""
    from runstore.languages import languages

    for each in [command, *command.steps()]:
        if "--language" not in each.own_options():
            default = None if each is command else argparse.SUPPRESS
            each.add_argument("--language", choices=languages(), default=default, help=_PRINTED)


def _guarded(args: argparse.Namespace) -> int:
    if args.version:
        from importlib.metadata import version

        print(version(PROGRAM))
        return 0
    if args.command is None:
        print(f"usage: {PROGRAM} COMMAND … (see {PROGRAM} --help)", file=sys.stderr)
        return 2
    from frontdesk.cli import waiting
    from frontdesk.runner.told import told
    from runstore.problems import Problem
    from runstore.tables.assumptions import told_on_stderr

    as_json = bool(getattr(args, "json", False))
    try:
        with told_on_stderr(told), waiting.shown(args.command):
            return _done_as_object(args) if as_json and args.command in TOLD else args.run(args)
    except Problem as problem:
        if args.debug:
            raise
        return _refused(args.command, 2, problem, as_json=as_json)
    except BrokenPipeError:
        return 1
    except OSError as error:
        # A folder that can't be written, a full disk: the user's to put right, and named by the system.
        if args.debug:
            raise
        if error.filename is None:  # standard output, say
            return _refused(args.command, 1, error.strerror or error, as_json=False)
        reason = f"{error.strerror or error}, expected a file or folder that can be used"
        return _refused(args.command, 2, f"{error.filename}: found {reason}", as_json=as_json)
    except KeyboardInterrupt:
        return _refused(args.command, 130, "interrupted", as_json=as_json)
