"""Leaderboards from files and frames, one board or the public and private board of the same teams.

The files are not trusted: they are parsed by ``bayes_sota.data.files``, and what is no score is an
error with its place (``tests/data/test_readers.py``, ``test_paired.py``).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bayes_sota.core.arguments import check_choice, refuse_unused
from bayes_sota.core.errors import InputError, located
from bayes_sota.core.priors import TriesPrior
from bayes_sota.core.text import counted, shown
from bayes_sota.data.checks import TEST_ITEMS, Metric, SpreadRatio, check_metric, whole_number
from bayes_sota.data.files.opening import open_table
from bayes_sota.data.files.tables import Nested, Table, normalize_name
from bayes_sota.data.formats.kaggle import best_rows, is_kaggle, team_names
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.paired import BOARDS, PairedBoards
from bayes_sota.data.printed_scores import (
    Rounding,
    RoundingChoice,
    has_percent_sign,
    parse_number,
    parse_scores,
    rounding_order,
)
from bayes_sota.data.readers.columns import (
    ACCURACIES,
    WORDS,
    find_column,
    find_name_column,
    find_score_column,
    find_score_column_beside,
    is_missing,
    named_in,
    names_every_row,
    number_of,
    refuse_repeats,
)
from bayes_sota.data.readers.metric_names import (
    is_error_of,
    is_other_metric,
    refuse_loss,
    refuse_other_metric,
)

Missing = Literal["refuse", "drop"]
"""What becomes of entries without a score."""

_DIFFER = (
    "entries need different names: write the mean of runs of one entry as its row, epp compares "
    "entries over data sets, and name_column has other names"
)
_MOST_NAMED = 10  # entries without a score
_WORDS = ("score", "scores", "accuracy", "acc", "lb", "leaderboard", "")  # after public, private
_DIRECTION = (
    'give metric="score" and lower_is_better=True, or write an error rate e as the accuracy 1 - e'
)


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of a leaderboard as they stand in a file; the scores are not parsed yet.

    Attributes
    ----------
    table : Table
        A row for each entry.
    column, name_column : int, int or None
        Positions of the scores and of the names.
    names : tuple of str, or None
        Names of the entries, all different.
    submissions : sequence, or None
        Submissions of each entry: a column of that name, or the one that was asked for.
    is_kaggle : bool
        Whether the file is a download from Kaggle.
    notes : tuple of str
        What was dropped or merged.
    errors, sizes : sequence, or None
        Standard error of each score, and number of items behind it, of columns that say so.
    error_column : int, or None
        Position of the errors.
    """

    table: Table
    column: int
    name_column: int | None = None
    names: tuple[str, ...] | None = None
    submissions: Sequence[Any] | None = None
    is_kaggle: bool = False
    notes: tuple[str, ...] = ()
    errors: Sequence[Any] | None = None
    sizes: Sequence[Any] | None = None
    error_column: int | None = None

    @property
    def scores(self) -> Sequence[Any]:
        """Cells of the column of scores, (m,)."""
        return self.table.columns[self.column]

    @property
    def title(self) -> str:
        """Name of the column of scores."""
        return self.table.header[self.column]

    def rounding_order(self, rounding: RoundingChoice) -> tuple[Rounding, ...]:
        """Roundings to try, the preferred one first: Kaggle floors scores."""
        order = rounding_order(rounding)
        return order[::-1] if rounding == "auto" and self.is_kaggle else order

    def chosen_errors(
        self, standard_error: float | None, metric: Metric, n_test: object, *, chosen: bool
    ) -> tuple[Any, tuple[str, ...]]:
        """Standard error of all scores or of each, and a note on a column that was recognised.

        The number of items tells the error of accuracies, so that only a chosen column counts
        beside it; AUCs have the error that follows from theirs.
        """
        if self.errors is None or standard_error is not None:
            return standard_error, ()
        column = shown(self.table.header[self.error_column or 0])
        known = metric == "auc" or (
            metric == "accuracy" and (n_test is not None or self.sizes is not None)
        )
        if not chosen and known:
            return None, (f"column {column} is not used: errors follow from the number of items",)
        note = f"standard errors are those of column {column}"
        return self.errors, () if chosen else (note,)

    def check(self, **options: Any) -> None:
        """Raise ``InputError`` where a cell is no score; options are those of ``parse_scores``."""

        def subject(row: int) -> str:
            return f"{self.table.places[row]}, column {shown(self.title)}"

        with located(self.table.where):
            parse_scores(self.scores, subject=subject, **options)


