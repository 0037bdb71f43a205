"""Claims that a model describes, sampled by NUTS: the complete result in the one schema.

Any model with a deterministic ``difference`` (A minus B, of any shape) will do, the builders of
``bayes_sota.claims`` and your own. P(difference <= 0) is the share of draws; its error and
the diagnostics are those of draws that depend on each other.
``tests/claims/test_sample.py`` compares with closed forms.

Claims with an exact posterior come as independent draws, with the closed form of ``p_false`` in the
group ``point_estimate`` (``tests/claims/test_sample.py`` compares the two).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.claims.accuracies import Congruence, draw_cells, false_claim_probability
from bayes_sota.claims.means import ReportedMeans
from bayes_sota.claims.selection import SelectedClaim
from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import (
    Numbers,
    describe_nuts,
    describe_provenance,
    describe_sampled,
    resolve_seed,
    result_tree,
    run_nuts,
)
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.read_outcomes import Evaluations
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import MethodComparison

_CHAINS = 4  # of independent draws

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm
    import xarray as xr


def sample_claim(
    model: "pm.Model",
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.98,
    cores: int | None = None,
    random_seed: Seed = None,
    predictive: bool = True,
    model_name: str | None = None,
    progressbar: bool = False,
) -> "xr.DataTree":
    r"""Posterior of a claim by NUTS (nutpie), with the probability that it is false.

    Parameters
    ----------
    model : pm.Model
        With a deterministic ``difference``: of a claim, or of several along a dimension.
    draws, tune, chains, target_accept, cores, random_seed, progressbar
        As in ``pm.sample``; short steps, because an odds ratio that is not known opens a funnel.
    predictive : bool
        Whether to draw from the prior, and fresh data from prior and posterior.
    model_name : str, optional
        Recorded as an attribute.

    Returns
    -------
    xarray.DataTree
        ``posterior``, ``sample_stats``, ``observed_data``; with ``predictive`` also ``prior``,
        ``prior_predictive`` and ``posterior_predictive``. ``point_estimate`` holds ``p_false``
        :math:`= P(d \le 0)` and its standard error ``p_false_mcse``, and where the differences
        are those of several metrics ``p_all_better`` and ``p_any_better``. Attributes:
        provenance and divergences; ``diagnose`` says whether it can be trusted.

    Raises
    ------
    InputError
        A model without ``difference`` or data, sizes too small for diagnostics.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> model = bs.claims.build_case_differences([0.1, 0.05, -0.02, 0.03])
    >>> tree = sample_claim(model, random_seed=0)  # doctest: +SKIP
    >>> summarize_claim(tree)  # doctest: +SKIP
    """
    if "difference" not in model.named_vars or not model.observed_RVs:
        raise InputError(
            "the model needs observed data and a deterministic 'difference' (A minus B); it has "
            f"{', '.join(model.named_vars) or 'no variables'}"
        )
    if draws < 10 or chains < 2:
        raise InputError(
            f"at least 10 draws and 2 chains are needed for diagnostics, got {draws} and {chains}"
        )
    rng, seed = resolve_seed(random_seed)
    settings = {"draws": draws, "tune": tune, "chains": chains, "cores": cores}
    trace = run_nuts(model, rng, target_accept=target_accept, progressbar=progressbar, **settings)
    kept = ("posterior", "sample_stats", "observed_data", "constant_data")
    groups = {name: trace[name].to_dataset() for name in kept if name in trace.children}
    groups["sample_stats"] = groups["sample_stats"][["diverging"]].astype(float)
    if predictive:
        groups |= _predictive_groups(model, trace, draws * chains, rng)
    groups = {name: data.drop_attrs() for name, data in groups.items()}
    groups["point_estimate"] = _probabilities(groups["posterior"]["difference"])
    described = describe_sampled(model, groups, seed, model_name)
    return result_tree(groups, {**described, **describe_nuts(trace)})


def summarize_claim(tree: "xr.DataTree", ci_prob: float = 0.95) -> "pd.DataFrame":
    """Table of the claims of a result, one row each.

    Parameters
    ----------
    tree : DataTree
        From ``sample_claim``, ``claim_tree``, ``claim_tree_of_means`` or ``comparison_tree``.
    ci_prob : float
        Probability of the equal-tailed interval of the difference.

    Returns
    -------
    pandas.DataFrame
        Columns mean, sd, lower and upper of the difference, p_false and its Monte Carlo standard
        error p_false_mcse.

    Examples
    --------
    >>> import xarray as xr
    >>> draws = np.random.default_rng(0).normal(0.02, 0.01, (4, 500))
    >>> groups = {"posterior": xr.Dataset({"difference": (("chain", "draw"), draws)})}
    >>> groups["point_estimate"] = xr.Dataset({"p_false": 0.022, "p_false_mcse": 0.003})
    >>> summarize_claim(xr.DataTree.from_dict(groups)).round(2).to_dict("records")
    [{'mean': 0.02, 'sd': 0.01, 'lower': 0.0, 'upper': 0.04, 'p_false': 0.02, 'p_false_mcse': 0.0}]
    """
    import xarray as xr

    OPEN_SHARE.check(ci_prob, "ci_prob")
    difference, over = tree["posterior"]["difference"], ("chain", "draw")
    ends = {"lower": (1 - ci_prob) / 2, "upper": (1 + ci_prob) / 2}
    mean, estimates = difference.mean(over), tree["point_estimate"]
    table = xr.Dataset({
        "mean": mean, "sd": difference.std(over, ddof=1),
        **{k: difference.quantile(q, over).drop_vars("quantile") for k, q in ends.items()},
        "p_false": estimates["p_false"],
        # closed forms have no Monte Carlo error
        "p_false_mcse": estimates.get("p_false_mcse", xr.zeros_like(mean)),
    })  # fmt: skip
    return (table if table.dims else table.expand_dims(claim=["1"])).to_dataframe()


def _predictive_groups(
    model: "pm.Model", trace: "xr.DataTree", draws: int, rng: np.random.Generator
) -> "dict[str, xr.Dataset]":
    import pymc as pm

    quick = {"mode": "FAST_COMPILE"}  # run once: compiling would take longer than drawing
    seeds = [int(rng.integers(2**31)) for _ in range(2)]
    found = pm.sample_prior_predictive(draws, model, random_seed=seeds[0], compile_kwargs=quick)
    replicated = pm.sample_posterior_predictive(
        trace, model, random_seed=seeds[1], progressbar=False, compile_kwargs=quick
    )
    groups = {name: found[name].to_dataset() for name in ("prior", "prior_predictive")}
    return groups | {"posterior_predictive": replicated["posterior_predictive"].to_dataset()}


def _probabilities(difference: "xr.DataArray") -> "xr.Dataset":
    """P(difference <= 0) of each claim, its Monte Carlo error, and the joint ones of metrics."""
    import arviz as az
    import xarray as xr

    over, false = ("chain", "draw"), difference <= 0
    share = false.astype(float)
    found = {"p_false": share.mean(over), "p_false_mcse": az.mcse(share.to_dataset(name="x"))["x"]}
    if "metric" in difference.dims:
        found["p_all_better"] = (~false).all("metric").mean(over)
        found["p_any_better"] = (~false).any("metric").mean(over)
    return xr.Dataset(found).drop_attrs()


def claim_tree(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    congruence: Congruence = None,
    *,
    alpha: float | tuple[float, float, float, float] = 1.0,
    names: tuple[str, str] = ("A", "B"),
    draws: int = 1000,
    random_seed: Seed = None,
) -> "xr.DataTree":
    """Posterior of two accuracies on the same items, as a DataTree.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, congruence, alpha
        As in ``false_claim_probability``, one claim.
    names : (str, str)
        Of A and B.
    draws : int
        Of each of four chains; all are independent.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``skill`` (classifier), ``difference`` and ``congruence`` (of items to
        come), ``point_estimate`` with the exact ``p_false``, ``observed_data``.

    Examples
    --------
    >>> tree = claim_tree(0.90, 0.88, 500, random_seed=0)
    >>> round(float(tree["point_estimate"]["p_false"]), 3)
    0.093
    """
    rng, seed = resolve_seed(random_seed)
    cells = draw_cells(
        accuracy_a, accuracy_b, n_test, congruence, alpha=alpha, draws=_CHAINS * draws, rng=rng
    )
    both, only_a, only_b, _ = cells.T
    p = false_claim_probability(accuracy_a, accuracy_b, n_test, congruence, alpha=alpha)
    shared = "unknown" if congruence is None else str(congruence)
    skill = np.column_stack([both + only_a, both + only_b])
    return _exact_tree(
        {"congruence": both, "difference": only_a - only_b, "skill": skill},
        {"p_false": p}, {"accuracy": [accuracy_a, accuracy_b]}, names,
        Numbers((accuracy_a, accuracy_b, n_test, repr(congruence))),
        f"Dirichlet({alpha}) of the four cells, congruence {shared}", seed,
    )  # fmt: skip


def claim_tree_of_means(
    claim: ReportedMeans, *, draws: int = 1000, random_seed: Seed = None
) -> "xr.DataTree":
    """Posterior of the difference of two means of the same cases, as a DataTree.

    Parameters
    ----------
    claim : ReportedMeans
    draws, random_seed
        As in ``claim_tree``.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``difference``; ``point_estimate`` with the exact ``p_false``.

    Examples
    --------
    >>> claim = ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=0.7)
    >>> claim_tree_of_means(claim, random_seed=0)["posterior"]["difference"].shape
    (4, 1000)
    """
    rng, seed = resolve_seed(random_seed)
    names = ("sd", "correlation", "correlation_range", "sd_difference")
    given = {name: getattr(claim, name) for name in names}
    p, drawn = claim.p_false(), claim.draw_difference(_CHAINS * draws, rng)
    return _exact_tree(
        {"difference": drawn}, {"p_false": p}, {"mean": [claim.mean_a, claim.mean_b]}, ("A", "B"),
        Numbers((claim.mean_a, claim.mean_b, claim.n_test, repr(given))),
        "flat in the mean difference and the logarithm of its standard deviation", seed,
    )  # fmt: skip


def comparison_tree(
    comparison: MethodComparison,
    outcomes: Responses | ItemScores | Evaluations,
    *,
    selected: SelectedClaim | None = None,
    seed: str = "unknown",
) -> "xr.DataTree":
    """Posterior of several methods on the same items, as a DataTree.

    Parameters
    ----------
    comparison : MethodComparison
        From ``compare_methods``; its draws become four chains.
    outcomes : Responses, ItemScores or Evaluations
        What was compared, for its fingerprint.
    selected : SelectedClaim, optional
        Of the same outcomes, for ``p_best``.
    seed : str
        Recorded.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``skill`` (classifier) in the units given and ``difference`` (winner
        minus each, larger is better); ``point_estimate`` with ``p_false`` (classifier), P(winner
        is not better), ``p_best_uncorrected`` (classifier) and where ``selected`` is given
        ``p_best``, which allows for the winner's having been picked; attribute ``winner``.
    """
    draws = comparison.draws[: len(comparison.draws) // _CHAINS * _CHAINS]
    gap = draws[:, [comparison.winner]] - draws
    estimates = {"p_false": comparison.p_not_below, "p_best_uncorrected": comparison.p_best}
    if selected is not None:
        estimates["p_best"] = np.array(selected.p_best)
    return _exact_tree(
        {"difference": gap, "skill": comparison.sign * np.clip(draws, *comparison.bounds)},
        estimates, {"score": comparison.sign * comparison.scores}, comparison.methods,
        outcomes.outcomes if isinstance(outcomes, Evaluations) else outcomes,
        "flat Dirichlet of every pair, or Student t of the means (items.comparison)", seed,
        winner=comparison.methods[comparison.winner],
    )  # fmt: skip


def _exact_tree(
    draws: dict[str, FloatArray],
    estimates: dict[str, Any],
    observed: dict[str, Any],
    names: Sequence[str],
    data: Any,
    priors: str,
    seed: str,
    **more: str,
) -> "xr.DataTree":
    """Result of independent draws (draws, or draws x classifiers), in four chains."""
    import xarray as xr

    dims, coords = ("chain", "draw", "classifier"), {"classifier": list(names)}

    def dataset(content: dict[str, Any], over: tuple[str, ...]) -> xr.Dataset:
        found = {name: (over[: np.ndim(v)], v) for name, v in content.items()}
        named = any("classifier" in of for of, _ in found.values())
        return xr.Dataset(found, coords if named else {})

    chains = {k: v.reshape(_CHAINS, -1, *v.shape[1:]) for k, v in draws.items()}
    posterior = dataset(chains, dims)
    groups = {
        "posterior": posterior.assign_coords({d: np.arange(posterior.sizes[d]) for d in dims[:2]}),
        "point_estimate": dataset(estimates, dims[2:]),
        "observed_data": dataset(observed, dims[2:]),
    }
    provenance = describe_provenance((data,), priors, method="exact", seed=seed)
    exact = {"draws_are_independent": 1, "diagnostics_reasons": ""}
    return result_tree(groups, {**provenance, **exact, **more})
