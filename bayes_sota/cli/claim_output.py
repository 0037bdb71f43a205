"""What the commands of ``bayes-sota claim`` share: options of output, and how a claim is shown."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.cli.command import OutputFile
from bayes_sota.cli.options import echo_json, output_options
from bayes_sota.cli.result_files import (
    packed_options,
    write_result_files,
)

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["ClaimOutput", "claim_options", "level_option"]


@dataclass(frozen=True)
class ClaimOutput:
    """What a command of claims shows and writes; checked before anything is computed."""

    level: float
    text: bool
    figure: Path | None
    output: Path | None
    as_json: bool
    seed: int | None
    quiet: bool

    def __post_init__(self) -> None:
        """Check the level."""
        from bayes_sota.exact.claim_planning import check_level

        check_level(self.level)

    def deliver(
        self,
        result: dict[str, Any],
        show: Callable[[], None],
        tree: Callable[[], "xr.DataTree"],
        figure: Callable[[], "PlotCollection"],
    ) -> None:
        """Write the files that were asked for, then print JSON, the paragraph, or a table.

        What was not asked for is not computed.
        """
        write_result_files(self.output, tree, self.figure, figure)
        if self.as_json:
            echo_json(result)
        elif self.text:
            click.echo(result["text"])
        else:
            show()
            for note in () if self.quiet else result["notes"]:
                click.echo(f"Note: {note}")


def level_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--level``, the probability of a false claim that is accepted."""
    return click.option(
        "--level", type=float, default=0.05, show_default=True, help="Of an accepted false claim."
    )(command)


def claim_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--level``, ``--text``, ``--figure``, ``--output`` and what every command has, as one."""
    options = (
        output_options,
        click.option(
            "--output", type=OutputFile("result"), default=None,
            help="Posterior draws as a DataTree: FILE.nc.",
        ),
        click.option(
            "--figure", type=OutputFile("figure"), default=None,
            help="Figure: .png, .svg or .pdf.",
        ),
        click.option("--text", is_flag=True, help="Only the paragraph that a review can use."),
        level_option,
    )  # fmt: skip
    return packed_options(command, ClaimOutput, options)
