"""Claims with an exact posterior, as independent draws in the one schema.

The closed form of ``p_false`` is in the group ``point_estimate``, and the groups of likelihood and
prior are what the draws come from. ``tests/claims/test_sample_exact.py`` compares draws, closed
forms and PyMC.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.cells import OUTCOMES, draw_cells, log_likelihood_of_cells
from bayes_sota.claims.congruence import Congruence
from bayes_sota.claims.means import ReportedMeans
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.sample import (
    describe_provenance,
    lay_out,
    resolve_seed,
    result_tree,
)
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison
from bayes_sota.items.comparison import MethodComparison
from bayes_sota.leaderboard.entries import EntryDraws

_CHAINS = 4  # of independent draws
_CLAIM, _METHOD = ("claim",), ("classifier",)
_Group = dict[str, tuple[tuple[str, ...], Any]]  # dimensions beside chain and draw, and values


def claim_tree(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    congruence: Congruence = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    draws: int = 1000,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Posterior of two accuracies on the same items, as a DataTree.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, congruence
        As in ``false_claim_probability``, one claim.
    names : (str, str)
        Of A and B.
    draws : int
        Of each of four chains; all are independent.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior`` with ``p`` (outcome), ``skill`` (classifier), ``difference``
        and ``congruence`` (of items to come); ``observed_data``, ``posterior_predictive`` and
        ``prior_predictive`` with ``accuracy`` (classifier), replicated on fresh test sets;
        ``log_likelihood`` of the pair of accuracies, which is one observation, ``log_prior`` of
        ``p``; ``point_estimate`` with the exact ``p_false``.

    Examples
    --------
    >>> tree = claim_tree(0.90, 0.88, 500, random_seed=0)
    >>> round(float(tree["point_estimate"]["p_false"]), 3)
    0.093
    """
    rng, seed = resolve_seed(random_seed)
    claim, total = (accuracy_a, accuracy_b, n_test, congruence), _CHAINS * draws
    p = draw_cells(*claim, draws=total, rng=rng)
    prior = rng.dirichlet(np.ones(4), total)
    shared = "unknown" if congruence is None else str(congruence)
    return _exact_tree(
        {
            "posterior": _of_cells(p),
            "prior": _of_cells(prior),
            "posterior_predictive": {"accuracy": (_METHOD, _fresh_accuracies(p, n_test, rng))},
            "prior_predictive": {"accuracy": (_METHOD, _fresh_accuracies(prior, n_test, rng))},
            "log_likelihood": {"accuracy": ((), log_likelihood_of_cells(p, *claim))},
            "log_prior": {"p": ((), np.full(total, np.log(6)))},
        },
        {
            "observed_data": {"accuracy": (_METHOD, [accuracy_a, accuracy_b])},
            "point_estimate": {"p_false": ((), false_claim_probability(*claim))},
        },
        {"classifier": names, "outcome": OUTCOMES},
        digest_of(accuracy_a, accuracy_b, n_test, congruence),
        f"Dirichlet(1) of the four cells, congruence {shared}",
        seed,
    )


def _of_cells(p: FloatArray) -> _Group:
    """Everything that is a function of the four cells, (draws, 4)."""
    both, only_a, only_b, _ = p.T
    skill = np.column_stack([both + only_a, both + only_b])
    return {
        "p": (("outcome",), p),
        "congruence": ((), both),
        "difference": ((), only_a - only_b),
        "skill": (_METHOD, skill),
    }


def _fresh_accuracies(p: FloatArray, n_test: int, rng: np.random.Generator) -> FloatArray:
    """Accuracies of A and of B on as many fresh items, (draws, 2)."""
    both, only_a, only_b, _ = rng.multinomial(n_test, p).T
    return np.column_stack([both + only_a, both + only_b]) / n_test


def claim_tree_of_means(
    claim: ReportedMeans, *, draws: int = 1000, random_seed: Seed = DEFAULT_SEED
) -> xr.DataTree:
    """Posterior of the difference of two means of the same cases, as a DataTree.

    The priors are flat, and no probability distributions: there is nothing to draw from them.

    Parameters
    ----------
    claim : ReportedMeans
    draws, random_seed
        As in ``claim_tree``.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``difference``, ``sd_difference`` and, where the standard deviations of
        both methods are given, ``correlation`` of their cases; ``observed_data`` and
        ``posterior_predictive`` with ``mean_difference`` (claim), replicated on fresh cases;
        ``log_likelihood`` of it and the standard deviation, one observation;
        ``constant_data`` with the reported ``mean`` (classifier); ``point_estimate`` with the
        exact ``p_false``.

    Examples
    --------
    >>> claim = ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=0.7)
    >>> claim_tree_of_means(claim, random_seed=0)["posterior"]["difference"].shape
    (4, 1000)
    """
    rng, seed = resolve_seed(random_seed)
    names = ("sd", "correlation", "correlation_range", "sd_difference")
    constants, means = {name: getattr(claim, name) for name in names}, [claim.mean_a, claim.mean_b]
    p, drawn = claim.p_false(), claim.draw(_CHAINS * draws, rng)
    kept = [name for name in ("difference", "sd_difference", "correlation") if name in drawn]
    groups: dict[str, _Group] = {
        "posterior": {name: ((), drawn[name]) for name in kept},
        "posterior_predictive": {"mean_difference": (_CLAIM, drawn["replicated"][:, None])},
    }
    notes = "the priors are improper: no groups prior, prior_predictive and log_prior"
    if "log_likelihood" in drawn:
        groups["log_likelihood"] = {"mean_difference": (_CLAIM, drawn["log_likelihood"][:, None])}
    else:
        notes += "; nothing varies between cases: no log_likelihood"
    return _exact_tree(
        groups,
        {
            "observed_data": {"mean_difference": (_CLAIM, [claim.mean_a - claim.mean_b])},
            "constant_data": {"mean": (_METHOD, means)},
            "point_estimate": {"p_false": ((), p)},
        },
        {"classifier": ("A", "B"), "claim": ["A - B"]},
        digest_of(*means, claim.n_test, constants),
        "flat in the mean difference and the logarithm of its standard deviation",
        seed,
        notes=notes,
    )


