"""The samples of one worker of several: all of the data, in an order of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional

import torch
from torch.utils.data import DataLoader, IterableDataset, Sampler

from ._core import InputError

if TYPE_CHECKING:
    from .torch import Peer

# What a loader hands on to the one that takes its place.
_KEPT = ("num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context")


class OwnOrder(Sampler):
    """Every pass has all samples, in another order at every worker. `endless`: passes follow each other."""

    def __init__(self, peer: "Peer", samples: int, endless: bool = False) -> None:
        if samples < 1:
            raise InputError("the data set is empty")
        self._peer = peer
        self._samples = samples
        self._endless = endless
        self._pass = self._skip = 0
        self._seed = peer.seed  # of this worker, also after the peer has finished
        self.place: Dict[str, int] = {"seed": self._seed, "drawn": 0}  # where a loader is

    def go_on(self, place: Dict[str, int]) -> None:
        self.place = dict(place)
        self._seed = place["seed"]
        self._pass, self._skip = divmod(place["drawn"], self._samples)

    def set_epoch(self, epoch: int) -> None:
        """As DistributedSampler has it; without it every pass has another order as well."""
        self._pass = epoch

    def __len__(self) -> int:
        return self._samples

    def __iter__(self) -> Iterator[int]:
        while True:
            order = torch.Generator().manual_seed(self._seed + 0x9E3779B97F4A7C15 * self._pass & 0x7FFFFFFFFFFFFFFF)
            self._pass += 1
            skip, self._skip = self._skip, 0
            for row in torch.randperm(self._samples, generator=order).tolist()[skip:]:
                if not self._peer.goes_on:
                    return
                yield row
            if not self._endless:
                return


class SharedLoader:
    """Batches of all data until all workers together have made `epochs` passes over it. One loop over it is all of that, or,
    `by_pass` and without `epochs`, until they have made another pass."""

    def __init__(self, peer: "Peer", batches: DataLoader, order: OwnOrder, epochs: Optional[float], by_pass: bool) -> None:
        self.dataset = batches.dataset
        self.batch_size = batches.batch_size
        self.epochs = epochs
        self.by_pass = by_pass or epochs is None
        self._peer = peer
        self._batches = batches
        self._samples = len(order)
        self.order = order
        self._running: Optional[Iterator[Any]] = None

    def __len__(self) -> int:
        """Batches of one pass, of all workers together."""
        return math.ceil(self._samples / self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Nothing to do: no two passes have the same order."""

    def __iter__(self) -> Iterator[Any]:
        end = math.inf if self.epochs is None else self.epochs * self._samples
        if self.by_pass:
            end = min(end, (self._used() // self._samples + 1) * self._samples)
        if self._running is None:
            self._running = iter(self._batches)
        while self._peer.goes_on and self._used() < end:
            batch = next(self._running, None)
            if batch is None:
                return
            self._peer._drawn += self.batch_size
            self.order.place["drawn"] += self.batch_size
            yield batch

    # Of all workers, and here also what no step has used yet.
    def _used(self) -> int:
        return self._peer.samples + self._peer._drawn


def shared_loader(peer: "Peer", data: Any, epochs: Optional[float], by_pass: bool, options: Any) -> SharedLoader:
    for name in ("sampler", "batch_sampler", "shuffle"):
        if options.get(name):
            raise InputError(f"peer.loader draws from all data in an order of its own: leave {name} out")
    options.pop("shuffle", None)
    if isinstance(data, (DataLoader, SharedLoader)):
        given = data._batches if isinstance(data, SharedLoader) else data
        if given.batch_size is None:
            raise InputError("peer.loader makes its own batches: give a DataLoader with batch_size, without batch_sampler")
        kept = {name: getattr(given, name) for name in _KEPT}
        if given.num_workers > 0:
            kept["prefetch_factor"] = given.prefetch_factor
        options = {**kept, "batch_size": given.batch_size, **options}
        data = given.dataset
    if isinstance(data, IterableDataset) or not hasattr(data, "__len__"):
        raise InputError(
            "peer.loader needs a data set with a length; let every worker read a part of a stream itself, "
            "by peer.rank and peer.size or by peer.seed"
        )
    if epochs is not None and not epochs > 0:
        raise InputError("epochs must be positive")
    order = OwnOrder(peer, len(data), endless=True)
    return SharedLoader(peer, DataLoader(data, sampler=order, **options), order, epochs, by_pass)
