"""Groups of a board's tree that ArviZ's checks need, from the parameters behind its draws.

Everything here is drawn after the estimands, from the same generator.
``tests/leaderboard/test_predictive.py`` holds each group against another route.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters, most_coordinates
from bayes_sota.core.sample import LARGEST_GROUP, lay_out
from bayes_sota.core.types import FloatArray
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.fit_shape import ShapeFit
from bayes_sota.leaderboard.from_items import JointSampler
from bayes_sota.leaderboard.predictive import SCORES, draw_prior_boards, replicate_scores

SINGLE = 8 << 20
"""Bytes of a log likelihood above which it is in single precision."""
OF_SCORES = ("theta_sota", "expected_sota", "winner_skill", "skill", "location", *SCORES)
"""Quantities in the units of the scores, which have the board's sign."""

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of a board, laid out as chains.

    Attributes
    ----------
    fit : FieldFit
    parameters : Parameters
        Behind the draws, flattened.
    shape : (int, int)
        Chains and draws.
    names : sequence of str
        Of all classifiers.
    joint : JointSampler, optional
        Of answers and item scores.
    psi : ndarray, shape (D, modelled classifiers), optional
        Board-conditional skills behind the draws, with ``joint``.
    """

    fit: FieldFit
    parameters: Parameters
    shape: tuple[int, int]
    names: Sequence[str]
    joint: JointSampler | None = None
    psi: FloatArray | None = None

    @property
    def modelled(self) -> list[str]:
        """Names of the modelled entries."""
        return [
            name for name, kept in zip(self.names, self.fit.kernel.modelled, strict=True) if kept
        ]

    @property
    def every(self) -> int:
        """One of how many draws predictive groups keep."""
        entries, m = len(self.modelled), len(self.names)
        widest = max(2 * entries, m if self.joint is not None else 0)
        return -(-8 * widest * self.parameters.node.size // LARGEST_GROUP)

    @property
    def kept(self) -> Any:
        """Numbers of the draws of each chain that predictive groups keep."""
        return np.arange(0, self.shape[1], self.every)

    def signed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same with scores, skills and places of fields in the sign of the metric."""
        sign = self.fit.kernel.board.sign
        return {k: sign * v if sign < 0 and k in OF_SCORES else v for k, v in values.items()}

    def dataset(self, values: Mapping[str, Any], draws: Any = None) -> xr.Dataset:
        """Dataset of values (D, ...); of all draws, or of some."""
        some = {} if draws is None else {"draw": draws}
        return lay_out(values, self.shape[0], _DIMS, self._labels("skill" in values) | some)

    def observed(self) -> xr.Dataset:
        """Scores of the modelled entries, in their order and sorted."""
        kernel = self.fit.kernel
        scores = kernel.scores[kernel.modelled]
        values = self.signed({"score": scores, "sorted_score": np.sort(scores)[::-1]})
        dataset = xr.Dataset({name: (_DIMS[name], value) for name, value in values.items()})
        labels = self._labels(of_all=False)
        return dataset.assign_coords({dim: labels[dim] for dim in dataset.dims})

    def _labels(self, of_all: bool) -> dict[Any, Any]:
        """Labels of dimensions, with those of all classifiers or of the modelled entries."""
        return {
            "shape_parameter": np.arange(2, most_coordinates(self.fit)),
            "place": np.arange(1, len(self.modelled) + 1),
            "classifier": list(self.names) if of_all else self.modelled,
        }


