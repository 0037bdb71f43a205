"""``bayes-sota batch``: the state of the art on many boards, one result file for each.

A board is estimated and written by the worker that gets it, and a summary comes back: memory does
not grow with the number of results, and what is finished stays when the run is ended. Each board
has a seed of its own, from that of the run and its identifier, so that neither the workers nor the
other rows change it, and its files are the same to the byte whenever the run writes them.
``tests/cli/test_batch.py`` kills runs and resumes them, ``tests/studies/killed_batches.py`` does it
two hundred times.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import __version__
from bayes_sota.cli.manifest import Row, read_manifest
from bayes_sota.core.arguments import DEFAULT_SEED, PROCESSES, SEED, check_choice
from bayes_sota.core.command import (
    InputFile,
    OutputDirectory,
    Reported,
    check_inputs_kept,
    command,
    estimate_options,
    name_options,
    number_option,
    seed_option,
    show_progress,
    top_option,
)
from bayes_sota.core.errors import BayesSotaError, InputError
from bayes_sota.core.files import (
    BOARDS,
    RUN,
    SUMMARIES,
    locked_folder,
    make_directory,
    remove_drafts,
    whole_file,
    write_text,
)
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.sample import result_bytes
from bayes_sota.core.summary import cell_of, frame_of
from bayes_sota.core.tables import SOFTWARE, Report, Table, json_text
from bayes_sota.core.text import counted, digest_of, plain_text, shown_path
from bayes_sota.core.types import Groups
from bayes_sota.data.files.json import parse_json
from bayes_sota.leaderboard.command import estimate_as_typed, sota

if TYPE_CHECKING:
    import pandas as pd
    from arviz_plots import PlotCollection
    from distributed import Client

_TEXTS = ("text", "notes", "sensitivity", "run", "checksum", "identifier", "schema_version")
"""Keys of what is said of a board that are no columns of the summaries."""
_OWN_TEXTS = ("identifier", "problem", "diagnostics_reasons", "winner")
_LARGEST = 1 << 24  # bytes of what is said of a board


@dataclass(frozen=True)
class _Run:
    """What a folder is of: all that its results depend on but the files of the rows.

    Attributes
    ----------
    manifest, version : str
        Digest of the rows, and the version of the package.
    random_seed : int
    created_at : str
        When the run was started; its results, too, say so.
    """

    manifest: str
    version: str
    random_seed: int
    created_at: str


@dataclass(frozen=True)
class _Board:
    """What a worker does: one row, its seed, where its files go, and which groups they have."""

    row: Row
    run: _Run
    folder: Path
    groups: Groups

    def finish(self) -> tuple[dict[str, Any], str]:
        """Summary of the row, from its file where it is finished; why a file was of no use.

        What is wrong with a row is part of its summary. A folder that cannot be written ends the
        run: no other row could be kept either.
        """
        basis = self._basis()
        record, why = self._finished(basis)
        if record is None:
            try:
                report, kept = self._estimate(basis)
            except Exception as error:  # whatever is wrong with a row, the others are done
                return {"identifier": self.row.identifier, "problem": _reason(error)}, why
            record = self._keep(report, kept)
        return {"identifier": self.row.identifier, "problem": ""} | dict(_flat(record)), why

    def _path(self, ending: str) -> Path:
        return self.folder / BOARDS / f"{self.row.identifier}{ending}"

    @property
    def _seed(self) -> int:
        """Seed of the row, whatever its place and the other rows."""
        return int(digest_of(self.run.random_seed, self.row.identifier), 16) >> 1

    def _basis(self) -> str:
        """What the result depends on: arguments, seed, version, and content of the files."""
        paths = map(Path, self.row.inputs)
        files = [file for path in paths for file in (path, *sorted(path.rglob("*")))]
        content = [sha256(p.read_bytes()).hexdigest() if p.is_file() else "" for p in files]
        words = [word for word in self.row.arguments if word not in self.row.inputs]
        return digest_of(words, self._seed, self.groups, __version__, content)

    def _finished(self, basis: str) -> tuple[dict[str, Any] | None, str]:
        """What was said of the board, None where that is of no use; why, where it is there."""
        path, stored = self._path(".json"), self._path(".nc")
        if not path.is_file():
            return None, ""
        try:
            small = path.stat().st_size <= _LARGEST
            kept: Any = parse_json(path.read_text(encoding="utf-8"), path.name) if small else None
            whole = kept["checksum"] == _checksum(kept, stored.read_bytes())
        except (InputError, OSError, UnicodeError, KeyError, TypeError):
            whole = False
        if not whole:
            return None, "its files were damaged, or not those that were written"
        if kept["run"] != basis:
            return None, "its input, or the groups that are kept, were others"
        return kept, ""

    def _estimate(self, basis: str) -> tuple[Any, dict[str, Any]]:
        """The report, and what is kept of it beside the tree."""
        if self.row.problem:
            raise InputError(self.row.problem)
        options = sota.make_context("sota", list(self.row.arguments)).params
        if options["seed"] is None:
            options["seed"] = self._seed
        if options["method"] in ("abc", "nuts"):
            options["cores"] = 1
        report = estimate_as_typed(options["file"], options, groups=self.groups, sensitivity=False)
        content = report.to_dict()
        lower = options["lower_is_better"] or options["item_metric"] == "rmse"
        identifier = self.row.identifier
        return report, {
            "run": basis,
            "identifier": identifier,
            **content,
            **_overstated(content, lower),
        }

    def _keep(self, report: Any, kept: dict[str, Any]) -> dict[str, Any]:
        """Write the tree and what is said of it, and give that as it is read again."""
        tree = report.about
        for group in tree.subtree:
            if "created_at" in group.attrs:
                group.attrs["created_at"] = self.run.created_at
        content = result_bytes(tree)
        record: dict[str, Any] = parse_json(json_text(kept), self._path(".json").name)
        record["checksum"] = _checksum(record, content)
        # A worker may outlive its killed run; another one may have got the folder since.
        if _read_run(self.folder / RUN) != self.run:
            raise InputError(f"{shown_path(self.folder)} is of another run now")
        with whole_file(self._path(".nc")) as draft:
            draft.write_bytes(content)
        write_text(json.dumps(record, indent=2) + "\n", self._path(".json"))
        return record


def _checksum(said: dict[str, Any], content: bytes) -> str:
    """SHA-256 of what is said of a board, and of the file of its tree."""
    text = json.dumps({name: value for name, value in said.items() if name != "checksum"})
    return sha256(text.encode() + content).hexdigest()


def _reason(error: Exception) -> str:
    """What is wrong with a row, on one line, in the words of the command line."""
    if isinstance(error, click.ClickException):
        return plain_text(error.format_message(), 500)
    if isinstance(error, BayesSotaError):
        return plain_text(name_options(str(error), sota.params), 500)
    return plain_text(f"{type(error).__name__}: {error}", 500)


def _overstated(record: dict[str, Any], lower_is_better: bool) -> dict[str, bool]:
    """Whether the best score is better than the estimate, and than its whole interval."""
    theta, best = record["theta_sota"], record["observed_maximum"]
    sign = -1 if lower_is_better else 1
    point = theta.get("estimate", theta.get("mean"))
    ends = [sign * x for x in theta.get("interval", ())]
    return {
        "overstates": bool(sign * best > sign * point),
        "overstates_clearly": bool(ends) and bool(sign * best > max(ends)),
    }


def _flat(content: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Keys joined by underscores, and their numbers; two numbers are the ends of an interval."""
    for key, value in content.items():
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


