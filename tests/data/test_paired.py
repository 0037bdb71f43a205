"""Two boards of the same teams: what they hold, from one file or two, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.boards import read_paired_boards
from bayes_sota.data.paired import PairedBoards

FIVE = [0.1, 0.2, 0.3, 0.4, 0.5]
HEADER = "team_id,rank_private,score_private,rank_public,score_public"


def test_what_it_holds() -> None:
    boards = PairedBoards(FIVE, FIVE[::-1], list("abcde"), n_test=(10, 20), name="two")
    assert (boards.n_entries, boards.public_winner) == (5, 4)
    assert boards.noise_is_known
    assert not boards.public.flags.writeable
    assert "two" in repr(boards)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2, 3], [1, 2, 3]), {}, "at least 5 teams, .* got 3"),
        (([0.1, "x", 0.3, 0.4, 0.5], FIVE), {}, "the public score of 'entry 2' must be a number"),
        (([10, 20, 30, 40, 50], FIVE), {"n_test": (10, 20)}, "from 0 to 1, got 10; in percent"),
        ((FIVE, FIVE), {"n_test": [10] * 3}, "3 values of n_test for 2"),
        ((FIVE, FIVE), {"names": list("aabcd")}, "'a' occurs more than once"),
        (
            (FIVE, FIVE),
            {"standard_errors": (1, 1), "n_test": (9, 9)},
            "standard_errors has no effect on accuracies",
        ),
    ],
)
def test_what_it_refuses(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PairedBoards(*arguments, **options)


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"t{i},{i},0.{91 - i},{i},0.{90 - i}" for i in range(6)]
    return written(tmp_path / "both.csv", HEADER, *rows)


def test_one_file(table: Path) -> None:
    boards = read_paired_boards(table, n_test=(100, 100))
    assert boards.names == ("t0", "t1", "t2", "t3", "t4", "t5")
    assert (boards.public[0], boards.private[0], boards.name) == (0.90, 0.91, "both")
    boards = read_paired_boards(table, public="score_private", private="score_public")
    assert boards.public[0] == 0.91


def test_two_files_report_who_does_not_match(tmp_path: Path) -> None:
    first = written(tmp_path / "a.csv", "team,score", *(f"t{i},0.{90 - i}" for i in range(8)))
    second = written(tmp_path / "b.csv", "team,score", *(f"t{i},0.{80 - i}" for i in range(2, 9)))
    boards = read_paired_boards(first, second)
    assert boards.n_entries == 6
    assert boards.names[0] == "t2"
    assert boards.private[0] == 0.78
    assert boards.notes[-1] == "left out 3 teams without a score on both boards"


def test_errors_say_where(tmp_path: Path) -> None:
    rows = [f"t{i},{i},0.{91 - i},{i},0.{90 - i}" for i in range(6)]
    path = written(tmp_path / "bad.csv", HEADER, *rows, "a,1,0.5,1,x")
    with pytest.raises(InputError, match=r'bad\.csv: line 8, column "score_public".* got "x"'):
        read_paired_boards(path)


def test_prostate(data_directory: Path) -> None:
    boards = read_paired_boards(data_directory / "paired_leaderboards/2021-prostate__paired.csv")
    assert boards.n_entries == 995
    assert boards.public.max() == 0.93428
    assert boards.private.max() == 0.94085


def test_ties_of_paired_boards_are_broken_by_name() -> None:
    public, private = [0.9, 0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.7, 0.6, 0.5]
    names = ["z", "a", "c", "d", "e"]
    for order in ([0, 1, 2, 3, 4], [4, 3, 1, 2, 0]):
        boards = PairedBoards(*([of[i] for i in order] for of in (public, private, names)))
        assert boards.names[boards.public_winner] == "a"
        assert boards.notes == (
            "2 teams share the best public score; 'a' stands for them, the first by name",
        )
    losses = [1 - score for score in public]
    assert PairedBoards(losses, private, names, lower_is_better=True).notes[1:] == boards.notes
