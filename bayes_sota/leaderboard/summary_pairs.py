"""What two boards of the same teams say, in numbers and words."""

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
    best: dict[str, Any] = {
        "team": "name",
        "public": lambda row: f"{row['public_score']:z.4f}",
        "private": lambda row: f"{row['private_score']:z.4f}",
    }
    gained = best | {
        "beyond what is expected": lambda row: f"{row['beyond_luck']['size']:+z.4f}",
        "P(beyond luck)": lambda row: chance(row["beyond_luck"]["probability"]),
    }
    best |= {"skill": lambda row: f"{row['skill']:z.4f}", "P(best)": _chance}
    title = f"{content['name']}: {content['n_modelled']:,} of {boards.n_entries:,} teams"
    tables = [
        table_of(rows, quantity_columns(ci_prob), title),
        table_of(content["best"][:_SHOWN], best, "Most likely the best"),
    ]
    if names := content["gained_beyond_luck"]:
        found = content["entries"][: len(names)][:_LISTED]
        title = "Gained on the public board beyond luck and selection"
        tables.append(table_of(found, gained, title))
    sentences = _sentences(content)
    legend = [about_rho(content["rho"], content["model"], "differences"), *_about_luck(content)]
    return Report(
        content=content,
        make_frame=lambda: pd.DataFrame(
            [[row["name"], row["mean"], *row["interval"]] for row in rows],
            columns=["quantity", "mean", "lower", "upper"],
        ),
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
    facts, first = tree.attrs, boards.public_winner
    values = {name: estimand_summary(tree, name, ci_prob) for name in MEANING}
    entries = _teams(tree, values["theta_sota"])
    likely = sorted((row for row in entries if row["p_best"] > 0), key=_by_chance)
    scores = float(boards.public[first]), float(boards.private[first])
    winner = next(row for row in entries if (row["public_score"], row["private_score"]) == scores)
    # of the first so many the mean probability that luck explains them is below 1 - prob
    entries.sort(key=_by_gain)
    chances = np.array([row["beyond_luck"]["probability"] for row in entries])
    false = np.cumsum(1 - chances) / np.arange(1, chances.size + 1)
    n_gained = int(np.sum((false <= 1 - ci_prob) & (chances > 0.5)))
    notes = [*boards.notes, *notes_on_field(boards, facts["model_name"])]
    if copies := int(facts["n_copies"]):
        notes.append(
            f"{counted(copies, 'team has', 'teams have')} the same two scores as another team, and "
            "count as one with it"
        )
    content = {
        "method": facts["method"],
        "name": boards.name,
        "n_classifiers": boards.n_entries,
        "n_modelled": len(entries),
        "skill_scale": facts["skill_scale"],
        "n_test": boards.n_test,
        "observed_maximum": float(boards.public.max()),
        **values,
        "rho": values["rho"] | rho_of(values["rho"], tree),
        "standard_errors": {
            "known": boards.noise_is_known,
            **{k: estimand_summary(tree, f"{k}_se", ci_prob) for k in ("public", "private")},
        },
        "public_winner": {
            **{name: winner[name] for name in ("expected_private", "p_best", "p_best_mcse")},
            "name": boards.names[first],
            "public_score": scores[0],
            "private_score": scores[1],
            "shrinkage": scores[0] - winner["expected_private"],
        },
        "best": likely[:_LISTED],
        "entries": entries,
        "gained_beyond_luck": [row["name"] for row in entries[:n_gained]],
        "rank_correlation": facts["rank_correlation"],
        "prob": ci_prob,
        "model": facts["model_name"],
        "notes": notes,
        "diagnostics": diagnose(tree),
        "seed": seed_of(tree),
    }
    if boards.has_submissions:
        content["submission_luck"] = _luck(tree, winner["name"], ci_prob)
    return content


def _by_chance(row: dict[str, Any]) -> tuple[float, str]:
    return -row["p_best"], row["name"]


def _by_gain(row: dict[str, Any]) -> tuple[float, float]:
    return -row["beyond_luck"]["probability"], -row["beyond_luck"]["size"]


def _teams(tree: xr.DataTree, theta_sota: dict[str, Any]) -> list[dict[str, Any]]:
    """All modelled teams, their scores, skill, P(best), and what they gained on the public board.

    As many draws count as of theta_sota.
    """
    means = xr.merge([dataset_of(tree, name) for name in ("posterior", "predictions")])
    means = means[["skill", "expected_private", "public_gain", "unusual"]].mean(("chain", "draw"))
    best = dataset_of(tree, "posterior")["best"].values.ravel()
    share = np.bincount(best, minlength=means.sizes["classifier"]) / best.size
    mcse = share_mcse(share, (theta_sota["sd"] / theta_sota["mcse"]) ** 2)
    scores = dataset_of(tree, "observed_data")["score"].transpose("classifier", "board").values
    columns = [means[name].values.tolist() for name in means]
    return [
        {
            "name": str(name),
            "public_score": public,
            "private_score": private,
            "skill": skill,
            "expected_private": expected,
            "p_best": p,
            "p_best_mcse": error,
            "beyond_luck": {"probability": unusual if gain > 0 else 0.0, "size": gain},
        }
        for name, (public, private), p, error, skill, expected, gain, unusual in zip(
            means["classifier"].values,
            scores.tolist(),
            share.tolist(),
            mcse.tolist(),
            *columns,
            strict=True,
        )
    ]


def _luck(tree: xr.DataTree, winner: str, ci_prob: float) -> dict[str, Any]:
    """Lambda before and after, and what it adds to the winner's public score."""
    constants = dataset_of(tree, "constant_data")
    summary = estimand_summary(tree, "submission_luck", ci_prob)
    low, middle, high = constants["submission_luck_prior"].values.tolist()
    own = constants[["submissions", "expected_luck"]].sel(classifier=winner)
    return {
        "mean": summary["mean"],
        "interval": summary["interval"],
        "prior": {"median": middle, "interval": [low, high]},
        "learnt": bool(tree.attrs["luck_learnt"]),
        "winner_submissions": float(own["submissions"]),
        "winner_luck": summary["mean"] * float(own["expected_luck"]),
    }


def _about_luck(content: dict[str, Any]) -> list[str]:
    """How lambda is known, and what it means."""
    luck = content.get("submission_luck")
    if luck is None:
        return []
    known, prior = f"set to {luck['mean']:.2f}", luck["prior"]
    if luck["learnt"]:
        known = (
            f"learnt as {luck['mean']:.2f} ({span(luck['interval'], 2)}; before "
            f"{prior['median']:.2f}, {span(prior['interval'], 2)})"
        )
    return [
        f"How far luck chose the submission that the public board shows (lambda) is {known}: the "
        f"public winner, with {counted(round(luck['winner_submissions']), 'submission')}, stands "
        f"{luck['winner_luck']:.1f} of its own standard errors too high there."
    ]


def _sentences(content: dict[str, Any]) -> list[str]:
    """The best team, the public winner, and who gained beyond luck."""
    winner, prob, names = (content[k] for k in ("public_winner", "prob", "gained_beyond_luck"))
    gained = (
        "No team gained more on the public board than luck, selection and the shift of all explain."
    )
    if names:
        gained = (
            f"{counted(len(names), 'team')} gained more on the public board than luck, selection "
            f"and the shift of all explain ({listed([plain_text(name, 60) for name in names])}); "
            f"at most {1 - prob:.0%} of such findings are expected to be false. They may know "
            "public items, or have failed on private ones."
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
