"""What luck alone lets expect of the private board: scores by public scores, and places.

Expectations are over replicates of both boards, each team with its skill and selected as the teams
were; ``tests/paired/test_boards.py`` compares them with closed forms of normal scores.
"""

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import rankdata

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_BINS, _FEWEST = 24, 100  # of public scores, and replicates that a bin needs
_PLACES = 20


def regression_table(tree: xr.DataTree, *, ci_prob: float = 0.95) -> pd.DataFrame:
    r"""Private scores to expect by public score: regression to the mean, and the shift of all.

    .. math:: E(y \mid x) \text{ and quantiles of } y \mid x

    over replicated pairs :math:`(x, y)` of all teams of the model. The better a public score the
    more luck is in it, and the less of it returns.

    Parameters
    ----------
    tree : DataTree
        Of ``estimate_paired``, with the group ``posterior_predictive``.
    ci_prob : float
        Probability between ``lower`` and ``upper`` for the private score of one team.

    Returns
    -------
    pandas.DataFrame
        Columns ``public``, ``expected``, ``lower``, ``upper``, one row per range of public scores
        that the board has and replicates reach.

    Raises
    ------
    InputError
        A result without replicates.
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    observed, replicates = _scores(tree)
    x, y = replicates.reshape(-1, 2).T
    edges = np.linspace(observed[:, 0].min(), observed[:, 0].max(), _BINS + 1)
    places = np.digitize(x, edges[1:-1])
    inside = (x >= edges[0]) & (x <= edges[-1])
    rows = []
    for place in range(_BINS):
        here = inside & (places == place)
        if here.sum() >= _FEWEST:
            ends = np.quantile(y[here], [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
            rows.append([x[here].mean(), y[here].mean(), *ends])
    return pd.DataFrame(rows, columns=["public", "expected", "lower", "upper"])


def shake_up_table(tree: xr.DataTree, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """How many of the best on the public board are among as many best on the private board.

    Parameters
    ----------
    tree : DataTree
        Of ``estimate_paired``, with the group ``posterior_predictive``.
    ci_prob : float
        Probability between ``lower`` and ``upper``.

    Returns
    -------
    pandas.DataFrame
        Columns ``places`` (k), ``observed`` (share of the best k of the public board among the
        best k of the private one), and over replicates ``expected``, ``lower`` and ``upper``. Teams
        with equal scores divide their places.

    Raises
    ------
    InputError
        A result without replicates.
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    observed, replicates = _scores(tree)
    half = max(1, len(observed) // 2)  # the model has the best of either board
    places = np.unique(np.geomspace(1, half, _PLACES).round().astype(int))
    shares = np.array([_kept(board, places) for board in replicates])
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    lower, upper = np.quantile(shares, tails, axis=0)
    return pd.DataFrame(
        {
            "places": places,
            "observed": _kept(observed, places),
            "expected": shares.mean(axis=0),
            "lower": lower,
            "upper": upper,
        }
    )


def _scores(tree: xr.DataTree) -> tuple[FloatArray, FloatArray]:
    """Scores of the teams of the model, (k, 2), and of replicates, (draws, k, 2)."""
    if "posterior_predictive" not in tree.children:
        raise InputError('the result has no replicated scores: estimate it with groups="all"')
    order = ("classifier", "board")
    observed = tree["observed_data"]["score"].transpose(*order).values
    drawn = tree["posterior_predictive"]["score"].transpose("chain", "draw", *order).values
    return observed, drawn.reshape(-1, *observed.shape)


def _kept(board: FloatArray, places: np.ndarray) -> FloatArray:
    """Share of the best k of the first board among the best k of the second, for every k."""
    public, private = (_among_best(scores, places) for scores in board.T)
    return np.asarray((public * private).sum(axis=1) / places)


def _among_best(scores: FloatArray, places: np.ndarray) -> FloatArray:
    """Probability of each team to be among the best k, (K, k), ties broken at random."""
    above, up_to = (rankdata(-scores, method) for method in ("min", "max"))
    room = places[:, None] - (above - 1)
    return np.clip(room / (up_to - above + 1), 0.0, 1.0)
