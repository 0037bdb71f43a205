"""How estimates of theta_sota fare on boards of real classifiers, whose truth is known.

Boards are drawn from the answers of real classifiers, classifiers as well as items: a random subset
of the classifiers (from all, from the stronger half, or without the strongest third), and items
with replacement as the leaderboard. The truth is the accuracy over all items. Intervals and means
are judged against the raw maximum with Wilson's interval on the same boards.

Studies that import this run with ``tests`` on the path: ``PYTHONPATH=tests python ...``.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayes_sota.core.arguments import COUNT
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import run_each
from bayes_sota.core.priors import BoardPriors, Priors, board_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.maximum.score_laws import AccuracyLaw

Route = Literal["scores", "responses"]
FIELDS = ("all", "strong", "weak")
_SMALLEST = 8


def coverage(
    responses: Outcomes,
    *,
    n_test: int | Sequence[int] = (200, 500, 1000, 2000, 5000),
    boards: int = 60,
    route: Route = "scores",
    priors: Priors | BoardPriors | None = None,
    draws: int = 2000,
    random_seed: int = 0,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Coverage of 95 % intervals and error of means, on boards drawn from a response matrix.

    Parameters
    ----------
    responses : Outcomes
        Answers to many items: the accuracy over all of them is taken for the skill.
    n_test : int or sequence of int
        Items of the boards.
    boards : int
        Boards for each number of items.
    route : {"scores", "responses"}
        Whether the posterior sees the scores of a board or all answers.
    priors : Priors, optional
    draws : int
        Posterior draws per board.
    random_seed : int
        Every board has its own generator, whatever ``n_jobs``.
    n_jobs : int
        Processes.

    Returns
    -------
    pandas.DataFrame
        One row for each number of items and estimand (theta_sota, winner_skill): ``boards``,
        ``coverage``, ``bias``, ``rmse_ratio``, ``score_ratio`` (interval score, Gneiting & Raftery
        2007, doi 10.1198/016214506000001437, Eq. 43), ``score_difference`` and its standard error,
        ``width_ratio``. Ratios and differences are to the raw maximum, which has ``raw_coverage``
        and ``raw_bias``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = Outcomes(rng.random((2000, 12)) < np.linspace(0.7, 0.8, 12))
    >>> frame = coverage(answers, n_test=100, boards=3, draws=100)
    >>> frame["boards"].tolist(), list(frame.index.names)
    ([3, 3], ['n_test', 'estimand'])
    """
    if route not in ("scores", "responses"):
        raise InputError(f"unknown route {route!r}; allowed: scores, responses")
    COUNT.check(boards, "boards")
    sizes = (n_test,) if isinstance(n_test, int) else tuple(n_test)
    priors = board_priors(priors)

    def judged(place: tuple[int, int]) -> list[dict[str, Any]]:
        size, index = place
        rng = np.random.default_rng([random_seed, size, index])
        drawn, skills, field = draw_real_board(responses, size, index, rng)
        facts = {"n_test": size, "field": field}
        data = drawn if route == "responses" else drawn.leaderboard()
        return [row | facts for row in judge_board(data, skills, priors, draws, rng)]

    places = [(size, index) for size in sizes for index in range(boards)]
    of_places = dict(run_each(judged, places, cores=n_jobs))
    rows = [row for place in range(len(places)) for row in of_places[place]]
    return summarize_judgements(rows, ("n_test",))


def draw_real_board(
    responses: Outcomes, n_test: int, index: int, rng: np.random.Generator
) -> tuple[Outcomes, FloatArray, str]:
    """Random classifiers and items of a matrix: answers, skills, and which classifiers."""
    order = np.argsort(-responses.scores)
    field, total = FIELDS[index % len(FIELDS)], order.size
    strong, weak = order[: max(_SMALLEST, total // 2)], order[total // 3 :]
    pool = {"all": order, "strong": strong, "weak": weak}[field]
    m = int(rng.integers(min(_SMALLEST, pool.size), pool.size + 1))
    chosen = rng.choice(pool, m, replace=False)
    items = rng.integers(0, responses.n_items, n_test)
    drawn = Outcomes(responses.correct[np.ix_(items, chosen)], name=responses.name)
    return drawn, responses.scores[chosen], field


def judge_board(
    data: Leaderboard | Outcomes,
    skills: FloatArray,
    priors: BoardPriors,
    draws: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """The truth, and what the posterior and the raw maximum say, one row per estimand."""
    board = data if isinstance(data, Leaderboard) else data.leaderboard()
    drawn = board_posterior(data, priors, draws=draws, random_seed=rng).draws
    winner = float(skills[board.scores == board.maximum].mean())
    low, high = wilson_interval(board.maximum, board.n_test)
    raw = {"raw": board.maximum, "raw_lower": low, "raw_upper": high}
    rows = []
    for name, truth in (("theta_sota", float(skills.max())), ("winner_skill", winner)):
        lower, upper = np.quantile(drawn[name], [0.025, 0.975])
        ours = {"mean": drawn[name].mean(), "lower": lower, "upper": upper}
        rows.append({"estimand": name, "truth": truth, **ours, **raw})
    return rows


def wilson_interval(score: float, n_test: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson's interval of a single accuracy."""
    low, high = AccuracyLaw(score, n_test).remove_shift(np.array(score), np.array([z, -z]))
    return float(low), float(high)


def interval_score(lower: Any, upper: Any, truth: Any, alpha: float = 0.05) -> Any:
    """Width plus ``2 / alpha`` times the distance by which the interval misses."""
    miss = np.maximum(lower - truth, 0.0) + np.maximum(truth - upper, 0.0)
    return upper - lower + 2 / alpha * miss


def summarize_judgements(judged: Sequence[dict[str, Any]], by: Sequence[str]) -> pd.DataFrame:
    """Coverage, error and interval score of each cell, as of ``coverage``."""
    rows = pd.DataFrame(list(judged))
    cells = rows[[*by, "estimand"]].copy()
    for prefix, mean in (("", "mean"), ("raw_", "raw")):
        lower, upper = rows[f"{prefix}lower"], rows[f"{prefix}upper"]
        cells[f"{prefix}coverage"] = rows["truth"].between(lower, upper).astype(float)
        cells[f"{prefix}bias"] = rows[mean] - rows["truth"]
        cells[f"{prefix}square"] = cells[f"{prefix}bias"] ** 2
        cells[f"{prefix}score"] = interval_score(lower, upper, rows["truth"])
        cells[f"{prefix}width"] = upper - lower
    cells["score_difference"] = cells["score"] - cells["raw_score"]
    groups = cells.groupby([*by, "estimand"])
    means = groups.mean()
    kept = ["coverage", "raw_coverage", "bias", "raw_bias", "score_difference"]
    return means[kept].assign(
        boards=groups.size(),
        score_difference_se=groups["score_difference"].sem(),
        rmse_ratio=(means["square"] / means["raw_square"]) ** 0.5,
        score_ratio=means["score"] / means["raw_score"],
        width_ratio=means["width"] / means["raw_width"],
    )
