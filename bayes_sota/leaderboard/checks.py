r"""Does the model describe the board? Replicated boards, and families compared.

A replicated board is drawn as the model says: skills from P(psi), scores given the skills, both
given that the score is in the modelled part. ``tests/leaderboard/test_posterior.py`` shows
that the checks find a board that the model cannot describe, and pass boards that it can.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.core.types import FloatArray
from bayes_sota.leaderboard.fit import FieldFit

__all__ = ["LEVELS", "BoardCheck", "FamilyRow", "check_board", "compare_families"]

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_GAPS = (1, 2, 5)


@dataclass(frozen=True, eq=False)
class BoardCheck:
    """Observed statistics of the modelled part against replicated ones.

    Attributes
    ----------
    names : tuple of str
        The statistics: quantiles of the modelled scores, and gaps from the best score to the
        k-th next.
    observed : ndarray, shape (K,)
    replicated : ndarray, shape (draws, K)
    """

    names: tuple[str, ...]
    observed: FloatArray
    replicated: FloatArray

    @property
    def p_values(self) -> FloatArray:
        """Share of replications at least as large, ties by half, shape (K,)."""
        above = np.mean(self.replicated > self.observed, axis=0)
        return np.asarray(above + np.mean(self.replicated == self.observed, axis=0) / 2)


def check_board(fit: FieldFit, rng: np.random.Generator, draws: int = 400) -> BoardCheck:
    """Replicate the modelled part of the board.

    Parameters
    ----------
    fit : FieldFit
    rng : Generator
    draws : int
        Number of replicated boards.

    Returns
    -------
    BoardCheck
        Gaps and quantiles do not depend on the shift, which all entries share.
    """
    kernel = fit.kernel
    observed = np.repeat(kernel.values, np.round(fit.copies).astype(int)) / kernel.law.unit
    boards = []
    for r, f, points in fit.choose(draws, rng):
        density = fit.density(fit.families[f], points)
        boards += [_replicate(fit, float(fit.rho[r]), row, observed.size, rng) for row in density]
    names, seen = _statistics(observed)
    return BoardCheck(names, seen, np.array([_statistics(board)[1] for board in boards]))


def _replicate(
    fit: FieldFit, rho: float, density: FloatArray, size: int, rng: np.random.Generator
) -> FloatArray:
    """Scores of one replicated board; normal residuals, on the lattice of the scores."""
    kernel = fit.kernel
    reach = kernel.reach(rho) if kernel.is_cut else np.ones(kernel.y.size)
    cdf = np.cumsum(density * reach)
    psi = kernel.psi[np.minimum(np.searchsorted(cdf, rng.random(size) * cdf[-1]), cdf.size - 1)]
    cut = float(kernel.values[0]) if kernel.is_cut else None
    return kernel.law.replicate(psi, 1 - rho**2, cut, rng)


def _statistics(scores: FloatArray) -> tuple[tuple[str, ...], FloatArray]:
    ordered = np.sort(scores)[::-1]
    gaps = [k for k in _GAPS if k < ordered.size]
    names = (*(f"quantile {q:g}" for q in LEVELS), *(f"best minus next {k}" for k in gaps))
    values = [*np.quantile(ordered, LEVELS), *(ordered[0] - ordered[k] for k in gaps)]
    return names, np.array(values)


@dataclass(frozen=True)
class FamilyRow:
    """One family of P(psi) beside the others.

    Attributes
    ----------
    family : str
    probability : float
        Posterior probability, averaged over rho: its weight in the result.
    log_evidence : float
        Logarithm of the evidence, averaged over rho.
    elpd_loo : float
        Expected log predictive density of one left-out entry, summed over entries.
    elpd_loo_se : float
        Its standard error over entries.
    least_effective : float
        Smallest effective number of points behind a left-out entry; below about 20 the number
        is not to be trusted.
    """

    family: str
    probability: float
    log_evidence: float
    elpd_loo: float
    elpd_loo_se: float
    least_effective: float


def compare_families(fit: FieldFit) -> list[FamilyRow]:
    r"""Evidence and leave-one-out predictive density of every family.

    .. math:: p(x_j \mid x_{-j}) = \left[\sum_s w_s / p(x_j \mid \phi_s)\right]^{-1}

    with the weights ``w_s`` of the points given all scores, at the middle rho; each entry's
    density is conditional on its place in the modelled part.

    Returns
    -------
    list of FamilyRow
        Largest elpd first.
    """
    r = fit.rho.size // 2
    rows = []
    for f, family in enumerate(fit.families):
        log_density = fit.entry_log_likelihood(f, r)
        own = fit.points[f].weights[:, r, None]
        log_inverse = np.where(own > 0, -log_density, -np.inf)
        largest = log_inverse.max(axis=0)
        weights = own * np.exp(log_inverse - largest)
        loo = -largest - np.log(weights.sum(axis=0))
        effective = weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0)
        mean = fit.copies @ loo / fit.copies.sum()
        rows.append(
            FamilyRow(
                family,
                float(fit.family_weights[f].mean()),
                float(np.mean(fit.log_evidence[f])),
                float(fit.copies @ loo),
                float(np.sqrt(fit.copies @ (loo - mean) ** 2)),
                float(effective.min()),
            )
        )
    return sorted(rows, key=lambda row: -row.elpd_loo)
