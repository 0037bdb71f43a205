"""Runs of the study with known truth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from published.agreement import orders_of, stops_at_both_ends
from published.study import ADAPTIVE_RULES, FOLDS, LEARNERS, StudyRuns

from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.fold_scores import FoldScores

ONE = dict.fromkeys(LEARNERS, 1.0)
# Learners of which findings on rules speak; a rule says of each when it may stop.
RULED = [LEARNERS.index(name) for name in ("c45-laplace", "hellinger", "5nn", "nb-kernel", "svm")]


def made_up(
    tasks: int = 20,
    iterations: int = 40,
    *,
    items: int = 25,
    orderings: int = 0,
    skill: Any = None,
    bias: Any = None,
    sd: Any = None,
    wobble: Any = None,
    skew: float = 0.0,
    spread: float = 0.02,
    vote: Any = None,
    truth: Any = None,
    rules: Sequence[str] = tuple(ADAPTIVE_RULES),
    seed: int = 0,
) -> StudyRuns:
    """Eight learners of which everything is said; rules in so many orderings of the iterations.

    By learner: ``skill``, ``sd`` of the scores of iterations, and ``wobble``, the sd of an item's
    probability between iterations. ``bias`` by the number of folds, ``skew`` to the right,
    ``spread`` of a learner's skill between tasks, ``vote`` the scores of the task vote by learner,
    ``truth`` the true skill minus the estimate's by task. ``rules`` that are followed, for the
    learners of which findings on rules speak; others never stop.
    """
    rng = np.random.default_rng(seed)
    names = ["vote", *(f"task {t}" for t in range(1, tasks))]
    centre = np.array([(skill or {}).get(name, 0.8) for name in LEARNERS])
    centre = centre + rng.normal(0, spread, (tasks, len(LEARNERS)))
    scores, stops = {}, {}
    orders = orders_of(iterations, orderings, seed)
    for k in FOLDS:
        noise = _noise(rng, (tasks, len(LEARNERS), iterations), skew)
        noise *= np.array([(sd or {}).get(name, 0.005) for name in LEARNERS])[:, None]
        values = centre[:, :, None] + (bias or {}).get(k, 0.0) + noise
        for name, given in (vote or {}).items():
            values[0, LEARNERS.index(name)] = given if np.ndim(given) == 0 else given[:iterations]
        scores[k] = FoldScores(values[..., None], learners=LEARNERS, tasks=names, folds=k)
        predicted = [_probabilities(rng, (iterations, items), wobble or {})[RULED] for _ in names]
        ruled = FoldScores(values[:, RULED, :, None], tasks=names, folds=k)
        stops[k] = np.zeros((len(ADAPTIVE_RULES), orderings, 2, tasks, len(LEARNERS)), int)
        for place, (name, rule) in enumerate(ADAPTIVE_RULES.items()):
            if orderings and name in rules:
                stops[k][place][..., RULED] = stops_at_both_ends(rule, ruled, predicted, orders)
    gaps = truth or {}
    at = {name: names.index(name) for name in gaps}
    noise = _noise(rng, (tasks, len(LEARNERS), 10, 10), skew)
    first = FoldScores(centre[..., None, None] + 0.03 * noise, learners=LEARNERS, folds=10)
    return StudyRuns(
        scores, first, orders, stops, {name: centre[at[name]] + gap for name, gap in gaps.items()},
        {name: np.full(len(LEARNERS), 0.01) for name in gaps},
    )  # fmt: skip


def _noise(rng: np.random.Generator, size: tuple[int, ...], skew: float) -> FloatArray:
    if skew == 0:
        return rng.normal(size=size)
    return np.sign(skew) * (rng.gamma(1 / skew**2, size=size) * abs(skew) - 1 / abs(skew))


def _probabilities(
    rng: np.random.Generator, size: tuple[int, int], wobble: dict[str, float]
) -> FloatArray:
    items = rng.random((len(LEARNERS), 1, size[1]))
    sd = np.array([wobble.get(name, 0.02) for name in LEARNERS])[:, None, None]
    return items + sd * rng.normal(size=(len(LEARNERS), *size))
