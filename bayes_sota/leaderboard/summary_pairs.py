"""Report of two boards of the same teams, in numbers and words."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core import text
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import diagnose, estimand_summary, how_drawn, seed_of
from bayes_sota.core.tables import SOFTWARE, Report, rows_of, table_of
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard import summary_words as words
from bayes_sota.leaderboard.specification import notes_on_field

MEANING = {
    "theta_sota": "skill of the best team (private population)",
    "winner_skill": "skill of the public winner (private population)",
    "winner_new_score": "public winner's score on a fresh private test set",
    "best_new_score": "best score on a fresh private test set",
    "score_shift": "shift at the public winner: private minus public score",
    "residual_sd": "sd of a team's private minus public score beyond the shift",
    "rho": "how much of their error teams share on the same items",
}
_SHOWN, _LISTED = 5, 10  # teams that are most likely the best, in the table and in the JSON
_TERMS = (
    "The shift is the difference between the boards that all teams share: their items differ, and "
    "teams may have overfitted the public ones. What else separates the two scores of a team "
    "(residual_sd{}) is noise of the finite test sets, and luck or leaks beyond it."
)


def describe_paired(tree: xr.DataTree, boards: PairedBoards, ci_prob: float = 0.95) -> Report:
    """Describe a result of ``estimate_paired``, of these boards."""
    content = _content(tree, boards, ci_prob)
    team: dict[str, Any] = {
        "team": "name",
        "public": lambda row: f"{row['public_score']:z.4f}",
        "private": lambda row: f"{row['private_score']:z.4f}",
    }
    likely = {
        "skill": lambda row: f"{row['skill']:z.4f}",
        "P(best)": lambda row: text.chance(row["p_best"], row["p_best_mcse"]),
    }
    gained = {
        "beyond what is expected": lambda row: f"{row['beyond_luck']['size']:+z.4f}",
        "P(beyond luck)": lambda row: text.chance(row["beyond_luck"]["probability"]),
    }
    found = content["entries"][: len(content["gained_beyond_luck"])][:_LISTED]
    title = f"{boards.name}: {len(content['entries']):,} of {boards.n_entries:,} teams"
    tables = [
        words.quantity_table(content, MEANING, ci_prob, title),
        table_of(content["best"][:_SHOWN], team | likely, "Most likely the best"),
        table_of(found, team | gained, "Gained on the public board beyond luck and selection"),
    ]
    frame = [[name, content[name]["mean"], *content[name]["interval"]] for name in MEANING]
    return words.report_of(
        content,
        sentences=_sentences(content),
        legend=_legend(content),
        make_frame=partial(pd.DataFrame, frame, columns=["quantity", "mean", "lower", "upper"]),
        tables=tables if found else tables[:2],
        footer=[f"method {content['method']}, model {content['model']}"],
        basis=[how_drawn(tree), SOFTWARE, words.CITED],
        measured="paired",
        about=tree,
    )


def _content(tree: xr.DataTree, boards: PairedBoards, ci_prob: float) -> dict[str, Any]:
    first, model = boards.public_winner, tree.attrs["model_name"]
    summary = partial(estimand_summary, tree, ci_prob=ci_prob)
    values = {name: summary(name) for name in MEANING}
    values["rho"]["learnt"] = bool(tree.attrs["rho_learnt"])
    if boards.has_submissions:
        constants = dataset_of(tree, "constant_data")
        low, middle, high = constants["submission_luck_prior"].values.tolist()
        before = {"prior": {"median": middle, "interval": [low, high]}}
        learnt = {"learnt": bool(tree.attrs["luck_learnt"])}
        values["submission_luck"] = summary("submission_luck") | before | learnt
    entries = _teams(tree, (values["theta_sota"]["sd"] / values["theta_sota"]["mcse"]) ** 2)
    scores = {f"{which}_score": float(getattr(boards, which)[first]) for which in BOARDS}
    winner = next(row for row in entries if row.items() >= scores.items())
    beyond = {"shrinkage": scores["public_score"] - winner["expected_private"]}
    errors = {which: summary(f"{which}_se") for which in BOARDS}
    # of the first so many the mean probability that luck explains them is below 1 - prob
    p = np.array([row["beyond_luck"]["probability"] for row in entries])
    false = np.cumsum(1 - p) / np.arange(1, p.size + 1)
    n_gained = int(np.sum((false <= 1 - ci_prob) & (p > 0.5)))
    likely = sorted(entries, key=lambda row: (-row["p_best"], row["name"]))
    notes = [*boards.notes, *notes_on_field(boards, model)]
    notes += filter(None, tree.attrs["notes"].split("; "))
    if copies := int(tree.attrs["n_copies"]):
        same = text.counted(copies, "team has", "teams have")
        notes.append(f"{same} the same two scores as another team, and count as one with it")
    return {
        "method": tree.attrs["method"],
        "name": boards.name,
        "n_classifiers": boards.n_entries,
        "n_modelled": len(entries),
        "n_test": boards.n_test,
        "observed_maximum": scores["public_score"],
        **values,
        "standard_errors": {"known": boards.noise_is_known} | errors,
        "public_winner": winner | beyond | {"name": boards.names[first]},
        "best": [row for row in likely[:_LISTED] if row["p_best"] > 0],
        "entries": entries,
        "gained_beyond_luck": [row["name"] for row in entries[:n_gained]],
        "prob": ci_prob,
        "model": model,
        "notes": notes,
        "diagnostics": diagnose(tree),
        "seed": seed_of(tree),
    }


def _teams(tree: xr.DataTree, draws: float) -> list[dict[str, Any]]:
    """All modelled teams, first those whose gain on the public board is most surely beyond luck."""
    found = xr.merge([dataset_of(tree, name) for name in ("posterior", "predictions")])
    of_team = found[["skill", "expected_private", "unusual", "public_gain"]]
    frame = of_team.mean(("chain", "draw")).to_dataframe().rename_axis("name").reset_index()
    public, private = dataset_of(tree, "observed_data")["score"].values.T
    frame = frame.assign(public_score=public, private_score=private)
    best = found["best"].values.ravel()
    frame["p_best"] = np.bincount(best, minlength=len(frame)) / best.size
    frame["p_best_mcse"] = share_mcse(frame["p_best"].to_numpy(), draws)
    frame["unusual"] = frame["unusual"].where(frame["public_gain"] > 0, 0.0)
    frame = frame.sort_values(["unusual", "public_gain"], ascending=False, kind="stable")
    teams = rows_of(frame)
    for team in teams:
        size = team.pop("public_gain")
        team["beyond_luck"] = {"probability": team.pop("unusual"), "size": size}
    return teams


def _legend(content: dict[str, Any]) -> list[str]:
    of_rho = words.about_rho(content["rho"], "differences")
    known = [_TERMS.format(", on the arcsine scale" * (content["n_test"] is not None)), of_rho]
    if luck := content.get("submission_luck"):
        value, ends = f"{luck['mean']:.2f}", text.span(luck["interval"], 2)
        learnt = f"learnt as {value} ({ends})" if luck["learnt"] else f"set to {value}"
        chosen = "how much chance decided which submission the public board shows"
        known.append(f"Lambda, {chosen}, is {learnt}.")
    return known


def _sentences(content: dict[str, Any]) -> list[str]:
    winner, prob, names = (content[k] for k in ("public_winner", "prob", "gained_beyond_luck"))
    modelled = f"No team (of {content['n_modelled']:,} modelled)"
    gained = f"{modelled} gained more on the public board than luck, selection and shift explain."
    if names:
        teams = text.listed([text.plain_text(name, 60) for name in names])
        gained = (
            f"{text.counted(len(names), 'team')} gained more on the public board than luck, "
            f"selection and the shift explain ({teams}): they may know public items, or have "
            f"failed on private ones; at most {1 - prob:.0%} of such findings are expected to be "
            "false."
        )
    return [
        f"The skill of the best of {content['n_classifiers']:,} teams (theta_sota), its expected "
        f"score on private items, is estimated at {text.estimate(content['theta_sota'], prob)}.",
        f'The public winner, "{winner["name"]}", scored {winner["public_score"]:z.4f} on the '
        f"public and {winner['private_score']:z.4f} on the private board; its skill "
        f"(winner_skill) is estimated at {text.estimate(content['winner_skill'], prob)}, and it is "
        f"the best of all teams with probability {text.in_prose(winner['p_best'])}.",
        gained,
    ]
