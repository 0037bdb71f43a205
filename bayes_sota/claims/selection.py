r"""Claims about a winner that was picked: the best of K tries of one method, or of m entries.

Tries (variants, seeds, settings) of equal skill, of which the best score is reported: what all
share is the luck of the items, to the extent that A and B share it: the correlation r of their
outcomes on one item. The own luck of the best of K is the largest of K, so that with a flat prior

- two accuracies have, given the common luck, board-conditional skills :math:`\psi` with

  .. math:: P(\psi_A \le \psi_B) \propto \int\!\!\int_{\psi_A \le \psi_B}
            \big[F(x_A \mid \psi_A)^K - F(x_A - 1 \mid \psi_A)^K\big]\, p(x_B \mid \psi_B)

  with the law of ``score_laws`` at the dispersion 1 - r, and r the phi coefficient that belongs to
  the congruence. What K tries add to the log odds of this law is added to those of the exact
  ``false_claim_probability``, which the law follows closely for one try, but for few items that
  tell A and B apart;
- two means of n cases have, given their standard deviations,

  .. math:: P(\mu_A \le \mu_B) = E_t\, \Phi\!\Big(\frac{t\, \sigma_A - (\hat\mu_A - \hat\mu_B)}
            {\sqrt{\sigma^2 - \sigma_A^2}}\Big), \quad
            \sigma_A^2 = \frac{(1 - r^+) s_A^2}{n}, \quad
            \sigma^2 = \frac{s_A^2 + s_B^2 - 2 r s_A s_B}{n}

  with t the largest of K standard normal variables, and both standard deviations a posteriori
  uncertain as in the t law.

Tries of one method are often more alike than A and B are, and then the correction is smaller; where
items differ in difficulty as a normal variable does, it is .21 instead of .25 for ten tries with
.95 against .90 on 100 items, .28 instead of .30 for five with .80 against .76 on 200. K = 1 is the
uncorrected claim. ``tests/claims/test_selection.py`` compares with simulated tries.

Of entries of different skill the winner's lead is luck in part as well. Every entry has a skill
from one distribution P(theta), learnt from all scores or answers (``leaderboard_posterior``,
``items_posterior``), and the probability that another entry is at least as good follows from
the joint posterior of all skills. The uncorrected probability beside it takes both as given
beforehand: from scores with the same correlation, from answers and item scores by their paired
posterior, so that there the difference holds what the two models differ in as well.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.congruence import Congruence, RelativeCongruence, congruence_nodes
from bayes_sota.claims.means import ReportedMeans, correlation_nodes
from bayes_sota.core.arguments import DEFAULT_SEED, TRIES, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, Priors
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.text import chance
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import MethodComparison, compare_methods, left_out
from bayes_sota.leaderboard.entries import EntryDraws
from bayes_sota.leaderboard.fit import ScoreKernel, assumed_nodes
from bayes_sota.leaderboard.specification import Model, chosen_model, notes_on_field
from bayes_sota.leaderboard.submissions import check_luck, kernel_of

_LEAST_DISPERSION = 1e-3
_NODES = 64
_DRAWS = 4000
NUMBERS = (
    "p_false_selected",
    "p_false_selected_mcse",
    "p_false",
    "difference",
    "p_not_best",
    "p_not_best_mcse",
    "rho",
)
"""What a claim about a picked winner says in numbers."""


def best_try_probability(
    accuracy_a: float, accuracy_b: float, n_test: int, tries: float, congruence: Congruence = None
) -> float:
    """Probability that B is at least as good as A, the best of several equal tries.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, congruence
        As in ``false_claim_probability``, one claim; the flat prior.
    tries : float
        Tries of A of which the best is reported, at least 1.

    Examples
    --------
    >>> [round(best_try_probability(0.90, 0.88, 500, k), 3) for k in (1, 10)]
    [0.093, 0.352]
    """
    TRIES.check(tries, "tries")
    single = float(false_claim_probability(accuracy_a, accuracy_b, n_test, congruence))
    counts = [round(x * n_test) / n_test for x in (accuracy_a, accuracy_b)]
    kernel = ScoreKernel.of(Leaderboard(counts, n_test=n_test, rounding="exact", percent=False))
    a, b = np.asarray(accuracy_a, np.float64), np.asarray(accuracy_b, np.float64)
    prior: Any = RelativeCongruence(1, 1) if congruence is None else congruence
    dispersions = [(1 - _phi(a, b, p11), w) for p11, w in congruence_nodes(a, b, prior)]
    one, best = (
        float(logit(sum(w * not_below(kernel, d, k) for d, w in dispersions))) for k in (1.0, tries)
    )
    return float(expit(logit(single) + best - one)) if 0 < single < 1 else single


def best_try_probability_of_means(claim: ReportedMeans, tries: float) -> float:
    """Probability that B is at least as good as A, the best of several equal tries, for means.

    Parameters
    ----------
    claim : ReportedMeans
        Where only the standard deviation of the differences is known, half of their variance is
        taken to be A's own.
    tries : float
        Tries of A of which the best is reported, at least 1.

    Examples
    --------
    >>> claim = ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=0.7)
    >>> [round(best_try_probability_of_means(claim, k), 3) for k in (1, 10)]
    [0.1, 0.401]
    """
    TRIES.check(tries, "tries")
    claim.p_false()  # refuses what no claim can be
    gap, n, known = claim.mean_a - claim.mean_b, claim.n_test, claim.sd_difference
    if known is not None:
        return _best_mean(gap, n, known**2 / 2, known**2, tries)
    first, second = claim.spreads
    p = 0.0
    for r, weight in correlation_nodes(claim.correlation, claim.correlation_range):
        own, both = max(float(r), 0.0), 2 * float(r) * first * second
        p += weight * _best_mean(gap, n, (1 - own) * first**2, first**2 + second**2 - both, tries)
    return p


def not_below(kernel: ScoreKernel, dispersion: float, tries: float) -> float:
    """P(psi of the best score <= psi of the lowest) on a kernel's grid, flat prior.

    ``kernel`` is of two scores, ``dispersion`` the variance of a score given psi, relative to that
    of one score, and ``tries`` are of the best score.
    """
    dispersion = max(dispersion, _LEAST_DISPERSION)
    log_kernel = kernel.log_kernel_at(dispersion)
    rival, own = (np.exp(log_kernel[row] - log_kernel[row].max()) for row in (0, -1))
    if tries > 1:
        own = _of_largest(own, kernel, dispersion, tries)
    flat = np.gradient(kernel.psi)  # equal weight to equal lengths of skill
    p_own, p_rival = (x * flat / np.sum(x * flat) for x in (own, rival))
    return float(p_rival @ (np.cumsum(p_own) - p_own / 2))


def _of_largest(
    likelihood: FloatArray, kernel: ScoreKernel, dispersion: float, tries: float
) -> FloatArray:
    """Likelihood of the largest of several scores with one skill, the best of a kernel's two."""
    law, psi, value = kernel.law, kernel.psi, float(kernel.values[-1])
    below = 1 - law.reach(psi, value, dispersion)
    if law.spacing == 0:
        return likelihood * below ** (tries - 1)
    above = np.zeros_like(psi)  # nothing is above a perfect accuracy
    if value < law.unit:
        above = law.reach(psi, value + law.spacing, dispersion)
    return (1 - above) ** tries - below**tries


