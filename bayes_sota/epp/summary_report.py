"""All that is said of a leaderboard: what ``bayes-sota epp`` prints and writes.

``tests/epp/test_command.py`` reads both.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import diagnose, how_drawn, seed_of, summarize_draws
from bayes_sota.core.tables import Report
from bayes_sota.core.text import as_sentences, chance, counted, p_value
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.further_fits import TournamentLeaderboard
from bayes_sota.epp.simulate import leaderboard_quality, not_comparable
from bayes_sota.epp.summary import (
    check_epp,
    difference_of_skills,
    epp_table,
    tournaments_table,
)

if TYPE_CHECKING:
    import xarray as xr


_FEW_ROUNDS = 6
_SEED = 0  # of deviations in a new tournament
_OVERLAP = (
    "rounds look like splits of one data set, whose training sets overlap: intervals are about "
    "these splits; --test-fraction (.1 for 10-fold cross-validation) allows for the overlap"
)
_RANKINGS = (
    "rounds are taken as rankings with the same noise (Plackett-Luce): intervals and "
    "P(best) are sharper than without --bayes, and each for itself"
)
_ABSENT = (
    "players are compared by the scores that they have, and one whose score is missing because it "
    "failed there looks better than it is"
)
Pairs = Sequence[tuple[str, str]]


def _described(
    table: Report,
    content: dict[str, Any],
    how: str,
    findings: Sequence[str] = (),
    reasons: Sequence[str] = (),
) -> Report:
    """Leaderboard with its quality, comparisons of players, and what to know about it.

    Parameters
    ----------
    table : Report
        Of the skills.
    content : dict
        Keys of ``bayes-sota epp --json``: players, deviance or checks, tests, notes, seed.
    how : str
        How the skills were estimated.
    findings : sequence of str
        Quality and comparisons of players in words.
    reasons : sequence of str
        Why the result cannot be trusted; empty where it can.
    """
    name, _, size = str(content["title"]).rpartition(": ")
    first, *rest = table.sentences
    first = f'In "{name}" ({size}) {first}' if name else first[:1].upper() + first[1:]
    skill = table.legend[0]
    return replace(
        table,
        content=content,
        tables=[replace(table.tables[0], title=str(content["title"]))],
        sentences=[first, *rest],
        paragraph=[first, *rest, skill, *as_sentences([*findings, *content["notes"]])],
        legend=[*table.legend, *findings],
        notes=[*content.get("reading", ()), *content["notes"]],
        reasons=reasons,
        basis=[how, *table.basis],
        measured="epp",
    )


def report_fit(
    fit: BradleyTerryFit,
    *,
    ci_prob: float = 0.95,
    pairs: Pairs = (),
    repetitions: int | None = None,
    reading: Sequence[str] = (),
    random_seed: Seed = None,
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
        Default 0.

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
    tested = repetitions != 0 and not reason
    tests = [asdict(fit.test(a, b, ci_prob)) for a, b in pairs]
    rng, seed = resolve_seed(DEFAULT_SEED if random_seed is None else random_seed)
    quality = leaderboard_quality(fit, repetitions=repetitions, random_seed=rng) if tested else None
    table = epp_table(fit, ci_prob)
    every = ", all-rounds matches" if fit.kind == "all-rounds" else ""
    content = {
        "title": _title(fit.data) + every,
        "n_rounds": getattr(fit.data, "n_rounds", None),
        **table.content,
        "matches": fit.kind,
        "deviance": fit.deviance,
        "df": fit.deviance_df,
        "deviance_p_value": quality.p_value if quality else None,
        "deviance_expected": quality.expected if quality else None,
        "standardized_deviance": quality.standardized_deviance if quality else None,
        "paper": fit.paper,
        "connected": fit.connected,
        "penalty": fit.penalty,
        "tests": tests,
        "test": tests[0] if tests else None,
        "reading": list(reading),
        "notes": _remarks(fit) + ([f"the deviance is not compared: {reason}"] if reason else []),
        "prob": ci_prob,
        "seed": int(seed) if seed.isdigit() and quality else None,
    }
    sentences = (_deviance_sentence(content), *map(_test_sentence, tests))
    how = f"maximum likelihood, standard errors clustered, {fit.kind} matches"
    how += "" if content["seed"] is None else f", seed {content['seed']}"
    return _described(table, content, how, sentences)


def report_tournaments(
    leaderboards: Sequence[TournamentLeaderboard],
    *,
    ci_prob: float = 0.95,
    reading: Sequence[str] = (),
) -> Report:
    """Report on the leaderboards of several tournaments (``fit_tournaments``).

    Parameters
    ----------
    leaderboards : sequence of TournamentLeaderboard
    ci_prob : float
        Probability of the intervals.
    reading : sequence of str
        Notes on how the data were read.

    Examples
    --------
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> from bayes_sota.epp.further_fits import fit_tournaments
    >>> leaderboards = fit_tournaments([simulate_tournament([1.0, 0.0, -1.0], 30, random_seed=0)])
    >>> report_tournaments(leaderboards).tables[0].title
    '3 players in 1 tournament'
    """
    table = tournaments_table(leaderboards, ci_prob)
    notes = list(reading)
    missing = sum(board.n_missing for board in leaderboards)
    if missing:
        notes.append(f"{counted(missing, 'score')} missing: {_ABSENT}")
    infinite = [board.tournament for board in leaderboards if not board.connected]
    if infinite:
        notes.append(
            f"estimates of {counted(len(infinite), 'tournament')} are finite by the penalty only, "
            f"the first is {infinite[0]}"
        )
    content = {
        "title": _title_of_several(leaderboards),
        "tournaments": [
            {
                "tournament": board.tournament,
                "deviance": board.deviance,
                "df": board.deviance_df,
                "paper_standardized_deviance": board.paper_standardized_deviance,
                "connected": board.connected,
            }
            for board in leaderboards
        ],
        **table.content,
        "notes": notes,
        "prob": ci_prob,
    }
    return _described(table, content, "maximum likelihood, standard errors clustered")


def report_draws(
    tree: "xr.DataTree",
    tables: Sequence[ScoreTable | Matches],
    *,
    ci_prob: float = 0.95,
    pairs: Pairs = (),
    test_fraction: float | None = None,
    reading: Sequence[str] = (),
) -> Report:
    """Report on posterior draws of the skills (``sample_epp``).

    Parameters
    ----------
    tree : DataTree
        From ``sample_epp``.
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
    table, checks, diagnostics = epp_table(tree, ci_prob), check_epp(tree), diagnose(tree)
    tests = [_compared(tree, a, b, ci_prob) for a, b in pairs]
    splits = any(getattr(table, "scheme", "") == "model/cv" for table in tables)
    notes = _missing(tables) + [_RANKINGS] * ("round_rank" in tree["observed_data"])
    notes += [_OVERLAP] * (splits and test_fraction is None)
    several = len(tables) > 1
    content = {
        "title": (_title_of_several(tables) if several else _title(tables[0])) + ", Bayesian",
        "n_rounds": sum(getattr(table, "n_rounds", 0) for table in tables) or None,
        **table.content,
        **({"tournaments": _skills_by_tournament(tree, tables, ci_prob)} if several else {}),
        "tests": tests,
        "test": tests[0] if tests else None,
        "checks": checks,
        "diagnostics": diagnostics,
        "notes": [*reading, *notes],
        "prob": ci_prob,
        "model": tree.attrs["model_name"],
        "seed": seed_of(tree),
    }
    sentences = (_check_sentence(checks), *map(_test_sentence, tests))
    return _described(table, content, how_drawn(tree), sentences, tuple(diagnostics["reasons"]))


