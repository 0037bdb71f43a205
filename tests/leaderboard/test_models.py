"""The PyMC model of a whole leaderboard has the exact route's log density, and a finite slope."""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest
from scipy import stats
from scipy.special import log_ndtr

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import ScoreKernel, _Likelihood, fit_field, numpy_operations
from bayes_sota.leaderboard.models import _log_ndtr, _reach_at, build_leaderboard
from bayes_sota.leaderboard.shapes import FAMILIES

UNOPTIMISED = {"mode": "FAST_COMPILE"}  # no compilation: a few evaluations only
BOARDS = ("complete", "cut", "score")


def simulated_board(kind: str) -> Leaderboard:
    rng = np.random.default_rng(5)
    skills = 1 / (1 + np.exp(-rng.normal(2.2, 0.3, 60 if kind == "cut" else 9)))
    if kind == "score":
        scores = skills + 0.01 * rng.standard_normal(skills.size)
        return Leaderboard(scores, metric="score", standard_error=0.01)
    return Leaderboard(rng.binomial(800, skills) / 800, n_test=800, rounding="exact")


@pytest.fixture(scope="module")
def fits():
    """Exact fits of three boards: all entries modelled, the top part only, not an accuracy."""
    rng = np.random.default_rng(1)
    found = {
        kind: fit_field(ScoreKernel.of(simulated_board(kind)), BoardPriors(), rng, points=60)
        for kind in BOARDS
    }
    assert [found[kind].kernel.is_cut for kind in BOARDS] == [False, True, False]
    return found


