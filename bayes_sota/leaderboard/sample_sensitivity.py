"""How theta_sota moves with what is assumed rather than observed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayes_sota.core.arguments import DEFAULT_SEED, OPEN_SHARE, generator_of, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.priors import (
    FixedCorrelation,
    MaximumPriors,
    Priors,
    TriesPrior,
    board_priors,
    maximum_priors,
)
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.posterior import BoardPosterior, board_posterior
from bayes_sota.leaderboard.skills import draw_posterior
from bayes_sota.leaderboard.specification import of_other_field
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.tables import default_reference_skill

type Row = tuple[str, float | str, dict[str, Any]]
"""Assumption, its value, and what changes in the call that draws theta_sota."""
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
    """How theta_sota moves with what is assumed rather than observed, by the exact route.

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
        raise InputError("what is assumed of a leaderboard is learnt here: give a leaderboard")
    OPEN_SHARE.check(ci_prob, "ci_prob")
    boards = (board,) if isinstance(board, BestScore) else tuple(board)
    check_luck(priors, *boards)
    first, shown = boards[0], dict[str, Any](ci_prob=ci_prob, progressbar=progressbar)
    if len(boards) == 1 and isinstance(first, Leaderboard):
        refuse_unused("more than the maximum of a board", {"reference_skill": reference_skill})
        rng, known = generator_of(random_seed), board_priors(priors)
        found = board_posterior(first, known, draws=draws, random_seed=rng, every=False)
        return board_sensitivity(found, draws, rng, **shown)
    given = maximum_priors(priors)

    def theta(
        boards: Any = boards, priors: Any = given, theta0: Any = reference_skill
    ) -> FloatArray:
        settings: Any = {"draws": draws, "random_seed": random_seed, "reference_skill": theta0}
        return sota_posterior(boards, priors, **settings).draws["theta_sota"][:, 0]

    rows = _rows_of_maxima(boards, given, reference_skill)
    return _sensitivity(theta(), rows, theta, **shown)


def board_sensitivity(
    found: BoardPosterior, draws: int, rng: np.random.Generator, **shown: Any
) -> pd.DataFrame:
    """Sensitivity of the posterior of a board.

    Rows share the seed, so that they differ by what is assumed more than by chance.
    """
    given, seed = found.fit.learning("nothing"), int(rng.integers(2**63))
    board = given.evidence.board

    def theta(fit: Any = None, boards: Any = (board,), priors: Any = given.priors) -> FloatArray:
        if fit is not None:
            return board.sign * draw_posterior(fit, draws, np.random.default_rng(seed)).best
        settings: Any = {"draws": draws, "random_seed": seed, "every": False}
        return board.sign * board_posterior(boards[0], priors, **settings).skills.best

    rows: list[Row] = []
    if given.nodes.cells > 1:
        rows += [("rho", float(x), {"fit": given.at_rho(x)}) for x in np.unique(given.rho)]
        learnt = given.learning("rho")
        value = float(learnt.node_weights @ given.rho)
        rows.append(("rho learnt from the scores", value, {"fit": learnt}))
    if len(given.families) > 1:
        rows += [("family", name, {"fit": given.of_family(name)}) for name in given.families]
    if board.anchors is not None:
        rows.append(("known skills", "unknown", {"boards": (board.copy_with(anchors=None),)}))
    if not board.has_own_errors:
        rows.append(("n_classifiers", _HIDDEN, {"boards": _with_tries((board,), _HIDDEN)}))
    rows += _rows_of_any((board,), given.priors)
    return _sensitivity(board.sign * found.draws["theta_sota"], rows, theta, **shown)


def _sensitivity(
    given: FloatArray,
    rows: Sequence[Row],
    theta: Callable[..., FloatArray],
    *,
    ci_prob: float,
    progressbar: bool,
) -> pd.DataFrame:
    """Frame of draws of theta_sota as given, and with what each row changes."""
    table = []
    with shown_progress(len(rows), "assumptions", show=progressbar) as advance:
        for assumption, value, changes in [("as given", float("nan"), None), *rows]:
            drawn = given if changes is None else theta(**changes)
            ends = np.quantile(drawn, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
            mcse = drawn.std() / np.sqrt(drawn.size)
            table.append((assumption, value, *map(float, (drawn.mean(), *ends, mcse))))
            advance()
    return pd.DataFrame(table, columns=["assumption", "value", "mean", "lower", "upper", "mcse"])


def _rows_of_maxima(
    boards: tuple[BestScore, ...], priors: MaximumPriors, reference_skill: float | None
) -> list[Row]:
    times, rho, spread = (0.5, 2.0, 10.0), priors.correlation, priors.skill.spread
    rows: list[Row] = [("n_classifiers", k, {"boards": _with_tries(boards, k)}) for k in times]
    if all(board.metric == "accuracy" for board in boards):
        theta0 = default_reference_skill(boards[0]) if reference_skill is None else reference_skill
        odds = theta0 / (1 - theta0)
        others = [factor * odds / (1 + factor * odds) for factor in (0.5, 2.0)]
        rows += [("reference_skill", other, {"theta0": other}) for other in others]
    for value in (0.0, 0.6, 0.9) if rho.is_fixed else rho.quantile([0.025, 0.5, 0.975]).tolist():
        known = replace(priors, correlation=FixedCorrelation(value))
        rows.append(("rho", value, {"priors": known}))
    for value in spread if isinstance(spread, tuple) else (spread / 2, min(spread * 2, 4.9)):
        known = replace(priors, skill=replace(priors.skill, spread=value))
        rows.append(("spread", value, {"priors": known}))
    return [*rows, *_rows_of_any(boards, priors)]


def _rows_of_any(boards: Sequence[BestScore], priors: Any) -> Iterator[Row]:
    """Rows that maxima and whole boards have."""
    for luck in _LUCKS if any(board.has_submissions for board in boards) else ():
        known = replace(priors, submission_luck=FixedCorrelation(luck))
        yield "submission_luck", luck, {"priors": known}
    for ratio in _RATIOS if all(board.metric == "auc" for board in boards) else ():
        if ratio != boards[0].spread_ratio:
            others = tuple(board.copy_with(spread_ratio=ratio) for board in boards)
            yield "spread_ratio", ratio, {"boards": others}
    for kind, other in of_other_field(priors):
        yield "field", kind, {"priors": other}


def _with_tries(boards: Sequence[BestScore], factor: float) -> tuple[BestScore, ...]:
    """The same boards with so many times as many classifiers."""
    tries = [b.n_classifiers for b in boards]
    times = [
        t.scaled(factor) if isinstance(t, TriesPrior) else max(1, round(t * factor)) for t in tries
    ]
    return tuple(b.with_tries(t) for b, t in zip(boards, times, strict=True))
