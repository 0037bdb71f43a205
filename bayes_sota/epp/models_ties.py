r"""Matches that are won, tied or lost: Davidson's and Rao and Kupper's models, and ties as half.

With skills on the logit scale, :math:`a = e^{\beta_i}`, :math:`b = e^{\beta_j}`:

.. math::
   P(\text{tie}) = \frac{\nu \sqrt{ab}}{a + b + \nu \sqrt{ab}}, \quad
   P(i) = \frac{a}{a + b + \nu \sqrt{ab}} \qquad \text{(Davidson 1970)}

   P(i) = \frac{a}{a + \theta b}, \quad P(j) = \frac{b}{b + \theta a}, \quad \theta \ge 1
   \qquad \text{(Rao \& Kupper 1967)}

A win given no tie is Bradley–Terry in the first and not in the second (.667 and .696 for a = 2 b,
:math:`\theta` = 1.5). Both have one parameter, set here by the probability p that two equal players
tie: :math:`\nu = 2p/(1-p)`, :math:`\theta = (1+p)/(1-p)`. With ties as half, a tie is half a win
and half a loss of the Bradley–Terry model.

Matches that share a round, a prompt or a judge are not independent. Their log-likelihood gets one
weight, chosen so that the posterior is about as wide as the estimates vary from cluster to cluster:

.. math:: w = \frac{m - 1}{\operatorname{tr}(C_{model}^{-1} C_{cluster})}
            = \frac{m - 1}{\operatorname{tr}(H^{-1} J)}, \qquad
          J = \frac{G}{G-1} \sum_g u_g u_g^T

(magnitude adjustment of a composite likelihood: Pauli, Racugno & Ventura 2011; Ribatet, Cooley &
Davison 2012), about 3 / (m + 1) for the same-round matches of equal players.
``tests/epp/test_models_ties.py`` compares with numbers by hand and with simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.matches import Matches
from bayes_sota.epp.match_counts import ABSENT

__all__ = [
    "OUTCOMES",
    "MatchRows",
    "Ties",
    "checked_ties",
    "cluster_weight",
    "count_cells",
    "log_outcomes",
    "rows_of_matches",
    "rows_of_rounds",
    "tie_parameter",
]

Ties = Literal["half", "davidson", "rao-kupper"]
OUTCOMES = ("won", "tied", "lost")  # of the first player of a match
_FLAT = 0.01  # precision of a normal prior that keeps the maximum finite
_SHARE = 1e-3  # least and most probability of a tie at the maximum


def tie_parameter(p_tie: Any, ties: Ties) -> Any:
    r"""Parameter of the model, from the probability that equal players tie.

    Examples
    --------
    >>> tie_parameter(0.2, "davidson"), tie_parameter(0.2, "rao-kupper")
    (0.5, 1.4999999999999998)
    """
    if ties == "davidson":
        return 2 * p_tie / (1 - p_tie)
    return (1 + p_tie) / (1 - p_tie)


def log_outcomes(
    difference: Any, p_tie: Any = None, ties: Ties = "half", operations: Any = np
) -> tuple[Any, Any, Any]:
    """Log probabilities that the first player wins, ties and loses.

    Parameters
    ----------
    difference : array
        Skill of the first player less that of the second.
    p_tie : array or number
        Probability that equal players tie; not looked at with ties as half.
    ties : {"half", "davidson", "rao-kupper"}
        With "half" the middle one is the mean of the other two: what a tie adds to the
        log-likelihood, no probability.
    operations : module
        ``numpy``, or ``pytensor.tensor`` for a graph.

    Examples
    --------
    >>> won, tied, lost = np.exp(log_outcomes(np.log(2.0), 0.2, "rao-kupper"))
    >>> [round(float(p), 4) for p in (won, tied, lost)]
    [0.5714, 0.1786, 0.25]
    >>> round(float(won / (won + lost)), 3)
    0.696
    """
    logaddexp = operations.logaddexp
    if ties == "half":
        won, lost = -logaddexp(0.0, -difference), -logaddexp(0.0, difference)
        return won, (won + lost) / 2, lost
    if ties == "davidson":
        half, log_nu = difference / 2, operations.log(tie_parameter(p_tie, ties))
        total = logaddexp(logaddexp(half, -half), log_nu)
        return half - total, log_nu - total, -half - total
    theta = tie_parameter(p_tie, ties)
    log_theta = operations.log(theta)
    won = -logaddexp(0.0, log_theta - difference)
    lost = -logaddexp(0.0, log_theta + difference)
    return won, operations.log(theta**2 - 1) + won + lost, lost


@dataclass(frozen=True, eq=False)
class MatchRows:
    """Matches one by one.

    Attributes
    ----------
    first, second : ndarray of int, shape (n_matches,)
        Players.
    outcome : ndarray of int, shape (n_matches,)
        0 if the first won, 1 for a tie, 2 if the second won.
    unit : ndarray of int, shape (n_matches,)
        Round, cluster or match that leaving one out leaves out.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    outcome: NDArray[np.intp]
    unit: NDArray[np.intp]

    def pairs(self, setting: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Pairs of players in the same setting, and the cell of each match among their outcomes.

        Parameters
        ----------
        setting : ndarray of int, shape (n_matches,)

        Returns
        -------
        rows : ndarray of int, shape (n_pairs, 3)
            Setting, first and second player, the first listed before the second.
        cell : ndarray of int, shape (n_matches,)
            Three times the place of the pair, plus 0, 1 or 2 for won, tied and lost.
        """
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        shape = (int(setting.max()) + 1, int(high.max()) + 1, int(high.max()) + 1)
        found, place = np.unique(
            np.ravel_multi_index((setting, low, high), shape), return_inverse=True
        )
        outcome = np.where(self.first > self.second, 2 - self.outcome, self.outcome)
        return np.stack(np.unravel_index(found, shape), axis=1), 3 * place + outcome


def count_cells(cells: NDArray[np.intp], n_pairs: int) -> FloatArray:
    """Matches that each pair won, tied and lost, (n_pairs, 3), from ``MatchRows.pairs``."""
    return np.bincount(cells, minlength=3 * n_pairs).reshape(-1, 3).astype(np.float64)


def rows_of_rounds(ranks: NDArray[np.signedinteger]) -> MatchRows:
    """Same-round matches, from ranks in rounds (``ranks_of_rounds``).

    Examples
    --------
    >>> rows = rows_of_rounds(np.array([[1, 0, -1], [0, 0, 1]]))
    >>> rows.outcome.tolist(), rows.unit.tolist()
    ([0, 1, 2, 2], [0, 1, 1, 1])
    """
    first, second = np.triu_indices(ranks.shape[1], 1)
    met = (ranks[:, first] != ABSENT) & (ranks[:, second] != ABSENT)
    rounds, pairs = np.nonzero(met)
    first, second = first[pairs], second[pairs]
    outcome = 1 - np.sign(ranks[rounds, first] - ranks[rounds, second])
    return MatchRows(first, second, outcome.astype(np.intp), rounds)


def rows_of_matches(tables: Sequence[Matches], players: Sequence[str]) -> MatchRows:
    """Listed matches of several tournaments, their players among all of them."""
    places = {player: place for place, player in enumerate(players)}
    own = [np.array([places[player] for player in table.players]) for table in tables]
    units = np.cumsum([0, *(table.n_clusters for table in tables)])
    return MatchRows(
        np.concatenate([place[t.first] for place, t in zip(own, tables, strict=True)]),
        np.concatenate([place[t.second] for place, t in zip(own, tables, strict=True)]),
        np.concatenate([np.rint(2 - 2 * t.outcomes).astype(np.intp) for t in tables]),
        np.concatenate([t.clusters + u for t, u in zip(tables, units[:-1], strict=True)]),
    )


def cluster_weight(rows: MatchRows, clusters: NDArray[np.intp], ties: Ties = "half") -> float:
    """Weight w of the log-likelihood of matches that come in clusters (module docstring).

    At most 1: clusters that all agree show no variation, which is no reason to believe matches more
    than if they were independent. It is made for the skills; the probability of a tie, whose own
    clusters may vary more or less, has it too.

    Parameters
    ----------
    rows : MatchRows
        Of one tournament.
    clusters : ndarray of int, shape (n_matches,)
        Of each match.
    ties : {"half", "davidson", "rao-kupper"}

    Raises
    ------
    InputError
        If there is one cluster only.
    """
    names, clusters = np.unique(clusters, return_inverse=True)
    if len(names) < 2:
        raise InputError("all matches are of one cluster: at least two are needed to weigh them")
    players, dense = np.unique(np.stack([rows.first, rows.second]), return_inverse=True)
    first, second = dense.reshape(2, -1)
    rows = MatchRows(first, second, rows.outcome, rows.unit)
    skills, p_tie = _maximum(rows, players.size, ties)
    difference = skills[first] - skills[second]
    slopes = _slopes(difference, p_tie, ties)
    score = slopes[np.arange(first.size), rows.outcome]
    gradients = np.zeros((len(names), players.size))
    np.add.at(gradients, (clusters, first), score)
    np.add.at(gradients, (clusters, second), -score)
    probabilities = np.exp(np.stack(log_outcomes(difference, p_tie, ties), axis=1))
    if ties == "half":
        probabilities[:, 1] = 0
    expected = np.sum(probabilities * slopes**2, axis=1)
    m = len(players)
    weight = np.bincount(first * m + second, expected, m * m).reshape(m, m)
    weight += weight.T
    information = np.diag(weight.sum(axis=1) + _FLAT) - weight
    grown = len(names) / (len(names) - 1)
    trace = float(np.sum(gradients * np.linalg.solve(information, gradients.T).T))
    return min((m - 1) / max(grown * trace, m - 1), 1.0)


def _slopes(difference: FloatArray, p_tie: float, ties: Ties) -> FloatArray:
    """Derivatives of the log probabilities of won, tied and lost, (n, 3)."""
    won, tied, lost = np.exp(log_outcomes(difference, p_tie, ties))
    if ties == "davidson":
        mean = won + tied / 2
        return np.stack([1 - mean, 0.5 - mean, -mean], axis=1)
    first, second = 1 - won, -(1 - lost)  # also of Bradley–Terry, where won + lost is 1
    middle = (first + second) / (2 if ties == "half" else 1)
    return np.stack([first, middle, second], axis=1)


def _maximum(rows: MatchRows, m: int, ties: Ties) -> tuple[FloatArray, float]:
    """Skills and probability of a tie that maximise the likelihood, under a nearly flat prior."""
    from scipy.optimize import minimize

    pairs, cells = rows.pairs(np.zeros(rows.first.size, np.intp))
    counts = count_cells(cells, len(pairs))
    first, second = pairs[:, 1], pairs[:, 2]

    def loss(x: FloatArray, p_tie: float) -> tuple[float, FloatArray]:
        difference = x[first] - x[second]
        value = float(np.sum(counts * np.stack(log_outcomes(difference, p_tie, ties), axis=1)))
        slope = np.sum(counts * _slopes(difference, p_tie, ties), axis=1)
        gradient = np.bincount(first, slope, m) - np.bincount(second, slope, m)
        return _FLAT / 2 * float(x @ x) - value, _FLAT * x - gradient

    def skills_at(p_tie: float) -> Any:
        return minimize(loss, np.zeros(m), (p_tie,), "L-BFGS-B", jac=True, tol=1e-10)

    if ties == "half":
        return skills_at(0.5).x, 0.5
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(
        lambda p: skills_at(p).fun, bounds=(_SHARE, 1 - _SHARE), method="bounded",
        options={"xatol": 1e-3},
    )  # fmt: skip
    return skills_at(best.x).x, float(best.x)


def checked_ties(ties: str) -> None:
    """Raise ``InputError`` for another model of ties."""
    if ties not in get_args(Ties):
        raise InputError(f"ties is one of {', '.join(get_args(Ties))}, got {ties!r}")
