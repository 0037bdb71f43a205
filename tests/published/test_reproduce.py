"""Published numbers come out, and a wrong one would be seen."""

import copy
import json
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.published import (
    Comparison,
    comparisons_to_frame,
    item_names,
    reproduce,
)
from bayes_sota.published import items as items_module
from bayes_sota.published.comparison import compare, differ, not_verifiable
from bayes_sota.published.published_numbers import load_published

PUBLISHED = load_published("sample_maximum")


@pytest.fixture(scope="module")
def everything():
    return reproduce()


def values(comparisons, item):
    return {one.quantity: one for one in comparisons if one.item == item}


def test_nothing_is_off(everything):
    assert [one for one in everything if one.state == "off"] == []


def test_what_differs_is_known(everything):
    differing = {(one.item, one.quantity) for one in everything if one.state == "differs"}
    assert differing == {
        ("mania", "pairwise correlation"),
        ("mania", "correlation"),
        ("auc", "expected"),
        ("auc", "lower limit"),
        ("figure-10", "expected"),
        ("figure-10", "lower limit"),
        ("figure-11", "highest expected best AUC"),
        ("epp-tables-6-8", "P(gbm1184 beats ranger1106)"),
        ("epp-figure-5", "tournaments"),
    }
    assert all(one.note for one in everything)


def test_only_curves_and_boards_that_are_not_at_hand_are_not_verifiable(everything):
    unverified = {one.item for one in everything if one.state == "not verifiable"}
    curves = {f"figure-{number}" for number in (2, 4, 5, 6, 10)}
    boards = {"table-2", "table-4", "cassava", "figure-8", "figure-9"}
    epp = {"vtab", "epp-tables-6-8", "epp-figure-4", "epp-figure-5", "epp-figure-6"}
    assert unverified == curves | boards | epp | {"melanoma", "figure-11"}


def test_every_table_and_figure_with_something_to_compute_is_an_item():
    tables = {f"table-{number}" for number in (1, 2, 3, 4)}
    figures = {f"figure-{number}" for number in (2, 3, 4, 5, 6, 8, 9, 10, 11)}
    assert tables | figures <= set(item_names())


def test_every_item_is_there_and_can_be_asked_for_alone(everything):
    assert list(dict.fromkeys(one.item for one in everything)) == item_names()
    assert reproduce(["mania"]) == [one for one in everything if one.item == "mania"]
    assert {one.item for one in reproduce(["table-3", "coin-flip"])} == {"table-3", "coin-flip"}


def test_an_unknown_item_is_refused_with_the_names_that_exist():
    with pytest.raises(InputError, match="table-1"):
        reproduce(["table-7"])


def printed_leaves(part, path=()):
    """Paths of all printed numbers: strings that are numbers."""
    pairs = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in pairs:
        if isinstance(value, dict | list):
            yield from printed_leaves(value, (*path, key))
        elif isinstance(value, str) and value.replace(".", "", 1).isdigit() and key != "section":
            yield (*path, key)


def tampered(published, path):
    """The same numbers but one, which moves by a hundredth of itself, two last digits at least."""
    wrong = copy.deepcopy(published)
    part = wrong
    for key in path[:-1]:
        part = part[key]
    text = part[path[-1]]
    decimals = len(text.partition(".")[2])
    value = float(text) + max(2 * 10.0**-decimals, 0.15 * float(text))
    part[path[-1]] = f"{value:.{decimals}f}"
    return wrong


# A number that differs stays so whatever is printed; its pin is what must hold.
LEAVES = [
    path for path in printed_leaves(PUBLISHED)
    if not (path[-1] == "printed" and path[1] in ("pairwise_correlation", "correlation"))
]  # fmt: skip


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: "-".join(map(str, path)))
def test_any_wrong_number_would_be_seen(monkeypatch, path):
    names = {
        "coin_flip": ["coin-flip"], "table1": ["table-1"], "table3": ["table-3"],
        "mania": ["mania"], "fixed_reference": ["fixed-reference"],
        "figure3": ["figure-3"],
    }[path[0]]  # fmt: skip
    wrong = tampered(PUBLISHED, path)
    monkeypatch.setattr(items_module, "load_published", lambda part: wrong)
    states = [one.state for one in reproduce(names)]
    assert states.count("off") >= 1


def test_a_shifted_law_would_be_seen(monkeypatch):
    """Table 1 at correlation 0.5 instead of 0.6 is outside every tolerance that it should be."""
    wrong = copy.deepcopy(PUBLISHED)
    wrong["table1"]["correlation"] = 0.5
    monkeypatch.setattr(items_module, "load_published", lambda part: wrong)
    off = {one.quantity for one in reproduce(["table-1"]) if one.state == "off"}
    assert {"Sec. 4.2: expected maximum", "Sec. 4.3: expected maximum"} <= off


