"""Loops over small systems run on one BLAS thread, and leave the number as it was."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - its own BLAS, loaded before threads are counted
from threadpoolctl import threadpool_info, threadpool_limits

from bayes_sota.core import numerics as importance
from bayes_sota.core.numerics import one_thread
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.epp import solver as bradley_terry_solver
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import leaderboard_quality, simulate_tournament
from bayes_sota.leaderboard.posterior import board_posterior


def blas_threads() -> set[int]:
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_the_number_of_threads_is_restored_even_after_an_error() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        with one_thread():
            assert blas_threads() == {1}
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert blas_threads() == {2}


def quality() -> object:
    return leaderboard_quality(fit_epp(TOURNAMENT), repetitions=3)


def board() -> object:
    return board_posterior(Leaderboard(np.arange(300, 400, 5) / 500, n_test=500), draws=20)


TOURNAMENT = simulate_tournament([1.0, 0.5, 0.0, -1.0], 20, random_seed=1)


@pytest.mark.parametrize(
    ("run", "module", "name"),
    [
        (quality, bradley_terry_solver, "log_likelihood"),
        (board, importance, "_components"),
    ],
)
def test_hot_loops_run_on_one_thread(
    run: Callable[[], object], module: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, inner = [], getattr(module, name)

    def watched(*given: object) -> object:
        seen.append(blas_threads())
        return inner(*given)

    monkeypatch.setattr(module, name, watched)
    with threadpool_limits(limits=2, user_api="blas"):
        run()
        assert blas_threads() == {2}
    assert {1} in seen
    assert seen.count({1}) >= len(seen) - 1  # the fit itself is one likelihood
