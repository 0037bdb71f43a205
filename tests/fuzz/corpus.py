"""Small valid inputs of every kind that a command or reader takes, and the commands that take them.

Tables are those of the fixture ``option_inputs`` and the bundled examples; logs are made here.
``mutations.py`` spoils them.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from data.files import EXAMPLES, written
from data.test_logs import archive_of, lines, log_of, sample

# Kind of file, its name, columns of scores or answers | command. JSON and Parquet are of a CSV.
COMMANDS = """
board board.csv 1 | board {file} --n-test 500
board board.csv 1 | sota {file} --n-test 500 --quiet
board board.json | board {file} --n-test 500
board board.parquet | board {file} --n-test 500
answers answers.csv 0 1 2 3 | sota {file}
answers answers.csv 0 1 2 3 | board {file}
answers answers.csv 0 1 2 3 | claim responses {file}
answers answers.csv 0 1 2 3 | score {file}
answers answers.csv 0 1 2 3 | inspect {file}
answers answers.parquet | claim responses {file}
item-scores dice.csv 1 2 | claim responses {file}
item-scores auc.csv 2 3 | board {file} --metric auc --column label=label
paired public_private.csv 1 2 | paired {file} --n-test-public 250 --n-test-private 1000
claims claims.csv 3 4 | claim batch {file}
folds cross_validation.csv 4 | cv judge {file}
rounds rounds.csv 1 2 3 4 | epp {file} --penalty 0.5
rounds rounds.json | epp {file} --penalty 0.5
rounds rounds.parquet | epp {file} --penalty 0.5
battles battles.csv 2 | epp {file} --penalty 0.5
logs samples_task_a.jsonl | claim responses {file} {other}
logs a_inspect.json | claim responses {file} {other}
logs a.eval | claim responses {file} {other}
""".strip().splitlines()


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


def table_text(rows):
    """Rows as comma-separated text."""
    return "".join(",".join(row) + "\n" for row in rows).encode()


def case_of(line, inputs, folder):
    """The case of a line of ``COMMANDS``; tables are in ``inputs`` or among the examples."""
    about, _, command = line.partition(" | ")
    kind, name, *columns = about.split()
    words = (*command.split(), "--json")
    if kind == "logs":
        content, others = _logs(folder)[name]
        return Case(kind, name, content, words, others)
    table = (inputs / name).with_suffix(".csv")
    table = table if table.exists() else EXAMPLES / table.name
    path = folder / name
    if path.suffix == ".json":
        pd.read_csv(table).to_json(path, orient="records")
    elif path.suffix == ".parquet":
        pd.read_csv(table).to_parquet(path)
    else:
        path = table
    return Case(kind, name, path.read_bytes(), words, score_columns=tuple(map(int, columns)))


def _logs(folder):
    """Logs of two models, the first with its content, the other beside it."""
    right = np.random.default_rng(0).random((2, 40)) < [[0.8], [0.6]]
    one, other = (
        lines(*(sample(i, float(x)) for i, x in enumerate(row))).encode() for row in right
    )
    first, second = (log_of(f"model-{j}", *row.tolist()) for j, row in enumerate(right))
    archive = archive_of(folder / "a.eval", first).read_bytes()
    beside = {"b_inspect.json": written(folder, second, "b.json").read_bytes()}
    return {
        "samples_task_a.jsonl": (one, {"samples_task_b.jsonl": other}),
        "a_inspect.json": (written(folder, first, "a.json").read_bytes(), beside),
        "a.eval": (archive, beside),
    }
