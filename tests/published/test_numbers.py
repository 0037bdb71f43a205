"""Computed numbers on another route: by hand, by plain loops, by simulation, by SciPy."""

import csv
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from published.comparisons import Comparison, load_published, reproduce
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr, ndtri, xlogy
from scipy.stats import binom, chi2, t

from bayes_sota.auc.laws import auc_maximum_law
from bayes_sota.maximum.law import maximum_law
from bayes_sota.maximum.shrinkage import binomial_interval

PUBLISHED = load_published()
SETTINGS = PUBLISHED["settings"]


def values(item: str) -> dict[str, Comparison]:
    return {one.quantity: one for one in reproduce([item])}


def test_mania_by_hand() -> None:
    mania = values("mania")
    rho = (0.85 - 0.244**2 - 0.756**2) / (2 * 0.244 * 0.756)
    assert mania["pairwise correlation"].computed == pytest.approx(rho, abs=1e-15)
    assert mania["correlation"].computed == pytest.approx(np.sqrt(rho), abs=1e-15)
    would_be = 0.244**2 + 0.756**2 + 2 * 0.36 * 0.244 * 0.756
    assert f"similarity {would_be:.3f}" in mania["pairwise correlation"].note
    assert {one["correlation"] for one in SETTINGS["obesity"]["other_assumptions"]} == {
        SETTINGS["obesity"]["correlation"], round(np.sqrt(rho), 2),
    }  # fmt: skip


def test_a_fixed_reference_against_simulation() -> None:
    """Two independent binomial parts, 2,700 and 300 items, as Sec. 4.2 describes it."""
    rng = np.random.default_rng(2303)
    repetitions = 1_500
    best = np.array([
        (rng.binomial(2700, 0.96, 1000) + rng.binomial(300, 0.36, 1000)).max()
        for _ in range(repetitions)
    ])  # fmt: skip
    found = values("fixed-reference")
    sd = found["sd, fixed reference"].computed
    assert best.std() / 3000 == pytest.approx(sd, rel=4.5 / np.sqrt(2 * repetitions))
    mean = found["expected maximum, fixed reference"].computed
    assert best.mean() / 3000 == pytest.approx(mean, abs=4.5 * sd / np.sqrt(repetitions))


def test_numbers_of_the_first_version_on_figure_3() -> None:
    """Sec. 3.4 and Fig. 1 there: intervals, and how rarely a better classifier is seen as such."""
    single = binomial_interval(2700, 3000, 0.95)
    many = maximum_law(n_test=3000, n_classifiers=1000, skill=0.9)
    upper = many.interval()[1]
    better = binom(3000, single[1])
    assert np.round([*single, upper], 4).tolist() == [0.8887, 0.9105, 0.9213]
    assert better.sf(round(upper * 3000)) == pytest.approx(0.0161, abs=5e-5)
    beats = values("figure-3")["P(new one beats the expected maximum)"].computed
    assert beats == pytest.approx(better.sf(int(many.mean() * 3000)), rel=1e-9)


@pytest.mark.slow
def test_the_bound_of_figure_11_bounds() -> None:
    """A field of the same best AUC that is not identical expects less."""
    verdict = values("figure-11")["highest expected best AUC"]
    aucs = np.linspace(0.85, 0.8992, 3300)
    mixed = auc_maximum_law(aucs, n_positive=131, n_negative=7556).mean()
    assert mixed < verdict.computed == pytest.approx(0.9409, abs=5e-5)
    as_run = auc_maximum_law(0.8992, n_positive=52, n_negative=2948, n_classifiers=3300).mean()
    other = values("figure-11")["as run, 3,000 items and 52 positives: highest expected best AUC"]
    assert other.computed == pytest.approx(as_run, abs=1e-12)
    assert as_run > 0.949


@pytest.mark.slow
def test_the_bound_of_figure_11_by_simulation() -> None:
    """Identical classifiers: the best of 3,300 from scores, negatives by their normal law."""
    rng, size = np.random.default_rng(11), 40
    mean, best = np.sqrt(2) * ndtri(0.8992), []
    # given the positives, the mean over 7,556 negatives is normal, of nearly constant variance
    negatives = ndtri((np.arange(20_000) + 0.5) / 20_000)
    noise = np.std(ndtr(mean - negatives)) / np.sqrt(7556)
    for _ in range(size):
        placed = ndtr(rng.normal(mean, 1, (3300, 131))).mean(axis=1)
        best.append((placed + rng.normal(0, noise, 3300)).max())
    assert np.mean(best) == pytest.approx(0.9409, abs=4.5 * np.std(best) / np.sqrt(size) + 1e-4)


