"""Any PyTorch loop, decentralized.

    peer = dasgd.torch.Peer(model, optimizer=optimizer)
    for x, y in peer.loader(data, batch_size=32, epochs=3):
        loss = loss_fn(model(x), y); loss.backward(); peer.step(loss)
    summary = peer.finish()

Alone this is plain SGD with one worker. Started by ``dasgd launch -n 4 -- python3 train.py`` or ``mpirun -n 4
python3 train.py`` every process is a worker: it computes on its own batches, sends its updates to all others
and waits for nobody.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import threading
from typing import Any, Dict, Iterator, List, Optional

import numpy
import torch

from . import loggers
from ._core import InputError
from ._data import OwnOrder, SharedLoader, shared_loader
from ._optimizer import guard, require_usable, shared_scheduler
from ._states import load_state, save_state
from ._worker import Worker, leaving

__all__ = ["Peer"]


class Peer(Worker):
    """One worker: a model whose parameters are views of an exact replica.

    `model`: any module. Its trainable parameters, float32, become views of the replica; all processes begin
    with those of rank 0. Frozen parameters and buffers stay local; `finish` averages the buffers.
    `lr`, `rule` and what else belongs to a rule (`momentum`, `weight_decay`, `clip`, ...) are settings of
    ``dasgd train``. Or `optimizer`: any optimizer of `torch.optim` over these parameters; what its step does
    to them is the update that travels. `through_optimizer`: ``optimizer.step()`` in the loop is the peer's step.
    `batch`: how many samples a gradient counts for, where `loader` does not say.
    `resume`: a file of `save`, to begin with where it is there.
    `out`, `trace`, `watch`: a run directory, with a trace, and a live page while the loop goes.
    `total_gradients`, `max_time`, `seed`, ...: as in ``dasgd train``. A setting that a peer does not follow is an error.

    Where there are several workers, the generator of torch is seeded with `seed`, so that no two draw the same.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        *,
        optimizer: Optional[torch.optim.Optimizer] = None,
        batch: int = 1,
        resume: Optional[Any] = None,
        through_optimizer: bool = False,
        **settings: Any,
    ) -> None:
        if "batch_size" in settings:
            raise InputError('unknown keyword "batch_size"; did you mean "batch"? (peer.loader takes batch_size)')
        self.model = model
        self.optimizer = optimizer
        self._prepare(model, batch)
        if optimizer is not None:
            require_usable(optimizer, self._parameters, settings)
            settings = {**settings, "lr": 1.0}
        elif through_optimizer:
            raise InputError("through_optimizer needs an optimizer")
        if isinstance(settings.get("watch"), bool):
            settings["watch"] = "" if settings["watch"] else None
        self._settings = settings
        self._resumes = resume is not None
        self._paused = self._shows_all = False
        self._busy = threading.Lock()
        self._sample_budget: Optional[float] = None
        self._schedulers: List[Any] = []
        self._places: Dict[int, Dict[str, int]] = {}  # of the last loader for so many samples
        self._states: Dict[str, Any] = {} if resume is None else load_state(resume, model, optimizer)
        self._logs: Optional[loggers.TensorBoard] = None
        self._summary: Optional[Dict[str, Any]] = None
        self._begin()
        if optimizer is not None:
            guard(optimizer, self, through_optimizer)
        if self._size != 1:
            torch.manual_seed(self.seed)

    @property
    def rank(self) -> Optional[int]:
        """The number of this process among those that began together; None in an elastic run."""
        return self._rank

    @property
    def size(self) -> Optional[int]:
        """How many they are; None in an elastic run, whose members come and go."""
        return self._size

    @property
    def is_first(self) -> bool:
        """True at one worker: rank 0, or the eldest member of an elastic run that is there. To print or save once."""
        return self._last.is_first

    @property
    def seed(self) -> int:
        """Another one at every worker, and after every resume: for whatever draws batches or noise."""
        return self._seed

    @property
    def gradients(self) -> int:
        """In the model: those of all workers that have arrived here, before a resume as well."""
        return self._last.gradients

    @property
    def samples(self) -> int:
        """In those gradients."""
        return self._last.samples

    @property
    def progress(self) -> float:
        """How much of the common budget is used, 0 to 1: of `total_gradients`, `max_time`, or the epochs of `loader`."""
        core, shares = self._last, []
        if core.gradient_budget:
            shares.append(core.gradients / core.gradient_budget)
        if self._sample_budget:
            shares.append(core.samples / self._sample_budget)
        if core.max_seconds:
            shares.append(core.seconds / core.max_seconds)
        if not shares:
            raise InputError("there is no common budget: give total_gradients= or max_time=, or epochs= to peer.loader")
        return min(1.0, max(shares))

    @property
    def run_dir(self) -> Optional[str]:
        """Where this process writes the run; None: nowhere."""
        return self._last.directory or None

    def sampler(self, dataset: Any) -> OwnOrder:
        """For a DataLoader: all of the data in every pass, in an order of this worker's own."""
        return OwnOrder(self, len(dataset))

    def loader(self, data: Any, *, epochs: Optional[float] = None, by_pass: bool = False, **options: Any) -> SharedLoader:
        """Batches of a data set, with the options of DataLoader, or of a DataLoader in another order.

        All workers together make `epochs` passes, which `progress` counts; whoever is faster computes more of them. One loop
        over the loader is all of that. With `by_pass`, and without `epochs`, it ends when all together have made another pass,
        for loops in a loop over epochs.
        """
        shared = shared_loader(self, data, epochs, by_pass, options)
        samples = len(shared.dataset)
        if self.is_first and samples in self._states.get("places", {}):
            shared.order.go_on(self._states["places"].pop(samples))
        self._places[samples] = shared.order.place
        if epochs is not None:
            self._sample_budget = epochs * samples
        return shared

    def scheduler(self, scheduler: Any, total: Optional[int] = None) -> Any:
        """The same scheduler, but its `step` takes it to the number of gradients of all workers together, as if one had
        made them alone. With `total`, to that share of `total` which is `progress`: for one that counts epochs."""
        shared = shared_scheduler(self, scheduler, total)
        saved = self._states.get("schedulers", [])
        if len(self._schedulers) < len(saved):
            shared.load_state_dict(saved[len(self._schedulers)])
            for group, lr in zip(shared.optimizer.param_groups, shared.get_last_lr()):
                group["lr"] = lr
        self._schedulers.append(shared)
        shared.step()
        return shared

    def step(self, loss: Any = None) -> bool:
        """Rounds, applies and sends the update of the gradients that `backward` has left; then applies what
        has arrived, and zeroes the gradients.

        False once the run is over, by a budget, a target, a failure or a stop anywhere: then nothing happens any more. Where
        another rank has left without `finish` there is a RuntimeWarning as well, and where a rank has diverged a
        DivergenceError, at all of them.
        """
        if leaving():
            return False
        core = self._require_open()
        if self._paused:
            return self._goes_on
        if self._shows_all:
            raise InputError("no step inside model_of_all: gradients belong to the model outside of it")
        if not self._busy.acquire(blocking=False):
            if leaving():
                return False
            raise InputError("another thread is in this peer's step; one at a time")
        try:
            self._step(core, loss)
        finally:
            self._busy.release()
        return self._goes_on

    def stop(self) -> None:
        """Ends the run for all workers, as a used up budget does: their next `step` returns False. Any thread."""
        if self._core is not None:
            self._core.stop()

    def gather(self, value: Any) -> List[Any]:
        """The values of all workers, by rank: the first call of one belongs to the first of all others, and so on. Waits for
        nobody who has no further step: there it has None. In an elastic run it waits for nobody at all: the last values of
        the members who are there, as far as they have come, the eldest member's first and this one's among them."""
        found = self._last.gather(pickle.dumps(value))
        return [None if one is None else pickle.loads(one) for one in found]

    @contextlib.contextmanager
    def model_of_all(self) -> Iterator[torch.nn.Module]:
        """Inside, the model is what all workers share: the start and every gradient that has arrived here. To evaluate, save
        or ship; where a worker looks ahead, it computes at another point outside."""
        if self._core is None or self._shows_all:
            yield self.model
            return
        own = self._x.clone()
        with torch.no_grad():
            self._x.copy_(torch.from_numpy(numpy.asarray(self._core.shared_x())))
        self._shows_all = True
        try:
            yield self.model
        finally:
            self._shows_all = False
            if self._core is not None:
                with torch.no_grad():
                    self._x.copy_(own)

    def save(self, path: Any) -> bool:
        """A checkpoint to go on from, by ``Peer(..., resume=path)``: the shared model, the optimizer, the schedulers and the
        place in the loaders of this worker, and how far all were. All may call it; the first one writes, and gets True. The
        file is there whole or not."""
        if not self.is_first:
            return False
        with self.model_of_all():
            done = {"gradients": self.gradients, "samples": self.samples, "seconds": self._last.seconds}
            schedulers = [{k: v for k, v in s.state_dict().items() if not callable(v)} for s in self._schedulers]
            places = {n: {**place, "drawn": max(0, place["drawn"] - self._drawn)} for n, place in self._places.items()}
            save_state(path, {**self.state_dict(), "schedulers": schedulers, "places": places, **done})
        return True

    def log(self, values: Optional[Dict[str, Any]] = None, **named: Any) -> None:
        """Numbers of the loop, by name: into metrics.jsonl, as curves on the live page and in the report, and for
        TensorBoard, in the run's directory."""
        if not (self._settings.get("out") or self.run_dir):
            raise InputError("log needs a run directory: Peer(..., out=DIR)")
        try:
            numbers = {str(k): float(v) for k, v in {**(values or {}), **named}.items()}
        except (TypeError, ValueError) as error:
            raise InputError(f"log takes numbers: {error}") from None
        self._last.log(numbers)
        if self._logs is None:
            place = self.run_dir or os.path.join(os.fspath(self._settings["out"]), self._last.name)
            self._logs = loggers.TensorBoard(os.path.join(place, "tensorboard"))
        self._logs({**numbers, "step": self.gradients})

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
            core = self._require_open()
            with self._explained():
                self._summary = json.loads(core.finish())
            if self._goes_on:  # else `step` has said it
                self._warn_if_left(self._summary)
            if self._x is not self._replica:
                self._x.copy_(self._replica)
            if self._summary["stop_reason"] != "interrupted":  # else a rank may have gone already
                self._average_buffers(core)
            self._detach()
        return self._summary

    def close(self) -> None:
        """Leaves without waiting for anybody's updates but those under way; the run ends everywhere."""
        core = self._core
        if core is not None:
            core.close()  # a step under way ends
            with self._busy:
                self._detach()

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
        core = self._require_open()
        if self._size is None:
            raise InputError("in an elastic run load the state into the model before you make its peer")
        if self._steps > 0:
            raise InputError("load a state before the first step: other replicas cannot follow")
        if (self.optimizer is None) != ("optimizer" not in state):
            raise InputError("the state and the peer must both have an optimizer, or neither")
        core.close()
        self._detach()
        self.model.load_state_dict(state["model"])
        if self.optimizer is not None:
            self.optimizer.load_state_dict(state["optimizer"])
        self._begin()
