"""What two boards of the same teams say, in numbers and words."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core import text
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import diagnose, estimand_summary, how_drawn, seed_of
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard import summary_words as words
from bayes_sota.leaderboard.specification import notes_on_field
from bayes_sota.leaderboard.summary_sota import rho_of

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
    rows = [{"name": name, "meaning": said, **content[name]} for name, said in MEANING.items()]
    team: dict[str, Any] = {
        "team": "name",
        "public": _score("public"),
        "private": _score("private"),
    }
    title = f"{boards.name}: {len(content['entries']):,} of {boards.n_entries:,} teams"
    likely = team | {"skill": lambda row: f"{row['skill']:z.4f}", "P(best)": _chance}
    tables = [
        table_of(rows, words.quantity_columns(ci_prob), title),
        table_of(content["best"][:_SHOWN], likely, "Most likely the best"),
    ]
    if found := content["entries"][: len(content["gained_beyond_luck"])]:
        gained = team | {
            "beyond what is expected": lambda row: f"{row['beyond_luck']['size']:+z.4f}",
            "P(beyond luck)": lambda row: text.chance(row["beyond_luck"]["probability"]),
        }
        title = "Gained on the public board beyond luck and selection"
        tables.append(table_of(found[:_LISTED], gained, title))
    frame = [[row["name"], row["mean"], *row["interval"]] for row in rows]
    return words.report_of(
        content,
        sentences=_sentences(content),
        legend=_legend(content),
        make_frame=partial(pd.DataFrame, frame, columns=["quantity", "mean", "lower", "upper"]),
        tables=tables,
        footer=[f"method {content['method']}, model {content['model']}"],
        basis=[how_drawn(tree), SOFTWARE, words.CITED],
        measured="paired",
        about=tree,
    )


def _content(tree: xr.DataTree, boards: PairedBoards, ci_prob: float) -> dict[str, Any]:
    """Keys of ``--json``."""
    first, model = boards.public_winner, tree.attrs["model_name"]
    summary = partial(estimand_summary, tree, ci_prob=ci_prob)
    values = {name: summary(name) for name in MEANING}
    entries = _teams(tree, (values["theta_sota"]["sd"] / values["theta_sota"]["mcse"]) ** 2)
    scores = {f"{which}_score": float(getattr(boards, which)[first]) for which in BOARDS}
    winner = next(row for row in entries if row.items() >= scores.items())
    own = {name: winner[name] for name in ("expected_private", "p_best", "p_best_mcse")}
    # of the first so many the mean probability that luck explains them is below 1 - prob
    p = np.array([row["beyond_luck"]["probability"] for row in entries])
    false = np.cumsum(1 - p) / np.arange(1, p.size + 1)
    n_gained = int(np.sum((false <= 1 - ci_prob) & (p > 0.5)))
    likely = sorted(entries, key=lambda row: (-row["p_best"], row["name"]))
    notes = [*boards.notes, *notes_on_field(boards, model)]
    if copies := int(tree.attrs["n_copies"]):
        same = text.counted(copies, "team has", "teams have")
        notes.append(f"{same} the same two scores as another team, and count as one with it")
    lucky: dict[str, Any] = {}
    if boards.has_submissions:
        constants = dataset_of(tree, "constant_data")
        low, middle, high = constants["submission_luck_prior"].values.tolist()
        before = {"prior": {"median": middle, "interval": [low, high]}}
        learnt = {"learnt": bool(tree.attrs["luck_learnt"])}
        lucky = {"submission_luck": summary("submission_luck") | before | learnt}
    shrinkage = scores["public_score"] - own["expected_private"]
    errors = {which: summary(f"{which}_se") for which in BOARDS}
    return {
        "method": tree.attrs["method"],
        "name": boards.name,
        "n_classifiers": boards.n_entries,
        "n_modelled": len(entries),
        "n_test": boards.n_test,
        "observed_maximum": scores["public_score"],
        **values,
        "rho": values["rho"] | rho_of(values["rho"], tree),
        "standard_errors": {"known": boards.noise_is_known} | errors,
        "public_winner": {"name": boards.names[first], **scores, **own, "shrinkage": shrinkage},
        "best": [row for row in likely[:_LISTED] if row["p_best"] > 0],
        "entries": entries,
        "gained_beyond_luck": [row["name"] for row in entries[:n_gained]],
        "prob": ci_prob,
        "model": model,
        "notes": notes,
        "diagnostics": diagnose(tree),
        "seed": seed_of(tree),
        **lucky,
    }


def _teams(tree: xr.DataTree, draws: float) -> list[dict[str, Any]]:
    """All modelled teams, those first that gained most surely on the public board.

    Their scores, skill, P(best), of so many independent draws, and gain beyond luck.
    """
    found = xr.merge([dataset_of(tree, name) for name in ("posterior", "predictions")])
    means, best = found.drop_vars("best").mean(("chain", "draw")), found["best"].values.ravel()
    p_best = np.bincount(best, minlength=means.sizes["classifier"]) / best.size
    frame = means[["skill", "expected_private"]].to_dataframe().rename_axis("name").reset_index()
    public, private = dataset_of(tree, "observed_data")["score"].values.T
    frame = frame.assign(public_score=public, private_score=private)
    frame = frame.assign(p_best=p_best, p_best_mcse=share_mcse(p_best, draws))
    luck = (
        means[["unusual", "public_gain"]].to_dataframe().set_axis(["probability", "size"], axis=1)
    )
    luck = luck.reset_index(drop=True)
    luck["probability"] = luck["probability"].where(luck["size"] > 0, 0.0)
    order = luck.sort_values(["probability", "size"], ascending=False, kind="stable").index
    both = (table.loc[order].to_dict("records") for table in (frame, luck))
    return [team | {"beyond_luck": gain} for team, gain in zip(*both, strict=True)]


def _legend(content: dict[str, Any]) -> list[str]:
    """How rho and lambda are known."""
    of_rho = words.about_rho(content["rho"], content["model"], "differences")
    if "submission_luck" not in content:
        return [of_rho]
    luck, shown = content["submission_luck"], "the submission that the public board shows"
    mean, known = f"{luck['mean']:.2f}", "set to"
    if luck["learnt"]:
        own, prior = (text.span(one["interval"], 2) for one in (luck, luck["prior"]))
        mean, known = f"{mean} ({own}; before {luck['prior']['median']:.2f}, {prior})", "learnt as"
    return [of_rho, f"How far luck chose {shown} (lambda) is {known} {mean}."]


def _sentences(content: dict[str, Any]) -> list[str]:
    """The best team, the public winner, and who gained beyond luck."""
    winner, prob, names = (content[k] for k in ("public_winner", "prob", "gained_beyond_luck"))
    gained = "No team gained more on the public board than luck, selection and the shift explain."
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
        f"the best of all teams with probability {_chance(winner)}.",
        gained,
    ]


def _chance(team: dict[str, Any]) -> str:
    return text.chance(team["p_best"], team["p_best_mcse"])


def _score(board: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: f"{row[f'{board}_score']:z.4f}"
