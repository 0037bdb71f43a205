"""Tables of scores: what the user chose, which columns are players and rounds, what a reader gives.

``tests/data/test_read_scores.py`` holds the choices and the tables that are refused.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.matches import Matches
from bayes_sota.data.readers.columns import (
    WORDS,
    find_column,
    holds_no_number,
    is_missing,
    named_in,
    number_of,
    numbers_in,
    several,
)
from bayes_sota.data.score_table import Scheme, ScoreTable

ScoreFormat = Literal["auto", "wide", "long", "battles", "cv_results", "lm_eval"]
Orientation = Literal["auto", "rows", "columns"]

# Formats in words, and the options that each has a use for; elsewhere they would be ignored.
_FORMATS = {
    "wide": ("a wide table", {"player_column", "round_column", "group_column", "players"}),
    "long": (
        "a long table",
        {"player_column", "round_column", "score_column", "tournament_column", "group_column"},
    ),
    "battles": ("battles", {"cluster_column"}),
    "cv_results": ("cv_results_", {"score_column"}),
    "lm_eval": ("results of lm-evaluation-harness", {"score_column"}),
}
_ROUNDS = {**WORDS["folds"], **WORDS["rounds"]}


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
        check_choice("format", self.format, ScoreFormat)
        check_choice("players", self.players, Orientation)

    def column(self, table: Table, what: str) -> int | None:
        """Position of the column that is asked for as the players, the rounds, ..., if any."""
        wanted = getattr(self, f"{what}_column")
        return None if wanted is None else find_column(table, wanted, f"{what}_column")

    def scheme_of(self, table: Table, rounds: int | None) -> Scheme:
        """What players and rounds are: as chosen, else by the name of the column of rounds."""
        folds = rounds is not None and normalize_name(table.header[rounds]) in WORDS["folds"]
        return self.scheme or ("model/cv" if folds else "model/task")

    def refuse_unused(self, file_format: str, where: str) -> None:
        """Raise ``InputError`` where an option has no use for the format."""
        name, used = _FORMATS[file_format]
        options = set().union(*(options for _, options in _FORMATS.values()))
        unused = [o for o in sorted(options - used) if getattr(self, o) not in (None, "auto")]
        if file_format == "battles":
            unused += [option for option in ("lower_is_better", "scheme") if getattr(self, option)]
        if unused:
            raise InputError(f"{where}: {unused[0]} is not for {name}, which this is")


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


def read_numbers(table: Table, column: int) -> FloatArray:
    """Scores in a column, NaN where one is missing, shape (n_rows,).

    Examples
    --------
    >>> read_numbers(Table(("a",), (("0.5", "NA", "1e-3"),), ("1", "2", "3"), "x.csv"), 0)
    array([0.5  ,   nan, 0.001])
    """
    complaint = "a score is a finite number, or empty where there is none; got {}"
    return numbers_in(table, column, _score, complaint)


def _score(cell: Any) -> float | None:
    number = number_of(cell)
    return math.nan if number is None and is_missing(cell) else number


def is_row_name(table: Table, column: int) -> bool:
    """Whether a column names the rows, whatever they are."""
    known = normalize_name(table.header[column])
    words = {**WORDS["row_names"], **_ROUNDS, **WORDS["players"]}
    return known in words or holds_no_number(table, column)


def player_position(table: Table) -> int | None:
    """Column that names players: the first one, or one of words, whose name says so."""
    columns = (column for word in WORDS["players"] for column in named_in(table, (word,)))
    return next((j for j in columns if j == 0 or holds_no_number(table, j)), None)


def round_positions(table: Table, taken: Iterable[int | None] = ()) -> list[int]:
    """Columns that may name rounds."""
    used = set(taken)
    return [column for column in named_in(table, _ROUNDS) if column not in used]


def sole_round_position(table: Table, columns: Sequence[int]) -> int | None:
    """The only column that names rounds; several are refused."""
    if len(columns) < 2:
        return columns[0] if columns else None
    raise InputError(
        f"{table.where}: the columns {several(table.header[j] for j in columns)} could all name "
        "the rounds: name one as round_column, and the other as tournament_column (a leaderboard "
        "for each) or group_column (rounds that depend on each other)"
    )


def tournament_name(table: Table) -> str:
    """Name of the tournament that a table holds: that of its file, which a frame does not have."""
    return "tournament" if table.where == "the data frame" else table.stem
