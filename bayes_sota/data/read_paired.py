"""Reads two boards of the same teams: from one table, or from two joined on the teams' names.

The files are not trusted: they are parsed by ``bayes_sota.data.readers`` and what is no score is an
error with its place (``tests/data/test_read_paired.py``).
"""

import os
from collections.abc import Sequence
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.columns import find_column, find_name_column, is_loss
from bayes_sota.data.files.opening import FileFormat, open_table
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.paired import PairedBoards
from bayes_sota.data.printed_scores import parse_scores
from bayes_sota.data.read_leaderboard import Entries, located, read_entries

__all__ = ["read_paired_boards"]

_WORDS = ("score", "scores", "accuracy", "acc", "lb", "leaderboard", "")


def read_paired_boards(
    path: str | os.PathLike[str] | Any,
    private_path: str | os.PathLike[str] | Any | None = None,
    *,
    public_column: str | None = None,
    private_column: str | None = None,
    name_column: str | None = None,
    format: FileFormat = "auto",
    n_test: tuple[int, int] | None = None,
    standard_errors: tuple[float, float] | None = None,
    lower_is_better: bool = False,
    name: str | None = None,
) -> PairedBoards:
    """Public and private scores of the same teams.

    Parameters
    ----------
    path : path or data frame
        A table with one row per team and a column for each board; or, with ``private_path``, the
        public leaderboard.
    private_path : path or data frame, optional
        The private leaderboard, joined on the names of the teams; ``notes`` says how many teams
        are on one board only, and they are left out.
    public_column, private_column, name_column : str, optional
        Columns of the scores and names. Default: recognised by their names, such as
        ``score_public`` or ``Public Score``.
    format : str
        As in ``read_leaderboard``.
    n_test, standard_errors, lower_is_better
        As in ``PairedBoards``.
    name : str, optional
        Label. Default: the name of the file.

    Returns
    -------
    PairedBoards
        Teams in the order of their public scores, equal ones by name, so that results do not depend
        on the order of the rows.

    Raises
    ------
    InputError
        A file that is not what it should be, by file, line, column and value.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> header = "team,score_public,score_private"
    >>> rows = [header, *(f"t{i},0.{90 - i},0.{91 - i}" for i in range(6))]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "both.csv"
    ...     _ = path.write_text("\\n".join(rows))
    ...     boards = read_paired_boards(path)
    >>> boards.names[0], float(boards.public[0]), float(boards.private[0])
    ('t0', 0.9, 0.91)
    """
    options: dict[str, Any] = {
        "n_test": n_test, "standard_errors": standard_errors, "lower_is_better": lower_is_better,
    }  # fmt: skip
    accuracies = n_test is not None
    if private_path is None:
        boards = _from_one(
            open_table(path, format), (public_column, private_column), name_column, accuracies,
            name, options,
        )  # fmt: skip
    else:
        both = [
            read_entries(source, score_column=column, name_column=name_column, format=format)
            for source, column in ((path, public_column), (private_path, private_column))
        ]
        for entries in both:
            _check_direction(entries.where, entries.column, lower_is_better)
        boards = _joined(both[0], both[1], accuracies, name, options)
    return boards.subset(boards.order(boards.public))


def _from_one(
    table: Table,
    wanted: tuple[str | None, str | None],
    name_column: str | None,
    accuracies: bool,
    name: str | None,
    options: dict[str, Any],
) -> PairedBoards:
    positions = [
        _score_column(table, column, which)
        for column, which in zip(wanted, ("public", "private"), strict=True)
    ]
    if positions[0] == positions[1]:
        raise InputError(
            f"{table.where}: {shown(table.header[positions[0]])} cannot be both boards; say which "
            "columns with public_column and private_column"
        )
    names = find_name_column(table, name_column, positions[0])
    for position in positions:
        _check_direction(table.where, table.header[position], options["lower_is_better"])
        places = [f"{place}, column {shown(table.header[position])}" for place in table.places]
        _check(table.where, table.columns[position], places, accuracies)
    public, private = (list(table.columns[position]) for position in positions)
    with located(table.where):
        return PairedBoards(
            public,
            private,
            None if names is None else [str(cell).strip() for cell in table.columns[names]],
            name=table.stem if name is None else name,
            **options,
        )


def _score_column(table: Table, wanted: str | None, which: str) -> int:
    """Position of a board's column: the one asked for, or the only one named like it."""
    if wanted is not None:
        return find_column(table, wanted, f"{which}_column")
    known = {which + word for word in _WORDS} | {word + which for word in _WORDS}
    found = [i for i, header in enumerate(table.header) if normalize_name(header) in known]
    if len(found) == 1:
        return found[0]
    several = ", ".join(shown(table.header[i]) for i in found)
    problem = f"{len(found)} columns look like {which} scores ({several})"
    if not found:
        problem = f"no column looks like {which} scores"
    raise InputError(
        f"{table.where}: {problem}; there are {table.listed_columns()}: say which with "
        f"{which}_column"
    )


def _check_direction(where: str, column: str, lower_is_better: bool) -> None:
    if is_loss(column) and not lower_is_better:
        raise InputError(
            f"{where}: column {shown(column)} holds errors by its name, and of those the lowest is "
            "the best: give lower_is_better=True"
        )


def _check(where: str, cells: Sequence[Any], places: Sequence[str], accuracies: bool) -> None:
    with located(where):
        parse_scores(
            cells, rounding="exact", percent=False if accuracies else None, bounded=accuracies,
            subject=places.__getitem__,
        )  # fmt: skip


def _joined(
    public: Entries, private: Entries, accuracies: bool, name: str | None, options: dict[str, Any]
) -> PairedBoards:
    for entries, which in ((public, "public"), (private, "private")):
        if entries.names is None:
            raise InputError(
                f"{entries.where}: the {which} board has no names to join on; say which column "
                "with name_column"
            )
        _check(entries.where, entries.scores, entries.places, accuracies)
    first = dict(zip(public.names or (), public.scores, strict=True))
    second = dict(zip(private.names or (), private.scores, strict=True))
    both = [team for team in first if team in second]
    notes = [*public.notes, *private.notes]
    for alone, which in ((len(first) - len(both), "public"), (len(second) - len(both), "private")):
        if alone:
            notes.append(f"left out {alone:,} teams that are on the {which} board only")
    where = f"{public.where} and {private.where}"
    if not both:
        raise InputError(f"{where}: no team is on both boards, by their names")
    with located(where):
        return PairedBoards(
            [first[team] for team in both],
            [second[team] for team in both],
            both,
            name=public.stem if name is None else name,
            notes=notes,
            **options,
        )
