r"""Boards that the model expects: before the scores are seen, and again once they are.

A board is simulated as the model says, given that its scores are in the modelled part:

.. math:: \psi_j \sim P(\psi \mid \phi)\, P(\text{modelled} \mid \psi), \quad
          x_j \mid \psi_j \sim \text{variance } (1-\ell_j^2)\, q_j^2\, sd_j^2, \quad
          x_j \text{ modelled}

on the lattice of the scores. From answers psi and the errors have the residual correlation R of the
classifiers. Entries that are not modelled have no law of their own.
``tests/leaderboard/test_predictive.py`` compares moments with quadrature, and boards from the model
with their replicates.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from bayes_sota.core.inference import Parameters
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.types import FloatArray
from bayes_sota.leaderboard.evidence import Evidence, Tables
from bayes_sota.leaderboard.fit import FieldFit, Strangers
from bayes_sota.leaderboard.skills import draw_tries, log_hidden

_NODES = 1000  # of the grid that covers the prior
_NUMBERS = 1_000_000  # of an array at a time


@one_thread()
def fresh_scores(
    fit: FieldFit,
    parameters: Parameters,
    rng: np.random.Generator,
    psi: FloatArray | None = None,
) -> FloatArray:
    """Scores of fresh boards with the design of this one, (D, E); of entries with psi, if given."""
    scores = np.empty((parameters.node.size, fit.evidence.entries.size))
    for r, f, draws in parameters.cells(fit, _block(fit.evidence)):
        if psi is None:
            density = fit.density(fit.families[f], parameters.points(fit, draws))
            at = draw_fresh(fit, fit.tables[r], density, rng)
        else:
            at = psi[draws]
        scores[draws] = _scores_at(fit, r, at, rng)
    return scores


def replicate_scores(
    fit: FieldFit, log_density: FloatArray, rho: float, rng: np.random.Generator
) -> FloatArray:
    """Scores of a fresh modelled part of the board as they are printed, (n,).

    The log density of the shape on the grid is one for all entries, (G,), or one for each, (n, G).
    """
    r = int(fit.nodes.find(np.array([rho]))[0])
    if fit.evidence.is_cut:  # as in the fit: only relative densities matter
        log_density = log_density - log_density.max(axis=-1, keepdims=True)
    density = fit.strangers.join(np.exp(np.clip(log_density, -700.0, 50.0)))[None]
    psi = draw_fresh(fit, fit.tables[r], density, rng)
    return fit.evidence.board.sign * fit.evidence.draw_scores(psi, rho, 0.0, rng)[0]


def _scores_at(fit: FieldFit, r: int, psi: FloatArray, rng: np.random.Generator) -> FloatArray:
    scores = fit.evidence.draw_scores(psi, float(fit.rho[r]), float(fit.luck[r]), rng)
    classifier, _, first = fit.classifiers
    return scores[:, first][:, classifier]  # copies of a classifier have one score


def draw_fresh(
    fit: FieldFit, table: Tables, density: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Psi of new classifiers behind the modelled entries, (N, E), given that they are modelled.

    From densities (N, G) of the field, or (N, E, G) of each entry.
    """
    evidence, kinds = fit.evidence, fit.evidence.kind[fit.evidence.row]
    classifier, _, first = fit.classifiers
    level = ndtr(evidence.draw_normal((len(density),), rng))[:, first][:, classifier]
    reach = np.ones((1, evidence.y.size)) if table.reach is None else table.reach
    kinds = kinds if len(reach) > 1 else np.zeros_like(kinds)
    if density.ndim == 3:
        mass, rows = density * reach[kinds], np.arange(level.size).reshape(level.shape)
    else:
        mass, rows = density[:, None] * reach, np.arange(len(density))[:, None] * len(reach) + kinds
    cdf = np.cumsum(mass.reshape(-1, evidence.y.size), axis=1)
    return evidence.law.skill_at(invert_rows(cdf, level, evidence.y, rows))


def _block(evidence: Evidence) -> int:
    """Draws at a time."""
    rows = evidence.n_kinds if evidence.is_cut else 1
    return int(np.clip(_NUMBERS // max(evidence.entries.size, rows * evidence.y.size), 1, 256))


@one_thread()
def prior_boards(
    fit: FieldFit,
    parameters: Parameters,
    rho: FloatArray,
    shift: FloatArray,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Boards from the prior: scores (D, E), their best, and the skills of winner and best, (D,).

    Parameters
    ----------
    fit : FieldFit
        For the priors, and for the design that was observed: sizes, cut, correlation.
    parameters : Parameters
        Of D draws from the prior (``Parameters.from_prior``).
    rho, shift : ndarray, shape (D,)
        Prior draws of rho, in the cells of the nodes, and of the shift.
    rng : Generator
    """
    wide = _widened(fit)
    evidence, law, size = wide.evidence, wide.evidence.law, parameters.node.size
    psi, scores = np.empty((2, size, evidence.entries.size))
    hidden, tries = np.full(size, evidence.psi[0]), draw_tries(fit, size, rng)
    for r, f, draws in parameters.cells(wide, _block(evidence)):
        density = wide.density(wide.families[f], parameters.points(wide, draws))
        psi[draws] = draw_fresh(wide, wide.tables[r], density, rng)
        scores[draws] = _scores_at(wide, r, psi[draws], rng)
        if evidence.board.is_partial:
            below = np.exp(log_hidden(wide, wide.tables[r], density, tries[draws]))
            y = invert_rows(below, rng.random((draws.size, 1)), evidence.y)
            hidden[draws] = law.skill_at(y[:, 0])
    theta = law.remove_shift(psi, evidence.moved(rho, shift, evidence.entries))
    return {
        "score": scores,
        "theta_sota": np.maximum(theta.max(axis=1), law.remove_shift(hidden, rho * shift)),
        "winner_skill": theta[np.arange(size), np.argmax(scores, axis=1)],
        "observed_maximum": scores.max(axis=1),
    }


def _widened(fit: FieldFit) -> FieldFit:
    """The same on a grid that covers the fields of the prior."""
    evidence, scale = fit.evidence, fit.scale
    reach = 4 * scale.location_sd + 4 * np.exp(scale.log_spread + 2 * scale.log_spread_sd)
    low = evidence.y[0] if evidence.is_cut else min(evidence.y[0], scale.location - reach)
    high = max(evidence.y[-1], scale.location + reach)
    wide = replace(evidence, y=np.linspace(low, high, _NODES))
    return replace(fit, evidence=wide, strangers=Strangers.of_board(wide, scale, fit.nodes))
