"""Teams that show the best of T variants: coverage and bias with, and without, the term of luck.

    python tests/calibration/submission_study.py [BOARDS]

The variants of a team differ in skill by tau and share a part of their noise, both relative to
sigma, the standard error that a score does not share with the other teams. The team shows the
variant with the best score. Truth is the skill of what the winner shows, and the best skill of all
that is shown. The posterior of whole boards sees the scores and T, with its default priors but one
family, normal, from which the skills of teams are drawn; beside it the same without T, and the raw
score. Printed: lambda by its formula and as it was (mean noise of what is shown over ``e_T``), bias
in sigma, coverage of 95 % intervals, and root mean squared errors relative to the raw score's.
"""

import sys
from dataclasses import dataclass

import numpy as np

from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.skills import expit
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.maximum.score_laws import expected_maximum

TEAMS, ITEMS, RHO = 60, 2000, 0.8
SPREADS, SHARED, NUMBERS = (0.0, 0.5, 1.0, 2.0), (0.5, 0.95), (10, 100)
ESTIMANDS = ("theta_sota", "winner_skill")
PRIORS = BoardPriors(families=("normal",))


@dataclass(frozen=True)
class Cell:
    """How variants of a team differ: tau in sigma, shared part of their variance, and T."""

    tau: float
    shared: float
    number: int

    @property
    def luck(self) -> float:
        kappa2 = 1 - self.shared
        return float(kappa2 / np.sqrt(kappa2 + self.tau**2))

    def board(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores and skills of what is shown, and its noise in sigma, (teams,) each."""
        skill = expit(1.4 + 0.12 * rng.standard_normal(TEAMS))
        error = np.sqrt(skill * (1 - skill) / ITEMS)
        sigma = np.sqrt(1 - RHO**2) * error
        better = self.tau * rng.standard_normal((TEAMS, self.number))
        own = np.sqrt(1 - self.shared) * rng.standard_normal(better.shape)
        rows, best = np.arange(TEAMS), np.argmax(better + own, axis=1)
        noise = np.sqrt(self.shared) * rng.standard_normal(TEAMS) + own[rows, best]
        shown = skill + sigma * better[rows, best]
        score = shown + RHO * error * rng.standard_normal() + sigma * noise
        return np.clip(np.round(score * ITEMS), 1, ITEMS - 1) / ITEMS, shown, noise


def judged(cell: Cell, seed: int) -> dict[str, np.ndarray]:
    """Mean, lower and upper end less the truth in sigma, (3,), for each method and estimand."""
    rng = np.random.default_rng([seed, int(10 * cell.tau), int(100 * cell.shared), cell.number])
    scores, shown, noise = cell.board(rng)
    best = scores.max()
    truth = {"theta_sota": shown.max(), "winner_skill": shown[scores == best].mean()}
    error = np.sqrt(best * (1 - best) / ITEMS)
    board, without = (
        Leaderboard(scores, n_test=ITEMS, rounding="exact", submissions=number)
        for number in (cell.number, 1)
    )
    found = {"noise": np.array([noise.mean()])}
    for label, data in (("with", board), ("without", without)):
        draws = board_posterior(data, PRIORS, draws=1000, random_seed=seed).draws
        for name in ESTIMANDS:
            ends = [draws[name].mean(), *np.quantile(draws[name], [0.025, 0.975])]
            found[f"{label} {name}"] = (np.array(ends) - truth[name]) / (error * 0.6)
    for name in ESTIMANDS:
        ends = best + 1.96 * error * np.array([0.0, -1.0, 1.0])
        found[f"raw {name}"] = (ends - truth[name]) / (error * 0.6)
    return found


def shown_row(rows: list[dict[str, np.ndarray]], raw: str, name: str) -> str:
    values = np.stack([row[name] for row in rows])
    bias, covered = values[:, 0], (values[:, 1] <= 0) & (values[:, 2] >= 0)
    others = np.stack([row[raw] for row in rows])[:, 0]
    ratio = np.sqrt(np.mean(bias**2) / np.mean(others**2))
    mcse = bias.std() / np.sqrt(bias.size)
    told = f"bias {bias.mean():+.2f} +- {mcse:.2f}, covered {covered.mean():.3f}"
    return f"{name}: {told}, rmse {ratio:.2f}"


def study(boards: int) -> None:
    """Print one block for each cell, and the pooled ones."""
    cells = [Cell(0.0, 0.5, 1)]
    cells += [Cell(t, s, n) for n in NUMBERS for t in SPREADS for s in SHARED]
    pooled: dict[int, list[dict[str, np.ndarray]]] = {}
    for cell in cells:
        rows = [judged(cell, seed) for seed in range(boards)]
        pooled.setdefault(cell.number, []).extend(rows)
        noise = np.array([row["noise"][0] for row in rows])
        unit = max(float(expected_maximum(np.array([float(cell.number)]))[0]), 1e-9)
        seen = "" if cell.number == 1 else f", was {noise.mean() / unit:.3f}"
        print(f"{cell}: lambda {cell.luck:.3f}{seen}", flush=True)
        tell(rows)
    for number, rows in pooled.items():
        print(f"T = {number}, all cells, {len(rows)} boards")
        tell(rows)


def tell(rows: list[dict[str, np.ndarray]]) -> None:
    for label in ("with", "without", "raw"):
        parts = [shown_row(rows, f"raw {name}", f"{label} {name}") for name in ESTIMANDS]
        print("  " + "; ".join(parts), flush=True)


if __name__ == "__main__":
    study(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
