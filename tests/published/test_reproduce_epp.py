"""Numbers and figures of the EPP paper; pins of VTAB by plain loops and SciPy's optimiser."""

import copy
import csv
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit, xlogy
from scipy.stats import chi2, t

from bayes_sota.core.errors import InputError
from bayes_sota.epp.fit import fit_epp
from bayes_sota.published import item_names, reproduce
from bayes_sota.published import items as items_module
from bayes_sota.published.epp_numbers import fit_vtab
from bayes_sota.published.openml_study import PENALTY, fit_study, study_like
from bayes_sota.published.published_numbers import load_published
from bayes_sota.published.summary_epp import ends_of_fit, fig_4_data, fig_5_data, fig_6_data

PUBLISHED = load_published("epp")
VTAB = PUBLISHED["vtab"]
ITEMS = ("vtab", "epp-tables-6-8", "epp-figure-4", "epp-figure-5", "epp-figure-6")


def counted(found) -> dict[str, list[int]]:
    """Reproduced, differing, not verifiable and off numbers of each item."""
    names = ("reproduced", "differs", "not verifiable", "off")
    return {
        item: [sum(one.item == item and one.state == name for one in found) for name in names]
        for item in ITEMS
    }


def test_items_are_known() -> None:
    assert item_names()[-5:] == list(ITEMS)


def test_without_the_scores() -> None:
    found = reproduce(ITEMS)
    assert counted(found) == {
        "vtab": [0, 0, 1, 0], "epp-tables-6-8": [5, 1, 3, 0], "epp-figure-4": [2, 0, 1, 0],
        "epp-figure-5": [0, 1, 3, 0], "epp-figure-6": [0, 0, 1, 0],
    }  # fmt: skip
    needs = [one.note for one in found if "--data" in one.note]
    assert len(needs) == 2
    assert all("vtab_scores_16x19.csv" in note and "github.com" in note for note in needs)


def test_with_the_scores(data_directory: Path) -> None:
    found = reproduce(["vtab", "epp-figure-6"], data_directory)
    assert counted(found)["vtab"] == [2, 6, 10, 0]
    assert counted(found)["epp-figure-6"] == [3, 0, 1, 0]
    assert all("pinned at" in one.note for one in found if one.state == "differs")
    unprinted = [one for one in found if one.state == "not verifiable" and one.item == "vtab"]
    assert all(one.published == "" and one.computed is not None for one in unprinted)


def test_directories(tmp_path: Path) -> None:
    (one,) = reproduce(["vtab"], tmp_path)  # a directory of something else
    assert one.state == "not verifiable"
    with pytest.raises(InputError, match="no such directory"):
        reproduce(["vtab"], tmp_path / "nowhere")
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / VTAB["file"]).write_text("model,x,y\n")
    with pytest.raises(InputError, match=r"one file vtab_scores_16x19\.csv is needed, found 2"):
        reproduce(["epp-figure-6"], tmp_path)


def test_win_probabilities_of_tables_6_to_8() -> None:
    found = [one for one in reproduce(["epp-tables-6-8"]) if one.quantity.startswith("P(")]
    differences = [1.27 - 1.08, -5.91 + 7.52, 7.49 - 6.25, 1.29 - 1.16]
    np.testing.assert_allclose([one.computed for one in found], expit(differences), rtol=1e-12)
    assert [one.published for one in found] == ["0.55", "0.83", "0.77", "0.53"]
    assert [one.state for one in found] == ["reproduced", "reproduced", "differs", "reproduced"]
    # what the rounding of the printed EPPs allows, as the note says, reaches below .775
    assert expit(7.485 - 6.255) < 0.775 < found[2].computed
    assert "0.7738 to 0.7773" in found[2].note
    assert logit(0.77) < 7.485 - 6.255  # so .77 is 0.7738, cut or rounded


