"""Two boards as a plain ``pm.Model``: the tables of the exact route, summed over skills and noise.

Free variables are the coordinates of one shape of the field.
``tests/leaderboard/test_models_pairs.py`` compares its likelihood with the exact route's.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import PairedPriors, Priors
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard.fit import family_of
from bayes_sota.leaderboard.models import PYTENSOR, relative_density
from bayes_sota.leaderboard.pairs import Pairs
from bayes_sota.leaderboard.pairs_posterior import PairFit, draw_boards
from bayes_sota.leaderboard.shapes import FAMILIES


def build_paired(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    family: str = "ex-gaussian",
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

    Returns
    -------
    pm.Model
        Free variable ``coordinates`` (shape_parameter), standard normal: place, logarithm of the
        width, and what else the shape has; observed ``score`` (classifier, board), one log
        probability for all. ``complete`` makes a result of a trace.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.uniform(0.7, 0.9, 30)
    >>> model = build_paired(PairedBoards(*rng.binomial(300, skill, (2, 30)) / 300, n_test=300))
    >>> [v.name for v in model.free_RVs]
    ['coordinates']
    """
    shape = family_of(family)
    fit = PairFit.of_pairs(Pairs.of(boards, priors), (shape.name,))
    pairs, dims = fit.evidence, ("classifier", "board")
    labels = [boards.names[i] for i in pairs.kept], list(BOARDS)
    coords = dict(zip(dims, labels, strict=True)) | {"shape_parameter": list(shape.parameters)}
    with pm.Model(coords=coords) as model:
        add_digest(pairs)
        pm.Data("family", list(FAMILIES).index(family))
        t = pm.Normal("coordinates", dims="shape_parameter")
        columns = tuple(t[i] for i in range(shape.dimension))
        log_density = shape.log_density(PYTENSOR, fit.scale, columns, pairs.y)

        def logp(value: Any, log_density: Any, _: Any) -> Any:
            top, density = relative_density(fit, log_density.reshape((pairs.y.size,)))
            at_nodes = fit.likelihood(density[None], top, PYTENSOR)[0] + fit.extra
            total = pt.logsumexp(at_nodes) - np.log(fit.rho.size)
            return pt.switch(pt.all(pt.isclose(value, pairs.scores)), total, np.nan)

        def random(log_density: Any, _: Any, rng: np.random.Generator, size: Any = None) -> Any:
            density = np.exp(log_density - log_density.max()).reshape(1, -1)
            return pairs.printed(draw_boards(fit, pairs.y, density, rng)[2])[0]

        own = {"logp": logp, "random": random, "signature": "(g),(n,b)->(n,b)", "dims": dims}
        shown = np.zeros(pairs.scores.shape)
        pm.CustomDist("score", log_density, shown, observed=pairs.scores, **own)
    return model
