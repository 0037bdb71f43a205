"""What the columns of a table of scores are: players, rounds, scores, battles.

Names count whatever their case and punctuation. ``tests/data/test_read_scores.py`` holds the tables
that are refused.
"""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.columns import find_column
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.formats.score_cells import holds_no_number
from bayes_sota.data.parts import several

__all__ = [
    "FOLD_WORDS",
    "column_asked_for",
    "is_row_name",
    "named_in",
    "player_position",
    "round_positions",
    "sole_round_position",
    "tournament_name",
]

# The first that exists is taken: a leaderboard has a model and its team, and the model plays.
_PLAYERS = (
    "player", "players", "model", "models", "modelname", "classifier", "classifiers", "algorithm",
    "algorithms", "algo", "method", "methods", "methodname", "system", "systems", "learner",
    "learners", "estimator", "name", "team", "teamname", "competitor", "submission", "entry",
)  # fmt: skip
FOLD_WORDS = frozenset(
    ("fold", "folds", "foldid", "cvfold", "cv", "cvround", "split", "splits", "splitid",
     "resample", "resampling", "repeat", "repetition", "seed")
)  # fmt: skip
_ROUNDS = FOLD_WORDS | frozenset(
    ("round", "rounds", "roundid", "task", "tasks", "taskname", "taskid", "dataset", "datasets",
     "datasetname", "datasetid", "data", "dataid", "db", "benchmark", "benchmarks")
)  # fmt: skip
_ROW_NAMES = frozenset(("", "unnamed0", "index", "id", "row", "rowname", "rownames", "no", "nr"))


def column_asked_for(table: Table, wanted: str | None, option: str) -> int | None:
    """Position of the column that an option names, None without one; suggests the nearest."""
    if wanted is None:
        return None
    if not table.find_all(wanted):
        close = get_close_matches(wanted, table.header, n=3, cutoff=0.5)
        if close:
            hint = " or ".join(shown(name) for name in close)
            raise InputError(
                f"{table.where}: there is no column {shown(wanted)} ({option}); did you mean "
                f"{hint}?"
            )
    return find_column(table, wanted, option)


def named_in(table: Table, words: Collection[str]) -> list[int]:
    """Positions of the columns that have one of these names."""
    return [j for j, name in enumerate(table.header) if normalize_name(name) in words]


def is_row_name(table: Table, column: int) -> bool:
    """Whether a column names the rows, whatever they are."""
    known = normalize_name(table.header[column])
    return (
        known in _ROW_NAMES
        or known in _ROUNDS
        or known in _PLAYERS
        or holds_no_number(table, column)
    )


def player_position(table: Table) -> int | None:
    """Column that names players: the first one, or one of words, whose name says so."""
    for word in _PLAYERS:
        for column in named_in(table, (word,)):
            if column == 0 or holds_no_number(table, column):
                return column
    return None


def round_positions(table: Table, taken: Iterable[int | None] = ()) -> list[int]:
    """Columns that may name rounds."""
    used = set(taken)
    return [column for column in named_in(table, _ROUNDS) if column not in used]


def sole_round_position(table: Table, found: Sequence[int]) -> int | None:
    """The only column that names rounds; several are refused."""
    if len(found) < 2:
        return found[0] if found else None
    names = [table.header[column] for column in found]
    raise InputError(
        f"{table.where}: the columns {several(names)} could all name the rounds: name one as "
        "round_column, and the other as tournament_column (a leaderboard for each) or group_column "
        "(rounds that depend on each other)"
    )


def tournament_name(table: Table) -> str:
    """Name of the tournament that a table holds: that of its file, which a frame does not have."""
    return "tournament" if table.where == "the data frame" else table.stem
