r"""Likelihoods of what is observed: matches that are won, tied or lost, and rounds as rankings.

With skills on the logit scale a match is won with probability
:math:`1 / (1 + e^{\beta_j - \beta_i})` (Bradley & Terry 1952); a tie is half a win and half a loss.

A round is one ranking of its players by latent scores, :math:`\beta_i` plus a standard Gumbel
variable of its own in every round, so that

.. math:: P(i_1 > i_2 > \dots > i_k) = \prod_{l=1}^{k}
   \frac{e^{\beta_{i_l}}}{\sum_{n \ge l} e^{\beta_{i_n}}}

(Luce 1959; Plackett 1975). Any two players of the round follow the Bradley–Terry model exactly, and
a round counts as what it is, one observation of a ranking, where its m (m - 1) / 2 matches taken as
independent would make the posterior far too sure. Ties count as half: the log-likelihood is
averaged over the orders of the tied players, exactly for up to five of them and over about a dozen
balanced orders for more.

Matches that share a round, a prompt or a judge, and rounds of one group, are not independent. Their
log-likelihood gets one weight, chosen so that the posterior is about as wide as the estimates vary
from cluster to cluster:

.. math:: w = \frac{m - 1}{\operatorname{tr}(H^{-1} J)}, \qquad
          J = \frac{G}{G-1} \sum_g u_g u_g^T

with H the information and u_g the gradient of cluster g (magnitude adjustment of a composite
likelihood: Pauli, Racugno & Ventura 2011; Ribatet, Cooley & Davison 2012), about 3 / (m + 1) for
the same-round matches of equal players. ``tests/epp/test_likelihoods.py`` compares with
numbers by hand and with simulation, ``tests/epp/test_likelihoods.py`` enumerates all
rankings and all orders.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches
from bayes_sota.epp.counts import ABSENT

OUTCOMES = ("won", "tied", "lost")  # of the first player of a match
_FLAT = 0.01  # precision of a normal prior that keeps the maximum finite


def log_outcomes(difference: Any, operations: Any = np) -> tuple[Any, Any, Any]:
    """Log probabilities that the first player wins and loses, and their mean between them.

    The mean is what a tie, which is half a win, adds to the log-likelihood.

    Parameters
    ----------
    difference : array
        Skill of the first player less that of the second.
    operations : module
        ``numpy``, or ``pytensor.tensor`` for a graph.

    Examples
    --------
    >>> [round(float(np.exp(log)), 4) for log in log_outcomes(np.log(2.0))]
    [0.6667, 0.4714, 0.3333]
    """
    won, lost = -operations.logaddexp(0.0, -difference), -operations.logaddexp(0.0, difference)
    return won, (won + lost) / 2, lost


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
        distinct, place = np.unique(
            np.ravel_multi_index((setting, low, high), shape), return_inverse=True
        )
        outcome = np.where(self.first > self.second, 2 - self.outcome, self.outcome)
        return np.stack(np.unravel_index(distinct, shape), axis=1), 3 * place + outcome


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
    units = np.cumsum([0, *(table.n_clusters for table in tables)])
    columns = []
    for table, unit in zip(tables, units[:-1], strict=True):
        own = np.array([places[player] for player in table.players])
        outcome = np.rint(2 - 2 * table.outcomes).astype(np.intp)
        columns.append((own[table.first], own[table.second], outcome, table.clusters + unit))
    return MatchRows(*map(np.concatenate, zip(*columns, strict=True)))


def cluster_weight(rows: MatchRows, clusters: NDArray[np.intp]) -> float:
    """Weight w of the log-likelihood of matches that come in clusters (module docstring).

    At most 1: clusters that all agree show no variation, which is no reason to believe matches more
    than if they were independent.

    Parameters
    ----------
    rows : MatchRows
        Of one tournament.
    clusters : ndarray of int, shape (n_matches,)
        Of each match, at least two different ones.
    """
    names, clusters = np.unique(clusters, return_inverse=True)
    if names.size < 2:
        raise InputError("all matches are of one cluster: at least two are needed to weigh them")
    players, dense = np.unique(np.stack([rows.first, rows.second]), return_inverse=True)
    first, second = dense.reshape(2, -1)
    rows = MatchRows(first, second, rows.outcome, rows.unit)
    m = players.size
    skills = _maximum(rows, m)
    difference = skills[first] - skills[second]
    score = _slopes(difference)[np.arange(first.size), rows.outcome]
    gradients = np.zeros((names.size, m))
    np.add.at(gradients, (clusters, first), score)
    np.add.at(gradients, (clusters, second), -score)
    won, _, lost = np.exp(log_outcomes(difference))
    expected = won * (1 - won) ** 2 + lost * (1 - lost) ** 2
    weight = np.bincount(first * m + second, expected, m * m).reshape(m, m)
    weight += weight.T
    return _magnitude(gradients, np.diag(weight.sum(axis=1)) - weight)


def _magnitude(gradients: FloatArray, information: FloatArray) -> float:
    """Weight w from the gradients of clusters, (G, m), and the information (module docstring)."""
    clusters, m = gradients.shape
    information.flat[:: m + 1] += _FLAT  # gradients have no share in the space of equal skills
    trace = float(np.sum(gradients * np.linalg.solve(information, gradients.T).T))
    return float(min((m - 1) / max(clusters / (clusters - 1) * trace, m - 1), 1.0))


def _slopes(difference: FloatArray) -> FloatArray:
    """Derivatives of the terms of ``log_outcomes``, (n, 3)."""
    won, _, lost = np.exp(log_outcomes(difference))
    first, second = 1 - won, lost - 1
    return np.stack([first, (first + second) / 2, second], axis=1)


def _maximum(rows: MatchRows, m: int) -> FloatArray:
    """Skills that maximise the likelihood, under a nearly flat prior."""
    pairs, cells = rows.pairs(np.zeros(rows.first.size, np.intp))
    counts = count_cells(cells, len(pairs))
    first, second = pairs[:, 1], pairs[:, 2]

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        difference = x[first] - x[second]
        value = float(np.sum(counts * np.stack(log_outcomes(difference), axis=1)))
        slope = np.sum(counts * _slopes(difference), axis=1)
        gradient = np.bincount(first, slope, m) - np.bincount(second, slope, m)
        return _FLAT / 2 * float(x @ x) - value, _FLAT * x - gradient

    return np.asarray(minimize(loss, np.zeros(m), method="L-BFGS-B", jac=True, tol=1e-10).x)


_ORDERS = 12  # about as many of six or more tied players

_CYCLES = {  # whose rotations begin with every subset of the tied players equally often
    2: ((0, 1),),
    3: ((0, 1, 2),),
    4: ((0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3)),
    5: ((0, 1, 2, 3, 4), (0, 2, 4, 1, 3)),
}


@dataclass(frozen=True, eq=False)
class RoundOrders:
    """Players of each round from the worst to the best, as the likelihood needs them.

    Attributes
    ----------
    order : ndarray of int, shape (n_rounds, orders, places)
        Players in several orders of those who are tied; who has no score comes after the best.
    weight : ndarray, shape (n_rounds, orders, places)
        Of the logarithm of the sum from the worst to here; 0 for who has no score.
    present : ndarray, shape (n_rounds, n_players)
        1 for players with a score.
    """

    order: Any
    weight: Any
    present: Any


def order_rounds(ranks: NDArray[np.signedinteger]) -> RoundOrders:
    """Orders of the players in rounds, from their ranks.

    Parameters
    ----------
    ranks : ndarray of int, shape (n_rounds, n_players)
        From 0 (worst), equal for ties, -1 for who has no score (``ranks_of_rounds``).

    Examples
    --------
    >>> orders = order_rounds(np.array([[1, 0, -1], [1, 1, 0]]))
    >>> orders.order.tolist()
    [[[1, 0, 2], [1, 0, 2]], [[2, 0, 1], [2, 1, 0]]]
    >>> orders.weight.tolist()
    [[[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[1.0, 0.5, 1.0], [0.0, 0.5, 0.0]]]
    """
    last = np.where(ranks == ABSENT, np.iinfo(np.int32).max, ranks)
    first = np.argsort(last, axis=1, kind="stable")
    present = ranks != ABSENT
    sizes = present.sum(axis=1)
    ties = [_tied_places(np.sort(row)[:size]) for row, size in zip(last, sizes, strict=True)]
    designs = {size: balanced_orders(size) for size in {e - s for row in ties for s, e in row}}
    several = max((len(design) for design in designs.values()), default=1)
    shape = (len(ranks), several, ranks.shape[1])
    order = np.broadcast_to(first[:, None], shape).copy()
    weight = np.zeros(shape)
    weight[:, 0] = np.arange(shape[2]) < sizes[:, None]
    for row, places in enumerate(ties):
        for start, end in places:
            design = designs[end - start]
            order[row, : len(design), start:end] = first[row, start:end][design]
            weight[row, : len(design), start : end - 1] = 1 / len(design)
    return RoundOrders(order, weight, present.astype(float))


def ranking_log_likelihood(
    skills: Any, setting: NDArray[np.intp], orders: RoundOrders, operations: Any = np
) -> Any:
    r"""Log-likelihood of each round.

    .. math:: \sum_i \beta_i - \sum_l \log \sum_{n \ge l} e^{\beta_{i_n}}

    Parameters
    ----------
    skills : array, shape (..., settings, n_players)
        Below 700 in size, so that no exponential overflows.
    setting : ndarray of int, shape (n_rounds,)
        Which of the skills a round has.
    orders : RoundOrders
    operations : module
        ``numpy``, or ``pytensor.tensor`` for a graph.

    Returns
    -------
    array, shape (..., n_rounds)

    Examples
    --------
    >>> orders = order_rounds(np.array([[0, 1, 2]]))
    >>> log_p = ranking_log_likelihood(np.log([[1.0, 2.0, 3.0]]), np.array([0]), orders)
    >>> round(float(np.exp(log_p[0])), 6)  # 3/6 * 2/3
    0.333333
    """
    odds = operations.exp(skills)[..., setting[:, None, None], orders.order]
    logs = operations.log(operations.cumsum(odds, axis=-1)) * orders.weight
    total = (skills[..., setting, :] * orders.present).sum(axis=-1)
    return total - logs.sum(axis=(-2, -1))


def group_weight(
    ranks: NDArray[np.signedinteger], clusters: NDArray[np.intp], skills: FloatArray
) -> float:
    """Weight w of the log-likelihood where rounds of one group depend on each other.

    At most 1, the weight of independent rounds; gradients are added up by group and centred.

    Parameters
    ----------
    ranks : ndarray of int, shape (n_rounds, n_players)
    clusters : ndarray of int, shape (n_rounds,)
        From 0.
    skills : ndarray, shape (n_players,)
        Near the maximum of the likelihood.
    """
    orders = order_rounds(ranks)
    m = skills.size
    odds = np.exp(skills)[orders.order]
    sums = np.cumsum(odds, axis=-1)
    stages, squares = (
        np.cumsum((orders.weight / sums**power)[..., ::-1], axis=-1)[..., ::-1] for power in (1, 2)
    )
    gradients, information = orders.present.copy(), np.zeros((m, m))
    rows = np.arange(len(ranks))[:, None, None]
    np.subtract.at(gradients, (rows, orders.order), odds * stages)
    later = np.maximum.outer(np.arange(m), np.arange(m))
    for place in np.argwhere(orders.weight.any(axis=-1)):
        at, own = orders.order[*place], odds[*place]
        information[np.ix_(at, at)] += np.diag(own * stages[*place])
        information[np.ix_(at, at)] -= np.outer(own, own) * squares[*place][later]
    summed = np.zeros((int(clusters.max()) + 1, m))
    np.add.at(summed, clusters, gradients)
    summed -= summed.mean(axis=0)
    return _magnitude(summed, information)


def _tied_places(ranks: NDArray[np.signedinteger]) -> list[tuple[int, int]]:
    """First place and the one after the last of each group of equal ranks, in ascending ranks."""
    starts = np.flatnonzero(np.diff(ranks, prepend=-1))
    ends = np.append(starts[1:], ranks.size)
    return [(s, e) for s, e in zip(starts.tolist(), ends.tolist(), strict=True) if e > s + 1]


def balanced_orders(size: int) -> NDArray[np.intp]:
    """Orders of tied players whose first places are balanced over the players, (orders, size).

    Examples
    --------
    >>> balanced_orders(3).tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    """
    if size in _CYCLES:
        turned = [np.roll(cycle, -k) for cycle in _CYCLES[size] for k in range(size)]
        return np.array(turned)
    rng = np.random.default_rng(size)
    cycles = [rng.permutation(size) for _ in range(max(1, round(_ORDERS / size)))]
    shifts = np.unique(np.linspace(0, size, min(size, _ORDERS), endpoint=False).astype(int))
    return np.array([np.roll(cycle, -shift) for cycle in cycles for shift in shifts])
