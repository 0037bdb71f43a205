"""Small valid inputs of every kind that a command or reader takes, and the commands that take them.

Everything is made here, from a seed: no file belongs to anybody. ``mutations.py`` spoils them.
"""

import io
import json
import zipfile
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_EXACT = ("--seed", "1", "--json")
_BOARD = ("--n-test", "500")


@dataclass(frozen=True, eq=False)
class Case:
    """One input and one command that takes it as ``{file}``.

    The kind decides what mutations mean. Other files of the case stay as they are.
    """

    kind: str
    name: str
    content: bytes
    command: tuple[str, ...]
    others: dict[str, bytes] = field(default_factory=dict)
    score_columns: tuple[int, ...] = ()
    """Columns of a delimited table whose cells are scores or answers."""

    @property
    def label(self):
        """Name of the command and the file, for messages."""
        words = [word for word in self.command[:2] if not word.startswith(("-", "{"))]
        return f"{' '.join(words)} {self.name}"


def table_text(rows, delimiter=","):
    """Rows as delimited text."""
    return "".join(delimiter.join(row) + "\n" for row in rows).encode()


def corpus():
    """Every kind of input with every command that reads it."""
    rng = np.random.default_rng(20_240)
    return (
        *_boards(rng), *_answers(rng), _paired(rng), _claims(), *_rounds(rng), *_logs(rng),
    )  # fmt: skip


def _boards(rng):
    right = np.unique(rng.binomial(500, rng.beta(60, 12, 40)))[:18]
    rows = [["team", "score"], *([f"team {k}", f"{k / 500:.3f}"] for k in right)]
    records = [{"team": name, "score": float(score)} for name, score in rows[1:]]
    heading = "Rank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount,TeamMemberUserNames"
    kaggle = [heading.split(",")] + [
        [str(r), str(100 + r), name, "2024-02-29 12:00:00", score, "7", f"user{r}"]
        for r, (name, score) in enumerate(rows[1:], 1)
    ]
    board = ("board", "{file}", *_BOARD, *_EXACT)
    sota = ("sota", "{file}", *_BOARD, "--quiet", *_EXACT)
    for command in (board, sota):
        yield Case("board", "board.csv", table_text(rows), command, score_columns=(1,))
    yield Case("board", "board.json", json.dumps(records).encode(), board)
    columns = {key: [r[key] for r in records] for key in rows[0]}
    yield Case("board", "board.parquet", _parquet(columns), board)
    name = "slug-publicleaderboard.csv"
    yield Case("kaggle", name, table_text(kaggle), board, score_columns=(4,))


def _answers(rng):
    right = (rng.random((60, 4)) < [0.9, 0.85, 0.8, 0.6]).astype(int)
    rows = [["item", "tree", "forest", "stump", "coin"]]
    rows += [[f"q{i}", *map(str, row)] for i, row in enumerate(right)]
    columns = {name: right[:, j].tolist() for j, name in enumerate(rows[0][1:])}
    packed = _parquet({"item": [row[0] for row in rows[1:]], **columns})
    read = (
        ("sota", "{file}", *_EXACT),
        ("board", "{file}", *_EXACT),
        ("claim", "responses", "{file}", *_EXACT),
        ("score", "{file}", "--json"),
        ("inspect", "{file}", "--json"),
    )
    for command in read:
        text = table_text(rows)
        yield Case("answers", "answers.csv", text, command, score_columns=(1, 2, 3, 4))
    yield Case("answers", "answers.parquet", packed, read[2])
    dice = [["case", "unet", "vit"]]
    dice += [[f"c{i}", f"{a:.3f}", f"{b:.3f}"] for i, (a, b) in enumerate(rng.beta(8, 2, (30, 2)))]
    yield Case("item-scores", "dice.csv", table_text(dice), read[2], score_columns=(1, 2))
    label = rng.integers(0, 2, 60)
    auc = [["item", "label", "a", "b"]]
    auc += [
        [f"i{i}", str(y), f"{rng.normal(y):.3f}", f"{rng.normal(y):.3f}"]
        for i, y in enumerate(label)
    ]
    how = ("--metric", "auc", "--column", "label=label")
    command = ("board", "{file}", *how, *_EXACT)
    yield Case("item-scores", "auc.csv", table_text(auc), command, score_columns=(2, 3))


