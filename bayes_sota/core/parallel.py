"""The same pieces of work here, in processes, or on a Dask cluster, with the same results.

All engines are those of joblib. A piece of work gets the same input everywhere and runs with one
thread of BLAS and OpenMP, whose number could change the last digits of its result; results come
with their place, so that each is counted once. ``tests/core/test_parallel.py`` compares the
engines, and ``tests/crossval/test_workers.py`` kills a worker of a cluster in the middle.
"""

import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from bayes_sota.core.arguments import PROCESSES, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text, shown

if TYPE_CHECKING:
    from distributed import Client
    from threadpoolctl import ThreadpoolController

_WATCHED = ContextVar("watched", default=False)
_PATIENCE = 5  # seconds in which a cluster answers


def run_each[T, R](
    work: Callable[[T], R],
    items: Iterable[T],
    *,
    cores: int = 1,
    dask: "str | Client | None" = None,
) -> Generator[tuple[int, R]]:
    """Results of a function for each item, with the item's place, as they come.

    Parameters
    ----------
    work : callable
        It must not depend on what other pieces do.
    items : iterable
        Taken as workers get free.
    cores : int
        Processes on this machine; with one, everything runs in this process.
    dask : str or distributed.Client, optional
        A Dask cluster, or the address of its scheduler. What a lost worker had begun is begun
        again on another.

    Yields
    ------
    (int, result)
        Close the generator to stop early; the rest is then given up.

    Raises
    ------
    InputError
        A cluster that does not answer or has no workers; ``cores`` and ``dask`` together. What
        ``work`` raises is raised here.

    Examples
    --------
    >>> sorted(run_each(abs, [3, -5]))
    [(0, 3), (1, 5)]
    """
    from joblib import Parallel, delayed

    PROCESSES.check(cores, "cores")
    if dask is None and cores == 1:
        yield from (_run_numbered(work, i, x) for i, x in enumerate(items))
        return
    if dask is None:
        with_one_thread = partial(_run_numbered, work)
        pool = Parallel(n_jobs=cores, batch_size=1, return_as="generator_unordered")
        yield from _stoppable(pool(delayed(with_one_thread)(i, x) for i, x in enumerate(items)))
        return
    refuse_unused("a Dask cluster, whose workers it does not choose", {"cores": cores > 1})
    with _client_of(dask) as client:
        from joblib._dask import DaskDistributedBackend

        where = str(client.scheduler.address)
        submitted = partial(_run_on_worker, work)
        backend = DaskDistributedBackend(client=client, wait_for_workers_timeout=_PATIENCE)
        pool = Parallel(n_jobs=-1, backend=backend, batch_size=1, return_as="generator_unordered")
        try:
            results = pool(delayed(submitted)(i, x) for i, x in enumerate(items))
        except TimeoutError:
            raise InputError(
                f"the Dask cluster at {shown(where)} has no workers: start some with dask worker "
                f"{plain_text(where, 60)}"
            ) from None
        yield from _stoppable(results)


def _stoppable[R](results: Generator[R]) -> Generator[R]:
    """The same results; joblib does not warn of those that nobody waits for any more."""
    try:
        # yield from would close them before finally does
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


def _run_numbered[T, R](work: Callable[[T], R], place: int, item: T) -> tuple[int, R]:
    with _controller(len(sys.modules)).limit(limits=1):
        return place, work(item)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> "ThreadpoolController":
    """What limits threads; looking for libraries takes milliseconds, and imports bring new ones."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _run_on_worker[T, R](work: Callable[[T], R], place: int, item: T) -> tuple[int, R]:
    """The same without pieces of a piece, which joblib would send to the cluster as well.

    Nor does xarray then ask the cluster for leave to write a file, which fails in memory.
    """
    from dask import config
    from joblib import parallel_config

    with parallel_config(backend="sequential"), config.set(scheduler="synchronous"):
        return _run_numbered(work, place, item)


def _client_of(dask: "str | Client") -> Any:
    """A client that is closed in the end if it was opened here."""
    if not isinstance(dask, str):
        return nullcontext(dask)
    import asyncio  # both take longer than the rest of this module
    from concurrent.futures import ThreadPoolExecutor

    try:
        from distributed import Client
        from distributed.comm import connect
    except ImportError:
        raise InputError(
            "a Dask cluster needs the library distributed: pip install 'bayes-sota[dask]'"
        ) from None

    async def greet() -> None:
        await (await connect(dask, timeout=_PATIENCE)).close()

    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has a loop of its own in this one
            thread.submit(lambda: asyncio.run(greet())).result()
    except Exception as error:  # whatever a stranger at this address may say
        reason = plain_text((str(error).splitlines() or ["no answer"])[0], 120)
        raise InputError(
            f"no Dask scheduler answers at {shown(dask)} ({reason}); an address is like "
            "tcp://192.168.0.7:8786, as dask scheduler prints it"
        ) from None
    return Client(dask, timeout=_PATIENCE, set_as_default=False)


@contextmanager
def watched(show: bool) -> Iterator[None]:
    """Whether loops that are ``followed`` show a person how much of them is left."""
    token = _WATCHED.set(show)
    try:
        yield
    finally:
        _WATCHED.reset(token)


@contextmanager
def followed(total: int, what: str) -> Iterator[Callable[[], None]]:
    """As ``shown_progress``, where a person watches, and only from the second second on.

    Examples
    --------
    >>> with followed(2, "families of skills") as advance:
    ...     advance()
    """
    with shown_progress(total, what, show=_WATCHED.get(), after=1.0) as advance:
        yield advance


@contextmanager
def shown_progress(
    total: int, what: str, *, show: bool, after: float = 0.0
) -> Iterator[Callable[[], None]]:
    """A function to be called after each of so many steps; it moves a bar with the time left.

    Parameters
    ----------
    total : int
    what : str
        What the steps are.
    show : bool
        Whether there is a bar on standard error; loops inside have none of their own.
    after : float
        Seconds before which there is no bar.

    Examples
    --------
    >>> with shown_progress(2, "iterations", show=False) as advance:
    ...     advance()
    """
    if not show:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=after > 0)
    task, begun = progress.add_task(plain_text(what), total=total), monotonic()

    def advance() -> None:
        progress.advance(task)
        if monotonic() - begun >= after:
            progress.start()

    with watched(False):
        try:
            if not after:
                progress.start()
            yield advance
        finally:
            progress.stop()
