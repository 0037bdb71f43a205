"""Every finding can hold and fail to: runs with known truth give the verdict that they must."""

from typing import Any

import numpy as np
import pytest
from published.comparisons import load_published
from published.findings import FINDINGS, SIX, Study, judge_findings
from published.made_up_study import made_up
from published.study import LEARNERS, load_runs

from bayes_sota.crossval.fold_scores import FoldScores

RISING = {2: -0.02, 5: 0.0, 10: 0.02}
FALLING = {2: 0.02, 5: 0.0, 10: -0.02}
SETS = dict.fromkeys(("vote", "task 1", "task 2"), 0.1)
TREES = dict.fromkeys(("c45-laplace", "hellinger"), 0.0)


def verdicts(item: str, **settings: Any) -> dict[str, str]:
    found = judge_findings(made_up(**settings), [item])[item]
    return {quantity: one.state for quantity, one in found.items()}


USUAL = "Spearman 1e-4"


def of_rules(*rules: str, **settings: Any) -> dict[str, str]:
    """Verdicts on rules, of which only those named and the usual one are followed."""
    return verdicts("cv-rules", **{"orderings": 10, "rules": (*rules, USUAL), **settings})


@pytest.mark.slow
def test_all_findings_are_judged() -> None:
    items = {n: i for n, i in load_published()["items"].items() if "study" in i}
    assert list(items) == list(FINDINGS)
    found = judge_findings(made_up(6, 7, orderings=3), list(FINDINGS))
    for name, item in items.items():
        assert set(found[name]) == set(item["rows"])
        assert all(one.said for one in found[name].values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bias", "tasks", "expected"),
    [
        (RISING, 20, "holds holds holds holds differ differ does-not"),
        (RISING, 6, "holds holds holds cannot cannot cannot does-not"),
        (FALLING, 20, "not not not not differ differ exceptions"),
        ({2: -0.02, 5: 0.0, 10: 0.0}, 20, "holds holds holds not alike differ does-not"),
    ],
)
def test_folds(bias: Any, tasks: int, expected: str) -> None:
    found = verdicts("cv-folds", tasks=tasks, bias=bias, iterations=50)
    words = expected.split()
    claims = list(found.values())[:4]
    told = {"holds": "holds", "not": "does not hold", "cannot": "cannot tell"}
    if tasks == 20:
        assert claims == [told[word] for word in words[:4]]
    else:
        assert "does not hold" not in claims
    alike = found["canonical, 5 and 10 folds alike"], found["steady state, 2 and 5 folds alike"]
    if tasks == 20:
        of = {"differ": "does not hold", "alike": "holds"}
        assert alike == (of[words[4]], of[words[5]])
    else:
        assert "holds" not in alike
    highest = found["steady state, 2 folds highest somewhere"]
    assert highest == ("holds" if words[6] == "exceptions" else "does not hold")


@pytest.mark.slow
def test_equal_folds_are_alike_with_enough_data_sets_only() -> None:
    claim = "steady state, 2 and 5 folds alike"
    sizes = ((30, 50, "holds"), (12, 50, "cannot tell"), (30, 40, "cannot tell"))
    for tasks, iterations, state in sizes:
        found = verdicts("cv-folds", tasks=tasks, iterations=iterations, seed=1)
        assert found[claim] == state


@pytest.mark.slow
def test_too_few_significant_learners_must_be_improbable() -> None:
    """All learners differ alike, and so little that by chance some are not significant."""
    claim, seen = "canonical, 2 below 5 folds", set()
    for size, seed in ((0.002, 0), (0.002, 1), (0.003, 0)):
        runs = made_up(20, 50, bias={2: -size, 5: 0.0, 10: 0.0}, seed=seed)
        found = judge_findings(runs, ["cv-folds"])["cv-folds"][claim]
        # Of six at a power of 80% up to two are significant with probability .017, three .099.
        assert found.state == ("does not hold" if (found.number or 0) <= 2 else "cannot tell")
        seen.add(found.state)
    assert len(seen) == 2


