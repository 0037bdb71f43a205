"""Finished iterations on disk: a run that was ended goes on where it was.

A folder holds ``manifest.json``, which says what the results depend on, and one file per iteration.
Files appear whole or not at all and are read without pickle; a folder of other data, learners or
settings is refused (``tests/crossval/test_checkpoint.py``, where runs are killed).
"""

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import whole_file, write_text
from bayes_sota.core.text import digest_of, plain_text, shown_path
from bayes_sota.crossval.fits import Iteration, Message, Study
from bayes_sota.data.files.json import parse_json

CHECKPOINT = "manifest.json"
_FORMAT = 1
_LARGEST = 1 << 20  # bytes of a manifest, and of what an iteration says beside its numbers
_NAMES = {"data", "learners", "folds", "scoring", "seed", "versions", "format"}


@dataclass(frozen=True)
class Checkpoint:
    """Folder with the finished iterations of one study.

    Attributes
    ----------
    folder : Path
    study : Study
    """

    folder: Path
    study: Study

    @contextmanager
    def opened(self) -> Iterator[list[Iteration]]:
        """Finished iterations, by their numbers; the folder is this run's while the block lasts.

        Raises
        ------
        InputError
            It is of other data, learners, folds, scores, seeds or versions, and one is named; it
            holds other files, or a damaged one; another run has it; it cannot be written.
        """
        read_manifest(self.folder)  # nothing is made where it has other files
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_or_begin()
        yield [self._read(path) for path in sorted(self.folder.glob("iteration-*.npz"))]

    def _check_or_begin(self) -> None:
        wanted, stored = self._wanted(), read_manifest(self.folder)
        if stored is None:
            write_text(json.dumps(wanted, indent=2) + "\n", self.folder / CHECKPOINT)
            return
        there, here = dict(_parts(stored)), dict(_parts(wanted))
        differing = [
            f"{name}: {plain_text(text, 60)} there, {plain_text(here[name], 60)} here"
            for name, text in there.items()
            if text != here.get(name, text)
        ]
        if differing:  # the shortest: longer ones hold others
            raise InputError(
                f"the checkpoint {shown_path(self.folder)} is of another run: "
                f"{min(differing, key=len)}; name another folder"
            )

    def keep(self, iteration: Iteration) -> None:
        """Write an iteration."""
        said = json.dumps([asdict(message) for message in iteration.messages]).encode()
        path = self.folder / f"iteration-{iteration.number:05d}.npz"
        with whole_file(path) as draft, draft.open("wb") as file:
            np.savez(
                file,
                run=np.frombuffer(self._run(), np.uint8),
                number=np.array(iteration.number),
                scores=iteration.scores,
                probabilities=iteration.probabilities,
                messages=np.frombuffer(said, np.uint8),
            )

    def _wanted(self) -> dict[str, Any]:
        return {"format": _FORMAT, **self.study.description}

    def _run(self) -> bytes:
        return digest_of(json.dumps(self._wanted(), sort_keys=True)).encode()

    def _read(self, path: Path) -> Iteration:
        """An iteration from a file that declares no more than one has."""
        learners, items = len(self.study.learners), self.study.truth.size
        shapes = {"scores": (learners, self.study.folds), "probabilities": (learners, items)}
        needed = sum(8 * int(np.prod(size)) for size in shapes.values())
        try:
            with zipfile.ZipFile(path) as archive:
                if sum(part.file_size for part in archive.infolist()) > needed + _LARGEST:
                    raise InputError("it is too large")
            with np.load(path, allow_pickle=False) as stored:
                values = {name: stored[name] for name in ("run", "number", "messages", *shapes)}
            for name, size in shapes.items():
                if values[name].shape != size or values[name].dtype != float:
                    raise InputError(f"its {name} are of another shape")
            if (
                values["run"].tobytes() != self._run()
                or path.stem[10:] != f"{values['number']:05d}"
            ):
                raise InputError("it is an iteration of another run, or another iteration")
            said = parse_json(values["messages"].tobytes().decode(), path.name)
            messages = tuple(Message(**message) for message in said)
        except Exception as error:  # NumPy and zipfile raise a dozen kinds for damaged files
            reason = plain_text(f"{error}" or type(error).__name__, 120)
            raise InputError(
                f"{shown_path(path)} is no finished iteration ({reason}): delete it, and it is "
                "computed again"
            ) from None
        return Iteration(int(values["number"]), values["scores"], values["probabilities"], messages)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What a checkpoint is of; None where the folder is empty or not there.

    Raises
    ------
    InputError
        The folder holds something else, or its manifest is damaged.
    """
    path = folder / CHECKPOINT
    if not path.is_file():
        if folder.is_dir() and any(inside.name[0] != "." for inside in folder.iterdir()):
            raise InputError(
                f"{shown_path(folder)} is no checkpoint: it has other files, and no {CHECKPOINT}"
            )
        return None
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError("it is too large")
        manifest = parse_json(path.read_text(encoding="utf-8"), CHECKPOINT)
        if not isinstance(manifest, dict) or not set(manifest) >= _NAMES:
            raise InputError("it does not say what it is of")
    except (InputError, OSError, UnicodeError) as error:
        raise InputError(
            f"{shown_path(path)} is damaged ({plain_text(error, 120)}): name another folder"
        ) from None
    return manifest


def _parts(value: Any, *place: str) -> Iterator[tuple[str, str]]:
    """Text of every part of a manifest by its place; of a mapping, its names in their order."""
    if not isinstance(value, dict):
        yield " ".join(place), str(value)
        return
    yield " ".join(place), f"[{', '.join(value)}]"
    for name, part in value.items():
        yield from _parts(part, *place, name)
