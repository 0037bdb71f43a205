"""Settings of the documentation: `uv run --extra docs sphinx-build -W -n docs docs/_build`."""

import re
import shutil
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import bayes_sota

HERE = Path(__file__).parent
# Sphinx reads below this folder only; git ignores the copies.
shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks", dirs_exist_ok=True)

project = "bayes_sota"
author = "The bayes_sota developers"
version = release = bayes_sota.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["_build", "jupyter_execute", "**/.ipynb_checkpoints"]
templates_path = ["_templates"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_merge_streams = True

autodoc_typehints = "none"  # types stand in the docstrings
autosummary_imported_members = True
autosummary_ignore_module_all = False
# An everyday class is described once, on the page of its short name.
autosummary_context = {"everyday": dir(bayes_sota)}
nitpick_ignore_regex = [("py:obj", r"bayes_sota\.\w+\.[A-Z]\w+")]
numpydoc_show_class_members = False

html_theme = "furo"
html_title = "bayes_sota"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["claim.html"]
html_js_files = ["site.js"]
html_copy_source = html_show_sourcelink = html_show_copyright = False
html_math_renderer = "mathml"


def mathml(node: nodes.Element, **options: bool) -> str:
    """A formula as MathML, without the sizes of brackets, which browsers find themselves."""
    return tex2mathml(re.sub(r"\\[Bb]ig(?![a-z])", "", node.astext()), **options)


def write_inline_math(translator, node: nodes.math) -> None:  # type: ignore[no-untyped-def]
    """Write a formula for the browser's own typesetting, which needs no script."""
    translator.body.append(mathml(node))
    raise nodes.SkipNode


def write_displayed_math(translator, node: nodes.math_block) -> None:  # type: ignore[no-untyped-def]
    """Write a formula on lines of its own."""
    translator.body.append(f"<div class='math'>{mathml(node, as_block=True)}</div>")
    raise nodes.SkipNode


def open_own_branch_only(app, page, template, context, doctree) -> None:  # type: ignore[no-untyped-def]
    """Leave branches of other pages closed: three hundred links on each take most of a build."""
    if whole := context.get("toctree"):
        context["toctree"] = lambda **options: whole(**options | {"collapse": True})


def setup(app: Sphinx) -> None:
    """Let Sphinx know the formulas, and the theme the branch to show."""
    app.connect("html-page-context", open_own_branch_only, priority=400)  # before the theme's
    app.add_html_math_renderer("mathml", (write_inline_math, None), (write_displayed_math, None))
