"""Claims with an exact posterior, as independent draws in the one schema.

Two printed numbers are one observation, and several methods have a law of scores: there is no
``log_likelihood``. ``tests/claims/test_sample_exact.py`` compares with PyMC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.claims.claim import Claim
from bayes_sota.claims.laws import OUTCOMES, Accuracies
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.sample import describe_provenance, lay_out, resolve_seed, result_tree
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison
from bayes_sota.items.comparison import MethodComparison
from bayes_sota.leaderboard.posterior import EntryDraws

if TYPE_CHECKING:
    import xarray as xr

_CHAINS = 4
_DIMS = {"p": ("outcome",), "mean_difference": ("claim",)} | dict.fromkeys(
    ("skill", "accuracy", "mean"), ("classifier",)
)


def claim_tree(
    claim: Claim,
    *,
    names: tuple[str, str] = ("A", "B"),
    p_false: float | None = None,
    draws: int = 1000,
    random_seed: Seed = DEFAULT_SEED,
) -> "xr.DataTree":
    """Posterior of a claim from two reported numbers, as a DataTree.

    Parameters
    ----------
    claim : Accuracies or Means
    names : (str, str)
    p_false : float, optional
        P(false) to record; default ``claim.p_false()``.
    draws : int
        Independent draws of each of four chains.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        For accuracies ``posterior`` and ``prior`` with ``p`` (outcome), ``skill`` (classifier),
        ``difference`` and ``congruence``; predictions and data with ``accuracy`` (classifier). For
        means ``posterior`` with ``difference``, ``sd_difference`` and, if it matters,
        ``correlation``; predictions and data with ``mean_difference`` (claim). ``point_estimate``
        has ``p_false``.

    Examples
    --------
    >>> tree = claim_tree(Accuracies(a=0.90, b=0.88, n=500), random_seed=0)
    >>> round(float(tree["point_estimate"]["p_false"]), 3)
    0.093
    """
    rng, seed = resolve_seed(random_seed)
    observed: dict[str, Any] = {"observed_data": {"accuracy": [claim.a, claim.b]}}
    priors = "Dirichlet(1) of the four cells"
    if not isinstance(claim, Accuracies):
        observed = {"observed_data": {"mean_difference": [claim.a - claim.b]}}
        observed["constant_data"] = {"mean": [claim.a, claim.b]}
        priors = "flat in the mean difference and the logarithm of its standard deviation"
    stated = {"p_false": claim.p_false() if p_false is None else p_false}
    shared = "unknown" if claim.known is None else f"{claim.known:g}"
    labels = {"classifier": names, "outcome": OUTCOMES, "claim": [f"{names[0]} - {names[1]}"]}
    digest, priors = digest_of(*astuple(claim)), f"{priors}, {claim.unknown} {shared}"
    about = describe_provenance(digest, priors, method="exact", seed=seed)
    about["notes"] = "two reported numbers are one observation: no group log_likelihood"
    drawn = claim.draw(_CHAINS * draws, rng)
    return _exact_tree(drawn, observed | {"point_estimate": stated}, _DIMS, labels, about)


def comparison_tree(
    comparison: MethodComparison | TaskComparison,
    outcomes: Outcomes,
    *,
    first: str | None = None,
    joint: EntryDraws | None = None,
    seed: str = "unknown",
) -> "xr.DataTree":
    """Posterior of several methods, on all items or in every task, as a DataTree.

    Parameters
    ----------
    comparison : MethodComparison or TaskComparison
        Its draws become four chains.
    outcomes : Outcomes
        For the fingerprint of the data.
    first : str, optional
        The method of ``difference``; default the best.
    joint : EntryDraws, optional
        Draws of the joint posterior of all skills, for ``p_best``.
    seed : str
        Recorded.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``skill`` in the units given and ``difference`` (``first`` minus each,
        larger is better), both (classifier) or (task, classifier); ``observed_data`` with
        ``score``. Without tasks ``posterior_predictive`` has ``score``, and ``point_estimate``
        ``p_false``, ``p_best_uncorrected`` and, with ``joint``, ``p_best`` and ``p_best_mcse``,
        (classifier).
    """
    names, sign = comparison.methods, comparison.sign
    again, estimates = dict[str, Any](), dict[str, Any]()
    labels: dict[str, Sequence[str]] = {"classifier": names}
    if isinstance(comparison, TaskComparison):
        draws = np.stack([comparison.draws_of(t) for t in range(len(comparison.tasks))], axis=1)
        scores, best = comparison.errors.scores, int(comparison.average.mean(axis=0).argmax())
        labels = {"task": comparison.tasks} | labels
        skills = np.clip(draws, *comparison.bounds)
        priors = "normal over tasks, uniform shrinkage (items.by_task)"
    else:
        draws, scores, best = comparison.draws, comparison.scores, comparison.winner
        skills = comparison.skills
        estimates = {"p_false": comparison.p_not_below, "p_best_uncorrected": comparison.p_best}
        if joint is not None:
            estimates |= {"p_best": joint.p_best, "p_best_mcse": joint.p_best_mcse}
        again = {"score": sign * comparison.replicated}
        priors = "flat Dirichlet of every pair, or Student t of the means (items.comparison)"
    place = names.index(first) if first else best
    posterior = {"difference": draws[..., [place]] - draws, "skill": sign * skills}
    drawn = {"posterior": posterior, "posterior_predictive": again}
    fixed = {"observed_data": {"score": sign * scores}, "point_estimate": estimates}
    dims = dict.fromkeys(("difference", "skill", "score", *estimates), (*labels,))
    digest = digest_of(outcomes.data_hash())
    about = describe_provenance(digest, priors, method="exact", seed=seed)
    about["winner"] = names[place]
    about["notes"] = "a law of the scores without a proper prior: no groups of prior and likelihood"
    return _exact_tree(drawn, fixed, dims, labels, about)


def _exact_tree(
    drawn: Mapping[str, Mapping[str, Any]],
    fixed: Mapping[str, Mapping[str, Any]],
    dims: Mapping[str, tuple[str, ...]],
    coords: Mapping[str, Sequence[str]],
    about: Mapping[str, str],
) -> "xr.DataTree":
    labels = {dim: list(names) for dim, names in coords.items()}
    groups = {}
    for name, values in drawn.items():
        kept = {key: draws[: len(draws) // _CHAINS * _CHAINS] for key, draws in values.items()}
        groups[name] = lay_out(kept, _CHAINS, dims, labels)
    for name, numbers in fixed.items():  # as one draw of one chain, which are dropped
        single = lay_out({key: np.array([x]) for key, x in numbers.items()}, 1, dims, labels)
        groups[name] = single.isel(chain=0, draw=0, drop=True, missing_dims="ignore")
    return result_tree(groups, {**about, "draws_are_independent": 1, "diagnostics_reasons": ""})
