r"""Boards that the model expects: before the scores are seen, and again once they are.

A board is simulated as the model says, given that its scores are in the modelled part:

.. math:: \psi_j \sim P(\psi \mid \phi)\, P(\text{modelled} \mid \psi), \quad
          x_j \mid \psi_j \sim \text{variance } (1-\ell_j^2)\, q_j^2\, sd_j^2, \quad
          x_j \text{ modelled}

on the lattice of the scores. From answers psi and the errors have the residual correlation R of the
classifiers. Entries that are not modelled have no law of their own: in the prior they are the rest
of the field, below the modelled part. ``tests/leaderboard/test_predictive.py`` holds moments
against quadrature, and boards from the model against their replicates.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from bayes_sota.core.inference import Parameters
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.types import FloatArray
from bayes_sota.leaderboard.evidence import Evidence, Tables
from bayes_sota.leaderboard.fit import FieldFit, Strangers
from bayes_sota.leaderboard.skills import Shared, draw_tries, expected_best, log_hidden

_NODES = 1000  # of the grid that holds the prior
_NUMBERS = 1_000_000  # of an array at a time


@one_thread()
def fresh_scores(fit: FieldFit, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
    """Scores of fresh modelled parts with the design of this board, (D, E)."""
    scores = np.empty((parameters.node.size, fit.evidence.entries.size))
    for r, f, draws in parameters.cells(fit, _block(fit.evidence)):
        density = fit.density(fit.families[f], parameters.points(fit, draws))
        psi = draw_fresh(fit, fit.tables[r], density, rng)
        scores[draws] = _scores_at(fit, r, psi, rng)
    return scores


@one_thread()
def own_scores(
    fit: FieldFit, parameters: Parameters, psi: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Scores of the modelled entries given their own psi, (D, E)."""
    scores = np.empty(psi.shape)
    for r, _, draws in parameters.cells(fit, _block(fit.evidence)):
        scores[draws] = _scores_at(fit, r, psi[draws], rng)
    return scores


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
    evidence, row = fit.evidence, fit.evidence.row
    classifier, _, first = fit.classifiers
    level = ndtr(evidence.draw_normal((len(density),), rng))
    level = level[:, first][:, classifier]
    kinds = evidence.kind[row]
    if density.ndim == 3:
        mass = density if table.reach is None else density * table.reach[kinds]
        mass, rows = mass.reshape(-1, evidence.y.size), np.arange(level.size).reshape(level.shape)
    else:
        reach = np.ones((1, evidence.y.size)) if table.reach is None else table.reach
        mass = (density[:, None] * reach).reshape(-1, evidence.y.size)
        kinds = kinds if len(reach) > 1 else np.zeros_like(kinds)
        rows = np.arange(len(density))[:, None] * len(reach) + kinds
    return evidence.law.skill_at(invert_rows(np.cumsum(mass, axis=1), level, evidence.y, rows))


def _block(evidence: Evidence) -> int:
    """Draws at a time."""
    rows = evidence.n_kinds if evidence.is_cut else 1
    return int(np.clip(_NUMBERS // max(evidence.entries.size, rows * evidence.y.size), 1, 256))


@one_thread()
def prior_boards(
    fit: FieldFit, parameters: Parameters, shared: Shared, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Boards from the prior, with what the posterior says of a board.

    Parameters
    ----------
    fit : FieldFit
        For the priors, and for what was observed of the design: sizes, cut, correlation.
    parameters : Parameters
        Of D draws from the prior (``Parameters.from_prior``).
    shared : (ndarray, ndarray)
        Prior draws of rho, in the cells of the nodes, and of the shift, (D,).
    rng : Generator

    Returns
    -------
    dict of str to ndarray
        ``score`` (D, E); ``theta_sota``, ``winner_skill``, ``expected_sota``,
        ``observed_maximum``, ``n_above_sota``, ``n_classifiers`` (D,); from answers or with errors
        of their own also ``skill`` (D, m).
    """
    wide = _widened(fit)
    evidence, law, size = wide.evidence, wide.evidence.law, parameters.node.size
    psi, scores = np.empty((2, size, evidence.entries.size))
    alone, fresh = np.empty((size, int(np.sum(~evidence.modelled)))), np.empty(size)
    hidden, tries = np.full(size, -np.inf), draw_tries(fit, size, rng)
    for r, f, draws in parameters.cells(wide, _block(evidence)):
        table, points = wide.tables[r], parameters.points(wide, draws)
        shape = wide.density(wide.families[f], points, strangers=False)
        density = wide.strangers.join(shape)
        psi[draws] = draw_fresh(wide, table, density, rng)
        scores[draws] = _scores_at(wide, r, psi[draws], rng)
        fresh[draws] = expected_best(shape * table.typical, fit.copies.sum(), evidence.psi)
        if not evidence.shares_scores:
            below = np.cumsum(density * (1 - table.typical), axis=1)
            y = invert_rows(below, rng.random(alone[draws].shape), evidence.y)
            alone[draws] = law.skill_at(y)
        if evidence.board.is_partial:
            below = np.exp(log_hidden(wide, table, density, tries[draws]))
            y = invert_rows(below, rng.random((draws.size, 1)), evidence.y)
            hidden[draws] = law.skill_at(y[:, 0])
    return _described(wide, psi, scores, alone, hidden, fresh, tries, shared)


def _widened(fit: FieldFit) -> FieldFit:
    """The same on a grid that holds the fields that the prior allows."""
    evidence, scale = fit.evidence, fit.scale
    reach = 4 * scale.location_sd + 4 * np.exp(scale.log_spread + 2 * scale.log_spread_sd)
    low = evidence.y[0] if evidence.is_cut else min(evidence.y[0], scale.location - reach)
    high = max(evidence.y[-1], scale.location + reach)
    wide = replace(evidence, y=np.linspace(low, high, _NODES))
    return replace(fit, evidence=wide, strangers=Strangers.of_board(wide, scale, fit.nodes))


def _described(
    fit: FieldFit,
    psi: FloatArray,
    scores: FloatArray,
    alone: FloatArray,
    hidden: FloatArray,
    fresh: FloatArray,
    tries: FloatArray,
    shared: Shared,
) -> dict[str, FloatArray]:
    """What boards say, with their scores."""
    evidence, law, (rho, shift) = fit.evidence, fit.evidence.law, shared
    theta = law.remove_shift(psi, evidence.moved(rho, shift, evidence.entries))
    top = theta.max(axis=1)
    listed = np.isfinite(hidden)
    top[listed] = np.maximum(top, law.remove_shift(hidden, rho * shift))[listed]
    shown = {
        "score": scores,
        "theta_sota": top,
        "winner_skill": theta[np.arange(len(theta)), np.argmax(scores, axis=1)],
        "expected_sota": law.remove_shift(fresh, rho * shift),
        "observed_maximum": scores.max(axis=1),
        "n_above_sota": np.sum(scores > top[:, None], axis=1).astype(np.float64),
        "n_classifiers": tries,
    }
    if not evidence.shares_scores:
        below = np.flatnonzero(~evidence.modelled)
        shown["skill"] = np.empty((len(theta), evidence.scores.size))
        shown["skill"][:, evidence.entries] = theta
        shown["skill"][:, below] = law.remove_shift(alone, evidence.moved(rho, shift, below))
    return shown
