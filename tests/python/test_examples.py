"""The programs in examples/python."""

import difflib
import os
import random
import re
import socket
import subprocess
import sys
import tempfile

import pytest

torch = pytest.importorskip("torch")

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
EXAMPLES = os.path.join(ROOT, "examples/python")
DASGD = os.environ["DASGD"]


def run(*command, **environment):
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300)


def python(name, *arguments):
    return [sys.executable, os.path.join(EXAMPLES, name), *arguments]


# Members of a short run begin when all have loaded PyTorch: otherwise the run may be over when the last one comes.
TOGETHER = """
import os, runpy, sys, time
import torch, dasgd.torch
place, count = sys.argv[1], int(sys.argv[2])
open(os.path.join(place, str(os.getpid())), "w").close()
until = time.monotonic() + 120
while len(os.listdir(place)) < count and time.monotonic() < until:
    time.sleep(0.01)
sys.argv = sys.argv[3:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def launched(count, name, *arguments, elastic=False):
    program = python(name, *arguments)
    if not elastic:
        return run(DASGD, "launch", "-n", str(count), "--bare", "--", *program)
    with tempfile.TemporaryDirectory() as place:
        together = [program[0], "-c", TOGETHER, place, str(count), *program[1:]]
        return run(DASGD, "launch", "-n", str(count), "--bare", "--elastic", "--", *together)


def free_port():
    """Outside of the range from which connections of other tests take theirs."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
                return str(port)
            except OSError:
                continue


def code_of(name):
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        return file.read().split('"""', 2)[2].splitlines()


def test_a_port_from_ddp_writes_five_lines():
    changes = [line for line in difflib.ndiff(code_of("ddp.py"), code_of("ported.py"))]
    assert len([line for line in changes if line.startswith("+ ")]) == 5, "\n".join(changes)
    assert len([line for line in changes if line.startswith("- ")]) <= 6


MODES = [(1, False), (2, False), (2, True)]


@pytest.mark.parametrize("count, elastic", MODES)
def test_both_of_them_learn(count, elastic):
    done = launched(count, "ported.py", elastic=elastic)
    assert done.returncode == 0, done.stderr
    found = [float(a) for a in re.findall(r"accuracy ([\d.]+)", done.stdout)]
    assert len(found) == count and min(found) > 0.95 and len(set(found)) == 1


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_the_ddp_program_is_a_real_one():
    port = free_port()
    both = [
        subprocess.Popen(
            python("ddp.py"), stdout=subprocess.PIPE, text=True,
            env={**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": str(rank), "WORLD_SIZE": "2"},
        )
        for rank in range(2)
    ]
    for one in both:
        assert float(one.communicate(timeout=300)[0].split()[-1]) > 0.95
        assert one.returncode == 0


@pytest.mark.parametrize("count, elastic, more", [(*mode, []) for mode in MODES] + [(1, False, ["--bf16"])])
def test_a_loop_in_the_style_of_hugging_face(count, elastic, more):
    done = launched(count, "trainer_style.py", "--steps", "120", *more, elastic=elastic)
    assert done.returncode == 0, done.stderr
    steps, workers, first, last = re.search(r"(\d+) steps of (\d+) workers, loss ([\d.]+) -> ([\d.]+)", done.stdout).groups()
    most = 240 if elastic else 120 + 2 * count  # members may hear of each other's last gradients late
    assert 120 <= int(steps) < most and int(workers) == count
    assert float(last) < 0.6 * float(first)


@pytest.mark.parametrize("elastic", [False, True])
def test_that_loop_goes_on_from_its_checkpoint(tmp_path, elastic):
    state = str(tmp_path / "state.pt")
    first = launched(2, "trainer_style.py", "--steps", "60", "--checkpoint", state, elastic=elastic)
    assert first.returncode == 0, first.stderr
    done = int(re.search(r"(\d+) steps of 2 workers", first.stdout)[1])
    second = launched(2, "trainer_style.py", "--steps", str(done + 20), "--checkpoint", state, elastic=elastic)
    assert second.returncode == 0, second.stderr
    steps, begin = re.search(r"(\d+) steps of 2 workers, loss ([\d.]+)", second.stdout).groups()
    assert 15 < int(steps) < 15 + done and "does not exist yet" not in second.stderr
    assert float(begin) < float(re.search(r"-> ([\d.]+)", first.stdout).group(1)) + 0.5
