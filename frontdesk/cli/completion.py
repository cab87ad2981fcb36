"""``tutor-arena completion SHELL``: a script that completes commands, options and their choices."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

_BASH = """\
_tutor_arena() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words=""
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=($(compgen -W "{commands}" -- "$word")); return
    fi
    case "$command" in
{cases}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _tutor_arena {program}
"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="print it, and have your shell read it")


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import COMMANDS, PROGRAM

    options = {name: list(_options(name)) for name in COMMANDS}
    if args.shell == "fish":
        for name, summary in COMMANDS.items():
            quoted = summary.replace("'", "\\\\'")
            print(f"complete -c {PROGRAM} -n __fish_use_subcommand -f -a {name} -d '{quoted}'")
            for option in options[name]:
                print(f"complete -c {PROGRAM} -n '__fish_seen_subcommand_from {name}' -l {option[2:]}")
        return 0
    cases = "\n".join(f'        {name}) words="{" ".join(options[name])}" ;;' for name in COMMANDS)
    script = _BASH.format(commands=" ".join(COMMANDS), cases=cases, program=PROGRAM)
    print((_ZSH if args.shell == "zsh" else "") + script, end="")
    return 0


def _options(command: str) -> Iterator[str]:
    """The long options of a command, those of its own sub-commands included."""
    from frontdesk.cli import Parser

    parser = Parser(add_help=True)
    import_module(f"frontdesk.cli.{command.replace('-', '_')}").configure(parser)
    yield from dict.fromkeys(option for option in parser.options() if option.startswith("--"))
