"""Tournaments drawn at random from skills.

Scores are the skills with standard Gumbel errors, so that each round is one Plackett–Luce ranking
and its pairs follow the Bradley–Terry model exactly.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.types import Seed
from bayes_sota.data.tournaments import ScoreTable


def simulate_tournament(
    skills: ArrayLike,
    n_rounds: int,
    *,
    step: float | None = None,
    missing: float = 0.0,
    players: Sequence[str] = (),
    tournament: str = "simulated",
    random_seed: Seed = None,
) -> ScoreTable:
    r"""Draw the scores of a tournament.

    Parameters
    ----------
    skills : array-like, shape (m,) or (n_rounds, m)
        On the logit scale: differences are log odds of winning a round.
    n_rounds : int
    step : float, optional
        Scores are rounded to multiples of it, which makes ties.
    missing : float
        Share of scores left out at random; every player and round keeps at least one.
    players, tournament
        As in ``ScoreTable``.
    random_seed : int, SeedSequence, Generator or None

    Examples
    --------
    >>> table = simulate_tournament([1.0, 0.0, -1.0], 2000, random_seed=0)
    >>> wins = (table.scores[:, 0] > table.scores[:, 2]).mean()
    >>> abs(float(wins) - 0.881) < 0.02  # 1 / (1 + exp(-2))
    True
    """
    rng = generator_of(random_seed)
    mean = np.broadcast_to(np.asarray(skills, np.float64), (n_rounds, np.shape(skills)[-1]))
    scores = mean + rng.gumbel(size=mean.shape)
    if step is not None:
        scores = np.round(scores / step) * step
    if missing:
        gaps = rng.random(scores.shape) < missing
        rounds, m = scores.shape
        gaps[rng.integers(rounds, size=m), np.arange(m)] = False
        gaps[np.arange(rounds), rng.integers(m, size=rounds)] = False
        scores = np.where(gaps, np.nan, scores)
    return ScoreTable(scores, players=players, tournament=tournament, scheme="model/cv")
