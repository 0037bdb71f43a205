"""What two boards of the same teams say, in numbers and words."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import (
    diagnose,
    estimand_summary,
    how_drawn,
    seed_of,
    share_above,
)
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
from bayes_sota.core.types import FloatArray
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
_HANG_ON_LUCK = ("theta_sota", "winner_skill")
_SIZE = "importance_effective_size"
_SHOWN, _LISTED = 5, 10  # teams that are most likely the best, in the table and in the JSON


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
    said = _said(content)
    shared = [
        f"The rank correlation of the boards is {content['rank_correlation']:z.3f}.",
        *about_luck(content.get("submission_luck")),
        *sentences_of(content),
    ]
    return Report(
        content=content,
        make_frame=partial(_frame, content),
        tables=[_quantities(content), _teams(content["best"]), *_gained(content)],
        sentences=said,
        paragraph=[
            *said,
            f"The model is about {content['n_modelled']:,} of the teams, those that stand high on "
            f"either board. The standard errors of the scores are {known}.",
            *shared,
            about_rho(content["rho"], content["model"]),
            *as_sentences(content["notes"]),
        ],
        legend=[_winner_line(content["public_winner"]), *shared],
        footer=[
            "rho is learnt from the differences."
            if content["rho"]["learnt"]
            else "rho is not learnt.",
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
    answers, attributes = {}, tree.attrs
    if above is not None:
        best = dataset_of(tree, "posterior")["theta_sota"].values
        answers["p_above"] = share_above(best, above, attributes)
    values = {
        name: estimand_summary(tree, name, ci_prob)
        for name in (*MEANING, "public_se", "private_se")
    }
    rho, public_se, private_se = (values.pop(k) for k in ("rho", "public_se", "private_se"))
    chances = _chances(tree, values["theta_sota"])
    gains = _beyond_luck(tree, chances, ci_prob)
    winner = boards.names[boards.public_winner]
    return {
        "method": attributes["method"],
        "name": boards.name,
        "n_classifiers": boards.n_entries,
        "n_modelled": int(attributes["n_kept"]),
        "n_distinct": int(attributes["n_distinct"]),
        "skill_scale": attributes["skill_scale"],
        "n_test": boards.n_test,
        "observed_maximum": float(boards.public.max()),
        **values,
        **answers,
        "rho": rho_of(rho, tree),
        **_luck(tree, boards, ci_prob),
        "standard_errors": {
            "public": public_se,
            "private": private_se,
            "known": bool(attributes["noise_known"]),
        },
        "public_winner": _winner(tree, boards, ci_prob, chances[winner]),
        "best": _most_likely_best(gains["entries"]),
        **gains,
        "rank_correlation": attributes["rank_correlation"],
        "public_minus_private": _differences(boards),
        "prob": ci_prob,
        "model": attributes["model_name"],
        "notes": [*boards.notes, *notes_on_field(boards, attributes["model_name"])],
        "diagnostics": diagnose(tree) | {k: attributes[k] for k in (_SIZE,) if k in attributes},
        "seed": seed_of(tree),
    }


def _frame(content: dict[str, Any]) -> pd.DataFrame:
    """One row per quantity: quantity, mean, lower, upper."""
    rows = {name: (content[name]["mean"], *content[name]["interval"]) for name in MEANING}
    frame = pd.DataFrame.from_dict(rows, "index", columns=["mean", "lower", "upper"])
    return frame.rename_axis("quantity").reset_index()


def _quantities(content: dict[str, Any]) -> Table:
    teams = f"{content['n_modelled']:,} of {content['n_classifiers']:,} teams"
    pairs = f"{content['n_distinct']:,} different pairs of scores"
    rows = []
    for name, meaning in MEANING.items():
        quantity, d = content[name], decimals_of(content[name])
        rows.append([name, f"{quantity['mean']:z.{d}f}", span(quantity["interval"], d), meaning])
    header = ["quantity", "mean", f"{content['prob']:.0%} interval", "what it is"]
    return Table(header, rows, f"{content['name']}: {teams}, {pairs}")


def _teams(best: list[dict[str, Any]]) -> Table:
    rows = [
        [
            row["name"],
            *(f"{row[k]:z.4f}" for k in ("public_score", "private_score", "skill")),
            _chance(row),
        ]
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


def _told_gains(content: dict[str, Any]) -> str:
    """Which teams gained beyond luck, in a sentence."""
    names, most = content["gained_beyond_luck"], f"{1 - content['prob']:.0%}"
    if not names:
        return (
            "No team gained more on the public board than luck, selection and the shift of all "
            "explain."
        )
    teams = counted(len(names), "team")
    return (
        f"{teams} gained more on the public board than luck, selection and the shift of all "
        f"explain ({listed([plain_text(name, 60) for name in names])}); at most {most} of such "
        "findings are expected to be false. They may know public items, or have failed on private "
        "ones."
    )


def _said(content: dict[str, Any]) -> list[str]:
    """The best team, the public winner, and who gained beyond luck."""
    winner, prob = content["public_winner"], content["prob"]
    return [
        f"The skill of the best of {content['n_classifiers']:,} teams (theta_sota), its expected "
        f"score on private items, is estimated at {estimate(content['theta_sota'], prob)}.",
        f'The public winner, "{winner["name"]}", scored {winner["public_score"]:z.4f} on the '
        f"public and {winner['private_score']:z.4f} on the private board; its skill "
        f"(winner_skill) is estimated at {estimate(content['winner_skill'], prob)}, and it is the "
        f"best of all teams with probability {_chance(winner)}.",
        _told_gains(content),
    ]


def _winner_line(winner: dict[str, Any]) -> str:
    return (
        f"Public winner {winner['name']}: public {winner['public_score']:z.4f}, private "
        f"{winner['private_score']:z.4f}, expected {winner['expected_private']:.4f} (shrinkage "
        f"{winner['shrinkage']:z.4f}), P(best) {_chance(winner)}"
    )


def _winner(
    tree: xr.DataTree, boards: PairedBoards, ci_prob: float, chances: dict[str, float]
) -> dict[str, Any]:
    """The public winner: both scores, what was to be expected, and whether it is the best."""
    index = boards.public_winner
    name, public = boards.names[index], float(boards.public[index])
    where = {"classifier": name}
    expected = float(dataset_of(tree, "posterior")["expected_private"].sel(where).mean())
    alone: dict[str, Any] | None = None
    if "private_from_public" in tree["predictions"]:
        draws = dataset_of(tree, "predictions")["private_from_public"].sel(where).values.ravel()
        interval = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2]).tolist()
        alone = {"mean": float(draws.mean()), "interval": interval}
    return {
        "name": name,
        "public_score": public,
        "private_score": float(boards.private[index]),
        "expected_private": expected,
        "shrinkage": public - expected,
        "private_from_public_alone": alone,
        **chances,
    }


def _luck(tree: xr.DataTree, boards: PairedBoards, ci_prob: float) -> dict[str, Any]:
    """lambda before and after, what it adds to public scores, and how the answer hangs on it."""
    if not boards.has_submissions:
        return {}
    constants, posterior = dataset_of(tree, "constant_data"), dataset_of(tree, "posterior")
    summary = estimand_summary(tree, "submission_luck", ci_prob)
    mean, draws = summary["mean"], posterior["submission_luck"].values.ravel()
    luck, numbers = constants["expected_luck"], constants["submissions"]
    winner = {"classifier": boards.names[boards.public_winner]}
    low, middle, high = constants["submission_luck_prior"].values.tolist()
    answers = {name: posterior[name].values.ravel() for name in _HANG_ON_LUCK}
    told = {
        "mean": mean,
        "interval": summary["interval"],
        "prior": {"median": middle, "interval": [low, high]},
        "learnt": bool(tree.attrs["luck_learnt"]),
        "median_submissions": float(numbers.median()),
        "median_luck": mean * float(luck.median()),
        "winner_submissions": float(numbers.sel(winner)),
        "winner_luck": mean * float(luck.sel(winner)),
        "sensitivity": [
            {"value": at} | {k: _expected_at(at, draws, v) for k, v in answers.items()}
            for at in summary["interval"]
        ],
    }
    return {"submission_luck": told}


def _expected_at(at: float, luck: FloatArray, values: FloatArray) -> float:
    """Mean of an answer were lambda known, by regression over the draws."""
    away = luck - luck.mean()
    spread = float(away @ away)
    slope = float(away @ values) / spread if spread > 0 else 0.0
    return float(values.mean()) + slope * (at - float(luck.mean()))


def about_luck(luck: dict[str, Any] | None) -> list[str]:
    """What was learnt of lambda, what it means, and how the answer hangs on it."""
    if luck is None:
        return []
    known, ends = f"set to {luck['mean']:.2f}", []
    if luck["learnt"]:
        prior = luck["prior"]
        known = (
            f"learnt as {luck['mean']:.2f} ({span(luck['interval'], 2)}; before "
            f"{prior['median']:.2f}, {span(prior['interval'], 2)})"
        )
        each = (
            f"{row['theta_sota']:.4f} and {row['winner_skill']:.4f} at lambda {row['value']:.2f}"
            for row in luck["sensitivity"]
        )
        ends = [f"theta_sota and winner_skill would be {', '.join(each)}."]
    return [
        f"How far luck chose the submission that the public board shows (lambda) is {known}: by it "
        f"a team with the median of {counted(round(luck['median_submissions']), 'submission')} "
        f"stands {luck['median_luck']:.1f} of its own standard errors too high there, the public "
        f"winner with {luck['winner_submissions']:,.0f} {luck['winner_luck']:.1f}.",
        *ends,
    ]


def _chances(tree: xr.DataTree, theta_sota: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Probability of each team to be the best; teams with equal pairs of scores divide theirs.

    As many draws count as of theta_sota.
    """
    names = dataset_of(tree, "posterior")["classifier"].values.astype(str)
    group = dataset_of(tree, "constant_data")["group"].values
    draws = (theta_sota["sd"] / theta_sota["mcse"]) ** 2
    never = {"p_best": 0.0, "p_best_mcse": float(share_mcse(0.0, draws))}
    chances = dict.fromkeys(names.tolist(), never)
    best, counts = np.unique(dataset_of(tree, "posterior")["best"].values, return_counts=True)
    for position, share in zip(best, counts / counts.sum(), strict=True):
        copies = names[group == group[position]].tolist()
        p, error = (float(x) / len(copies) for x in (share, share_mcse(share, draws)))
        chances |= {name: {"p_best": p, "p_best_mcse": error} for name in copies}
    return chances


