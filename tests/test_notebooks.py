"""Every notebook runs from top to bottom and says again what is stored in it.

``uv run python tests/test_notebooks.py [NAME ...]`` runs notebooks, all or those named, and stores
their outputs without noise: no numbers of execution, no standard error, no styles, few colours.
"""

import base64
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from PIL import Image
from stored_text import text_differences

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST_FIGURE, LARGEST_NOTEBOOK = 60_000, 400_000  # bytes
SAMPLED = {"04_checking_and_extending_a_model", "05_claims", "06_epp"}
"""Notebooks with Markov chains, which go other ways on another machine."""
SHARE = 0.3
"""Their numbers may also differ by this share of their size, and their verdicts on mixing."""
OF_A_MACHINE = re.compile(r"/(?:home|root|tmp|work|Users|usr)/|0x[0-9a-f]{6,}|site-packages")
by_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def text_of(output):
    return str(output.get("text", output.get("data", {}).get("text/plain", "")))


def environment():
    """Of a kernel: figures inline, data of the package only."""
    away = ("MPLBACKEND", "BAYES_SOTA_DATA")
    kept = {k: v for k, v in os.environ.items() if k not in away}
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    return kept | {"PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}


def executed(path, folder):
    """The notebook with fresh outputs, without noise; a failing cell raises."""
    notebook = read(path)
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, resources=place).execute(env=environment())
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = None, cleaned(cell.outputs)
    return notebook


def cleaned(outputs):
    kept = []
    for output in outputs:
        if output.get("name") == "stderr":
            continue
        if output.get("name") == "stdout" and kept and kept[-1].get("name") == "stdout":
            kept[-1].text += output.text
            continue
        data = output.get("data", {})
        if "image/png" in data:
            data = {"image/png": with_few_colours(data["image/png"])}
        if "text/html" in data:
            data["text/html"] = re.sub(r"<style.*?</style>\s*", "", data["text/html"], flags=re.S)
        if data:
            output.data, output.metadata = data, {}
        if "execution_count" in output:
            output.execution_count = None
        kept.append(output)
    return kept


def with_few_colours(image):
    out = io.BytesIO()
    picture = Image.open(io.BytesIO(base64.b64decode(image))).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(out, "png", optimize=True)
    return base64.b64encode(out.getvalue()).decode()


def differences(stored, fresh, share=0.0):
    """Where outputs differ: text, numbers by more than a few units, presence of figures."""
    found = []
    for k, (before, after) in enumerate(zip(stored.cells, fresh.cells, strict=True)):
        old, new = before.get("outputs", []), after.get("outputs", [])
        if [kind_of(o) for o in old] != [kind_of(o) for o in new]:
            found.append(f"cell {k}: other outputs")
            continue
        for one, other in zip(old, new, strict=True):
            texts = text_differences(text_of(one), text_of(other), share)
            found += [f"cell {k}: {text}" for text in texts]
    return found


def kind_of(output):
    return (output.output_type, *sorted(output.get("data", {})))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("mean 0.9112 (1,234)", "mean  0.9114 (1,236)", True),
        ("mean 0.9112", "mean 0.9116", False),
        ("mean 0.91", "median 0.91", False),
    ],
)
def test_what_counts_as_a_difference(old, new, same):
    assert (not text_differences(old, new)) == same


@by_notebook
def test_notebook_is_small_and_has_no_noise(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert path.stat().st_size < LARGEST_NOTEBOOK
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    figures = [o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {})]
    assert 0 < max(len(base64.b64decode(figure)) for figure in figures) < LARGEST_FIGURE
    for output in outputs:
        assert output.output_type != "error"
        assert output.get("name") != "stderr"
        assert not OF_A_MACHINE.search(text_of(output))


@pytest.mark.slow
@by_notebook
# the client of the kernel, not the notebook, leaves these behind
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_notebook_says_what_is_stored(path, tmp_path):
    share = SHARE if path.stem in SAMPLED else 0.0
    assert differences(read(path), executed(path, tmp_path), share) == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for chosen in NOTEBOOKS:
            if not sys.argv[1:] or chosen.stem in sys.argv[1:]:
                nbformat.write(executed(chosen, folder), chosen)
                print(chosen.name, f"{chosen.stat().st_size >> 10} kB")
