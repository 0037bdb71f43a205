"""What ``bayes-sota epp`` says of a fit, of draws, of several tournaments, and of a plan.

``tests/cli/test_epp.py`` reads it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import (
    Difference,
    diagnose,
    frame_of,
    how_drawn,
    seed_of,
    summarize_draws,
)
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.text import as_sentences, chance, counted, listed, p_value
from bayes_sota.core.types import Seed
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, two_players
from bayes_sota.epp.planning import plan_rounds
from bayes_sota.epp.simulate import leaderboard_quality, not_comparable
from bayes_sota.epp.summary import (
    check_epp,
    describe_skills,
    draws_of_players,
    epp_table,
    rows_of_fit,
)

if TYPE_CHECKING:
    import xarray as xr

_FEW_ROUNDS = 6
_QUALITY = {  # name in JSON: attribute
    "deviance_p_value": "p_value",
    "deviance_expected": "expected",
    "standardized_deviance": "standardized_deviance",
}
_SEED = 0  # of deviations in a new tournament
_OVERLAP = (
    "rounds look like splits of one data set, whose training sets overlap: intervals are about "
    "these splits; --test-fraction (.1 for 10-fold cross-validation) allows for the overlap"
)
_RANKINGS = (
    "rounds are taken as rankings with the same noise (Plackett-Luce): intervals and P(best) are "
    "sharper than without --bayes"
)
_ABSENT = (
    "players are compared by the scores that they have, which favours one that failed elsewhere"
)
Pairs = Sequence[tuple[str, str]]
Tables = Sequence[ScoreTable | Matches]


def report_fit(
    fit: BradleyTerryFit,
    *,
    ci_prob: float = 0.95,
    pairs: Pairs = (),
    repetitions: int | None = None,
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
    repetitions : int, optional
        Of ``leaderboard_quality``; 0 leaves the deviance untested.
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
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([2.0, 0.0, -2.0], 30, random_seed=0))
    >>> report = report_fit(fit, pairs=[("1", "3")], repetitions=19, random_seed=0)
    >>> report.tables[0].title, report.content["deviance_p_value"] > 0.05
    ('simulated: 3 players, 30 rounds', True)
    """
    reason = not_comparable(fit.data)
    rng, seed = resolve_seed(random_seed)
    quality = None
    if repetitions != 0 and not reason:
        quality = leaderboard_quality(fit, repetitions=repetitions, random_seed=rng)
    tests = [asdict(fit.test(a, b, ci_prob)) for a, b in pairs]
    found = {
        "n_rounds": getattr(fit.data, "n_rounds", None),
        "matches": fit.kind,
        **{name: getattr(fit, name) for name in ("deviance", "paper", "connected", "penalty")},
        "df": fit.deviance_df,
        **{name: getattr(quality, key, None) for name, key in _QUALITY.items()},
        "tests": tests,
        "seed": int(seed) if seed.isdigit() and quality else None,
    }
    notes = _remarks(fit) + [f"the deviance is not compared: {reason}"] * bool(reason)
    how = f"maximum likelihood, standard errors clustered, {fit.kind} matches"
    findings = [_deviance_sentence(found), *map(_test_sentence, tests)]
    report = epp_table(fit, ci_prob)
    return _described(
        report, _title([fit.data]), how, findings, notes, reading, prob=ci_prob, **found
    )


