"""A loop in the style of Hugging Face Accelerate, which stays as it is:

    accelerator = dasgd.accelerate.Accelerator(epochs=3)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(3):
        for x, y in loader:
            loss = loss_fn(model(x), y)
            accelerator.backward(loss)
            optimizer.step(); scheduler.step(); optimizer.zero_grad()
    accelerator.end_training()

It needs PyTorch alone; the package accelerate is not used.
"""

from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterator, List, Optional

import torch
from torch.utils.data import DataLoader, RandomSampler

from ._core import InputError
from .torch import Peer

__all__ = ["Accelerator", "prepare"]


class Accelerator:
    """`epochs`: passes over the data by all workers together, as many as the loop makes. `settings`: those of a Peer."""

    def __init__(self, *, gradient_accumulation_steps: int = 1, epochs: Optional[float] = None, **settings: Any) -> None:
        if gradient_accumulation_steps < 1:
            raise InputError("gradient_accumulation_steps must be positive")
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.sync_gradients = True
        self._epochs = epochs
        self._settings = settings
        self._peer: Optional[Peer] = None
        self._micro_steps = 0

    @property
    def peer(self) -> Peer:
        if self._peer is None:
            raise InputError("prepare the model and its optimizer first")
        return self._peer

    def prepare(self, *things: Any) -> Any:
        """Models, optimizers, loaders and schedulers, in the order in which they were given. Loaders that shuffle become
        those of all workers together; others, such as those of a validation set, stay as they are."""
        models = [t for t in things if isinstance(t, torch.nn.Module)]
        optimizers = [t for t in things if isinstance(t, torch.optim.Optimizer)]
        if self._peer is None:
            if len(models) != 1 or len(optimizers) != 1:
                raise InputError("prepare takes one model and its optimizer, at once")
            self._peer = Peer(models[0], optimizer=optimizers[0], through_optimizer=True, **self._settings)
        elif models or optimizers:
            raise InputError("a model is prepared already; there can be one")
        found = [self._prepared(thing) for thing in things]
        return found[0] if len(found) == 1 else tuple(found)

    def _prepared(self, thing: Any) -> Any:
        if isinstance(thing, DataLoader):
            sampler = getattr(thing, "sampler", None)
            return self.peer.loader(thing, epochs=self._epochs, by_pass=True) if isinstance(sampler, RandomSampler) else thing
        if hasattr(thing, "last_epoch") and hasattr(thing, "optimizer"):
            return self.peer.scheduler(thing)
        return thing

    def backward(self, loss: torch.Tensor, **options: Any) -> None:
        (loss / self.gradient_accumulation_steps).backward(**options)

    @contextlib.contextmanager
    def accumulate(self, *models: torch.nn.Module) -> Iterator[None]:
        """Inside, only every `gradient_accumulation_steps`-th step of the optimizer is one."""
        self._micro_steps += 1
        self.sync_gradients = self._micro_steps % self.gradient_accumulation_steps == 0
        with contextlib.nullcontext() if self.sync_gradients else self.peer.no_sync():
            yield

    def clip_grad_norm_(self, parameters: Any, max_norm: float, norm_type: float = 2) -> Any:
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type) if self.sync_gradients else None

    @property
    def device(self) -> torch.device:
        return next(self.peer.model.parameters()).device

    @property
    def is_main_process(self) -> bool:
        return self._peer is None or self._peer.is_first

    is_local_main_process = is_main_process

    @property
    def num_processes(self) -> Optional[int]:
        return self.peer.size

    @property
    def process_index(self) -> Optional[int]:
        return self.peer.rank

    def gather(self, value: Any) -> List[Any]:
        return self.peer.gather(value)

    def print(self, *words: Any, **options: Any) -> None:
        if self.is_main_process:
            print(*words, **options)

    def unwrap_model(self, model: torch.nn.Module) -> torch.nn.Module:
        return model

    def wait_for_everyone(self) -> None:
        """Nobody waits: `end_training` does, once."""

    def save_state(self, path: Any) -> None:
        self.peer.save(path)

    def end_training(self) -> Dict[str, Any]:
        return self.peer.finish()


def prepare(model: Any, optimizer: Any, loader: Any, scheduler: Any = None, *, epochs: Optional[float] = None, **settings: Any) -> Any:
    """Model, optimizer, loader and, where one was given, scheduler, ready for all workers together; `optimizer.peer` is their
    Peer."""
    accelerator = Accelerator(epochs=epochs, **settings)
    found = accelerator.prepare(model, optimizer, loader, *([] if scheduler is None else [scheduler]))
    optimizer.peer = accelerator.peer
    return found
