"""Battles in every dress become the same matches; what can be no battle is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import written

from bayes_sota.data.tournaments import Matches, read_scores

PAIRS = "{},{},{},prompt\na,b,{},p\nb,c,{},q\na,c,{},q\n"  # a wins, c wins, a tie


def wins(found: Any) -> dict[tuple[str, str], float]:
    """Number of wins of each over each; a tie is half a win of both."""
    total: dict[tuple[str, str], float] = {}
    for i, j, y in zip(found.first, found.second, found.outcomes, strict=True):
        for one, other, points in ((i, j, y), (j, i, 1 - y)):
            pair = (found.players[one], found.players[other])
            total[pair] = total.get(pair, 0) + float(points)
    return {pair: number for pair, number in total.items() if number}


def pairs(first: str, second: str, verdict: str, *cells: object) -> str:
    return PAIRS.format(first, second, verdict, *cells)


@pytest.mark.parametrize(
    "text",
    [
        "winner,loser,tie,prompt\na,b,0,p\nc,b,,q\na,c,1,q\n",
        "winner_name,loser_name,draw,prompt\na,b,false,p\nc,b,no,q\na,c,true,q\n",
        pairs("model_a", "model_b", "winner", "model_a", "model_b", "tie"),
        pairs("model_a", "model_b", "winner", "a", "c", "both_bad"),
        pairs("Model A", "Model B", "Winner", "Model A", "Model B", "draw"),
        pairs("model_left", "model_right", "vote", "left", "right", "both"),
        pairs("system1", "system2", "preference", 1, 2, 0),
        pairs("player1", "player2", "outcome", "1.0", "0", ".5"),
        pairs("white", "black", "result", "1-0", "0-1", "1/2-1/2"),
        pairs("home_team", "away_team", "result", "home", "away", "draw")
        .replace("home_team", "team_home").replace("away_team", "team_away"),
        "model_a,model_b,winner_model_a,winner_model_b,winner_tie,prompt\n"
        "a,b,1,0,0,p\nb,c,0,1,0,q\na,c,0,0,1,q\n",
        "player1,player2,win1,win2,ties,prompt\na,b,1,0,0,p\nb,c,0,1,0,q\na,c,0,0,1,q\n",
    ],
)  # fmt: skip
def test_battles_agree(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    found = read_scores(path)
    assert isinstance(found, Matches)
    assert (found.outcomes.size, found.groups, found.tournament) == (3, None, "board")
    assert wins(found) == {("a", "b"): 1, ("c", "b"): 1, ("a", "c"): 0.5, ("c", "a"): 0.5}
    grouped = read_scores(path, cluster="prompt")
    assert grouped.clusters.tolist() == [0, 1, 1]
    assert read_scores(path, group="prompt") == grouped
    frame = pd.read_csv(path).assign(conversation=[[{"role": "user"}]] * 3)
    records = written(tmp_path, frame.to_json(orient="records"), "arena.json")
    assert read_scores(records).outcomes.tolist() == found.outcomes.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "winner,loser,count\na,b,7\nb,a,3\nb,c,2\n",
        "player1,player2,win1,win2\na,b,7,3\nb,c,2,0\n",
        "model_a,model_b,winner,count\na,b,a,7\na,b,b,3\nb,c,model_a,2\n",
        "model_a,model_b,wins_a,wins_b\nb,a,3,7\nc,b,0,2\n",
        ",a,b,c\na,,7,0\nb,3,,2\nc,0,0,\n",
        "model,a,b,c\na,0,7,0\nb,3,0,2\nc,0,0,0\n",
    ],
)
def test_counted_battles_agree(tmp_path: Path, text: str) -> None:
    found = read_scores(written(tmp_path, text))
    assert wins(found) == {("a", "b"): 7, ("b", "a"): 3, ("b", "c"): 2}


def test_a_matrix_of_many_counts_agrees_with_numpy(tmp_path: Path) -> None:
    counts = np.random.default_rng(0).integers(0, 9, (12, 12))
    np.fill_diagonal(counts, 0)
    names = [f"m{i}" for i in range(12)]
    frame = pd.DataFrame(counts, index=pd.Index(names, name="model"), columns=names)
    frame.to_csv(tmp_path / "matrix.csv")
    found = wins(read_scores(tmp_path / "matrix.csv"))
    grid = [[found.get((one, other), 0) for other in names] for one in names]
    np.testing.assert_array_equal(grid, counts)


def test_battles_of_several_tournaments(tmp_path: Path) -> None:
    text = "tournament,winner,loser\nx,a,b\ny,b,c\nx,b,a\ny,c,b\n"
    found = read_scores(written(tmp_path, text))
    assert {name: one.players for name, one in found.items()} == {"x": ("a", "b"), "y": ("b", "c")}
    renamed = written(tmp_path, text.replace("tournament", "year"), "years.csv")
    assert list(read_scores(renamed, tournament="year")) == ["x", "y"]
    judged = written(tmp_path, "winner,loser,judge\na,b,x\nb,a,x\n")
    assert read_scores(judged).groups is None  # one judge, who was not asked for
