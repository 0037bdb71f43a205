"""Private scores of the best public entries, predicted with and without the luck of submissions.

PYTHONPATH=tests python tests/calibration/submission_luck.py

On two competitions (``BAYES_SOTA_DATA``/paired_leaderboards) the whole-board posterior sees the
public scores and each team's number of entries, never a private score of a team that it predicts:
only the shift of the median team and the standard error of a score come from differences of both
boards. The error is the median absolute difference of predicted and private scores of the 10 and
50 best public entries, relative to that of the public score moved by the median difference.

Last, lambda fixed, all numbers of submissions are multiplied by one factor, on one board and two.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from boards import draw_entries

from bayes_sota.core.priors import BoardPriors, CorrelationPrior, FixedCorrelation, PairedPriors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.leaderboard.sample_estimate import estimate_paired

COLUMNS = {
    "2021-prostate": ("score_public", "score_private", "entries_public"),
    "2021-siim-covid19": ("public", "private", "entries"),
}
BEST = (10, 50)
LUCKS = (0.0, 0.3, 0.6, 0.9)
FACTORS = (1, 2, 5, 10)
NORMAL_MAD, FURTHEST = 1.4826, 4.0


@dataclass(frozen=True)
class Teams:
    """Teams of one competition, best public score first."""

    public: np.ndarray
    private: np.ndarray
    submissions: np.ndarray

    @classmethod
    def read(cls, name: str) -> "Teams":
        path = Path(os.environ["BAYES_SOTA_DATA"]) / "paired_leaderboards" / f"{name}__paired.csv"
        with path.open(encoding="utf-8") as file:
            rows = [[float(row[c]) for c in COLUMNS[name]] for row in csv.DictReader(file)]
        public, private, submissions = np.array(sorted(rows, reverse=True)).T
        return cls(public, private, submissions.astype(int))

    def spread_of_difference(self, chosen: np.ndarray) -> float:
        """Robust standard deviation of private minus public scores of the better half.

        Teams with the same two scores count once, as in ``estimate_paired``: copies of one
        submission, which would make the spread of half of the teams nearly zero.
        """
        better = chosen & (self.public >= np.median(self.public))
        pairs = np.unique(np.stack([self.public, self.private], axis=1)[better], axis=0)
        difference = pairs[:, 1] - pairs[:, 0]
        return NORMAL_MAD * float(np.median(np.abs(difference - np.median(difference))))

    def predicted(
        self, luck: CorrelationPrior, error: float, submissions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and sd of what each entry's public score would be without its luck."""
        board = Leaderboard(
            self.public, metric="score", standard_error=error, submissions=submissions
        )
        # the error is what is left once the shift is taken off: nothing of it is shared
        priors = BoardPriors(correlation=FixedCorrelation(0.0), submission_luck=luck)
        found = board_posterior(board, priors, draws=4, random_seed=1)
        drawn = draw_entries(found.skills.fit, 2000, np.random.default_rng(2))
        return drawn.mean(), drawn.skill.std(axis=0, dtype=float)

    def errors(self, predicted: np.ndarray, shift_from: np.ndarray) -> np.ndarray:
        """Median absolute error of the best entries, the shift of the median team taken off."""
        moved = predicted + np.median((self.private - predicted)[shift_from])
        return np.array([np.median(np.abs(self.private - moved)[:k]) for k in BEST])

    def fall(self, predicted: np.ndarray, k: int) -> tuple[float, float]:
        """Mean fall of the k best public entries below the median team: predicted and real."""
        fall = self.public - predicted
        real = self.public - self.private
        return float(np.mean(fall[:k]) - np.median(fall)), float(
            np.mean(real[:k]) - np.median(real)
        )