def _cells(record: dict[str, Any]) -> dict[str, str]:
    """What people see of a board."""
    low, high = (record.get(f"theta_sota_{end}") for end in ("interval_lower", "interval_upper"))
    theta = record.get("theta_sota_mean", record.get("theta_sota_estimate"))
    return {
        "board": record["identifier"],
        "best score": cell_of(record.get("observed_maximum")),
        "theta_sota": "" if theta is None else f"{theta:.4f}",
        "interval": "" if low is None else f"{low:.4f} to {high:.4f}",
        "classifiers": cell_of(record.get("n_classifiers", record.get("n_classifiers_mean"))),
        "items": cell_of(record.get("n_test")),
        "what is wrong": record["problem"] or record.get("diagnostics_reasons") or "",
    }


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
) -> Report:
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
        Go on with a run that was ended. Rows that failed are tried again, and so are results that
        are damaged or whose input has changed, which ``notes`` of the report name.
    cores : int
        Processes on this machine.
    dask : str or distributed.Client, optional
        A Dask cluster, whose workers read and write the same paths.
    groups : {"estimands", "all"}
        Of each result file: "all" has those for ArviZ's checks of the model too, and takes 1.7
        times as long for a best score alone.
    random_seed : int, optional
        Each row gets a seed from this one and its identifier, unless it has its own. Default: 0,
        or that of the run that is resumed.
    progressbar : bool

    Returns
    -------
    Report
        ``frame`` is the table of summaries; a row that failed says why in ``problem``.

    Raises
    ------
    InputError
        A manifest whose columns or identifiers cannot be used, a folder of another run, with other
        files, or that another run is writing to, a full disk, a cluster that does not answer.

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
    if random_seed is not None:
        SEED.check(random_seed, "random_seed")
    rows, folder = read_manifest(manifest), Path(output_dir).absolute()
    _check_own(folder)
    with locked_folder(folder):
        run = _opened(folder, rows, resume, random_seed)
        work = [_Board(row, run, folder, groups) for row in rows]
        outcomes: list[tuple[dict[str, Any], str]] = [({}, "") for _ in rows]
        with shown_progress(len(rows), "boards", show=progressbar) as advance:
            for place, summary in run_each(_Board.finish, work, cores=cores, dask=dask):
                outcomes[place] = summary
                advance()
        report = _described(tuple(outcomes), run.random_seed, folder)
        report.to_csv(folder / f"{SUMMARIES}.csv")
        if find_spec("pyarrow") is not None:
            with whole_file(folder / f"{SUMMARIES}.parquet") as draft:
                report.frame.to_parquet(draft)
    return report


