"""A trace of other data is refused by ``complete``; that of epp: ``tests/epp/test_sample.py``."""

from functools import cache

import numpy as np
import pytest
from data.files import refused
from prior_draws import prior_trace

import bayes_sota as bs
from bayes_sota.crossval.fold_scores import FoldScores

SCORES = [0.90, 0.91, 0.915, 0.88, 0.93]
RNG = np.random.default_rng(1)
ANSWERS = (RNG.random((12, 3)) < 0.7).astype(int)
FOLDS = RNG.normal(0.8, 0.05, (2, 2, 10))


def board(scores=SCORES, **options):
    return bs.Leaderboard(scores, **{"n_test": 1000} | options)


def losses(error):
    return board(metric="score", n_test=None, standard_error=error, lower_is_better=True)


def exam(answers):
    return bs.Outcomes(np.asarray(answers) / 2, n_runs=2, tasks=["law", "art"] * 6)


# Room, data of the trace, and others of the same shape.
CASES = {
    "leaderboard": (bs.leaderboard, board(),
                    [board([0.90, 0.92, 0.915, 0.88, 0.93]), board(SCORES[::-1]),
                     board(n_test=2000)]),
    "losses": (bs.leaderboard, losses(0.01), [losses(0.02)]),
    "items": (bs.items, bs.Outcomes(ANSWERS),
              [bs.Outcomes(1 - ANSWERS), bs.Outcomes(ANSWERS[:, ::-1])]),
    "exam": (bs.items, exam(ANSWERS), [exam(2 - ANSWERS)]),
    "crossval": (bs.crossval, FoldScores(FOLDS), [FoldScores(FOLDS + 0.01),
                                                  FoldScores(FOLDS[::-1])]),
}  # fmt: skip


@cache
def trace_of(model):
    return prior_trace(model, np.random.default_rng(0), draws=3, chains=1)


@cache
def made(room, data):
    return room.build_model(data)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_trace_of_other_data_is_refused(name):
    """Without a model, with that of the trace, and with that of the others."""
    room, data, others = CASES[name]
    trace = trace_of(made(room, data))
    for other in others:
        models = [{}, {"model": made(room, data)}, {"model": made(room, other)}]
        for options in models if other is others[0] else models[:1]:
            refused("other data", room.complete, trace, other, **options)
