"""Numbers of the EPP paper (Gosiewska, Woźnica & Biecek 2022): VTAB, Tables 6 to 8, Fig. 4 to 6.

VTAB needs its scores, which come from a directory. What the paper does not print, such as standard
errors, is not verifiable by it; the values are pinned. The AUCs of its OpenML study are not
available: only win probabilities follow from what is printed.
``tests/published/test_reproduce_epp.py`` computes the pins of VTAB on another route.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, PairTest, fit_epp
from bayes_sota.published.comparison import Comparison, compare, differ, not_verifiable
from bayes_sota.published.openml_study import study_like

Published = dict[str, Any]


def find_vtab(part: Published, data: Path | None) -> Path | None:
    """File of the VTAB scores, None where it is not in the directory.

    Raises
    ------
    InputError
        No such directory, or several files of that name.
    """
    if data is None:
        return None
    if not data.is_dir():
        raise InputError(f"{data}: no such directory")
    files = sorted(path for path in data.rglob(part["file"]) if path.is_file())
    if len(files) > 1:
        raise InputError(f"{data}: one file {part['file']} is needed, found {len(files)}")
    return files[0] if files else None


def fit_vtab(part: Published, data: Path | None) -> BradleyTerryFit | None:
    """Fit of the VTAB scores, None where they are not in the directory."""
    from bayes_sota.data.read_scores import read_scores

    path = find_vtab(part, data)
    if path is None:
        return None
    table = read_scores(path, players="rows")
    assert isinstance(table, ScoreTable)  # rows are players: neither battles nor tournaments
    return fit_epp(table)


def where_to_get_vtab(part: Published) -> str:
    """How to get the VTAB scores."""
    return (
        f"needs the VTAB scores, 16 models x 19 tasks, of {part['repository']}: give the directory "
        f"of {part['file']}, --data DIRECTORY"
    )


def compare_vtab(published: Published, data: Path | None) -> list[Comparison]:
    """Sec. 4.2: skills, tests and deviance of 16 models on 19 tasks."""
    item, part = "vtab", published["vtab"]
    fit = fit_vtab(part, data)
    if fit is None:
        return [not_verifiable(item, "all numbers", where_to_get_vtab(part))]
    return [*_vtab_skills(item, part, fit), *_vtab_tests(item, part, fit), *_deviance(part, fit)]


def _vtab_skills(item: str, part: Published, fit: BradleyTerryFit) -> list[Comparison]:
    skills = dict(zip(fit.players, fit.epp, strict=True))
    where, (first, second) = part["where"], part["epp"]
    shifts = [float(one["printed"]) - skills[one["player"]] for one in (first, second)]
    note = (
        f"{where}: of a fit of the authors' code with an arbitrary gauge; about "
        f"{np.mean(shifts):.2f} above mean zero, both, which leaves differences alone"
    )
    chance = fit.win_probability(first["player"], second["player"])
    printed = float(first["printed"]) - float(second["printed"])
    return [
        *(
            differ(item, f"EPP of {one['player']}", one["printed"], skills[one["player"]],
                   one["pinned"], note)
            for one in (first, second)
        ),
        compare(item, f"P({first['player']} beats {second['player']})", part["win_probability"],
                chance, where),
        compare(item, "the same, from the printed EPPs", part["win_probability"],
                _win_probability(printed), where),
    ]  # fmt: skip


def _vtab_tests(item: str, part: Published, fit: BradleyTerryFit) -> list[Comparison]:
    where, numbers = part["where"], part["test"]
    found = fit.test(*numbers["players"])
    pair = " minus ".join(numbers["players"])
    pinned = numbers["unprinted"]
    values = {
        "difference": ("difference of EPP", found.difference),
        "se_model": ("standard error, independent matches", found.se_model),
        "wald_chi2": ("Wald chi-square, 1 df", found.wald_chi2),
        "lrt_chi2": ("likelihood-ratio chi-square, 1 df", found.lrt_chi2 or 0.0),
        "se_cluster": ("standard error, clustered by task", found.se),
    }
    return [
        *(
            _unprinted(item, f"{pair}: {name}", value, pinned[key], where)
            for key, (name, value) in values.items()
        ),
        *_p_values(item, part, found),
    ]


def _p_values(item: str, part: Published, found: PairTest) -> list[Comparison]:
    """The printed p-value beside that of every test that could be meant."""
    where, numbers = part["where"], part["test"]
    printed, pinned = numbers["wald_p"]["printed"], numbers["wald_p"]["pinned"]
    cases = {
        "wald": ("Wald test, independent matches", found.p_value_model,
                 "each match counted once, 1 df"),
        "lrt": ("likelihood-ratio test, independent matches", found.lrt_p_value or 0.0,
                "each match counted once, 1 df"),
        "cluster": ("t test clustered by task", found.p_value, "matches of a task share scores"),
        "paper": ("Wald test as in the authors' code", found.paper_wald_p_value,
                  "each match counted twice, 2 df; .65 is of another fit than the EPPs"),
    }  # fmt: skip
    return [
        differ(item, f"p-value, {name}", printed, value, pinned[key], f"{where}: {why}")
        for key, (name, value, why) in cases.items()
    ]


def _deviance(part: Published, fit: BradleyTerryFit) -> list[Comparison]:
    numbers = part["deviance"]
    paper = fit.paper
    values = {
        "deviance": ("deviance, each match once", fit.deviance),
        "df": ("its degrees of freedom, (m - 1)(m - 2) / 2", fit.deviance_df),
        "paper_deviance": ("deviance, each match twice", paper["deviance"]),
        "paper_df": ("degrees of freedom by its Property 3.7, m (m - 2)", paper["df"]),
        "paper_standardized": ("standardized deviance by its Property 3.9",
                               paper["standardized_deviance"]),
    }  # fmt: skip
    note = f"{numbers['where']}; matches of a task are not independent: it has no chi-square law"
    return [
        _unprinted("vtab", name, value, numbers["unprinted"][key], note)
        for key, (name, value) in values.items()
    ]


def _unprinted(item: str, quantity: str, computed: float, pinned: str, where: str) -> Comparison:
    """Value that follows from the scores and is not printed; off where it leaves its pin."""
    one = differ(item, quantity, "", computed, pinned, f"{where}; not printed")
    return replace(one, state="not verifiable") if one.state == "differs" else one


def compare_tables_6_8(published: Published, data: Path | None) -> list[Comparison]:
    """Tables 6 to 8: win probabilities from the printed EPPs."""
    del data
    item, part = "epp-tables-6-8", published["tables_6_8"]
    found = [_win(item, pair) for pair in part["pairs"]]
    found += [_auc_difference(item, pair) for pair in part["pairs"]]
    note = f"{part['where']}: of the OpenML study, whose AUCs are not available"
    return [*found, not_verifiable(item, "EPP and mean AUC of the models", note)]


def _win_probability(difference: float) -> float:
    return float(1 / (1 + np.exp(-difference)))


def _win(item: str, pair: Published) -> Comparison:
    """Win probability from printed EPPs; where it differs, what their rounding allows."""
    first, second = (float(epp) for epp in pair["epp"])
    quantity = f"P({pair['players'][0]} beats {pair['players'][1]})"
    value, win = _win_probability(first - second), pair["win"]
    if "pinned" not in win:
        where = f"{pair['where']}; the inverse logit, which Sec. 4.1 calls logit"
        return compare(item, quantity, win["printed"], value, where)
    ends = [_win_probability(first - second + shift) for shift in (-0.01, 0.01)]
    note = (
        f"{pair['where']}: cut, not rounded, or of EPPs with more digits: two decimals allow "
        f"{ends[0]:.4f} to {ends[1]:.4f}"
    )
    return differ(item, quantity, win["printed"], value, win["pinned"], note)


def _auc_difference(item: str, pair: Published) -> Comparison:
    quantity = f"{pair['where']}: AUC of {pair['players'][0]} minus {pair['players'][1]}"
    first, second = (float(auc) for auc in pair["auc"])
    printed, size = pair["auc_difference"], abs(first - second)
    decimals = len(pair["auc"][0].partition(".")[2])
    if len(printed.partition(".")[2]) <= decimals:
        return compare(item, f"{quantity}, in size", printed, size, f"{pair['where']}, Sec. 4.1")
    agrees = abs(size - float(printed)) <= 10.0**-decimals
    note = (
        f"Sec. 4.1 prints {printed}; the table's {decimals} decimals give {size:.{decimals}f}, "
        f"which {'agrees' if agrees else 'does not agree'} within their rounding"
    )
    return not_verifiable(item, f"{quantity}, in size", note)


def compare_fig_4(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 4: EPP of five families on 30 data sets."""
    del data
    item, part = "epp-figure-4", published["openml"]
    study, where = study_like(part, full_size=True), part["where"]
    note = (
        f"{where}, Fig. 4: boxes without printed values, of AUCs that are not available; drawn "
        "from a simulated study of the same design instead"
    )
    return [
        not_verifiable(item, "EPP of families across data sets", note),
        compare(item, "AUCs", part["n_scores"], study.n_scores, where),
        compare(item, "EPPs", part["n_skills"], study.n_skills, where),
    ]


