"""Run pieces of work in this process or in many, with the same results, and show progress.

joblib runs the pieces: by processes, or by the workers of a Dask cluster inside
``joblib.parallel_config("dask")``. A piece of work gets the same input everywhere and runs with one
thread of BLAS and OpenMP, whose number could change the last digits of its result; results come
in order, with their place. ``tests/core/test_parallel.py`` compares the engines.
"""

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bayes_sota.core.arguments import PROCESSES
from bayes_sota.core.text import plain_text

_WATCHED = ContextVar("watched", default=False)


def run_each[T, R](
    work: Callable[[T], R], items: Iterable[T], *, cores: int = 1
) -> Generator[tuple[int, R]]:
    """Results of a function for each item, with the item's place, in their order.

    Parameters
    ----------
    work : callable
        It must not depend on what other pieces do.
    items : iterable
        Taken as workers get free.
    cores : int
        Processes on this machine; with one, everything runs in this process.

    Yields
    ------
    (int, result)
        Close the generator to stop early; the rest is then given up. What ``work`` raises is
        raised here.

    Examples
    --------
    >>> list(run_each(abs, [3, -5]))
    [(0, 3), (1, 5)]
    """
    from joblib import Parallel, delayed

    PROCESSES.check(cores, "cores")
    pool = Parallel(n_jobs=cores, batch_size=1, return_as="generator")
    results = pool(delayed(_run_one)(work, item) for item in items)
    try:
        yield from enumerate(results)
    finally:
        with warnings.catch_warnings():  # joblib warns of results that nobody waits for any more
            warnings.simplefilter("ignore")
            results.close()


def _run_one[T, R](work: Callable[[T], R], item: T) -> R:
    """One piece; joblib would send pieces of a piece to the cluster as well."""
    from joblib import parallel_config
    from threadpoolctl import threadpool_limits

    with parallel_config(backend="sequential"), threadpool_limits(limits=1):
        return work(item)


@contextmanager
def watched(show: bool) -> Iterator[None]:
    """Decide whether the loops inside show progress bars unless they decide themselves."""
    token = _WATCHED.set(show)
    try:
        yield
    finally:
        _WATCHED.reset(token)


def is_watched() -> bool:
    """Whether loops show progress bars unless they decide themselves."""
    return _WATCHED.get()


@contextmanager
def shown_progress(
    total: int | None, what: str, *, show: bool | None = None
) -> Iterator[Callable[[], None]]:
    """Progress bar with the time left; yields a function to call after each of ``total`` steps.

    Parameters
    ----------
    total : int or None
        None where it is not known.
    what : str
        What the steps are.
    show : bool, optional
        Whether there is a bar on standard error; loops inside have none of their own. By default
        there is one where a person watches (``watched``).

    Examples
    --------
    >>> with shown_progress(2, "iterations") as advance:
    ...     advance()
    """
    if not (is_watched() if show is None else show):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = (*Progress.get_default_columns(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    with watched(False), progress:
        task = progress.add_task(plain_text(what), total=total)
        yield lambda: progress.advance(task)
