r"""The law of rankings, of NumPy arrays and of PyTensor graphs.

A round is one ranking of its players by latent scores, :math:`\beta_i` plus a standard Gumbel
variable of its own in every round, so that

.. math:: P(i_1 > i_2 > \dots > i_k) = \prod_{l=1}^{k}
   \frac{e^{\beta_{i_l}}}{\sum_{n \ge l} e^{\beta_{i_n}}}

(Luce 1959; Plackett 1975). Any two players of the round follow the Bradley–Terry model exactly, and
a round counts as what it is, one observation of a ranking, where its m (m - 1) / 2 matches taken as
independent would make the posterior far too sure. Ties count as half: the log-likelihood is
averaged over the orders of the tied players, exactly for up to five of them and over about a dozen
balanced orders for more. ``tests/epp/test_rankings.py`` enumerates all rankings and all orders.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_sota.epp.counts import ABSENT

_ORDERS = 12  # about as many of six or more tied players
_CYCLES = {  # whose rotations begin with every subset of the tied players equally often
    1: ((0,),),
    2: ((0, 1),),
    3: ((0, 1, 2),),
    4: ((0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3)),
    5: ((0, 1, 2, 3, 4), (0, 2, 4, 1, 3)),
}


class RoundOrders(NamedTuple):
    """Players of each round from the worst to the best, as the likelihood needs them.

    Attributes
    ----------
    order : ndarray of int, shape (n_rounds, orders, places)
        Players in several orders of those who are tied; those without a score come last.
    weight : ndarray, shape (n_rounds, orders, places)
        Weight of the logarithm of the sum from the worst to here; 0 for players without a score.
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
        From 0 (worst), equal for ties, -1 without a score (``ranks_of_rounds``).

    Examples
    --------
    >>> orders = order_rounds(np.array([[1, 0, -1], [1, 1, 0]]))
    >>> orders.order.tolist()
    [[[1, 0, 2], [1, 0, 2]], [[2, 0, 1], [2, 1, 0]]]
    >>> orders.weight.tolist()
    [[[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[1.0, 0.5, 1.0], [0.0, 0.5, 0.0]]]
    """
    present = ranks != ABSENT
    first = np.argsort(np.where(present, ranks, np.iinfo(np.int32).max), axis=1, kind="stable")
    sizes = [np.bincount(row[here]) for row, here in zip(ranks, present, strict=True)]
    designs = {int(size): balanced_orders(int(size)) for size in np.unique(np.concatenate(sizes))}
    several = max(map(len, designs.values()))
    order = np.repeat(first[:, None], several, axis=1)
    weight = np.zeros(order.shape)
    for row, of_round in enumerate(sizes):
        starts = np.cumsum(of_round) - of_round
        for start, size in zip(starts.tolist(), of_round.tolist(), strict=True):
            design, here = designs[size], slice(start, start + size)
            order[row, : len(design), here] = first[row, here][design]
            weight[row, : len(design), here] = 1 / len(design)
            weight[row, :, start + size - 1] = np.arange(several) == 0  # all of them in any order
    return RoundOrders(order, weight, present.astype(float))


def balanced_orders(size: int) -> NDArray[np.intp]:
    """Orders of tied players whose first places are balanced over the players, (orders, size).

    Examples
    --------
    >>> balanced_orders(3).tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    """
    rng = np.random.default_rng(size)
    number = max(1, round(_ORDERS / size))
    cycles = _CYCLES.get(size) or [rng.permutation(size) for _ in range(number)]
    shifts = np.unique(np.linspace(0, size, min(size, _ORDERS), endpoint=False).astype(int))
    return np.array([np.roll(cycle, -shift) for cycle in cycles for shift in shifts])


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
