"""Public and private leaderboard of the same teams: two scores each, on two test sets.

Everything is checked at construction and never again (``tests/data/test_paired.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_sota.core.arguments import COUNT, POSITIVE, Range
from bayes_sota.core.errors import InputError, located
from bayes_sota.core.priors import TriesPrior
from bayes_sota.core.text import counted, shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.checks import Tries, checked_names, checked_number, checked_submissions
from bayes_sota.data.observed import Chosen
from bayes_sota.data.printed_scores import parse_scores, plain_list
from bayes_sota.data.reading import Direction, read_tidy
from bayes_sota.data.tidy import Tidy

FEWEST_TEAMS = 5  # fewer differences say nothing about their spread
BOARDS = ("public", "private")
_NEGATED = "lower is better: scores and all results are multiplied by -1"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PairedBoards(Chosen):
    """Two leaderboards of the same teams, aligned by team.

    Parameters
    ----------
    public, private : (m,) sequence of float, str or Decimal, array or Series
        Scores on the two test sets, larger is better, at least five teams.
    names : (m,) sequence of str, optional
        Names of the teams, all different. Default: "entry 1", "entry 2", ...
    n_test : (int, int), optional
        Items of the public and of the private test set; the scores are then accuracies.
    standard_errors : (float, float), optional
        Standard errors of one score, public and private, for scores that are not accuracies.
        Without either, the size of the noise is learnt from the differences.
    submissions : int, (int, int), TriesPrior or (m,) sequence of int, optional
        Submissions behind each team, of which its public score is the best, as of ``Leaderboard``;
        the private score is of the one that was chosen so.
    name : str
        Label.
    notes : sequence of str
        What a reader dropped.

    Attributes
    ----------
    public, private : (m,) array of float
    names : tuple of str
    n_test : tuple of int, or None
    standard_errors : tuple of float, or None
    submissions : (m,) array of int, or None
        0 where ``submissions_prior`` says what is known of them.
    submissions_prior : TriesPrior or None
    name : str
    notes : tuple of str

    Raises
    ------
    InputError
        Boards of different lengths, scores that are no numbers, fewer than five teams, equal names,
        accuracies outside [0, 1], sizes or standard errors that cannot be.

    Examples
    --------
    >>> boards = PairedBoards(
    ...     [0.91, 0.94, 0.90, 0.89, 0.70], [0.90, 0.91, 0.92, 0.88, 0.71], n_test=(100, 300)
    ... )
    >>> boards.n_entries, boards.names[boards.public_winner], boards.noise_is_known
    (5, 'entry 2', True)
    """

    public: FloatArray
    private: FloatArray
    names: tuple[str, ...]
    n_test: tuple[int, int] | None
    standard_errors: tuple[float, float] | None
    submissions: IntArray | None
    submissions_prior: TriesPrior | None
    name: str
    notes: tuple[str, ...]

    def __init__(
        self,
        public: Any,
        private: Any,
        names: Sequence[str] | None = None,
        *,
        n_test: tuple[int, int] | None = None,
        standard_errors: tuple[float, float] | None = None,
        lower_is_better: bool = False,
        submissions: Any = None,
        name: str = "paired boards",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything."""
        if n_test is not None and (standard_errors is not None or lower_is_better):
            raise InputError(
                "n_test says that scores are accuracies, whose errors follow and of which higher "
                "is better: give no standard_errors, and write an error rate e as 1 - e"
            )
        listed = [plain_list(public, "public"), plain_list(private, "private")]
        m = len(listed[0])
        if len(listed[1]) != m or m < FEWEST_TEAMS:
            raise InputError(
                f"paired boards need two scores each of at least {FEWEST_TEAMS} teams, in the same "
                f"order; got {m:,} public and {len(listed[1]):,} private ones"
            )
        teams = checked_names(names, m)
        sign = -1 if lower_is_better else 1
        scores = {
            which: sign * _checked_scores(one, f"{which} score", teams, n_test is not None)
            for one, which in zip(listed, BOARDS, strict=True)
        }
        counts, prior, told = checked_submissions(submissions, teams)
        tied = [_tied_first(board, which, teams) for which, board in scores.items()]
        remarks = [
            *map(str, notes),
            *[_NEGATED] * bool(lower_is_better),
            *told,
            *filter(None, tied),
        ]
        self._set(
            **scores,
            names=teams,
            n_test=_pair(n_test, "n_test", COUNT),
            standard_errors=_pair(standard_errors, "standard_errors", POSITIVE),
            submissions=counts,
            submissions_prior=prior,
            name=str(name),
            notes=tuple(dict.fromkeys(remarks)),
        )

    @property
    def n_entries(self) -> int:
        """Number of teams, m."""
        return self.public.size

    @property
    def noise_is_known(self) -> bool:
        """Whether the standard errors of both boards are known."""
        return self.n_test is not None or self.standard_errors is not None

    @property
    def public_winner(self) -> int:
        """Index of the best public score, the first by name of several equal ones."""
        return self.order(self.public)[0]

    def order(self, scores: FloatArray) -> list[int]:
        """Indices of the teams by their scores, best first, equal ones by name."""
        return sorted(range(self.n_entries), key=lambda i: (-scores[i], self.names[i]))

    def __repr__(self) -> str:
        """One line, however many teams there are."""
        noise = f"n_test={self.n_test}, standard_errors={self.standard_errors}"
        return f"PairedBoards(name={self.name!r}, n_entries={self.n_entries}, {noise})"


