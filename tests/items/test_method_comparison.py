"""Several methods on the same items: closed forms of pairs, draws, clusters, runs, coverage."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayes_sota.claims.means import Means
from bayes_sota.core.errors import InputError
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items import comparison as method_comparison
from bayes_sota.items.comparison import compare_methods, probability_not_better


@pytest.mark.parametrize(("n", "m"), [(40, 2), (300, 3), (200, 7)])
def test_draws_of_every_pair_follow_its_closed_form(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    answers = Outcomes(rng.random((n, m)) < np.linspace(0.85, 0.7, m))
    found = compare_methods(answers, draws=20_000, random_seed=1)
    right = answers.correct == 1
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


def test_the_law_of_one_method_is_beta() -> None:
    """Skill of one method under the prior mass of four items: Beta(right + 2, wrong + 2)."""
    answers = Outcomes(np.random.default_rng(0).random((50, 4)) < 0.8)
    found = compare_methods(answers, draws=20_000, random_seed=2)
    for j, right in enumerate(answers.values.sum(axis=0)):
        law = stats.beta(right + 2, 50 - right + 2)
        assert stats.kstest(found.draws[:, j], law.cdf).pvalue > 1e-3


def test_scores_on_fresh_items() -> None:
    """Answers: beta-binomial, whatever the other methods. Numbers: the error twice."""
    answers = Outcomes(np.random.default_rng(0).random((50, 4)) < 0.8)
    found = compare_methods(answers, draws=20_000, random_seed=2)
    assert found.replicated is not None
    for j, right in enumerate(answers.values.sum(axis=0)):
        law = stats.betabinom(50, right + 2, 50 - right + 2)
        edges = law.ppf([0, 0.2, 0.4, 0.6, 0.8, 1])
        counts = np.histogram(50 * found.replicated[:, j], edges + 0.5)[0]
        chances = np.diff(law.cdf(edges))
        assert stats.chisquare(counts, counts.sum() * chances / chances.sum()).pvalue > 1e-3
    dice = np.random.default_rng(3).normal(0.5, 0.03, (60, 3))
    found = compare_methods(Outcomes(dice, metric="mean"), draws=20_000, random_seed=0)
    assert found.replicated is not None
    again, drawn = (np.cov(x.T) for x in (found.replicated, found.draws))
    assert again == pytest.approx(2 * drawn, abs=0.1 * drawn.max())


def test_cases_are_paired_t() -> None:
    rng = np.random.default_rng(3)
    dice = rng.beta(8, 2, (60, 1)) + rng.normal(0, 0.03, (60, 3)) + [0.01, 0.0, -0.02]
    found = compare_methods(Outcomes(dice, metric="mean"), draws=20_000, random_seed=0)
    for j in set(range(3)) - {found.winner}:
        ours = found.p_not_below[j]
        test = stats.ttest_rel(dice[:, found.winner], dice[:, j], alternative="greater")
        assert ours == pytest.approx(test.pvalue, rel=1e-9)
        gap = dice[:, found.winner] - dice[:, j]
        a, b = dice[:, found.winner].mean(), dice[:, j].mean()
        claim = Means(a=a, b=b, n=60, sd_difference=gap.std(ddof=1), bounds=None)
        assert ours == pytest.approx(claim.p_false(), rel=1e-9)
        assert np.mean(found.draws[:, found.winner] < found.draws[:, j]) == pytest.approx(
            ours, abs=0.015
        )


def test_copies_of_items_in_clusters_say_nothing_new() -> None:
    rng = np.random.default_rng(4)
    dice = rng.normal([0.81, 0.8], 0.1, (30, 2))
    copied = Outcomes(
        np.repeat(dice, 5, axis=0), clusters=[str(i // 5) for i in range(150)], metric="mean"
    )
    alone = compare_methods(Outcomes(dice, metric="mean"))
    together = compare_methods(copied)
    assert together.p_false == pytest.approx(alone.p_false, rel=1e-9)
    assert (together.n_items, together.n_clusters) == (150, 30)
    ignored = compare_methods(Outcomes(np.repeat(dice, 5, axis=0), metric="mean"))
    assert ignored.p_false < alone.p_false


def test_clusters_of_single_answers_are_nearly_the_closed_form() -> None:
    rng = np.random.default_rng(5)
    for p in ([0.9, 0.88], [0.7, 0.6], [0.97, 0.95]):
        x = rng.random((400, 2)) < p
        exact = compare_methods(Outcomes(x))
        student = compare_methods(Outcomes(x, clusters=[str(i) for i in range(400)]))
        assert student.p_false == pytest.approx(exact.p_false, abs=0.004)


def clustered_answers(rng: np.random.Generator, sizes: list[int], icc: float) -> Outcomes:
    """Two equal methods whose answers come in clusters."""
    cells = rng.dirichlet((1 / icc - 1) * np.array([0.75, 0.08, 0.08, 0.09]), len(sizes))
    table = np.concatenate([rng.choice(4, n, p=p) for n, p in zip(sizes, cells, strict=True)])
    answers = np.column_stack([np.isin(table, (0, 1)), np.isin(table, (0, 2))])
    return Outcomes(answers, clusters=np.repeat(np.arange(len(sizes)), sizes).astype(str).tolist())


def check_claims(claimed: list[bool], ignoring: list[bool] | None = None) -> None:
    """At P < .05 the winner of two equals is claimed in 10 % of data, by either of them."""
    assert np.mean(claimed) < 0.1 + 3 * (0.09 / len(claimed)) ** 0.5
    if ignoring is not None:  # the same data without clusters, or without runs
        assert np.mean(ignoring) > 0.2


def is_claimed(*data, draws: int = 1) -> bool:
    return compare_methods(*data, draws=draws, random_seed=0).p_false < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes",
    [
        [20] * 8,
        pytest.param([5] * 40, marks=pytest.mark.slow),
        [200] + [10] * 20,
        pytest.param([900] + [5] * 20, marks=pytest.mark.slow),
        pytest.param([100, 100] + [1] * 100, marks=pytest.mark.slow),
    ],
)
def test_equal_methods_on_clustered_items_are_seldom_told_apart(sizes: list[int]) -> None:
    rng = np.random.default_rng(len(sizes))
    data = [clustered_answers(rng, sizes, 0.3) for _ in range(200)]
    ignoring = [is_claimed(Outcomes(answers.correct)) for answers in data]
    check_claims([is_claimed(answers) for answers in data], ignoring)


def test_equal_aucs_with_few_positives_are_seldom_told_apart() -> None:
    rng = np.random.default_rng(5)
    labels, claimed = np.arange(300) < 5, []
    for _ in range(200):
        shared = labels * 1.2 + rng.normal(size=300)
        outputs = Outcomes(shared[:, None] + rng.normal(size=(300, 2)), labels=labels)
        claimed.append(is_claimed(outputs, draws=500))
    check_claims(claimed)
    assert any("only 5 items of one class" in note for note in compare_methods(outputs).notes)


def test_equal_methods_with_several_runs_are_seldom_told_apart() -> None:
    rng, claimed, ignoring = np.random.default_rng(6), [], []
    for _ in range(120):
        logits = 2 + rng.normal(0, 2, (1000, 1)) + rng.normal(0, 0.7, (1000, 2)).repeat(3, axis=1)
        answers = Outcomes(rng.random((1000, 6)) < expit(logits + rng.normal(0, 0.3, 6)))
        claimed.append(is_claimed(answers, ["a"] * 3 + ["b"] * 3, draws=1000))
        averages = answers.correct.reshape(1000, 2, 3).mean(axis=2)
        ignoring.append(is_claimed(Outcomes(averages, metric="mean")))
    check_claims(claimed, ignoring)


@pytest.mark.parametrize("runs", [2, 3])
def test_runs_that_differ_in_their_spread_have_their_own(runs: int) -> None:
    rng, claimed = np.random.default_rng(11), []
    methods = ["a"] * runs + ["b"] * 10
    for _ in range(150):
        skill = np.concatenate([rng.normal(0.8, 0.02, runs), rng.normal(0.8, 0.002, 10)])
        values = Outcomes(rng.normal(skill, 0.1, (1000, runs + 10)), metric="mean")
        claimed.append(is_claimed(values, methods, draws=1000))
    check_claims(claimed)
    assert "of each method alone" in compare_methods(values, methods).notes[0]


def test_one_run_takes_the_variance_of_the_others() -> None:
    rng = np.random.default_rng(7)
    values = rng.normal([0.82, 0.8, 0.81, 0.79, 0.8], 0.05, (500, 5))
    methods = ["a", "a", "a", "a", "b"]
    found = compare_methods(Outcomes(values, metric="mean"), methods, draws=40_000, random_seed=0)
    means = values.mean(axis=0)
    pooled = means[:4].var(ddof=1)
    items = np.column_stack([values[:, :4].mean(axis=1), values[:, 4:].mean(axis=1)])
    error = items.std(axis=0, ddof=1) / 500**0.5
    assert found.n_runs == (4, 1)
    for j, runs in enumerate((4, 1)):
        sum_of_two = items[:, j].mean() + error[j] * stats.t(499).rvs(20_000, random_state=rng)
        sum_of_two += (pooled / runs) ** 0.5 * stats.t(3).rvs(20_000, random_state=rng)
        assert stats.ks_2samp(found.draws[:, j], sum_of_two).pvalue > 1e-3
    share = np.mean(found.draws[:, 0] <= found.draws[:, 1])
    assert found.p_false == pytest.approx(share, abs=0.01)
    assert "taken to be equal" in found.notes[0]


def test_auc_and_errors_are_compared_on_their_scale() -> None:
    rng = np.random.default_rng(8)
    labels = np.arange(300) < 100
    outputs = labels[:, None] * [1.5, 1.0] + rng.standard_normal((300, 2))
    aucs = Outcomes(outputs, labels=labels)
    found = compare_methods(aucs, draws=20_000, random_seed=0)
    gap = aucs.scores[0] - aucs.scores[1]
    error = np.sqrt(np.array([1, -1]) @ aucs.covariance @ np.array([1, -1]))
    assert found.p_false == pytest.approx(stats.norm.sf(gap / error), abs=0.005)
    errors = compare_methods(Outcomes(rng.normal(0, [1.0, 1.3], (200, 2)), metric="rmse"))
    assert (errors.winner, errors.sign) == (0, -1)
    assert errors.scores[0] < 0


def test_intervals_hold_the_scores() -> None:
    rng = np.random.default_rng(9)
    found = compare_methods(Outcomes(rng.random((400, 3)) < [0.9, 0.89, 0.7]), random_seed=0)
    low, high = found.interval().T
    assert np.all((low < found.scores) & (found.scores < high))
    few = Outcomes([[1, 1], [1, 0], [0, 1], [1, 0]], clusters=["p", "p", "q", "q"])
    ends = compare_methods(few, random_seed=0).interval()
    assert np.all((ends >= 0) & (ends <= 1))


def test_missing_answers_leave_out_items_and_are_noted() -> None:
    answers = [[1, 0], [1, 1], [None, 1], [0, 1]]
    found = compare_methods(Outcomes(answers), draws=10)
    assert found.n_items == 3
    assert found.notes == ("1 of 4 items left out: not all answered",)


def test_methods_that_never_differ_stay_a_toss_up() -> None:
    values = np.random.default_rng(0).random((20, 1)).repeat(2, axis=1)
    same = compare_methods(Outcomes(values, metric="mean"), draws=10)
    assert same.p_false == pytest.approx(0.5)
    assert same.p_best.tolist() == [0.5, 0.5]
    third = np.column_stack([values, values[:, 0] - 1.0])
    assert compare_methods(Outcomes(third, metric="mean"), draws=10).p_best.tolist() == [
        0.5,
        0.5,
        0.0,
    ]
    shifted = values + np.array([0.1, 0.0])
    assert compare_methods(Outcomes(shifted, metric="mean"), draws=10).p_false == pytest.approx(
        0, abs=1e-12
    )


@pytest.mark.parametrize(
    ("outcomes", "methods", "message"),
    [
        (Outcomes([[1, 0], [1, 1]]), ["a", "a"], "two methods, got only runs of 'a'"),
        (Outcomes([[1, 0], [1, 1]]), ["a"], "2 columns, 1 methods"),
        (
            Outcomes([[1, None], [None, 1], [1, 1]]),
            None,
            "at least 2 items and a classifier, got 1",
        ),
        (Outcomes([[1, 0], [1, 1]], clusters=["p", "p"]), None, "one cluster"),
    ],
)
def test_what_cannot_be_is_refused(outcomes, methods, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare_methods(outcomes, methods)


def test_very_many_items_have_the_moments_of_the_dirichlet(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    hard = rng.random((3000, 1))
    answers = Outcomes((hard + 0.5 * rng.random((3000, 6))) > [0.3, 0.31, 0.32, 0.4, 0.5, 0.9])
    exact = compare_methods(answers, draws=20_000, random_seed=0)
    monkeypatch.setattr(method_comparison, "_MOST_WEIGHTS", 0)
    normal = compare_methods(answers, draws=20_000, random_seed=1)
    sd, error = exact.draws.std(axis=0), 5 * (2 / 20_000) ** 0.5  # of two samples' moments
    np.testing.assert_array_less(
        abs(normal.draws.mean(axis=0) - exact.draws.mean(axis=0)) / sd, error
    )
    gap = (np.cov(normal.draws.T) - np.cov(exact.draws.T)) / np.outer(sd, sd)
    np.testing.assert_array_less(abs(gap), error * 2**0.5)
    np.testing.assert_allclose(normal.p_best, exact.p_best, atol=0.02)


def test_a_pair_is_no_surer_on_new_tasks_than_on_new_items() -> None:
    """Tasks whose differences are the same by chance: their items vary all the same."""
    rng = np.random.default_rng(0)
    right = rng.random((3, 40, 2)) < [0.8, 0.7]
    for task in right:  # 32 and 28 of 40 in every task
        for column, count in enumerate((32, 28)):
            task[:, column] = rng.permutation(np.arange(40) < count)
    answers = Outcomes(right.reshape(-1, 2), names=["a", "b"], tasks=np.repeat(list("xyz"), 40))
    items, tasks = (
        compare_methods(answers.about(new), draws=20_000, random_seed=0)
        for new in ("items", "tasks")
    )
    sds = [np.std(of.draws[:, 0] - of.draws[:, 1]) for of in (items, tasks)]
    assert sds[1] > sds[0]
    assert tasks.p_false > items.p_false > 0.01
