"""The programs in examples/python, and the blocks of docs/python.md and docs/pytorch.md."""

import difflib
import os
import re
import socket
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
EXAMPLES = os.path.join(ROOT, "examples/python")
DASGD = os.environ["DASGD"]


def run(*command, **environment):
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300)


def python(name, *arguments):
    return [sys.executable, os.path.join(EXAMPLES, name), *arguments]


def launched(count, name, *arguments, elastic=False):
    how = ["--elastic"] if elastic else []
    return run(DASGD, "launch", "-n", str(count), "--bare", *how, "--", *python(name, *arguments))


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
    assert 15 < int(steps) < 15 + done and "starting a new run" not in second.stderr
    assert float(begin) < float(re.search(r"-> ([\d.]+)", first.stdout).group(1)) + 0.5


def program_of_the_documentation(tmp_path):
    with open(os.path.join(ROOT, "docs/pytorch.md"), encoding="utf-8") as file:
        [program] = [block for block in re.findall(r"```python\n(.*?)```", file.read(), re.S) if "# 4: " in block]
    path = tmp_path / "train.py"
    path.write_text("import torch; torch.set_num_threads(1)\n" + program, encoding="utf-8")
    return [sys.executable, str(path)]


@pytest.mark.parametrize("count, elastic", MODES)
def test_the_program_of_the_documentation(tmp_path, count, elastic):
    done = run(DASGD, "launch", "-n", str(count), "--bare", *(["--elastic"] if elastic else []), "--", *program_of_the_documentation(tmp_path))
    assert done.returncode == 0, done.stderr
    [(gradients, accuracy)] = re.findall(r"(\d+) gradients, accuracy ([\d.]+)", done.stdout)
    assert 384 <= int(gradients) < 384 + 2 * count and float(accuracy) > 0.95


def test_the_program_of_the_documentation_on_two_hosts(tmp_path):
    """Both are this one. The first takes its time until the second is there, so that the run is not over before."""
    program = program_of_the_documentation(tmp_path)
    text = (tmp_path / "train.py").read_text()
    joins = "import os, time\nif not os.environ['DASGD_BEGINS']: open('joined', 'w').close()\n"
    waits = "    if not os.path.exists('joined'): time.sleep(0.3)\n    schedule.step()\n"
    (tmp_path / "train.py").write_text(text.replace("loader = peer", joins + "loader = peer").replace("    schedule.step()\n", waits))
    here = dict(cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    a = subprocess.Popen([DASGD, "launch", "-n", "1", "--listen", "127.0.0.1:0", "--out", "runs/a", "--", *program], **here)
    until = time.monotonic() + 120
    address = tmp_path / "runs/a/worker-0/address"
    while not address.exists():
        assert time.monotonic() < until and a.poll() is None
        time.sleep(0.05)
    where = address.read_text().strip()
    b = subprocess.Popen([DASGD, "launch", "-n", "1", "--join", where, "--token-file", "runs/a/token", "--", *program], **here)
    (said_a, err_a), (said_b, err_b) = (one.communicate(timeout=300) for one in (a, b))
    assert (a.returncode, b.returncode) == (0, 0), err_a + err_b
    assert len(re.findall(r"gradients, accuracy 0.9[5-9]", said_a + said_b)) == 1
    assert re.search(r"worker-0@\S+-\d+ joined", err_a), "another name than worker-0"


def test_the_blocks_of_the_documentation(tmp_path):
    """The Python blocks of both pages are one program, in their order, but for what needs services of others."""
    text = ""
    for page in ("docs/python.md", "docs/pytorch.md"):
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text += file.read()
    found = re.findall(r"(<!--[^\n]*-->\n)?```python\n(.*?)```", text, re.S)
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
