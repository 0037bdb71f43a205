"""``bayes-sota batch``: the state of the art on many boards, one result file for each.

A board is estimated and written by the worker that gets it, and a summary comes back: memory does
not grow with the number of results, and what is finished stays when the run is ended. Each board
has a seed of its own, from that of the run and its identifier, so that neither the workers nor the
other rows change it. ``tests/cli/test_batch.py`` kills runs and resumes them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from bayes_sota import __version__
from bayes_sota.cli.manifest import Row, read_manifest
from bayes_sota.core.arguments import PROCESSES, SEED, check_choice
from bayes_sota.core.command import (
    InputFile,
    OutputDirectory,
    Reported,
    command,
    estimate_options,
    name_options,
    number_option,
    seed_option,
    show_progress,
    top_option,
)
from bayes_sota.core.errors import BayesSotaError, InputError
from bayes_sota.core.files import make_directory, whole_file, write_text
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.sample import resolve_seed, save_result
from bayes_sota.core.schema import POINT_METHODS
from bayes_sota.core.summary import ListReport
from bayes_sota.core.tables import SOFTWARE, json_text
from bayes_sota.core.text import counted, digest_of, plain_text, shown_path
from bayes_sota.core.types import Groups
from bayes_sota.data.files.json import parse_json
from bayes_sota.leaderboard.command import estimate_as_typed, sota

if TYPE_CHECKING:
    import pandas as pd
    from arviz_plots import PlotCollection
    from distributed import Client

_RUN, _BOARDS, _TABLE = "batch.json", "boards", "summaries"
_TEXTS = ("text", "notes", "sensitivity", "run", "identifier", "schema_version")  # of no column
_LARGEST = 1 << 24  # bytes of what is said of a board


@dataclass(frozen=True, eq=False, kw_only=True)
class BatchReport(ListReport):
    """What was found on each board of a manifest, and of how many boards.

    ``frame`` has a row per board in the order of the manifest: identifier, problem (why there is no
    result; else empty), and the keys of ``bayes-sota sota --json``, joined by underscores.
    """

    text_columns: ClassVar[tuple[str, ...]] = (
        "identifier", "problem", "diagnostics_reasons", "winner",
    )  # fmt: skip

    @property
    def frame(self) -> "pd.DataFrame":
        """One row per board; whole numbers stay whole where some have none."""
        found = super().frame.convert_dtypes()
        texts = [name for name in self.text_columns if name in found]
        return found.assign(**{name: found[name].astype("string").fillna("") for name in texts})

    def cells(self, top: int | None = None) -> list[list[str]]:
        chosen = replace(self, records=tuple(map(_shown_record, self.records[:top])))
        return super(BatchReport, chosen).cells()

    def legend(self, top: int | None = None) -> list[str]:
        hidden = 0 if top is None else max(len(self.records) - top, 0)
        rest = [f"{counted(hidden, 'more board')} in the table of summaries."] if hidden else []
        return [*rest, *self.below]


@dataclass(frozen=True)
class _Board:
    """What a worker does: one row, its seed, where its files go, and which groups they have."""

    row: Row
    seed: int
    folder: Path
    groups: Groups

    def finish(self) -> dict[str, Any]:
        """Summary of the row; from its file where it is finished.

        What is wrong with a row is part of its summary. A folder that cannot be written ends the
        run: no other row could be kept either.
        """
        run = self._run()
        found = self._finished(run)
        if found is None:
            try:
                report, said = self._estimate(run)
            except Exception as error:  # whatever is wrong with a row, the others are done
                return {"identifier": self.row.identifier, "problem": _reason(error)}
            save_result(report.tree, self._path(".nc"))
            write_text(said, self._path(".json"))
            found = json.loads(said)
        return {"identifier": self.row.identifier, "problem": ""} | dict(_flat(found))

    def _path(self, ending: str) -> Path:
        return self.folder / f"{self.row.identifier}{ending}"

    def _run(self) -> str:
        """What the result depends on: arguments, seed, version, and content of the files."""
        files = [Path(name) for name in self.row.inputs]
        content = [sha256(p.read_bytes()).hexdigest() if p.is_file() else "" for p in files]
        words = [word for word in self.row.arguments if word not in self.row.inputs]
        return digest_of(words, self.seed, self.groups, __version__, content)

    def _finished(self, run: str) -> dict[str, Any] | None:
        """What was said of the board; None where its files are not there, or of another run."""
        path = self._path(".json")
        if not path.is_file() or not self._path(".nc").is_file():
            return None
        try:
            small = path.stat().st_size <= _LARGEST
            found = parse_json(path.read_text(encoding="utf-8"), path.name) if small else None
        except (InputError, OSError, UnicodeError):
            return None
        return found if isinstance(found, dict) and found.get("run") == run else None

    def _estimate(self, run: str) -> tuple[Any, str]:
        """The report, and what is kept of it beside the tree."""
        if self.row.problem:
            raise InputError(self.row.problem)
        options = sota.make_context("sota", list(self.row.arguments)).params
        if options["method"] not in POINT_METHODS and options["seed"] is None:
            options["seed"] = self.seed
        if options["method"] in ("abc", "nuts"):
            options["cores"] = 1
        report = estimate_as_typed(options["file"], options, groups=self.groups, sensitivity=False)
        found = report.to_dict()
        lower = options["lower_is_better"] or options["item_metric"] == "rmse"
        kept = {"run": run, "identifier": self.row.identifier, **found, **_overstated(found, lower)}
        return report, json_text(kept) + "\n"


def _reason(error: Exception) -> str:
    """What is wrong with a row, on one line, in the words of the command line."""
    if isinstance(error, click.ClickException):
        return plain_text(error.format_message(), 500)
    if isinstance(error, BayesSotaError):
        return plain_text(name_options(str(error), sota.params), 500)
    return plain_text(f"{type(error).__name__}: {error}", 500)


def _overstated(found: dict[str, Any], lower_is_better: bool) -> dict[str, bool]:
    """Whether the best score is better than the estimate, and than its whole interval."""
    theta, best = found["theta_sota"], found["observed_maximum"]
    sign = -1 if lower_is_better else 1
    point = theta.get("estimate", theta.get("mean"))
    ends = [sign * x for x in theta.get("interval", ())]
    return {
        "overstates": bool(sign * best > sign * point),
        "overstates_clearly": bool(ends) and bool(sign * best > max(ends)),
    }


def _flat(found: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Keys joined by underscores, and their numbers; two numbers are the ends of an interval."""
    for key, value in found.items():
        name = f"{before}{key}"
        if name in _TEXTS or key == "null_reasons":
            continue
        if isinstance(value, dict):
            yield from _flat(value, f"{name}_")
        elif not isinstance(value, list):
            yield name, value
        elif len(value) == 2 and not any(isinstance(x, str) for x in value):
            yield from zip((f"{name}_lower", f"{name}_upper"), value, strict=True)
        elif all(isinstance(x, str) for x in value):
            yield name, "; ".join(value)


