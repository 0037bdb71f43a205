"""Mutated inputs of every kind through every command that reads it, judged by ``judge.py``.

A hundred by default, thousands as a slow study: ``BAYES_SOTA_FUZZ=10000`` sets how many, and
``BAYES_SOTA_FUZZ_SEED`` which. A seed gives the same mutants in each run.
"""

import os

import numpy as np
import pytest
from fuzz.corpus import Case, corpus
from fuzz.judge import Judge
from fuzz.mutations import Mutant

_CASES = corpus()
_SEED = int(os.environ.get("BAYES_SOTA_FUZZ_SEED", "0"))
_MANY = int(os.environ.get("BAYES_SOTA_FUZZ", "3000"))


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory):
    judge = Judge(tmp_path_factory.mktemp("fuzz"))
    yield judge
    judge.close()


def check(judge: Judge, case: Case, seeds: range) -> None:
    found = [judge.verdict(case, np.random.default_rng([_SEED, seed])) for seed in seeds]
    wrong = [str(verdict) for verdict in found if verdict.problems]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", range(2))
def test_two_mutants_of_every_case(judge: Judge, part: int) -> None:
    cases = _CASES[part::2]
    for number, case in enumerate(cases):
        check(judge, case, range(1000 * number, 1000 * number + 2))


@pytest.mark.parametrize(("label", "seed"), [("epp wide.parquet", 1_000_102)])
def test_what_the_study_found_stays_mended(judge: Judge, label: str, seed: int) -> None:
    check(judge, next(case for case in _CASES if case.label == label), range(seed, seed + 1))


@pytest.mark.slow
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.label.replace(" ", "-"))
def test_thousands_of_mutants(judge: Judge, case: Case) -> None:
    check(judge, case, range(10**6, 10**6 + _MANY // len(_CASES) + 1))


def test_the_judge_sees_what_is_wrong(judge: Judge) -> None:
    """A judge that finds nothing wrong proves nothing."""
    case = next(case for case in _CASES if case.name == "board.csv")
    other = Mutant(case.name, case.content.replace(b"0.8", b"0.7"), "other scores", "same")
    whole = Mutant(case.name, case.content, "nothing", "refuse")
    assert "another result" in str(judge.judge(case, other))
    assert "must be refused" in str(judge.judge(case, whole))
