"""NUTS and the exact route of a whole leaderboard agree."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from boards import evidence_of
from calibration.sampled_boards import sample_board
from data.files import refused
from scipy import stats
from scipy.special import expit

from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.summary import diagnose
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import fit_field, fit_shape
from bayes_sota.leaderboard.models import build_model, field_log_density, observe_scores
from bayes_sota.leaderboard.sample import complete, draw_own_skills
from bayes_sota.leaderboard.sample_estimate import estimate_sota
from bayes_sota.leaderboard.skills import draw_posterior

ONE = BoardPriors(families=("normal",))
ESTIMANDS = ("theta_sota", "winner_skill", "expected_sota", "winner_new_score", "best_new_score")


def board_of(rng, skills, n_test=400):
    scores = rng.binomial(n_test, np.clip(skills, 0, 1)) / n_test
    return Leaderboard(scores, n_test=n_test, rounding="exact")


def small_board():
    rng = np.random.default_rng(7)
    return board_of(rng, expit(rng.normal(2.0, 0.4, 12)))


def drawn(shape, rng, *, chains, draws, **_):
    """Draws of the exact fit in the place of those of NUTS: everything but the sampler."""
    size = chains, draws
    node = rng.integers(shape.rho.size, size=size)
    weights = shape.points[0].weights
    chosen = np.empty(size, dtype=int)
    for r in range(shape.rho.size):
        chosen[node == r] = rng.choice(len(weights), np.sum(node == r), p=weights[:, r])
    columns = np.moveaxis(shape.natural_points[chosen], -1, 0)
    values = dict(zip(shape.parameters, columns, strict=True))
    values["rho"] = shape.priors.correlation.quantile((node + rng.random(size)) / shape.rho.size)
    values |= {"shift": rng.standard_normal(size), "spread": np.exp(values["log_spread"])}
    dims = ("chain", "draw")
    coords = {name: np.arange(n) for name, n in zip(dims, size, strict=False)}
    stats = dict.fromkeys(("diverging", "n_steps"), (dims, np.zeros(size)))
    model = build_model(shape.evidence.board, family=shape.shape, fit=shape)
    observed = model.rvs_to_values[model["score"]].eval()
    groups = {
        "posterior": xr.Dataset({k: (dims, v) for k, v in values.items()}, coords),
        "sample_stats": xr.Dataset(stats, coords),
        "observed_data": xr.Dataset({"score": ("classifier", observed)}),
        "constant_data": xr.Dataset({v.name: int(v.get_value()) for v in model.data_vars}),
    }
    return xr.DataTree.from_dict(groups), model


@pytest.fixture(scope="module")
def trace():
    fit = fit_field(evidence_of(small_board()), ONE, np.random.default_rng(0))
    shape = fit_shape(small_board(), family="normal", fit=fit)
    found, _ = drawn(shape, np.random.default_rng(2), chains=2, draws=300)
    return found, shape


@pytest.mark.slow
def test_a_trace_is_completed_and_an_extended_one_with_its_model(trace):
    found, shape = trace
    tree = complete(found, small_board(), fit=shape, random_seed=3)
    assert set(tree["posterior"].data_vars) > set(tree["prior"].data_vars)
    assert set(tree["posterior_predictive"].data_vars) == {"score", "sorted_score"}
    assert "winner_new_score" in tree["predictions"]
    np.testing.assert_array_equal(tree["posterior"]["rho"], found["posterior"]["rho"])
    model = build_model(small_board(), family="normal", fit=shape)
    with model:
        pilot = pm.Normal("pilot_sd")
        pm.Normal("pilot", pilot, 0.5, observed=2.0)
        pm.Potential("narrower", -(pilot**2))
    posterior = found["posterior"].to_dataset()
    longer = with_posterior(found, posterior.assign(pilot_sd=0.1 * posterior["shift"]))
    longer["observed_data"] = longer["observed_data"].to_dataset().assign(pilot=2.0)
    refused(r"pilot_sd.*extended model", complete, longer, small_board(), fit=shape)
    with model:
        extended = complete(longer, small_board(), fit=shape, random_seed=3)
    assert {"score", "pilot"} <= set(extended["log_likelihood"].data_vars)
    assert {"pilot_sd"} <= set(extended["posterior"].data_vars)
    assert "without narrower" in extended.attrs["notes"]


def observed_by(shape, densities):
    """A model of the board that observes the scores under densities of its own."""
    with build_model(small_board(), family="normal", fit=shape, observe=False) as model:
        density = densities(model["location"], model["log_spread"])
        observe_scores(shape, density, model["rho"])
    return model


@pytest.mark.slow
def test_an_entry_has_the_field_that_the_model_gives_it(trace):
    """A field that is written as one for each entry, and elsewhere, is the field it was."""
    found, shape = trace
    ones = np.ones(shape.evidence.modelled.sum())
    same = observed_by(shape, lambda at, width: field_log_density(shape, at + 0 * ones, width))
    usual, plain = (
        complete(found, small_board(), model, fit=shape, random_seed=3) for model in (same, None)
    )
    for name in ESTIMANDS[:2]:
        np.testing.assert_allclose(usual["posterior"][name], plain["posterior"][name], atol=1e-9)
    moved = observed_by(shape, lambda at, width: field_log_density(shape, at + 0.4 * ones, width))
    posterior = found["posterior"].to_dataset()
    elsewhere = with_posterior(found, posterior.assign(location=posterior["location"] - 0.4))
    own = complete(elsewhere, small_board(), moved, fit=shape, random_seed=4)
    for name in (*ESTIMANDS, "n_above_sota"):
        group = "predictions" if name.endswith("new_score") else "posterior"
        ours, theirs = own[group][name].values, plain[group][name].values
        assert ours.mean() == pytest.approx(theirs.mean(), abs=0.2 * theirs.std()), name
        assert ours.std() == pytest.approx(theirs.std(), rel=0.15), name
    assert np.all(own["posterior"]["winner_skill"] <= own["posterior"]["theta_sota"])


@pytest.mark.slow
def test_the_best_of_entries_with_fields_of_their_own_is_that_of_quadrature(trace):
    """Some entries lie higher: P(theta_sota < t) is the product over the entries."""
    _, shape = trace
    evidence, node, size = shape.evidence, 2, 4000
    up = np.where(np.arange(evidence.modelled.sum()) < 6, 0.0, 1.5)[:, None]
    log_density = stats.norm.logpdf(evidence.y, 1.8 + up, 0.3)
    shared = np.full(size, shape.rho[node]), np.zeros(size)
    rng = np.random.default_rng(0)
    own = draw_own_skills(shape, lambda draw: log_density, *shared, rng).estimands()
    rho = float(shape.rho[node])
    density = shape.join(np.exp(log_density))
    mass = density * evidence.at(rho).score[evidence.row]
    cdf = np.prod(np.cumsum(mass, axis=1) / mass.sum(axis=1, keepdims=True), axis=0)
    edges = evidence.law.skill_at(evidence.y + evidence.step / 2)
    for level in (0.2, 0.5, 0.8):
        share = float((own["theta_sota"] < np.interp(level, cdf, edges)).mean())
        assert share == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / size))
    y = np.linspace(evidence.y[0], 6, 5000)
    fresh = np.prod(stats.norm.cdf(y, 1.8 + up, 0.3), axis=0)
    expected = np.diff(fresh, prepend=0) @ expit(y)
    assert own["expected_sota"] == pytest.approx(np.full(size, expected), abs=1e-3)


def test_unlisted_classifiers_have_no_field_of_their_own():
    board = Leaderboard([0.9, 0.91, 0.93, 0.88], n_test=400, n_classifiers=50)
    shape = fit_shape(board, ONE, family="normal")
    found, _ = drawn(shape, np.random.default_rng(2), chains=2, draws=10)
    with build_model(board, family="normal", fit=shape, observe=False) as model:
        place = model["location"] + np.array([0.0, 0.5, 0.0, 0.0])
        density = field_log_density(shape, place, model["log_spread"])
        observe_scores(shape, density, model["rho"])
    refused("classifiers are not listed", complete, found, board, model, fit=shape)


def with_posterior(trace, posterior):
    found = trace.copy()
    found["posterior"] = posterior
    return found


def test_what_cannot_be_completed_is_refused(trace):
    found, shape = trace
    posterior, rng = found["posterior"].to_dataset(), np.random.default_rng(9)
    other = board_of(rng, expit(rng.normal(2.0, 0.4, 12)))
    uneven = posterior["shift"].where(posterior["draw"] < 200)
    board, own = small_board(), {"fit": shape}
    for wrong, data, options, message in (
        (found, other, {"priors": ONE}, "other data than those given"),
        (with_posterior(found, posterior.drop_vars("shift")), board, own, "lacks shift"),
        (with_posterior(found, posterior.rename(location="x")), board, own, "lacks location"),
        (with_posterior(found, posterior.assign(shift=uneven)), board, own, "different length"),
        (found, board, {"family": "ex-gaussian"}, "lacks softness"),
        (found, board, {"priors": BoardPriors((0.5, 0.6))}, "has other priors"),
        (found, board, own | {"priors": BoardPriors((0.5, 0.6))}, "the fit has other priors"),
        (estimate_sota(board, draws=10), board, {}, "a result already"),
        (found.drop_nodes("constant_data"), board, {}, "is it of all scores"),
    ):
        refused(message, complete, wrong, data, **options)


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route():
    """Bounds are those of the study in ``docs/measured/calibration.md``.

    The fit has 25 times as many points as by default: a mean from some 150 effective points is
    itself uncertain by .08 standard deviations. Of the draws 900 and more are effective (.035 of a
    mean, 2.4 % of a standard deviation). expected_sota is left out: its variance is that of a mode
    with a hundredth of the mass, where the shape explains no entry and no chain comes.
    """
    board = small_board()
    found = sample_board(board, ONE, cores=2, random_seed=1)
    fit = fit_field(evidence_of(board), ONE, np.random.default_rng(2), points=5_000)
    skills = draw_posterior(fit, 40_000, np.random.default_rng(3))
    exact = skills.estimands() | skills.new_scores(None, np.random.default_rng(4))
    compared = ("theta_sota", "winner_skill", "winner_new_score", "best_new_score", "shift", "rho")
    for name in compared:
        group = "predictions" if name.endswith("new_score") else "posterior"
        ours, reference = found[group][name].values, exact[name]
        assert ours.mean() == pytest.approx(reference.mean(), abs=0.1 * reference.std()), name
        assert ours.std() == pytest.approx(reference.std(), rel=0.08), name
    assert found.attrs["divergences"] <= 1  # the study met a single one, in 1 of 40 runs
    assert diagnose(found)["ok"]