def _check_own(folder: Path) -> None:
    """Raise ``InputError`` where a folder has files of anybody else; nothing is made in it."""
    if folder.joinpath(RUN).is_file() or not folder.is_dir():
        return
    boards = folder / BOARDS
    others = [p for p in folder.iterdir() if p.name[0] != "." and p != boards]
    if others or next(boards.glob("*.json"), None) is not None:
        raise InputError(f"{shown_path(folder)} has other files: name a new folder")


def _opened(folder: Path, rows: tuple[Row, ...], resume: bool, random_seed: int | None) -> _Run:
    """The run that a locked folder is of: that of its results, or a new one."""
    path, boards = folder / RUN, folder / BOARDS
    make_directory(boards)
    for place in (folder, boards):
        remove_drafts(place)
    manifest = digest_of([(row.identifier, row.arguments, row.problem) for row in rows])
    seed = DEFAULT_SEED if random_seed is None else int(random_seed)
    new = _Run(manifest, __version__, seed, datetime.now(UTC).isoformat(timespec="seconds"))
    finished = next(boards.glob("*.json"), None) is not None
    if finished and not resume:
        raise InputError(
            f"{shown_path(folder)} has results already: resume=True goes on with them, or name "
            "another folder"
        )
    there = _read_run(path) if path.is_file() else None
    if there is not None and resume:
        differs = [n for n in ("manifest", "version") if getattr(there, n) != getattr(new, n)]
        if random_seed not in (None, there.random_seed):
            differs.append(f"seed ({there.random_seed} there)")
        if not differs:
            return there
        if finished:
            raise InputError(
                f"{shown_path(folder)} is of another run: its {' and '.join(differs)} is not the "
                "same; name another folder"
            )
    write_text(json.dumps(asdict(new), indent=2) + "\n", path)
    return new


def _read_run(path: Path) -> _Run:
    try:
        run = _Run(**parse_json(path.read_text(encoding="utf-8"), RUN))
        SEED.check(run.random_seed, "random_seed")
        if not all(isinstance(x, str) for x in (run.manifest, run.version, run.created_at)):
            raise InputError("it does not say what it is of")
    except (InputError, OSError, UnicodeError, TypeError) as error:
        reason = plain_text(error, 120)
        raise InputError(f"{shown_path(path)} is damaged ({reason}): name a new folder") from None
    return run


