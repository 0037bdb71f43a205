"""Mutated inputs of every kind through every command that reads it, judged by ``running.py``.

One of each by default, more as a study: ``BAYES_SOTA_FUZZ=10000`` sets how many in all, and
``BAYES_SOTA_FUZZ_SEED`` which. A seed gives the same mutants in each run.
"""

import os

import numpy as np
import pytest
from fuzz.corpus import corpus
from fuzz.mutations import Mutant, mutate
from fuzz.running import verdict

_CASES = corpus()
_SEED = int(os.environ.get("BAYES_SOTA_FUZZ_SEED", "0"))
_EACH = max(1, int(os.environ.get("BAYES_SOTA_FUZZ", "0")) // len(_CASES))


def check(case, seeds):
    mutants = (mutate(case, np.random.default_rng([_SEED, seed])) for seed in seeds)
    wrong = [told for mutant in mutants if (told := verdict(case, mutant))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("number", [
    pytest.param(n, id=case.label, marks=[pytest.mark.slow] * (n % 3 > 0))
    for n, case in enumerate(_CASES)
])  # fmt: skip
def test_mutants_of_every_case(number):
    check(_CASES[number], range(1000 * number + 1, 1000 * number + 1 + _EACH))


@pytest.mark.parametrize(("label", "seed"), [("epp wide.parquet", 1_000_102)])
def test_what_the_study_found_stays_mended(label, seed):
    check(next(case for case in _CASES if case.label == label), range(seed, seed + 1))


@pytest.mark.slow
def test_what_is_wrong_is_seen():
    """A judge that finds nothing wrong proves nothing."""
    case = next(case for case in _CASES if case.name == "board.csv")
    whole = Mutant(case.name, case.content, "nothing", "refuse")
    assert "must be refused" in verdict(case, whole)
