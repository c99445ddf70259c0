"""Workers from a notebook: forks of its process, as members of an elastic run on this machine."""

from __future__ import annotations

import os
import pickle
import selectors
import shutil
import signal
import sys
import tempfile
import traceback
from typing import Any, Callable, Dict, List

from . import _core
from ._core import InputError


_NOT_JOINED = 2  # the status of a worker whose peer was refused, perhaps because the run was over


def notebook_launch(function: Callable[..., Any], workers: int = 2, *arguments: Any, **keywords: Any) -> List[Any]:
    """Calls `function` in so many processes, whose peers train together, and returns what each has returned.

    >>> dasgd.notebook_launch(lambda: "done", 2)
    ['done', 'done']

    What a cell has defined is there in all of them. Ctrl-C ends them all. A failure of one is raised here, with its traceback.
    A worker that comes when the run is already over is not one: it returns None.
    """
    if workers < 1:
        raise InputError("notebook_launch needs at least one worker")
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        raise InputError("CUDA is in use in this process, which cannot fork then; restart the notebook, or use dasgd launch")
    place = tempfile.mkdtemp(prefix="dasgd-notebook-")
    try:
        _core.write_token(os.path.join(place, "token"))
        sys.stdout.flush()
        sys.stderr.flush()
        return _Launch(place, workers, lambda: function(*arguments, **keywords)).results()
    finally:
        shutil.rmtree(place, ignore_errors=True)


class _Launch:
    def __init__(self, place: str, workers: int, work: Callable[[], Any]) -> None:
        self._place = place
        self._said: List[bytes] = [b""] * workers
        self._failures: Dict[int, str] = {}
        self._too_late: List[int] = []  # perhaps
        self._one_ended_well = False
        self._running: Dict[int, int] = {}  # by worker
        self._pipes = selectors.DefaultSelector()
        for worker in range(workers):
            mine, theirs = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(mine)
                _work(os.path.join(place, f"worker-{worker}"), worker == 0, theirs, work)
            os.close(theirs)
            self._running[worker] = child
            self._pipes.register(mine, selectors.EVENT_READ, worker)

    def results(self) -> List[Any]:
        try:
            while self._running:
                for key, _ in self._pipes.select():
                    self._read(key)
        except BaseException:
            self._signal(signal.SIGINT)
            self._end()
            raise
        found = [pickle.loads(said) if said else (False, None) for said in self._said]
        if self._one_ended_well:
            for worker in self._too_late:
                why = self._failures.pop(worker).strip().splitlines()[-1]
                print(f"dasgd: worker {worker} took no part, and the others have finished: {why}", file=sys.stderr, flush=True)
        for worker, what in self._failures.items():
            raise RuntimeError(f"a worker of notebook_launch has failed:\nworker {worker}: {what}")
        return [what if good else None for good, what in found]

    def _read(self, key: Any) -> None:
        worker = key.data
        some = os.read(key.fd, 1 << 16)
        self._said[worker] += some
        if some:
            return
        self._pipes.unregister(key.fd)
        os.close(key.fd)
        status = os.waitstatus_to_exitcode(os.waitpid(self._running.pop(worker), 0)[1])
        good, what = pickle.loads(self._said[worker]) if self._said[worker] else (False, f"it ended with status {status}")
        if good:
            self._one_ended_well = True
            return
        self._failures[worker] = what
        if status == _NOT_JOINED and not self._has_model(worker):
            self._too_late.append(worker)
        # A process that only tries to join would wait for ever.
        if not self._one_ended_well and not any(self._has_model(k) for k in self._running):
            self._signal(signal.SIGTERM)

    def _has_model(self, worker: int) -> bool:
        return os.path.exists(os.path.join(self._place, f"worker-{worker}", "has-model"))

    def _signal(self, number: int) -> None:
        for child in self._running.values():
            os.kill(child, number)

    def _end(self) -> None:
        for child in self._running.values():
            try:
                os.waitpid(child, 0)
            except KeyboardInterrupt:  # once more: at once
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        self._running.clear()


def _work(directory: str, begins: bool, pipe: int, work: Callable[[], Any]) -> None:
    """The life of a child; never returns."""
    status = 1
    try:
        os.makedirs(directory)
        os.environ.update(
            DASGD_MEMBER_DIR=directory, DASGD_TOKEN_FILE=os.path.join(os.path.dirname(directory), "token"),
            DASGD_LISTEN="127.0.0.1:0", DASGD_BEGINS="1" if begins else "", DASGD_JOIN="", DASGD_MEMBER_NAME="",
        )
        if "torch" in sys.modules:  # its threads did not come along
            sys.modules["torch"].set_num_threads(1)
        try:
            said = pickle.dumps((True, work()))
            status = 0
        except BaseException as error:
            status = _NOT_JOINED if isinstance(error, InputError) else 1
            said = pickle.dumps((False, traceback.format_exc()))
        if "dasgd._worker" in sys.modules:
            sys.modules["dasgd._worker"]._leave()
        with os.fdopen(pipe, "wb") as out:
            out.write(said)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)
