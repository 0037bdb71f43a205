"""What cells, columns and rows are taken for: slips, classes, losses, summaries, percents, ties."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.paired import PairedBoards
from bayes_sota.data.readers.boards import read_leaderboard, read_paired_boards
from bayes_sota.data.readers.scores import read_noted_scores, read_scores

Reader = Callable[[Path], Any]
RIGHT = np.random.default_rng(0).integers(0, 2, (40, 3))


def table(rows: Any, names: str = "a,b,c", items: str = "item") -> str:
    lines = [f"{number},{','.join(map(str, row))}" for number, row in enumerate(rows, start=1)]
    return "\n".join([f"{items},{names}", *lines, ""])


def slipped(value: str) -> str:
    rows = RIGHT.astype(object)
    rows[4, 1] = value
    return table(rows)


CLASSES = table(np.arange(120).reshape(40, 3) % 10)
TRANSPOSED = table(
    np.tile([0, 1, 1], (6, 70)), ",".join(f"q{number}" for number in range(210)), items="item"
)
BY_MODEL = table(RIGHT, items="model")
PAIRED = "team,{0}public,{0}private\n" + "".join(f"t{i},.{i + 1},.{9 - i}\n" for i in range(8))
LONG = "model,task,{}\n" + "".join(f"{m},{t},.{i + 1}\n" for i, (m, t) in enumerate(
    [(m, t) for m in "abc" for t in "xyz"]
))  # fmt: skip


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (
            lambda path: read_paired_boards(path, public_column="mae public"),
            PAIRED.format("mae ").replace("mae private", "private"),
            "column 'mae public' holds errors by its name",
        ),
        (
            read_scores,
            LONG.format("score").replace("a,x", "a,Average"),
            r"line 2, column 'task': 'Average' is a summary of others",
        ),
    ],
)
def test_what_is_seen_is_said(tmp_path: Path, read: Reader, content: str, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_percent_of_all_is_taken_at_its_word() -> None:
    scores = [90.1, 91.2, 0.985]
    board = Leaderboard(scores, n_test=100_000, percent=True, rounding="exact")
    assert board.scores is not None
    assert board.scores.tolist() == pytest.approx([0.901, 0.912, 0.00985])
    assert Leaderboard([90.0, 91.0, 0.0], n_test=100).scores is not None  # nothing right at all


def sampled(folder: Path, model: str, values: Any) -> Path:
    path = folder / model / "samples_lambada_2024-01-01T00-00-00.jsonl"
    path.parent.mkdir()
    path.write_text(
        "\n".join(json.dumps({"doc_id": i, "perplexity": v}) for i, v in enumerate(values))
    )
    return path


def test_paired_losses_are_negated_and_said(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(PAIRED.format(""))
    boards = read_paired_boards(path, lower_is_better=True)
    assert boards.names[boards.public_winner] == "t0"
    assert boards.public.max() == pytest.approx(-0.1)
    assert "lower is better: scores and all results are multiplied by -1" in boards.notes
    with pytest.raises(InputError, match="n_test says that the scores are accuracies"):
        read_paired_boards(path, lower_is_better=True, n_test=(10, 10))


def test_ties_of_paired_boards_are_broken_by_name() -> None:
    public, private = [0.9, 0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.7, 0.6, 0.5]
    names = ["z", "a", "c", "d", "e"]
    for order in ([0, 1, 2, 3, 4], [4, 3, 1, 2, 0]):
        boards = PairedBoards(*([of[i] for i in order] for of in (public, private, names)))
        assert boards.names[boards.public_winner] == "a"
        assert boards.notes == (
            "2 teams share the best public score; 'a' stands for them, the first by name",
        )


def test_averages_are_no_rounds_and_no_players(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = "".join(f"d{i},.{i + 1},.{i + 2},.{i + 3},.5\n" for i in range(5))
    path.write_text(f"dataset,a,b,a_std,Average\n{rows}Average,.4,.5,.6,.5\n")
    noted = read_noted_scores(path)
    assert (noted.scores.players, len(noted.scores.rounds)) == (("a", "b"), 5)
    assert "left out 'a_std', 'Average'" in noted.notes[-1]


def test_teams_without_an_id_are_not_one(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("TeamId,TeamName,Score\n1,a,.91\n,b,.92\n,c,.93\n,c,.94\n2,d,.90\n")
    board = read_leaderboard(path, n_test=100)
    assert board.names == ("a", "b", "c", "d")
    assert board.maximum == 0.94