def learnt_luck(teams: Teams, known: np.ndarray, share: float) -> float:
    """lambda of the known teams above the median: falls regressed on ``e_T``.

    In units of the public standard error, ``share`` of the variance of a difference.
    """
    from bayes_sota.maximum.score_laws import expected_maximum

    spread = teams.spread_of_difference(known)
    better = known & (teams.public >= np.median(teams.public))
    better &= teams.private >= np.median(teams.private)
    fall = (teams.public - teams.private)[better] / spread
    near = np.abs(fall - np.median(fall)) < FURTHEST
    e = expected_maximum(teams.submissions[better].astype(float))[near]
    slope = np.polyfit(e, fall[near], 1)[0]
    return float(np.clip(slope / np.sqrt(share), 0.0, 0.99))


def judge(name: str, share: float) -> None:
    """Print one competition; ``share`` of the variance of a difference is the public board's."""
    teams = Teams.read(name)
    everyone = np.ones(teams.public.size, bool)
    spread = teams.spread_of_difference(everyone)
    error = spread * np.sqrt(share)
    raw = teams.errors(teams.public, everyone)
    print(f"{name}: {everyone.size} teams, public share of the variance {share:.2f}")
    ones = np.ones_like(teams.submissions)
    cases = {
        "without": (FixedCorrelation(0.0), ones),
        "default prior": (BoardPriors().submission_luck, teams.submissions),
    }
    cases |= {f"lambda {luck:g}": (FixedCorrelation(luck), teams.submissions) for luck in LUCKS[1:]}
    for label, (luck, submissions) in cases.items():
        mean, sd = teams.predicted(luck, error, submissions)
        ratio = teams.errors(mean, everyone) / raw
        falls = [teams.fall(mean, k) for k in BEST]
        order = [spearman(x[:50], teams.private[:50]) for x in (teams.public, mean)]
        print(
            f"  {label}: error {ratio.round(2)}, fall of the best predicted and real "
            f"{[f'{a:.4f} {b:.4f}' for a, b in falls]}, rank correlation of the 50 best "
            f"{order[0]:.2f} before, {order[1]:.2f} now, covered "
            f"{coverage(teams, mean, sd, spread * np.sqrt(max(1 - share, 0.0))):.2f}"
        )
    halves = [np.random.default_rng(seed).random(everyone.size) < 0.5 for seed in range(5)]
    found = []
    for known in halves:
        luck = learnt_luck(teams, known, share)
        own = teams.spread_of_difference(known) * np.sqrt(share)
        mean, _ = teams.predicted(FixedCorrelation(luck), own, teams.submissions)
        found.append([luck, *teams.errors(mean, known) / raw])
    print(
        "  lambda learnt on a random half, five halves: lambda, errors", np.round(found, 2).tolist()
    )


def multiply_submissions(name: str) -> None:
    """Print skills of both routes where all numbers of submissions rise by one factor."""
    teams = Teams.read(name)
    known = FixedCorrelation(0.6)
    error = teams.spread_of_difference(np.ones(teams.public.size, bool)) * np.sqrt(0.8)
    for factor in FACTORS:
        numbers = factor * teams.submissions
        board = Leaderboard(teams.public, metric="score", standard_error=error, submissions=numbers)
        alone = board_posterior(
            board, BoardPriors(submission_luck=known), draws=4000, random_seed=1
        ).draws
        boards = PairedBoards(teams.public, teams.private, submissions=numbers)
        priors = PairedPriors(submission_luck=known)
        tree = estimate_paired(boards, priors, random_seed=1, groups="estimands")
        pairs = tree["posterior"].to_dataset()
        means = [float(d[k].mean()) for d in (alone, pairs) for k in ("theta_sota", "winner_skill")]
        print(f"{name}, T times {factor}: board alone, both boards {np.round(means, 5)}")


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic)


def coverage(teams: Teams, mean: np.ndarray, sd: np.ndarray, private_error: float) -> float:
    """Share of the 50 best public entries in the 95 % interval of their private scores."""
    moved = mean + np.median(teams.private - mean)
    width = 1.96 * np.hypot(sd, private_error)
    return float(np.mean(np.abs(teams.private - moved)[:50] <= width[:50]))


if __name__ == "__main__":
    for name in COLUMNS:
        for share in (0.5, 0.8, 1.0):
            judge(name, share)
        multiply_submissions(name)
