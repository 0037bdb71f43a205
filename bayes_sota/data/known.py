"""Anchors: entries whose skill is known from elsewhere, which show how easy the items are."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.arguments import COUNT, NOT_NEGATIVE, NUMBER, SHARE, checked_width
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import nearest
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.observed import Observed, PairedBoards
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.reading import read_table, read_tidy
from bayes_sota.data.tables import parse_cell


@dataclass(frozen=True)
class Known:
    """Skill that is known from elsewhere.

    Parameters
    ----------
    skill : float
        In the units of the scores; a share where they are accuracies or AUCs.
    se : float, optional
        Its standard error. Default: that of ``n_test`` items, or none.
    n_test : int, optional
        Items that it was measured on.

    Examples
    --------
    >>> Known(0.7613, n_test=50_000), Known.parse("76.13%±0.2%")
    (Known(skill=0.7613, se=None, n_test=50000), Known(skill=0.7613, se=0.002, n_test=None))
    """

    skill: float
    se: float | None = None
    n_test: int | None = None

    def __post_init__(self) -> None:
        NUMBER.check(self.skill, "a known skill")
        if self.se is not None:
            NOT_NEGATIVE.check(self.se, "the standard error of a known skill")
        if self.n_test is not None:
            COUNT.check(self.n_test, "the number of items of a known skill")

    @classmethod
    def parse(cls, text: str) -> "Known":
        """A skill as people write it: 0.7613, 76.13%, 0.7613±0.002, 0.7613/50000."""
        number, slash, items = text.replace("+/-", "±").replace("+-", "±").partition("/")
        found, size = parse_cell(number), items.replace(",", "").strip() if slash else "0"
        is_number = number.strip(" ±.%+-,0123456789eE") == ""  # "true" and 0.9 (0.02) are cells too
        if not (found and is_number and size.isdecimal()) or np.isnan(found.value):
            forms = "0.7613, 76.13%, 0.7613±0.002 or 0.7613/50000"
            raise InputError(f"a known skill is written {forms}, got {quoted(text)}")
        se = None if np.isnan(found.error) else found.error
        return cls(found.value, se, int(size) if slash else None)


type KnownSkills = Mapping[str, Known | float | str] | str | Path


def read_known(path: str | Path) -> dict[str, Known]:
    """Known skills of a table with the columns name, skill and, if known, se or n."""
    tidy = read_tidy(read_table(Path(path)), direction="higher")  # losses stay as they are
    if tidy.layout != "board":
        raise tidy.error("known skills need the columns name, skill and, if known, se or n")
    of = (tidy.numbers.get(role, np.full(len(tidy), np.nan)) for role in ("se", "n"))
    known: dict[str, Known] = {}
    for name, skill, se, n in zip(tidy.labels["entry"], tidy.value.tolist(), *of, strict=True):
        error, size = None if np.isnan(se) else float(se), None if np.isnan(n) else int(n)
        known[name] = Known(skill, error, size)
    return known


@dataclass(frozen=True, eq=False)
class Anchors(Observed):
    """Anchors of a board, larger is better; q of them.

    Attributes
    ----------
    names : tuple of str
    entry : ndarray of int, shape (q,)
        Index among the entries of the board; -1 of those that only serve as anchors.
    skill, error : ndarray, shape (q,)
        Known skills and their standard errors.
    share : ndarray, shape (q,)
        Items of the board over those that the skill was measured on; 0 where not known.
    contains : ndarray of bool, shape (q,)
        Whether these contain the items of the board.
    offset : float
        Standard deviation of a difference between populations that all known skills share.
    scores, ratio : ndarray, shape (q,)
        Scores on the board; their standard errors over that of the typical entry.
    influence : ndarray, shape (C, q), or None
        Influence of every item, cluster or task on these scores.
    """

    names: tuple[str, ...]
    entry: IntArray
    skill: FloatArray
    error: FloatArray
    share: FloatArray
    contains: Any
    offset: float
    scores: FloatArray
    ratio: FloatArray
    influence: Any

    def among(self, kept: IntArray) -> "Anchors":
        """Anchors of a board with only these entries."""
        place = {old: new for new, old in enumerate(kept.tolist())}
        return self.copy_with(entry=np.array([place.get(j, -1) for j in self.entry.tolist()]))


def private_board(boards: PairedBoards) -> Leaderboard:
    """The private board of two, with its anchors."""
    if not boards.noise_is_known:
        raise InputError("known skills need the sizes of both test sets, or the standard errors")
    how: Any = {"n_test": boards.n_test[1]} if boards.n_test else {"metric": "score"}
    if boards.standard_errors:
        how["standard_error"] = boards.standard_errors[1]
    board = Leaderboard(boards.private, names=boards.names, **how)
    return board.copy_with(anchors=boards.anchors)


def with_known[D: BestScore | Outcomes | PairedBoards](
    data: D,
    known: KnownSkills | None,
    *,
    only: Collection[str] = (),
    apart: bool = False,
    offset: float = 0.0,
) -> D:
    """The same board or answers, with anchors: entries whose skill is known.

    ``estimate_sota`` and ``board_table`` take ``known`` themselves. Add anchors last: ``about``,
    and ``subset`` of items, return answers without them.

    Parameters
    ----------
    data : Leaderboard, Outcomes or PairedBoards
        For two boards, skills are those on the items of the private one.
    known : mapping of str to Known, float or str, or path
        Skills of some entries on all items of which these are a sample, also as text
        ("0.7613±0.002"); or a table with the columns name, skill and, if known, se or n.
    only : collection of str
        Known entries that only serve as anchors and do not compete.
    apart : bool
        Whether skills were measured on other items than those of the board.
    offset : float
        Standard deviation, in units of the score, of a difference that all known skills share,
        because they are of another population.

    Raises
    ------
    InputError
        An unknown entry, an impossible skill, no entry of unknown skill, missing answers or several
        submissions of an anchor, skill on new runs, anchors that the data have already.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.93, 0.91], n_test=500, names=["base", "a", "b"])
    >>> board = with_known(board, {"base": "0.884/10000"}, only=["base"])
    >>> board.names, board.anchors.scores.tolist(), board.anchors.share.tolist()
    (('a', 'b'), [0.9], [0.05])
    """
    skills: Any = read_known(known) if isinstance(known, str | Path) else known
    if not skills:
        return data
    board: Any = private_board(data) if isinstance(data, PairedBoards) else data
    if board.anchors is not None:
        raise InputError("this board has anchors already; give all known skills at once")
    names = list(board.names)
    for name in [*skills, *only]:
        if name not in names:
            more = nearest(name, names) or "; it needs a score on these items too: add it"
            raise InputError(f"no entry is called {quoted(name)}{more}")
        if name not in skills:
            raise InputError(f"{quoted(name)} can only serve as an anchor if its skill is given")
    if not set(names) - skills.keys():
        raise InputError("the skill of every entry is known: there is nothing to estimate")
    if board.new == "runs":
        raise InputError("known skills do not help with new runs: their errors are independent")
    checked_width(offset, "offset", shares=board.metric in ("accuracy", "auc"))
    each = [k if isinstance(k, Known) else Known.parse(str(k)) for k in skills.values()]
    where = np.array([names.index(name) for name in skills])
    kept = np.array([j for j, name in enumerate(names) if name not in only])
    influence, ratio = None, np.ones(len(names))
    if isinstance(board, Outcomes):
        influence, sizes = board.average.influence[:, where], board.n_items * ratio
        if np.isnan(board.values[:, where]).any():
            raise InputError("answers of an entry whose skill is known are missing")
    else:
        ratio = ratio if board.error_ratios is None else board.error_ratios
        sizes = np.full(len(names), board.n_items or board.n_test or 0)
        if board.metric == "accuracy" and not board.tasks:
            sizes = np.rint(board.sizes)
        if board.submissions is not None and np.any(board.submissions[where] != 1):
            raise InputError("an entry whose skill is known shows the best of several submissions")
        if kept.size < 2:
            raise InputError("fewer than two entries compete: leave out fewer of known skill")
    of = zip(skills, each, sizes[where].tolist(), strict=True)
    share = np.array([_share_of(board, name, k, size) for name, k, size in of])
    anchors = Anchors(
        tuple(skills),
        where,
        board.sign * np.array([k.skill for k in each], float),
        np.array([k.se or 0.0 for k in each]),
        np.where([k.se is not None for k in each], 0.0, share),
        (share < 1) & (not apart),
        float(offset),
        board.scores[where],
        ratio[where],
        influence,
    )
    board = board.copy_with(anchors=anchors).subset(kept)
    if isinstance(data, PairedBoards):
        return data.subset(board.names).copy_with(anchors=board.anchors)
    return board


def _share_of(data: Leaderboard | Outcomes, name: str, known: Known, size: float) -> float:
    """Items of the board over those behind a known skill, 0 if unknown; also checks the skill."""
    if data.metric in ("accuracy", "auc"):
        SHARE.check(known.skill, f"the skill of {quoted(name)}")
        checked_width(known.se or 0.0, f"the standard error of {quoted(name)}", shares=True)
    if known.n_test and known.se is None and (data.new == "tasks" or not size):
        why = "these items say little about new tasks" if size else "the board has no n_test"
        raise InputError(f"give the error of the skill of {quoted(name)}, 0.76±0.01: {why}")
    return size / known.n_test if known.n_test else 0.0
