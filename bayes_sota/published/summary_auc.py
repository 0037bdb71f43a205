"""Tidy data behind Fig. 10 and 11 of Møllersen & Holsbø.

Columns ``panel``, ``series``, ``classifier``, ``x``, ``y``. Scores are binormal: negatives N(0, 1),
positives with the mean that the AUC needs (Eq. 10). Laws and smooth curves are exact; stepped ROC
curves and rugs are draws, as in the paper.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.auc.laws import AucMaximumLaw
from bayes_sota.core.types import FloatArray
from bayes_sota.published.auc_numbers import example_law, highest_law, n_positive, one_law

if TYPE_CHECKING:
    import pandas as pd


Published = dict[str, Any]
_POINTS = 401


def figure_10_data(published: Published) -> "pd.DataFrame":
    """Score densities, ROC curves of 1,000 classifiers, and the law of the best AUC."""
    import pandas as pd

    part = published["auc"]
    rng, law = np.random.default_rng(part["figure"]["seed"]), example_law(part)
    sizes = _sizes(part)
    curves = _drawn_curves("b", rng, part["auc"], 1.0, sizes, part["n_classifiers"])
    return pd.concat(
        [*_scores("a", rng, part["auc"], 1.0, sizes), *curves, _density("c", "density", law),
         _marks("c", mean=law.mean(), interval=law.interval())],
        ignore_index=True,
    )  # fmt: skip


def figure_11_data(published: Published) -> "pd.DataFrame":
    """Best AUC of a field in which everybody is as good as the best is said to be.

    ``panel`` is the test set: "melanoma" or "example" (Sec. 5.2.2).
    """
    import pandas as pd

    melanoma, parts = published["melanoma"], []
    for panel, test_set in (("melanoma", melanoma), ("example", published["auc"])):
        law = highest_law(melanoma, test_set)
        parts += [_density(panel, "density", law), _marks(panel, mean=law.mean())]
    single = one_law(melanoma, float(melanoma["maximum"])).interval()
    parts.append(
        _marks("melanoma", observed=float(melanoma["maximum"]), single=single,
               estimate=float(melanoma["estimate"]))
    )  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _sizes(part: Published) -> tuple[int, int]:
    positives = n_positive(part)
    return positives, part["n_test"] - positives


def _positive_mean(auc: float, ratio: float) -> float:
    """Eq. 10 for the mean of the positives."""
    from scipy.special import ndtri

    return float(ndtri(auc) * np.sqrt(1 + ratio**2))


def _rows(panel: str, series: str, x: Any, y: Any = np.nan, classifier: Any = 0) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(
        {"panel": panel, "series": series, "classifier": classifier, "x": np.atleast_1d(x), "y": y}
    )


def _marks(panel: str, **marks: float | tuple[float, float]) -> "pd.DataFrame":
    """Values in ``x``; intervals in ``x`` and ``y``."""
    import pandas as pd

    parts = []
    for name, value in marks.items():
        low, high = value if isinstance(value, tuple) else (value, np.nan)
        parts.append(_rows(panel, name, low, high))
    return pd.concat(parts)


def _density(panel: str, series: str, law: AucMaximumLaw) -> "pd.DataFrame":
    """Density of the best AUC where it has mass, from its cdf a tenth of an sd to either side."""
    low, high = law.quantile([1e-4, 1 - 1e-4])
    x, step = np.linspace(low, high, _POINTS), law.std() / 10
    return _rows(panel, series, x, (law.cdf(x + step) - law.cdf(x - step)) / (2 * step))


def _scores(
    panel: str, rng: np.random.Generator, auc: float, ratio: float, sizes: tuple[int, int]
) -> list["pd.DataFrame"]:
    """Densities of the scores of both classes, and one draw of a test set."""
    found = []
    classes = {
        "positive": (_positive_mean(auc, ratio), ratio, sizes[0]),
        "negative": (0, 1, sizes[1]),
    }
    for name, (mean, sd, size) in classes.items():
        x = np.linspace(mean - 4 * sd, mean + 4 * sd, _POINTS)
        density = np.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))
        found += [
            _rows(panel, f"{name} density", x, density),
            _rows(panel, f"{name} draw", rng.normal(mean, sd, size)),
        ]
    return found


def _drawn_curves(
    panel: str,
    rng: np.random.Generator,
    auc: float,
    ratio: float,
    sizes: tuple[int, int],
    size: int,
) -> list["pd.DataFrame"]:
    """Empirical ROC curves: the false positive rate at every positive, the highest score first.

    The AUC of each is the mean over positives of the share of negatives below.
    """
    found, mean, (positives, negatives) = [], _positive_mean(auc, ratio), sizes
    right = np.arange(1, positives + 1) / positives
    rates: list[FloatArray] = []
    for _ in range(size):
        below = np.searchsorted(
            np.sort(rng.normal(size=negatives)),
            -np.sort(-rng.normal(mean, ratio, positives)),
        )
        rates.append(1 - below / negatives)
    number = np.arange(size)
    found.append(
        _rows(
            panel, "roc", np.concatenate(rates), np.tile(right, size), np.repeat(number, positives)
        )
    )
    found.append(_rows(panel, "auc", [1 - rate.mean() for rate in rates], np.nan, number))
    return found
