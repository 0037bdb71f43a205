"""Results of the routes to theta_sota as DataTrees in the schema of the package.

The exact route draws from the posterior itself; its independent draws are laid out as chains so
that every ArviZ function works. NUTS draws location, spread and rho; what it leaves out is drawn
from its exact law given these. Replicates of
the observed maxima are best scores of fresh boards of the same size. ``complete`` makes a result of
any trace of the model of ``build_model``, extended or not (``tests/maximum/test_complete.py``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.random import Generator

from bayes_sota.core.arguments import COUNT, DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors, Priors, maximum_priors
from bayes_sota.core.sample import (
    describe_provenance,
    lay_out,
    resolve_seed,
    result_tree,
    with_attributes,
    without_checks,
)
from bayes_sota.core.sample_trace import (
    check_trace,
    describe_model,
    describe_nuts,
    model_groups,
    model_of,
    run_nuts,
    sampler_stats,
)
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.maxima import Maxima, board_names, several
from bayes_sota.maximum.posterior import log_priors, sota_posterior
from bayes_sota.maximum.tables import score_bounds

if TYPE_CHECKING:
    import pymc as pm

_OBSERVED = "observed_maximum"
_NEW_SCORES = ("winner_new_score", "best_new_score")
_FACTS = ("n_test", "n_positive", "standard_error", "spread_ratio", "typical_tries")
_ELSEWHERE = (*_NEW_SCORES, "log_likelihood", "beyond_tables")

_CHOSEN = (
    "every classifier shows the best of its submissions: what luck of that is in the score is "
    "taken off"
)


@dataclass(frozen=True)
class Request(Maxima):
    """What every route takes.

    Attributes
    ----------
    boards, priors, reference_skill
        As in ``Maxima``.
    draws, chains : int
        Draws per chain, and chains.
    random_seed : int, SeedSequence, Generator or None
    groups : {"all", "estimands"}
        "estimands" leaves out those that only checks of the model need.
    model_name, model_hash : str, optional
        Recorded as attributes.
    """

    draws: int = 1000
    chains: int = 4
    random_seed: Seed = DEFAULT_SEED
    groups: Groups = "all"
    model_name: str | None = None
    model_hash: str | None = None

    def __post_init__(self) -> None:
        """Refuse no draws at all."""
        COUNT.check(self.draws, "draws")
        COUNT.check(self.chains, "chains")

    @cached_property
    def seeded(self) -> tuple[Generator, str]:
        """Generator and its description."""
        return resolve_seed(self.random_seed)

    def draw_from_laws(self, values: Mapping[str, FloatArray]) -> dict[str, xr.Dataset]:
        """Groups of draws as of ``Maxima.collect``, whose chains lie one after another."""
        names = [name for name in values if self.is_uncertain(name) and name not in _ELSEWHERE]
        groups = {
            "posterior": {name: values[name] for name in names},
            "predictions": {name: values[name] for name in _NEW_SCORES},
        }
        if self.groups == "all":
            rng = self.seeded[0]
            prior = self.draw_prior(rng, self.draws * self.chains)
            fresh = self.draw_boards(values, rng, winner=False)
            groups |= {
                "prior": {name: prior[name] for name in names},
                "posterior_predictive": {_OBSERVED: fresh[_OBSERVED]},
                "prior_predictive": {_OBSERVED: prior[_OBSERVED]},
                "log_prior": log_priors(self.priors, values),
                "log_likelihood": {_OBSERVED: values["log_likelihood"]},
            }
        return {name: self.lay_out(group) for name, group in groups.items()}

    def is_uncertain(self, name: str) -> bool:
        """Whether a variable belongs in the posterior: a known number of classifiers does not."""
        return name != "n_classifiers" or any(
            not isinstance(b.n_classifiers, int) for b in self.boards
        )

    def lay_out(self, values: Mapping[str, Any], chains: int | None = None) -> xr.Dataset:
        """Draws (D,) or (D, B) by chain and draw; of one board without its dimension.

        What was observed keeps it.
        """
        board = {"board": board_names(self.boards)}
        dims = {name: ("board",)[: x.ndim - 1] for name, x in values.items()}
        data = lay_out(dict(values), chains or self.chains, dims, board)
        if len(self.boards) > 1 or "board" not in data.dims or _OBSERVED in values:
            return data
        return data.isel(board=0, drop=True)

    def tree(
        self, groups: Mapping[str, xr.Dataset], method: str, attributes: Mapping[str, Any]
    ) -> xr.DataTree:
        """Result with what was observed and how it came about."""
        board = {"board": board_names(self.boards)}
        low, high = np.array([score_bounds(one) for one in self.boards]).T
        known = {"score_low": low, "score_high": high, "reference_skill": self.references}
        known |= {x: np.array([getattr(one, x) or 0 for one in self.boards]) for x in _FACTS}
        constant = xr.Dataset({name: ("board", values) for name, values in known.items()}, board)
        if len(self.boards) == 1:
            constant = constant.isel(board=0, drop=True)
        best = ("board", [one.maximum for one in self.boards])
        data = {"observed_data": xr.Dataset({_OBSERVED: best}, board), "constant_data": constant}
        seed, named = self.seeded[1], {"model_name": self.model_name, "model_hash": self.model_hash}
        facts: dict[str, Any] = {
            **describe_provenance(self.boards, self.priors, method=method, seed=seed, **named),
            **({"notes": _CHOSEN} if self.has_submissions else {}),
            **attributes,
            "metric": self.boards[0].metric,
        }
        tree = result_tree({**groups, **data}, facts)
        return tree if self.groups == "all" else without_checks(tree)


def sample_exact(
    boards: Sequence[BestScore], priors: MaximumPriors, **settings: Any
) -> xr.DataTree:
    """Exact posterior of observed maxima as a DataTree; ``settings`` as in ``Request``.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``prior``, ``predictions``, ``posterior_predictive``,
        ``prior_predictive``, ``log_likelihood``, ``log_prior``, ``sample_stats``,
        ``observed_data``, ``constant_data``.
    """
    request = Request(boards, priors, **settings)
    result = sota_posterior(
        boards,
        priors,
        draws=request.draws * request.chains,
        random_seed=request.seeded[0],
        reference_skill=request.reference_skill,
    )
    groups, drawn = request.draw_from_laws(result.draws), result.draws
    lp = sum(log_priors(priors, drawn).values(), drawn["log_likelihood"].sum(axis=1))
    point, node = result.parameters.behind
    groups["sample_stats"] = request.lay_out({"lp": lp, "point": point, "stratum": node})
    attributes = {
        "log_evidence": result.fit.log_evidence_of_all,
        "effective_points": result.fit.effective_size,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(result.reasons),
    }
    return request.tree(groups, "exact", attributes)


def sample_nuts(
    boards: Sequence[BestScore],
    priors: MaximumPriors,
    *,
    tune: int = 1000,
    target_accept: float = 0.98,
    cores: int | None = None,
    progressbar: bool = False,
    **settings: Any,
) -> xr.DataTree:
    """Posterior by NUTS (nutpie) over location, spread and rho; the rest from its exact law.

    A check of the exact route, and a start for extensions. ``settings`` as in ``Request``, the
    others as in ``pm.sample``.
    """
    from bayes_sota.maximum.models import build_model

    request = Request(boards, priors, **settings)
    model = build_model(boards, priors, reference_skill=request.reference_skill)
    how: dict[str, Any] = {"draws": request.draws, "chains": request.chains, "tune": tune}
    how |= {"cores": cores, "progressbar": progressbar}
    nuts = {"target_accept": target_accept, "adaptation": "low_rank"}
    return _completed(run_nuts(model, request.seeded[0], **how, nuts=nuts), model, request)


def complete(
    trace: xr.DataTree,
    boards: BestScore | Sequence[BestScore],
    priors: Priors | MaximumPriors | None = None,
    *,
    model: "pm.Model | None" = None,
    reference_skill: float | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Make a result of a trace of the model of ``build_model``, extended or not.

    What stands behind the boards (theta_sota, the winner's skill, new scores) is drawn from its
    exact law given location, spread and rho of each draw. Prior, predictions, log likelihood and
    log prior come from the model.

    Parameters
    ----------
    trace : DataTree
        From ``pm.sample``, with the variables ``location``, ``spread`` and ``rho``, and
        ``submission_luck`` where a best score was chosen among submissions.
    boards, priors, reference_skill
        As the model was built with; of the priors of an extended model only the family of skills.
    model : pm.Model, optional
        The model that was sampled, needed where it is not that of ``build_model``; default that
        of the ``with`` block.
    random_seed : int, SeedSequence or Generator, optional

    Returns
    -------
    xarray.DataTree
        All groups of ``sample_exact``; ``posterior`` and ``prior`` also hold the model's own
        variables.

    Raises
    ------
    InputError
        A trace of another model, other boards or another schema, with missing variables or chains
        of different length; an extended trace without its model.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> from bayes_sota.maximum.models import build_model
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> rng, dims = np.random.default_rng(0), ("chain", "draw")
    >>> spread, rho = rng.uniform(0.2, 0.4, (2, 25)), rng.beta(14, 5, (2, 25))
    >>> location = 3.9 - np.sqrt(2 * np.log(51)) * spread
    >>> drawn = {"location": location, "level": 3.9 + 0 * spread, "rho": rho}
    >>> drawn |= {"spread": spread, "log_spread": np.log(spread)}
    >>> posterior = xr.Dataset({name: (dims, values) for name, values in drawn.items()})
    >>> trace = xr.DataTree.from_dict({"posterior": posterior})
    >>> tree = complete(trace, board, random_seed=1)
    >>> bool((tree["posterior"]["winner_skill"] <= tree["posterior"]["theta_sota"]).all())
    True
    """
    import pymc as pm

    from bayes_sota.maximum.models import build_model

    boards, known = several(boards), maximum_priors(priors)
    check_trace(trace)
    built = partial(build_model, boards, known, reference_skill=reference_skill)
    chosen, sizes = model_of(trace, model, built, *boards), trace["posterior"].sizes
    request = Request(
        boards,
        known,
        reference_skill,
        draws=sizes["draw"],
        chains=sizes["chain"],
        random_seed=random_seed,
    )
    given = dict(trace["posterior"].data_vars)
    if wrong := [x for x in request.parameters if x not in given or given[x].ndim != 2]:
        raise InputError(
            f"the trace lacks {', '.join(wrong)}, one number per draw: location, spread and rho of "
            "the field, and submission_luck of chosen submissions, are variables of these names "
            "(pm.Deterministic where they are known)"
        )
    if _OBSERVED not in {v.name for v in chosen.observed_RVs}:
        raise InputError(f"the model observes no {_OBSERVED}: add it with observe_maximum")
    own = model is not None or pm.Model.get_context(error_if_none=False) is not None
    tree = _completed(trace, chosen, request)
    return with_attributes(tree, describe_model(chosen) if own else {})