def test_tolerances_of_simulated_rows_follow_from_the_stated_repetitions(everything):
    table = values(everything, "table-1")
    for row, size in (("4.1", 1_000), ("4.2", 100_000), ("4.3", 1_000)):
        sd = table[f"Sec. {row}: standard deviation"].computed
        expected = table[f"Sec. {row}: expected maximum"].tolerance
        assert expected == pytest.approx(5e-5 + 3 * sd / np.sqrt(size))
        spread = table[f"Sec. {row}: standard deviation"].tolerance
        assert spread == pytest.approx(5e-5 + 3 * sd / np.sqrt(2 * size))
        assert table[f"Sec. {row}: upper 95% limit"].tolerance == 5e-5
    assert all(table[f"Sec. 3.4: {q}"].tolerance == 5e-5 for q in ("expected maximum",))


def test_what_has_a_closed_form_rounds_to_the_printed_digits(everything):
    for one in everything:
        exact = ("table-3", "coin-flip", "figure-3")
        if one.item in exact and one.state == "reproduced":
            decimals = len(one.published.partition(".")[2])
            assert f"{one.computed:.{decimals}f}" == one.published, one.quantity


def test_mania_by_hand(everything):
    mania = values(everything, "mania")
    rho = (0.85 - 0.244**2 - 0.756**2) / (2 * 0.244 * 0.756)
    assert mania["pairwise correlation"].computed == pytest.approx(rho, abs=1e-15)
    assert mania["correlation"].computed == pytest.approx(np.sqrt(rho), abs=1e-15)
    assert "similarity 0.764" in mania["pairwise correlation"].note


def test_a_fixed_reference_against_simulation():
    """Two independent binomial parts, 2,700 and 300 items, as Sec. 4.2 describes it."""
    rng = np.random.default_rng(2303)
    repetitions = 4_000
    best = np.array([
        (rng.binomial(2700, 0.96, 1000) + rng.binomial(300, 0.36, 1000)).max()
        for _ in range(repetitions)
    ])  # fmt: skip
    found = values(reproduce(["fixed-reference"]), "fixed-reference")
    sd = found["sd, fixed reference"].computed
    assert best.std() / 3000 == pytest.approx(sd, rel=4.5 / np.sqrt(2 * repetitions))
    mean = found["expected maximum, fixed reference"].computed
    assert best.mean() / 3000 == pytest.approx(mean, abs=4.5 * sd / np.sqrt(repetitions))


@pytest.mark.parametrize(
    ("published", "computed", "error", "state"),
    [
        ("0.9129", 0.91294, 0.0, "reproduced"),
        ("0.9129", 0.91296, 0.0, "off"),
        ("0.9129", 0.91296, 1e-5, "reproduced"),
        ("0.9129", 0.91299, 1e-5, "off"),
        ("0.9140", 0.914, 0.0, "reproduced"),
        ("0.9140", 0.9141, 0.0, "off"),
        ("248", 248, 0.0, "reproduced"),
        ("248", 249, 0.0, "off"),
        ("0.9140", float("nan"), 1.0, "off"),
    ],
)
def test_states_of_a_comparison(published, computed, error, state):
    one = compare("item", "quantity", published, computed, "note", error)
    assert one.state == state
    assert ("other last digit" in one.note) == (published == "0.9129" and error > 0
                                                and state == "reproduced")  # fmt: skip


def test_a_difference_is_pinned():
    assert differ("item", "rho", "0.6", 0.7703, "0.77", "why").state == "differs"
    assert differ("item", "rho", "0.6", 0.7803, "0.77", "why").state == "off"
    assert differ("item", "rho", "0.6", 0.6, "0.77", "why").state == "off"
    one = not_verifiable("item", "curve", "why")
    assert (one.state, one.published, one.computed) == ("not verifiable", "", None)


def test_comparisons_become_a_table(everything):
    frame = comparisons_to_frame(everything)
    assert list(frame.columns) == list(Comparison.__dataclass_fields__)
    assert len(frame) == len(everything)
    assert comparisons_to_frame([]).columns[0] == "item"


def test_published_numbers_are_package_data_with_sources():
    whole = json.loads(
        files("bayes_sota.published").joinpath("published.json").read_text(encoding="utf-8")
    )
    assert "2303.07272" in whole["sample_maximum"]["source"]
    parts = whole["sample_maximum"]
    assert all("where" in part for part in parts.values() if isinstance(part, dict))
    load_published("sample_maximum")["table1"].clear()
    assert load_published("sample_maximum")["table1"]


def test_pyplot_is_not_touched_and_heavy_imports_wait():
    code = (
        "import sys, tempfile\n"
        "from bayes_sota.published import reproduce, reproduce_figure\n"
        "early = [n for n in ('pandas', 'matplotlib', 'scipy') if n in sys.modules]\n"
        "reproduce(['table-3'])\n"
        "early += [n for n in ('pandas', 'matplotlib') if n in sys.modules]\n"
        "reproduce_figure('figure-2', tempfile.mkdtemp())\n"
        "print(early, 'matplotlib.pyplot' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"
