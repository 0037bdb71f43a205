"""What columns are called and what their cells say: one vocabulary and one reading for all tables.

Names count whatever their case and punctuation. ``tests/data/test_meanings.py`` holds what names
and cells are taken for, and every reader's tests the tables that are refused.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import nearest, several, shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.files.tables import Nested, Table, is_numeric, normalize_name
from bayes_sota.data.printed_scores import LARGEST_NUMBER, parse_number
from bayes_sota.data.responses import MISSING

# Names of columns by their role, in the order in which they are looked for, and of nothing.
WORDS = {
    role: dict.fromkeys(words)
    for role, words in tomllib.loads(
        Path(__file__).with_name("vocabulary.toml").read_text("utf-8")
    ).items()
}

ACCURACIES = frozenset(("accuracy", "acc"))
_ANSWERS: dict[str, float] = {
    **dict.fromkeys(("1", "1.0", "true", "right", "correct"), 1),
    **dict.fromkeys(("0", "0.0", "false", "wrong", "incorrect"), 0),
    **dict.fromkeys(("", "na", "n/a", "nan", "<na>", "null", "none", "-1"), MISSING),
}
_IDS = re.compile(r"([\W_][iI][dD]|[a-z]I[dD])$")  # patient_id, patientId
_WORD_ENDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")  # "MacroF1" has two words
_MOST_CLASSES = 10_000
_MOST_NAMED = 10  # cells in one message


def name_words(name: str) -> set[str]:
    """Words of a name, as they stand in the vocabulary.

    Examples
    --------
    >>> sorted(name_words("MacroF1")), sorted(name_words("Test accuracy (%)"))
    (['f1', 'macro'], ['', 'accuracy', 'test'])
    """
    return {normalize_name(word) for word in _WORD_ENDS.split(name)}


def find_column(table: Table, wanted: str, option: str) -> int:
    """Position of the only column of a name; a message suggests the nearest names."""
    positions = table.find_all(wanted)
    if len(positions) == 1:
        return positions[0]
    problem = f"{len(positions)} columns are called" if positions else "there is no column"
    hint = "" if positions else nearest(wanted, table.header)
    raise InputError(
        f"{table.where}: {problem} {shown(wanted)} ({option}); there are {table.listed_columns()}"
        f"{hint}"
    )


def named_in(table: Table, words: Collection[str]) -> list[int]:
    """Positions of the columns that have one of these names."""
    return [j for j, name in enumerate(table.header) if normalize_name(name) in words]


def only_column(
    table: Table, wanted: str | None, positions: list[int], what: str, option: str
) -> int | None:
    """Position of the column that an option names, else the only one of those found, if any."""
    if wanted is not None:
        return find_column(table, wanted, option)
    if len(positions) > 1:
        names = several(table.header[j] for j in positions)
        raise InputError(f"{table.where}: several columns could be {what} ({option}): {names}")
    return positions[0] if positions else None


def role_columns(
    table: Table,
    options: object,
    words: Mapping[str, Collection[str]],
    taken: Collection[int] = (),
) -> dict[str, int]:
    """Positions of the columns of some roles: those asked for, or called so and not taken.

    Parameters
    ----------
    table : Table
    options
        Whose field ``<role>_column`` is the name that was asked for, or None.
    words : mapping of str to collection of str
        What the column of each role may be called.
    taken : collection of int
        Columns that say something else.

    Raises
    ------
    InputError
        Several columns that could have a role, or one that was asked for twice.
    """
    roles: dict[str, int] = {}
    for role, names in words.items():
        option = f"{role}_column"
        wanted = getattr(options, option)
        used = {*taken, *roles.values()}
        free = [j for j in named_in(table, names) if j not in used]
        column = only_column(table, wanted, free, f"the {role}s", option)
        if column in used:
            raise _taken(table, wanted, f"the {role}s ({option})")
        if column is not None:
            roles[role] = column
    return roles


def _taken(table: Table, wanted: str | None, what: str) -> InputError:
    """Error on a column that was asked for as two things."""
    return InputError(f"{table.where}: column {shown(wanted)} cannot be {what} and something else")


def find_score_column(
    table: Table,
    wanted: str | None = None,
    words: Collection[str] = WORDS["scores"],
    what: str = "",
) -> int:
    """Position of the column of scores: the one asked for, or the only one that looks like it.

    ``what`` says which scores, where there are several kinds.
    """
    option = f"{what or 'score'}_column"
    if wanted is not None:
        return find_column(table, wanted, option)
    positions = named_in(table, words)
    if not positions and words is WORDS["scores"]:
        positions = [
            j
            for j, name in enumerate(table.header)
            if not name_words(name).isdisjoint((*ACCURACIES, "score"))
        ]
    if len(positions) == 1:
        return positions[0]
    like = f"{what} scores".lstrip()
    problem = f"{len(positions)} columns look" if positions else "no column looks"
    several_of = f" ({several(table.header[i] for i in positions)})" if positions else ""
    raise InputError(
        f"{table.where}: {problem} like {like}{several_of}; there are {table.listed_columns()}: "
        f"say which with {option}"
    )


def find_score_column_beside(table: Table, used: Collection[int], wanted: str | None) -> int:
    """As ``find_score_column`` among the columns that say nothing else, of which one may be left.

    Raises
    ------
    InputError
        The column asked for says something else.
    """
    if wanted is not None:
        position = find_column(table, wanted, "score_column")
        if position in used:
            raise _taken(table, wanted, "the scores (score_column)")
        return position
    rest = [j for j in range(len(table.header)) if j not in used]
    return rest[0] if len(rest) == 1 else rest[find_score_column(table.only(rest))]


def check_names(where: str, names: Mapping[int, str], end: str = "") -> None:
    """Raise ``InputError`` unless columns, by their positions, have names that no other has."""
    nameless = [position for position, name in names.items() if not name]
    if nameless:
        raise InputError(f"{where}: column {nameless[0] + 1} has no name{end}")
    twice = [name for name, count in Counter(names.values()).items() if count > 1]
    if twice:
        raise InputError(f"{where}: two columns are called {shown(twice[0])}")


def find_name_column(
    table: Table, wanted: str | None, scores: int, may_repeat: bool = False
) -> int | None:
    """Position of the column of names, None if there is none.

    The first of several is taken, but one whose names repeat only where the names of every other
    repeat too; rows that are runs of an entry, and numbers, name no entries.
    """
    if wanted is not None:
        return find_column(table, wanted, "name_column")
    named = (named_in(table, (name,)) for name in WORDS["names"])
    positions = [j for columns in named for j in columns if j != scores]
    if may_repeat or named_in(table, WORDS["runs"]):
        return positions[0] if positions else None
    return next(
        (j for j in positions if names_every_row(table, j)), positions[0] if positions else None
    )


def names_every_row(table: Table, column: int) -> bool:
    """Whether a column holds words, a different one in every row."""
    if not holds_no_number(table, column):
        return False
    names = [str(cell).strip() for cell in table.columns[column]]
    return len(set(names)) == len(names)


def number_of(cell: object) -> float | None:
    """Finite number that a cell says, None where it is none."""
    if type(cell) is float:
        return cell if math.isfinite(cell) else None
    parsed = parse_number(cell)
    number = None if parsed is None else float(parsed)
    return number if number is not None and math.isfinite(number) else None


def as_numbers(cells: Sequence[Any] | NDArray[Any]) -> FloatArray:
    """Numbers that cells say, NaN where they say none."""
    if is_numeric(cells):
        return np.asarray(cells, np.float64)
    known = {cell: number_of(cell) for cell in set(cells)}
    known = {cell: math.nan if number is None else number for cell, number in known.items()}
    return np.fromiter(map(known.__getitem__, cells), np.float64, len(cells))


def find_counters(table: Table, columns: Sequence[int]) -> list[int]:
    """Positions of the columns of whole numbers that only count, by their names.

    Examples
    --------
    >>> cells = (("3", "1", "2"), (".5", ".6", ".4"))
    >>> find_counters(Table(("week", "a"), cells, ("1", "2", "3"), "x.csv"), [0, 1])
    [0]
    """
    called = [j for j in columns if _is_counter(table.header[j])]
    numbers = {j: as_numbers(table.columns[j]) for j in called}
    whole = [j for j in called if np.all(numbers[j] == np.rint(numbers[j]))]
    return [j for j in whole if not np.isin(numbers[j], (-1, 0, 1)).all()]  # answers


def _is_counter(name: str) -> bool:
    """Whether a column is called like one that counts, or numbers something.

    Examples
    --------
    >>> _is_counter("week"), _is_counter("patient_id"), _is_counter("pid"), _is_counter("fluid")
    (True, True, True, False)
    """
    return normalize_name(name) in WORDS["counters"] or bool(_IDS.search(name))


def refuse_counters(table: Table, positions: Sequence[int], what: str, options: str) -> None:
    """Raise ``InputError`` where columns that only count were found among columns of scores.

    ``what`` their scores would be of, and ``options`` that say what they count, are for the
    message.
    """
    if positions:
        raise InputError(
            f"{table.where}: column {shown(table.header[positions[0]])} counts by its name and is "
            f"no {what}: name it as {options}, or take it out"
        )


def is_missing(cell: object) -> bool:
    """Whether a cell says that there is nothing."""
    return str(cell).strip().lower() in WORDS["missing"]


def answer_of(cell: object) -> float | None:
    """Answer that a cell says, 1, 0 or ``MISSING``; None where it says something else."""
    if isinstance(cell, str):
        return _ANSWERS.get(cell) if cell in _ANSWERS else _ANSWERS.get(cell.strip().lower())
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or cell != cell:
        return MISSING
    return int(cell) if isinstance(cell, (bool, int, float)) and cell in (-1, 0, 1) else None


def numbers_in(
    table: Table, column: int, value_of: Callable[[Any], float | None], complaint: str
) -> FloatArray:
    """Numbers that the cells of a column say, (n_rows,); each different cell is looked at once.

    Raises
    ------
    InputError
        A cell of which ``value_of`` is None, by its place and ``complaint``, which has ``{}`` for
        the cell; a number too large for its powers.

    Examples
    --------
    >>> table = Table(("a",), (("0.5", "1e-3"),), ("1", "2"), "x.csv")
    >>> numbers_in(table, 0, number_of, "a number is needed, got {}")
    array([0.5  , 0.001])
    """
    numbers: FloatArray = numbers_of(table, [column], value_of, complaint)[0]
    return numbers


def numbers_of(
    table: Table,
    columns: Sequence[int],
    value_of: Callable[[Any], float | None],
    complaint: str,
) -> FloatArray:
    """Numbers of several columns as ``numbers_in`` reads them, shape (n_columns, n_rows).

    All cells that are none are in one message, the first ten of them by their places.
    """
    values = np.empty((len(columns), len(table.places)))
    wrong: list[tuple[int, int]] = []
    for numbers, column in zip(values, columns, strict=True):
        listed = listed_cells(table, column)
        known = {cell: value_of(cell) for cell in set(listed)}
        bad = {cell for cell, value in known.items() if value is None}
        if bad:
            wrong += [(row, column) for row, cell in enumerate(listed) if cell in bad]
            continue
        numbers[:] = np.fromiter(map(known.__getitem__, listed), np.float64, len(listed))
    if wrong:
        raise bad_cells(table, sorted(wrong), complaint)
    too_large = np.argwhere(np.abs(values) > LARGEST_NUMBER)
    if too_large.size:
        place, row = too_large[0].tolist()
        cell = listed_cells(table, columns[place])[row]
        raise InputError(
            f"{table.place(row, columns[place])}: {shown(cell)} is too large, the limit is "
            f"{LARGEST_NUMBER:g}"
        )
    return values


def bad_cells(table: Table, wrong: Sequence[tuple[int, int]], complaint: str) -> InputError:
    """Error on cells, given by row and column: the first with what is wrong, others by place.

    ``complaint`` has ``{}`` for the cell.
    """
    cells = [listed_cells(table, column)[row] for row, column in wrong[:_MOST_NAMED]]
    first, *others = zip(wrong, cells, strict=False)
    (row, column), cell = first
    got = "an empty cell" if cell in (None, "") else shown(cell)
    listed = "".join(
        f"; also {shown(cell)} on {table.places[row]}, column {shown(table.header[column])}"
        for (row, column), cell in others
    )
    rest = len(wrong) - len(cells)
    return InputError(
        f"{table.place(row, column)}: {complaint.format(got)}{listed}"
        + (f"; and {rest:,} more" if rest else "")
    )


def listed_cells(table: Table, column: int) -> Any:
    """Cells of a column as Python values; float32 stays, for the digits that it prints."""
    cells: Any = table.columns[column]
    is_single = is_numeric(cells) and cells.dtype.kind == "f" and cells.dtype.itemsize < 8
    if is_single:
        return list(cells)
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def holds_no_number(table: Table, column: int) -> bool:
    """Whether a column has words, and not a single number."""
    cells = table.columns[column]
    if is_numeric(cells):
        return False
    truths = {cell for cell in set(cells) if isinstance(cell, bool | np.bool_)}
    words = {str(cell) for cell in set(cells) - truths}
    if truths:
        return all(map(is_missing, words))
    return all(parse_number(word) is None for word in words) and not all(map(is_missing, words))


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
    listed = listed_cells(table, column)
    codes: dict[str, int] = {}
    code_of: dict[Any, int] = {}
    for cell in dict.fromkeys(listed):
        name = _name(cell)
        if isinstance(cell, Nested) or not name:
            place = table.place(next(i for i, c in enumerate(listed) if c is cell), column)
            if name:
                raise InputError(f"{place}: a {what} is a name, got {shown(cell)}")
            raise InputError(f"{place}: the {what} has no name")
        code_of[cell] = codes.setdefault(name, len(codes))
    code_of_row = np.fromiter(map(code_of.__getitem__, listed), np.intp, len(listed))
    return list(codes), code_of_row


def names_in(table: Table, column: int, what: str) -> list[str]:
    """Name that each row has in a column."""
    names, codes = coded_names(table, column, what)
    return [names[code] for code in codes]


def _name(cell: object) -> str:
    """Name in a cell: 1, 1.0 of a column of numbers and "1" are the same; "" without any."""
    if not isinstance(cell, str) and str(cell) in ("None", "nan", "<NA>", "NaT"):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()


def refuse_repeats(table: Table, column: int, names: Sequence[str], what: str, hint: str) -> None:
    """Raise ``InputError`` where a row has the name of another, with both places and a hint."""
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if seen.setdefault(name, row) != row:
            raise InputError(
                f"{table.place(row, column)}: {what} {shown(name)} is already on "
                f"{table.places[seen[name]]}; {hint}"
            )


def classes_seen(cells: Iterable[object]) -> str | None:
    """What cells are that look like predicted classes, for messages: several whole numbers only."""
    numbers = {parse_number(cell) for cell in cells}
    classes = sorted(n for n in numbers if n is not None)
    whole = None not in numbers and all(n >= 0 and n == int(n) for n in classes)
    if not whole or not 2 < len(classes) <= _MOST_CLASSES:
        return None
    return (
        f"the cells are {len(classes):,} whole numbers from {classes[0]} to {classes[-1]}, as "
        "predicted classes are: a matrix of answers has 1 (right) and 0 (wrong)"
    )
