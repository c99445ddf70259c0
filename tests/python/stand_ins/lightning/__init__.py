"""A stand-in for Lightning: strategy and Trainer call what those of version 2.x call. See real_adapters.py for the real one."""

__version__ = "stand-in"

from .pytorch import LightningModule, Trainer