def compare_fig_5(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 5: predicted and empirical win probabilities of two data sets."""
    del data
    item, part = "epp-figure-5", published["openml"]
    where, printed = part["where"], part["tournaments_of_fig_5"]
    cells = part["n_rounds"] * len(part["families"]) * part["per_family"]
    contradiction = (
        f"{where} gives banknote-authentication the lowest deviance and wdbc the highest, the "
        "caption calls them the least accurate and the best fit; by Property 3.8 low is good"
    )
    return [
        not_verifiable(item, "win probabilities of all pairs",
                       f"{where}, Fig. 5: dots without printed values, of AUCs that are not "
                       "available; drawn from a simulated study of the same design instead"),
        not_verifiable(item, "which data set fits best", contradiction),
        differ(item, "tournaments", printed["printed"], int(part["n_scores"]) / cells,
               printed["pinned"], f"{where}: so many data sets have the AUCs that it counts"),
        not_verifiable(item, "tournaments that fit no worse than their own shares of wins",
                       f"{where}: 12 of 33, by a chi-square law that the deviance has not, since "
                       "matches share scores"),
    ]  # fmt: skip


def compare_fig_6(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 6: EPP against the mean score of VTAB, and what Sec. 4.2 reads off it."""
    item, part = "epp-figure-6", published["vtab"]
    fit = fit_vtab(part, data)
    if fit is None:
        return [not_verifiable(item, "all dots and bars", where_to_get_vtab(part))]
    assert isinstance(fit.data, ScoreTable)
    first, second = part["test"]["players"]
    i, j = fit.data.player_index(first), fit.data.player_index(second)
    means, where = fit.data.mean_scores(), part["where"]
    reversed_ = means[i] > means[j] and fit.epp[i] < fit.epp[j]
    note, read_off = f"{where}, Fig. 6: dots and bars without printed values", part["read_off"]
    overlaps = {
        "independent matches": fit.interval(0.95, "model"),
        "clustered by task": fit.interval(0.95, "robust"),
    }
    return [
        not_verifiable(item, "EPP and mean score of all models", note),
        compare(item, f"{first} above {second} by mean, below by EPP (1: yes)",
                read_off["reversed"], float(reversed_), where),
        *(
            compare(item, f"their intervals overlap, {name} (1: yes)", read_off["overlap"],
                    _overlap(ends[[i, j]]), where)
            for name, ends in overlaps.items()
        ),
    ]  # fmt: skip


def _overlap(ends: FloatArray) -> float:
    return float(ends[:, 0].max() <= ends[:, 1].min())
