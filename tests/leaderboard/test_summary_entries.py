"""The table of a leaderboard: its columns, its formats, and names that nobody checked."""

import csv
import io
import json
import re

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
from bayes_sota.core.tables import Report
from bayes_sota.items.comparison import compare_methods
from bayes_sota.leaderboard.posterior import board_posterior

OF_SKILL = ["skill", "skill_lower", "skill_upper", "rank_lower", "rank_upper"]
OF_RANKS = ["p_best", "p_best_mcse", "tied_with_best", "set_lower", "set_upper", "tier"]
COLUMNS = ["rank", "name", "score", *OF_SKILL, *OF_RANKS]
HOSTILE = (
    "=HYPERLINK(\"http://x\")", "+1|2", "-`code`", "@someone", "\tlate", "\rback",
    "<script>alert(1)</script>", "[red]link[/red](http://x)", "\x1b[31mred", "two\nlines",
    "a & b*c*_d_", "plain",
)  # fmt: skip


@pytest.fixture(scope="module")
def board() -> bs.Leaderboard:
    counts = [930, 900, 910, 915, 880, 870, 912, 931, 899, 931, 850, 925]
    return bs.Leaderboard(
        [f"{c / 1000:.3f}" for c in counts], n_test=1000, names=HOSTILE, name="a|board"
    )


@pytest.fixture(scope="module")
def table(board: bs.Leaderboard) -> Report:
    return bs.board_table(board, random_seed=1)


def test_best_first_with_the_ranks_of_equal_scores(board: bs.Leaderboard, table: Report) -> None:
    frame = table.frame
    assert frame.columns.tolist() == COLUMNS
    assert frame["name"].tolist() == [board.names[j] for j in board.order]
    assert frame["rank"].tolist()[:4] == [1, 1, 3, 4]
    assert frame["p_best"].sum() == pytest.approx(1, abs=1e-4)
    assert frame["skill"].between(frame["skill_lower"], frame["skill_upper"], "neither").all()
    assert 0 < table.content["n_tied_with_best"] < 12
    assert not table.reasons
    assert not contradictions(table)
    entries = json.loads(table.to_json())["entries"]
    assert isinstance(entries[0]["tied_with_best"], bool)
    assert {entry["name"] for entry in entries} == set(HOSTILE)


