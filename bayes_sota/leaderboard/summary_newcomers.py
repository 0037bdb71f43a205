r"""What a result says of one classifier more: is it truly better than the best, and would it show?

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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import (
    COUNT,
    NUMBER,
    OPEN_SHARE,
    POSITIVE,
    SHARE,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.priors import SKILL_FAMILIES
from bayes_sota.core.skills import SkillDistribution, logit
from bayes_sota.core.summary import (
    Points,
    checked_board,
    diagnose,
    draws_of,
    observed_maximum_of,
    points_behind,
    share_above,
    weighted_chance,
)
from bayes_sota.core.text import chance, counted
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.printed_scores import EXACT_DECIMALS, digits_of
from bayes_sota.leaderboard.fit import FieldFit, shape_density
from bayes_sota.leaderboard.fit_shape import parameters_of
from bayes_sota.leaderboard.shapes import FAMILIES, FieldScale
from bayes_sota.maximum.score_laws import AccuracyLaw, AucScoreLaw, NormalLaw, ScoreLaw, score_law

if TYPE_CHECKING:
    import xarray as xr

_BLOCK = 250  # draws at a time
_REACH, _PER_ERROR = 14.0, 20  # of the grid of skills, in standard errors of the new score
_MARGIN = 6.0  # standard errors of a grid above the new score
_TINY = 1e-300
_LEAST_DRAWS = 50.0
_NEARLY_ONE = 1 - 1e-12

type Block = tuple[IntArray, FloatArray, FloatArray, FloatArray]


def probability_truly_better(
    tree: "xr.DataTree", score: float, new_n_test: int | None = None, *, board: int = 0
) -> dict[str, Any]:
    r"""Probability that a new classifier with a given score has a skill above theta_sota.

    The newcomer is one more of the field, with its skill from P(theta); the formula is that of
    the module. Where you have its answers to the items, add them to the matrix instead.

    Parameters
    ----------
    tree : DataTree
        A result of ``estimate_sota``: a maximum by any route, a board, answers or item scores.
    score : float
        Observed score of the newcomer, in the units of the board.
    new_n_test : int, optional
        Number of *other* items that it was scored on. Default: the same items as all others, so
        that it shares their luck.
    board : int
        Which board's theta_sota, where there are several.

    Returns
    -------
    dict
        ``score``, ``new_n_test`` (None for the same items), ``probability``, ``mcse`` and
        ``effective_draws``, how many draws the answer rests on.

    Raises
    ------
    InputError
        A score or size that cannot be, a result whose field has a shape of one's own.

    Examples
    --------
    >>> from bayes_sota.data.leaderboard import BestScore
    >>> from bayes_sota.leaderboard.sample_estimate import estimate_sota
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> tree = estimate_sota(board, random_seed=0)
    >>> same, other = (probability_truly_better(tree, 0.985, n) for n in (None, 5000))
    >>> same["probability"] < other["probability"]
    True
    """
    return Newcomer.of_tree(tree, board).truly_better(score, new_n_test)


def probability_shown(
    tree: "xr.DataTree", gap: float, new_n_test: int | None = None, *, board: int = 0
) -> dict[str, Any]:
    r"""Probability that a classifier better than the best by a gap reaches the best score.

    The expectation over the posterior of :math:`P(X \ge x_{max} \mid \theta_{sota} + gap)`.

    Parameters
    ----------
    tree : DataTree
        A result of ``estimate_sota``: a maximum by any route, a board, answers or item scores.
    gap : float
        By how much the newcomer's skill is better than theta_sota.
    new_n_test : int, optional
        Number of *other* items that it is scored on. Default: the same items as all others.
    board : int
        Which board, where there are several.

    Returns
    -------
    dict
        ``gap``, ``new_n_test`` (None for the same items), ``best_score`` that is to be reached,
        ``probability`` and ``mcse``.

    Raises
    ------
    InputError
        A gap that is not positive, a size that cannot be.

    Examples
    --------
    >>> from bayes_sota.data.leaderboard import BestScore
    >>> from bayes_sota.leaderboard.sample_estimate import estimate_sota
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> tree = estimate_sota(board, random_seed=0)
    >>> probability_shown(tree, 0.005)["probability"] < 0.6
    True
    """
    return Newcomer.of_tree(tree, board).shown(gap, new_n_test)


@dataclass(frozen=True, eq=False)
class Newcomer:
    """One more classifier of the field of a result; larger is better.

    Attributes
    ----------
    law : ScoreLaw
        Of a score on the items of the board.
    best, rho, shift : ndarray, shape (D,)
        Draws of theta_sota, rho and the standardised shift.
    maximum : float
        Best observed score.
    sign : int
        -1 where lower scores are better.
    error_ratio : float
        Standard error of a score over that of the law.
    field : MaximumField or BoardField
        Where its skill comes from: numbers of some draws, skills of cells (C,) and of their edges,
        and masses (k, C).
    shape : (int, int)
        Chains and draws.
    attributes : dict
        Of the result.
    """

    law: ScoreLaw
    best: FloatArray
    rho: FloatArray
    shift: FloatArray
    maximum: float
    sign: int
    error_ratio: float
    field: "MaximumField | BoardField"
    shape: tuple[int, ...]
    attributes: dict[Any, Any]
    points: Points | None = None

    @classmethod
    def of_tree(cls, tree: "xr.DataTree", board: int = 0) -> "Newcomer":
        """Of a result of ``estimate_sota``."""
        best = draws_of(tree, "theta_sota", checked_board(tree, board))
        constants = tree["constant_data"].to_dataset().isel(board=board, missing_dims="ignore")
        sign = -1 if float(constants.get("lower_is_better", 0)) else 1
        observed = observed_maximum_of(tree)
        maximum = sign * float(observed.values.ravel()[board])
        whole = "grid" in constants
        return cls(
            _law_of(maximum, str(tree.attrs["metric"]), constants),
            sign * best.ravel(),
            np.broadcast_to(draws_of(tree, "rho"), best.shape).ravel(),
            draws_of(tree, "shift", board).ravel(),
            maximum,
            sign,
            float(constants["error_ratio"]) if whole else 1.0,
            BoardField.of_tree(tree, sign) if whole else MaximumField.of_tree(tree),
            best.shape,
            tree.attrs,
            points_behind(tree),
        )

    @classmethod
    def of_fit(
        cls, fit: FieldFit, parameters: Parameters, draws: dict[str, FloatArray]
    ) -> "Newcomer":
        """Of draws of a whole board, before they become a tree."""
        board, best = fit.evidence.board, draws["theta_sota"]
        return cls(
            score_law(board),
            best,
            draws["rho"],
            draws["shift"],
            board.maximum,
            board.sign,
            fit.evidence.error_ratio,
            BoardField.of_fit(fit, parameters),
            (1, best.size),
            {"draws_are_independent": 1},
            parameters.behind,
        )

    @cached_property
    def moved(self) -> FloatArray:
        """The shift of a score in standard errors of the law, (D,)."""
        return self.rho * self.shift * self.error_ratio

    def best_above(self, threshold: float) -> dict[str, Any]:
        """As of ``probability_above``."""
        best = self.sign * self.best.reshape(self.shape)
        return share_above(best, threshold, self.attributes, self.points)

    @one_thread()
    def truly_better(self, score: float, new_n_test: int | None = None) -> dict[str, Any]:
        """As of ``probability_truly_better``."""
        numbers = NUMBER if isinstance(self.law, NormalLaw) else SHARE
        numbers.check(score, "new_score")
        law, same = self._law_on(new_n_test), new_n_test is None
        value = np.array([_value(law, self.sign * score)])
        chances, log_weights = np.empty((2, self.best.size))
        for rows, skill, edges, mass in self.field.blocks(law, self.sign * score):
            moved, best = self.moved[rows, None], self.best[rows]
            if self.field.on_these_items:
                best = self.law.add_shift(best, moved[:, 0])
                seen = skill[None] if same else self.law.remove_shift(skill[None], moved)
            else:
                seen = self.law.add_shift(skill[None], moved) if same else skill[None]
            own = 1 - self.rho[rows, None] ** 2 if same else np.ones((rows.size, 1))
            log_seen = _log_likelihood(law, value, seen, own * self.error_ratio**2)
            largest = log_seen.max(axis=1, keepdims=True)
            chances[rows], total = share_beyond(mass * np.exp(log_seen - largest), edges, best)
            log_weights[rows] = largest[:, 0] + np.log(total)
        chances, log_weights = (x.reshape(self.shape) for x in (chances, log_weights))
        answer = weighted_chance(np.clip(chances, 0, 1), self.attributes, log_weights, self.points)
        return {"score": float(score), "new_n_test": new_n_test, **answer}

    def shown(self, gap: float, new_n_test: int | None = None) -> dict[str, Any]:
        """As of ``probability_shown``."""
        (POSITIVE if isinstance(self.law, NormalLaw) else OPEN_SHARE).check(gap, "gap")
        law, same = self._law_on(new_n_test), new_n_test is None
        ends = (-np.inf, np.inf) if isinstance(self.law, NormalLaw) else (0.0, _NEARLY_ONE)
        skill = np.minimum(self.best + gap, ends[1])
        own = np.full(skill.shape, self.error_ratio**2)
        if same:
            skill = self.law.add_shift(skill, self.moved)
            own = own * (1 - self.rho**2)
        cut = _value(law, self.maximum) if same else _least_value(law, self.maximum)
        chances = np.asarray(law.reach(np.clip(skill, *ends), cut, own))
        answer = weighted_chance(chances.reshape(self.shape), self.attributes, points=self.points)
        best = self.sign * self.maximum
        return {"gap": float(gap), "new_n_test": new_n_test, "best_score": best, **answer}

    def _law_on(self, new_n_test: int | None) -> ScoreLaw:
        """Law of a score on the same items, or on others."""
        if new_n_test is None:
            return self.law
        COUNT.check(new_n_test, "new_n_test")
        return self.law.on(new_n_test)


@dataclass(frozen=True, eq=False)
class MaximumField:
    """P(theta) where the best score alone is known."""

    distribution: SkillDistribution
    size: int
    on_these_items = False

    @classmethod
    def of_tree(cls, tree: "xr.DataTree") -> "MaximumField":
        """Of the attribute ``skill_family`` and the draws of location and spread."""
        family = str(tree.attrs.get("skill_family", ""))
        if family not in SKILL_FAMILIES:
            raise InputError("the result does not say how skills are distributed over its field")
        location, spread = (draws_of(tree, name).ravel() for name in ("location", "spread"))
        return cls(SKILL_FAMILIES[family]().distribution(location, spread), location.size)

    def blocks(self, law: ScoreLaw, score: float) -> Iterator[Block]:
        """Cells that are equally wide in log odds, around the score."""
        if not 0 <= score <= 1:
            raise InputError(
                f"{{name}} must be {SHARE}, where a maximum is, got {score:g}",
                parameter="new_score",
            )
        middle = np.clip(score, 1e-4, 1 - 1e-4)
        if law.n_test:
            middle = (score * law.n_test + 0.5) / (law.n_test + 1)
        error = float(law.errors_at(np.array([middle]))[0]) / (middle * (1 - middle))
        reach = np.linspace(-_REACH, _REACH, int(2 * _REACH * _PER_ERROR) + 1)
        u = float(logit(middle)) + min(error, 1.0) * reach
        edges, skill = (1 / (1 + np.exp(-x)) for x in (u, (u[1:] + u[:-1]) / 2))
        coordinate = self.distribution.from_skill(edges)
        for _, rows in in_blocks(np.zeros(self.size, np.int64)):
            above = self.distribution.take(rows).expanded().sf(coordinate)
            yield rows, skill, edges, -np.diff(above, axis=1)


@dataclass(frozen=True, eq=False)
class BoardField:
    """P(psi) of a whole board, of answers or of item scores, on the grid of its fit.

    Attributes
    ----------
    y, psi, strangers, reach : ndarray, shape (G,)
        Grid, board-conditional skill there, density of strangers (``fit.Strangers``), and
        probability of a score in the modelled part.
    share : float
        Of strangers.
    relative : bool
        Whether entries below the modelled part exist.
    scale : FieldScale
    families : list of str
    family : ndarray of int, shape (D,)
    coordinates : ndarray, shape (D, P)
    """

    y: FloatArray
    psi: FloatArray
    strangers: FloatArray
    reach: FloatArray
    share: float
    relative: bool
    scale: FieldScale
    families: list[str]
    family: IntArray
    coordinates: FloatArray
    on_these_items = True

    @classmethod
    def of_fit(cls, fit: FieldFit, parameters: Parameters) -> "BoardField":
        """Of the parameters behind draws."""
        evidence = fit.evidence
        return cls(
            evidence.y,
            evidence.psi,
            fit.strangers.profile,
            fit.tables[fit.rho.size // 2].typical,
            fit.strangers.share,
            evidence.is_cut,
            fit.scale,
            list(fit.families),
            parameters.family,
            parameters.coordinates,
        )

    @classmethod
    def of_tree(cls, tree: "xr.DataTree", sign: int) -> "BoardField":
        """Of a stored result: the way back from the names of its parameters."""
        constants, posterior = tree["constant_data"].to_dataset(), tree["posterior"].to_dataset()
        if int(tree.attrs.get("own_density", 0)):
            raise InputError(
                "the model of this result has a density of its own, or one for each entry: it "
                "does not say that of a newcomer"
            )
        families = [str(name) for name in constants["family"].values]
        if not set(families) <= set(FAMILIES):
            raise InputError(
                f"the field has a shape of one's own, {', '.join(families)}: its density is not "
                "in the result"
            )
        y, psi = constants["grid"].values, sign * constants["grid_skill"].values
        scale = FieldScale.of_prior(constants["field_prior"].values, y)
        unit = 1.0
        place = posterior["location"].values.ravel()
        if tree.attrs["metric"] == "score":
            unit = float(psi[1] - psi[0]) / scale.step
            place = (sign * place - psi[0]) / unit + y[0]
        width = np.log(posterior["spread"].values.ravel() / unit)
        columns = [*scale.coordinates(place, width)]
        if "shape" in posterior:
            columns += list(posterior["shape"].values.reshape(place.size, -1).T)
        elif len(families) == 1:
            names = parameters_of(FAMILIES[families[0]])[2:]
            columns += [posterior[name].values.ravel() for name in names]
        family = posterior["family"].values.ravel() if "family" in posterior else 0 * place
        return cls(
            y,
            psi,
            constants["stranger_density"].values,
            constants["reach"].values,
            float(constants["stranger_share"]),
            bool(constants["is_cut"]),
            scale,
            families,
            family.astype(np.int64),
            np.stack(columns, axis=1),
        )

    def up_to(self, law: ScoreLaw, score: float) -> "BoardField":
        """The same on a grid that holds what the score may come from."""
        step = self.scale.step
        unit = float(self.psi[-1] - self.psi[-2]) / step
        if isinstance(law, NormalLaw):
            highest = (score + _MARGIN * law.errors_at(self.psi[-1:])[0] - self.psi[-1]) / unit
        else:
            place, error = law.places(np.array([score * law.unit]))
            highest = float(place[0] + _MARGIN * min(error[0], 1.2) - self.y[-1])
        more = int(np.clip(np.ceil(highest / step), 0, 10 * self.y.size))
        if not more:
            return self
        y = self.y[-1] + step * np.arange(1, more + 1)
        psi = law.skill_at(y)
        if isinstance(law, NormalLaw):
            psi = self.psi[-1] + unit * (y - self.y[-1])
        z, last = ((x - self.scale.location) / self.scale.location_sd for x in (y, self.y[-1]))
        tail = self.strangers[-1] * np.exp(-0.5 * (z**2 - last**2))
        added = {"y": y, "psi": psi, "strangers": tail, "reach": np.ones(more)}
        return replace(
            self,
            **{k: np.append(getattr(self, k), v) for k, v in added.items()},  # type: ignore[arg-type]
        )

    def blocks(self, law: ScoreLaw, score: float) -> Iterator[Block]:
        """Cells of the grid; masses are of one more classifier of the modelled part."""
        here = self.up_to(law, score)
        step = self.scale.step
        middle = (here.psi[1:] + here.psi[:-1]) / 2
        ends = 2 * here.psi[[0, -1]] - middle[[0, -1]]
        edges = np.concatenate([ends[:1], middle, ends[1:]])
        reach = here.reach * step
        for number, rows in in_blocks(self.family):
            shape = FAMILIES[self.families[number]]
            points = self.coordinates[rows, : shape.dimension]
            shaped, _ = shape_density(here.y, self.relative, self.scale, shape, points)
            modelled = (shaped @ reach)[:, None] if self.relative else 1.0
            density = (1 - self.share) * shaped + modelled * here.strangers
            total = (density @ reach)[:, None] if self.relative else 1 / step
            yield rows, here.psi, edges, density / np.maximum(total, _TINY)


def in_blocks(family: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Number of a family and numbers of some draws of it, until all were named."""
    for number in np.unique(family):
        members = np.flatnonzero(family == number)
        for start in range(0, members.size, _BLOCK):
            yield int(number), members[start : start + _BLOCK]


