"""Kernel naive Bayes and Hellinger tree: scikit-learn's checks, and other routes to both."""

from itertools import product

import numpy as np
import pytest
from published.estimators import HellingerTree, KernelNaiveBayes, best_split
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_sota.core.types import BoolArray, FloatArray


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([KernelNaiveBayes(), HellingerTree()])
def test_scikit_learn(estimator, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


def data(n: int = 60, seed: int = 0) -> tuple[FloatArray, BoolArray]:
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), rng.exponential(size=n)])
    return rows, rows @ [1.0, 0.5, -1.0] + rng.normal(size=n) > 0


def test_kernel_densities_are_integrals() -> None:
    """Bayes' rule with the mass of the sum of kernels by quadrature."""
    rows, positive = data()
    model = KernelNaiveBayes().fit(rows, positive)
    for x in (rows[3], rows[10] + 0.3):
        joint = []
        for part in (rows[~positive], rows[positive]):
            mass = len(part) / len(rows)
            for j, v in enumerate(part.T):
                gap = np.diff(np.unique(rows[:, j])).mean()
                sd = max((v.max() - v.min()) / np.sqrt(len(v)), gap / 6)
                density = lambda t, v=v, sd=sd: norm.pdf(t, v, sd).mean()  # noqa: E731
                low, high = x[j] - gap / 2, x[j] + gap / 2
                mass *= quad(density, low, high, epsabs=1e-13, limit=200)[0]
            joint.append(mass)
        expected = joint[1] / sum(joint)
        assert model.predict_proba([x])[0, 1] == pytest.approx(expected, rel=1e-7)


def test_scales_do_not_matter() -> None:
    rows, positive = data()
    for model in (KernelNaiveBayes(), HellingerTree()):
        one = model.fit(rows, positive).predict_proba(rows)
        other = model.fit(rows * 7 - 3, positive).predict_proba(rows * 7 - 3)
        assert other == pytest.approx(one, abs=1e-9)


def test_far_away_no_class_is_certain() -> None:
    rows, positive = data()
    found = KernelNaiveBayes().fit(rows, positive).predict_proba(np.full((1, 3), 1e6))
    assert found[0] == pytest.approx([1 - positive.mean(), positive.mean()])


def distance(left: BoolArray, positive: BoolArray) -> float:
    """Hellinger distance of the classes over two sides, from the definition."""
    shares = [[np.mean(side[c]) for side in (left, ~left)] for c in (positive, ~positive)]
    return float(np.linalg.norm(np.sqrt(shares[0]) - np.sqrt(shares[1])))


@pytest.mark.parametrize(("seed", "least"), list(product(range(6), (1, 2, 5))))
def test_splits_have_the_largest_distance(seed: int, least: int) -> None:
    rows, positive = data(40, seed)
    tried = [
        (distance(rows[:, j] <= t, positive), j, t)
        for j in range(3)
        for t in np.unique(rows[:, j])[:-1]
        if min((rows[:, j] <= t).sum(), (rows[:, j] > t).sum()) >= least
    ]
    found = best_split(rows, positive, least)
    assert found is not None
    left = rows[:, found[0]] <= found[1]
    assert distance(left, positive) == pytest.approx(max(tried)[0], abs=1e-9)
    assert min(left.sum(), (~left).sum()) >= least


def test_splits_do_not_see_how_rare_a_class_is() -> None:
    rows, positive = data(80)
    rare = np.concatenate([rows, *[rows[~positive]] * 9])
    truth = np.concatenate([positive, np.zeros(9 * (~positive).sum(), bool)])
    assert best_split(rare, truth, 1) == best_split(rows, positive, 1)


def test_nothing_to_split() -> None:
    same = np.ones((8, 2))
    assert best_split(same, np.arange(8) > 3) is None
    assert best_split(np.arange(8.0)[:, None], np.ones(8, bool)) is None
    assert best_split(np.arange(3.0)[:, None], np.arange(3) > 1) is None
    # Two neighbours in floating point: the threshold must divide them.
    near = np.array([[1.0], [np.nextafter(1.0, 2)]])
    assert best_split(near, np.array([False, True]), 1) == (0, 1.0)


def test_a_tree_is_its_nodes() -> None:
    """Leaves hold the items that walk there, and Laplace's share of them."""
    rows, positive = data(200)
    model = HellingerTree(5).fit(rows, positive)
    found = model.predict_proba(rows)[:, 1]
    for p in np.unique(found):
        here = positive[found == p]
        assert len(here) >= 5
    nodes = model.nodes_
    for item in range(0, 200, 23):
        at = 0
        while nodes.attribute[at] >= 0:
            goes_left = rows[item, nodes.attribute[at]] <= nodes.threshold[at]
            at = (nodes.left if goes_left else nodes.right)[at]
        assert nodes.positive[at] == found[item]


@pytest.mark.slow
def test_both_learn_as_well_as_their_kin() -> None:
    """On real data within .03 of scikit-learn's nearest relatives."""
    X, y = load_breast_cancer(return_X_y=True)
    pairs = [
        (KernelNaiveBayes(), GaussianNB()),
        (HellingerTree(), DecisionTreeClassifier(min_samples_leaf=2, random_state=0)),
    ]
    for ours, other in pairs:
        one, two = (cross_val_score(e, X, y, cv=5, scoring="roc_auc").mean() for e in (ours, other))
        assert one > two - 0.03
        assert roc_auc_score(y, ours.fit(X, y).predict_proba(X)[:, 1]) > 0.97
