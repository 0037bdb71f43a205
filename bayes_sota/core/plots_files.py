"""Figures as files, with fonts for names in any script."""

import base64
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from arviz_plots import PlotCollection

from bayes_sota.core.files import whole_file

# Of scripts that DejaVu Sans lacks, on Linux, macOS and Windows.
_FONTS = ("Noto Sans CJK SC", "WenQuanYi Zen Hei", "Arial Unicode MS", "Microsoft YaHei")


def save_figure(collection: PlotCollection, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a figure, whole or not at all.

    Parameters
    ----------
    collection : PlotCollection
        A figure of this package or of ArviZ.
    path : path
        The suffix chooses the format: png, svg or pdf.
    **options
        Passed to ``PlotCollection.savefig``; ``dpi`` is 300 by default. Text in a PDF or an SVG
        stays text.

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
    >>> figure = bs.maximum.plot_maximum_law(law)
    >>> with TemporaryDirectory() as folder:
    ...     save_figure(figure, f"{folder}/law.png").name
    'law.png'
    """
    target = Path(path)
    look = {"pdf.fonttype": 42, "svg.fonttype": "none", "savefig.dpi": 300}
    with whole_file(target) as draft, _printed(look):
        collection.savefig(draft, **options)
    return target


@contextmanager
def _printed(look: Mapping[str, Any]) -> Iterator[None]:
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    fonts = ["DejaVu Sans", *(name for name in _FONTS if name in known)]
    settings: Any = {"svg.hashsalt": "bayes_sota", **look, "font.sans-serif": fonts}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield


def svg_address(collection: PlotCollection) -> str:
    """A figure as a data address of an SVG image, in which a browser runs nothing."""
    drawn = BytesIO()
    with _printed({}):
        collection.viz["figure"].item().savefig(drawn, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode()