@dataclass(frozen=True)
class Questions:
    """What a user asks of the best skill and of a newcomer; None where it is not asked.

    Attributes
    ----------
    above : float, optional
        Skill that theta_sota may exceed.
    new_score : float, optional
        Observed score of a newcomer.
    new_n_test : int, optional
        Number of other items that the newcomer is scored on; default the same items.
    """

    above: float | None = None
    new_score: float | None = None
    new_n_test: int | None = None

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        return self.above is not None or self.new_score is not None

    def answers(self, newcomer: Newcomer) -> dict[str, Any]:
        """Answers, with the keys that ``--json`` prints."""
        content = dict[str, Any]()
        if self.above is not None:
            content["p_above"] = newcomer.best_above(self.above)
        if self.new_score is not None:
            content["p_new_truly_better"] = newcomer.truly_better(self.new_score, self.new_n_test)
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
        p = _told(answer)
        lines.append(f"The probability that the best skill exceeds {answer['threshold']:g} is {p}.")
    if answer := answers.get("p_new_truly_better"):
        lines.append(
            "The probability that a new classifier, one more of this field, with a score of "
            f"{answer['score']:g} on {_items(answer)} is truly better than the best is "
            f"{_told(answer)}."
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


def diagnose_answers(tree: "xr.DataTree", *answers: dict[str, Any]) -> dict[str, Any]:
    """Whether a result can be trusted, and what was asked of it (``diagnose``)."""
    diagnosed = diagnose(tree)
    diagnosed["reasons"] += [reason for told in answers for reason in reasons_of_answers(told)]
    return diagnosed | {"ok": not diagnosed["reasons"]}


def _told(answer: dict[str, Any]) -> str:
    return chance(answer["probability"], answer["mcse"])


def _items(answer: dict[str, Any]) -> str:
    other = answer.get("new_n_test")
    return counted(other, "other item") if other else "the same items"


def share_beyond(
    mass: FloatArray, edges: FloatArray, best: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Share of the masses of cells (k, C) beyond ``best`` (k,), and their positive sums (k,)."""
    total = np.cumsum(mass, axis=1)
    total = np.concatenate([np.zeros((len(mass), 1)), total], axis=1)
    below = [np.interp(at, edges, row) for at, row in zip(best, total, strict=True)]
    whole = np.maximum(total[:, -1], _TINY)
    return 1 - np.array(below) / whole, whole


def _law_of(best: float, metric: str, constants: "xr.Dataset") -> ScoreLaw:
    """Law of a score of a stored result."""
    size = int(constants["n_test"])
    if metric == "accuracy":
        return AccuracyLaw(best, size)
    if metric == "auc":
        sizes = size, int(constants["n_positive"])
        return AucScoreLaw(best, *sizes, float(constants["spread_ratio"]), _printed_step(best))
    return NormalLaw(best, size, float(constants["standard_error"]))


def _printed_step(score: float) -> float:
    """Distance of two scores with as many digits; 0 in full precision."""
    digits = digits_of(Decimal(repr(score)))
    return 10.0**-digits if digits < EXACT_DECIMALS else 0.0


def _value(law: ScoreLaw, score: float) -> float:
    """What the law takes for a score: the nearest count of right answers, or the score."""
    return float(np.round(score * law.unit)) if law.spacing else float(score)


def _least_value(law: ScoreLaw, score: float) -> float:
    """The smallest value that is at least a score."""
    return float(np.ceil(score * law.unit - 1e-6)) if law.spacing else float(score)


def _log_likelihood(
    law: ScoreLaw, value: FloatArray, skill: FloatArray, dispersion: FloatArray
) -> FloatArray:
    """Log probability of one value given skills (k or 1, C), at dispersions (k, 1)."""
    if not isinstance(law, NormalLaw):
        skill = logit(np.clip(skill, 1e-12, _NEARLY_ONE))
    log_kernel = law.log_kernel(law.prepared(value, skill), dispersion)
    return log_kernel if isinstance(law, AucScoreLaw) else log_kernel - 0.5 * np.log(dispersion)
