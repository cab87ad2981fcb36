"""Coverage of the calibrated win rate, and its width against human votes alone.  python bench/calibration.py

Draws whole studies from a known truth: people's votes (win, tie, loss), a judge who is biased and agrees with
people to a stated degree, matches alone or several of one dialogue with a common effect. Each study is calibrated
at nominal 95 %; printed are the share of intervals that hold the truth (limit: 93-97 %) and the mean width over
that of the human votes alone in the same draws.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from arena.agreement.calibrated import Calibrated, calibrate, votes_needed
from runstore.ids import draw_seed

LIMITS = (0.93, 0.97)
FIGURES = ("estimate", "plain", "human", "judge")
HUMAN_LEAN, JUDGE_LEAN = 0.2, 0.5


@dataclass(frozen=True)
class Study:
    """``per_cluster`` matches of one dialogue share an effect of size ``shared`` (in standard deviations)."""

    name: str
    labelled: int
    unlabelled: int
    agreement: float
    per_cluster: int = 1
    shared: float = 0.0
    mixed: bool = False


STUDIES = (
    Study("independent, judge close to people", 100, 1000, 0.9),
    Study("independent, judge middling", 100, 1000, 0.6),
    Study("independent, judge is noise", 100, 1000, 0.0),
    Study("independent, few votes", 40, 400, 0.8),
    Study("clustered, whole dialogues voted on", 160, 1600, 0.8, 4, 0.7),
    Study("clustered, votes spread over all dialogues", 160, 1600, 0.8, 4, 0.7, True),
)


def labels(latent: np.ndarray, bias: float) -> np.ndarray:
    """Win 1, tie 1/2, loss 0 of a latent preference."""
    return np.where(latent + bias > 0.25, 1.0, np.where(latent + bias < -0.25, 0.0, 0.5))


def truth(bias: float) -> float:
    """The mean label of a standard normal preference."""
    win, lose = stats.norm.sf(0.25 - bias), stats.norm.cdf(-0.25 - bias)
    return float(win + (1 - win - lose) / 2)


def drawn(study: Study, rng: np.random.Generator) -> Calibrated:
    total = study.labelled + study.unlabelled
    dialogue = np.arange(total) // study.per_cluster
    common = rng.standard_normal(int(dialogue[-1]) + 1)[dialogue]
    latent = study.shared * common + np.sqrt(1 - study.shared**2) * rng.standard_normal(total)
    seen = study.agreement * latent + np.sqrt(1 - study.agreement**2) * rng.standard_normal(total)
    human, judge = labels(latent, HUMAN_LEAN), labels(seen, JUDGE_LEAN)
    order = rng.permutation(total) if study.mixed else np.arange(total)
    few, rest = order[: study.labelled], order[study.labelled :]
    return calibrate(
        human[few], judge[few], judge[rest],
        cluster=dialogue[few].tolist(), cluster_unlabelled=dialogue[rest].tolist(),
    )  # fmt: skip


def figures(found: Calibrated) -> dict[str, tuple[bool, float]]:
    """(holds the truth, width) of each interval; one that could not be made holds nothing and has no width."""
    out: dict[str, tuple[bool, float]] = {}
    for name in FIGURES:
        low, high = getattr(found, name).interval or (float("nan"), float("nan"))
        out[name] = (bool(low <= truth(HUMAN_LEAN) <= high), high - low)
    return out


def plan(study: Study, width: float, draws: int, seed: int) -> None:
    """Plans more votes from studies as they are, then runs studies of the planned size."""
    rng = np.random.default_rng(draw_seed(seed, "plan", study.name))
    plans = [votes_needed(drawn(study, rng), width) for _ in range(draws)]
    total = int(np.median([one.total or study.labelled + study.unlabelled for one in plans]))
    alone = int(np.median([one.human_only_total or 0 for one in plans]))
    grown = replace(study, labelled=total, unlabelled=study.labelled + study.unlabelled - total)
    got = float(np.mean([figures(drawn(grown, rng))["estimate"][1] for _ in range(draws)]))
    print(f"asked for width {width}: {total} votes planned ({alone} without the judge), width then {got:.4f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    print(f"{args.draws} draws a row, nominal 95 %, limit {LIMITS[0]:.0%}-{LIMITS[1]:.0%} for PPI++ and PPI")
    print(f"{'study':45} {'PPI++':>7} {'PPI':>7} {'human':>7} {'judge':>7}   width PPI++/human  PPI/human")
    failed = False
    for study in STUDIES:
        rng = np.random.default_rng(draw_seed(args.seed, "calibration", study.name))
        studies = [figures(drawn(study, rng)) for _ in range(args.draws)]
        cover = {name: float(np.mean([one[name][0] for one in studies])) for name in FIGURES}
        width = {name: float(np.nanmean([one[name][1] for one in studies])) for name in FIGURES}
        failed |= not all(LIMITS[0] <= cover[name] <= LIMITS[1] for name in ("estimate", "plain"))
        shown = " ".join(f"{cover[name]:7.1%}" for name in FIGURES)
        ratios = f"{width['estimate'] / width['human']:17.3f}  {width['plain'] / width['human']:9.3f}"
        print(f"{study.name:45} {shown}  {ratios}")
    plan(STUDIES[0], 0.1, 200, args.seed)
    print("FAILED: coverage outside the limits" if failed else "within the limits")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
