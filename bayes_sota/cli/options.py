"""What commands share: options, files, messages, tables for people and JSON for programs.

Every command is a ``Command``: its files do not destroy each other, its errors name its options
(``tests/cli/test_command.py`` walks through all commands).
"""

import csv
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial, reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import (
    COUNT,
    DEFAULT_SEED,
    NOT_NEGATIVE,
    OPEN_SHARE,
    RATIO,
    Points,
    Range,
)
from bayes_sota.core.errors import InputError, UnreadableFileError, quoted
from bayes_sota.core.files import check_ending, check_writable
from bayes_sota.core.schema import DOMAINS, KINDS_OF_FIELD
from bayes_sota.core.tables import json_text
from bayes_sota.core.text import plain_text, shown_path

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report

    type Draw = Callable[[], PlotCollection] | None

type Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

INSPECT = "inspect"
"""Name of the command that says what a file holds."""

_ROLES = (  # of columns, in words; readers have them in data/words.toml
    "entry, unit, task, cluster, run, fold, iteration, label, score, probability, n, se, "
    "submissions, runs, public, private, winner, loser, tie, count, tournament, group, target"
)
_LONGEST = 200  # characters of a cell
_LONGEST_LINE, _HEAD = 700, 450


def echo_problem(kind: str, message: str) -> None:
    """One line on standard error that cannot steer a terminal; of a long one beginning and end."""
    line = plain_text(" ".join(str(message).split()))
    if len(line) > _LONGEST_LINE:
        line = f"{line[:_HEAD]} ... {line[_HEAD - _LONGEST_LINE :]}"
    click.echo(f"{kind}: {line}", err=True)


def echo_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table to standard output; text in it is no markup and cannot steer a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heading = Text(plain_text(title)) if title else None
    table = Table(title=heading, title_justify="left", box=box.SIMPLE, pad_edge=False)
    for name in header:
        table.add_column(Text(plain_text(name)))
    for row in rows:
        table.add_row(*(Text(plain_text(cell, _LONGEST)) for cell in row))
    console = Console(highlight=False)
    width = console.width if console.is_terminal else 120
    console = Console(highlight=False, width=max(width, 80), file=sys.stdout)
    console.print(table)


class InputFile(click.Path):
    """File that a command reads; what is wrong with it is said before anything else."""

    def __init__(self, folders: bool = False) -> None:
        """Make the type of an argument, which may be a folder of files too."""
        super().__init__()
        self.folders = folders

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Path of a regular file, or ``InputError``."""
        from bayes_sota.core.files import check_file

        if not (self.folders and Path(value).is_dir()):
            check_file(Path(value))
        return Path(value)


class NameOrFile(click.ParamType):  # type: ignore[type-arg]
    """Name of something that the package has, or a file that a command reads."""

    name = "text"


class OutputDirectory(click.Path):
    """Directory that a command makes, and writes files into."""

    def __init__(self) -> None:
        """Make the type of an option; shells complete directories."""
        super().__init__(file_okay=False)
        self.name = "path"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Path at which there is no file, or ``InputError`` before anything is computed."""
        path = Path(value)
        if path.exists() and not path.is_dir():
            raise InputError(f"cannot write into {shown_path(path)}: it is not a directory")
        return path


