"""Calls of the public functions that read tables, for ``test_argument_effects``."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_sota.data.fold_scores import FoldScores


@dataclass
class Call:
    """A call, other values of its arguments, and calls with which others act."""

    base: dict[str, Any]
    others: dict[str, Any] = field(default_factory=dict)
    on: dict[str, tuple[dict[str, Any], Any]] = field(default_factory=dict)


def readers(folder: Path) -> dict[str, Call]:
    """Calls of the functions that read tables."""
    rng = np.random.default_rng(8)
    listed = pd.DataFrame({
        "team": ["x", "y", "z"], "score": ["0.912", "0.900", "0.880"], "b": ["0.7", "0.8", "0.9"],
        "label": ["p", "q", "r"], "c": ["0.7", "", "0.9"],
    })  # fmt: skip
    sized = pd.DataFrame({
        "team": ["x", "y", "z"], "score": [0.9, 0.88, 0.86], "size": [500, 50, 50],
        "score_stderr": [0.01, 0.02, 0.03], "se": [0.02, 0.02, 0.05],
    })  # fmt: skip
    averages = pd.DataFrame({
        "model": list("xyz"), "other": list("uvw"), "law": [0.9, 0.8, 0.7], "art": [0.5, 0.7, 0.6],
        "chess": [0.6, 0.8, None], "law_n": [50, 60, 70], "art_n": 200, "law_e": [0.04, 0.05, 0.06],
        "art_e": 0.05,
    })  # fmt: skip
    items = pd.DataFrame({
        "id": range(20), "unit": np.arange(20) // 2 / 10, "label": rng.integers(0, 2, 20),
        "gold": rng.integers(0, 2, 20), "a": rng.random(20), "b": rng.random(20),
    })  # fmt: skip
    parts = items.drop(columns=["gold", "label"]).assign(unit=np.repeat([1, 2], [8, 12]))
    twice = pd.DataFrame({
        "team": list("xyzwvu"), "public_score": [0.81, 0.8, 0.79, 0.77, 0.7, 0.6],
        "private_score": [0.8, 0.79, 0.8, 0.75, 0.7, 0.6], "p2": [0.6, 0.7, 0.8, 0.5, 0.4, 0.3],
        "p3": [0.6, 0.7, 0.8, 0.5, 0.4, None], "label": list("abcdef"),
    })  # fmt: skip
    one = twice[["team", "public_score"]].rename(columns={"public_score": "score"})
    long = pd.DataFrame({
        "data": np.repeat(["d", "e", "f"], 6), "fold": np.tile(np.repeat([1, 2], 3), 3),
        "player": list("abc") * 6, "score": rng.random(18), "other": rng.random(18),
    })  # fmt: skip
    columns = {"player_column": "player", "round_column": "fold", "score_column": "score"}
    wide = pd.DataFrame(rng.random((3, 3)), columns=["a", "b", "c"])
    fights = pd.DataFrame({"winner": list("abca"), "loser": list("bcac"), "judge": list("xxyy")})
    fits = pd.DataFrame({
        "learner": np.repeat(["a", "b"], 8), "name": np.repeat(["x", "y"], 8),
        "task": np.tile(np.repeat(["s", "t"], 4), 2), "group": "u",
        "iteration": np.tile(np.repeat([1, 2], 2), 4), "turn": np.tile(np.repeat([2, 1], 2), 4),
        "fold": [1, 2] * 8, "part": [2, 1] * 8, "auc": rng.random(16), "acc2": rng.random(16),
    })  # fmt: skip
    tested = pd.DataFrame({
        "learner": list("aabb"), "who": list("bbaa"), "task": list("stst"), "where": list("tsts"),
        "auc": rng.random(4), "acc2": rng.random(4),
    })  # fmt: skip
    runs, turned = (FoldScores(rng.random((2, 2, 3, 2)), learners=list(names), tasks=["s", "t"])
                    for names in ("ab", "ba"))  # fmt: skip
    return {
        "read_test_scores": Call(
            {"source": tested, "like": runs, "score_column": "auc"},
            {"source": tested.assign(auc=0.5), "like": turned, "learner_column": "who",
             "task_column": "where", "score_column": "acc2", "lower_is_better": True},
        ),
        "read_fold_scores": Call(
            {"source": fits.drop(columns="name"), "score_column": "auc"},
            {"source": fits[:8].drop(columns="name"), "learner_column": "group",
             "task_column": "group", "iteration_column": "turn", "fold_column": "part",
             "score_column": "acc2", "folds": 3, "lower_is_better": True},
        ),
        "read_task": Call(
            {"source": items, "target": "label"}, {"source": items[:10], "target": "gold"}
        ),
        "read_leaderboard": Call(
            {"path_or_frame": listed, "n_test": 3000},
            {"path_or_frame": listed[:2], "n_test": 4000, "score_column": "b",
             "name_column": "label", "lower_is_better": True,
             "rounding": "floor", "percent": True, "n_classifiers": 9,
             "metric": "auc", "standard_error": 0.1, "n_positive": 50, "spread_ratio": 2.0,
             "submissions": (2, 9),
             "name": "x"},
            {"missing": ({"score_column": "c", "name_column": "label"}, "drop"),
             "n_test_column": ({"path_or_frame": sized, "n_test": None}, "size"),
             "stderr_column": ({"path_or_frame": sized, "n_test": None}, "se")},
        ),
        "read_item_scores": Call(
            {"path_or_frame": items.drop(columns="gold")},
            {"path_or_frame": items[:10], "metric": "mean", "item_column": "unit",
             "label_column": "id", "cluster_column": "unit", "lower_is_better": True,
             "name": "x"},
            {"task_column": ({"path_or_frame": parts}, "unit"),
             "average": ({"path_or_frame": parts, "task_column": "unit"}, "items")},
        ),
        "read_task_scores": Call(
            {"path_or_frame": averages, "task_columns": ["law", "art"], "n_test": 500},
            {"path_or_frame": averages[:2], "task_columns": ["art", "law"], "n_test": [50, 200],
             "n_test_columns": ["law_n", "art_n"], "stderr_columns": ["law_e", "art_e"],
             "average": "items", "name_column": "other", "metric": "score",
             "lower_is_better": True, "percent": True, "name": "x"},
            {"missing": ({"task_columns": ["law", "chess"]}, "drop"),
             "average": ({"n_test": [50, 200]}, "items"),
             "n_test_columns": ({"n_test": None}, ["law_n", "art_n"]),
             "stderr_columns": ({"n_test": None}, ["law_e", "art_e"])},
        ),
        "read_responses": Call(
            {"path": folder / "answers.csv"},
            {"path": folder / "claims.csv", "item_column": "a"},
            {"task_column": ({"path": folder / "exam.csv"}, "topic"),
             "cluster_column": ({"path": folder / "exam.csv"}, "unit"),
             "run_column": ({"path": folder / "exam.csv"}, "turn"),
             "average": ({"path": folder / "exam.csv"}, "items"),
             "leave_out": ({"path": folder / "exam.csv"}, ["law"])},
        ),
        "read_paired_boards": Call(
            {"path": twice},
            {"path": twice[:5], "private_path": one, "public_column": "p2", "private_column": "p2",
             "name_column": "label", "n_test": (100, 100),
             "standard_errors": (0.1, 0.1), "lower_is_better": True, "submissions": (2, 9),
             "name": "x"},
            {"missing": ({"private_column": "p3"}, "drop")},
        ),
        "read_scores": Call(
            {"source": long, **columns, "tournament_column": "data"},
            {"source": long[:12], "player_column": "fold", "round_column": "data",
             "score_column": "other", "tournament_column": None, "group_column": "other",
             "lower_is_better": True, "scheme": "dataset/model", "cluster_column": "fold"},
            {"players": ({"source": wide, **dict.fromkeys(columns), "tournament_column": None},
                         "rows"),
             "cluster_column": ({"source": fights, **dict.fromkeys(columns),
                                 "tournament_column": None}, "judge")},
        ),
        "read_claims": Call({"path": folder / "claims.csv"}, {"path": folder / "means.csv"}),
    }  # fmt: skip
