r"""A player that comes later, set on the scale of a leaderboard that stays as it is.

With the others' skills held, the new skill solves :math:`\sum_j N_j \sigma(b - \beta_j) = w`: one
equation in one unknown, however many players there are. Its uncertainty counts the new player's
own rounds and what the same rounds did to the others,

.. math:: \frac{1}{H} \Big[u_r + \sum_j N_j P_j (1 - P_j)\, a_{rj}\Big], \qquad
   H = \sum_j N_j P_j (1 - P_j),

a being the influence of round r on their skills. ``tests/epp/test_new_player.py`` compares with
a fit of everybody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable, nearest_player
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.rounds import bonferroni_critical, cluster_scores

_STEP = 1e-12
_MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class NewPlayer:
    """Skill of a player who was added to a leaderboard.

    Attributes
    ----------
    player : str
    epp : float
        On the leaderboard's scale, whose players keep mean zero.
    se : float
        Clustered by round.
    df : float
    rank : int
        Place that it would take, 1 is best.
    others : tuple of str
    win_probabilities : ndarray, shape (m,)
        Against each of them.
    """

    player: str
    epp: float
    se: float
    df: float
    rank: int
    others: tuple[str, ...]
    win_probabilities: FloatArray

    def interval(self, ci_prob: float = 0.95) -> tuple[float, float]:
        """Interval of the skill."""
        half = bonferroni_critical(ci_prob, 1, self.df) * self.se
        return self.epp - half, self.epp + half

    def win_probability(self, other: str) -> float:
        """Probability that the new player beats another in a round."""
        return float(self.win_probabilities[nearest_player(self.others, other)])


def add_player(
    fit: BradleyTerryFit, player: str, scores: Mapping[str, float] | ArrayLike | Sequence[float]
) -> NewPlayer:
    """Estimate the skill of one more player without estimating the others again.

    Parameters
    ----------
    fit : BradleyTerryFit
        Of a ``ScoreTable``.
    player : str
        A name that is not there yet.
    scores : mapping of round to score, or array-like, shape (n_rounds,)
        NaN, or no entry, where it did not take part.

    Raises
    ------
    InfiniteEstimateError
        If it won, or lost, everything and the fit has no penalty.
    InputError
        A name that is there, rounds that are not, listed matches.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> table = simulate_tournament([1.0, 0.5, 0.0, -1.0], 20, random_seed=0)
    >>> fit = fit_epp(table)
    >>> new = add_player(fit, "new", table.scores[:, 1] + 0.5)
    >>> round(float(fit.epp[1]), 2), round(new.epp, 2), new.rank
    (0.05, 1.16, 1)
    """
    table = fit.data
    if isinstance(table, Matches):
        raise InputError("a player is added to a table of scores, not to listed matches")
    if player in table.players:
        raise InputError(f"player {player!r} is on the leaderboard already")
    whole = ScoreTable(
        np.column_stack([table.scores, _scores_by_round(table, scores)]),
        players=[*table.players, player],
        rounds=table.rounds,
        lower_is_better=table.lower_is_better,
        groups=table.groups,
        scheme=table.scheme,
    )
    wins, n_matches = _wins_of_last(whole, fit.kind)
    extreme = not 0 < wins < n_matches.sum()
    if fit.penalty:
        extra = fit.penalty * (table.n_rounds if fit.kind == "all-rounds" else 1)
        wins, n_matches = wins + extra * table.n_players / 2, n_matches + extra
    if not 0 < wins < n_matches.sum():
        what = "lost to" if wins == 0 else "won against"
        raise InfiniteEstimateError(
            f"{player!r} {what} everybody in every match, so that its skill has no finite "
            "estimate; fit the leaderboard with a penalty"
        )
    skill = _solve(wins, n_matches, fit.epp)
    p = 1 / (1 + np.exp(fit.epp - skill))
    weights = n_matches * p * (1 - p)
    odds = np.exp(np.append(fit.epp, skill))
    own = cluster_scores(whole, fit.kind, odds[:, None] / (odds[:, None] + odds))[:, -1]
    assert fit.influence is not None
    influence = np.asarray((own + fit.influence @ weights) / weights.sum())
    clusters = int(np.unique(table.clusters[~np.isnan(whole.scores[:, -1])]).size)
    few = clusters / (clusters - 1) if clusters > 1 else np.inf
    variance = float(influence @ influence) * float(fit.overlap_of(clusters))
    if not fit.connected or extreme:  # rounds that all agree show no variation
        variance = max(variance, 1 / float(n_matches @ (p * (1 - p))))
    return NewPlayer(
        player=player,
        epp=skill,
        se=float(np.sqrt(variance * few)),
        df=float(clusters - 1),
        rank=1 + int(np.sum(fit.epp > skill)),
        others=table.players,
        win_probabilities=p,
    )


def _scores_by_round(
    table: ScoreTable, scores: Mapping[str, float] | ArrayLike | Sequence[float]
) -> FloatArray:
    if isinstance(scores, Mapping):
        unknown = [label for label in scores if label not in table.rounds]
        if unknown:
            raise InputError(f"there is no round {unknown[0]!r} in the leaderboard's table")
        scores = [scores.get(label, np.nan) for label in table.rounds]
    column = np.asarray(scores, np.float64)
    if column.shape != (table.n_rounds,):
        raise InputError(
            f"a new player has one score per round, {table.n_rounds}, NaN where it has none; got "
            f"shape {column.shape}"
        )
    return column


def _wins_of_last(whole: ScoreTable, kind: str) -> tuple[float, FloatArray]:
    """Wins of the last player, ties as half, and its matches against each other one."""
    scores, present = whole.oriented, whole.present
    own, others = scores[:, -1], scores[:, :-1]
    if kind == "same-round":
        wins = np.nansum((own[:, None] > others) + 0.5 * (own[:, None] == others))
        return float(wins), (present[:, -1:] & present[:, :-1]).sum(axis=0).astype(np.float64)
    pooled = np.sort(others[present[:, :-1]])
    mine = own[present[:, -1]]
    below = np.searchsorted(pooled, mine, side="left") + np.searchsorted(pooled, mine, side="right")
    return float(below.sum() / 2), mine.size * present[:, :-1].sum(axis=0).astype(np.float64)


def _solve(wins: float, n_matches: FloatArray, skills: FloatArray) -> float:
    """Newton on a convex-enough scale, held between bisection's bounds."""
    from scipy.special import expit

    low, high = float(skills.min()) - 50.0, float(skills.max()) + 50.0
    b = float(np.average(skills, weights=n_matches))
    for _ in range(_MOST_STEPS):
        p = expit(b - skills)
        gap = wins - float(n_matches @ p)
        low, high = (b, high) if gap > 0 else (low, b)
        step = gap / float(n_matches @ (p * (1 - p)))
        new = b + step if low < b + step < high else (low + high) / 2
        if abs(new - b) < _STEP * (1 + abs(b)):
            return new
        b = new
    return b
