"""Several methods on the same items: closed forms of pairs, draws, clusters, runs, coverage."""

import numpy as np
import pytest
from data.files import refused
from scipy import stats

from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items import comparison as method_comparison
from bayes_sota.items.comparison import compare_methods, probability_not_better, student_law
from bayes_sota.items.score import skills_alone


@pytest.mark.parametrize(("n", "m"), [(40, 2), (300, 3), (200, 7)])
def test_draws_of_every_pair_follow_its_closed_form(n, m):
    rng = np.random.default_rng(n)
    right = rng.random((n, m)) < np.linspace(0.85, 0.7, m)
    found = compare_methods(Outcomes(right), draws=20_000, random_seed=1)
    best = right[:, [found.winner]]
    only = (best & ~right).sum(axis=0), (~best & right).sum(axis=0)
    assert found.p_not_below == pytest.approx(probability_not_better(*only))
    shares = np.mean(found.draws[:, [found.winner]] < found.draws, axis=0)
    error = np.sqrt(found.p_not_below * (1 - found.p_not_below) / 20_000)
    others = np.arange(m) != found.winner
    assert np.all((np.abs(shares - found.p_not_below) < 4.5 * error + 1e-4)[others])
    assert found.p_best.sum() == pytest.approx(1)
    assert found.p_beaten >= found.p_false - 4.5 * error[found.runner_up]
    if m == 2:
        assert found.p_beaten == pytest.approx(found.p_false, abs=0.01)
    low, high = found.interval().T
    assert np.all((low < found.scores) & (found.scores < high))


def test_skills_and_scores_on_fresh_items():
    """Of one method Beta(right + 2, wrong + 2), the prior mass of four items, and beta-binomial,
    whatever the other methods. Of numbers: the error twice."""
    answers = Outcomes(np.random.default_rng(0).random((50, 4)) < 0.8)
    found = compare_methods(answers, draws=20_000, random_seed=2)
    for j, right in enumerate(answers.values.sum(axis=0)):
        law = stats.beta(right + 2, 50 - right + 2)
        assert stats.kstest(found.draws[:, j], law.cdf).pvalue > 1e-3
        fresh = stats.betabinom(50, right + 2, 50 - right + 2)
        edges = fresh.ppf([0, 0.2, 0.4, 0.6, 0.8, 1])
        counts = np.histogram(50 * found.replicated[:, j], edges + 0.5)[0]
        chances = np.diff(fresh.cdf(edges))
        assert stats.chisquare(counts, counts.sum() * chances / chances.sum()).pvalue > 1e-3
    dice = np.random.default_rng(3).normal([0.5, 0.49, 0.48], 0.03, (60, 3))
    found = compare_methods(Outcomes(dice, metric="mean"), draws=20_000, random_seed=0)
    first = found.winner
    for j in {0, 1, 2} - {first}:
        test = stats.ttest_rel(dice[:, first], dice[:, j], alternative="greater")
        assert found.p_not_below[j] == pytest.approx(test.pvalue, rel=1e-9)
        below = np.mean(found.draws[:, first] < found.draws[:, j])
        assert below == pytest.approx(test.pvalue, abs=0.015)
    again, drawn = (np.cov(x.T) for x in (found.replicated, found.draws))
    assert again == pytest.approx(2 * drawn, abs=0.1 * drawn.max())


