r"""Tables and probabilities of a sampled EPP: shares and quantiles of its draws.

Of a pair it is the probability

.. math:: p = \frac{1}{1 + e^{-(\beta_a - \beta_b)}}

that A beats B in a new round, given that they do not tie. Two players are equivalent where
:math:`|p - 1/2|` is at most a half width (region of practical equivalence, ROPE). Intervals are
equal-tailed. ``tests/epp/test_summary.py`` compares with counting.
"""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import OPEN_SHARE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.score_table import nearest_player
from bayes_sota.epp.likelihoods import log_outcomes, ties_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_SEED = 0  # of deviations in a new tournament
_HALF_WIDTH = Range(0, 0.5, open_high=True)


@dataclass(frozen=True)
class WinProbability:
    """Probability that A beats B, where they do not tie.

    Attributes
    ----------
    mean, lower, upper : float
        Posterior mean and interval.
    p_tie : float
        Posterior mean of the probability of a tie; 0 with ties as half.
    """

    mean: float
    lower: float
    upper: float
    p_tie: float


@dataclass(frozen=True)
class EquivalenceProbabilities:
    """Posterior probabilities that A is better, that both are equivalent, that B is better."""

    a_better: float
    equivalent: float
    b_better: float


def summarize_epp(tree: "xr.DataTree", ci_prob: float = 0.95) -> "pd.DataFrame":
    """Table of the players, the best first.

    Parameters
    ----------
    tree : DataTree
        From ``sample_epp``.
    ci_prob : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        Indexed by player: mean, sd, lower and upper of ``epp``; p_best; rank (posterior mean),
        rank_lower and rank_upper; p_beats_average, the posterior mean of the probability to beat a
        player of skill zero in a new round.

    Examples
    --------
    >>> import xarray as xr
    >>> draws = np.random.default_rng(0).normal([0.5, -0.5], 0.1, (2, 500, 2))
    >>> skills = {"epp": (("chain", "draw", "player"), draws)}
    >>> posterior = xr.Dataset(skills, {"player": ["a", "b"]})
    >>> table = summarize_epp(xr.DataTree.from_dict({"posterior": posterior}))
    >>> table.loc["a", ["mean", "p_best", "rank_upper"]].round(2).tolist()
    [0.5, 1.0, 1.0]
    """
    import pandas as pd

    OPEN_SHARE.check(ci_prob, "ci_prob")
    skills = _skills(tree)
    rank = np.argsort(np.argsort(-skills, axis=1), axis=1) + 1
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    lower, upper = np.quantile(skills, tails, axis=0)
    rank_lower, rank_upper = np.quantile(rank, tails, axis=0, method="inverted_cdf")
    columns = {
        "mean": skills.mean(axis=0),
        "sd": skills.std(axis=0, ddof=1),
        "lower": lower,
        "upper": upper,
        "p_best": np.mean(rank == 1, axis=0),
        "rank": rank.mean(axis=0),
        "rank_lower": rank_lower.astype(int),
        "rank_upper": rank_upper.astype(int),
        "p_beats_average": _expit(skills).mean(axis=0),
    }
    players = pd.Index(_players(tree), name="player")
    table = pd.DataFrame(columns, index=players)
    return table.sort_values("mean", ascending=False, kind="stable")


