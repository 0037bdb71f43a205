"""Claims in words: every number that the paragraph says is the one that was computed."""

import pytest

from bayes_sota.claims.summary_text import (
    probability,
    text_of_accuracies,
    text_of_means,
    text_of_outcomes,
)

CLASSIFICATION = {
    "p_false": 0.0930,
    "accuracy": [0.9, 0.88],
    "congruence": {"range": [0.78, 0.88], "assumption": "averaged over what the accuracies allow"},
    "sensitivity": [[0.78, 0.1713], [0.83, 0.1], [0.88, 0.0005]],
    "congruence_needed": 0.8538,
    "level": 0.05,
    "n_test": 500,
    "n_test_range": [500, 500],
    "rounding": {"p_false": 0.0998},
    "alpha": 1.0,
    "notes": ["no whole number of items"],
}
OUTCOMES = {
    "winner": "ours",
    "runner_up": "theirs",
    "p_false": 0.2,
    "p_beaten": 0.31,
    "tied_with_best": ["ours", "theirs", "third"],
    "methods": [{}, {}, {}, {}],
    "n_items": 300,
    "n_clusters": 300,
    "selection": {"p_not_best": 0.35},
    "notes": [],
}


def test_an_unreported_congruence_is_asked_for() -> None:
    text = text_of_accuracies(CLASSIFICATION)
    for part in (
        "A (accuracy 0.9) outperforms B (0.88) on 500 test items is false with probability 0.093",
        "0.780 to 0.880, and the probability ranges from 0.0005 to 0.17",
        "at most 0.05 only if both got at least 85.4 % of the items right",
        "With the rounding of the printed accuracies it is 0.100",
        "Please report",
        "No whole number of items.",
        "flat prior",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("needed", "sentence"),
    [(None, "At no share does it fall to 0.05."), (0.78, "at most 0.05 whatever that share is")],
)
def test_claims_that_always_or_never_hold(needed, sentence: str) -> None:
    assert sentence in text_of_accuracies({**CLASSIFICATION, "congruence_needed": needed})


def test_a_known_congruence_is_not_asked_for() -> None:
    known = {"value": 0.85, "assumption": "given"}
    text = text_of_accuracies({**CLASSIFICATION, "congruence": known, "rounding": None})
    assert "0.85 of the items right by both, given" in text
    assert "Please report" not in text
    assert "rounding" not in text


def test_tries_and_a_range_of_sizes() -> None:
    selection = {"tries": 10, "p_false_selected": 0.2128, "p_false": 0.0449}
    text = text_of_accuracies(
        {**CLASSIFICATION, "selection": selection, "n_test_range": [400, 1600]}
    )
    assert "400 to 1,600 test items" in text
    assert "best of 10 tries of equal skill, the probability is 0.21 instead of 0.045" in text


def test_means() -> None:
    result = {
        "p_false": 0.141,
        "mean": [0.81, 0.8],
        "correlation": {"value": None},
        "sensitivity": [[0.0, 0.24], [0.95, 0.001]],
        "n_test": 100,
        "sd": [0.1, 0.12],
        "sd_imputed": True,
        "correlation_range": [0.0, 1.0],
        "sd_difference": None,
        "notes": [],
    }
    text = text_of_means(result)
    assert "averaged, uniform from 0 to 1; the probability is 0.24 at 0 and 0.001 at" in text
    assert "The SDs of cases are 0.1 and 0.12 imputed from the means" in text
    known = text_of_means({**result, "correlation": {"value": 0.7}})
    assert "not reported" not in known


def test_several_methods() -> None:
    text = text_of_outcomes(OUTCOMES)
    assert "ours has the best score of 4 methods" in text
    assert "theirs and third cannot be told from it" in text
    assert "another method is the best with probability 0.35" in text
    clustered = {**OUTCOMES, "n_clusters": 60, "tied_with_best": ["ours"], "selection": None}
    text = text_of_outcomes(clustered)
    assert "300 items in 60 clusters" in text
    assert "No other is tied with it" in text
    noted = text_of_outcomes({**OUTCOMES, "notes": ["only 5 items of one class", "x"]})
    assert "Only 5 items of one class. X. (Paired posterior" in noted
    many = {**OUTCOMES, "tied_with_best": ["ours", *(f"m{i}" for i in range(9))]}
    assert "m0, m1, m2, m3, m4 and 4 more cannot be told" in text_of_outcomes(many)


def test_digits_that_a_probability_supports() -> None:
    assert [probability(p) for p in (0.5, 0.0466, 0.00052, 0.0)] == [
        "0.50", "0.047", "0.0005", "below 0.0001",
    ]  # fmt: skip
