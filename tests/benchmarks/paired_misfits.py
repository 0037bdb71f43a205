"""Public and private boards that the model does not describe: coverage of the paired posterior.

Run with ``uv run python tests/benchmarks/paired_misfits.py [--boards 20] [--jobs 2]``. Teams are
drawn by the paper's law (Eq. 6, 7): exact binomials given one reference classifier per board
(skill .88, rho from Beta(14, 5)), 150 teams, 600 public and 1,400 private items. One misfit at a
time; the docs have the table (docs/paired.md).
"""

import argparse
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed

from bayes_sota.data.paired import PairedBoards
from bayes_sota.maximum.dependence import conditional_probabilities, feasible_correlation
from bayes_sota.paired.posterior import paired_posterior

TEAMS, SIZES, REFERENCE = 150, (600, 1400), 0.88
Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]  # skills, public and private scores


def left_skewed(rng: np.random.Generator) -> np.ndarray:
    """A crowd below .90 with an exponential tail."""
    return 1 / (1 + np.exp(-(2.1 - 0.35 * rng.exponential(size=TEAMS))))


def scores(rng: np.random.Generator, skills: np.ndarray, rho: np.ndarray | float) -> list:
    """Both boards."""
    rho = np.minimum(rho, feasible_correlation(skills, REFERENCE))
    a, b = conditional_probabilities(skills, rho, REFERENCE)
    found = []
    for n in SIZES:
        right = rng.binomial(n, REFERENCE)
        found.append((rng.binomial(right, a) + rng.binomial(n - right, b)) / n)
    return found


def plain(rng: np.random.Generator, rho: float) -> Drawn:
    """No misfit but the binomials."""
    skills = left_skewed(rng)
    return (skills, *scores(rng, skills, rho))


def offset(rng: np.random.Generator, rho: float) -> Drawn:
    """Public scores .02 too high."""
    skills, x, y = plain(rng, rho)
    return skills, np.minimum(np.round((x + 0.02) * SIZES[0]) / SIZES[0], 1.0), y


def normal(rng: np.random.Generator, rho: float) -> Drawn:
    """A symmetric crowd."""
    skills = 1 / (1 + np.exp(-(1.8 + 0.3 * rng.standard_normal(TEAMS))))
    return (skills, *scores(rng, skills, rho))


def clones(rng: np.random.Generator, rho: float) -> Drawn:
    """A third of the teams hand in one of five shared notebooks."""
    skills, x, y = plain(rng, rho)
    copied, source = rng.choice(TEAMS, TEAMS // 3, replace=False), rng.choice(TEAMS, 5)
    pick = rng.choice(source, copied.size)
    for values in (skills, x, y):
        values[copied] = values[pick]
    return skills, x, y


def heavy_tails(rng: np.random.Generator, rho: float) -> Drawn:
    """One team in ten has a private score moved by a t variable of three degrees."""
    skills, x, y = plain(rng, rho)
    moved = rng.random(TEAMS) < 0.1
    y = np.where(moved, y + 0.02 * rng.standard_t(3, TEAMS), y)
    return skills, x, np.round(np.clip(y, 0, 1) * SIZES[1]) / SIZES[1]


def failed_runs(rng: np.random.Generator, rho: float) -> Drawn:
    """One team in twenty fails on the private items, whatever its skill."""
    skills, x, y = plain(rng, rho)
    failed = rng.random(TEAMS) < 0.05
    y = np.where(failed, np.round(y * rng.uniform(0.3, 0.9, TEAMS) * SIZES[1]) / SIZES[1], y)
    return skills, x, y


def leaders(rng: np.random.Generator, rho: float) -> Drawn:
    """Three teams .04 above the crowd."""
    skills = left_skewed(rng)
    skills[:3] = 0.93 + 0.005 * rng.standard_normal(3)
    return (skills, *scores(rng, skills, rho))


def unequal_rho(rng: np.random.Generator, rho: float) -> Drawn:
    """Each team has its own rho, spread by .15."""
    skills = left_skewed(rng)
    own = np.clip(rho + 0.15 * rng.standard_normal(TEAMS), 0.05, 0.98)
    return (skills, *scores(rng, skills, own))


MISFITS: dict[str, Callable[[np.random.Generator, float], Drawn]] = {
    "left-skewed": plain,
    "public scores .02 too high": offset,
    "normal": normal,
    "clones": clones,
    "heavy tails": heavy_tails,
    "failed runs": failed_runs,
    "leaders": leaders,
    "unequal rho": unequal_rho,
}


def judged(name: str, seed: int) -> dict[str, tuple[float, float, float, float]]:
    """Truth, mean and interval of each quantity of one board, and the two scores of the winner."""
    rng = np.random.default_rng([20261121, *name.encode(), seed])
    rho = float(rng.beta(14, 5))
    skills, x, y = MISFITS[name](rng, rho)
    boards = PairedBoards(x, y, n_test=SIZES)
    result = paired_posterior(boards, rng=np.random.default_rng(seed), draws=1000, points=1500)
    winner = boards.public_winner
    truth = {"theta_sota": skills.max(), "winner_skill": skills[winner], "rho": rho}
    said = {
        key: (
            float(value),
            float(result.draws[key].mean()),
            *map(float, np.quantile(result.draws[key], [0.025, 0.975])),
        )
        for key, value in truth.items()
    }
    said["raw"] = (
        float(skills.max()),
        float(x.max()),
        float(bool(result.reasons)),
        float(x[winner]),
    )
    return said


def main() -> None:
    """Table of all misfits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print("misfit | quantity: coverage, bias, rmse | raw public: bias | flagged")
    for name in MISFITS:
        rows = Parallel(n_jobs=options.jobs)(
            delayed(judged)(name, seed) for seed in range(options.boards)
        )
        parts = []
        for key in ("theta_sota", "winner_skill", "rho"):
            truth, mean, low, high = np.array([row[key] for row in rows]).T
            covered = np.mean((low <= truth) & (truth <= high))
            error = mean - truth
            parts.append(
                f"{key}: {covered:.2f}, {error.mean():+.4f}, {np.sqrt(np.mean(error**2)):.4f}"
            )
        raw = np.array([row["raw"] for row in rows])
        bias = f"{np.mean(raw[:, 1] - raw[:, 0]):+.4f}"
        print(" | ".join([name, *parts, bias, f"{np.mean(raw[:, 2]):.2f}"]), flush=True)


if __name__ == "__main__":
    main()
