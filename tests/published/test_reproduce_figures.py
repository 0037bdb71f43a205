"""Figures of the sample maximum are what their equations say, and are saved whole or not at all."""

import numpy as np
import pytest
from scipy.special import betaincc

from bayes_sota.core.errors import InputError
from bayes_sota.maximum.dependence import feasible_skills
from bayes_sota.maximum.law import maximum_law
from bayes_sota.published import (
    figure_names,
    item_names,
    reproduce,
    reproduce_figure,
)
from bayes_sota.published.plots import undrawable_names
from bayes_sota.published.published_numbers import load_published
from bayes_sota.published.summary_maximum import (
    figure_2_data,
    figure_3_data,
    figure_4_data,
    figure_5_data,
    figure_6_data,
)

PUBLISHED = load_published("sample_maximum")


def values(item):
    return {one.quantity: one for one in reproduce([item])}


def test_every_figure_is_an_item_and_drawn():
    assert set(figure_names()) <= set(item_names())
    figures = {name for name in item_names() if name.startswith("figure")}
    assert figures == set(figure_names())


def test_figure_2_is_the_closed_form():
    data = figure_2_data(PUBLISHED)
    count = data["count"].to_numpy()
    closed = betaincc(count + 1.0, 3000.0 - count, 0.9) ** 1000
    np.testing.assert_allclose(data["cdf"], closed, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.diff(data["cdf"]), data["pmf"][1:], atol=1e-12)
    assert data["cdf"].iloc[0] < 1e-9
    assert data["cdf"].iloc[-1] > 0.9999


def test_figure_3_shows_what_is_reported():
    marks = figure_3_data(PUBLISHED).set_index("quantity")["value"]
    found = values("figure-3")
    assert marks["expected_maximum"] == found["expected maximum"].computed
    assert marks["p_beats_expected"] == found["P(new one beats the expected maximum)"].computed
    printed = {  # in the first version, Sec. 3.4 and Fig. 1
        "interval_low": 0.8887, "interval_high": 0.9105, "upper_limit": 0.9213,
        "p_exceeds_upper": 0.0161,
    }  # fmt: skip
    assert marks[list(printed)].round(4).to_dict() == printed
    curves = figure_3_data(PUBLISHED).query("quantity == 'pmf'").groupby("skill")["value"].sum()
    np.testing.assert_allclose(curves, 1, atol=1e-4)


def test_figure_4_passes_through_table_3():
    data = figure_4_data(PUBLISHED)
    assert set(data["varied"]) == {"n_classifiers", "n_test", "skill"}
    defaults = {"n_classifiers": 1000, "n_test": 3000, "skill": 0.9}
    table = values("table-3")
    for row in PUBLISHED["table3"]["rows"][1:]:
        varied = next(name for name in defaults if row[name] != defaults[name])
        here = data[(data["varied"] == varied) & (data["value"] == row[varied])]
        here = here[here["offset"] == here["offset_of"].map(defaults)]
        label = f"m={row['n_classifiers']}, n={row['n_test']}, theta={row['skill']:g}"
        assert here["bias"].item() + row["skill"] == pytest.approx(
            table[f"{label}: expected maximum"].computed, abs=1e-12
        )
        assert here["sd"].item() == table[f"{label}: standard deviation"].computed


@pytest.fixture(scope="module")
def figure_5():
    return figure_5_data(PUBLISHED)


def test_figure_5_passes_through_table_1_and_stops_at_equation_8(figure_5):
    data = figure_5
    table = values("table-1")
    for panel, width, rho, row in (
        ("width", 0.0, 0.0, "3.4"), ("width", 0.025, 0.0, "4.1"),
        ("correlation", 0.0, 0.6, "4.2"), ("correlation", 0.025, 0.6, "4.3"),
    ):  # fmt: skip
        here = data[(data["panel"] == panel) & (data["width"] == width)]
        here = here[here["correlation"] == rho]
        expected = table[f"Sec. {row}: expected maximum"].computed
        assert here["bias"].item() + 0.9 == pytest.approx(expected, abs=1e-12)
        assert here["sd"].item() == table[f"Sec. {row}: standard deviation"].computed
    for width, curve in data[data["panel"] == "correlation"].groupby("width"):
        low, high = feasible_skills(curve["correlation"].max(), 0.9)
        top = 0.9 + width / 1001
        assert min(top - width - low, high - top) == pytest.approx(0, abs=1e-9)
        assert np.all(np.diff(curve.sort_values("correlation")["bias"]) < 1e-9)


def test_the_identical_end_of_figure_5_is_one_classifier(figure_5):
    red = figure_5[(figure_5["panel"] == "correlation") & (figure_5["width"] == 0)]
    end = red.iloc[-1]
    assert end["correlation"] == 1
    assert end["bias"] == pytest.approx(0, abs=1e-9)
    assert end["sd"] == pytest.approx(maximum_law(n_test=3000, n_classifiers=1, skill=0.9).std())


@pytest.mark.parametrize("name", sorted(set(figure_names()) - set(undrawable_names())))
def test_figures_are_saved_with_their_data_and_nothing_else(tmp_path, name):
    import pandas as pd

    folder = tmp_path / "new" / "folder"
    paths = reproduce_figure(name, folder)
    assert paths == [folder / f"{name}.png", folder / f"{name}.csv"]
    assert sorted(folder.iterdir()) == sorted(paths)
    image = paths[0].read_bytes()
    assert image.startswith(b"\x89PNG")
    assert len(image) > 20_000
    assert len(pd.read_csv(paths[1])) > 50


def test_the_same_figure_twice_is_the_same_file(tmp_path):
    first, second = (reproduce_figure("figure-2", tmp_path / name) for name in "ab")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_an_unknown_figure_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="figure-2, figure-3, figure-4, figure-5"):
        reproduce_figure("figure-1", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    image, _ = reproduce_figure("figure-2", tmp_path)
    before = image.read_bytes()

    def fail(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("bayes_sota.published.plots.os.replace", fail)
    with pytest.raises(InputError, match=r"cannot write .*: disk full"):
        reproduce_figure("figure-2", tmp_path)
    assert image.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure-2.csv", "figure-2.png"]


def test_figure_6_is_the_field_of_table_1():
    data = figure_6_data(PUBLISHED)
    high = 0.9 + 0.025 / 1001
    skills = np.linspace(high - 0.025, high, 20_001)
    count = data["count"].to_numpy()[::6]
    cell = betaincc(count[:, None] + 1.0, 3000.0 - count[:, None], (skills[1:] + skills[:-1]) / 2)
    np.testing.assert_allclose(data["cdf"][::6], cell.mean(axis=1) ** 1000, atol=2e-7)
    mean = float((data["score"] * data["pmf"]).sum() / data["pmf"].sum())
    assert mean == pytest.approx(values("table-1")["Sec. 4.1: expected maximum"].computed, abs=1e-6)
