"""Sets of what cannot be distinguished, against all subsets; the diagram draws them."""

from itertools import combinations

import numpy as np
import pytest

from bayes_sota.core.plots import indistinct_sets, plot_differences


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_sets_are_the_largest_of_all_subsets(share: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        apart = np.triu(rng.random((7, 7)) < share, 1)
        apart |= apart.T
        subsets = [frozenset(s) for size in range(2, 8) for s in combinations(range(7), size)]
        alike = [s for s in subsets if not apart[np.ix_([*s], [*s])].any()]
        expected = {s for s in alike if not any(s < other for other in alike)}
        found = indistinct_sets(apart)
        assert len(found) == len(expected)
        assert set(found) == expected


def test_bars_and_leaders_end_at_their_entries() -> None:
    """The first and the third are joined past the second, which has no dot."""
    places, names = np.array([2.0, 3.5, 1.0, 2.5]), ["b", "$d$", "a", "c"]
    apart = ~np.eye(4, dtype=bool)
    apart[[0, 1, 2, 3], [1, 0, 3, 2]] = False
    drawn = plot_differences(names, places, apart, "rank", backend="none").collection.viz
    dots = [drawn[f"members_{k}"]["place"].item()["x"].tolist() for k in range(2)]
    assert dots == [[1.0, 2.5], [2.0, 3.5]]
    for k, (name, at) in enumerate([("a", 1.0), ("b", 2.0), ("c", 2.5), (r"\$d\$", 3.5)]):
        leader, text = drawn[f"leader_{k}"]["place"].item(), drawn[f"name_{k}"]["place"].item()
        assert leader["x"].tolist() == [at, at, text["x"]]
        assert leader["y"].tolist() == [0, text["y"], text["y"]]
        assert text["string"].strip() == name
        assert (text["x"] > 3.5) == (k >= 2)
