"""Numbers of Møllersen & Holsbø (arXiv 2303.07272) on two Kaggle challenges ranked by accuracy.

They need the challenges' private leaderboards, which come from a directory. The standard errors of
these tables are between 1e-5 and 1e-4 by the source; the cautious end is taken.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.law import MaximumLaw, maximum_law
from bayes_sota.maximum.shrinkage import FieldEstimate, crop_scores, shrink_scores

Settings = dict[str, Any]
Numbers = dict[str, Any]
_CRITERIA: tuple[Any, ...] = ("expected", "upper")


@dataclass(frozen=True, eq=False)
class Board:
    """A private leaderboard.

    Attributes
    ----------
    path : Path
    scores : ndarray, shape (m,)
    """

    path: Path
    scores: FloatArray = field(repr=False)

    def above(self, chance: float) -> FloatArray:
        """Scores above chance, the best first."""
        return -np.sort(-self.scores[self.scores > chance])

    def lattice_size(self) -> int:
        """Smallest test set that can give all scores as they are printed."""
        from bayes_sota.data.lattice import infer_n_test
        from bayes_sota.data.read_boards import read_entries

        return infer_n_test(read_entries(self.path).scores).n_test


def read_board(part: Settings, data: Path) -> Board:
    """Private leaderboard of a challenge.

    Raises
    ------
    InputError
        No such directory, or not exactly one file that could be the board.
    """
    from bayes_sota.data.read_boards import read_leaderboard

    slug = part["slug"]
    files = sorted(path for path in data.rglob(f"*{slug}*") if path.is_file())
    private = [path for path in files if "private" in path.name] or [
        path for path in files if "public" not in path.name
    ]
    if len(private) != 1:
        raise InputError(
            f"{data}: one file named after {slug} is needed, its private leaderboard; found "
            f"{len(private)}"
        )
    board = read_leaderboard(private[0], metric="score", standard_error=1.0)
    assert board.scores is not None
    return Board(private[0], board.scores)


def _settings(part: Settings) -> Settings:
    chance = 1 / part["n_classes"]
    return {"n_test": part["n_test"], "correlation": part["correlation"], "chance": chance}


def _as_observed(part: Settings, board: Board) -> MaximumLaw:
    """Law of the best score were the scores the skills, to 1e-6."""
    settings = _settings(part)
    skill = board.above(settings.pop("chance"))
    return maximum_law(skill=skill, cap_correlation=True, rough=True, **settings)


def table_2(settings: Settings, board: Board) -> Numbers:
    """Table 2 and Fig. 8: obesity risk shrunk (Eq. 9), also with other n and other correlation."""
    part = settings["obesity"]
    found, best = _shrunk(part, board), float(board.scores.max())
    for changes in part["other_assumptions"]:
        before = f"n = {changes['n_test']:,}, rho = {changes['correlation']:g}"
        changed = _shrunk(part | changes, board)
        found |= {f"{before}: {quantity}": value for quantity, value in changed.items()}
    estimate, teams = part["estimate"], board.above(1 / part["n_classes"]).size
    above = found["shrinking, expected: teams above"]
    return found | {
        "teams above chance": teams,
        f"shrinking, expected: teams above the printed {estimate}": int(
            (board.scores > float(estimate)).sum()
        ),
        "size of the test set": board.lattice_size(),
        "highest score": best,
        "highest score minus estimate": best - found["shrinking, expected: estimate"],
        "share of teams above the estimate, %": 100 * above / teams,
    }


def _shrunk(part: Settings, board: Board) -> Numbers:
    """Quantities of Table 2 under one set of assumptions."""
    law = _as_observed(part, board)
    estimates = [shrink_scores(board.scores, criterion=c, **_settings(part)) for c in _CRITERIA]
    low, high = law.interval()
    found = {
        **_single(estimates[0]),
        "no multiplicity: teams above the lower limit": estimates[0].n_above_single,
        "as observed: lower limit": low,
        "as observed: upper limit": high,
        "as observed: expected": law.mean(),
    }
    for estimate in estimates:
        found |= _row(f"shrinking, {estimate.criterion}", estimate)
    return found


def _single(estimate: FieldEstimate) -> Numbers:
    low, high = estimate.single
    return {"no multiplicity: lower limit": low, "no multiplicity: upper limit": high}


def _row(name: str, estimate: FieldEstimate) -> Numbers:
    """Quantities of one row of Table 2 or 4."""
    low, high = estimate.interval
    return {
        f"{name}: estimate": estimate.estimate,
        f"{name}: lower limit": low,
        f"{name}: upper limit": high,
        f"{name}: expected": estimate.expected_maximum,
        f"{name}: teams above": estimate.n_above(),
    }


def table_4(settings: Settings, board: Board) -> Numbers:
    """Table 4: obesity risk, cropped."""
    part = settings["obesity"]
    found: Numbers = {}
    for criterion in _CRITERIA:
        estimate = crop_scores(board.scores, criterion=criterion, **_settings(part))
        found |= _row(f"cropping, {criterion}", estimate)
    return found


def cassava(settings: Settings, board: Board) -> Numbers:
    """Sec. 5.1.2 and Fig. 9: cassava leaf disease, which has no multiplicity to correct."""
    part = settings["cassava"]
    teams, lattice = board.above(1 / part["n_classes"]), part["n_test_lattice"]
    estimate = shrink_scores(board.scores, **_settings(part))
    as_lattice = shrink_scores(board.scores, **(_settings(part) | {"n_test": lattice}))
    scores = zip(("1st", "2nd", "3rd"), teams, strict=False)
    return {
        **_single(estimate),
        **{f"{place} score": score for place, score in scores},
        "teams above chance": teams.size,
        "other teams in that interval": estimate.n_above_single - 1,
        "shrinking: estimate": estimate.estimate,
        "size of the test set": board.lattice_size(),
        f"n = {lattice:,}: shrinking: estimate": as_lattice.estimate,
        "expected best score, were the scores the skills": _as_observed(part, board).mean(),
    }