def _completed(trace: xr.DataTree, model: "pm.Model", request: Request) -> xr.DataTree:
    """Result of a trace and its model, both checked."""
    drawn = trace["posterior"].to_dataset().drop_attrs()
    rng, shape = request.seeded[0], (drawn.sizes["chain"], drawn.sizes["draw"])
    shared = {k: np.broadcast_to(drawn[k].values, shape).ravel() for k in request.parameters}
    values = request.draw_fields(shared, rng)
    groups = model_groups(model, trace, rng, replicated=(_OBSERVED,))
    places, laws = {x: drawn[x].values for x in ("chain", "draw")}, request.draw_from_laws(values)
    kept = ("posterior", "predictions", "posterior_predictive")
    more = {name: laws[name].assign_coords(places) for name in kept if name in laws}
    of_prior = {k: groups["prior"][k].values.ravel() for k in shared}
    prior = request.with_expected(of_prior | request.draw_boards(of_prior, rng))
    named = [name for name in prior if name in laws["posterior"] and name not in shared]
    more["prior"] = request.lay_out({name: prior[name] for name in named}, 1)
    more["prior_predictive"] = request.lay_out({_OBSERVED: prior[_OBSERVED]}, 1)
    groups["posterior"] = drawn
    groups |= {
        name: groups[name].merge(data, compat="override") if name in groups else data
        for name, data in more.items()
    }
    if "level" in groups["log_prior"]:  # the location's, moved by what the prior does not know
        groups["log_prior"] = groups["log_prior"].rename(level="location")
    groups["sample_stats"] = sampler_stats(trace)
    return request.tree(groups, "nuts", describe_nuts(trace))
