"""Evidence of boards under the default priors, which tests of the leaderboard room share."""

from typing import Any

import numpy as np

from bayes_sota import Leaderboard, Outcomes, Priors
from bayes_sota.core.priors import board_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.leaderboard.evidence import Evidence, board_evidence
from bayes_sota.leaderboard.fit import FieldFit, Likelihood
from bayes_sota.leaderboard.from_items import items_evidence
from bayes_sota.leaderboard.posterior import EntryDraws, entries_of
from bayes_sota.leaderboard.skills import draw_posterior


def evidence_of(data: Leaderboard | Outcomes, priors: Priors | None = None) -> Evidence:
    """Evidence of scores or of answers."""
    if isinstance(data, Leaderboard):
        return board_evidence(data, board_priors(priors))
    return items_evidence(data)


def draw_entries(fit: FieldFit, draws: int, rng: np.random.Generator) -> EntryDraws:
    """Draws of the skills of all entries of a fit."""
    return entries_of(draw_posterior(fit, draws, rng, every=True), rng)


def log_likelihood_at(
    fit: FieldFit, family: str, points: FloatArray, rho: Any, luck: float = 0.0
) -> FloatArray:
    """Log likelihood of all scores at points of a family (N, d) and values of rho, (N, R)."""
    tables = tuple(fit.evidence.at(float(r), luck) for r in np.atleast_1d(rho))
    shape, log_unit = fit.shape_of(family, points)
    likelihood = Likelihood(tables, fit.copies, fit.evidence)
    return likelihood(fit.join(shape), log_unit)
