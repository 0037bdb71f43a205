"""The PyMC model of a board has the exact route's log density, for every shape and metric."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from boards import evidence_of, log_likelihood_at
from data.files import refused
from scipy import special, stats

from bayes_sota import Leaderboard
from bayes_sota.core.priors import BoardPriors
from bayes_sota.leaderboard import build_model, field_log_density, fit_shape, score_log_probability
from bayes_sota.leaderboard.fit import FAMILIES, SkillFamily, fit_field
from bayes_sota.leaderboard.models import _log_evidence, _log_ndtr

UNOPTIMISED = {"mode": "FAST_COMPILE"}  # no compilation: a few evaluations only
BOARDS = ("complete", "cut", "score", "auc")
PRIOR = BoardPriors().correlation


def simulated_board(kind: str) -> Leaderboard:
    rng = np.random.default_rng(5)
    skills = 1 / (1 + np.exp(-rng.normal(2.2, 0.3, 60 if kind == "cut" else 9)))
    if kind == "score":
        scores = 1 - skills + 0.01 * rng.standard_normal(skills.size)
        return Leaderboard(scores, metric="score", standard_error=0.01, lower_is_better=True)
    if kind == "auc":
        return Leaderboard(np.round(skills, 3), metric="auc", n_test=800, n_positive=200)
    return Leaderboard(rng.binomial(800, skills) / 800, n_test=800, rounding="exact")


@pytest.fixture(scope="module")
def fits():
    """Exact fits: all entries modelled, the top part only, scores where less is better, AUCs."""
    rng = np.random.default_rng(1)
    found = {
        kind: fit_field(evidence_of(simulated_board(kind)), BoardPriors(), rng, points=60)
        for kind in BOARDS
    }
    assert [found[kind].evidence.is_cut for kind in BOARDS] == [False, True, False, False]
    return found


def points_of(shape, rng, count):
    """Draws of the exact fit, standardised, shape (count, d)."""
    sample = shape.points[0]
    return sample.points[rng.choice(len(sample.points), count, p=sample.weights.mean(axis=1))]


def point_of(shape, t, rho):
    """Values of the model's variables at standardised coordinates."""
    (mean, sd), (log_mean, log_sd) = shape.prior
    place = mean + shape.evidence.board.sign * sd * t[0]
    named = dict(zip(shape.parameters, (place, log_mean + log_sd * t[1], *t[2:]), strict=True))
    return {**named, "shift": 0.3, "rho_logodds__": special.logit(rho)}


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        *(pytest.param("cut", family, marks=pytest.mark.slow) for family in FAMILIES),
        ("complete", "normal"),
        pytest.param("score", "ex-gaussian", marks=pytest.mark.slow),
        pytest.param("auc", "ex-gaussian", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_log_density_is_the_exact_one_and_its_slope_is_finite(fits, family, kind):
    shape = fit_shape(fits[kind].evidence.board, family=family, fit=fits[kind])
    model = build_model(shape.evidence.board, family=family, fit=shape)
    density = model.compile_logp(sum=False, **UNOPTIMISED)
    names = [v.name for v in [*model.free_RVs, *model.observed_RVs]]
    rng, levels = np.random.default_rng(2), (0.01, 0.3, 0.6, 0.97)
    for t, rho in zip(points_of(shape, rng, 4), PRIOR.quantile(levels), strict=True):
        terms = dict(zip(names, density(point_of(shape, t, rho)), strict=False))
        exact = log_likelihood_at(shape, family, t[None], rho)[0, 0]
        assert float(terms["score"].sum()) == pytest.approx(exact, abs=0.02, rel=1e-5)
        sd = [shape.prior[0][1], shape.prior[1][1], *np.ones(t.size - 2)]
        prior = stats.norm.logpdf(t).sum() - np.sum(np.log(sd))
        assert sum(terms[name] for name in shape.parameters) == pytest.approx(prior)
    gradient = model.compile_dlogp(**UNOPTIMISED)
    for far in (-4.0, 4.0):  # a sampler starts somewhere: no point may give NaN
        assert np.all(np.isfinite(gradient(point_of(shape, np.full(t.size, far), 0.8))))


@pytest.mark.slow
def test_the_potential_is_the_evidence_so_that_rho_keeps_its_prior(fits):
    """At the values of rho of the exact fit, whose log evidence comes from other points."""
    for kind in ("cut", "score"):
        fit = fits[kind]
        shape = fit_shape(fit.evidence.board, family="normal", fit=fit)
        ours = [float(_log_evidence(shape, np.float64(r)).eval(**UNOPTIMISED)) for r in fit.rho]
        np.testing.assert_allclose(ours, shape.log_evidence[0], atol=0.25)


@pytest.mark.slow
def test_a_density_for_each_entry_says_nothing_of_hidden_ones(fits):
    """Each score counts given that it is modelled, and no entry changes what another says."""
    shape = fit_shape(fits["cut"].evidence.board, family="normal", fit=fits["cut"])
    evidence, rho, (mean, sd) = shape.evidence, 0.8, shape.prior[0]
    place = np.linspace(1.9, 2.5, evidence.row.size)

    def log_p(place):
        density = field_log_density(shape, pt.as_tensor(place), shape.prior[1][0])
        return score_log_probability(shape, density, rho).eval(**UNOPTIMISED)

    points = np.stack([(place - mean) / sd, np.zeros(place.size)], axis=1)
    density, table = shape.density("normal", points), evidence.at(rho)
    chance = np.sum(density * table.score[evidence.row], axis=1) / (density @ table.typical)
    exact = np.log(chance) + table.log_scale[evidence.row]
    np.testing.assert_allclose(log_p(place), exact, atol=2e-3)
    moved = place + 0.4 * (np.arange(place.size) == 3)
    assert list(np.flatnonzero(log_p(moved) != log_p(place))) == [3]
    refused("2, got 3", field_log_density, shape, 2.2, -1.0, 0.0)


def test_pymc_draws_boards_and_no_score_but_the_observed_has_a_likelihood(fits):
    fit = fits["cut"]
    model = build_model(fit.evidence.board, family="normal", fit=fit)
    with pytest.warns(UserWarning, match="Potentials"):
        prior = pm.sample_prior_predictive(20, model, random_seed=1, compile_kwargs=UNOPTIMISED)
    scores = prior["prior_predictive"]["score"]
    assert scores.dims == ("chain", "draw", "classifier")
    assert len(np.unique(scores.values)) > 30
    score = model["score"]
    other = pm.logp(score, np.zeros(fit.evidence.row.size))
    assert np.isnan(other.eval(**UNOPTIMISED)).all()


@pytest.mark.slow
def test_a_shape_of_ones_own_is_fitted(fits):
    """The normal shape under another name: the same evidence and the same density."""
    fit = fits["complete"]
    own = SkillFamily("mine", ("place", "width"), FAMILIES["normal"].log_density)
    shape = fit_shape(fit.evidence.board, family=own, fit=fit)
    known = fit.log_evidence[fit.families.index("normal")]
    np.testing.assert_allclose(shape.log_evidence[0], known, atol=0.3)
    model = build_model(fit.evidence.board, family=own, fit=shape)
    twin = build_model(fit.evidence.board, family="normal", fit=fit)
    point = point_of(shape, np.array([0.2, -0.4]), 0.8)
    ours, theirs = (
        m.compile_logp(vars=m.observed_RVs, **UNOPTIMISED)(point) for m in (model, twin)
    )
    assert float(ours) == pytest.approx(float(theirs))
    assert int(model["family"].get_value()) == -1
    refused(
        "names of their own",
        build_model,
        fit.evidence.board,
        family=SkillFamily("bad", ("place", "width", "rho"), own.log_density),
    )


def test_log_normal_cdf_and_its_slope():
    x = pt.dvector()
    value = _log_ndtr(x)
    compiled = pytensor.function([x], [value, pt.grad(value.sum(), x)], **UNOPTIMISED)
    at = np.array([-300.0, -30.0, -1.0001, -0.9999, 0.0, 3.0, 30.0, 300.0])
    ours, slope = compiled(at)
    np.testing.assert_allclose(ours, special.log_ndtr(at), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(
        slope, np.exp(stats.norm.logpdf(at) - special.log_ndtr(at)), rtol=1e-9
    )


def test_what_cannot_be_built_is_refused(fits):
    board = simulated_board("complete")
    chosen = Leaderboard([0.9, 0.91, 0.93, 0.88], n_test=400, submissions=9)
    own = Leaderboard([0.9, 0.91, 0.93, 0.88], n_test=[400, 300, 400, 500])
    density = FAMILIES["normal"].log_density
    twice = SkillFamily("twice", ("place", "width"), lambda *of: density(*of) + np.log(2))
    nowhere = SkillFamily("nowhere", ("place", "width"), lambda *of: density(*of) * np.nan)
    for data, options, message in (
        (board, {"family": "gamma"}, "unknown family 'gamma'.*ex-gaussian"),
        (board, {"fit": fits["cut"]}, "another board"),
        (chosen, {}, "exact route"),
        (own, {}, "exact route"),
        ([0.9, 0.8], {}, "a Leaderboard is needed, got list"),
        (board, {"family": twice}, "of twice integrates to 2, not to 1"),
        (board, {"family": nowhere}, "of nowhere integrates to nan"),
    ):
        refused(message, build_model, data, **options)
