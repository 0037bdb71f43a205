"""Options that commands share, and how they turn into objects of the package."""

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from bayes_sota.cli.tables import echo_problem
from bayes_sota.errors import InputError
from bayes_sota.schema import SCHEMA_VERSION

__all__ = [
    "check_positives",
    "echo_json",
    "echo_verdict",
    "interval_option",
    "output_options",
    "parse_tries",
    "show_progress",
]

_LARGEST_SEED = 2**63 - 1  # what a file of a result can hold


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--json``, ``--seed`` and ``--quiet``."""
    for option in (
        click.option("--quiet", is_flag=True, help="No progress and no notes."),
        click.option(
            "--seed", type=int, callback=_checked_seed, help="Random seed; reported if drawn."
        ),
        click.option("--json", "as_json", is_flag=True, help="One JSON object, nothing else."),
    ):
        command = option(command)
    return command


def _checked_seed(ctx: click.Context, param: click.Parameter, seed: int | None) -> int | None:
    if seed is not None and not 0 <= seed <= _LARGEST_SEED:
        raise InputError(f"--seed must be at least 0 and at most {_LARGEST_SEED:,}, got {seed}")
    return seed


def interval_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--prob``, the probability of printed intervals."""
    return click.option(
        "--prob",
        type=float,
        default=0.95,
        show_default=True,
        help="Probability of the equal-tailed intervals.",
    )(command)


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
        raise InputError(f"--classifiers takes a whole number or a range A:B, got {text!r}")
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def echo_json(content: dict[str, Any]) -> None:
    """Print one JSON object with the schema version first; no NaN, which JSON does not know."""
    click.echo(json.dumps({"schema_version": SCHEMA_VERSION, **_jsonable(content)}, indent=2))


def echo_verdict(reasons: Sequence[str]) -> int:
    """Exit code: 0 where a result can be trusted, else 1 and a line that says why it cannot."""
    if reasons:
        echo_problem("warning", "not to be trusted: " + "; ".join(reasons))
    return 1 if reasons else 0


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(v) for v in value]
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def show_progress(quiet: bool, as_json: bool) -> bool:
    """Progress bars only where a person watches."""
    return not quiet and not as_json and sys.stderr.isatty()
