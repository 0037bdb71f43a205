"""What the priors say before the observed maximum is seen: skills, and boards they would make."""

from collections.abc import Sequence

import numpy as np

from bayes_sota.core.priors import Priors, TriesPrior
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.field_draws import best_count
from bayes_sota.maximum.scoring import maximum_scoring

__all__ = ["draw_prior", "draw_tries"]


def draw_prior(
    boards: Sequence[Leaderboard],
    priors: Priors,
    rng: np.random.Generator,
    draws: int,
    reference_skill: float | None = None,
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Draws from the prior and of the maxima that it predicts.

    Parameters
    ----------
    boards : sequence of Leaderboard
        Only their sizes matter, and theta0 where ``reference_skill`` is not given.
    priors : Priors
    rng : Generator
    draws : int
    reference_skill : float, optional

    Returns
    -------
    prior : dict
        ``location``, ``spread``, ``rho`` of shape (D,); ``theta_sota``, ``expected_sota``,
        ``n_classifiers`` of shape (D, B).
    predictive : dict
        ``observed_maximum`` of shape (D, B): best scores of fresh fields on fresh test sets.
    """
    location, spread = priors.skill.draw(rng, draws)
    rho = priors.correlation.quantile(rng.random(draws))
    distribution = priors.skill.distribution(location, spread)
    columns: dict[str, list[FloatArray]] = {
        name: [] for name in ("theta_sota", "expected_sota", "n_classifiers", "observed_maximum")
    }
    for board in boards:
        tries = draw_tries(board, rng, draws)
        test_set = maximum_scoring(board, reference_skill).fresh(rng, rho)
        best, count = best_count(rng, test_set, distribution, tries.astype(np.int64))
        columns["theta_sota"].append(best)
        columns["expected_sota"].append(distribution.expected_maximum(tries))
        columns["n_classifiers"].append(tries)
        columns["observed_maximum"].append(count / test_set.unit)
    stacked = {name: np.stack(values, axis=1) for name, values in columns.items()}
    predictive = {"observed_maximum": stacked.pop("observed_maximum")}
    return {"location": location, "spread": spread, "rho": rho} | stacked, predictive


def draw_tries(board: Leaderboard, rng: np.random.Generator, draws: int) -> FloatArray:
    """Numbers of classifiers, as the exact posterior's nodes represent their prior."""
    if isinstance(board.tries, TriesPrior):
        values, weights = board.tries.nodes()
        return np.asarray(rng.choice(values, p=weights, size=draws))
    return np.full(draws, float(board.tries))
