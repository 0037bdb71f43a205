r"""The claim "ours is the best of m", corrected for the winner's curse.

A winner was picked because its score was the best: some of its lead is luck. Every entry has a
skill from one distribution P(theta), learnt from all scores or answers (``leaderboard_posterior``,
``responses_posterior``), and the probability that another entry is at least as good follows from
the joint posterior of all skills. The best of several tries of one method is in ``best_try``.

The uncorrected probability beside it takes both as given beforehand: from scores with the same
correlation, from answers and item scores by their paired posterior, so that there the difference
holds what the two models differ in as well.
``tests/claims/test_selected_claim.py`` compares with simulated winners.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.claims.best_try import not_below
from bayes_sota.core.arguments import generator_of, refuse_tries
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.items.method_comparison import MethodComparison, compare_methods, left_out
from bayes_sota.leaderboard.fit import correlation_nodes
from bayes_sota.leaderboard.score_kernel import ScoreKernel

if TYPE_CHECKING:
    from bayes_sota.leaderboard.joint_skills import JointPosterior

__all__ = ["SelectedClaim", "claim_of_best_entry"]

_DRAWS = 4000


@dataclass(frozen=True)
class SelectedClaim:
    """A claim about a winner that was picked, with and without the picking.

    Attributes
    ----------
    winner, runner_up : str
    p_false_selected : float
        Probability that the runner-up is at least as good, corrected for the selection.
    p_false : float
        The same as if both had been given beforehand.
    p_not_best : float
        Probability that another of the entries is the best.
    p_best : tuple of float
        Corrected probability of every entry to be the best, in the order given.
    rho : float
        Mean correlation of an entry with what all share.
    notes, reasons : tuple of str
        What a reader should know, and why the result cannot be trusted (empty where it can).
    """

    winner: str
    runner_up: str
    p_false_selected: float
    p_false: float
    p_not_best: float
    p_best: tuple[float, ...]
    rho: float
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """What the selection adds."""
        return self.p_false_selected - self.p_false


def claim_of_best_entry(
    entries: Leaderboard | Responses | ItemScores,
    priors: BoardPriors | None = None,
    *,
    tries_per_entry: float | None = None,
    given: MethodComparison | None = None,
    random_seed: int | np.random.Generator | None = None,
) -> SelectedClaim:
    """Probability that the winner of several entries is not better than the runner-up, or all.

    Parameters
    ----------
    entries : Leaderboard, Responses or ItemScores
        All that took part. From answers and item scores the correlation is learnt; from scores it
        keeps its prior.
    priors : BoardPriors, optional
    tries_per_entry : float, optional
        Refused: several tries behind each entry have no model here that can be trusted.
    given : MethodComparison, optional
        Of the same answers or item scores, where it is known already.
    random_seed : int, Generator or None

    Returns
    -------
    SelectedClaim
        With a seed, ``p_best`` is that of ``board_table`` with the same seed.

    Raises
    ------
    InputError
        Fewer than two entries, several tries per entry, or ``given`` beside a leaderboard.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.88, 0.874, 0.87, 0.86], n_test=500)
    >>> found = claim_of_best_entry(board, random_seed=0)
    >>> found.p_false_selected > found.p_false
    True
    """
    refuse_tries(tries_per_entry)
    rng = generator_of(random_seed)
    if isinstance(entries, Leaderboard):
        if given is not None:
            raise InputError("given is a comparison from answers: it says nothing of a leaderboard")
        return _of_scores(entries, priors, rng)
    return _of_items(entries, priors, given, rng)


def _of_scores(
    board: Leaderboard, priors: BoardPriors | None, rng: np.random.Generator
) -> SelectedClaim:
    from bayes_sota.leaderboard.entry_skills import draw_entry_skills
    from bayes_sota.leaderboard.posterior import leaderboard_posterior

    posterior = leaderboard_posterior(board, priors, draws=_DRAWS, random_seed=rng)
    drawn = draw_entry_skills(posterior.fit, 1000, rng)
    first, second = (int(i) for i in board.order[:2])
    assert board.scores is not None
    pair = board.without([int(i) for i in board.order[2:]]) if board.order.size > 2 else board
    tied = board.scores[first] == board.scores[second]
    return SelectedClaim(
        winner=board.names[first],
        runner_up=board.names[second],
        p_false_selected=0.5 if tied else float(drawn.p_not_below_leader[second]),
        p_false=0.5 if tied else _as_given(pair, priors),
        p_not_best=float(1 - drawn.p_best[first]),
        p_best=tuple(float(p) for p in drawn.p_best),
        rho=float(posterior.draws["rho"].mean()),
        notes=posterior.notes,
        reasons=posterior.reasons,
    )


def _as_given(pair: Leaderboard, priors: BoardPriors | None) -> float:
    """Two scores as if both had been given, with flat priors and the same correlation."""
    kernel = ScoreKernel.of(pair)
    nodes = correlation_nodes(BoardPriors() if priors is None else priors)
    return float(np.mean([not_below(kernel, 1 - rho**2, 1.0) for rho in nodes]))


def _of_items(
    items: Responses | ItemScores,
    priors: BoardPriors | None,
    given: MethodComparison | None,
    rng: np.random.Generator,
) -> SelectedClaim:
    from bayes_sota.leaderboard.item_scores_posterior import item_scores_posterior
    from bayes_sota.leaderboard.responses_posterior import responses_posterior

    notes: list[str] = []
    posterior: JointPosterior
    if isinstance(items, Responses):
        kept = items.complete()  # one set of items for both probabilities
        notes = left_out(items, kept)
        posterior = responses_posterior(kept, priors, draws=_DRAWS, random_seed=rng)
    else:
        posterior = item_scores_posterior(items, priors, draws=_DRAWS, random_seed=rng)
    if given is not None and given.methods != items.names:
        raise InputError("given is a comparison of other methods, or of several runs of these")
    if given is None:
        given = compare_methods(items, draws=_DRAWS, random_seed=rng)
    first, second = given.winner, given.runner_up
    skill = posterior.entries.skill
    tied = given.scores[first] == given.scores[second]
    return SelectedClaim(
        winner=given.methods[first],
        runner_up=given.methods[second],
        p_false_selected=0.5 if tied else float(np.mean(skill[:, first] <= skill[:, second])),
        p_false=0.5 if tied else given.p_false,
        p_not_best=float(1 - posterior.entries.p_best[first]),
        p_best=tuple(float(p) for p in posterior.entries.p_best),
        rho=float(posterior.draws["rho"].mean()),
        notes=(*notes, *posterior.notes),
        reasons=posterior.reasons,
    )
