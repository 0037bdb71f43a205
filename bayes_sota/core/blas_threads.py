"""One thread for small linear algebra.

BLAS starts as many threads as there are processors for matrices of a few hundred rows too. They
wait for each other by spinning: two processors are busy where one has work, and beside another
process every product waits for a thread that is not running. ``tests/core/test_blas_threads.py``
counts the threads, ``tests/benchmarks/bench_company.py`` measures commands alone and in company.
"""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread inside, as many as before afterwards; a decorator too.

    For loops over small systems, not for single large factorisations.

    Examples
    --------
    >>> @one_thread()
    ... def solve_many():
    ...     pass
    >>> solve_many()
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
