"""``tutor-arena personas``: the simulated students, listed or exported."""

from __future__ import annotations

import argparse
from pathlib import Path

from frontdesk.cli.listing import counted, print_json_lines, print_table, write_file
from frontdesk.report.sections.run.names import known_level
from frontdesk.runner.told import tell
from personas import factors_file, generate, load_personas
from personas.contradictions import in_factors, in_lists
from personas.factors_file import shipped
from personas.listed import crosses
from runstore.languages import languages, words
from runstore.problems import Problem
from runstore.records import Persona


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these personas, with their whole text")
    parser.add_argument(
        "--language", choices=languages(), default="en", help="language of the texts (default: en)"
    )
    parser.add_argument(
        "--input",
        type=Path,
        metavar="FILE",
        help="your own personas: a list (CSV, TSV, XLSX, JSON, Parquet, YAML), or factors (YAML)",
    )
    parser.add_argument(
        "--factors", metavar="FILE", help=f"a factor file of your own (YAML), or one of {', '.join(shipped())}"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="look for texts that say the opposite of each other to one persona; exit 1 where some do",
    )
    parser.add_argument(
        "--design", choices=("full", "balanced"), default="full", help="every combination, or a balanced fraction"
    )
    parser.add_argument("--size", type=int, metavar="N", help="how many personas a balanced design has")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which balanced fraction (default: 0)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to a .jsonl or .csv file")


def run(args: argparse.Namespace) -> int:
    if args.check:
        return _check(args)
    people, titles = _listed(args) if args.input else _generated(args)
    people, names = _chosen(people, args.ids), list(titles)
    if args.output:
        header = ["id", *names, "language", "opens", "leaves_early", "text"]
        rows = [
            [
                each.id,
                *_levels(each, names),
                each.language,
                ";".join(each.opens),
                str(each.leaves_early).lower(),
                each.text,
            ]
            for each in people
        ]
        write_file(args.output, people, header, rows)
    if args.json:
        print_json_lines(people)
    elif not args.output:
        header = ["id", *(titles.values() if not args.ids else ["text"])]
        shown = [[each.id, *([each.text] if args.ids else _levels(each, names, args.language))] for each in people]
        print_table(counted(len(people), "persona"), header, shown)
    return 0


def _check(args: argparse.Namespace) -> int:
    """0, or 1 where texts that meet in a persona contradict each other."""
    if args.input and not crosses(args.input):
        contradictions = in_lists(_listed(args)[0])
    else:
        contradictions = in_factors(factors_file.load(args.input or args.factors, args.language))
    if args.json:
        print_json_lines(contradictions)
    else:
        count = counted(len(contradictions), "contradiction")
        tell(f"{count}: texts of one persona that say the opposite of each other")
        for each in contradictions:
            tell(f"\n{each.about}: {each.first} says {each.says!r}\n  {each.second} says {each.opposes!r}")
    return 1 if contradictions else 0


def _generated(args: argparse.Namespace) -> tuple[list[Persona], dict[str, str]]:
    """The personas, and each factor's name by its id."""
    factors = factors_file.load(args.factors, args.language)
    people = generate(factors, args.language, args.design, args.size, args.seed)
    return people, {factor.id: factor.name for factor in factors.factors}


def _listed(args: argparse.Namespace) -> tuple[list[Persona], dict[str, str]]:
    if args.factors or args.design != "full" or args.size is not None:
        raise Problem("--input goes without --factors, --design and --size: its personas are taken as they are")
    people = load_personas(args.input, args.language)
    return people, {name: name for each in people for name in each.levels}


def _levels(person: Persona, names: list[str], language: str | None = None) -> list[str]:
    """The levels by their ids, or with ``language`` by their names."""
    levels = [person.levels.get(name, "") for name in names]
    if language is None:
        return levels
    say = words("frontdesk.report", "run", language)
    return [known_level(level, say) for level in levels]


def _chosen(people: list[Persona], ids: list[str]) -> list[Persona]:
    known = {each.id: each for each in people}
    for name in ids:
        if name not in known:
            raise Problem(f"no persona {name!r}; `tutor-arena personas` lists the {len(people)} there are")
    return [known[name] for name in ids] if ids else people