def _described(outcomes: Sequence[tuple[dict[str, Any], str]], seed: int, folder: Path) -> Report:
    records = [record for record, _ in outcomes]
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
    again = [f"{record['identifier']}: {why}" for record, why in outcomes if why]
    notes = [_computed_again(again)] if again else []
    return Report(
        tables=[Table.of([_cells(record) for record in records])],
        make_frame=partial(_frame, records),
        content={
            "boards": records,
            "n_boards": n,
            "n_failed": len(failed),
            "n_overstated": over,
            "n_clearly_overstated": clearly,
            "seed": seed,
            "notes": notes,
            "diagnostics": {"ok": not reasons, "reasons": reasons},
        },
        sentences=(said,),
        basis=(f"seed {seed}", SOFTWARE),
        legend=(
            f"All numbers are in {shown_path(folder / SUMMARIES)}.csv; a row that failed is tried "
            "again by --resume.",
        ),
        notes=notes,
        reasons=reasons,
    )


def _computed_again(again: list[str]) -> str:
    boards = counted(len(again), "board")
    named = f"{'; '.join(again[:3])}{'; ...' if len(again) > 3 else ''}"
    had = "was" if len(again) == 1 else "were"
    return f"{boards} that had a result {had} computed again ({named})"


def _frame(records: Sequence[dict[str, Any]]) -> "pd.DataFrame":
    """One row per board; text that a board does not have is empty."""
    frame = frame_of(records)
    texts = [name for name in _OWN_TEXTS if name in frame]
    return frame.assign(**{name: frame[name].astype("string").fillna("") for name in texts})


@command(epilog="Example: bayes-sota batch manifest.csv --output-dir results --cores 2")
@click.argument("manifest", type=InputFile())
@click.option(
    "--output-dir",
    type=OutputDirectory(),
    required=True,
    help="Where the results and the tables of summaries go.",
)
@click.option("--resume", is_flag=True, help="Go on with a run that was ended.")
@number_option(PROCESSES, "--cores", default=1, help="Processes on this machine.")
@click.option("--dask", help="Address of a Dask scheduler, such as tcp://192.168.0.7:8786.")
@click.option(
    "--groups",
    type=click.Choice(["estimands", "all"]),
    default="estimands",
    help="Groups of each result file: all has those for ArviZ's checks too.",
)
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
    check_inputs_kept(Path(name) for row in read_manifest(manifest) for name in row.inputs)
    progressbar = show_progress(shown.quiet, shown.as_json)
    report = estimate_many(manifest, output_dir, random_seed=seed, progressbar=progressbar, **how)
    return shown.deliver(report, top, partial(_figure, report, top))


def _figure(report: Report, top: int) -> "PlotCollection":
    """Best skill of each board, with its interval and its best score."""
    from bayes_sota.core.plots import title_figure
    from bayes_sota.leaderboard.plots import draw_intervals

    names = ["identifier", "observed_maximum", "theta_sota_mean"]
    names += ["theta_sota_interval_lower", "theta_sota_interval_upper"]
    records = [record for record in report.content["boards"] if record.get(names[2]) is not None]
    drawn = [
        {"name": name, "score": score, "skill": {"mean": mean, "interval": ends}}
        for name, score, mean, *ends in (map(record.get, names) for record in records)
    ]
    if not drawn:
        raise InputError("no board has a result that a figure could show: leave out --figure")
    probabilities = {f"{record['prob']:.0%} " for record in records}
    of = probabilities.pop() if len(probabilities) == 1 else ""  # each row may have its own
    figure = draw_intervals(drawn[:top], f"skill of the best classifier: mean and {of}interval")
    clearly = report.content["n_clearly_overstated"]
    title_figure(
        figure,
        f"In {clearly:,} of {counted(len(drawn), 'board')} the best score is better\n"
        "than the whole interval of the best skill",
    )
    return figure