def _title(data: ScoreTable | Matches) -> str:
    if isinstance(data, ScoreTable):
        size = counted(data.n_rounds, "round")
    else:
        clusters = f" in {counted(data.n_clusters, 'cluster')}" if data.groups else ""
        size = f"{counted(data.outcomes.size, 'match', 'matches')}{clusters}"
    return f"{data.tournament}: {counted(data.n_players, 'player')}, {size}"


def _title_of_several(boards: Sequence[ScoreTable | Matches | TournamentLeaderboard]) -> str:
    """Players of the same name are one player."""
    players = {name for board in boards for name in board.players}
    return f"{counted(len(players), 'player')} in {counted(len(boards), 'tournament')}"


def _missing(tables: Sequence[ScoreTable | Matches]) -> list[str]:
    """How many scores are missing, of whom the most, and what that means."""
    present = [table.present for table in tables if isinstance(table, ScoreTable)]
    number = sum(int(np.sum(~one)) for one in present)
    if not number:
        return []
    of = sum(one.size for one in present)
    most = ""
    if len(tables) == 1:
        lost = np.sum(~present[0], axis=0)
        player = int(np.argmax(lost))
        most = f", up to {lost[player]:,} of one player ({tables[0].players[player]})"
    verb = "is" if number == 1 else "are"
    return [f"{number:,} of {counted(of, 'score')} {verb} missing{most}: {_ABSENT}"]


