"""Bad input of a fit and bad questions to it are refused in one clear line."""

import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import simulate_tournament

NAN = float("nan")
GROUPS = [label for label in "uvwxyz" for _ in range(3)]


def drawn(groups: list[str] | None = None) -> ScoreTable:
    """Five players, eighteen rounds."""
    table = simulate_tournament([1, 0.5, 0, -0.5, -1], 18, random_seed=5)
    return ScoreTable(table.scores, players=list("abcde"), groups=groups)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1], [2]], "at least 2 players, got 1"),
        ([[1, 2]], "at least 2 rounds, got 1"),
        ([[1, 1], [1, 1]], "scores are constant"),
        ([[1, NAN, 1], [2, 2, NAN]], "scores are constant"),
        ([["a", "b"], [1, 2]], "matrix of numbers"),
        ([[2, 1, 0], [2, 0, 1]], "'1' never lost to '2', '3'"),
    ],
)
def test_bad_scores_are_refused(scores, message) -> None:
    with pytest.raises(InputError, match=message) as caught:
        fit_epp(scores)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"matches": "listed"}, "got 'listed'"),
        ({"penalty": -1}, "at least 1e-06, got -1"),
        ({"penalty": NAN}, "at least 1e-06, got nan"),
        ({"penalty": 1e-12}, "at least 1e-06, got 1e-12"),
        ({"test_fraction": 1.0}, "share of the data that a split tests, got 1.0"),
        ({"test_fraction": NAN}, "share of the data that a split tests, got nan"),
    ],
)
def test_bad_settings_are_refused(settings, message) -> None:
    with pytest.raises(InputError, match=message):
        fit_epp(drawn(), **settings)


def test_overlap_is_for_splits() -> None:
    with pytest.raises(InputError, match="splits of one data set"):
        fit_epp(Matches.from_names("ab", "ba", [1, 1]), test_fraction=0.1)


def test_one_cluster_of_matches_tells_nothing_about_others() -> None:
    first, second = list("abcab"), list("bcaca")
    with pytest.raises(InputError, match="cluster"):
        Matches.from_names(first, second, [1, 1, 1, 1, 1], clusters=["x"] * 5)


@pytest.mark.parametrize("prob", [0, 1, 1.5, NAN])
def test_probabilities_are_checked(prob: float) -> None:
    fit = fit_epp(drawn())
    for call in (
        lambda: fit.interval(prob),
        lambda: fit.rank_interval(prob),
        lambda: fit.tied_with_best(prob),
        lambda: fit.test("a", "b", prob=prob),
    ):
        with pytest.raises(InputError, match="above 0 and below 1"):
            call()


def test_bad_questions_are_refused() -> None:
    fit = fit_epp(ScoreTable(drawn().scores, players=["resnet", "vit", "mlp", "svm", "knn"]))
    with pytest.raises(InputError, match="no player 'resnet50'; did you mean 'resnet'"):
        fit.test("resnet50", "vit")
    with pytest.raises(InputError, match="no player 'vitt'; did you mean 'vit'"):
        fit.win_probability("mlp", "vitt")
    with pytest.raises(InputError, match="got 'mlp' twice"):
        fit.test("mlp", "mlp")
    with pytest.raises(InputError, match="robust, model or simultaneous, got 'exact'"):
        fit.interval(kind="exact")
