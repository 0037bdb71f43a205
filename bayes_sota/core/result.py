"""What a file of a result may hold: numbers and text of its own, as many as it has bytes for.

HDF5 can take its data from other files, through external storage, links and virtual datasets, can
declare terabytes in a kilobyte, and loads plug-ins to unpack. A file with any of this is refused
before its data are read (``tests/core/test_stored_result.py``).
"""

import math
from typing import TYPE_CHECKING, Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown

if TYPE_CHECKING:
    import h5py


_MOST_BYTES = 2 << 30  # of all data, unpacked
_ALWAYS = 64 << 20  # however small the file
_PACKED = 1100  # bytes that one byte of a packed file can hold
_MOST_TEXT = 256 << 20  # bytes of the text of all variables
_MOST_OBJECTS = 2_000
_DEEPEST = 8
_MOST_TEXTS = 64  # in one attribute
_FILTERS = (1, 2, 3)  # deflate, shuffle, checksum: those that HDF5 has itself
_REFERENCES = ("DIMENSION_LIST", "REFERENCE_LIST")  # how netCDF says which axes a variable has


def check_stored(file: "h5py.File", size: int) -> None:
    """Raise ``InputError`` unless a file of so many bytes holds plain data of its own."""
    _Walk(file, size).check_group(file, 0)


class _Walk:
    """Count of what a file declares."""

    def __init__(self, file: "h5py.File", size: int) -> None:
        self.size = size
        self.left = min(_MOST_BYTES, _ALWAYS + _PACKED * size)
        self.objects = _MOST_OBJECTS
        self.text = _MOST_TEXT

    def check_group(self, group: "h5py.Group", depth: int) -> None:
        import h5py

        self.check_attributes(group)
        if depth > _DEEPEST:
            raise InputError(f"its groups are nested more than {_DEEPEST} deep")
        for name in group:
            self.objects -= 1
            if self.objects < 0:
                raise InputError(f"it has more than {_MOST_OBJECTS:,} variables and groups")
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise InputError(f"{shown(name)} is a link, which results do not have")
            found = group[name]
            if isinstance(found, h5py.Group):
                self.check_group(found, depth + 1)
            elif isinstance(found, h5py.Dataset):
                self.check_dataset(found, name)
            else:
                raise InputError(f"{shown(name)} is neither a variable nor a group")

    def check_dataset(self, found: "h5py.Dataset", name: str) -> None:
        from h5py import h5d

        layout = found.id.get_create_plist()
        if layout.get_layout() not in (h5d.COMPACT, h5d.CONTIGUOUS, h5d.CHUNKED):
            raise InputError(f"the data of {shown(name)} are in another place")
        if layout.get_external_count():
            raise InputError(f"the data of {shown(name)} are in another file")
        if any(layout.get_filter(i)[0] not in _FILTERS for i in range(layout.get_nfilters())):
            raise InputError(f"the data of {shown(name)} are packed in a way that is not read")
        self.check_attributes(found)
        self.spend(found.shape, found.dtype, name)
        self.spend(found.chunks, found.dtype, name, keep=True)
        if _is_text(found.dtype):
            self.check_texts(found, name)
        elif found.dtype.kind not in "iufbS":
            raise InputError(f"{shown(name)} holds neither numbers nor text")

    def spend(self, shape: Any, dtype: Any, name: str, keep: bool = False) -> None:
        """Count the bytes of an array; ``keep`` where they are counted already."""
        needed = math.prod(shape or (1,)) * dtype.itemsize
        if needed > self.left:
            raise InputError(
                f"{shown(name)} declares {needed:,} bytes, more than a file of {self.size:,} "
                "bytes can hold or more than results have"
            )
        self.left -= 0 if keep else needed

    def check_texts(self, found: "h5py.Dataset", name: str) -> None:
        """Read text in blocks: many cells can point to one long text."""
        flat = math.prod(found.shape or (1,))
        if found.ndim > 1:
            raise InputError(f"{shown(name)} is text in more than one dimension")
        block = max(1, (16 << 20) // (self.size + 1))
        for start in range(0, flat, block):
            texts = found[start : start + block] if found.ndim else [found[()]]
            self.text -= sum(64 + len(text) for text in texts)
            if self.text < 0:
                raise InputError(f"the text of {shown(name)} is longer than that of results")

    def check_attributes(self, owner: Any) -> None:
        for name in owner.attrs:
            stored = owner.attrs.get_id(name)
            self.spend(stored.shape, stored.dtype, name)
            if name in _REFERENCES:
                continue
            if _is_text(stored.dtype):
                if math.prod(stored.shape or (1,)) > _MOST_TEXTS:
                    raise InputError(f"{shown(name)} has more than {_MOST_TEXTS} texts")
            elif stored.dtype.kind not in "iufbS":
                raise InputError(f"{shown(name)} is neither a number nor text")


def _is_text(dtype: Any) -> bool:
    import h5py

    return h5py.check_string_dtype(dtype) is not None and dtype.kind == "O"
