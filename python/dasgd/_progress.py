"""A line that shows how far a run is."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional


class ProgressBar:
    """One line on standard error that is written over; in a notebook as well."""

    width = 24

    def __init__(self, wanted: Optional[bool]) -> None:
        self.wanted = _has_reader() if wanted is None else wanted
        self._shown = 0

    def show(self, now: Dict[str, Any]) -> None:
        if not self.wanted:
            return
        self._write(self.line(now))

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(line)

    def show_runs(self, done: int, about: int) -> None:
        self._write(f"{done} of about {about} runs")

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0

    @classmethod
    def line(cls, now: Dict[str, Any]) -> str:
        parts = []
        if now.get("done") is not None:
            full = int(cls.width * min(1.0, now["done"]))
            parts.append("[" + "#" * full + "." * (cls.width - full) + f"] {now['done']:4.0%}")
        parts.append(f"{now['gradients']:,} gradients")
        if now.get("loss") is not None:
            parts.append(f"loss {now['loss']:.4g}")
        if now.get("accuracy") is not None:
            parts.append(f"accuracy {now['accuracy']:.4f}")
        if now.get("seconds_left") is not None:
            parts.append(f"{now['seconds_left']:.0f} s left")
        return "  ".join(parts)


def _has_reader() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