def _chance(team: dict[str, Any]) -> str:
    return chance(team["p_best"], team["p_best_mcse"])


def _most_likely_best(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Teams that are the best in a draw, the most likely first."""
    some = sorted(entries, key=lambda row: (-row["p_best"], row["name"]))[:_LISTED]
    keys = ("name", "public_score", "private_score", "skill", "p_best", "p_best_mcse")
    return [{key: row[key] for key in keys} for row in some if row["p_best"]]


def _beyond_luck(
    tree: xr.DataTree, chances: dict[str, dict[str, float]], ci_prob: float
) -> dict[str, Any]:
    """All modelled teams, and those that gained on the public board beyond luck.

    Of these the mean probability that luck, selection and the shift explain the gain is at most
    one minus the probability of the intervals (a Bayesian false discovery rate).
    """
    gains = dataset_of(tree, "predictions")
    drawn = gains["public_gain"], gains["unusual"], dataset_of(tree, "posterior")["skill"]
    size, unusual, skills = (
        np.ascontiguousarray(x.transpose("classifier", ...)).mean(axis=(1, 2)) for x in drawn
    )
    probability = np.where(size > 0, unusual, 0.0)
    order = np.lexsort((-size, -probability))
    false = np.cumsum(1 - probability[order]) / np.arange(1, order.size + 1)
    count = np.count_nonzero((false <= 1 - ci_prob) & (probability[order] > 0.5))
    names = drawn[0]["classifier"].values.astype(str).tolist()
    observed = dataset_of(tree, "observed_data")["score"].transpose("classifier", "board")
    entries = [
        {
            "name": names[j],
            "public_score": float(observed.values[j, 0]),
            "private_score": float(observed.values[j, 1]),
            "skill": float(skills[j]),
            **chances[names[j]],
            "beyond_luck": {"probability": float(probability[j]), "size": float(size[j])},
        }
        for j in order
    ]
    return {"entries": entries, "gained_beyond_luck": [names[j] for j in order[:count]]}


def _differences(boards: PairedBoards) -> dict[str, float]:
    """Mean public minus private score by public rank: regression to the mean and overfitting."""
    gap = (boards.public - boards.private)[boards.order(boards.public)]
    m = boards.n_entries
    tops = {"top_10": min(10, m), "top_tenth": max(m // 10, 1), "top_half": m // 2, "all": m}
    return {label: float(gap[:count].mean()) for label, count in tops.items()}
