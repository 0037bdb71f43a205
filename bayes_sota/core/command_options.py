"""Options that commands share, and how they turn into objects of the package."""

import json
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.core import ParameterSource

from bayes_sota.core.arguments import COUNT, OPEN_SHARE, Range, refuse_tries
from bayes_sota.core.command_tables import echo_problem
from bayes_sota.core.errors import InputError
from bayes_sota.core.schema import SCHEMA_VERSION
from bayes_sota.core.text import plain_text

__all__ = [
    "check_positives",
    "echo_json",
    "echo_verdict",
    "interval_option",
    "number_option",
    "output_options",
    "parse_tries",
    "seed_option",
    "show_progress",
    "text_option",
    "top_option",
    "tries_option",
]

_NULLS = {  # keys of numbers that may not exist, and why
    "mcse": "one draw has no Monte Carlo error",
    "rmse_ratio": "the raw maximum has no error",
    "score_difference_se": "one board has no standard error",
    "score_ratio": "the raw maximum has no interval score",
    "standardized_deviance": "no degrees of freedom are left",
    "width_ratio": "the raw maximum's interval has no width",
}
_SEED = Range(0, 2**63 - 1, whole=True)  # what a file of a result can hold


class _Real(click.FloatRange):
    """Numbers of a range; the ends are shown by ``--help`` and by errors."""

    def __init__(self, limits: Range) -> None:
        low, high = (None if math.isinf(x) else float(x) for x in limits.ends)
        super().__init__(low, high, limits.open_low, limits.open_high)
        self.limits = limits

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The number, if it is one of the range."""
        return float(_converted(float, value, self.limits, param))


class _Whole(click.IntRange):
    """Whole numbers of a range; the ends are shown by ``--help`` and by errors."""

    def __init__(self, limits: Range) -> None:
        low, high = (None if math.isinf(x) else int(x) for x in limits.ends)
        super().__init__(low, high)
        self.limits = limits

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """The number, if it is one of the range."""
        return int(_converted(int, value, self.limits, param))


def _converted(kind: Callable[[Any], Any], value: Any, limits: Range, param: Any) -> Any:
    try:
        number = kind(value)
    except ValueError:
        number = float("nan")
    if not limits.holds(number):
        raise limits.refusal(max(param.opts, key=len), value, number)
    return number + 0  # no -0.0


def number_option[F: Callable[..., Any]](
    limits: Range, *names: str, **settings: Any
) -> Callable[[F], F]:
    """An option that takes numbers of a range, shown with the range and its default."""
    kind = _Whole(limits) if limits.whole else _Real(limits)
    chosen = {"default": None, "show_default": True, **settings}
    return click.option(*names, type=kind, **chosen)


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--json`` and ``--quiet``."""
    for option in (
        click.option("--quiet", is_flag=True, help="No progress and no notes."),
        click.option(
            "--json", "as_json", is_flag=True, is_eager=True, help="One JSON object, nothing else."
        ),
    ):
        command = option(command)
    return command


def text_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--text``, only the paragraph, which ``--json`` has among all else."""
    return click.option(
        "--text", is_flag=True, callback=_not_with_json,
        help="Only the paragraph that a review can use.",
    )(command)  # fmt: skip


def seed_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--seed`` of commands that draw."""
    return number_option(_SEED, "--seed", help="Random seed; reported if drawn.")(command)


def top_option[F: Callable[..., Any]](default: int, what: str) -> Callable[[F], F]:
    """``--top``, the rows of a printed table: ``--json`` has them all."""
    return number_option(COUNT, "--top", default=default, help=what, callback=_not_with_json)


def _not_with_json(context: click.Context, option: click.Parameter, value: Any) -> Any:
    typed = context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    if typed and context.params.get("as_json"):
        raise InputError(f"{option.opts[0]} has no effect on --json, which has everything")
    return value


def tries_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--tries-per-entry``, which is refused with the reason."""
    return click.option(
        "--tries-per-entry", hidden=True, expose_value=False,
        callback=lambda context, option, value: refuse_tries(value, "--tries-per-entry"),
    )(command)  # fmt: skip


def interval_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--prob``, the probability of printed intervals."""
    option = number_option(
        OPEN_SHARE, "--prob", default=0.95, help="Probability of the equal-tailed intervals."
    )
    return option(command)


def check_positives(n_positive: int | None, n_test: int) -> int:
    """Number of positive items of an AUC, or ``InputError``."""
    if n_positive is None:
        raise InputError("--n-positive is missing: an AUC needs the number of positive items")
    if not 2 <= n_positive <= n_test - 2:
        raise InputError(
            "--n-positive must leave at least 2 items of each class, got "
            f"{n_positive} of {n_test:,}"
        )
    return n_positive


def parse_tries(text: str) -> int | tuple[int, int]:
    """Number of classifiers, or a range ``A:B``.

    Examples
    --------
    >>> parse_tries("3558"), parse_tries("1000:4000")
    (3558, (1000, 4000))
    """
    parts = text.split(":")
    try:
        numbers = [int(part.replace(",", "").replace("_", "")) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise InputError(
            f"--classifiers takes a whole number or a range A:B, got {plain_text(text, 40)!r}"
        )
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def echo_json(content: dict[str, Any]) -> None:
    """Print one JSON object with the schema version first.

    JSON knows neither infinity nor not-a-number: they are null, and ``null_reasons`` says why.
    """
    reasons: dict[str, str] = {}
    found = {"schema_version": SCHEMA_VERSION, **_jsonable(content, (), reasons)}
    click.echo(json.dumps(found | ({"null_reasons": reasons} if reasons else {}), indent=2))


def echo_verdict(reasons: Sequence[str]) -> int:
    """Exit code: 0 where a result can be trusted, else 1 and a line that says why it cannot."""
    if reasons:
        echo_problem("warning", "not to be trusted: " + "; ".join(reasons))
    return 1 if reasons else 0


def _jsonable(value: Any, place: tuple[str, ...], reasons: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {str(k): _jsonable(v, (*place, str(k)), reasons) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(v, (*place, str(i)), reasons) for i, v in enumerate(value)]
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist(), place, reasons)
    if isinstance(value, float) and not math.isfinite(value):
        key = next((name for name in reversed(place) if not name.isdigit()), "")
        reasons[".".join(place)] = _NULLS.get(key, f"not a finite number: {value}")
        return None
    return value


def show_progress(quiet: bool, as_json: bool) -> bool:
    """Progress bars only where a person watches."""
    return not quiet and not as_json and sys.stderr.isatty()
