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
    found = content["entries"][: len(content["gained_beyond_luck"])]
    columns: dict[str, Any] = {
        "team": "name",
        "public": lambda row: f"{row['public_score']:z.4f}",
        "private": lambda row: f"{row['private_score']:z.4f}",
    }
    best = columns | {"skill": lambda row: f"{row['skill']:z.4f}", "P(best)": _chance}
    gained = columns | {
        "beyond what is expected": lambda row: f"{row['beyond_luck']['size']:+z.4f}",
        "P(beyond luck)": lambda row: chance(row["beyond_luck"]["probability"]),
    }
    teams = f"{content['n_modelled']:,} of {content['n_classifiers']:,} teams"
    pairs = f"{content['n_distinct']:,} different pairs of scores"
    tables = [
        table_of(rows, quantity_columns(ci_prob), f"{content['name']}: {teams}, {pairs}"),
        table_of(content["best"][:_SHOWN], best, "Most likely the best"),
    ]
    if found:
        title = "Gained on the public board beyond luck and selection"
        tables.append(table_of(found[:_LISTED], gained, title))
    known = "given" if content["standard_errors"]["known"] else "learnt from the differences"
    sentences = _sentences(content)
    shared = [
        f"The rank correlation of the boards is {content['rank_correlation']:z.3f}.",
        *_about_luck(content),
    ]
    return Report(
        content=content,
        make_frame=lambda: pd.DataFrame(
            [[row["name"], row["mean"], *row["interval"]] for row in rows],
            columns=["quantity", "mean", "lower", "upper"],
        ),
        tables=tables,
        sentences=sentences,
        paragraph=[
            *sentences,
            f"The model is about {content['n_modelled']:,} of the teams, those that stand high on "
            f"either board. The standard errors of the scores are {known}.",
            *shared,
            about_rho(content["rho"], content["model"]),
            *as_sentences(content["notes"]),
        ],
        legend=shared,
        footer=[
            f"rho is {'' if content['rho']['learnt'] else 'not '}learnt from the differences.",
            f"method {content['method']}",
        ],
        notes=content["notes"],
        reasons=content["diagnostics"]["reasons"],
        basis=[how_drawn(tree), SOFTWARE, CITED],
        measured="paired",
        about=tree,
    )


def _content(tree: xr.DataTree, boards: PairedBoards, ci_prob: float) -> dict[str, Any]:
    """Keys of ``--json``."""
    facts, index = tree.attrs, boards.public_winner
    values = {name: estimand_summary(tree, name, ci_prob) for name in MEANING}
    public, private = (estimand_summary(tree, f"{k}_se", ci_prob) for k in ("public", "private"))
    teams = _teams(tree, values["theta_sota"])
    likely = teams[teams["p_best"] > 0].sort_values(["p_best", "name"], ascending=[False, True])
    winner = teams.set_index("name").loc[boards.names[index]]
    expected = dataset_of(tree, "posterior")["expected_private"].sel(classifier=boards.names[index])
    plain = [name for name in teams if name not in ("probability", "size")]
    # of the first so many the mean probability that luck explains them is below 1 - prob
    teams = teams.sort_values(["probability", "size"], ascending=False)
    false = (1 - teams["probability"]).expanding().mean()
    gained = teams["name"][(false <= 1 - ci_prob) & (teams["probability"] > 0.5)]
    luck = teams[["probability", "size"]].to_dict("records")
    rows = teams[plain].to_dict("records")
    content = {
        "method": facts["method"],
        "name": boards.name,
        "n_classifiers": boards.n_entries,
        "n_modelled": int(facts["n_kept"]),
        "n_distinct": int(facts["n_distinct"]),
        "skill_scale": facts["skill_scale"],
        "n_test": boards.n_test,
        "observed_maximum": float(boards.public.max()),
        **values,
        "rho": values["rho"] | rho_of(values["rho"], tree),
        "standard_errors": {
            "public": public,
            "private": private,
            "known": bool(facts["noise_known"]),
        },
        "public_winner": {
            "name": boards.names[index],
            "public_score": float(boards.public[index]),
            "private_score": float(boards.private[index]),
            "expected_private": float(expected.mean()),
            "shrinkage": float(boards.public[index] - expected.mean()),
            "p_best": float(winner["p_best"]),
            "p_best_mcse": float(winner["p_best_mcse"]),
        },
        "best": likely[plain].head(_LISTED).to_dict("records"),
        "entries": [row | {"beyond_luck": one} for row, one in zip(rows, luck, strict=True)],
        "gained_beyond_luck": gained.tolist(),
        "rank_correlation": facts["rank_correlation"],
        "prob": ci_prob,
        "model": facts["model_name"],
        "notes": [*boards.notes, *notes_on_field(boards, facts["model_name"])],
        "diagnostics": diagnose(tree),
        "seed": seed_of(tree),
    }
    if boards.has_submissions:
        content["submission_luck"] = _luck(tree, boards, ci_prob)
    return content


