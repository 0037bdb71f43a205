"""``bayes-sota paired``: public and private leaderboards of the same teams."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import CORRELATION, COUNT, POSITIVE, SHARE
from bayes_sota.core.command import (
    InputFile,
    OutputFile,
    command,
    echo_json,
    echo_verdict,
    interval_option,
    number_option,
    output_options,
    seed_option,
)
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import decimals_for, plain_text

if TYPE_CHECKING:
    import xarray as xr

    from bayes_sota.data.paired import PairedBoards


_MEANING = {
    "theta_sota": "skill of the best team (private population)",
    "winner_skill": "skill of the public winner (private population)",
    "winner_new_score": "public winner's score on a fresh private test set",
    "best_new_score": "best score on a fresh private test set",
    "score_shift": "private minus public score at the winner's skill",
    "residual_sd": "usual sd of a team's difference, in the model's coordinate",
    "rho": "correlation with the reference",
}


@command(epilog="Example: bayes-sota paired boards.csv --n-test-public 2000 --n-test-private 8000")
@click.argument("file", type=InputFile())
@click.option(
    "--private-file",
    type=InputFile(),
    default=None,
    help="Private leaderboard, joined to FILE, the public one, on the teams' names.",
)
@click.option("--public-column", default=None, help="Column of public scores; else recognised.")
@click.option("--private-column", default=None, help="Column of private scores; else recognised.")
@click.option("--name-column", default=None, help="Column of the teams; else recognised.")
@number_option(COUNT, "--n-test-public", help="Public test items (accuracies).")
@number_option(COUNT, "--n-test-private", help="Private test items.")
@number_option(POSITIVE, "--standard-error-public", help="Of one public score.")
@number_option(POSITIVE, "--standard-error-private", help="Of one private score.")
@click.option(
    "--lower-is-better", is_flag=True, help="Scores are errors or losses; results are minus them."
)
@number_option(
    SHARE, "--top",
    help="Share of either board that the model is about. Default: one half, at most 1,500 places.",
)  # fmt: skip
@number_option(CORRELATION, "--correlation", help="Known rho instead of its prior.")
@click.option("--output", type=OutputFile("result"), default=None, help="netCDF file.")
@interval_option
@seed_option
@output_options
def paired(
    file: Path,
    private_file: Path | None,
    public_column: str | None,
    private_column: str | None,
    name_column: str | None,
    n_test_public: int | None,
    n_test_private: int | None,
    standard_error_public: float | None,
    standard_error_private: float | None,
    lower_is_better: bool,
    top: float | None,
    correlation: float | None,
    output: Path | None,
    ci_prob: float,
    as_json: bool,
    seed: int | None,
    quiet: bool,
) -> int:
    """Skill of the best team and of the public winner from the public and the private board.

    Without sizes of the test sets or standard errors the noise is learnt from the differences;
    rho then keeps its prior.
    """
    from bayes_sota.core.priors import FixedCorrelation
    from bayes_sota.core.sample import save_result
    from bayes_sota.data.read_boards import read_paired_boards
    from bayes_sota.paired.sample import estimate_paired
    from bayes_sota.paired.teams import PairedPriors

    boards = read_paired_boards(
        file,
        private_file,
        public_column=public_column,
        private_column=private_column,
        name_column=name_column,
        n_test=_both(n_test_public, n_test_private, "--n-test"),
        standard_errors=_both(standard_error_public, standard_error_private, "--standard-error"),
        lower_is_better=lower_is_better,
    )
    priors = None if correlation is None else PairedPriors(FixedCorrelation(correlation))
    tree = estimate_paired(boards, priors, random_seed=seed, top=top)
    if output is not None:
        save_result(tree, output)
    result = _result(tree, boards, ci_prob)
    if as_json:
        echo_json(result)
    else:
        _echo(result, boards, quiet)
    return echo_verdict(result["diagnostics"]["reasons"])


def _both(public: Any, private: Any, option: str) -> tuple[Any, Any] | None:
    """Both of a pair of options, or neither."""
    if (public is None) != (private is None):
        missing = "private" if private is None else "public"
        raise InputError(f"{option}-{missing} is missing: the two boards need one each")
    return None if public is None else (public, private)


def _result(tree: "xr.DataTree", boards: "PairedBoards", ci_prob: float) -> dict[str, Any]:
    from bayes_sota.core.summary import diagnose

    attributes = tree.attrs
    names = [n for n in _MEANING if n != "rho"]
    rho = _summary(tree, "rho", ci_prob)
    seed = str(attributes["random_seed"])
    return {
        "method": attributes["method"],
        "name": boards.name,
        "n_classifiers": boards.n_entries,
        "n_modelled": int(attributes["n_kept"]),
        "n_distinct": int(attributes["n_distinct"]),
        "skill_scale": attributes["skill_scale"],
        "n_test": boards.n_test,
        "observed_maximum": float(boards.public.max()),
        **{name: _summary(tree, name, ci_prob) for name in names},
        "rho": {"mean": rho["mean"], "interval": rho["interval"],
                "learnt": bool(attributes["rho_learnt"])},
        "standard_errors": {
            "public": _summary(tree, "public_se", ci_prob),
            "private": _summary(tree, "private_se", ci_prob),
            "known": bool(attributes["noise_known"]),
        },
        "public_winner": _winner(tree, boards, ci_prob),
        "best": _most_likely_best(tree),
        "rank_correlation": attributes["rank_correlation"],
        "public_minus_private": _differences(boards),
        "prob": ci_prob,
        "notes": list(boards.notes),
        "diagnostics": diagnose(tree)
        | {"importance_effective_size": attributes["importance_effective_size"]},
        "seed": int(seed) if seed.isdigit() else seed,
    }  # fmt: skip


def _summary(tree: "xr.DataTree", name: str, ci_prob: float) -> dict[str, Any]:
    """Summary whose mcse knows that the draws come from weighted points."""
    from bayes_sota.core.summary import estimand_summary

    summary = estimand_summary(tree, name, ci_prob)
    size = float(tree.attrs["importance_effective_size"])
    draws = tree["posterior"].sizes["chain"] * tree["posterior"].sizes["draw"]
    summary["mcse"] = summary["sd"] * (1 / size + 1 / draws) ** 0.5
    return summary


def _winner(tree: "xr.DataTree", boards: "PairedBoards", ci_prob: float) -> dict[str, Any]:
    """The public winner: both scores, what was to be expected, and whether it is the best."""
    import numpy as np

    index = boards.public_winner
    where = {"classifier": boards.names[index]}
    public, private = float(boards.public[index]), float(boards.private[index])
    expected = float(tree["posterior"]["expected_private"].sel(where).mean())
    alone: dict[str, Any] | None = None
    if "private_from_public" in tree["posterior_predictive"]:
        draws = tree["posterior_predictive"]["private_from_public"].sel(where).values.ravel()
        interval = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2]).tolist()
        alone = {"mean": float(draws.mean()), "interval": interval}
    return {
        "name": boards.names[index],
        "public_score": public,
        "private_score": private,
        "expected_private": expected,
        "shrinkage": public - expected,
        "private_from_public_alone": alone,
        "p_best": _p_best(tree).get(boards.names[index], 0.0),
    }


def _p_best(tree: "xr.DataTree") -> dict[str, float]:
    """Probability to be the best, of every team that ever is; equal pairs share theirs."""
    import numpy as np

    names = tree["posterior"]["classifier"].values
    group = tree["constant_data"]["group"].values
    best, counts = np.unique(tree["posterior"]["best"].values, return_counts=True)
    chances: dict[str, float] = {}
    for position, count in zip(best, counts, strict=True):
        copies = np.flatnonzero(group == group[position])
        for copy in copies:
            chances[str(names[copy])] = float(count / counts.sum() / copies.size)
    return chances


def _most_likely_best(tree: "xr.DataTree", most: int = 10) -> list[dict[str, Any]]:
    observed = tree["observed_data"]
    chances = sorted(_p_best(tree).items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    rows = []
    for name, chance in chances:
        team = observed.sel(classifier=name)
        skill = float(tree["posterior"]["skill"].sel(classifier=name).mean())
        scores = {key: float(team[key]) for key in ("public_score", "private_score")}
        rows.append({"name": name, **scores, "skill": skill, "p_best": chance})
    return rows


def _differences(boards: "PairedBoards") -> dict[str, float]:
    """Mean public minus private score by public rank: regression to the mean and overfitting."""
    gap = (boards.public - boards.private)[boards.order(boards.public)]
    m = boards.n_entries
    tops = {"top_10": min(10, m), "top_tenth": max(m // 10, 1), "top_half": m // 2, "all": m}
    return {label: float(gap[:count].mean()) for label, count in tops.items()}


def _echo(result: dict[str, Any], boards: "PairedBoards", quiet: bool) -> None:
    ci_prob = result["prob"]
    rows = []
    for name, meaning in _MEANING.items():
        values = result[name]
        low, high = values["interval"]
        d = decimals_for((high - low) / 4)
        rows.append([name, f"{values['mean']:.{d}f}", f"{low:.{d}f} to {high:.{d}f}", meaning])
    title = (
        f"{boards.name}: {result['n_modelled']:,} of {boards.n_entries:,} teams, "
        f"{result['n_distinct']:,} different pairs of scores"
    )
    echo_table(["quantity", "mean", f"{ci_prob:.0%} interval", "what it is"], rows, title)
    header = ["team", "public", "private", "skill", "P(best)"]
    rows = [
        [row["name"], *(f"{row[k]:.4f}" for k in ("public_score", "private_score", "skill")),
         f"{row['p_best']:.3f}"]
        for row in result["best"][:5]
    ]  # fmt: skip
    echo_table(header, rows, "Most likely the best")
    winner = result["public_winner"]
    click.echo(
        f"Public winner {plain_text(winner['name'])}: public {winner['public_score']:.4f}, private "
        f"{winner['private_score']:.4f}, expected {winner['expected_private']:.4f} (shrinkage "
        f"{winner['shrinkage']:.4f}), P(best) {winner['p_best']:.3f}"
    )
    click.echo(f"Rank correlation of the boards {result['rank_correlation']:.3f}.")
    learnt = result["rho"]["learnt"]
    if not quiet:
        click.echo("rho is learnt from the differences." if learnt else "rho is not learnt.")
        for note in result["notes"]:
            click.echo(plain_text(note))
        click.echo(f"method {result['method']}, seed {result['seed']}")
