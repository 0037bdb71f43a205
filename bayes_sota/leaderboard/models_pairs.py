"""Two boards as a plain ``pm.Model``: the tables of the exact route, summed over skills and noise.

Free variables are the place, the width and the other numbers of one shape of the field.
``tests/leaderboard/test_models_pairs.py`` compares its likelihood with the exact route's.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import Priors
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard.fit_shape import family_of
from bayes_sota.leaderboard.models import (
    log_count_probability,
    pytensor_operations,
    relative_density,
)
from bayes_sota.leaderboard.pairs_posterior import PairFit, draw_boards
from bayes_sota.leaderboard.shapes import FAMILIES


def build_paired(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    family: str = "ex-gaussian",
    top: float | None = None,
) -> pm.Model:
    r"""Model of a public and a private board of the same teams.

    Skills, errors, rho, the shift and the luck of submissions are summed out on the tables of the
    exact route.

    Parameters
    ----------
    boards : PairedBoards
    priors : Priors or PairedPriors, optional
    family : str
        Shape of P, a key of ``bayes_sota.leaderboard.shapes.FAMILIES``.
    top : float, optional
        As in ``estimate_paired``.

    Returns
    -------
    pm.Model
        Free variables ``location``, ``spread`` and ``shape`` (shape_parameter); observed ``score``
        (classifier, board), one log probability for all. ``complete`` makes a result of a trace.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.uniform(0.7, 0.9, 30)
    >>> model = build_paired(PairedBoards(*rng.binomial(300, skill, (2, 30)) / 300, n_test=300))
    >>> [v.name for v in model.free_RVs]
    ['location', 'spread', 'shape']
    """
    shape = family_of(family)
    fit = PairFit.of_pairs(boards, priors, (shape.name,), top)
    scale, pairs = fit.scale, fit.evidence
    zero, one = pairs.law.location_at(np.array([0.0, 1.0])).tolist()
    unit = one - zero
    coords = {
        "classifier": [boards.names[i] for i in pairs.kept],
        "board": list(BOARDS),
        "shape_parameter": list(shape.parameters[2:]),
    }
    with pm.Model(coords=coords) as model:
        add_digest(boards)
        pm.Data("family", list(FAMILIES).index(family))
        pm.Data("top", np.nan if top is None else top)
        location = pm.Normal("location", zero + unit * scale.location, unit * scale.location_sd)
        spread = pm.LogNormal("spread", scale.log_spread + np.log(unit), scale.log_spread_sd)
        t = [*scale.coordinates((location - zero) / unit, pt.log(spread / unit))]
        if shape.dimension > 2:
            others = pm.Normal("shape", dims="shape_parameter")
            t.extend(others[i] for i in range(shape.dimension - 2))
        log_density = shape.log_density(pytensor_operations(), scale, tuple(t), pairs.y)
        scores = pairs.scores

        def logp(value: Any, log_density: Any, _: Any) -> Any:
            total = _log_likelihood(fit, log_density.reshape((pairs.y.size,)))
            return pt.switch(pt.all(pt.isclose(value, scores)), total, np.nan)

        def random(log_density: Any, _: Any, rng: np.random.Generator, size: Any = None) -> Any:
            density = np.exp(log_density - log_density.max()).reshape(1, -1)
            return pairs.printed(draw_boards(fit, pairs.y, density, rng)[2])[0]

        pm.CustomDist(
            "score",
            log_density,
            np.zeros(scores.shape),
            logp=logp,
            random=random,
            signature="(g),(n,b)->(n,b)",
            observed=scores,
            dims=("classifier", "board"),
        )
    return model


def _log_likelihood(fit: PairFit, log_density: Any) -> Any:
    """Log probability of all scores, skills and noise summed out."""
    likelihood, count = fit.likelihood_at(fit.tables), float(fit.evidence.n_counted)
    top, density = relative_density(fit, log_density)

    def logs(table: Any) -> Any:
        mass = pt.sum(density[:, None] * table, axis=0)
        return pt.log(pt.maximum(mass, 1e-300)).reshape((fit.rho.size, -1))

    total = pt.sum(logs(likelihood.table) + likelihood.log_scale, axis=1)
    if likelihood.reach is None:
        total += count * top
    else:
        total -= pt.sum(logs(likelihood.reach)[:, likelihood.kind], axis=1)
        reach = pt.minimum(logs(likelihood.typical)[:, 0] + top, 0.0)
        total += log_count_probability(reach, count, float(fit.evidence.n_below))
    return pt.logsumexp(total + fit.noise_nodes.log_prior) - np.log(fit.rho.size)
