"""The exact fit of one shape of P(psi), named or one's own: what a model of PyMC stands on.

``fit_shape`` takes a shape from the fit of all families where it is in there, and fits it otherwise
(``tests/leaderboard/test_models.py``).
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import infer
from bayes_sota.core.priors import BoardPriors, Priors, board_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import FieldFit, fit_field
from bayes_sota.leaderboard.from_scores import board_evidence
from bayes_sota.leaderboard.predictive import draw_fresh
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily

_POINTS, _EVIDENCE_POINTS = 200, 500  # of an importance sample, for each parameter
_RESERVED = ("rho", "shift", "submission_luck", "score", "spread", "family")


@dataclass(frozen=True, eq=False)
class ShapeFit(FieldFit):
    """Fit of one shape.

    Attributes
    ----------
    shape : SkillFamily
    """

    shape: SkillFamily

    def dimension(self, family: str) -> int:
        """Number of coordinates of the shape."""
        return self.shape.dimension

    def shape_named(self, name: str) -> SkillFamily:
        """The shape."""
        return self.shape

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the variables: the place, the logarithm of the width, and the others."""
        return parameters_of(self.shape)

    @cached_property
    def prior(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Mean and standard deviation of ``location`` and of ``log_spread``, a priori.

        In log odds; for the metric "score" in its units, with its sign.
        """
        law, scale, sign = self.evidence.law, self.scale, self.evidence.board.sign
        zero, one, place = law.location_at(np.array([0.0, 1.0, scale.location]))
        unit = float(one - zero)
        of_place = sign * float(place), unit * scale.location_sd
        return of_place, (scale.log_spread + float(np.log(unit)), scale.log_spread_sd)

    @property
    def sign(self) -> int:
        """Of the location: -1 if lower scores are better and the location is in their units."""
        return self.evidence.board.sign

    @cached_property
    def natural_points(self) -> FloatArray:
        """The points as values of ``parameters``, shape (N, d)."""
        (mean, sd), (log_mean, log_sd) = self.prior
        points = self.points[0].points.copy()
        points[:, 0] = mean + self.sign * sd * points[:, 0]
        points[:, 1] = log_mean + log_sd * points[:, 1]
        return points

    @property
    def has_free_luck(self) -> bool:
        """Whether there is a luck of submissions that is not known."""
        return self.evidence.has_luck and not self.priors.submission_luck.is_fixed

    @property
    def shared_names(self) -> tuple[str, ...]:
        """Free variables that all shapes have: the shift, and rho and the luck if not known."""
        rho = () if self.priors.correlation.is_fixed else ("rho",)
        return ("shift", *rho, *(("submission_luck",) if self.has_free_luck else ()))

    def log_evidence_at(self, rho: FloatArray, luck: FloatArray) -> FloatArray:
        """Log evidence at pairs of rho and luck, (k,) each, from points of their own, (k,)."""
        nodes = replace(self.nodes, rho=rho, luck=luck)
        posterior = infer(replace(self, nodes=nodes), _fixed(), _EVIDENCE_POINTS, self)
        return posterior.log_evidence[0]

    def standardised(self, location: Any, log_spread: Any, *shape: Any) -> tuple[Any, ...]:
        """Standard normal coordinates of values of ``parameters``, arrays or tensors."""
        (mean, sd), (log_mean, log_sd) = self.prior
        return self.sign * (location - mean) / sd, (log_spread - log_mean) / log_sd, *shape


def parameters_of(family: SkillFamily) -> tuple[str, ...]:
    """Names of the variables of a shape.

    Examples
    --------
    >>> parameters_of(FAMILIES["ex-gaussian"])
    ('location', 'log_spread', 'softness')
    """
    return ("location", "log_spread", *(name.replace(" ", "_") for name in family.parameters[2:]))


def family_of(family: str | SkillFamily) -> SkillFamily:
    """The shape of that name, or a checked one of one's own."""
    if isinstance(family, SkillFamily):
        taken = {"location", "log_spread", *_RESERVED}
        names = parameters_of(family)
        if len(names) < 2 or len(set(names)) < len(names) or taken & set(names[2:]):
            raise InputError(
                f"the parameters of {family.name} must be a place, a width, and others with names "
                f"of their own, got {', '.join(family.parameters)}"
            )
        return family
    if family not in FAMILIES:
        raise InputError(f"unknown family {family!r}; allowed: {', '.join(FAMILIES)}")
    return FAMILIES[family]


def fit_shape(
    board: Leaderboard,
    priors: Priors | BoardPriors | None = None,
    *,
    family: str | SkillFamily = "ex-gaussian",
    fit: FieldFit | None = None,
) -> ShapeFit:
    """Fit one shape of P(psi) to all scores of a board.

    The tensors of ``bayes_sota.leaderboard.models`` take it: it has the grid, the tables of the
    scores, merged spikes, starting values and the evidence at each value of rho.

    Parameters
    ----------
    board : Leaderboard
        With scores.
    priors : Priors, optional
    family : str or SkillFamily
        One of ``bayes_sota.leaderboard.shapes.FAMILIES``, or a shape of one's own; its first two
        parameters are a place and a width, all are standard normal a priori.
    fit : FieldFit, optional
        Fit of the same board and priors; made here where it is absent (about a second).

    Returns
    -------
    ShapeFit

    Raises
    ------
    InputError
        Unknown family; only the maximum known; a fit of another board.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> fit_shape(board, family="normal").parameters
    ('location', 'log_spread')
    """
    shape = family_of(family)
    if fit is None:
        if isinstance(board, Leaderboard) and board.has_own_errors:
            raise InputError(
                "entries have standard errors of their own, which only the exact route takes: "
                "bs.estimate_sota(board) and bs.board_table(board), without NUTS or a model"
            )
        known = board_priors(priors)
        fit = fit_field(board_evidence(board, known), known, _fixed())
    if fit.evidence.board.data_hash() != board.data_hash():
        raise InputError("the fit is of another board")
    if isinstance(fit, ShapeFit) and fit.shape is shape:
        return fit
    fitted = FAMILIES.get(shape.name) is shape and shape.name in fit.families
    of_one = fit.of_family(shape.name) if fitted else replace(fit, families=(shape.name,))
    shape_fit = ShapeFit(**{f.name: getattr(of_one, f.name) for f in fields(FieldFit)}, shape=shape)
    return shape_fit if fitted else infer(shape_fit, _fixed(), _POINTS)


def _fixed() -> np.random.Generator:
    """Random numbers that every call shares: the same board has the same model."""
    return np.random.default_rng(0)


def replicate_scores(
    fit: FieldFit,
    log_density: FloatArray,
    rho: float,
    rng: np.random.Generator,
    luck: float | None = None,
) -> FloatArray:
    """Scores of a fresh modelled part of the board, as they are printed, shape (n,).

    Parameters
    ----------
    log_density : ndarray, shape (G,) or (n, G)
        Of the shape on the grid, for all entries or for each.
    luck : float, optional
        Of chosen submissions, where there are any: that of the cell of the fit is taken.
    """
    node = fit.nodes.find(np.array([rho]), None if luck is None else np.array([luck]))
    evidence, table = fit.evidence, fit.tables[int(node[0])]
    if evidence.is_cut:  # as in the fit: only relative densities matter
        log_density = log_density - log_density.max(axis=-1, keepdims=True)
    density = fit.strangers.join(np.exp(np.clip(log_density, -700.0, 50.0)))[None]
    psi = draw_fresh(fit, table, density, rng)
    scores = evidence.draw_scores(psi, rho, float(fit.luck[int(node[0])]), rng)
    return evidence.board.sign * scores[0]
