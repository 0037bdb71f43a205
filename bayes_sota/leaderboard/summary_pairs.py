"""What two boards of the same teams say, in numbers and words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import diagnose, estimand_summary, how_drawn, seed_of
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.text import (
    as_sentences,
    chance,
    counted,
    estimate,
    listed,
    plain_text,
    span,
)
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.specification import notes_on_field
from bayes_sota.leaderboard.summary_sota import rho_of
from bayes_sota.leaderboard.summary_words import CITED, about_rho, quantity_columns

MEANING = {
    "theta_sota": "skill of the best team (private population)",
    "winner_skill": "skill of the public winner (private population)",
    "winner_new_score": "public winner's score on a fresh private test set",
    "best_new_score": "best score on a fresh private test set",
    "score_shift": "private minus public score at the winner's skill",
    "residual_sd": "usual sd of a team's difference, in the model's coordinate",
    "rho": "correlation with the reference",
}
_SHOWN, _LISTED = 5, 10  # teams that are most likely the best, in the table and in the JSON


def describe_paired(tree: xr.DataTree, boards: PairedBoards, ci_prob: float = 0.95) -> Report:
    """Describe a result of ``estimate_paired``.

    Parameters
    ----------
    tree : DataTree
    boards : PairedBoards
        What it was estimated from.
    ci_prob : float
        Probability of the intervals.
    """
    content = _content(tree, boards, ci_prob)
    rows = [{"name": name, "meaning": words, **content[name]} for name, words in MEANING.items()]
    team: dict[str, Any] = {
        "team": "name",
        "public": _score("public_score"),
        "private": _score("private_score"),
    }
    likely = team | {"skill": _score("skill"), "P(best)": _chance}
    title = f"{boards.name}: {len(content['entries']):,} of {boards.n_entries:,} teams"
    tables = [
        table_of(rows, quantity_columns(ci_prob), title),
        table_of(content["best"][:_SHOWN], likely, "Most likely the best"),
    ]
    if found := content["entries"][: len(content["gained_beyond_luck"])]:
        gained = team | {
            "beyond what is expected": lambda row: f"{row['beyond_luck']['size']:+z.4f}",
            "P(beyond luck)": lambda row: chance(row["beyond_luck"]["probability"]),
        }
        title = "Gained on the public board beyond luck and selection"
        tables.append(table_of(found[:_LISTED], gained, title))
    sentences = _sentences(content)
    legend = [about_rho(content["rho"], content["model"], "differences"), *_about_luck(content)]
    frame = [[row["name"], row["mean"], *row["interval"]] for row in rows]
    return Report(
        content=content,
        make_frame=lambda: pd.DataFrame(frame, columns=["quantity", "mean", "lower", "upper"]),
        tables=tables,
        sentences=sentences,
        paragraph=[*sentences, *legend, *as_sentences(content["notes"])],
        legend=legend,
        footer=[f"method {content['method']}, model {content['model']}"],
        notes=content["notes"],
        reasons=content["diagnostics"]["reasons"],
        basis=[how_drawn(tree), SOFTWARE, CITED],
        measured="paired",
        about=tree,
    )


def _content(tree: xr.DataTree, boards: PairedBoards, ci_prob: float) -> dict[str, Any]:
    """Keys of ``--json``."""
    first, model = boards.public_winner, tree.attrs["model_name"]
    values = {name: estimand_summary(tree, name, ci_prob) for name in MEANING}
    entries = _teams(tree, (values["theta_sota"]["sd"] / values["theta_sota"]["mcse"]) ** 2)
    scores = {
        "public_score": float(boards.public[first]),
        "private_score": float(boards.private[first]),
    }
    winner = next(row for row in entries if row.items() >= scores.items())
    own = {name: winner[name] for name in ("expected_private", "p_best", "p_best_mcse")}
    # of the first so many the mean probability that luck explains them is below 1 - prob
    p = np.array([row["beyond_luck"]["probability"] for row in entries])
    false = np.cumsum(1 - p) / np.arange(1, p.size + 1)
    n_gained = int(np.sum((false <= 1 - ci_prob) & (p > 0.5)))
    likely = sorted(entries, key=lambda row: (-row["p_best"], row["name"]))
    notes = [*boards.notes, *notes_on_field(boards, model)]
    if copies := int(tree.attrs["n_copies"]):
        same = counted(copies, "team has", "teams have")
        notes.append(f"{same} the same two scores as another team, and count as one with it")
    content = {
        "method": tree.attrs["method"],
        "name": boards.name,
        "n_classifiers": boards.n_entries,
        "n_modelled": len(entries),
        "n_test": boards.n_test,
        "observed_maximum": scores["public_score"],
        **values,
        "rho": values["rho"] | rho_of(values["rho"], tree),
        "standard_errors": {
            "known": boards.noise_is_known,
            **{k: estimand_summary(tree, f"{k}_se", ci_prob) for k in ("public", "private")},
        },
        "public_winner": {
            "name": boards.names[first],
            **scores,
            **own,
            "shrinkage": scores["public_score"] - own["expected_private"],
        },
        "best": [row for row in likely[:_LISTED] if row["p_best"] > 0],
        "entries": entries,
        "gained_beyond_luck": [row["name"] for row in entries[:n_gained]],
        "prob": ci_prob,
        "model": model,
        "notes": notes,
        "diagnostics": diagnose(tree),
        "seed": seed_of(tree),
    }
    if boards.has_submissions:
        low, middle, high = dataset_of(tree, "constant_data")["submission_luck_prior"].values
        content["submission_luck"] = estimand_summary(tree, "submission_luck", ci_prob) | {
            "prior": {"median": float(middle), "interval": [float(low), float(high)]},
            "learnt": bool(tree.attrs["luck_learnt"]),
        }
    return content


def _teams(tree: xr.DataTree, draws: float) -> list[dict[str, Any]]:
    """All modelled teams, those first that gained most surely on the public board.

    Their scores, skill, P(best), of so many independent draws, and gain beyond luck.
    """
    found = xr.merge([dataset_of(tree, name) for name in ("posterior", "predictions")])
    means, best = found.drop_vars("best").mean(("chain", "draw")), found["best"].values.ravel()
    share, gain = np.bincount(best, minlength=means["skill"].size) / best.size, means["public_gain"]
    scores = dataset_of(tree, "observed_data")["score"]
    frame = pd.DataFrame(
        {
            "name": means["classifier"].values.astype(str),
            "public_score": scores.sel(board="public"),
            "private_score": scores.sel(board="private"),
            "skill": means["skill"],
            "expected_private": means["expected_private"],
            "p_best": share,
            "p_best_mcse": share_mcse(share, draws),
        }
    )
    luck = pd.DataFrame({"probability": means["unusual"].where(gain > 0, 0.0), "size": gain})
    order = luck.sort_values(["probability", "size"], ascending=False, kind="stable").index
    rows: list[Any] = frame.loc[order].to_dict("records")
    beyond = luck.loc[order].to_dict("records")
    return [row | {"beyond_luck": one} for row, one in zip(rows, beyond, strict=True)]


def _about_luck(content: dict[str, Any]) -> list[str]:
    """How lambda is known."""
    luck = content.get("submission_luck")
    if luck is None:
        return []
    known = f"set to {luck['mean']:.2f}"
    if luck["learnt"]:
        before = f"{luck['prior']['median']:.2f}, {span(luck['prior']['interval'], 2)}"
        known = f"learnt as {luck['mean']:.2f} ({span(luck['interval'], 2)}; before {before})"
    return [f"How far luck chose the submission that the public board shows (lambda) is {known}."]


def _sentences(content: dict[str, Any]) -> list[str]:
    """The best team, the public winner, and who gained beyond luck."""
    winner, prob, names = (content[k] for k in ("public_winner", "prob", "gained_beyond_luck"))
    gained = "No team gained more on the public board than luck, selection and the shift explain."
    if names:
        teams = listed([plain_text(name, 60) for name in names])
        gained = (
            f"{counted(len(names), 'team')} gained more on the public board than luck, selection "
            f"and the shift explain ({teams}): they may know public items, or have failed on "
            f"private ones; at most {1 - prob:.0%} of such findings are expected to be false."
        )
    return [
        f"The skill of the best of {content['n_classifiers']:,} teams (theta_sota), its expected "
        f"score on private items, is estimated at {estimate(content['theta_sota'], prob)}.",
        f'The public winner, "{winner["name"]}", scored {winner["public_score"]:z.4f} on the '
        f"public and {winner['private_score']:z.4f} on the private board; its skill "
        f"(winner_skill) is estimated at {estimate(content['winner_skill'], prob)}, and it is the "
        f"best of all teams with probability {_chance(winner)}.",
        gained,
    ]


def _chance(team: dict[str, Any]) -> str:
    return chance(team["p_best"], team["p_best_mcse"])


def _score(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: f"{row[name]:z.4f}"
