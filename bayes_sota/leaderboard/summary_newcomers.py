r"""One more classifier: is it truly better than the best, and would a better one be seen?

The newcomer is one more of the field, scored on the same items, and no relative of any other. Given
a draw of the posterior (parameters phi of the field, rho, shift z, theta_sota), a score x has

.. math:: p(\text{better} \mid x, d) = \frac{\int_{\theta > \theta_{sota}} p(x \mid \theta, d)\,
          dP(\theta \mid \phi)}{\int p(x \mid \theta, d)\, dP(\theta \mid \phi)}, \quad
          P(\text{better} \mid x) = \frac{\sum_d p(x \mid d)\, p(\text{better} \mid x, d)}
          {\sum_d p(x \mid d)}

as x also tells of the field. The score has mean :math:`\psi = \theta + \rho\, sd\, z` and variance
:math:`(1-\rho^2) sd^2` (``maximum.score_laws``): the integrals are over psi. A newcomer that is
truly better by a gap reaches the best observed score with probability

.. math:: E\, P(X \ge x_{max} \mid \theta_{sota} + gap, \rho, z)

Sec. 3.4 and Fig. 3 of Møllersen & Holsbø are the case of a known theta_sota and rho = 0.
``tests/leaderboard/test_summary_newcomers.py`` compares with simulated fields.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.core import summary
from bayes_sota.core.arguments import NUMBER, OPEN_SHARE, POSITIVE, SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.priors import SKILL_FAMILIES
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.text import counted, in_prose
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.leaderboard.posterior import BoardPosterior
from bayes_sota.maximum.score_laws import NormalLaw, ScoreLaw, score_law

_BLOCK = 250  # draws at a time
_REACH, _PER_ERROR = 14.0, 20  # of the grid of psi, in standard errors of the new score
_TINY = 1e-300
_LEAST_DRAWS = 50.0
_NEARLY_ONE = 1 - 1e-12

type Cells = Iterator[tuple[IntArray, FloatArray, FloatArray, FloatArray]]
"""Numbers of some draws; grid of psi (C,), its edges (C + 1,), and masses of the field (k, C)."""


def newcomer(
    found: BoardPosterior | xr.DataTree,
    *,
    score: float | None = None,
    gap: float | None = None,
    board: int = 0,
) -> dict[str, Any]:
    """Whether a new classifier is truly better than the best, or whether a better one would show.

    The newcomer is one more of the field, with its skill from P(theta), scored on the same items.
    If you have its answers to the items, add them to the matrix instead.

    Parameters
    ----------
    found : BoardPosterior or DataTree
        From ``board_posterior``; where the best score alone is known, from ``estimate_sota``.
    score : float, optional
        Observed score of the newcomer: how probably is its skill above theta_sota?
    gap : float, optional
        Its skill minus theta_sota: how probably does it reach the best score?
    board : int
        Which board's theta_sota, where there are several best scores.

    Returns
    -------
    dict
        ``score``, or ``gap`` and ``best_score``; ``probability``, ``mcse``, and for a score
        ``effective_draws``, how many draws the answer rests on.

    Raises
    ------
    InputError
        Not one of score and gap; a number that cannot be.

    Examples
    --------
    >>> from bayes_sota.leaderboard.sample_estimate import estimate_sota
    >>> tree = estimate_sota(BestScore("0.98", n_test=200, n_classifiers=50), random_seed=0)
    >>> newcomer(tree, score=0.985)["probability"] < newcomer(tree, score=0.995)["probability"]
    True
    """
    if (score is None) == (gap is None):
        raise InputError("give either the score of the newcomer, or by what gap it is better")
    one = of_board(found) if isinstance(found, BoardPosterior) else of_maximum(found, board)
    return one.shown(gap) if gap is not None else one.truly_better(score)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Newcomer:
    """One more classifier of the field of a result; larger is better.

    Attributes
    ----------
    law : ScoreLaw
    best : ndarray, shape (chain, draw)
        Draws of theta_sota.
    moved, own : ndarray, shape (chain, draw)
        Shift of its score in standard errors, and its own variance in units of the law's.
    maximum : float
        Best observed score.
    cells : callable
        Prior of its psi, given its score.
    error : callable
        Error of the result, as in ``weighted_chance``.
    sign : int
        -1 where lower scores are better.
    luck : float
        Luck of the typical entry's score, as anchors show it.
    """

    law: ScoreLaw
    best: FloatArray
    moved: FloatArray
    own: FloatArray
    maximum: float
    cells: Callable[[float], Cells]
    error: summary.ErrorOfMean
    sign: int = 1
    luck: float = 0.0

    @one_thread()
    def truly_better(self, score: float) -> dict[str, Any]:
        """As in ``newcomer``."""
        (NUMBER if isinstance(self.law, NormalLaw) else SHARE).check(score, "new_score")
        value = np.array([self._value(self.sign * score - self.luck)])
        best = self.law.add_shift(self.best, self.moved).ravel()
        chances, log_weights = np.empty((2, best.size))
        for rows, y, edges, mass in self.cells(self.sign * score):
            own = self.own.ravel()[rows, None]
            log_seen = self.law.log_kernel(self.law.prepared(value, y), own)
            log_seen += self.law.log_mass(np.repeat(value, rows.size), own[:, 0])[:, None]
            largest = log_seen.max(axis=1, keepdims=True)
            below = np.pad(np.cumsum(mass * np.exp(log_seen - largest), axis=1), ((0, 0), (1, 0)))
            total = np.maximum(below[:, -1:], _TINY)
            pairs = zip(best[rows], below / total, strict=True)
            chances[rows] = [1 - min(np.interp(at, edges, row), 1) for at, row in pairs]
            log_weights[rows] = (largest + np.log(total))[:, 0]
        given, log_weights = (x.reshape(self.best.shape) for x in (chances, log_weights))
        return {"score": float(score)} | summary.weighted_chance(given, self.error, log_weights)

    def shown(self, gap: float) -> dict[str, Any]:
        """As in ``newcomer``."""
        limits, ends = (POSITIVE, (-np.inf, np.inf))
        if not isinstance(self.law, NormalLaw):
            limits, ends = (OPEN_SHARE, (0.0, _NEARLY_ONE))
        limits.check(gap, "gap")
        psi = np.clip(self.law.add_shift(np.minimum(self.best + gap, ends[1]), self.moved), *ends)
        chances = np.asarray(self.law.reach(psi, self._value(self.maximum - self.luck), self.own))
        answer = summary.weighted_chance(chances, self.error)
        return {"gap": float(gap), "best_score": self.sign * self.maximum, **answer}

    def _value(self, score: float) -> float:
        """A score in the unit of the law: the nearest count, or itself."""
        return float(np.round(score * self.law.unit)) if self.law.spacing else float(score)


def of_board(found: BoardPosterior) -> Newcomer:
    """One more of a board, or of answers."""
    evidence = found.skills.fit.evidence
    best, rho, shift = (found.draws[name][None] for name in ("theta_sota", "rho", "shift"))
    ratio, board = evidence.error_ratio, evidence.board
    error = partial(summary.error_of_mean, points=found.skills.parameters.behind)
    luck = float(np.mean((evidence.scores - evidence.seen)[evidence.entries]))
    moved, own = rho * shift * ratio, (1 - rho**2) * ratio**2
    cells = partial(_on_grid, found)
    return Newcomer(evidence.law, best, moved, own, board.maximum, cells, error, board.sign, luck)


def _on_grid(found: BoardPosterior, _score: float) -> Cells:
    """Cells of the grid of a fit."""
    fit, evidence = found.skills.fit, found.skills.fit.evidence
    ends = np.append(evidence.y - evidence.step / 2, evidence.y[-1] + evidence.step / 2)
    reach = fit.tables[fit.rho.size // 2].typical * evidence.step
    for _, f, rows in found.skills.parameters.cells(fit, _BLOCK):
        density = fit.density(fit.families[f], found.skills.parameters.points(fit, rows))
        if evidence.is_cut:
            density = density / np.maximum(density @ reach, _TINY)[:, None]
        yield rows, evidence.y, evidence.law.skill_at(ends), density


def of_maximum(tree: xr.DataTree, board: int = 0) -> Newcomer:
    """One more beside a best score, from a result of ``estimate_sota`` by any method."""
    if str(tree.attrs.get("skill_family", "")) not in SKILL_FAMILIES:
        raise InputError("newcomer to a whole board takes what board_posterior gives")
    best = summary.draws_of(tree, "theta_sota", board)
    constants = tree["constant_data"].to_dataset().isel(board=board, missing_dims="ignore")
    maximum = float(summary.observed_maximum_of(tree).values.ravel()[board])
    names = {"auc": ("n_test", "n_positive", "spread_ratio"), "score": ("standard_error",)}
    given = names.get(metric := tree.attrs["metric"], ("n_test",))
    facts: Any = {"metric": metric} | {name: constants[name].item() for name in given}
    law = score_law(BestScore(repr(maximum), n_classifiers=1, **facts))
    rho, shift = summary.draws_of(tree, "rho"), summary.draws_of(tree, "shift", board)
    moved, own = rho * shift, np.broadcast_to(1 - rho**2, best.shape)
    cells = partial(_around, tree, law, moved.ravel())
    return Newcomer(law, best, moved, own, maximum, cells, summary.mcse_of(tree))


def _around(tree: xr.DataTree, law: ScoreLaw, moved: FloatArray, score: float) -> Cells:
    """Cells that are equally wide in log odds, around the score."""
    SHARE.check(score, "new_score")
    location, spread = (summary.draws_of(tree, name).ravel() for name in ("location", "spread"))
    distribution = SKILL_FAMILIES[tree.attrs["skill_family"]]().distribution(location, spread)
    n = law.n_test or 5000
    middle = (score * n + 0.5) / (n + 1)
    error = float(law.errors_at(np.array([middle]))[0]) / (middle * (1 - middle))
    reach = np.linspace(-_REACH, _REACH, int(2 * _REACH * _PER_ERROR) + 1)
    u = float(logit(middle)) + min(error, 1.0) * reach
    edges, psi = expit(u), expit((u[1:] + u[:-1]) / 2)
    y = psi if isinstance(law, NormalLaw) else logit(np.clip(psi, 1e-12, _NEARLY_ONE))
    for rows in np.array_split(np.arange(location.size), -(-location.size // _BLOCK)):
        skill = np.clip(law.remove_shift(edges, moved[rows, None]), _TINY, _NEARLY_ONE)
        of_rows = distribution.take(rows).expanded()
        yield rows, y, edges, -np.diff(of_rows.sf(of_rows.from_skill(skill)), axis=1)


def sentence_of(answer: dict[str, Any], where: str = "") -> str:
    """Answer to the score of a newcomer in words; ``where`` names one of several boards."""
    return (
        f"A new classifier of this field with a score of {answer['score']:g} on the same items is "
        f"truly better than the best{where} with probability {in_prose(answer['probability'])}."
    )


def reasons_of_answer(answer: dict[str, Any]) -> list[str]:
    """Reason not to trust the answer."""
    few = counted(round(answer["effective_draws"]), "draw supports", "draws support")
    reason = f"the new score is so unlike the field that only {few} it, below {_LEAST_DRAWS:.0f}"
    return [reason] * (answer["effective_draws"] < _LEAST_DRAWS)