def test_csv_contains_no_formula_and_the_numbers_as_numbers(table: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert not any(row["name"].startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows)
    assert {row["name"] for row in rows} >= {"'@someone", "\\tlate", "two\\nlines", "plain"}
    assert [float(row["score"]) for row in rows] == table.frame["score"].tolist()
    assert {row["tied_with_best"] for row in rows} == {"True", "False"}


def test_responses_are_compared_item_by_item() -> None:
    rng = np.random.default_rng(0)
    correct = rng.random((400, 6)) < np.linspace(0.7, 0.9, 6)
    answers = bs.Outcomes(correct, names=list("abcdef"))
    table = bs.board_table(answers, random_seed=1)
    worse = compare_methods(answers, random_seed=0).p_not_below < 1e-4
    beaten = {name for name, w in zip(answers.names, worse, strict=True) if w}
    assert beaten
    assert not beaten & set(table.frame["name"][table.frame["tied_with_best"]])
    assert table.content["n_test_source"] == "rows of the matrix"
    tree = bs.estimate_sota(answers, draws=25, groups="estimands")
    assert tree["posterior"]["classifier"].values.tolist() == list("abcdef")
    assert any("learnt from the answers: rho is 0." in note for note in table.notes)
    with pytest.raises(InputError, match="20 items"):
        bs.board_table(bs.Outcomes(np.eye(6, dtype=int)), ranks="stepwise", random_seed=0)


@pytest.mark.slow
def test_skills_from_responses_are_those_of_the_answers() -> None:
    rng = np.random.default_rng(3)
    hard = rng.standard_normal((600, 1))
    correct = hard + rng.standard_normal((600, 8)) > np.linspace(-1.2, -0.6, 8)
    correct[:, 1] = correct[:, 0]  # a copy under another name
    correct[:3, 1] = ~correct[:3, 1]
    answers = bs.Outcomes(correct, names=list("abcdefgh"))
    posterior = board_posterior(answers, random_seed=np.random.default_rng(5))
    frame = bs.board_table(answers, random_seed=5).frame.set_index("name")
    by_name = frame.loc[list(answers.names)]
    np.testing.assert_allclose(by_name["skill"], posterior.entries.skill.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(by_name["p_best"], posterior.entries.p_best, atol=1e-6)
    ranks = np.argsort(np.argsort(-posterior.entries.skill, axis=1), axis=1) + 1
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    np.testing.assert_array_equal(by_name["rank_lower"], low)
    np.testing.assert_array_equal(by_name["rank_upper"], high)


def test_a_known_correlation_and_its_note(board: bs.Leaderboard, table: Report) -> None:
    alone = bs.board_table(
        board, priors=BoardPriors(correlation=FixedCorrelation(0.0)), random_seed=1
    )
    tied = (found.content["n_tied_with_best"] for found in (alone, table))
    assert next(tied) > next(tied)
    assert any("rho is 0.00." in note for note in alone.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ci_prob": 95}, "ci_prob must be a number above 0 and below 1"),
        ({"draws": 0}, "draws must be a whole number from 1"),
        ({"ranks": "stepwise"}, "submissions"),
        ({}, "the scores of all entries, or their answers"),
    ],
)
def test_wrong_input(options: dict, message: str) -> None:
    board = bs.Leaderboard([0.9, 0.8], n_test=100, submissions=5)
    with pytest.raises(InputError, match=message):
        bs.board_table(board if options else board.maximum_only(), random_seed=1, **options)


@pytest.mark.slow
def test_ties_take_clusters_as_wholes() -> None:
    """Every item five times: five times the answers, and not a bit more to tell."""
    rng = np.random.default_rng(0)
    x = rng.random((80, 4)) < [0.9, 0.87, 0.84, 0.6]
    copied = np.repeat(x, 5, axis=0)
    families = [str(i // 5) for i in range(400)]
    whole = bs.board_table(bs.Outcomes(copied, clusters=families), random_seed=0)
    apart = bs.board_table(bs.Outcomes(copied), random_seed=0)
    once = bs.board_table(bs.Outcomes(x), random_seed=0)
    tied = [table.content["n_tied_with_best"] for table in (apart, once, whole)]
    assert tied == [1, 2, 2]
    assert any("items come in clusters" in note for note in whole.notes)


DRAWS = 200


def random_table(seed: int) -> Report:
    """Table of a random board or matrix, by a random kind of sets."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 14)), int(rng.choice([40, 300, 5000]))
    skills = np.clip(rng.normal(rng.uniform(0.5, 0.9), rng.uniform(0.001, 0.1), m), 0.05, 0.99)
    known = {"random_seed": seed, "draws": DRAWS, "ranks": ("auto", "joint", "stepwise")[seed % 3]}
    if seed % 2:
        return bs.board_table(bs.Outcomes(rng.random((n, m)) < skills), **known)
    return bs.board_table(bs.Leaderboard(rng.binomial(n, skills) / n, n_test=n), **known)


def contradictions(table: Report) -> list[str]:
    frame, content, m = table.frame, table.content, len(table.frame)
    low, high, tier = (frame[name].to_numpy() for name in ("set_lower", "set_upper", "tier"))
    may = frame["tied_with_best"].to_numpy()
    places = np.arange(1, m + 1)
    likely = 0.05 + 4 * (0.05 * 0.95 / DRAWS) ** 0.5  # P(best) is integrated, sets are counted
    checks = {
        "an entry may be best exactly where its set holds rank 1": (may == (low == 1)).all(),
        "tier 1 are those that may be best": (may == (tier == 1)).all(),
        "every rank is in a set": all(((low <= r) & (r <= high)).any() for r in places),
        "so many are among the best k as there are places": all(
            (high <= k).sum() <= k <= (low <= k).sum() for k in places
        ),
        "tiers have no gap": set(tier) == set(range(1, tier.max() + 1)),
        "who is likely the best may be": may[frame["p_best"] > likely].all(),
        "counts are those of the rows": content["n_tied_with_best"] == may.sum()
        and content["n_separated_neighbours"] == (high[:-1] < low[1:]).sum(),
        "JSON has the sets": [e["rank_set"] for e in content["entries"]]
        == np.column_stack([low, high]).tolist(),
    }
    if "answers" not in table.notes[-1] and not any("answers" in note for note in table.notes):
        checks["a better score has no worse set"] = (np.diff(low) >= 0).all()
        checks["nor at its other end"] = (np.diff(high) >= 0).all()
    return [name for name, holds in checks.items() if not holds]


@pytest.mark.slow
def test_no_row_of_many_tables_contradicts_another() -> None:
    """What happens in one table of ten is seen with probability .95."""
    found = {seed: contradictions(random_table(seed)) for seed in range(30)}
    assert not {seed: one for seed, one in found.items() if one}


@pytest.mark.slow
def test_wider_sets_for_more_certainty() -> None:
    board = bs.Leaderboard([0.93, 0.92, 0.91, 0.90, 0.85], n_test=2000)
    sizes = {}
    for how in ("each", "joint", "stepwise"):
        frame = bs.board_table(board, ranks=how, random_seed=0).frame
        sizes[how] = float((frame["set_upper"] - frame["set_lower"]).mean())
        narrow = bs.board_table(board, ranks=how, ci_prob=0.5, random_seed=0).frame
        assert (narrow["set_upper"] <= frame["set_upper"]).all()
    assert sizes["each"] <= sizes["joint"] <= sizes["stepwise"]
    assert "stepwise" in bs.board_table(board, ranks="stepwise", random_seed=0).content["ranks"]


def test_items_that_distinguish_the_first_two() -> None:
    """With so many more items the leader is distinguished in every second board.

    Of boards whose difference is drawn from the posterior, as 1,000 items leave it.
    """
    exact = bs.Leaderboard([0.9, 0.88, 0.7], n_test=1000, rounding="exact")
    fixed = BoardPriors(correlation=FixedCorrelation(0.0))
    table = bs.board_table(exact, priors=fixed, random_seed=0)
    needed = table.content["separating_first_two"]
    more, gap = needed["n_more"], needed["difference"]
    skill = board_posterior(exact, fixed, random_seed=1).entries.skill[:, :2]
    apart = np.diff(skill[:, ::-1], axis=1)[:, 0]
    assert gap == pytest.approx(apart.mean(), abs=3e-4)
    # normal errors of scores: the prior of the difference is what the posterior knows beyond them
    error = (0.9 * 0.1 + 0.88 * 0.12) / 1000
    precision = 1 / apart.var() + more / 1000 / error
    assert gap * precision**0.5 == pytest.approx(1.96, rel=0.05)
    assert needed["names"] == ["entry 1", "entry 2"]


@pytest.mark.parametrize(("spread", "times"), [(0.05, r"[\d.]{1,3}"), (0.3, r"\d\d0")])
def test_scores_over_tasks_take_more_tasks_to_be_distinguished(spread: float, times: str) -> None:
    """In words of tasks, and with two digits whatever the size of the number."""
    each = 0.8 + spread * np.array([1, -1, 1, -1, 1, -1]) / 2
    board = bs.data.average_tasks([each + 0.01, each[::-1], each - 0.01], new="tasks")
    table = bs.board_table(board, random_seed=0)
    said = "\n".join(table.sentences)
    assert re.search(rf"^{times} times as many tasks would distinguish", said, re.M), said


def test_enough_items_for_the_first_two_are_not_enough_for_all_ranks() -> None:
    """A lone leader of many is distinguished from the second alone: no more items are named."""
    rng = np.random.default_rng(0)
    scores = [0.935, *rng.binomial(1000, 0.9, 150) / 1000 - 0.02]
    exact = bs.Leaderboard(scores, n_test=1000, rounding="exact")
    fixed = BoardPriors(correlation=FixedCorrelation(0.0))
    content = bs.board_table(exact, priors=fixed, random_seed=0).content
    assert content["n_tied_with_best"] > 1
    assert content["separating_first_two"] is None
