"""What a comparison found."""

from __future__ import annotations

import csv
import os
from typing import Any, Dict, List

from ._page import framed


class Comparison:
    """A finished comparison.

    `results` is the dictionary of compare.json: worlds with rows, winners and what can be said of them. `runs` has
    one dictionary per run, `curves` one per look at a run; ``pandas.DataFrame`` takes both as they are.
    """

    def __init__(self, results: Dict[str, Any], run_dir: str) -> None:
        self.results = results
        self.run_dir = run_dir

    @property
    def runs(self) -> List[Dict[str, Any]]:
        return self._table("compare.csv")

    @property
    def curves(self) -> List[Dict[str, Any]]:
        return self._table("curves.csv")

    def __repr__(self) -> str:
        return f"<dasgd.Comparison {self.run_dir}: {len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        """The page of the comparison, in a notebook."""
        return framed(os.path.join(self.run_dir, "compare.html"), repr(self))

    def _table(self, name: str) -> List[Dict[str, Any]]:
        with open(os.path.join(self.run_dir, name), encoding="utf-8", newline="") as file:
            return [{key: _value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> Any:
    if text in ("", "true", "false"):
        return {"": None, "true": True, "false": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
