"""Checkpoints of a peer: a file that torch.load reads."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Optional

import torch

from ._core import InputError

_NEEDED = ("model", "gradients", "samples", "seconds")


def save_state(path: Any, state: Dict[str, Any]) -> None:
    """Under its name only when it is whole."""
    path = os.fspath(path)
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise


def load_state(path: Any, model: torch.nn.Module, optimizer: Optional[torch.optim.Optimizer]) -> Dict[str, Any]:
    """Takes model and optimizer there; nothing where there is no such file yet."""
    path = os.fspath(path)
    if not os.path.exists(path):
        print(f"dasgd: {path} does not exist yet: starting a new run", file=sys.stderr, flush=True)
        return {}
    try:
        state = torch.load(path, map_location="cpu")
    except Exception as error:
        raise InputError(f"{path} is not a checkpoint that torch can read: {error}") from None
    if not isinstance(state, dict) or any(name not in state for name in _NEEDED):
        raise InputError(f"{path} is not a checkpoint of a peer; peer.save writes one")
    if (optimizer is None) != ("optimizer" not in state):
        raise InputError(f"{path}: the checkpoint and the peer must both have an optimizer, or neither")
    try:
        model.load_state_dict(state["model"])
        if optimizer is not None:
            optimizer.load_state_dict(state["optimizer"])
    except (KeyError, RuntimeError, ValueError) as error:
        raise InputError(f"{path} is of another model or optimizer: {error}") from None
    return state
