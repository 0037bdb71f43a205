"""Observed maxima of boards that share one field: simulated forward, and what stands behind them.

``tests/maximum/test_posterior.py`` compares both with whole simulated fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.fields import Fields
from bayes_sota.maximum.fresh_test_sets import check_luck_given, chosen_among
from bayes_sota.maximum.likelihood import BoardLikelihood, tries_nodes
from bayes_sota.maximum.tables import default_reference_skill, maximum_scoring

Values = Mapping[str, FloatArray]
_RHO_NODES, _LUCK_NODES = 16, 8
BOARD_VARIABLES = (
    "theta_sota",
    "winner_skill",
    "winner_new_score",
    "best_new_score",
    "shift",
    "n_classifiers",
)


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
            numbers, weights = tries_nodes(board)
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
    ) -> dict[str, FloatArray]:
        """Exact draws of what stands behind the maxima, as of ``collect``.

        rho and the luck enter through nodes at equally spaced quantiles of the draws; a draw takes
        one of the two nodes around it, with the probabilities of linear interpolation.
        """
        nodes, nearest = _near_nodes(values["rho"], _RHO_NODES, rng)
        of_luck = None
        if self.has_submissions:
            lucks, near = _near_nodes(values["submission_luck"], _LUCK_NODES, rng)
            nodes, of_luck = np.repeat(nodes, lucks.size), np.tile(lucks, nodes.size)
            nearest = nearest * lucks.size + near
        likelihoods = [
            BoardLikelihood(board, nodes, self.reference_skill, luck=of_luck)
            for board in self.boards
        ]
        return self.collect(likelihoods, values, nearest, rng, new_n_test)

    def collect(
        self,
        likelihoods: Sequence[BoardLikelihood],
        values: Values,
        node: IntArray,
        rng: np.random.Generator,
        new_n_test: int | None,
    ) -> dict[str, FloatArray]:
        """What belongs to boards, given draws of what they share and its nodes, (D, B) each.

        Under the names of the schema, and what else ``BoardLikelihood.draw`` gives.
        """
        field, rho = self.field(values), values["rho"]
        each = [x.draw(rng, field, node, rho, new_n_test) for x in likelihoods]
        expected = [field.expected_maximum(one["n_classifiers"]) for one in each]
        drawn = {name: np.stack([one[name] for one in each], axis=1) for name in each[0]}
        observed = np.array([board.maximum for board in self.boards])
        return drawn | {
            "multiplicity_bias": observed - drawn["theta_sota"],
            "expected_sota": np.stack(expected, axis=1),
        }


def _near_nodes(
    values: FloatArray, count: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Nodes at quantiles of values, and one of the two around each, its index."""
    nodes = np.unique(np.quantile(values, np.linspace(0, 1, count)))
    position = np.interp(values, nodes, np.arange(nodes.size))
    below = np.floor(position)
    up = rng.random(values.size) < position - below
    return nodes, np.asarray(below + up, dtype=np.int64)