def read_leaderboard(
    path_or_frame: str | os.PathLike[str] | Any,
    *,
    n_test: int | Literal["infer"] | None = None,
    score_column: str | None = None,
    name_column: str | None = None,
    stderr_column: str | None = None,
    n_test_column: str | None = None,
    lower_is_better: bool = False,
    rounding: RoundingChoice = "auto",
    percent: bool | None = None,
    n_classifiers: int | tuple[int, int] | TriesPrior | None = None,
    metric: Metric | None = None,
    standard_error: float | None = None,
    n_positive: int | None = None,
    spread_ratio: SpreadRatio | None = None,
    submissions: str | int | tuple[int, int] | TriesPrior | None = None,
    missing: Missing = "refuse",
    name: str | None = None,
) -> Leaderboard:
    """Leaderboard of a file or a data frame.

    Parameters
    ----------
    path_or_frame : path or data frame
        CSV or TSV (comma, semicolon or tab), Excel, a Kaggle download (also zipped), JSON (a list
        of records, or an object of names and scores) or Parquet.
    n_test : int or "infer"
        Number of test items; "infer" takes the one that the scores identify.
    score_column, name_column : str, optional
        Columns of the scores and of the names. Default: recognised by their names.
    stderr_column : str, optional
        Column of the standard errors of the scores. Default: one called so beside the scores
        (``stderr``, ``acc_stderr``, ``se``, ``std_err``), where neither ``standard_error`` nor the
        number of items is given; ``notes`` say so. Accuracies with an error of 0 need ``n_test``.
    n_test_column : str, optional
        Column of the number of items behind each accuracy.
    lower_is_better : bool
        Errors and losses, for the metric "score" only.
    rounding : {"auto", "nearest", "floor", "exact"}
        How scores were cut. "auto" takes nearest, for a Kaggle download floor, and the other of
        the two where only so all scores are possible.
    metric : {"accuracy", "auc", "score"}, optional
        As in ``Leaderboard``. Default: "accuracy", and a column that holds something else, by its
        name (F1, BLEU, AUC, an average) or because it is the average of others, is refused.
    percent, n_classifiers, standard_error, n_positive, spread_ratio
        As in ``Leaderboard``.
    submissions : str, int, (int, int) or TriesPrior, optional
        Column with the submissions behind each entry, or their number or range for all. Default:
        the column of a Kaggle download (``SubmissionCount`` or ``Entries``), but not of a private
        board: what it shows was chosen on other items. 1 for none.
    missing : {"refuse", "drop"}
        Whether an entry without a score (an empty cell, NA, NaN, null, "-") is an error, or left
        out; ``notes`` says which were.
    name : str, optional
        Label of the board. Default: the name of the file without its ending.

    Returns
    -------
    Leaderboard
        Entries in the order of the file. Of a Kaggle download each team has its best score; rows
        of deleted teams, without a score or with a score of exactly 0, where that is the worst,
        are dropped; ``notes`` says how many, and ``is_competition`` that estimates take its entries
        for ensembles.

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
    measured: Metric = metric or "accuracy"
    check_metric(measured, standard_error, n_test, lower_is_better)
    refuse_unused("stderr_column", {"standard_error": standard_error if stderr_column else None})
    refuse_unused("n_test_column", {"n_test": n_test if n_test_column else None})
    column = submissions if isinstance(submissions, str) else None
    entries = read_entries(
        path_or_frame,
        score_column=score_column,
        name_column=name_column,
        lower_is_better=lower_is_better,
        missing=missing,
        submissions=column,
        stderr_column=stderr_column,
        n_test_column=n_test_column,
    )
    error, told = entries.chosen_errors(
        standard_error, measured, n_test, chosen=stderr_column is not None
    )
    if not lower_is_better:
        refuse_loss(entries.table.where, entries.title, _DIRECTION)
    if metric is None:
        refuse_other_metric(entries.table.where, entries.title)
    entries.check(percent=percent, bounded=measured != "score")
    with located(entries.table.where):
        board = Leaderboard(
            entries.scores,
            n_test=n_test if entries.sizes is None else entries.sizes,
            n_positive=n_positive,
            spread_ratio=spread_ratio,
            names=entries.names,
            n_classifiers=n_classifiers,
            submissions=entries.submissions if submissions is None or column else submissions,
            metric=measured,
            standard_error=error,
            lower_is_better=lower_is_better,
            rounding=entries.rounding_order(rounding),
            percent=percent,
            name=entries.table.stem if name is None else name,
            notes=(*entries.notes, *told),
        )
    return board.of_competition() if entries.is_kaggle else board


def read_entries(
    path_or_frame: str | os.PathLike[str] | Any,
    *,
    score_column: str | None = None,
    name_column: str | None = None,
    lower_is_better: bool = False,
    submissions: str | None = None,
    missing: Missing = "refuse",
    stderr_column: str | None = None,
    n_test_column: str | None = None,
) -> Entries:
    """Entries of a file or a data frame, before the size of the test set is known.

    Parameters are those of ``read_leaderboard``.
    """
    table = open_table(path_or_frame)
    kaggle = is_kaggle(table)
    if name_column is None and not kaggle:
        _refuse_rows_of_tasks(table)
    scores = _only_accuracy(table) if score_column is None else None
    own = {"stderr_column": stderr_column, "n_test_column": n_test_column}
    used = [find_column(table, name, option) for option, name in own.items() if name is not None]
    if scores in used or (used and scores is None):
        scores = find_score_column_beside(table, used, score_column)
    elif scores is None:
        scores = find_score_column(table, score_column)
    names = find_name_column(table, name_column, scores, may_repeat=kaggle)
    if kaggle:
        rows, notes = best_rows(table, scores, names, lower_is_better)
        if not rows:
            raise InputError(f"{table.where}: no entries are left: {'; '.join(notes)}")
        table = table.at(rows)
    else:  # a team may call itself Average
        table, notes = without_averages(table, names)
    table, dropped = with_scores(table, (scores,), names, missing)
    counts, useless = _submissions(table, scores, submissions)
    at = error_column(table, scores, stderr_column)
    return Entries(
        table,
        scores,
        names,
        names=entry_names(table, names, kaggle),
        submissions=counts,
        is_kaggle=kaggle,
        notes=(*notes, *dropped, *useless),
        errors=None if at is None else error_cells(table, at, scores),
        sizes=None if n_test_column is None else size_cells(table, n_test_column),
        error_column=at,
    )


def _refuse_rows_of_tasks(table: Table) -> None:
    """Refuse rows that are data sets: the highest of their scores is nobody's best."""
    if named_in(table, WORDS["names"]):
        return
    for j in named_in(table, WORDS["rounds"]):
        if names_every_row(table, j):
            raise InputError(
                f"{table.where}: rows are data sets or tasks by column {shown(table.header[j])}, "
                "not entries of a leaderboard: bayes-sota epp ranks the methods in the columns by "
                "who wins, bayes-sota claim responses by their means; where they are entries, "
                f"name_column={table.header[j]!r} says so"
            )