def _shown_record(record: dict[str, Any]) -> dict[str, Any]:
    """What people see of a board."""
    low, high = (record.get(f"theta_sota_{end}") for end in ("interval_lower", "interval_upper"))
    theta = record.get("theta_sota_mean", record.get("theta_sota_estimate"))
    wrong = record["problem"] or record.get("diagnostics_reasons")
    return {
        "identifier": record["identifier"], "best": record.get("observed_maximum"),
        "theta_sota": None if theta is None else f"{theta:.4f}",
        "interval": None if low is None else f"{low:.4f} to {high:.4f}",
        "n_classifiers": record.get("n_classifiers", record.get("n_classifiers_mean")),
        "n_test": record.get("n_test"), "wrong": wrong or None,
    }  # fmt: skip


def estimate_many(
    manifest: Any,
    output_dir: str | Path,
    *,
    resume: bool = False,
    cores: int = 1,
    dask: "str | Client | None" = None,
    groups: Groups = "estimands",
    random_seed: int | None = None,
    progressbar: bool = False,
) -> BatchReport:
    """State of the art of many boards: a result file for each, and one table of summaries.

    Parameters
    ----------
    manifest : path or data frame
        One row per board: ``identifier``, ``file`` (relative to the manifest; without one the row
        is a best score alone, with ``maximum``, ``classifiers`` and ``n_test``), and any option of
        ``bayes-sota sota``, named like ``n_test`` for ``--n-test``; flags are true or false. Text
        keeps the digits of scores.
    output_dir : path
        Gets ``boards/IDENTIFIER.nc`` (the DataTree) and ``.json`` (what ``sota --json`` says),
        ``summaries.csv``, and ``summaries.parquet`` where pyarrow is there.
    resume : bool
        Go on with a run that was ended. Rows that failed are tried again.
    cores : int
        Processes on this machine.
    dask : str or distributed.Client, optional
        A Dask cluster, whose workers read and write the same paths.
    groups : {"estimands", "all"}
        Of each result file: "all" has those for ArviZ's checks of the model too, and takes 1.7
        times as long for a best score alone.
    random_seed : int, optional
        Each row gets a seed from this one and its identifier, unless it has its own. Default: one
        is drawn, or that of the run that is resumed.
    progressbar : bool

    Returns
    -------
    BatchReport
        ``frame`` is the table of summaries; a row that failed says why in ``problem``.

    Raises
    ------
    InputError
        A manifest whose columns or identifiers cannot be used, a folder of another run or with
        other files, a full disk, a cluster that does not answer.

    Examples
    --------
    >>> import pandas as pd
    >>> from tempfile import TemporaryDirectory
    >>> rows = {"identifier": ["a", "b"], "maximum": ["0.98", "2"], "n_test": [200, 200],
    ...         "classifiers": [50, 50], "draws": [50, 50]}
    >>> with TemporaryDirectory() as folder:
    ...     report = estimate_many(pd.DataFrame(rows), folder, random_seed=1)
    >>> report.frame["problem"].map(bool).tolist()
    [False, True]
    """
    PROCESSES.check(cores, "cores")
    check_choice("groups", groups, Groups)
    rows, folder = read_manifest(manifest), Path(output_dir).absolute()
    seed = _opened(folder, rows, resume, random_seed)
    work = [_Board(row, _seed_of(seed, row.identifier), folder / _BOARDS, groups) for row in rows]
    found: list[dict[str, Any]] = [{} for _ in rows]
    with shown_progress(len(rows), "boards", show=progressbar) as advance:
        for place, summary in run_each(_Board.finish, work, cores=cores, dask=dask):
            found[place] = summary
            advance()
    report = _described(tuple(found), seed, folder)
    report.to_csv(folder / f"{_TABLE}.csv")
    if find_spec("pyarrow") is not None:
        with whole_file(folder / f"{_TABLE}.parquet") as draft:
            report.frame.to_parquet(draft)
    return report


