r"""One more classifier: is it truly better than the best, and would a better one be seen?

The newcomer is one more of the field, and no relative of any other. On the *same* test set its
score shares the shift of all others, on a fresh one it does not. Given a draw of the posterior
(parameters phi of the field, rho, shift z, theta_sota), a score x has

.. math:: p(\text{better} \mid x, d) = \frac{\int_{\theta > \theta_{sota}} p(x \mid \theta, d)\,
          dP(\theta \mid \phi)}{\int p(x \mid \theta, d)\, dP(\theta \mid \phi)}, \quad
          P(\text{better} \mid x) = \frac{\sum_d p(x \mid d)\, p(\text{better} \mid x, d)}
          {\sum_d p(x \mid d)}

where the denominator :math:`p(x \mid d)` weighs the draws, because x also tells of the field. On
the same items the score has mean :math:`\psi = \theta + \rho\, sd\, z` and variance
:math:`(1-\rho^2) sd^2` (``maximum.score_laws``). A newcomer that is truly better by a gap reaches
the best observed score with probability

.. math:: E\, P(X \ge x_{max} \mid \theta_{sota} + gap, \rho, z)

Sec. 3.4 and Fig. 3 of Møllersen & Holsbø are the case of a known theta_sota and rho = 0.
``tests/leaderboard/test_summary_newcomers.py`` compares with simulated fields.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import COUNT, NUMBER, OPEN_SHARE, POSITIVE, SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.priors import SKILL_FAMILIES
from bayes_sota.core.skills import logit
from bayes_sota.core.summary import draws_of, observed_maximum_of, points_behind
from bayes_sota.core.summary_chances import checked_board, share_above, weighted_chance
from bayes_sota.core.text import chance, counted
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.printed_scores import EXACT_DECIMALS, digits_of
from bayes_sota.leaderboard.posterior import BoardPosterior
from bayes_sota.maximum.score_laws import AccuracyLaw, AucScoreLaw, NormalLaw, ScoreLaw, score_law

if TYPE_CHECKING:
    import xarray as xr

_BLOCK = 250  # draws at a time
_REACH, _PER_ERROR = 14.0, 20  # of the grid of skills, in standard errors of the new score
_TINY = 1e-300
_LEAST_DRAWS = 50.0
_NEARLY_ONE = 1 - 1e-12

type Cells = Iterator[tuple[IntArray, FloatArray, FloatArray, FloatArray]]
"""Numbers of some draws; skills of cells (C,) and of their edges, and masses (k, C)."""


def newcomer(
    found: "BoardPosterior | xr.DataTree",
    *,
    score: float | None = None,
    gap: float | None = None,
    new_n_test: int | None = None,
    board: int = 0,
) -> dict[str, Any]:
    r"""Whether a new classifier is truly better than the best, or whether a better one would show.

    The newcomer is one more of the field, with its skill from P(theta); the formulas are those of
    the module. Where you have its answers to the items, add them to the matrix instead.

    Parameters
    ----------
    found : BoardPosterior or DataTree
        Of ``board_posterior``, for a board or answers; where the best score alone is known, the
        result of ``estimate_sota``.
    score : float, optional
        Observed score of the newcomer, in the units of the board: how probably is its skill above
        theta_sota?
    gap : float, optional
        By how much its skill is better than theta_sota: how probably does it reach the best score?
    new_n_test : int, optional
        Number of *other* items that it is scored on. Default: the same items as all others, so
        that it shares their luck.
    board : int
        Which board's theta_sota, where there are several best scores.

    Returns
    -------
    dict
        ``score`` or ``gap`` with the ``best_score`` that is to be reached, ``new_n_test``,
        ``probability``, ``mcse``, and of a score ``effective_draws``, how many draws the answer
        rests on.

    Raises
    ------
    InputError
        Not one of score and gap; a number that cannot be.

    Examples
    --------
    >>> from bayes_sota.data.leaderboard import BestScore
    >>> from bayes_sota.leaderboard.sample_estimate import estimate_sota
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> tree = estimate_sota(board, random_seed=0)
    >>> same, other = (newcomer(tree, score=0.985, new_n_test=n) for n in (None, 5000))
    >>> same["probability"] < other["probability"]
    True
    >>> newcomer(tree, gap=0.005)["probability"] < 0.6
    True
    """
    one = _newcomer(found, board)
    if score is not None and gap is None:
        return one.truly_better(score, new_n_test)
    if gap is None or score is not None:
        raise InputError("give either the score of the newcomer, or by what gap it is better")
    return one.shown(gap, new_n_test)


@dataclass(frozen=True, eq=False)
class Newcomer:
    """One more classifier of the field of a result; larger is better.

    Attributes
    ----------
    law : ScoreLaw
        Of a score on the items of the board.
    best : ndarray, shape (chain, draw)
        Draws of theta_sota.
    rho, shift : ndarray
        Of the correlation and of the standardised shift, as many.
    maximum : float
        Best observed score.
    cells : callable
        Where its skill comes from, given a score and the number of other items.
    on_these_items : bool
        Whether cells are of board-conditional skill.
    known : dict
        Of the result: ``attributes`` and ``points`` as of ``weighted_chance``.
    sign : int
        -1 where lower scores are better.
    error_ratio : float
        Standard error of a score over that of the law.
    """

    law: ScoreLaw
    best: FloatArray
    rho: FloatArray
    shift: FloatArray
    maximum: float
    cells: Callable[[float, int | None], Cells]
    on_these_items: bool
    known: dict[str, Any]
    sign: int = 1
    error_ratio: float = 1.0

    @one_thread()
    def truly_better(self, score: float, new_n_test: int | None = None) -> dict[str, Any]:
        """As of ``newcomer``."""
        (NUMBER if isinstance(self.law, NormalLaw) else SHARE).check(score, "new_score")
        law, same = self._law_on(new_n_test), new_n_test is None
        value = np.array([_value(law, self.sign * score)])
        chances, log_weights = np.empty((2, self.best.size))
        for rows, skill, edges, mass in self.cells(self.sign * score, new_n_test):
            rho, seen, best = self.rho.ravel()[rows], skill[None], self.best.ravel()[rows]
            moved = rho * self.shift.ravel()[rows] * self.error_ratio
            if self.on_these_items:
                best = self.law.add_shift(best, moved)
            if same != self.on_these_items:
                seen = (self.law.add_shift if same else self.law.remove_shift)(seen, moved[:, None])
            own = (1 - same * rho[:, None] ** 2) * self.error_ratio**2
            log_seen = _log_likelihood(law, value, seen, own)
            largest = log_seen.max(axis=1, keepdims=True)
            below = np.cumsum(mass * np.exp(log_seen - largest), axis=1)
            total = np.maximum(below[:, -1], _TINY)
            below = np.pad(below, ((0, 0), (1, 0))) / total[:, None]
            pairs = zip(best, below, strict=True)
            chances[rows] = [1 - np.interp(at, edges, row) for at, row in pairs]
            log_weights[rows] = largest[:, 0] + np.log(total)
        chances, log_weights = (x.reshape(self.best.shape) for x in (chances, log_weights))
        answer = weighted_chance(np.clip(chances, 0, 1), log_weights=log_weights, **self.known)
        return {"score": float(score), "new_n_test": new_n_test, **answer}

    def shown(self, gap: float, new_n_test: int | None = None) -> dict[str, Any]:
        """As of ``newcomer``."""
        (POSITIVE if isinstance(self.law, NormalLaw) else OPEN_SHARE).check(gap, "gap")
        law, same = self._law_on(new_n_test), new_n_test is None
        ends = (-np.inf, np.inf) if isinstance(self.law, NormalLaw) else (0.0, _NEARLY_ONE)
        skill, cut = np.minimum(self.best + gap, ends[1]), _value(law, self.maximum)
        if same:
            skill = self.law.add_shift(skill, self.rho * self.shift * self.error_ratio)
        elif law.spacing:  # the smallest count that is at least the best score
            cut = float(np.ceil(self.maximum * law.unit - 1e-6))
        own = (1 - same * self.rho**2) * self.error_ratio**2
        chances = np.asarray(law.reach(np.clip(skill, *ends), cut, own))
        best = self.sign * self.maximum
        answer = weighted_chance(chances, **self.known)
        return {"gap": float(gap), "new_n_test": new_n_test, "best_score": best, **answer}

    def _law_on(self, new_n_test: int | None) -> ScoreLaw:
        """Law of a score on the same items, or on others."""
        if new_n_test is None:
            return self.law
        return self.law.on(COUNT.check(new_n_test, "new_n_test"))


def _newcomer(found: "BoardPosterior | xr.DataTree", board: int) -> Newcomer:
    return of_board(found) if isinstance(found, BoardPosterior) else of_maximum(found, board)


def of_board(found: BoardPosterior) -> Newcomer:
    """One more of a board, or of answers."""
    evidence = found.fit.evidence
    best, rho, shift = (found.draws[name][None] for name in ("theta_sota", "rho", "shift"))
    known = {"attributes": {"draws_are_independent": 1}, "points": found.parameters.behind}
    law, cells = score_law(evidence.board), partial(_cells_of_board, found)
    one = Newcomer(law, best, rho, shift, evidence.board.maximum, cells, True, known)
    return replace(one, sign=evidence.board.sign, error_ratio=evidence.error_ratio)


def _cells_of_board(found: BoardPosterior, *_asked: Any) -> Cells:
    """Cells of the grid of a fit, which ends where the score of no newcomer of this field lies."""
    fit, evidence = found.fit, found.fit.evidence
    middle = (evidence.psi[1:] + evidence.psi[:-1]) / 2
    first, last = 2 * evidence.psi[:1] - middle[:1], 2 * evidence.psi[-1:] - middle[-1:]
    edges = np.concatenate([first, middle, last])
    reach = fit.tables[fit.rho.size // 2].typical * evidence.step
    for _, f, rows in found.parameters.cells(fit, _BLOCK):
        density = fit.density(fit.families[f], found.parameters.points(fit, rows))
        if evidence.is_cut:
            density = density / np.maximum(density @ reach, _TINY)[:, None]
        yield rows, evidence.psi, edges, density


def of_maximum(tree: "xr.DataTree", board: int = 0) -> Newcomer:
    """One more beside a best score, of a result of ``estimate_sota`` by any route."""
    best = draws_of(tree, "theta_sota", checked_board(tree, board))
    constants = tree["constant_data"].to_dataset().isel(board=board, missing_dims="ignore")
    if str(tree.attrs.get("skill_family", "")) not in SKILL_FAMILIES:
        raise InputError(
            "a newcomer of a whole board, or of answers, is asked of bs.leaderboard.board_posterior"
        )
    maximum = float(observed_maximum_of(tree).values.ravel()[board])
    law = _law_of(maximum, str(tree.attrs["metric"]), constants)
    rho, shift = np.broadcast_to(draws_of(tree, "rho"), best.shape), draws_of(tree, "shift", board)
    cells = partial(_cells_of_maximum, tree, law)
    known = {"attributes": tree.attrs, "points": points_behind(tree)}
    return Newcomer(law, best, rho, shift, maximum, cells, False, known)


def _cells_of_maximum(
    tree: "xr.DataTree", law: ScoreLaw, score: float, new_n_test: int | None
) -> Cells:
    """Cells that are equally wide in log odds, around the score."""
    if not 0 <= score <= 1:
        raise InputError(
            f"{{name}} must be {SHARE}, where a maximum is, got {score:g}", parameter="new_score"
        )
    location, spread = (draws_of(tree, name).ravel() for name in ("location", "spread"))
    family = SKILL_FAMILIES[tree.attrs["skill_family"]]()
    distribution = family.distribution(location, spread)
    law = law if new_n_test is None else law.on(new_n_test)
    middle = np.clip(score, 1e-4, 1 - 1e-4)
    if law.n_test:
        middle = (score * law.n_test + 0.5) / (law.n_test + 1)
    error = float(law.errors_at(np.array([middle]))[0]) / (middle * (1 - middle))
    reach = np.linspace(-_REACH, _REACH, int(2 * _REACH * _PER_ERROR) + 1)
    u = float(logit(middle)) + min(error, 1.0) * reach
    edges, skill = (1 / (1 + np.exp(-x)) for x in (u, (u[1:] + u[:-1]) / 2))
    coordinate = distribution.from_skill(edges)
    for start in range(0, location.size, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, location.size))
        above = distribution.take(rows).expanded().sf(coordinate)
        yield rows, skill, edges, -np.diff(above, axis=1)


def answers_of(
    found: "BoardPosterior | xr.DataTree",
    above: float | None,
    new_score: float | None,
    new_n_test: int | None = None,
    board: int = 0,
) -> dict[str, Any]:
    """What was asked of the best skill and of a newcomer, with the keys that ``--json`` prints."""
    content = dict[str, Any]()
    if above is None and new_score is None:
        return content
    one = _newcomer(found, board)
    if above is not None:
        content["p_above"] = share_above(one.sign * one.best, above, **one.known)
    if new_score is not None:
        content["p_new_truly_better"] = one.truly_better(new_score, new_n_test)
    return content


def note_on_newcomer(answers: dict[str, Any], rho_is_learnt: bool) -> list[str]:
    """What the chances of a newcomer rest on where scores are all that is known."""
    if rho_is_learnt or "p_new_truly_better" not in answers:
        return []
    return [
        "whether a new classifier is truly better depends much on how far it shares the luck of "
        "the items with the others (rho), which scores do not tell: compare it with the best item "
        "by item; or see what --correlation changes"
    ]


def sentences_of(answers: dict[str, Any]) -> list[str]:
    """Answers in words, one sentence for each."""
    lines = []
    if answer := answers.get("p_above"):
        p = chance(answer["probability"], answer["mcse"])
        lines.append(f"The probability that the best skill exceeds {answer['threshold']:g} is {p}.")
    if answer := answers.get("p_new_truly_better"):
        p, other = chance(answer["probability"], answer["mcse"]), answer["new_n_test"]
        lines.append(
            "The probability that a new classifier, one more of this field, with a score of "
            f"{answer['score']:g} on {counted(other, 'other item') if other else 'the same items'} "
            f"is truly better than the best is {p}."
        )
    return lines


def reasons_of_answers(answers: dict[str, Any]) -> list[str]:
    """Why answers cannot be trusted."""
    draws = answers.get("p_new_truly_better", {}).get("effective_draws", np.inf)
    if draws >= _LEAST_DRAWS:
        return []
    return [
        "the new score is so unlike the field that only "
        f"{counted(round(draws), 'draw speaks', 'draws speak')} of it, below {_LEAST_DRAWS:.0f}"
    ]


def _law_of(best: float, metric: str, constants: "xr.Dataset") -> ScoreLaw:
    """Law of a score of a result."""
    size = int(constants["n_test"])
    if metric == "accuracy":
        return AccuracyLaw(best, size)
    if metric == "score":
        return NormalLaw(best, size, float(constants["standard_error"]))
    digits = digits_of(Decimal(repr(best)))
    step = 10.0**-digits if digits < EXACT_DECIMALS else 0.0
    sizes = size, int(constants["n_positive"])
    return AucScoreLaw(best, *sizes, float(constants["spread_ratio"]), step)


def _value(law: ScoreLaw, score: float) -> float:
    """What the law takes for a score: the nearest count of right answers, or the score."""
    return float(np.round(score * law.unit)) if law.spacing else float(score)


def _log_likelihood(
    law: ScoreLaw, value: FloatArray, skill: FloatArray, dispersion: FloatArray
) -> FloatArray:
    """Log probability of one value given skills (k or 1, C), at dispersions (k, 1)."""
    if not isinstance(law, NormalLaw):
        skill = logit(np.clip(skill, 1e-12, _NEARLY_ONE))
    log_kernel = law.log_kernel(law.prepared(value, skill), dispersion)
    return log_kernel if isinstance(law, AucScoreLaw) else log_kernel - 0.5 * np.log(dispersion)