def error_column(table: Table, scores: int, wanted: str | None) -> int | None:
    """Position of the column of standard errors of a column of scores, if there is any."""
    if wanted is not None:
        return find_column(table, wanted, "stderr_column")
    near = [j for j, name in enumerate(table.header) if is_error_of(name, table.header[scores])]
    return near[0] if len(near) == 1 else None


def size_cells(table: Table, wanted: str) -> list[int]:
    """Numbers of items in a column."""
    at = find_column(table, wanted, "n_test_column")
    return [
        whole_number(cell, f"{table.place(row, at)}: n_test", TEST_ITEMS)
        for row, cell in enumerate(table.columns[at])
    ]


def error_cells(table: Table, at: int, scores: int) -> list[Any]:
    """Standard errors as the scores are written, in percent or not; None where one is missing."""
    signs = any(map(has_percent_sign, table.columns[scores]))
    cells: list[Any] = []
    for row, cell in enumerate(table.columns[at]):
        if signs and has_percent_sign(cell):
            cell = cell.rstrip().removesuffix("%").rstrip()
        if is_missing(cell):
            cells.append(None)
            continue
        number = number_of(cell)
        if number is None or number < 0:
            raise InputError(
                f"{table.place(row, at)}: a standard error is a number of at least 0, in the units "
                f"of the scores, got {shown(cell)}"
            )
        cells.append(cell)
    return cells


