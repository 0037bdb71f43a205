"""Arguments that have no effect are refused; numbers have ranges that say what is wrong."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.arguments import Range, generator_of
from bayes_sota.core.errors import InputError

BEST = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
WHOLE = bs.Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
ANSWERS = bs.Responses(np.random.default_rng(0).random((60, 4)) < [0.9, 0.8, 0.7, 0.6])
PAIR = bs.PairedBoards([0.9, 0.8, 0.7, 0.7, 0.6], [0.85, 0.8, 0.75, 0.7, 0.6], n_test=(100, 200))
TWO = "has no effect on two boards of the same teams"


@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        (WHOLE, {"reference_skill": 0.9}, "reference_skill has no effect on more than"),
        (ANSWERS, {"reference_skill": 0.9}, "reference_skill has no effect on more than"),
        (PAIR, {"method": "nuts"}, "method must be auto or exact for two boards of the same teams"),
        (PAIR, {"new_n_test": 50, "draws": 9}, f"new_n_test {TWO}"),
        (PAIR, {"reference_skill": 0.9}, f"reference_skill {TWO}"),
        (PAIR, {"model": "paired-boards", "priors": bs.Priors()}, "give either priors or a model"),
        (PAIR, {"domain": "tabular", "priors": bs.Priors()}, "domain has no effect on priors"),
        (WHOLE, {"domain": "tabular", "model": "leaderboard"}, "domain has no effect on a model"),
        (BEST, {"domain": "tables"}, "unknown domain 'tables'; allowed: image-classifiers"),
        (PAIR, {"field": "single", "priors": bs.Priors()}, "field has no effect on priors"),
        (WHOLE, {"field": "ensembles", "model": "tabular"}, "field has no effect on a model"),
        (BEST, {"field": "votes"}, "unknown field 'votes'; allowed: single, ensembles"),
    ],
)
def test_what_has_no_effect_is_refused(data, given: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bs.estimate_sota(data, **given)


def test_the_sensitivity_of_a_board_has_no_reference_skill() -> None:
    with pytest.raises(InputError, match="reference_skill has no effect"):
        bs.sota_sensitivity(WHOLE, reference_skill=0.9)


@pytest.mark.parametrize(
    ("limits", "words", "inside", "outside"),
    [
        (Range(0, 1), "a number from 0 to 1", (0, 1, 0.5), (-1e-9, 1.1, float("nan"), "x", None)),
        (Range(0, 1, True, True), "a number above 0 and below 1", (0.5,), (0, 1, True)),
        (Range(0, 1, open_high=True), "a number of at least 0 and below 1", (0,), (1,)),
        (Range(1, 9, whole=True), "a whole number from 1 to 9", (1, np.int64(9)), (0, 10, 2.5)),
        (Range(0, float("inf"), whole=True), "a whole number of at least 0", (10**30,), (-1,)),
    ],
)
def test_ranges(limits: Range, words: str, inside: tuple, outside: tuple) -> None:
    assert str(limits) == words
    assert [limits.check(value, "x") for value in inside] == list(inside)
    for value in outside:
        with pytest.raises(InputError, match=f"^x must be {words}, got "):
            limits.check(value, "x")


def test_bad_seeds_are_refused() -> None:
    with pytest.raises(InputError, match="random_seed must be a whole number of at least 0"):
        generator_of(-1)
    with pytest.raises(InputError, match="random_seed must be a whole number of at least 0"):
        bs.board_table(WHOLE, random_seed=-1)
