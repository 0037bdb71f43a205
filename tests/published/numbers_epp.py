"""Numbers of the EPP paper (Gosiewska, Woźnica & Biecek 2022): Tables 4 to 8, Fig. 3 to 6.

VTAB needs its scores, the OpenML study the skills and deviances that the authors published; both
come from a directory. What the paper does not print, such as standard errors, is ours and pinned.
The AUCs of the OpenML study are not available: its skills cannot be fitted again.
``tests/published/test_numbers.py`` computes the pins on another route.
"""

import csv
import gzip
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.data.tournaments import ScoreTable
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
    from bayes_sota.data.tournaments import read_scores

    file = _only_file(data, part["file"])
    if file is None:
        return None
    table = read_scores(file, entry="")
    assert isinstance(table, ScoreTable)  # rows are players: neither battles nor tournaments
    return fit_epp(table)


def _only_file(data: Path, name: str) -> Path | None:
    files = sorted(path for path in data.rglob(name) if path.is_file())
    if len(files) > 1:
        raise InputError(f"{data}: one file {name} is needed, found {len(files)}")
    return files[0] if files else None


@dataclass(frozen=True, eq=False)
class OpenmlStudy:
    """Published skills and deviances of the OpenML study.

    Attributes
    ----------
    skills : dict
        EPP by data set and model, such as ``skills["1043"]["gbm_1305"]``.
    deviances : dict
        By data set, every match counted twice.
    """

    skills: dict[str, dict[str, float]] = field(repr=False)
    deviances: dict[str, float] = field(repr=False)

    def epp(self, data_set: str, player: str) -> float:
        """Skill of a model by its name in the tables, such as ``RF1155``."""
        family, number = re.findall(r"[A-Za-z]+|\d+", player)
        return self.skills[data_set][f"{'randomForest' if family == 'RF' else family}_{number}"]

    def family(self, data_set: str, family: str) -> list[float]:
        """Skills of all models of a family."""
        models = self.skills[data_set].items()
        return [epp for model, epp in models if model.partition("_")[0] == family]

    def standardized_deviance(self, data_set: str, df: float | None = None) -> float:
        """Property 3.9; default degrees of freedom ``m (m - 2)``."""
        size = df or self.df(data_set)
        return float((self.deviances[data_set] - size) / np.sqrt(2 * size))

    def df(self, data_set: str) -> float:
        """Degrees of freedom by Property 3.7."""
        m = len(self.skills[data_set])
        return float(m * (m - 2))


