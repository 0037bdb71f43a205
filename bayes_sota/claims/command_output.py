"""What the commands of ``bayes-sota claim`` share: options of output, and how a claim is shown."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import LEVEL, refuse_unused
from bayes_sota.core.command_groups import (
    packed_options,
    write_result_files,
)
from bayes_sota.core.command_options import (
    echo_json,
    number_option,
    output_options,
    seed_option,
    text_option,
)
from bayes_sota.core.command_types import OutputFile

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

    def check_seed(self) -> None:
        """Refuse a seed where the answer is exact and no draws are written."""
        if self.output is None:
            refuse_unused("an exact answer: it is for --output", {"--seed": self.seed})

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
    option = number_option(LEVEL, "--level", default=0.05, help="Of an accepted false claim.")
    return option(command)


def claim_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--level``, ``--text``, ``--figure``, ``--output`` and what every command has, as one."""
    options = (
        output_options,
        seed_option,
        click.option(
            "--output", type=OutputFile("result"), default=None,
            help="Posterior draws as a DataTree: FILE.nc.",
        ),
        click.option(
            "--figure", type=OutputFile("figure"), default=None,
            help="Figure: .png, .svg or .pdf.",
        ),
        text_option,
        level_option,
    )  # fmt: skip
    return packed_options(command, ClaimOutput, options)