def _seed_of(seed: int, identifier: str) -> int:
    """Seed of a row, whatever its place and the other rows."""
    return int(digest_of(seed, identifier), 16) >> 1


def _opened(folder: Path, rows: tuple[Row, ...], resume: bool, random_seed: int | None) -> int:
    """Seed of the run; its folder is made, or is one of the same run."""
    if random_seed is not None:
        SEED.check(random_seed, "random_seed")
    path, boards = folder / _RUN, folder / _BOARDS
    make_directory(boards)
    finished = next(boards.glob("*.json"), None) is not None
    if not path.is_file() and (
        finished or any(p.name[0] != "." and p != boards for p in folder.iterdir())
    ):
        raise InputError(f"{shown_path(folder)} has other files: name a new folder")
    manifest = digest_of([(row.identifier, row.arguments, row.problem) for row in rows])
    wanted = {"manifest": manifest, "version": __version__}
    if finished and not resume:
        raise InputError(
            f"{shown_path(folder)} has results already: resume=True goes on with them, or name "
            "another folder"
        )
    if finished:
        return _seed_of_run(path, wanted, random_seed)
    seed = int(resolve_seed(random_seed)[1])
    write_text(json.dumps({**wanted, "random_seed": seed}, indent=2) + "\n", path)
    return seed


def _seed_of_run(path: Path, wanted: dict[str, Any], random_seed: int | None) -> int:
    try:
        found = parse_json(path.read_text(encoding="utf-8"), _RUN)
        seed = found["random_seed"]
        SEED.check(seed, "random_seed")
        differs = [name for name, value in wanted.items() if found[name] != value]
    except (InputError, OSError, UnicodeError, KeyError, TypeError) as error:
        reason = plain_text(error, 120)
        raise InputError(f"{shown_path(path)} is damaged ({reason}): name a new folder") from None
    if random_seed not in (None, seed):
        differs.append(f"seed ({seed} there)")
    if differs:
        raise InputError(
            f"{shown_path(path.parent)} is of another run: its {' and '.join(differs)} is not the "
            "same; name another folder"
        )
    return int(seed)


