"""Run tasks in one process or in many, with the same results, and show progress.

joblib runs them in processes, or on a Dask cluster inside ``joblib.parallel_config("dask")``. Each
has one thread: more could change the last digits (``tests/core/test_parallel.py``).
"""

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bayes_sota.core.arguments import PROCESSES
from bayes_sota.core.text import plain_text

WATCHED = ContextVar("watched", default=False)  # whether loops show progress bars


def run_each[T, R](
    work: Callable[[T], R], items: Iterable[T], *, cores: int = 1
) -> Generator[tuple[int, R]]:
    """Yield (place, result) of a function for each item, in order.

    One core is this process. Closing the generator abandons the rest.

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
    """Run one item without nested parallelism, which joblib would send to the cluster too."""
    from joblib import parallel_config
    from threadpoolctl import threadpool_limits

    with parallel_config(backend="sequential"), threadpool_limits(limits=1):
        return work(item)


@contextmanager
def watched(show: bool) -> Iterator[None]:
    """Set whether loops inside show progress bars by default."""
    token = WATCHED.set(show)
    try:
        yield
    finally:
        WATCHED.reset(token)


@contextmanager
def shown_progress(
    total: int | None, what: str, *, show: bool | None = None
) -> Iterator[Callable[[], None]]:
    """Progress bar with the time left; yields a function to call after each of ``total`` steps.

    ``show`` decides whether there is a bar (default: ``WATCHED``); loops inside have none.
    """
    if not (WATCHED.get() if show is None else show):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = (*Progress.get_default_columns(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    with watched(False), progress:
        task = progress.add_task(plain_text(what), total=total)
        yield lambda: progress.advance(task)
