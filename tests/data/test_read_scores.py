"""Files of scores and battles: every format, what columns are taken for, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from data.files import written
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.core.errors import InputError
from bayes_sota.data import grids
from bayes_sota.data.matches import Matches
from bayes_sota.data.readers.scores import read_noted_scores, read_scores
from bayes_sota.data.score_table import ScoreTable

SCORES = [[0.9, 0.8, 0.7], [0.5, np.nan, 0.6]]  # rounds x players
LONG = "model,fold,auc\na,x,0.9\nb,x,0.8\nc,x,0.7\na,y,0.5\nb,y,NA\nc,y,0.6\n"
WIDE = "fold,a,b,c\nx,0.9,0.8,0.7\ny,0.5,,0.6\n"
TURNED = "model,x,y\na,0.9,0.5\nb,0.8,-\nc,0.7,0.6\n"
WINNER = "winner,loser,tie,prompt\na,b,0,p\nc,b,,q\na,c,1,q\n"
ARENA = "model_a,model_b,winner,prompt\na,b,model_a,p\nb,c,model_b,q\na,c,tie (bothbad),q\n"


def refused(source: Any, message: str, **options: Any) -> None:
    """Read what must be refused, with one printable line."""
    with pytest.raises(InputError, match=message) as caught:
        read_scores(source, **options)
    assert str(caught.value).isprintable()


def check_small(table: Any) -> None:
    assert isinstance(table, ScoreTable)
    assert (table.players, table.rounds) == (("a", "b", "c"), ("x", "y"))
    np.testing.assert_array_equal(table.scores, SCORES)


# --- formats


@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        (LONG, "board.csv", {}),
        (LONG.replace("auc", "result").replace("fold", "CV split"), "board.csv",
         {"round_column": "cv_split"}),
        (LONG.replace("model,fold,auc", "who,when,what"), "board.csv",
         {"player_column": "who", "round_column": "when", "score_column": "what"}),
        (WIDE, "board.csv", {}),
        (WIDE.replace("fold", ""), "board.csv", {"players": "columns"}),
        (WIDE.replace("fold", "suite"), "board.csv", {"round_column": "suite"}),
        (WIDE.replace("fold", "name"), "board.csv", {"players": "columns"}),
        (WIDE.replace("fold,", "").replace("x,", "").replace("y,", ""), "board.csv", {}),
        (TURNED, "board.csv", {}),
        (TURNED.replace("model", ""), "board.csv", {"players": "rows"}),
        (TURNED.replace("model", "suite"), "board.csv", {"player_column": "suite"}),
        (TURNED.replace("model", "data"), "board.csv", {"players": "rows"}),
    ],
)  # fmt: skip
def test_formats_agree(tmp_path, content, name, options):
    found = read_scores(written(tmp_path, content, name), **options)
    if found.rounds == ("1", "2"):  # no column names them
        found = ScoreTable(found.scores, players=found.players, rounds=["x", "y"])
    check_small(found)


def test_parquet_frames_and_json_agree_with_text(tmp_path):
    long = pd.read_csv(written(tmp_path, LONG))
    wide = pd.DataFrame(SCORES, columns=list("abc"), index=["x", "y"])
    long.to_parquet(tmp_path / "long.parquet")
    records = long.astype(object).where(long.notna(), None).to_dict("records")
    for source in (
        long, long.iloc[::-1].iloc[::-1], wide.rename_axis("task"),
        wide.reset_index(names="task"), pl.DataFrame(long.to_dict("list")),
        tmp_path / "long.parquet", written(tmp_path, json.dumps(records), "long.json"),
        str(written(tmp_path, json.dumps(records), "records.txt")),
    ):  # fmt: skip
        check_small(read_scores(source))
    check_small(read_scores(wide.T, players="rows"))
    for named in (wide, wide.rename_axis("x1")):
        check_small(read_scores(named, players="columns"))
    check_small(read_scores(wide.T.rename_axis("model")))
    named = read_scores(wide.rename_axis("task"))
    assert read_scores(long).tournament == named.tournament == "tournament"
    single = read_scores(wide.astype(np.float32), players="columns")
    assert single.scores[0].tolist() == [0.9, 0.8, 0.7]  # the digits that a float32 prints


def test_names_schemes_and_directions(tmp_path):
    found = read_scores(written(tmp_path, LONG))
    assert (found.scheme, found.tournament) == ("model/cv", "board")
    wide = WIDE.replace("fold", "task")
    assert read_scores(written(tmp_path, wide)).scheme == "model/task"
    chosen = read_scores(written(tmp_path, wide), scheme="dataset/model", lower_is_better=True)
    assert chosen.scheme == "dataset/model"
    assert chosen.lower_is_better.all()
    numbered = read_scores(pd.DataFrame({"model": [2, 10], "1": [1, 2], "2": [3, 4]}))
    assert numbered.players == ("2", "10")
    ids = pd.DataFrame({"model": [1.0, 2.0] * 2, "seed": [1, 1, 2, 2], "auc": [1, 2, 3, 4]})
    assert read_scores(ids).players == ("1", "2")


def test_tournaments_are_told_apart(tmp_path):
    entries = [
        (data, model, fold)
        for data, models in (("iris", "ba"), ("wine", "bac"))
        for fold in "yx"
        for model in models
    ]
    rows = [f"{','.join(entry)},{score}" for score, entry in enumerate(entries)]
    path = written(tmp_path, "dataset,model,fold,acc\n" + "\n".join(rows))
    found = read_scores(path, tournament_column="dataset")
    assert list(found) == ["iris", "wine"]
    assert found["iris"].players == ("b", "a")
    assert found["wine"].players == ("b", "a", "c")
    assert found["wine"].rounds == ("y", "x")
    np.testing.assert_array_equal(found["wine"].scores, [[4, 5, 6], [7, 8, 9]])
    named = written(tmp_path, path.read_text().replace("dataset", "tournament"), "named.csv")
    assert read_scores(named)["wine"].data_hash() == found["wine"].subset("bac").data_hash()
    refused(path, "'dataset', 'fold' could all name the rounds")
    repeated = r"line 6: round 'y', player 'b' already has a score on line 2"
    refused(path, repeated, round_column="fold")
    no_data = written(tmp_path, path.read_text().replace("dataset", "where"), "plain.csv")
    refused(no_data, repeated, round_column="fold")
    assert read_scores(path, round_column="fold", group_column="dataset").n_rounds == 4


def test_groups_of_rounds(tmp_path):
    rows = "iris,1,.9,.8\niris,2,.8,.7\nwine,1,.5,.6\nwine,2,.6,.7\n"
    wide = read_scores(
        written(tmp_path, "data,fold,a,b\n" + rows), group_column="data", round_column="fold"
    )
    assert wide.rounds == ("iris/1", "iris/2", "wine/1", "wine/2")
    assert wide.groups == ("iris", "iris", "wine", "wine")
    bare = read_scores(
        written(tmp_path, "data,a,b\n" + rows.replace(",1", "").replace(",2", "")),
        group_column="data",
    )
    assert (bare.rounds, bare.groups) == (wide.rounds, wide.groups)
    long = pd.read_csv(written(tmp_path, "data,fold,a,b\n" + rows)).melt(
        ["data", "fold"], var_name="model", value_name="score"
    )
    melted = read_scores(long, group_column="data")
    assert (melted.rounds, melted.groups) == (wide.rounds, wide.groups)
    np.testing.assert_array_equal(melted.scores, wide.scores)
    long["fold"] += np.where(long["data"] == "wine", 2, 0)  # names that differ stay as they are
    assert read_scores(long, group_column="data").rounds == ("1", "2", "3", "4")
    first = written(tmp_path, "task,family,a,b\nx,f,1,2\ny,g,2,1\n")
    assert read_scores(first, group_column="family").rounds == ("x", "y")
    refused(TURNED_FRAME, "group_column groups rounds", group_column="x", players="rows")


TURNED_FRAME = pd.DataFrame({"model": ["a", "b"], "x": [1, 2], "y": [2, 1]})


def test_a_leaderboard_keeps_its_tasks_and_says_what_it_leaves_out(tmp_path):
    board = "T,Model,Average ⬆️,qa,qa Raw,nli,nli_stderr,#Params (B),Hub ❤️,MoE,sha\n"
    board += "x,m1,50,40,.4,60,1,7,3,True,abc\ny,m2,55,50,.5,60,1,7,3,False,def\n"
    found = read_noted_scores(written(tmp_path, board))
    assert found.scores.players == ("m1", "m2")
    assert found.scores.rounds == ("qa", "nli")
    (note,) = found.notes
    for name in ("Average", "qa Raw", "nli_stderr", "Params", "Hub", "MoE", "sha"):
        assert name in note
    pd.read_csv(tmp_path / "board.csv").to_parquet(tmp_path / "board.parquet")
    kept = read_noted_scores(tmp_path / "board.parquet")
    np.testing.assert_array_equal(kept.scores.scores, found.scores.scores)
    assert kept.notes[0].count("'") == found.notes[0].count("'")


def test_what_is_taken_for_granted_is_noted(tmp_path):
    path = written(tmp_path, WIDE.replace("fold", "") + "z,0.1,0.2,0.3\n")
    assert 'players="rows"' in read_noted_scores(path).notes[0]
    assert read_noted_scores(path, players="columns").notes == ()
    noted = read_noted_scores(written(tmp_path, LONG.replace("auc", "auc,t").replace("\n", ",1\n")
                                      .replace("t,1", "t")))  # fmt: skip
    assert noted.notes == (f"{path}: columns that are not used: 't'",)


def test_a_table_that_may_be_transposed_is_not_guessed_at(tmp_path):
    path = written(tmp_path, ",d1,d2,d3\nA,0.8,0.7,0.9\nB,0.9,0.6,0.8\n")
    refused(path, r"could be the rows \('A', 'B'\) or the columns \('d1', 'd2', 'd3'\)")
    assert read_scores(path, players="rows").players == ("A", "B")
    assert read_scores(path, players="columns").players == ("d1", "d2", "d3")


# --- battles


@pytest.mark.parametrize(
    "content",
    [
        WINNER,
        ARENA,
        ARENA.replace("model_a,p", "a,p").replace("model_b,q", "c,q"),
        ARENA.replace("model_a,model_b,winner", "player1,player2,outcome")
        .replace("model_a", "1").replace("model_b", "0").replace("tie (bothbad)", "0.5"),
    ],
)  # fmt: skip
def test_battles_agree(tmp_path, content):
    path = written(tmp_path, content)
    found = read_scores(path)
    assert isinstance(found, Matches)
    assert (found.n_matches, found.clustered, found.tournament) == (3, False, "board")
    won = {
        frozenset((found.players[i], found.players[j])): (
            None if y == 0.5 else found.players[i if y else j]
        )
        for i, j, y in zip(found.first, found.second, found.outcomes, strict=True)
    }
    assert won == {frozenset("ab"): "a", frozenset("bc"): "c", frozenset("ac"): None}
    assert read_scores(path, cluster_column="prompt").clusters.tolist() == [0, 1, 1]
    frame = pd.read_csv(path).assign(conversation=[[{"role": "user"}]] * 3)
    records = written(tmp_path, frame.to_json(orient="records"), "arena.json")
    assert read_scores(records).outcomes.tolist() == found.outcomes.tolist()
    no_ties = read_scores(written(tmp_path, "winner,loser\na,b\nb,c\n"))
    assert no_ties.outcomes.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("content", "message", "options"),
    [
        (ARENA.replace("model_b,q", "maybe,q"),
         r"board.csv: line 3, column 'winner': must be model_a, model_b, tie or a name, got 'may",
         {}),
        ("player_a,player_b,outcome\nA,B,1\nA,B,-1\nA,B,0\n",
         r"line 3, column 'outcome': must be 1 .the first wins., 0 .* got '-1'", {}),
        (WINNER.replace("a,b", ",b"), "line 2, column 'winner': the player has no name", {}),
        (WINNER, "no column 'promt' .cluster_column.; .* did you mean 'prompt'",
         {"cluster_column": "promt"}),
    ],
)  # fmt: skip
def test_battles_that_are_refused(tmp_path, content, message, options):
    refused(written(tmp_path, content), message, **options)


# --- scikit-learn


@pytest.fixture(scope="module")
def search() -> Any:
    features, labels = load_iris(return_X_y=True)
    return GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        [{"max_depth": [1, 2, None]}, {"criterion": ["entropy"]}],
        cv=3,
        scoring=["accuracy", "neg_log_loss"],
        refit=False,
    ).fit(features, labels)


def test_cv_results_as_they_are_and_saved(tmp_path, search):
    results = search.cv_results_
    frame = pd.DataFrame(results)
    frame.to_csv(tmp_path / "cv.csv")
    frame.to_json(tmp_path / "cv.json")
    listed = {key: np.asarray(value).tolist() for key, value in results.items()
              if not key.startswith("param")} | {"params": results["params"]}  # fmt: skip
    written(tmp_path, json.dumps(listed), "list.json")
    players = ("max_depth=1", "max_depth=2", "max_depth=None", "criterion='entropy'")
    for source in (results, frame, *(tmp_path / f for f in ("cv.csv", "cv.json", "list.json"))):
        found = read_noted_scores(source, score_column="accuracy")
        table = found.scores
        assert (table.players, table.rounds) == (players, ("split0", "split1", "split2"))
        assert table.scheme == "model/cv"
        # JSON of pandas has ten digits
        np.testing.assert_allclose(
            table.scores.mean(axis=0), results["mean_test_accuracy"], atol=1e-9
        )
        assert "neg_log_loss" in found.notes[0]


def test_cv_results_that_are_refused(search):
    results = search.cv_results_
    refused(results, "choose one score_column of 'accuracy', 'neg_log_loss'")
    refused(results, "no score_column 'auc'; it holds", score_column="auc")
    refused({"a": [1]}, "with keys split0_test_score")
    plain = {f"split{i}_test_score": [0.5, 0.6] for i in range(10)}
    assert read_scores(plain).players == ("candidate 1", "candidate 2")
    assert read_scores(plain).rounds[2] == "split2"
    twice = plain | {"params": [{"C": 1}, {"C": 1}]}
    refused(plain | {"params": [{}]}, "columns of cv_results_ have one length")
    refused(twice, "candidate 2 has the parameters of candidate 1, 'C=1'")
    refused(plain | {"split1_test_score": [0.5, "x"]}, "candidate 2, column 'split1_test_score'")
    refused({"split0_train_score": [1, 2]}, "with keys split0_test_score")


# --- lm-evaluation-harness


def results_of(directory: Path, model: str, tasks: dict[str, Any], **more: Any) -> Path:
    content = {"results": tasks, "versions": {}, "model_name": model, **more}
    return written(directory, json.dumps(content), f"{model}/results_2024.json")


def test_lm_eval_results(tmp_path):
    tasks = {
        "mmlu": {"acc,none": 0.5, "alias": "mmlu"},
        "law": {"acc,none": 0.6, "acc_stderr,none": 0.1, "acc_norm,none": 0.7, "alias": " - law"},
        "math": {"exact_match,strict-match": 0.4, "exact_match,flexible-extract": 0.45},
        "wiki": {"word_perplexity,none": 10.0, "word_perplexity_stderr,none": "N/A"},
    }
    told = {
        "group_subtasks": {"mmlu": ["law"], "math": []},
        "higher_is_better": {"wiki": {"word_perplexity": False}, "law": {"acc": True}},
    }
    other = tasks | {"wiki": {"word_perplexity,none": 9.0}}
    del other["math"]
    paths = [results_of(tmp_path, "one", tasks, **told), results_of(tmp_path, "two", other, **told)]
    found = read_noted_scores(paths)
    assert (found.scores.players, found.scores.rounds) == (("one", "two"), ("law", "math", "wiki"))
    np.testing.assert_array_equal(found.scores.scores, [[0.6, 0.6], [0.4, np.nan], [10, 9]])
    assert found.scores.lower_is_better.tolist() == [False, False, True]
    assert "acc,none" in found.notes[0]
    normed = read_scores(paths, score_column="acc_norm")
    assert normed.scores[0].tolist() == [0.7, 0.7]
    flexible = read_scores(paths, score_column="exact_match,flexible-extract")
    assert flexible.scores[1, 0] == 0.45
    several = "acc,none,exact_match,flexible-extract"
    refused(paths, "no task has the metric 'acc,none,exact_match,flex", score_column=several)
    assert "'exact_match,strict-match' in 'math'" in found.notes[0]
    assert "the files also hold 'exact_match,flexible-extract'" in found.notes[0]
    bare = [written(tmp_path, json.dumps(tasks), f"{name}.json") for name in ("p", "q")]
    assert read_scores(bare).rounds == ("law", "math", "wiki")  # by the aliases
    assert read_scores(bare).players == ("p", "q")


def test_lm_eval_results_that_are_refused(tmp_path):
    tasks = {"law": {"acc,none": 0.6}, "bio": {"acc,none": 0.5}}
    one = results_of(tmp_path, "one", tasks)
    refused(one, "results of one model: name the files of at least 2")
    refused([one], "results of one model")
    refused([one, written(tmp_path, one.read_text(), "x.json")], "both of the model 'one'")
    refused([one, written(tmp_path, "[1]", "x.json")], "not a results file of lm-eval")
    refused([one, results_of(tmp_path, "x", {"law": {"f1,none": 1}})], "'law' has no metric in co")
    refused([one, results_of(tmp_path, "x", {"law": {"acc,none": "x"}})], "task 'law': acc,none mu")
    refused([], "a list is read as paths")
    assert read_scores([written(tmp_path, LONG)]).n_rounds == 2  # a list of one table


def test_lm_eval_results_of_the_wild(data_directory, tmp_path):
    path = data_directory / "formats" / "lm_eval_results_section.json"
    section = json.loads(path.read_text())
    other = written(tmp_path, path.read_text(), "copy.json")
    found = read_scores([path, other])
    members = [task for task in section if task != "metabench"]
    assert found.rounds == tuple(members)
    for task, scores in zip(members, found.scores, strict=True):
        assert scores[0] in (section[task].get("acc,none"),
                             section[task].get("exact_match,strict-match"))  # fmt: skip


# --- refused tables


@pytest.mark.parametrize(
    ("content", "message", "options"),
    [
        (LONG.replace("0.7", "good"),
         r"board.csv: line 4, column 'auc': a score is a finite number, .* got 'good'", {}),
        (LONG.replace("c,x", "a,x"),
         "line 4: round 'x', player 'a' already has a score on line 2", {}),
        (LONG.replace("b,", "a,").replace("c,", "a,").replace("x,0.8", "z,0.8")
         .replace("x,0.7", "v,0.7").replace("y,NA", "w,1").replace("y,0.6", "u,1"),
         "board.csv: a tournament needs at least 2 players, got 1", {}),
        (LONG, "no column 'modle' .player_column.; .* did you mean 'model'",
         {"player_column": "modle"}),
        (LONG, "'fold' cannot be the scores", {"score_column": "fold"}),
        (LONG.replace("auc", "auc,acc").replace("\n", ",1\n").replace("acc,1", "acc"),
         "2 columns look like scores", {}),
        (WIDE.replace("0.8", "x"), "line 2, column 'b': a score is a finite number", {}),
        (TURNED.replace("c,", "b,"),
         'line 4, column \'model\': player \'b\' is already on line 3; a table with one row', {}),
        (WIDE.replace("b,c", "b,"), "column 4 has no name, and is no player", {}),
        (WIDE, "player 'b' has no score at all", {}),
        ('[{"model": [1], "fold": 1, "auc": 1}, {"model": "b", "fold": 1, "auc": 1}]',
         r"record 1, column 'model': a player is a name, got \[1\]", {}),
    ],
)  # fmt: skip
def test_tables_that_are_refused(tmp_path, content, message, options):
    if "no score at all" in message:
        content = content.replace("0.8", "")
    refused(written(tmp_path, content), message, **options)


def test_frames_that_are_refused(tmp_path):
    refused(3, "scores are read from a path, a data frame")
    for nothing in (None, pd.NA, pd.NaT, " "):
        frame = pd.DataFrame({"model": ["a", nothing], "fold": [1, 1], "auc": [1, 2]}, dtype=object)
        refused(frame, "the data frame: row 2, column 'model': the player has no name")
    frame = pd.DataFrame({"a": [1.0, np.inf], "b": [1.0, 2.0]})
    refused(frame, "the data frame: row 2, column 'a': a score is a finite number")


def test_a_column_of_scores_as_rounds_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(grids, "_LARGEST", 5)
    refused(written(tmp_path, LONG), "2 rounds, 3 players with 6 rows; are these the columns")


def test_many_rows_agree_with_a_pivot(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        [(d, f"m{m}", s) for d in "pqr" for m in range(60) for s in range(20)],
        columns=["data", "model", "split"],
    ).assign(auc=lambda f: rng.random(len(f)))
    frame = frame.sample(frac=0.9, random_state=3)
    frame.to_csv(tmp_path / "many.csv", index=False)
    for name, table in read_scores(tmp_path / "many.csv", tournament_column="data").items():
        pivot = frame[frame["data"] == name].pivot(index="split", columns="model", values="auc")
        expected = pivot.loc[[int(r) for r in table.rounds], list(table.players)].to_numpy()
        np.testing.assert_array_equal(table.scores, expected)


# --- real files


def test_real_tables_agree_with_pandas(data_directory):
    vtab = data_directory / "vtab" / "vtab_scores_16x19.csv"
    frame = pd.read_csv(vtab, index_col=0)
    found = read_scores(vtab, players="rows")
    assert (found.players, found.rounds) == (tuple(frame.index), tuple(frame.columns))
    np.testing.assert_array_equal(found.scores, frame.to_numpy().T)
    long = data_directory / "epp_auc" / "auc_scores.csv"
    pivot = pd.read_csv(long).pivot(index="split", columns="model", values="auc")
    table = read_scores(long)
    assert (table.n_players, table.n_rounds, table.scheme) == (80, 20, "model/cv")
    expected = pivot.loc[[int(r) for r in table.rounds], list(table.players)].to_numpy()
    np.testing.assert_array_equal(table.scores, expected)
    folds = data_directory / "bbt" / "ss.csv"
    refused(folds, "line 3, column 'db': round 'biomed' is already on line 2")
    grouped = read_scores(folds, group_column="db")
    assert grouped.rounds[:5] == ("biomed/1", "biomed/2", "biomed/3", "biomed/4", "breast/1")
    np.testing.assert_array_equal(grouped.scores, pd.read_csv(folds).drop(columns="db").to_numpy())
