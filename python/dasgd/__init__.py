"""Decentralized asynchronous SGD: no server, no barrier, exact replicas.

>>> import dasgd
>>> r = dasgd.train(model="quadratic", workers=2, gradients=50, lr=0.005, out=directory)
>>> r.summary["gradients"], r.summary["lost"], r.summary["replicas_identical"]
(100, 0, True)

A keyword is a key of the TOML file (`dasgd train --help` lists them), the name of an option with `_` for
`-`, or a dictionary where the file has a section: ``topology={"kind": "ring"}``, ``max_time="5s"``.
"""

from __future__ import annotations

import html
import json
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import _core
from ._core import DivergenceError, InputError
from ._progress import ProgressBar

__version__: str = _core.version
__all__ = [
    "DivergenceError",
    "InputError",
    "Run",
    "advise",
    "check",
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
        path = os.path.join(self.run_dir, "report.html")
        if not os.path.exists(path):
            return html.escape(repr(self))
        with open(path, encoding="utf-8") as page:
            source = html.escape(page.read(), quote=True)
        return f'<iframe srcdoc="{source}" style="width:100%;height:720px;border:0"></iframe>'


def _run(finished: "_core.Finished") -> Run:
    return Run(json.loads(finished.summary), finished.model, finished.directory)


def train(
    *,
    objective: Any = None,
    callback: Optional[Callback] = None,
    progress: Optional[bool] = None,
    **settings: Any,
) -> Run:
    """Trains on threads of this process, as ``dasgd train`` does.

    `objective`: a problem of your own instead of `model` and `data`: an object with `dimension`, `samples`,
    optionally `start`, and ``gradient(x, rows) -> (loss, gradient)``. All workers share the interpreter, so
    only one of them is in `gradient` at a time, unless it releases the GIL as numpy does in large operations.
    `callback`: called five times a second with a dictionary; the run ends when it returns False.
    `progress`: a line that shows how far the run is; by default in terminals and notebooks.

    Raises InputError for what cannot be, DivergenceError when the step size is too large, and KeyboardInterrupt
    after a clean stop: what was done is in the run's directory.
    """
    bar = ProgressBar(progress)

    def told(now: Dict[str, Any]) -> Optional[bool]:
        bar.show(now)
        return callback(now) if callback else None

    listens = bar.wanted or callback is not None
    try:
        return _run(_core.train(_keywords(settings, objective), objective, told if listens else None))
    finally:
        bar.close()


def simulate(*, objective: Any = None, **settings: Any) -> Run:
    """Runs in virtual time, as ``dasgd simulate`` does: the same workers, and clocks of your choice.

    >>> r = dasgd.simulate(model="quadratic", workers=4, compute="50ms", latency="1ms", gradients=20, lr=0.001, out=directory)
    >>> r.summary["S_max"]
    7
    """
    return _run(_core.simulate(_keywords(settings, objective), objective))


def advise(*, objective: Any = None, **settings: Any) -> Dict[str, Any]:
    """Measures the problem and its staleness; step sizes with their grounds, as ``dasgd advise --json``."""
    return json.loads(_core.advise(_keywords(settings, objective), objective))


def check(path: Path, *, eta: Optional[float] = None, L: Optional[float] = None) -> Dict[str, Any]:
    """Audits a trace, or the directory of a run with one, as ``dasgd check --json``."""
    return json.loads(_core.check(os.fspath(path), eta, L))


def report(*runs: Path, out: Optional[Path] = None) -> str:
    """Writes one page that shows these runs, and returns where it is."""
    if not runs:
        raise InputError("report needs the directory of at least one run")
    paths = [os.fspath(run) for run in runs]
    return _core.report(paths, os.fspath(out) if out is not None else paths[0])


def _keywords(settings: Dict[str, Any], objective: Any) -> Dict[str, Any]:
    if objective is not None:
        for name in ("model", "data"):
            if settings.get(name) is not None:
                raise InputError(f"an own objective has its own {name}; leave {name} out")
        settings = {"model": "quadratic", **settings}  # its settings fit any problem without data
    return settings