def test_few_iterations() -> None:
    near = verdicts("cv-running-means", spread=0.0005, tasks=6, iterations=50)
    apart = dict(zip(LEARNERS, np.linspace(0.3, 0.8, 8), strict=True))
    far = verdicts("cv-running-means", spread=0.0005, skill=apart, tasks=6)
    assert (near["few iterations"], near["many iterations"]) == ("holds", "does not hold")
    assert (far["few iterations"], far["many iterations"]) == ("does not hold", "holds")
    # Half of the orders of equal learners change late, however many iterations there are.
    short = verdicts("cv-running-means", spread=0.0, tasks=6, iterations=10)
    assert short["many iterations"] == "cannot tell"


def test_leaders_on_vote() -> None:
    claim = "three learners lead on vote"
    rng = np.random.default_rng(0)
    close = {name: 0.9 + rng.normal(0, 0.01, 40) for name in ("c45-laplace", "mlp", "5nn")}
    assert verdicts("cv-running-means", tasks=2, vote=close)[claim] == "holds"
    far = {**close, "5nn": 0.5}
    assert verdicts("cv-running-means", tasks=2, vote=far)[claim] == "does not hold"
    assert verdicts("cv-running-means", tasks=2, vote=far, iterations=10)[claim] == "cannot tell"
    runs = made_up(2, 12, orderings=2)
    renamed = type(runs.scores[2])
    runs.scores.update({
        k: renamed(one.scores, learners=LEARNERS, folds=k) for k, one in runs.scores.items()
    })  # fmt: skip
    found = judge_findings(runs, ["cv-running-means"])["cv-running-means"][claim]
    assert (found.state, found.number) == ("cannot tell", None)


@pytest.mark.slow
def test_contradictions() -> None:
    near: dict[str, Any] = {
        "spread": 1e-5,
        "sd": dict.fromkeys(LEARNERS, 0.02),
        "iterations": 120,
        "tasks": 12,
    }
    assert verdicts("cv-verdicts", **near)["any two learners"] == "holds"
    apart = {"skill": {"c45-laplace": 0.9}, "spread": 0.001}
    assert verdicts("cv-verdicts", iterations=60, **apart)["two trees"] == "does not hold"
    assert verdicts("cv-verdicts", iterations=20, **apart)["two trees"] == "cannot tell"


def test_equal_learners_are_not_known() -> None:
    assert set(verdicts("cv-tests").values()) == {"cannot tell"}


@pytest.mark.slow
def test_shape() -> None:
    left, right, none = (
        verdicts("cv-shape", skew=skew, iterations=n)
        for skew, n in ((-1.5, 80), (1.5, 80), (0, 60))
    )
    quantities = ("not normal", "trees are skewed to the left")
    assert [left[q] for q in quantities] == ["holds", "holds"]
    assert left["left skew, single runs optimistic"] == "holds"
    assert [right[q] for q in quantities] == ["holds", "does not hold"]
    assert none["not normal"] == "does not hold"
    assert verdicts("cv-shape", iterations=12)["not normal"] == "cannot tell"


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "state"), [(1, "holds"), (-1, "does not hold")])
def test_skewness_and_skill(sign: int, state: str) -> None:
    """Learners are the better the more their scores are skewed to the left, or to the right."""
    runs = made_up(20, 60, spread=0.0)
    rng, given = np.random.default_rng(1), runs.scores[10]
    scores = given.scores.copy()
    for j in map(LEARNERS.index, SIX):
        tail = (j + 1) / 8 * rng.exponential(0.01, (20, 60))
        scores[:, j, :, 0] = 0.8 + sign * 0.02 * j - tail + 0.002 * rng.normal(size=(20, 60))
    runs.scores[10] = FoldScores(scores, learners=given.learners, tasks=given.tasks, folds=10)
    found = judge_findings(runs, ["cv-shape"])["cv-shape"]["left skew marks the better learner"]
    assert found.state == state


