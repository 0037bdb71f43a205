"""Reports of ``bayes-sota epp``: of a fit, of draws, of several tournaments, and of a plan.

``tests/cli/test_epp.py`` reads it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import diagnose, frame_of, how_drawn, seed_of, summarize_difference
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.text import as_sentences, chance, counted, in_prose, listed, p_value
from bayes_sota.core.types import Seed
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import two_players
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.planning import plan_rounds
from bayes_sota.epp.simulate import leaderboard_quality, not_comparable
from bayes_sota.epp.summary import describe_skills, draws_of_players, epp_table, rows_of_fit

if TYPE_CHECKING:
    import xarray as xr

_FEW_ROUNDS = 6
_OVERLAP = "splits of one data set overlap: --test-fraction (.1 for ten folds) allows for it"
_RANKINGS = "all rounds are taken to have the same noise, which makes intervals sharper"
_ABSENT = "a player whose score is missing because it failed looks better than it is"
Pairs = Sequence[tuple[str, str]]
Tables = Sequence[ScoreTable | Matches]


def report_fit(
    fit: BradleyTerryFit,
    *,
    ci_prob: float = 0.95,
    pairs: Pairs = (),
    reading: Sequence[str] = (),
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report on a fitted leaderboard.

    Parameters
    ----------
    fit : BradleyTerryFit
    ci_prob : float
        Probability of the intervals.
    pairs : sequence of (str, str)
        Players to compare (``fit.test``).
    reading : sequence of str
        Notes on how the data were read.
    random_seed : int, SeedSequence or Generator, optional

    Raises
    ------
    InputError
        Unknown players.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> scores = [2.0, 0.0, -2.0] + np.random.default_rng(0).gumbel(size=(30, 3))
    >>> fit = fit_epp(ScoreTable(scores))
    >>> report = report_fit(fit, pairs=[("1", "3")], random_seed=0)
    >>> report.tables[0].title, report.content["deviance_p_value"] > 0.05
    ('tournament: 3 players, 30 rounds', True)
    """
    reason = not_comparable(fit.data)
    rng, seed = resolve_seed(random_seed)
    quality = {} if reason else vars(leaderboard_quality(fit, random_seed=rng))
    tests = [vars(fit.test(a, b, ci_prob)) for a, b in pairs]
    found = {
        "title": _title([fit.data]),
        "n_rounds": getattr(fit.data, "n_rounds", None),
        "matches": fit.kind,
        **{name: getattr(fit, name) for name in ("deviance", "paper", "connected", "penalty")},
        "df": fit.deviance_df,
        "deviance_p_value": quality.get("p_value"),
        "deviance_expected": quality.get("expected"),
        "standardized_deviance": quality.get("standardized_deviance"),
        "tests": tests,
        "reading": list(reading),
        "notes": _remarks(fit) + [f"the deviance is not compared: {reason}"] * bool(reason),
        "seed": int(seed) if seed.isdigit() and quality else None,
    }
    how = f"maximum likelihood, standard errors clustered, {fit.kind} matches, seed {seed}"
    findings = [_deviance_sentence(found), *map(_test_sentence, tests)]
    return _described(epp_table(fit, ci_prob), how, findings, prob=ci_prob, **found)


def report_tournaments(
    fits: Iterable[BradleyTerryFit], *, ci_prob: float = 0.95, reading: Sequence[str] = ()
) -> Report:
    """Report on the leaderboards of several tournaments (``fit_tournaments``), one after the other.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_tournaments
    >>> scores = [1.0, 0.0, -1.0] + np.random.default_rng(0).gumbel(size=(30, 3))
    >>> fits = fit_tournaments([ScoreTable(scores)])
    >>> report_tournaments(fits).tables[0].title
    'tournament: 3 players, 30 rounds'
    """
    rows, tournaments = [], []
    fits = list(fits)
    for fit in fits:
        own = rows_of_fit(fit, ci_prob, ranks=False)
        rows += [{"tournament": fit.tournament} | row for row in own]
        numbers = {name: getattr(fit, name) for name in ("tournament", "deviance", "connected")}
        numbers["paper_standardized_deviance"] = fit.paper["standardized_deviance"]
        tournaments.append(numbers | {"df": fit.deviance_df})
    tables = [fit.data for fit in fits]
    notes = _remarks_on_data(tables, fits[0].test_fraction)
    infinite = [fit.tournament for fit in fits if not fit.connected]
    if infinite:
        notes.append(f"skills are finite by the penalty only in {listed(infinite)}")
    found = {"title": _title(tables), "tournaments": tournaments, "notes": notes}
    report, how = describe_skills(rows, ci_prob), "maximum likelihood, standard errors clustered"
    return _described(report, how, [], reading=list(reading), prob=ci_prob, **found)