def random_points(fit, family, rng, count):
    """Points of the exact sample, and points from the prior, shape (count, d)."""
    known = fit.points[fit.families.index(family)].points
    prior = rng.standard_normal((count, known.shape[1]))
    return np.where(
        np.arange(count)[:, None] % 2, prior, known[rng.integers(len(known), size=count)]
    )


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        *(("cut", family) for family in FAMILIES),
        ("complete", "plateau"),
        ("score", "normal-laplace"),
    ],
)
def test_log_density_is_the_exact_one(fits, family, kind):
    fit = fits[kind]
    model = build_leaderboard(fit.kernel.board, family=family, fit=fit)
    log_density = model.compile_logp(**UNOPTIMISED)
    likelihood = _Likelihood(fit.kernel, fit.rho, fit.copies)
    rng = np.random.default_rng(2)
    for _ in range(4):
        t = random_points(fit, family, rng, fit.rho.size)
        exact = likelihood(fit.density(family, t)).diagonal().sum() + stats.norm.logpdf(t).sum()
        exact -= sum(fit.copies @ fit.kernel.log_mass(rho) for rho in fit.rho)
        ours = float(log_density({"coordinates": t}))
        assert ours == pytest.approx(exact, abs=1e-6, rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_gradient_is_finite_and_agrees_with_differences(fits, family):
    fit = fits["cut"]
    model = build_leaderboard(fit.kernel.board, family=family, fit=fit)
    log_density, gradient = model.compile_logp(**UNOPTIMISED), model.compile_dlogp(**UNOPTIMISED)
    rng = np.random.default_rng(3)
    t = random_points(fit, family, rng, fit.rho.size)
    found, direction, step = gradient({"coordinates": t}), rng.standard_normal(t.shape), 1e-6
    up, down = (float(log_density({"coordinates": t + s * step * direction})) for s in (1, -1))
    assert found @ direction.ravel() == pytest.approx((up - down) / (2 * step), rel=2e-4, abs=1e-2)
    for far in (-4.0, 4.0):  # a sampler starts somewhere: no point may give NaN
        assert np.all(np.isfinite(gradient({"coordinates": np.full(t.shape, far)})))


@pytest.mark.parametrize("kind", ["cut", "score"])
def test_with_rho_as_a_variable_the_kernel_is_normalised(fits, kind):
    """Against the exact likelihood, with the part of a score's mass that depends on rho."""
    fit = fits[kind]
    model = build_leaderboard(fit.kernel.board, family="normal", correlation="learnt", fit=fit)
    log_likelihood = model.compile_logp(vars=model.observed_RVs, **UNOPTIMISED)
    value = model.rvs_to_values[model["rho"]]
    transform = model.rvs_to_transforms[model["rho"]]
    rng = np.random.default_rng(4)
    for rho in (0.3, 0.6, 0.8, 0.95):
        t = random_points(fit, "normal", rng, 1)
        exact = _Likelihood(fit.kernel, np.array([rho]), fit.copies)(fit.density("normal", t))
        exact = exact[0, 0] - fit.copies @ fit.kernel.log_mass(0.0)
        free = transform.forward(np.float64(rho), *model["rho"].owner.inputs).eval()
        point = {"coordinates": t[0], value.name: free}
        assert float(log_likelihood(point)) == pytest.approx(exact, abs=1e-4, rel=1e-7)


def test_the_kernel_with_its_constant_is_a_distribution_over_counts():
    """Summed over all counts it is one, whatever rho: what the learnt rho rests on."""
    board = Leaderboard([0.85, 0.9, 0.95], n_test=400, rounding="exact")
    kernel = replace(ScoreKernel.of(board), values=np.arange(401.0), copies=np.ones(401))
    for rho in (0.0, 0.6, 0.9):
        mass = np.exp(kernel.log_kernel(rho) + kernel.log_mass(rho)[:, None]).sum(axis=0)
        inside = (kernel.psi > 0.7) & (kernel.psi < 0.97)
        np.testing.assert_allclose(mass[inside], 1, atol=0.01)


def test_reach_between_its_nodes(fits):
    for fit in fits.values():
        for rho in (0.1, 0.55, 0.78, 0.9, 0.985):
            ours = _reach_at(fit.kernel, np.float64(rho)).eval(**UNOPTIMISED)
            np.testing.assert_allclose(ours, fit.kernel.reach(rho), atol=1e-6)


def test_log_normal_cdf_and_its_slope():
    import pytensor
    import pytensor.tensor as pt

    x = pt.dvector()
    value = _log_ndtr(x)
    compiled = pytensor.function([x], [value, pt.grad(value.sum(), x)], **UNOPTIMISED)
    at = np.array([-300.0, -30.0, -1.0001, -0.9999, 0.0, 3.0, 30.0, 300.0])
    ours, slope = compiled(at)
    np.testing.assert_allclose(ours, log_ndtr(at), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(slope, np.exp(stats.norm.logpdf(at) - log_ndtr(at)), rtol=1e-9)


def test_parameters_on_their_natural_scale(fits):
    """The normal field's are its mean and standard deviation; shares and widths are positive."""
    fit = fits["complete"]
    model = build_leaderboard(fit.kernel.board, family="normal", fit=fit)
    t = np.tile([0.1, -0.5], (fit.rho.size, 1))
    (parameters,) = natural(model, t)
    y = np.linspace(-30, 30, 60_001)
    columns = tuple(t[:1, i, None] for i in range(2))
    density = np.exp(FAMILIES["normal"].log_density(numpy_operations(), fit.scale, columns, y))[0]
    density /= density.sum()
    mean = density @ y
    np.testing.assert_allclose(parameters[0], [mean, np.sqrt(density @ (y - mean) ** 2)], rtol=1e-6)
    for name, family in FAMILIES.items():
        model = build_leaderboard(fit.kernel.board, family=name, fit=fit)
        (parameters,) = natural(model, np.zeros((fit.rho.size, family.dimension)))
        assert parameters.shape == (fit.rho.size, family.dimension)
        assert np.all(parameters[:, 1:] > 0)


def natural(model, t):
    outputs = model.replace_rvs_by_values([model["parameters"]])
    compiled = model.compile_fn(
        outputs, inputs=model.value_vars, on_unused_input="ignore", **UNOPTIMISED
    )
    return compiled({"coordinates": t})


def test_dimensions_are_named_and_the_start_is_good(fits):
    fit = fits["cut"]
    model = build_leaderboard(fit.kernel.board, family="ex-gaussian", fit=fit)
    assert model.named_vars_to_dims["coordinates"] == ("rho_node", "parameter")
    assert model.named_vars_to_dims["entries"] == ("rho_node", "score")
    assert tuple(model.coords["parameter"]) == ("edge", "tail", "softness")
    assert model.coords["score"][-1] == pytest.approx(fit.kernel.board.maximum)
    log_density = model.compile_logp(**UNOPTIMISED)
    middle = {"coordinates": np.zeros((fit.rho.size, 3))}
    assert log_density(model.initial_point()) > log_density(middle) + 10


def test_the_model_can_be_extended(fits):
    fit = fits["complete"]
    model = build_leaderboard(fit.kernel.board, family="normal", fit=fit)
    before = model.compile_logp(**UNOPTIMISED)(model.initial_point())
    with model:
        pm.Normal("pilot", model["parameters"][:, 0], 0.5, observed=np.full(fit.rho.size, 2.0))
    assert model.compile_logp(**UNOPTIMISED)(model.initial_point()) != before


def test_without_a_fit_one_is_made():
    board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    priors = BoardPriors(correlation=FixedCorrelation(0.7), families=("normal",))
    model = build_leaderboard(board, priors, family="plateau")
    assert len(model.coords["rho_node"]) == 1
    assert np.isfinite(model.compile_logp(**UNOPTIMISED)(model.initial_point()))


def test_what_cannot_be_built_is_refused(fits):
    board = fits["complete"].kernel.board
    with pytest.raises(InputError, match=r"unknown family 'gamma'.*ex-gaussian"):
        build_leaderboard(board, family="gamma")
    with pytest.raises(InputError, match="'prior' or 'learnt'"):
        build_leaderboard(board, correlation="free")
    with pytest.raises(InputError, match="BetaCorrelation"):
        build_leaderboard(
            board, BoardPriors(correlation=FixedCorrelation(0.7)), correlation="learnt"
        )
    only_maximum = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    with pytest.raises(InputError, match="only the maximum"):
        build_leaderboard(only_maximum)