def _only_accuracy(table: Table) -> int | None:
    """Position of the column of accuracies where all others are other metrics by their names."""
    columns = [j for j in named_in(table, WORDS["scores"]) if not is_other_metric(table.header[j])]
    is_one = len(columns) == 1 and normalize_name(table.header[columns[0]]) in ACCURACIES
    return columns[0] if is_one else None


def without_averages(table: Table, names: int | None) -> tuple[Table, list[str]]:
    """Rows that are no averages or totals of others by their names, and a note on those."""
    keys = [] if names is None else [normalize_name(str(cell)) for cell in table.columns[names]]
    left_out = [row for row, key in enumerate(keys) if key in WORDS["averages"] or key == "total"]
    kept = [row for row in range(len(keys)) if row not in left_out]
    if not kept or not left_out:
        return table, []
    return table.at(kept), [
        f"left out {_listed_rows(table, names, left_out)}: of others by its name"
    ]


def with_scores(
    table: Table, scores: Sequence[int], names: int | None, missing: Missing
) -> tuple[Table, list[str]]:
    """Rows that have every score, and a note on the others, which are refused unless dropped.

    Examples
    --------
    >>> table = Table(("team", "score"), (["A", "B"], ["0.9", ""]), ("line 2", "line 3"), "x.csv")
    >>> kept, notes = with_scores(table, [1], 0, "drop")
    >>> kept.columns, notes
    ((['A'], ['0.9']), ["dropped 1 entry without a score: 'B' (line 3)"])
    """
    check_choice("missing", missing, Missing)
    every = range(len(table.places))
    empty = {row: j for row in every for j in scores if is_missing(table.columns[j][row])}
    if not empty:
        return table, []
    listed = _listed_rows(table, names, list(empty))
    if missing == "refuse":
        count = counted(len(empty), "entry has", "entries have")
        which = "" if names is None and len(empty) == 1 else f", {listed}"
        raise InputError(
            f"{table.place(*next(iter(empty.items())))}: {count} no score{which}; write what is "
            'missing, or missing="drop" goes on without'
        )
    note = f"dropped {counted(len(empty), 'entry', 'entries')} without a score: {listed}"
    kept = [row for row in every if row not in empty]
    if not kept:
        raise InputError(f"{table.where}: no entries are left: {note}")
    return table.at(kept), [note]


def _listed_rows(table: Table, names: int | None, rows: Sequence[int]) -> str:
    """The first rows by the names of their entries and their places, and how many more."""
    places = [table.places[row] for row in rows[:_MOST_NAMED]]
    if names is not None:
        labels = (shown(str(table.columns[names][row]).strip()) for row in rows)
        places = [f"{label} ({place})" for label, place in zip(labels, places, strict=False)]
    rest = f" and {len(rows) - len(places):,} more" if len(rows) > len(places) else ""
    return ", ".join(places) + rest


def _submissions(
    table: Table, scores: int, wanted: str | None
) -> tuple[list[Any] | None, list[str]]:
    """Submissions behind each entry, of a column of that name, and a note where it is no use.

    A column that is only called so, without a number in it, holds something else.
    """
    if wanted is not None:
        return list(table.columns[find_column(table, wanted, "submissions")]), []
    positions = named_in(table, WORDS["submissions"])
    if len(positions) != 1 or not any(map(parse_number, table.columns[positions[0]])):
        return None, []
    texts = (text.lower() for text in (table.stem, table.header[scores]))
    private = any("private" in text and "public" not in text for text in texts)
    if private:
        name = shown(table.header[positions[0]])
        return None, [f"{name} is not used: what a private board shows was chosen on other items"]
    return list(table.columns[positions[0]]), []


def entry_names(table: Table, column: int | None, kaggle: bool = False) -> tuple[str, ...] | None:
    """Names of entries, which all differ; None without a column of them."""
    if column is None:
        return None
    cells = table.columns[column]
    for row, cell in enumerate(cells):
        if cell is None or cell != cell:
            raise InputError(f"{table.place(row, column)}: the name is missing")
        if isinstance(cell, Nested):
            raise InputError(f"{table.place(row, column)}: a name is text, got {shown(cell)}")
    names = team_names(table, column) if kaggle else [str(cell).strip() for cell in cells]
    if len(set(names)) < len(names):
        refuse_repeats(table, column, names, "entry", _DIFFER)
    return tuple(names)


