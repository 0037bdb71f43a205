"""The gate: its law against draws and closed forms, its verdicts, words and exit codes."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.claims.pair import PairLaw, law_of_pair
from bayes_sota.claims.summary_gate import report_gate
from bayes_sota.data.item_values import RUNS_DIFFER
from bayes_sota.data.known import with_known
from bayes_sota.data.outcomes import Outcomes


def answers(gap: float, n: int = 2000, seed: int = 0) -> Outcomes:
    rng = np.random.default_rng(seed)
    easy = rng.random(n)
    right = [easy + 0.2 * rng.standard_normal(n) < p for p in (0.7 + gap, 0.7)]
    return Outcomes(np.column_stack(right), names=["new", "old"])


@pytest.mark.parametrize("margin", [0.0, 0.03])
@pytest.mark.parametrize("gap", [0.0, 0.02, -0.02, 0.06])
@pytest.mark.parametrize("prob", [0.9, 0.95])
def test_verdict_interval_and_probabilities_say_the_same(
    gap: float, margin: float, prob: float
) -> None:
    found = report_gate(answers(gap), ("new", "old"), margin=margin, ci_prob=prob, draws=200)
    of, (low, high) = found.content, found.content["pairs"][0]["difference"]["interval"]
    expected = "better" if low > 0 else "not-worse" if low > -margin else "undecided"
    assert of["verdict"] == ("worse" if expected == "undecided" and high < 0 else expected)
    assert of["p_needed"] == pytest.approx((1 + prob) / 2)
    if margin:
        rope = of["pairs"][0]["rope"]
        assert sum(rope[k] for k in ("a_better", "equivalent", "b_better")) == pytest.approx(1)


@pytest.mark.parametrize("prob", [0.05, 0.95, 0.999])
@pytest.mark.parametrize(
    ("only_a", "only_b", "n"),
    [(1, 0, 4), (1, 2, 4), (4, 0, 4), (0, 30, 30), (100, 0, 100), (36, 30, 300)],
)
def test_the_law_of_answers_is_the_dirichlet_posterior(
    only_a: int, only_b: int, n: int, prob: float
) -> None:
    values = np.zeros((n, 2))
    values[:only_a, 0] = values[n - only_b :, 1] = 1
    law = law_of_pair(Outcomes(values, names=["a", "b"]), "a")
    cells = [only_a + 1, only_b + 1, n - only_a - only_b + 2]
    drawn = np.random.default_rng(0).dirichlet(cells, 200_000)
    low, high = law.interval(prob)
    assert -1 <= low <= high <= 1
    gap = drawn[:, 0] - drawn[:, 1]
    for q in (-0.02, 0.0, 0.03):
        assert law.at_most(q) == pytest.approx(np.mean(gap <= q), abs=0.005)
    assert [np.mean(gap <= low), np.mean(gap <= high)] == pytest.approx(
        [(1 - prob) / 2, (1 + prob) / 2], abs=0.005
    )
    assert law.sd() == pytest.approx(gap.std(), rel=0.01)


@pytest.mark.parametrize(
    ("gap", "margin", "require", "said"),
    [
        (-0.1, 0.01, "not-worse", "new is worse: difference -"),
        (-0.1, 0.01, "better", "new is worse: difference -"),
        (-0.1, 0.01, None, "Difference -"),
        (-0.015, 0.01, "better", "more items would decide against new if the difference stays."),
        (0.015, 0.01, "better", "more items would decide for new if the difference stays."),
        (-0.1, 0.08, "not-worse", "would show that it is worse by more than 8.0 points if the"),
        (-0.1, 0.12, "not-worse", "would show that it is not worse by more than 12.0 points if"),
    ],
)
def test_a_gate_says_what_is_shown_instead_and_what_more_items_would_decide(
    gap: float, margin: float, require: str | None, said: str
) -> None:
    settings = {"margin": margin, "require": require, "draws": 9}
    report = report_gate(answers(gap, 400), ("new", "old"), **settings)
    assert any(said in sentence for sentence in report.sentences)
    assert "(Computed exactly, without random numbers;" in report.text


@pytest.mark.parametrize("parts", [[(1e-4, 7.0)], [(1e-4, 40.0), (4e-5, 3.0)]])
def test_the_law_of_parts_is_a_sum_of_student_t(parts: list[tuple[float, float]]) -> None:
    law, rng = PairLaw(0.01, 0.01, parts), np.random.default_rng(0)
    drawn = 0.01 + sum(v**0.5 * rng.standard_t(nu, 1_000_000) for v, nu in parts)
    for q in (-0.02, 0.0, 0.02):
        assert law.at_most(q) == pytest.approx(np.mean(drawn <= q), abs=0.002)
    low, high = law.interval(0.95)
    assert [law.at_most(low), law.at_most(high)] == pytest.approx([0.025, 0.975])
    assert PairLaw(0.0, 0.0, [(1e-4, 7.0), (4e-5, 9.0)]).sd() == pytest.approx(
        (1e-4 * 7 / 5 + 4e-5 * 9 / 7) ** 0.5
    )
    assert PairLaw(0.0, 0.0, [(0.0, 3.0)]).interval(0.95) == (0.0, 0.0)


def test_no_seed_changes_a_gate() -> None:
    data, pair = answers(0.01), ("new", "old")
    found = [report_gate(data, pair, margin=0.01, random_seed=s).to_dict() for s in (0, 1)]
    assert found[0] == found[1]
    assert found[0]["seed"] is None


def test_as_many_more_items_decide() -> None:
    law = PairLaw(-0.001, -0.001, [(1e-4, 1e6)])
    more = law.more_items(-0.01, 0.95, 1000)
    times = (1.96 * 0.01 / 0.009) ** 2
    assert more == pytest.approx(1000 * (times - 1), rel=1e-3)
    narrower = PairLaw(-0.001, -0.001, [(1e-4 / (1 + more / 1000), 1e6)])
    assert narrower.interval(0.95)[0] == pytest.approx(-0.01, abs=1e-6)
    assert law.more_items(-0.05, 0.95, 1000) is None  # it is decided
    assert law.more_items(-0.001, 0.95, 1000) is None  # it never will be


def test_a_gate_has_doubts_where_runs_share_an_error_or_an_anchor_contradicts() -> None:
    data = answers(0.05)
    for doubtful in (data.copy_with(notes=[RUNS_DIFFER]), with_known(data, {"old": "0.3/9000"})):
        found = report_gate(doubtful, ("new", "old"), require="better", draws=100)
        assert found.content["verdict"] == "better"
        assert (found.content["passed"], "PASSED" in found.text) == (False, False)
        assert "FAILED: the result is not to be trusted." in found.text
        assert found.content["diagnostics"] == {"ok": False, "reasons": list(found.reasons)}
        assert found.reasons
        assert report_gate(doubtful, ("new", "old"), draws=100).content["passed"] is None
    trusted = report_gate(data, ("new", "old"), require="better", draws=100).content
    assert (trusted["passed"], trusted["diagnostics"]) == (True, {"ok": True, "reasons": []})


def test_methods_that_always_answer_alike_are_pointed_out() -> None:
    data, asked = answers(0.0, 60), "oth gave the same answer to all 60 items: are these different"
    twice = Outcomes(data.values[:, [0, 0]], names=data.names)
    assert asked in report_gate(twice, ("new", "old"), draws=100).text
    assert asked not in report_gate(data, ("new", "old"), draws=100).text


def test_a_pair_has_mcnemar_s_mid_p_and_lower_may_be_better() -> None:
    data = answers(0.03, 400)
    row = report_gate(data, ("old", "new"), draws=40_000).content["pairs"][0]
    only = [int(np.sum(data.values @ [s, -s] > 0)) for s in (1, -1)]
    low, tail = min(only), stats.binom(sum(only), 0.5)
    mid = tail.cdf(low - 1) + tail.pmf(low) / 2
    assert row["p_false"] == pytest.approx(mid if only[1] > only[0] else 1 - mid, abs=1e-9)
    errors = Outcomes(1 - data.values, lower_is_better=True, names=data.names, metric="mean")
    found = report_gate(errors, ("new", "old"), margin=0.01)
    assert found.content["pairs"][0]["difference"]["mean"] < 0
    assert found.content["p"] > 0.5
