"""What cannot be is refused, with the value and what would be right."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from data.files import refused

import bayes_sota as bs
from bayes_sota import Accuracies, Means
from bayes_sota.claims import Pilot, build_case_differences, build_model, report_claim
from bayes_sota.claims.claim import smallest

p, SD = bs.false_claim_probability, (0.1, 0.1)


def of(function: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    """A maker of calls, so that a row of the table reads as the call itself."""
    return lambda *arguments, **options: lambda: function(*arguments, **options)


of_means, reported = of(partial(Means, a=0.81, b=0.8, n=100)), of(bs.claims.reported_claim)
review, cases = of(build_model), of(build_case_differences)
close = Means(a=0.9, b=0.8, n=9, sd=SD, known=0.5)

one_run = bs.Outcomes([[1, 0], [1, 1], [0, 1], [1, 0]])
of_runs = bs.Outcomes([[1, 0], [1, 1], [0, 1], [1, 0]], n_runs=2)
no_curve = report_claim(Means(a=0.81, b=0.80, n=100, sd_difference=0.1))

BELOW_ONE = r" must be a difference of shares below 1, got 1; one point is 1pt, 1% or 0\.01"
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: p(0.8, 0.9, 100), "below B's: exchange the two"),
    (lambda: Means(a=-2, b=-1, n=9, bounds=None), "below B's: exchange the two"),
    (lambda: p(1.2, 0.9, 100), "accuracy must be a number from 0 to 1, got 1.2; in percent"),
    (lambda: p(0.9, 0.8, 10.5), "whole number from 2"),
    (lambda: p(0.9, 0.8, 2 * 10**9), "to 1,000,000,000, got 2000000000"),
    (lambda: p(0.9, 0.8, 100, 0.85), "between 0.7 and 0.8, the bounds .*, got 0.85"),
    (lambda: p(0.9, 0.8, 100, "most"), "min, max, independent, got 'most'"),
    (
        reported("0.913", "0.88", 100),
        "no whole number of 100 items gives the accuracy 0.913 as printed: the nearest ones are "
        "0.91 and 0.92$",
    ),
    (reported("1.90", "0.88", 100), "accuracy, must be a number from 0 to 1, got 1.90"),
    (of_means(sd=(0.6, 0.1)), "at most 0.3943, got 0.6"),
    (of_means(sd=SD, known=1.5), "pairwise_correlation must be a number from -1 to 1, got 1.5"),
    (of_means(bounds=None), "give the standard deviations"),
    (of_means(sd_difference=0.1, known=0.5), "give sd_difference alone, or both SDs"),
    (lambda: Accuracies(a=0.9, b=0.8, n=9).p_false_of_best(0.5), "from 1 to 1,000,000, got 0.5"),
    (lambda: Accuracies(a="0.9", b=0.8, n=9), "a must be a number from 0 to 1, got 0.9"),
    (of_means(sd=(0.0, 0.0)), "both standard deviations are 0"),
    (lambda: bs.Priors(skill=0.9), "a prior of skills is"),
    (lambda: replace(close, known=1.0).powered_size(), "differ by the same amount"),
    (lambda: close.assured_size(assurance=0.2), "assurance must be"),
    (lambda: close.powered_size(power=1.0), "power must be"),
    (review([0.9, 0.8], [0.8, 0.7, 0.6], [100]), "one entry per claim"),
    (cases([0.1, np.nan, 0.3, 0.2]), "one finite number per case"),
    (cases([0.1, 0.1, 0.1]), "not all the same"),
    (lambda: Pilot.of(one_run).variance(2), "cannot show what more would add"),
    (lambda: Pilot.of(of_runs.about("runs")), "single answers to new items"),
    (lambda: Pilot.of(one_run, ("1", "candidate")), 'no method .candidate.; there are "1", "2"$'),
    (lambda: bs.claims.plan_from_pilot(one_run, 0.0), "gap must be"),
    (lambda: bs.claims.plan_from_pilot(one_run, 1.0), f"gap{BELOW_ONE}"),
    (lambda: bs.claims.report_gate(one_run, ("1", "2"), margin=1.0), f"margin{BELOW_ONE}"),
    (lambda: bs.claims.report_tasks(one_run, require="better"), "two methods: name a pair"),
    (lambda: report_claim(Accuracies(a=0.9, b=0.8, n=9), rope=1.0), f"rope{BELOW_ONE}"),
    (lambda: bs.claims.report_pairs(bs.Outcomes(np.eye(210)), draws=9), "210 methods have too"),
    (lambda: bs.claims.plot_claim(no_curve), "everything is known, so there"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[text for _, text in REFUSED])
def test_what_cannot_be_is_refused(call: Callable[[], Any], message: str) -> None:
    refused(message, call)


def test_no_number_of_items_is_none() -> None:
    assert smallest(lambda n: False) is None
    for claim in (Accuracies(a=0.9, b=0.9, n=50), Means(a=0.8, b=0.8, n=50)):
        assert claim.size() is claim.powered_size() is claim.assured_size() is None
        report = bs.claims.report_claim(claim)
        for found in (report, bs.claims.report_plan(claim)):
            assert f"stays above 0.05 even on a billion {claim.item}s" in " ".join(found.sentences)
