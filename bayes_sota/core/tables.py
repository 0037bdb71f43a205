"""Tables that are written as CSV, Markdown or JSON, as the ending of a file says."""

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from bayes_sota.core.files import check_ending, write_text
from bayes_sota.core.schema import SCHEMA_VERSION


class WrittenTable(ABC):
    """What every table of results can do with itself.

    ``tests/leaderboard/test_summary_entries.py`` tries it.
    """

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects."""

    @abstractmethod
    def to_csv(self, path: str | Path | None = None) -> str:
        """Table as CSV; written as a whole to ``path`` where one is given."""

    @abstractmethod
    def to_markdown(self, path: str | Path | None = None, top: int | None = None) -> str:
        """Table as Markdown; written as a whole to ``path`` where one is given."""

    def to_json(self) -> str:
        """``to_dict`` with the schema version first, as text."""
        return json.dumps({"schema_version": SCHEMA_VERSION, **self.to_dict()}, indent=2) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the table, as the ending of the name says: .csv, .md or .json.

        Raises
        ------
        InputError
            Another ending, or a place that cannot be written to.
        """
        path = check_ending(Path(path), "table")
        ending = path.suffix.lower()
        if ending == ".csv":
            self.to_csv(path)
        elif ending == ".md":
            self.to_markdown(path)
        else:
            write_text(self.to_json(), path)
