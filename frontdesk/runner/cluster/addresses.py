"""What ``--on`` may say: ``local:N``, a scheduler's address, or a file that describes a cluster."""

from __future__ import annotations

import importlib
import importlib.util
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from frontdesk.runner.signals import handlers_kept
from gateway.proxies import is_loopback
from runstore.problems import InputProblem, Problem, nearest

EXTRA = "cluster"
MOST_LOCAL = 256
KINDS = {
    "slurm": "dask_jobqueue:SLURMCluster",
    "pbs": "dask_jobqueue:PBSCluster",
    "lsf": "dask_jobqueue:LSFCluster",
    "sge": "dask_jobqueue:SGECluster",
    "oar": "dask_jobqueue:OARCluster",
    "htcondor": "dask_jobqueue:HTCondorCluster",
    "kubernetes": "dask_kubernetes.operator:KubeCluster",
    "ssh": "distributed:SSHCluster",
}
"""What a cluster file may ask for, and the class that makes it."""
EXPECTED = "local:N, tcp://HOST:PORT, tls://HOST:PORT, or a YAML file that describes a cluster"


@dataclass(frozen=True, slots=True)
class On:
    """Where a run's calls are made. One of ``workers`` (of this machine), ``address``, ``file``."""

    text: str
    workers: int = 0
    address: str = ""
    file: Path | None = None

    def is_private_to(self, worker: str) -> bool:
        """Whether nobody can listen on the way to the worker's address: this machine alone, or encrypted ways.

        A scheduler on loopback may be the end of a tunnel, or heard in a network: its workers say where they are.
        """
        if self.workers or self.address.startswith("tls://"):
            return True
        return _is_here(self.address) and _is_here(worker)


def parse(text: str) -> On:
    """Raises Problem for anything else, and where the extra is not installed."""
    if not _has_extra():
        raise Problem(
            f"--on {text}: several machines need the extra [{EXTRA}]: pip install 'tutor-arena[{EXTRA}]'"
        )
    if local := re.fullmatch(r"local:(\d{1,6})", text):
        count = int(local[1])
        if not 1 <= count <= MOST_LOCAL:
            raise Problem(f"--on: found {text!r}, expected local:1 to local:{MOST_LOCAL}")
        return On(text, workers=count)
    if (there := re.fullmatch(r"(tcp|tls)://[^/\s]+:(\d{1,5})", text)) and 0 < int(there[2]) < 1 << 16:
        return On(text, address=text)
    path = Path(text)
    if path.suffix in (".yaml", ".yml", ".json"):
        if not path.is_file():
            found = "a folder" if path.is_dir() else "no such file"
            raise InputProblem(path, "a file that describes a cluster", found=found, field="--on")
        return On(text, file=path)
    raise Problem(f"--on: found {text!r}, expected {EXPECTED}")


def _is_here(address: str) -> bool:
    return is_loopback(urlsplit(address).hostname or "")


def _has_extra() -> bool:
    try:
        return importlib.util.find_spec("distributed") is not None
    except ImportError:
        return False


@dataclass(frozen=True, slots=True)
class Described:
    """A cluster file: ``kind``, ``workers`` (how many to ask for), ``options`` (those of the kind's class)."""

    path: Path
    kind: str
    workers: int
    options: dict[str, object]

    def made(self) -> Any:
        """The cluster, asked for.

        Raises Problem where the package that makes it is not installed or it cannot be made, InputProblem for
        options that it does not take.
        """
        module, _, name = KINDS[self.kind].partition(":")
        try:
            with handlers_kept():  # as it is imported, dask_jobqueue takes Ctrl-C to leave at once
                made = getattr(importlib.import_module(module), name)
        except ImportError as error:
            package = module.partition(".")[0].replace("_", "-")
            raise Problem(f"--on: clusters of kind {self.kind} need {package}: pip install {package}") from error
        try:
            with warnings.catch_warnings(action="ignore"):  # a dashboard's port that is taken, say
                return made(**self.options)
        except (TypeError, ValueError) as error:  # each class says in its own words which option is wrong
            expected = f"options of {name} ({module.partition('.')[0]})"
            raise InputProblem(self.path, expected, found=str(error), field="options") from error
        except Exception as error:  # a host that refuses, a queue without its commands: what it says is said
            reason = _first_cause(error)
            found = f"{type(reason).__name__}: {reason}"
            raise Problem(f"--on {self.path}: no cluster of kind {self.kind} could be made ({found})") from error


def _first_cause(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def described(path: Path) -> Described:
    """Read a cluster file. Raises InputProblem."""
    import yaml

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputProblem(path, "YAML", found=str(error)) from error
    if not isinstance(data, dict):
        raise InputProblem(path, "kind, workers and options", found=type(data).__name__)
    table = cast("dict[str, object]", data)
    for key in table:
        if key not in ("kind", "workers", "options"):
            raise InputProblem(path, "kind, workers and options", found=key)
    kind, workers, options = table.get("kind"), table.get("workers", 1), cast("object", table.get("options") or {})
    if not isinstance(kind, str) or kind not in KINDS:
        near = nearest(str(kind), KINDS)
        expected = f"one of {', '.join(KINDS)}" + (f"; did you mean {near}?" if near else "")
        raise InputProblem(path, expected, found=kind, field="kind")
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise InputProblem(path, "a whole number, 1 at least", found=workers, field="workers")
    if not isinstance(options, dict):
        raise InputProblem(path, "the options of the cluster's class", found=options, field="options")
    return Described(path, kind, workers, cast("dict[str, object]", options))