def report_draws(
    tree: "xr.DataTree",
    tables: Tables,
    *,
    ci_prob: float = 0.95,
    pairs: Pairs = (),
    test_fraction: float | None = None,
    reading: Sequence[str] = (),
) -> Report:
    """Report on posterior draws of the skills (``infer_skills``, ``sample_epp``).

    Parameters
    ----------
    tree : DataTree
    tables : sequence of ScoreTable or Matches
        The data, one per tournament.
    ci_prob : float
        Probability of the intervals.
    pairs : sequence of (str, str)
        Players to compare.
    test_fraction : float, optional
        As in ``build_model``.
    reading : sequence of str
        Notes on how the data were read.
    """
    diagnostics = diagnose(tree)
    tests = [_compared(tree, a, b, ci_prob) for a, b in pairs]
    ranked = "round_rank" in dataset_of(tree, "observed_data")
    found: dict[str, Any] = {
        "title": f"{_title(tables)}, Bayesian",
        "n_rounds": sum(getattr(table, "n_rounds", 0) for table in tables) or None,
        "tests": tests,
        "diagnostics": diagnostics,
        "reading": list(reading),
        "notes": _remarks_on_data(tables, test_fraction) + [_RANKINGS] * ranked,
        "model": tree.attrs["model_name"],
        "seed": seed_of(tree),
    }
    if len(tables) > 1:
        own = dataset_of(tree, "posterior")["epp_tournament"].mean(("chain", "draw")).to_series()
        names = [table.tournament for table in tables]
        found["tournaments"] = [{"tournament": x, "players": own[x].to_dict()} for x in names]
    findings = [*map(_test_sentence, tests)]
    report = replace(epp_table(tree, ci_prob), reasons=tuple(diagnostics["reasons"]))
    return _described(report, how_drawn(tree), findings, prob=ci_prob, **found)


def report_plan(
    fit: BradleyTerryFit, target_se: float, *, reading: Sequence[str] = (), **options: float
) -> Report:
    """Report how many rounds are enough; parameters as in ``plan_rounds``.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> scores = [1.0, 0.0, -1.0] + np.random.default_rng(0).gumbel(size=(20, 3))
    >>> fit = fit_epp(ScoreTable(scores))
    >>> print(report_plan(fit, 0.2).sentences[0])
    Standard errors of 0.2 or less need 62 rounds; there are 20.
    """
    plan = plan_rounds(fit, target_se, **options)
    players = [
        {
            "player": fit.players[k],
            "expected_epp": float(plan.expected[k]),
            "se": float(fit.se[k]),
            "rounds_for_se": _whole(plan.for_error[k]),
            "rounds_to_tell_from_next": _whole(neighbours),
        }
        for k, neighbours in zip(plan.order, [*plan.for_neighbours, np.nan], strict=True)
    ]
    columns: dict[str, Any] = {
        "player": "player",
        "expected skill": lambda row: f"{row['expected_epp']:z.2f}",
        "se now": lambda row: f"{row['se']:.2f}",
        "rounds for se": "rounds_for_se",
        "rounds to separate from next": "rounds_to_tell_from_next",
    }
    rounds = {
        "rounds_for_standard_errors": _whole(plan.for_error.max()),
        "rounds_for_best": _whole(plan.for_best),
    }
    settings = {name: getattr(plan, name) for name in ("rounds", "target_se", "power", "ci_prob")}
    first, second = (row["player"] for row in players[:2])
    needed = [*rounds.values(), players[0]["rounds_to_tell_from_next"]]
    error, best, neighbours = ("infinitely many" if n is None else f"{n:,}" for n in needed)
    sentences = [
        f"Standard errors of {target_se:g} or less need {error} rounds; there are {plan.rounds:,}.",
        f"A test that separates {first} from {second} with probability {plan.power:g} needs "
        f"{neighbours} rounds.",
        f"{first} comes out first with probability {plan.ci_prob:g} after {best} rounds.",
    ]
    return Report(
        content={**settings, **rounds, "players": players, "reading": [*reading]},
        make_frame=partial(frame_of, players),
        tables=[table_of(players, columns)],
        sentences=sentences,
        legend=["Expected skills are the estimated ones, shrunk towards the mean."],
        basis=[f"new rounds assumed to be like those observed; normal and t tests; {SOFTWARE}"],
    )