class OutputFile(click.Path):
    """File that a command writes: a table, a figure or a result, as its ending says."""

    def __init__(self, kind: str | None = None) -> None:
        """Make the type of an option; any ending will do without a ``kind``."""
        super().__init__()
        self.kind = kind

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Path that can be written, or ``InputError`` before anything is computed."""
        path = Path(value)
        if self.kind is not None:
            check_ending(path, self.kind)
        check_writable(path)
        return path


_Written = OutputFile | OutputDirectory

_ABOUT_OUTPUT = {"as_json", "ci_prob", "figure_kind", "help", "quiet", "text", "top"}


class Command(click.Command):
    """Command whose files are checked, and whose errors speak of its options."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from bayes_sota.core.parallel import watched

        _check_files(self.params, ctx.params)
        silent = (bool(ctx.params.get(name)) for name in ("quiet", "as_json"))
        try:
            with watched(show_progress(*silent)):
                return super().invoke(ctx)
        except UnreadableFileError:
            raise
        except InputError as error:
            message = error.render(options_of(self))
            raise InputError(message + self._advice(ctx, message)) from error
        except EOFError as error:  # click takes it for the end of what a user types
            raise RuntimeError(str(error) or "unexpected end of a file") from error
        except KeyboardInterrupt:
            raise click.Abort from None

    def _advice(self, ctx: click.Context, message: str) -> str:
        """What to do about a file that was the problem: the end of the message."""
        arguments = [param for param in self.params if isinstance(param, click.Argument)]
        for _, path in _named(arguments, ctx.params, InputFile):
            name = re.escape(shown_path(path))
            if self.name != INSPECT and re.search(rf"(?<![\w./-]){name}(?![\w-])", message):
                return f"; bayes-sota {INSPECT} {shlex.quote(str(path))} says what it holds"
        return ""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in two groups: what is read and assumed, and what is shown."""
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], "Output": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                shown = isinstance(param.type, _Written) or param.name in _ABOUT_OUTPUT
                rows["Output" if shown else "Options"].append(record)
        for group, records in rows.items():
            if records:
                with formatter.section(group):
                    formatter.write_dl(records)


command: Callable[..., Callable[[Callable[..., Any]], Command]] = partial(
    click.command, cls=Command
)


def _check_files(params: Iterable[click.Parameter], values: dict[str, Any]) -> None:
    """Refuse a file that is written and also read, or written twice."""
    params = list(params)
    written = list(_named(params, values, _Written))
    for _, other in _named(params, values, InputFile | NameOrFile):
        for option, path in written:
            if _same(path, other):
                raise InputError(
                    f"{option} would overwrite the input {shown_path(path)}: name another file"
                )
    for number, (option, path) in enumerate(written):
        for second, other in written[:number]:
            if _same(path, other) or _folded(path) == _folded(other):
                raise InputError(
                    f"{second} and {option} both write {shown_path(path)}: name two files"
                )


def _named(
    params: Iterable[click.Parameter], values: dict[str, Any], kind: Any
) -> Iterator[tuple[str, Path]]:
    """Paths that options and arguments of a kind have, with the name that a user knows."""
    for param in params:
        value = values.get(param.name or "")
        if value is not None and isinstance(param.type, kind):
            label = param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
            for path in value if isinstance(value, tuple) else (value,):
                yield label, Path(path)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file: through links too, and if only the case differs."""
    try:
        return one.samefile(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _folded(path: Path) -> str:
    """Name of a file that may not exist yet, which some file systems take without its case."""
    return os.path.realpath(path).casefold()


def options_of(command: click.Command) -> list[str]:
    """Names of the options of a command."""
    return [name for param in command.params for name in param.opts]


_SEED = Range(0, 2**63 - 1, whole=True)  # what a file of a result can hold


class _Real(click.FloatRange):
    """Numbers of a range; the ends are shown by ``--help`` and by errors."""

    kind: type[float] = float

    def __init__(self, limits: Range) -> None:
        low, high = (None if math.isinf(x) else self.kind(x) for x in limits.ends)
        super().__init__(low, high, limits.open_low, limits.open_high)
        self.limits = limits

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The number, if it is one of the range."""
        try:
            number = self.kind(value)
        except ValueError:
            number = float("nan")
        if not self.limits.holds(number):
            raise self.limits.refusal(max(param.opts, key=len), value, number)
        return number + 0  # no -0.0


class _Whole(_Real):
    """Whole numbers of a range."""

    kind, name = int, click.IntRange.name


def number_option[F: Callable[..., Any]](
    limits: Range, *names: str, **settings: Any
) -> Callable[[F], F]:
    """An option that takes numbers of a range, shown with the range and its default."""
    kind = _Whole(limits) if limits.whole else _Real(limits)
    chosen = {"default": None, "show_default": True, **settings}
    return click.option(*names, type=kind, **chosen)


_IN_POINTS = re.compile(r"(.*[\d.])\s*(?:%|pts?|points?)")


class _Width(click.ParamType):  # type: ignore[type-arg]
    """Half-width or gap: a number in the unit of the data, or points of shares (1pt, 1%)."""

    name = "width"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The number; ``Points`` where it was written in points."""
        written = _IN_POINTS.fullmatch(str(value).strip())
        try:
            number = float(written[1] if written else value)
        except ValueError:
            number = float("nan")
        if not NOT_NEGATIVE.holds(number):
            raise NOT_NEGATIVE.refusal(param.opts[0], value, number)
        return Points(number / 100) if written else number


def width_option(name: str, *, help: str) -> Decorator:
    """An option that takes a half-width or a gap, in the unit of the data or in points."""
    return click.option(name, type=_Width(), help=f"{help} Of shares 1pt, 1% or 0.01.")


def choice_option(*names: str, choices: Sequence[str], help: str) -> Decorator:
    """An option of a few words, the first of them by default."""
    kind = click.Choice(choices)
    return click.option(*names, type=kind, default=choices[0], show_default=True, help=help)


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator; the last stands first in ``--help``."""
    return lambda command: reduce(lambda wrapped, option: option(wrapped), options, command)


auc_options: Decorator = number_option(
    RATIO,
    "--spread-ratio",
    help="Standard deviation of the scores of positives over that of negatives, for auc; "
    "default 1.",
)
"""How the scores behind AUCs are spread."""

output_options: Decorator = together(
    click.option("--quiet", is_flag=True, help="No progress and no notes."),
    click.option("--json", "as_json", is_flag=True, help="One JSON object, nothing else."),
)
"""``--json`` and ``--quiet``."""


@dataclass(frozen=True)
class Shown:
    """What a command shows of a report, and the file of its table."""

    table: Path | None
    text: bool
    as_json: bool
    quiet: bool

    def deliver(self, report: "Report", top: int | None = None, draw: "Draw" = None) -> int:
        """Write the table, print JSON, the paragraph or the tables; exit code 1 for no trust."""
        self.show(report, top, draw)
        if report.reasons:
            echo_problem("warning", "not to be trusted: " + "; ".join(report.reasons))
        return 1 if report.reasons else 0

    def show(self, report: "Report", top: int | None = None, draw: "Draw" = None) -> None:
        """The same without the verdict."""
        if self.table is not None:
            report.save(self.table)
        if self.as_json:
            echo_json(report.to_dict())
        elif self.text:
            click.echo(report.text)
        else:
            self._print(report, top)

    def _print(self, report: "Report", top: int | None) -> None:
        """The answer in words, tables, what is below them, and notes."""
        doubts = [f"Do not trust this result: {'; '.join(report.reasons)}."] * bool(report.reasons)
        for line in (*doubts, *report.sentences):
            click.echo(plain_text(line))
        for table in report.tables:
            if table.rows and not report.in_words:
                shown = table.head(top)
                echo_table(shown.header, shown.rows, shown.title)
        notes = [] if self.quiet else list(map(_as_note, report.notes))
        footer = [] if self.quiet else [*report.footer, *about_seed(report.content)]
        for line in (*report.legend, *notes, *footer):
            click.echo(plain_text(line))


def _as_note(note: str) -> str:
    """A note as it is printed; what was read needs no announcement."""
    return note if note.startswith("Read: ") else f"Note: {note}"


@dataclass(frozen=True)
class Reported(Shown):
    """What a command shows of an estimate, and the files of its page and its figure."""

    report: Path | None
    figure: Path | None

    def show(self, report: "Report", top: int | None = None, draw: "Draw" = None) -> None:
        """The same, with the figure and the page; what was not asked for is not drawn."""
        drawn = None if draw is None else cache(draw)
        if self.figure is not None:
            from bayes_sota.core.plots import save_figure

            if drawn is None:
                raise InputError("this result has no figure: leave out --figure")
            save_figure(drawn(), self.figure)
        if self.report is not None:
            from bayes_sota.core.command_report import save_report

            context = click.get_current_context()
            typed = context.find_root().obj or ()
            save_report(report, self.report, drawn, about=context.command_path, arguments=typed)
        super().show(report, top)


REPORT_OPTIONS = (
    output_options,
    click.option("--text", is_flag=True, help="Only a paragraph for a paper."),
    click.option(
        "--table", type=OutputFile("table"), help="The whole table: .csv, .md, .tex or .json."
    ),
)
ESTIMATE_OPTIONS = (
    *REPORT_OPTIONS,
    click.option("--figure", type=OutputFile("figure"), help="Figure: .png, .svg or .pdf."),
    click.option(
        "--report",
        type=OutputFile("report"),
        help="Page with answer, figure, tables and assumptions: FILE.html; it opens without a "
        "network.",
    ),
)
"""What every estimate can show and write, the last first."""


seed_option: Decorator = number_option(
    _SEED, "--seed", help=f"Random seed; another one draws anew. Default: {DEFAULT_SEED}."
)
"""``--seed`` of commands that draw; None where it was not typed (``chosen_seed``)."""


def chosen_seed(typed: int | None) -> int:
    """The seed that was typed, or the one that everybody has."""
    return DEFAULT_SEED if typed is None else typed


def about_seed(content: dict[str, Any]) -> list[str]:
    """What is said of the seed of a result, given what ``--json`` prints of it."""
    seed = content.get("seed")
    return [f"Seed {seed}; --seed N draws others."] if isinstance(seed, int) else []


def top_option[F: Callable[..., Any]](default: int, what: str) -> Callable[[F], F]:
    """``--top``, the rows of a printed table: ``--json`` has them all."""
    return number_option(COUNT, "--top", default=default, help=what)


model_option: Decorator = click.option(
    "--model",
    type=NameOrFile(),
    help="Named specification of priors, or a TOML file.",
)
domain_option: Decorator = click.option(
    "--domain",
    type=click.Choice(DOMAINS),
    help="Domain of the classifiers, for the prior of rho; default a prior for any.",
)
field_option: Decorator = click.option(
    "--field",
    type=click.Choice(KINDS_OF_FIELD),
    help="Entries are single classifiers, or ensembles, which share members, notebooks or parents "
    "and so more luck; default ensembles for a Kaggle download, else single.",
)
interval_option: Decorator = number_option(
    OPEN_SHARE, "--prob", "ci_prob", default=0.95, help="Probability of the equal-tailed intervals."
)


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


def parse_tries(text: str, option: str = "--classifiers") -> int | tuple[int, int]:
    """Number of classifiers, or of what another option counts, or a range ``A:B``.

    Examples
    --------
    >>> parse_tries("3558"), parse_tries("1000:4000")
    (3558, (1000, 4000))
    """
    try:
        numbers = [int(part.replace(",", "").replace("_", "")) for part in text.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        got = plain_text(text, 40)
        raise InputError(f"{option} takes a whole number or a range A:B, got {got!r}")
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def note_unused(what: str, typed: Iterable[str]) -> None:
    """Say on standard error, once the command is done, which typed options change nothing."""
    context = click.get_current_context(silent=True)  # none where a process of batch estimates

    def say() -> None:
        if not isinstance(sys.exc_info()[1], InputError):  # whose line stands alone
            click.echo(f"note: no effect on {what}: {names}", err=True)

    if (names := ", ".join(typed)) and context and not context.params.get("quiet"):
        context.call_on_close(say)


def echo_json(content: dict[str, Any]) -> None:
    """Print one JSON object as ``json_text`` writes it."""
    click.echo(json_text(content))


def show_progress(quiet: bool, as_json: bool) -> bool:
    """Progress bars only where a person watches."""
    return not quiet and not as_json and sys.stderr.isatty()


def write_result(output: Path | None, tree: "Callable[[], xr.DataTree]") -> None:
    """Write the result where that was asked for; else it is not made."""
    if output is not None:
        from bayes_sota.core.sample import save_result

        save_result(tree(), output)


def packed_options(
    command: Callable[..., Any], kind: type, options: Sequence[Callable[..., Any]]
) -> Callable[..., Any]:
    """Give a command options whose values reach it as one object ``shown``.

    Parameters
    ----------
    command : callable
    kind : dataclass
        Its fields are the options' names.
    options : sequence of decorators
        The last is shown first.
    """
    names = [field.name for field in fields(kind)]

    @wraps(command)
    def packed(**values: Any) -> Any:
        shown = kind(**{name: values.pop(name) for name in names})
        return command(shown=shown, **values)

    return together(*options)(packed)


report_options: Decorator = partial(packed_options, kind=Shown, options=REPORT_OPTIONS)
"""``--table``, ``--text``, ``--json`` and ``--quiet``, which reach the command as ``shown``."""

estimate_options: Decorator = partial(packed_options, kind=Reported, options=ESTIMATE_OPTIONS)
"""The same with ``--figure`` and ``--report``."""


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say what columns mean; the command gets them as ``reading``, a dict.

    Its keys are those of ``data.reading.read_tidy``, which checks them: a role for each
    ``--column``, ``use``, ``leave_out`` and ``direction`` where they were typed.
    """

    @wraps(function)
    def packed(column: dict[str, str], **options: Any) -> Any:
        asked = {name: options.pop(name) for name in ("use", "leave_out", "direction")}
        reading = column | {name: value for name, value in asked.items() if value}
        return function(reading=reading, **options)

    names = partial(click.option, multiple=True, metavar="A,B", callback=_names)
    about = f"Column of a role ({_ROLES}); default by its name. May be repeated."
    lower = "Scores are losses, ..."
    return together(
        click.option("--higher-is-better", "direction", flag_value="higher", help="... or not."),
        click.option("--lower-is-better", "direction", flag_value="lower", help=lower),
        names("--leave-out", help="Entries, tasks or columns that do not count."),
        names("--use", help="Columns that hold the scores; default those that no name rules out."),
        click.option("--column", multiple=True, metavar="ROLE=NAME", callback=_roles, help=about),
    )(packed)


def typed_of_reading(reading: Mapping[str, Any]) -> list[str]:
    """These options as they were typed.

    Examples
    --------
    >>> typed_of_reading({"score": "acc", "use": ["a", "b"], "direction": "lower"})
    ['--column score=acc', '--use a,b', '--lower-is-better']
    """

    def typed(name: str, value: Any) -> list[str]:
        if name == "direction":
            return [f"--{value}-is-better"]
        if isinstance(value, str):
            return ["--column", f"{name}={value}"]
        return [f"--{name.replace('_', '-')}", ",".join(value)]

    return [shlex.join(typed(*pair)) for pair in reading.items()]


def _names(context: Any, parameter: Any, typed: Sequence[str]) -> list[str]:
    """Names between commas; one that has a comma stands in quotation marks."""
    return [name.strip() for names in csv.reader(typed, skipinitialspace=True) for name in names]


def _roles(context: Any, parameter: Any, typed: Sequence[str]) -> dict[str, str]:
    """Columns by their roles."""
    for text in typed:
        if "=" not in text:
            raise InputError(f"--column takes ROLE=NAME, got {quoted(text)}")
    return dict(text.partition("=")[::2] for text in typed)
