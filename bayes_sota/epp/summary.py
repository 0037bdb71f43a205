"""Reports on leaderboards, posterior draws, several tournaments and plans.

Intervals are equal-tailed. ``tests/epp/test_summary.py`` compares with counting,
``tests/cli/test_epp.py`` reads the reports.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayes_sota.core.arguments import DEFAULT_SEED, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.ranks import joint_rank_sets
from bayes_sota.core.sample import resolve_seed, share_of_draws
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import (
    diagnose,
    frame_of,
    how_drawn,
    seed_of,
    summarize,
    summarize_difference,
)
from bayes_sota.core.tables import SOFTWARE, Report, rows_of, table_of
from bayes_sota.core.text import (
    as_sentences,
    chance,
    counted,
    decimals_for,
    in_prose,
    listed,
    p_value,
)
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import two_players
from bayes_sota.epp.fit import AVERAGE_ELO, ELO_PER_EPP, BradleyTerryFit
from bayes_sota.epp.planning import plan_rounds
from bayes_sota.epp.simulate import leaderboard_quality, not_comparable

if TYPE_CHECKING:
    import xarray as xr

Rows = Sequence[dict[str, Any]]
CITED = (
    "EPP after Gosiewska, Woźnica and Biecek 2022, Interpretable meta-score for model performance"
)
_MEANING = (
    "A lead of 1 in EPP wins 73% of the matches, one of 2 wins 88%; a tie counts half. The average "
    "player has EPP 0 and Elo 1500; a lead of 400 in Elo is odds of 10 to 1."
)
_AT_ONCE = (
    "Intervals are for one player at a time; rank intervals hold for all players at once. May be "
    "best: no other player is shown to be better. A --test of two players alone has more power."
)


def draws_of_players(tree: "xr.DataTree") -> tuple[list[str], FloatArray]:
    """Players, and posterior draws of their skills, (draws, m)."""
    posterior = dataset_of(tree, "posterior")
    if "epp" not in posterior:
        raise InputError("no epp in the group posterior: infer_skills and sample_epp draw it")
    values = posterior["epp"].transpose("chain", "draw", "player")
    players = [str(player) for player in values["player"].values]
    return players, np.asarray(values.values.reshape(-1, len(players)))


def epp_table(result: "BradleyTerryFit | xr.DataTree", ci_prob: float = 0.95) -> Report:
    """Leaderboard of one tournament.

    ``result`` is from ``fit_epp``, ``infer_skills`` or ``sample_epp``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> scores = [2.0, 0.0, -2.0] + np.random.default_rng(0).gumbel(size=(30, 3))
    >>> table = epp_table(bs.fit_epp(scores))
    >>> table.frame[["rank", "player", "tied_with_best"]].values.tolist()
    [[1, '1', True], [2, '2', False], [3, '3', False]]
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if isinstance(result, BradleyTerryFit):
        return describe_skills(rows_of_fit(result, ci_prob), ci_prob)
    return describe_skills(_rows_of_draws(result, ci_prob), ci_prob)


def _rows_of_draws(tree: "xr.DataTree", ci_prob: float) -> Rows:
    players, skills = draws_of_players(tree)
    rank = np.argsort(np.argsort(-skills, axis=1), axis=1) + 1
    best, worst = joint_rank_sets(rank, ci_prob).T
    skill = dataset_of(tree, "posterior")["epp"]
    first = share_of_draws(skill == skill.max("player"), "p_best")
    found = summarize(tree, ci_prob, ["epp"]).drop(columns="median")
    found.insert(0, "player", players)
    found = (
        found.rename(columns={"mean": "epp", "sd": "se"})
        .assign(p_best=first["p_best"].values, p_best_mcse=first["p_best_mcse"].values)
        .assign(rank_lower=best, rank_upper=worst, p_beats_average=expit(skills).mean(axis=0))
        .sort_values("epp", ascending=False, kind="stable")
    )
    elo, elo_se = AVERAGE_ELO + ELO_PER_EPP * found["epp"], ELO_PER_EPP * found["se"]
    return rows_of(found.assign(rank=range(1, len(found) + 1), elo=elo, elo_se=elo_se))


