r"""Plackett–Luce: a round is one ranking of its players by latent scores.

Player i of skill :math:`\beta_i` gets the latent score :math:`\beta_i` plus a standard Gumbel
variable of its own in every round, so that

.. math:: P(i_1 > i_2 > \dots > i_k) = \prod_{l=1}^{k}
   \frac{e^{\beta_{i_l}}}{\sum_{n \ge l} e^{\beta_{i_n}}}

(Luce 1959; Plackett 1975). Any two players of the round follow the Bradley–Terry model exactly, and
a round counts as what it is, one observation of a ranking, where its m (m - 1) / 2 matches taken as
independent would make the posterior far too sure. Ties count as half: the log-likelihood is
averaged over the orders of the tied players, exactly for up to five of them and over about a dozen
balanced orders for more. ``tests/epp/test_models_rankings.py`` enumerates all rankings and
all orders.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.epp.match_counts import ABSENT

__all__ = ["RoundOrders", "group_weight", "order_rounds", "ranking_log_likelihood"]

_ORDERS = 12  # about as many of six or more tied players
_FLAT = 0.01  # precision of a normal prior that keeps the information invertible
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
    sizes_of_rounds = present.sum(axis=1)
    ties = [
        _tied_places(np.sort(row)[:size]) for row, size in zip(last, sizes_of_rounds, strict=True)
    ]
    sizes = {end - start for row in ties for start, end in row}
    designs = {size: balanced_orders(size) for size in sizes}
    several = max((len(design) for design in designs.values()), default=1)
    shape = (len(ranks), several, ranks.shape[1])
    order = np.broadcast_to(first[:, None], shape).copy()
    weight = np.zeros(shape)
    weight[:, 0] = np.arange(shape[2]) < sizes_of_rounds[:, None]
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
    >>> found = ranking_log_likelihood(np.log([[1.0, 2.0, 3.0]]), np.array([0]), orders)
    >>> round(float(np.exp(found[0])), 6)  # 3/6 * 2/3
    0.333333
    """
    odds = operations.exp(skills)[..., setting[:, None, None], orders.order]
    logs = operations.log(operations.cumsum(odds, axis=-1)) * orders.weight
    total = (skills[..., setting, :] * orders.present).sum(axis=-1)
    return total - logs.sum(axis=(-2, -1))


def group_weight(
    ranks: NDArray[np.signedinteger], clusters: NDArray[np.intp], skills: FloatArray
) -> float:
    r"""Weight of the likelihood where rounds of one group depend on each other.

    .. math:: w = \frac{m - 1}{\operatorname{tr}(H^{-1} J)}, \qquad
       J = \frac{G}{G - 1} \sum_g U_g U_g^T

    with H the information of the rankings and U_g the gradients of the rounds of group g, added up
    and centred (magnitude adjustment: Pauli, Racugno & Ventura 2011; Ribatet, Cooley & Davison
    2012); at most 1, the weight of independent rounds.

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
    gradients, information = np.zeros(ranks.shape), np.zeros((m, m))
    for row, (order, weight) in enumerate(zip(orders.order, orders.weight, strict=True)):
        for places, share in zip(order, weight, strict=True):
            here = places[share > 0]
            if not here.size:
                continue
            each = float(share.max())  # of the orders of tied players
            odds = np.exp(skills[here])
            inverse = 1 / np.cumsum(odds)
            stages, squares = (np.cumsum((inverse**p)[::-1])[::-1] for p in (1, 2))
            gradients[row, here] += each * (1 - odds * stages)
            later = np.maximum.outer(np.arange(here.size), np.arange(here.size))
            own = np.diag(odds * stages) - np.outer(odds, odds) * squares[later]
            information[np.ix_(here, here)] += each * own
    groups = int(clusters.max()) + 1
    summed = np.zeros((groups, m))
    np.add.at(summed, clusters, gradients)
    summed -= summed.mean(axis=0)
    information.flat[:: m + 1] += _FLAT  # gradients have no share in the space of equal skills
    trace = float(np.sum(summed.T * np.linalg.solve(information, summed.T)))
    return min((m - 1) / max(groups / (groups - 1) * trace, m - 1), 1.0)


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