def read_paired_boards(
    path: str | os.PathLike[str] | Any,
    private_path: str | os.PathLike[str] | Any | None = None,
    *,
    public_column: str | None = None,
    private_column: str | None = None,
    name_column: str | None = None,
    n_test: tuple[int, int] | None = None,
    standard_errors: tuple[float, float] | None = None,
    lower_is_better: bool = False,
    submissions: str | int | tuple[int, int] | TriesPrior | None = None,
    missing: Missing = "refuse",
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
    n_test, standard_errors, lower_is_better
        As in ``PairedBoards``.
    submissions : str, int, (int, int) or TriesPrior, optional
        Column with the submissions behind each team, or their number or range for all. Default:
        a column of the public board that is called so. 1 for none.
    missing : {"refuse", "drop"}
        As in ``read_leaderboard``, for either score.
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
    wanted = dict(zip(BOARDS, (public_column, private_column), strict=True))
    column = submissions if isinstance(submissions, str) else None
    if private_path is None:
        both = _from_one(open_table(path), wanted, name_column, column, missing)
    else:
        options: Any = {"name_column": name_column, "missing": missing}
        options["lower_is_better"] = lower_is_better
        both = [
            read_entries(path, score_column=public_column, submissions=column, **options),
            read_entries(private_path, score_column=private_column, **options),
        ]
    bounded = n_test is not None
    for entries in both:
        if not lower_is_better:
            refuse_loss(entries.table.where, entries.title)
        if bounded:
            refuse_other_metric(entries.table.where, entries.title)
        entries.check(rounding="exact", percent=False if bounded else None, bounded=bounded)
    public, private = both if private_path is None else _joined(*both)
    with located(public.table.where):
        boards = PairedBoards(
            public.scores,
            private.scores,
            public.names,
            n_test=n_test,
            standard_errors=standard_errors,
            lower_is_better=lower_is_better,
            submissions=public.submissions if submissions is None or column else submissions,
            name=public.table.stem if name is None else name,
            notes=public.notes,
        )
    ordered = boards.subset(boards.order(boards.public))
    return ordered.of_competition() if public.is_kaggle or private.is_kaggle else ordered


def _from_one(
    table: Table,
    wanted: dict[str, str | None],
    name_column: str | None,
    submissions: str | None,
    missing: Missing,
) -> list[Entries]:
    """Entries of both boards, which are columns of one table."""
    public, private = (
        find_score_column(
            table,
            column,
            {which + word for word in _WORDS} | {word + which for word in _WORDS},
            which,
        )
        for which, column in wanted.items()
    )
    if public == private:
        raise InputError(
            f"{table.where}: {shown(table.header[public])} cannot be both boards; say which "
            "columns with public_column and private_column"
        )
    names = find_name_column(table, name_column, public)
    table, notes = with_scores(table, (public, private), names, missing)
    counts, useless = _submissions(table, public, submissions)
    own = entry_names(table, names)
    first = Entries(table, public, names, own, counts, notes=(*notes, *useless))
    return [first, Entries(table, private)]


def _joined(public: Entries, private: Entries) -> tuple[Entries, Entries]:
    """Teams that are on both boards, and notes on who was left out."""
    both = dict(zip(BOARDS, (public, private), strict=True))
    for which, entries in both.items():
        if entries.names is None:
            raise InputError(
                f"{entries.table.where}: the {which} board has no names to join on; say which "
                "column with name_column"
            )
    rows_of = [{name: row for row, name in enumerate(of.names or ())} for of in both.values()]
    first, second = rows_of
    teams = [team for team in first if team in second]
    where = f"{public.table.where} and {private.table.where}"
    if not teams:
        raise InputError(f"{where}: no team is on both boards, by their names")
    told = (
        f"left out {len(board) - len(teams):,} teams that are on the {which} board only"
        for board, which in zip(rows_of, BOARDS, strict=True)
        if len(board) > len(teams)
    )
    rows = [first[team] for team in teams]
    numbers = public.submissions
    return (
        replace(
            public,
            table=replace(public.table.at(rows), where=where),
            names=tuple(teams),
            notes=(*public.notes, *private.notes, *told),
            submissions=None if numbers is None else [numbers[row] for row in rows],
        ),
        replace(private, table=private.table.at([second[team] for team in teams])),
    )
