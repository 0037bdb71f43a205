r"""Quick Bayesian EPP: the clustered estimate is the datum, and only draws are random.

.. math:: \hat\beta \mid \beta \sim N(\beta,\, c\, C), \qquad \beta \sim N(0, \sigma^2 I), \qquad
   \sum_i \beta_i = 0, \qquad \sigma \sim N^+(0, s^2)

with C the inverse information of independent matches and c what clusters of rounds multiply
variances by (``BradleyTerryFit.inflation``). Given :math:`\sigma` the skills are normal. C depends
on the estimate, which lies in few of its eigenvectors, so that these say nothing about
:math:`\sigma` one by one: it is learnt on a grid from all of them together,

.. math:: \sum_i \hat\beta_i^2 \sim (\sigma^2 + \bar e)\, \chi^2_{m - 1}, \qquad
   \bar e = \frac{c \operatorname{tr} C}{m - 1}.

``models`` has the likelihoods of rankings and of pairs, which also answer for players who never
lost. ``tests/epp/test_sample_estimate.py`` compares with quadrature;
``tests/calibration/epp_bayes.py`` measures coverage, beside NUTS.
"""

from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import halfnorm

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import EppPriors, own_priors
from bayes_sota.core.sample import describe_provenance, lay_out, resolve_seed, result_tree
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.epp.fit import BradleyTerryFit

_SCALES = np.geomspace(0.002, 5.0, 800)  # of sigma, in units of s
_CHAINS = 4


def infer_skills(
    fit: BradleyTerryFit,
    priors: EppPriors | None = None,
    *,
    draws: int = 1000,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Posterior of the skills of one tournament, from its clustered estimate.

    Parameters
    ----------
    fit : BradleyTerryFit
        Fit of any matches, with estimates that are finite without a penalty.
    priors : EppPriors, optional
        ``skill_scale`` is s.
    draws : int
        Draws of each of four chains.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior`` of ``epp``, ``rank`` and ``skill_sd``; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` of ``epp_estimate``, what as many rounds
        would estimate.

    Raises
    ------
    InputError
        Estimates that are finite by a penalty only.

    Examples
    --------
    >>> from bayes_sota.data.tournaments import ScoreTable
    >>> from bayes_sota.epp.fit import fit_epp
    >>> scores = [1.0, 0.0, -1.0] + np.random.default_rng(0).gumbel(size=(30, 3))
    >>> tree = infer_skills(fit_epp(ScoreTable(scores)))
    >>> tree["posterior"]["epp"].mean(("chain", "draw")).values.round(1).tolist()
    [0.9, -0.1, -0.8]
    """
    if not fit.connected:
        raise InputError(
            "some skills have no finite estimate without a penalty: sample the model of "
            "epp.build_model, which has the likelihood itself"
        )
    DRAWS.check(draws, "draws")
    known = own_priors(EppPriors, priors)
    rng, seed = resolve_seed(random_seed)
    values, vectors = np.linalg.eigh(fit.inflation * fit.covariance_model)
    errors, basis = values[1:], vectors[:, 1:].T  # without the direction of equal skills
    size = (_CHAINS * draws, errors.size)

    def laid_out(**values: FloatArray) -> xr.Dataset:
        dims = dict.fromkeys(("epp", "rank", "epp_estimate"), ("player",))
        return lay_out(values, _CHAINS, dims, {"player": list(fit.players)})

    def drawn(group: str, skills: FloatArray, sd: FloatArray) -> dict[str, xr.Dataset]:
        """Skills, and estimates of them from as many rounds."""
        epp = skills @ basis
        fresh = laid_out(epp_estimate=epp + np.sqrt(errors) * rng.standard_normal(size) @ basis)
        known = laid_out(epp=epp, rank=ranks_of(epp), skill_sd=sd)
        return {group: known, f"{group}_predictive": fresh}

    sd = _draw_spread(fit.epp, errors.mean(), known.skill_scale, rng, size[0])
    share = sd[:, None] ** 2 / (sd[:, None] ** 2 + errors)
    skills = share * (basis @ fit.epp) + np.sqrt(share * errors) * rng.standard_normal(size)
    prior_sd = known.skill_scale * np.abs(rng.standard_normal(size[0]))
    groups = drawn("posterior", skills, sd)
    groups |= drawn("prior", prior_sd[:, None] * rng.standard_normal(size), prior_sd)
    observed = {"epp_estimate": ("player", fit.epp)}
    groups["observed_data"] = xr.Dataset(observed, {"player": list(fit.players)})
    about = {"method": "normal approximation", "seed": seed, "model_name": "epp"}
    facts = describe_provenance([fit.data], known, **about)
    return result_tree(groups, {**facts, "draws_are_independent": 1, "matches": fit.kind})


def _draw_spread(
    epp: FloatArray, error: float, scale: float, rng: np.random.Generator, number: int
) -> FloatArray:
    """Draws of sigma given the sum of squares of the estimates (module docstring)."""
    grid = scale * _SCALES
    total = grid**2 + error
    log_p = -0.5 * ((epp.size - 1) * np.log(total) + epp @ epp / total)  # the chi-square law
    log_p += halfnorm.logpdf(grid, scale=scale) + np.log(grid)  # equal steps of the logarithm
    weights = np.exp(log_p - log_p.max())
    return rng.choice(grid, number, p=weights / weights.sum())


def ranks_of(epp: FloatArray) -> Any:
    """Rank of each player in each draw, 1 is best, (..., m)."""
    return np.argsort(np.argsort(-epp, axis=-1), axis=-1).astype(np.int32) + 1
