"""Anchors: against linear algebra, simulated luck, and the sampled model; and what must hold."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import bayes_sota as bs
from bayes_sota.claims.pair import chosen_pair, law_of_pair
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BetaCorrelation, FixedCorrelation
from bayes_sota.data.known import Known, read_known, with_known
from bayes_sota.items.score import skills_alone
from bayes_sota.leaderboard import anchors as room
from bayes_sota.leaderboard.from_items import items_evidence
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.maximum.score_laws import score_law

SCORES = [0.90, 0.91, 0.915, 0.88, 0.93, 0.925, 0.905]
BOARD = bs.Leaderboard(SCORES, n_test=500, names=list("abcdefg"))
RHO = 0.7


def answers(n=400, m=8, seed=0, shared=1.0):
    """Classifiers that share what is hard."""
    rng = np.random.default_rng(seed)
    hard = shared * rng.standard_normal((n, 1))
    right = hard + rng.standard_normal((n, m)) > np.linspace(-2.0, -1.6, m)
    return bs.Outcomes(right, names=[f"m{j}" for j in range(m)])


def law_of(scores, known, *, n=500, **how):
    """A board with anchors, and its law."""
    names = [f"m{j}" for j in range(len(scores) + 2)]
    board = bs.Leaderboard([0.9] * len(names), n_test=n, names=names, rounding="exact")
    board = board.copy_with(scores=np.append(scores, [0.9, 0.88]))
    board = with_known(board, dict(zip(names, known, strict=False)), **how)
    return board, score_law(board)


@pytest.fixture
def no_strays(monkeypatch):
    monkeypatch.setattr(room, "_STRAY", 1e-12)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("0.7613", Known(0.7613)),
        ("76.13%", Known(0.7613)),
        ("0.7613±0.002", Known(0.7613, se=0.002)),
        ("76% +- 1%", Known(0.76, se=0.01)),
        ("76% +/- 1", Known(0.76, se=0.01)),
        ("0.7613/50,000", Known(0.7613, n_test=50_000)),
        ("-1.5", Known(-1.5)),
    ],
)
def test_known_skills_are_read_as_people_write_them(text, known):
    assert Known.parse(text) == known


def test_a_table_of_known_skills(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text("name,skill,se,n\nbase,76.1%,,50000\nother,0.71,0.01,\n")
    assert read_known(path) == {"base": Known(0.761, n_test=50_000), "other": Known(0.71, se=0.01)}


CHOSEN = bs.Leaderboard(SCORES, n_test=500, submissions=[3] * 7, names=list("abcdefg"))
HOLES = bs.Outcomes(np.where(np.eye(20, 3), np.nan, np.arange(20)[:, None] > 5), names=list("abc"))


@pytest.mark.parametrize(
    ("data", "known", "how", "said"),
    [
        (BOARD, {"aa": 0.9}, {}, 'no entry is called "aa"; did you mean "a"?'),
        (BOARD, {"a": 1.2}, {}, 'the skill of "a" must be'),
        (BOARD, {"a": "ninety"}, {}, "a known skill is written 0.7613"),
        (BOARD, {"a": "0.76±1%"}, {}, "a known skill is written 0.7613"),
        (BOARD.maximum_only(), {"a": 0.9}, {}, "it needs a score on these items too"),
        (BOARD, dict.fromkeys("abcdefg", 0.9), {}, "nothing to estimate"),
        (BOARD, {"a": 0.9}, {"only": ["b"]}, "if its skill is given"),
        (BOARD, {"a": "0.9±-1"}, {}, "standard error of a known skill"),
        (BOARD, {"a": 0.9}, {"offset": -1.0}, "offset"),
        (CHOSEN, {"a": 0.9}, {}, "submissions"),
        (HOLES, {"a": 0.9}, {}, "missing"),
        (BOARD, {"a": "0.9/5.5"}, {}, "a known skill is written 0.7613"),
        (BOARD, {"a": "0.9 (0.02)"}, {}, "a known skill is written 0.7613"),
    ],
)
def test_what_is_refused(data, known, how, said):
    with pytest.raises(InputError) as error:
        with_known(data, known, **how)
    assert said in str(error.value)


def test_an_anchor_alone_leaves_the_board():
    left = with_known(BOARD, {"d": 0.87}, only=["d"])
    assert left.names == tuple("abcefg")
    assert left.n_classifiers == 6
    assert left.anchors.scores.tolist() == [0.88]
    assert left != with_known(BOARD, {"d": 0.86}, only=["d"])  # another digest


@pytest.mark.parametrize("data", [BOARD, answers()], ids=["scores", "answers"])
def test_some_entries_keep_what_is_known(data):
    known = dict(zip(data.names[1:4], (0.9, 0.88, 0.91), strict=True))
    kept = np.array([3, 0, 5, 1])
    some = with_known(data, known).subset(kept)
    assert some.anchors.entry.tolist() == [3, -1, 0]
    assert some.anchors.names == tuple(known)
    alone = with_known(data, known, only=[data.names[2]]).subset(np.array([2, 0, 4, 1]))
    assert some == alone


@pytest.mark.parametrize("how", [{}, {"offset": 0.01}])
@pytest.mark.parametrize(
    "known",
    [
        [0.90, 0.91, 0.87],
        [Known(0.9, se=0.01), Known(0.91), Known(0.87, se=0.02)],
        [Known(0.9, n_test=2000)] * 3,
        [Known(0.9, n_test=250)] * 3,
        [Known(0.9, n_test=4000), Known(0.91), Known(0.9, n_test=100)],
    ],
)
def test_the_shift_has_the_law_of_simulated_luck(known, how, no_strays):
    of_known, law = law_of([0.92, 0.90, 0.88], known, **how)
    anchors, loading = of_known.anchors, room.loadings_at(RHO, law, of_known)
    residual, error = room.residuals(law, anchors)
    corr = np.outer(loading, loading)
    mean, explained, weight = room.explain(anchors, law, loading[None], corr)

    # luck of items of the board; of those that a skill was measured on, which may contain them
    rng, size = np.random.default_rng(1), 400_000
    board = rng.standard_normal((size, 4))  # columns: shared, and each anchor's
    sizes = np.array([500 / s if s else np.inf for s in anchors.share])
    common = (rng.standard_normal((size, 4)), rng.standard_normal((size, 4)))
    e = np.empty((size, 3))
    for a in range(3):
        of = np.sqrt(1 - loading[a] ** 2)
        here = loading[a] * board[:, 0] + of * board[:, 1 + a]
        if not np.isfinite(sizes[a]):
            there = 0.0
        elif anchors.contains[a]:  # all items: these, and as many others as are left
            share = 500 / sizes[a]
            rest = loading[a] * common[0][:, 0] + of * common[0][:, 1 + a]
            there = share * here + np.sqrt(share * (1 - share)) * rest
        else:
            rest = loading[a] * common[1][:, 0] + of * common[1][:, 1 + a]
            there = np.sqrt(500 / sizes[a]) * rest
        e[:, a] = here - there
    e += anchors.offset / error * rng.standard_normal((size, 1))
    e += anchors.error / error * rng.standard_normal((size, 3))
    fitted = np.linalg.lstsq(e, board[:, 0], rcond=None)[0]
    assert_allclose(weight[0], fitted, atol=0.01)
    assert_allclose(1 - explained[0], np.var(board[:, 0] - e @ fitted), atol=0.006)
    assert_allclose(mean[0], weight[0] @ residual, atol=1e-12)


def test_a_stray_anchor_counts_less_by_the_sum_over_who_it_may_be():
    board, law = law_of([0.92, 0.90, 0.88], [0.90, 0.89, 0.94])
    anchors, loading = board.anchors, room.loadings_at(RHO, law, board)
    residual, corr = room.residuals(law, anchors)[0], np.outer(loading, loading)
    z = np.linspace(-9, 9, 6001)  # given the shift, residuals are independent mixtures
    density = stats.norm.pdf(z)
    for e, a in zip(residual, loading, strict=True):
        sd = np.sqrt([1 - a**2, 10 - a**2])
        density = density * ([0.9, 0.1] @ stats.norm.pdf(e, a * z, sd[:, None]))
    density /= density.sum()
    mean, explained, _ = room.explain(anchors, law, loading[None], corr)
    assert_allclose(mean[0], density @ z, atol=1e-6)
    assert_allclose(1 - explained[0], density @ (z - density @ z) ** 2, atol=1e-6)


def test_residuals_are_standard_scores_of_every_law():
    about = {"metric": "score", "standard_error": 0.5, "names": list("abc")}
    for lower, expected in ((False, 1.5), (True, -1.5)):
        n = bs.Leaderboard([2.0, 1.5, 1.0], lower_is_better=lower, **about)
        n = with_known(n, {"a": 1.25})
        assert_allclose(room.residuals(score_law(n), n.anchors)[0], [expected], atol=1e-4)
    known, law = law_of([0.92], [0.90])
    assert_allclose(room.residuals(law, known.anchors)[0], 0.02 / np.sqrt(0.09 / 500), atol=1e-4)
    auc = bs.Leaderboard([0.9, 0.88], metric="auc", n_test=1000, n_positive=60, names=list("ab"))
    auc = with_known(auc, {"a": 0.87})
    law = score_law(auc)
    assert_allclose(
        room.residuals(law, auc.anchors)[0], law.normal_scores.normal_score(0.9, 0.87), atol=2e-3
    )


def hardly_known(board):
    """The same with an error that tells nothing."""
    return board.copy_with(anchors=board.anchors.copy_with(error=np.array([1e9])))


@pytest.mark.parametrize("data", [BOARD, answers()], ids=["scores", "answers"])
def test_what_is_hardly_known_changes_nothing(data):
    name = data.names[1]
    off = hardly_known(with_known(data, {name: 0.9}, only=[name]))
    without = off.copy_with(anchors=None)
    found, usual = (board_posterior(d, draws=400, random_seed=3).draws for d in (off, without))
    for name in ("theta_sota", "winner_skill", "rho", "best_new_score"):
        assert_allclose(found[name], usual[name], atol=1e-6)
    here = hardly_known(with_known(data, {data.names[1]: 0.9}))
    found, usual = (board_posterior(d, draws=400, random_seed=3) for d in (here, data))
    assert_allclose(found.draws["theta_sota"], usual.draws["theta_sota"], atol=1e-6)
    assert_allclose(found.entries.skill, usual.entries.skill, atol=1e-6)


def two_boards(m=12, *, shared=0.99):
    """Two boards of 800 items, whose entries share nearly all of their errors."""
    rng = np.random.default_rng(2)
    u = np.arcsin(np.sqrt(np.linspace(0.70, 0.80, m)))
    own, error = np.sqrt(1 - shared**2), 0.5 / np.sqrt(800)
    public, private = (
        np.sin(u + error * (shared * z + own * rng.standard_normal(m))) ** 2 for z in (1.0, 0.5)
    )
    given = {"n_test": (800, 800), "names": [f"m{j}" for j in range(m)]}
    return bs.PairedBoards(np.round(public * 800) / 800, np.round(private * 800) / 800, **given)


def test_an_anchor_moves_all_skills_of_two_boards_by_what_its_private_score_is_off(no_strays):
    boards, fixed = two_boards(), bs.Priors(correlation=FixedCorrelation(0.99))
    last = float(boards.private[-2])

    def best(data):
        return bs.leaderboard.estimate_paired(data, fixed, random_seed=1, groups="estimands")

    usual = best(boards)["posterior"]
    for off in (-0.02, 0.0, 0.02):
        known = with_known(boards, {"m10": last + off})
        found = best(known)["posterior"]
        assert_allclose(found["skill"].sel(classifier="m10"), last + off, atol=1e-9)
        for name in ("m4", "m8"):
            skill, was = (of["skill"].sel(classifier=name) for of in (found, usual))
            private = float(boards.private[boards.names.index(name)])
            assert_allclose(skill.mean(), private + off, atol=0.004)
            assert skill.std() < 0.5 * was.std()
    alone = with_known(boards, {"m10": last}, only=["m10"])
    assert "m10" not in best(alone)["posterior"]["classifier"].values
    off = best(hardly_known(known))["posterior"]
    assert_allclose(off["theta_sota"], usual["theta_sota"], atol=1e-6)
    with pytest.raises(InputError, match="sizes of both test sets"):
        with_known(bs.PairedBoards(boards.public, boards.private), {"entry 1": 0.7})


@pytest.mark.parametrize("data", [BOARD, answers()], ids=["scores", "answers"])
def test_an_entry_of_the_board_has_the_skill_that_is_known(data):
    best = data.names[int(np.argmax(data.scores))]
    found = board_posterior(with_known(data, {best: 0.90}), draws=400, random_seed=3)
    skill = found.entries.skill[:, data.names.index(best)]
    assert_allclose(skill, 0.90, atol=1e-6)
    assert_allclose(found.draws["winner_skill"], 0.90, atol=1e-6)
    assert found.draws["theta_sota"].min() >= 0.90 - 1e-6
    share = np.mean(found.entries.skill.argmax(axis=1) == data.names.index(best))
    assert_allclose(found.entries.p_best[data.names.index(best)], share, atol=1e-9)


def test_a_skill_changes_smoothly_with_the_error_of_what_is_known():
    """The score is far from it, so that it may be a stray."""
    data, sd = answers(), np.sqrt(0.85 * 0.15 / 400)
    close = [with_known(data, {"m3": Known(0.85, se=se * sd)}) for se in (0.14, 0.15)]
    skills = [board_posterior(d, draws=400, random_seed=3).entries.skill[:, 3] for d in close]
    assert abs(np.diff(np.mean(skills, axis=1))) < 0.5 * sd


def test_boards_of_an_anchor_near_1_are_replicated():
    board = bs.Leaderboard([1.0, 0.97, 0.93, 1.0], n_test=30, names=list("abcd"))
    tree = bs.estimate_sota(board, known={"d": Known(0.999, se=0.001)}, random_seed=1)
    for group in ("posterior_predictive", "prior_predictive"):
        assert np.isfinite(tree[group]["score"]).all()


def test_the_prior_of_rho_that_anchors_leave():
    rho = BetaCorrelation(3, 2).quantile([0.01, 0.3, 0.5, 0.9])
    wide = room.left_correlation(BetaCorrelation(3, 2), 0.1)
    left = np.sqrt(np.maximum(rho**2 - 0.1, 0) / 0.9)
    assert_allclose(wide.quantile([0.01, 0.3, 0.5, 0.9]), left, atol=1e-5)


def test_disagreement_is_noted_as_rarely_as_it_says():
    rng, noted = np.random.default_rng(0), 0
    truth, n, size = 0.9, 1000, 800
    error = np.sqrt(truth * (1 - truth) / n)
    for _ in range(size):
        e = RHO * rng.standard_normal() + np.sqrt(1 - RHO**2) * rng.standard_normal(3)
        anchors = law_of(truth + e * error, [truth] * 3, n=n)[0].anchors
        board = bs.Leaderboard([truth, truth], n_test=n, rounding="exact").copy_with(
            anchors=anchors
        )
        noted += room.disagreement(board)[0] < 0.02
    assert stats.binomtest(noted, size, 0.02).pvalue > 0.01


def test_a_perfect_score_that_is_moved_stays_one():
    right = answers(m=4).correct.copy()
    right[:, 3] = 1
    data = bs.Outcomes(right, names=list("abcd"))
    for known in np.linspace(0.85, 0.99, 30):  # rounding took some above 1
        assert np.isfinite(items_evidence(with_known(data, {"a": known})).at(0.5).score).all()


def test_skills_alone_without_luck():
    truth, errors, covered = answers(200_000, shared=2.0).scores, [], []
    for seed in range(60):
        data = answers(seed=seed + 1, shared=2.0)
        names = list(data.names[:3])
        some = with_known(data, dict(zip(names, truth[:3].tolist(), strict=True)), only=names)
        alone = skills_alone(some)
        for raw, skill, true in zip(alone, room.without_luck(alone, some), truth[3:], strict=True):
            assert skill.score == raw.score
            errors.append((raw.mean - true, skill.mean - true))
            low, high = skill.interval()
            covered.append(low < true < high)
    before, after = np.sqrt(np.mean(np.square(errors), axis=0))
    assert after < 0.85 * before
    assert 0.92 < np.mean(covered) < 0.98


@pytest.mark.slow
def test_nuts_of_the_model_agrees_with_the_exact_route():
    """Of the same shape; the second anchor is likely, but not surely, a stray."""
    import pymc as pm

    board = with_known(BOARD, {"c": 0.90, "d": Known(0.915, n_test=5000)}, only=["d"])
    exact = board_posterior(board, random_seed=0, draws=16_000)
    model = bs.leaderboard.build_model(board)
    is_same = exact.skills.parameters.family == int(model["family"].get_value())
    assert {v.name for v in model.observed_RVs} == {"score", "anchor_residual"}
    with model:
        trace = pm.sample(init="adapt_diag", random_seed=1, progressbar=False, chains=2)
    tree = bs.leaderboard.complete(trace, board, model=model)
    for name in ("theta_sota", "winner_skill", "shift", "rho"):
        drawn, same = tree["posterior"][name].values, exact.draws[name][is_same]
        sd = same.std()
        assert abs(drawn.mean() - same.mean()) < 0.15 * sd, name
        assert_allclose(drawn.std(), sd, rtol=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_near_twins_among_anchors_leave_a_matrix_of_correlations(seed):
    rng = np.random.default_rng(seed)
    hard = rng.random((300, 1)) < 0.04
    own = rng.random((300, 8)) < 0.004
    data = bs.Outcomes(~(hard ^ own), names=list("abcdefgh"))
    known = dict(zip("abgh", [0.9, 0.96, 0.97, 0.995], strict=True))
    board = with_known(data, known, only=list(known))
    of, m = room._of_items(board), board.scores.size
    corr = room.correlations(board, *of)
    for cross in corr[:m]:
        whole = np.block([[np.ones((1, 1)), cross[None]], [cross[:, None], corr[m:]]])
        assert np.linalg.eigvalsh(whole).min() > 0
    moved, left, _ = room.pull_of_items(board, *of)
    assert np.all(np.abs(moved) < np.abs(room.residuals(of[0], board.anchors)[0]).max())
    assert np.all(left <= 1.05)


def test_a_difference_without_luck_has_the_law_of_simulated_items():
    """The second of the pair is known, and so is one more."""
    truth, found = answers(200_000, 4, shared=2.0).scores, []
    for seed in range(400):
        data = answers(300, 4, seed=seed + 1, shared=2.0)
        known = {"m1": float(truth[1]), "m3": float(truth[3])}
        some = with_known(data, known, only=["m3"])
        pair = chosen_pair(some, ("m2", "m1"))
        usual, law = law_of_pair(pair, "m2"), law_of_pair(pair, "m2", some)
        true = truth[2] - truth[1]
        low, high = law.interval(0.95)
        found.append((usual.centre - true, law.centre - true, low < true < high))
    before, after, covered = np.transpose(found)
    assert np.mean(after**2) < 0.85 * np.mean(before**2)
    assert 0.92 < covered.mean() < 0.98
    assert abs(after.mean()) < 3 * after.std() / np.sqrt(len(after))


def test_a_report_says_what_an_anchor_would_be_worth():
    said = bs.leaderboard.report_sota(BOARD, random_seed=0, sensitivity=False).content["notes"]
    said = next(note for note in said if "--known" in note)
    low, high = map(float, re.findall(r"([\d.]+) %", said))
    board = with_known(BOARD, {"e": 0.925}, only=["e"])
    report = bs.leaderboard.report_sota(board, random_seed=0, sensitivity=False)
    before, after = (
        np.ptp(bs.leaderboard.report_sota(b, random_seed=0).content["theta_sota"]["interval"])
        for b in (BOARD, board)
    )
    assert 0.8 < (high - low) / 100 / after < 1.2
    assert (high - low) / 100 < before
    assert not any("--known" in note for note in report.content["notes"])


def test_anchors_that_disagree_may_widen_what_is_left():
    """Who of them is a stray is unknown, and so is the shift: the variance grows."""
    data = answers(seed=3)
    far = np.array([-2.6, 2.6]) * data.standard_errors[:2]
    known = dict(zip(data.names[:2], data.scores[:2] + far, strict=True))
    posterior = board_posterior(with_known(data, known), draws=200, random_seed=0)
    assert all(np.isfinite(draws).all() for draws in posterior.draws.values())


def test_an_anchor_that_competes_has_the_correlations_of_its_anchor() -> None:
    right = np.random.default_rng(3).random((40, 6)) < [0.95, 0.9, 0.6, 0.7, 0.8, 0.5]
    known = {"1": Known(0.6, se=0.01), "2": Known(0.97, se=0.01), "3": Known(0.9, se=0.01)}
    data = with_known(bs.Outcomes(right), known, only=["3"])
    found = room.correlations(data, *room._of_items(data))
    assert_allclose(found[:2], found[5:7], atol=1e-12)


def test_entries_whose_skills_are_known_say_nothing_about_what_the_others_share() -> None:
    """Anchors leave them no error: among the leaders they made others' loadings 2.4 rho."""
    data = answers(600, 9, shared=2.0)
    truth = answers(200_000, 9, shared=2.0).scores
    known = dict(zip(data.names[6:], truth[6:].tolist(), strict=True))
    loadings = items_evidence(with_known(data, known)).loadings
    assert set(loadings.leaders.tolist()) < set(range(6))
    assert 0.5 < loadings.relative[:6].min() < loadings.relative[:6].max() < 1.5
