r"""Is the posterior right on real classifiers? Coverage and error of the routes to theta_sota.

From a response matrix with many items, classifiers are drawn as well as items: a random subset of
m classifiers (from all, from the stronger half, or without the strongest third), and n items with
replacement as the leaderboard. The truth is the accuracy over all items. Simulated boards of
several shapes take the place of the matrix where the truth must be free of any sampling. Each
route is judged by the coverage of its intervals, by the error of its mean and by the interval
score (Gneiting & Raftery 2007, doi 10.1198/016214506000001437, Eq. 43) against the raw maximum
with Wilson's interval, on the same boards.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import whole_file
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.leaderboard.posterior import leaderboard_posterior
from bayes_sota.maximum.dependence import conditional_probabilities, feasible_correlation

ROUTES = ("scores", "responses")
FIELDS = ("all", "strong", "weak")
_SMALLEST = 8
_SAVE_EVERY = 20


@dataclass(frozen=True)
class BoardCase:
    """One board of a study: where it comes from and the number that seeds it.

    Attributes
    ----------
    source : str
        Name of a response matrix, or of a simulated shape.
    n_test : int
    index : int
        Number of the board within its cell.
    n_classifiers : int
        For simulated shapes; 0 draws it from the matrix.
    rho : float
        For simulated shapes.
    """

    source: str
    n_test: int
    index: int
    n_classifiers: int = 0
    rho: float = 0.0


@dataclass(frozen=True)
class Judgement:
    """What one route said about one board.

    Attributes
    ----------
    source, n_test, n_classifiers, rho, field : the board
    route : str
        "raw", "scores" or "responses".
    estimand : str
        "theta_sota" or "winner_skill".
    truth, mean, lower, upper : float
    """

    source: str
    n_test: int
    n_classifiers: int
    rho: float
    field: str
    route: str
    estimand: str
    truth: float
    mean: float
    lower: float
    upper: float


def interval_score(lower: float, upper: float, truth: float, alpha: float = 0.05) -> float:
    """Width plus ``2 / alpha`` times the distance by which the interval misses."""
    miss = max(lower - truth, 0.0) + max(truth - upper, 0.0)
    return upper - lower + 2 / alpha * miss


def wilson_interval(score: float, n_test: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson's interval of a single accuracy."""
    q = z**2 / n_test
    centre = (score + q / 2) / (1 + q)
    half = z / (1 + q) * np.sqrt(score * (1 - score) / n_test + q / (4 * n_test))
    return float(centre - half), float(centre + half)


