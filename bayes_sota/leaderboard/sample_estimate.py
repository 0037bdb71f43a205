r"""Estimates of theta_sota by every route, of one board or many, and what they hinge on.

``tests/calibration/judged_boards.py`` judges them on boards that are drawn from the answers of real
classifiers, ``tests/leaderboard/test_sample_estimate.py`` shows that a wrong model is found,
``tests/calibration/board_shapes.py`` judges simulated boards.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, TypeGuard

import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED, SEED, check_choice, refuse_unused
from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.priors import Priors
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import Groups, Seed
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.observed import PairedBoards
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.posterior import BoardPosterior
from bayes_sota.leaderboard.sample import sample_board
from bayes_sota.leaderboard.sample_pairs import estimate_paired
from bayes_sota.leaderboard.specification import Model, chosen_model
from bayes_sota.maximum.sample import sample_exact, sample_nuts

type Whole = Leaderboard | Outcomes
type Data = Whole | BestScore
Method = Literal["auto", "exact", "abc", "nuts"]
_OF_PAIRS = ("priors", "model", "domain", "field", "draws", "chains", "random_seed", "groups")


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
    return estimate(board, **options)[0]


def estimate(
    board: Data | PairedBoards | Sequence[BestScore], **options: Any
) -> tuple[xr.DataTree, BoardPosterior | None]:
    """Result of ``estimate_sota``, with the draws of a board where more than the best is known."""
    chosen = (estimate_sota.__kwdefaults__ or {}) | options
    method, how = chosen.pop("method"), {k: chosen.pop(k) for k in ("cores", "progressbar")}
    if isinstance(board, PairedBoards):
        check_choice("method", method or "auto", Literal["auto", "exact"])
        taken = {name: chosen.pop(name) for name in _OF_PAIRS}
        refuse_unused("two boards of the same teams", chosen)
        return estimate_paired(board, **taken), None
    boards: Any = _boards(board)
    whole, theta0 = is_whole(boards[0]), {"reference_skill": chosen["reference_skill"]}
    check_luck(chosen["priors"], *boards)
    check_choice("groups", chosen["groups"], Groups)
    of_rho = {name: chosen[name] for name in ("model", "priors", "domain", "field")}
    builder = "leaderboard" if whole else "observed_maximum"
    spec = chosen_model(builder=builder, data=boards[0], **of_rho)
    method = method or spec.sampler.method
    check_choice("method", method, Method)
    settings: dict[str, Any] = spec.sizes(chosen["draws"], chosen["chains"]) | spec.provenance
    settings |= {name: chosen[name] for name in ("random_seed", "groups")}
    if whole:
        if method in ("abc", "nuts"):
            raise InputError(f'method "{method}" reads the maximum only: give board.maximum_only()')
        refuse_unused("more than the maximum of one board", theta0)
        return sample_board(boards[0], spec.priors, **settings)
    if any(one.metric != "accuracy" for one in boards):
        refuse_unused("scores that are no accuracies, which have no theta0", theta0)
    settings |= theta0
    if method == "abc":
        from bayes_sota.maximum.sample_smc import sample_abc

        abc: Any = how | {"epsilon": chosen["epsilon"]}
        return sample_abc(boards, spec.priors, **abc, **settings), None
    if method == "nuts":
        how |= {"tune": spec.sampler.tune, "target_accept": spec.sampler.target_accept}
        return sample_nuts(boards, spec.priors, **how, **settings), None
    return sample_exact(boards, spec.priors, **settings), None


def _boards(board: Any) -> tuple[Data, ...]:
    """Whole board, or boards of which the maximum counts."""
    boards = (board,) if isinstance(board, BestScore | Outcomes) else board
    if not isinstance(boards, list | tuple) or not boards:
        raise InputError(
            f"at least one board must be given, got {type(board).__name__}; "
            "bs.read_leaderboard(path, n_test=1000) makes one of a file or a data frame"
        )
    if len(boards) > 1 and any(is_whole(b) for b in boards):
        raise InputError(
            "several boards are read by their maxima only: give board.maximum_only() of each, or "
            "one board with its scores"
        )
    return tuple(boards)


def is_whole(board: Data) -> TypeGuard[Whole]:
    """Whether more than the maximum is known."""
    return isinstance(board, Leaderboard | Outcomes)


def estimate_many(
    boards: Sequence[Any],
    *,
    cores: int = 1,
    random_seed: int = DEFAULT_SEED,
    progressbar: bool = False,
    **settings: Any,
) -> list[xr.DataTree]:
    """State of the art of many boards, in their order.

    Parameters
    ----------
    boards : sequence
        Each as ``estimate_sota`` takes it.
    cores : int
        Processes. joblib starts them: inside ``joblib.parallel_config("dask")`` the workers of a
        Dask cluster do the work.
    random_seed : int
        Each board gets a seed from this one and its place.
    progressbar : bool
    **settings
        As ``estimate_sota`` takes them, the same for all boards.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> boards = [bs.Leaderboard([0.93, 0.90, 0.88], n_test=n) for n in (100, 500)]
    >>> [tree["posterior"].sizes["draw"] for tree in bs.estimate_many(boards, draws=50)]
    [50, 50]
    """
    SEED.check(random_seed, "random_seed")
    work = [(board, seed_of(random_seed, place)) for place, board in enumerate(boards)]
    trees: dict[int, xr.DataTree] = {}
    with shown_progress(len(work), "boards", show=progressbar) as advance:
        for place, tree in run_each(partial(_one_of_many, settings=settings), work, cores=cores):
            trees[place] = tree
            advance()
    return [trees[place] for place in range(len(work))]


def _one_of_many(work: tuple[Any, int], settings: dict[str, Any]) -> xr.DataTree:
    return estimate_sota(work[0], random_seed=work[1], **settings)


def seed_of(random_seed: int, name: object) -> int:
    """Seed of one board, whatever the other boards are."""
    return int(digest_of(random_seed, name), 16) >> 1