def report_tournaments(
    fits: Iterable[BradleyTerryFit], *, ci_prob: float = 0.95, reading: Sequence[str] = ()
) -> Report:
    """Report on the leaderboards of several tournaments (``fit_tournaments``), one after the other.

    Examples
    --------
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> from bayes_sota.epp.tournaments import fit_tournaments
    >>> fits = fit_tournaments([simulate_tournament([1.0, 0.0, -1.0], 30, random_seed=0)])
    >>> report_tournaments(fits).tables[0].title
    'simulated: 3 players, 30 rounds'
    """
    rows, tournaments, tables = [], [], []
    for fit in fits:
        own = rows_of_fit(fit, ci_prob, ranks=False)
        rows += [{"tournament": fit.tournament} | row for row in own]
        numbers = {name: getattr(fit, name) for name in ("tournament", "deviance", "connected")}
        numbers["paper_standardized_deviance"] = fit.paper["standardized_deviance"]
        tournaments.append(numbers | {"df": fit.deviance_df})
        tables.append(fit.data)
    infinite = [one["tournament"] for one in tournaments if not one["connected"]]
    notes = _missing(tables)
    if infinite:
        notes.append(f"skills are finite by the penalty only in {listed(infinite)}")
    report, how = describe_skills(rows, ci_prob), "maximum likelihood, standard errors clustered"
    about = {"prob": ci_prob, "tournaments": tournaments}
    return _described(report, _title(tables), how, [], notes, reading, **about)


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
    checks, diagnostics = check_epp(tree), diagnose(tree)
    tests = [_compared(tree, a, b, ci_prob) for a, b in pairs]
    splits = test_fraction is None and any(map(_is_splits, tables))
    notes = _missing(tables) + [_RANKINGS] * ("round_rank" in tree["observed_data"])
    found = {
        "n_rounds": sum(getattr(table, "n_rounds", 0) for table in tables) or None,
        "tests": tests,
        "checks": checks,
        "diagnostics": diagnostics,
        "model": tree.attrs["model_name"],
        "seed": seed_of(tree),
    }
    if len(tables) > 1:
        own = dataset_of(tree, "posterior")["epp_tournament"].mean(("chain", "draw"))
        skills = {one.tournament: own.sel(tournament=one.tournament) for one in tables}
        found["tournaments"] = [
            {"tournament": name, "players": skill.to_series().to_dict()}
            for name, skill in skills.items()
        ]
    findings = [*_check_sentences(checks), *map(_test_sentence, tests)]
    report = replace(epp_table(tree, ci_prob), reasons=tuple(diagnostics["reasons"]))
    title, notes = f"{_title(tables)}, Bayesian", notes + [_OVERLAP] * splits
    how = how_drawn(tree)
    return _described(report, title, how, findings, notes, reading, prob=ci_prob, **found)


def report_plan(
    fit: BradleyTerryFit, target_se: float, *, reading: Sequence[str] = (), **options: float
) -> Report:
    """Report how many rounds are enough; parameters as of ``plan_rounds``.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([1.0, 0.0, -1.0], 20, random_seed=0))
    >>> print(report_plan(fit, 0.2).sentences[0])
    Every standard error is 0.2 or less after 62 rounds; there are 20.
    """
    plan = plan_rounds(fit, target_se, **options)
    neighbours = [*map(_whole, plan.for_neighbours), None]
    players = [
        {
            "player": fit.players[k],
            "expected_epp": float(plan.expected[k]),
            "se": float(fit.se[k]),
            "rounds_for_se": _whole(plan.for_error[k]),
            "rounds_to_tell_from_next": neighbours[place],
        }
        for place, k in enumerate(plan.order)
    ]
    columns: dict[str, Any] = {
        "player": "player",
        "expected skill": lambda row: f"{row['expected_epp']:z.2f}",
        "se now": lambda row: f"{row['se']:.2f}",
        "rounds for se": lambda row: _after(row["rounds_for_se"]),
        "rounds to tell from next": lambda row: (
            "" if row is players[-1] else _after(row["rounds_to_tell_from_next"])
        ),
    }
    content = {
        **{name: getattr(plan, name) for name in ("rounds", "target_se", "power", "ci_prob")},
        "rounds_for_standard_errors": _whole(plan.for_error.max()),
        "rounds_for_best": _whole(plan.for_best),
        "players": players,
    }
    first, second = (row["player"] for row in players[:2])
    errors, best = content["rounds_for_standard_errors"], content["rounds_for_best"]
    sentences = [
        f"Every standard error is {target_se:g} or less after {_after(errors, 'round')}; there are "
        f"{plan.rounds:,}.",
        f"A test tells {first} from {second} with probability {plan.power:g} after "
        f"{_after(neighbours[0], 'round')}.",
        f"{first} comes out first with probability {plan.ci_prob:g} after {_after(best, 'round')}.",
    ]
    return Report(
        content=content,
        make_frame=partial(frame_of, players),
        tables=[table_of(players, columns)],
        sentences=sentences,
        legend=["Expected skills are the estimated ones, shrunk towards the mean."],
        notes=reading,
        basis=[f"rounds drawn like those that there are; normal and t tests; {SOFTWARE}"],
        about=plan,
    )


def _whole(rounds: float) -> int | None:
    """A number of rounds, None where none is enough."""
    return int(np.ceil(rounds)) if np.isfinite(rounds) else None


def _after(rounds: int | None, noun: str = "") -> str:
    if rounds is None:
        return f"no number of {noun}s" if noun else "no number"
    return counted(rounds, noun) if noun else f"{rounds:,}"


def _described(
    report: Report,
    title: str,
    how: str,
    findings: Sequence[str],
    notes: Sequence[str],
    reading: Sequence[str],
    **found: Any,
) -> Report:
    """Leaderboard with what else was found, in numbers and in words."""
    content = {"title": title, **report.content, **found}
    if "tests" in found:
        content["test"] = found["tests"][0] if found["tests"] else None
    return replace(
        report,
        content={**content, "reading": list(reading), "notes": list(notes)},
        tables=[replace(report.tables[0], title=title)],
        paragraph=[f"{title}.", *report.paragraph, *as_sentences([*findings, *notes])],
        legend=[*report.legend, *findings],
        notes=[*reading, *notes],
        basis=[how, *report.basis],
        measured="epp",
    )


