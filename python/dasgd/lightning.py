"""The Trainer of Lightning on several workers:

    trainer = lightning.Trainer(strategy=dasgd.lightning.Strategy(), accelerator="cpu", devices=1, max_epochs=3)
    trainer.fit(module, loader)

Started by ``dasgd launch -n 4``, every process is one worker and has one device.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
from typing import Any, Dict, Optional

import torch

from ._core import InputError
from ._launcher import hide_launcher
from .torch import Peer

__all__ = ["Strategy"]


def _single_device() -> Any:
    for package in ("lightning.pytorch", "pytorch_lightning"):
        try:
            return importlib.import_module(package + ".strategies").SingleDeviceStrategy
        except ImportError:
            continue
    return None


_SingleDevice = _single_device()
hide_launcher()


class Strategy(_SingleDevice if _SingleDevice is not None else object):  # type: ignore[misc]
    """All workers together make the steps that the Trainer would make alone; whoever is faster makes more of them.
    `device`: of this process. `settings`: those of a Peer."""

    strategy_name = "dasgd"

    def __init__(self, device: Any = "cpu", **settings: Any) -> None:
        if _SingleDevice is None:
            raise InputError("this strategy needs lightning or pytorch_lightning, and neither is installed")
        super().__init__(device=torch.device(device))
        self.peer: Optional[Peer] = None
        self.summary: Dict[str, Any] = {}
        self._settings = settings

    def setup(self, trainer: Any) -> None:
        super().setup(trainer)
        if trainer.state.fn != "fit":
            return
        if len(self.optimizers) != 1:
            raise InputError(f"the module has {len(self.optimizers)} optimizers; a replica has one")
        settings = dict(self._settings)
        planned = trainer.estimated_stepping_batches
        if not settings.keys() & {"total_gradients", "max_time"} and math.isfinite(planned):
            settings["total_gradients"] = int(planned)
        self.peer = Peer(self.lightning_module, optimizer=self.optimizers[0], through_optimizer=True, **settings)
        for config in self.lr_scheduler_configs:
            if config.interval == "step":
                self.peer.scheduler(config.scheduler)

    def optimizer_step(self, optimizer: Any, closure: Any, model: Any = None, **kwargs: Any) -> Any:
        result = super().optimizer_step(optimizer, closure, model, **kwargs)
        if self.peer is not None and not self.peer.goes_on:
            self.lightning_module.trainer.should_stop = True
        return result

    def validation_step(self, *args: Any, **kwargs: Any) -> Any:
        with self._model_of_all():
            return super().validation_step(*args, **kwargs)

    def lightning_module_state_dict(self) -> Dict[str, Any]:
        with self._model_of_all():
            return {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in super().lightning_module_state_dict().items()}

    def _model_of_all(self) -> Any:
        return contextlib.nullcontext() if self.peer is None else self.peer.model_of_all()

    @property
    def is_global_zero(self) -> bool:
        """Whether this process logs and saves. Before the run has begun: whoever begins it."""
        if self.peer is not None:
            return self.peer.is_first
        return "DASGD_MEMBER_DIR" not in os.environ or bool(os.environ.get("DASGD_BEGINS"))

    def on_train_end(self) -> None:
        super().on_train_end()
        if self.peer is not None:
            self.summary = self.peer.finish()

    def teardown(self) -> None:
        if self.peer is not None and self.peer.is_open:
            self.peer.close()
        super().teardown()