class Vtab:
    """The same quantities from loops over pairs and tasks, and SciPy's optimiser."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        self.players = [row[0] for row in rows]
        self.scores = np.array([row[1:] for row in rows], float)
        m, n_tasks = self.scores.shape
        self.design, self.wins, self.tasks = [], [], []
        for i, j in combinations(range(m), 2):
            for task in range(n_tasks):
                a, b = self.scores[i, task], self.scores[j, task]
                self.design.append(np.eye(m)[i] - np.eye(m)[j])
                self.wins.append(0.5 + 0.5 * np.sign(a - b))
                self.tasks.append(task)
        self.design, self.wins = np.array(self.design), np.array(self.wins)
        self.tasks = np.array(self.tasks)

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
    vtab = Vtab(data_directory / "vtab" / VTAB["file"])
    skills = vtab.fit()
    for one in VTAB["epp"]:
        assert skills[vtab.players.index(one["player"])] == pytest.approx(
            float(one["pinned"]), abs=6e-5
        )
    i, j = (vtab.players.index(name) for name in VTAB["test"]["players"])
    p = expit(vtab.design @ skills)
    covariance = np.linalg.pinv(vtab.design.T * (p * (1 - p)) @ vtab.design)
    contrast = np.eye(16)[i] - np.eye(16)[j]
    tasks = np.array([
        vtab.design[vtab.tasks == task].T @ (vtab.wins - p)[vtab.tasks == task]
        for task in range(19)
    ])  # fmt: skip
    moved = tasks @ covariance @ contrast
    difference, se = contrast @ skills, np.sqrt(contrast @ covariance @ contrast)
    cluster = np.sqrt(19 / 18 * np.sum(moved**2))
    equal = vtab.log_likelihood(expit(vtab.design @ vtab.fit((i, j))))
    ratio, wald = 2 * (vtab.log_likelihood(p) - equal), (difference / se) ** 2
    pins = VTAB["test"]["unprinted"] | VTAB["test"]["wald_p"]["pinned"]
    by_hand = {
        "difference": difference, "se_model": se, "wald_chi2": wald, "lrt_chi2": ratio,
        "se_cluster": cluster, "wald": chi2.sf(wald, 1), "lrt": chi2.sf(ratio, 1),
        "cluster": 2 * t.sf(abs(difference) / cluster, 18), "paper": chi2.sf(2 * wald, 2),
    }  # fmt: skip
    for name, value in by_hand.items():
        assert f"{value:.{len(pins[name].partition('.')[2])}f}" == pins[name], name
    once = 2 * (vtab.log_likelihood(vtab.shares()) - vtab.log_likelihood(p))
    deviance = VTAB["deviance"]["unprinted"]
    assert f"{once:.4f}" == deviance["deviance"]
    assert f"{2 * once:.3f}" == deviance["paper_deviance"]
    assert f"{(2 * once - 224) / np.sqrt(448):.2f}" == deviance["paper_standardized"]


def numbers_in(part, path=()):
    """Paths of all numbers that are strings."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, dict | list):
            yield from numbers_in(value, (*path, key))
        elif isinstance(value, str) and value.lstrip("-").replace(".", "", 1).isdigit():
            yield (*path, key)


# A number that differs stays so whatever is printed; its pin is what must hold. The AUCs of Table 6
# are printed with fewer digits than their differences.
PINNED = [("vtab", "epp", 0), ("vtab", "epp", 1), ("vtab", "test", "wald_p"),
          ("tables_6_8", "pairs", 2, "win"), ("openml", "tournaments_of_fig_5")]  # fmt: skip
UNSEEN = {(*path, "printed") for path in PINNED}
for row in (0, 1):
    pair = ("tables_6_8", "pairs", row)
    UNSEEN |= {(*pair, "auc", 0), (*pair, "auc", 1), (*pair, "auc_difference")}
ALL = set(numbers_in(PUBLISHED))


def test_what_is_not_seen_exists() -> None:
    assert UNSEEN < ALL


