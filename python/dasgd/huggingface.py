"""The Trainer of Hugging Face on several workers:

    trainer = transformers.Trainer(model, args, train_dataset=data, callbacks=[dasgd.huggingface.Callback()])
    trainer.train()

Import this before you make TrainingArguments: it joins the run first, so that accelerate takes each process for a single one.
"""

from __future__ import annotations

import contextlib
from typing import Any, Optional

from ._core import InputError
from ._launcher import hide_launcher
from .torch import Peer

try:
    from transformers import TrainerCallback
except ImportError:

    class TrainerCallback:  # type: ignore[no-redef]
        def __new__(cls, *_: Any, **__: Any) -> Any:
            raise InputError("Callback is one of transformers.Trainer, and transformers is not installed: pip install transformers")


__all__ = ["Callback"]

hide_launcher()


def _inner(wrapped: Any) -> Any:
    """The optimizer of torch in a wrapper of accelerate."""
    while hasattr(wrapped, "optimizer"):
        wrapped = wrapped.optimizer
    return wrapped


class Callback(TrainerCallback):
    """All workers together make the Trainer's `max_steps`; whoever is faster makes more of them. The learning rate follows the
    steps of all. `settings`: those of a Peer."""

    def __init__(self, **settings: Any) -> None:
        self.peer: Optional[Peer] = None
        self._settings = settings
        self._shown = contextlib.ExitStack()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if getattr(args, "load_best_model_at_end", False):
            raise InputError("load_best_model_at_end would put other weights into the model at the end; load them after train()")
        if getattr(args, "fp16", False):
            raise InputError("fp16 steps by a GradScaler, which skips steps; use bf16")
        settings = dict(self._settings)
        if state.max_steps > 0:
            settings.setdefault("total_gradients", state.max_steps)
        settings.setdefault("batch", args.per_device_train_batch_size * args.gradient_accumulation_steps)
        self.peer = Peer(kwargs["model"], optimizer=_inner(kwargs["optimizer"]), through_optimizer=True, **settings)
        scheduler = kwargs.get("lr_scheduler")
        if scheduler is not None:
            self.peer.scheduler(getattr(scheduler, "scheduler", scheduler))
        loader = kwargs.get("train_dataloader")
        sampler = getattr(getattr(loader, "batch_sampler", None), "sampler", None) or getattr(loader, "sampler", None)
        if hasattr(sampler, "initial_seed"):  # of accelerate
            sampler.initial_seed = self.peer.seed
        if getattr(sampler, "generator", None) is not None:
            sampler.generator.manual_seed(self.peer.seed)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._shown.close()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        assert self.peer is not None
        if not self.peer.goes_on:
            control.should_training_stop = True
        if control.should_evaluate or control.should_save:  # follow, on the model of all
            self._shown.enter_context(self.peer.model_of_all())
        return control

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        assert self.peer is not None
        self._shown.close()
        self.summary = self.peer.finish()
