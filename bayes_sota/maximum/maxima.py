"""Observed maxima of boards that share one field: simulated forward, and what stands behind them.

``tests/maximum/test_posterior.py`` compares both with whole simulated fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bayes_sota.core.arguments import SKILL
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.fresh_test_sets import best_of_fields, fresh_test_set
from bayes_sota.maximum.likelihood import BoardLikelihood, tries_nodes
from bayes_sota.maximum.tables import default_reference_skill

Values = Mapping[str, FloatArray]
_RHO_NODES, _LUCK_NODES = 16, 8


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
    names = [board.name for board in boards]
    before = (names[:i].count(name) for i, name in enumerate(names))
    return [f"{name} {k + 1}" if k else name for name, k in zip(names, before, strict=True)]


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
        if self.reference_skill is not None:
            SKILL.check(self.reference_skill, "reference_skill")
        return np.array([default_reference_skill(b, self.reference_skill) for b in self.boards])

    def field(self, values: Values) -> SkillDistribution:
        """P(theta) of each draw."""
        return self.priors.skill.distribution(values["location"], values["spread"])

    def draw_prior(self, rng: Generator, draws: int) -> dict[str, FloatArray]:
        """Draws from the prior of ``parameters``, (D,), and of fresh boards, (D, B)."""
        location, spread = self.priors.skill.draw(rng, draws)
        values = {"location": location, "spread": spread}
        values["rho"] = self.priors.correlation.quantile(rng.random(draws))
        if self.has_submissions:
            values["submission_luck"] = self.priors.submission_luck.quantile(rng.random(draws))
        return self.with_expected(values | self.draw_boards(values, rng))

    def draw_boards(
        self, values: Values, rng: Generator, *, winner: bool = True
    ) -> dict[str, FloatArray]:
        """Fresh fields of classifiers on fresh test sets, simulated forward.

        Only the sizes of the boards matter, and theta0 where ``reference_skill`` is not given. An
        uncertain number of classifiers is drawn from its prior.

        Parameters
        ----------
        values : mapping of str to ndarray, shape (D,)
        rng : Generator
        winner : bool
            Whether to find out who wins; without, ``winner_skill`` is not valid.

        Returns
        -------
        dict of str to ndarray, shape (D, B)
            ``theta_sota``, ``winner_skill``, ``multiplicity_bias``, ``shift``, ``n_classifiers``
            and ``observed_maximum``, which is not rounded as printed scores are.
        """
        field, rho, luck = self.field(values), values["rho"], values.get("submission_luck")
        columns = []
        for board in self.boards:
            numbers, weights = tries_nodes(board)
            tries = rng.choice(numbers, rho.size, p=weights)
            theta = field.skill(field.isf(-np.expm1(np.log(rng.random(rho.size)) / tries)))
            test_set = fresh_test_set(board, rng, rho, self.reference_skill, luck)
            given = (field, tries.astype(np.int64), theta)
            best, holder = best_of_fields(test_set, rng, *given, winner=winner)
            one = {"theta_sota": theta, "n_classifiers": tries, "shift": test_set.shift}
            one |= {"observed_maximum": best, "winner_skill": holder}
            columns.append(one | {"multiplicity_bias": best - theta})
        return _by_board(columns)

    def with_expected(self, values: Values) -> dict[str, FloatArray]:
        """The same with ``expected_sota``, (D, B)."""
        field, sizes = self.field(values), values["n_classifiers"].T
        expected = np.stack([field.expected_maximum(m) for m in sizes], axis=1)
        return {**values, "expected_sota": expected}

    def draw_fields(self, values: Values, rng: Generator) -> dict[str, FloatArray]:
        """Exact draws of what stands behind the maxima, as of ``collect``.

        rho and the luck enter through the nearest of nodes at equally spaced quantiles of them.
        """
        nodes, nearest = _near_nodes(values["rho"], _RHO_NODES)
        of_luck = None
        if self.has_submissions:
            lucks, near = _near_nodes(values["submission_luck"], _LUCK_NODES)
            nodes, of_luck = np.repeat(nodes, lucks.size), np.tile(lucks, nodes.size)
            nearest = nearest * lucks.size + near
        likelihoods = self.likelihoods(nodes, of_luck)
        return self.collect(likelihoods, values, nearest, rng)

    def likelihoods(self, rho: FloatArray, luck: FloatArray | None) -> list[BoardLikelihood]:
        """Tables of every board at nodes of rho, and of the luck where there is any."""
        return [BoardLikelihood(board, rho, self.reference_skill, luck) for board in self.boards]

    def collect(
        self,
        likelihoods: Sequence[BoardLikelihood],
        values: Values,
        node: IntArray,
        rng: Generator,
    ) -> dict[str, FloatArray]:
        """Draws of what boards share, (D,), and given its nodes what belongs to each, (D, B).

        Under the names of the schema, and what else ``BoardLikelihood.draw`` gives.
        """
        field, rho = self.field(values), values["rho"]
        drawn = _by_board([one.draw(rng, field, node, rho) for one in likelihoods])
        observed = np.array([board.maximum for board in self.boards])
        drawn["multiplicity_bias"] = observed - drawn["theta_sota"]
        return self.with_expected({**values, **drawn})


def _by_board(columns: Sequence[Values]) -> dict[str, FloatArray]:
    """Variables of every board, (D,) each, beside each other, (D, B)."""
    return {name: np.stack([one[name] for one in columns], axis=1) for name in columns[0]}


def _near_nodes(values: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
    """Nodes at quantiles of values, and which is nearest to each."""
    nodes = np.unique(np.quantile(values, (np.arange(count) + 0.5) / count))
    return nodes, np.abs(values[:, None] - nodes).argmin(axis=1)