def draw_real_board(
    responses: Responses, n_test: int, index: int, rng: np.random.Generator
) -> tuple[Responses, FloatArray, str]:
    """Random classifiers and items of a matrix.

    Returns
    -------
    drawn : Responses
        n_test items, drawn with replacement, of the chosen classifiers.
    skills : ndarray, shape (m,)
        Their accuracies over all items.
    field : str
        Which part of the classifiers they were drawn from.
    """
    order = np.argsort(-responses.scores)
    field = FIELDS[index % len(FIELDS)]
    total = order.size
    pool = {
        "all": order,
        "strong": order[: max(_SMALLEST, total // 2)],
        "weak": order[total // 3 :],
    }[field]
    m = int(rng.integers(min(_SMALLEST, pool.size), pool.size + 1))
    chosen = rng.choice(pool, m, replace=False)
    items = rng.integers(0, responses.n_items, n_test)
    drawn = Responses(responses.correct[np.ix_(items, chosen)], name=responses.name)
    return drawn, responses.scores[chosen], field


def _normal(rng: np.random.Generator, m: int) -> FloatArray:
    return expit(logit(0.85) + 0.25 * rng.standard_normal(m))


def _left_skewed(rng: np.random.Generator, m: int) -> FloatArray:
    return expit(logit(0.90) - 0.4 * rng.exponential(size=m) + 0.03 * rng.standard_normal(m))


def _plateau(rng: np.random.Generator, m: int) -> FloatArray:
    skills = expit(logit(0.80) + 0.2 * rng.standard_normal(m))
    skills[: max(2, m // 4)] = 0.88
    return skills


def _few_strong(rng: np.random.Generator, m: int) -> FloatArray:
    skills = expit(logit(0.70) + 0.3 * rng.standard_normal(m))
    strong = max(2, m // 50)
    skills[:strong] = expit(logit(0.90) + 0.1 * rng.standard_normal(strong))
    return skills


def _clones(rng: np.random.Generator, m: int) -> FloatArray:
    models = expit(logit(0.85) + 0.25 * rng.standard_normal(max(4, m // 10)))
    return rng.choice(models, m)


def _uniform(rng: np.random.Generator, m: int) -> FloatArray:
    return rng.uniform(0.70, 0.90, m)


SHAPES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": _normal,
    "left-skewed": _left_skewed,
    "plateau of equals": _plateau,
    "few strong": _few_strong,
    "clones": _clones,
    "uniform": _uniform,
}


def simulate_shape(case: BoardCase, rng: np.random.Generator) -> tuple[Leaderboard, FloatArray]:
    """Board of a simulated shape by the paper's law (Eq. 6, 7); clones share their answers.

    Returns
    -------
    board : Leaderboard
    skills : ndarray, shape (m,)
    """
    skills = SHAPES[case.source](rng, case.n_classifiers)
    models, which = skills, np.arange(skills.size)
    if case.source == "clones":
        models, which = np.unique(skills, return_inverse=True)
    reference = float(skills.max())
    feasible = np.minimum(case.rho, feasible_correlation(models, reference))
    a, b = conditional_probabilities(models, feasible, reference)
    right = rng.binomial(case.n_test, reference)
    counts = rng.binomial(right, a) + rng.binomial(case.n_test - right, b)
    scores = counts[which] / case.n_test
    return Leaderboard(scores, n_test=case.n_test, rounding="exact"), skills


def judge_case(
    case: BoardCase,
    matrices: dict[str, Responses],
    routes: Sequence[str],
    priors: BoardPriors,
    draws: int,
    seed: int,
) -> list[Judgement]:
    """All judgements of one board; the same seed and case give the same board."""
    key = [seed, *case.source.encode(), case.n_test, case.index, case.n_classifiers]
    rng = np.random.default_rng([*key, round(1000 * case.rho)])
    drawn = None
    if case.n_classifiers:
        board, skills = simulate_shape(case, rng)
        field = "simulated"
    else:
        drawn, skills, field = draw_real_board(matrices[case.source], case.n_test, case.index, rng)
        board = drawn.leaderboard()
    assert board.scores is not None
    winner = float(skills[board.scores == board.maximum].mean())
    truth = {"theta_sota": float(skills.max()), "winner_skill": winner}
    low, high = wilson_interval(board.maximum, case.n_test)
    said = {"raw": dict.fromkeys(truth, (board.maximum, low, high))}
    for route in routes:
        said[route] = _summaries(route, board, drawn, priors, draws, rng)
    return [
        Judgement(
            case.source, case.n_test, board.scores.size, case.rho, field, route, name,
            truth[name], *map(float, values[name]),
        )
        for route, values in said.items()
        for name in truth
    ]  # fmt: skip


def _summaries(
    route: str,
    board: Leaderboard,
    drawn: Responses | None,
    priors: BoardPriors,
    draws: int,
    rng: np.random.Generator,
) -> dict[str, tuple[float, float, float]]:
    result: Any
    if route == "scores":
        result = leaderboard_posterior(board, priors, draws=draws, random_seed=rng)
    else:
        from bayes_sota.leaderboard.from_items import responses_posterior

        assert drawn is not None
        result = responses_posterior(drawn, priors, draws=draws, random_seed=rng)
    return {
        name: (
            result.draws[name].mean(),
            *np.quantile(result.draws[name], [0.025, 0.975]),
        )
        for name in ("theta_sota", "winner_skill")
    }


def run_board_study(
    cases: Sequence[BoardCase],
    matrices: dict[str, Responses] | None = None,
    *,
    routes: Sequence[str] = ("scores",),
    priors: BoardPriors | None = None,
    draws: int = 2000,
    random_seed: int = 0,
    n_jobs: int = 1,
    path: Path | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> list[Judgement]:
    """Judge the routes on many boards.

    Parameters
    ----------
    cases : sequence of BoardCase
    matrices : dict of str to Responses
        The matrices that cases name.
    routes : sequence of {"scores", "responses"}
        Beside the raw maximum; "responses" needs matrices.
    priors : BoardPriors, optional
    draws : int
        Posterior draws per board.
    random_seed : int
        Every case has its own generator, whatever ``n_jobs``.
    n_jobs : int
        Processes of joblib.
    path : Path, optional
        JSON file with what is done; an interrupted study goes on from there.
    on_progress : callable, optional
        Called with the number of finished boards.

    Returns
    -------
    list of Judgement
    """
    from joblib import Parallel, delayed

    matrices = matrices or {}
    _check_cases(cases, matrices, routes)
    priors = BoardPriors() if priors is None else priors
    setting = f"{priors!r} {draws} {random_seed} {sorted(routes)}"
    done = _load(path, setting)
    missing = [case for case in cases if repr(case) not in done]
    results = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_judged)(case, matrices, routes, priors, draws, random_seed) for case in missing
    )
    for count, (name, judgements) in enumerate(results, start=1):
        done[name] = judgements
        if path is not None and (count % _SAVE_EVERY == 0 or count == len(missing)):
            _save(path, setting, done)
        if on_progress is not None:
            on_progress(len(done))
    return [judgement for case in cases for judgement in done[repr(case)]]


def _judged(case: BoardCase, *arguments: Any) -> tuple[str, list[Judgement]]:
    return repr(case), judge_case(case, *arguments)


def _check_cases(
    cases: Iterable[BoardCase], matrices: dict[str, Responses], routes: Sequence[str]
) -> None:
    for route in routes:
        if route not in ROUTES:
            raise InputError(f"unknown route {route!r}; allowed: {', '.join(ROUTES)}")
    for case in cases:
        known = SHAPES if case.n_classifiers else matrices
        if case.source not in known:
            raise InputError(f"unknown source {case.source!r}; allowed: {', '.join(known)}")
        if case.n_classifiers and "responses" in routes:
            raise InputError("simulated shapes have scores only, no responses")


def summarize_study(
    judgements: Sequence[Judgement], by: Sequence[str] = ("source", "n_test")
) -> list[dict[str, Any]]:
    """Coverage, error and interval score of every route in every cell, and over all.

    Returns
    -------
    list of dict
        Keys: those of ``by``, route, estimand, boards, coverage, bias, raw_bias, rmse_ratio,
        score_ratio (interval score over the raw maximum's), score_difference and its standard
        error, width_ratio.
    """
    rows = []
    for route, estimand in sorted({(j.route, j.estimand) for j in judgements if j.route != "raw"}):
        pairs = list(_paired(judgements, route, estimand))
        cells: dict[tuple[Any, ...], list[tuple[Judgement, Judgement]]] = {}
        for ours, raw in pairs:
            cells.setdefault(tuple(getattr(ours, key) for key in by), []).append((ours, raw))
        for cell, members in sorted(cells.items()):
            rows.append({**dict(zip(by, cell, strict=True)), **_row(route, estimand, members)})
        rows.append({**dict.fromkeys(by, "all"), **_row(route, estimand, pairs)})
    return rows


def _paired(
    judgements: Sequence[Judgement], route: str, estimand: str
) -> Iterator[tuple[Judgement, Judgement]]:
    """Judgements of a route beside the raw maximum's of the same board, in order."""
    ours = [j for j in judgements if (j.route, j.estimand) == (route, estimand)]
    raw = [j for j in judgements if (j.route, j.estimand) == ("raw", estimand)]
    return zip(ours, raw, strict=True)


def _row(route: str, estimand: str, pairs: Sequence[tuple[Judgement, Judgement]]) -> dict[str, Any]:
    def column(value: Callable[[Judgement], float], which: int) -> FloatArray:
        return np.array([value(pair[which]) for pair in pairs])

    def error(j: Judgement) -> float:
        return j.mean - j.truth

    def score(j: Judgement) -> float:
        return interval_score(j.lower, j.upper, j.truth)

    def ratio(mine: float, theirs: float) -> float:
        return mine / theirs if theirs > 0 else float("nan")

    def covers(j: Judgement) -> float:
        return float(j.lower <= j.truth <= j.upper)

    ours, raw = column(error, 0), column(error, 1)
    difference = column(score, 0) - column(score, 1)
    width = [column(lambda j: j.upper - j.lower, which).mean() for which in (0, 1)]
    return {
        "route": route,
        "estimand": estimand,
        "boards": len(pairs),
        "coverage": float(column(covers, 0).mean()),
        "raw_coverage": float(column(covers, 1).mean()),
        "bias": float(ours.mean()),
        "raw_bias": float(raw.mean()),
        "rmse_ratio": ratio(float(np.mean(ours**2)), float(np.mean(raw**2))) ** 0.5,
        "score_ratio": ratio(float(column(score, 0).mean()), float(column(score, 1).mean())),
        "score_difference": float(difference.mean()),
        "score_difference_se": float(difference.std(ddof=1) / np.sqrt(len(pairs)))
        if len(pairs) > 1
        else float("nan"),
        "width_ratio": ratio(float(width[0]), float(width[1])),
    }


def _load(path: Path | None, setting: str) -> dict[str, list[Judgement]]:
    if path is None or not path.is_file():
        return {}
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if content["setting"] != setting:
        raise InputError(f"{path} belongs to another setting; choose another directory")
    return {name: [Judgement(**j) for j in rows] for name, rows in content["judged"].items()}


def _save(path: Path, setting: str, done: dict[str, list[Judgement]]) -> None:
    judged = {name: [asdict(j) for j in rows] for name, rows in done.items()}
    with whole_file(path) as draft:
        draft.write_text(json.dumps({"setting": setting, "judged": judged}), encoding="utf-8")
