"""Bias and spread of the best score: Table 3 and Fig. 5 of Møllersen & Holsbø, and simulations."""

import numpy as np
import pandas as pd
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Uniform
from bayes_sota.maximum.law import maximum_law
from bayes_sota.maximum.summary_bias import bias_table

IDENTICAL = bias_table(n_test=3000, n_classifiers=1000, skill=0.9)
UNIFORM = bias_table(n_test=3000, n_classifiers=1000, skill=Uniform(0.875, 0.9), correlation=0.6)
COLUMNS = ["bias", "sd"]


def at(table: pd.DataFrame, varied: str, value: float) -> np.ndarray:
    """Bias and standard deviation between the points of a curve."""
    rows = table[table["varied"] == varied]
    return np.array([np.interp(value, rows["value"], rows[column]) for column in COLUMNS])


@pytest.mark.parametrize(
    ("varied", "value", "expected", "sd"),
    [
        ("n_classifiers", 1000, 0.9173, 0.001817),
        ("n_classifiers", 100, 0.9135, 0.002250),
        ("n_classifiers", 5000, 0.9196, 0.001623),
        ("n_test", 1000, 0.9294, 0.003007),
        ("n_test", 10_000, 0.9096, 0.001022),
        ("skill", 0.85, 0.8707, 0.002197),
        ("skill", 0.95, 0.9624, 0.001277),
    ],
)
def test_curves_pass_through_table_3(varied: str, value: float, expected: float, sd: float) -> None:
    skill = value if varied == "skill" else 0.9
    bias, found = at(IDENTICAL, varied, value)
    assert bias == pytest.approx(expected - skill, abs=3e-4)  # linear between the points
    assert found == pytest.approx(sd, abs=6e-5)


def test_curves_pass_through_table_1() -> None:
    # rows 2 to 4: non-identical, dependent, both; the paper simulates
    independent = bias_table(n_test=3000, n_classifiers=1000, skill=Uniform(0.875, 0.9))
    np.testing.assert_allclose(at(independent, "width", 0.025), [0.0129, 0.0021], atol=1e-4)
    np.testing.assert_allclose(at(independent, "width", 0.0), [0.0173, 0.0018], atol=1e-4)
    np.testing.assert_allclose(at(IDENTICAL, "correlation", 0.6), [0.0140, 0.0035], atol=1e-4)
    np.testing.assert_allclose(at(UNIFORM, "correlation", 0.6), [0.0101, 0.0036], atol=1e-4)
    np.testing.assert_allclose(at(UNIFORM, "correlation", 0.0), [0.0129, 0.0021], atol=1e-4)


@pytest.mark.parametrize("table", [IDENTICAL, UNIFORM], ids=["identical", "uniform"])
def test_what_was_given_is_one_law_on_every_curve(table: pd.DataFrame) -> None:
    given = table[table["given"]]
    assert given["varied"].tolist() == list(dict.fromkeys(table["varied"]))
    assert len(given[COLUMNS].drop_duplicates()) == 1


def test_every_point_is_the_law_of_what_it_says() -> None:
    rng = np.random.default_rng(3)
    for row in UNIFORM.sample(25, random_state=rng).itertuples():
        n, m, rho, low, high = 3000, 1000, 0.6, 0.875, 0.9
        best = (m * high + low) / (m + 1)
        if row.varied == "n_test":
            n = int(row.value)
        elif row.varied == "n_classifiers":
            m = int(row.value)
        elif row.varied == "correlation":
            rho = row.value
        elif row.varied == "skill":
            low, high = low + row.value - best, high + row.value - best
        else:
            low = best - row.value * m / (m + 1)
            high = low + row.value
        skill = Uniform(low, high) if high > low else best
        law = maximum_law(n_test=n, n_classifiers=m, skill=skill, correlation=rho)
        assert row.bias == pytest.approx(law.bias(), abs=1e-9)
        assert row.sd == pytest.approx(law.std(), abs=1e-9)


def test_correlations_that_a_wide_field_cannot_have_are_left_out() -> None:
    # Eq. 8 for the lowest skill, theta0 the expected best one
    best = (1000 * 0.9 + 0.875) / 1001
    most = np.sqrt(0.875 / 0.125 * (1 - best) / best)
    shown = UNIFORM.loc[UNIFORM["varied"] == "correlation", "value"].max()
    assert most - 0.033 < shown <= most
    assert IDENTICAL.loc[IDENTICAL["varied"] == "correlation", "value"].max() == 0.99


@pytest.mark.slow
def test_bias_of_aucs_moves_as_that_of_simulated_scores() -> None:
    table = bias_table(n_test=60, n_classifiers=20, skill=0.8, correlation=0.5, n_positive=12)
    rows = table[table["varied"] == "correlation"]
    rng = np.random.default_rng(5)
    for rho in (0.0, 0.9):
        best = [_best_auc(rng, 0.8, 20, rho, 12, 48) for _ in range(4000)]
        error = np.std(best) / 4000**0.5
        bias = np.interp(rho, rows["value"], rows["bias"])
        assert bias == pytest.approx(np.mean(best) - 0.8, abs=4 * error + 0.08 * np.std(best))


def _best_auc(rng: np.random.Generator, auc: float, m: int, rho: float, a: int, b: int) -> float:
    from scipy.stats import norm

    shared, own = rho * rng.standard_normal(a + b), (1 - rho**2) ** 0.5
    scores = shared + own * rng.standard_normal((m, a + b))
    scores[:, :a] += norm.ppf(auc) * 2**0.5
    return float((scores[:, :a, None] > scores[:, None, a:]).mean(axis=(1, 2)).max())


@pytest.mark.slow
def test_sizes_of_classes_keep_their_share() -> None:
    table = bias_table(n_test=60, n_classifiers=5, skill=0.8, n_positive=12)
    sizes = table.loc[table["varied"] == "n_test", "value"]
    assert sizes.min() < 20 < 60 < sizes.max() == 600
    with pytest.raises(InputError, match="reference_skill is of accuracies"):
        bias_table(n_test=60, n_classifiers=5, skill=0.8, n_positive=12, reference_skill=0.8)