def _title(tables: Tables) -> str:
    """Size of the tournaments; players of the same name are one player."""
    data, *more = tables
    if more:
        players = {name for table in tables for name in table.players}
        return f"{counted(len(players), 'player')} in {counted(len(tables), 'tournament')}"
    size = counted(data.clusters.size, "round")
    if isinstance(data, Matches):
        size = counted(data.clusters.size, "match", "matches")
        size += f" in {counted(data.n_clusters, 'cluster')}" * (data.groups is not None)
    return f"{data.tournament}: {counted(data.n_players, 'player')}, {size}"


def _missing(tables: Tables) -> list[str]:
    """How many scores are missing, and what that means."""
    present = [table.present for table in tables if isinstance(table, ScoreTable)]
    number = sum(int(np.sum(~one)) for one in present)
    return [f"{counted(number, 'score')} missing: {_ABSENT}"] * bool(number)


def _is_splits(data: ScoreTable | Matches) -> bool:
    """Whether rounds are splits of one data set, which share training items."""
    return isinstance(data, ScoreTable) and data.scheme == "model/cv"


def _remarks(fit: BradleyTerryFit) -> list[str]:
    """What the numbers rest on, where a reader would not expect it."""
    notes, least = _missing([fit.data]), int(fit.clusters_of_players.min())
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
    if fit.kind == "all-rounds" and not _is_splits(fit.data):
        notes.append("all-rounds matches are right only where rounds are replicates, as splits are")
    return notes + [_OVERLAP] * (_is_splits(fit.data) and fit.test_fraction is None)


def _compared(tree: "xr.DataTree", a: str, b: str, ci_prob: float) -> dict[str, Any]:
    """Difference of two players' skills, and how likely A beats B in a new round.

    In a tournament not seen yet both players deviate from their skills as they do between the
    tournaments seen.
    """
    players, skills = draws_of_players(tree)
    first, second = two_players(players, a, b)
    gap = skills[:, first] - skills[:, second]
    found, win = Difference(gap).to_dict(ci_prob), summarize_draws(expit(gap), ci_prob)
    compared: dict[str, Any] = {
        "players": [a, b],
        "difference": found["mean"],
        "se": found["sd"],
        "interval": found["interval"],
        "p_better": found["p_better"],
        "win_probability": win["mean"],
        "win_probability_interval": win["interval"],
    }
    if "tournament_sd" in tree["posterior"]:
        spread = dataset_of(tree, "posterior")["tournament_sd"].values.ravel()
        normal = np.random.default_rng(_SEED).standard_normal(gap.size)
        new = summarize_draws(expit(gap + np.sqrt(2) * spread * normal), ci_prob)
        compared["new_tournament"] = {"win_probability": new["mean"], "interval": new["interval"]}
    return compared


def _deviance_sentence(found: dict[str, Any]) -> str:
    p, misfit = found["deviance_p_value"], f"misfit {found['deviance']:.1f}"
    if p is None:
        return f"Whether one order describes all rounds is not tested ({misfit})."
    verdict = "no clear sign against it" if p >= 0.05 else "players differ between rounds"
    return (
        f"Whether one order describes all rounds: {p_value(p)}, {verdict} ({misfit}, "
        f"{found['deviance_expected']:.1f} expected if these skills were the whole story)."
    )


def _check_sentences(checks: dict[str, Any]) -> list[str]:
    p, loo, said = checks["deviance_p_value"], checks["loo"], []
    if p is not None:
        said.append(f"Fit check: Bayesian {p_value(p)} (fine if not near 0 or 1).")
    if loo is not None:
        elpd = f"elpd {loo['elpd']:.1f} (se {loo['se']:.1f})"
        said.append(f"To compare models: {elpd}, leaving out one {loo['of']} at a time.")
    return said


def _test_sentence(test: dict[str, Any]) -> str:
    first, second = test["players"]
    win, low, high = map(chance, (test["win_probability"], *test["win_probability_interval"]))
    tested = played = ""
    if "p_value" in test:
        model = chance(test["p_value_model"])
        tested = f", {p_value(test['p_value'])} (independent matches, too small: {model})"
        played = f" by the skills, won {test['points']:g} of their {test['n_matches']:,} matches"
    return (
        f"{first} against {second}: difference {test['difference']:z.3f}, se {test['se']:.3f}"
        f"{tested}; wins with probability {win} ({low} to {high}){played}"
    )