def read_openml_study(part: Settings, data: Path) -> OpenmlStudy | None:
    """Skills and deviances, None where one of the files is not in the directory."""
    files = [_only_file(data, part[name]) for name in ("skills", "deviances")]
    if files[0] is None or files[1] is None:
        return None
    skills: dict[str, dict[str, float]] = {}
    with gzip.open(files[0], "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            skills.setdefault(row["dataset"], {})[row["model"]] = float(row["epp"])
    with files[1].open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return OpenmlStudy(skills, {row["dataset"]: float(row["deviance"]) for row in rows})


def openml_study(settings: Settings, study: OpenmlStudy) -> Numbers:
    """Tables 6 to 8, and what Sec. 4.1 says of Fig. 4 and 5, from the published skills."""
    part = settings["openml_study"]
    complete = [d for d in study.skills if all(study.family(d, f) for f in part["families"])]
    found: Numbers = {
        "published data sets": len(study.skills),
        "tournaments": len(complete),
        "EPPs of the tournaments": sum(len(study.skills[d]) for d in complete),
        "tournaments in which all random forests are above 0": sum(
            min(study.family(d, "randomForest")) > 0 for d in complete
        ),
    }
    for data_set, players in part["tables"].items():
        found |= {f"EPP of {player}": study.epp(data_set, player) for player in players}
    for data_set, first, second in part["pairs"]:
        win = _win(study.epp(data_set, first), study.epp(data_set, second))
        found |= {f"P({first} beats {second})": win, **_cut(first, second, win)}
    return found | _madelon(part, study) | _deviances(part, study, complete)


def _madelon(part: Settings, study: OpenmlStudy) -> Numbers:
    """What Fig. 4 is said to show of one data set."""
    skills = {f: np.array(study.family(part["madelon"], f)) for f in part["families"]}
    trees = [float(np.median(skills[f])) for f in part["trees"]]
    others = [float(np.median(skills[f])) for f in part["families"] if f not in part["trees"]]
    return {
        "madelon: all random forests above 0 (1: yes)": float(skills["randomForest"].min() > 0),
        "madelon: medians of gbm, random forest and ranger above the others' (1: yes)": float(
            min(trees) > max(others)
        ),
    }


def _deviances(part: Settings, study: OpenmlStudy, complete: list[str]) -> Numbers:
    """Which data sets fit best and worst, and how many no worse than their shares of wins."""
    from scipy.special import chdtrc

    best = int(min(complete, key=study.deviances.__getitem__))
    worst = int(max(complete, key=study.deviances.__getitem__))
    own = sum(chdtrc(study.df(d), study.deviances[d]) > 0.05 for d in complete)
    first = sum(chdtrc(study.df(part["first"]), study.deviances[d]) > 0.05 for d in complete)
    return {
        "data set of the lowest deviance, by the sentence": best,
        "data set of the highest deviance, by the sentence": worst,
        "as run: data set of the best fit, by the caption": best,
        "as run: data set of the least accurate fit, by the caption": worst,
        **{
            f"standardized deviance of {name}": study.standardized_deviance(part[name])
            for name in ("wdbc", "banknote-authentication")
        },
        "tournaments that fit no worse than their own shares of wins": int(own),
        "as run, degrees of freedom of the first data set: the same": int(first),
    }


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
        "as run: the same, from the printed EPPs": _win(*part["epp"].values()),
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


def _win(first: str | float, second: str | float) -> float:
    """Win probability from two EPPs."""
    return float(1 / (1 + np.exp(float(second) - float(first))))


def _cut(first: str, second: str, probability: float) -> Numbers:
    """A win probability cut, not rounded, after two digits."""
    name = f"as run: P({first} beats {second}), cut after two digits"
    return {name: int(100 * probability) / 100}


def figure_3(settings: Settings, fit: BradleyTerryFit) -> Numbers:
    """Fig. 3: means and spreads of scores of VTAB."""
    assert isinstance(fit.data, ScoreTable)
    scores = np.asarray(fit.data.scores)
    one, other, calm = (fit.data.players.index(player) for player in settings["vtab_boxes"])
    means, spreads = np.nanmean(fit.data.scores, axis=0), scores.std(axis=0)
    names = settings["vtab_boxes"]
    return {
        f"mean score of {names[0]} minus {names[1]}": float(means[one] - means[other]),
        f"{names[1]} varies more than {names[0]} (1: yes)": float(spreads[other] > spreads[one]),
        f"{names[2]} varies less than both (1: yes)": float(
            spreads[calm] < min(spreads[one], spreads[other])
        ),
    }


def tables_4_5(settings: Settings) -> Numbers:
    """Tables 4 and 5: differences of the AUCs of two Kaggle challenges."""
    four, five = (settings["tables_4_5"][name] for name in ("Table 4", "Table 5"))
    return {
        "Table 4: AUC of the first minus the second": four[0] - four[1],
        "Table 5: AUC of the first minus the third": five[0] - five[2],
    }


def figure_6(settings: Settings, fit: BradleyTerryFit) -> Numbers:
    """Fig. 6: EPP against the mean score of VTAB, and what Sec. 4.2 reads off it."""
    assert isinstance(fit.data, ScoreTable)
    pair = settings["vtab"]["tested"]
    first, second = (fit.data.players.index(player) for player in pair)
    means = np.nanmean(fit.data.scores, axis=0)
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
    found: Numbers = {}
    for pair in settings["tables_6_8"]:
        first, second = pair["players"]
        one, other = map(float, pair["auc"])
        win = _win(*pair["epp"])
        found |= {f"P({first} beats {second})": win, **_cut(first, second, win)}
        found[f"{pair['where']}: AUC of {first} minus {second}, in size"] = abs(one - other)
    return found


def openml(settings: Settings) -> Numbers:
    """Fig. 4 and 5: numbers of AUCs, of EPPs and of data sets."""
    part = settings["openml"]
    players = part["n_families"] * part["per_family"]
    return {
        "AUCs": part["n_tournaments"] * players * part["n_rounds"],
        "EPPs": part["n_tournaments"] * players,
        "data sets, from the number of AUCs": part["n_scores"] / (part["n_rounds"] * players),
    }
