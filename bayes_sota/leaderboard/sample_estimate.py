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
    CorrelationPrior,
    FixedCorrelation,
    MaximumPriors,
    Priors,
    SkillPrior,
    TriesPrior,
    board_priors,
    maximum_priors,
)
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.observed import PairedBoards
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.leaderboard.sample import sample_with_fit
from bayes_sota.leaderboard.sample_pairs import estimate_paired
from bayes_sota.leaderboard.skills import draw_posterior
from bayes_sota.leaderboard.specification import (
    Model,
    chosen_model,
    of_other_field,
)
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.sample import sample_exact, sample_nuts
from bayes_sota.maximum.tables import default_reference_skill

type Whole = Leaderboard | Outcomes
type Data = Whole | BestScore
_LUCKS = (0.0, 0.3, 0.6, 0.9)  # of chosen submissions
_RATIOS = (0.5, 1.0, 2.0)  # of the spreads of the scores behind AUCs
_OF_PAIRS = ("priors", "model", "domain", "field", "draws", "chains", "random_seed", "groups")
_HIDDEN = 10.0  # times as many entries as are listed
type Row = tuple[str, float | str, Callable[[], FloatArray]]
"""Assumption, its value, and what draws theta_sota."""
Method = Literal["auto", "exact", "abc", "nuts"]


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
    theta_sota    0.93   0.89   0.97
    winner_skill  0.93   0.88   0.97

    The best score alone, with the number of classifiers:

    >>> board = bs.data.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> tree = estimate_sota(board, random_seed=1)
    >>> bool(tree["posterior"]["theta_sota"].mean() < 0.98)
    True
    """
    options = {name: value for name, value in locals().items() if name != "board"}
    return estimate_with_fit(board, **options)[0]


def estimate_with_fit(
    board: Data | PairedBoards | Sequence[BestScore], **options: Any
) -> tuple[xr.DataTree, FieldFit | None]:
    """Result of ``estimate_sota`` with the fit of all scores of a board, where one was made."""
    asked = (estimate_sota.__kwdefaults__ or {}) | options
    if isinstance(board, PairedBoards):
        return _of_pairs(board, asked), None
    boards: Any = _boards(board)
    _check(boards, asked)
    whole = is_whole(boards[0])
    builder = "leaderboard" if whole else "observed_maximum"
    of_rho = {name: asked[name] for name in ("model", "priors", "domain", "field")}
    spec = chosen_model(builder=builder, data=boards[0], **of_rho)
    method = asked["method"] or spec.sampler.method
    check_choice("method", method, Method)
    settings: dict[str, Any] = spec.sizes(asked["draws"], asked["chains"]) | spec.provenance
    settings |= {name: asked[name] for name in ("random_seed", "new_n_test", "groups")}
    if whole:
        if method in ("abc", "nuts"):
            raise InputError(f'method "{method}" reads the maximum only: give board.maximum_only()')
        theta0 = {"reference_skill": asked["reference_skill"]}
        refuse_unused("more than the maximum of one board", theta0)
        return sample_with_fit(boards[0], spec.priors, **settings)
    settings["reference_skill"] = asked["reference_skill"]
    if method in ("auto", "exact"):
        return sample_exact(boards, spec.priors, **settings), None
    settings |= {name: asked[name] for name in ("cores", "progressbar")}
    if method == "abc":
        from bayes_sota.maximum.sample_smc import sample_abc

        return sample_abc(boards, spec.priors, epsilon=asked["epsilon"], **settings), None
    settings |= {"tune": spec.sampler.tune, "target_accept": spec.sampler.target_accept}
    return sample_nuts(boards, spec.priors, **settings), None


def _of_pairs(boards: PairedBoards, asked: dict[str, Any]) -> xr.DataTree:
    check_choice("method", asked.pop("method") or "auto", Literal["auto", "exact"])
    taken = {name: asked.pop(name) for name in _OF_PAIRS}
    others = {k: v for k, v in asked.items() if k not in ("cores", "progressbar")}
    refuse_unused("two boards of the same teams", others)
    return estimate_paired(boards, **taken)


def _check(boards: tuple[Data, ...], asked: dict[str, Any]) -> None:
    """Refuse options that no route takes."""
    if asked["new_n_test"] is not None:
        COUNT.check(asked["new_n_test"], "new_n_test")
    check_luck(asked["priors"], *boards)
    check_choice("groups", asked["groups"], Groups)
    others = any(type(board) is BestScore and board.metric != "accuracy" for board in boards)
    if others and asked["reference_skill"] is not None:
        raise InputError(
            "{name} is for accuracies: other scores have no theta0", parameter="reference_skill"
        )


def _boards(
    board: Data | Sequence[BestScore],
) -> tuple[Data, ...]:
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
        base = board_priors(priors)
        refuse_unused("more than the maximum of a board", {"reference_skill": reference_skill})
        rng = generator_of(random_seed)
        posterior = board_posterior(first, base, draws=draws, random_seed=rng, every=False)
        theta = first.sign * posterior.draws["theta_sota"]
        return sensitivity_frame(theta, board_rows(posterior.fit, draws, rng), **shown)
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


def board_rows(fit: FieldFit, draws: int, rng: np.random.Generator) -> Iterator[Row]:
    """Rows for a board with scores.

    They share the seed, so that they differ by what is assumed more than by chance.
    """
    board, priors, seed = fit.evidence.board, fit.priors, int(rng.integers(2**63))
    fit = fit.learning("nothing")

    def theta(assumed: FieldFit) -> FloatArray:
        rng = np.random.default_rng(seed)
        return board.sign * draw_posterior(assumed, draws, rng).best

    def fitted(other: Leaderboard = board, priors: BoardPriors = priors) -> FloatArray:
        posterior = board_posterior(other, priors, draws=draws, random_seed=seed, every=False)
        return board.sign * posterior.skills.best

    if fit.nodes.cells > 1:
        for rho in np.unique(fit.rho):
            yield "rho", float(rho), partial(theta, fit.at_rho(rho))
        learnt = fit.learning("rho")
        value = float(learnt.node_weights @ fit.rho)
        yield "rho learnt from the scores", value, partial(theta, learnt)
    for family in fit.families if len(fit.families) > 1 else ():
        yield "family", family, partial(theta, fit.of_family(family))
    for luck in _LUCKS if fit.evidence.has_luck else ():
        known = replace(priors, submission_luck=FixedCorrelation(luck))
        yield "submission_luck", luck, partial(fitted, priors=known)
    if not board.has_own_errors:
        hidden = board.with_tries(round(_HIDDEN * board.typical_tries))
        yield "n_classifiers", _HIDDEN, partial(fitted, hidden)
    for ratio in _other_ratios(board):
        yield "spread_ratio", ratio, partial(fitted, board.copy_with(spread_ratio=ratio))
    for kind, others in of_other_field(priors):
        yield "field", kind, partial(fitted, priors=others)


def maximum_rows(
    boards: tuple[BestScore, ...],
    priors: MaximumPriors,
    reference_skill: float | None,
    draws: int,
    random_seed: int | None,
) -> Iterator[Row]:
    """Assumption, value and what draws theta_sota, for maxima; the first as given."""

    def theta(
        boards: tuple[BestScore, ...] = boards,
        priors: MaximumPriors = priors,
        theta0: float | None = reference_skill,
    ) -> FloatArray:
        settings: Any = {"draws": draws, "random_seed": random_seed, "reference_skill": theta0}
        return sota_posterior(boards, priors, **settings).draws["theta_sota"][:, 0]

    yield "as given", float("nan"), theta
    for factor in (0.5, 2.0, 10.0):
        scaled = tuple(b.with_tries(_scaled_tries(b, factor)) for b in boards)
        yield "n_classifiers", factor, partial(theta, scaled)
    theta0 = default_reference_skill(boards[0]) if reference_skill is None else reference_skill
    accuracy = all(board.metric == "accuracy" for board in boards)
    for factor in (0.5, 2.0) if accuracy else ():
        odds = factor * theta0 / (1 - theta0)
        moved = odds / (1 + odds)
        yield "reference_skill", moved, partial(theta, theta0=moved)
    for rho in _correlations(priors.correlation):
        known = replace(priors, correlation=FixedCorrelation(rho))
        yield "rho", rho, partial(theta, priors=known)
    for luck in _LUCKS if any(board.has_submissions for board in boards) else ():
        known = replace(priors, submission_luck=FixedCorrelation(luck))
        yield "submission_luck", luck, partial(theta, priors=known)
    for spread in _spreads(priors.skill):
        skill = replace(priors.skill, spread=spread)
        yield "spread", spread, partial(theta, priors=replace(priors, skill=skill))
    for ratio in _other_ratios(*boards):
        yield (
            "spread_ratio",
            ratio,
            partial(theta, tuple(b.copy_with(spread_ratio=ratio) for b in boards)),
        )
    for kind, others in of_other_field(priors):
        yield "field", kind, partial(theta, priors=others)


def _other_ratios(*boards: BestScore) -> list[float]:
    """Spread ratios that were not assumed, of AUCs."""
    aucs = all(board.metric == "auc" for board in boards)
    return [ratio for ratio in _RATIOS if aucs and ratio != boards[0].spread_ratio]


def _scaled_tries(board: BestScore, factor: float) -> int | TriesPrior:
    if isinstance(board.n_classifiers, TriesPrior):
        return board.n_classifiers.scaled(factor)
    return max(1, round(board.n_classifiers * factor))


def _spreads(prior: SkillPrior) -> tuple[float, float]:
    if isinstance(prior.spread, tuple):
        return prior.spread
    return prior.spread / 2, min(prior.spread * 2, 4.9)


def _correlations(prior: CorrelationPrior) -> tuple[float, ...]:
    if prior.is_fixed:
        return (0.0, 0.6, 0.9)
    return tuple(float(q) for q in prior.quantile([0.025, 0.5, 0.975]))
