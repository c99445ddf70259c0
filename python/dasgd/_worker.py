"""What a peer is inside: parameters that are views of a replica, and what happens to them in a step."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import math
import os
import signal
import sys
import threading
import warnings
import weakref
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy
import torch

from . import _core, loggers
from ._core import InputError
from ._optimizer import warn_of_schedulers

# What has to be closed before the process ends, each with the lock that a step holds.
_open: Dict[int, Tuple["_core.Peer", threading.Lock]] = {}
_leaving = False


class Worker:
    """The part of a Peer that its loop does not call."""

    model: torch.nn.Module
    optimizer: Optional[torch.optim.Optimizer]
    _settings: Dict[str, Any]
    _states: Dict[str, Any]
    _schedulers: List[Any]
    _logs: Optional[loggers.TensorBoard]

    def _prepare(self, model: torch.nn.Module, batch: int) -> None:
        self._parameters = _trainable(model)
        self._known = {id(p) for p in self._parameters}
        self._sizes = [p.numel() for p in self._parameters]
        self._batch = batch
        self._drawn = 0  # samples of the loader that no step has used yet
        self._in_optimizer = False

    # A run that begins with the parameters as they are, on rank 0.
    def _begin(self) -> None:
        for earlier, _ in list(_open.values()):
            if earlier.size not in (None, 1):
                earlier.close()  # one run at a time has MPI
        start = torch.cat([p.detach().reshape(-1).to("cpu") for p in self._parameters])
        done = [self._states.get(name, 0) for name in ("gradients", "samples", "seconds")]
        before = _core.PeerBefore(*done) if self._resumes else None
        core = _core.Peer(start.numpy(), self._settings, self._batch, before, type(self.optimizer).__name__ if self.optimizer else "")
        self._core: Optional[_core.Peer] = core
        self._last = core  # what can still be asked when the peer has finished
        _open[id(core)] = core, self._busy
        self._rank, self._size = core.rank, core.size
        if self._size not in (None, 1):
            _take_sigterm()
        self._replica = torch.from_numpy(numpy.asarray(core.x()))
        self._gradient = torch.zeros_like(self._replica)
        # On a device the parameters are views of a copy.
        device = self._parameters[0].device
        shared = _shares_memory(device)
        self._x = self._replica if shared else self._replica.to(device, copy=True)
        self._g = self._gradient if shared else self._gradient.to(device, copy=True)
        self._views: List[torch.Tensor] = []
        for p, x, g in zip(self._parameters, self._x.split(self._sizes), self._g.split(self._sizes)):
            p.data = x.view(p.shape)
            p.grad = g.view(p.shape)
            self._views.append(p.grad)
        self._seen = self._look()
        self._goes_on = True
        self._steps = 0
        word = f"{core.seed} {core.number} {core.gradients}"
        self._seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        # Whoever drops the peer leaves the run, whatever still holds the model.
        self._dropped = weakref.finalize(self, _release, core, self._parameters, self._x, self._sizes)
        self._dropped.atexit = False  # then `_leave` does it
        if core.directory and not self._settings.get("out"):
            print(f"dasgd: there is no out=: the run is written to {core.directory}", file=sys.stderr, flush=True)
        if core.url:
            print(f"dasgd: watch the run at {core.url}", file=sys.stderr, flush=True)

    @property
    def is_open(self) -> bool:
        """Neither finished nor closed."""
        return self._core is not None and not _leaving

    @property
    def goes_on(self) -> bool:
        """Whether another step counts: what `step` has returned."""
        return self.is_open and self._goes_on

    def _step(self, core: "_core.Peer", loss: Any) -> None:
        self._require_same_layers()
        self._gather_gradients()
        if self._goes_on:
            self._require_unchanged(core)
            self._steps += 1
            if self._steps == 1 and self._size != 1 and self.optimizer is not None and not self._schedulers:
                warn_of_schedulers(self.optimizer)
            update = self._update_of_optimizer() if self.optimizer is not None else self._g
            if update is not self._gradient:
                self._gradient.copy_(update)
            samples, self._drawn = self._drawn or self._batch, 0
            size = _number(loss)
            with self._explained():
                self._goes_on = core.step(self._gradient.numpy(), size, samples)
            if self._x is not self._replica:
                self._x.copy_(self._replica)
            self._seen = self._look()
            for scheduler in self._schedulers:
                scheduler.step()
            if not self._goes_on and core.summary():
                self._warn_if_left(json.loads(core.summary()))
        self._g.zero_()

    # To the replica an optimizer's change is a gradient with step size 1.
    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except _core.DivergenceError as error:
            self._goes_on = False
            what, _, size = str(error).partition(" with step size ")
            if what.endswith("nan"):
                raise _core.DivergenceError(f"{what}: the gradient is not finite; check the loss and the data, or try a smaller lr") from None
            if size and self.optimizer is not None:
                lr = max(float(group["lr"]) for group in self.optimizer.param_groups)
                raise _core.DivergenceError(f"{what} with lr {lr:g} in the optimizer; try a smaller one there") from None
            raise

    # Parameters keep their values when the replica goes.
    def _detach(self) -> None:
        self._core = None
        self._dropped()
        if self._logs is not None:
            self._logs.close()
            self._logs = None

    def _require_open(self) -> "_core.Peer":
        if self._core is None:
            raise InputError("this peer has finished")
        return self._core

    # Where the parameters are, and how often somebody has written into them.
    def _look(self) -> List[Tuple[int, int]]:
        return [(p.data_ptr(), p._version) for p in self._parameters]

    # Weights may have been swapped away and back since: what counts is what is there now.
    def _require_unchanged(self, core: "_core.Peer") -> None:
        now = self._look()
        if now == self._seen:
            return
        here = all(place == before for (place, _), (before, _) in zip(now, self._seen))
        if self._x is self._replica:
            same = here and core.x_is_the_replicas()
        else:
            same = here and torch.equal(self._x.cpu().view(torch.int32), self._replica.view(torch.int32))
        if not same:
            raise InputError(
                "the parameters were changed outside of step: load weights before the peer is made, or by "
                "peer.load_state_dict; and if an optimizer.step() or scaler.step() of the loop is left, remove it, since "
                "peer.step() takes that step"
            )

    # What was frozen is in no replica: it would change here alone.
    def _require_same_layers(self) -> None:
        if all(not p.requires_grad or id(p) in self._known for p in self.model.parameters()):
            return
        name = next(n for n, p in self.model.named_parameters() if p.requires_grad and id(p) not in self._known)
        raise InputError(
            f"{name} is trainable now and was not when the peer was made: make the peer with all layers that will be "
            "trained, and freeze some afterwards (requires_grad_(False))"
        )

    # Whoever sets gradients to None, as zero_grad of optimizers does, gets new ones from backward.
    def _gather_gradients(self) -> None:
        for p, view in zip(self._parameters, self._views):
            if p.grad is view:
                continue
            if p.grad is None:
                view.zero_()
            else:
                view.copy_(p.grad.to_dense() if p.grad.is_sparse else p.grad)
            p.grad = view

    # Frozen since: the optimizer is to leave it alone, decay included.
    def _update_of_optimizer(self) -> torch.Tensor:
        before = self._x.clone()
        for p in self._parameters:
            if not p.requires_grad:
                p.grad = None
        self._in_optimizer = True
        try:
            self.optimizer.step()  # type: ignore[union-attr]
        finally:
            self._in_optimizer = False
        for p, view in zip(self._parameters, self._views):
            p.grad = view
        update = before - self._x
        self._x.copy_(before)
        return update

    # This process has not: its peer is open.
    def _warn_if_left(self, summary: Dict[str, Any]) -> None:
        if summary["stop_reason"] == "interrupted" and self._size not in (None, 1):
            warnings.warn(
                f"the run was over after {summary['gradients']} gradients: a rank has left without `finish`; "
                "steps after that do nothing",
                RuntimeWarning,
                stacklevel=3,
            )

    def _average_buffers(self, core: "_core.Peer") -> None:
        buffers = [b for b in self.model.buffers() if b.is_floating_point()]
        if not buffers or self._size in (None, 1):
            return
        own = torch.cat([b.detach().reshape(-1).float().cpu() for b in buffers])
        mean = torch.from_numpy(numpy.asarray(core.mean(own.numpy())))
        for b, m in zip(buffers, mean.split([b.numel() for b in buffers])):
            b.data.copy_(m.view(b.shape))


def leaving() -> bool:
    """The process is about to end."""
    return _leaving


def _shares_memory(device: torch.device) -> bool:
    """Whether tensors there can be views of a replica in the memory of the host."""
    return device.type == "cpu"


def _trainable(model: torch.nn.Module) -> List[torch.nn.Parameter]:
    if not isinstance(model, torch.nn.Module):
        raise InputError(f"the model is a {type(model).__name__}; give a torch.nn.Module")
    for name, p in model.named_parameters():
        if isinstance(p, torch.nn.parameter.UninitializedParameter):
            raise InputError(f"parameter {name} has no shape yet: call the model once on a batch, then make the peer")
        if p.is_meta:
            raise InputError(f"parameter {name} is on the device meta and has no numbers: load or initialise the model first")
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise InputError("the model has no trainable parameters")
    for name, p in model.named_parameters():
        if p.requires_grad and p.dtype != torch.float32:
            raise InputError(f"parameter {name} is {p.dtype}; a replica holds float32 (use autocast for less)")
    if len({p.device for p in parameters}) > 1:
        raise InputError("the parameters of the model are on several devices; a replica is on one")
    return parameters


def _number(loss: Any) -> float:
    if loss is None:
        return 0.0
    value = float(loss.detach() if isinstance(loss, torch.Tensor) else loss)
    if not math.isfinite(value):
        raise _core.DivergenceError(f"the loss is {value}: the step size is too large, or the data is bad")
    return value


def _release(core: "_core.Peer", parameters: List[torch.nn.Parameter], x: torch.Tensor, sizes: List[int]) -> None:
    """Leaves the run; parameters keep their values, in memory of their own."""
    core.close()
    _open.pop(id(core), None)
    for p, mine, old in zip(parameters, x.clone().split(sizes), x.split(sizes)):
        if p.data_ptr() == old.data_ptr():
            p.data = mine.view(p.shape)


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def _take_sigterm() -> None:
    """mpirun sends it for Ctrl-C: it ends a rank as that does alone."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupted)


def _forked() -> None:
    _open.clear()
    if signal.getsignal(signal.SIGTERM) is _interrupted:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


os.register_at_fork(after_in_child=_forked)


@atexit.register
def _leave() -> None:
    global _leaving
    _leaving = True
    still_open = list(_open.values())
    error = getattr(sys, "last_value", None)  # Python keeps the exception that has ended a program
    for core, _ in still_open:
        if error is None and core.size not in (None, 1):
            print(f"dasgd: rank {core.rank} ends without peer.finish(): the run ends for all", file=sys.stderr, flush=True)
        core.close()
    for _, busy in still_open:  # PyTorch ends the process where Python ends a thread inside of it
        busy.acquire(timeout=5)
    # After an interrupt others may still save what they have.
    _core.leave_ranks(None if error is None else 600 if isinstance(error, KeyboardInterrupt) else 10)
