"""docs/python.md and docs/pytorch.md, block by block: each is run here as it
stands there, or is named with the test that runs it."""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
DASGD = os.environ["DASGD"]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
ELSEWHERE = {"scripts/install_packages.sh": "tests/install/pip.sh"}  # first words of a block: what runs it

PAGE = ""
for name in ("python.md", "pytorch.md", "pytorch_tools.md"):
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as page:
        PAGE += page.read()
BLOCKS = BLOCK.findall(PAGE)
PYTHON = [code for language, code in BLOCKS if language == "python"]
SHELL = [code for language, code in BLOCKS if language == ""]
[PROGRAM] = [code for code in PYTHON if "# 4: " in code]
[SERVICES] = [code for code in PYTHON if "wandb" in code]
[ADAPTERS] = [code for code in PYTHON if "transformers" in code]
PARTS = [code for code in PYTHON if code not in (SERVICES, ADAPTERS)]
[HOSTS] = [code for code in SHELL if "A$ " in code]
STARTS = [row for row in re.findall(r"^\| `([^`]*train\.py)` \|", PAGE, re.M) if "--listen" not in row and "--join" not in row]


@pytest.fixture
def typing(tmp_path):
    """A directory with train.py, in which commands are typed as the page has them."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "dasgd").symlink_to(os.path.abspath(DASGD))
    (tools / "python3").symlink_to(sys.executable)
    (tools / "scp").write_text('#!/bin/sh\nexec cp "$1" ../B/\n')
    (tools / "scp").chmod(0o755)
    (tmp_path / "train.py").write_text("import torch; torch.set_num_threads(1)\n" + PROGRAM, encoding="utf-8")
    alone = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    environment = {**os.environ, **alone, "PATH": f"{tools}:{os.environ['PATH']}"}

    def begin(command, place=tmp_path):
        return subprocess.Popen(
            ["sh", "-c", command], cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    return begin


def test_every_block_is_run():
    assert {language for language, _ in BLOCKS} == {"", "python", "diff"}
    of_shell = [code for code in SHELL if code != HOSTS and code.strip() not in STARTS]
    for code in of_shell:
        assert os.path.exists(os.path.join(ROOT, ELSEWHERE[code.split()[0]])), code
    assert len(STARTS) == 4 and len(PARTS) > 5


@pytest.mark.parametrize("command", STARTS)
def test_the_program_in_every_way_to_start_it(typing, command):
    if command.startswith("mpirun") and not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    started = typing(command)
    said, err = started.communicate(timeout=300)
    assert started.returncode == 0, err
    [(gradients, accuracy)] = re.findall(r"(\d+) gradients, accuracy ([\d.]+)", said)
    # Workers may hear late of each other's last ones.
    most = 2 * 384 if "--elastic" in command or "-n " in command else 384
    assert 384 <= int(gradients) <= most and float(accuracy) > 0.95


def test_the_program_on_two_hosts(typing, tmp_path):
    """Both are this one. The first takes its time until the second is there, so that the run is not over before."""
    text = (tmp_path / "train.py").read_text()
    joins = "import os, time\nif not os.environ['DASGD_BEGINS']: open('../joined', 'w').close()\n"
    waits = "    if not os.path.exists('../joined'): time.sleep(0.3)\n    schedule.step()\n"
    text = text.replace("loader = peer", joins + "loader = peer").replace("    schedule.step()\n", waits)
    for host in "AB":
        (tmp_path / host).mkdir()
        (tmp_path / host / "train.py").write_text(text)
    begins, copies, joins = re.findall(r"^[AB]\$ (.*)$", HOSTS, re.M)
    a = typing(begins.replace(":7070", ":0"), tmp_path / "A")
    until = time.monotonic() + 120
    address = tmp_path / "A/runs/a/worker-0/address"
    while not address.exists():
        assert time.monotonic() < until and a.poll() is None
        time.sleep(0.05)
    port = address.read_text().strip().rsplit(":", 1)[1]
    assert typing(copies, tmp_path / "A").wait(60) == 0
    b = typing(joins.replace("A:7070", f"127.0.0.1:{port}"), tmp_path / "B")
    (said_a, err_a), (said_b, err_b) = (one.communicate(timeout=300) for one in (a, b))
    assert (a.returncode, b.returncode) == (0, 0), err_a + err_b
    assert len(re.findall(r"gradients, accuracy 0.9[5-9]", said_a + said_b)) == 1
    assert re.search(r"worker-0@\S+-\d+ joined", err_a), "another name than worker-0"


def program(tmp_path, *parts):
    path = tmp_path / "blocks.py"
    path.write_text("\n".join(parts), encoding="utf-8")
    stand_ins = {"PYTHONPATH": os.pathsep.join([os.path.join(HERE, "stand_ins"), HERE, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, env={**os.environ, **stand_ins}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


BEFORE = """
import numpy, torch
X = numpy.random.default_rng(0).normal(size=(400, 5)).astype("float32")
y = (X.sum(axis=1) > 0).astype(int)
model = torch.nn.Linear(5, 2)
loss_fn = torch.nn.functional.cross_entropy
"""


def test_the_other_blocks_are_one_program(tmp_path):
    program(tmp_path, BEFORE, *PARTS)


def test_loggers_of_services(tmp_path):
    """Both runs end with the first call."""
    run = "model='softmax', data=(X, y), max_time='1h', lr=0.05, callback"
    assert SERVICES.count("..., callback") == 2
    program(tmp_path, BEFORE, BEFORE_SERVICES, SERVICES.replace("..., callback", run), AFTER_SERVICES)


BEFORE_SERVICES = """
import dasgd
from unittest.mock import MagicMock
wandb, mlflow = MagicMock(), MagicMock()
wandb.log.return_value = False
mlflow.log_metrics.side_effect = StopIteration
mlflow.start_run.return_value.__exit__.return_value = True
"""
AFTER_SERVICES = """
assert wandb.log.call_args.args[0]["gradients"] >= 0
assert mlflow.log_metrics.call_args.kwargs["step"] >= 0
"""


BEFORE_ADAPTERS = """
import torch, transformers, lightning
import dasgd, dasgd.accelerate, dasgd.huggingface, dasgd.lightning, dasgd.torch
import real_adapters
torch.set_num_threads(1)
x, y = real_adapters.samples(torch)
model = real_adapters.network(torch)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=32, shuffle=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=120)
"""
# By a word of each part of the block: what it finds, and what is looked at afterwards.
AROUND = {
    "accelerator.prepare": ("", """
