"""Decentralized asynchronous SGD: no server, no barrier, exact replicas.

>>> import dasgd
>>> r = dasgd.train(model="quadratic", workers=2, gradients=50, lr=0.005, out=directory)
>>> r.summary["gradients"], r.summary["lost"], r.summary["replicas_identical"]
(100, 0, True)

Each keyword argument is an option of `dasgd train`, with `_` instead of `-` (``max_time="5s"``), or a key of its config
file (`dasgd train --help` lists both). A section of that file is given as a dictionary: ``topology={"kind": "ring"}``.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy

from . import _core, loggers
from ._arrays import is_arrays, is_rows, to_arrays
from ._core import DivergenceError, InputError
from ._comparison import Comparison
from ._notebook import notebook_launch
from ._objective import asked
from ._page import framed
from ._progress import ProgressBar
from ._rival import Letter, Port, Rival, RivalSetup, split_rivals

__version__: str = _core.version
__all__ = [
    "Comparison",
    "DivergenceError",
    "InputError",
    "Letter",
    "Port",
    "Predictions",
    "Rival",
    "RivalSetup",
    "Run",
    "advise",
    "check",
    "compare",
    "loggers",
    "notebook_launch",
    "predict",
    "report",
    "simulate",
    "train",
]

Path = Union[str, "os.PathLike[str]"]
Callback = Callable[[Dict[str, Any]], Optional[bool]]


class Run:
    """A finished run.

    `summary` is the dictionary of summary.json, `model` the final numbers as a numpy array, `run_dir` the
    directory with everything that was written, `metrics` a list of dictionaries, one per line of
    metrics.jsonl, which ``pandas.DataFrame`` takes as it is.
    """

    def __init__(self, summary: Dict[str, Any], model: Any, run_dir: str) -> None:
        self.summary = summary
        self.model = model
        self.run_dir = run_dir

    @property
    def metrics(self) -> List[Dict[str, Any]]:
        path = os.path.join(self.run_dir, "metrics.jsonl")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def __repr__(self) -> str:
        s = self.summary
        return f"<dasgd.Run {self.run_dir}: {s['gradients']} gradients of {s['workers']} workers, loss {s['loss']}>"

    def _repr_html_(self) -> str:
        """The report of the run, in a notebook."""
        return framed(os.path.join(self.run_dir, "report.html"), repr(self))


def _run(finished: "_core.Finished") -> Run:
    return Run(json.loads(finished.summary), numpy.asarray(finished.model), finished.directory)


def train(
    *,
    objective: Any = None,
    callback: Union[Callback, Sequence[Callback], None] = None,
    progress: Optional[bool] = None,
    **settings: Any,
) -> Run:
    """Trains on threads of this process, as ``dasgd train`` does.

    `objective`: a problem of your own instead of `model` and `data`: an object with `dimension` and
    ``gradient(x, rows) -> (loss, gradient)``; optionally `samples`, the number of samples (default: 1), and `start`,
    the first model (default: zeros). All workers share the interpreter: one of them runs Python code at a time, but
    another may begin `gradient` before the first has finished.
    `callback`: called five times a second with a dictionary; the run ends when it returns False. Or several; see
    dasgd.loggers for some that are there.
    `progress`: a line that shows how far the run is; by default in terminals and notebooks.

    Raises InputError for what cannot be, DivergenceError when the step size is too large, and KeyboardInterrupt
    after a clean stop: what was done is in the run's directory.
    """
    bar = ProgressBar(progress)
    callbacks = [] if callback is None else [callback] if callable(callback) else list(callback)

    def on_progress(now: Dict[str, Any]) -> bool:
        bar.show(now)
        answers = [one(now) for one in callbacks]  # all are called
        return not any(isinstance(answer, (bool, numpy.bool_)) and not answer for answer in answers)

    listens = bar.wanted or bool(callbacks)
    try:
        return _run(_core.train(_keywords(settings, objective), asked(objective), on_progress if listens else None))
    finally:
        bar.close()


def simulate(*, objective: Any = None, **settings: Any) -> Run:
    """Runs in virtual time, as ``dasgd simulate`` does: the same workers, and clocks of your choice.

    >>> r = dasgd.simulate(model="quadratic", workers=4, compute="50ms", latency="1ms", gradients=20, lr=0.001, out=directory)
    >>> r.summary["S_max"]
    7
    """
    return _run(_core.simulate(_keywords(settings, objective), asked(objective)))


def advise(*, objective: Any = None, **settings: Any) -> Dict[str, Any]:
    """Measures the problem and its staleness; step sizes with their grounds, as ``dasgd advise --json``."""
    return json.loads(_core.advise(_keywords(settings, objective), asked(objective)))


def compare(*, objective: Any = None, progress: Optional[bool] = None, **settings: Any) -> Comparison:
    """Holds DASGD against its rivals in virtual time, everybody with its own best step size, as ``dasgd compare``.

    >>> c = dasgd.compare(model="quadratic", workers=4, rivals=["dasgd", "minibatch"], quick=True, out=directory)
    >>> sorted({run["rival"] for run in c.runs})
    ['dasgd', 'minibatch']

    `rivals` are names, with their parameters if need be, and classes of your own: see dasgd.Rival.
    A comparison that was interrupted goes on where it was when it is asked for again with the same `out`.
    """
    bar = ProgressBar(progress)
    settings, own = split_rivals(settings)
    try:
        on_progress = bar.show_runs if bar.wanted else None
        results, directory = _core.compare(_keywords(settings, objective), asked(objective), on_progress, own)
    finally:
        bar.close()
    return Comparison(json.loads(results), directory)


class Predictions(NamedTuple):
    """Answers on samples, in their order: classes with the probabilities of all, or numbers.

    Classes are texts; where the run was trained on an array of whole numbers as labels, answers are such numbers, and
    ``numpy.mean(answers == y)`` is the accuracy."""

    answers: Any
    probabilities: Any
    classes: List[str]


def predict(model: Union[Run, Path], data: Any) -> Predictions:
    """Asks the model of a run, or a TorchScript file, about raw samples: an array, or data as ``dasgd predict``
    reads it. What was done to the training data is done to these as well: rows that ``missing="drop"`` leaves out have
    no answer."""
    name = _place(model)
    asked = to_arrays("data", (data, None) if is_rows(data) else data) if is_arrays(data) else _text(data)
    classes, answers, probabilities = _core.predict(name, asked)
    if not classes:
        return Predictions(numpy.asarray(answers), None, [])
    shares = numpy.asarray(probabilities).reshape(-1, len(classes))
    whole = _whole_type_of_labels(name)
    labels = numpy.array(classes) if whole is None else numpy.array([int(c) for c in classes], whole)
    return Predictions(labels[numpy.asarray(answers)], shares, classes)


def _whole_type_of_labels(model: str) -> Optional["numpy.dtype[Any]"]:
    """Of a run on arrays whose labels were whole numbers or booleans; its config says so."""
    config = os.path.join(model if os.path.isdir(model) else os.path.dirname(model), "config.toml")
    if not os.path.exists(config):
        return None
    with open(config, encoding="utf-8") as file:
        found = re.search(r"^# labels of dtype ([iub]\d)$", file.read(), re.MULTILINE)
    return numpy.dtype(found[1]) if found else None


def check(path: Union[Run, Path], *, eta: Optional[float] = None, L: Optional[float] = None) -> Dict[str, Any]:
    """Audits a trace, or a run with one or its directory, as ``dasgd check --json``."""
    return json.loads(_core.check(_place(path), eta, L))


def report(*runs: Union[Run, Path], out: Optional[Path] = None) -> str:
    """Writes one page that shows these runs, and returns where it is."""
    if not runs:
        raise InputError("report needs at least one run, or its directory")
    paths = [_place(run) for run in runs]
    return _core.report(paths, _text(out) if out is not None else paths[0])


def _place(run: Union[Run, Path]) -> str:
    return run.run_dir if isinstance(run, Run) else _text(run)


def _text(path: Path) -> str:
    """Paths are UTF-8 text, here as on the command line: they are written into files of that kind."""
    text = os.fsdecode(path)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{text!a} is not UTF-8 text") from None
    return text


def _keywords(settings: Dict[str, Any], objective: Any) -> Dict[str, Any]:
    if objective is not None:
        for name in ("model", "data"):
            if settings.get(name) is not None:
                raise InputError(f"an objective of your own has its own {name}; remove {name}")
        return {"model": "quadratic", **settings}  # its settings fit any problem without data
    given = {name: settings[name] for name in ("data", "validation", "test") if is_arrays(settings.get(name))}
    return {**settings, **{name: to_arrays(name, value) for name, value in given.items()}}