@pytest.mark.parametrize("clusters", [None, [str(i // 5) for i in range(50)]])
def test_each_method_by_itself_is_what_score_says(clusters):
    answers = Outcomes(np.arange(50)[:, None] % [1, 16, 2] < [1, 15, 1], clusters=clusters)
    found, alone = compare_methods(answers, random_seed=0), skills_alone(answers)
    assert found.interval().tolist() == [[*skill.interval()] for skill in alone]
    assert found.interval()[0, 1] == found.scores[0] == 1
    drawn = np.quantile(found.skills, [0.025, 0.975], axis=0).T
    assert drawn == pytest.approx(found.interval(), abs=1e-3)
    assert np.all(found.skills.argsort(axis=0) == found.draws.argsort(axis=0))


def test_copies_of_items_in_clusters_say_nothing_new():
    dice = np.random.default_rng(4).normal([0.81, 0.8], 0.1, (30, 2))
    copies, clusters = np.repeat(dice, 5, axis=0), [str(i // 5) for i in range(150)]
    alone = compare_methods(Outcomes(dice, metric="mean"))
    together = compare_methods(Outcomes(copies, clusters=clusters, metric="mean"))
    assert together.p_false == pytest.approx(alone.p_false, rel=1e-9)
    assert (together.n_items, together.n_clusters) == (150, 30)
    assert compare_methods(Outcomes(copies, metric="mean")).p_false < alone.p_false
    found = compare_methods(Outcomes([[1, 0], [1, 1], [None, 1], [0, 1]]), draws=10)
    assert (found.n_items, found.notes) == (
        3,
        ("left out 1 of 4 items that not all methods answered",),
    )


def is_claimed(data, draws=1):
    return compare_methods(data, draws=draws, random_seed=0).p_false < 0.05


MOST_CLAIMED = 0.1 + 3 * (0.09 / 200) ** 0.5  # at P < .05 either of two equals is claimed


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[5] * 40, [200] + [10] * 20, [900] + [5] * 20])
def test_equal_methods_on_clustered_items_are_seldom_distinguished(sizes):
    rng, icc, claimed, ignoring = np.random.default_rng(len(sizes)), 0.3, [], []
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(str).tolist()
    for _ in range(200):
        cells = rng.dirichlet((1 / icc - 1) * np.array([0.75, 0.08, 0.08, 0.09]), len(sizes))
        drawn = [rng.choice(4, n, p=p) for n, p in zip(sizes, cells, strict=True)]
        cell = np.concatenate(drawn)[:, None]  # both, the first, the second, none
        right = (cell == 0) | (cell == [1, 2])
        claimed.append(is_claimed(Outcomes(right, clusters=labels)))
        ignoring.append(is_claimed(Outcomes(right)))
    assert np.mean(claimed) < MOST_CLAIMED
    assert np.mean(ignoring) > 0.2  # the same data without clusters


def test_equal_aucs_with_few_positives_are_seldom_distinguished():
    rng = np.random.default_rng(5)
    labels, claimed = np.arange(300) < 5, []
    for _ in range(200):
        shared = labels * 1.2 + rng.normal(size=300)
        outputs = Outcomes(shared[:, None] + rng.normal(size=(300, 2)), labels=labels)
        claimed.append(is_claimed(outputs, draws=500))
    assert np.mean(claimed) < MOST_CLAIMED
    assert any("only 5 items of one class" in note for note in compare_methods(outputs).notes)


def test_auc_and_errors_are_compared_on_their_scale():
    rng, gap = np.random.default_rng(8), np.array([1, -1])
    labels = np.arange(300) < 100
    outputs = labels[:, None] * [1.5, 1.0] + rng.standard_normal((300, 2))
    aucs = Outcomes(outputs, labels=labels)
    expected = stats.norm.sf(gap @ aucs.scores / np.sqrt(gap @ aucs.covariance @ gap))
    found = compare_methods(aucs, draws=20_000, random_seed=0)
    assert found.p_false == pytest.approx(expected, abs=0.005)
    errors = compare_methods(Outcomes(rng.normal(0, [1.0, 1.3], (200, 2)), metric="rmse"))
    assert (errors.winner, errors.sign, errors.scores[0] < 0) == (0, -1, True)


@pytest.mark.parametrize(
    ("shifts", "p_false", "p_best"),
    [((0, 0), 0.5, [0.5, 0.5]), ((0, 0, -1), 0.5, [0.5, 0.5, 0]), ((0.1, 0), 0, [1, 0])],
)
def test_methods_that_never_differ_stay_a_toss_up(shifts, p_false, p_best):
    values = np.random.default_rng(0).random((20, 1)) + np.array(shifts)
    found = compare_methods(Outcomes(values, metric="mean"), draws=10)
    assert found.p_false == pytest.approx(p_false, abs=1e-12)
    assert found.p_best.tolist() == p_best


@pytest.mark.parametrize(
    ("values", "clusters", "message"),
    [
        ([[1], [1]], None, "there is only one classifier"),
        (
            [[1, None], [None, 1], [1, 1]],
            None,
            "at least 2 items and 1 classifier are needed, got 1 and 2",
        ),
        ([[1, 0], [1, 1]], ["p", "p"], "one cluster"),
    ],
)
def test_what_cannot_be_is_refused(values, clusters, message):
    refused(message, compare_methods, Outcomes(values, clusters=clusters))


def test_very_many_items_have_the_moments_of_the_dirichlet(monkeypatch):
    rng = np.random.default_rng(3)
    hard = rng.random((3000, 1))
    answers = Outcomes((hard + 0.5 * rng.random((3000, 6))) > [0.3, 0.31, 0.32, 0.4, 0.5, 0.9])
    exact = compare_methods(answers, draws=20_000, random_seed=0)
    monkeypatch.setattr(method_comparison, "_MOST_WEIGHTS", 0)
    normal = compare_methods(answers, draws=20_000, random_seed=1)
    sd, error = exact.draws.std(axis=0), 5 * (2 / 20_000) ** 0.5  # of two samples' moments
    shift = (normal.draws.mean(axis=0) - exact.draws.mean(axis=0)) / sd
    np.testing.assert_array_less(abs(shift), error)
    gap = (np.cov(normal.draws.T) - np.cov(exact.draws.T)) / np.outer(sd, sd)
    np.testing.assert_array_less(abs(gap), error * 2**0.5)
    np.testing.assert_allclose(normal.p_best, exact.p_best, atol=0.02)


def test_a_pair_is_no_surer_on_new_tasks_than_on_new_items():
    """Tasks whose differences are the same by chance: their items vary all the same."""
    rng = np.random.default_rng(0)
    column = [[rng.permutation(np.arange(40) < count) for count in (32, 28)] for _ in "xyz"]
    right = np.swapaxes(column, 1, 2).reshape(-1, 2)  # 32 and 28 of 40 in every task
    answers = Outcomes(right, names=["a", "b"], tasks=np.repeat(list("xyz"), 40))
    items, tasks = (
        compare_methods(answers.about(new), draws=20_000, random_seed=0)
        for new in ("items", "tasks")
    )
    sds = [np.std(of.draws[:, 0] - of.draws[:, 1]) for of in (items, tasks)]
    assert sds[1] > sds[0]
    assert tasks.p_false > items.p_false > 0.01


def test_tasks_leave_the_prior_of_answers_as_it_is():
    """Equal answers say as much of a difference of 1 point in two tasks as in one."""
    right = (np.random.default_rng(1).random(150) < 0.7)[:, None].repeat(2, axis=1)
    flat = 4 / 2 / 154**2  # four items of the flat prior, each 1/2 of variance of the difference
    for tasks in (["a"] * 150, ["a", "b"] * 75):
        ((variance, _),) = student_law(Outcomes(right, tasks=tasks)).gap(0, 1)[1]
        assert variance == pytest.approx(flat, rel=0.06)
