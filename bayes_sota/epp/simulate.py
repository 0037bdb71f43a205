r"""How well one order of skills explains a tournament, and resampled rounds.

The deviance D (Property 3.7 of Gosiewska et al. 2022) has no chi-square law: matches of one round
are not independent, and D is far below its degrees of freedom even if the model is right. Its law
is simulated from rankings by :math:`\beta_i` plus standard Gumbel noise, which follow the
Bradley–Terry model; tied places and absent players stay as observed. A tie as half a win is not
quite Bradley–Terry: where many scores are cut off at a floor, the test rejects too often.

``multiscale_test`` resamples rounds (Shimodaira 2002). The share of resamples in which a statement
is true is no p-value, as the boundary of its region may be curved. With shares BP_r of resamples of
r G rounds,

.. math:: -\Phi^{-1}(BP_r) = v \sqrt r + c / \sqrt r, \qquad AU = 1 - \Phi(v - c),

v being the signed distance from the boundary and c its curvature (doi 10.1080/10635150290069913,
eqs. 4 to 9). Resamples of G clusters vary less by a factor (G - 1) / G and do not show the overlap
of splits: r counts as r G / (G - 1) times it.
``tests/epp/test_simulate.py`` measures how often true hypotheses are rejected, and compares with a
fit of every tournament or resample, and with exact p-values.
"""

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from bayes_sota.core.arguments import Range, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp import equations
from bayes_sota.epp.counts import MatchCounts, Wins, count_scores, two_players
from bayes_sota.epp.fit import BradleyTerryFit

_MOST_REPETITIONS = 999
_LEAST_REPETITIONS = 19
_WORK = 4e8  # comparisons in all replicates together, by default
_BLOCK = 2**18  # numbers of a batch of replicates, which stay near the processor
_PENALTY = 1e-6  # rounds of ties in replicates, of which some would have infinite skills
_SAME = 1e-5  # deviances that differ by less are equal
SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)
_ENOUGH_CLUSTERS = 6