def _checked_scores(
    values: list[Any], which: str, names: Sequence[str], accuracies: bool
) -> FloatArray:
    """Scores of one board as floats."""
    scores = parse_scores(
        values,
        rounding="exact",
        percent=False if accuracies else None,
        bounded=accuracies,
        subjects=[f"the {which} of {shown(name)}" for name in names],
    ).values
    if scores.min() == scores.max():
        raise InputError(f"every {which} is {scores[0]:g}: they tell no team from another")
    return scores


def _tied_first(scores: FloatArray, which: str, names: Sequence[str]) -> str:
    """Note on a board whose best score several teams have."""
    best = sorted(name for name, score in zip(names, scores, strict=True) if score == scores.max())
    if len(best) == 1:
        return ""
    return (
        f"{len(best):,} teams share the best {which} score; {shown(best[0])} stands for them, the "
        "first by name"
    )


def _pair(value: Any, name: str, allowed: Range) -> tuple[Any, Any] | None:
    """Numbers that are known of both boards, checked."""
    if value is None:
        return None
    listed = plain_list(value, f"{name}, a pair (public, private),")
    if len(listed) != 2:
        raise InputError(f"{name} is a pair (public, private), got {value!r:.80}")
    public, private = (
        checked_number(one, f"{name} of the {which} board", allowed)
        for one, which in zip(listed, BOARDS, strict=True)
    )
    return public, private


def read_paired_boards(
    source: Any,
    private_source: Any = None,
    *,
    n_test: tuple[int, int] | None = None,
    standard_errors: tuple[float, float] | None = None,
    submissions: Tries | None = None,
    name: str | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> PairedBoards:
    """Public and private scores of the same teams.

    Parameters
    ----------
    source : path, data frame or Table
        A row for each team with both scores; or, with ``private_source``, the public
        leaderboard.
    private_source : path, data frame or Table, optional
        The private leaderboard, joined on the names of the teams; teams on one board only are left
        out, and ``notes`` say how many.
    n_test, standard_errors, submissions
        As of ``PairedBoards``. Default of ``submissions``: the column that is called so.
    name, leave_out, direction, **roles
        As of ``read_leaderboard``; ``public`` and ``private`` are columns of one table.

    Returns
    -------
    PairedBoards
        Teams in the order of their public scores, equal ones by name.

    Raises
    ------
    InputError
        One score for each team, no team on both boards; what ``PairedBoards`` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> public = [0.9, 0.8, 0.7, 0.6, 0.5]
    >>> both = pd.DataFrame({"team": list("abcde"), "public": public, "private": public[::-1]})
    >>> boards = read_paired_boards(both, n_test=(100, 300))
    >>> boards.names[0], float(boards.public[0]), float(boards.private[0])
    ('a', 0.9, 0.5)
    """
    sources = [source] if private_source is None else [source, private_source]
    both = [read_tidy(one, None, leave_out, direction, **roles) for one in sources]
    grid, names = _of_one(both[0]) if len(both) == 1 else _joined(*both)
    missing = np.isnan(grid)
    sign = -1 if both[0].lower_is_better else 1
    kept = sorted(
        np.flatnonzero(~missing.any(axis=1)), key=lambda row: (-sign * grid[row, 0], names[row])
    )
    counts: Any = submissions
    if submissions is None and "submissions" in both[0].numbers:
        known = dict(zip(both[0].labels["entry"], both[0].numbers["submissions"], strict=True))
        counts = [known[names[row]] for row in kept]
    notes = [note for tidy in both for note in (tidy.sentence, *tidy.notes)]
    for place, which in enumerate(BOARDS):
        alone = int((missing[:, 1 - place] & ~missing[:, place]).sum())
        notes += [f"left out {counted(alone, 'team')} with a {which} score only"] * (alone > 0)
    if gone := int(missing.all(axis=1).sum()):
        notes.append(f"left out {counted(gone, 'team')} without a score")
    with located(" and ".join(dict.fromkeys(tidy.where for tidy in both))):
        boards = PairedBoards(
            grid[kept, 0],
            grid[kept, 1],
            [names[row] for row in kept],
            n_test=n_test,
            standard_errors=standard_errors,
            lower_is_better=both[0].lower_is_better,
            submissions=counts,
            name=both[0].name if name is None else name,
            notes=notes,
        )
    return boards._copy(is_competition=any(tidy.is_competition for tidy in both))


def _of_one(tidy: Tidy) -> tuple[FloatArray, list[str]]:
    """Scores (m, 2) and names of a table with both boards."""
    if tidy.layout != "pair":
        raise InputError(
            "no columns are called public and private",
            where=tidy.where,
            fix='name them with public="A" and private="B" (--column public=A)',
        )
    grid, (names, _) = tidy.pivot("entry", "board")
    return grid, names


def _joined(public: Tidy, private: Tidy) -> tuple[FloatArray, list[str]]:
    """The same of two tables; teams that are on one board only miss a score."""
    of = []
    for tidy, which in zip((public, private), BOARDS, strict=True):
        if tidy.layout != "board":
            raise InputError(f"the {which} board needs a row for each team", where=tidy.where)
        of.append(dict(zip(tidy.labels["entry"], tidy.value, strict=True)))
    names = list(of[0] | of[1])
    if not of[0].keys() & of[1].keys():
        where = f"{public.where} and {private.where}"
        raise InputError("no team is on both boards, by their names", where=where)
    return np.array([[scores.get(name, np.nan) for scores in of] for name in names]), names