def own_fields(
    fit: ShapeFit, model: "pm.Model", posterior: xr.Dataset
) -> Iterator[FloatArray] | None:
    """Log densities under which a model observes the scores, (k, G) or (k, n, G), in blocks.

    None where they are those of the model's parameters.

    Raises
    ------
    InputError
        There are others, and also unlisted classifiers, of which the model says nothing; or
        ``score`` is not observed by ``observe_scores``.
    """
    import pytensor

    from bayes_sota.leaderboard.models import field_log_density

    score = next((v.owner for v in model.observed_RVs if v.name == "score"), None)
    of_score: tuple[Any, ...] = () if score is None else score.op.dist_params(score)
    if len(of_score) not in (2, 3) or of_score[0].ndim not in (1, 2):
        raise InputError("the model must observe score by observe_scores: theta_sota needs it")
    own = of_score[0]
    usual = field_log_density(fit, *(model[name] for name in fit.parameters))
    names = [v.name for v in model.free_RVs]
    values = [posterior[n].values.reshape(-1, *posterior[n].shape[2:]) for n in names]
    known: Any = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
    both = pytensor.function(model.free_RVs, [own, usual], **known)
    few = np.linspace(0, len(values[0]) - 1, _COMPARED).astype(np.int64)
    pairs = (both(*(v[d] for v in values)) for d in few)
    if all(np.allclose(ours, theirs, atol=1e-8) for ours, theirs in pairs):
        return None
    if fit.kernel.board.is_partial:
        raise InputError(
            "the model observes the scores under densities of its own, and the board has "
            "classifiers that are not listed: theta_sota needs theirs as well"
        )
    alone = pytensor.function(model.free_RVs, own, **known)
    size = max(1, _NUMBERS // int(np.size(alone(*(v[0] for v in values)))))
    starts = range(0, len(values[0]), size)
    return (
        np.stack([alone(*(v[d] for v in values)) for d in range(s, min(s + size, len(values[0])))])
        for s in starts
    )


_COMPARED, _NUMBERS = 5, 4_000_000  # draws that are compared, and numbers at a time
_DIMS = {
    "shape": ("shape_parameter",),
    "score": ("classifier",),
    "sorted_score": ("place",),
    "skill": ("classifier",),
}


def parameter_values(fit: FieldFit, parameters: Parameters) -> dict[str, Any]:
    """Parameters of the model in product space, as the posterior and the prior show them."""
    coordinates = parameters.coordinates
    values: dict[str, Any] = {
        "location": fit.location(parameters.coordinates),
        "spread": fit.spread(parameters.coordinates),
    }
    if len(fit.families) > 1:
        values["family"] = parameters.family
    if coordinates.shape[1] > 2:
        values["shape"] = coordinates[:, 2:]
    return values


def checking_groups(
    drawn: Drawn, posterior: xr.Dataset, prior: Mapping[str, FloatArray], rng: np.random.Generator
) -> tuple[dict[str, xr.Dataset], list[str]]:
    """Predictions, prior, log likelihood and log prior, with notes on what was left out.

    Parameters
    ----------
    drawn : Drawn
    posterior : Dataset
        Its variables are those of the prior.
    prior : mapping of str to ndarray, shape (chain, draw)
        Draws of the ``level`` of rho, its prior probability to be lower, and of ``shift``.
    rng : Generator
    """
    fit, kept, parameters = drawn.fit, drawn.kept, drawn.parameters
    numbers = np.arange(parameters.node.size).reshape(drawn.shape)[:, kept].ravel()
    psi = None if drawn.psi is None else drawn.psi[numbers]
    again = replicate_scores(fit, parameters[numbers], rng, psi, drawn.joint)
    before = _prior_values(drawn, {k: v[:, kept].ravel() for k, v in prior.items()}, rng)
    groups = {
        "prior": drawn.dataset({str(name): before[str(name)] for name in posterior}, kept),
        "prior_predictive": drawn.dataset({name: before[name] for name in SCORES}, kept),
        "posterior_predictive": drawn.dataset(drawn.signed(again), kept),
        "log_prior": drawn.dataset(_log_prior(drawn, posterior)),
    }
    notes, mebibytes = list[str](), f"{LARGEST_GROUP >> 20} MiB"
    if drawn.every > 1:
        notes.append(
            f"prior and predictive groups keep one of {drawn.every} draws: all pass {mebibytes}"
        )
    size = 4 * parameters.node.size * len(drawn.modelled)
    if size > LARGEST_GROUP:
        notes.append(f"there is no group log_likelihood: it would pass {mebibytes}")
    else:
        dtype = np.float32 if 2 * size > SINGLE else np.float64
        log_likelihood = fit.log_likelihood_of_entries(parameters, dtype)
        groups["log_likelihood"] = drawn.dataset({"score": log_likelihood})
    return groups, notes


def _prior_values(
    drawn: Drawn, prior: Mapping[str, FloatArray], rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Prior draws of all that a posterior may hold, in the sign of the metric."""
    fit, level, shift = drawn.fit, prior["level"], prior["shift"]
    rho = fit.priors.correlation.quantile(level)
    known = {"rho": rho, "shift": shift}
    if fit.kernel.has_luck:
        known["submission_luck"] = fit.priors.submission_luck.quantile(rng.random(level.size))
    node = fit.nodes.find(rho, known.get("submission_luck"))
    parameters = Parameters.from_prior(fit, node, rng)
    boards = draw_prior_boards(fit, parameters, rho, shift, rng, drawn.joint)
    boards |= known | parameter_values(fit, parameters)
    boards = drawn.signed(boards)
    best = fit.kernel.board.sign * boards["observed_maximum"]
    return boards | {"multiplicity_bias": best - boards["theta_sota"]}


def _log_prior(drawn: Drawn, posterior: xr.Dataset) -> dict[str, FloatArray]:
    """Of the family with its coordinates, and of rho and luck where they are not known."""
    fit = drawn.fit
    log_prior = {"coordinates": drawn.parameters.log_prior(fit)}
    priors = {"rho": fit.priors.correlation, "submission_luck": fit.priors.submission_luck}
    for name, prior in priors.items():
        if name in posterior and not prior.is_fixed:
            log_prior[name] = prior.log_density(posterior[name].values.ravel())
    return log_prior
