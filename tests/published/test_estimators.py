"""Learners of the study: scikit-learn's checks; kernel naive Bayes by quadrature."""

import numpy as np
import pytest
from published.estimators import DecisionTree, KernelNaiveBayes
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_sota.core.types import BoolArray, FloatArray

pytestmark = pytest.mark.slow  # the growth of trees is compiled


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([
    KernelNaiveBayes(), DecisionTree("hellinger"), DecisionTree(pruned=True, laplace=False)
])  # fmt: skip
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
    for model in (KernelNaiveBayes(), DecisionTree(), DecisionTree("hellinger", pruned=True)):
        one = model.fit(rows, positive).predict_proba(rows)
        other = model.fit(rows * 7 - 3, positive).predict_proba(rows * 7 - 3)
        assert other == pytest.approx(one, abs=1e-9)


def test_far_away_no_class_is_certain() -> None:
    rows, positive = data()
    found = KernelNaiveBayes().fit(rows, positive).predict_proba(np.full((1, 3), 1e6))
    assert found[0] == pytest.approx([1 - positive.mean(), positive.mean()])
