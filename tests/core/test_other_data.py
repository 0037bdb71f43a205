"""A trace of other data is refused by every ``complete``, whatever else is given."""

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.crossval.fold_scores import FoldScores

SCORES = [0.90, 0.91, 0.915, 0.88, 0.93]
PUBLIC, PRIVATE = [0.8, 0.7, 0.9, 0.85, 0.6], [0.7, 0.72, 0.85, 0.8, 0.65]
RNG = np.random.default_rng(1)
ANSWERS = (RNG.random((12, 3)) < 0.7).astype(int)
FOLDS = RNG.normal(0.8, 0.05, (2, 2, 10))
TABLE = [[3, 2, 1], [3, 1, 2], [1, 3, 2]]


def board(scores: Any = SCORES, **options: Any) -> bs.Leaderboard:
    return bs.Leaderboard(scores, **{"n_test": 1000} | options)


def losses(error: float) -> bs.Leaderboard:
    return board(metric="score", n_test=None, standard_error=error, lower_is_better=True)


def best(score: str = "0.98", n_test: int = 200, n_classifiers: int = 50) -> Any:
    return bs.data.BestScore(score, n_test=n_test, n_classifiers=n_classifiers)


def pair(public: Any = PUBLIC, private: Any = PRIVATE, n_test: Any = (1000, 1000)) -> Any:
    return bs.PairedBoards(public, private, n_test=n_test)


def exam(answers: Any, runs: int = 2) -> bs.Outcomes:
    tasks = ["law", "art"] * 6
    return bs.Outcomes(np.asarray(answers) / 2, n_runs=runs, tasks=tasks)


def epp(scores: Any) -> bs.ScoreTable:
    return bs.ScoreTable(scores, players=["a", "b", "c"])


@dataclass(frozen=True)
class Case:
    """Data of a trace, and others of the same shape."""

    room: Any
    data: Any
    others: dict[str, Any]


CASES = {
    "leaderboard": Case(
        bs.leaderboard,
        board(),
        {
            "scores": board([0.90, 0.92, 0.915, 0.88, 0.93]),
            "order": board(SCORES[::-1]),
            "n_test": board(n_test=2000),
        },
    ),
    "losses": Case(bs.leaderboard, losses(0.01), {"error": losses(0.02)}),
    "maximum": Case(
        bs.maximum,
        best(),
        {
            "score": best("0.97"),
            "n_test": best(n_test=400),
            "classifiers": best(n_classifiers=60),
        },
    ),
    "items": Case(
        bs.items,
        bs.Outcomes(ANSWERS),
        {"answers": bs.Outcomes(1 - ANSWERS), "order": bs.Outcomes(ANSWERS[:, ::-1])},
    ),
    "exam": Case(bs.items, exam(ANSWERS), {"answers": exam(2 - ANSWERS)}),
    "crossval": Case(
        bs.crossval,
        FoldScores(FOLDS),
        {"scores": FoldScores(FOLDS + 0.01), "order": FoldScores(FOLDS[::-1])},
    ),
    "epp": Case(bs.epp, epp(TABLE), {"scores": epp(np.transpose(TABLE))}),
}
GIVEN = ("nothing", "its model", "the other's model")
# Whatever is given with the first of the others, and nothing with the rest of them.
REFUSED = [
    (name, other, given)
    for name, case in CASES.items()
    for k, other in enumerate(case.others)
    for given in (GIVEN if k == 0 else GIVEN[:1])
]


@cache
def trace_of(model: pm.Model) -> xr.DataTree:
    """A trace as ``pm.sample`` returns it, with draws of the prior in place of the posterior."""
    options: Any = {"random_seed": 0, "compile_kwargs": {"mode": "FAST_COMPILE"}}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The effect of Potentials")
        drawn = pm.sample_prior_predictive(3, model, **options)
    recorded = ("observed_data", "constant_data")
    groups = {name: drawn[name].to_dataset() for name in recorded if name in drawn.children}
    return xr.DataTree.from_dict({"posterior": drawn["prior"].to_dataset(), **groups})


@cache
def made(room: Any, data: Any) -> pm.Model:
    return room.build_model(data)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "other", "given"), REFUSED)
def test_a_trace_of_other_data_is_refused(name: str, other: str, given: str) -> None:
    case = CASES[name]
    asked, trace = case.others[other], trace_of(made(case.room, case.data))
    models = {"its model": case.data, "the other's model": asked}
    options = {"model": made(case.room, models[given])} if given in models else {}
    with pytest.raises(InputError, match=r"other data|another board|other boards|not those of"):
        case.room.complete(trace, asked, **options)


@pytest.mark.slow
@pytest.mark.parametrize("of_fit", ["trace", "asked"])
@pytest.mark.parametrize("of_model", ["none", "trace", "asked"])
def test_neither_does_a_fit_make_it_of_this_board(of_model: str, of_fit: str) -> None:
    room, data = bs.leaderboard, {"trace": CASES["leaderboard"].data}
    data["asked"] = CASES["leaderboard"].others["scores"]
    trace = trace_of(made(room, data["trace"]))
    model = None if of_model == "none" else made(room, data[of_model])
    with pytest.raises(InputError, match=r"other data|another board"):
        room.complete(trace, data["asked"], model=model, fit=room.fit_shape(data[of_fit]))


@pytest.mark.parametrize("n_test", [1000, 2000])
def test_a_trace_of_other_claims_is_refused(n_test: int) -> None:
    """The same right answers of another number of items are another claim."""
    claims = [(0.5 * 2000 / n_test, 0.4 * 2000 / n_test, n_test) for n_test in (n_test, 4000)]
    trace, model = trace_of(bs.claims.build_model(*claims[0])), bs.claims.build_model(*claims[1])
    with pytest.raises(InputError, match="other data"):
        bs.claims.complete(trace, model)
