"""Any trace of a model of answers becomes the complete result; traces of others are refused."""

import numpy as np
import pytest
import xarray as xr
from data.files import refused
from prior_draws import prior_trace
from schema_names import check_names

import bayes_sota as bs

pytestmark = pytest.mark.slow
RIGHT = np.random.default_rng(0).integers(0, 4, (30, 3))
TASKS = ["art"] * 10 + ["law"] * 14 + ["tax"] * 6
CLUSTERS = [str(i // 3) for i in range(30)]


def exam(new="items", **options):
    given = {"n_runs": 3, "tasks": TASKS, "new": new, "names": list("abc")} | options
    return bs.Outcomes(RIGHT / 3, **given)


@pytest.mark.parametrize(
    "answers",
    [exam(), exam("tasks", clusters=CLUSTERS), bs.Outcomes(RIGHT > 1)],
    ids=["items", "tasks", "single answers"],
)
def test_the_result_has_the_names_of_the_schema(answers):
    with bs.items.build_model(answers) as model:
        trace = prior_trace(model, np.random.default_rng(1), draws=60, chains=1)
        tree = bs.items.complete(trace, answers, random_seed=0)
    check_names(tree)
    posterior, best = tree["posterior"], tree["point_estimate"]["p_best"]
    assert set(posterior.data_vars) == set(tree["prior"].data_vars)
    np.testing.assert_allclose(posterior["theta_sota"], posterior["skill"].max("classifier"))
    winner = posterior["skill"].isel(classifier=int(np.argmax(answers.scores)))
    np.testing.assert_allclose(posterior["winner_skill"], winner)
    seen = posterior["skill"].isel(chain=0).argmax("classifier")
    assert best.values == pytest.approx(np.bincount(seen, minlength=3) / 60)
    assert tree.attrs["new"] == answers.new
    np.testing.assert_allclose(tree["constant_data"]["all_score"], answers.scores)
    (name,) = tree["observed_data"].data_vars
    assert set(tree["posterior_predictive"].data_vars) == {name} == set(tree["log_likelihood"])
    rebuilt = bs.items.complete(trace, answers, random_seed=0)
    xr.testing.assert_equal(rebuilt["posterior"].to_dataset(), posterior.to_dataset())


def test_what_is_refused():
    """Beside what ``tests/core/test_traces.py`` and ``test_other_data.py`` refuse of any model."""
    model = bs.items.build_model(exam())
    trace = prior_trace(model, np.random.default_rng(1), draws=60, chains=1)
    lacking = trace.copy()
    lacking["posterior"] = lacking["posterior"].to_dataset().drop_vars("skill")
    refused("lacks the deterministic 'skill'", bs.items.complete, lacking, exam(), model)
    refused("the trace lacks cluster_sd", bs.items.complete, trace, exam(clusters=CLUSTERS))
    refused("those on new items, not on new runs", bs.items.complete, trace, exam("runs"), model)
