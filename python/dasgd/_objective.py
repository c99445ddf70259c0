"""An objective of the user's as C++ asks it."""

from __future__ import annotations

import numbers
from typing import Any, Optional, Tuple

import numpy

from ._core import InputError


def asked(objective: Any) -> Optional["_Asked"]:
    return None if objective is None else _Asked(objective)


class _Asked:
    """Memory comes in as arrays of numpy, and goes out as 64 bit floats side by side."""

    def __init__(self, objective: Any) -> None:
        self._objective = objective
        self.dimension = _count("dimension", objective.dimension)
        self.samples = _count("samples", getattr(objective, "samples", 1))
        self.start = _doubles(getattr(objective, "start", numpy.zeros(self.dimension)))

    def gradient(self, x: Any, rows: Any) -> Tuple[float, numpy.ndarray]:
        loss, gradient = self._objective.gradient(numpy.asarray(x), numpy.asarray(rows))
        return float(loss), _doubles(gradient)


def _count(name: str, value: Any) -> int:
    whole = isinstance(value, numbers.Real) and value == value // 1
    if not whole or value < 1:
        raise InputError(f"{name} of the objective is {value!r}; it must be a whole number, at least 1")
    return int(value)


def _doubles(values: Any) -> numpy.ndarray:
    return numpy.ascontiguousarray(values, dtype=numpy.float64)
