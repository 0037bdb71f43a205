"""Parameters of the priors mean what their docstrings say."""

import numpy as np
import pytest
from data.files import refused
from scipy import stats

from bayes_sota.core.priors import (
    BetaCorrelation,
    BetaSkill,
    BoardPriors,
    FixedCorrelation,
    LogitNormalSkill,
    MaximumPriors,
    Priors,
    UniformTries,
    board_priors,
    maximum_priors,
)
from bayes_sota.core.skills import expit


def test_typical_and_spread_are_central_95_percent_intervals():
    prior = LogitNormalSkill(typical=(0.8, 0.95), spread=(0.1, 0.4))
    location, spread = prior.draw(np.random.default_rng(0), 200_000)
    np.testing.assert_allclose(np.quantile(expit(location), [0.025, 0.975]), [0.8, 0.95], atol=2e-3)
    np.testing.assert_allclose(np.quantile(spread, [0.025, 0.975]), [0.1, 0.4], rtol=0.02)


NAN = float("nan")
TYPICAL = "typical must be an accuracy in"
SPREAD = "spread must be a standard deviation of log odds"
IMPOSSIBLE = [
    (LogitNormalSkill, ((0.9, 0.8),), "typical must be an increasing pair"),
    (LogitNormalSkill, ((0.8, 0.9, 0.95),), TYPICAL),
    (LogitNormalSkill, (90.0,), TYPICAL),
    (LogitNormalSkill, ((0.0, 0.9),), TYPICAL),
    (LogitNormalSkill, (NAN,), TYPICAL),
    (LogitNormalSkill, (0.9, -0.1), SPREAD),
    (LogitNormalSkill, (0.9, (0.1, 9.0)), SPREAD),
    *((FixedCorrelation, (x,), r"correlation must lie in \[0, 1\)") for x in (-0.1, 1.0, NAN)),
    *(
        (BetaCorrelation, x, "must be a number above 0")
        for x in ((0.0, 1.0), (1.0, np.inf), (-1.0, 1.0))
    ),
    *((UniformTries, x, f"got {x[0]}:{x[1]}") for x in ((0, 5), (5, 5), (6, 5))),
    (maximum_priors, (Priors(families=("normal",)),), "families has no effect on MaximumPriors"),
    (maximum_priors, (BoardPriors(),), "must be Priors or .*, got BoardPriors"),
    (board_priors, (MaximumPriors(),), "must be Priors or .*, got MaximumPriors"),
    (board_priors, (Priors(BetaSkill()),), "LogitNormalSkill.*not BetaSkill"),
    (board_priors, (Priors(LogitNormalSkill(spread=0.2)),), "must be a pair, got 0.2"),
]


@pytest.mark.parametrize(("make", "given", "message"), IMPOSSIBLE)
def test_impossible_parameters_are_refused(make, given, message):
    refused(message, make, *given)


def test_quantiles_of_correlations_and_tries():
    q = np.array([0.025, 0.5, 0.975])
    found = BetaCorrelation().quantile(q)  # the docstring has its interval and mean
    np.testing.assert_allclose(found, stats.beta(5.7, 2.6).ppf(q), rtol=1e-10)
    np.testing.assert_allclose(found[[0, 2]].round(2), [0.36, 0.93])
    assert round(stats.beta(5.7, 2.6).mean(), 2) == 0.69
    np.testing.assert_allclose(UniformTries(10, 1000).quantile([0, 0.5, 1]), [10, 100, 1000])


def test_one_kind_of_priors_serves_a_maximum_and_a_board():
    skill = LogitNormalSkill(typical=(0.5, 0.9), spread=(0.1, 1.0))
    given = Priors(skill, FixedCorrelation(0.7))
    assert maximum_priors(given) == MaximumPriors(skill, FixedCorrelation(0.7))
    board = BoardPriors((0.5, 0.9), (0.1, 1.0), FixedCorrelation(0.7))
    assert board_priors(given) == board_priors(board) == board
    assert maximum_priors(None) == MaximumPriors(LogitNormalSkill(), BetaCorrelation())
    assert board_priors(Priors(families=("normal",))).families == ("normal",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"correlation": 0.8}, r"FixedCorrelation\(0.8\), .* got 0.8"),
        ({"families": "normal"}, r"families is a tuple, such as \('normal',\)"),
    ],
)
def test_numbers_and_names_are_no_priors(given, message) -> None:
    refused(message, Priors, **given)
