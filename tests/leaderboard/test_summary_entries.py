"""The table of a leaderboard: its columns, its formats, and names that nobody checked."""

import csv
import io
import json

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
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
    scores = [f"{c / 1000:.3f}" for c in counts]
    return bs.Leaderboard(scores, n_test=1000, names=HOSTILE, name="a|board")


@pytest.fixture(scope="module")
def table(board: bs.Leaderboard):
    return bs.board_table(board, random_seed=1)


def test_best_first_with_the_ranks_of_equal_scores(board: bs.Leaderboard, table) -> None:
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


def test_csv_contains_no_formula_and_the_numbers_as_numbers(table) -> None:
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
        bs.board_table(bs.Outcomes(np.eye(6, dtype=int)), ranks="confidence", random_seed=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ci_prob": 95}, "ci_prob must be a number above 0 and below 1"),
        ({"ranks": "confidence"}, "submissions"),
        ({}, "the scores of all entries, or their answers"),
    ],
)
def test_wrong_input(options: dict, message: str) -> None:
    board = bs.Leaderboard([0.9, 0.8], n_test=100, submissions=5)
    with pytest.raises(InputError, match=message):
        bs.board_table(board if options else board.maximum_only(), random_seed=1, **options)


DRAWS = 200


def random_table(seed: int):
    """Table of a random board or matrix, by a random kind of sets."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 14)), int(rng.choice([40, 300, 5000]))
    skills = np.clip(rng.normal(rng.uniform(0.5, 0.9), rng.uniform(0.001, 0.1), m), 0.05, 0.99)
    kind = ("auto", "joint", "confidence")[seed % 3]
    known = {"random_seed": seed, "draws": DRAWS, "ranks": kind}
    if seed % 2:
        return bs.board_table(bs.Outcomes(rng.random((n, m)) < skills), **known)
    return bs.board_table(bs.Leaderboard(rng.binomial(n, skills) / n, n_test=n), **known)


def contradictions(table) -> list[str]:
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
    if not any("answers" in note for note in table.notes):
        checks["a better score has no worse set"] = (np.diff(low) >= 0).all()
        checks["nor at its other end"] = (np.diff(high) >= 0).all()
    return [name for name, holds in checks.items() if not holds]


@pytest.mark.slow
def test_no_row_of_many_tables_contradicts_another() -> None:
    """What happens in one table of ten is seen with probability .95."""
    found = {seed: contradictions(random_table(seed)) for seed in range(30)}
    assert not {seed: one for seed, one in found.items() if one}


def test_whether_ranks_depend_on_the_shared_error() -> None:
    """The entry with fewer items moves further with the shift, a known one not at all."""
    same = bs.Leaderboard([0.9, 0.91, 0.88], n_test=400, names=list("abc"))
    few = bs.Leaderboard([0.9, 0.91, 0.88], n_test=[4000, 100, 400])
    known = bs.with_known(same, {"a": bs.Known(0.9)})
    for board, depends, said in (
        (same, False, "do not depend on it"),
        (few, True, "as far as entries share it unequally"),
        (known, True, "they may also change ranks"),
    ):
        found = board_posterior(board, random_seed=0, draws=8000)
        first = found.entries.skill.argmax(axis=1) == 1
        high = found.draws["shift"] > np.median(found.draws["shift"])
        assert (abs(first[high].mean() - first[~high].mean()) > 0.05) == depends
        assert said in bs.board_table(board, random_seed=0, draws=10).legend[0]


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


def test_enough_items_for_the_first_two_are_not_enough_for_all_ranks() -> None:
    """A lone leader of many is distinguished from the second alone: no more items are named."""
    rng = np.random.default_rng(0)
    scores = [0.935, *rng.binomial(1000, 0.9, 150) / 1000 - 0.02]
    exact = bs.Leaderboard(scores, n_test=1000, rounding="exact")
    fixed = BoardPriors(correlation=FixedCorrelation(0.0))
    content = bs.board_table(exact, priors=fixed, random_seed=0).content
    assert content["n_tied_with_best"] > 1
    assert content["separating_first_two"] is None
