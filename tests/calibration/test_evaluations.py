"""Answers of the model with tasks, clusters and runs: NUTS finds what they were made of.

``evaluations.py`` does so for truths that are not the model's (docs/measured/responses.md).
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor
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
GIVEN = "given_answers"
QUANTITIES = (
    "skill", "theta_sota", "item_sd", "task_sd", "interaction_sd", "cluster_sd",
    "cluster_interaction_sd", "log_concentration",
)  # fmt: skip


def compiled(model: pm.Model) -> Any:
    """For nutpie, with answers that can be exchanged: the sets differ by nothing else."""
    import nutpie

    counts = model["right"]
    constant = model.rvs_to_values[counts]
    given = pytensor.shared(constant.data, name=GIVEN)
    model.rvs_to_values[counts] = given
    del model.values_to_rvs[constant]
    model.values_to_rvs[given] = counts
    return nutpie.compile_pymc_model(model)


@pytest.mark.slow
def test_true_values_have_the_ranks_of_draws() -> None:
    """Ranks are uniform (Talts and others 2018), sums of their squared normal scores chi-square.

    Of draws a third as wide as they should be each quantity alone fails in two of five cases.
    """
    import nutpie

    model = build_model(Outcomes(np.zeros((24, 3)), **GROUPS))  # type: ignore[arg-type]
    with model:
        drawn = pm.sample_prior_predictive(SETS, random_seed=1)
    sampler = compiled(model)
    squares = dict.fromkeys(QUANTITIES, 0.0)
    for number in range(SETS):
        made = {"chain": 0, "draw": number}
        answers = sampler.with_data(**{GIVEN: drawn["prior_predictive"]["right"][made].values})
        trace = nutpie.sample(answers, seed=number, progress_bar=False, **SAMPLER)
        found = trace["posterior"].to_dataset()
        for name in QUANTITIES:
            below = (found[name] < drawn["prior"][name][made]).sum(("chain", "draw")).values
            level = (np.ravel(below)[0] + 0.5) / (2 * 200 + 1)  # of skills the first
            squares[name] += float(special.ndtri(level)) ** 2
    chances = stats.chi2.cdf(list(squares.values()), SETS)
    assert np.all((chances > 1e-3) & (chances < 1 - 1e-3)), dict(zip(squares, chances, strict=True))
