"""Files that results are written to, and how a command takes the options that say where."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["packed_options", "write_result_files"]


def write_result_files(
    output: Path | None,
    tree: "Callable[[], xr.DataTree]",
    figure: Path | None,
    drawn: "Callable[[], PlotCollection]",
) -> None:
    """Write what was asked for; what was not is not computed."""
    if output is not None:
        from bayes_sota.core.sample_files import save_result

        save_result(tree(), output)
    if figure is not None:
        from bayes_sota.core.plots_files import save_figure

        save_figure(drawn(), figure)


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

    wrapped: Callable[..., Any] = packed
    for option in options:
        wrapped = option(wrapped)
    return wrapped
