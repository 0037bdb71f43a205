"""What the user chose, and what a reader hands back.

``tests/data/test_read_scores.py`` holds the choices that are refused.

Cells of a column as numbers or as names, each error with its place.

``tests/data/test_read_scores.py`` compares with the plain reading of every cell.

What the columns of a table of scores are: players, rounds, scores, battles.

Names count whatever their case and punctuation. ``tests/data/test_read_scores.py`` holds the tables
that are refused.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.columns import find_column
from bayes_sota.data.files.tables import Nested, Table, normalize_name
from bayes_sota.data.matches import Matches
from bayes_sota.data.parts import several
from bayes_sota.data.printed_scores import LARGEST_NUMBER, parse_number
from bayes_sota.data.score_table import Scheme, ScoreTable

ScoreFormat = Literal["auto", "wide", "long", "battles", "cv_results", "lm_eval"]
Orientation = Literal["auto", "rows", "columns"]


# Options that a format has a use for; elsewhere they would be ignored in silence.
_USED = {
    "wide": {"player_column", "round_column", "group_column", "players"},
    "long": {"player_column", "round_column", "score_column", "tournament_column", "group_column"},
    "battles": {"cluster_column"},
    "cv_results": {"score_column"},
    "lm_eval": {"score_column"},
}

_NAMES = {
    "wide": "a wide table",
    "long": "a long table",
    "battles": "battles",
    "cv_results": "cv_results_",
    "lm_eval": "results of lm-evaluation-harness",
}


@dataclass(frozen=True)
class ScoreOptions:
    """What the user chose; None where nothing was said. The fields are those of ``read_scores``."""

    format: ScoreFormat = "auto"
    player_column: str | None = None
    round_column: str | None = None
    score_column: str | None = None
    tournament_column: str | None = None
    group_column: str | None = None
    cluster_column: str | None = None
    players: Orientation = "auto"
    lower_is_better: bool | tuple[str, ...] = False
    scheme: Scheme | None = None

    def __post_init__(self) -> None:
        """Refuse what is not among the choices."""
        for option, value, known in (
            ("format", self.format, get_args(ScoreFormat)),
            ("players", self.players, get_args(Orientation)),
        ):
            if value not in known:
                raise InputError(f"{option} must be one of {', '.join(known)}, got {value!r}")


@dataclass(frozen=True)
class NotedScores:
    """What was read, and what a user should know about it.

    Attributes
    ----------
    scores : ScoreTable, Matches or dict of ScoreTable
    format : str
        What was recognised.
    notes : tuple of str
        What was left out or chosen, for people.
    """

    scores: ScoreTable | Matches | dict[str, ScoreTable]
    format: ScoreFormat
    notes: tuple[str, ...] = ()


def refuse_unused(file_format: str, options: ScoreOptions, where: str) -> None:
    """Raise ``InputError`` where an option has no use for the format."""
    unused = [
        name
        for name in sorted(set.union(*_USED.values()) - _USED[file_format])
        if getattr(options, name) not in (None, "auto")
    ]
    if file_format == "battles":
        unused += [name for name in ("lower_is_better", "scheme") if getattr(options, name)]
    if unused:
        raise InputError(f"{where}: {unused[0]} is not for {_NAMES[file_format]}, which this is")


MISSING_WORDS = ("", "-", "na", "n/a", "nan", "null", "none", "<na>")  # whatever their case


def place(table: Table, row: int, column: int) -> str:
    """Where a cell stands, for messages."""
    return f"{table.where}: {table.places[row]}, column {shown(table.header[column])}"


def read_numbers(table: Table, column: int) -> FloatArray:
    """Scores in a column, NaN where one is missing, shape (n_rows,).

    Raises
    ------
    InputError
        A cell that is neither a finite number nor one of ``MISSING_WORDS``.

    Examples
    --------
    >>> read_numbers(Table(("a",), (("0.5", "NA", "1e-3"),), ("1", "2", "3"), "x.csv"), 0)
    array([0.5  ,   nan, 0.001])
    """
    cells: Any = table.columns[column]
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiu":
        values = _widened(cells)
        doubtful: Sequence[int] = np.flatnonzero(np.abs(values) > LARGEST_NUMBER).tolist()
    elif all(kind is str for kind in set(map(type, cells))):
        values = _floats(cells)
        # Python's float takes "1_000" and digits of other scripts, which are no printed scores.
        text = "".join(cells)
        plain = text.isascii() and "_" not in text
        too_large = ~(np.abs(values) <= LARGEST_NUMBER)
        doubtful = np.flatnonzero(too_large).tolist() if plain else range(len(cells))
    else:
        values = np.empty(len(cells))
        doubtful = range(len(cells))
    for row in doubtful:
        values[row] = _number(table, row, column)
    return values


def holds_no_number(table: Table, column: int) -> bool:
    """Whether a column has words, and not a single number."""
    cells: Any = table.columns[column]
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiu":
        return False
    distinct = set(map(str, cells))
    kinds = {type(cell) for cell in cells}
    if kinds & {bool, np.bool_}:
        return all(isinstance(cell, bool | np.bool_) or _is_missing(cell) for cell in cells)
    words = [text for text in distinct if parse_number(text) is None]
    return len(words) == len(distinct) and not all(_is_missing(word) for word in words)


def coded_names(table: Table, column: int, what: str) -> tuple[list[str], NDArray[np.intp]]:
    """Different names in a column, in order of appearance, and which one each row has.

    Raises
    ------
    InputError
        A cell that names nothing.

    Examples
    --------
    >>> coded_names(Table(("m",), (("b", "a ", "b"),), ("1", "2", "3"), "x.csv"), 0, "player")
    (['b', 'a'], array([0, 1, 0]))
    """
    cells: Any = table.columns[column]
    listed = cells.tolist() if isinstance(cells, np.ndarray) else cells
    first_rows = dict(zip(reversed(listed), range(len(listed) - 1, -1, -1), strict=True))
    codes: dict[str, int] = {}
    code_of: dict[Any, int] = {}
    for cell, row in sorted(first_rows.items(), key=lambda found: found[1]):
        name = _name(cell)
        if isinstance(cell, Nested):
            raise InputError(f"{place(table, row, column)}: a {what} is a name, got {shown(cell)}")
        if not name:
            raise InputError(f"{place(table, row, column)}: the {what} has no name")
        code_of[cell] = codes.setdefault(name, len(codes))
    found = np.fromiter(map(code_of.__getitem__, listed), np.intp, len(listed))
    return list(codes), found


def first_repeat(keys: NDArray[np.intp]) -> tuple[int, int] | None:
    """First row whose key stands in an earlier one, after that earlier one; None without any.

    Examples
    --------
    >>> first_repeat(np.array([4, 2, 7, 2, 4]))
    (1, 3)
    """
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not same.size:
        return None
    at = same[np.argmin(order[same + 1])]
    return int(order[at]), int(order[at + 1])


def _widened(cells: NDArray[Any]) -> FloatArray:
    """Numbers in double precision; a float32 keeps the digits that it prints."""
    if cells.dtype.kind == "f" and cells.dtype.itemsize < 8:
        return np.array([float(str(cell)) for cell in cells])
    return np.array(cells, np.float64)


def _floats(cells: Sequence[str]) -> FloatArray:
    """Numbers as Python reads them, NaN where it does not."""
    try:
        return np.array([*map(float, cells)])
    except ValueError:
        return np.array([_float_or_nan(cell) for cell in cells])


def _float_or_nan(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan


def _is_missing(cell: object) -> bool:
    return str(cell).strip().lower() in MISSING_WORDS


def _number(table: Table, row: int, column: int) -> float:
    cell = table.columns[column][row]
    if _is_missing(cell):
        return np.nan
    number = parse_number(cell)
    value = np.nan if number is None else float(number)
    if abs(value) <= LARGEST_NUMBER:
        return value
    if np.isfinite(value):
        raise InputError(
            f"{place(table, row, column)}: {shown(cell)} is too large, the limit is "
            f"{LARGEST_NUMBER:g}"
        )
    raise InputError(
        f"{place(table, row, column)}: a score is a finite number, or empty where there is none; "
        f"got {shown(cell)}"
    )


def _name(cell: object) -> str:
    """Name in a cell: 1, 1.0 of a column of numbers and "1" are the same; "" without any."""
    if not isinstance(cell, str) and str(cell) in ("None", "nan", "<NA>", "NaT"):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()


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
