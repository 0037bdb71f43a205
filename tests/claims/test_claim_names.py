"""Everything in a result about a claim has a name of the schema: models and exact trees."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytest

from bayes_sota.claims.models import build_clustered_items, build_hierarchical_claims
from bayes_sota.claims.models_means import (
    build_case_differences,
    build_metric_differences,
)
from bayes_sota.claims.sample import claim_tree, claim_tree_of_means, comparison_tree
from bayes_sota.core.schema import DIMENSIONS, VARIABLES
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import compare_methods

RNG = np.random.default_rng(0)
ANSWERS = Responses(RNG.random((40, 2)) < [0.9, 0.8], clusters=[str(i // 4) for i in range(40)])
CASES = np.append(RNG.normal(0.01, 0.05, 30), 0.0)
MODELS: dict[str, Callable[[], pm.Model]] = {
    "review": lambda: build_hierarchical_claims([0.9, 0.8], [0.88, 0.7], 50, [0.85, np.nan]),
    "one by one": lambda: build_hierarchical_claims([0.9], [0.88], 50, shared=False),
    "clusters": lambda: build_clustered_items(ANSWERS),
    "cases": lambda: build_case_differences(CASES),
    "metrics": lambda: build_metric_differences(RNG.normal(size=(30, 3)), student=True),
}
# data that a model was given and its indices, which the schema does not name
GIVEN = {"nonzero_difference", "unit", "cluster_tables", "n_test"}


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    model = MODELS[name]()
    kept = [*model.free_RVs, *model.deterministics, *model.observed_RVs]
    assert {v.name for v in kept} <= set(VARIABLES)
    assert {v.name for v in model.data_vars} <= GIVEN
    dims = {dim for of in model.named_vars_to_dims.values() for dim in of}
    assert dims <= set(DIMENSIONS)
    for variable in kept:
        named = len(model.named_vars_to_dims.get(variable.name, ()))
        assert named == variable.ndim, f"{variable.name} has dimensions without names"


TREES: dict[str, Callable[[], Any]] = {
    "accuracies": lambda: claim_tree(0.9, 0.88, 50, draws=10),
    "means": lambda: claim_tree_of_means(0.9, 0.88, 50, sd=(0.1, 0.1), draws=10),
    "methods": lambda: comparison_tree(compare_methods(ANSWERS, draws=40), ANSWERS),
}


@pytest.mark.parametrize("name", TREES)
def test_exact_trees(name: str) -> None:
    tree = TREES[name]()
    for group in tree.children.values():
        assert set(group.data_vars) <= set(VARIABLES)
        assert set(group.sizes) <= set(DIMENSIONS)
