"""How well a Bayesian EPP predicts: replicated tournaments, and rounds that were left out.

``tests/epp/test_sample.py`` checks the numbers that these sum up.
"""

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["check_epp"]


def check_epp(tree: "xr.DataTree") -> dict[str, Any]:
    """Bayesian p-values and the leave-one-out predictive density of a result of ``sample_epp``.

    Parameters
    ----------
    tree : DataTree
        With ``posterior_predictive`` (``predictive`` of ``sample_epp``) or ``log_likelihood``.

    Returns
    -------
    dict
        ``deviance_p_value`` and ``n_ties_p_value``: shares of replicates at or above the data, None
        without replicates and where matches that depend on each other have a weight, whose
        replicates would be independent; ``loo``: elpd, se and p of ``az.loo``, ``n_bad_k`` (Pareto
        k above its threshold) and ``of`` (what is left out: round, cluster, match), or None.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> values = np.random.default_rng(0).normal(-3, 0.1, (2, 500, 20))
    >>> group = xr.Dataset({"round_rank": (("chain", "draw", "round"), values)})
    >>> tree = xr.DataTree.from_dict({"log_likelihood": group, "posterior": group})
    >>> found = check_epp(tree)
    >>> found["loo"]["of"], found["loo"]["n_bad_k"], found["deviance_p_value"]
    ('round', 0, None)
    """
    names = ("deviance_p_value", "n_ties_p_value")
    replicates = tree.children.get("posterior_predictive")
    attributes = {} if replicates is None or _weighted(tree) else replicates.attrs
    found: dict[str, Any] = {
        name: float(attributes[name]) if name in attributes else None for name in names
    }
    return {**found, "loo": _loo(tree) if "log_likelihood" in tree.children else None}


def _weighted(tree: "xr.DataTree") -> bool:
    """Whether the likelihood is of matches with a weight below 1."""
    constant = tree.children.get("constant_data")
    if constant is None or "match_counts" not in tree["observed_data"]:
        return False
    return bool((constant["likelihood_weight"] < 1).any())


def _loo(tree: "xr.DataTree") -> dict[str, Any]:
    import arviz as az

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of bad values says it
        found = az.loo(tree, pointwise=True)
    return {
        "elpd": float(found.elpd),
        "se": float(found.se),
        "p": float(found.p),
        "n_bad_k": int((found.pareto_k > found.good_k).sum()),
        "of": str(found.pareto_k.dims[0]),
    }
