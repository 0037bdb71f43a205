"""How theta_sota moves with assumptions that the data do not determine."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bayes_sota.core.arguments import DEFAULT_SEED, OPEN_SHARE, generator_of, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.priors import (
    FixedCorrelation,
    Priors,
    TriesPrior,
    board_priors,
    maximum_priors,
)
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.posterior import BoardPosterior, board_posterior
from bayes_sota.leaderboard.skills import draw_posterior
from bayes_sota.leaderboard.specification import of_other_field
from bayes_sota.maximum.fresh_test_sets import default_reference_skill
from bayes_sota.maximum.posterior import sota_posterior

type Row = tuple[str, float | str, Callable[[], FloatArray]]
"""Assumption, its value, and what draws theta_sota with it."""
_LUCKS = (0.0, 0.3, 0.6, 0.9)  # of chosen submissions
_RATIOS = (0.5, 1.0, 2.0)  # of the spreads of the scores behind AUCs
_HIDDEN = 10.0  # times as many entries as are listed


def sota_sensitivity(
    board: BestScore | Sequence[BestScore],
    *,
    priors: Priors | None = None,
    reference_skill: float | None = None,
    ci_prob: float = 0.95,
    draws: int = 4000,
    random_seed: int | None = DEFAULT_SEED,
    progressbar: bool = False,
) -> pd.DataFrame:
    """How theta_sota moves with assumptions that the data do not determine, by the exact route.

    The number of classifiers at half, twice and ten times; theta0 at half and twice its odds; rho
    fixed at the 2.5 %, 50 % and 97.5 % quantiles of its prior (or at 0, 0.6 and 0.9 where it is
    fixed); the spread of skills fixed at the ends of its prior range (or at half and twice); the
    spread ratio of the scores behind AUCs at half and two; the other kind of field, where the prior
    of rho is of one.

    For a board with scores: rho fixed on a grid, and rho learnt jointly; each family of P(theta)
    alone; the luck of chosen submissions, where the board has some; more entries than are listed;
    the spread ratio of the scores behind AUCs; the other kind of field.
    ``progressbar`` shows how many are left.

    Returns
    -------
    pandas.DataFrame
        Columns assumption, value, mean, lower, upper, mcse (of the mean); the first row is the
        result itself, as of ``estimate_sota`` with as many draws and the same seed. With several
        boards, theta_sota is the first board's.
    """
    if isinstance(board, Outcomes):
        raise InputError("answers determine what a leaderboard assumes: give a leaderboard")
    OPEN_SHARE.check(ci_prob, "ci_prob")
    boards = (board,) if isinstance(board, BestScore) else tuple(board)

    if len(boards) == 1 and isinstance(boards[0], Leaderboard):
        refuse_unused("more than the maximum of a board", {"reference_skill": reference_skill})
        rng, known = generator_of(random_seed), board_priors(priors)
        found = board_posterior(boards[0], known, draws=draws, random_seed=rng, every=False)
        rows = rows_of_board(found, draws, rng)
    else:
        rows = _rows_of_maxima(boards, priors, reference_skill, draws, random_seed)
    return tried(rows, ci_prob, progressbar)


def tried(rows: Sequence[Row], ci_prob: float, progressbar: bool) -> pd.DataFrame:
    """Frame of theta_sota under each assumption."""
    table = []
    with shown_progress(len(rows), "assumptions", show=progressbar) as advance:
        for assumption, value, draw in rows:
            drawn = draw()
            ends = np.quantile(drawn, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
            mcse = drawn.std() / np.sqrt(drawn.size)
            table.append((assumption, value, *map(float, (drawn.mean(), *ends, mcse))))
            advance()
    return pd.DataFrame(table, columns=["assumption", "value", "mean", "lower", "upper", "mcse"])


def rows_of_board(found: BoardPosterior, draws: int, rng: np.random.Generator) -> list[Row]:
    """Assumptions of the posterior of a board, itself first.

    Rows share the seed, so that they differ by the assumption more than by chance.
    """
    given, seed = found.fit.learning("nothing"), int(rng.integers(2**63))
    board = given.evidence.board

    def of_fit(fit: Any) -> FloatArray:
        return board.sign * draw_posterior(fit, draws, np.random.default_rng(seed)).best

    def anew(boards: Sequence[Any], priors: Any) -> FloatArray:
        settings: Any = {"draws": draws, "random_seed": seed, "every": False}
        return board.sign * board_posterior(boards[0], priors, **settings).skills.best

    rows: list[Row] = [("as given", np.nan, lambda: board.sign * found.draws["theta_sota"])]
    if given.nodes.cells > 1:
        rows += [("rho", float(x), partial(of_fit, given.at_rho(x))) for x in np.unique(given.rho)]
        learnt = given.learning("rho")
        value = float(learnt.node_weights @ given.rho)
        rows.append(("rho learnt from the scores", value, partial(of_fit, learnt)))
    if len(given.families) > 1:
        rows += [("family", f, partial(of_fit, given.of_family(f))) for f in given.families]
    if board.anchors is not None:
        without = (board.copy_with(anchors=None),)
        rows.append(("known skills", "unknown", partial(anew, without, given.priors)))
    if not board.has_own_errors:
        more = partial(anew, _with_tries((board,), _HIDDEN), given.priors)
        rows.append(("n_classifiers", _HIDDEN, more))
    return [*rows, *_rows_of_any((board,), given.priors, anew)]


def _rows_of_maxima(
    boards: tuple[BestScore, ...],
    priors: Priors | None,
    theta0: float | None,
    draws: int,
    random_seed: int | None,
) -> list[Row]:
    known = maximum_priors(priors)
    rho, spread = known.correlation, known.skill.spread

    def anew(boards: Any = boards, priors: Any = known, theta0: Any = theta0) -> FloatArray:
        settings: Any = {"draws": draws, "random_seed": random_seed, "reference_skill": theta0}
        return sota_posterior(boards, priors, **settings).draws["theta_sota"][:, 0]

    rows: list[Row] = [("as given", np.nan, anew)]
    rows += [
        ("n_classifiers", k, partial(anew, _with_tries(boards, k))) for k in (0.5, 2.0, _HIDDEN)
    ]
    if all(board.metric == "accuracy" for board in boards):
        middle = default_reference_skill(boards[0]) if theta0 is None else theta0
        others = [odds / (1 + odds) for odds in middle / (1 - middle) * np.array([0.5, 2.0])]
        rows += [("reference_skill", float(x), partial(anew, theta0=float(x))) for x in others]
    for x in (0.0, 0.6, 0.9) if rho.is_fixed else rho.quantile([0.025, 0.5, 0.975]).tolist():
        at_x = replace(known, correlation=FixedCorrelation(x))
        rows.append(("rho", x, partial(anew, priors=at_x)))
    for x in spread if isinstance(spread, tuple) else (spread / 2, min(spread * 2, 4.9)):
        at_x = replace(known, skill=replace(known.skill, spread=x))
        rows.append(("spread", x, partial(anew, priors=at_x)))
    return [*rows, *_rows_of_any(boards, known, anew)]


def _rows_of_any(
    boards: Sequence[BestScore], priors: Any, anew: Callable[[Any, Any], FloatArray]
) -> Iterator[Row]:
    """Rows that maxima and whole boards have."""
    for luck in _LUCKS if any(board.has_submissions for board in boards) else ():
        known = replace(priors, submission_luck=FixedCorrelation(luck))
        yield "submission_luck", luck, partial(anew, boards, known)
    for ratio in _RATIOS if all(board.metric == "auc" for board in boards) else ():
        if ratio != boards[0].spread_ratio:
            others = tuple(board.copy_with(spread_ratio=ratio) for board in boards)
            yield "spread_ratio", ratio, partial(anew, others, priors)
    for kind, other in of_other_field(priors):
        yield "field", kind, partial(anew, boards, other)


def _with_tries(boards: Sequence[BestScore], factor: float) -> tuple[BestScore, ...]:
    """The same boards with ``factor`` times as many classifiers."""
    each = (board.n_classifiers for board in boards)
    more = [
        n.scaled(factor) if isinstance(n, TriesPrior) else max(1, round(n * factor)) for n in each
    ]
    return tuple(board.with_tries(n) for board, n in zip(boards, more, strict=True))
