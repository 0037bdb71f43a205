"""``read_leaderboard``: a file or a frame to a ``Leaderboard``.

Reads two boards of the same teams: from one table, or from two joined on the teams' names.

The files are not trusted: they are parsed by ``bayes_sota.data.readers`` and what is no score is an
error with its place (``tests/data/test_read_paired.py``).
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import TriesPrior
from bayes_sota.core.text import shown
from bayes_sota.data.columns import find_column, find_name_column, find_score_column, is_loss
from bayes_sota.data.files.opening import FileFormat, open_table
from bayes_sota.data.files.tables import Nested, Table, normalize_name
from bayes_sota.data.formats.kaggle import best_rows, is_kaggle, team_names
from bayes_sota.data.leaderboard import Leaderboard, Metric, check_metric
from bayes_sota.data.paired import PairedBoards
from bayes_sota.data.printed_scores import Rounding, RoundingChoice, parse_scores, rounding_order


@dataclass(frozen=True)
class Entries:
    """Entries of a leaderboard as they stand in a file; the scores are not parsed yet.

    Attributes
    ----------
    scores : tuple
        Cells of the column of scores, (m,).
    names : tuple of str, or None
        Names of the entries, all different.
    submissions : tuple or None
        Submissions of each entry, in a Kaggle download.
    places : tuple of str
        Where each score stands: "line 7, column 'Score'".
    is_kaggle : bool
        Whether the file is a download from Kaggle.
    notes : tuple of str
        What was dropped or merged.
    where, stem : str
        The file, for messages, and its short name.
    column : str
        Name of the column of scores.
    """

    scores: tuple[Any, ...]
    names: tuple[str, ...] | None
    submissions: tuple[Any, ...] | None
    places: tuple[str, ...]
    is_kaggle: bool
    notes: tuple[str, ...]
    where: str
    stem: str
    column: str

    def check_direction(self, lower_is_better: bool) -> None:
        """Raise ``InputError`` where the name of the column says that lower is better."""
        if is_loss(self.column) and not lower_is_better:
            raise InputError(
                f"{self.where}: column {shown(self.column)} holds errors by its name, and of those "
                'the lowest is the best: give metric="score" and lower_is_better=True, or write an '
                "error rate e as the accuracy 1 - e"
            )

    def rounding_order(self, rounding: RoundingChoice) -> tuple[Rounding, ...]:
        """Roundings to try, the preferred one first: Kaggle floors scores."""
        order = rounding_order(rounding)
        return order[::-1] if rounding == "auto" and self.is_kaggle else order


def read_leaderboard(
    path_or_frame: str | os.PathLike[str] | Any,
    *,
    n_test: int | Literal["infer"] | None = None,
    score_column: str | None = None,
    name_column: str | None = None,
    format: FileFormat = "auto",
    lower_is_better: bool = False,
    rounding: RoundingChoice = "auto",
    decimals: int | None = None,
    percent: bool | None = None,
    n_classifiers: int | tuple[int, int] | TriesPrior | None = None,
    metric: Metric = "accuracy",
    standard_error: float | None = None,
    n_positive: int | None = None,
    name: str | None = None,
) -> Leaderboard:
    """Leaderboard of a file or a data frame.

    Parameters
    ----------
    path_or_frame : path, pandas or polars DataFrame
        CSV or TSV (comma, semicolon or tab), a Kaggle download (also zipped), JSON (a list of
        records, or an object of names and scores) or Parquet.
    n_test : int or "infer"
        Number of test items; "infer" takes the one that the scores identify.
    score_column, name_column : str, optional
        Columns of the scores and of the names. Default: recognised by their names.
    format : {"auto", "csv", "tsv", "json", "parquet", "kaggle"}
        "auto" goes by the content; "kaggle" treats a table as a Kaggle download even where its
        header is another.
    lower_is_better : bool
        Errors and losses, for the metric "score" only.
    rounding : {"auto", "nearest", "floor", "exact"}
        How scores were cut. "auto" takes nearest, for a Kaggle download floor, and the other of
        the two where only so all scores are possible.
    decimals, percent, n_classifiers, metric, standard_error, n_positive
        As in ``Leaderboard``.
    name : str, optional
        Label of the board. Default: the name of the file without its ending.

    Returns
    -------
    Leaderboard
        Entries in the order of the file. Of a Kaggle download each team has its best score; rows
        of deleted teams, without a score or with a score of exactly 0 are dropped; ``notes`` says
        how many.

    Raises
    ------
    InputError
        A file that is not what it should be, by file, line, column, value and fix.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "board.csv"
    ...     _ = path.write_text("team,score\\nA,0.91\\nB,0.94\\n")
    ...     board = read_leaderboard(path, n_test=100)
    >>> board.name, board.names, board.scores.tolist()
    ('board', ('A', 'B'), [0.91, 0.94])
    """
    check_metric(metric, standard_error, n_test, percent, lower_is_better, rounding, decimals)
    entries = read_entries(
        path_or_frame, score_column=score_column, name_column=name_column, format=format,
        lower_is_better=lower_is_better,
    )  # fmt: skip
    entries.check_direction(lower_is_better)
    check_scores(entries, decimals=decimals, percent=percent, metric=metric)
    with located(entries.where):
        return Leaderboard(
            entries.scores,
            n_test=n_test,
            n_positive=n_positive,
            names=entries.names,
            n_classifiers=n_classifiers,
            submissions=entries.submissions,
            metric=metric,
            standard_error=standard_error,
            lower_is_better=lower_is_better,
            rounding=entries.rounding_order(rounding),
            decimals=decimals,
            percent=percent,
            name=entries.stem if name is None else name,
            notes=entries.notes,
        )


def read_entries(
    path_or_frame: str | os.PathLike[str] | Any,
    *,
    score_column: str | None = None,
    name_column: str | None = None,
    format: FileFormat = "auto",
    lower_is_better: bool = False,
) -> Entries:
    """Entries of a file or a data frame, before the size of the test set is known.

    Parameters are those of ``read_leaderboard``.
    """
    table = open_table(path_or_frame, format)
    kaggle = format == "kaggle" or is_kaggle(table)
    scores = find_score_column(table, score_column)
    names = find_name_column(table, name_column, scores)
    notes: list[str] = []
    rows: Sequence[int] = range(len(table.places))
    if kaggle:
        rows, notes = best_rows(table, scores, names, lower_is_better)
        if not rows:
            raise InputError(f"{table.where}: no entries are left: {'; '.join(notes)}")
    return Entries(
        scores=_cells(table, scores, rows),
        names=None if names is None else _names(table, names, rows, kaggle),
        submissions=_submissions(table, rows),
        places=tuple(f"{table.places[r]}, column {shown(table.header[scores])}" for r in rows),
        is_kaggle=kaggle,
        notes=tuple(notes),
        where=table.where,
        stem=table.stem,
        column=table.header[scores],
    )


def check_scores(
    entries: Entries, *, decimals: int | None, percent: bool | None, metric: str = "accuracy"
) -> None:
    """Raise ``InputError`` with its place in the file where a cell is not a score."""
    with located(entries.where):
        parse_scores(
            entries.scores,
            decimals=decimals,
            percent=percent,
            bounded=metric != "score",
            subject=entries.places.__getitem__,
        )


@contextmanager
def located(where: str) -> Iterator[None]:
    """Put the file before the message of what cannot know it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _cells(table: Table, column: int, rows: Sequence[int]) -> tuple[Any, ...]:
    cells = table.columns[column]
    return tuple(cells[row] for row in rows)


def _names(table: Table, column: int, rows: Sequence[int], kaggle: bool) -> tuple[str, ...]:
    cells = table.columns[column]
    for row in rows:
        if cells[row] is None or cells[row] != cells[row]:
            place = f"{table.places[row]}, column {shown(table.header[column])}"
            raise InputError(f"{table.where}: {place}: the name is missing")
        if isinstance(cells[row], Nested):
            place = f"{table.places[row]}, column {shown(table.header[column])}"
            raise InputError(f"{table.where}: {place}: a name is text, got {shown(cells[row])}")
    names = team_names(table, column, rows) if kaggle else [str(cells[row]).strip() for row in rows]
    seen: dict[str, int] = {}
    for row, name in zip(rows, names, strict=True):
        if seen.setdefault(name, row) != row:
            raise InputError(
                f"{table.where}: {table.places[seen[name]]} and {table.places[row]} are both "
                f"{shown(name)} (column {shown(table.header[column])}); entries need different "
                "names, keep one row of each"
            )
    return tuple(names)


def _submissions(table: Table, rows: Sequence[int]) -> tuple[Any, ...] | None:
    found = table.find_all("SubmissionCount")
    return _cells(table, found[0], rows) if len(found) == 1 else None


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