def rows_of_fit(fit: BradleyTerryFit, ci_prob: float, *, ranks: bool = True) -> Rows:
    """Numbers of every player, the best first."""
    lower, upper = fit.interval(ci_prob).T
    columns = {
        "rank": fit.rank,
        "player": list(fit.players),
        "epp": fit.epp,
        "se": fit.se,
        "elo": AVERAGE_ELO + ELO_PER_EPP * fit.epp,
        "elo_se": ELO_PER_EPP * fit.se,
        "se_model": fit.se_model,
        "lower": lower,
        "upper": upper,
        "p_beats_average": expit(fit.epp),  # Property 3.4
    }
    if ranks:
        best, worst = fit.rank_interval(ci_prob).T
        columns |= {"rank_lower": best, "rank_upper": worst, "tied_with_best": best == 1}
    order = np.argsort(-fit.epp, kind="stable")
    cells = [np.asarray(values, object)[order].tolist() for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def describe_skills(rows: Rows, ci_prob: float) -> Report:
    """Report on the skills of players, from rows of numbers, the best first."""
    percent = f"{ci_prob:.0%}"
    d = decimals_for(0.1, max(row.get("mcse", 0.0) for row in rows))

    def interval(row: dict[str, Any]) -> str:
        return f"{row['lower']:z.{d}f} to {row['upper']:z.{d}f}"

    is_draws, is_tested = "p_best" in rows[0], "tied_with_best" in rows[0]
    columns: dict[str, Any] = {
        "tournament": "tournament",
        "rank": "rank",
        "player": "player",
        "EPP": lambda row: f"{row['epp']:z.{d}f}",
        "se": lambda row: f"{row['se']:z.{d}f}",
        "Elo (se)": lambda row: f"{row['elo']:z.0f} ({row['elo_se']:.0f})",
        f"{percent} interval": interval,
        "P(beats average)": lambda row: chance(row["p_beats_average"]),
        "rank interval": lambda row: (
            f"{row['rank_lower']} to {row['rank_upper']}" if is_draws or is_tested else None
        ),
        "P(best)": lambda row: chance(row["p_best"], row["p_best_mcse"]) if is_draws else None,
        "may be best": lambda row: "yes" * row["tied_with_best"] if is_tested else None,
    }
    sentences = [_who_may_be_best(rows, percent)] if is_tested else []
    p_best = in_prose(rows[0]["p_best"]) if is_draws else ""
    best = f", and it is the best of all with probability {p_best}" * is_draws
    for tournament in dict.fromkeys(row.get("tournament") for row in rows):
        first = [x for x in rows if x["rank"] == 1 and x.get("tournament") == tournament]
        where, row = "" if tournament is None else f"In {tournament} ", first[0]
        have = listed([x["player"] for x in first]) + (" has" if len(first) == 1 else " share")
        sentence = f"{where}{have} the highest estimated skill (EPP), {row['epp']:z.{d}f}"
        if len(first) == 1:
            sentence += f" ({percent} interval {interval(row)}): it beats an average player with "
            sentence += f"probability {in_prose(row['p_beats_average'])}{best}"
        sentences.append(f"{sentence}.")
    return Report(
        content={"players": [_in_json(row) for row in rows]},
        make_frame=partial(frame_of, rows),
        tables=[table_of(rows, columns)],
        sentences=sentences,
        paragraph=[*sentences, _MEANING],
        legend=[_MEANING, *[_AT_ONCE] * is_tested],
        basis=[SOFTWARE, CITED],
    )


def _who_may_be_best(rows: Rows, percent: str) -> str:
    names = [row["player"] for row in rows if row["tied_with_best"]]
    if len(names) == 1:
        return f"{names[0]} is the best of {len(rows):,} players, with {percent} confidence."
    if len(names) == len(rows):
        return f"Any of the {len(rows):,} players may be the best, with {percent} confidence."
    return f"With {percent} confidence the best player is one of {listed(names)}."


def _in_json(row: dict[str, Any]) -> dict[str, Any]:
    player = dict(row)
    for name, ends in (("interval", "{}"), ("rank_interval", "rank_{}")):
        if ends.format("lower") in player:
            player[name] = [player.pop(ends.format(end)) for end in ("lower", "upper")]
    return player


_FEW_ROUNDS = 6
_OVERLAP = "splits of one data set overlap: --test-fraction (0.1 for ten folds) allows for it"
_RANKINGS = "all rounds are assumed to be equally noisy; if they are not, intervals are too narrow"
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
    pairs : sequence of (str, str)
        Players to compare (``fit.test``).
    reading : sequence of str
        Notes on how the data were read.
    random_seed : int, SeedSequence or Generator, optional

    Examples
    --------
    >>> import bayes_sota as bs
    >>> scores = [2.0, 0.0, -2.0] + np.random.default_rng(0).gumbel(size=(30, 3))
    >>> fit = bs.fit_epp(scores)
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
    >>> import bayes_sota as bs
    >>> fit = bs.fit_epp([2.0, 0.0, -2.0] + np.random.default_rng(0).gumbel(size=(30, 3)))
    >>> report_tournaments([fit]).tables[0].title
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
        notes.append(f"some skills are finite only because of the penalty: in {listed(infinite)}")
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

    ``tables`` are the data, one per tournament, ``test_fraction`` that of ``build_model``; the rest
    is as in ``report_fit``.
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
    >>> import bayes_sota as bs
    >>> fit = bs.fit_epp([1.0, 0.0, -1.0] + np.random.default_rng(0).gumbel(size=(20, 3)))
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
        "rounds to distinguish from next": "rounds_to_tell_from_next",
    }
    rounds = {
        "rounds_for_standard_errors": _whole(plan.for_error.max()),
        "rounds_for_best": _whole(plan.for_best),
    }
    settings = {name: getattr(plan, name) for name in ("rounds", "target_se", "power", "ci_prob")}
    first, second = (row["player"] for row in players[:2])
    needed = [*rounds.values(), players[0]["rounds_to_tell_from_next"]]
    error, best, neighbours = (
        "infinitely many rounds" if n is None else counted(n, "round") for n in needed
    )
    sentences = [
        f"Standard errors of {target_se:g} or less need {error}; there are {plan.rounds:,}.",
        f"A test that distinguishes {first} from {second} with power {plan.power:g} needs "
        f"{neighbours}.",
        f"{first} comes first with probability {plan.ci_prob:g} after {best}.",
    ]
    return Report(
        content={**settings, **rounds, "players": players, "reading": [*reading]},
        make_frame=partial(frame_of, players),
        tables=[table_of(players, columns)],
        sentences=sentences,
        legend=["Expected skills are the estimates shrunk towards the mean."],
        basis=[f"new rounds assumed to be like those observed; normal and t tests; {SOFTWARE}"],
    )