def _teams(tree: xr.DataTree, theta_sota: dict[str, Any]) -> pd.DataFrame:
    """All modelled teams, their scores, skill, P(best), and what they gained on the public board.

    Teams with equal pairs of scores divide the probability of theirs; as many draws count as of
    theta_sota.
    """
    posterior, gains = dataset_of(tree, "posterior"), dataset_of(tree, "predictions")
    group = dataset_of(tree, "constant_data")["group"].values
    scores = dataset_of(tree, "observed_data")["score"].transpose("classifier", "board").values
    skill, size, unusual = (
        np.ascontiguousarray(data.transpose("classifier", ...)).mean(axis=(1, 2))
        for data in (posterior["skill"], gains["public_gain"], gains["unusual"])
    )
    best = group[posterior["best"].values.ravel()]
    share = np.bincount(best, minlength=group.max() + 1) / best.size
    draws = (theta_sota["sd"] / theta_sota["mcse"]) ** 2
    copies = np.bincount(group)[group]
    return pd.DataFrame(
        {
            "name": posterior["classifier"].values.astype(str),
            "public_score": scores[:, 0],
            "private_score": scores[:, 1],
            "skill": skill,
            "p_best": share[group] / copies,
            "p_best_mcse": share_mcse(share[group], draws) / copies,
            "probability": np.where(size > 0, unusual, 0.0),
            "size": size,
        }
    )


def _luck(tree: xr.DataTree, boards: PairedBoards, ci_prob: float) -> dict[str, Any]:
    """Lambda before and after, and what it adds to public scores."""
    constants = dataset_of(tree, "constant_data")
    summary = estimand_summary(tree, "submission_luck", ci_prob)
    luck, numbers = constants["expected_luck"], constants["submissions"]
    winner = {"classifier": boards.names[boards.public_winner]}
    low, middle, high = constants["submission_luck_prior"].values.tolist()
    return {
        "mean": summary["mean"],
        "interval": summary["interval"],
        "prior": {"median": middle, "interval": [low, high]},
        "learnt": bool(tree.attrs["luck_learnt"]),
        "median_submissions": float(numbers.median()),
        "median_luck": summary["mean"] * float(luck.median()),
        "winner_submissions": float(numbers.sel(winner)),
        "winner_luck": summary["mean"] * float(luck.sel(winner)),
    }


def _about_luck(content: dict[str, Any]) -> list[str]:
    """What was learnt of lambda, and what it means."""
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
        f"How far luck chose the submission that the public board shows (lambda) is {known}: by it "
        f"a team with the median of {counted(round(luck['median_submissions']), 'submission')} "
        f"stands {luck['median_luck']:.1f} of its own standard errors too high there, the public "
        f"winner with {luck['winner_submissions']:,.0f} {luck['winner_luck']:.1f}."
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
