"""A column of whole numbers that counts, by its name, is no contestant."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import run, written

from bayes_sota.core.errors import InputError
from bayes_sota.data.readers.scores import read_fold_scores, read_scores

NAMES = ["iteration", "r", "run", "week", "idx", "pid", "docId", "entries", "network"]
SCORES = np.random.default_rng(3).uniform(0.6, 0.9, (6, 3)).round(3)
ANSWERS = np.random.default_rng(4).integers(0, 2, (40, 3))


def table(name: str, rows: Any, start: int = 0, last: bool = False) -> str:
    names = ["a", "b", "c"]
    header = [*names, name] if last else [name, *names]
    lines = []
    for number, row in enumerate(rows.tolist(), start):
        lines.append([*row, number] if last else [number, *row])
    return "\n".join(",".join(map(str, line)) for line in [header, *lines]) + "\n"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("last", [False, True])
def test_no_counter_is_a_contestant(tmp_path: Path, name: str, last: bool) -> None:
    found = read_scores(written(tmp_path, table(name, SCORES, last=last)))
    assert (found.players, found.rounds) == (("a", "b", "c"), tuple(map(str, range(6))))


def test_whole_scores_and_answers_are_no_counters(tmp_path: Path) -> None:
    goals = np.array([[3, 1, 2], [0, 2, 2], [4, 4, 1], [1, 0, 3]])
    text = "\n".join(["a,b,c", *(",".join(map(str, row)) for row in goals), ""])
    assert read_scores(written(tmp_path, text)).players == ("a", "b", "c")
    assert read_scores(written(tmp_path, table("match", goals))).players == ("a", "b", "c")


def test_what_is_said_about_scores_does_not_compete(tmp_path: Path) -> None:
    extra = "a_rank,is_hard,temperature,best"
    header, *rows = table("week", SCORES).splitlines()
    body = [f"{row},{1 + i % 3},{i % 2},.7,.9" for i, row in enumerate(rows)]
    path = written(tmp_path, "\n".join([f"{header},{extra}", *body, ""]))
    assert read_scores(path).players == ("a", "b", "c")


def test_learners_of_cross_validation_do_not_count(tmp_path: Path) -> None:
    path = written(tmp_path, table("r", SCORES))
    with pytest.raises(InputError, match=r"'r' counts by its name and is no learner: .*fold_colum"):
        read_fold_scores(path, folds=3)


def test_the_shell_ranks_no_counter(tmp_path: Path, capsys: Any) -> None:
    path = written(tmp_path, table("iteration", SCORES))
    found = json.loads(run(capsys, "epp", str(path), "--penalty", "0.5", "--json")[1])
    assert {player["player"] for player in found["players"]} == {"a", "b", "c"}
    assert any("'iteration' counts" in note for note in found["reading"])