def _whole(rounds: float) -> int | None:
    return int(np.ceil(rounds)) if np.isfinite(rounds) else None


def _described(report: Report, how: str, findings: Sequence[str], **found: Any) -> Report:
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
    if len(tables) > 1:
        players = {name for table in tables for name in table.players}
        return f"{counted(len(players), 'player')} in {counted(len(tables), 'tournament')}"
    (data,), size = tables, counted(tables[0].clusters.size, "round")
    if isinstance(data, Matches):
        clusters = "" if data.groups is None else f" in {counted(data.n_clusters, 'cluster')}"
        size = counted(data.clusters.size, "match", "matches") + clusters
    return f"{data.tournament}: {counted(data.n_players, 'player')}, {size}"


def _remarks_on_data(tables: Tables, test_fraction: float | None) -> list[str]:
    number = sum(int(np.sum(~table.present)) for table in tables if isinstance(table, ScoreTable))
    splits = any(getattr(table, "scheme", None) == "model/cv" for table in tables)
    overlap = splits and test_fraction is None
    missing = f"{counted(number, 'score')} missing: {_ABSENT}"
    return [missing] * bool(number) + [_OVERLAP] * overlap


def _remarks(fit: BradleyTerryFit) -> list[str]:
    notes = _remarks_on_data([fit.data], fit.test_fraction)
    least = int(fit.clusters_of_players.min())
    if fit.penalty and not fit.connected:
        notes.append("some skills are finite only because of the penalty, and depend on it")
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
        model = f" ({p_value(test['p_value_model'])} if matches were independent)"
        tested = f", {p_value(test['p_value'])}{model * (test['se'] != test['se_model'])}"
        played = f" and won {test['points']:g} of their {test['n_matches']:,} matches"
    return (
        f"{first} against {second}: difference {test['difference']:z.3f}, se {test['se']:.3f}"
        f"{tested}; {first} wins with probability {win} ({low} to {high}){played}"
    )
