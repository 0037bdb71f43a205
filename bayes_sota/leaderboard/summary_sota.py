r"""Report of theta_sota, and of one more classifier, in numbers and words.

The newcomer is one more of the field, scored on the same items, and no relative of any other. Given
a draw of the posterior (parameters phi of the field, rho, shift z, theta_sota), a score x has

.. math:: p(\text{better} \mid x, d) = \frac{\int_{\theta > \theta_{sota}} p(x \mid \theta, d)\,
          dP(\theta \mid \phi)}{\int p(x \mid \theta, d)\, dP(\theta \mid \phi)}, \quad
          P(\text{better} \mid x) = \frac{\sum_d p(x \mid d)\, p(\text{better} \mid x, d)}
          {\sum_d p(x \mid d)}

as x also tells of the field. A newcomer that is truly better by a gap reaches the best observed
score with probability :math:`E\, P(X \ge x_{max} \mid \theta_{sota} + gap, \rho, z)`; Sec. 3.4 and
Fig. 3 of Møllersen & Holsbø are the case of a known theta_sota and rho = 0.
``tests/leaderboard/test_summary_newcomers.py`` compares with simulated fields.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core import summary, text
from bayes_sota.core.arguments import DEFAULT_SEED, NUMBER, OPEN_SHARE, POSITIVE, SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.priors import SKILL_FAMILIES, Priors
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.tables import SOFTWARE, Report, Table, table_of
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.known import with_known
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.outcomes import ABOUT, Outcomes
from bayes_sota.leaderboard import summary_words as words
from bayes_sota.leaderboard.evidence import TINY
from bayes_sota.leaderboard.posterior import BoardPosterior
from bayes_sota.leaderboard.sample_estimate import Data, Row, estimate, rows_of
from bayes_sota.leaderboard.specification import notes_on_field
from bayes_sota.maximum.score_laws import NormalLaw, ScoreLaw, score_law

_ROW_DRAWS = 1000  # of a row of the sensitivity
_HARDLY, _LEAST_LEFT = 0.97, 0.02  # of a width: too little help for a note; the most help
_WHAT_TO_REPORT = (
    "Skill is the expected score on {}, drawn as these were. Report winner_skill for how good the "
    "winner is, and theta_sota for how good the best is."
)
MEANING = {
    "theta_sota": "skill of the best of these, whichever it is",
    "expected_sota": "best skill of another field as large",
    "winner_skill": "skill of the one with the best score",
    "winner_new_score": "its score on {}",
    "best_new_score": "best score of all on {}",
    "multiplicity_bias": "best score minus theta_sota",
}
_FRESH = {
    "items": "one fresh test set",
    "runs": "another set of as many runs",
    "tasks": "another set of as many tasks",
}
_NEWCOMER = "whether a newcomer is better depends strongly on rho: compare it item by item"

_BLOCK = 250  # draws at a time
_REACH, _PER_ERROR = 14.0, 20  # of the grid of psi, in standard errors of the new score
_LEAST_DRAWS = 50.0
_NEARLY_ONE = 1 - 1e-12

type Cells = Iterator[tuple[IntArray, FloatArray, FloatArray, FloatArray]]
"""Numbers of some draws; grid of psi (C,), its edges (C + 1,), and masses of the field (k, C)."""


def report_sota(
    data: Data | tuple[BestScore, ...],
    *,
    new_score: float | None = None,
    sensitivity: bool = True,
    ci_prob: float = 0.95,
    **settings: Any,
) -> Report:
    """Estimate theta_sota, its sensitivity to the assumptions, and describe both.

    Parameters
    ----------
    data : Leaderboard, BestScore, Outcomes or tuple of BestScore
    new_score : float, optional
        Score of a new classifier on the same items: is it truly better?
    sensitivity : bool
        Whether other assumptions are tried; answers and item scores have none.
    ci_prob : float
        Probability of the intervals.
    **settings
        Options of ``estimate_sota``.

    Returns
    -------
    Report
        ``about`` is the result of ``estimate_sota``.

    Examples
    --------
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> report_sota(board, random_seed=1, sensitivity=False).tables[0].rows[0][:4]
    ['theta_sota', '0.969', '0.012', '0.941 to 0.988']
    """
    known, given = settings.pop("known", None), data if isinstance(data, tuple) else (data,)
    boards: tuple[Any, ...] = tuple(with_known(board, known) for board in given)
    tree, found, priors = estimate(boards, **settings)
    rows: list[dict[str, Any]] = []
    if sensitivity and isinstance(boards[0], BestScore):
        theta0 = settings.get("reference_skill")
        others = rows_of(boards, found, priors, theta0, _ROW_DRAWS, DEFAULT_SEED)
        rows = _tried(others, ci_prob, settings.get("progressbar"))
    each = [_content_of(tree, board, k, ci_prob) for k, board in enumerate(boards)]
    diagnosed = summary.diagnose(tree)
    notes = [note for note in str(tree.attrs.get("notes", "")).split("; ") if note]
    notes += notes_on_field(boards[0], tree.attrs["model_name"], settings.get("model"))
    if found is not None and boards[0].anchors is None and boards[0].new == "items":
        notes += _worth_of_an_anchor(found, summary.estimand_summary(tree, "theta_sota", ci_prob))
    if new_score is not None:
        for k, one in enumerate(each):
            answer = newcomer(found or tree, score=new_score, board=k)
            one["p_new_truly_better"] = answer
            diagnosed["reasons"] += reasons_of_answer(answer)
        notes += [] if isinstance(boards[0], Outcomes) else [_NEWCOMER]
    rho = summary.estimand_summary(tree, "rho", ci_prob)
    content = {
        "method": tree.attrs["method"],
        **each[0],
        **({"boards": each} if len(each) > 1 else {}),
        "rho": rho | {"learnt": bool(tree.attrs.get("rho_learnt", 0))},
        "sensitivity": _by_assumption(rows),
        "prob": ci_prob,
        "model": tree.attrs["model_name"],
        "diagnostics": diagnosed | {"ok": not diagnosed["reasons"]},
        "seed": summary.seed_of(tree),
        "notes": notes,
    }
    legend = [words.about_rho(content["rho"], words.source_of(boards[0]))]
    if above := content["n_above_sota"]:
        many = "{:,.0f} ({:,.0f} to {:,.0f})".format(above["median"], *above["interval"])
        legend.append(f"Entries with an observed score better than theta_sota: {many}.")
    return words.report_of(
        content,
        make_frame=lambda: summary.summarize(tree, ci_prob).rename_axis("quantity").reset_index(),
        sentences=[*_sentences(boards, each, ci_prob)],
        tables=_tables(boards, each, rows, ci_prob),
        legend=legend,
        footer=[f"method {content['method']}, model {content['model']}"],
        basis=[f"model {content['model']}", summary.how_drawn(tree), SOFTWARE, words.CITED],
        measured=words.measured_of(boards[0]),
        about=tree,
    )


def sota_sensitivity(
    board: BestScore | Sequence[BestScore],
    *,
    priors: Priors | None = None,
    reference_skill: float | None = None,
    ci_prob: float = 0.95,
    draws: int = 4000,
    random_seed: int | None = DEFAULT_SEED,
    progressbar: bool | None = None,
) -> pd.DataFrame:
    """How theta_sota moves with assumptions that the data do not determine.

    For best scores: the number of classifiers, theta0, rho, the spread of skills, the spread ratio
    behind AUCs, and the other kind of field. For a board with scores: rho fixed on a grid, and
    learnt; each family of P(theta) alone; the luck of submissions; more entries than are listed;
    the spread ratio; the other kind of field.

    Returns
    -------
    pandas.DataFrame
        Columns assumption, value, mean, lower, upper, mcse (of the mean); the first row is the
        result itself, as in ``estimate_sota`` with as many draws and the same seed. With several
        boards, theta_sota is the first board's.
    """
    if isinstance(board, Outcomes):
        raise InputError("answers determine what a leaderboard assumes: give a leaderboard")
    OPEN_SHARE.check(ci_prob, "ci_prob")
    boards = (board,) if isinstance(board, BestScore) else tuple(board)
    settings = {"priors": priors, "draws": draws, "chains": 1, "groups": "estimands"}
    asked: Any = {"reference_skill": reference_skill, "random_seed": random_seed}
    tree, found, known = estimate(board, **settings, **asked)
    given = [("as given", np.nan, summary.draws_of(tree, "theta_sota"))]
    others = rows_of(boards, found, known, reference_skill, draws, random_seed)
    frame = pd.DataFrame(_tried(chain(given, others), ci_prob, progressbar))
    frame[["lower", "upper"]] = frame["interval"].tolist()
    return frame[["assumption", "value", "mean", "lower", "upper", "mcse"]]


def _tried(rows: Iterable[Row], ci_prob: float, progressbar: bool | None) -> list[dict[str, Any]]:
    found = []
    with shown_progress(None, "assumptions", show=progressbar) as advance:
        for assumption, value, draws in rows:
            row = {"assumption": assumption, "value": value}
            found.append(row | summary.summarize_draws(draws, ci_prob))
            advance()
    return found


def _content_of(tree: xr.DataTree, data: Any, index: int, ci_prob: float) -> dict[str, Any]:
    found = partial(summary.estimand_summary, tree, ci_prob=ci_prob, board=index)
    tries: Any = data.n_classifiers
    whole = isinstance(data, Leaderboard | Outcomes)
    if whole:
        facts: dict[str, Any] = {"winner": words.winner_of(data)} | words.items_of(data)
        tries = tries if isinstance(tries, int) else words.board_of(data).typical_tries
    else:
        right = list(data.counts) if data.metric == "accuracy" else None
        facts = {"n_test": data.n_test, "n_test_source": "given", "n_right": right}
        tries = tries if isinstance(tries, int) else found("n_classifiers")
    return {
        **facts,
        "n_classifiers": tries,
        "observed_maximum": float(summary.observed_maximum_of(tree).values.ravel()[index]),
        **{name: found(name) for name in MEANING},
        "n_above_sota": found("n_above_sota") if whole else None,
    }


def _worth_of_an_anchor(found: BoardPosterior, now: dict[str, Any]) -> Iterator[str]:
    r"""Note on how much one similar anchor would narrow the interval of theta_sota.

    .. math:: \sqrt{1 - c\, E \rho^4\, se^2 / \mathrm{sd}(\theta_{sota})^2}

    times its width, with c = 1 for an anchor that resembles the leaders as they resemble each
    other; boards of real classifiers showed .9 from answers and .6 from scores.
    """
    evidence, worth = found.skills.fit.evidence, 0.9 if found.learns_rho else 0.6
    error = evidence.law.standard_error * evidence.error_ratio
    share = worth * np.mean(found.draws["rho"] ** 4) * error**2 / max(now["sd"], 1e-150) ** 2
    times, board = float(np.sqrt(np.clip(1 - share, _LEAST_LEFT, 1))), evidence.board
    if times > _HARDLY:
        return
    low, high = (now["mean"] + times * (end - now["mean"]) for end in now["interval"])
    digits = words.said_decimals(board, text.decimals_of(now))
    ends = " to ".join(text.as_score(x, digits, board.metric) for x in (low, high))
    one = "one similar model whose skill is known (--known NAME=SKILL)"
    yield f"{one} would narrow the range of theta_sota to about {ends}"


def _by_assumption(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        entry = {name: row[name] for name in ("value", "mean", "mcse", "interval")}
        found.setdefault(row["assumption"].replace(" ", "_"), []).append(entry)
    return found


def _sentences(
    boards: tuple[Data, ...], each: list[dict[str, Any]], ci_prob: float
) -> Iterator[str]:
    for data, content in zip(boards, each, strict=True):
        of_board = f' of "{text.shown_name(data.name, 60)}"' * (len(boards) > 1)
        who, new = content.get("winner") or "the winner", content["winner_new_score"]
        d = words.said_decimals(data, text.decimals_of(new))
        low, high = (text.as_score(end, d, data.metric) for end in new["interval"])
        more = f"on {_FRESH[data.new]} the winner would score {low} to {high}"
        winner, best = content["winner_skill"], content["theta_sota"]
        who, score = text.shown_name(who, 60) + of_board, content["observed_maximum"]
        yield from words.answer_of(data, who, winner, best, score, more)
        if answer := content.get("p_new_truly_better"):
            yield sentence_of(answer, of_board)
    yield _WHAT_TO_REPORT.format(ABOUT[boards[0].new])
    yield f"Ranges are {ci_prob:.0%} intervals."


def _tables(
    boards: tuple[Data, ...],
    each: list[dict[str, Any]],
    sensitivity: Sequence[dict[str, Any]],
    ci_prob: float,
) -> list[Table]:
    meanings = {name: said.format(_FRESH[boards[0].new]) for name, said in MEANING.items()}
    pairs = zip(boards, each, strict=True)
    tables = [words.quantity_table(one, meanings, ci_prob, data.name) for data, one in pairs]

    def steady(row: dict[str, Any]) -> int:
        return text.steady_decimals(row["sd"], row["mcse"])

    columns: dict[str, Any] = {
        "assumption": lambda row: row["assumption"].replace("_", " "),
        "set to": lambda row: setting_of(row["assumption"], row["value"]),
        "theta_sota": lambda row: f"{row['mean']:z.{steady(row)}f}",
        f"{ci_prob:.0%} interval": lambda row: text.span(row["interval"], steady(row)),
    }
    title = "Sensitivity to what is assumed, not observed"
    return [*tables, table_of(sensitivity, columns, title)] if sensitivity else tables


def setting_of(assumption: str, value: float | str) -> str:
    """Setting of an assumption, in words."""
    if isinstance(value, str):
        return value
    return f"{'times ' * (assumption == 'n_classifiers')}{value:.2g}"


def newcomer(
    found: BoardPosterior | xr.DataTree,
    *,
    score: float | None = None,
    gap: float | None = None,
    board: int = 0,
) -> dict[str, Any]:
    """Whether a new classifier is truly better than the best, or whether a better one would show.

    The newcomer is one more of the field, with its skill from P(theta), scored on the same items.
    If you have its answers to the items, add them to the matrix instead.

    Parameters
    ----------
    found : BoardPosterior or DataTree
        From ``board_posterior``; where the best score alone is known, from ``estimate_sota``.
    score : float, optional
        Observed score of the newcomer: how probably is its skill above theta_sota?
    gap : float, optional
        Its skill minus theta_sota: how probably does it reach the best score?
    board : int
        Which board's theta_sota, where there are several best scores.

    Returns
    -------
    dict
        ``score``, or ``gap`` and ``best_score``; ``probability``, ``mcse``, and for a score
        ``effective_draws``, how many draws the answer rests on.

    Raises
    ------
    InputError
        Not one of score and gap; a number that cannot be.

    Examples
    --------
    >>> from bayes_sota.leaderboard.sample_estimate import estimate_sota
    >>> tree = estimate_sota(BestScore("0.98", n_test=200, n_classifiers=50), random_seed=0)
    >>> newcomer(tree, score=0.985)["probability"] < newcomer(tree, score=0.995)["probability"]
    True
    """
    if (score is None) == (gap is None):
        raise InputError("give either the score of the newcomer, or by what gap it is better")
    one = of_board(found) if isinstance(found, BoardPosterior) else of_maximum(found, board)
    return one.shown(gap) if gap is not None else one.truly_better(score)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Newcomer:
    """One more classifier of the field of a result; larger is better.

    ``moved`` and ``own`` are the shift of its score in standard errors and its own variance in
    units of the law's; ``cells`` gives the prior of its psi for a score.
    """

    law: ScoreLaw
    best: FloatArray
    moved: FloatArray
    own: FloatArray
    maximum: float
    cells: Callable[[float], Cells]
    error: summary.ErrorOfMean
    sign: int = 1
    luck: float = 0.0

    @one_thread()
    def truly_better(self, score: float) -> dict[str, Any]:
        (NUMBER if isinstance(self.law, NormalLaw) else SHARE).check(score, "new_score")
        value = np.array([self._value(self.sign * score - self.luck)])
        best = self.law.add_shift(self.best, self.moved).ravel()
        chances, log_weights = np.empty((2, best.size))
        for rows, y, edges, mass in self.cells(self.sign * score):
            own = self.own.ravel()[rows, None]
            log_seen = self.law.log_kernel(self.law.prepared(value, y), own)
            log_seen += self.law.log_mass(np.repeat(value, rows.size), own[:, 0])[:, None]
            largest = log_seen.max(axis=1, keepdims=True)
            below = np.pad(np.cumsum(mass * np.exp(log_seen - largest), axis=1), ((0, 0), (1, 0)))
            total = np.maximum(below[:, -1:], TINY)
            pairs = zip(best[rows], below / total, strict=True)
            chances[rows] = [1 - min(np.interp(at, edges, row), 1) for at, row in pairs]
            log_weights[rows] = (largest + np.log(total))[:, 0]
        given, log_weights = (x.reshape(self.best.shape) for x in (chances, log_weights))
        return {"score": float(score)} | summary.weighted_chance(given, self.error, log_weights)

    def shown(self, gap: float) -> dict[str, Any]:
        limits, ends = (POSITIVE, (-np.inf, np.inf))
        if not isinstance(self.law, NormalLaw):
            limits, ends = (OPEN_SHARE, (0.0, _NEARLY_ONE))
        limits.check(gap, "gap")
        psi = np.clip(self.law.add_shift(np.minimum(self.best + gap, ends[1]), self.moved), *ends)
        chances = np.asarray(self.law.reach(psi, self._value(self.maximum - self.luck), self.own))
        answer = summary.weighted_chance(chances, self.error)
        return {"gap": float(gap), "best_score": self.sign * self.maximum, **answer}

    def _value(self, score: float) -> float:
        return float(np.round(score * self.law.unit)) if self.law.spacing else float(score)


def of_board(found: BoardPosterior) -> Newcomer:
    """One more of a board, or of answers."""
    evidence = found.skills.fit.evidence
    best, rho, shift = (found.draws[name][None] for name in ("theta_sota", "rho", "shift"))
    ratio, board = evidence.error_ratio, evidence.board
    error = partial(summary.error_of_mean, points=found.skills.parameters.behind)
    luck = float(np.mean((evidence.scores - evidence.seen)[evidence.entries]))
    moved, own = rho * shift * ratio, (1 - rho**2) * ratio**2
    cells = partial(_on_grid, found)
    return Newcomer(evidence.law, best, moved, own, board.maximum, cells, error, board.sign, luck)


def _on_grid(found: BoardPosterior, _score: float) -> Cells:
    fit, evidence = found.skills.fit, found.skills.fit.evidence
    ends = np.append(evidence.y - evidence.step / 2, evidence.y[-1] + evidence.step / 2)
    reach = fit.tables[fit.rho.size // 2].typical * evidence.step
    for _, f, rows in found.skills.parameters.cells(fit, _BLOCK):
        density = fit.density(fit.families[f], found.skills.parameters.points(fit, rows))
        if evidence.is_cut:
            density = density / np.maximum(density @ reach, TINY)[:, None]
        yield rows, evidence.y, evidence.law.skill_at(ends), density


def of_maximum(tree: xr.DataTree, board: int = 0) -> Newcomer:
    """One more beside a best score, from a result of ``estimate_sota`` by any method."""
    if str(tree.attrs.get("skill_family", "")) not in SKILL_FAMILIES:
        raise InputError("newcomer to a whole board takes what board_posterior gives")
    best = summary.draws_of(tree, "theta_sota", board)
    constants = tree["constant_data"].to_dataset().isel(board=board, missing_dims="ignore")
    maximum = float(summary.observed_maximum_of(tree).values.ravel()[board])
    names = {"auc": ("n_test", "n_positive", "spread_ratio"), "score": ("standard_error",)}
    given = names.get(metric := tree.attrs["metric"], ("n_test",))
    facts: Any = {"metric": metric} | {name: constants[name].item() for name in given}
    law = score_law(BestScore(repr(maximum), n_classifiers=1, **facts))
    rho, shift = summary.draws_of(tree, "rho"), summary.draws_of(tree, "shift", board)
    moved, own = rho * shift, np.broadcast_to(1 - rho**2, best.shape)
    cells = partial(_around, tree, law, moved.ravel())
    return Newcomer(law, best, moved, own, maximum, cells, summary.mcse_of(tree))


def _around(tree: xr.DataTree, law: ScoreLaw, moved: FloatArray, score: float) -> Cells:
    SHARE.check(score, "new_score")
    location, spread = (summary.draws_of(tree, name).ravel() for name in ("location", "spread"))
    distribution = SKILL_FAMILIES[tree.attrs["skill_family"]]().distribution(location, spread)
    n = law.n_test or 5000
    middle = (score * n + 0.5) / (n + 1)
    error = float(law.errors_at(np.array([middle]))[0]) / (middle * (1 - middle))
    reach = np.linspace(-_REACH, _REACH, int(2 * _REACH * _PER_ERROR) + 1)
    u = float(logit(middle)) + min(error, 1.0) * reach
    edges, psi = expit(u), expit((u[1:] + u[:-1]) / 2)
    y = psi if isinstance(law, NormalLaw) else logit(np.clip(psi, 1e-12, _NEARLY_ONE))
    for rows in np.array_split(np.arange(location.size), -(-location.size // _BLOCK)):
        skill = np.clip(law.remove_shift(edges, moved[rows, None]), TINY, _NEARLY_ONE)
        of_rows = distribution.take(rows).expanded()
        yield rows, y, edges, -np.diff(of_rows.sf(of_rows.from_skill(skill)), axis=1)


def sentence_of(answer: dict[str, Any], where: str = "") -> str:
    """Answer to the score of a newcomer in words; ``where`` names one of several boards."""
    probability = text.in_prose(answer["probability"])
    return (
        f"A new classifier of this field with a score of {answer['score']:g} on the same items is "
        f"truly better than the best{where} with probability {probability}."
    )


def reasons_of_answer(answer: dict[str, Any]) -> list[str]:
    """Reason not to trust the answer."""
    few = text.counted(round(answer["effective_draws"]), "draw supports", "draws support")
    reason = f"the new score is so unlike the field that only {few} it, below {_LEAST_DRAWS:.0f}"
    return [reason] * (answer["effective_draws"] < _LEAST_DRAWS)
