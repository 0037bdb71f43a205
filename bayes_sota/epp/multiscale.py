r"""Approximately unbiased p-values by the multiscale bootstrap of rounds (Shimodaira 2002).

The share of resamples in which a statement is true is no p-value: the boundary of its region may be
curved. With shares BP_r of resamples of r G rounds, for several r,

.. math:: -\Phi^{-1}(BP_r) = v \sqrt r + c / \sqrt r, \qquad AU = 1 - \Phi(v - c),

v being the signed distance from the boundary and c its curvature (doi 10.1080/10635150290069913,
eqs. 4 to 9; cited by Gosiewska et al. 2022 below Property 3.3). Resamples of G clusters vary less
by a factor (G - 1) / G and do not show the overlap of splits: r counts as r G / (G - 1) times it.
Without gaps skills have the order of the wins, so that resamples need no fit; otherwise they take
one Newton step. ``tests/epp/test_multiscale.py`` compares with exact p-values of a half-space and a
sphere and with refitted resamples, and measures how often true nulls are rejected.
"""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from bayes_sota.core.arguments import Range, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.epp.counts import two_players
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.rounds import cluster_scores

SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)
_ENOUGH_CLUSTERS = 6


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
        Resamples at each scale.
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
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.data.tournaments import ScoreTable
    >>> scores = [1.0, 0.9, 0.8, -1.0] + np.random.default_rng(0).gumbel(size=(40, 4))
    >>> fit = fit_epp(ScoreTable(scores))
    >>> bool(multiscale_test(fit, [("1", "4")]).pair_p_value[0] < 0.001)
    True
    """
    Range(100, 1_000_000, whole=True).check(repetitions, "repetitions")
    clusters = 0 if fit.influence is None else fit.data.n_clusters
    if fit.influence is None or clusters < _ENOUGH_CLUSTERS:
        raise InputError(
            f"the multiscale bootstrap resamples rounds, of which at least {_ENOUGH_CLUSTERS} are "
            f"needed; there are {clusters}"
        )
    first, second = np.transpose([two_players(fit.players, a, b) for a, b in pairs])
    start, effect = fit.epp, fit.influence
    if fit.kind == "same-round" and np.ptp(fit.matches_by_cluster) == 0:  # the order of the wins
        half = np.full((len(fit.players),) * 2, 0.5)
        start, effect = 0 * start, cluster_scores(fit.data, fit.kind, half)
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
    """p-values (K,) from shares (n_scales, K) of resamples, by weighted least squares.

    Where fewer than three shares are neither 0 nor 1: the share at the scale nearest to 1.
    """
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
