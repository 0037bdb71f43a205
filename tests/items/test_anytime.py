"""Evidence at any look: closed form, errors of equal pairs, margins, clusters."""

import numpy as np
import pytest
from scipy.special import betainc, betaln

from bayes_sota.core.errors import InputError
from bayes_sota.items.anytime import anytime_evidence


@pytest.mark.parametrize(("b", "c"), [(3, 0), (40, 25), (7, 30), (200, 150)])
def test_answers_have_the_half_of_the_beta_mixture(b: int, c: int) -> None:
    rng = np.random.default_rng(b)
    d = rng.permutation([1] * b + [-1] * c + [0] * 50)
    whole = betaln(b + 0.5, c + 0.5) - betaln(0.5, 0.5) + (b + c) * np.log(2)
    half = 2 * np.exp(whole) * (1 - betainc(b + 0.5, c + 0.5, 0.5))
    found = anytime_evidence(d)
    # The rule of midpoints has the error h^2 / 24 times the change of the slope.
    error = (b - c) * (np.pi / 400) ** 2 / 24 * 2 / np.pi
    assert found.better[-1] - half == pytest.approx(error, rel=0.01)
    assert found.worse[-1] - (2 * np.exp(whole) - half) == pytest.approx(-error, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["answers", "shares", "margin", "clusters"])
def test_errors_at_any_look_stay_below_alpha(kind: str) -> None:
    """1,000 trajectories of 300 items at the edge of what is excluded."""
    rng = np.random.default_rng(0)
    alpha, margin, wrong, clusters = 0.1, 0.0, 0, None
    for _ in range(1000):
        if kind == "answers":
            d = rng.choice([-1, 0, 1], 300, p=[0.1, 0.8, 0.1])
        elif kind == "shares":
            d = rng.beta(2, 2, 300) - rng.beta(0.5, 0.5, 300)
        elif kind == "margin":
            margin = 0.1
            d = rng.choice([-1, 0, 1], 300, p=[0.2, 0.7, 0.1])
        else:
            clusters = np.repeat(np.arange(60), 5)
            d = np.repeat(rng.choice([-1, 1], 60), 5)
        found = anytime_evidence(d, margin, clusters)
        wrong += found.first(found.not_worse, alpha) is not None
    assert wrong / 1000 <= alpha + 3 * (alpha * (1 - alpha) / 1000) ** 0.5
    assert wrong > 0


def test_a_cluster_counts_when_it_is_whole_and_as_one() -> None:
    d = np.array([1, 1, 1, 1, -1, 1])
    found = anytime_evidence(d, clusters=np.array([0, 1, 0, 1, 2, 2]))
    assert found.items.tolist() == [2, 4, 6]
    np.testing.assert_allclose(found.better, anytime_evidence([1, 1, 0]).better)


def test_a_margin_is_easier_than_none() -> None:
    d = np.random.default_rng(0).choice([-1, 0, 1], 500, p=[0.1, 0.8, 0.1])
    found = anytime_evidence(d, 0.1)
    assert found.not_worse[-1] > 20 > found.better[-1]
    assert anytime_evidence(d).not_worse[-1] == pytest.approx(found.better[-1])


@pytest.mark.parametrize(("d", "margin"), [([2.0], 0), ([np.nan], 0), ([0.0], -0.1), ([0.0], 1)])
def test_refusals(d: list[float], margin: float) -> None:
    with pytest.raises(InputError):
        anytime_evidence(d, margin)
