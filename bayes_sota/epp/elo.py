r"""Elo's ratings, updated match by match, beside EPP, which needs no order of the matches.

.. math:: R_i \leftarrow R_i + K \Big(y - \frac{1}{1 + 10^{(R_j - R_i) / 400}}\Big)

and the same with the other sign for j (Elo 1978; Sec. 1.2 of Gosiewska, Woźnica & Biecek 2022,
whose printed E_1 has the two ratings in the other order). The paper's reason for EPP is that these
ratings depend on the order in which matches are played (Sec. 3.1); here is by how much. In the
long run of matches in random order they scatter about 1500 + 400 / ln(10) EPP, the more the larger
K is. ``tests/epp/test_elo.py`` compares with updates by hand and with EPP.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.core.arguments import Range, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import AVERAGE_ELO
from bayes_sota.epp.likelihoods import rows_of

K_FACTOR = Range(0, 400, open_low=True)
_ORDERS = Range(2, 10_000, whole=True)
_MOST_MATCHES = 200_000  # one after the other


@dataclass(frozen=True, eq=False)
class EloRatings:
    """Ratings after all matches, for several orders of them.

    Attributes
    ----------
    players : tuple of str
    ratings : ndarray, shape (n_orders, m)
        Their mean is 1500. The first order is that of the data.
    k_factor : float
    """

    players: tuple[str, ...]
    ratings: FloatArray
    k_factor: float

    @property
    def mean(self) -> FloatArray:
        """Mean over the orders, (m,)."""
        return np.asarray(self.ratings.mean(axis=0))

    def interval(self, share: float = 0.95) -> FloatArray:
        """Between which ratings the middle share of the orders is, (m, 2)."""
        return np.quantile(self.ratings, [(1 - share) / 2, (1 + share) / 2], axis=0).T

    @property
    def leads(self) -> FloatArray:
        """Share of the orders after which each player has the highest rating, (m,)."""
        best = self.ratings == self.ratings.max(axis=1, keepdims=True)
        return np.asarray(np.mean(best / best.sum(axis=1, keepdims=True), axis=0))


def elo_ratings(
    data: ScoreTable | Matches,
    k_factor: float = 32.0,
    *,
    orders: int = 100,
    random_seed: Seed = 0,
) -> EloRatings:
    """Ratings after all matches of the rounds, in the order of the data and in random orders.

    Parameters
    ----------
    data : ScoreTable or Matches
        In a table every pair plays once in every round; a tie is half a win.
    k_factor : float
        K, what a player wins at most in a match: 32 and 16 are usual, 4 for arenas of models.
    orders : int
        Orders of the matches.
    random_seed : int, SeedSequence, Generator or None

    Raises
    ------
    InputError
        More than 200,000 matches, numbers out of range.

    Examples
    --------
    >>> elo = elo_ratings(ScoreTable([[2, 1], [1, 2]], players=["a", "b"]), orders=2)
    >>> elo.ratings[0].round(2).tolist()
    [1498.53, 1501.47]
    """
    K_FACTOR.check(k_factor, "k_factor")
    _ORDERS.check(orders, "orders")
    rows = rows_of(data)
    if rows.unit.size > _MOST_MATCHES:
        raise InputError(
            f"Elo updates of {rows.unit.size:,} matches: at most {_MOST_MATCHES:,} are played one "
            "after the other"
        )
    rng, number = generator_of(random_seed), np.arange(rows.unit.size)
    order = np.stack([number, *(rng.permutation(number) for _ in range(orders - 1))], axis=1)
    ratings, each = np.full((orders, data.n_players), AVERAGE_ELO), np.arange(orders)
    for match in order:
        a, b = (each, rows.first[match]), (each, rows.second[match])
        expected = 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400))
        gain = k_factor * (1 - rows.outcome[match] / 2 - expected)
        ratings[a] += gain
        ratings[b] -= gain
    return EloRatings(data.players, ratings, k_factor)
