r"""Bayesian EPP: Bradley–Terry skills with one law of all players, as plain ``pm.Model`` for NUTS.

.. math::
   \operatorname{logit} P(i \text{ beats } j) = \beta_i - \beta_j, \qquad
   \beta \sim N(X \gamma,\, \sigma^2) \text{ with } \textstyle\sum_i \beta_i = 0, \qquad
   \sigma \sim N^+(0, s^2)

(likelihood: Gosiewska et al. 2022, Def. 2; the priors are ours). In several tournaments
:math:`\beta_{it} = \beta_i + \delta_{it}`. A round of scores is a ranking by :math:`\beta_i` plus
standard Gumbel noise, whose pairs follow the Bradley–Terry model:

.. math:: P(i_1 > i_2 > \dots > i_k) = \prod_{l=1}^{k}
   \frac{e^{\beta_{i_l}}}{\sum_{n \ge l} e^{\beta_{i_n}}}

(Luce 1959; Plackett 1975). The log-likelihood of ties is the mean over the orders of the tied
players, for six or more over about a dozen balanced orders.

The log-likelihood of matches that share a round, a prompt or a judge, and of rankings in groups, is
divided by ``BradleyTerryFit.inflation`` (magnitude adjustment of a composite likelihood: Ribatet,
Cooley & Davison 2012). ``tests/epp/test_models.py`` compares with densities by hand and
enumerates rankings and orders.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import EppPriors, own_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import ABSENT, ranks_of_rounds
from bayes_sota.epp.fit import BradleyTerryFit, checked_tables, fit_epp

RankingLikelihood = Literal["auto", "matches"]
_PENALTY = 1e-6  # rounds of ties: finite estimates, for weights
_CLEAR = 4.0  # squared spread of estimates per squared error, above which skills are centred


def build_model(
    data: ScoreTable | Matches | Sequence[ScoreTable] | Sequence[Matches],
    priors: EppPriors | None = None,
    *,
    likelihood: RankingLikelihood = "auto",
    player_covariates: Any = None,
    test_fraction: float | None = None,
) -> pm.Model:
    """Model of the skills of players in one tournament or several; a name is one player.

    Parameters
    ----------
    data : ScoreTable, Matches, or a sequence of one of them
        One per tournament.
    priors : EppPriors, optional
    likelihood : {"auto", "matches"}
        Rounds as rankings (the default for scores), or pairs of players.
    player_covariates : DataFrame indexed by player, optional
        They enter the prior mean of the skills: numbers standardised, levels as centred columns.
    test_fraction : float, optional
        As in ``fit_epp``: the log-likelihood is divided by ``BradleyTerryFit.overlap``.

    Returns
    -------
    pm.Model
        Deterministic ``epp`` (player,), mean zero; free ``skill_sd`` with ``skill_offset`` (skills
        in units of it), or ``own_skill`` where the data are informative; if requested
        ``tournament_sd`` with ``epp_tournament`` (tournament, player) and
        ``covariate_effect`` (covariate,). Observed ``round_rank`` (round, player), or
        ``match_counts`` (pair, outcome).

    Raises
    ------
    InputError
        Constant scores, tournaments of the same name, covariates that lack a value or do not vary.

    Examples
    --------
    >>> table = ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]], players=["a", "b", "c"])
    >>> model = build_model(table)
    >>> [v.name for v in model.observed_RVs], model.named_vars_to_dims["epp"]
    (['round_rank'], ('player',))
    """
    known = own_priors(EppPriors, priors)
    check_choice("likelihood", likelihood, RankingLikelihood)
    tables = checked_tables(data)
    ranked = isinstance(tables[0], ScoreTable) and likelihood == "auto"
    players = list(dict.fromkeys(name for table in tables for name in table.players))
    tournaments = [table.tournament for table in tables]
    fits = [fit_epp(t, penalty=_PENALTY, test_fraction=test_fraction) for t in tables]
    weights = np.array([_weight(fit, ranked) for fit in fits])
    with pm.Model(coords={"player": players, "tournament": tournaments}) as model:
        centred = all(np.var(fit.epp) > _CLEAR * np.mean(fit.se**2) for fit in fits)
        skills = _player_skills(player_covariates, players, known, centred)
        skills = _tournament_skills(skills, len(tables), known.tournament_scale)
        weight = pm.Data("likelihood_weight", weights, dims="tournament")
        if ranked:
            _observe_rankings(skills, tables, weight)
        else:
            _observe_matches(skills, fits, weight)
        add_digest(*tables)
    return model


def build_design(covariates: Any, names: Sequence[str]) -> tuple[FloatArray, list[str]]:
    """Centred columns of covariates, (player, column), and their labels."""
    import pandas as pd

    if not isinstance(covariates, pd.DataFrame):
        raise InputError("covariates must be a data frame whose index names the players")
    frame = covariates.set_axis(covariates.index.astype(str))
    frame = frame[~frame.index.duplicated()].reindex(list(names))
    for name, values in frame.items():
        missing = values.isin([np.inf, -np.inf]) | values.isna()
        if missing.any():
            at = f"covariate {name!r}, player {missing.idxmax()!r}"
            raise InputError(f"{at}: a value is missing or infinite")
        if values.nunique() < 2:
            raise InputError(f"covariate {name!r} is the same for all players: leave it out")
    numbers = frame.select_dtypes(["number", "bool"]).columns
    frame = frame.astype({name: float if name in numbers else str for name in frame})
    frame = pd.get_dummies(frame, prefix_sep=": ", dtype=float)
    frame[numbers] /= frame[numbers].std(ddof=0)
    return (frame - frame.mean()).to_numpy(), [*frame.columns.astype(str)]


def _weight(fit: BradleyTerryFit, ranked: bool) -> float:
    if not ranked:
        return 1 / fit.inflation
    if fit.data.groups is None:
        return 1 / fit.overlap
    alone = fit_epp(replace(fit.data, groups=None), penalty=fit.penalty)
    return min(alone.inflation / fit.inflation, 1.0)


def _player_skills(
    covariates: Any, players: Sequence[str], priors: EppPriors, centred: bool
) -> Any:
    spread = pm.HalfNormal("skill_sd", priors.skill_scale)
    if centred:
        own = pm.ZeroSumNormal("own_skill", sigma=spread, dims="player")
    else:
        own = spread * pm.ZeroSumNormal("skill_offset", sigma=1.0, dims="player")
    if covariates is not None:
        columns, labels = build_design(covariates, players)
        pm.modelcontext(None).add_coord("covariate", labels)
        own += columns @ pm.Normal("covariate_effect", 0.0, priors.effect_scale, dims="covariate")
    return pm.Deterministic("epp", own, dims="player")


def _tournament_skills(skills: Any, number: int, scale: float) -> Any:
    if number == 1:
        return skills[None, :]
    spread = pm.HalfNormal("tournament_sd", scale)
    dims = ("tournament", "player")
    offset = pm.ZeroSumNormal("tournament_offset", sigma=1.0, n_zerosum_axes=1, dims=dims)
    return pm.Deterministic("epp_tournament", skills + spread * offset, dims=dims)


def _observe_rankings(skills: Any, tables: Sequence[ScoreTable], weights: Any) -> None:
    model = pm.modelcontext(None)
    players = list(model.coords["player"])
    tournament = np.repeat(np.arange(len(tables)), [table.n_rounds for table in tables])
    ranks = np.full((tournament.size, len(players)), ABSENT, np.int64)
    for place, table in enumerate(tables):
        own = [players.index(name) for name in table.players]
        ranks[np.ix_(tournament == place, own)] = ranks_of_rounds(table.oriented)
    named = [(table.tournament, label) for table in tables for label in table.rounds]
    rounds = [f"{name}: {label}" if len(tables) > 1 else label for name, label in named]
    model.add_coord("round", rounds)
    present = ranks != ABSENT
    pm.Data("round_tournament", tournament, dims="round")
    orders = order_rounds(ranks)
    tensors = RoundOrders(*(pm.Data(f"round_{k}", x) for k, x in orders._asdict().items()))

    def logp(_: Any, skills: Any) -> Any:
        skills = skills[0]  # PyMC gives parameters the number of dimensions of the data
        return weights[tournament] * ranking_log_likelihood(skills, tournament, tensors, pt)

    def random(skills: Any, rng: Any = None, size: Any = None) -> Any:
        scores = skills.reshape(skills.shape[-2:])[tournament] + rng.gumbel(size=present.shape)
        places = np.argsort(np.argsort(np.where(present, scores, np.inf), axis=-1), axis=-1)
        return np.where(present, places, ABSENT)

    pm.CustomDist(
        "round_rank",
        skills,
        logp=logp,
        random=random,
        signature="(s,p)->(p)",
        dtype="int64",
        observed=ranks,
        dims=("round", "player"),
    )


def _observe_matches(skills: Any, fits: Sequence[BradleyTerryFit], weights: Any) -> None:
    model, columns = pm.modelcontext(None), []
    players = list(model.coords["player"])
    for place, fit in enumerate(fits):
        own = np.array([players.index(name) for name in fit.players])
        first, second = np.nonzero(np.triu(fit.counts.n_matches))
        wins = fit.counts.doubled_wins / 2
        of_pairs = own[first], own[second], wins[first, second], wins[second, first]
        columns.append([np.full(first.size, place), *of_pairs])
    rows = np.hstack(columns)
    where, first, second = rows[:3].astype(np.intp)
    counts = rows[3:].T
    model.add_coords({"pair": np.arange(len(where)), "outcome": ["won", "lost"]})
    places = {"pair_tournament": where, "pair_first": first, "pair_second": second}
    for name, values in places.items():
        pm.Data(name, values, dims="pair")
    difference = skills[where, first] - skills[where, second]
    logs = pt.stack([-pt.softplus(-difference), -pt.softplus(difference)], axis=-1)
    sizes = counts.sum(axis=1).astype(int)

    def logp(counts: Any, logs: Any) -> Any:
        return weights[where] * (counts * logs).sum(axis=-1)

    def random(logs: Any, rng: Any = None, size: Any = None) -> Any:
        won = rng.binomial(sizes, np.exp(logs[..., 0]))
        return np.stack([won, sizes - won], axis=-1).astype(float)

    pm.CustomDist(
        "match_counts",
        logs,
        logp=logp,
        random=random,
        signature="(o)->(o)",
        observed=pm.Data("counted", counts),
        dims=("pair", "outcome"),
    )


_ORDERS = 12  # about as many of six or more tied players
_CYCLES = {  # whose rotations begin with every subset of the tied players equally often
    1: ((0,),),
    2: ((0, 1),),
    3: ((0, 1, 2),),
    4: ((0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3)),
    5: ((0, 1, 2, 3, 4), (0, 2, 4, 1, 3)),
}


class RoundOrders(NamedTuple):
    """Players of each round from the worst to the best, in several orders of those who tie.

    ``order`` (n_rounds, orders, places), players, those without a score last; ``weight``, of the
    same shape, of the logarithm of the sum up to here; ``present`` (n_rounds, n_players), 1 or 0.
    """

    order: Any
    weight: Any
    present: Any


def order_rounds(ranks: NDArray[np.signedinteger]) -> RoundOrders:
    """Orders of the players in rounds.

    Parameters
    ----------
    ranks : ndarray of int, shape (n_rounds, n_players)
        From 0 (worst), equal for ties, -1 without a score.

    Examples
    --------
    >>> orders = order_rounds(np.array([[1, 0, -1], [1, 1, 0]]))
    >>> orders.order.tolist()
    [[[1, 0, 2], [1, 0, 2]], [[2, 0, 1], [2, 1, 0]]]
    """
    present = ranks != ABSENT
    first = np.argsort(np.where(present, ranks, np.iinfo(np.int32).max), axis=1, kind="stable")
    sizes = [np.bincount(row[here]) for row, here in zip(ranks, present, strict=True)]
    designs = {int(size): balanced_orders(int(size)) for size in np.unique(np.concatenate(sizes))}
    several = max(map(len, designs.values()))
    order = np.repeat(first[:, None], several, axis=1)
    weight = np.zeros(order.shape)
    for row, of_round in enumerate(sizes):
        starts = np.cumsum(of_round) - of_round
        for start, size in zip(starts.tolist(), of_round.tolist(), strict=True):
            design, here = designs[size], slice(start, start + size)
            order[row, : len(design), here] = first[row, here][design]
            weight[row, : len(design), here] = 1 / len(design)
            weight[row, :, start + size - 1] = np.arange(several) == 0  # all of them in any order
    return RoundOrders(order, weight, present.astype(float))


def balanced_orders(size: int) -> NDArray[np.intp]:
    """Orders of tied players in which each comes first equally often, (orders, size)."""
    rng = np.random.default_rng(size)
    number = max(1, round(_ORDERS / size))
    cycles = _CYCLES.get(size) or [rng.permutation(size) for _ in range(number)]
    shifts = np.unique(np.linspace(0, size, min(size, _ORDERS), endpoint=False).astype(int))
    return np.array([np.roll(cycle, -shift) for cycle in cycles for shift in shifts])


def ranking_log_likelihood(
    skills: Any, setting: NDArray[np.intp], orders: RoundOrders, operations: Any = np
) -> Any:
    r"""Log-likelihood of each round, (..., n_rounds).

    .. math:: \sum_i \beta_i - \sum_l \log \sum_{n \ge l} e^{\beta_{i_n}}

    Parameters
    ----------
    skills : array, shape (..., settings, n_players)
        Absolute values below 700.
    setting : ndarray of int, shape (n_rounds,)
        Which of the skills a round has.
    orders : RoundOrders
    operations : module
        ``numpy``, or ``pytensor.tensor`` for a graph.

    Examples
    --------
    >>> orders = order_rounds(np.array([[0, 1, 2]]))
    >>> log_p = ranking_log_likelihood(np.log([[1.0, 2.0, 3.0]]), np.array([0]), orders)
    >>> round(float(np.exp(log_p[0])), 6)  # 3/6 * 2/3
    0.333333
    """
    odds = operations.exp(skills)[..., setting[:, None, None], orders.order]
    logs = operations.log(operations.cumsum(odds, axis=-1)) * orders.weight
    total = (skills[..., setting, :] * orders.present).sum(axis=-1)
    return total - logs.sum(axis=(-2, -1))
