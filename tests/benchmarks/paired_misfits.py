"""Public and private boards that the model does not describe: coverage of the paired posterior.

Run with ``uv run python tests/benchmarks/paired_misfits.py [--boards 20] [--jobs 2]``. Teams are
drawn by the paper's law (Eq. 6, 7): exact binomials given one reference classifier per board
(skill .88, rho from Beta(14, 5)), 150 teams, 600 public and 1,400 private items. One misfit at a
time; the docs have the table (docs/measured/paired.md).
"""

import argparse
from collections.abc import Iterator

import numpy as np
from joblib import Parallel, delayed
from timing import print_table

from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.sample_estimate import estimate_paired
from bayes_sota.maximum.dependence import conditional_probabilities, feasible_correlation

TEAMS, SIZES, REFERENCE = 150, (600, 1400), 0.88
MISFITS = ("left-skewed", "public scores .02 too high", "normal", "clones", "heavy tails",
           "failed runs", "leaders", "unequal rho")  # fmt: skip
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


def misfit(name: str, rng: np.random.Generator, rho: float) -> Drawn:
    """True skills and both scores, with one misfit or none."""
    own, (public, private) = rho, SIZES
    if name == "normal":  # a symmetric crowd
        skills = 1 / (1 + np.exp(-(1.8 + 0.3 * rng.standard_normal(TEAMS))))
    else:
        skills = left_skewed(rng)
    if name == "leaders":  # three teams .04 above the crowd
        skills[:3] = 0.93 + 0.005 * rng.standard_normal(3)
    if name == "unequal rho":  # each team has its own, spread by .15
        own = np.clip(rho + 0.15 * rng.standard_normal(TEAMS), 0.05, 0.98)
    x, y = scores(rng, skills, own)
    if name == "public scores .02 too high":
        x = np.minimum(np.round((x + 0.02) * public) / public, 1.0)
    if name == "clones":  # a third of the teams hand in one of five shared notebooks
        copied, source = rng.choice(TEAMS, TEAMS // 3, replace=False), rng.choice(TEAMS, 5)
        pick = rng.choice(source, copied.size)
        for values in (skills, x, y):
            values[copied] = values[pick]
    if name == "heavy tails":  # one private score in ten moved by a t variable of three degrees
        moved = np.where(rng.random(TEAMS) < 0.1, 0.02, 0.0) * rng.standard_t(3, TEAMS)
        y = np.round(np.clip(y + moved, 0, 1) * private) / private
    if name == "failed runs":  # one team in twenty on the private items, whatever its skill
        failed = rng.random(TEAMS) < 0.05
        y = np.where(failed, np.round(y * rng.uniform(0.3, 0.9, TEAMS) * private) / private, y)
    return skills, x, y


def judged(name: str, seed: int) -> dict[str, tuple[float, ...]]:
    """Truth, mean and interval of each quantity of one board; best skill, score, and a flag."""
    rng = np.random.default_rng([20261121, *name.encode(), seed])
    rho = float(rng.beta(14, 5))
    skills, x, y = misfit(name, rng, rho)
    boards = PairedBoards(x, y, n_test=SIZES)
    tree = estimate_paired(boards, random_seed=seed, groups="estimands")
    draws = {name: values.values.ravel() for name, values in tree["posterior"].data_vars.items()}
    winner = boards.public_winner
    truth = {"theta_sota": skills.max(), "winner_skill": skills[winner], "rho": rho}
    said = {
        key: (value, draws[key].mean(), *np.quantile(draws[key], [0.025, 0.975]))
        for key, value in truth.items()
    }
    return said | {"raw": (skills.max(), x.max(), bool(tree.attrs["diagnostics_reasons"]))}


def rows(boards: int, jobs: int) -> Iterator[list[str]]:
    """One per misfit."""
    for name in MISFITS:
        found = Parallel(n_jobs=jobs)(delayed(judged)(name, seed) for seed in range(boards))
        cells = [name]
        for key in ("theta_sota", "winner_skill", "rho"):
            truth, mean, low, high = np.array([one[key] for one in found]).T
            covered, error = (low <= truth) & (truth <= high), mean - truth
            rmse = np.sqrt(np.mean(error**2))
            cells.append(f"{covered.mean():.2f}, {error.mean():+.4f}, {rmse:.4f}")
        best, raw, flagged = np.array([one["raw"] for one in found], float).T
        yield [*cells, f"{np.mean(raw - best):+.4f}", f"{flagged.mean():.2f}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    each = "coverage, bias, rmse"
    header = ["misfit", f"theta_sota: {each}", f"winner_skill: {each}", f"rho: {each}",
              "raw public: bias", "flagged"]  # fmt: skip
    print_table(header, rows(options.boards, options.jobs))