def _described(records: tuple[dict[str, Any], ...], seed: int, folder: Path) -> BatchReport:
    failed = [record for record in records if record["problem"]]
    doubtful = [record["identifier"] for record in records if record.get("diagnostics_ok") is False]
    over, clearly = (
        sum(bool(record.get(name)) for record in records)
        for name in ("overstates", "overstates_clearly")
    )
    n, done = len(records), len(records) - len(failed)
    said = f"Of {counted(n, 'board')} {len(failed):,} failed. " + (
        f"In {over:,} of the {done:,} with a result the best score is better than the estimated "
        f"skill of the best classifier, which it overstates; in {clearly:,} it is better "
        "than the whole interval of that skill."
        if done
        else "There is no result."
    )
    reasons = []
    if failed:
        first = "; ".join(f"{one['identifier']}: {one['problem']}" for one in failed[:3])
        reasons.append(f"{len(failed):,} of {counted(n, 'board')} failed: {first}")
    if doubtful:
        reasons.append(f"diagnostics fail on {counted(len(doubtful), 'board')}: {doubtful[0]}")
    return BatchReport(
        kind="boards", records=records, said=(said,), source=(f"seed {seed}", SOFTWARE),
        columns={
            "board": "identifier", "best score": "best", "theta_sota": "theta_sota",
            "interval": "interval", "classifiers": "n_classifiers", "items": "n_test",
            "what is wrong": "wrong",
        },
        below=(f"All numbers are in {shown_path(folder / _TABLE)}.csv; a row that failed is tried "
               "again by --resume.",),
        reasons=tuple(reasons),
        facts={"n_boards": n, "n_failed": len(failed), "n_overstated": over,
               "n_clearly_overstated": clearly, "seed": seed,
               "diagnostics": {"ok": not reasons, "reasons": reasons}},
    )  # fmt: skip


@command(epilog="Example: bayes-sota batch manifest.csv --output-dir results --cores 2")
@click.argument("manifest", type=InputFile())
@click.option(
    "--output-dir", type=OutputDirectory(), required=True,
    help="Where the results and the tables of summaries go.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with a run that was ended.")
@number_option(PROCESSES, "--cores", default=1, help="Processes on this machine.")
@click.option("--dask", help="Address of a Dask scheduler, such as tcp://192.168.0.7:8786.")
@click.option(
    "--groups", type=click.Choice(["estimands", "all"]), default="estimands",
    help="Groups of each result file: all has those for ArviZ's checks too.",
)  # fmt: skip
@seed_option
@top_option(15, "Boards shown.")
@estimate_options
def batch(
    manifest: Path, output_dir: Path, seed: int | None, shown: Reported, top: int, **how: Any
) -> int:
    """State of the art of many boards, one result file for each.

    MANIFEST has one row per board: identifier, file (relative to the manifest) and any option of
    sota as a column, such as n_test. A row without a file is a best score alone: maximum,
    classifiers, n_test.
    """
    progressbar = show_progress(shown.quiet, shown.as_json)
    report = estimate_many(manifest, output_dir, random_seed=seed, progressbar=progressbar, **how)
    return shown.deliver(report, top, partial(_figure, report, top))


def _figure(report: BatchReport, top: int) -> "PlotCollection":
    """Best skill of each board, with its interval and its best score."""
    from bayes_sota.core.plots import title_figure
    from bayes_sota.leaderboard.plots import Interval, draw_intervals

    ends = [f"theta_sota_{name}" for name in ("mean", "interval_lower", "interval_upper")]
    found = [record for record in report.records if record.get(ends[0]) is not None]
    drawn = [
        Interval(record["identifier"], *map(record.__getitem__, (*ends, "observed_maximum")))
        for record in found
    ]
    if not drawn:
        raise InputError("no board has a result that a figure could show: leave out --figure")
    probabilities = {f"{record['prob']:.0%} " for record in found}
    of = probabilities.pop() if len(probabilities) == 1 else ""  # each row may have its own
    figure = draw_intervals(drawn[:top], f"skill of the best classifier: mean and {of}interval")
    clearly = report.facts["n_clearly_overstated"]
    title_figure(
        figure,
        f"In {clearly:,} of {counted(len(drawn), 'board')} the best score is better\n"
        "than the whole interval of the best skill",
    )
    return figure
