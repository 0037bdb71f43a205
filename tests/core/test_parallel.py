"""Every engine gives the same results, each once. A cluster: ``tests/cli/test_batch.py``."""

import os
import warnings

import pytest
from parallel_work import fail, solved

from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import followed, run_each, shown_progress, watched


def numbers(found: list[tuple[int, tuple[float, int]]]) -> list[tuple[int, float]]:
    return sorted((place, number) for place, (number, _) in found)


def test_processes_give_what_one_gives() -> None:
    here, there = (list(run_each(solved, range(6), cores=cores)) for cores in (1, 2))
    assert [place for place, _ in here] == list(range(6))
    assert numbers(there) == numbers(here)
    assert {process for _, (_, process) in here} == {os.getpid()}
    assert os.getpid() not in {process for _, (_, process) in there}


def test_a_run_can_be_left_early_in_silence() -> None:
    running = run_each(solved, range(1000), cores=2)
    next(running)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        running.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("cores", [1, 2])
def test_an_error_of_a_piece_is_raised(cores: int) -> None:
    with pytest.raises(InputError, match="item 3 is bad"):
        list(run_each(fail, [3], cores=cores))


def test_progress_is_shown_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for show in (False, True):
        with shown_progress(2, "\x1b[31miterations", show=show) as advance:
            advance()
        out, error = capsys.readouterr()
        assert out == ""
        assert ("1/2" in error) == show
        assert "\x1b[31miter" not in error


def test_only_the_outer_loop_of_what_is_watched_has_a_bar(monkeypatch, capsys) -> None:
    clock = iter(range(100))
    monkeypatch.setattr("bayes_sota.core.parallel.monotonic", lambda: next(clock))
    monkeypatch.setenv("FORCE_COLOR", "1")
    with followed(2, "not watched") as advance:
        advance()
    with watched(True), followed(2, "shapes") as advance:
        with followed(3, "inner") as step:
            step()
        advance()
    with watched(True), shown_progress(2, "assumptions", show=True) as advance:
        with followed(3, "inner") as step:
            step()
        advance()
    err = capsys.readouterr().err
    assert "shapes" in err
    assert "assumptions" in err
    assert "inner" not in err
    assert "not watched" not in err


def test_a_short_loop_has_no_bar(capsys, monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with watched(True), followed(2, "shapes") as advance:
        advance()
    assert capsys.readouterr().err == ""
