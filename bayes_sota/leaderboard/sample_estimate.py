r"""Estimates of theta_sota by every route, and how they move with what is assumed.

``tests/calibration/judged_boards.py`` judges them on boards that are drawn from the answers of real
classifiers, ``tests/leaderboard/test_sample_estimate.py`` shows that a wrong model is found,
``tests/calibration/board_shapes.py`` judges simulated boards.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeGuard

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core.arguments import (
    COUNT,
    DEFAULT_SEED,
    OPEN_SHARE,
    check_choice,
    generator_of,
    refuse_unused,
)
from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.priors import (
    BoardPriors,
    FixedCorrelation,
    MaximumPriors,
    Priors,
    TriesPrior,
    board_priors,
    maximum_priors,
)
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.observed import PairedBoards
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.posterior import BoardPosterior, board_posterior
from bayes_sota.leaderboard.sample import sample_board
from bayes_sota.leaderboard.sample_pairs import estimate_paired
from bayes_sota.leaderboard.skills import draw_posterior
from bayes_sota.leaderboard.specification import Model, chosen_model, of_other_field
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.sample import sample_exact, sample_nuts
from bayes_sota.maximum.tables import default_reference_skill

type Whole = Leaderboard | Outcomes
type Data = Whole | BestScore
type Row = tuple[str, float | str, Callable[[], FloatArray]]
"""Assumption, its value, and what draws theta_sota."""
Method = Literal["auto", "exact", "abc", "nuts"]
_LUCKS = (0.0, 0.3, 0.6, 0.9)  # of chosen submissions
_RATIOS = (0.5, 1.0, 2.0)  # of the spreads of the scores behind AUCs
_OF_PAIRS = ("priors", "model", "domain", "field", "draws", "chains", "random_seed", "groups")
_HIDDEN = 10.0  # times as many entries as are listed


def estimate_sota(
    board: Data | PairedBoards | Sequence[BestScore],
    *,
    method: str | None = None,
    priors: Priors | PairedPriors | None = None,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    draws: int | None = None,
    chains: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    groups: Groups = "all",
    epsilon: float | None = None,
    cores: int | None = None,
    progressbar: bool = False,
) -> xr.DataTree:
    """Posterior of the true state of the art, from all that is known.

    A response matrix (or item scores) gives the most, then a leaderboard with all its scores;
    where only the best score is known (``BestScore``, ``board.maximum_only()``)
    that is used.

    Parameters
    ----------
    board : Leaderboard, BestScore, Outcomes, PairedBoards or sequence of BestScore
        Several boards of one task, each with its maximum only, share location, spread and rho.
        ``PairedBoards`` take ``priors``, ``model``, ``domain``, ``field``, ``draws``, ``chains``,
        ``random_seed`` and ``groups`` (``estimate_paired``).
    method : {"auto", "exact", "abc", "nuts"}, optional
        ``auto`` is exact: weighted points and direct draws. ``abc`` simulates (ABC by sequential
        Monte Carlo), ``nuts`` samples the exact marginal likelihood with PyMC; both read the
        maximum only.
    priors : Priors, optional
        Not together with ``model``.
    model : ModelSpecification, name or path, optional
        Named specification with priors and sampler settings.
    domain : {"image-classifiers", "language-models", "tabular"}, optional
        Domain whose prior of rho the default model takes; its default serves any domain. Not
        together with ``priors`` or ``model``.
    field : {"single", "ensembles"}, optional
        Whether entries are single classifiers, or ensembles that share members, notebooks or
        parents and so more luck, which raises the prior of rho. Default: ensembles for a download
        of a competition, else single. Not together with ``priors`` or ``model``.
    draws, chains : int, optional
        Draws per chain and chains; default those of the model, 1000 and 4.
    random_seed : int, SeedSequence or Generator, optional
        The same seed gives the same draws whatever ``cores``.
    reference_skill : float, optional
        theta0, of boards whose maximum alone is known; default each board's observed maximum.
    new_n_test : int, optional
        Size of the fresh test set for the predictive scores; default the board's own.
    groups : {"all", "estimands"}
        "estimands" leaves out the groups that only checks of the model need (replicated scores,
        prior, log likelihood, log prior), which takes a second less on a large board. All else
        is the same.
    epsilon : float, optional
        Tolerance of ``abc`` on the scale of scores (``bayes_sota.maximum.sample_smc.sample_abc``).
    cores : int, optional
        Processes for ``abc`` and ``nuts``.
    progressbar : bool
        Show progress of the samplers.

    Returns
    -------
    xarray.DataTree
        In the schema of ``bayes_sota.core.schema``.

    Examples
    --------
    All scores of a board, which say how far its classifiers differ:

    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.95, 0.93, 0.92, 0.92, 0.91, 0.9, 0.88], n_test=100)
    >>> summary = bs.summarize(estimate_sota(board, random_seed=1))
    >>> summary.loc[["theta_sota", "winner_skill"], ["mean", "lower", "upper"]].round(2)
                  mean  lower  upper
    theta_sota    0.94   0.89   0.97
    winner_skill  0.93   0.88   0.97

    The best score alone, with the number of classifiers:

    >>> board = bs.data.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> tree = estimate_sota(board, random_seed=1)
    >>> bool(tree["posterior"]["theta_sota"].mean() < 0.98)
    True
    """
    options = {name: value for name, value in locals().items() if name != "board"}
    return estimate(board, **options)[0]


def estimate(
    board: Data | PairedBoards | Sequence[BestScore], **options: Any
) -> tuple[xr.DataTree, BoardPosterior | None]:
    """Result of ``estimate_sota``, with the draws of a board where more than the best is known."""
    chosen = (estimate_sota.__kwdefaults__ or {}) | options
    if isinstance(board, PairedBoards):
        return _of_pairs(board, chosen), None
    boards: Any = _boards(board)
    if chosen["new_n_test"] is not None:
        COUNT.check(chosen["new_n_test"], "new_n_test")
    check_luck(chosen["priors"], *boards)
    check_choice("groups", chosen["groups"], Groups)
    whole, theta0 = is_whole(boards[0]), {"reference_skill": chosen["reference_skill"]}
    of_rho = {name: chosen[name] for name in ("model", "priors", "domain", "field")}
    builder = "leaderboard" if whole else "observed_maximum"
    spec = chosen_model(builder=builder, data=boards[0], **of_rho)
    method = chosen["method"] or spec.sampler.method
    check_choice("method", method, Method)
    settings: dict[str, Any] = spec.sizes(chosen["draws"], chosen["chains"]) | spec.provenance
    settings |= {name: chosen[name] for name in ("random_seed", "new_n_test", "groups")}
    if whole:
        if method in ("abc", "nuts"):
            raise InputError(f'method "{method}" reads the maximum only: give board.maximum_only()')
        refuse_unused("more than the maximum of one board", theta0)
        return sample_board(boards[0], spec.priors, **settings)
    if any(one.metric != "accuracy" for one in boards):
        refuse_unused("scores that are no accuracies, which have no theta0", theta0)
    settings |= theta0
    if method in ("auto", "exact"):
        return sample_exact(boards, spec.priors, **settings), None
    settings |= {name: chosen[name] for name in ("cores", "progressbar")}
    if method == "abc":
        from bayes_sota.maximum.sample_smc import sample_abc

        return sample_abc(boards, spec.priors, epsilon=chosen["epsilon"], **settings), None
    settings |= {"tune": spec.sampler.tune, "target_accept": spec.sampler.target_accept}
    return sample_nuts(boards, spec.priors, **settings), None


def _of_pairs(boards: PairedBoards, asked: dict[str, Any]) -> xr.DataTree:
    check_choice("method", asked.pop("method") or "auto", Literal["auto", "exact"])
    taken = {name: asked.pop(name) for name in _OF_PAIRS}
    others = {k: v for k, v in asked.items() if k not in ("cores", "progressbar")}
    refuse_unused("two boards of the same teams", others)
    return estimate_paired(boards, **taken)


def _boards(board: Data | Sequence[BestScore]) -> tuple[Data, ...]:
    """Whole board, or boards of which the maximum counts."""
    if isinstance(board, BestScore | Outcomes):
        return (board,)
    listed: object = board
    if isinstance(listed, str) or not isinstance(board, Sequence):
        raise InputError(
            f"a board, or several, must be given, got {type(board).__name__}; "
            "bs.read_leaderboard(path, n_test=1000) makes one of a file or a data frame"
        )
    boards = tuple(board)
    if not boards:
        raise InputError("at least one leaderboard is needed")
    if len(boards) > 1 and any(is_whole(b) for b in boards):
        raise InputError(
            "several boards are read by their maxima only: give board.maximum_only() of each, or "
            "one board with its scores"
        )
    return boards


def is_whole(board: Data) -> TypeGuard[Whole]:
    """Whether more than the maximum is known."""
    return isinstance(board, Leaderboard | Outcomes)


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
    shown: Any = {"ci_prob": ci_prob, "progressbar": progressbar}
    first = boards[0]
    if len(boards) == 1 and isinstance(first, Leaderboard):
        refuse_unused("more than the maximum of a board", {"reference_skill": reference_skill})
        rng = generator_of(random_seed)
        known = board_priors(priors)
        found = board_posterior(first, known, draws=draws, random_seed=rng, every=False)
        theta = first.sign * found.draws["theta_sota"]
        return sensitivity_frame(theta, board_rows(found, draws, rng), **shown)
    rows = maximum_rows(boards, maximum_priors(priors), reference_skill, draws, random_seed)
    return sensitivity_frame(next(rows)[2](), rows, **shown)


def sensitivity_frame(
    theta: FloatArray, rows: Iterable[Row], *, ci_prob: float, progressbar: bool
) -> pd.DataFrame:
    """Frame of ``sota_sensitivity``, given draws of theta_sota as assumed and what draws others."""
    each: list[Row] = [("as given", float("nan"), lambda: theta), *rows]
    tails, table = [(1 - ci_prob) / 2, (1 + ci_prob) / 2], []
    with shown_progress(len(each), "assumptions", show=progressbar) as advance:
        for assumption, value, draw in each:
            drawn = draw()
            ends = np.quantile(drawn, tails).tolist()
            mcse = float(drawn.std() / np.sqrt(drawn.size))
            table.append((assumption, value, float(drawn.mean()), *ends, mcse))
            advance()
    return pd.DataFrame(table, columns=["assumption", "value", "mean", "lower", "upper", "mcse"])


def board_rows(found: BoardPosterior, draws: int, rng: np.random.Generator) -> Iterator[Row]:
    """Rows for a board with scores.

    They share the seed, so that they differ by what is assumed more than by chance.
    """
    fit, seed = found.fit.learning("nothing"), int(rng.integers(2**63))
    board = fit.evidence.board
    settings: Any = {"draws": draws, "random_seed": seed, "every": False}

    def theta(assumed: Any) -> FloatArray:
        return board.sign * draw_posterior(assumed, draws, np.random.default_rng(seed)).best

    def fitted(boards: Any = (board,), priors: BoardPriors = fit.priors) -> FloatArray:
        return board.sign * board_posterior(boards[0], priors, **settings).skills.best

    if fit.nodes.cells > 1:
        for rho in np.unique(fit.rho):
            yield "rho", float(rho), partial(theta, fit.at_rho(rho))
        learnt = fit.learning("rho")
        value = float(learnt.node_weights @ fit.rho)
        yield "rho learnt from the scores", value, partial(theta, learnt)
    for family in fit.families if len(fit.families) > 1 else ():
        yield "family", family, partial(theta, fit.of_family(family))
    if not board.has_own_errors:
        yield "n_classifiers", _HIDDEN, partial(fitted, _with_tries((board,), _HIDDEN))
    yield from _rows_of_any((board,), fit.priors, fitted)


def maximum_rows(
    boards: tuple[BestScore, ...],
    priors: MaximumPriors,
    reference_skill: float | None,
    draws: int,
    random_seed: int | None,
) -> Iterator[Row]:
    """Rows for maxima; the first is as given."""

    def theta(
        boards: tuple[BestScore, ...] = boards,
        priors: MaximumPriors = priors,
        theta0: float | None = reference_skill,
    ) -> FloatArray:
        settings: Any = {"draws": draws, "random_seed": random_seed, "reference_skill": theta0}
        return sota_posterior(boards, priors, **settings).draws["theta_sota"][:, 0]

    yield "as given", float("nan"), theta
    for factor in (0.5, 2.0, 10.0):
        yield "n_classifiers", factor, partial(theta, _with_tries(boards, factor))
    theta0 = default_reference_skill(boards[0]) if reference_skill is None else reference_skill
    accuracy = all(board.metric == "accuracy" for board in boards)
    for factor in (0.5, 2.0) if accuracy else ():
        odds = factor * theta0 / (1 - theta0)
        yield "reference_skill", odds / (1 + odds), partial(theta, theta0=odds / (1 + odds))
    rho = priors.correlation
    for value in (0.0, 0.6, 0.9) if rho.is_fixed else rho.quantile([0.025, 0.5, 0.975]).tolist():
        known = replace(priors, correlation=FixedCorrelation(value))
        yield "rho", value, partial(theta, priors=known)
    spread = priors.skill.spread
    ends = spread if isinstance(spread, tuple) else (spread / 2, min(spread * 2, 4.9))
    for value in ends:
        skill = replace(priors.skill, spread=value)
        yield "spread", value, partial(theta, priors=replace(priors, skill=skill))
    yield from _rows_of_any(boards, priors, theta)


def _rows_of_any(
    boards: Sequence[BestScore], priors: Any, draw: Callable[..., FloatArray]
) -> Iterator[Row]:
    """Rows that maxima and whole boards have, given what draws theta_sota of boards and priors."""
    for luck in _LUCKS if any(board.has_submissions for board in boards) else ():
        known = replace(priors, submission_luck=FixedCorrelation(luck))
        yield "submission_luck", luck, partial(draw, priors=known)
    for ratio in _RATIOS if all(board.metric == "auc" for board in boards) else ():
        if ratio != boards[0].spread_ratio:
            others = tuple(board.copy_with(spread_ratio=ratio) for board in boards)
            yield "spread_ratio", ratio, partial(draw, others)
    for kind, other in of_other_field(priors):
        yield "field", kind, partial(draw, priors=other)


def _with_tries(boards: Sequence[BestScore], factor: float) -> tuple[BestScore, ...]:
    """The same boards with so many times as many classifiers."""
    tries = [b.n_classifiers for b in boards]
    times = [
        t.scaled(factor) if isinstance(t, TriesPrior) else max(1, round(t * factor)) for t in tries
    ]
    return tuple(b.with_tries(t) for b, t in zip(boards, times, strict=True))
