"""Options of commands, and the command that reads, runs and delivers.

Every command takes all options of ``EVERYWHERE``; help hides those without effect, and a note names
them.
"""

import csv
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bayes_sota.cli.output import FIGURES, Answer, deliver
from bayes_sota.core.arguments import COUNT, DEFAULT_SEED, OPEN_SHARE, POSITIVE, Points, Range
from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.files import check_file, check_writable
from bayes_sota.core.parallel import watched
from bayes_sota.core.schema import DOMAINS, KINDS_OF_FIELD
from bayes_sota.core.text import shown_path

_IN_POINTS = re.compile(r"(.*[\d.])\s*(?:%|pts?|points?)")
_COLUMN = (  # readers have the roles in data/words.toml
    "Column that has a role (entry, unit, task, cluster, run, fold, iteration, label, score, "
    "probability, n, se, submissions, runs, public, private, winner, loser, tie, count, "
    "tournament, group, target); by default its name decides. May be repeated."
)
_DIRECTION = ["--lower-is-better/--higher-is-better", "direction"]
_AVERAGES = "items|tasks|WEIGHTS.csv"
_PATH = click.Path(path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
_TABLE = (".html", ".csv", ".md", ".tex", ".json", ".txt")
READING = ("column", "use", "leave_out", "direction")
KNOWN = ("known", "apart", "offset")
_SHOWN = ("save", "as_json", "quiet")
_DELIVERED = (*_SHOWN, "top")
EVERYWHERE = (*READING, "prob", "seed", *_DELIVERED)


class Number(click.ParamType):  # type: ignore[type-arg]
    """Number in a range, also in percent or points unless it is whole."""

    name = "number"

    def __init__(self, limits: Range) -> None:
        self.limits = limits

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        text = str(value).strip()
        number: float
        try:
            if self.limits.whole:
                number = int(text.replace(",", ""))
            elif written := _IN_POINTS.fullmatch(text):
                number = Points(float(written[1]) / 100)
            else:
                number = float(text)
        except ValueError:
            number = float("nan")
        if not self.limits.holds(number):
            raise self.limits.refusal(param.opts[0], value, number)
        return number or abs(number)  # no -0.0


class Input(click.Path):
    """File, or folder of files, that a command reads; checked before anything else."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not Path(value).is_dir():
            check_file(Path(value))
        return Path(value)


class Option(click.Option):
    """Option with its default in the help; a ``rare`` one is in ``--help-all`` only."""

    def __init__(
        self, names: Any, help: str, limits: Any = None, choices: Any = None, **settings: Any
    ) -> None:
        self.rare = settings.pop("rare", False)
        if limits is not None:
            settings["type"] = Number(limits)
        if settings.get("nargs") == 2:
            settings["metavar"] = "A B"
        if choices is not None:
            settings["type"] = click.Choice(choices)
        super().__init__(names, help=help, show_default=True, **settings)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        is_shown = not self.rare or ctx.meta.get("help-all")
        return super().get_help_record(ctx) if is_shown else None

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Refuse the name of another option among several values."""
        if self.nargs > 1 and any(str(one).startswith("--") for one in value or ()):
            values = " ".join(map(str, value))
            raise InputError(f"{self.opts[0]} takes {self.nargs} values, got {values}")
        return super().type_cast_value(ctx, value)


option = partial(click.option, cls=Option)


def _names(context: Any, parameter: Any, typed: Sequence[str]) -> list[str]:
    """Names between commas; one that has a comma is quoted."""
    return [name.strip() for names in csv.reader(typed, skipinitialspace=True) for name in names]


def _roles(context: Any, parameter: Any, typed: Sequence[str]) -> dict[str, str]:
    for text in typed:
        if "=" not in text:
            raise InputError(f"--column takes ROLE=NAME, got {quoted(text)}")
    return dict(text.partition("=")[::2] for text in typed)


def _known(context: Any, parameter: Any, typed: Sequence[str]) -> dict[str, Any]:
    """Known skills by entry; each a text, or from a table."""
    from bayes_sota.data.known import read_known

    known: dict[str, Any] = {}
    for text in typed:
        name, is_given, skill = text.rpartition("=")
        if not is_given and not Path(text).exists():
            raise InputError(f"--known takes NAME=SKILL or a table, got {quoted(text)}")
        more = {name.strip(): skill} if is_given else read_known(text)
        if twice := known.keys() & more.keys():
            raise InputError(f"the skill of {quoted(min(twice))} is given twice")
        known |= more
    return known


def _direction(context: Any, parameter: Any, lower: bool | None) -> str | None:
    return None if lower is None else "lower" if lower else "higher"


def _average(context: Any, parameter: Any, typed: str | None) -> Any:
    """Argument of ``Outcomes``; weights are read from their table."""
    if typed in (None, "items", "tasks"):
        return typed
    from bayes_sota.data.answers import read_weights

    return read_weights(typed)


NAMES: dict[str, Any] = {"multiple": True, "metavar": "A,B", "callback": _names}
_SAVE = "File to write, by its ending: .html page; .csv .md .tex .json table; .txt paragraph"
_METRIC = (
    "Kind of scores: accuracy, auc (with --n-positive) or score (with its standard error); for "
    "runs pass@K or pass^K; for numbers auc (with labels), mean or rmse; or a metric of a log, "
    "those of several tasks joined by +."
)
_SKILLS = (
    "Skill of an entry on all items of which these are a sample: 0.7613, 76.13%, 0.7613±0.002, or "
    "0.7613/50000 with the number of items; or a table (name, skill, se or n). It shows how easy "
    "these items are. With --leave-out NAME the entry does not compete. May be repeated."
)
_APART = "Known skills were measured on other items than these."
_OFFSET = "Error, in points, that all known skills may share, as in another population."
_SEEDS = Range(0, 2**63 - 1, whole=True)  # what a file of a result can hold
SHARED: dict[str, Option] = {
    str(shared.name): shared
    for shared in (
        Option(["--metric"], _METRIC, metavar="NAME"),
        Option(["--standard-error"], "Standard error of one score.", limits=POSITIVE, rare=True),
        Option(["--n-positive"], "Number of positive items, for auc.", limits=COUNT, rare=True),
        Option(["--new"], "Skill on new items, runs or tasks.", choices=["items", "runs", "tasks"]),
        Option(["--average"], "Units with equal weight.", metavar=_AVERAGES, callback=_average),
        Option(["--domain"], "Kind of classifiers, for the prior of rho.", choices=DOMAINS),
        Option(["--field"], "Kind of entries, for the prior of rho.", choices=KINDS_OF_FIELD),
        Option(["--column"], _COLUMN, multiple=True, metavar="ROLE=NAME", callback=_roles),
        Option(["--use"], "Columns that hold scores; by default names decide.", rare=True, **NAMES),
        Option(["--leave-out"], "Entries, tasks or columns to ignore.", **NAMES),
        Option(["--known"], _SKILLS, multiple=True, metavar="NAME=SKILL|FILE", callback=_known),
        Option(["--known-apart", "apart"], _APART, is_flag=True, rare=True),
        Option(["--known-offset", "offset"], _OFFSET, limits=POSITIVE, rare=True),
        Option(_DIRECTION, "Direction of the scores.", default=None, callback=_direction),
        Option(["--prob"], "Probability of the intervals.", limits=OPEN_SHARE, default=0.95),
        Option(["--seed"], "Random seed.", limits=_SEEDS, default=DEFAULT_SEED),
        Option(["--top"], "Rows shown of a table.", limits=COUNT, default=15, rare=True),
        Option(["--save"], "", multiple=True, metavar="FILE", type=_PATH),
        Option(["--json", "as_json"], "Print one JSON object and nothing else.", is_flag=True),
        Option(["--quiet"], "No progress, sensitivity or routine notes.", is_flag=True, rare=True),
    )
}


class Command(click.Command):
    """Command whose function takes options by their names and returns an ``Answer``.

    ``uses`` names the shared options that it takes: ``reading`` is a dict of arguments of
    ``read_tidy``, ``known`` one of ``with_known``. ``draws`` and ``tree`` say whether ``--save``
    writes figures and results.
    """

    def __init__(
        self,
        *,
        params: Sequence[click.Parameter] = (),
        uses: str = "",
        example: str,
        draws: bool = True,
        tree: bool = False,
        **settings: Any,
    ) -> None:
        self.uses = _options_of(uses.split())
        self.endings = _TABLE + FIGURES * draws + (".nc",) * tree
        self.idle = [name for name in EVERYWHERE if name not in {*self.uses, *_SHOWN}]
        shared = [copy(one) for name, one in SHARED.items() if name in {*self.uses, *EVERYWHERE}]
        for one in shared:
            one.hidden = one.name in self.idle
            if one.name == "save":
                figure, result = "; .svg .png .pdf figure" * draws, "; .nc result" * tree
                one.help = f"{_SAVE}{figure}{result}. May be repeated."
        flag: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}
        more = click.Option(["--help-all"], callback=_help_all, help="Show all options.", **flag)
        epilog = f"Example: bayes-sota {example}"
        super().__init__(params=[*params, *shared, more], epilog=epilog, **settings)

    def invoke(self, ctx: click.Context) -> int:
        """Run the function, deliver its answer, and return the exit code."""
        self._check_saved(ctx)
        note_unused(f"on {ctx.command_path}", *self.idle)
        try:
            with watched(shows_progress()):
                return deliver(ctx.invoke(self.callback or Answer, **self._arguments(ctx)), ctx)
        except InputError as error:
            message = error.render([name for one in self.params for name in one.opts])
            more = "" if error.is_unreadable else _advice(ctx, message)
            raise InputError(message + more) from error

    def _arguments(self, ctx: click.Context) -> dict[str, Any]:
        unread = {*self.idle, *_DELIVERED}
        values = {name: value for name, value in ctx.params.items() if name not in unread}
        if "column" in self.uses:
            asked = {name: values.pop(name) for name in READING}
            given = {name: value for name, value in asked.items() if value}
            values["reading"] = given.pop("column", {}) | given
        if "known" in self.uses:
            if not values["known"]:
                note_unused("without --known", "apart", "offset")
            typed, reading = {name: values.pop(name) for name in KNOWN}, values["reading"]
            names = reading.pop("leave_out", [])
            only = [name for name in names if name in typed["known"]]
            reading["leave_out"] = [name for name in names if name not in only]
            values["known"] = {k: v for k, v in typed.items() if v is not None} | {"only": only}
        return values

    def _check_saved(self, ctx: click.Context) -> None:
        """Refuse a file that the command cannot write, or that it reads."""
        for path in ctx.params["save"]:
            name = shown_path(path)
            if path.suffix.lower() not in self.endings:
                wanted = f"a name that ends with one of {', '.join(self.endings)}"
                raise InputError(f"--save takes {wanted}, got {name}")
            check_writable(path)
            if any(path.exists() and path.samefile(other) for other in _files_read(ctx)):
                raise InputError(f"--save would overwrite the input {name}: name another file")


