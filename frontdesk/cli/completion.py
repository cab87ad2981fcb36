"""``tutor-arena completion SHELL``: a script that completes commands, steps, options and their choices."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontdesk.cli import Parser

_BASH = """\
_tutor_arena() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words="" steps=""
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=($(compgen -W "{commands}" -- "$word")); return
    fi
    case "${{COMP_WORDS[1]}} $before" in
{choices}
    esac
    case "${{COMP_WORDS[1]}}" in
{options}
    esac
    if [[ -n $steps && $COMP_CWORD == 2 && $word != -* ]]; then
        COMPREPLY=($(compgen -W "$steps" -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _tutor_arena {program}
"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell that is to read it")


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import COMMANDS, PROGRAM, of_command

    parsers = {name: of_command(name) for name in COMMANDS}
    if args.shell == "fish":
        print("\n".join(_fish(parsers, COMMANDS, PROGRAM)))
        return 0
    choices = [
        f'        "{name} {option}") COMPREPLY=($(compgen -W "{_words(known)}" -- "$word")); return ;;'
        for name, parser in parsers.items()
        for option, known in _choices(parser)
    ]
    options = [
        f'        {name}) words="{_words(_options(parser))}"; steps="{_words(parser.step_names())}" ;;'
        for name, parser in parsers.items()
    ]
    parts = {"choices": "\n".join(choices), "options": "\n".join(options)}
    script = _BASH.format(commands=_words(COMMANDS), program=PROGRAM, **parts)
    print((_ZSH if args.shell == "zsh" else "") + script, end="")
    return 0


def _fish(parsers: dict[str, Parser], summaries: dict[str, str], program: str) -> Iterator[str]:
    for name, parser in parsers.items():
        about = summaries[name].replace("'", "\\'")
        yield f"complete -c {program} -n __fish_use_subcommand -f -a {name} -d '{about}'"
        chosen = f"complete -c {program} -n '__fish_seen_subcommand_from {name}'"
        if steps := _words(parser.step_names()):
            yield f"{chosen} -f -a '{steps}'"
        choices = dict(_choices(parser))
        for option in _options(parser):
            known = f" -x -a '{_words(choices[option])}'" if option in choices else ""
            yield f"{chosen} -l {option[2:]}{known}"


def _words(names: Iterable[str]) -> str:
    return " ".join(names)


def _options(parser: Parser) -> Iterator[str]:
    """The long options of a command, those of its steps included."""
    yield from dict.fromkeys(option for option in parser.options() if option.startswith("--"))


def _choices(parser: Parser) -> Iterator[tuple[str, list[str]]]:
    """Options with a closed list of values; where steps have other lists for one option, all of them."""
    known_of: dict[str, list[str]] = {}
    for option, known in parser.choices():
        known_of[option] = list(dict.fromkeys([*known_of.get(option, []), *known]))
    yield from known_of.items()
