r"""Posterior of the true state of the art from scores of which each has an error of its own.

The model and the joint draws of ``leaderboard.from_items``, but nothing tells how far the entries
share the luck of the items: rho keeps its prior and is the same for all, as for a plain board, and
what is left of the errors is independent. Only tasks that are the sample tell it, as items do. An
entry on few items, or an average that is worth few, has a wide error and is shrunk more.

``tests/leaderboard/test_own_errors.py`` compares with a plain board where all errors are the same,
and with the posterior of the answers that a table of scores was made from.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, generator_of
from bayes_sota.core.priors import BoardPriors, Priors, board_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.sizes import leaders
from bayes_sota.items.correlation import (
    ResponseCorrelation,
    influence_correlation,
    no_correlation,
)
from bayes_sota.leaderboard.fit import FieldFit, ScoreKernel, fit_field
from bayes_sota.leaderboard.from_items import (
    MOST_CLASSIFIERS,
    OF_TASKS,
    JointKernel,
    JointPosterior,
    JointSampler,
    items_posterior,
    learnt_from,
)
from bayes_sota.leaderboard.posterior import (
    LeaderboardPosterior,
    few_points,
    leaderboard_posterior,
)
from bayes_sota.leaderboard.specification import of_other_field
from bayes_sota.maximum.score_laws import ScoreLaw, entry_values

_MOST_NODES = 2000


def board_posterior(
    data: Leaderboard | Outcomes,
    priors: Priors | BoardPriors | None = None,
    **settings: Any,
) -> LeaderboardPosterior:
    """Posterior of all entries by what is known of them: scores, own errors too, or answers.

    Parameters
    ----------
    data : Leaderboard or Outcomes
    priors : Priors, optional
    **settings
        ``draws``, ``random_seed`` and ``new_n_test``.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.95], n_test=[1000, 1000, 40])
    >>> posterior = board_posterior(board, random_seed=0, draws=500)
    >>> bool(posterior.draws["winner_skill"].mean() < 0.94)
    True
    """
    if not isinstance(data, Leaderboard):
        return items_posterior(data, priors, **settings)
    if not data.has_own_errors:
        return leaderboard_posterior(data, priors, **settings)
    return own_errors_posterior(data, priors, **settings)


def own_errors_posterior(
    board: Leaderboard,
    priors: Priors | BoardPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
    new_n_test: int | None = None,
) -> JointPosterior:
    """Posterior of a board whose entries have errors of their own.

    Parameters are those of ``board_posterior``.
    """
    DRAWS.check(draws, "draws")
    rng = generator_of(random_seed)
    priors = board_priors(priors)
    loadings = _loadings(board, priors)
    if loadings.is_learnt:
        priors = learnt_from(loadings, priors, "tasks")
    kernel = kernel_of_own_errors(board, loadings)
    fit = fit_field(kernel, priors, rng, merge_spikes=False)
    notes = (*board.notes, *_of_tasks(board), *_notes(kernel))
    sampler, reasons = JointSampler(fit, loadings), tuple(few_points(fit))
    return sampler.posterior(draws, new_n_test or board.n_test, rng, reasons, notes)


def _loadings(board: Leaderboard, priors: BoardPriors) -> ResponseCorrelation:
    """How far entries share their luck: assumed, but told by tasks that are the sample."""
    influence = board.task_influence
    if influence is None:
        return no_correlation(entry_values(board), priors.correlation)
    if not influence.any() or board.n_entries > MOST_CLASSIFIERS:
        return no_correlation(entry_values(board), OF_TASKS)
    return influence_correlation(influence * len(influence), board.scores, of_tasks=True)


def kernel_of_own_errors(board: Leaderboard, loadings: ResponseCorrelation) -> JointKernel:
    """Kernel of the modelled entries, each with its own error."""
    ratio = board.error_ratios
    assert ratio is not None
    base, values = ScoreKernel.of(board), entry_values(board)
    modelled = base.modelled
    law = base.law.fitted_to(values[modelled])
    y = _grid(law, values[modelled], ratio[modelled], complete=bool(modelled.all()))
    base = replace(base, law=law, y=y)
    fresh = ratio if board.metric == "score" else np.ones(ratio.size)
    return JointKernel.of_scores(base, board.scores, values, loadings, ratio, fresh, board.freedom)


def _grid(law: ScoreLaw, values: FloatArray, ratio: FloatArray, *, complete: bool) -> FloatArray:
    """Grid that holds the skills behind every value, a sixth of the leaders' least error apart."""
    places, errors = law.places(values)
    errors = errors * ratio
    low = np.min(places - (4 if complete else 6) * np.minimum(errors, 1.0))
    high = np.max(places + 5 * np.minimum(errors, 1.2))
    step = errors[leaders(values)].min() / 6
    return np.linspace(low, high, int(np.clip((high - low) / step, 60, _MOST_NODES)))


def _of_tasks(board: Leaderboard) -> Iterator[str]:
    """What averages over tasks are about."""
    count = len(board.tasks)
    if board.new == "tasks":
        yield f"the {count} tasks are the sample: errors are those of new tasks like them"
    elif count:
        words = tasks_in_words(count, board.averaging)
        yield f"scores are averages of {words}, with errors of new items of these tasks"


def _notes(kernel: JointKernel) -> Iterator[str]:
    if kernel.entries.size < kernel.modelled.size:
        yield (
            f"P(theta) is fitted to the best {kernel.entries.size} of {kernel.modelled.size} "
            "entries; the others are too far below to be the best"
        )
    typical = kernel.ratio[kernel.entries]
    low, high = typical.min(), typical.max()
    if high > 1.1 * low:
        yield (
            f"entries have errors of their own, {low:.2g} to {high:.2g} times the typical one at "
            "the same score"
        )


type Row = tuple[str, float | str, Callable[[], FloatArray]]


def assumption_rows(fit: FieldFit, draws: int, seed: int) -> Iterator[Row]:
    """Assumption, value and what draws theta_sota, as of ``sample_estimate.board_rows``.

    All rows share the fit of the result and their random numbers.
    """
    board = fit.kernel.board
    loadings = _loadings(board, fit.priors)

    def theta(fit: FieldFit) -> FloatArray:
        rng = np.random.default_rng(seed)
        return board.sign * JointSampler(fit, loadings).draw(draws, rng)[0]["theta_sota"]

    def fitted(priors: BoardPriors) -> FloatArray:
        posterior = own_errors_posterior(board, priors, draws=draws, random_seed=seed)
        return board.sign * posterior.draws["theta_sota"]

    yield from rows_of_fit(fit, theta)
    for kind, others in of_other_field(fit.priors):
        yield "field", kind, partial(fitted, others)


def rows_of_fit(fit: FieldFit, theta: Callable[[FieldFit], FloatArray]) -> Iterator[Row]:
    """Rows for values of rho, for rho learnt from the scores, and for each family alone.

    Parameters
    ----------
    fit : FieldFit
    theta : callable
        Draws of theta_sota from the fit with other weights.
    """
    if fit.nodes.cells > 1:
        for rho in np.unique(fit.rho):
            yield "rho", float(rho), partial(theta, fit.at_rho(rho))
        learnt = fit.learning("rho")
        value = float(learnt.node_weights @ fit.rho)
        yield "rho learnt from the scores", value, partial(theta, learnt)
    for family in fit.families if len(fit.families) > 1 else ():
        yield "family", family, partial(theta, fit.of_family(family))