class Group(click.Group):
    """Commands in the order of their definition."""

    command_class = Command

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        return list(self.commands)


command = partial(click.command, cls=Command)


def _options_of(names: Iterable[str]) -> list[str]:
    """Names of shared options, of which ``reading`` and ``known`` stand for several."""
    groups = {"reading": READING, "known": KNOWN}
    return [one for name in names for one in groups.get(name, (name,))]


def _help_all(ctx: click.Context, parameter: Any, typed: bool) -> None:
    if typed:
        ctx.meta["help-all"] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _files_read(ctx: click.Context) -> Iterator[Path]:
    """Files that were named as input."""
    for name, value in ctx.params.items():
        for item in value if isinstance(value, tuple) else (value,):
            if name != "save" and isinstance(item, Path) and item.exists():
                yield item


def _advice(ctx: click.Context, message: str) -> str:
    """End of a message about a file: the command that describes it, unless it fails alike."""
    from bayes_sota.data.reading import read_tidy

    for path in _files_read(ctx):
        if ctx.command.name != "inspect" and message.startswith(f"{shown_path(path)}:"):
            try:
                read_tidy(path)
            except InputError as error:
                if message.startswith(error.render(())):
                    return ""
            return f"; bayes-sota inspect {shlex.quote(str(path))} says what it holds"
    return ""


