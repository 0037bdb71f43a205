"""Posterior of the true state of the art from all that is known of a board.

One leaderboard has one draw of the shared error ``z`` and cannot show it: ``z`` and ``rho`` keep
their priors; from answers to single items rho is learnt. P(psi) is an average over families
weighted by their evidence, fitted to the top part of the board. ``docs/measured/calibration.md``
has the coverage, ``tests/leaderboard/test_posterior.py`` the second route.

Skill increases with psi whatever the shift: ranks and P(best) do not depend on it, intervals of
skill do. Joint sets of ranks come from the draws of all skills, stepwise ones from the errors of
the scores: from scores alone independent but for the shared error, from answers those of the items
or clusters, each weighted by a standard normal number (a multiplier bootstrap).
``tests/leaderboard/test_entry_skills.py`` compares with quadrature.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core import ranks
from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, check_choice, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import doubts_of_prior
from bayes_sota.core.numerics import student_factors
from bayes_sota.core.priors import BoardPriors, Priors, board_priors
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.anchors import notes_of_anchors
from bayes_sota.leaderboard.evidence import board_evidence, learnt_priors
from bayes_sota.leaderboard.fit import FieldFit, fit_field
from bayes_sota.leaderboard.from_items import items_evidence, notes_of_items, reasons_of_items
from bayes_sota.leaderboard.skills import Skills, draw_posterior
from bayes_sota.maximum.score_laws import score_law

Ranks = Literal["auto", "joint", "confidence", "each"]

MOST_JOINT = 100  # entries up to which joint sets had their probability in simulations
_SIMULATED = 1000  # errors of all scores
_LEAST_ROWS = 20  # items, clusters or tasks whose number of times varies
_AT_ONCE = 4000  # rows
_CELLS = 4_000_000  # numbers that are ranked at a time
_LARGE_GAP = 8.0


@dataclass(frozen=True, eq=False)
class EntryDraws:
    """Draws of the skills of all entries, with ranks and summaries.

    ``skill`` (D, m) is in the order of ``board.scores``.
    Draws of entries with the same posterior (``alike``) are pooled.
    """

    skill: NDArray[np.float32]
    p_best: FloatArray
    p_best_mcse: FloatArray
    alike: Sequence[IntArray]

    @cached_property
    def rank(self) -> NDArray[np.int32]:
        """Rank by skill in each draw, 1 for the highest, (D, m); pooling mixes ties."""
        draws, m = self.skill.shape
        rank = np.empty((draws, m), np.int32)
        places = np.arange(1, m + 1, dtype=np.int32)[None, :]
        rows = max(1, _CELLS // m)
        for start in range(0, draws, rows):
            order = np.argsort(-self.skill[start : start + rows], axis=1)
            np.put_along_axis(rank[start : start + rows], order, places, axis=1)
        return rank

    def mean(self) -> FloatArray:
        return self._pooled(self.skill, lambda x: x.mean(dtype=float))

    def interval(self, ci_prob: float = 0.95) -> FloatArray:
        return self._quantiles(self.skill, ci_prob, "linear")

    def rank_interval(self, ci_prob: float = 0.95) -> IntArray:
        return self._quantiles(self.rank, ci_prob, "inverted_cdf").astype(np.int64)

    def _quantiles(self, draws: NDArray[Any], ci_prob: float, method: Any) -> FloatArray:
        tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
        return self._pooled(draws, lambda x: np.quantile(x, tails, method=method))

    def _pooled(self, draws: NDArray[Any], summary: Callable[[NDArray[Any]], Any]) -> FloatArray:
        each = [summary(draws[:, entries].ravel()) for entries in self.alike]
        order = np.argsort(np.concatenate(self.alike))
        sizes = [entries.size for entries in self.alike]
        return np.repeat(np.array(each, np.float64), sizes, axis=0)[order]


def entries_of(skills: Skills, rng: np.random.Generator) -> EntryDraws:
    """Draws of all entries from those of the classifiers behind them; unlisted ones are ignored."""
    alike = skills.fit.evidence.alike
    best = alike[skills.entry_of[np.argmax(skills.theta, axis=1)]]  # which group has the best skill
    group, size = np.unique(alike[skills.entry_of]), np.bincount(alike)
    p_best, mcse = np.zeros((2, size.size))
    p_best[group] = np.bincount(best, minlength=size.size)[group] / best.size
    mcse[group] = skills.parameters.share_mcse(best[:, None] == group)
    groups = np.split(np.argsort(alike, kind="stable"), np.cumsum(size)[:-1])
    each = (p_best / size)[alike], (mcse / size)[alike]
    return EntryDraws(skills.of_all(rng), *each, groups)


def rank_sets(
    data: Leaderboard | Outcomes,
    entries: EntryDraws,
    rho: FloatArray,
    ci_prob: float,
    how: Ranks,
    rng: np.random.Generator,
) -> tuple[Ranks, IntArray]:
    """Kind of the sets of ranks, and the sets of all entries, best score first, (m, 2).

    ``auto`` takes joint sets up to 100 entries, above that confidence sets where possible.
    """
    check_choice("ranks", how, Ranks)
    why = _lacking(data)
    if how == "confidence" and why:
        raise InputError(f"confidence sets of ranks need {why}: take joint ones")
    if how == "auto":
        how = "joint" if len(entries.p_best) <= MOST_JOINT or why else "confidence"
    order = np.argsort(-data.scores, kind="stable")
    if how == "each":
        return how, entries.rank_interval(ci_prob)[order]
    if how == "confidence":
        return how, _confidence_sets(data, rho, ci_prob, rng)[order]
    sets = ranks.joint_rank_sets(entries.rank, ci_prob, entries.alike)[order]
    known = data.anchors is not None
    if isinstance(data, Leaderboard) and not (data.has_own_errors or data.has_submissions or known):
        # From scores alone a lower score has no better rank, but for Monte Carlo error.
        sets[:, 0] = np.minimum.accumulate(sets[::-1, 0])[::-1]
        sets[:, 1] = np.maximum.accumulate(sets[:, 1])
    return how, sets


def _lacking(data: Leaderboard | Outcomes) -> str:
    if data.anchors is not None:
        return "skills none of which is known"
    if isinstance(data, Leaderboard):
        return "scores that were not chosen among submissions" * data.has_submissions
    few = len(data.average.influence) < _LEAST_ROWS
    return f"{_LEAST_ROWS} items, clusters, tasks or runs at least" * few


def _confidence_sets(
    data: Leaderboard | Outcomes, rho: FloatArray, ci_prob: float, rng: np.random.Generator
) -> IntArray:
    if not isinstance(data, Leaderboard):
        influence, covariance = data.average.influence, data.covariance
        noise = np.zeros((_SIMULATED, data.n_classifiers))
        for start in range(0, len(influence), _AT_ONCE):
            rows = influence[start : start + _AT_ONCE]
            noise += rng.standard_normal((_SIMULATED, len(rows))) @ rows
        variance = np.diagonal(covariance)
        squares = variance[:, None] + variance - 2 * covariance
        if data.is_answers:
            squares += 2 / data.totals[:, None] / data.totals  # an item more of either kind
        errors = np.sqrt(np.maximum(squares, 0))
        return ranks.confidence_rank_sets(data.scores, errors, noise, ci_prob)
    law, ratios = score_law(data), data.error_ratios
    printed = law.rounding_at(data.scores) / (1.0 if ratios is None else ratios**2)
    scale = np.sqrt(1 - rng.choice(rho, _SIMULATED)[:, None] ** 2 + printed)
    noise = scale * rng.standard_normal((_SIMULATED, data.n_entries))
    noise *= student_factors(data.freedom, (_SIMULATED, 1), rng)
    places = law.normal_scores.stabilized(data.scores)
    if ratios is None:
        return ranks.confidence_rank_sets_of_equal_errors(places, noise, ci_prob)
    errors = np.hypot(ratios[:, None], ratios)
    return ranks.confidence_rank_sets(places, errors, noise * ratios, ci_prob)


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
    reasons, notes : tuple of str
        Reasons not to trust the result; what was left out, merged or unusual.
    """

    draws: dict[str, FloatArray]
    skills: Skills
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    rng: np.random.Generator

    @property
    def learns_rho(self) -> bool:
        return self.skills.fit.evidence.loadings.is_learnt

    @cached_property
    def entries(self) -> EntryDraws:
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
        Whether all modelled entries are drawn, or those that may be the best.

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