def _whole(rounds: float) -> int | None:
    """A number of rounds, None where none is enough."""
    return int(np.ceil(rounds)) if np.isfinite(rounds) else None


def _described(report: Report, how: str, findings: Sequence[str], **found: Any) -> Report:
    """Leaderboard with what else was found, in numbers and in words."""
    title, notes, tests = found["title"], found["notes"], found.get("tests")
    return replace(
        report,
        content={**report.content, **found, "test": tests[0] if tests else None},
        tables=[replace(report.tables[0], title=title)],
        paragraph=[f"{title}.", *report.paragraph, *as_sentences([*findings, *notes])],
        legend=[*report.legend, *findings],
        basis=[how, *report.basis],
        measured="epp",
    )


def _title(tables: Tables) -> str:
    """Size of the tournaments; players of the same name are one player."""
    if len(tables) > 1:
        players = {name for table in tables for name in table.players}
        return f"{counted(len(players), 'player')} in {counted(len(tables), 'tournament')}"
    (data,), size = tables, counted(tables[0].clusters.size, "round")
    if isinstance(data, Matches):
        clusters = "" if data.groups is None else f" in {counted(data.n_clusters, 'cluster')}"
        size = counted(data.clusters.size, "match", "matches") + clusters
    return f"{data.tournament}: {counted(data.n_players, 'player')}, {size}"


def _remarks_on_data(tables: Tables, test_fraction: float | None) -> list[str]:
    """How many scores are missing, whether rounds share training items, and what that means."""
    number = sum(int(np.sum(~table.present)) for table in tables if isinstance(table, ScoreTable))
    splits = any(getattr(table, "scheme", None) == "model/cv" for table in tables)
    overlap = splits and test_fraction is None
    missing = f"{counted(number, 'score')} missing: {_ABSENT}"
    return [missing] * bool(number) + [_OVERLAP] * overlap


def _remarks(fit: BradleyTerryFit) -> list[str]:
    """Assumptions that a reader would not expect."""
    notes = _remarks_on_data([fit.data], fit.test_fraction)
    least = int(fit.clusters_of_players.min())
    if fit.penalty and not fit.connected:
        notes.append("without the penalty some skills would be infinite: they depend on it")
    if fit.influence is None:
        notes.append(
            "matches are taken as independent of each other; if some share a prompt, judge or "
            "round, give --column cluster=NAME"
        )
    elif least < _FEW_ROUNDS:
        few = fit.players[int(np.argmin(fit.clusters_of_players))]
        notes.append(f"{few} is in {least} independent rounds only: intervals are very wide")
    return notes


def _compared(tree: "xr.DataTree", a: str, b: str, ci_prob: float) -> dict[str, Any]:
    """Difference of two players' skills, and how likely A beats B in a new round."""
    players, skills = draws_of_players(tree)
    first, second = two_players(players, a, b)
    gap = skills[:, first] - skills[:, second]
    found = summarize_difference(gap, ci_prob)
    return {
        "players": [a, b],
        "difference": found.pop("mean"),
        "se": found.pop("sd"),
        **found,
        "win_probability": float(expit(gap).mean()),
        "win_probability_interval": expit(found["interval"]).tolist(),
    }


def _deviance_sentence(found: dict[str, Any]) -> str:
    p, deviance = found["deviance_p_value"], f"deviance {found['deviance']:.1f}"
    if p is None:
        return f"Whether one order describes all rounds is not tested ({deviance})."
    verdict = "no evidence against it" if p >= 0.05 else "players differ between rounds"
    expected = f"{found['deviance_expected']:.1f} expected under these skills"
    return f"Test of one order for all rounds: {p_value(p)}, {verdict} ({deviance}, {expected})."


def _test_sentence(test: dict[str, Any]) -> str:
    first, second = test["players"]
    win, low, high = map(in_prose, (test["win_probability"], *test["win_probability_interval"]))
    tested = played = ""
    if "p_value" in test:
        model = chance(test["p_value_model"])
        tested = f", {p_value(test['p_value'])} (independent matches, too small: {model})"
        played = f" by the skills, won {test['points']:g} of their {test['n_matches']:,} matches"
    return (
        f"{first} against {second}: difference {test['difference']:z.3f}, se {test['se']:.3f}"
        f"{tested}; wins with probability {win} ({low} to {high}){played}"
    )
