r"""Claims with an exact posterior as results in the one schema: draws, and P(false) without error.

``p_false`` in the group ``point_estimate`` is the closed form; the draws of ``skill`` and
``difference`` are independent ones from the posterior that it integrates
(``tests/claims/test_sample_trees.py`` compares the two).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.claims.accuracies import draw_cells, false_claim_probability
from bayes_sota.claims.congruence import Congruence
from bayes_sota.claims.means import draw_difference, false_claim_probability_of_means
from bayes_sota.claims.selected_claim import SelectedClaim
from bayes_sota.core.sample_provenance import Numbers, describe_provenance, resolve_seed
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.read_evaluations import Evaluations
from bayes_sota.data.responses import Responses
from bayes_sota.items.method_comparison import MethodComparison

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["claim_tree", "claim_tree_of_means", "comparison_tree"]

_CHAINS = 4


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
    return _tree(
        {"congruence": both, "difference": only_a - only_b},
        np.column_stack([both + only_a, both + only_b]),
        names,
        {"p_false": p},
        {"accuracy": [accuracy_a, accuracy_b]},
        Numbers((accuracy_a, accuracy_b, n_test, repr(congruence))),
        f"Dirichlet({alpha}) of the four cells, congruence "
        + ("unknown" if congruence is None else str(congruence)),
        seed,
    )


def claim_tree_of_means(
    mean_a: float,
    mean_b: float,
    n_test: int,
    *,
    sd: Any = None,
    correlation: float | None = None,
    correlation_range: tuple[float, float] = (0.0, 1.0),
    sd_difference: float | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    draws: int = 1000,
    random_seed: Seed = None,
) -> "xr.DataTree":
    """Posterior of the difference of two means of the same cases, as a DataTree.

    Parameters
    ----------
    mean_a, mean_b, n_test, sd, correlation, correlation_range, sd_difference, bounds
        As in ``false_claim_probability_of_means``, one claim.
    draws, random_seed
        As in ``claim_tree``.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``difference``; ``point_estimate`` with the exact ``p_false``.

    Examples
    --------
    >>> tree = claim_tree_of_means(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=0.7, random_seed=0)
    >>> tree["posterior"]["difference"].shape
    (4, 1000)
    """
    rng, seed = resolve_seed(random_seed)
    given: dict[str, Any] = {
        "sd": sd, "correlation": correlation, "correlation_range": correlation_range,
        "sd_difference": sd_difference,
    }  # fmt: skip
    p = false_claim_probability_of_means(mean_a, mean_b, n_test, bounds=bounds, **given)
    difference = draw_difference(mean_a, mean_b, n_test, draws=_CHAINS * draws, rng=rng, **given)
    return _tree(
        {"difference": difference},
        None,
        ("A", "B"),
        {"p_false": p},
        {"mean": [mean_a, mean_b]},
        Numbers((mean_a, mean_b, n_test, repr(given))),
        "flat in the mean difference and the logarithm of its standard deviation",
        seed,
    )


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
    estimates: dict[str, Any] = {
        "p_false": comparison.p_not_below,
        "p_best_uncorrected": comparison.p_best,
    }
    if selected is not None:
        estimates["p_best"] = np.array(selected.p_best)
    tree = _tree(
        {"difference": gap},
        comparison.sign * np.clip(draws, *comparison.bounds),
        comparison.methods,
        estimates,
        {"score": comparison.sign * comparison.scores},
        outcomes.outcomes if isinstance(outcomes, Evaluations) else outcomes,
        "flat Dirichlet of every pair, or Student t of the means (exact.method_comparison)",
        seed,
    )
    tree.attrs["winner"] = comparison.methods[comparison.winner]
    return tree


def _tree(
    draws: dict[str, FloatArray],
    skill: FloatArray | None,
    names: tuple[str, ...],
    estimates: dict[str, Any],
    observed: dict[str, Any],
    data: Any,
    priors: str,
    seed: str,
) -> "xr.DataTree":
    import xarray as xr

    values = draws if skill is None else draws | {"skill": skill}
    dims = ("chain", "draw", "classifier")
    posterior = {}
    for name, array in values.items():
        shaped = array.reshape(_CHAINS, -1, *array.shape[1:])
        posterior[name] = (dims[: shaped.ndim], shaped)
    coords = {"classifier": list(names)}

    def dataset(content: dict[str, Any]) -> xr.Dataset:
        found = {k: (("classifier",) if np.ndim(v) else (), v) for k, v in content.items()}
        return xr.Dataset(found, coords if any(np.ndim(v) for v in content.values()) else {})

    count = next(iter(posterior.values()))[1].shape[1]
    shared = coords if any("classifier" in of for of, _ in posterior.values()) else {}
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                posterior, shared | {"chain": np.arange(_CHAINS), "draw": np.arange(count)}
            ),
            "point_estimate": dataset(estimates),
            "observed_data": dataset(observed),
        }
    )
    attributes: dict[str, Any] = {
        **describe_provenance((data,), priors, method="exact", seed=seed),
        "draws_are_independent": 1,
        "diagnostics_reasons": "",
    }
    tree.attrs.update(attributes)
    tree["posterior"].attrs.update(attributes)
    return tree
