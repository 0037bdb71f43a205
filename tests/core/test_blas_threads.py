"""Loops over small systems run on one BLAS thread."""

import contextlib

import numpy as np

import bayes_sota as bs
from bayes_sota.leaderboard.posterior import board_posterior

BOARD = bs.Leaderboard(np.arange(300, 400, 5) / 500, n_test=500)


def test_hot_loops_ask_for_one_thread(monkeypatch):
    asked = []

    def limits(**given):
        asked.append(given)
        return contextlib.nullcontext()

    monkeypatch.setattr("threadpoolctl.threadpool_limits", limits)
    board_posterior(BOARD, draws=20)
    assert {"limits": 1, "user_api": "blas"} in asked
