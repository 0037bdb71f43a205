r"""Tests that two players have the same skill (Property 3.3 of Gosiewska et al. 2022).

``se`` and ``p_value`` are clustered by round and t; those of the model (Wald, likelihood ratio,
one degree of freedom each) take matches for independent and reject true nulls far too often. The
paper's own Wald statistic counts every match twice and has two degrees of freedom.
``tests/epp/test_fit.py`` compares with published numbers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.epp import solver
from bayes_sota.epp.match_counts import penalised_totals
from bayes_sota.epp.round_inference import ROUND_OFF, bonferroni_critical

if TYPE_CHECKING:
    from bayes_sota.epp.fit import BradleyTerryFit

__all__ = ["PairTest", "test_pair"]


@dataclass(frozen=True)
class PairTest:
    """Difference of two players' skills.

    Attributes
    ----------
    players : (str, str)
        A and B.
    difference : float
        Skill of A minus skill of B, in logits.
    se, df, p_value : float
        Standard error clustered by round, degrees of freedom, and two-sided p-value.
    interval : (float, float)
        Of the difference.
    win_probability : float
        That A beats B in a round.
    win_probability_interval : (float, float)
    se_model, wald_chi2, p_value_model : float
        The same for independent matches, one degree of freedom.
    lrt_chi2, lrt_p_value : float or None
        Likelihood-ratio test for independent matches; None with a penalty.
    paper_wald_chi2, paper_wald_p_value : float
        Every match counted twice, two degrees of freedom: the published implementation's.
    """

    players: tuple[str, str]
    difference: float
    se: float
    df: float
    p_value: float
    interval: tuple[float, float]
    win_probability: float
    win_probability_interval: tuple[float, float]
    se_model: float
    wald_chi2: float
    p_value_model: float
    lrt_chi2: float | None
    lrt_p_value: float | None
    paper_wald_chi2: float
    paper_wald_p_value: float


def test_pair(fit: "BradleyTerryFit", i: int, j: int, prob: float) -> PairTest:
    """Compare players i and j of a fit."""
    from scipy.special import expit, gammaincc

    difference = float(fit.epp[i] - fit.epp[j])
    se = float(fit.standard_errors_of_pairs()[i, j])
    df = float(min(fit.df[i], fit.df[j]))
    half = bonferroni_critical(prob, 1, df) * se
    low, high = difference - half, difference + half
    model = fit.covariance_model
    se_model = float(np.sqrt(model[i, i] + model[j, j] - 2 * model[i, j]))
    wald = (difference / se_model) ** 2
    ratio = None if fit.penalty else _likelihood_ratio(fit, i, j)
    return PairTest(
        players=(fit.players[i], fit.players[j]),
        difference=difference,
        se=se,
        df=df,
        p_value=_two_sided(difference, se, df),
        interval=(low, high),
        win_probability=float(expit(difference)),
        win_probability_interval=(float(expit(low)), float(expit(high))),
        se_model=se_model,
        wald_chi2=wald,
        p_value_model=float(gammaincc(0.5, wald / 2)),
        lrt_chi2=ratio,
        lrt_p_value=None if ratio is None else float(gammaincc(0.5, ratio / 2)),
        paper_wald_chi2=2 * wald,
        paper_wald_p_value=float(gammaincc(1.0, wald)),
    )


def _two_sided(difference: float, se: float, df: float) -> float:
    from scipy.special import ndtr, stdtr

    if np.isinf(se) or abs(difference) < ROUND_OFF:
        return 1.0
    if se == 0:
        return 0.0
    t = -abs(difference) / se
    return float(2 * ndtr(t)) if np.isinf(df) else float(2 * stdtr(df, t))


def _likelihood_ratio(fit: "BradleyTerryFit", i: int, j: int) -> float:
    totals, n_matches = penalised_totals(fit.counts, fit.kind, 0.0)
    equal = solver.solve(totals, n_matches, start=fit.epp, equal=(i, j))
    found = solver.log_likelihood(fit.skills, fit.counts) - solver.log_likelihood(equal, fit.counts)
    return max(2 * found, 0.0)