def _remarks(fit: BradleyTerryFit) -> list[str]:
    """What the numbers rest on, where a reader would not expect it."""
    remarks = _missing([fit.data])
    if fit.penalty and not fit.connected:
        remarks.append(
            "without the penalty some estimates would be infinite: those skills depend on it"
        )
    if isinstance(fit.data, Matches) and fit.data.groups is None:
        remarks.append(
            "matches are taken as independent of each other; if some share a prompt, judge or "
            "round, give --column cluster=NAME"
        )
    elif (least := int(fit.clusters_of_players.min())) < _FEW_ROUNDS:
        few = [fit.players[k] for k in np.flatnonzero(fit.clusters_of_players == least).tolist()]
        who = "all players are" if len(few) == len(fit.players) else f"{few[0]} is"
        remarks.append(f"{who} in {least} independent rounds only: intervals are very wide")
    if fit.kind == "all-rounds" and not fit.data_is_splits:
        remarks.append(
            "all-rounds matches compare scores of different rounds: only for rounds that are "
            "replicates, such as splits of one data set"
        )
    if fit.data_is_splits and fit.test_fraction is None:
        remarks.append(_OVERLAP)
    return remarks


def _compared(tree: "xr.DataTree", a: str, b: str, ci_prob: float) -> dict[str, Any]:
    """Difference of two players' skills, and how likely A beats B in a new round.

    In a tournament not seen yet both players deviate from their skills as they do between the
    tournaments seen.
    """
    difference = difference_of_skills(tree, a, b)
    gap = summarize_draws(difference, ci_prob)
    win, interval = _win_probability(difference, ci_prob)
    compared: dict[str, Any] = {
        "players": [a, b],
        "difference": gap["mean"],
        "se": gap["sd"],
        "interval": gap["interval"],
        "p_better": float(np.mean(difference > 0)),
        "win_probability": win,
        "win_probability_interval": interval,
    }
    if "tournament_sd" in tree["posterior"]:
        spread = dataset_of(tree, "posterior")["tournament_sd"].values.ravel()
        normal = np.random.default_rng(_SEED).standard_normal(difference.size)
        win, interval = _win_probability(difference + np.sqrt(2) * spread * normal, ci_prob)
        compared["new_tournament"] = {"win_probability": win, "interval": interval}
    return compared


def _win_probability(difference: FloatArray, ci_prob: float) -> tuple[float, list[float]]:
    win = expit(difference)
    ends = np.quantile(win, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    return float(win.mean()), ends.tolist()


def _skills_by_tournament(
    tree: "xr.DataTree", tables: Sequence[ScoreTable | Matches], ci_prob: float
) -> list[dict[str, Any]]:
    own, over = tree["posterior"]["epp_tournament"], ("chain", "draw")
    mean, ends = own.mean(over), own.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2], over)

    def skill(**place: str) -> dict[str, Any]:
        interval = ends.sel(place).values.tolist()
        return {"player": place["player"], "epp": float(mean.sel(place)), "interval": interval}

    return [
        {
            "tournament": table.tournament,
            "players": [skill(tournament=table.tournament, player=name) for name in table.players],
        }
        for table in tables
    ]


def _deviance_sentence(content: dict[str, Any]) -> str:
    p, misfit = content["deviance_p_value"], f"misfit {content['deviance']:.1f}"
    if p is None:
        return f"Whether one order describes all rounds is not tested ({misfit})."
    verdict = "no clear sign against it" if p >= 0.05 else "players differ between rounds"
    return (
        f"Whether one order describes all rounds: {p_value(p)}, {verdict} ({misfit}, "
        f"{content['deviance_expected']:.1f} expected if these skills were the whole story)."
    )


def _check_sentence(checks: dict[str, Any]) -> str:
    p, loo = checks["deviance_p_value"], checks["loo"]
    parts = [] if p is None else [f"Fit check: Bayesian {p_value(p)} (fine if not near 0 or 1)."]
    if loo is not None:
        bad = f", {loo['n_bad_k']} of them too influential" if loo["n_bad_k"] else ""
        parts.append(
            f"To compare models: elpd {loo['elpd']:.1f} (se {loo['se']:.1f}), leaving out one "
            f"{loo['of']} at a time{bad}."
        )
    return " ".join(parts)


def _test_sentence(test: dict[str, Any]) -> str:
    first, second = test["players"]
    win, low, high = map(chance, (test["win_probability"], *test["win_probability_interval"]))
    line = f"{first} against {second}: difference {test['difference']:z.3f}, se {test['se']:.3f}, "
    if "p_value" in test:
        line += (
            f"{p_value(test['p_value'])} (as if matches were independent, too small as a rule: "
            f"{chance(test['p_value_model'])}); "
        )
    line += f"wins with probability {win} ({low} to {high})"
    if "points" in test:
        line += f" by the skills, won {test['points']:g} of their {test['n_matches']:,} matches"
    return line