@one_thread()
def leaderboard_quality(
    fit: BradleyTerryFit, *, repetitions: int | None = None, random_seed: Seed = 0
) -> SimpleNamespace:
    """Compare the deviance of a leaderboard with that of simulated tournaments.

    Parameters
    ----------
    fit : BradleyTerryFit
    repetitions : int, optional
        Default: 999, fewer (at least 19) for thousands of players.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    namespace
        ``tournament``; ``deviance``; ``replicates`` (B,), the deviances of simulated tournaments,
        and ``expected``, their mean; ``p_value``, (1 + n) / (1 + B) with n as large;
        ``standardized_deviance``, in standard deviations of the replicates above their mean
        (Property 3.9), NaN for two players.

    Raises
    ------
    InputError
        Clustered matches, or groups of rounds.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> scores = [1.0, 0.5, 0.0, -1.0] + np.random.default_rng(1).gumbel(size=(20, 4))
    >>> fit = bs.fit_epp(scores)
    >>> draws = leaderboard_quality(fit, repetitions=99)
    >>> draws.p_value > 0.05, fit.deviance_df, draws.expected < fit.deviance_df
    (True, 3, True)
    """
    reason = not_comparable(fit.data)
    if reason:
        raise InputError(f"the deviance has no reference: {reason}")
    m, rng = len(fit.players), generator_of(random_seed)
    if repetitions is None:
        most = _WORK / (m**2 * getattr(fit.data, "n_rounds", 1))
        repetitions = int(np.clip(most, _LEAST_REPETITIONS, _MOST_REPETITIONS))
    Range(2, 10**6, whole=True).check(repetitions, "repetitions")
    replicate = _of_scores if isinstance(fit.data, ScoreTable) else _of_matches
    size = max(_BLOCK // (m * max(m, fit.data.n_clusters)), 1)
    sizes = [min(size, repetitions - begin) for begin in range(0, repetitions, size)]
    replicates = np.concatenate([_deviances(replicate(fit, size, rng), fit) for size in sizes])
    larger = int(np.sum(replicates >= fit.deviance - _SAME * (1 + abs(fit.deviance))))
    expected, spread = float(replicates.mean()), float(replicates.std(ddof=1))
    varies = spread > _SAME * (1 + expected)
    return SimpleNamespace(
        tournament=fit.data.tournament,
        deviance=fit.deviance,
        replicates=replicates,
        expected=expected,
        p_value=(1 + larger) / (1 + repetitions),
        standardized_deviance=(fit.deviance - expected) / spread if varies else np.nan,
    )


def not_comparable(data: ScoreTable | Matches) -> str:
    """Reason that a deviance cannot be compared with simulated ones; empty if it can."""
    if data.groups is None:
        return ""
    what = "matches of one cluster" if isinstance(data, Matches) else "rounds of one group"
    return f"{what} depend on each other in a way that is not simulated"


def _of_matches(fit: BradleyTerryFit, size: int, rng: np.random.Generator) -> Wins:
    data: Any = fit.data
    n_matches = fit.counts.n_matches
    first, second = np.nonzero(np.triu(n_matches))
    tied, ties = data.outcomes == 0.5, np.zeros(n_matches.shape, int)
    np.add.at(ties, (data.first[tied], data.second[tied]), 1)
    ties = (ties + ties.T)[first, second]
    played, chances = n_matches[first, second].astype(int), fit.win_probabilities()[first, second]
    won = rng.binomial(played - ties, chances, (size, first.size))
    doubled = np.zeros((size, *n_matches.shape), int)
    doubled[:, first, second] = 2 * won + ties
    doubled[:, second, first] = 2 * (played - won) - ties
    return doubled


def _of_scores(fit: BradleyTerryFit, size: int, rng: np.random.Generator) -> Wins:
    """Doubled wins of tournaments of scores, whatever the order of a file's rows and columns."""
    data: Any = fit.data
    columns = np.argsort(np.array(fit.players))
    rows, columns = np.ix_(np.lexsort(data.oriented[:, columns].T), columns)
    noise = np.empty((size, *data.scores.shape))
    noise[:, rows, columns] = rng.gumbel(size=noise.shape)
    scores = np.where(data.present, fit.epp + noise, np.nan)
    shape = (1, -1) if fit.kind == "all-rounds" else data.scores.shape
    observed = np.sort(data.oriented.reshape(shape), axis=1)
    if (observed[:, 1:] == observed[:, :-1]).any():
        drawn = scores.reshape(size, *shape)
        np.put_along_axis(drawn, np.argsort(drawn, axis=2), observed[None], axis=2)
    return count_scores(scores, fit.kind).doubled_wins


def _deviances(doubled_wins: Wins, fit: BradleyTerryFit) -> FloatArray:
    counts = MatchCounts(doubled_wins, fit.counts.n_matches)
    totals, n_matches = counts.with_ties(fit.kind, max(fit.penalty, _PENALTY))
    return equations.deviance(equations.solve(totals, n_matches, start=fit.epp), counts)


def compare_leaderboards(
    fits: Iterable[BradleyTerryFit], *, repetitions: int | None = None, random_seed: Seed = 0
) -> list[SimpleNamespace]:
    """Quality of several leaderboards, the best explained one first (Properties 3.8 and 3.10)."""
    fits = list(fits)
    qualities = [
        leaderboard_quality(fit, repetitions=repetitions, random_seed=rng)
        for fit, rng in zip(fits, generator_of(random_seed).spawn(len(fits)), strict=True)
    ]
    return sorted(qualities, key=lambda one: np.nan_to_num(one.standardized_deviance, nan=np.inf))


def reliability(fit: BradleyTerryFit, n_bins: int = 10) -> SimpleNamespace:
    """Compare predicted with empirical win frequencies (Fig. 5 of Gosiewska et al. 2022).

    Returns
    -------
    namespace
        ``pairs_predicted``, ``pairs_observed`` of every pair that met, from the side of the better
        player; ``predicted``, ``observed``: means of the ``n_pairs`` of each bin;
        ``mean_error``: mean absolute difference over the pairs.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> scores = np.linspace(2, -2, 20) + np.random.default_rng(0).gumbel(size=(50, 20))
    >>> fit = bs.fit_epp(scores)
    >>> quality = reliability(fit, 4)
    >>> quality.n_pairs.tolist(), round(quality.mean_error, 2)
    ([47, 48, 47, 48], 0.03)
    """
    predicted, counts = fit.win_probabilities(), fit.counts
    rank = np.argsort(np.argsort(-fit.epp, kind="stable"), kind="stable")
    rows, columns = np.nonzero((rank[:, None] < rank) & (counts.n_matches > 0))
    order = np.argsort(predicted[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    starts = np.unique(np.linspace(0, rows.size, n_bins, endpoint=False).astype(int))
    p, each = predicted[rows, columns], counts.n_matches[rows, columns]
    wins, matches = counts.doubled_wins[rows, columns] / 2, np.add.reduceat(each, starts)
    observed = wins / each
    return SimpleNamespace(
        pairs_predicted=p,
        pairs_observed=observed,
        predicted=np.add.reduceat(p * each, starts) / matches,
        observed=np.add.reduceat(wins, starts) / matches,
        n_pairs=np.diff(np.append(starts, rows.size)),
        mean_error=float(np.mean(np.abs(observed - p))),
    )


def multiscale_test(
    fit: BradleyTerryFit,
    pairs: Sequence[tuple[str, str]],
    *,
    repetitions: int = 2000,
    random_seed: Seed = 0,
) -> SimpleNamespace:
    """Resample rounds at ten scales, and test which of two players is better.

    Parameters
    ----------
    fit : BradleyTerryFit
    pairs : sequence of (str, str)
    repetitions : int
        At each scale.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    namespace
        ``pair_p_value`` of the hypothesis that A is no better than B, pair by pair, small where A
        is better; ``pair_share``, the share of resamples of G rounds in which it is true.

    Raises
    ------
    InputError
        Matches without clusters, fewer than six clusters of rounds, unknown players.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> scores = [1.0, 0.9, 0.8, -1.0] + np.random.default_rng(0).gumbel(size=(40, 4))
    >>> fit = bs.fit_epp(scores)
    >>> bool(multiscale_test(fit, [("1", "4")]).pair_p_value[0] < 0.001)
    True
    """
    Range(100, 1_000_000, whole=True).check(repetitions, "repetitions")
    clusters = 0 if fit.influence is None else fit.data.n_clusters
    if fit.influence is None or clusters < _ENOUGH_CLUSTERS:
        raise InputError(
            f"the multiscale bootstrap needs at least {_ENOUGH_CLUSTERS} independent rounds, "
            f"got {clusters}"
        )
    first, second = np.transpose([two_players(fit.players, a, b) for a, b in pairs])
    start, effect = fit.epp, fit.influence
    if fit.kind == "same-round" and np.ptp(fit.matches_by_cluster) == 0:  # the order of the wins
        half = np.full((len(fit.players),) * 2, 0.5)
        start, effect = 0 * start, equations.cluster_scores(fit.data, fit.kind, half)
    rng, uniform = generator_of(random_seed), np.full(clusters, 1 / clusters)
    sizes = np.round(np.array(SCALES) * clusters).astype(int)
    shares = []
    for size in sizes.tolist():
        drawn = rng.multinomial(size, uniform, size=repetitions)
        skills = start + clusters / size * (drawn @ effect)
        gaps = np.sign((skills[:, first] - skills[:, second]).round(9))
        shares.append(np.mean((1 - gaps) / 2, axis=0))  # equals by half
    scales = sizes / (clusters - 1) * fit.overlap
    p_values = unbiased_p_values(shares, scales, repetitions)
    return SimpleNamespace(pair_share=shares[SCALES.index(1.0)], pair_p_value=p_values)


def unbiased_p_values(shares: ArrayLike, scales: ArrayLike, repetitions: int) -> FloatArray:
    """p-values (K,) from shares (n_scales, K) of resamples, by weighted least squares."""
    table, root_scale = np.asarray(shares, np.float64), np.sqrt(scales)
    found = table[np.argmin(np.abs(root_scale**2 - 1))].copy()
    for k, column in enumerate(table.T):
        used = (column > 0) & (column < 1)
        if used.sum() >= 3:
            z, p = -ndtri(column[used]), column[used]
            weight = norm.pdf(z) * np.sqrt(repetitions / (p * (1 - p)))
            design = np.column_stack([root_scale, 1 / root_scale])[used] * weight[:, None]
            (distance, curvature), *_ = np.linalg.lstsq(design, z * weight)
            found[k] = ndtr(curvature - distance)
    return found
