"""The report on repeated cross-validation: its numbers are those of the functions behind it."""

import numpy as np
import pytest
from data.files import refused
from scipy.stats import skewtest

from bayes_sota.core.text import p_value
from bayes_sota.crossval.estimates import correlated_t
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import fixed, kolmogorov_smirnov, spearman
from bayes_sota.crossval.summary import judge_runs

NAMES = ["good", "near", "bad"]


def simulated(tasks: int = 1, iterations: int = 30, noise: float = 0.12, folds: int = 10):
    rng = np.random.default_rng(7)
    skill = np.array([0.90, 0.899, 0.85])[:, None, None]
    scores = skill + rng.normal(0, 0.03, (tasks, 3, iterations, folds))
    probabilities = rng.standard_normal((tasks, 1, 1, 80)) + noise * rng.standard_normal(
        (tasks, 3, iterations, 80)
    )
    names = [f"task {t}" for t in range(tasks)]
    return FoldScores(scores, learners=NAMES, tasks=names, scorer="AUROC"), list(probabilities)


@pytest.fixture(scope="module")
def one():
    return judge_runs(*simulated(), random_seed=1)


@pytest.fixture(scope="module")
def many():
    return judge_runs(*simulated(tasks=6), random_seed=1, orderings=12)


def test_pairs_have_their_posterior(one) -> None:
    scores, _ = simulated()
    report = judge_runs(scores, ci_prob=0.8, orderings=5, random_seed=1)
    means = scores.iteration_means()[0]
    for row in report.content["pairs"]:
        a, b = (NAMES.index(row[name]) for name in ("first", "second"))
        expected, found = correlated_t(scores, a, b), row["posterior"]
        assert found["p_better"] == expected.p_better() >= 0.5
        assert found["interval"] == list(expected.interval(0.8))
        gaps = means[a] - means[b]
        partition, data = gaps.var(ddof=1) / gaps.size, expected.data_variance
        assert found["partition_share"] == pytest.approx(partition / (partition + data))
        again = np.random.default_rng(0).normal(gaps.mean(), gaps.std(ddof=1), 100_000)
        assert found["p_other_seed"] == pytest.approx(np.mean(again < 0), abs=0.02)
        assert found["decided"] == (found["p_better"] >= 0.95)
        tied = {row["first"], row["second"]} == {"good", "near"}
        assert (found["iterations_needed"] is None) == tied


def test_the_answer_comes_first_and_the_advice_follows(one, many) -> None:
    first, second, third, *advice = one.sentences
    pair = one.content["pairs"][0]
    order = f"{pair['first']} ranks above {pair['second']} in {100 * pair['order_kept']:.0f} of 100"
    assert order in first
    assert f"is better with probability {pair['posterior']['p_better']:.2f}" in second
    assert third.startswith("2 of 3 pairs of learners keep their order")
    assert any(line.startswith("Report as tied: good with near. ") for line in advice)
    assert "best mean rank" in many.sentences[0]
    assert (len(many.tables), len(many.content["verdicts"])) == (4, 3)


@pytest.mark.parametrize("rule", [None, fixed(30), fixed(31), kolmogorov_smirnov(0.05)])
def test_too_few_iterations_for_a_rule_are_a_reason(rule) -> None:
    report = judge_runs(*simulated(noise=1.0), rule=rule, orderings=5, random_seed=0)
    name = (rule or spearman()).name
    assert report.reasons == [f"too few iterations of good, near and bad for {name}: run more"]
    assert "Run more iterations before any test" in report.text
    # All orderings have the same iterations: how often they agree is not known.
    assert all(np.isnan(row["order_kept"]) for row in report.content["pairs"])
    assert np.isnan(report.content["rules"][0]["pairs_kept"])
    p = report.content["pairs"][0]["posterior"]["p_other_seed"]
    assert f"a new run would reverse that with probability {p:.2f}" in report.sentences[0]
    assert "keep their order" not in report.text


@pytest.mark.parametrize(("iterations", "name"), [(11, "Kolmogorov-Smirnov 0.2"), (10, "fixed 1")])
def test_scores_alone_take_a_rule_that_they_can_meet(iterations: int, name: str) -> None:
    report = judge_runs(simulated(iterations=iterations)[0], random_seed=0, orderings=5)
    assert report.content["rule"]["name"] == name


def test_skewed_scores_ask_for_medians() -> None:
    values = 1 - np.random.default_rng(0).exponential([[0.02], [0.03]], (2, 60))
    report = judge_runs(FoldScores(values[:, :, None], folds=10), random_seed=0)
    p = [p_value(skewtest(one).pvalue) for one in values]
    assert f"The scores of 1 (left, {p[0]}) and 2 (left, {p[1]}) are skewed" in report.text
    flipped = judge_runs(FoldScores(1 - values[:, :, None], folds=10), random_seed=0)
    assert "1 (right, p" in str(flipped.sentences)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rule": spearman()}, "needs the items. probabilities"),
        ({"orderings": 1}, "orderings must be"),
        ({"scores": FoldScores(np.ones((1, 3, 5)))}, "an order needs at least 2 learners"),
    ],
)
def test_what_cannot_be_judged_is_refused(settings: dict, message: str) -> None:
    refused(message, judge_runs, **{"scores": simulated()[0], **settings})
