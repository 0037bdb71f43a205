"""What cannot be is refused, with the value and what would be right."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.claims import (
    GapOfAccuracies,
    GapOfMeans,
    ReportedMeans,
    assured_size,
    build_case_differences,
    build_model,
    powered_size,
    report_accuracies,
)
from bayes_sota.claims.planning import smallest_size
from bayes_sota.core.errors import InputError

p, means, plan = bs.false_claim_probability, bs.false_claim_probability_of_means, GapOfMeans
best = bs.claims.best_try_probability_of_means
SD = (0.1, 0.1)


def of(function: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    """A maker of calls, so that a row of the table reads as the call itself."""
    return lambda *arguments, **options: lambda: function(*arguments, **options)


of_means, reported = of(partial(means, 0.81, 0.8, 100)), of(bs.claims.reported_claim)
review, cases = of(build_model), of(build_case_differences)

REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: p(0.8, 0.9, 100), "exchange the two"),
    (lambda: p(1.2, 0.9, 100), "lies in .0, 1., got 1.2; in percent"),
    (lambda: p(0.9, 0.8, 10.5), "whole number of at least 2"),
    (lambda: p(0.9, 0.8, 100, 0.85), "between 0.7 and 0.8.* got 0.85"),
    (lambda: p(0.9, 0.8, 100, "most"), "min, max, independent, got 'most'"),
    (lambda: bs.claims.false_claim_rope(0.9, 0.8, 100, -0.1), "rope"),
    (
        reported("0.913", "0.88", 100),
        "no whole number of 100 items gives the accuracy 0.913 as printed: the nearest attainable "
        "ones are 0.91 and 0.92$",
    ),
    (reported("0.66", "0.33", 3), 'the rounding "floor" both are attainable$'),
    (reported("0.66", "0.30", 3), "ones are 0.33333333 and 0.66666667$"),
    (lambda: report_accuracies("0.913", "0.88", 100), "any_accuracy=True takes averages"),
    (reported("0.88", "0.90", 100), "exchange the two"),
    (reported("0.90", "0.88", 20_000_000), "from 2 to 10,000,000, got 20000000"),
    (reported("0.90", "0.88", 100.5), "got 100.5"),
    (reported("0.90", "many", 100), "must be a number, got many"),
    (reported("1.90", "0.88", 100), "accuracy, must be a number from 0 to 1, got 1.90"),
    (of_means(sd=(0.6, 0.1)), "at most 0.3943, got 0.6"),
    (of_means(sd=SD, correlation=1.5), "correlation must lie"),
    (of_means(sd=SD, correlation_range=(0.5, 0.2)), "increasing"),
    (of_means(bounds=None), "give the standard deviations"),
    (of_means(sd_difference=0), "sd_difference must be positive"),
    (lambda: means(0.7, 0.8, 100, sd=SD), "exchange the two"),
    (lambda: means(81, 80, 100, sd=SD), "range of a case, got 81; in percent"),
    (lambda: means(0.9, 0.8, 100, sd=(-0.1, 0.1)), "at least 0, got -0.1"),
    (lambda: bs.claims.best_try_probability(0.9, 0.8, 100, 0.5), "from 1 to 1,000,000, got 0.5"),
    (lambda: best(ReportedMeans(0.9, 0.8, 9, sd=SD), np.inf), "got inf"),
    (lambda: best(ReportedMeans(0.9, 0.8, 100, bounds=None), 2), "give the standard deviations"),
    (lambda: assured_size(plan(0.9, 0.8, (0.0, 0.0), 0.5), 9), "differ by the same amount"),
    (lambda: assured_size(plan(0.9, 0.8, SD, 0.5), 9, assurance=0.2), "assurance must be"),
    (lambda: powered_size(plan(0.9, 0.8, SD)), "need pairwise_correlation"),
    (lambda: powered_size(GapOfAccuracies(0.9, 0.8), power=1.0), "power must be"),
    (lambda: plan(0.9, 0.9, SD), "equal means"),
    (lambda: bs.claims.claim_test_size(0.9, 0.9), "equal accuracies"),
    (lambda: bs.claims.claim_test_size(0.9, 0.8, level=0.7), "level"),
    (lambda: smallest_size(lambda n: float("nan"), 0.05), "too close"),
    (review([90.0], [0.9], [100]), "in percent"),
    (review([0.9], [0.8], [100], [0.5]), "must lie between 0.7 and 0.8"),
    (review([0.9, 0.8], [0.8, 0.7, 0.6], [100]), "one entry per claim"),
    (review([0.9], [0.8], [100], None, ["a", "b"]), "1 claims, but 2 names"),
    (cases([0.1, np.nan, 0.3, 0.2]), "one finite number per case"),
    (cases([[0.1, 0.2, 0.3]]), "one finite number per case"),
    (cases([0.1, 0.2]), "at least 3 of them"),
    (cases([0.1, 0.1, 0.1]), "the same difference"),
    (lambda: bs.claims.sample_claim(build_case_differences([0.1, 0.2, 0.3]), chains=1), "2 chains"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[text for _, text in REFUSED])
def test_what_cannot_be_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
