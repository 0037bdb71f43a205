r"""Tournaments drawn at random: players of given skills, rounds, scores that share their round.

Scores are :math:`\beta_i + e_{ir}`; with standard Gumbel e each round is one Plackett–Luce ranking,
whose pairs follow the Bradley–Terry model exactly. ``tests/epp/test_simulate.py`` compares
with its win probabilities.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.score_table import ScoreTable

ScoreLaw = Literal["gumbel", "normal", "student", "reversed-gumbel"]
_LOGISTIC_SD = np.pi / np.sqrt(3)  # of a difference of two Gumbel scores


def simulate_tournament(
    skills: ArrayLike,
    n_rounds: int,
    *,
    law: ScoreLaw = "gumbel",
    overlap: float = 0.0,
    step: float | None = None,
    missing: float = 0.0,
    players: Sequence[str] | None = None,
    tournament: str = "simulated",
    random_seed: Seed = None,
) -> ScoreTable:
    r"""Draw the scores of a tournament.

    Parameters
    ----------
    skills : array-like, shape (m,) or (n_rounds, m)
        On the logit scale: differences are log odds of winning a round.
    n_rounds : int
    law : {"gumbel", "normal", "student", "reversed-gumbel"}
        Of the scores about the skills; the others have the spread of a Gumbel law (Student: 4
        degrees of freedom).
    overlap : float
        Correlation of a player's deviations in different rounds, as overlapping training sets make.
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
    if law not in get_args(ScoreLaw):
        raise InputError(f"law must be one of {', '.join(get_args(ScoreLaw))}, got {law!r}")
    if not (0 <= overlap < 1 and 0 <= missing < 1):
        raise InputError(f"overlap and missing are shares below 1, got {overlap!r}, {missing!r}")
    rng = generator_of(random_seed)
    mean = np.broadcast_to(np.asarray(skills, np.float64), (n_rounds, np.shape(skills)[-1]))
    own = _deviations(rng, law, mean.shape)
    if overlap:
        shared = _deviations(rng, law, mean.shape[1:])
        own = np.sqrt(1 - overlap) * own + np.sqrt(overlap) * shared
    scores = mean + own
    if step is not None:
        scores = np.round(scores / step) * step
    if missing:
        scores = _with_gaps(rng, scores, missing)
    return ScoreTable(scores, players=players, tournament=tournament, scheme="model/cv")


def _deviations(rng: np.random.Generator, law: ScoreLaw, shape: tuple[int, ...]) -> FloatArray:
    if law == "gumbel":
        return rng.gumbel(size=shape)
    if law == "reversed-gumbel":
        return -rng.gumbel(size=shape)
    if law == "normal":
        return np.asarray(rng.standard_normal(shape) * _LOGISTIC_SD / np.sqrt(2))
    return np.asarray(rng.standard_t(4, shape) * _LOGISTIC_SD / 2)


def _with_gaps(rng: np.random.Generator, scores: FloatArray, missing: float) -> FloatArray:
    gaps = rng.random(scores.shape) < missing
    rounds, players = scores.shape
    gaps[rng.integers(rounds, size=players), np.arange(players)] = False
    gaps[np.arange(rounds), rng.integers(players, size=rounds)] = False
    return np.where(gaps, np.nan, scores)
