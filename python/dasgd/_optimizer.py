"""What a peer asks of an optimizer, and what becomes of its step."""

from __future__ import annotations

import gc
import inspect
import types
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Callable, List, Optional

import torch

from ._core import InputError

if TYPE_CHECKING:
    from .torch import Peer

LEFTOVER = (
    "peer.step() takes this optimizer's step: remove optimizer.step() from the loop; with a GradScaler, "
    "scaler.unscale_(optimizer), peer.step() and scaler.update() take the place of scaler.step(optimizer)"
)
# Keywords of rules, which an optimizer takes the place of.
RULES = ("lr", "rule", "momentum", "weight_decay", "clip", "schedule", "warmup")


def require_usable(optimizer: torch.optim.Optimizer, parameters: List[torch.nn.Parameter], settings: Any) -> None:
    kind = type(optimizer).__name__
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise InputError(f"{kind} calls the model several times in a step, at points that no other worker sees; choose an optimizer without a closure")
    if isinstance(optimizer, torch.optim.SparseAdam):
        raise InputError("SparseAdam takes sparse gradients, a peer has dense ones; choose Adam")
    given = {id(p) for group in optimizer.param_groups for p in group["params"] if p.requires_grad}
    if given != {id(p) for p in parameters}:
        raise InputError("the optimizer must have the trainable parameters of the model, all and no others")
    wrong = [name for name in RULES if settings.get(name) is not None]
    if wrong:
        raise InputError(f"the optimizer has its own step size and rule; leave lr and rule out (here: {', '.join(wrong)})")


def guard(optimizer: torch.optim.Optimizer, peer: "Peer", redirect: bool) -> None:
    """From now on a step of the optimizer that is not the peer's is refused; with `redirect` it is the peer's."""
    original = optimizer.step
    reference = weakref.ref(peer)

    def step(self: torch.optim.Optimizer, closure: Optional[Callable[[], Any]] = None) -> Any:
        owner = reference()
        if owner is None or not owner.is_open or owner._in_optimizer:
            return original() if closure is None else original(closure)
        if not redirect:
            raise InputError(LEFTOVER)
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        owner.step(loss)
        return loss

    def zero_grad(self: torch.optim.Optimizer, *options: Any, **named: Any) -> None:
        owner = reference()
        if owner is None or not owner._paused:  # else gradients add up
            type(self).zero_grad(self, *options, **named)

    if redirect:
        optimizer.zero_grad = types.MethodType(zero_grad, optimizer)  # type: ignore[method-assign]
    for mark in ("_with_counter", "_wrapped_by_lr_sched"):  # of schedulers that were made before
        if hasattr(original, mark):
            setattr(step, mark, True)
    optimizer.step = types.MethodType(step, optimizer)  # type: ignore[method-assign]


def warn_of_schedulers(optimizer: torch.optim.Optimizer) -> None:
    """Where one that counts steps was not given to the peer. A LambdaLR may well follow `peer.progress`."""
    if not any("initial_lr" in group for group in optimizer.param_groups):
        return  # there is none
    counting = tuple(k for k in vars(torch.optim.lr_scheduler).values() if isinstance(k, type) and k.__name__ not in ("LambdaLR", "ReduceLROnPlateau"))
    for thing in gc.get_objects():
        if type(thing) in counting and getattr(thing, "optimizer", None) is optimizer:
            warnings.warn(
                f"{type(thing).__name__} counts the steps of this worker alone; use peer.scheduler({type(thing).__name__}(...)), which "
                "counts those of all",
                RuntimeWarning,
                stacklevel=4,
            )
            return


def shared_scheduler(peer: "Peer", scheduler: Any, total: Optional[int]) -> Any:
    """`scheduler` as one that counts what all workers have done: its class is one of those with another `step`."""
    if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
        raise InputError("ReduceLROnPlateau follows a metric, not a count: call its step(metric) yourself, with the same metric at every worker")
    own = getattr(scheduler, "optimizer", None)
    own = getattr(own, "optimizer", own)  # Accelerate, and Trainer with it, wraps optimizers
    if peer.optimizer is None or own is not peer.optimizer:
        raise InputError("the scheduler must be one of the optimizer that the peer was given")
    reference = weakref.ref(peer)
    kind = type(scheduler)
    plain = kind.step

    def step(self: Any, *_: Any, **__: Any) -> None:
        owner = reference()
        if owner is None:
            return
        target = owner.gradients if total is None else int(owner.progress * total)
        target = min(target, getattr(self, "total_steps", None) or target)  # OneCycleLR goes no further
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Detected call of `lr_scheduler")  # others have stepped
            while self.last_epoch < target:
                plain(self)

    def reduced(self: Any, protocol: Any) -> Any:  # states of OneCycleLR hold the scheduler itself
        return kind.__new__, (kind,), self.__dict__

    scheduler.__class__ = type(kind.__name__, (kind,), {"step": step, "__reduce_ex__": reduced, "__doc__": kind.__doc__})
    return scheduler
