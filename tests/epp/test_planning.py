"""Plans against simulated tournaments; promises of tuning against loops and known laws."""

from itertools import product

import numpy as np
import pytest
from data.files import refused
from scipy import stats
from simulated_tournaments import simulate_tournament

from bayes_sota import fit_epp
from bayes_sota.epp import plan_rounds, report_plan
from bayes_sota.epp.planning import tuning_promise

SKILLS = (0.8, 0.3, -0.2, -0.9)


def test_planned_rounds_give_the_error() -> None:
    plan = plan_rounds(fit_epp(simulate_tournament(SKILLS, 400, random_seed=0)), 0.15)
    errors = [
        fit_epp(simulate_tournament(SKILLS, int(np.ceil(n)), random_seed=1)).se[k]
        for k, n in enumerate(plan.for_error)
    ]
    assert errors == pytest.approx([0.15] * 4, rel=0.12)


@pytest.mark.slow
def test_planned_rounds_give_the_power_and_the_first_place() -> None:
    """A large pilot knows the skills, so that the plan can be simulated."""
    fit = fit_epp(simulate_tournament(SKILLS, 4_000, random_seed=0))
    plan = plan_rounds(fit, 0.15, power=0.8, ci_prob=0.95)
    told, tests = int(np.ceil(plan.for_neighbours[0])), []
    first, rounds = [], int(np.ceil(plan.for_best))
    for seed in range(400):
        again = fit_epp(simulate_tournament(SKILLS, told, random_seed=seed), penalty=0.1)
        tests.append(again.test("1", "2").p_value < 0.05)
        again = fit_epp(simulate_tournament(SKILLS, rounds, random_seed=seed), penalty=0.1)
        first.append(again.epp.argmax() == 0)
    assert np.mean(tests) == pytest.approx(0.8, abs=4 * 0.02 + 0.02)
    assert np.mean(first) == pytest.approx(0.95, abs=4 * 0.011 + 0.01)


def test_overlapping_splits_have_a_least_error() -> None:
    table = simulate_tournament(SKILLS, 50, random_seed=0)
    fit = fit_epp(table, test_fraction=0.1)
    least = fit.se / np.sqrt(1 + 0.9 / (0.1 * 50))
    assert np.isfinite(plan_rounds(fit, float(least.max()) * 1.01).for_error).all()
    plan = plan_rounds(fit, float(least.max()) / 2)
    assert np.isinf(plan.for_error).any()
    assert "need infinitely many rounds" in report_plan(fit, float(least.max()) / 2).sentences[0]


LAWS = {
    "normal": lambda rng, size: rng.normal(0.3, 0.6, size),
    "exponential": lambda rng, size: rng.exponential(0.5, size) - 0.5,
    "bounded": lambda rng, size: 1.2 - rng.gamma(2.0, 0.4, size),
    "uniform": lambda rng, size: rng.uniform(-2, 1.3, size),
}


def by_loops(families, more: int) -> dict[str, float]:
    """The formula of the module with SciPy's laws, every law of shapes and scales by itself."""
    tails = {name: np.sort(x)[::-1] for name, x in families.items()}
    best = max(x.max() for x in families.values())
    r = {name: int(np.ceil(x.size / 4)) for name, x in tails.items()}
    excess = {name: x[: r[name]] - x[r[name]] for name, x in tails.items()}
    means = [np.log(y.mean()) for y in excess.values()]
    shapes, scales = np.linspace(-1, 0.5, 31), np.arange(min(means) - 2, max(means) + 2.5, 0.025)
    likelihood, beaten = {}, {}
    for name, y in excess.items():
        zeta = stats.beta(r[name] + 1, tails[name].size - r[name]).ppf((np.arange(32) + 0.5) / 32)
        logs, chances = (np.empty((shapes.size, scales.size)) for _ in range(2))
        for i, xi in enumerate(shapes):
            law = {"c": xi if abs(xi) > 1e-9 else 0.0, "scale": np.exp(scales)[:, None]}
            logs[i] = stats.genpareto.logpdf(y, **law).sum(axis=1)
            beyond = stats.genpareto.sf(best - tails[name][r[name]], **law)
            chances[i] = np.mean(1 - (1 - zeta * beyond) ** more, axis=1)
        likelihood[name], beaten[name] = np.exp(logs - logs.max()), chances
    spreads = (0.05, 0.1, 0.2, 0.4, 0.8)
    weight, total = dict.fromkeys(families, 0.0), dict.fromkeys(families, 0.0)
    places = product(np.linspace(-1, 0.5, 16), spreads,
                     np.arange(scales[0], scales[-1], 0.25), spreads)  # fmt: skip
    for shape, shape_spread, scale, scale_spread in places:
        one = stats.norm.pdf(shapes, shape, shape_spread)
        other = stats.norm.pdf(scales, scale, scale_spread)
        law = np.outer(one / one.sum(), other / other.sum())
        own = {name: np.sum(law * found) for name, found in likelihood.items()}
        joint = np.prod([*own.values()])
        for name in families if joint > 0 else ():
            weight[name] += joint
            total[name] += joint * np.sum(law * likelihood[name] * beaten[name]) / own[name]
    return {name: total[name] / weight[name] for name in families}


def joined(families):
    return np.concatenate([*families.values()]), [
        name for name, x in families.items() for _ in range(x.size)
    ]


@pytest.mark.slow
def test_the_sums_are_those_of_plain_loops() -> None:
    rng = np.random.default_rng(2)
    families = {name: LAWS[name](rng, 24) for name in ("normal", "bounded")}
    found = {one.family: one.p_beats_best for one in tuning_promise(*joined(families), more=15)}
    assert found == pytest.approx(by_loops(families, 15), rel=1e-6)


def test_a_best_that_several_reach_may_be_the_highest_there_is() -> None:
    rng = np.random.default_rng(6)
    ceiling = np.minimum(rng.normal(size=40), 0.5)
    assert np.sum(ceiling == ceiling.max()) > 5
    found = tuning_promise(np.append(ceiling, rng.normal(size=40)), ["a"] * 40 + ["b"] * 40)
    assert [one.family for one in found] == ["b"]
    refused("that several share may be the highest", tuning_promise, ceiling, ["a"] * 40)


@pytest.mark.slow
@pytest.mark.parametrize("more", [20, 100])
def test_probabilities_come_true(more: int) -> None:
    """Over families of four laws, whose places differ: as many are beaten as was said."""
    rng = np.random.default_rng(more)
    said, seen = [], []
    for _ in range(150):
        shifts = rng.normal(0, 0.5, len(LAWS))
        laws = {name: (law, by) for (name, law), by in zip(LAWS.items(), shifts, strict=True)}
        families = {name: law(rng, 30) + by for name, (law, by) in laws.items()}
        best = max(x.max() for x in families.values())
        for one in tuning_promise(*joined(families), more=more):
            law, by = laws[one.family]
            said.append(one.p_beats_best)
            seen.append((law(rng, more) + by).max() > best)
    p, hit = np.array(said), np.array(seen)
    for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 1.01)):
        here = (p >= low) & (p < high)
        error = np.sqrt(np.sum(p[here] * (1 - p[here]))) / here.sum()
        assert here.sum() > 30
        assert abs(np.mean(p[here]) - np.mean(hit[here])) < 4 * error + 0.05
