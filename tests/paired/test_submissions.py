"""Public scores chosen among submissions: the rule, the likelihood, what is learnt and refused."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import norm

import bayes_sota as bs
from bayes_sota.core.builders import PairedPriors
from bayes_sota.data.boards import read_paired_boards
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.maximum.submissions import SubmissionNoise, expected_maximum
from bayes_sota.paired import hyperparameters, posterior
from bayes_sota.paired.likelihood import PairedLikelihood
from bayes_sota.paired.posterior import draw_skills, fit_pairs, paired_posterior
from bayes_sota.paired.residuals import FLAT, WIDE
from bayes_sota.paired.submissions import Choice
from bayes_sota.paired.teams import Selection


def simulated(
    m: int, luck: float, seed: int = 0, trend: float = 0.0, **options
) -> tuple[PairedBoards, np.ndarray]:
    """Boards with noise .01 on both, and the skills; skill rises by ``trend`` per ``e_T``."""
    rng = np.random.default_rng(seed)
    numbers = np.round(np.exp(rng.uniform(0, np.log(200), m))).astype(int)
    best = np.array([rng.standard_normal(t).max() for t in numbers])
    psi = rng.normal(0.8, 0.02, m) + trend * (expected_maximum(numbers.astype(float)) - 1.5)
    noise = luck * best + np.sqrt(max(1 - luck**2, 0)) * rng.standard_normal(m)
    public, private = psi + 0.01 * noise, psi + 0.01 * rng.standard_normal(m)
    return PairedBoards(public, private, submissions=numbers, **options), psi


@pytest.fixture
def two_families(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: FAMILIES[name] for name in ("normal", "ex-gaussian")}
    for module in (posterior, hyperparameters):
        monkeypatch.setattr(module, "FAMILIES", few)
    monkeypatch.setattr(posterior.fit_pairs.__wrapped__, "__defaults__", (2500, tuple(few)))


@pytest.mark.parametrize("number", [1.0, 2.0, 10.0, 1000.0])
@pytest.mark.parametrize("luck", [0.3, 0.9])
def test_the_rule_integrates_as_the_law_of_the_noise(number: float, luck: float) -> None:
    choice = Choice(np.array([[number]]))
    w = np.linspace(-12, 12, 4801)
    density = norm.pdf(w) * np.exp(SubmissionNoise(choice.numbers, luck).log_ratio(w[None]))[0]
    for at in (-1.0, 1.0, 3.0):  # a private score with the same noise smooths the public one
        exact = np.sum(density * norm.pdf(at - w)) * (w[1] - w[0])
        sd = np.hypot(1, np.sqrt(1 - luck**2))
        found = choice.weights[:, 0] @ norm.pdf(at, luck * choice.nodes[:, 0], sd)
        assert found == pytest.approx(exact, abs=4e-4)


def test_the_likelihood_is_that_of_the_ratio_of_the_laws() -> None:
    boards, _ = simulated(60, 0.6)
    teams = dataclasses.replace(Selection.of_boards(boards).teams, threshold=None)
    likelihood = PairedLikelihood(teams, None, PairedPriors())
    family = FAMILIES["normal"]
    size = family.dimension + len(likelihood.noise_parameters)
    t = 0.3 * np.random.default_rng(1).standard_normal((3, size))
    noise = likelihood.residuals(t[:, family.dimension :])
    density = likelihood.densities(family, t)
    found = likelihood.log_pairs(likelihood.team_terms(density, noise)[0])
    assert noise.luck is not None
    for i in range(3):
        some = noise[i : i + 1]
        expected = brute_force(likelihood, density[i], some)
        np.testing.assert_allclose(found[i], expected, atol=0.02)


def brute_force(likelihood: PairedLikelihood, density: np.ndarray, noise) -> np.ndarray:
    """Sum over the grid with the exact law of a usual public residual beside a usual private one.

    Other kinds, with a probability below .03 here, are taken as normals around the same mean.
    """
    teams, choice = likelihood.teams, likelihood.teams.choice
    assert choice is not None
    assert teams.y is not None
    s1, s2, luck = (float(v[0]) for v in (noise.public_sd, noise.private_sd, noise.luck))
    (often, _), (rare, _) = ((float(w[0]), k) for w, k in noise.parts())
    more = likelihood.more_skill(noise)[0]
    law = SubmissionNoise(choice.numbers, luck)
    psi = likelihood.nodes + more[:, None]
    z1 = (teams.x[:, None] - psi) / s1
    y = teams.y[:, None] - noise.shift[0] - psi
    usual = norm.pdf(z1) * np.exp(law.log_ratio(z1)) / s1
    wide = norm.pdf(z1 / WIDE - luck * choice.luck[:, None]) / (WIDE * s1)
    usual_y, wide_y = norm.pdf(y, 0, s2), norm.pdf(y, 0, WIDE * s2)
    both = (often * usual + rare * wide) * (often * usual_y + rare * wide_y)
    alone = FLAT / likelihood.ranges[0] * usual_y + FLAT / likelihood.ranges[1] * usual
    mass = density * likelihood.step
    nothing = FLAT / likelihood.ranges[0] * FLAT / likelihood.ranges[1]
    return np.log(((both + (1 - FLAT) * alone) * mass).sum(axis=1) + nothing)


def test_one_submission_changes_nothing() -> None:
    public, private = np.random.default_rng(0).normal(0.8, 0.02, (2, 40))
    found = []
    for number in (None, 1):
        teams = Selection.of_boards(PairedBoards(public, private, submissions=number)).teams
        likelihood = PairedLikelihood(teams, None, PairedPriors())
        rng = np.random.default_rng(1)
        fitted = fit_pairs(likelihood, rng, 50, families=("normal",))
        found.append(draw_skills(fitted, 50, rng).psi)
    assert np.array_equal(*found)


@pytest.mark.slow
@pytest.mark.usefixtures("two_families")
@pytest.mark.parametrize(("luck", "trend"), [(0.2, 0.01), (0.8, 0.0)])
def test_lambda_is_learnt_even_where_able_teams_submit_more(luck: float, trend: float) -> None:
    boards, _ = simulated(300, luck, 1, trend)
    found = paired_posterior(boards, rng=np.random.default_rng(1), draws=500)
    low, high = np.quantile(found.draws["submission_luck"], [0.01, 0.99])
    assert low < luck < high
    assert high - low < 0.75  # 98 % of the prior lie between .07 and .98
    assert not any("lambda" in reason for reason in found.reasons)


@pytest.mark.slow
@pytest.mark.usefixtures("two_families")
def test_teams_that_adapt_are_said_to() -> None:
    boards, _ = simulated(300, 1.0, 3)
    assert boards.submissions is not None
    more = 0.01 * expected_maximum(boards.submissions[:, 0])
    adapted = PairedBoards(
        boards.public + more, boards.private, submissions=boards.submissions[:, 0]
    )
    found = paired_posterior(adapted, rng=np.random.default_rng(0))
    assert any("adapt to the public board" in reason for reason in found.reasons)


@pytest.mark.slow
@pytest.mark.usefixtures("two_families")
def test_the_command_reads_the_column_and_says_what_lambda_means(tmp_path) -> None:
    boards, _ = simulated(40, 0.6)
    assert boards.submissions is not None
    rows = zip(boards.public, boards.private, boards.submissions[:, 0].astype(int), strict=True)
    lines = [f"t{i},{x},{y},{t}" for i, (x, y, t) in enumerate(rows)]
    file = tmp_path / "public_and_private.csv"
    file.write_text("\n".join(["team,public,private,entries", *lines]), encoding="utf-8")
    assert read_paired_boards(file).has_submissions
    assert not read_paired_boards(file, submissions=1).has_submissions
    tree = bs.estimate_sota(read_paired_boards(file), random_seed=0, draws=50, chains=2)
    assert tree.attrs["luck_learnt"] == 1
    for group in ("prior", "posterior"):
        assert {"submission_luck", "submission_slope"} <= set(tree[group].data_vars)
    text = "\n".join(bs.paired.describe_paired(tree, read_paired_boards(file)).legend)
    assert "(lambda) is learnt as" in text
    assert "theta_sota and winner_skill would be" in text
