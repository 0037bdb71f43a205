"""Estimates of theta_sota by every route, of one board, two or many, and by other assumptions.

``tests/calibration/judged_boards.py`` judges them on boards that are drawn from the answers of real
classifiers; ``tests/leaderboard/test_sample_estimate.py`` compares rows of the sensitivity with own
fits.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import call
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayes_sota.core import sample
from bayes_sota.core.arguments import (
    COUNT,
    DEFAULT_SEED,
    SEED,
    check_choice,
    generator_of,
    refuse_unused,
)
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.inference import Parameters
from bayes_sota.core.parallel import run_each
from bayes_sota.core.priors import FixedCorrelation, MaximumPriors, PairedPriors, Priors, TriesPrior
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.known import KnownSkills, private_board, with_known
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard import pairs_posterior as drawing
from bayes_sota.leaderboard.anchors import notes_of_anchors
from bayes_sota.leaderboard.evidence import board_evidence
from bayes_sota.leaderboard.fit import FieldFit, fit_field
from bayes_sota.leaderboard.pairs import Pairs, draw_scores
from bayes_sota.leaderboard.posterior import BoardPosterior
from bayes_sota.leaderboard.sample import NEW_SCORES, field_values, sample_board
from bayes_sota.leaderboard.skills import draw_parameters, draw_posterior
from bayes_sota.leaderboard.specification import Model, chosen_model, of_other_field
from bayes_sota.maximum.fresh_test_sets import default_reference_skill
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.sample import sample_abc, sample_exact, sample_nuts

type Row = tuple[str, float | str, FloatArray]
"""Assumption, its value, and draws of theta_sota with it."""
_LUCKS = (0.0, 0.3, 0.6, 0.9)  # of chosen submissions
_RATIOS = (0.5, 1.0, 2.0)  # of the spreads of the scores behind AUCs
_TIMES = (0.5, 2.0, 10.0)  # as many classifiers; of a board, whose entries are listed, the last
type Data = BestScore | Outcomes
Method = Literal["auto", "exact", "abc", "nuts"]
_OF_PAIRS = ("priors", "model", "domain", "field", "draws", "chains", "random_seed", "groups")

LEVELS = (0.025, 0.5, 0.975)  # of the prior of lambda
_TEAMS = ("skill", "expected_private", "public_gain", "unusual")
_DIMS: dict[str, tuple[str, ...]] = dict.fromkeys(_TEAMS, ("classifier",))
_DIMS |= {"score": ("classifier", "board"), "shape": ("shape_parameter",)}


def estimate_sota(
    board: Data | PairedBoards | Sequence[BestScore],
    *,
    method: str | None = None,
    priors: Priors | PairedPriors | None = None,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    draws: int | None = None,
    chains: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    reference_skill: float | None = None,
    known: KnownSkills | None = None,
    groups: Groups = "all",
    cores: int | None = None,
    progressbar: bool | None = None,
) -> xr.DataTree:
    """Posterior of the true state of the art from all data.

    Answers (or item scores) tell the most, then a leaderboard with all its scores, then the best
    score alone (``BestScore``, ``board.maximum_only()``).

    Parameters
    ----------
    board : Leaderboard, BestScore, Outcomes, PairedBoards or sequence of BestScore
        Several boards of one task, each with its maximum only, share location, spread and rho.
        ``PairedBoards`` take the arguments of ``estimate_paired``.
    method : {"auto", "exact", "abc", "nuts"}, optional
        ``auto`` is exact: weighted points and direct draws. ``abc`` simulates (ABC by sequential
        Monte Carlo), ``nuts`` samples the exact marginal likelihood with PyMC; both read the
        maximum only.
    priors : Priors, optional
    model : ModelSpecification or name, optional
        Named specification with priors and sampler settings, in place of ``priors``.
    domain : {"image-classifiers", "language-models", "tabular"}, optional
        Domain whose prior of rho the default model takes.
    field : {"single", "ensembles"}, optional
        Whether entries are single classifiers, or ensembles that share members, notebooks or
        parents and so more error. Default: ensembles for a download of a competition, else single.
    draws, chains : int, optional
        Draws per chain and chains; default those of the model, 1000 and 4.
    random_seed : int, SeedSequence or Generator, optional
        The same seed gives the same draws whatever ``cores``.
    reference_skill : float, optional
        theta0, of boards whose maximum alone is known; default each board's observed maximum.
    known : mapping of str to Known, float or str, or path, optional
        Entries whose skill is known, which show how easy the items are (``with_known``).
    groups : {"all", "estimands"}
        "estimands" leaves out the groups that only checks of the model need.
    cores : int, optional
        Processes for ``abc`` and ``nuts``.
    progressbar : bool, optional
        Show progress of the samplers.

    Returns
    -------
    xarray.DataTree
        In the schema of ``bayes_sota.core.schema``.

    Warns
    -----
    UserWarning
        The result is not to be trusted (``bs.diagnose``).

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.95, 0.93, 0.92, 0.92, 0.91, 0.9, 0.88], n_test=100)
    >>> summary = bs.summarize(estimate_sota(board, random_seed=1))
    >>> summary.loc[["theta_sota", "winner_skill"], ["mean", "lower", "upper"]].round(2)
                  mean  lower  upper
    theta_sota    0.94   0.89   0.97
    winner_skill  0.93   0.88   0.97
    """
    options = {name: value for name, value in locals().items() if name != "board"}
    tree = estimate(board, **options)[0]
    if reasons := tree.attrs["diagnostics_reasons"]:
        warnings.warn(f"do not trust this result: {reasons} (bs.diagnose(tree))", stacklevel=2)
    return tree


def estimate(
    board: Data | PairedBoards | Sequence[BestScore], **options: Any
) -> tuple[xr.DataTree, BoardPosterior | None, Any]:
    """Result of ``estimate_sota``, draws where more than the best is known, and the priors."""
    chosen = (estimate_sota.__kwdefaults__ or {}) | options
    method, known = chosen.pop("method") or "auto", chosen.pop("known")
    how = {k: chosen.pop(k) for k in ("cores", "progressbar")}
    if isinstance(board, PairedBoards):
        check_choice("method", method, Literal["auto", "exact"])
        taken = {name: chosen.pop(name) for name in _OF_PAIRS}
        refuse_unused("two boards of the same teams", chosen)
        return estimate_paired(with_known(board, known), **taken), None, None
    boards: Any = _boards(board, known)
    whole = isinstance(boards[0], Leaderboard | Outcomes)
    theta0 = {"reference_skill": chosen["reference_skill"]}
    check_choice("groups", chosen["groups"], Groups)
    of_rho = {name: chosen[name] for name in ("model", "priors", "domain", "field")}
    builder = "leaderboard" if whole else "observed_maximum"
    spec = chosen_model(builder=builder, data=boards[0], **of_rho)
    check_choice("method", method, Method)
    settings: dict[str, Any] = spec.sizes(chosen["draws"], chosen["chains"]) | spec.provenance
    settings |= {name: chosen[name] for name in ("random_seed", "groups")}
    if whole:
        if method in ("abc", "nuts"):
            fix = "without FILE write --maximum S, --n-test N and --classifiers M"
            fix += " (in Python give board.maximum_only())"
            fix += "; sample a whole board with bs.leaderboard.build_model" * (method == "nuts")
            raise InputError(f'method "{method}" uses the best score alone', fix=fix)
        refuse_unused("whole boards", theta0)
        return *sample_board(boards[0], spec.priors, **settings), spec.priors
    if any(one.metric != "accuracy" for one in boards):
        refuse_unused("scores that are not accuracies", theta0)
    settings |= theta0
    if method == "abc":
        tree = sample_abc(boards, spec.priors, **how, **settings)
    elif method == "nuts":
        how |= {"tune": spec.sampler.tune, "target_accept": spec.sampler.target_accept}
        tree = sample_nuts(boards, spec.priors, **how, **settings)
    else:
        tree = sample_exact(boards, spec.priors, **settings)
    return tree, None, spec.priors


def _boards(board: Any, known: KnownSkills | None) -> tuple[Data, ...]:
    boards = (board,) if isinstance(board, BestScore | Outcomes) else board
    several = isinstance(boards, list | tuple) and len(boards) > 0
    if not several or not all(isinstance(one, BestScore | Outcomes) for one in boards):
        fix = "bs.read_leaderboard(path, n_test=1000) makes one of a file or a data frame"
        raise InputError(f"one or several boards are needed, got {quoted(board)}", fix=fix)
    if len(boards) > 1 and any(isinstance(b, Leaderboard | Outcomes) for b in boards):
        fix = "give board.maximum_only() of each, or one board with its scores"
        raise InputError("several boards are read by their maxima only", fix=fix)
    return tuple(with_known(one, known) for one in boards)


def estimate_many(
    boards: Sequence[Any], *, cores: int = 1, random_seed: int = DEFAULT_SEED, **settings: Any
) -> list[xr.DataTree]:
    """State of the art of many boards, in their order.

    Parameters
    ----------
    boards : sequence
        Each as ``estimate_sota`` takes it.
    cores : int
        Processes of joblib: inside ``joblib.parallel_config("dask")`` the workers of a Dask cluster
        do the work.
    random_seed : int
        Each board gets a seed from this one and its place.
    **settings
        As ``estimate_sota`` takes them.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> boards = [bs.Leaderboard([0.93, 0.90, 0.88], n_test=n) for n in (100, 500)]
    >>> [tree["posterior"].sizes["draw"] for tree in bs.estimate_many(boards, draws=50)]
    [50, 50]
    """
    SEED.check(random_seed, "random_seed")
    work = [
        partial(estimate_sota, board, random_seed=seed_of(random_seed, place), **settings)
        for place, board in enumerate(boards)
    ]
    return [tree for _, tree in run_each(call, work, cores=cores)]


def seed_of(random_seed: int, name: object) -> int:
    """Seed of one board, independent of the other boards."""
    return int(digest_of(random_seed, name), 16) >> 1


def rows_of(
    boards: tuple[BestScore, ...],
    found: BoardPosterior | None,
    priors: Any,
    theta0: float | None,
    draws: int,
    random_seed: int | None,
) -> Iterator[Row]:
    """Draws of theta_sota, of the first of several boards, under other assumptions."""
    seed, board = int(generator_of(random_seed).integers(2**63)), boards[0]
    times: tuple[float, ...] = _TIMES

    def of_fit(fit: Any) -> FloatArray:
        drawn = draw_posterior(fit, draws, np.random.default_rng(seed))
        return fit.evidence.board.sign * drawn.best

    def anew(boards: Any = boards, priors: Any = priors, theta0: Any = theta0) -> FloatArray:
        if found is not None:
            evidence = board_evidence(boards[0], priors)
            return of_fit(fit_field(evidence, priors, np.random.default_rng(seed)))
        settings: Any = {"draws": draws, "random_seed": random_seed, "reference_skill": theta0}
        return sota_posterior(boards, priors, **settings).draws["theta_sota"][:, 0]

    if found is not None:
        given = replace(found.skills.fit, learns="nothing")
        yield from _rows_of_fit(given, of_fit)
        priors, times = given.priors, () if board.has_own_errors else _TIMES[-1:]
    if board.anchors is not None:
        yield "known skills", "unknown", anew((board.copy_with(anchors=None),), priors)
    most = max(one.typical_tries for one in boards)
    for k in times:
        if k * most <= COUNT.high:
            yield "n_classifiers", k, anew(_with_tries(boards, k), priors)
    if found is None:
        yield from _rows_of_maxima(boards, priors, theta0, anew)
    for luck in _LUCKS if any(board.has_submissions for board in boards) else ():
        known = replace(priors, submission_luck=FixedCorrelation(luck))
        yield "submission_luck", luck, anew(boards, known)
    for ratio in _RATIOS if all(board.metric == "auc" for board in boards) else ():
        if ratio != board.spread_ratio:
            others = tuple(board.copy_with(spread_ratio=ratio) for board in boards)
            yield "spread_ratio", ratio, anew(others, priors)
    for kind, other in of_other_field(priors):
        yield "field", kind, anew(boards, other)


def _rows_of_fit(given: FieldFit, of_fit: Callable[[FieldFit], FloatArray]) -> Iterator[Row]:
    if given.nodes.cells > 1:
        for x in np.unique(given.rho).tolist():
            yield "rho", x, of_fit(given.at_rho(x))
        learnt = replace(given, learns="rho")
        yield "rho learnt from the scores", float(learnt.node_weights @ given.rho), of_fit(learnt)
    for family in given.families if len(given.families) > 1 else ():
        yield "family", family, of_fit(given.of_family(family))


def _rows_of_maxima(
    boards: Sequence[BestScore], known: MaximumPriors, theta0: float | None, anew: Any
) -> Iterator[Row]:
    rho, spread = known.correlation, known.skill.spread
    if all(board.metric == "accuracy" for board in boards):
        middle = default_reference_skill(boards[0]) if theta0 is None else theta0
        for odds in (middle / (1 - middle) * np.array([0.5, 2.0])).tolist():
            yield "reference_skill", odds / (1 + odds), anew(theta0=odds / (1 + odds))
    for x in (0.0, 0.6, 0.9) if rho.is_fixed else rho.quantile([0.025, 0.5, 0.975]).tolist():
        yield "rho", x, anew(priors=replace(known, correlation=FixedCorrelation(x)))
    for x in spread if isinstance(spread, tuple) else (spread / 2, min(spread * 2, 4.9)):
        yield "spread", x, anew(priors=replace(known, skill=replace(known.skill, spread=x)))


def _with_tries(boards: Sequence[BestScore], factor: float) -> tuple[BestScore, ...]:
    def more(n: int | TriesPrior) -> int | TriesPrior:
        return n.scaled(factor) if isinstance(n, TriesPrior) else max(1, round(n * factor))

    return tuple(board.with_tries(more(board.n_classifiers)) for board in boards)


def estimate_paired(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    draws: int | None = None,
    chains: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    top: float | None = None,
    groups: Groups = "all",
) -> xr.DataTree:
    r"""Posterior of the best skill, of the public winner's and of every team's, from both boards.

    Scores are :math:`x_j = \theta_j + s_1 (\rho z_1 + \sqrt{1 - \rho^2} e_{1j})` and the same with
    index 2; P of the skills and its prior are those of a whole board; residuals may be outliers.
    Skills are those of the *private* population. Where the standard errors are known, rho is learnt
    from the variance of the differences, :math:`(s_1^2 + s_2^2)(1 - \rho^2)`; else only that
    product is learnt, and rho keeps its prior. Where public scores are the best of several
    submissions, the model removes their luck (``bayes_sota.maximum.score_laws``) and learns lambda
    from the differences.

    Parameters
    ----------
    boards : PairedBoards
        Known skills (``with_known``) show the shift of the private board.
    priors : Priors or PairedPriors, optional
        Prior of rho, sizes that the offset of the public board may have, and the luck of
        submissions. Not together with ``model``.
    model, domain, field, random_seed, groups
        As in ``estimate_sota``.
    draws, chains : int, optional
        Draws per chain, and chains; default those of the model, 250 and 4.
    top : float, optional
        The model covers teams among the best ``top`` of the means of both scores (never fewer than
        30 places); results include teams among the best of either board. Default: one half, at most
        1,500 places.

    Returns
    -------
    xarray.DataTree
        ``posterior``: theta_sota, winner_skill, multiplicity_bias, rho, score_shift (private minus
        public score at the winner's skill), standard errors, ``best`` (index of the best team), per
        classifier ``skill`` and ``expected_private``; with submissions ``submission_luck`` (lambda)
        and ``submission_slope``. ``predictions``: new scores, ``public_gain`` (public score minus
        its expectation given the private one) and ``unusual`` (probability that luck and selection
        do not explain it). ``log_likelihood``: ``score`` (classifier,), 0 for ignored teams.
        Attributes ``rho_learnt``, ``luck_learnt`` and ``n_copies``, teams left out as copies of
        another.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> public, private = rng.binomial(500, rng.uniform(0.7, 0.8, 40), (2, 40)) / 500
    >>> boards = PairedBoards(public, private, n_test=(500, 500))
    >>> tree = estimate_paired(boards, draws=50, random_seed=0, groups="estimands")
    >>> tree.attrs["rho_learnt"], tree["posterior"]["skill"].dims
    (1, ('chain', 'draw', 'classifier'))
    """
    check_choice("groups", groups, Groups)

    spec = chosen_model(model, "paired", priors, domain=domain, field=field, data=boards)
    sizes = spec.sizes(draws, chains)
    rng, seed = sample.resolve_seed(random_seed)
    fit = drawing.fit_pairs(Pairs.of(boards, spec.priors, top), rng)
    parameters = draw_parameters(fit, sizes["draws"] * sizes["chains"], rng)
    how: Any = {"method": "exact", "seed": seed} | spec.provenance
    known = sample.describe_provenance((boards,), spec.priors, **how)
    return _result(fit, parameters, sizes["chains"], rng, groups, known)


def _result(
    fit: drawing.PairFit,
    parameters: Parameters,
    chains: int,
    rng: np.random.Generator,
    groups: Groups,
    known: dict[str, Any],
) -> xr.DataTree:
    pairs, boards, priors = fit.evidence, fit.evidence.boards, fit.evidence.priors
    noise, log_prior, psi, unusual = drawing.draw_psi(fit, parameters, rng)
    labels = {"classifier": [boards.names[i] for i in pairs.kept], "board": list(BOARDS)}
    lay_out = partial(sample.lay_out, chains=chains, dims=_DIMS, coords=labels)

    def named(drawn: Any, field: Parameters, best_public: Any) -> xr.Dataset:
        bias = {"multiplicity_bias": best_public - drawn["theta_sota"]}
        return lay_out(drawn | bias | field_values(fit, field))

    private = None if boards.anchors is None else private_board(boards)
    of_known, doubts = ([], []) if private is None else notes_of_anchors(private)
    drawn = drawing.estimands_of(pairs, noise, psi, pairs.winner, rng, private)
    new = {name: drawn.pop(name) for name in (*NEW_SCORES, "public_gain")}
    given = {"n_test": boards.n_test, "standard_error": boards.standard_errors}
    constants: dict[str, Any] = {k: ("board", list(v)) for k, v in given.items() if v is not None}
    constants["observed_maximum"] = float(boards.public.max())
    if pairs.has_luck:
        constants["submissions"] = "classifier", np.median(boards.submissions[pairs.kept], axis=1)
        levels = priors.submission_luck.quantile(np.array(LEVELS))
        constants["submission_luck_prior"] = xr.DataArray(levels, {"level": list(LEVELS)})
    made = {
        "posterior": named(drawn, parameters.completed(fit, rng), boards.public.max()),
        "predictions": lay_out(new | {"unusual": unusual}),
        "sample_stats": lay_out({"point": parameters.point, "stratum": parameters.node}),
        "observed_data": xr.Dataset({"score": (_DIMS["score"], pairs.scores)}, labels),
        "constant_data": xr.Dataset(constants, labels | {"family": list(fit.families)}),
    }
    if groups == "all":
        every = -(-16 * psi.size // sample.LARGEST_GROUP)
        some = np.arange(len(psi)).reshape(chains, -1)[:, ::every].ravel()
        before, own, own_psi, scores = drawing.draw_prior(fit, some.size, rng)
        winners, shown = scores[..., 0].argmax(axis=1), pairs.printed(scores)
        values = drawing.estimands_of(pairs, own, own_psi, winners, rng)
        prior = {name: values[name] for name in drawn}
        kept, own_noise = psi[some], drawing.blocks(noise.at(some))
        again = [draw_scores(pairs, one, kept[rows], rng) for rows, one in own_noise]
        made["prior"] = named(prior, before, shown[..., 0].max(axis=1))
        made["prior_predictive"] = lay_out({"score": shown})
        made["posterior_predictive"] = lay_out({"score": pairs.printed(np.concatenate(again))})
        made["log_prior"] = lay_out({"field": parameters.log_prior(fit), "noise": log_prior})
        if 4 * psi.size <= sample.LARGEST_GROUP:
            each = np.zeros(psi.shape)
            each[:, : pairs.n_counted] = fit.log_likelihood_of_entries(parameters)
            made["log_likelihood"] = lay_out({"score": each}, dims={"score": ("classifier",)})
    facts = {
        "skill_family": "averaged",
        "log_evidence": fit.log_evidence_of_all,
        "effective_points": fit.effective_size,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join([*doubts, *drawing.reasons_of(fit, noise)]),
        "luck_learnt": int(pairs.has_luck and not priors.submission_luck.is_fixed),
        "rho_learnt": int(boards.noise_is_known and not priors.correlation.is_fixed),
        "metric": "score" if boards.n_test is None else "accuracy",
        "n_copies": pairs.n_copies,
        "notes": "; ".join(note.replace("; ", ", ") for note in of_known),
    }
    return sample.result_tree(made, known | facts)