@pytest.mark.slow
def test_costs_of_rules() -> None:
    claim = "trees take at least twice the iterations"
    wobbly = dict.fromkeys(TREES, 0.2)
    assert of_rules(tasks=8, wobble=wobbly)[claim] == "holds"
    assert of_rules(tasks=8)[claim] == "does not hold"
    # The other learners' iterations end before as well: theirs is a lower bound, too.
    late = dict.fromkeys(TREES, 0.6) | {"nb-kernel": 1e-5, "svm": 0.08}
    assert of_rules(tasks=7, iterations=20, wobble=late)[claim] == "cannot tell"
    # Iterations end before the trees' rule holds: their number is a lower bound.
    slow = dict.fromkeys(LEARNERS, 0.3)
    assert of_rules(tasks=8, iterations=10, wobble=slow)[claim] == "cannot tell"


@pytest.mark.slow
def test_rules_that_never_stop() -> None:
    claim = "Spearman 1e-5 may never stop"
    still, slow = dict.fromkeys(LEARNERS, 1e-5), dict.fromkeys(LEARNERS, 0.3)
    stops, goes_on = (
        of_rules("Spearman 1e-5", tasks=7, iterations=10, wobble=wobble)[claim]
        for wobble in (still, slow)
    )
    assert (stops, goes_on) == ("does not hold", "cannot tell")


@pytest.mark.slow
def test_costs_of_kolmogorov_and_smirnov() -> None:
    few = of_rules("KS .2", "KS .1", tasks=8, iterations=60, wobble=dict.fromkeys(TREES, 1e-4))
    assert (few["KS .2 costs like Spearman"], few["KS .1 costs more"]) == ("does not hold", "holds")
    # A rule of the scores that stops at 11 or later, and one of the items that does so too.
    wobble = dict.fromkeys(TREES, 0.22)
    settings = {"tasks": 6, "wobble": wobble, "orderings": 6}
    same, ended = (of_rules("KS .2", iterations=n, **settings) for n in (150, 50))
    assert same["KS .2 costs like Spearman"] == "holds"
    # A third of the runs end: both rules take all iterations there, which is no likeness.
    assert ended["KS .2 costs like Spearman"] == "cannot tell"


@pytest.mark.slow
def test_reproducibility_of_rules() -> None:
    """Rules that take more iterations keep the order of two close trees more often."""
    close = {"c45-laplace": 0.8, "hellinger": 0.804}
    settings = {"tasks": 8, "iterations": 60, "spread": 0.0, "skill": close}
    late = of_rules("Spearman 1e-3", wobble=dict.fromkeys(TREES, 0.03), items=100, **settings)
    assert late["Spearman 1e-3 stops too early"] == "holds"
    settings |= {"iterations": 200, "tasks": 6, "orderings": 6}
    soon = of_rules("KS .2", wobble=dict.fromkeys(TREES, 1e-4), **settings)
    assert soon["KS .2 less reproducible"] == "does not hold"
    assert soon["fixed 50 like adaptive rules"] == "does not hold"
    far = {"skill": {"hellinger": 0.9}, "tasks": 6, "iterations": 100, "orderings": 3}
    assert of_rules(**far)["fixed 50 like adaptive rules"] == "holds"
    short = of_rules(tasks=6, iterations=12)
    assert short["fixed 50 like adaptive rules"] == "cannot tell"


@pytest.mark.slow
@pytest.mark.parametrize(("iterations", "tasks", "orderings"), [(50, 16, 12), (100, 8, 6)])
def test_equal_learners_have_no_order_to_keep(iterations: int, tasks: int, orderings: int) -> None:
    """Rules that take more of the iterations look more reproducible where runs share them."""
    wobble = dict.fromkeys(TREES, 0.08)
    followed = ("Spearman 1e-3", USUAL, "KS .2")
    runs = made_up(
        tasks, iterations, spread=0.0, wobble=wobble, orderings=orderings, rules=followed
    )
    found = judge_findings(runs, ["cv-rules", "cv-orders"])
    gain = "gain of Spearman over fixed 10, larger for trees"
    assert found["cv-orders"][gain].state == "cannot tell"
    claims = ("Spearman 1e-3 stops too early", "KS .2 less reproducible")
    for claim in (*claims, "fixed 50 like adaptive rules"):
        assert found["cv-rules"][claim].state == "cannot tell"


