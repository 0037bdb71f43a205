"""Mutated inputs of every kind through every command that reads it, judged by ``running.py``.

One of each by default, more as a study: ``BAYES_SOTA_FUZZ=10000`` sets how many in all, and
``BAYES_SOTA_FUZZ_SEED`` which. A seed gives the same mutants in each run.
"""

import os

import numpy as np
import pytest
from fuzz.corpus import COMMANDS, case_of
from fuzz.mutations import Mutant, mutate
from fuzz.running import verdict

_SEED = int(os.environ.get("BAYES_SOTA_FUZZ_SEED", "0"))
_EACH = max(1, int(os.environ.get("BAYES_SOTA_FUZZ", "0")) // len(COMMANDS))


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS)
def test_mutants_of_every_case(line, option_inputs, tmp_path):
    case, wrong = case_of(line, option_inputs, tmp_path), []
    whole = Mutant(case.name, case.content, "nothing", "refuse")
    assert "] -> 0: accepted what must be refused |" in verdict(case, whole)  # a judge that sees
    for seed in range(_EACH):
        rng = np.random.default_rng([_SEED, COMMANDS.index(line), seed])
        wrong.append(verdict(case, mutate(case, rng)))
    assert not any(wrong), "\n".join(filter(None, wrong))