def _phi(a: FloatArray, b: FloatArray, p11: FloatArray) -> float:
    """Correlation of two methods' answers."""
    spread = float(np.sqrt(a * (1 - a) * b * (1 - b)))
    return float(p11 - a * b) / spread if spread > 0 else 0.0


def _best_mean(gap: float, n: int, own: float, total: float, tries: float) -> float:
    """P(A <= B) from variances of one case: A's own, and of the difference."""
    x, w = np.polynomial.legendre.leggauss(_NODES)
    levels, weights = (x + 1) / 2, w / 2
    scale = np.sqrt((n - 1) / chdtri(n - 1, levels))[:, None] / np.sqrt(n)
    largest = ndtri(levels ** (1 / tries))[None, :]
    rest = max(total - own, 0.0)
    if rest <= 1e-12 * total:
        made = (gap <= scale * np.sqrt(own) * largest).astype(float)
    else:
        made = ndtr((scale * np.sqrt(own) * largest - gap) / (scale * np.sqrt(rest)))
    return float(weights @ made @ weights)


@dataclass(frozen=True)
class SelectedClaim:
    """A claim about a winner that was picked, with and without the picking.

    Attributes
    ----------
    winner, runner_up : str
    p_false_selected : float
        Probability that the runner-up is at least as good, corrected for the selection.
    p_false : float
        The same as if both had been given beforehand.
    p_not_best : float
        Probability that another of the entries is the best.
    p_best : tuple of float
        Corrected probability of every entry to be the best, in the order given.
    p_best_mcse : tuple of float
        Monte Carlo standard errors of ``p_best``.
    p_false_selected_mcse, p_not_best_mcse : float
        Monte Carlo standard errors; the first is 0 for equal scores, which are a toss-up.
    rho : float
        Mean correlation of an entry with what all share.
    notes, reasons : tuple of str
        What a reader should know, and why the result cannot be trusted (empty where it can).
    """

    winner: str
    runner_up: str
    p_false_selected: float
    p_false: float
    p_not_best: float
    p_best: tuple[float, ...]
    p_best_mcse: tuple[float, ...]
    p_false_selected_mcse: float
    p_not_best_mcse: float
    rho: float
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """What the selection adds."""
        return self.p_false_selected - self.p_false

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects."""
        return {
            **{name: getattr(self, name) for name in NUMBERS},
            "winner": self.winner,
            "runner_up": self.runner_up,
            "n_entries": len(self.p_best),
            "notes": list(self.notes),
            "diagnostics": {"ok": not self.reasons, "reasons": list(self.reasons)},
        }

    @property
    def corrected(self) -> tuple[str, str]:
        """Texts of ``p_false_selected`` and ``p_not_best``."""
        return (
            chance(self.p_false_selected, self.p_false_selected_mcse),
            chance(self.p_not_best, self.p_not_best_mcse),
        )


def claim_of_best_entry(
    entries: Leaderboard | Outcomes,
    priors: Priors | BoardPriors | None = None,
    *,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    comparison: MethodComparison | None = None,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
) -> SelectedClaim:
    """Probability that the winner of several entries is not better than the runner-up, or all.

    Parameters
    ----------
    entries : Leaderboard, Responses or ItemScores
        All that took part. From answers and item scores the correlation is learnt; from scores it
        keeps its prior.
    priors : Priors, optional
        Not together with ``model``.
    model : ModelSpecification, name or path, optional
        Of whole boards; its priors count.
    domain : {"image-classifiers", "language-models", "tabular"}, optional
        Domain whose prior of rho counts. Not together with ``priors`` or ``model``.
    field : {"single", "ensembles"}, optional
        Whether entries are single classifiers, or ensembles that share members, notebooks or
        parents and so more luck, which raises the prior of rho. Default: ensembles for a download
        of a competition, else single. Not together with ``priors`` or ``model``.
    comparison : MethodComparison, optional
        Of the same answers or item scores, where it is known already.
    random_seed : int, Generator or None

    Returns
    -------
    SelectedClaim
        With a seed, ``p_best`` is that of ``board_table`` with the same seed.

    Raises
    ------
    InputError
        Fewer than two entries, entries with errors of their own, or ``comparison`` beside a
        leaderboard.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.88, 0.874, 0.87, 0.86], n_test=500)
    >>> claim = claim_of_best_entry(board, random_seed=0)
    >>> claim.p_false_selected > claim.p_false
    True
    """
    rng = generator_of(random_seed)
    check_luck(priors, entries)
    spec = chosen_model(model, "leaderboard", priors, domain=domain, field=field, data=entries)
    if not isinstance(entries, Leaderboard):
        return _of_items(entries, spec.priors, comparison, rng)
    if comparison is not None:
        raise InputError("given is a comparison from answers: it says nothing of a leaderboard")
    if entries.has_own_errors:
        raise InputError(
            "the claim of the best entry is for scores on one test set, and these have errors of "
            "their own: bayes-sota board gives the probability that it is the best, which allows "
            "for its having been picked"
        )
    claim = _of_scores(entries, spec.priors, rng)
    return replace(claim, notes=(*claim.notes, *notes_on_field(entries, spec.name, model)))


def _of_scores(board: Leaderboard, priors: BoardPriors, rng: np.random.Generator) -> SelectedClaim:
    from bayes_sota.leaderboard.entries import draw_entry_skills
    from bayes_sota.leaderboard.posterior import leaderboard_posterior

    posterior = leaderboard_posterior(board, priors, draws=_DRAWS, random_seed=rng)
    drawn = draw_entry_skills(posterior.fit, 1000, rng)
    first, second = (int(i) for i in board.order[:2])
    pair = board.without([int(i) for i in board.order[2:]]) if board.order.size > 2 else board
    kernel = kernel_of(pair)  # as if both had been given, with the same correlation
    nodes = assumed_nodes(kernel, priors)
    pairs = zip(nodes.rho, nodes.luck, strict=True)
    at = [(kernel.with_luck(float(luck)), 1 - rho**2) for rho, luck in pairs]
    p_false = float(np.mean([not_below(lucky, variance, 1.0) for lucky, variance in at]))
    claim = _selected(
        posterior,
        drawn,
        board.names,
        (first, second),
        p_false_selected=float(drawn.p_not_below_leader[second]),
        p_false=p_false,
        p_false_selected_mcse=float(drawn.p_not_below_mcse[second]),
        notes=posterior.notes,
    )
    return _toss_up(claim) if posterior.fit.kernel.leads[second] else claim


def _of_items(
    items: Outcomes,
    priors: BoardPriors,
    comparison: MethodComparison | None,
    rng: np.random.Generator,
) -> SelectedClaim:
    from bayes_sota.leaderboard.from_items import items_posterior

    kept = items.complete()  # one set of items for both probabilities
    notes = left_out(items, kept)
    posterior = items_posterior(kept, priors, draws=_DRAWS, random_seed=rng)
    if comparison is not None and comparison.methods != items.names:
        raise InputError("given is a comparison of other methods, or of several runs of these")
    if comparison is None:
        comparison = compare_methods(items, draws=_DRAWS, random_seed=rng)
    first, second = comparison.winner, comparison.runner_up
    drawn, skill = posterior.entries, posterior.entries.skill
    below = skill[:, [first]] <= skill[:, [second]]
    claim = _selected(
        posterior,
        drawn,
        comparison.methods,
        (first, second),
        p_false_selected=float(below.mean()),
        p_false=comparison.p_false,
        p_false_selected_mcse=float(posterior.parameters.share_mcse(below)[0]),
        notes=(*notes, *posterior.notes),
    )
    return _toss_up(claim) if comparison.scores[first] == comparison.scores[second] else claim


def _selected(
    posterior: Any, drawn: EntryDraws, names: tuple[str, ...], pair: tuple[int, int], **chances: Any
) -> SelectedClaim:
    """The claim that the first of two entries is better than the second, and the best of all."""
    first, second = pair
    return SelectedClaim(
        winner=names[first],
        runner_up=names[second],
        p_not_best=float(1 - drawn.p_best[first]),
        p_best=tuple(drawn.p_best.tolist()),
        p_best_mcse=tuple(drawn.p_best_mcse.tolist()),
        p_not_best_mcse=float(drawn.p_best_mcse[first]),
        rho=float(posterior.draws["rho"].mean()),
        reasons=posterior.reasons,
        **chances,
    )


def _toss_up(claim: SelectedClaim) -> SelectedClaim:
    """The same of equal scores."""
    return replace(claim, p_false_selected=0.5, p_false=0.5, p_false_selected_mcse=0.0)