def test_win_probabilities_of_tables_6_to_8() -> None:
    found = [one for one in reproduce(["epp-tables-6-8"]) if one.quantity.startswith("P(")]
    differences = [1.27 - 1.08, -5.91 + 7.52, 7.49 - 6.25, 1.29 - 1.16]
    np.testing.assert_allclose([one.computed for one in found], expit(differences), rtol=1e-12)
    assert [one.published for one in found] == ["0.55", "0.83", "0.77", "0.53"]
    cut = values("epp-tables-6-8")["as run: P(gbm1184 beats ranger1106), cut after two digits"]
    assert (cut.computed, cut.state) == (0.77, "reproduced")
    # what the rounding of the printed EPPs allows, as the note says, reaches below .775
    assert expit(7.485 - 6.255) < 0.775 < found[2].computed
    assert f"{expit(7.485 - 6.255):.4f} to {expit(7.495 - 6.245):.4f}" in found[2].note
    assert logit(0.77) < 7.485 - 6.255  # so .77 is 0.7738, cut or rounded


def test_openml_study_by_pandas(data_directory: Path) -> None:
    """The published skills and deviances, read and counted in another way."""
    folder = data_directory / "openml_epp"
    skills = pd.read_csv(folder / "epp_34_datasets.csv.gz")
    fits = pd.read_csv(folder / "deviances_34_datasets.csv", index_col="dataset")
    found = {one.quantity: one for one in reproduce(["epp-openml"], folder)}
    skills["family"] = skills["model"].str.split("_").str[0]
    whole = skills.groupby("dataset")["family"].nunique() == 5
    assert list(whole.index[~whole]) == [4135]
    fits = fits.loc[whole.index[whole]].sort_index()
    models = skills.groupby("dataset").size()[whole]
    assert ((models * (models - 1)) == fits["n_obs"]).all()  # every match twice
    own = chi2.sf(fits["deviance"], models * (models - 2)) > 0.05
    first = chi2.sf(fits["deviance"], 2000 * 1998) > 0.05
    assert list(fits.index[own != first]) == [1461]
    assert models[1461] == 1846
    fitting = "tournaments that fit no worse than their own shares of wins"
    assert found[fitting].computed == own.sum() == 11
    as_run = "as run, degrees of freedom of the first data set: the same"
    assert found[as_run].computed == first.sum() == 12
    assert found["EPPs of the tournaments"].computed == models.sum()
    ends = [fits["deviance"].idxmin(), fits["deviance"].idxmax()]
    said = ["as run: data set of the best fit, by the caption",
            "as run: data set of the least accurate fit, by the caption"]  # fmt: skip
    assert [found[one].computed for one in said] == ends
    forests = skills[skills["family"] == "randomForest"].groupby("dataset")["epp"].min()
    name = "tournaments in which all random forests are above 0"
    assert found[name].computed == (forests > 0).sum()
    pair = skills[(skills["dataset"] == 1046) & skills["model"].isin(["gbm_1184", "ranger_1106"])]
    win = expit(-np.diff(pair.sort_values("model")["epp"])[0])
    assert found["P(gbm1184 beats ranger1106)"].computed == pytest.approx(win, abs=1e-12)
    assert {one.state for one in found.values()} == {"reproduced", "differs", "ours"}


def test_figure_3_of_epp_by_hand(data_directory: Path) -> None:
    vtab = Vtab(data_directory / "vtab" / SETTINGS["vtab"]["file"])
    rows = {name: vtab.scores[vtab.players.index(name)] for name in SETTINGS["vtab_boxes"]}
    gan, vae, exemplar = rows.values()
    found = {one.quantity: one for one in reproduce(["epp-figure-3"], data_directory / "vtab")}
    gap = found["mean score of Uncond-BigGAN minus VAE"].computed
    assert gap == pytest.approx(gan.mean() - vae.mean(), abs=1e-12)
    assert exemplar.std() < gan.std() < vae.std()
    assert {one.state for one in found.values()} == {"not verifiable", "ours", "reproduced"}


