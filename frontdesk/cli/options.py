"""Options that several commands have. Light on purpose: ``--help`` imports it and little else."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from runstore.languages import languages
from runstore.problems import Problem


def add_config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", type=Path, metavar="CONFIG", help="a TOML configuration (default: the run folder's own)"
    )


def add_configuration(parser: argparse.ArgumentParser, what: str = "a TOML configuration") -> None:
    """``CONFIG``, or ``--config CONFIG`` as the single stages have it; :func:`configuration` takes it."""
    parser.add_argument("place", nargs="?", type=Path, metavar="CONFIG", help=what)
    parser.add_argument("--config", type=Path, metavar="CONFIG", help="the same as CONFIG")


def configuration(args: argparse.Namespace) -> Path:
    """The file that :func:`add_configuration` took. Raises Problem where there is none, or two."""
    place: Path | None = args.place
    given: Path | None = args.config
    if place is not None and given is not None:
        raise Problem(f"{args.command}: found two configurations, {place} and {given}; expected one")
    path = place or given
    if path is None:
        raise Problem(f"{args.command}: found no configuration, expected CONFIG (tutor-arena init writes one)")
    args.place, args.config = None, path
    return path


def add_run_folder(parser: argparse.ArgumentParser) -> None:
    """The run folder that a command reads: ``RUN``, or ``--run DIR`` as before; :func:`run_folder` takes it."""
    parser.add_argument("folder_first", nargs="?", type=Path, metavar="RUN", help="the run folder")
    parser.add_argument("--run", dest="folder", metavar="DIR", type=Path, help="the same as RUN")


def run_folder(args: argparse.Namespace) -> Path:
    """The folder that :func:`add_run_folder` took. Raises Problem where there is none."""
    folder: Path | None = args.folder or args.folder_first
    if args.folder and args.folder_first:
        raise Problem(
            f"{args.command}: found two run folders, {args.folder_first} and {args.folder}; expected one"
        )
    if folder is None:
        raise Problem(f"{args.command}: found no run folder, expected RUN (a folder that tutor-arena run made)")
    args.folder = folder  # whoever opens the run later finds it here
    return folder


def add_run_first(parser: argparse.ArgumentParser) -> None:
    """``RUN`` in first place, for a command that takes a run folder among other sources as ``--run``."""
    parser.add_argument("run_first", nargs="?", type=Path, metavar="RUN", help="the run folder")


def take_run_first(args: argparse.Namespace) -> None:
    """Put what :func:`add_run_first` took where ``--run`` puts it. Raises Problem where there are two."""
    if args.run_first is not None and args.run_dir is not None:
        raise Problem(f"{args.command}: found two run folders, {args.run_first} and {args.run_dir}; expected one")
    args.run_dir = args.run_dir or args.run_first


def add_place(parser: argparse.ArgumentParser) -> None:
    """What a stage works on: ``CONFIG`` or ``RUN`` in first place, or ``--config`` and ``--run`` as before."""
    parser.add_argument(
        "place",
        nargs="?",
        type=Path,
        metavar="CONFIG|RUN",
        help="a TOML configuration, or a run folder with its own",
    )
    add_config_option(parser)


def add_stage_options(parser: argparse.ArgumentParser) -> None:
    """What every stage that asks models has."""
    add_place(parser)
    add_run_options(parser)
    add_on_option(parser)
    add_batch_options(parser)
    add_json_option(parser)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", dest="folder", metavar="DIR", help="the run folder (default: runs/<name>)")
    parser.add_argument("--seed", type=int, metavar="N", help="replaces [run] seed")
    parser.add_argument("--language", choices=languages(), help="replaces [run] language")
    parser.add_argument("--prompts", metavar="DIR", help="a folder of prompt files that replace the shipped ones")
    parser.add_argument(
        "--change", action="store_true", help="let a changed configuration recompute this run folder"
    )
    parser.add_argument("--durable", action="store_true", help="sync the journal to disk with every write")


def source(text: str) -> Path | str:
    """A path of this machine, or the address of an object store as it stands."""
    return text if "://" in text else Path(text)


def add_on_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on",
        metavar="WHERE",
        help="make the calls on several machines: local:N, tcp://HOST:PORT, tls://HOST:PORT or a YAML file",
    )


def add_batch_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--batch",
        action="store_true",
        help="ask through the providers' batch interfaces: half the price, results within a day",
    )
    parser.add_argument(
        "--poll-s", type=float, default=30.0, metavar="S", help="longest wait between looks at a batch job (30)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything and print the estimate; call nothing"
    )


def batch_poll_s(args: argparse.Namespace) -> float | None:
    """Seconds between looks at a batch job; None where ``--batch`` was not given. Raises Problem."""
    if not getattr(args, "batch", False):
        return None
    if not 0 < args.poll_s < 86_400:
        raise Problem(f"--poll-s: found {args.poll_s:g}, expected more than 0 and less than a day")
    return args.poll_s


def add_size_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Options ``--dialogues``, ``--turns`` and ``--subsets``, each in place of what is configured."""
    sizes = {
        "dialogues": ("N", "replaces [simulate] dialogues"),
        "turns": ("T", "replaces [simulate] turns"),
        "subsets": ("M", "replaces [cut] subsets"),
    }
    for name in names:
        letter, what = sizes[name]
        parser.add_argument(f"--{name}", type=_count, metavar=letter, help=what)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, 1 at least")
    return int(text)


def port(text: str) -> int:
    """A port's number. Raises ArgumentTypeError for anything else."""
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 0 to 65535")
    return int(text)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """``--json``: one object on standard output (docs/json.md), everything else on standard error."""
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout, the rest on stderr")


def add_partial_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-partial",
        type=_share,
        metavar="SHARE",
        help="exit 0 also where up to this share of what was asked for is missing (0.01 is 1 in 100)",
    )


def named_number(option: str, text: str) -> tuple[str, float]:
    """``NAME=VALUE`` of an option. Raises Problem."""
    name, _, value = text.rpartition("=")
    with contextlib.suppress(ValueError):
        return name, float(value)
    raise Problem(f"{option}: found {text!r}, expected NAME=VALUE with a number")


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected 0 or more and less than 1")
    return share


def add_goal_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--goal",
        nargs="+",
        metavar=("GOAL", "NAME"),
        help="ask only what the goal needs: best, place NAME, ranking, decide; all: every match",
    )
    parser.add_argument("--error", type=float, metavar="SHARE", help="how probable a wrong decision may be (0.05)")


def add_plots_option(parser: argparse.ArgumentParser) -> None:
    """``--plots svg,png,pdf``: the formats, in the order given."""
    parser.add_argument(
        "--plots",
        metavar="FORMATS",
        type=_formats,
        default=(),
        help="also write every picture as a file into plots/: svg, png, pdf, with commas between",
    )


def _formats(text: str) -> tuple[str, ...]:
    known = ("svg", "png", "pdf")
    chosen = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    if not chosen or not set(chosen) <= set(known):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected some of {', '.join(known)}")
    return chosen
