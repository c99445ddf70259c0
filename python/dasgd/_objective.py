"""An objective of the user's as C++ asks it."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy


def asked(objective: Any) -> Optional["_Asked"]:
    return None if objective is None else _Asked(objective)


class _Asked:
    """Memory comes in as arrays of numpy, and goes out as 64 bit floats side by side."""

    def __init__(self, objective: Any) -> None:
        self._objective = objective
        self.dimension = int(objective.dimension)
        self.samples = int(getattr(objective, "samples", 1))
        self.start = _doubles(getattr(objective, "start", numpy.zeros(self.dimension)))

    def gradient(self, x: Any, rows: Any) -> Tuple[float, numpy.ndarray]:
        loss, gradient = self._objective.gradient(numpy.asarray(x), numpy.asarray(rows))
        return float(loss), _doubles(gradient)


def _doubles(values: Any) -> numpy.ndarray:
    return numpy.ascontiguousarray(values, dtype=numpy.float64)