class Vtab:
    """The same quantities from loops over pairs and tasks, and SciPy's optimiser."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        self.players = [row[0] for row in rows]
        self.scores = np.array([row[1:] for row in rows], float)
        m, n_tasks = self.scores.shape
        pairs = [(i, j, task) for i, j in combinations(range(m), 2) for task in range(n_tasks)]
        self.design = np.array([np.eye(m)[i] - np.eye(m)[j] for i, j, _ in pairs])
        self.tasks = np.array([task for *_, task in pairs])
        gaps = np.array([self.scores[i, k] - self.scores[j, k] for i, j, k in pairs])
        self.wins = 0.5 + 0.5 * np.sign(gaps)

    def log_likelihood(self, p: np.ndarray) -> float:
        return float(np.sum(xlogy(self.wins, p) + xlogy(1 - self.wins, 1 - p)))

    def fit(self, equal: tuple[int, int] | None = None) -> np.ndarray:
        free = np.eye(len(self.players))
        if equal is not None:
            free[:, equal[0]] += free[:, equal[1]]
            free = np.delete(free, equal[1], axis=1)
        design = self.design @ free

        def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
            eta = design @ x
            value = np.sum(np.logaddexp(0, eta) - self.wins * eta) + 1e-9 * x @ x
            return float(value), design.T @ (expit(eta) - self.wins) + 2e-9 * x

        x = minimize(loss, np.zeros(free.shape[1]), jac=True, tol=1e-12, method="BFGS").x
        skills = free @ x
        return skills - skills.mean()

    def shares(self) -> np.ndarray:
        """Share of its matches that each pair's first player won, for every match."""
        n_tasks = self.scores.shape[1]
        return np.repeat(self.wins.reshape(-1, n_tasks).mean(axis=1), n_tasks)


def test_pins_of_vtab_by_another_route(data_directory: Path) -> None:
    part, rows = SETTINGS["vtab"], PUBLISHED["items"]["vtab"]["rows"]
    vtab = Vtab(data_directory / "vtab" / part["file"])
    skills = dict(zip(vtab.players, vtab.fit(), strict=True))
    shifts = [float(printed) - skills[player] for player, printed in part["epp"].items()]
    assert f"about {np.mean(shifts):.2f} above" in rows["EPP of Sup-Rotation-100%"]["note"]
    i, j = (vtab.players.index(name) for name in part["tested"])
    epp = np.array([*skills.values()])
    p = expit(vtab.design @ epp)
    covariance = np.linalg.pinv(vtab.design.T * (p * (1 - p)) @ vtab.design)
    contrast = np.eye(16)[i] - np.eye(16)[j]
    tasks = np.array([
        vtab.design[vtab.tasks == task].T @ (vtab.wins - p)[vtab.tasks == task]
        for task in range(19)
    ])  # fmt: skip
    moved = np.sqrt(19 / 18) * tasks @ covariance
    difference, se = contrast @ epp, np.sqrt(contrast @ covariance @ contrast)
    # No direction has less than 1.5 / (m + 1) of its variance for independent matches.
    sizes, axes = np.linalg.eigh(covariance)
    root = axes[:, 1:] * np.sqrt(sizes[1:])
    shares, turns = np.linalg.eigh(np.linalg.pinv(root) @ moved.T @ moved @ np.linalg.pinv(root).T)
    seen = contrast @ root @ turns
    cluster = np.sqrt(seen**2 @ np.maximum(shares, 1.5 / 17))
    equal = vtab.log_likelihood(expit(vtab.design @ vtab.fit((i, j))))
    ratio, wald = 2 * (vtab.log_likelihood(p) - equal), (difference / se) ** 2
    once = 2 * (vtab.log_likelihood(vtab.shares()) - vtab.log_likelihood(p))
    pair = " minus ".join(part["tested"])
    by_hand = {
        **{f"EPP of {player}": skills[player] for player in part["epp"]},
        f"{pair}: difference of EPP": difference,
        f"{pair}: standard error, independent matches": se,
        f"{pair}: Wald chi-square, 1 df": wald,
        f"{pair}: likelihood-ratio chi-square, 1 df": ratio,
        f"{pair}: standard error, clustered by task": cluster,
        "p-value, Wald test, independent matches": chi2.sf(wald, 1),
        "p-value, likelihood-ratio test, independent matches": chi2.sf(ratio, 1),
        "p-value, t test clustered by task": 2 * t.sf(abs(difference) / cluster, 18),
        "p-value, Wald test as in the authors' code": chi2.sf(2 * wald, 2),
        "deviance, each match once": once,
        "its degrees of freedom, (m - 1)(m - 2) / 2": 105,
        "deviance, each match twice": 2 * once,
        "degrees of freedom by its Property 3.7, m (m - 2)": 224,
        "standardized deviance by its Property 3.9": (2 * once - 224) / np.sqrt(448),
    }
    pinned = {quantity: row["pinned"] for quantity, row in rows.items() if "pinned" in row}
    assert by_hand.keys() == pinned.keys()
    for name, value in by_hand.items():
        assert f"{value:.{len(pinned[name].partition('.')[2])}f}" == pinned[name], name
