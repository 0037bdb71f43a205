"""State of the art of many boards, each by the process that gets it."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bayes_sota.core.arguments import DEFAULT_SEED, SEED
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.text import digest_of
from bayes_sota.leaderboard.sample_estimate import estimate_sota

if TYPE_CHECKING:
    import xarray as xr


def estimate_many(
    boards: Sequence[Any],
    *,
    cores: int = 1,
    random_seed: int = DEFAULT_SEED,
    progressbar: bool = False,
    **settings: Any,
) -> "list[xr.DataTree]":
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
    estimate = partial(_estimate, settings=settings)
    trees = {}
    with shown_progress(len(work), "boards", show=progressbar) as advance:
        for place, tree in run_each(estimate, work, cores=cores):
            trees[place] = tree
            advance()
    return [trees[place] for place in range(len(work))]


def _estimate(work: tuple[Any, int], settings: dict[str, Any]) -> "xr.DataTree":
    board, seed = work
    return estimate_sota(board, random_seed=seed, **settings)


def seed_of(random_seed: int, name: object) -> int:
    """Seed of one board, whatever the other boards are."""
    return int(digest_of(random_seed, name), 16) >> 1
