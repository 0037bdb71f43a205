r"""What two boards say of one team more: is it truly better than the best, and would it show?

The newcomer is one more of the field, with a score on the private items or on other ones. In the
coordinate of the boards (``teams.Coordinate``), with shift delta and what the teams share on the
private items, :math:`c = \rho s_2 z_2`:

.. math:: \psi \sim P, \quad y = \psi + \delta + \epsilon_2, \quad \theta = \psi + \delta - c

so that the newcomer is truly better where its psi is above that of the best team. Its residual is
a usual one, of standard deviation :math:`s_2 \sqrt{1 - \rho^2}`: were it taken for an outlier, a
better score could say less. The draws are weighted by the probability of the new score, given that
a team is in the modelled part.
``tests/paired/test_summary_newcomers.py`` compares with simulated teams.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ndtr

from bayes_sota.core.arguments import COUNT, NUMBER, OPEN_SHARE, POSITIVE, SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import share_above, weighted_chance
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.paired import BOARDS
from bayes_sota.leaderboard.shapes import FAMILIES, FieldScale
from bayes_sota.leaderboard.summary_newcomers import in_blocks, share_beyond
from bayes_sota.paired.likelihood import densities_at
from bayes_sota.paired.teams import Coordinate

_MARGIN = 6.0
_PRIVATE = "the same private items"


@dataclass(frozen=True, eq=False)
class PairedNewcomer:
    """One more team of the field of a result of ``estimate_paired``.

    Raises
    ------
    InputError
        Another result.

    Examples
    --------
    >>> from bayes_sota.paired.sample import estimate_paired
    >>> rng = np.random.default_rng(1)
    >>> public, private = rng.binomial(500, rng.uniform(0.7, 0.8, 40), (2, 40)) / 500
    >>> tree = estimate_paired(PairedBoards(public, private, n_test=(500, 500)))  # doctest: +SKIP
    >>> PairedNewcomer(tree).truly_better(0.85)["probability"]  # doctest: +SKIP
    0.96
    """

    tree: xr.DataTree

    def __post_init__(self) -> None:
        """Refuse other results."""
        constants = dataset_of(self.tree, "constant_data")
        if "field_prior" not in constants or "board" not in self.tree["observed_data"].dims:
            raise InputError("this is no result of estimate_paired")

    def best_above(self, threshold: float) -> dict[str, Any]:
        """Probability that the best skill exceeds a threshold (``probability_above``)."""
        best = self._draws("theta_sota")
        return share_above(best.reshape(self._shape), threshold, self.tree.attrs)

    def truly_better(self, score: float, new_n_test: int | None = None) -> dict[str, Any]:
        """Probability that a new team with a given score has a skill above theta_sota.

        Parameters
        ----------
        score : float
            Observed score of the newcomer, in the units of the results.
        new_n_test : int, optional
            Number of *other* items of the private population that it was scored on, for
            accuracies. Default: the items of the private board.

        Returns
        -------
        dict
            ``score``, ``new_n_test``, ``items``, ``probability``, ``mcse``, ``effective_draws``.
        """
        (NUMBER if self._coordinate.n_test is None else SHARE).check(score, "new_score")
        error, at, moved = self._on(new_n_test, score)
        chances, log_weights = np.empty((2, error.size))
        nodes = self._nodes(at, error, moved)
        step = nodes[1] - nodes[0]
        edges = np.append(nodes - step / 2, nodes[-1] + step / 2)
        best = self._coordinate.of_skill(self._best_private) - self._draws("board_shift")
        for rows, density in self._densities(nodes):
            centre = nodes + (self._draws("board_shift") - moved)[rows, None]
            sd = error[rows, None]
            mass = density * np.exp(-0.5 * ((at - centre) / sd) ** 2) / sd
            chances[rows], total = share_beyond(mass, edges, best[rows])
            selected = np.sum(density * self._selected(nodes, rows), axis=1)
            log_weights[rows] = np.log(total / selected)
        chances, log_weights = (x.reshape(self._shape) for x in (chances, log_weights))
        answer = weighted_chance(np.clip(chances, 0, 1), self.tree.attrs, log_weights)
        return {"score": float(score), "new_n_test": new_n_test, "items": _PRIVATE, **answer}

    def shown(self, gap: float, new_n_test: int | None = None) -> dict[str, Any]:
        """Probability that a team better than the best by a gap reaches the best private score.

        Parameters
        ----------
        gap : float
            By how much the newcomer's skill is better than theta_sota.
        new_n_test : int, optional
            As in ``truly_better``.

        Returns
        -------
        dict
            ``gap``, ``new_n_test``, ``items``, ``best_score``, ``probability``, ``mcse``.
        """
        accuracy = self._coordinate.n_test is not None
        (OPEN_SHARE if accuracy else POSITIVE).check(gap, "gap")
        private = dataset_of(self.tree, "observed_data")["score"].sel(board="private").values
        best, half = float(private.max()), 0.0
        if self._coordinate.n_test is not None:
            half = 0.5 / (new_n_test or self._coordinate.n_test[1])
        error, cut, moved = self._on(new_n_test, best - half)
        skill = self._draws("theta_sota") + gap
        place = self._coordinate.of_skill(np.minimum(skill, 1.0) if accuracy else skill)
        shared = self._shared - moved  # nothing on other items
        chances = np.asarray(ndtr((place + shared - cut) / error))
        answer = weighted_chance(chances.reshape(self._shape), self.tree.attrs)
        facts = {"gap": float(gap), "new_n_test": new_n_test, "items": _PRIVATE}
        return {**facts, "best_score": best, **answer}

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(dataset_of(self.tree, "posterior")["theta_sota"].shape)

    def _draws(self, name: str) -> FloatArray:
        return np.asarray(dataset_of(self.tree, "posterior")[name].values, np.float64).ravel()

    @cached_property
    def _coordinate(self) -> Coordinate:
        constants = dataset_of(self.tree, "constant_data")
        if "n_test" not in constants:
            return Coordinate(None)
        public, private = constants["n_test"].values
        return Coordinate((int(public), int(private)))

    @cached_property
    def _best_private(self) -> FloatArray:
        """Expected private score of the best team, (D,)."""
        posterior = dataset_of(self.tree, "posterior")
        expected = posterior["expected_private"].transpose("chain", "draw", ...).values
        best = posterior["best"].values.ravel().astype(np.int64)
        return expected.reshape(best.size, -1)[np.arange(best.size), best]

    @cached_property
    def _shared(self) -> FloatArray:
        """What all teams share on the private items, in the coordinate, (D,)."""
        theta = self._coordinate.of_skill(self._draws("theta_sota"))
        return self._coordinate.of_skill(self._best_private) - theta

    def _own_error(self, board: str) -> FloatArray:
        """Standard deviation of a usual residual, (D,)."""
        return self._draws(f"{board}_se") * np.sqrt(1 - self._draws("rho") ** 2)

    def _on(self, new_n_test: int | None, score: float) -> tuple[FloatArray, float, FloatArray]:
        """Error of a score, its coordinate, and what to take from ``psi + delta``, by draw."""
        if new_n_test is None:
            at = self._coordinate.of_scores(np.array([score]), 1)
            return self._own_error("private"), float(at[0]), 0 * self._shared
        COUNT.check(new_n_test, "new_n_test")
        if self._coordinate.n_test is None:
            raise InputError("new_n_test has no effect on scores that are not accuracies")
        other = Coordinate((new_n_test, new_n_test))
        error = np.full(self._shared.size, 0.5 / new_n_test**0.5)
        return error, float(other.of_scores(np.array([score]), 1)[0]), self._shared

    def _nodes(self, at: float, error: FloatArray, moved: FloatArray) -> FloatArray:
        """The grid of the skills, as far up as the new score needs."""
        nodes = dataset_of(self.tree, "constant_data")["grid"].values
        step = nodes[1] - nodes[0]
        centre = at - self._draws("board_shift") + moved
        top = float(np.max(centre + _MARGIN * error))
        if self._coordinate.n_test is not None:
            top = min(top, np.pi / 2)
        more = int(np.clip(np.ceil((top - nodes[-1]) / step), 0, 10 * nodes.size))
        return np.append(nodes, nodes[-1] + step * np.arange(1, more + 1))

    def _densities(self, nodes: FloatArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Numbers of some draws, and P(psi) of each."""
        posterior, constants = self.tree["posterior"].to_dataset(), self.tree["constant_data"]
        scale = FieldScale.of_prior(constants["field_prior"].values, constants["grid"].values)
        t = np.stack(
            scale.coordinates(self._draws("location"), np.log(self._draws("spread"))), axis=1
        )
        if "shape" in posterior:
            t = np.append(t, posterior["shape"].values.reshape(len(t), -1), axis=1)
        if "family" in posterior:
            family = posterior["family"].values.ravel()
        else:
            family = np.full(len(t), list(FAMILIES).index(self.tree.attrs["skill_family"]))
        for number, rows in in_blocks(family):
            shape = list(FAMILIES.values())[number]
            yield rows, densities_at(nodes, scale, shape, t[rows, : shape.dimension])

    def _selected(self, nodes: FloatArray, rows: IntArray) -> FloatArray:
        """Probability that a usual team of each psi is in the modelled part, (k, nodes) or 1."""
        constants = dataset_of(self.tree, "constant_data")
        if "threshold" not in constants:
            return np.ones(1)
        limits = self._coordinate.of_skill(constants["threshold"].values)
        shift = self._draws("board_shift")[rows, None]
        missed = np.ones(1)
        for board, limit, moved in zip(BOARDS, limits, (0 * shift, shift), strict=True):
            missed = missed * ndtr((limit - nodes - moved) / self._own_error(board)[rows, None])
        return 1 - missed
