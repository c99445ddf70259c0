"""Any PyTorch loop, decentralized.

    peer = dasgd.torch.Peer(model, lr=0.05, rule="momentum")
    for x, y in loader:
        loss = loss_fn(model(x), y); loss.backward(); peer.step()
    summary = peer.finish()

Alone this is plain SGD with one worker. Started by ``dasgd launch -n 4 -- python3 train.py`` or ``mpirun -n 4
python3 train.py`` every process is a worker: it computes on its own batches, sends its updates to all others
and waits for nobody.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import sys
import warnings
import weakref
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy
import torch

from . import _core
from ._core import InputError

__all__ = ["Peer"]

_alive: "weakref.WeakSet[Peer]" = weakref.WeakSet()


class Peer:
    """One worker: a model whose parameters are views of an exact replica.

    `model`: any module. Its trainable parameters, float32, become views of the replica; all processes begin
    with those of rank 0. Frozen parameters and buffers stay local; `finish` averages the buffers.
    `lr`, `rule` and what else belongs to a rule (`momentum`, `weight_decay`, `clip`, ...) are settings of
    ``dasgd train``. Or `optimizer`: any optimizer of `torch.optim` over these parameters; what its step does
    to them is the update that travels. Then schedulers of learning rates work on it as usual.
    `batch`: how many samples a gradient counts for in the summary.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        *,
        optimizer: Optional[torch.optim.Optimizer] = None,
        batch: int = 1,
        **settings: Any,
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self._parameters = _trainable(model)
        self._sizes = [p.numel() for p in self._parameters]
        self._batch = batch
        if optimizer is not None:
            _require_same_parameters(optimizer, self._parameters)
            if settings.get("lr") is not None or settings.get("rule") is not None:
                raise InputError("the optimizer has its own step size and rule; leave lr and rule out")
            settings = {**settings, "lr": 1.0}
        self._settings = settings
        self._paused = False
        self._summary: Optional[Dict[str, Any]] = None
        self._begin()

    # A run that begins with the parameters as they are, on rank 0.
    def _begin(self) -> None:
        start = torch.cat([p.detach().reshape(-1).to("cpu") for p in self._parameters])
        self._core: Optional[_core.Peer] = _core.Peer(start.numpy(), self._settings, self._batch)
        self._rank, self._size = self._core.rank, self._core.size
        self._replica = torch.from_numpy(numpy.asarray(self._core.x()))
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
        _alive.add(self)

    @property
    def rank(self) -> Optional[int]:
        """The number of this process among those that began together; None in an elastic run."""
        return self._rank

    @property
    def size(self) -> Optional[int]:
        """How many they are; None in an elastic run, whose members come and go."""
        return self._size

    def step(self, loss: Any = None) -> bool:
        """Rounds, applies and sends the update of the gradients that `backward` has left; then applies what
        has arrived, and zeroes the gradients.

        False once the run is over, by a target, a failure or a stop anywhere: then nothing happens any more. Where
        another rank has left without `finish` there is a RuntimeWarning as well.
        """
        core = self._open()
        if self._paused:
            return self._goes_on
        self._gather_gradients()
        if self._goes_on:
            self._require_unchanged(core)
            self._steps += 1
            update = self._update_of_optimizer() if self.optimizer is not None else self._g
            if update is not self._gradient:
                self._gradient.copy_(update)
            self._goes_on = core.step(self._gradient.numpy(), _number(loss))
            if self._x is not self._replica:
                self._x.copy_(self._replica)
            self._seen = self._look()
            if not self._goes_on and core.summary():
                self._warn_if_left(json.loads(core.summary()))
        self._g.zero_()
        return self._goes_on

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside, `step` does nothing: gradients add up, and the model stays as it is, until the first step outside."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def zero_grad(self) -> None:
        """Forgets the gradients; `step` does it as well."""
        self._g.zero_()
        for p, view in zip(self._parameters, self._views):
            p.grad = view

    def finish(self) -> Dict[str, Any]:
        """No further steps here. Waits for the updates of all others, so that all models end identical;
        averages buffers such as those of batch normalisation. The dictionary of summary.json."""
        if self._summary is None:
            core = self._open()
            self._summary = json.loads(core.finish())
            if self._goes_on:  # else `step` has said it
                self._warn_if_left(self._summary)
            if self._x is not self._replica:
                self._x.copy_(self._replica)
            if self._summary["stop_reason"] != "interrupted":  # else a rank may have gone already
                self._average_buffers(core)
            self._let_go()
        return self._summary

    def close(self) -> None:
        """Leaves without waiting for anybody's updates but those under way; the run ends everywhere."""
        if self._core is not None:
            self._core.close()
            self._let_go()

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.finish()
        else:
            self.close()

    def state_dict(self) -> Dict[str, Any]:
        """The model and, where there is one, the optimizer: as torch.save takes them. What an own rule remembers, such
        as momentum, is not in it."""
        state: Dict[str, Any] = {"model": self.model.state_dict()}
        if self.optimizer is not None:
            state["optimizer"] = self.optimizer.state_dict()
        return state

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Goes on from what `state_dict` gave: on all ranks, before the first step. They begin with what rank 0 has."""
        core = self._open()
        if self._size is None:
            raise InputError("in an elastic run load the state into the model before you make its peer")
        if self._steps > 0:
            raise InputError("load a state before the first step: other replicas cannot follow")
        if (self.optimizer is None) != ("optimizer" not in state):
            raise InputError("the state must have an optimizer where the peer has one, and only there")
        core.close()
        self._let_go()
        self.model.load_state_dict(state["model"])
        if self.optimizer is not None:
            self.optimizer.load_state_dict(state["optimizer"])
        self._begin()

    # Parameters keep their values when the replica goes.
    def _let_go(self) -> None:
        if self._core is None:
            return
        own = self._x.clone()
        for p, x in zip(self._parameters, own.split(self._sizes)):
            p.data = x.view(p.shape)
        self._core = None
        _alive.discard(self)

    def _open(self) -> "_core.Peer":
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
                "peer.load_state_dict"
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

    def _update_of_optimizer(self) -> torch.Tensor:
        before = self._x.clone()
        self.optimizer.step()  # type: ignore[union-attr]
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


def _shares_memory(device: torch.device) -> bool:
    """Whether tensors there can be views of a replica in the memory of the host."""
    return device.type == "cpu"


def _trainable(model: torch.nn.Module) -> List[torch.nn.Parameter]:
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise InputError("the model has no trainable parameters")
    for name, p in model.named_parameters():
        if p.requires_grad and p.dtype != torch.float32:
            raise InputError(f"parameter {name} is {p.dtype}; a replica holds float32 (use autocast for less)")
    if len({p.device for p in parameters}) > 1:
        raise InputError("the parameters of the model are on several devices; a replica is on one")
    return parameters


def _require_same_parameters(optimizer: torch.optim.Optimizer, parameters: List[torch.nn.Parameter]) -> None:
    given = {id(p) for group in optimizer.param_groups for p in group["params"] if p.requires_grad}
    if given != {id(p) for p in parameters}:
        raise InputError("the optimizer must have the trainable parameters of the model, all and no others")


def _number(loss: Any) -> float:
    if loss is None:
        return 0.0
    value = float(loss.detach() if isinstance(loss, torch.Tensor) else loss)
    if not math.isfinite(value):
        raise _core.DivergenceError(f"the loss is {value}: the step size is too large, or the data is bad")
    return value


@atexit.register
def _leave() -> None:
    for peer in list(_alive):
        peer.close()
    # Python keeps the exception that has ended a program.
    _core.leave_ranks(getattr(sys, "last_value", None) is not None)
