r"""How methods differ in every task, each task shrunk towards the mean of all.

With :math:`c_t = H x_t` the contrasts of the methods' scores in task t (H orthonormal and
orthogonal to 1) and :math:`S_t` the covariance of their errors,

.. math:: c_t \mid \gamma_t \sim N(g_t \gamma_t, S_t), \qquad
          \gamma_t \mid \mu, \tau \sim N(\mu, \tau^2 I), \qquad
          g_t = 2 \sqrt{p_t (1 - p_t)}

with a flat prior of :math:`\mu` and the methods' mean score :math:`p_t`: methods that are nearly
always right, or wrong, differ by less. For numbers (Dice, ...) :math:`g_t = 1`. Given :math:`\tau`
all is normal. The prior of :math:`v_0 / (v_0 + \tau^2)`, on a grid, is uniform from 0 to 1, with
:math:`v_0` the harmonic mean of the variances :math:`S_t / g_t^2` (Daniels 1999, Canadian Journal
of Statistics 27, 567). A difference of two methods is :math:`\sqrt2` times their contrast.

The variance of a method in a task is that of ``items.comparison``; it borrows two items (clusters)
from the other tasks and is multiplied by :math:`(t_{\nu} / z)^2` for its degrees of freedom.
Correlations of errors come from all tasks. The mean of all methods in a task is not shrunk: the
error of :math:`x_t` is :math:`b_t z` and a part whose mean over the methods is 0, with z standard
normal and correlated with the errors of the contrasts.

``tests/items/test_by_task.py`` compares with NUTS; ``tests/calibration/by_task.py`` counts how
often intervals cover the truth.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from bayes_sota.core.arguments import DEFAULT_SEED, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted, listed
from bayes_sota.core.types import FloatArray, IntArray, Seed
from bayes_sota.data.item_values import group_means, korn_graubard
from bayes_sota.data.outcomes import ABOUT, Outcomes
from bayes_sota.items.comparison import bounds_of, student_law

_NODES = 80  # of the grid of tau
_BORROWED = 2.0  # items or clusters of a task's variance
_PRIOR_ITEMS = 1.0  # of a task: there are many, and the same prior in each would add up
_TINY = 1e-12


class TaskErrors(NamedTuple):
    """Scores of every task (T, m), and the covariance of their errors (T, m, m).

    Differences are proportional to ``scale`` (T,), 1 where the mean score is one half.
    """

    scores: FloatArray
    covariance: FloatArray
    scale: FloatArray
    n_items: IntArray
    n_clusters: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class TaskComparison:
    """Posterior of the methods' skills in every task, larger is better.

    Attributes
    ----------
    methods, tasks : tuple of str
    errors : TaskErrors
    spread : ndarray, shape (D,)
        Draws of tau.
    average : ndarray, shape (D, m)
        Draws of the mean of the contrasts; each row sums to 0.
    bounds, sign, notes
        As in ``MethodComparison``.
    """

    methods: tuple[str, ...]
    tasks: tuple[str, ...]
    errors: TaskErrors
    spread: FloatArray
    average: FloatArray
    bounds: tuple[float, float]
    sign: int
    notes: tuple[str, ...]
    seeds: tuple[np.random.SeedSequence, ...]

    def draws_of(self, task: int) -> FloatArray:
        """Draws of skills in one task, (D, m), not cut at ``bounds``, the same in every call."""
        h, scale = helmert(len(self.methods)), self.errors.scale[task]
        scores, covariance = self.errors.scores[task], self.errors.covariance[task]
        values, vectors = np.linalg.eigh(h @ covariance @ h.T / scale**2)
        values = np.maximum(values, _TINY * values[-1])
        square, rng = self.spread[:, None] ** 2, np.random.default_rng(self.seeds[task])
        kept = square / (values + square)
        away = (h @ scores / scale - self.average @ h.T) @ vectors
        noise = np.sqrt(values * kept) * rng.standard_normal(away.shape)
        contrasts = scale * (self.average + (kept * away + noise) @ vectors.T @ h)
        shared = covariance.mean(axis=0)
        error = np.sqrt(shared.mean())
        loading = vectors.T @ h @ shared / (error * scale)
        left = np.maximum(1 - kept @ (loading**2 / values), 0.0)
        luck = np.sqrt(left) * rng.standard_normal(left.size) - noise @ (loading / values)
        return scores.mean() + contrasts - error * luck[:, None]

    def skills_in(self, task: int) -> FloatArray:
        """Draws of skills in one task, (D, m), as scores were given and within ``bounds``."""
        return self.sign * np.clip(self.draws_of(task), *self.bounds)

    def best_in(self, task: int) -> tuple[int, FloatArray, FloatArray]:
        """Most probable best method in a task, P(best) of each (m,), draws of its lead (D,)."""
        drawn = self.draws_of(task)
        p_best = np.bincount(drawn.argmax(axis=1), minlength=len(self.methods)) / len(drawn)
        best = int(p_best.argmax())
        return best, p_best, drawn[:, best] - np.delete(drawn, best, 1).max(axis=1)


def verdicts_that_stand(leads: FloatArray, prob: float) -> NDArray[np.bool_]:
    """The most probable verdicts (leads > 0; draws, tasks) that are jointly true with ``prob``."""
    true = leads > 0
    order = np.argsort(-true.mean(axis=0), kind="stable")
    together = np.empty(order.size)
    together[order] = np.logical_and.accumulate(true[:, order], axis=1).mean(axis=0)
    return together >= prob


def compare_by_task(
    outcomes: Outcomes, *, draws: int = 10_000, random_seed: Seed = DEFAULT_SEED
) -> TaskComparison:
    """Skills of methods in every task, differences shrunk towards the mean of all tasks.

    Parameters
    ----------
    outcomes : Outcomes
        Answers or numbers with tasks.
    draws, random_seed
        As in ``compare_methods``.

    Raises
    ------
    InputError
        No tasks, one task, or no task with two items (clusters).

    Examples
    --------
    >>> right = np.random.default_rng(0).random((90, 2)) < [0.9, 0.7]
    >>> exam = Outcomes(right, tasks=["law", "art", "math"] * 30)
    >>> compare_by_task(exam).draws_of(0).mean(axis=0).round(2).tolist()
    [0.88, 0.62]
    """
    outcomes.check_several()
    names = outcomes.names
    if outcomes.new != "items":
        about = f"--by task is about new items of every task, not about {ABOUT[outcomes.new]}"
        raise InputError(f"{about}: it needs several items of every task, and no --new")
    tasks, notes = tuple(outcomes.task_weights), list[str]()
    if len(tasks) < 2:
        columns = "a column task, subject or subset, or another by --column task=NAME"
        raise InputError(f"--by task needs answers with several tasks: {columns}")
    errors = errors_by_task(outcomes)
    if alone := [tasks[t] for t in np.flatnonzero(errors.n_clusters < 2)]:
        one = "item" if outcomes.clusters is None else "cluster"
        notes.append(
            f"{counted(len(alone), 'task has', 'tasks have')} only one {one}, and an error that is "
            f"taken from the other tasks: {listed(alone)}"
        )
    if outcomes.runs_in_words:
        notes.append(f"scores are {outcomes.measured} in {outcomes.runs_in_words}")
    rng = generator_of(random_seed)
    h, scale = helmert(len(names)), errors.scale[:, None]
    covariance = h @ errors.covariance @ h.T / scale[:, None] ** 2
    spread, average = _shared(errors.scores @ h.T / scale, covariance, draws, rng)
    seeds = tuple(np.random.SeedSequence(int(s)) for s in rng.integers(2**62, size=len(tasks)))
    bounds = bounds_of(outcomes)
    return TaskComparison(
        names, tasks, errors, spread, average @ h, bounds, outcomes.sign, tuple(notes), seeds
    )


def errors_by_task(data: Outcomes) -> TaskErrors:
    """Scores and errors of every task."""
    task, weights = data.task_codes
    scores = group_means(data.sign * data.values, task)
    n_items = counts = np.bincount(task)
    if data.clusters is not None:
        pairs = set(zip(task.tolist(), data.clusters, strict=True))
        counts = np.bincount([t for t, _ in pairs])
    m, known = data.n_classifiers, np.flatnonzero(counts > 1)
    if not known.size:
        one = "item" if data.clusters is None else "cluster"
        raise InputError(f"every task has one {one}, which shows no variance within a task")
    covariance, freedom = np.zeros((weights.size, m, m)), np.zeros(weights.size)
    for t in known:
        law = student_law(data.subset(items=task == t), _PRIOR_ITEMS)
        covariance[t] = sum(part.covariance for part in law.parts)
        freedom[t] = law.parts[0].freedom
    unit = covariance * (freedom + 1)[:, None, None]
    whole = np.tensordot(freedom, unit, 1) / freedom.sum()
    variance = np.diagonal(whole)
    if not variance.all():
        raise InputError("a method is constant within every task: its error cannot be estimated")
    own = freedom[:, None]
    each = own * np.diagonal(unit, axis1=1, axis2=2) + _BORROWED * variance
    wider = np.array([1 / korn_graubard(nu + _BORROWED) for nu in freedom])
    deviation = np.sqrt(each / (own + _BORROWED) / (own + 1) * wider[:, None])
    correlation = whole / np.sqrt(np.outer(variance, variance))
    shared = correlation * deviation[:, :, None] * deviation[:, None, :]
    scale = np.ones(counts.size)
    if data.is_answers:
        middle = (counts * scores.mean(axis=1) + _BORROWED * scores.mean()) / (counts + _BORROWED)
        middle = (counts * middle + 0.5) / (counts + 1)
        scale = 2 * np.sqrt(middle * (1 - middle))
    return TaskErrors(scores, shared, scale, n_items, counts)


def _shared(
    loadings: FloatArray, errors: FloatArray, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws of tau (D,) and mu (D, k), from contrasts (T, k) and their errors (T, k, k)."""
    k = loadings.shape[1]
    typical = 1 / np.mean(k / np.trace(errors, axis1=1, axis2=2))
    x, weights = np.polynomial.legendre.leggauss(_NODES)
    share = (x + 1) / 2
    squares = typical * (1 - share) / share
    total, pulled = np.zeros((_NODES, k, k)), np.zeros((_NODES, k))
    misfit, volume = np.zeros(_NODES), np.zeros(_NODES)
    for contrasts, covariance in zip(loadings, errors, strict=True):
        values, vectors = np.linalg.eigh(covariance)
        precision = 1 / (values + squares[:, None])
        along = contrasts @ vectors
        total += (vectors * precision[:, None]) @ vectors.T
        pulled += (precision * along) @ vectors.T
        misfit += precision @ along**2
        volume += np.log(precision).sum(axis=1)
    centre = np.linalg.solve(total, pulled[..., None])[..., 0]
    misfit -= np.sum(centre * pulled, axis=1)
    volume -= np.linalg.slogdet(total)[1]
    log_weights = np.log(weights) + (volume - misfit) / 2
    chances = np.exp(log_weights - log_weights.max())
    node = rng.choice(_NODES, draws, p=chances / chances.sum())
    root = np.linalg.cholesky(np.linalg.inv(total))
    noise = rng.standard_normal((draws, k))
    for n in np.unique(node):
        noise[node == n] = noise[node == n] @ root[n].T
    return np.sqrt(squares[node]), centre[node] + noise
