"""Figures to files: a file appears whole or not at all."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_sota.core.files import whole_file

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

__all__ = ["save_figure"]


def save_figure(collection: "PlotCollection", path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a figure; an interrupted or failed run leaves no part of it.

    Parameters
    ----------
    collection : PlotCollection
        A figure of this package or of ArviZ.
    path : path
        The suffix chooses the format: png, svg or pdf with matplotlib, html with the others.
    **options
        Passed to ``PlotCollection.savefig``, for instance ``dpi`` with matplotlib.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        The path cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bayes_sota as bs
    >>> law = bs.maximum_law(n_test=100, n_classifiers=10, skill=0.9)
    >>> figure = bs.plot_maximum_law(law, backend="matplotlib")
    >>> with TemporaryDirectory() as folder:
    ...     save_figure(figure, f"{folder}/law.png").name
    'law.png'
    """
    target = Path(path)
    with whole_file(target) as draft:
        collection.savefig(draft, **options)
    return target
