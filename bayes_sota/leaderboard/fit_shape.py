"""The exact fit of one shape of P(psi), named or one's own, on which a PyMC model is built.

``fit_shape`` takes a shape from the fit of all families where it is in there, and fits it otherwise
(``tests/leaderboard/test_models.py``).
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import infer
from bayes_sota.core.priors import BoardPriors, Priors, board_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import FieldFit, fit_field
from bayes_sota.leaderboard.from_scores import board_evidence
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily

_POINTS, _EVIDENCE_POINTS = 200, 500  # of an importance sample, for each parameter
_RESERVED = {"location", "log_spread", "rho", "shift", "score", "spread", "family"}


@dataclass(frozen=True, eq=False)
class ShapeFit(FieldFit):
    """Fit of one shape, with its parameters by name."""

    @property
    def shape(self) -> SkillFamily:
        """The shape."""
        return self.shapes[self.families[0]]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the variables: the place, the logarithm of the width, and the others."""
        return parameters_of(self.shape)

    @property
    def prior(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Mean and standard deviation of ``location`` and of ``log_spread``, a priori.

        In log odds; for the metric "score" in its units, with its sign.
        """
        law, scale, sign = self.evidence.law, self.scale, self.evidence.board.sign
        zero, one, place = law.location_at(np.array([0.0, 1.0, scale.location])).tolist()
        of_width = scale.log_spread + float(np.log(one - zero)), scale.log_spread_sd
        return (sign * place, (one - zero) * scale.location_sd), of_width

    @property
    def natural_points(self) -> FloatArray:
        """The points as values of ``parameters``, shape (N, d)."""
        (mean, sd), (log_mean, log_sd) = self.prior
        place, width, *others = self.points[0].points.T
        place = mean + self.evidence.board.sign * sd * place
        return np.column_stack([place, log_mean + log_sd * width, *others])

    def standardised(self, location: Any, log_spread: Any, *shape: Any) -> tuple[Any, ...]:
        """Standard normal coordinates of values of ``parameters``, arrays or tensors."""
        (mean, sd), (log_mean, log_sd) = self.prior
        sign = self.evidence.board.sign
        return sign * (location - mean) / sd, (log_spread - log_mean) / log_sd, *shape

    def log_evidence_at(self, rho: FloatArray) -> FloatArray:
        """Log evidence at values of rho (k,), from points of their own, (k,)."""
        nodes = replace(self.nodes, rho=rho, luck=np.zeros(rho.size))
        return infer(replace(self, nodes=nodes), _fixed(), _EVIDENCE_POINTS, self).log_evidence[0]


def parameters_of(family: SkillFamily) -> tuple[str, ...]:
    """Names of the variables of a shape.

    Examples
    --------
    >>> parameters_of(FAMILIES["ex-gaussian"])
    ('location', 'log_spread', 'softness')
    """
    return ("location", "log_spread", *(name.replace(" ", "_") for name in family.parameters[2:]))


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
        Unknown family; only the maximum known; several submissions or own errors of entries; a fit
        of another board.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> fit_shape(board, family="normal").parameters
    ('location', 'log_spread')
    """
    shape = family_of(family)
    if isinstance(board, Leaderboard) and (board.has_own_errors or board.has_submissions):
        what = "entries have several submissions or standard errors of their own"
        fix = "take the exact route, bs.estimate_sota(board) or bs.board_table(board)"
        raise InputError(what, fix=fix)
    if fit is None:
        known = board_priors(priors)
        fit = fit_field(board_evidence(board, known), known, _fixed())
    if fit.evidence.board.data_hash() != board.data_hash():
        raise InputError("the fit is of another board")
    name = shape.name
    alone = {one.name: getattr(fit, one.name) for one in fields(FieldFit)}
    if name in fit.families and fit.shapes[name] is shape:
        return ShapeFit(**alone).of_family(name)
    alone |= {"families": (name,), "shapes": {name: shape}}
    return infer(ShapeFit(**alone), _fixed(), _POINTS)


def family_of(family: str | SkillFamily) -> SkillFamily:
    """The shape of that name, or a checked one of one's own."""
    if isinstance(family, str):
        if family not in FAMILIES:
            raise InputError(f"unknown family {family!r}; allowed: {', '.join(FAMILIES)}")
        return FAMILIES[family]
    names = parameters_of(family)
    if len(set(names)) < len(family.parameters) or _RESERVED & set(names[2:]):
        raise InputError(
            f"the parameters of {family.name} must be a place, a width, and others with names "
            f"of their own, got {', '.join(family.parameters)}"
        )
    return family


def _fixed() -> np.random.Generator:
    """Random numbers that every call shares: the same board has the same model."""
    return np.random.default_rng(0)
