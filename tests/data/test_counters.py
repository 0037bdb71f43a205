"""A column of whole numbers that only counts is no contestant, whatever it is called."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import run, written

from bayes_sota.core.errors import InputError
from bayes_sota.data.readers.outcomes import read_evaluations, read_item_scores, read_responses
from bayes_sota.data.readers.scores import read_fold_scores, read_scores

NAMES = ["iteration", "r", "i", "run", "k", "trial", "week", "game", "idx", "n", "slice", "scan",
         "study", "quux"]  # fmt: skip
SCORES = np.random.default_rng(3).uniform(0.6, 0.9, (6, 3)).round(3)
ANSWERS = np.random.default_rng(4).integers(0, 2, (40, 3))


def table(name: str, rows: Any, start: int = 0, last: bool = False) -> str:
    names = ["a", "b", "c"]
    header = [*names, name] if last else [name, *names]
    lines = []
    for number, row in enumerate(rows.tolist(), start):
        lines.append([*row, number] if last else [number, *row])
    return "\n".join(",".join(map(str, line)) for line in [header, *lines]) + "\n"


def lines(name: str, ids: Any, rows: Any) -> str:
    body = (f"{key},{','.join(map(str, row))}" for key, row in zip(ids, rows.tolist(), strict=True))
    return "\n".join([f"{name},a,b,c", *body, ""])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("last", [False, True])
def test_no_counter_is_a_contestant(tmp_path: Path, name: str, last: bool) -> None:
    found = read_scores(written(tmp_path, table(name, SCORES, last=last)))
    assert (found.players, found.rounds) == (("a", "b", "c"), tuple(map(str, range(6))))
    answers = read_evaluations(written(tmp_path, table(name, ANSWERS, 1, last))).outcomes
    assert (answers.names, answers.items[-1]) == (("a", "b", "c"), "40")
    if not last:
        assert read_responses(tmp_path / "board.csv") == answers
    shares = written(tmp_path, table(name, SCORES, 7, last))
    assert read_item_scores(shares, metric="mean").names == ("a", "b", "c")


def test_the_order_of_the_rows_does_not_matter(tmp_path: Path) -> None:
    header, *rows = table("week", SCORES).splitlines()
    shuffled = "\n".join([header, *(rows[i] for i in (3, 0, 5, 1, 4, 2)), ""])
    assert read_scores(written(tmp_path, shuffled)).players == ("a", "b", "c")


def test_whole_scores_are_scores(tmp_path: Path) -> None:
    goals = np.array([[3, 1, 2], [0, 2, 2], [4, 4, 1], [1, 0, 3]])
    text = "\n".join(["a,b,c", *(",".join(map(str, row)) for row in goals), ""])
    assert read_scores(written(tmp_path, text)).players == ("a", "b", "c")
    assert read_scores(written(tmp_path, table("match", goals))).players == ("a", "b", "c")
    percent = text.replace("3,1,2", "3,1,2.5")  # b and c have whole numbers among fractions
    assert read_scores(written(tmp_path, percent)).players == ("a", "b", "c")


def test_numbers_that_nobody_can_tell_are_refused(tmp_path: Path) -> None:
    rows = np.column_stack([[12, 3, 40, 7, 9, 31], SCORES])
    text = "\n".join(["beds,a,b,c", *(",".join(map(str, row)) for row in rows.tolist()), ""])
    path = written(tmp_path, text)
    for read in (read_scores, lambda p: read_item_scores(p, metric="mean"), read_evaluations):
        with pytest.raises(InputError, match=r"'beds' holds whole numbers .3 to 40. beside scores"):
            read(path)


@pytest.mark.parametrize("ids", [[107, 3, 15, 67, 120, 9], [2001, 2013, 2004, 2009, 2020, 2015]])
def test_numbers_of_rows_do_not_win(tmp_path: Path, ids: list[int]) -> None:
    percent = (100 * SCORES).round(1)
    for name in ("pid", "tid", "patient_id", "docId"):
        path = written(tmp_path, lines(name, ids, percent))
        assert read_scores(path).players == ("a", "b", "c")
        assert read_item_scores(path, metric="mean").names == ("a", "b", "c")
    path = written(tmp_path, lines("quux", ids, percent))
    with pytest.raises(InputError, match=r"'quux' holds whole numbers .*say so with round_column"):
        read_scores(path)
    with pytest.raises(InputError, match=r"'quux' holds whole numbers .*say so with item_column"):
        read_item_scores(path, metric="mean")
    assert read_scores(path, round_column="quux").players == ("a", "b", "c")
    better = np.column_stack([[95, 93, 97, 90, 92, 91], percent[:, :2]])  # a player, far above
    rows = [f"{a:g},{b},{c}" for a, b, c in better.tolist()]
    with pytest.raises(InputError, match=r"'a' holds whole .*put a column first that names the ro"):
        read_scores(written(tmp_path, "\n".join(["a,b,c", *rows, ""])))
    named = lines("n", [f"r{i}" for i in range(6)], better)
    assert read_scores(written(tmp_path, named)).players == ("a", "b", "c")
    answers = written(tmp_path, lines("quux", ids, ANSWERS[:6]))
    for read in (read_responses, lambda p: read_evaluations(p).outcomes):
        assert read(answers).items == tuple(map(str, ids))


@pytest.mark.parametrize(("first", "others"), [
    ([1, 2, 3, 4], [[3, 2], [0, 1], [3, 3], [1, 2]]),
    ([100, 99, 98, 97], [[99.5, 98.1], [98, 99.5], [97.5, 96], [99, 98]]),
])  # fmt: skip
def test_scores_that_could_count_are_asked_about(
    tmp_path: Path, first: list[int], others: list[list[float]]
) -> None:
    rows = np.column_stack([first, others]).tolist()
    body = [",".join(f"{x:g}" for x in row) for row in rows]
    path = written(tmp_path, "\n".join(["a,b,c", *body, ""]))
    with pytest.raises(
        InputError, match=r"'a' holds whole .*put a column first that names the rows"
    ):
        read_scores(path)
    named = [f"r{i},{line}" for i, line in enumerate(body)]
    path = written(tmp_path, "\n".join(["n,a,b,c", *named, ""]))
    assert read_scores(path).players == ("a", "b", "c")
    path = written(tmp_path, "\n".join(["week,b,c", *body, ""]))
    assert read_scores(path).players == ("b", "c")


def test_what_is_said_about_scores_does_not_compete(tmp_path: Path) -> None:
    extra = "a_rank,is_hard,temperature,best"
    header, *rows = table("week", SCORES).splitlines()
    body = [f"{row},{1 + i % 3},{i % 2},.7,.9" for i, row in enumerate(rows)]
    path = written(tmp_path, "\n".join([f"{header},{extra}", *body, ""]))
    found = read_scores(path)
    assert found.players == ("a", "b", "c")
    header, *rows = table("item", ANSWERS).splitlines()
    body = [f"{row},{i % 2}" for i, row in enumerate(rows)]
    path = written(tmp_path, "\n".join([f"{header},is_hard", *body, ""]))
    with pytest.raises(InputError, match=r"'is_hard' is no method, but says something about items"):
        read_evaluations(path)


def test_learners_of_cross_validation_do_not_count(tmp_path: Path) -> None:
    path = written(tmp_path, table("r", SCORES))
    with pytest.raises(InputError, match=r"'r' counts .0 to 5. and is no learner: .*fold_column"):
        read_fold_scores(path, folds=3)


def test_a_second_counter_is_left_out_or_refused(tmp_path: Path) -> None:
    text = table("k", SCORES).replace("k,a", "game,k,a").replace("\n", "\nx", 1)
    lines = text.splitlines()
    text = "\n".join([lines[0], *(f"g{i},{line.removeprefix('x')}" for i, line in
                                  enumerate(lines[1:])), ""])  # fmt: skip
    assert read_scores(written(tmp_path, text)).players == ("a", "b", "c")
    answers = table("k", ANSWERS).splitlines()
    text = "\n".join([f"item,{answers[0]}", *(f"q{i},{x}" for i, x in enumerate(answers[1:])), ""])
    with pytest.raises(InputError, match=r"'k' counts .0 to 39. and is no method: .*item_column"):
        read_evaluations(written(tmp_path, text))


def test_predicted_classes_are_compared_with_the_truth(tmp_path: Path) -> None:
    """The first ten items have all ten classes, in order."""
    rows = [[i, i, i, (i + i % 3) % 10] for i in range(10)]
    text = "\n".join(["item,label,a,b", *(",".join(map(str, row)) for row in rows), ""])
    found = read_evaluations(written(tmp_path, text)).outcomes
    assert found.names == ("a", "b")
    assert found.scores.tolist() == [1.0, 0.4]


def test_the_shell_ranks_no_counter(tmp_path: Path, capsys: Any) -> None:
    path = written(tmp_path, table("iteration", SCORES))
    found = json.loads(run(capsys, "epp", str(path), "--penalty", "0.5", "--json")[1])
    assert {player["player"] for player in found["players"]} == {"a", "b", "c"}
    assert any("'iteration' counts" in note for note in found["reading"])
