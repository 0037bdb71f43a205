"""C4.5 and the Hellinger tree: plain loops, Quinlan's examples, exact binomial limits."""

from collections import Counter
from itertools import pairwise, product
from math import log2, sqrt
from typing import Any

import numpy as np
import pytest
from published.estimators import DecisionTree
from published.tree_growth import estimated_errors, leaves_of, split_merit
from scipy.stats import beta
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.core.types import BoolArray, FloatArray

pytestmark = pytest.mark.slow  # the growth of trees is compiled

Items = list[tuple[list[float], bool]]
CRITERIA = ("gain ratio", "hellinger")
NEAR = 1e-9


def bits(labels: list[bool]) -> float:
    return sum(-c / len(labels) * log2(c / len(labels)) for c in Counter(labels).values())


def distance(left: list[bool], right: list[bool]) -> float:
    """Squared Hellinger distance of the classes over two sides, from the definition."""
    total, both = Counter(left + right), (Counter(left), Counter(right))
    roots = [[sqrt(side[c] / total[c]) for c in (True, False)] for side in both]
    return sum((p - q) ** 2 for p, q in roots)


def thresholds(items: Items, a: int) -> list[tuple[float, list[bool], list[bool], float]]:
    """Middle, both sides' labels, and the value below, of the allowed splits."""
    least = min(max(0.1 * len(items) / 2, 2), 25)
    values, found = sorted({x[a] for x, _ in items}), []
    for low, high in pairwise(values):
        left = [c for x, c in items if x[a] <= low]
        right = [c for x, c in items if x[a] > low]
        if min(len(left), len(right)) >= least:
            found.append(((low + high) / 2, left, right, low))
    return found


def first_best(rated: list[tuple[float, Any]]) -> tuple[float, Any]:
    top = max(rated, key=lambda one: one[0])[0]
    return next(one for one in rated if one[0] > top - NEAR)


def split(items: Items, whole: Items, criterion: str) -> tuple[int, float] | None:
    """Attribute and threshold, by Quinlan's words."""
    labels, n = [c for _, c in items], len(items)
    if len(set(labels)) < 2 or n < 4:
        return None
    possible = []
    for a in range(len(items[0][0])):
        tried = thresholds(items, a)
        if not tried:
            continue
        if criterion == "hellinger":
            rated = [(distance(left, right), one) for one in tried for _, left, right, _ in [one]]
        else:
            rated = [
                (bits(labels) - sum(len(s) / n * bits(s) for s in one[1:3]) - log2(len(tried)) / n,
                 one) for one in tried
            ]  # fmt: skip
        worth, one = first_best(rated)
        if worth > NEAR:
            possible.append((worth, (a, one)))
    if not possible:
        return None
    if criterion == "gain ratio":
        mean = sum(worth for worth, _ in possible) / len(possible)
        possible = [
            (worth / bits([True] * len(one[1]) + [False] * len(one[2])), (a, one))
            for worth, (a, one) in possible
            if worth >= mean - 0.001
        ]
    a, (middle, *_) = first_best(possible)[1]
    return a, max(x[a] for x, _ in whole if x[a] <= middle)


def grow(items: Items, whole: Items, criterion: str) -> Any:
    """A tree: its items, and for a node attribute, threshold and two trees."""
    found = split(items, whole, criterion)
    if found is None:
        return [items]
    a, t = found
    sides = ([i for i in items if i[0][a] <= t], [i for i in items if i[0][a] > t])
    return [items, a, t, *(grow(side, whole, criterion) for side in sides)]


def wrong(items: Items) -> int:
    return min(Counter(c for _, c in items).get(k, 0) for k in (True, False))


def upper(items: Items) -> float:
    """The limit at which so few errors have probability .25, by release 8's approximation."""
    n, e, z = len(items), wrong(items), 0.6744897501960817
    if n == 0 or e == 0:
        return n * (1 - 0.25 ** (1 / n)) if n else 0.0
    f = (e + 0.5) / n
    root = sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n) if e + 0.5 < n else float(n)


def total(tree: Any, of: Any) -> float:
    return float(of(tree[0])) if len(tree) == 1 else total(tree[3], of) + total(tree[4], of)


def collapsed(tree: Any) -> Any:
    if len(tree) == 1 or total(tree, wrong) >= wrong(tree[0]) - 0.001:
        return [tree[0]]
    return [*tree[:3], collapsed(tree[3]), collapsed(tree[4])]


def moved(tree: Any, items: Items) -> Any:
    """The same splits with other items."""
    if len(tree) == 1:
        return [items]
    _, a, t, low, high = tree
    below, above = ([i for i in items if (i[0][a] <= t) is side] for side in (True, False))
    return [items, a, t, moved(low, below), moved(high, above)]


def pruned(tree: Any, steps: Counter[str]) -> Any:
    """The pruned tree; ``steps`` counts what was done."""
    if len(tree) == 1:
        return tree
    items, a, t, low, high = tree
    low, high = pruned(low, steps), pruned(high, steps)
    tree = [items, a, t, low, high]
    larger = moved(low if len(low[0]) >= len(high[0]) else high, items)
    leaf, branch, whole = upper(items), total(larger, upper), total(tree, upper)
    if leaf <= min(branch, whole) + 0.1 + NEAR:
        steps["leaf"] += 1
        return [items]
    if branch > whole + 0.1 + NEAR:
        return tree
    steps["raised"] += 1
    return pruned(larger, steps)


def share(tree: Any, x: list[float], laplace: bool, above: float = 0.5) -> float:
    items = tree[0]
    hits = sum(c for _, c in items)
    here = hits / len(items) if items else above
    if len(tree) == 1:
        return (hits + 1) / (len(items) + 2) if laplace else here
    return share(tree[3] if x[tree[1]] <= tree[2] else tree[4], x, laplace, here)


