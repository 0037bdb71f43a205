"""Loops over small systems run on one BLAS thread, and leave the number as it was."""

import contextlib

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - its own BLAS, loaded before threads are counted
from threadpoolctl import threadpool_info, threadpool_limits

import bayes_sota as bs
from bayes_sota.core.numerics import one_thread
from bayes_sota.leaderboard.posterior import board_posterior

BOARD = bs.Leaderboard(np.arange(300, 400, 5) / 500, n_test=500)


def blas_threads():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_the_number_of_threads_is_restored_even_after_an_error():
    with threadpool_limits(limits=2, user_api="blas"):
        with one_thread():
            assert blas_threads() == {1}
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert blas_threads() == {2}


def test_hot_loops_ask_for_one_thread(monkeypatch):
    asked = []

    def limits(**given):
        asked.append(given)
        return contextlib.nullcontext()

    monkeypatch.setattr("threadpoolctl.threadpool_limits", limits)
    board_posterior(BOARD, draws=20)
    assert {"limits": 1, "user_api": "blas"} in asked
