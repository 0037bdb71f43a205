"""Posterior of the true state of the art from all that is known of a board.

``leaderboard.evidence`` has the model. All scores share one error ``z``, because they share the
items; one leaderboard has one draw of it and cannot show it: ``z`` and ``rho`` keep their priors;
from answers to single items rho is learnt. P(psi) is an average over families weighted by their
evidence, fitted to the top part of the board (``evidence.modelled_entries``).

The textbook model, with normal skills and the shift learnt jointly, covered real classifiers with
52 to 100 % in intervals of 95 %; ``docs/measured/calibration.md`` has this model's coverage,
``tests/leaderboard/test_posterior.py`` the second route.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, generator_of
from bayes_sota.core.inference import doubts_of_prior
from bayes_sota.core.priors import BoardPriors, Priors, board_priors
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.anchors import notes_of_anchors
from bayes_sota.leaderboard.entries import EntryDraws, entries_of
from bayes_sota.leaderboard.evidence import board_evidence, learnt_priors
from bayes_sota.leaderboard.fit import FieldFit, fit_field
from bayes_sota.leaderboard.from_items import items_evidence, notes_of_items, reasons_of_items
from bayes_sota.leaderboard.skills import Skills, draw_posterior
from bayes_sota.maximum.score_laws import score_law

_LARGE_GAP = 8.0


@dataclass(frozen=True, eq=False)
class BoardPosterior:
    """Draws from the posterior of a board.

    Attributes
    ----------
    draws : dict of str to ndarray, shape (D,)
        theta_sota, expected_sota, winner_skill, winner_new_score, best_new_score, rho, shift,
        n_classifiers, n_above_sota; submission_luck where entries had several submissions.
    skills : Skills
        Joint draws behind them.
    reasons : tuple of str
        Reasons not to trust the result.
    notes : tuple of str
        What was left out, merged or unusual.
    rng : Generator
        For entries below the modelled part.
    """

    draws: dict[str, FloatArray]
    skills: Skills
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    rng: np.random.Generator

    @property
    def learns_rho(self) -> bool:
        """Whether rho is learnt from the items."""
        return self.skills.fit.evidence.loadings.is_learnt

    @cached_property
    def entries(self) -> EntryDraws:
        """Draws of all entries with their ranks and P(best); needs ``every``."""
        return entries_of(self.skills, self.rng)


def board_posterior(
    data: Leaderboard | Outcomes,
    priors: Priors | BoardPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
    every: bool = True,
) -> BoardPosterior:
    """Posterior of theta_sota from all scores of a board, or from answers.

    Parameters
    ----------
    data : Leaderboard or Outcomes
        ``n_classifiers`` above the number of entries means that only the best were listed.
    priors : Priors, optional
        From answers its prior of rho is combined with what they say of rho.
    draws : int
    random_seed : int, Generator or None
    every : bool
        Whether all modelled entries are drawn, or only those that may be the best.

    Returns
    -------
    BoardPosterior

    Raises
    ------
    InputError
        Only the maximum is known, fewer than two scores, fewer than one draw, scores without any
        error, answers of more than 5,000 classifiers.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.95], n_test=[1000, 1000, 40])
    >>> posterior = board_posterior(board, random_seed=0, draws=500)
    >>> bool(posterior.draws["winner_skill"].mean() < 0.94)
    True
    """
    DRAWS.check(draws, "draws")
    rng, priors = generator_of(random_seed), board_priors(priors)
    if isinstance(data, Outcomes):
        evidence, size = items_evidence(data), data.n_items
    else:
        evidence, size = board_evidence(data, priors), data.n_test
    priors = learnt_priors(evidence.loadings, priors, data.new, evidence.explained)
    fit = fit_field(evidence, priors, rng)
    skills = draw_posterior(fit, draws, rng, every=every)
    values = skills.estimands() | skills.new_scores(size or None, rng)
    if evidence.has_luck:
        values["submission_luck"] = fit.nodes.draw_luck(skills.parameters.node, rng)
    if isinstance(data, Outcomes):
        reasons, notes = [*reasons_of_items(data, evidence)], [*notes_of_items(data, evidence)]
    else:
        reasons, notes = [], [*notes_of(fit)]
    of_known, doubts = notes_of_anchors(data)
    reasons += [*doubts, *reasons_of(fit)]
    return BoardPosterior(values, skills, tuple(reasons), (*notes, *of_known), rng)


def reasons_of(fit: FieldFit) -> Iterator[str]:
    """Reasons not to trust a result."""
    yield from fit.doubts
    yield from doubts_of_prior(fit)
    board = fit.evidence.board
    if perfect := _perfect_entries(board) if fit.evidence.shares_scores else 0:
        yield (
            f"{counted(perfect, 'perfect score')} among {board.n_entries:,} entries on "
            f"{board.n_test:,} items, while no other comes near: the answers have probably leaked; "
            "leave perfect scores out and fit the rest"
        )


def _perfect_entries(board: Leaderboard) -> int:
    """Number of perfect scores more than eight standard errors apart from the others."""
    perfect = (board.scores == 1) & (board.metric != "score")
    if not perfect.any() or perfect.all():
        return 0
    law, typical = score_law(board), np.quantile(board.scores[~perfect], [0.9])
    apart = (1 - typical) / law.errors_at(law.inside(typical))
    return int(perfect.sum()) if apart > _LARGE_GAP else 0


def notes_of(fit: FieldFit) -> Iterator[str]:
    """Notes on what was left out, merged or unusual."""
    evidence, board = fit.evidence, fit.evidence.board
    yield from board.notes
    if board.new == "tasks":
        yield f"the {len(board.tasks)} tasks are the sample: errors are those of new tasks"
    elif board.tasks:
        words = tasks_in_words(len(board.tasks), board.averaging)
        yield f"scores are averages of {words}, with errors of new items of these tasks"
    yield from evidence.notes
    if board.metric == "score" and fit.priors.correlation == BoardPriors.correlation:
        yield (
            "in scores such as Dice methods may share more error than in the correct and wrong "
            "answers behind the default prior of rho: --field ensembles assumes more"
        )
    if evidence.has_luck:
        prior = fit.priors.submission_luck
        middle, low, high = prior.quantile(np.array([0.5, 0.025, 0.975]))
        luck = f"{middle:.2g}" if prior.is_fixed else f"{middle:.2f} ({low:.2f} to {high:.2f})"
        yield (
            f"every entry shows the best of its submissions, {np.median(board.submissions):,.0f} "
            f"in the median: the bias of this choice, with lambda {luck}, is subtracted"
        )
    if merged := int(evidence.copies.sum() - fit.copies.sum()):
        yield (
            "more entries share a score than a smooth field explains: "
            f"{counted(merged, 'entry counts', 'entries count')} as copies of others"
        )