@pytest.mark.parametrize(
    "path", sorted(ALL - UNSEEN, key=str), ids=lambda path: "-".join(map(str, path))
)
def test_any_wrong_number_would_be_seen(monkeypatch, data_directory: Path, path) -> None:
    wrong = copy.deepcopy(PUBLISHED)
    part = wrong
    for key in path[:-1]:
        part = part[key]
    decimals = len(part[path[-1]].partition(".")[2])
    value = float(part[path[-1]])
    part[path[-1]] = f"{value + max(2 * 10.0**-decimals, 0.15 * abs(value)):.{decimals}f}"
    monkeypatch.setattr(items_module, "load_published", lambda part: wrong)
    names = {
        "vtab": ["vtab", "epp-figure-6"],
        "tables_6_8": ["epp-tables-6-8"],
        "openml": ["epp-figure-4", "epp-figure-5"],
    }
    data = data_directory if path[0] == "vtab" else None
    assert "off" in {one.state for one in reproduce(names[path[0]], data)}


@pytest.fixture(scope="module")
def part():
    """A study of three tournaments."""
    return {"openml": PUBLISHED["openml"] | {"n_tournaments": 3}}


def test_the_study_has_the_size_of_the_papers() -> None:
    study = study_like(PUBLISHED["openml"], full_size=True)
    table = next(study.tables())
    assert table.scores.shape == (20, 2000)
    assert study.n_tournaments * table.scores.size == 1_200_000
    assert (table.scores.min(), table.tournament) == (0.5, "simulated 01")
    assert table.scores.max() < 1


def test_players_at_chance_lose_always_and_stretch_the_range(part) -> None:
    study = study_like(part["openml"])
    tables = {table.tournament: table for table in study.tables()}
    again = {table.tournament: table.data_hash() for table in study.tables()}
    assert again == {name: table.data_hash() for name, table in tables.items()}
    failing = 0
    for board in fit_study(study):
        scores = tables[board.tournament].scores
        at_chance = (scores == 0.5).all(axis=0)
        assert (scores[:, ~at_chance] > 0.5).all()
        assert all(name.startswith("glmnet_") for name in np.array(board.players)[at_chance])
        assert board.connected == (not at_chance.any())
        if at_chance.any():
            failing += 1
            assert np.ptp(board.epp[at_chance]) < 1e-9
            assert board.epp[at_chance].max() < board.epp[~at_chance].min() - 0.5
    assert failing >= 2


def test_data_of_fig_4(part) -> None:
    boards = fit_study(study_like(part["openml"]))
    table = fig_4_data(boards)
    assert len(table) == 3 * 100
    assert set(table.groupby(["tournament", "family"]).size()) == {20}
    np.testing.assert_allclose(table.groupby("tournament")["epp"].mean(), 0, atol=1e-9)
    assert list(table["epp"][:100]) == list(boards[0].epp)


def test_data_of_fig_5(part) -> None:
    study = study_like(part["openml"])
    ends = ends_of_fit(study)
    (low, _), (high, _) = ends.values()
    every = [fit_epp(table, "all-rounds", penalty=PENALTY) for table in study.tables()]
    deviances = sorted(fit.paper["standardized_deviance"] for fit in every)
    assert low.paper_standardized_deviance == pytest.approx(deviances[0])
    assert high.paper_standardized_deviance == pytest.approx(deviances[-1])
    table = fig_5_data(ends)
    for name, (board, found) in ends.items():
        rows = table[table["panel"] == name]
        bins, pairs = (rows[rows["series"] == kind] for kind in ("bin", "pair"))
        assert bins["n_pairs"].sum() == len(found.pairs_predicted) == 100 * 99 // 2
        np.testing.assert_array_equal(pairs["predicted"], found.pairs_predicted[::2])
        # the deviance from the pairs: 400 matches of each, counted twice
        p, share = found.pairs_predicted, found.pairs_observed
        missed = xlogy(share, share / p) + xlogy(1 - share, (1 - share) / (1 - p))
        standardized = (4 * 400 * missed.sum() - 100 * 98) / np.sqrt(2 * 100 * 98)
        assert standardized == pytest.approx(board.paper_standardized_deviance, rel=1e-9)


def test_data_of_fig_6(data_directory: Path) -> None:
    fit = fit_vtab(VTAB, data_directory)
    assert fit is not None
    table = fig_6_data(fit).set_index("player")
    assert table.loc["Sup-Rotation-100%", "mean_score"] == pytest.approx(90.2, abs=0.01)
    assert (table["upper"] - table["lower"] > table["upper_model"] - table["lower_model"]).all()
