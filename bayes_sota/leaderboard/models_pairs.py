"""Two boards as a plain ``pm.Model``: the tables of the exact route, summed over skills and noise.

Free variables are the place, the width and the other numbers of one shape of the field.
``tests/leaderboard/test_models_pairs.py`` compares its likelihood with the exact route's.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.errors import InputError
from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import Priors, own_priors
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard.models import (
    log_count_probability,
    pytensor_operations,
    relative_density,
)
from bayes_sota.leaderboard.pairs import Pairs
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
        (classifier, board), whose log probability is shared by the teams so that it adds up.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.uniform(0.7, 0.9, 30)
    >>> model = build_paired(PairedBoards(*rng.binomial(300, skill, (2, 30)) / 300, n_test=300))
    >>> [v.name for v in model.free_RVs]
    ['location', 'spread', 'shape']
    """
    fit = model_fit(boards, priors, family, top)
    shape, scale, pairs = FAMILIES[family], fit.scale, fit.evidence
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
        location = pm.Normal("location", zero + unit * scale.location, unit * scale.location_sd)
        spread = pm.LogNormal("spread", scale.log_spread + np.log(unit), scale.log_spread_sd)
        t = [*scale.coordinates((location - zero) / unit, pt.log(spread / unit))]
        if shape.dimension > 2:
            others = pm.Normal("shape", dims="shape_parameter")
            t.extend(others[i] for i in range(shape.dimension - 2))
        log_density = shape.log_density(pytensor_operations(), scale, tuple(t), pairs.y)
        scores = pairs.scores

        def logp(value: Any, log_density: Any, _: Any) -> Any:
            each = paired_log_likelihood(fit, log_density.reshape((pairs.y.size,)))
            return pt.switch(pt.all(pt.isclose(value, scores), axis=1), each, np.nan)

        def random(log_density: Any, _: Any, rng: np.random.Generator, size: Any = None) -> Any:
            density = np.exp(log_density - log_density.max()).reshape(1, -1)
            drawn = draw_boards(fit, pairs.y, density, rng)[2]
            return pairs.coordinate.printed(drawn)[0][pairs.group]

        pm.CustomDist(
            "score",
            log_density,
            np.zeros(2),  # as many as boards
            logp=logp,
            random=random,
            signature="(g),(b)->(b)",
            observed=scores,
            dims=("classifier", "board"),
        )
    return model


def model_fit(
    boards: PairedBoards, priors: Priors | PairedPriors | None, family: str, top: float | None
) -> PairFit:
    """Tables of two boards for one shape."""
    if family not in FAMILIES:
        raise InputError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    return PairFit.of_pairs(Pairs.of(boards, top), own_priors(PairedPriors, priors), (family,))


def paired_log_likelihood(fit: PairFit, log_density: Any) -> Any:
    r"""Log probability of the scores of each kept team, skills and noise summed out, (n,).

    With nodes r of the noise :math:`\log \sum_r e^{T_r} = \sum_r w_r (T_r - \log w_r)` for
    :math:`w_r \propto e^{T_r}`: what the teams share is divided equally.
    """
    likelihood, pairs = fit.likelihood_at(fit.tables), fit.evidence
    top, density = relative_density(fit, log_density)
    nodes, count = fit.rho.size, pairs.n_counted

    def logs(table: Any) -> Any:
        mass = pt.sum(density[:, None] * table, axis=0)
        return pt.log(pt.maximum(mass, 1e-300)).reshape((nodes, -1))

    each = logs(likelihood.table) + likelihood.log_scale
    if likelihood.reach is None:
        each += top
    else:
        each -= logs(likelihood.reach)[:, likelihood.kind]
        reach = pt.minimum(logs(likelihood.typical) + top, 0.0)
        each += log_count_probability(reach, float(count), float(pairs.n_below)) / count
    total = each.sum(axis=1) + fit.noise_nodes.log_prior
    weights = pt.special.softmax(total)
    shared = pt.logsumexp(total) - np.log(nodes) - pt.sum(weights[:, None] * each)
    each = pt.sum(weights[:, None] * each, axis=0) + shared / count
    each = pt.concatenate([each, np.zeros(pairs.public.size - count)])
    return (each / np.bincount(pairs.group))[pairs.group]
