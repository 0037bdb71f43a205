"""The figure of one AUC draws its laws and the ROC curves behind them."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from bayes_sota.auc import auc_law, plot_auc_laws
from bayes_sota.core.errors import InputError

LAWS = [auc_law(0.9, 51, 2949, ratio) for ratio in (0.5, 1.0, 2.0)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.spread_ratio:g}")
def test_the_area_under_the_curve_is_the_auc(law) -> None:
    area, _ = quad(law.true_alarms, 0, 1)
    assert area == pytest.approx(0.9, abs=1e-6)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.spread_ratio:g}")
def test_the_curve_is_that_of_normal_scores(law) -> None:
    s = law.spread_ratio
    mu = norm.ppf(0.9) * (1 + s**2) ** 0.5
    thresholds = np.linspace(-2, 4, 13)
    found = law.true_alarms(norm.sf(thresholds))
    np.testing.assert_allclose(found, norm.sf(thresholds, mu, s), atol=1e-9)


def test_what_is_drawn_are_the_laws() -> None:
    figure = plot_auc_laws(LAWS, ci_prob=0.8, backend="none")
    highest = max(law.density()[1].max() for law in LAWS)
    negatives = figure.viz["negatives"]["scores"].item()
    x, y = (np.asarray(negatives[axis]) for axis in ("x", "y"))
    np.testing.assert_allclose(y, norm.pdf(x))
    for index, law in enumerate(LAWS):
        line = figure.viz[f"positives_{index}"]["scores"].item()
        x, y = (np.asarray(line[axis]) for axis in ("x", "y"))
        mean = norm.ppf(0.9) * (1 + law.spread_ratio**2) ** 0.5
        np.testing.assert_allclose(y, norm.pdf(x, mean, law.spread_ratio))
        curve = figure.viz[f"roc_{index}"]["roc"].item()
        x, y = (np.asarray(curve[axis]) for axis in ("x", "y"))
        np.testing.assert_allclose(y, law.true_alarms(x))
        area = figure.viz[f"density_{index}"]["law"].item()
        x, y = (np.asarray(area[axis]) for axis in ("x", "y_top"))
        middle, density = law.density()
        np.testing.assert_allclose(y * highest, np.interp(x, middle, density), rtol=1e-9)
        bar = figure.viz[f"interval_{index}"]["law"].item()
        np.testing.assert_allclose(bar["x"], law.interval(0.8))


def test_the_title_has_the_smallest_and_the_largest_error() -> None:
    title = plot_auc_laws(LAWS, backend="none").viz["figure_title"].item()["string"]
    assert "0.013 to 0.030" in title
    assert [round(law.std(), 3) for law in LAWS] == [0.013, 0.021, 0.03]


def test_at_least_one_law_and_at_most_five() -> None:
    for laws in ([], LAWS * 2):
        with pytest.raises(InputError, match="between one and 5 laws"):
            plot_auc_laws(laws, backend="none")
