"""Kaggle leaderboards that tables and figures need, from a directory that the user gives."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.published.comparison import Comparison, not_verifiable


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


def read_board(slug: str, data: Path | None) -> Board | None:
    """Private leaderboard of a challenge, None where no directory is given.

    Raises
    ------
    InputError
        No such directory, or not exactly one file that could be the board.
    """
    from bayes_sota.data.read_boards import read_leaderboard

    if data is None:
        return None
    if not data.is_dir():
        raise InputError(f"{data}: no such directory")
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


def where_to_get(slug: str) -> str:
    """How to get a challenge's private leaderboard."""
    return (
        f"needs the private leaderboard of kaggle.com/competitions/{slug} (Leaderboard, Raw Data): "
        "give its directory, --data DIRECTORY"
    )


def needs_board(item: str, slug: str) -> Comparison:
    """State that nothing can be compared without the board."""
    return not_verifiable(item, "all numbers", where_to_get(slug))
