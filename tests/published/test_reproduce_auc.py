"""Fig. 10 and 11 of Møllersen & Holsbø: scores, ROC curves, best AUCs."""

import copy

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from bayes_sota.auc.laws import auc_maximum_law
from bayes_sota.published import items as items_module
from bayes_sota.published import reproduce
from bayes_sota.published.published_numbers import load_published
from bayes_sota.published.summary_auc import (
    figure_10_data,
    figure_11_data,
)

PUBLISHED = load_published("challenges")


def states(item):
    return {one.quantity: one.state for one in reproduce([item])}


def test_auc():
    assert states("auc") == {
        "expected, as run": "reproduced",
        "lower limit, as run": "reproduced",
        "expected": "differs",
        "sd": "reproduced",
        "lower limit": "differs",
        "upper limit": "reproduced",
    }


def test_figure_10_has_the_numbers_of_the_text_and_its_own():
    found = states("figure-10")
    assert states("auc").items() <= found.items()
    assert found["positives"] == found["best AUC of (b)"] == "reproduced"


@pytest.mark.parametrize(
    ("item", "path", "wrong"),
    [
        ("auc", ("auc", "sd"), "0.004659"),
        ("auc", ("auc", "interval"), ["0.9486", "0.9672"]),
        ("auc", ("auc", "pinned_expected"), "0.9567"),
        ("figure-10", ("auc", "n_positive"), "52"),
        ("figure-10", ("auc", "figure", "one_maximum"), "0.972"),
        ("figure-11", ("melanoma", "estimate"), "0.9092"),
        ("figure-11", ("melanoma", "expected", "pinned"), "0.9490"),
    ],
)
def test_a_wrong_number_would_be_seen(monkeypatch, item, path, wrong):
    numbers = copy.deepcopy(PUBLISHED)
    part = numbers
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = wrong
    monkeypatch.setattr(items_module, "load_published", lambda part: numbers)
    assert "off" in {one.state for one in reproduce([item])}


@pytest.fixture(scope="module")
def figure_10():
    return figure_10_data(PUBLISHED)


def series(data, panel, name):
    return data[(data["panel"] == panel) & (data["series"] == name)]


def test_the_drawn_curves_have_the_auc(figure_10):
    aucs = series(figure_10, "b", "auc").set_index("classifier")["x"]
    assert aucs.size == 1000
    assert aucs.mean() == pytest.approx(0.9, abs=4.5 * 0.02115 / np.sqrt(1000))
    assert aucs.std() == pytest.approx(0.02115, rel=4.5 / np.sqrt(2000))
    curves = series(figure_10, "b", "roc")
    assert len(curves) == 51_000
    # the area above the steps is the mean false positive rate at the positives
    area = 1 - curves.groupby("classifier")["x"].mean()
    np.testing.assert_allclose(area, aucs, atol=1e-12)
    assert np.all(curves.groupby("classifier")["x"].diff().fillna(0) >= 0)


def test_scores_and_law_of_figure_10(figure_10):
    for name in ("negative", "positive"):
        curve = series(figure_10, "a", f"{name} density")
        assert np.trapezoid(curve["y"], curve["x"]) == pytest.approx(1, abs=1e-3)
    assert series(figure_10, "a", "positive density")["x"].mean() == pytest.approx(1.8124, abs=1e-4)
    assert len(series(figure_10, "a", "positive draw")) == 51
    assert len(series(figure_10, "a", "negative draw")) == 2949
    law = series(figure_10, "c", "density")
    assert np.trapezoid(law["y"], law["x"]) == pytest.approx(1, abs=1e-3)
    mean = np.trapezoid(law["x"] * law["y"], law["x"]) / np.trapezoid(law["y"], law["x"])
    assert mean == pytest.approx(series(figure_10, "c", "mean")["x"].item(), abs=2e-5)


def test_the_bound_of_figure_11_bounds():
    """A field of the same best AUC that is not identical expects less."""
    bound = series(figure_11_data(PUBLISHED), "melanoma", "mean")["x"].item()
    aucs = np.linspace(0.85, 0.8992, 3300)
    mixed = auc_maximum_law(aucs, n_positive=131, n_negative=7556).mean()
    assert mixed < bound == pytest.approx(0.9409, abs=5e-5)
    (verdict,) = (one for one in reproduce(["figure-11"]) if one.state == "differs")
    assert verdict.computed == pytest.approx(bound, abs=1e-12)
    assert "0.9603" in verdict.note


def test_the_bound_of_figure_11_by_simulation():
    """Identical classifiers: the best of 3,300 from scores, negatives by their normal law."""
    rng, size = np.random.default_rng(11), 60
    mean, best = np.sqrt(2) * ndtri(0.8992), []
    # given the positives, the mean over 7,556 negatives is normal, of nearly constant variance
    negatives = ndtri((np.arange(20_000) + 0.5) / 20_000)
    noise = np.std(ndtr(mean - negatives)) / np.sqrt(7556)
    for _ in range(size):
        placed = ndtr(rng.normal(mean, 1, (3300, 131))).mean(axis=1)
        best.append((placed + rng.normal(0, noise, 3300)).max())
    assert np.mean(best) == pytest.approx(0.9409, abs=4.5 * np.std(best) / np.sqrt(size) + 1e-4)
