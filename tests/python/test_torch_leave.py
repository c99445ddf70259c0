"""However a process with a peer ends, it ends as it would without one: no crash, no hang, its own status and message."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")  # the package works without it

from ways_to_leave import ALONE, WAYS

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = {"rule": {**WAYS, **ALONE}, "optimizer": {**WAYS, **ALONE}, "member": WAYS}
# What a member of an elastic run reports to others is not a mistake.
QUIET = ("dasgd: ",)


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    found = {}

    def of(mode):
        if mode not in found:
            place = tmp_path_factory.mktemp(mode)
            command = [sys.executable, os.path.join(HERE, "ways_to_leave.py"), mode, str(place)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=1500)
            assert done.returncode == 0, done.stderr
            found[mode] = json.loads(done.stdout)
        return found[mode]

    return of


@pytest.mark.parametrize("mode, name", [(mode, name) for mode, ways in MODES.items() for name in ways])
def test_a_process_ends_as_it_would_without_a_peer(ends, mode, name):
    _, status, message = MODES[mode][name]
    found, err = ends(mode)[name]
    lines = [line for line in err.splitlines() if not line.startswith(QUIET)]
    assert found == status, err
    if message is None:
        assert lines == []
    else:
        assert message in err


RANKS = """
import gc, sys, time, torch
sys.path.insert(0, {tests!r})
import dasgd.torch
from loops import loop, network
def work():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1, rank_timeout="60s")
    loop(model, peer.step, 3)
    return model, peer
model, peer = work()
{way}
"""
OF_RANKS = {
    "all fall off the end": ("", 0),
    "all drop it": ("del peer; gc.collect()", 0),
    "all drop it and the model is used": ("del peer; gc.collect(); model(torch.ones(1, 8))", 0),
    "one drops it": ("if peer.rank == 1: del peer; gc.collect()\nelse: peer.finish()", 0),
    "a notebook that runs its cell again": ("for _ in range(3): model, peer = work()\npeer.finish()", 0),
    "a peer that is there when another is made": ("first = peer; model, peer = work(); assert not first.step(); assert peer.finish()['gradients'] == 6", 0),
    "one exits with a status": ("if peer.rank == 1: sys.exit(3)\npeer.finish()", 3),
    "one fails": ("if peer.rank == 1: raise RuntimeError('it is ill')\npeer.finish()", 1),
    "all fail": ("raise RuntimeError('it is ill')", 1),
    "a fork of one exits": ("import os\npid = os.fork()\nif pid == 0: sys.exit(5)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5\npeer.finish()", 0),
    "one stops all": ("if peer.rank == 1: peer.stop()\nwhile peer.step(): time.sleep(0.001)\nassert peer.finish()['stop_reason'] == 'asked'", 0),
}


def test_there_are_a_hundred_ways():
    assert len({**WAYS, **ALONE}) + len(OF_RANKS) >= 100


@pytest.mark.parametrize("name", OF_RANKS)
def test_ranks_end_well(tmp_path, name):
    way, status = OF_RANKS[name]
    program = tmp_path / "train.py"
    program.write_text(RANKS.format(tests=HERE, way=way))
    command = [os.environ["DASGD"], "launch", "-n", "2", "--", sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr
    assert "Segmentation" not in done.stderr and "MPI_Abort" not in done.stderr