def note_unused(where: str, *names: str) -> None:
    """Note which of these options were typed without effect."""
    context = click.get_current_context(silent=True)  # none where a process of batch estimates
    if context is None:
        return
    typed = [
        (one.secondary_opts if context.params.get(name) in (False, "higher") else one.opts)[0]
        for one in context.command.params
        if (name := str(one.name)) in _options_of(names)
        and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if typed:
        note(f"no effect {where}: {', '.join(typed)}")


def note(text: str) -> None:
    """Add a note, which is printed below the answer."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault("notes", []).append(text)


def with_anchors(data: Any, known: dict[str, Any], **changed: Any) -> Any:
    """Data with known skills; a table may hold more of them."""
    from bayes_sota.data.known import with_known

    given = known | changed
    of_table = {name for name, skill in given["known"].items() if not isinstance(skill, str)}
    absent = of_table.difference(data.names)
    if absent and len(absent) < len(given["known"]):
        note(f"known skills not used, as this board lacks the entries: {listed(sorted(absent))}")
        given["known"] = {k: v for k, v in given["known"].items() if k not in absent}
        given["only"] = [name for name in given["only"] if name not in absent]
    return with_known(data, **given)


def unread(reading: Iterable[str]) -> Iterator[str]:
    """Options behind what is left of ``reading``."""
    return (name if name in READING else "column" for name in reading)


def shows_progress() -> bool:
    """Whether a person watches."""
    asked = click.get_current_context().params
    return not asked["quiet"] and not asked["as_json"] and sys.stderr.isatty()


def saves(*endings: str) -> bool:
    """Whether ``--save`` names a file with one of these endings."""
    paths = click.get_current_context().params["save"]
    return any(path.suffix.lower() in endings for path in paths)
