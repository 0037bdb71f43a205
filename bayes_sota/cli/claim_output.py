"""What the commands of ``bayes-sota claim`` share: options of output, and how a claim is shown."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.cli.options import echo_json, output_options
from bayes_sota.errors import InputError

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["Files", "claim_options", "echo_claim", "level_option"]


def level_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--level``, the probability of a false claim that is accepted."""
    return click.option(
        "--level", type=float, default=0.05, show_default=True, help="Of an accepted false claim."
    )(command)


def claim_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--level``, ``--text``, ``--figure``, ``--output`` and what every command has."""
    for option in (
        output_options,
        click.option(
            "--output", type=click.Path(path_type=Path), default=None,
            help="Posterior draws as a DataTree: FILE.nc.",
        ),
        click.option(
            "--figure", type=click.Path(path_type=Path), default=None,
            help="Figure: .png, .svg or .pdf.",
        ),
        click.option("--text", is_flag=True, help="Only the paragraph that a review can use."),
        level_option,
    ):  # fmt: skip
        command = option(command)
    return command


class Files:
    """The files that a command writes: checked before anything is computed, each written whole."""

    def __init__(self, output: Path | None, figure: Path | None) -> None:
        """Check that both can be written."""
        from bayes_sota.whole_files import check_figure_ending, check_writable

        self.output, self.figure = output, figure
        for path in (output, figure):
            if path is not None:
                check_writable(path)
        if output is not None and output.suffix != ".nc":
            raise InputError(f"--output takes a file ending in .nc, got {output.name}")
        if figure is not None:
            check_figure_ending(figure)

    def write(
        self, tree: Callable[[], "xr.DataTree"], figure: Callable[[], "PlotCollection"]
    ) -> None:
        """Write what was asked for; what was not is not computed."""
        if self.output is not None:
            from bayes_sota.inference.result import save_result

            save_result(tree(), self.output)
        if self.figure is not None:
            from bayes_sota.plots.save import save_figure

            save_figure(figure(), self.figure)


def echo_claim(
    result: dict[str, Any], show: Callable[[], None], *, as_json: bool, text: bool, quiet: bool
) -> None:
    """Print a claim as JSON, as the paragraph alone, or as a table with notes."""
    if as_json:
        echo_json(result)
        return
    if text:
        click.echo(result["text"])
        return
    show()
    for note in () if quiet else result["notes"]:
        click.echo(f"Note: {note}")
