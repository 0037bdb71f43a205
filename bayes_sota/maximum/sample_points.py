"""The paper's point estimates as a DataTree: shrinking (Eq. 9) and cropping (Appendix A)."""

from typing import TYPE_CHECKING, Any

from bayes_sota.core.errors import InputError
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.maximum.field_estimate import Criterion

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["estimate_point"]


def estimate_point(
    board: Leaderboard | Responses | ItemScores,
    method: str,
    *,
    n_classes: int | None = None,
    criterion: Criterion | None = None,
    correlation: float | None = None,
) -> "xr.DataTree":
    """Shrink or crop the scores of a board.

    Parameters
    ----------
    board : Leaderboard, Responses or ItemScores
        With all scores; accuracies, or AUCs for shrinking.
    method : {"shrink", "crop"}
    n_classes : int, optional
        Classes of the task; needed for accuracies, whose chance is one over it.
    criterion : {"expected", "upper"}, optional
    correlation : float, optional
        rho; default 0.6 for accuracies as in the paper, 0 for AUCs.

    Returns
    -------
    xarray.DataTree
        Group ``point_estimate``: numbers, and no invented draws.
    """
    from bayes_sota.maximum.shrinkage import crop_scores, shrink_aucs, shrink_scores

    shown = board if isinstance(board, Leaderboard) else board.leaderboard()
    how: dict[str, Any] = {"criterion": criterion or "expected"}
    if correlation is not None:
        how["correlation"] = correlation
    if shown.scores is None:
        raise InputError(f'method "{method}" takes all scores of a board')
    if shown.metric == "auc":
        if method != "shrink" or n_classes is not None:
            raise InputError('AUCs take method "shrink", towards 1/2: no n_classes')
        assert shown.n_positive is not None
        assert shown.n_negative is not None
        found = shrink_aucs(
            shown.scores, n_positive=shown.n_positive, n_negative=shown.n_negative, **how
        )
        return found.to_datatree()
    if shown.metric != "accuracy":
        raise InputError("shrinking and cropping are for accuracies and AUCs")
    if n_classes is None or n_classes < 2:
        raise InputError(
            f"n_classes is the number of classes of the task, at least 2, got {n_classes}: scores "
            "shrink towards chance, one over it"
        )
    estimate = shrink_scores if method == "shrink" else crop_scores
    found = estimate(shown.scores, n_test=shown.n_test, chance=1 / n_classes, **how)
    return found.to_datatree()