def epp_win_probability(
    tree: "xr.DataTree", a: str, b: str, *, ci_prob: float = 0.95, new_tournament: bool = False
) -> WinProbability:
    r"""Probability that A beats B in a new round.

    Parameters
    ----------
    tree : DataTree
        From ``sample_epp``.
    a, b : str
        Players.
    ci_prob : float
        Probability of the interval.
    new_tournament : bool
        Whether the round is one of a tournament not seen yet, where both players deviate from their
        skills as they do between the tournaments seen: the interval is that of the probability in
        such a tournament.

    Raises
    ------
    InputError
        Unknown players, the same one twice, ``new_tournament`` with one tournament.

    Examples
    --------
    >>> import xarray as xr
    >>> draws = np.random.default_rng(0).normal([0.5, -0.5], 0.01, (2, 500, 2))
    >>> skills = {"epp": (("chain", "draw", "player"), draws)}
    >>> posterior = xr.Dataset(skills, {"player": ["a", "b"]})
    >>> found = epp_win_probability(xr.DataTree.from_dict({"posterior": posterior}), "a", "b")
    >>> round(found.mean, 2), found.p_tie
    (0.73, 0.0)
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    difference = _difference(tree, a, b)
    if new_tournament:
        difference = difference + _deviations(tree, difference.size)
    win, p_tie = _outcomes(tree, difference)
    lower, upper = np.quantile(win, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    return WinProbability(float(win.mean()), float(lower), float(upper), p_tie)


def epp_rope(tree: "xr.DataTree", a: str, b: str, half_width: float) -> EquivalenceProbabilities:
    """Whether A is better than B, or so close that it makes no difference.

    Parameters
    ----------
    tree : DataTree
        From ``sample_epp``.
    a, b : str
        Players.
    half_width : float
        Two players are equivalent if one wins between 1/2 - half_width and 1/2 + half_width of the
        rounds in which they do not tie.

    Raises
    ------
    InputError
        A half width outside [0, 1/2), unknown players, the same one twice.

    Examples
    --------
    >>> import xarray as xr
    >>> draws = np.random.default_rng(0).normal([0.5, -0.5], 0.01, (2, 500, 2))
    >>> skills = {"epp": (("chain", "draw", "player"), draws)}
    >>> posterior = xr.Dataset(skills, {"player": ["a", "b"]})
    >>> epp_rope(xr.DataTree.from_dict({"posterior": posterior}), "a", "b", 0.05)
    EquivalenceProbabilities(a_better=1.0, equivalent=0.0, b_better=0.0)
    """
    _HALF_WIDTH.check(half_width, "half_width")
    win, _ = _outcomes(tree, _difference(tree, a, b))
    better, worse = float(np.mean(win > 0.5 + half_width)), float(np.mean(win < 0.5 - half_width))
    equivalent = float(np.mean(np.abs(win - 0.5) <= half_width))
    return EquivalenceProbabilities(better, equivalent, worse)


def _players(tree: "xr.DataTree") -> list[str]:
    if "posterior" not in tree.children or "epp" not in tree["posterior"]:
        raise InputError("this result has no draws of skills: sample_epp makes them")
    return [str(name) for name in tree["posterior"]["player"].values]


def _skills(tree: "xr.DataTree") -> FloatArray:
    """Draws of the skills, (draws, players)."""
    players = _players(tree)
    return np.asarray(tree["posterior"]["epp"].values.reshape(-1, len(players)))


def _difference(tree: "xr.DataTree", a: str, b: str) -> FloatArray:
    players = _players(tree)
    first, second = nearest_player(players, a), nearest_player(players, b)
    if first == second:
        raise InputError(f"two players are compared, got {a!r} twice")
    skills = _skills(tree)
    return skills[:, first] - skills[:, second]


def _deviations(tree: "xr.DataTree", size: int) -> FloatArray:
    """What a new tournament adds to a difference of skills, (draws,)."""
    if "tournament_sd" not in tree["posterior"]:
        raise InputError("how tournaments differ is not known: the result is of one tournament")
    spread = tree["posterior"]["tournament_sd"].values.ravel()
    normal = np.random.default_rng(_SEED).standard_normal(size)
    return np.asarray(np.sqrt(2) * spread * normal)


def _outcomes(tree: "xr.DataTree", difference: FloatArray) -> tuple[FloatArray, float]:
    """Probability of a win where there is no tie, (draws,), and the mean probability of a tie."""
    ties = ties_of(tree["posterior"])
    if ties == "half":
        return _expit(difference), 0.0
    p_tie = tree["posterior"]["p_tie"].values.ravel()
    won, tied, lost = np.exp(log_outcomes(difference, p_tie, ties))
    return won / (won + lost), float(tied.mean())


def _expit(x: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-x)))


def check_epp(tree: "xr.DataTree") -> dict[str, Any]:
    """Bayesian p-values and the leave-one-out predictive density of a result of ``sample_epp``.

    Parameters
    ----------
    tree : DataTree
        With ``posterior_predictive`` (``predictive`` of ``sample_epp``) or ``log_likelihood``.

    Returns
    -------
    dict
        ``deviance_p_value`` and ``n_ties_p_value``: shares of replicates at or above the data, None
        without replicates and where matches that depend on each other have a weight, whose
        replicates would be independent; ``loo``: elpd, se and p of ``az.loo``, ``n_bad_k`` (Pareto
        k above its threshold) and ``of`` (what is left out: round, cluster, match), or None.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> values = np.random.default_rng(0).normal(-3, 0.1, (2, 500, 20))
    >>> group = xr.Dataset({"round_rank": (("chain", "draw", "round"), values)})
    >>> tree = xr.DataTree.from_dict({"log_likelihood": group, "posterior": group})
    >>> found = check_epp(tree)
    >>> found["loo"]["of"], found["loo"]["n_bad_k"], found["deviance_p_value"]
    ('round', 0, None)
    """
    names = ("deviance_p_value", "n_ties_p_value")
    replicates = tree.children.get("posterior_predictive")
    attributes = {} if replicates is None or _weighted(tree) else replicates.attrs
    found: dict[str, Any] = {
        name: float(attributes[name]) if name in attributes else None for name in names
    }
    return {**found, "loo": _loo(tree) if "log_likelihood" in tree.children else None}


def _weighted(tree: "xr.DataTree") -> bool:
    """Whether the likelihood is of matches with a weight below 1."""
    constant = tree.children.get("constant_data")
    if constant is None or "match_counts" not in tree["observed_data"]:
        return False
    return bool((constant["likelihood_weight"] < 1).any())


def _loo(tree: "xr.DataTree") -> dict[str, Any]:
    import arviz as az

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of bad values says it
        found = az.loo(tree, pointwise=True)
    return {
        "elpd": float(found.elpd),
        "se": float(found.se),
        "p": float(found.p),
        "n_bad_k": int((found.pareto_k > found.good_k).sum()),
        "of": str(found.pareto_k.dims[0]),
    }
