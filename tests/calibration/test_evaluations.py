"""Answers of the model with tasks, clusters and runs: NUTS finds what they were made of.

``evaluations.py`` does so for truths that are not the model's (docs/measured/responses.md).
"""

import numpy as np
import pymc as pm
import pytest
from scipy import special, stats

from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.models import build_model

SETS = 3
GROUPS = {
    "tasks": np.repeat(["art", "chess", "law"], 8).tolist(),
    "clusters": (np.arange(24) // 2).astype(str).tolist(),
    "n_runs": 2,
}
SAMPLER = {"draws": 200, "tune": 300, "chains": 2, "cores": 1, "target_accept": 0.95}
QUANTITIES = (
    "skill", "theta_sota", "item_sd", "task_sd", "interaction_sd", "cluster_sd",
    "cluster_interaction_sd", "log_concentration",
)  # fmt: skip


@pytest.mark.slow
def test_true_values_have_the_ranks_of_draws() -> None:
    """Ranks are uniform (Talts and others 2018), sums of their squared normal scores chi-square.

    Of draws a third as wide as they should be each quantity alone fails in two of five cases.
    """
    with build_model(Outcomes(np.zeros((24, 3)), **GROUPS)):  # type: ignore[arg-type]
        drawn = pm.sample_prior_predictive(SETS, random_seed=1)
    squares = dict.fromkeys(QUANTITIES, 0.0)
    for number in range(SETS):
        made = {"chain": 0, "draw": number}
        answers = Outcomes(drawn["prior_predictive"]["right"][made].values / 2, **GROUPS)  # type: ignore[arg-type]
        with build_model(answers):
            found = pm.sample(random_seed=number, progressbar=False, **SAMPLER)["posterior"]  # type: ignore[arg-type]
        for name in QUANTITIES:
            below = (found[name] < drawn["prior"][name][made]).sum(("chain", "draw")).values
            level = (np.ravel(below)[0] + 0.5) / (2 * 200 + 1)  # of skills the first
            squares[name] += float(special.ndtri(level)) ** 2
    chances = stats.chi2.cdf(list(squares.values()), SETS)
    assert np.all((chances > 1e-3) & (chances < 1 - 1e-3)), dict(zip(squares, chances, strict=True))
