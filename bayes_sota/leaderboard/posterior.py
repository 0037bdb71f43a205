r"""Posterior of the true state of the art from all that is known of a board.

``leaderboard.evidence`` has the model. ``z`` is what all scores of one board share, because they
share the items. One leaderboard holds one draw of it and cannot tell it: ``z`` and ``rho`` keep
their priors, and rho is the same number in both places; from answers to single items rho is learnt.
P(psi) is an average over families weighted by their evidence, fitted to the top part of the board
(``from_scores.modelled_entries``).

Why not the textbook model: with skills normal and the shift learnt jointly, intervals of 95 %
covered 52 to 100 % on real classifiers. ``docs/measured/calibration.md`` has what this model does
there, ``tests/leaderboard/test_posterior.py`` the second route.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters
from bayes_sota.core.priors import BoardPriors, FixedCorrelation, Priors, board_priors
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import ABOUT, Outcomes
from bayes_sota.leaderboard.entries import EntryDraws, entries_of
from bayes_sota.leaderboard.fit import FieldFit, fit_field
from bayes_sota.leaderboard.from_items import items_evidence, notes_of_items, reasons_of_items
from bayes_sota.leaderboard.from_scores import board_evidence, learnt_priors
from bayes_sota.leaderboard.predictive import fresh_scores
from bayes_sota.leaderboard.skills import Skills, draw_posterior
from bayes_sota.maximum.score_laws import AucScoreLaw, score_law

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_GAPS = (1, 2, 5)
_LEAST_EFFECTIVE = 75.0
_LARGE_GAP = 8.0
_AT_THE_END = 0.01  # share of draws of the leader in the lowest cells of the grid


@dataclass(frozen=True, eq=False)
class BoardPosterior:
    """Draws from the posterior of a board.

    Attributes
    ----------
    draws : dict of str to ndarray, shape (D,)
        theta_sota, expected_sota, winner_skill, winner_new_score, best_new_score, rho, shift,
        n_classifiers, n_above_sota; submission_luck where entries had several submissions; names
        as in ``bayes_sota.core.schema``.
    skills : Skills
        Joint draws behind them.
    reasons : tuple of str
        Why the result cannot be trusted; empty where it can.
    notes : tuple of str
        What a reader should know: what was left out, merged or unusual.
    rng : Generator
        For entries below the modelled part.
    """

    draws: dict[str, FloatArray]
    skills: Skills
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    rng: np.random.Generator

    @property
    def fit(self) -> FieldFit:
        """Weighted parameters behind the draws."""
        return self.skills.fit

    @property
    def parameters(self) -> Parameters:
        """Family, node of rho and coordinates behind each draw."""
        return self.skills.parameters

    @property
    def learns_rho(self) -> bool:
        """Whether the items told rho; errors of new runs have none to tell, scores alone do not."""
        return self.fit.evidence.loadings.is_learnt

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
    new_n_test: int | None = None,
    every: bool = True,
) -> BoardPosterior:
    """Posterior of theta_sota from all scores of a board, own errors too, or from answers.

    Parameters
    ----------
    data : Leaderboard or Outcomes
        With scores; ``n_classifiers`` above the number of entries means that only the best were
        listed.
    priors : Priors, optional
        From answers its prior of rho is combined with what they say of rho.
    draws : int
    random_seed : int, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.
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
    >>> rng = np.random.default_rng(0)
    >>> answers = Outcomes(rng.random((400, 1)) ** 0.5 + 0.2 * rng.random((400, 12)) > 0.4)
    >>> posterior = board_posterior(answers, random_seed=0, draws=500)
    >>> bool(posterior.draws["theta_sota"].mean() < answers.scores.max())
    True
    """
    DRAWS.check(draws, "draws")
    rng, priors = generator_of(random_seed), board_priors(priors)
    if isinstance(data, Outcomes):
        if data.new != "items" and new_n_test is not None and data.is_answers:
            raise InputError(
                f"a fresh test set has new items, and skill is about {ABOUT[data.new]}: leave out "
                "{name}",
                parameter="new_n_test",
            )
        evidence, size = items_evidence(data), data.n_items
    else:
        evidence, size = board_evidence(data, priors), data.n_test
    if data.new == "runs":
        priors = replace(priors, correlation=FixedCorrelation(0.0))
    else:
        priors = learnt_priors(evidence.loadings, priors, data.new)
    fit = fit_field(evidence, priors, rng)
    skills = draw_posterior(fit, draws, rng, every=every)
    values = skills.estimands() | skills.new_scores(new_n_test or size or None, rng)
    if evidence.has_luck:
        values["submission_luck"] = fit.nodes.draw_luck(skills.parameters.node, rng)
    if isinstance(data, Outcomes):
        reasons = [*few_points(fit), *reasons_of_items(data, evidence)]
        notes = [*notes_of_items(data, evidence)]
    else:
        reasons, notes = [*reasons_of(fit)], [*notes_of(fit)]
    if np.mean(skills.psi[:, -1] <= evidence.psi[5]) > _AT_THE_END:
        reasons.append("the priors of the field's place and width hardly allow these scores")
    return BoardPosterior(values, skills, tuple(reasons), tuple(notes), rng)


@dataclass(frozen=True, eq=False)
class BoardCheck:
    """Observed statistics of the modelled part against replicated ones.

    Attributes
    ----------
    names : tuple of str
        The statistics: quantiles of the modelled scores, and gaps from the best score to the
        k-th next.
    observed : ndarray, shape (K,)
    replicated : ndarray, shape (draws, K)
    """

    names: tuple[str, ...]
    observed: FloatArray
    replicated: FloatArray

    @property
    def p_values(self) -> FloatArray:
        """Share of replications at least as large, ties by half, shape (K,)."""
        above = np.mean(self.replicated > self.observed, axis=0)
        return above + np.mean(self.replicated == self.observed, axis=0) / 2


def check_board(fit: FieldFit, rng: np.random.Generator, draws: int = 400) -> BoardCheck:
    """Compare the modelled part of the board with so many replicates of it.

    Gaps and quantiles do not depend on the shift, which all entries share.
    """
    parameters = Parameters.of(fit, fit.choose(draws, rng))
    observed = fit.evidence.scores[fit.evidence.entries]
    return compare_boards(observed, fresh_scores(fit, parameters, rng))


def compare_boards(observed: FloatArray, boards: FloatArray) -> BoardCheck:
    """Statistics of a board, (n,), and of its replicates, (D, n)."""
    gaps = [k for k in _GAPS if k < observed.size]
    names = (*(f"quantile {q:g}" for q in _LEVELS), *(f"best minus next {k}" for k in gaps))
    return BoardCheck(names, _statistics(observed, gaps), _statistics(boards, gaps))


def _statistics(scores: FloatArray, gaps: list[int]) -> FloatArray:
    ordered = np.sort(scores, axis=-1)[..., ::-1]
    quantiles = np.moveaxis(np.quantile(ordered, _LEVELS, axis=-1), 0, -1)
    below = ordered[..., :1] - ordered[..., gaps]
    return np.concatenate([quantiles, below], axis=-1)


def few_points(fit: FieldFit) -> Iterator[str]:
    """Why the importance sample cannot be trusted."""
    if fit.effective_size < _LEAST_EFFECTIVE:
        yield (
            "importance sample of the hyperparameters has an effective size of "
            f"{fit.effective_size:.0f}, below {_LEAST_EFFECTIVE:.0f}"
        )


def reasons_of(fit: FieldFit) -> Iterator[str]:
    """Why a result cannot be trusted."""
    board = fit.evidence.board
    yield from few_points(fit)
    perfect = 0 if board.has_own_errors else _perfect_entries(board)
    if perfect:
        yield (
            f"{counted(perfect, 'perfect score')} among {board.n_entries:,} entries on "
            f"{board.n_test:,} items, while no other comes near: the answers have probably leaked, "
            "so leave out what is perfect and fit the rest"
        )


def _perfect_entries(board: Leaderboard) -> int:
    """Perfect scores that stand apart from the others by more than eight standard errors."""
    if board.metric == "score":
        return 0
    law, scores = score_law(board), board.scores
    if isinstance(law, AucScoreLaw):
        perfect = scores >= 1 - law.table.lattice
    else:
        assert board.count_bounds is not None
        perfect = board.count_bounds[:, 1] >= board.n_test
    if not perfect.any() or perfect.all():
        return 0
    typical = float(np.quantile(scores[~perfect], 0.9))
    if board.metric == "auc":
        apart = float(law.depth(np.array([typical]))[0])
    else:
        error = np.sqrt(max(typical * (1 - typical), 0.5 / board.n_test) / board.n_test)
        apart = (1 - typical) / error
    return int(perfect.sum()) if apart > _LARGE_GAP else 0


def notes_of(fit: FieldFit) -> Iterator[str]:
    """What a reader should know: what was left out, merged or unusual."""
    evidence = fit.evidence
    board, modelled = evidence.board, evidence.entries.size
    yield from board.notes
    if board.new == "tasks":
        count = len(board.tasks)
        yield f"the {count} tasks are the sample: errors are those of new tasks like them"
    elif board.tasks:
        words = tasks_in_words(len(board.tasks), board.averaging)
        yield f"scores are averages of {words}, with errors of new items of these tasks"
    if modelled < board.n_entries:
        yield (
            f"P(theta) is fitted to the best {modelled} of {board.n_entries} entries, the "
            "others are too far below to be the best"
        )
    if board.has_own_errors:
        low, high = np.quantile(evidence.ratio[evidence.entries], [0, 1])
        if high > 1.1 * low:
            yield (
                f"entries have errors of their own, {low:.2g} to {high:.2g} times the typical one "
                "at the same score"
            )
        return
    if evidence.has_luck:
        yield _told_of_submissions(fit)
    merged = int(evidence.copies.sum() - fit.copies.sum())
    if merged:
        fewer = (fit.copies < evidence.copies - 1e-9)[evidence.row]
        spikes = np.unique(evidence.scores[evidence.entries[fewer]]).size
        yield (
            f"more entries share {counted(spikes, 'score')} than a smooth field explains: "
            f"{counted(merged, 'entry counts', 'entries count')} as copies of others there"
        )
    yield from _leading_gap(board)


def _told_of_submissions(fit: FieldFit) -> str:
    numbers, prior = fit.evidence.board.submissions, fit.priors.submission_luck
    middle, low, high = prior.quantile(np.array([0.5, 0.025, 0.975]))
    luck = f"{middle:.2g}" if prior.is_fixed else f"{middle:.2f} ({low:.2f} to {high:.2f})"
    return (
        f"every entry shows the best of its submissions, {np.median(numbers):,.0f} in the median: "
        f"what luck of the choice is in the scores, by lambda {luck}, is taken off"
    )


def _leading_gap(board: Leaderboard) -> Iterator[str]:
    """A gap below the first few entries that is large against the standard error."""
    law, scores = score_law(board), board.scores
    ordered = np.sort(scores)[::-1]
    few = ordered[:11]
    if few.size < 3:
        return
    gaps = np.diff(law.depth(few))
    first = int(np.argmax(gaps))
    if gaps[first] >= _LARGE_GAP and first + 1 <= ordered.size // 2:
        yield (
            f"the best {'entry stands' if not first else f'{first + 1} entries stand'} "
            f"{gaps[first]:.0f} standard errors above the next: "
            "another kind of classifier, or a leak"
        )
