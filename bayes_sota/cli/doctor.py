"""``bayes-sota doctor``: does the installation work? Each part is tried, not only looked up."""

import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

import bayes_sota as bs
from bayes_sota.core.command import Shown, command, report_options, show_progress
from bayes_sota.core.errors import advice_on
from bayes_sota.core.parallel import followed
from bayes_sota.core.text import counted

_BEST = 0.913964  # expected best score of the law below, arXiv 2303.07272, Table 1 row 3: 0.9140


@command(epilog="Example: bayes-sota doctor --json")
@report_options
def doctor(shown: Shown) -> int:
    """Try the parts of the installation, and say how to mend what does not work.

    The exit code is 1 where a part that is needed does not work. Put what it prints into a report
    of a problem.
    """
    from bayes_sota.core.summary import list_report
    from bayes_sota.core.tables import SOFTWARE

    if show_progress(shown.quiet, shown.as_json):
        click.echo(
            "trying each part; PyMC compiles a model first, which takes half a minute", err=True
        )
    parts = [*_machine(), *packages()]
    with followed(len(_TRIALS), "parts") as advance:
        for trial in _TRIALS.items():
            parts.append(_tried(trial))
            advance()
    broken = [part for part in parts if part["state"] == "broken"]
    parts_that = counted(
        len(broken), "part of the installation does", "parts of the installation do"
    )
    said = f"{parts_that} not work." if broken else "All works."
    report = list_report(
        "parts",
        parts,
        {"part": "part", "state": "state", "found": "found", "what to do": "advice"},
        sentences=(said,),
        basis=(SOFTWARE,),
        reasons=[f"{part['part']}: {part['found']}" for part in broken],
        content={"diagnostics": {"ok": not broken, "reasons": [p["part"] for p in broken]}},
    )
    return shown.deliver(report)


def _part(part: str, state: str, installed: str, advice: str = "") -> dict[str, Any]:
    return {"part": part, "state": state, "found": installed, "advice": advice}


def _machine() -> Iterator[dict[str, Any]]:
    yield _part("Python", "works", f"{platform.python_version()} on {platform.platform()}")
    yield _part("processors", "works", str(os.cpu_count()))
    encoding = getattr(sys.stdout, "encoding", None) or "unknown"
    advice = "" if encoding.lower().startswith("utf") else "PYTHONUTF8=1 in the environment"
    yield _part("letters", "works" if not advice else "optional", encoding, advice)


def packages() -> Iterator[dict[str, Any]]:
    """What is needed and what extras add, by the metadata of the installed package."""
    from packaging.requirements import Requirement

    for text in requires("bayes-sota") or ():
        needed = Requirement(text)
        extra = str(needed.marker).rpartition("extra == ")[2].strip("\"'") if needed.marker else ""
        wanted = f"bayes-sota[{extra}]" if extra else f"{needed.name}{needed.specifier}"
        label = f"{needed.name} (extra {extra})" if extra else needed.name
        advice = f'python -m pip install "{wanted}"'
        try:
            installed = version(needed.name)
        except PackageNotFoundError:
            yield _part(label, "optional" if extra else "broken", "not installed", advice)
            continue
        fits = needed.specifier.contains(installed, prereleases=True)
        shown = installed if fits else f"{installed}, needed {needed.specifier}"
        yield _part(label, "works" if fits else "broken", shown, "" if fits else advice)


def _tried(trial: tuple[str, Callable[[], str]]) -> dict[str, Any]:
    """What a part does when it is used; whatever it raises is what is wrong with it."""
    name, use = trial
    try:
        return _part(name, "works", use())
    except Exception as error:  # of any library, which is what is to be found out
        line = " ".join(str(error).split())[:300]
        advice = advice_on(error) or _ADVICE[name]
        return _part(name, "broken", f"{type(error).__name__}: {line}", advice)


def _law() -> str:
    law = bs.maximum_law(n_test=3_000, n_classifiers=1_000, skill=0.9, correlation=0.6)
    if abs(law.mean() - _BEST) > 1e-6:
        raise ValueError(f"the expected best score is {law.mean():.6f} instead of {_BEST}")
    return f"expected best score {law.mean():.6f}, as published"


def _files() -> str:
    from bayes_sota.core.plots import save_figure

    with TemporaryDirectory() as folder:
        board = bs.Leaderboard([0.93, 0.90, 0.91, 0.88], n_test=500)
        bs.save_result(bs.estimate_sota(board, draws=200, random_seed=0), Path(folder, "tree.nc"))
        figure = bs.plot_sota(bs.read_result(Path(folder, "tree.nc")), backend="matplotlib")
        size = save_figure(figure, Path(folder, "figure.svg")).stat().st_size
    return f"netCDF written and read, figure of {size // 1000} kB"


def _sampler() -> str:
    tree = bs.estimate_sota(
        bs.Leaderboard.from_maximum("0.93", n_test=500, n_classifiers=4),
        method="nuts",
        draws=50,
        chains=2,
        cores=1,
        random_seed=0,
    )
    return f"model compiled, {tree['posterior'].sizes['draw']} draws of each chain"


_TRIALS = {"exact law": _law, "files and figures": _files, "PyMC": _sampler}
_ADVICE = {
    "exact law": "numbers are wrong: please report it",
    "files and figures": "is the temporary folder (TMPDIR) writable and not full?",
    "PyMC": "python -m pip install --force-reinstall bayes-sota, and report it if that fails",
}
