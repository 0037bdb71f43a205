"""All commands; only the one that runs is imported."""

import platform
from importlib import import_module
from importlib.metadata import version

import click

from bayes_sota import __version__

_ABOUT = {
    "inspect": "Describe a file, and list the commands that can answer from it.",
    "score": "How good is one model?",
    "sota": "How good is the best, and how good is the winner?",
    "board": "Who is the best? Skills, ranks, tiers.",
    "paired": "Public and private board: who gained beyond luck?",
    "claim": 'Is "A outperforms B" false?',
    "epp": "Which model is better over rounds, data sets, battles?",
    "cv": "Repeated cross-validation: run it, and judge its scores.",
    "maximum": "The exact law of the best of many scores.",
    "batch": "Many boards, one result file for each.",
    "examples": "Write files of every kind to try.",
    "demo": "The main job on a real challenge.",
}
_MODULES = {"inspect": "inspection", "examples": "demo"}  # others are called like their command

_INSTEAD = {  # of the commands and options of version 0.5, with the options that it replaces
    "write --save FILE.html": "report app port no-browser worker",
    "write --save FILE.png": "figure figure-kind badge",
    "write --save FILE.csv": "table",
    "write --save FILE.nc": "output scores responses item-scores",
    "write --save FILE.txt": "text",
    "write --version": "doctor",
    "write --quiet": "no-sensitivity",
    "write --prob P": "level",
    "write --n-test infer": "infer-n",
    "write --use A,B,C": "task-columns",
    "write --leave-out A,B": "drop-above task",
    "write --column {name}=NAME": "submissions target",
    "write --column entry=NAME": "name-column learner-column player-column",
    "write --column unit=NAME": "item-column round-column",
    "write --column n=NAME": "n-test-column",
    "write --column se=NAME": "stderr-column",
    "write --column group=NAME": "group-by",
    "write --column run=NAME, with a row for each run": "run-separator",
    "write --metric NAME": "item-metric scorer",
    "write --gap G --sd A B": "mean",
    "write --accuracy A B": "winner",
    "write --sd A B": "sd-coefficients",
    "write --congruence C, which is A times B if mistakes are independent": "independent",
    "write claim responses --pair A B --margin D": "rope",
    "write --pair A B, and fix the number of items beforehand": "anytime",
    "write sota --new-score X": "new-score new-n-test",
    "write --compare --n-classes K": "criterion fixed-field",
    "write bs.load_model(NAME) in Python": "models",
    "write bs.core.probability_above(tree, S) in Python": "above",
    "write bs.Priors(correlation=bs.FixedCorrelation(RHO)) in Python": "rho correlation "
    "pairwise-correlation similarity learn-rho",
    "write bs.maximum_law(...).sf in Python": "at-least",
    "write bs.Accuracies(...).assured_size() in Python": "assurance",
    "write bs.Means(..., bounds=None) in Python": "unbounded",
    "write bs.claims.build_model(...) in Python, and sample it": "alpha bayes",
    "write bs.claims.report_methods(..., selection=False) in Python": "no-selection",
    "write joblib.parallel_config('dask') in Python": "dask",
    "write {name}= in Python": "model ranks epsilon draws chains rounding percent orderings groups "
    "reference-skill average new cores gap repetitions player-covariates",
    "leave it out: rows without a score are dropped, with a note": "missing",
    "leave it out: formats, digits and roundings are recognised": "format decimals any-accuracy",
    "leave it out: the direction is a column higher_is_better": "lower-is-better-in",
    "leave it out: finished results are kept": "resume",
    "leave it out: the range of P(false) is always printed": "min max odds-ratio correlation-range",
    "leave it out: equal scores are half a win": "ties local-rope sds unpaired-folds",
    "leave it out: version 1.0 does not have it": "best-of skip-problems pairing together "
    "other-folds round-covariates p-rank",
}


class Commands(click.Group):
    """Commands in their order, with their questions; the one that runs is imported."""

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        """Names in their order."""
        return list(_ABOUT)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        """The command of a name, imported now."""
        if fix := _new_form(name):
            raise click.UsageError(f"No such command {name!r}; {fix}", ctx)
        if name not in _ABOUT:
            return self.commands.get(name)
        module = import_module(f"bayes_sota.cli.{_MODULES.get(name, name)}")
        found: click.Command = getattr(module, name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Their questions, without an import."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_ABOUT.items()))


def _show_versions(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print what a report of a bug needs; none of the libraries is imported."""
    if wanted:
        click.echo(f"bayes_sota {__version__}\nPython {platform.python_version()}")
        for name in ("PyMC", "ArviZ", "NumPy", "SciPy"):
            click.echo(f"{name} {version(name)}")
        context.exit()


cli = Commands(
    "cli",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Say what the data support about the state of the art behind the best score.",
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False,
            callback=_show_versions,
            help="Show the versions of the package and of its libraries.",
        )
    ],
)  # fmt: skip


def unknown_option(error: click.NoSuchOption) -> str:
    """One line on an unknown option: its new form, or options that are spelt like it."""
    name = error.option_name
    fix = _new_form(name[2:])
    return f"No such option {name!r}; {fix}" if fix else error.format_message()


def _new_form(old: str) -> str:
    """New form of an option or a command of version 0.5; empty for other names."""
    found = next((new for new, names in _INSTEAD.items() if old in names.split()), "")
    if not found and old.endswith("-column"):
        found = f"write --column {old.removesuffix('-column')}=NAME"
    return found.format(name=old.replace("-", "_"))
