"""Hides a launcher from packages that would take its processes for their own."""

from __future__ import annotations

import os

from . import _core

_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK")
_PREFIXES = ("OMPI_", "PMI_", "PMIX_", "MPI_LOCAL", "MV2_COMM_WORLD_", "HYDRA_", "I_MPI_")


def hide_launcher() -> None:
    """Joins the job of MPI, where there is one, and then removes its variables: whoever looks for them later, to make a
    process group of its own, finds one process. Without a job, such variables are settings of the user and stay."""
    if not any(name in os.environ for name in _RANKS):
        return
    _core.begin_ranks()
    for name in [name for name in os.environ if name.startswith(_PREFIXES)]:
        del os.environ[name]
