"""Reports by the hierarchical models: claims of a review together, methods on the same items.

``tests/claims/test_summary_sampled.py`` compares both with the closed forms.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.claims.review import ClaimRow
from bayes_sota.claims.summary import claim_report
from bayes_sota.claims.summary_methods import (
    about_methods,
    methods_frame,
    said_of_leader,
    said_of_tied,
)
from bayes_sota.claims.summary_review import Review, read_review, review_report
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import seed_number
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import diagnose
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import chance, counted
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import MethodComparison
from bayes_sota.leaderboard.specification import Model, chosen_model

if TYPE_CHECKING:
    import xarray as xr

_MOST_TABLES = 1_000_000  # that the likelihood sums over in a step


def sample_review(
    claims: Any,
    *,
    model: Model = None,
    level: float = 0.05,
    group_by: str | None = None,
    check_counts: bool = True,
    skip_problems: bool = False,
    draws: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    progressbar: bool = False,
) -> Report:
    """Probability that each claim of a review is false, by one model of all claims.

    Papers that report the congruence inform those that do not: ``bayes_sota.claims.build_model``,
    sampled by NUTS, whose claims share a distribution of odds ratios (Plackett 1965). Lowest and
    highest probability, and the verdicts, are those of ``claims_table``: they are about all that
    is possible. Twelve claims take minutes. A review without any known congruence is refused: the
    model would take it from the nearness of the accuracies alone.

    Parameters
    ----------
    claims : path or data frame
        As in ``claims_table``; two claims or more, of accuracies.
    model : ModelSpecification, name or path, optional
        Of the builder ``claims``; default ``claims-review``.
    level, group_by, check_counts, skip_problems
        As in ``claims_table``.
    draws : int, optional
        Of each chain; default that of the model, 1000.
    random_seed : int, SeedSequence, Generator or None
    progressbar : bool

    Returns
    -------
    Report
        That of ``claims_table``; ``about`` is the DataTree of ``sample_claim``.

    Raises
    ------
    InputError
        What ``claims_table`` refuses, fewer than two claims, means of cases, no known congruence,
        too many tables, or a model of another builder.

    Examples
    --------
    >>> report = bs.claims.sample_review("examples/claims.csv")  # doctest: +SKIP
    """
    from bayes_sota.claims.models import build_model
    from bayes_sota.claims.sample import sample_claim

    spec = chosen_model(model, "claims")
    review = read_review(claims, level, group_by, None, check_counts, skip_problems)
    (a, b, n, congruence), names = _accuracies(review)
    priors: Any = spec.priors
    tree = sample_claim(
        build_model(a, b, n, congruence, names, priors=priors),
        specification=spec,
        draws=draws,
        random_seed=random_seed,
        progressbar=progressbar,
    )
    reasons = [*review.reasons, *diagnose(tree)["reasons"]]
    sampled = replace(review, frame=_with_draws(review, tree, congruence), reasons=reasons)
    typical = np.exp(float(dataset_of(tree, "posterior")["typical_log_odds_ratio"].median()))
    note = (
        f"P(false) is of the model {spec.name}, in which the claims share their congruence: its "
        f"odds ratio is about {typical:.3g}; ranges and verdicts are about all that is possible"
    )
    how = f"NUTS, model {spec.name}, {_size(tree)}"
    return review_report(sampled, how=how, about=tree, notes=[note])


def _with_draws(review: Review, tree: "xr.DataTree", congruence: FloatArray) -> Any:
    """Frame of a review with the probabilities of a model."""
    frame, usable = review.frame.copy(), review.usable
    shared = "congruence shared with the other claims"
    how = ["congruence given" if known else shared for known in np.isfinite(congruence)]
    p_false = dataset_of(tree, "point_estimate")["p_false"].values
    for name, values in (("p_false", p_false), ("assumption", how)):
        column = frame[name].to_numpy(copy=True)
        column[usable] = values
        frame[name] = column
    return frame


def _size(tree: "xr.DataTree") -> str:
    sizes = tree["posterior"].sizes
    return f"{counted(sizes['chain'], 'chain')} of {counted(sizes['draw'], 'draw')}"


def _accuracies(review: Review) -> tuple[list[FloatArray], list[str]]:
    """Accuracies, items and congruences (NaN where unknown) of the claims, and their names."""
    usable = review.usable
    if len(usable) < 2:
        raise InputError(f"one model of a review needs two claims or more, got {len(usable)}")
    names = [f"{review.names[place]} (row {place + 1})" for place in usable]
    rows = [(place + 1, row) for place in usable if isinstance(row := review.rows[place], ClaimRow)]
    for number, row in rows:
        if row.metric != "accuracy":
            raise InputError(f"the model of a review is of accuracies: row {number} has means")
    columns = ("accuracy_a", "accuracy_b", "n_test", "congruence")
    numbers = [np.array([row.numbers[name] for _, row in rows], np.float64) for name in columns]
    a, b, n, known = numbers
    if not np.isfinite(known).any():
        raise InputError(
            "no claim of the review reports its congruence (column congruence): there is nothing "
            "that the model of a review could share"
        )
    width = np.where(np.isfinite(known), 0, n * np.minimum(b, 1 - a))
    tables = len(rows) * float(width.max())
    if tables > _MOST_TABLES:
        raise InputError(
            f"the model of a review sums over {tables:,.0f} tables in every step, at most "
            f"{_MOST_TABLES:,} can be: leave out the claim on most items, or give its congruence"
        )
    return numbers, names


def sample_methods(
    outcomes: Responses,
    *,
    model: Model = None,
    draws: int | None = None,
    ci_prob: float = 0.95,
    source: str = "",
    notes: Sequence[str] = (),
    random_seed: Seed = DEFAULT_SEED,
    progressbar: bool = False,
) -> Report:
    """Report of several classifiers on the same items, by one model of all answers.

    Classifiers borrow from each other (``bayes_sota.items.build_model``), so that the winner's
    having been picked by its score is allowed for; ``report_methods`` has the exact route.

    Parameters
    ----------
    outcomes : Responses
    model : ModelSpecification, name or path, optional
        Default "items" of single answers, "evaluations" of those with tasks, clusters or runs.
    draws : int, optional
        Of each chain; default that of the model, 1000.
    ci_prob : float
        Probability of the intervals, and of the comparison with the winner.
    source, notes : str, sequence of str
        Repeated in the report.
    random_seed : int, SeedSequence, Generator or None
    progressbar : bool

    Returns
    -------
    Report
        ``about`` is the DataTree of ``sample_evaluations``.

    Raises
    ------
    InputError
        Numbers that are not right or wrong, and what ``sample_evaluations`` refuses.

    Examples
    --------
    >>> answers = Responses(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> report = sample_methods(answers)  # doctest: +SKIP
    """
    from bayes_sota.leaderboard.sample_nuts import sample_evaluations

    if not isinstance(outcomes, Responses):
        raise InputError("the model of answers is of right and wrong ones, these are numbers")
    tree = sample_evaluations(
        outcomes, model=model, draws=draws, random_seed=random_seed, progressbar=progressbar
    )
    of = _compared(outcomes, tree)
    rows, seed = _rows(of, ci_prob), str(tree.attrs["random_seed"])
    content = {
        **about_methods(of, rows),
        "prob": ci_prob,
        "source": source,
        "notes": list(notes),
        "seed": seed_number(seed),
        "model": tree.attrs["model_name"],
    }
    winner = content["winner"]
    others = [name for name in content["tied_with_best"] if name != winner]
    said = [
        said_of_leader(of, counted(of.n_items, "item")),
        said_of_tied(others, len(rows)),
        f"Another method is the best with probability {chance(of.p_beaten)}.",
    ]
    return claim_report(
        content,
        said,
        f"NUTS, model {content['model']}, {_size(tree)}, seed {seed}",
        make_frame=lambda: methods_frame(rows),
        tables=[Table.of([_cells(row, ci_prob) for row in rows], f"{source}: {len(rows)} methods")],
        reasons=diagnose(tree)["reasons"],
        about=tree,
    )


def _compared(outcomes: Responses, tree: "xr.DataTree") -> MethodComparison:
    """The draws of the skills as a comparison of methods."""
    skill = dataset_of(tree, "posterior")["skill"].stack(sample=("chain", "draw"))
    draws = skill.transpose("sample", "classifier").values
    scores = outcomes.scores
    names = np.array(outcomes.names)
    order = np.lexsort((names, -scores))  # of equals the first by name
    winner = int(order[0])
    return MethodComparison(
        methods=outcomes.names,
        scores=scores,
        winner=winner,
        draws=draws,
        p_not_below=(draws >= draws[:, [winner]]).mean(axis=0),
        n_items=outcomes.n_items,
        n_clusters=outcomes.n_items,
        bounds=(0.0, 1.0),
        n_runs=(1,) * len(names),
        sign=1,
        notes=(),
    )


def _rows(of: MethodComparison, ci_prob: float) -> list[dict[str, Any]]:
    """Numbers of every method, the best score first."""
    tied, ends = of.tied_with_best(ci_prob), of.interval(ci_prob)
    return [
        {
            "name": of.methods[j],
            "score": float(of.scores[j]),
            "skill": float(of.draws[:, j].mean()),
            "interval": ends[j].tolist(),
            "p_best": float(of.p_best[j]),
            "p_not_below_winner": 0.5 if j == of.winner else float(of.p_not_below[j]),
            "tied_with_best": bool(tied[j]),
        }
        for j in sorted(range(len(of.methods)), key=lambda j: -of.scores[j])
    ]


def _cells(row: dict[str, Any], ci_prob: float) -> dict[str, str]:
    low, high = row["interval"]
    return {
        "method": row["name"],
        "score": f"{row['score']:.3f}",
        "skill": f"{row['skill']:.3f}",
        f"{ci_prob:.0%} interval": f"{low:.3f} to {high:.3f}",
        "P(best)": chance(row["p_best"]),
        "P(>= winner)": chance(row["p_not_below_winner"]),
        "tied with best": "yes" * row["tied_with_best"],
    }
