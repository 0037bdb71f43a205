"""P(false) against the number of test items: counted, simulated, and as ``claim plan`` has it."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from bayes_sota.claims.accuracies import ReportedAccuracies
from bayes_sota.claims.means import ReportedMeans
from bayes_sota.claims.planning import GapOfMeans, claim_test_size, plan_claim
from bayes_sota.claims.summary import report_accuracies, report_means
from bayes_sota.claims.summary_sizes import round_sizes, sizes_about, sizes_needed


@pytest.mark.parametrize("congruence", ["min", "independent", 0.85])
def test_sizes_of_a_known_congruence_are_those_of_a_plan(congruence: Any) -> None:
    found = dict(sizes_needed(ReportedAccuracies(0.90, 0.88, 500, congruence), 0.1))
    assert list(found) == [0.1, 0.05, 0.01]
    for level, size in found.items():
        assert size == claim_test_size(0.90, 0.88, congruence, level=level)


def test_sizes_of_means_are_those_of_a_plan_and_of_the_paired_t_test() -> None:
    claim = ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=0.7)
    for level, size in sizes_needed(claim, 0.05):
        assert size == plan_claim(GapOfMeans(0.81, 0.80, (0.1, 0.1), 0.7), level=level).n_needed
    known = ReportedMeans(0.81, 0.80, 100, sd_difference=0.1)
    for n in (7, 60):
        cases = np.random.default_rng(n).normal(size=n)
        cases = 0.01 + 0.1 * (cases - cases.mean()) / cases.std(ddof=1)
        p = ttest_1samp(cases, 0, alternative="greater").pvalue
        assert known.by_size(n) == pytest.approx(p, rel=1e-9)


def test_the_average_is_that_of_the_dirichlet_posterior_and_falls_without_jumps() -> None:
    claim = ReportedAccuracies(0.90, 0.88, 500)
    sizes = np.arange(20, 3000)
    p = claim.by_size(sizes)
    assert np.all(np.diff(p) < 0)
    whole = sizes % 50 == 0  # both accuracies are whole numbers of items there
    np.testing.assert_allclose(p[whole], claim.p_false(n_test=sizes[whole]), rtol=1e-9)
    for level, size in sizes_needed(claim, 0.05):
        assert size == sizes[np.argmax(p <= level)]


def test_the_average_is_what_simulated_tables_say() -> None:
    rng, n = np.random.default_rng(1), 150  # 135 and 132 right
    both = rng.integers(117, 133, 400_000)
    first, second = rng.gamma(135 - both + 1), rng.gamma(132 - both + 1)
    error = 0.5 / np.sqrt(both.size)
    assert ReportedAccuracies(0.90, 0.88, 500).by_size(n) == pytest.approx(
        np.mean(first <= second), abs=4 * error
    )


def test_equal_numbers_claim_nothing_on_any_size() -> None:
    for report in (
        report_accuracies("0.90", "0.90", 500),
        report_means(ReportedMeans(0.8, 0.8, 50)),
    ):
        assert report.content["n_test_needed"] == [(0.05, None), (0.01, None)]
        assert any("makes no claim on any number" in line for line in report.sentences)
        assert [p for _, p in report.content["by_n_test"]] == pytest.approx([0.5] * 4, abs=1e-9)


def test_a_spread_at_its_limit_is_kept_on_more_cases() -> None:
    claim = ReportedMeans(0.5, 0.4, 10, sd=(0.527, 0.516))  # the largest that ten cases have
    (level, size), *_ = sizes_needed(claim, 0.05)
    assert size is not None
    assert claim.by_size(size) <= level < claim.by_size(size - 1)


def test_the_report_says_the_sizes_and_shows_the_one_that_was_used() -> None:
    report = report_accuracies("0.90", "0.88", 500, level=0.1)
    line = "On other items the same difference is false with probability 0.1 at most from"
    assert any(sentence.startswith(line) for sentence in report.sentences)
    assert report.tables[1].title == "By the number of items"
    assert ["500", "0.093"] in [list(row) for row in report.tables[1].rows]
    claim = report.about.claim
    ends = sizes_about(claim, report.content["n_test_needed"])
    assert [n for n, _ in report.content["by_n_test"]] == round_sizes(claim, ends)
