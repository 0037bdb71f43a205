r"""Exact likelihood of one observed maximum, and what it implies for the field behind it.

.. math:: L(\phi, \rho) = \sum_k P(S_0 = k) \big[ H_k(1, x_{hi})^m - H_k(1, x_{lo} - 1)^m \big]

with :math:`H_k(t, x) = \int_{\theta \le t} P(X \le x \mid k, \theta)\, dP(\theta \mid \phi)` and
the counts :math:`x_{lo}, \dots, x_{hi}` that print as the observed score. Given the node k, the
number T of classifiers at the maximum is zero-truncated binomial; their skills follow
:math:`P(X = x \mid k, \theta)\, dP(\theta)` and those of the others
:math:`P(X < x \mid k, \theta)\, dP(\theta)`, all independent. Hence exact joint draws of the
winner's skill and of the best skill, without simulation of scores and without an epsilon.
``tests/maximum/test_likelihood.py`` compares with direct summation, ``test_posterior.py`` the draws
with simulated fields.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy.special import ndtr

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors, TriesPrior
from bayes_sota.core.skills import SkillDistribution, hat_weights_of_excess
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.cell_law import CellLaw
from bayes_sota.maximum.dependence import (
    NOISE,
    SHIFT_REACH,
    SurvivalTable,
    node_range,
    shift_step,
    skill_nodes,
    survival_table,
)
from bayes_sota.maximum.fields import (
    Fields,
    FreshTestSet,
    NormalTestSet,
    TestSet,
    check_luck_given,
    chosen_among,
)
from bayes_sota.maximum.score_laws import NormalScores, score_law
from bayes_sota.maximum.submissions import SubmissionNoise, expected_maximum

Values = Mapping[str, FloatArray]
_AT_ONCE = 256  # draws whose arrays fit in the cache
_MOST_PARTS = 12  # a coarse score is split into at most this many runs
_PART = 0.1  # standard errors of a run of scores
_RHO_NODES, _LUCK_NODES = 16, 8
BOARD_VARIABLES = (
    "theta_sota",
    "winner_skill",
    "winner_new_score",
    "best_new_score",
    "shift",
    "n_classifiers",
)
_EXACT = 1e-3  # a score in full precision stands for this share of its standard error


def default_reference_skill(board: BestScore, skill: float | None = None) -> float:
    """theta0 as given, or the observed maximum, kept half an item away from 0 and 1."""
    if skill is not None:
        return skill
    half = 0.5 / (board.n_test or 10**6)
    return float(np.clip(board.maximum, half, 1 - half))


def several(boards: BestScore | Sequence[BestScore]) -> tuple[BestScore, ...]:
    """One board or more, or ``InputError``."""
    boards = (boards,) if isinstance(boards, BestScore) else tuple(boards)
    if not boards:
        raise InputError("at least one leaderboard is needed")
    return boards


def board_names(boards: Sequence[BestScore]) -> list[str]:
    """Names of boards, made different where two are alike.

    Examples
    --------
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> board_names([board, board])
    ['board', 'board 2']
    """
    names: list[str] = []
    for board in boards:
        count, name = 1, board.name
        while name in names:
            count += 1
            name = f"{board.name} {count}"
        names.append(name)
    return names


def score_bounds(board: BestScore) -> tuple[float, float]:
    """Lowest and highest score that prints as the best one."""
    if board.metric == "accuracy":
        fewest, most = board.counts
        return fewest / board.n_test, most / board.n_test
    least = 2 * _EXACT * float(score_law(board).normal_scores.standard_error(board.maximum))
    if board.n_negative is not None:
        assert board.n_positive is not None
        least = 1 / (board.n_positive * board.n_negative)
    width = max(board.printed_width, least)
    low = board.maximum if board.rounding == "floor" else board.maximum - width / 2
    return low, low + width


@dataclass(frozen=True, eq=False)
class CountScoring:
    """Right answers out of n, classifiers tied together by a reference classifier."""

    board: BestScore
    reference_skill: float

    @cached_property
    def edges(self) -> IntArray:
        """Edges of the runs of counts, the first one below the lowest count."""
        low, high = self.board.counts
        parts = min(high - low + 1, _MOST_PARTS)
        return np.round(np.linspace(low - 1, high, parts + 1)).astype(np.int64)

    @property
    def log_odds_error(self) -> float:
        """Binomial."""
        p = self.reference_skill
        return float(1 / np.sqrt(self.board.n_test * p * (1 - p)))

    def skills(self, correlations: FloatArray, refinement: float, luck: float = 0.0) -> FloatArray:
        """Equally spaced on the variance-stabilised scale."""
        return skill_nodes(self.board.counts, self.board.n_test, correlations, refinement, luck)

    def table(
        self, skills: FloatArray, correlation: float, tries: float, refinement: float
    ) -> SurvivalTable:
        """By characteristic functions."""
        return survival_table(
            self.edges,
            self.board.n_test,
            skills,
            correlation,
            self.reference_skill,
            tries,
            refinement,
        )

    def fresh(
        self, rng: np.random.Generator, correlation: FloatArray, new_n_test: int | None = None
    ) -> FreshTestSet:
        """With what the reference classifier gets right."""
        size = new_n_test or self.board.n_test
        return TestSet.draw(rng, size, correlation, self.reference_skill)


@dataclass(frozen=True, eq=False)
class NormalScoring:
    """Scores whose normal scores share one factor: AUCs, and scores with a standard error."""

    board: BestScore

    @cached_property
    def scores(self) -> NormalScores:
        """On this test set."""
        return score_law(self.board).normal_scores

    @cached_property
    def edges(self) -> FloatArray:
        """Edges of runs of scores that print as the best one."""
        low, high = score_bounds(self.board)
        error = float(self.scores.standard_error(self.board.maximum))
        parts = int(np.clip(np.ceil((high - low) / (_PART * error)), 1, _MOST_PARTS))
        return np.linspace(low, high, parts + 1)

    @property
    def log_odds_error(self) -> float:
        """From the standard error of the best score."""
        p = min(default_reference_skill(self.board), self.scores.largest)
        return float(self.scores.standard_error(p) / (p * (1 - p)))

    def skills(self, correlations: FloatArray, refinement: float, luck: float = 0.0) -> FloatArray:
        """Equally spaced on the scale of standard errors, in (0, 1)."""
        reach, spacing = node_range(correlations, refinement)
        ends = (self.edges[0], self.edges[-1], 1e-4, 1 - 1e-7)
        first, last, lowest, highest = (float(self.scores.stabilized(float(x))) for x in ends)
        low, high = max(first - reach - luck, lowest), min(last + reach, highest)
        count = int(np.ceil((high - low) / spacing)) + 2
        return self.scores.from_stabilized(np.linspace(low, high, count))

    def table(
        self, skills: FloatArray, correlation: float, tries: float, refinement: float
    ) -> SurvivalTable:
        """By normal scores that share one factor."""
        shifts: FloatArray = np.zeros(1)
        weights: FloatArray = np.ones(1)
        cell = 0.0
        if correlation > 0:
            cell = shift_step(correlation, tries) / refinement
            count = 2 * int(np.ceil(SHIFT_REACH / cell)) + 1
            shifts = np.asarray((np.arange(count) - count // 2) * cell, np.float64)
            weights = np.exp(-0.5 * shifts**2) / np.sum(np.exp(-0.5 * shifts**2))
        g = self.scores.normal_score(self.edges[:, None], skills)
        own = np.sqrt(1 - correlation**2)
        survival = np.asarray(ndtr((correlation * shifts[:, None] - g[:, None]) / own))
        survival[survival < NOISE] = 0.0
        ends = (shifts.size > 1, shifts.size > 1)
        return SurvivalTable(correlation, shifts, weights, skills, survival, cell, 0, ends)

    def fresh(
        self, rng: np.random.Generator, correlation: FloatArray, new_n_test: int | None = None
    ) -> FreshTestSet:
        """With the share of positives, or the standard error per item, of this board."""
        scores = score_law(self.board).on(new_n_test).normal_scores
        return NormalTestSet(scores, rng.standard_normal(correlation.size), correlation)


MaximumScoring = CountScoring | NormalScoring


def maximum_scoring(board: BestScore, reference_skill: float | None = None) -> MaximumScoring:
    """How the best score of a board comes about, by its metric."""
    if board.metric == "accuracy":
        return CountScoring(board, default_reference_skill(board, reference_skill))
    return NormalScoring(board)


@dataclass(frozen=True, eq=False)
class FieldDraws:
    """Draws of what stands behind one observed maximum; each array has shape (D,).

    ``law`` computes skills, and the probabilities that the best and the winner's are at most these,
    as means over the draws of the hyperparameters, (3, N).
    """

    theta_sota: FloatArray
    winner_skill: FloatArray
    winner_new_score: FloatArray
    best_new_score: FloatArray
    shift: FloatArray
    n_classifiers: FloatArray
    log_likelihood: FloatArray
    beyond_tables: BoolArray  # the draw rests on what lies outside the tables
    law: Callable[[], FloatArray]


class BoardLikelihood:
    """Tables for one board at several correlations.

    Parameters
    ----------
    board : BestScore
    correlations : ndarray, shape (R,)
        Nodes of rho.
    reference_skill : float, optional
        theta0; default ``default_reference_skill(board)``.
    refinement : float
        Every node is this many times denser (tables in k and theta).
    luck : ndarray, shape (R,), optional
        Lambda of chosen submissions beside each correlation; needed where the board has some.
    """

    def __init__(
        self,
        board: BestScore,
        correlations: FloatArray,
        reference_skill: float | None = None,
        refinement: float = 1.0,
        luck: FloatArray | None = None,
    ) -> None:
        """Tabulate the survival functions."""
        check_luck_given((board,), luck)
        self.board = board
        luck = luck if board.has_submissions else None
        self.reference_skill = default_reference_skill(board, reference_skill)
        self.scoring = maximum_scoring(board, self.reference_skill)
        self.tries, self.tries_weights = _tries_nodes(board)
        most = float(expected_maximum(board.submissions).max()) if luck is not None else 0.0
        self.skills = self.scoring.skills(correlations, refinement, most)
        known = {
            rho: self.scoring.table(self.skills, float(rho), board.typical_tries, refinement)
            for rho in np.unique(correlations)
        }
        self.tables: list[SurvivalTable] = [known[rho] for rho in correlations]
        if luck is not None:
            noises = {of: SubmissionNoise(board.submissions, of) for of in np.unique(luck)}
            self.tables = [
                replace(table, survival=noises[of].raised(table.survival))
                for table, of in zip(self.tables, luck, strict=True)
            ]
        self.end_tables = [table.ends() for table in self.tables]

    def hat_weights(self, distribution: SkillDistribution) -> FloatArray:
        """Hat weights of D distributions on the skills of the tables, shape (D, N)."""
        return distribution.expanded().hat_weights(distribution.from_skill(self.skills))

    def log_likelihood(self, weights: FloatArray, r: int) -> FloatArray:
        """Log likelihood at the r-th correlation for hat weights (D, N), shape (D,)."""
        table = self.end_tables[r]
        lower, upper = table.log_field_cdf(weights)
        total = np.full(weights.shape[0], -np.inf)
        for m, weight in zip(self.tries, self.tries_weights, strict=True):
            peak = m * upper.max(axis=0)  # H^m underflows where a level is far too high
            power = _power_difference(upper, lower, m, peak)
            with np.errstate(divide="ignore"):
                log_sum = peak + np.log(weight * (table.weights @ power))
            total = np.logaddexp(total, log_sum)
        return total

    def draw(
        self,
        rng: np.random.Generator,
        distribution: SkillDistribution,
        r: IntArray,
        correlation: FloatArray,
        new_n_test: int | None = None,
    ) -> FieldDraws:
        """One field per draw, given hyperparameters (D,) and indices ``r`` of correlations."""
        coordinates = distribution.from_skill(self.skills)
        tail, excess = distribution.expanded().tail(coordinates)
        weights = hat_weights_of_excess(excess, coordinates)
        k, m, tied, low, high, log_likelihood = self._draw_latent(rng, weights, r)
        laws = [CellLaw.build(distribution, tail, factor) for factor in (low - high, 1 - low)]
        rows, sizes = np.arange(r.size), (tied - 1, m - tied)
        winner = laws[0].inverse(rows, rng.random(r.size))
        tops = [_top_level(rng, size) for size in sizes]
        best = [_top_skill(law, rows, top) for law, top in zip(laws, tops, strict=True)]
        fresh = self.scoring.fresh(rng, correlation, new_n_test)
        new = fresh.play(rng, rows, winner)
        new_best = new.copy()
        for law, top, size, skill in zip(laws, tops, sizes, best, strict=True):
            some = np.flatnonzero(size > 0)
            new_best[some] = np.maximum(new_best[some], fresh.play(rng, some, skill[some]))
            new_best = fresh.walk_down(rng, law.inverse, top, np.maximum(size - 1, 0), new_best)
        return FieldDraws(
            theta_sota=np.maximum.reduce([winner, *best]),
            winner_skill=winner,
            winner_new_score=new / fresh.unit,
            best_new_score=new_best / fresh.unit,
            shift=self._shift(rng, r, k),
            n_classifiers=m.astype(np.float64),
            log_likelihood=log_likelihood,
            beyond_tables=self._beyond_tables(r, k, m, winner, log_likelihood),
            law=partial(self._law, laws, tied, m),
        )

    def _law(self, laws: Sequence[CellLaw], tied: IntArray, m: IntArray) -> FloatArray:
        """Laws of the best skill and of the winner's, whatever was drawn of either."""
        best, winner = np.zeros((2, self.skills.size))
        for start in range(0, m.size, _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            at_maximum, behind = (law.log_below(rows) for law in laws)
            winner += np.exp(at_maximum).sum(axis=0)
            at_maximum *= tied[rows, None]
            at_maximum += behind * (m - tied)[rows, None]
            best += np.exp(at_maximum).sum(axis=0)
        return np.stack([self.skills, best / m.size, winner / m.size])

    def _draw_latent(
        self, rng: np.random.Generator, weights: FloatArray, r: IntArray
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
        """Node of S0, number of classifiers, number of them at the maximum, survival, likelihood.

        The survival functions, (D, N), are those at both edges of the draw's run of counts.
        """
        size = r.size
        node, m, tied = (np.ones(size, np.int64) for _ in range(3))
        low, high = (np.empty((size, self.skills.size)) for _ in range(2))
        log_likelihood = np.zeros(size)
        for index in np.unique(r):
            rows = np.flatnonzero(r == index)
            table, draws = self.tables[index], np.arange(rows.size)
            log_h = table.log_field_cdf(weights[rows])
            cells = np.stack(
                [
                    w * table.weights[:, None] * _power_difference(log_h[1:], log_h[:-1], tries)
                    for tries, w in zip(self.tries, self.tries_weights, strict=True)
                ]
            )
            shape, flat = cells.shape[:3], cells.reshape(-1, rows.size)
            cumulative = np.cumsum(flat, axis=0)
            target = rng.random(rows.size) * cumulative[-1]
            chosen = np.minimum((cumulative < target).sum(axis=0), flat.shape[0] - 1)
            i, part, node[rows] = np.unravel_index(chosen, shape)
            m[rows] = self.tries[i].astype(np.int64)
            h = log_h[:, node[rows], draws]
            step = h[part, draws] - h[part + 1, draws]
            tied[rows] = _draw_tied(rng, m[rows], -np.expm1(np.minimum(step, 0)))
            low[rows], high[rows] = (table.survival[part + end, node[rows]] for end in (0, 1))
            with np.errstate(divide="ignore"):
                log_likelihood[rows] = np.log(cumulative[-1])
        return node, m, tied, low, high, log_likelihood

    def _beyond_tables(
        self, r: IntArray, k: IntArray, m: IntArray, winner: FloatArray, log_likelihood: FloatArray
    ) -> BoolArray:
        """Draws at an end of the nodes of S0 or of skill, or made of round-off."""
        first, last = np.array([table.open_ends for table in self.tables])[r].T
        sizes = np.array([table.shifts.size for table in self.tables])[r]
        low = (winner < self.skills[0]) & (self.scoring.edges[0] >= 0)
        noisy = log_likelihood < np.log(10 * NOISE * m)
        return (first & (k == 0)) | (last & (k == sizes - 1)) | low | noisy

    def _shift(self, rng: np.random.Generator, r: IntArray, k: IntArray) -> FloatArray:
        """What all scores shared, standardised, spread evenly around its nodes."""
        shift = np.empty(r.size)
        for index in np.unique(r):
            rows = np.flatnonzero(r == index)
            shift[rows] = self.tables[index].draw_shift(rng, k[rows])
        return shift


def _power_difference(
    upper: FloatArray, lower: FloatArray, m: float, peak: FloatArray | float = 0.0
) -> FloatArray:
    """``exp(m upper - peak) - exp(m lower - peak)`` for log probabilities ``upper >= lower``."""
    part = m * (lower - upper)
    np.expm1(np.minimum(part, 0.0, out=part), out=part)
    whole = m * upper
    whole -= peak
    part *= np.exp(whole, out=whole)
    return np.negative(part, out=part)


def _tries_nodes(board: BestScore) -> tuple[FloatArray, FloatArray]:
    if isinstance(board.n_classifiers, TriesPrior):
        return board.n_classifiers.nodes()
    return np.array([float(board.n_classifiers)]), np.ones(1)


def _draw_tied(rng: np.random.Generator, m: IntArray, probability: FloatArray) -> IntArray:
    """Binomial(m, probability) given that it is at least one.

    The first success comes at a truncated geometric trial, the trials after it are free.
    """
    p = np.clip(probability, 1e-300, 1 - 1e-16)
    some = -np.expm1(m * np.log1p(-p))
    first = 1 + np.floor(np.log1p(-rng.random(m.size) * some) / np.log1p(-p))
    first = np.clip(first, 1, m).astype(np.int64)
    return 1 + np.asarray(rng.binomial(m - first, p), dtype=np.int64)


def _top_level(rng: np.random.Generator, size: IntArray) -> FloatArray:
    """Upper-tail probability of the best of ``size`` draws; one where there is none."""
    uniform = rng.random(size.size)
    level = -np.expm1(np.log(uniform) / np.maximum(size, 1))
    return np.where(size > 0, level, 1.0)


def _top_skill(law: CellLaw, rows: IntArray, level: FloatArray) -> FloatArray:
    skill = np.zeros(rows.size)
    some = level < 1
    skill[some] = law.inverse(rows[some], level[some])
    return skill


@dataclass(frozen=True)
class Maxima:
    """Observed maxima of boards, and what is assumed of the field behind them.

    ``values`` are draws of what all boards share, ``parameters``, by name and of shape (D,) each.

    Attributes
    ----------
    boards : sequence of BestScore
    priors : MaximumPriors
    reference_skill : float, optional
        theta0 of every board; default each board's observed maximum.
    """

    boards: Sequence[BestScore]
    priors: MaximumPriors
    reference_skill: float | None = None

    @property
    def has_submissions(self) -> bool:
        """Whether some best score was chosen among submissions."""
        return any(board.has_submissions for board in self.boards)

    @property
    def parameters(self) -> tuple[str, ...]:
        """What all boards share: the field, rho, and the luck of submissions where there is any."""
        luck = ("submission_luck",) if self.has_submissions else ()
        return ("location", "spread", "rho", *luck)

    @property
    def references(self) -> FloatArray:
        """theta0 of each board, (B,); ``InputError`` for a given one outside of (0, 1)."""
        skill = self.reference_skill
        if skill is not None and not 0 < skill < 1:
            raise InputError(f"reference skill must lie in (0, 1), got {skill:g}")
        return np.array([default_reference_skill(b, self.reference_skill) for b in self.boards])

    @property
    def errors(self) -> FloatArray:
        """Standard error of each board's best score at theta0, (B,)."""
        theta0 = self.references
        scoring = [maximum_scoring(board, self.reference_skill) for board in self.boards]
        return np.array([x.log_odds_error for x in scoring]) * theta0 * (1 - theta0)

    def field(self, values: Values) -> SkillDistribution:
        """P(theta) of each draw."""
        return self.priors.skill.distribution(values["location"], values["spread"])

    def draw_prior(self, rng: np.random.Generator, draws: int) -> dict[str, FloatArray]:
        """Draws from the prior of ``parameters``, (D,), and of all that ``draw_boards`` gives."""
        location, spread = self.priors.skill.draw(rng, draws)
        values = {"location": location, "spread": spread}
        values["rho"] = self.priors.correlation.quantile(rng.random(draws))
        if self.has_submissions:
            values["submission_luck"] = self.priors.submission_luck.quantile(rng.random(draws))
        return values | self.draw_boards(values, rng)

    def draw_boards(
        self, values: Values, rng: np.random.Generator, *, winner: bool = True
    ) -> dict[str, FloatArray]:
        """Fresh fields of classifiers on fresh test sets, simulated forward.

        Only the sizes of the boards matter, and theta0 where ``reference_skill`` is not given. An
        uncertain number of classifiers is drawn from its prior.

        Parameters
        ----------
        values : mapping of str to ndarray, shape (D,)
        rng : Generator
        winner : bool
            Whether to find out who wins; without, ``winner_skill`` is left out.

        Returns
        -------
        dict of str to ndarray, shape (D, B)
            ``theta_sota``, ``winner_skill``, ``expected_sota``, ``multiplicity_bias``, ``shift``,
            ``n_classifiers`` and ``observed_maximum``, which is not rounded as printed scores are.
        """
        field, rho, columns = self.field(values), values["rho"], []
        check_luck_given(self.boards, values.get("submission_luck"))
        for board in self.boards:
            numbers, weights = _tries_nodes(board)
            tries = rng.choice(numbers, p=weights, size=rho.size) if numbers.size > 1 else numbers
            tries = np.broadcast_to(tries, rho.shape).astype(np.float64)
            test_set = maximum_scoring(board, self.reference_skill).fresh(rng, rho)
            if board.has_submissions:
                test_set = chosen_among(test_set, board, values["submission_luck"], rng)
            fields = Fields.fresh(rng, test_set, field, tries.astype(np.int64))
            best, holder = fields.draw(rng, winner=winner)
            columns.append(
                {
                    "theta_sota": fields.theta_sota,
                    "expected_sota": field.expected_maximum(tries),
                    "multiplicity_bias": best - fields.theta_sota,
                    "shift": test_set.shift,
                    "n_classifiers": tries,
                    "observed_maximum": best,
                    **({"winner_skill": holder} if winner else {}),
                }
            )
        return {name: np.stack([c[name] for c in columns], axis=1) for name in columns[0]}

    def draw_fields(
        self, values: Values, rng: np.random.Generator, new_n_test: int | None = None
    ) -> tuple[dict[str, FloatArray], FloatArray]:
        """Exact draws of what stands behind the maxima, and their log likelihood, (D, B).

        rho and the luck enter through nodes at equally spaced quantiles of the draws; a draw takes
        one of the two nodes around it, with the probabilities of linear interpolation.
        """
        nodes, nearest = _near_nodes(values["rho"], _RHO_NODES, rng)
        of_luck = None
        if self.has_submissions:
            lucks, near = _near_nodes(values["submission_luck"], _LUCK_NODES, rng)
            nodes, of_luck = np.repeat(nodes, lucks.size), np.tile(lucks, nodes.size)
            nearest = nearest * lucks.size + near
        field = self.field(values)
        likelihoods = [
            BoardLikelihood(board, nodes, self.reference_skill, luck=of_luck)
            for board in self.boards
        ]
        fields = [x.draw(rng, field, nearest, values["rho"], new_n_test) for x in likelihoods]
        return self.collect(fields, field), np.stack([f.log_likelihood for f in fields], axis=1)

    def collect(
        self, fields: Sequence[FieldDraws], distribution: SkillDistribution
    ) -> dict[str, FloatArray]:
        """Draws of what belongs to boards under the names of the schema, shape (D, B)."""
        values = {
            name: np.stack([getattr(f, name) for f in fields], axis=1) for name in BOARD_VARIABLES
        }
        observed = np.array([board.maximum for board in self.boards])
        values["multiplicity_bias"] = observed - values["theta_sota"]
        expected = [distribution.expected_maximum(f.n_classifiers) for f in fields]
        return values | {"expected_sota": np.stack(expected, axis=1)}


def _near_nodes(
    values: FloatArray, count: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Nodes at quantiles of values, and one of the two around each, its index."""
    nodes = np.unique(np.quantile(values, np.linspace(0, 1, count)))
    position = np.interp(values, nodes, np.arange(nodes.size))
    below = np.floor(position)
    up = rng.random(values.size) < position - below
    return nodes, np.asarray(below + up, dtype=np.int64)