def comparison_tree(
    comparison: MethodComparison,
    outcomes: Outcomes,
    *,
    joint: EntryDraws | None = None,
    seed: str = "unknown",
) -> xr.DataTree:
    """Posterior of several methods on the same items, as a DataTree.

    The law is one of the methods' scores, not of single items: no likelihood of items, and no
    proper prior of the skills.

    Parameters
    ----------
    comparison : MethodComparison
        From ``compare_methods``; its draws become four chains.
    outcomes : Outcomes
        What was compared, for its fingerprint.
    joint : EntryDraws, optional
        Of the joint posterior of all skills, for ``p_best``.
    seed : str
        Recorded.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``skill`` (classifier) in the units given and ``difference`` (winner
        minus each, larger is better); ``observed_data`` with ``score`` (classifier), in
        ``posterior_predictive`` replicated on as many fresh items; ``point_estimate`` with
        ``p_false`` (classifier), P(winner is not better), ``p_best_uncorrected`` (classifier) and
        where ``joint`` is given ``p_best``, which allows for the winner's having been picked,
        with its ``p_best_mcse``; attribute ``winner``.
    """
    kept, sign = len(comparison.draws) // _CHAINS * _CHAINS, comparison.sign
    draws, again = comparison.draws[:kept], comparison.replicated[:kept]
    estimates = {"p_false": comparison.p_not_below, "p_best_uncorrected": comparison.p_best}
    if joint is not None:
        estimates |= {"p_best": joint.p_best, "p_best_mcse": joint.p_best_mcse}
    groups: dict[str, _Group] = {
        "posterior": {
            "difference": (_METHOD, draws[:, [comparison.winner]] - draws),
            "skill": (_METHOD, sign * np.clip(draws, *comparison.bounds)),
        },
        "posterior_predictive": {"score": (_METHOD, sign * again)},
    }
    return _exact_tree(
        groups,
        {
            "observed_data": {"score": (_METHOD, sign * comparison.scores)},
            "point_estimate": {name: (_METHOD, v) for name, v in estimates.items()},
        },
        {"classifier": comparison.methods},
        digest_of(outcomes.data_hash()),
        "flat Dirichlet of every pair, or Student t of the means (items.comparison)",
        seed,
        winner=comparison.methods[comparison.winner],
        notes="a law of the scores without a proper prior: no groups of prior and likelihood",
    )


def tasks_tree(
    comparison: TaskComparison,
    outcomes: Outcomes,
    first: str,
    *,
    seed: str = "unknown",
) -> xr.DataTree:
    """Posterior of the methods' skills and differences in every task, as a DataTree.

    Parameters
    ----------
    comparison : TaskComparison
        From ``compare_by_task``; its draws become four chains.
    outcomes : Outcomes
        What was compared, for its fingerprint.
    first : str
        The method that others are taken from.
    seed : str
        Recorded.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``skill`` and ``difference`` (task, classifier), ``first`` minus each;
        ``observed_data`` with ``score`` (task, classifier); attribute ``winner``, the first.
    """
    kept = len(comparison.spread) // _CHAINS * _CHAINS
    place, dims = comparison.methods.index(first), ("task", *_METHOD)
    tasks = range(len(comparison.tasks))
    drawn = comparison.sign * np.stack([comparison.draws_of(t)[:kept] for t in tasks], axis=1)
    skill = np.stack([comparison.skills_in(t)[:kept] for t in tasks], axis=1)
    difference = drawn[:, :, [place]] - drawn
    return _exact_tree(
        {"posterior": {"skill": (dims, skill), "difference": (dims, difference)}},
        {"observed_data": {"score": (dims, comparison.sign * comparison.errors.scores)}},
        {"task": comparison.tasks, "classifier": comparison.methods},
        digest_of(outcomes.data_hash()),
        "normal over tasks, uniform shrinkage (items.by_task)",
        seed,
        winner=first,
        notes="a law of the scores without a proper prior: no groups of prior and likelihood",
    )


def _exact_tree(
    drawn: Mapping[str, _Group],
    fixed: Mapping[str, _Group],
    coords: Mapping[str, Sequence[str]],
    data: str,
    priors: str,
    seed: str,
    **more: str,
) -> xr.DataTree:
    """Result of groups of independent draws, which become four chains, and of plain numbers."""
    labels = {dim: list(names) for dim, names in coords.items()}
    groups = {}
    for name, group in drawn.items():
        values = {key: np.asarray(of) for key, (_, of) in group.items()}
        dims = {key: of for key, (of, _) in group.items()}
        groups[name] = lay_out(values, _CHAINS, dims, labels)
    for name, group in fixed.items():
        dataset = xr.Dataset(dict(group))
        groups[name] = dataset.assign_coords({dim: labels[str(dim)] for dim in dataset.dims})
    provenance = describe_provenance(data, priors, method="exact", seed=seed)
    exact = {"draws_are_independent": 1, "diagnostics_reasons": ""}
    return result_tree(groups, {**provenance, **exact, **more})