@pytest.mark.slow
def test_orders() -> None:
    trees = {"c45-laplace": 0.8, "hellinger": 0.802}
    stable = {"nb-kernel": 0.7, "svm": 0.9}
    settings = {"tasks": 12, "iterations": 100, "spread": 0.0, "orderings": 16, "rules": (USUAL,)}
    wobble = dict.fromkeys(TREES, 0.2)
    found = verdicts("cv-orders", skill=trees | stable, wobble=wobble, **settings)
    assert found["canonical runs, two trees less reproducible"] == "holds"
    assert found["gain of Spearman over fixed 10, larger for trees"] == "holds"
    other = {"nb-kernel": 0.8, "svm": 0.802, "c45-laplace": 0.7, "hellinger": 0.9}
    wobble = dict.fromkeys(("nb-kernel", "svm"), 0.2)
    found = verdicts("cv-orders", skill=other, wobble=wobble, **settings)
    assert found["canonical runs, two trees less reproducible"] == "does not hold"
    assert found["gain of Spearman over fixed 10, larger for trees"] == "does not hold"


@pytest.mark.slow
def test_no_rule_is_judged_by_runs_that_share_iterations() -> None:
    study = Study(made_up(6, 12, orderings=4))
    assert np.isnan(study.agreement("fixed 10", ("nb-kernel", "svm"))).all()
    assert np.isfinite(study.agreement("canonical", ("nb-kernel", "svm"))).all()


@pytest.mark.slow
def test_two_trees_on_a_data_set_are_one_case() -> None:
    """Five data sets are too few for a direction, though ten distributions agree."""
    claim = "trees are skewed to the left"
    states = [verdicts("cv-shape", tasks=n, skew=-1.5, iterations=80)[claim] for n in (5, 8)]
    assert states == ["cannot tell", "holds"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "bias", "low", "closest"),
    [
        (SETS | {"task 3": 0.1}, RISING, "holds", "holds"),
        (SETS, FALLING, "holds", "does not hold"),
        (dict.fromkeys(SETS, -0.1), RISING, "does not hold", "does not hold"),
        (dict.fromkeys(SETS, 0.001), {}, "cannot tell", "cannot tell"),
        # One test set and one training set are one event, however many learners there are.
        ({"vote": 0.1}, RISING, "cannot tell", "cannot tell"),
        ({"vote": 0.1, "task 1": 0.1}, FALLING, "cannot tell", "cannot tell"),
        ({}, {}, "cannot tell", "cannot tell"),
    ],
)
def test_true_test_sets(truth: Any, bias: Any, low: str, closest: str) -> None:
    found = verdicts("cv-test-sets", tasks=6, truth=truth, bias=bias)
    assert (found["too low"], found["10 folds closest"]) == (low, closest)
    assert found["the best learner stays"] == "cannot tell"


@pytest.fixture(scope="module")
def kept() -> Study:
    """The runs of the study that was run."""
    return Study(load_runs())


def test_the_study_is_as_large_as_the_source(kept: Study) -> None:
    scores = kept.every.scores
    assert len(kept.runs.tasks) == 28
    assert kept.runs.n_iterations == 500
    assert len(kept.runs.truth) >= 6
    for k in (2, 5, 10):
        counts = np.isfinite(scores[k].iteration_means()).sum(axis=2)
        assert (counts[:, [LEARNERS.index(n) for n in LEARNERS if n != "mlp"]] == 500).all()
        assert counts.min() >= 100


def test_trees_with_the_same_leaves_are_about_equal(kept: Study) -> None:
    for k in (2, 5, 10):
        means = kept.every.scores[k].iteration_means()
        one, other = (
            means[:, LEARNERS.index(name)].mean() for name in ("c45-laplace", "hellinger")
        )
        assert abs(one - other) < 0.01


def test_other_leaves_are_no_fair_comparison(kept: Study) -> None:
    means = kept.every.scores[5].iteration_means()
    one, other = (means[:, LEARNERS.index(name)].mean() for name in ("c45", "hellinger"))
    assert one - other < -0.03
