"""What two boards of the same teams say, in numbers and words."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import diagnose, estimand_summary, how_drawn, seed_of, share_above
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import (
    as_sentences,
    chance,
    counted,
    decimals_of,
    estimate,
    listed,
    plain_text,
    span,
)
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.specification import notes_on_field
from bayes_sota.leaderboard.summary_newcomers import sentences_of
from bayes_sota.leaderboard.summary_sota import rho_of
from bayes_sota.leaderboard.summary_words import CITED, about_rho

MEANING = {
    "theta_sota": "skill of the best team (private population)",
    "winner_skill": "skill of the public winner (private population)",
    "winner_new_score": "public winner's score on a fresh private test set",
    "best_new_score": "best score on a fresh private test set",
    "score_shift": "private minus public score at the winner's skill",
    "residual_sd": "usual sd of a team's difference, in the model's coordinate",
    "rho": "correlation with the reference",
}
_SIZE = "importance_effective_size"
_SHOWN, _LISTED = 5, 10  # teams that are most likely the best, in the table and in the JSON
_TEAM = ("name", "public_score", "private_score", "skill", "p_best", "p_best_mcse")


def describe_paired(
    tree: xr.DataTree,
    boards: PairedBoards,
    ci_prob: float = 0.95,
    above: float | None = None,
) -> Report:
    """Describe a result of ``estimate_paired``.

    Parameters
    ----------
    tree : DataTree
    boards : PairedBoards
        What it was estimated from.
    ci_prob : float
        Probability of the intervals.
    above : float, optional
        Skill that theta_sota may exceed: how probably does it?
    """
    content = _content(tree, boards, ci_prob, above)
    known = "given" if content["standard_errors"]["known"] else "learnt from the differences"
    sentences = _sentences(content)
    shared = [
        f"The rank correlation of the boards is {content['rank_correlation']:z.3f}.",
        *_about_luck(content.get("submission_luck")),
        *sentences_of(content),
    ]
    return Report(
        content=content,
        make_frame=partial(_frame, content),
        tables=[_quantities(content), _most_likely(content["best"]), *_gained(content)],
        sentences=sentences,
        paragraph=[
            *sentences,
            f"The model is about {content['n_modelled']:,} of the teams, those that stand high on "
            f"either board. The standard errors of the scores are {known}.",
            *shared,
            about_rho(content["rho"], content["model"]),
            *as_sentences(content["notes"]),
        ],
        legend=[_winner_line(content["public_winner"]), *shared],
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


def _content(
    tree: xr.DataTree, boards: PairedBoards, ci_prob: float, above: float | None
) -> dict[str, Any]:
    """Keys of ``--json``."""
    attributes = tree.attrs
    values = {
        name: estimand_summary(tree, name, ci_prob)
        for name in (*MEANING, "public_se", "private_se")
    }
    rho, public_se, private_se = (values.pop(k) for k in ("rho", "public_se", "private_se"))
    teams = _teams(tree, values["theta_sota"])
    best = teams[teams["p_best"] > 0].sort_values(["p_best", "name"], ascending=[False, True])
    index = boards.public_winner
    expected = dataset_of(tree, "posterior")["expected_private"].sel(classifier=boards.names[index])
    winner = teams.set_index("name").loc[boards.names[index]]
    content = {
        "method": attributes["method"],
        "name": boards.name,
        "n_classifiers": boards.n_entries,
        "n_modelled": int(attributes["n_kept"]),
        "n_distinct": int(attributes["n_distinct"]),
        "skill_scale": attributes["skill_scale"],
        "n_test": boards.n_test,
        "observed_maximum": float(boards.public.max()),
        **values,
        "rho": rho_of(rho, tree),
        "standard_errors": {
            "public": public_se,
            "private": private_se,
            "known": bool(attributes["noise_known"]),
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
        "best": best[list(_TEAM)].head(_LISTED).to_dict("records"),
        **_beyond_luck(teams, ci_prob),
        "rank_correlation": attributes["rank_correlation"],
        "prob": ci_prob,
        "model": attributes["model_name"],
        "notes": [*boards.notes, *notes_on_field(boards, attributes["model_name"])],
        "diagnostics": diagnose(tree) | {k: attributes[k] for k in (_SIZE,) if k in attributes},
        "seed": seed_of(tree),
    }
    if boards.has_submissions:
        content["submission_luck"] = _luck(tree, boards, ci_prob)
    if above is not None:
        draws = dataset_of(tree, "posterior")["theta_sota"].values
        content["p_above"] = share_above(draws, above, attributes)
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
    return pd.DataFrame({
        "name": posterior["classifier"].values.astype(str),
        "public_score": scores[:, 0],
        "private_score": scores[:, 1],
        "skill": skill,
        "p_best": share[group] / copies,
        "p_best_mcse": share_mcse(share[group], draws) / copies,
        "probability": np.where(size > 0, unusual, 0.0),
        "size": size,
    })  # fmt: skip


def _beyond_luck(teams: pd.DataFrame, ci_prob: float) -> dict[str, Any]:
    """All teams, and those that gained on the public board beyond luck.

    Of these the mean probability that luck, selection and the shift explain the gain is at most
    one minus the probability of the intervals (a Bayesian false discovery rate).
    """
    teams = teams.sort_values(["probability", "size"], ascending=False)
    false = (1 - teams["probability"]).expanding().mean()
    found = teams["name"][(false <= 1 - ci_prob) & (teams["probability"] > 0.5)]
    gains = teams[["probability", "size"]].to_dict("records")
    rows = teams[list(_TEAM)].to_dict("records")
    entries = [row | {"beyond_luck": gain} for row, gain in zip(rows, gains, strict=True)]
    return {"entries": entries, "gained_beyond_luck": found.tolist()}


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


def _about_luck(luck: dict[str, Any] | None) -> list[str]:
    """What was learnt of lambda, and what it means."""
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


def _frame(content: dict[str, Any]) -> pd.DataFrame:
    """One row per quantity: quantity, mean, lower, upper."""
    rows = [[name, content[name]["mean"], *content[name]["interval"]] for name in MEANING]
    return pd.DataFrame(rows, columns=["quantity", "mean", "lower", "upper"])


def _quantities(content: dict[str, Any]) -> Table:
    teams = f"{content['n_modelled']:,} of {content['n_classifiers']:,} teams"
    pairs = f"{content['n_distinct']:,} different pairs of scores"
    rows = []
    for name, meaning in MEANING.items():
        quantity, d = content[name], decimals_of(content[name])
        rows.append([name, f"{quantity['mean']:z.{d}f}", span(quantity["interval"], d), meaning])
    header = ["quantity", "mean", f"{content['prob']:.0%} interval", "what it is"]
    return Table(header, rows, f"{content['name']}: {teams}, {pairs}")


def _most_likely(best: list[dict[str, Any]]) -> Table:
    rows = [
        [row["name"], *(f"{row[k]:z.4f}" for k in _TEAM[1:4]), _chance(row)]
        for row in best[:_SHOWN]
    ]
    return Table(["team", "public", "private", "skill", "P(best)"], rows, "Most likely the best")


def _gained(content: dict[str, Any]) -> list[Table]:
    """Teams that gained on the public board beyond luck, where there are any."""
    rows = [
        [
            row["name"],
            *(f"{row[k]:z.4f}" for k in ("public_score", "private_score")),
            f"{row['beyond_luck']['size']:+z.4f}",
            chance(row["beyond_luck"]["probability"]),
        ]
        for row in content["entries"][: len(content["gained_beyond_luck"])]
    ]
    header = ["team", "public", "private", "beyond what is expected", "P(beyond luck)"]
    title = "Gained on the public board beyond luck and selection"
    return [Table(header, rows[:_LISTED], title)] if rows else []


def _sentences(content: dict[str, Any]) -> list[str]:
    """The best team, the public winner, and who gained beyond luck."""
    winner, prob = content["public_winner"], content["prob"]
    names = content["gained_beyond_luck"]
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


def _winner_line(winner: dict[str, Any]) -> str:
    return (
        f"Public winner {winner['name']}: public {winner['public_score']:z.4f}, private "
        f"{winner['private_score']:z.4f}, expected {winner['expected_private']:.4f} (shrinkage "
        f"{winner['shrinkage']:z.4f}), P(best) {_chance(winner)}"
    )


def _chance(team: dict[str, Any]) -> str:
    return chance(team["p_best"], team["p_best_mcse"])
