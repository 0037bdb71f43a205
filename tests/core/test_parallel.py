"""Every engine gives the same results, each once. A cluster: ``tests/cli/test_batch.py``."""

import os
import warnings

import pytest
from data.files import refused
from parallel_work import fail, solved

from bayes_sota.core.parallel import run_each, shown_progress, watched


def test_processes_give_what_one_gives():
    here, there = (sorted(run_each(solved, range(6), cores=cores)) for cores in (1, 2))
    numbers = [[(place, number) for place, (number, _) in found] for found in (here, there)]
    assert numbers[0] == numbers[1]
    assert [place for place, _ in here] == list(range(6))
    assert {process for _, (_, process) in here} == {os.getpid()}
    assert os.getpid() not in {process for _, (_, process) in there}


def test_a_run_can_be_left_early_in_silence():
    running = run_each(solved, range(1000), cores=2)
    next(running)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        running.close()


@pytest.mark.parametrize("cores", [1, 2])
def test_an_error_of_a_piece_is_raised(cores):
    refused("item 3 is bad", list, run_each(fail, [3], cores=cores))


def test_only_the_outer_loop_of_what_is_watched_has_a_bar(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with shown_progress(2, "not watched") as advance:
        advance()
    with shown_progress(2, "not shown", show=False) as advance:
        advance()
    assert "".join(capsys.readouterr()) == ""
    with watched(True), shown_progress(2, "shapes") as advance:
        with shown_progress(3, "inner") as step:
            step()
        advance()
    with watched(True), shown_progress(2, "\x1b[31massumptions", show=True) as advance:
        with shown_progress(3, "inner") as step:
            step()
        advance()
    out, error = capsys.readouterr()
    seen = [word in error for word in ("shapes", "assumptions", "inner", "\x1b[31massum")]
    assert (out, seen) == ("", [True, True, False, False])
