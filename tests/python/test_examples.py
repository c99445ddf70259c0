"""The programs in examples/python, and the blocks of docs/python.md."""

import difflib
import os
import re
import socket
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
EXAMPLES = os.path.join(ROOT, "examples/python")
DASGD = os.environ["DASGD"]


def run(*command, **environment):
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300)


def python(name, *arguments):
    return [sys.executable, os.path.join(EXAMPLES, name), *arguments]


def launched(count, name, *arguments):
    return run(DASGD, "launch", "-n", str(count), "--bare", "--", *python(name, *arguments))


def code_of(name):
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        return file.read().split('"""', 2)[2].splitlines()


def test_a_port_from_ddp_writes_five_lines():
    changes = [line for line in difflib.ndiff(code_of("ddp.py"), code_of("ported.py"))]
    assert len([line for line in changes if line.startswith("+ ")]) == 5, "\n".join(changes)
    assert len([line for line in changes if line.startswith("- ")]) <= 6


def test_both_of_them_learn():
    for count in (1, 2):
        done = launched(count, "ported.py")
        assert done.returncode == 0, done.stderr
        found = [float(a) for a in re.findall(r"accuracy ([\d.]+)", done.stdout)]
        assert len(found) == count and min(found) > 0.95 and len(set(found)) == 1


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_the_ddp_program_is_a_real_one():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
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


@pytest.mark.parametrize("count, more", [(1, []), (2, []), (1, ["--bf16"])])
def test_a_loop_in_the_style_of_hugging_face(count, more):
    done = launched(count, "trainer_style.py", "--steps", "120", *more)
    assert done.returncode == 0, done.stderr
    steps, workers, first, last = re.search(r"(\d+) steps of (\d+) workers, loss ([\d.]+) -> ([\d.]+)", done.stdout).groups()
    assert (int(steps), int(workers)) == (120, count)
    assert float(last) < 0.6 * float(first)


def test_that_loop_goes_on_from_its_state(tmp_path):
    state = str(tmp_path / "state.pt")
    first = run(*python("trainer_style.py", "--steps", "60", "--save", state))
    assert first.returncode == 0, first.stderr
    second = run(*python("trainer_style.py", "--steps", "10", "--resume", state))
    assert second.returncode == 0, second.stderr
    begin = float(re.search(r"-> ([\d.]+)", first.stdout).group(1))
    assert float(re.search(r"loss ([\d.]+)", second.stdout).group(1)) < begin + 0.5


def test_the_blocks_of_the_documentation(tmp_path):
    """Every block of docs/python.md that is Python is one program, in their order, but for what needs services of others."""
    with open(os.path.join(ROOT, "docs/python.md"), encoding="utf-8") as file:
        found = re.findall(r"(<!--[^\n]*-->\n)?```python\n(.*?)```", file.read(), re.S)
    blocks = [block for mark, block in found if "not run: needs" not in mark]
    assert len(blocks) > 3
    program = tmp_path / "blocks.py"
    program.write_text(BEFORE + "\n".join(blocks), encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


BEFORE = """
import numpy, torch
X = numpy.random.default_rng(0).normal(size=(400, 5)).astype("float32")
y = (X.sum(axis=1) > 0).astype(int)
model = torch.nn.Linear(5, 2)
loss_fn = torch.nn.functional.cross_entropy
loader = [(torch.from_numpy(X[k:k + 32]), torch.from_numpy(y[k:k + 32]).long()) for k in range(0, 384, 32)]
"""
