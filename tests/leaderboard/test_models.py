"""The PyMC models of a board have the exact route's log density, of answers that of SciPy."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from scipy import integrate, special, stats

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.leaderboard.fit import ScoreKernel, _Likelihood, fit_field, numpy_operations
from bayes_sota.leaderboard.from_items import items_posterior
from bayes_sota.leaderboard.models import _log_ndtr, _reach_at, build_leaderboard, build_responses
from bayes_sota.leaderboard.shapes import FAMILIES

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:DeprecationWarning")
    for message in (
        "RandomVariable Ops will stop hiding the rng output",
        "Calling a RandomVariable without an explicit rng",
    )
]
UNOPTIMISED = {"mode": "FAST_COMPILE"}  # no compilation: a few evaluations only
BOARDS = ("complete", "cut", "score")
KNOWN = BoardPriors(correlation=FixedCorrelation(0.7), families=("normal",))


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
        ("complete", "plateau"), ("score", "normal-laplace"),
    ],
)  # fmt: skip
def test_log_density_is_the_exact_one_and_its_slope_is_finite(fits, family, kind):
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
    if kind == "cut":
        gradient = model.compile_dlogp(**UNOPTIMISED)
        found, direction, step = gradient({"coordinates": t}), rng.standard_normal(t.shape), 1e-6
        up, down = (float(log_density({"coordinates": t + s * step * direction})) for s in (1, -1))
        slope = (up - down) / (2 * step)
        assert found @ direction.ravel() == pytest.approx(slope, rel=2e-4, abs=1e-2)
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


def test_reach_between_its_nodes(fits):
    for fit in fits.values():
        for rho in (0.1, 0.55, 0.78, 0.9, 0.985):
            ours = _reach_at(fit.kernel, np.float64(rho)).eval(**UNOPTIMISED)
            np.testing.assert_allclose(ours, fit.kernel.reach(rho), atol=1e-6)


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
    for name in ("normal-laplace", "two-groups"):
        model = build_leaderboard(fit.kernel.board, family=name, fit=fit)
        size = FAMILIES[name].dimension
        (parameters,) = natural(model, np.zeros((fit.rho.size, size)))
        assert parameters.shape == (fit.rho.size, size)
        assert np.all(parameters[:, 1:] > 0)


def natural(model, t):
    outputs = model.replace_rvs_by_values([model["parameters"]])
    compiled = model.compile_fn(
        outputs, inputs=model.value_vars, on_unused_input="ignore", **UNOPTIMISED
    )
    return compiled({"coordinates": t})


def test_dimensions_are_named_the_start_is_good_and_the_model_can_be_extended(fits):
    fit = fits["cut"]
    model = build_leaderboard(fit.kernel.board, family="ex-gaussian", fit=fit)
    assert model.named_vars_to_dims["coordinates"] == ("rho_node", "parameter")
    assert model.named_vars_to_dims["entries"] == ("rho_node", "score")
    assert tuple(model.coords["parameter"]) == ("edge", "tail", "softness")
    assert model.coords["score"][-1] == pytest.approx(fit.kernel.board.maximum)
    log_density = model.compile_logp(**UNOPTIMISED)
    before = log_density(model.initial_point())
    assert before > log_density({"coordinates": np.zeros((fit.rho.size, 3))}) + 10
    with model:
        pm.Normal("pilot", model["parameters"][:, 0], 0.5, observed=np.full(fit.rho.size, 2.0))
    assert model.compile_logp(**UNOPTIMISED)(model.initial_point()) != before


def test_without_a_fit_one_is_made():
    board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    model = build_leaderboard(board, KNOWN, family="plateau")
    assert len(model.coords["rho_node"]) == 1
    assert np.isfinite(model.compile_logp(**UNOPTIMISED)(model.initial_point()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "gamma"}, r"unknown family 'gamma'.*ex-gaussian"),
        ({"correlation": "free"}, "'prior' or 'learnt'"),
        ({"priors": KNOWN, "correlation": "learnt"}, "BetaCorrelation"),
    ],
)
def test_what_cannot_be_built_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        build_leaderboard(simulated_board("complete"), **options)


def simulate(n, m, seed, loading=0.85):
    rng = np.random.default_rng(seed)
    skills = special.expit(1.8 + 0.3 * rng.standard_normal(m))
    own = np.sqrt(1 - loading**2) * rng.standard_normal((n, m))
    return loading * rng.standard_normal((n, 1)) + own < special.ndtri(skills)


def test_likelihood_of_answers_against_adaptive_quadrature():
    answers = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, -1, 1], [1, 1, 0]])
    model = build_responses(Responses(answers))
    point = model.initial_point()
    compiled = model.compile_logp(vars=model.observed_RVs, sum=True, **UNOPTIMISED)
    outputs = model.replace_rvs_by_values([model["skill"], model["loading"]])
    evaluate = model.compile_fn(
        outputs, inputs=model.value_vars, on_unused_input="ignore", **UNOPTIMISED
    )
    rng = np.random.default_rng(0)
    for _ in range(3):
        point = {k: np.asarray(v + 0.5 * rng.standard_normal(v.shape)) for k, v in point.items()}
        skill, loading = evaluate(point)
        expected = sum(np.log(pattern_probability(row, skill, loading)) for row in answers)
        assert compiled(point) == pytest.approx(expected, rel=1e-6)


def pattern_probability(row, skill, loading):
    def integrand(u):
        p = special.ndtr((special.ndtri(skill) - loading * u) / np.sqrt(1 - loading**2))
        return stats.norm.pdf(u) * np.prod(np.where(row == 1, p, np.where(row == 0, 1 - p, 1)))

    return integrate.quad(integrand, -9, 9, epsabs=1e-12, limit=200)[0]


def compare(answers, draws, seed):
    """Standardised difference of means and ratio of sds of theta_sota, ours over PyMC's."""
    responses = Responses(answers)
    priors = BoardPriors(families=("normal",))
    with build_responses(responses, priors):
        trace = pm.sample(
            draws, tune=draws, chains=2, cores=1, random_seed=seed, progressbar=False,
            target_accept=0.9, compute_convergence_checks=False,
        )  # fmt: skip
    fast = items_posterior(responses, priors, draws=4000, random_seed=seed)
    slow = {name: trace.posterior[name].values for name in ("theta_sota", "winner_skill", "rho")}
    halves = slow["theta_sota"]
    assert abs(halves[0].mean() - halves[1].mean()) < 0.5 * halves.std()
    result = {}
    for name in ("theta_sota", "winner_skill"):
        ours, theirs = fast.draws[name], slow[name].ravel()
        result[name] = (ours.mean() - theirs.mean()) / theirs.std(), ours.std() / theirs.std()
    return result, slow["rho"].mean() - fast.correlation.rho


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "m", "closest", "rho"), [(300, 6, 0.35, 0.08), (1000, 30, 0.3, 0.04)]
)
def test_answers_agree_with_the_exact_route(n, m, closest, rho):
    result, difference = compare(simulate(n, m, 1), 400, 0)
    for shift, ratio in result.values():
        assert abs(shift) < closest
        assert 0.8 < ratio < 1.25
    assert abs(difference) < rho