def _paired(rng):
    skill = rng.beta(60, 12, 25)
    public, private = rng.binomial(400, skill) / 400, rng.binomial(600, skill) / 600
    rows = [["team", "public", "private"]]
    rows += [[f"t{i}", f"{a:.4f}", f"{b:.4f}"] for i, (a, b) in enumerate(np.c_[public, private])]
    sizes = ("--n-test-public", "400", "--n-test-private", "600")
    command = ("paired", "{file}", *sizes, *_EXACT)
    return Case("paired", "paired.csv", table_text(rows), command, score_columns=(1, 2))


def _claims():
    lines = ("paper,accuracy_a,accuracy_b,n_test", "Li,0.90,0.88,500", "Doe,0.95,0.85,500",
             "Roe,0.80,0.79,100")  # fmt: skip
    content = table_text([line.split(",") for line in lines])
    command = ("claim", "batch", "{file}", "--json")
    return Case("claims", "review.csv", content, command, score_columns=(1, 2))


def _rounds(rng):
    scores = rng.normal([0.9, 0.88, 0.87, 0.85], 0.03, (12, 4)).round(4)
    players = ["a", "b", "c", "d"]
    wide = [["task", *players], *([f"t{r}", *map(str, row)] for r, row in enumerate(scores))]
    long = [["player", "round", "score"]]
    long += [
        [p, f"t{r}", str(x)]
        for r, row in enumerate(scores)
        for p, x in zip(players, row, strict=True)
    ]
    pairs = [(rng.choice(players, 2, replace=False), rng.random()) for _ in range(60)]
    battles = [["winner", "loser", "tie"], *([*pair, str(int(u < 0.1))] for pair, u in pairs)]
    folds = {f"split{i}_test_score": row.tolist() for i, row in enumerate(scores)}
    parts = [["learner", "iteration", "fold", "accuracy"]]
    parts += [[p, str(r), fold, f"{x + int(fold) / 100:.4f}"] for r, row in enumerate(scores)
              for p, x in zip(players, row, strict=True) for fold in "01"]  # fmt: skip
    judge = ("cv", "judge", "{file}", *_EXACT)
    yield Case("folds", "folds.csv", table_text(parts), judge, score_columns=(3,))
    cv = {"params": [{"depth": depth} for depth in range(4)], **folds,
          "mean_test_score": scores.mean(axis=0).tolist()}  # fmt: skip
    read = ("epp", "{file}", "--penalty", "0.5", *_EXACT)
    yield Case("rounds", "wide.csv", table_text(wide), read, score_columns=(1, 2, 3, 4))
    yield Case("rounds", "long.csv", table_text(long), read, score_columns=(2,))
    yield Case("battles", "battles.csv", table_text(battles), read, score_columns=(2,))
    yield Case("rounds", "cv.json", json.dumps(cv).encode(), read)
    frame = {"task": [row[0] for row in wide[1:]],
             **{p: scores[:, j].tolist() for j, p in enumerate(players)}}  # fmt: skip
    yield Case("rounds", "wide.parquet", _parquet(frame), read)


def _logs(rng):
    right = (rng.random((40, 2)) < [0.8, 0.6]).astype(int).tolist()
    read = ("claim", "responses", "{file}", "{other}", *_EXACT)

    def two(make):
        """Logs that a tool writes of both models."""
        return [json.dumps(make([row[j] for row in right], f"model-{j}")) for j in range(2)]

    samples = two(lambda scores, _: [{"doc_id": i, "acc": float(x)} for i, x in enumerate(scores)])
    lines = [text[1:-1].replace("}, ", "}\n").encode() + b"\n" for text in samples]
    other = {"samples_task_b.jsonl": lines[1]}
    yield Case("logs", "samples_task_a.jsonl", lines[0], read, other)
    inspect = two(lambda scores, model: {
        "version": 2, "status": "success", "eval": {"task": "t", "model": model},
        "results": {"completed_samples": len(scores)},
        "samples": [
            {"id": i, "epoch": 1, "scores": {"match": {"value": "C" if x else "I"}}}
            for i, x in enumerate(scores)
        ],
    })  # fmt: skip
    other = {"b_inspect.json": inspect[1].encode()}
    yield Case("logs", "a_inspect.json", inspect[0].encode(), read, other)
    log, buffer = json.loads(inspect[0]), io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number, sample in enumerate(log.pop("samples")):
            archive.writestr(f"samples/{number}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(log))
    yield Case("logs", "a.eval", buffer.getvalue(), read, other)


def _parquet(columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()
