"""Numbers of the EPP paper (Gosiewska, Woźnica & Biecek 2022): VTAB, Tables 6 to 8, Fig. 4 to 6.

VTAB needs its scores, which come from a directory. What the paper does not print, such as standard
errors, is not verifiable by it; the values are pinned. The AUCs of its OpenML study are not
available: only win probabilities follow from what is printed.
``tests/published/test_numbers.py`` computes the pins of VTAB on another route.
"""

from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp

Settings = dict[str, Any]
Numbers = dict[str, Any]


def fit_vtab(part: Settings, data: Path) -> BradleyTerryFit | None:
    """Fit of the VTAB scores, None where they are not in the directory.

    Raises
    ------
    InputError
        Several files of that name.
    """
    from bayes_sota.data.read_scores import read_scores

    files = sorted(path for path in data.rglob(part["file"]) if path.is_file())
    if len(files) > 1:
        raise InputError(f"{data}: one file {part['file']} is needed, found {len(files)}")
    if not files:
        return None
    table = read_scores(files[0], players="rows")
    assert isinstance(table, ScoreTable)  # rows are players: neither battles nor tournaments
    return fit_epp(table)


def vtab(settings: Settings, fit: BradleyTerryFit) -> Numbers:
    """Sec. 4.2: skills, tests and deviance of 16 models on 19 tasks."""
    part, paper = settings["vtab"], fit.paper
    skills = dict(zip(fit.players, fit.epp, strict=True))
    first, second = part["epp"]
    one, other = part["tested"]
    found, pair = fit.test(one, other), f"{one} minus {other}"
    return {
        **{f"EPP of {player}": skills[player] for player in part["epp"]},
        f"P({first} beats {second})": fit.win_probability(first, second),
        "the same, from the printed EPPs": _win(*part["epp"].values()),
        f"{pair}: difference of EPP": found.difference,
        f"{pair}: standard error, independent matches": found.se_model,
        f"{pair}: Wald chi-square, 1 df": found.wald_chi2,
        f"{pair}: likelihood-ratio chi-square, 1 df": found.lrt_chi2,
        f"{pair}: standard error, clustered by task": found.se,
        "p-value, Wald test, independent matches": found.p_value_model,
        "p-value, likelihood-ratio test, independent matches": found.lrt_p_value,
        "p-value, t test clustered by task": found.p_value,
        "p-value, Wald test as in the authors' code": found.paper_wald_p_value,
        "deviance, each match once": fit.deviance,
        "its degrees of freedom, (m - 1)(m - 2) / 2": fit.deviance_df,
        "deviance, each match twice": paper["deviance"],
        "degrees of freedom by its Property 3.7, m (m - 2)": paper["df"],
        "standardized deviance by its Property 3.9": paper["standardized_deviance"],
    }


def _win(first: str, second: str) -> float:
    """Win probability from two printed EPPs."""
    return float(1 / (1 + np.exp(float(second) - float(first))))


def figure_6(settings: Settings, fit: BradleyTerryFit) -> Numbers:
    """Fig. 6: EPP against the mean score of VTAB, and what Sec. 4.2 reads off it."""
    assert isinstance(fit.data, ScoreTable)
    pair = settings["vtab"]["tested"]
    first, second = (fit.data.player_index(player) for player in pair)
    means = fit.data.mean_scores()
    found = {
        f"{pair[0]} above {pair[1]} by mean, below by EPP (1: yes)": float(
            means[first] > means[second] and fit.epp[first] < fit.epp[second]
        )
    }
    intervals = {
        "independent matches": fit.interval(0.95, "model"),
        "clustered by task": fit.interval(0.95, "robust"),
    }
    for name, ends in intervals.items():
        low, high = ends[[first, second]].T
        found[f"their intervals overlap, {name} (1: yes)"] = float(low.max() <= high.min())
    return found


def tables_6_8(settings: Settings) -> Numbers:
    """Tables 6 to 8: win probabilities from the printed EPPs, and differences of AUC."""
    found = {}
    for pair in settings["tables_6_8"]:
        first, second = pair["players"]
        one, other = map(float, pair["auc"])
        found[f"P({first} beats {second})"] = _win(*pair["epp"])
        found[f"{pair['where']}: AUC of {first} minus {second}, in size"] = abs(one - other)
    return found


def openml(settings: Settings) -> Numbers:
    """Fig. 4 and 5: numbers of AUCs, of EPPs and of data sets."""
    part = settings["openml"]
    players = part["n_families"] * part["per_family"]
    return {
        "AUCs": part["n_tournaments"] * players * part["n_rounds"],
        "EPPs": part["n_tournaments"] * players,
        "tournaments": part["n_scores"] / (part["n_rounds"] * players),
    }
