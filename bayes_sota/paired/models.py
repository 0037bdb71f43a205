r"""Two boards of the same teams as a plain ``pm.Model``, every skill integrated out on a grid.

The same likelihood as ``bayes_sota.paired.likelihood``, one family of P at a time. The free
variables have the names and the priors of ``bayes_sota.paired.hyperparameters``;
``tests/paired/test_models.py`` compares both, point by point.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_sota.core.builders import PairedPriors, paired_priors
from bayes_sota.core.errors import InputError
from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import Priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard.models import pytensor_operations
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily, add_strangers
from bayes_sota.maximum.models import correlation_variable
from bayes_sota.paired.likelihood import (
    OUTLIERS,
    OUTLIERS_SD,
    RATIO_SD,
    RESIDUAL_SD,
    STRANGERS,
    PairedLikelihood,
)
from bayes_sota.paired.replicates import draw_field, replicate_scores
from bayes_sota.paired.residuals import FLAT, WIDE, Residuals
from bayes_sota.paired.submissions import MOST_LUCK, Choice
from bayes_sota.paired.teams import Coordinate, Selection


def build_model(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    family: str = "ex-gaussian",
    top: float | None = None,
    merge: bool | None = None,
) -> pm.Model:
    r"""Model of a public and a private board.

    .. math::
        L = \prod_j \frac{\int f_1(x_j - \psi) f_2(y_j - \delta - \psi) p(\psi) d\psi}
                         {P(\text{selected})}

    Parameters
    ----------
    boards : PairedBoards
    priors : Priors or PairedPriors, optional
        The size of the offset is integrated out.
    family : str
        Family of P, a key of ``bayes_sota.leaderboard.shapes.FAMILIES``.
    top, merge
        As in ``estimate_paired``.

    Returns
    -------
    pm.Model
        Free variables ``location``, ``spread`` and ``shape`` (standard normal numbers of a family
        that has any) of P, ``outliers``, ``board_shift`` (delta) and ``rho``; where the noise is
        unknown ``residual_sd`` and ``noise_ratio`` too, and only the prior of delta depends on rho.
        With several submissions ``submission_luck`` (lambda) and ``submission_slope``.
        Observed ``score`` (classifier, board), whose log likelihood is one number per team and
        whose replicates are teams of fresh fields; ``family`` as data.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> public, private = rng.binomial(300, rng.uniform(0.7, 0.8, 12), (2, 12)) / 300
    >>> model = build_model(PairedBoards(public, private, n_test=(300, 300)))
    >>> [v.name for v in model.free_RVs]
    ['location', 'spread', 'shape', 'rho', 'outliers', 'board_shift']
    >>> model.named_vars_to_dims["score"]
    ('classifier', 'board')
    """
    if family not in FAMILIES:
        raise InputError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    priors, shape = paired_priors(priors), FAMILIES[family]
    selection = Selection.of_boards(boards, top, merge)
    grid = PairedLikelihood.of_teams(boards, selection.teams, priors)
    kept = selection.kept
    coords = {
        "classifier": [boards.names[i] for i in kept],
        "board": list(BOARDS),
        "shape_parameter": list(shape.parameters[2:]),
    }
    with pm.Model(coords=coords) as model:
        add_digest(boards)
        pm.Data("family", list(FAMILIES).index(family))
        density = _density(grid, shape)
        rho = correlation_variable(priors.correlation)
        public_sd, private_sd = _residual_sd(grid, rho)
        outliers = pm.LogitNormal(
            "outliers", OUTLIERS, OUTLIERS_SD, default_transform=pm.distributions.transforms.logodds
        )
        shift = _shift(grid, rho, pt.sqrt(public_sd**2 + private_sd**2))
        lucks = _lucks(grid)
        law = _Law(grid, selection, Coordinate(boards.n_test))
        pm.CustomDist(
            "score",
            density,
            pt.stack([public_sd, private_sd]),
            outliers,
            shift,
            *lucks,
            logp=law.logp,
            random=law.random,
            signature=f"(g),(b),{','.join(['()'] * (2 + len(lucks)))}->(b)",
            observed=np.stack([boards.public[kept], boards.private[kept]], axis=1),
            dims=("classifier", "board"),
        )
    return model


def paired_log_likelihood(
    grid: PairedLikelihood,
    x: Any,
    y: Any,
    density: Any,
    public_sd: Any,
    private_sd: Any,
    outliers: Any,
    shift: Any,
    luck: Any = None,
    slope: Any = None,
) -> Any:
    """Log of the joint density of each team's two scores, the skills summed out, as a tensor.

    Parameters
    ----------
    grid : PairedLikelihood
        Its nodes, thresholds and ranges.
    x, y : (k,) tensor or array
        Public and private scores in the coordinate.
    density : (nodes,) tensor
        P on the grid, which sums to one.
    public_sd, private_sd, outliers, shift : scalar tensor
        As in ``bayes_sota.paired.residuals.Residuals``.
    luck, slope : scalar tensor, optional
        The same; needed where ``grid.teams`` has several submissions.

    Returns
    -------
    (k,) tensor
        Less the logarithm of the probability to be selected.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> boards = PairedBoards(*rng.normal(rng.normal(size=12), 0.3, (2, 12)))
    >>> teams = Selection.of_boards(boards).teams
    >>> grid = PairedLikelihood.of_teams(boards, teams, PairedPriors())
    >>> density = np.full(grid.nodes.size, 1 / grid.nodes.size)
    >>> paired_log_likelihood(grid, teams.x, teams.y, density, 0.3, 0.3, 0.01, 0.0).eval().shape
    (12,)
    """
    weights = ((1 - FLAT) * (1 - outliers), (1 - FLAT) * outliers)
    more = _more_skill(grid, grid.teams.choice, slope)
    away = (x - more)[:, None] - grid.nodes
    at_nodes, usual_x, wide_x = _public_densities(grid, away, public_sd, luck)
    usual_y, wide_y = _residual_densities((y - more)[:, None] - shift - grid.nodes, private_sd)
    height = FLAT / grid.ranges[0], FLAT / grid.ranges[1]
    # sums of products: compiling matrix products takes longer
    mixed = weights[0] * usual_x * wide_y + wide_x * (weights[0] * usual_y + weights[1] * wide_y)
    alone = height[0] * usual_y + height[1] * usual_x  # the other score says nothing
    both = weights[0] ** 2 * at_nodes * usual_y + weights[1] * mixed + (1 - FLAT) * alone
    log_p = pt.log(pt.sum(both * density, axis=1) + height[0] * height[1])
    if grid.teams.threshold is None:
        return log_p
    sds, lucks = (public_sd, private_sd), (luck, slope)
    return log_p - _log_selected(grid, density, weights, sds, shift, lucks)


class _Law:
    """Likelihood and replicates of the scores of the kept teams."""

    def __init__(
        self, grid: PairedLikelihood, selection: Selection, coordinate: Coordinate
    ) -> None:
        self.grid, self.selection, self.coordinate = grid, selection, coordinate

    def logp(self, score: Any, density: Any, sd: Any, *others: Any) -> Any:
        """One number per team; copies share that of their pair equally."""
        own = score[self.selection.first]
        x, y = (self._coordinate(own[:, board], board) for board in (0, 1))
        sd, density = sd.ravel(), density.ravel()  # PyMC gives them a dimension for the teams
        rest = (other.ravel()[0] for other in others)
        log_p = paired_log_likelihood(self.grid, x, y, density, sd[0], sd[1], *rest)
        return log_p[self.selection.group] / self.selection.copies

    def _coordinate(self, score: Any, board: int) -> Any:
        if self.coordinate.n_test is None:
            return score
        n = self.coordinate.n_test[board]
        return pt.arcsin(pt.sqrt((score * n + 0.25) / (n + 0.5)))

    def random(
        self,
        density: FloatArray,
        sd: FloatArray,
        *others: FloatArray,
        rng: np.random.Generator,
        size: Any = None,
    ) -> FloatArray:
        """Scores of as many teams of a fresh field, (k, 2)."""
        public, private = sd.reshape(2, 1)
        outliers, shift, *lucks = (other.reshape(1) for other in others)
        noise = Residuals(public, private, outliers, shift, None, *lucks)
        teams = self.grid.teams.x.size
        psi = draw_field(self.grid, density.reshape(1, -1), noise, teams, rng)
        scores = replicate_scores(self.grid, psi, noise, rng)[0]
        return self.coordinate.printed(scores)[self.selection.group]


def _residual_sd(grid: PairedLikelihood, rho: Any) -> tuple[Any, Any]:
    if grid.standard_errors is not None:
        own = pt.sqrt(1 - rho**2)
        return grid.standard_errors[0] * own, grid.standard_errors[1] * own
    total = pm.LogNormal("residual_sd", np.log(grid.base_sd), RESIDUAL_SD)
    ratio = pm.LogNormal("noise_ratio", 0.0, RATIO_SD)
    return total / pt.sqrt(1 + ratio**2), total * ratio / pt.sqrt(1 + ratio**2)


def _shift(grid: PairedLikelihood, rho: Any, residual: Any) -> Any:
    """delta: a mixture of normals over the sizes of the offset, times S sqrt(rho^2 + f^2)."""
    error = residual / pt.sqrt(1 - rho**2)
    if grid.standard_errors is not None:
        error = pt.as_tensor_variable(float(np.hypot(*grid.standard_errors)))
    offsets = np.asarray(grid.priors.offsets)
    equal = np.full(offsets.size, 1 / offsets.size)
    sd = error * pt.sqrt(rho**2 + offsets**2)
    return pm.NormalMixture("board_shift", w=equal, mu=np.zeros(offsets.size), sigma=sd)


def _density(grid: PairedLikelihood, family: SkillFamily) -> Any:
    """P on the grid, times the step, so that it sums to one; shape (nodes,)."""
    scale = grid.scale
    location = pm.Normal("location", scale.location, scale.location_sd)
    spread = pm.LogNormal("spread", scale.log_spread, scale.log_spread_sd)
    t = [(location - scale.location) / scale.location_sd]
    t.append((pt.log(spread) - scale.log_spread) / scale.log_spread_sd)
    if family.dimension > 2:
        shape = pm.Normal("shape", dims="shape_parameter")
        t.extend(shape[i] for i in range(family.dimension - 2))
    ops = pytensor_operations()
    log_density = family.log_density(ops, scale, tuple(t), grid.nodes)
    return pm.math.softmax(add_strangers(ops, scale, log_density, grid.nodes, STRANGERS))


def _lucks(grid: PairedLikelihood) -> tuple[Any, ...]:
    """lambda and the slope of skill, where scores were chosen among submissions."""
    if grid.teams.choice is None:
        return ()
    luck = correlation_variable(grid.priors.submission_luck, "submission_luck")
    return pt.minimum(luck, MOST_LUCK), pm.Normal("submission_slope", 0.0, grid.slope_sd)


def _more_skill(grid: PairedLikelihood, choice: Choice | None, slope: Any) -> Any:
    """What the skills of teams have more for their numbers of submissions, (k,) or (1,)."""
    return np.zeros(1) if choice is None else slope * (choice.luck - grid.typical_luck)


def _public_densities(
    grid: PairedLikelihood, away: Any, sd: Any, luck: Any
) -> tuple[Any, Any, Any]:
    """Densities of a usual public residual beside a usual and another private one; of a wide."""
    choice = grid.teams.choice
    if choice is None:
        usual, wide = _residual_densities(away, sd)
        return usual, usual, wide
    mean, own = luck * sd * choice.luck[:, None], sd * pt.sqrt(1 - luck**2)
    typical = sd * pt.sqrt(1 - luck**2 * (1 - choice.variance.mean()))
    at_nodes = [
        share[:, None] * _residual_densities(away - luck * sd * node[:, None], own)[0]
        for node, share in zip(choice.nodes, choice.weights, strict=True)
    ]
    usual = _residual_densities(away - mean, typical)[0]
    return pt.add(*at_nodes), usual, _residual_densities(away - WIDE * mean, sd)[1]


def _residual_densities(residual: Any, sd: Any) -> tuple[Any, Any]:
    """Densities of a usual and of a wide residual."""
    z, height = residual / sd, 1 / (sd * np.sqrt(2 * np.pi))
    return height * pt.exp(-0.5 * z**2), height / WIDE * pt.exp(-0.5 * (z / WIDE) ** 2)


def _log_selected(
    grid: PairedLikelihood,
    density: Any,
    weights: tuple[Any, Any],
    sds: tuple[Any, Any],
    shift: Any,
    lucks: tuple[Any, Any],
) -> Any:
    """Logarithm of the probability of a team to be selected, (k,), or one for all."""
    choice = grid.teams.choice
    if choice is None:
        missed = _below(grid, 0, weights, 0.0, sds[0]) * _below(grid, 1, weights, shift, sds[1])
        return pt.log(pt.sum(density * (1 - missed)))
    (luck, slope), levels, parts = lucks, choice.levels, []
    more = _more_skill(grid, levels, slope)
    for i, (mean, variance) in enumerate(zip(levels.luck, levels.variance, strict=True)):
        lucky, width = luck * mean * sds[0], pt.sqrt(1 - luck**2 * (1 - variance))
        missed = _below(grid, 0, weights, more[i], sds[0], lucky, width)
        missed = missed * _below(grid, 1, weights, shift + more[i], sds[1])
        parts.append(pt.log(pt.sum(density * (1 - missed))))
    return pt.dot(pt.stack(parts), choice.shares)


def _below(
    grid: PairedLikelihood,
    board: int,
    weights: tuple[Any, Any],
    shift: Any,
    sd: Any,
    luck: Any = 0.0,
    width: Any = 1.0,
) -> Any:
    """Probability of a score below the threshold of a board at each skill.

    ``luck`` is the mean of a usual residual, ``width`` its standard deviation in units of ``sd``.
    """
    threshold, flat = grid.flat_below(board)
    gap = threshold - shift - grid.nodes
    z = (gap - luck) / (width * sd), (gap - WIDE * luck) / (WIDE * sd)
    usual, wide = (pt.erfc(-each / np.sqrt(2)) / 2 for each in z)
    return FLAT * flat + weights[0] * usual + weights[1] * wide