for epoch in range(3):
    for a, b in loader:
        accelerator.backward(torch.nn.functional.cross_entropy(model(a), b))
        optimizer.step(); schedule.step(); optimizer.zero_grad()
assert accelerator.end_training()["gradients"] == 120
"""),
    "transformers": ("""
class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = model
    def forward(self, inputs=None, labels=None):
        return {"loss": torch.nn.functional.cross_entropy(self.layers(inputs), labels)}
model = Classifier()
arguments = transformers.TrainingArguments(output_dir="out", max_steps=50, per_device_train_batch_size=32, learning_rate=5e-3)
data = [{"inputs": a, "labels": b} for a, b in zip(x, y)]
""", "assert trainer.state.global_step == 50\n"),
    "lightning": ("""
class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = model
    def training_step(self, batch, number):
        return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
    def configure_optimizers(self):
        return {"optimizer": torch.optim.AdamW(self.parameters(), lr=5e-3)}
module = Module()
""", "assert trainer.strategy.summary['gradients'] == 120\n"),
    "notebook_launch": ("""
def train():
    peer = dasgd.torch.Peer(model, optimizer=optimizer)
    for a, b in peer.loader(loader, epochs=3):
        torch.nn.functional.cross_entropy(model(a), b).backward()
        peer.step()
    return peer.finish()["gradients"]
""", ""),
}


@pytest.mark.parametrize("word", AROUND)
def test_adapters(tmp_path, word):
    [part] = [part for part in ADAPTERS.split("\n\n") if word in part]
    before, after = AROUND[word]
    program(tmp_path, BEFORE_ADAPTERS, before, part, after)


def test_the_difference_to_ddp_is_that_of_the_examples():
    def lines(name):
        with open(os.path.join(ROOT, "examples/python", name), encoding="utf-8") as file:
            return [line.rstrip() for line in file]

    [shown] = [code for language, code in BLOCKS if language == "diff"]
    before, after = lines("ddp.py"), lines("ported.py")
    for line in shown.splitlines():
        here, there = (before, after) if line[0] == "-" else (after, before)
        assert line[1:] in here and line[1:] not in there, line