def data(n: int = 60, seed: int = 0) -> tuple[FloatArray, BoolArray]:
    rng = np.random.default_rng(seed)
    rows = np.column_stack([
        rng.normal(size=n).round(1), rng.integers(0, 4, n), rng.exponential(size=n)
    ])  # fmt: skip
    return rows, rows @ [1.0, 0.5, -1.0] + rng.normal(size=n) > 0


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("prunes", [False, True])
@pytest.mark.parametrize("laplace", [False, True])
def test_trees_by_plain_loops(criterion: str, prunes: bool, laplace: bool) -> None:
    """Every probability of 30 trees, small and with pruned and raised branches."""
    steps = Counter[str]()
    for seed in range(30):
        rows, labels = data(20 + 8 * seed, seed)
        items = [(x, bool(c)) for x, c in zip(rows.tolist(), labels, strict=True)]
        tree = grow(items, items, criterion)
        if prunes:
            tree = pruned(collapsed(tree), steps)
        model = DecisionTree(criterion, prunes, laplace).fit(rows, labels)
        new = data(200, seed + 100)[0]
        expected = [share(tree, x, laplace) for x in new.tolist()]
        assert model.predict_proba(new)[:, 1] == pytest.approx(expected, abs=1e-12)
    assert not prunes or min(steps["leaf"], steps["raised"]) >= 3


def test_nothing_to_split() -> None:
    for rows, labels in (
        (np.ones((8, 2)), np.arange(8) > 3),
        (np.arange(8.0)[:, None], np.ones(8, bool)),
        (np.arange(3.0)[:, None], np.arange(3) > 1),
    ):
        assert DecisionTree("hellinger").fit(rows, labels).nodes_.size.size == 1
    # Two neighbours in floating point: the threshold must divide them.
    near = np.repeat([[1.0], [np.nextafter(1.0, 2)]], 2, axis=0)
    nodes = DecisionTree("hellinger").fit(near, [0, 0, 1, 1]).nodes_
    assert (nodes.threshold[0], nodes.hits.tolist()) == (1.0, [2, 0, 2])


def test_hellinger_does_not_see_how_rare_a_class_is() -> None:
    rows, labels = data(40)
    rare = np.concatenate([rows, *[rows[~labels]] * 3])
    truth = np.concatenate([labels, np.zeros(3 * (~labels).sum(), bool)])
    one, other = (
        DecisionTree("hellinger").fit(*given) for given in ((rows, labels), (rare, truth))
    )
    assert one.nodes_.attribute[0] == other.nodes_.attribute[0]
    assert one.nodes_.threshold[0] == other.nodes_.threshold[0]


GOLF = (
    "sunny 85 1 n,sunny 90 0 n,overcast 78 1 y,rain 96 1 y,rain 80 1 y,rain 70 0 n,overcast 65 0 y,"
    "sunny 95 1 n,sunny 70 1 y,rain 80 1 y,sunny 70 0 y,overcast 90 0 y,overcast 75 1 y,rain 80 0 n"
)


def test_golf() -> None:
    """Quinlan's 14 days: 0.940 bits, of which wind gains 0.048; it is played whenever overcast."""
    days = [day.split() for day in GOLF.split(",")]
    played = np.array([day[3] == "y" for day in days])
    columns = np.array([[d[0] == "overcast", d[1], d[2]] for d in days], float)
    assert bits(played.tolist()) == pytest.approx(0.940, abs=5e-4)
    calm = columns[:, 2] == 1
    assert split_merit(14, 9, int(calm.sum()), int(played[calm].sum()), True) == pytest.approx(
        0.048, abs=5e-4
    )
    nodes = DecisionTree().fit(columns, played).nodes_
    assert (nodes.attribute[0], nodes.threshold[0]) == (0, 0.0)
    assert (nodes.size[nodes.right[0]], nodes.hits[nodes.right[0]]) == (4, 4)


def test_estimated_errors() -> None:
    """Quinlan's example (1993, sec. 4.2), and the exact limit of a binomial share."""
    leaves = sum(estimated_errors(n, 0) for n in (6, 9, 1))
    assert [round(estimated_errors(n, 0) / n, 3) for n in (6, 9, 1)] == [0.206, 0.143, 0.750]
    assert leaves == pytest.approx(3.273, abs=2e-3)
    assert estimated_errors(16, 1) == pytest.approx(16 * 0.157, abs=0.05)
    for n in (5, 16, 60, 400):
        for e in range(n // 2 + 1):
            exact = beta.isf(0.25, e + 1, n - e)
            assert estimated_errors(n, e) / n == pytest.approx(exact, abs=0.03 / np.sqrt(n))
    assert estimated_errors(3, 3) == 3
    assert estimated_errors(0, 0) == 0


def test_leaves_hold_the_items_that_go_there() -> None:
    for criterion, prunes in product(CRITERIA, (False, True)):
        rows, labels = data(200)
        nodes = DecisionTree(criterion, prunes).fit(rows, labels).nodes_
        found = leaves_of(nodes, rows.T.copy())
        for leaf in np.unique(found):
            assert (found == leaf).sum() == nodes.size[leaf]
            assert labels[found == leaf].sum() == nodes.hits[leaf]


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
def test_trees_learn_as_well_as_their_kin(criterion: str) -> None:
    """On real data within .03 of scikit-learn's tree."""
    X, y = load_breast_cancer(return_X_y=True)
    one, other = (
        cross_val_score(e, X, y, cv=5, scoring="roc_auc").mean()
        for e in (
            DecisionTree(criterion), DecisionTreeClassifier(min_samples_leaf=2, random_state=0)
        )
    )  # fmt: skip
    assert one > other - 0.03
